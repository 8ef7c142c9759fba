"""A training step of a whole model in closed form: the time of each resource, the bubble, and the memory of a chip.

The symbols are those of the mesh (N_data, N_fsdp, …), the number of microbatches m, C and W_hbm, and one unit cost
for every kind of collective over every set of axes [s/B]: what the network takes for a byte of V. In the time the
busiest stage of the pipeline counts: it has ceil(L/N_pipe) layers and, in this bound, both ends of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar

import sympy as sp

from symscale.array import ELEMENT_BYTES
from symscale.frozen import dataclass
from symscale.quantity import maximum
from symscale.transformer.blocks import values
from symscale.transformer.bubble import step_time
from symscale.transformer.config import Config
from symscale.transformer.footprint import PASSES, Use
from symscale.transformer.memory import memory
from symscale.transformer.parts import PIPE, Known, Part, by_stage, parts_of, strategy_of, summed
from symscale.transformer.pipeline import MICROBATCHES, RULES, STAGES, T_FORWARD, T_INPUT, T_WEIGHT
from symscale.transformer.setting import Setting
from symscale.transformer.strategy import AXES, Strategy, size
from symscale.vocabulary import symbol

B, T, C, W_HBM = map(symbol, ("B", "T", "C", "W_hbm"))
Key = TypeVar("Key")


@dataclass(frozen=True)
class StepForm:
    """A step in closed form.

    `times` per pass and resource [s], of all microbatches of the busiest stage, `shares` that of each collective; the
    backward pass is counted with what it computes again. `total` with the bubble, `exposed` if no network hides behind
    other work [s]; `memory` by stage and part [B]; `units` what each symbol of a unit cost stands for; `flops` of the
    model, without recomputation.
    """

    times: Mapping[str, Mapping[str, sp.Expr]]
    shares: Mapping[str, Mapping[Use, sp.Expr]]
    total: sp.Expr
    exposed: sp.Expr
    memory: Mapping[str, Mapping[str, sp.Expr]]
    units: Mapping[sp.Symbol, Use]
    flops: sp.Expr
    dtype: str = "bf16"


def unit(use: Use) -> sp.Symbol:
    """Return the symbol of the unit cost of a collective [s/B]."""
    return symbol(f"u_{use.kind}_{'_'.join(use.axes)}")


def step_form(config: Config, setting: Setting, *, heads: str = "K", open_batch: bool = False) -> StepForm:
    """Return a step of a model in closed form, with the model's own sizes as numbers and B too unless `open_batch`."""
    strategy = strategy_of(config, setting, heads)
    parts = parts_of(config, setting, strategy)
    known = {**values(config), B: sp.Integer(setting.tokens), T: sp.Integer(setting.length)}
    known[symbol("b")] = ELEMENT_BYTES[setting.dtype]
    if open_batch:
        del known[B]
    volumes = {name: _volumes(parts, name, strategy, known) for name in PASSES}
    spent = {name: {use: volume * unit(use) for use, volume in each.items()} for name, each in volumes.items()}
    work = {name: _work(parts, name, setting, known) for name in PASSES}
    shares, own = _with_again(spent), _with_again(work)
    axes = (*strategy.axes, "pipe")
    times = {name: {**own[name], **_by_axis(shares[name], axes)} for name in shares}
    totals = [_total(times, shares, overlap, setting) for overlap in (setting.overlap, "sum")]
    stages = by_stage(parts, config, setting, strategy)
    return StepForm(
        times,
        shares,
        totals[0],
        totals[1],
        {stage: memory(held, setting, known, stage) for stage, held in stages.items()},
        {unit(use): use for each in volumes.values() for use in each},
        _model_flops(parts, setting, known),
        setting.dtype,
    )


def _with_again(passes: Mapping[str, Mapping[Key, sp.Expr]]) -> dict[str, dict[Key, sp.Expr]]:
    """Return forward and backward pass, the latter with what it computes again layer by layer."""
    both = [passes["backward"], passes["again"]]
    names = dict.fromkeys(name for each in both for name in each)
    backward = {name: sp.Add(*(each.get(name, sp.S.Zero) for each in both)) for name in names}
    return {"forward": dict(passes["forward"]), "backward": backward}


def _total(
    times: Mapping[str, Mapping[str, sp.Expr]],
    shares: Mapping[str, Mapping[Use, sp.Expr]],
    overlap: str,
    setting: Setting,
) -> sp.Expr:
    """Return the time of a step with the bubble of its schedule [s]."""
    forward, backward = (
        together(times[name], shares[name], overlap) / MICROBATCHES for name in ("forward", "backward")
    )
    busy = {T_FORWARD: forward, T_INPUT: backward, T_WEIGHT: sp.S.Zero}
    return step_time(RULES[setting.schedule]).xreplace({**busy, STAGES: PIPE})


def together(times: Mapping[str, sp.Expr], shares: Mapping[Use, sp.Expr], overlap: str) -> sp.Expr:
    """Return the time of a pass [s]: all resources at once, collectives in turn, or collectives not hidden.

    A collective over several axes keeps each of them busy, and is one collective where they take turns.
    """
    own = [times["compute"], times["HBM"]]
    if overlap == "max":
        return maximum(*own, *(spent for name, spent in times.items() if name not in ("compute", "HBM") and spent != 0))
    networks = sp.Add(*shares.values())
    return maximum(*own) + networks if overlap == "sum" else maximum(*own, networks)


def _volumes(parts: Sequence[Part], name: str, strategy: Strategy, known: Known) -> dict[Use, sp.Expr]:
    """Return the volumes of a pass over a step; weights move for every microbatch, their sums over replicas once."""
    uses = dict.fromkeys(use for part in parts for use in part.footprint.volumes[name])
    found = {}
    for use in uses:
        volume = summed(parts, partial(_volume, name, use), known)
        again = use.of == "weight" or (use.of == "gradient" and use.kind == "ReduceScatter")
        found[use] = volume * MICROBATCHES if again else volume
    if name in ("forward", "backward"):
        found[Use("Permute", ("pipe",), "activation")] = _boundary(strategy).xreplace(known)
    return found


def _volume(name: str, use: Use, part: Part) -> sp.Expr:
    return part.footprint.volumes[name].get(use, sp.S.Zero)


def _boundary(strategy: Strategy) -> sp.Expr:
    """Return the bytes of the residual stream on a chip, which a stage passes on [B]."""
    split = [size(axis) for axes in strategy.between.values() for axis in axes if axis in strategy.axes]
    return symbol("b") * B * symbol("D") / sp.Mul(*split)


def _work(parts: Sequence[Part], name: str, setting: Setting, known: Known) -> dict[str, sp.Expr]:
    """Return the time of arithmetic and HBM in a pass [s]; weights are read for every microbatch."""
    work = summed(parts, lambda part: part.flops(name, setting), known)
    weights = summed(parts, lambda part: part.footprint.hbm[name]["weight"], known)
    rest = summed(parts, lambda part: part.footprint.hbm[name]["activation"], known)
    return {"compute": work / C, "HBM": (weights * MICROBATCHES + rest) / W_HBM}


def _by_axis(shares: Mapping[Use, sp.Expr], axes: Sequence[str]) -> dict[str, sp.Expr]:
    """Return how long each axis is busy in a pass [s]; a collective over several axes keeps each of them busy."""
    return {
        axis: sp.Add(*(_busy(axis, use, spent) for use, spent in shares.items() if axis in use.axes)) for axis in axes
    }


def _busy(axis: str, use: Use, spent: sp.Expr) -> sp.Expr:
    """An axis of one chip takes no part in a collective with others; one over it alone costs nothing anyway."""
    return spent * sp.Min(1, size(axis) - 1) if len(use.axes) > 1 else spent


def _model_flops(parts: Sequence[Part], setting: Setting, known: Known) -> sp.Expr:
    """Return the FLOPs of forward and backward pass over all chips."""
    one = {size(axis): sp.S.One for axis in AXES}
    each = [part.sublayer.count * part.flops(name, setting) for part in parts for name in ("forward", "backward")]
    return sp.Add(*each).xreplace(one).xreplace(known).xreplace(known)
