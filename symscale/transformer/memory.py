"""The memory of a chip in training, by part and in closed form: states, activations, what is gathered, logits.

    weights      b·P/shards, split over replicas by ZeRO-3
    gradients    their own bytes, split by ZeRO-2
    optimizer    12 bytes a parameter for Adam, split by ZeRO-1
    activations  what a policy keeps of one microbatch, for all microbatches that a stage holds at once
    working set  what is computed again, of one sublayer or of one layer

The symbols are those of the model (D, F, …), of the mesh (N_data, N_fsdp, …), B, T, b and the microbatches m. Of a
pipeline the first stage, with the embedding and the most microbatches in flight, or the last one, with the unembedding
and the logits, holds the most; both have ceil(L/N_pipe) layers here. ZeRO: Rajbhandari et al. 2020. Activations:
Korthikanti et al. 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import sympy as sp

from symscale.quantity import maximum
from symscale.transformer.bubble import held
from symscale.transformer.config import Config
from symscale.transformer.parts import (
    FIRST,
    LAST,
    ONLY,
    PIPE,
    UNEVEN,
    Known,
    Part,
    S,
    T,
    by_stage,
    parts_of,
    strategy_of,
    summed,
)
from symscale.transformer.pipeline import CHUNKS, MICROBATCHES, STAGE, STAGES, rule_of
from symscale.transformer.setting import B_ELEMENT, LOGIT_BYTES, OPTIMIZERS, STAGES_OF_ZERO, Setting

STATES = ("weights", "gradients", "optimizer")


def state_bytes(setting: Setting) -> dict[str, sp.Expr]:
    """Return the bytes per parameter of weights, gradients and optimizer state: b, b and 12 for Adam."""
    return dict(
        zip(STATES, (B_ELEMENT, setting.gradient_bytes, sp.Integer(OPTIMIZERS[setting.optimizer])), strict=True)
    )


def states(own: sp.Expr, replicas: sp.Expr, setting: Setting) -> dict[str, sp.Expr]:
    """Return the states of `own` parameters of a chip that `replicas` chips hold as well, by part [B].

    ZeRO over N replicas: 16·P without, 4·P + 12·P/N, 2·P + 14·P/N, 16·P/N in stages 1 to 3 (Adam, 16 bits).
    """
    return {
        name: size * own / (replicas if setting.zero >= STAGES_OF_ZERO[name] else 1)
        for name, size in state_bytes(setting).items()
    }


def in_flight(setting: Setting, stage: str = FIRST) -> sp.Expr:
    """Return how many microbatches of its layers a stage of a schedule holds at once; without a pipeline it is one."""
    if stage == ONLY:
        return sp.S.One  # each goes back before the next one comes
    found = held(rule_of(setting.schedule)).xreplace({STAGE: STAGES - 1 if stage == LAST else sp.S.Zero})
    counted = found.xreplace({CHUNKS: sp.Integer(setting.chunks)}).doit().xreplace({STAGES: PIPE})
    return counted.xreplace({sp.Min(1, MICROBATCHES): sp.S.One})  # there is at least one


def ends_in_flight(setting: Setting, stage: str = LAST) -> sp.Expr:
    """Return how many microbatches an end of the model holds at once: the embedding's, or those of the unembedding."""
    if stage == LAST and setting.chunks > 1:
        return sp.S.One  # the last chunk goes back as soon as it has come
    return in_flight(setting, stage)


def memory(parts: Sequence[Part], setting: Setting, known: Known, stage: str = ONLY) -> dict[str, sp.Expr]:
    """Return what a chip of a stage with these parts holds at the worst moment, by part [B], with what is `known`.

    Parts that are offloaded are returned as well; what is fetched of them for use counts as gathered or working.
    """
    known = {**known, PIPE: sp.S.One, UNEVEN: sp.S.One} if stage == ONLY else known
    made = {name: summed(parts, partial(_state, setting, name), known) for name in STATES}
    logits = sp.S.Zero if stage == FIRST else parts[-1].footprint.results.xreplace(dict(known))
    return {
        **made,
        "activations": _kept(parts, setting, known, stage),
        "working set": _working(parts, setting).xreplace({S: T}).xreplace(known) / MICROBATCHES,
        "gathered weights": 2 * B_ELEMENT.xreplace(dict(known)) * maximum(*_gathered(parts, setting, known)),
        "logits": 2 * LOGIT_BYTES * logits / MICROBATCHES,
    }


def memory_forms(config: Config, setting: Setting, *, heads: str = "K", stage: str = ONLY) -> dict[str, sp.Expr]:
    """Return the memory of a chip by part in the symbols of model, mesh and batch [B].

    `stage` is `only` without a pipeline, else `first` or `last`; `uneven` is 1 where the stages divide the layers.
    """
    return dict(_forms(config, setting, heads)[stage])


@lru_cache(maxsize=64)
def _forms(config: Config, setting: Setting, heads: str) -> Mapping[str, Mapping[str, sp.Expr]]:
    strategy = strategy_of(config, setting, heads)
    stages = by_stage(parts_of(config, setting, strategy), config, setting, strategy)
    return {stage: memory(parts, setting, {}, stage) for stage, parts in stages.items()}


def _state(setting: Setting, name: str, part: Part) -> sp.Expr:
    return states(part.footprint.parameters, part.replicas, setting)[name]


def _kept(parts: Sequence[Part], setting: Setting, known: Known, stage: str) -> sp.Expr:
    """Return the activations of all microbatches that a stage holds at once: of its layers, and of its end."""
    layers = summed([part for part in parts if part.in_layers], lambda part: part.footprint.kept, known)
    ends = summed([part for part in parts if not part.in_layers], lambda part: part.footprint.kept, known)
    return (layers * in_flight(setting, stage) + ends * ends_in_flight(setting, stage)) / MICROBATCHES


def _working(parts: Sequence[Part], setting: Setting) -> sp.Expr:
    """Return the bytes made again, or fetched, at once: a layer's under `full`, else the largest sublayer's."""
    layers = [part for part in parts if part.in_layers]
    fetched = sp.S.Zero
    if "activations" in setting.offloaded:
        fetched = 2 * maximum(*(part.footprint.kept for part in layers))  # one in use, one on its way
    return fetched + _again(layers, setting)


def _again(layers: Sequence[Part], setting: Setting) -> sp.Expr:
    if setting.remat != "full":
        return maximum(sp.S.Zero, *(part.footprint.working for part in layers))
    attention = [part.footprint.working for part in layers if part.sublayer.opens]
    dense = [part.footprint.working for part in layers if part.sublayer.name == "MLP"]
    routed = [part.footprint.working for part in layers if not part.sublayer.opens and part.sublayer.name != "MLP"]
    return maximum(*attention) + maximum(*dense, sp.Add(*routed))


def _gathered(parts: Sequence[Part], setting: Setting, known: Known) -> list[sp.Expr]:
    """Return the parameters of each part that lie on a chip for use and do not belong there."""
    found = []
    for part in parts:
        at_rest = part.footprint.parameters / (part.replicas if setting.zero >= STAGES_OF_ZERO["weights"] else 1)
        at_rest = sp.S.Zero if "weights" in setting.offloaded else at_rest
        found.append((part.footprint.gathered - at_rest).xreplace(known))
    return found
