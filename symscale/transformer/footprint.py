"""What one chip does and holds for a sharded sublayer, in the symbols of sizes and mesh axes.

FLOPs, HBM bytes and volumes of collectives per pass, parameters, and activations under a checkpointing policy: all
are counted in the plan that the partitioner makes of the sublayer under a strategy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import sympy as sp

from symscale.array import Axes, Move, Rename
from symscale.array.element import Elements, elements, local_elements
from symscale.collectives import AxisOn
from symscale.cost import PassCost, activations, everything, held_bytes, inputs, products, recomputing, tally, without
from symscale.cost.memory import Policy
from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.partition import Local, Plan, partition, primal
from symscale.transformer.strategy import Strategy, sharded, size
from symscale.transformer.sublayers import Sublayer

SCORES = ("T", "S")
#: Checkpointing policies: everything; all but attention scores (a fused kernel); matrix products; the input of each
#: sublayer; the input of each layer.
POLICIES: Mapping[str, Policy] = {
    "none": everything,
    "selective": without(SCORES),
    "products": lambda program, value: products(program, value) and without(SCORES)(program, value),
    "block": inputs,
    "full": inputs,
}
PASSES = ("forward", "backward", "again")


@dataclass(frozen=True)
class Use:
    """Collectives of one kind over the same axes, of weights, of their gradients, or of activations."""

    kind: str
    axes: Axes
    of: str


@dataclass(frozen=True)
class Footprint:
    """What a chip does in each pass and what it holds: FLOPs, HBM bytes, volumes V [B], parameters, activations [B].

    HBM bytes are of weights and their gradients or of activations; those of scores stay on the chip, as in a fused
    kernel. `gathered` are the parameters as they lie for use, `results` the elements of the last array. The pass
    `again` computes what was not kept; `working` is what then lies beside it, but for scores [B]. The counts are of
    one occurrence, over all tokens of a step.
    """

    flops: Mapping[str, sp.Expr]
    hbm: Mapping[str, Mapping[str, sp.Expr]]
    volumes: Mapping[str, Mapping[Use, sp.Expr]]
    parameters: sp.Expr
    gathered: sp.Expr
    kept: sp.Expr
    working: sp.Expr
    results: sp.Expr
    mesh: tuple[str, ...]


def policy(name: str) -> Policy:
    """Return a checkpointing policy by name. Raises ModelError."""
    if name not in POLICIES:
        raise ModelError(f"Unknown checkpointing {name!r}.", hint=f"Use one of {', '.join(POLICIES)}.")
    return POLICIES[name]


def footprint(sublayer: Sublayer, strategy: Strategy, *, dtype: str = "bf16", remat: str = "selective") -> Footprint:
    """Return what a chip does and holds for a sublayer under a strategy; gathered activations are freed."""
    made = sharded(sublayer.program, strategy)
    typed = elements(made, dtype)
    plan = partition(made, typed=typed, regather=True)
    # the layer's input alone is kept: what it opens with makes the input of the rest again
    inner = remat == "full" and sublayer.count != 1 and not sublayer.opens
    again = activations(plan, typed, policy(remat), also=made.outputs if remat == "full" and sublayer.opens else ())
    kept = sp.S.Zero if inner else again.bytes
    without_scores = activations(plan, typed, policy("selective")).bytes
    plan = recomputing(plan, again)
    axes = {axis: AxisOn(axis, size(axis)) for axis in strategy.axes}
    costs = {name: tally(plan, name, typed, axes) for name in PASSES}
    return Footprint(
        {name: cost.total_flops for name, cost in costs.items()},
        {name: _traffic(plan, name, typed) for name in PASSES},
        {name: _volumes(plan, cost) for name, cost in costs.items()},
        sp.Add(*_weights(plan)),
        sp.Add(*_weights(plan, gathered=("fsdp",))),
        kept,
        sp.S.Zero if remat in ("none", "selective") else sp.expand(without_scores - kept),
        local_elements(plan.results[made.outputs[-1]].layout, made),
        strategy.axes,
    )


def _volumes(plan: Plan, cost: PassCost) -> dict[Use, sp.Expr]:
    found: dict[Use, list[sp.Expr]] = defaultdict(list)
    for each in cost.transfers:
        use = Use(each.collective.kind, each.collective.axes, _of(plan, each.collective.value))
        found[use].append(each.volume)
    return {use: sp.Add(*volumes) for use, volumes in found.items()}


def _of(plan: Plan, value: str) -> str:
    if plan.program.values[primal(value, plan.program)].role != "weight":
        return "activation"
    return "weight" if value in plan.program.values else "gradient"


def _traffic(plan: Plan, name: str, typed: Elements) -> dict[str, sp.Expr]:
    """Return the bytes that local operations read and write, without those of scores [B]."""
    found: dict[str, list[sp.Expr]] = {"weight": [], "activation": []}
    for planned in plan.passes[name]:
        if not isinstance(planned, Local) or isinstance(planned.operation, Move | Rename):
            continue
        for buffer in (*dict.fromkeys(planned.operands), planned.result):
            if not set(SCORES) <= set(buffer.layout.dims):
                of = "activation" if _of(plan, buffer.value) == "activation" else "weight"
                found[of].append(held_bytes(plan, buffer.value, buffer.layout, typed))
    return {of: sp.Add(*parts) for of, parts in found.items()}


def _weights(plan: Plan, gathered: Axes = ()) -> list[sp.Expr]:
    """Return the elements of each weight on a chip, in its own layout or gathered over some axes."""
    made = plan.program
    names = [name for name in made.leaves if made.values[name].role == "weight"]
    return [local_elements(plan.results[name].layout.without(gathered), made) for name in names]
