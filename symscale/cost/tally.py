"""Counting: what the chips compute, read, write and send in each pass of a plan, per chip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import sympy as sp

from symscale.array import ELEMENT_BYTES, Einsum, Layout, Move, Reduce, Rename
from symscale.array.element import Elements, local_elements, local_size
from symscale.collectives import AxisOn, Cost, cost
from symscale.frozen import dataclass
from symscale.partition import Buffer, Collective, Local, Plan, primal

FREE = ("Slice", "Mask")


@dataclass(frozen=True)
class Transfer:
    """A collective with its volume V [B], the whole array over the collective's axes, and its cost."""

    collective: Collective
    volume: sp.Expr
    cost: Cost


@dataclass(frozen=True)
class PassCost:
    """What one pass costs per chip.

    `flops` counts contractions (a multiply-add is two), split by the dtype they run in; `vector_flops` elementwise
    work and reductions; `hbm_bytes` every operand read and result written once [B].
    """

    name: str
    flops: Mapping[str, sp.Expr]
    vector_flops: sp.Expr
    hbm_bytes: sp.Expr
    transfers: tuple[Transfer, ...]

    @property
    def total_flops(self) -> sp.Expr:
        """The FLOPs of all dtypes."""
        return sp.Add(*self.flops.values())

    def comm_bytes(self) -> dict[str, sp.Expr]:
        """Return the bytes a chip receives over each mesh axis, exact [B]."""
        found: dict[str, list[sp.Expr]] = defaultdict(list)
        for transfer in self.transfers:
            for axis, received in transfer.cost.per_axis:
                found[axis].append(received)
        return {axis: sp.Add(*parts) for axis, parts in found.items()}


def tally(plan: Plan, name: str, typed: Elements, axes: Mapping[str, AxisOn], *, in_network: bool = False) -> PassCost:
    """Return the cost of the pass `name`; `axes` lays each mesh axis on a network."""
    flops: dict[str, list[sp.Expr]] = defaultdict(list)
    vector: list[sp.Expr] = []
    traffic: list[sp.Expr] = []
    transfers: list[Transfer] = []
    for planned in plan.passes[name]:
        if isinstance(planned, Collective):
            if planned.kind not in FREE:
                transfers.append(transfer(plan, planned, typed, axes, in_network))
            continue
        operation = planned.operation
        if isinstance(operation, Move | Rename):
            continue
        work = local_work(plan, planned)
        if isinstance(operation, Einsum) and not operation.elementwise:
            flops[_runs_in(plan, planned, typed)].append(2 * work)
        elif not (isinstance(operation, Reduce) and operation.kind == "spread"):
            vector.append(work)
        traffic += [held_bytes(plan, buffer.value, buffer.layout, typed) for buffer in _touched(planned)]
    return PassCost(
        name,
        {kind: sp.Add(*parts) for kind, parts in flops.items()},
        sp.Add(*vector),
        sp.Add(*traffic),
        tuple(transfers),
    )


def _touched(planned: Local) -> tuple[Buffer, ...]:
    return (*dict.fromkeys(planned.operands), planned.result)


def local_work(plan: Plan, planned: Local) -> sp.Expr:
    """Return the number of (multiply-)adds of a local operation: the product of all its dimensions on one chip."""
    sizes = {}
    for layout in [buffer.layout for buffer in (*planned.operands, planned.result)]:
        for dim in layout.dims:
            if dim not in sizes:
                sizes[dim] = local_size(dim, layout, plan.program)
    return sp.Mul(*sizes.values())


def held_bytes(plan: Plan, value: str, layout: Layout, typed: Elements) -> sp.Expr:
    """Return the bytes of a value that one chip holds [B]."""
    return typed.size[primal(value, plan.program)] * local_elements(layout, plan.program)


def _runs_in(plan: Plan, planned: Local, typed: Elements) -> str:
    names = [primal(buffer.value, plan.program) for buffer in planned.operands]
    return max((typed.dtype[name] for name in names), key=ELEMENT_BYTES.__getitem__)


def transfer(
    plan: Plan, collective: Collective, typed: Elements, axes: Mapping[str, AxisOn], in_network: bool = False
) -> Transfer:
    """Return a collective with its volume and cost."""
    before = held_bytes(plan, collective.value, collective.before, typed)
    if collective.kind == "AllGather":
        volume = held_bytes(plan, collective.value, collective.after, typed)
    elif collective.kind == "AllToAll":
        volume = before * sp.Mul(*(plan.program.mesh[axis] for axis in collective.axes))
    else:
        volume = before
    laid = tuple(axes[axis] for axis in collective.axes)
    return Transfer(collective, volume, cost(collective.kind, volume, laid, in_network=in_network))
