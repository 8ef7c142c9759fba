"""The memory of a chip in training, by part and in closed form: states, activations, what is gathered, logits.

    weights      b·P/shards, split over replicas by ZeRO-3
    gradients    their own bytes, split by ZeRO-2
    optimizer    12 bytes a parameter for Adam, split by ZeRO-1
    activations  what a policy keeps of one microbatch, for all microbatches that a stage holds at once
    working set  what is computed again, of one sublayer or of one layer

The symbols are those of the model (D, F, …), of the mesh (N_data, N_fsdp, …), B, T, b and the microbatches m; the
busiest stage of a pipeline counts, with both ends of the model (a bound). ZeRO: Rajbhandari et al. 2020.
Activations: Korthikanti et al. 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import sympy as sp

from symscale.quantity import maximum
from symscale.transformer.bubble import held
from symscale.transformer.config import Config
from symscale.transformer.parts import PIPE, UNEVEN, Known, Part, S, T, parts_of, strategy_of, summed
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


def in_flight(setting: Setting, *, last: bool = False) -> sp.Expr:
    """Return how many microbatches the first stage of a schedule holds at once, or the last one at its end."""
    if last and setting.chunks > 1:
        return sp.S.One  # the last chunk goes back as soon as it has come
    stage = STAGES - 1 if last else sp.S.Zero
    found = held(rule_of(setting.schedule)).xreplace({STAGE: stage})
    counted = found.xreplace({CHUNKS: sp.Integer(setting.chunks)}).doit().xreplace({STAGES: PIPE})
    return counted.xreplace({sp.Min(1, MICROBATCHES): sp.S.One})  # there is at least one


def memory(parts: Sequence[Part], setting: Setting, known: Known) -> dict[str, sp.Expr]:
    """Return what a chip holds at the worst moment, by part [B], with what is `known` put in.

    Parts that are offloaded are returned as well; what is fetched of them for use counts as gathered or working.
    """
    made = {name: summed(parts, partial(_state, setting, name), known) for name in STATES}
    return {
        **made,
        "activations": _kept(parts, setting, known),
        "working set": _working(parts, setting).xreplace({S: T}).xreplace(known) / MICROBATCHES,
        "gathered weights": 2 * B_ELEMENT.xreplace(dict(known)) * maximum(*_gathered(parts, setting, known)),
        "logits": 2 * LOGIT_BYTES * parts[-1].footprint.results.xreplace(known) / MICROBATCHES,
    }


def memory_forms(config: Config, setting: Setting, *, heads: str = "K") -> dict[str, sp.Expr]:
    """Return the memory of a chip by part in the symbols of model, mesh and batch [B]; stages divide the layers."""
    return dict(_forms(config, setting, heads))


@lru_cache(maxsize=64)
def _forms(config: Config, setting: Setting, heads: str) -> Mapping[str, sp.Expr]:
    parts = parts_of(config, setting, strategy_of(config, setting, heads))
    return memory(parts, setting, {UNEVEN: sp.S.One})


def _state(setting: Setting, name: str, part: Part) -> sp.Expr:
    return states(part.footprint.parameters, part.replicas, setting)[name]


def _kept(parts: Sequence[Part], setting: Setting, known: Known) -> sp.Expr:
    """The first stage holds the most microbatches of its layers; the unembedding is on the last one."""
    layers = summed([part for part in parts if part.in_layers], lambda part: part.footprint.kept, known)
    ends = summed([part for part in parts if not part.in_layers], lambda part: part.footprint.kept, known)
    return (layers * in_flight(setting) + ends * in_flight(setting, last=True)) / MICROBATCHES


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
