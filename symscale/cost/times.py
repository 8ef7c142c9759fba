"""Times: a pass on a machine, per resource, and how the resources overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.collectives import AxisOn, total_time
from symscale.cost.tally import PassCost, Transfer
from symscale.frozen import dataclass
from symscale.quantity import maximum
from symscale.shown import Shown
from symscale.vocabulary import symbol

OVERLAPS = ("max", "axes-serial", "sum")


@dataclass(frozen=True)
class Times(Shown):
    """The times of a pass [s].

    `math` is FLOPs over the peak, `hbm` bytes over HBM bandwidth, `comms` the networks as the overlap model has it,
    `axes` the time of each resource (a torus axis, a switch, a level of a tree), `networks` that of each network,
    `total` the pass.
    """

    math: sp.Expr
    hbm: sp.Expr
    comms: sp.Expr
    axes: Mapping[str, sp.Expr]
    networks: Mapping[str, sp.Expr]
    overlap: str = "max"

    @property
    def total(self) -> sp.Expr:
        """The time of the pass: the longer of arithmetic and communication, or their sum."""
        parts = [part for part in (self.math, self.comms) if part != 0]
        return sp.Add(*parts) if self.overlap == "sum" else maximum(*parts) if parts else sp.S.Zero


def peak_symbol(kind: str, kinds: Sequence[str]) -> sp.Symbol:
    """Return the symbol of a dtype's peak: C where one dtype computes, C_int8 and so on where several do."""
    return symbol("C") if len(kinds) <= 1 else symbol(f"C_{kind}")


def times(
    passes: Sequence[PassCost],
    kinds: Sequence[str],
    axes: Mapping[str, AxisOn],
    *,
    overlap: str = "max",
    latency: bool = False,
) -> Times:
    """Return the times of the passes together, exact.

    `kinds` are the dtypes that compute anywhere. Overlap "max": mesh axes run at the same time and hide behind
    the arithmetic; "axes-serial": they take turns, still behind the arithmetic; "sum": nothing overlaps.
    """
    math = sp.Add(*(work / peak_symbol(kind, kinds) for each in passes for kind, work in each.flops.items()))
    hbm = sp.Add(*(each.hbm_bytes for each in passes)) / symbol("W_hbm")
    transfers = [transfer for each in passes for transfer in each.transfers]
    busy = busy_times(transfers, axes, latency)
    comms = _together(transfers, busy, overlap, latency)
    networks = {}
    for network in dict.fromkeys(axes[axis].network for each in transfers for axis in each.collective.axes):
        own = [each for each in transfers if any(axes[axis].network == network for axis in each.collective.axes)]
        tree = next((axis for axis in axes.values() if axis.network == network), None)
        mine = {
            key: spent
            for key, spent in busy.items()
            if network in (key, getattr(axes.get(key), "network", "")) or level_of(tree, key)
        }
        networks[network] = _together(own, mine, overlap, latency)
    return Times(math, hbm, comms, busy, networks, overlap)


def _together(transfers: Sequence[Transfer], busy: Mapping[str, sp.Expr], overlap: str, latency: bool) -> sp.Expr:
    if overlap == "max" and len(busy) > 1:
        spent = [each for each in busy.values() if each != 0] or [sp.S.Zero]
        return maximum(*spent) if len(spent) > 1 else spent[0]
    return sp.Add(*(total_time(transfer.cost, latency=latency) for transfer in transfers))


def busy_times(transfers: Sequence[Transfer], axes: Mapping[str, AxisOn], latency: bool = False) -> dict[str, sp.Expr]:
    """Return how long each network resource is busy: a mesh axis of a torus, a switch, a level of a fat tree."""
    found: dict[str, list[sp.Expr]] = defaultdict(list)
    for transfer in transfers:
        for resource, spent in loads(transfer, axes, latency).items():
            found[resource].append(spent)
    return {resource: sp.Add(*parts) for resource, parts in found.items()}


def loads(transfer: Transfer, axes: Mapping[str, AxisOn], latency: bool = False) -> dict[str, sp.Expr]:
    """Return how long one collective keeps each network resource busy [s]."""
    whole, found = total_time(transfer.cost, latency=latency), {}
    for axis in (axes[name] for name in transfer.collective.axes):
        if axis.kind != "tree":
            found[resource_of(axis)] = whole
    for level, spent in transfer.cost.levels:
        found[level] = maximum(spent, transfer.cost.latency) if latency and transfer.cost.latency != 0 else spent
    return found


def level_of(axis: AxisOn | None, resource: str) -> bool:
    """Say whether a resource is a level of the tree that an axis lies on."""
    return axis is not None and any(level.name == resource for level in axis.levels)


def resource_of(axis: AxisOn) -> str:
    """Return what a mesh axis keeps busy: itself on a torus, the network where a switch is shared.

    On a fat tree it depends on the collective, which knows its levels.
    """
    return axis.name if axis.kind == "torus" else axis.network
