"""Times: a pass on a machine, per resource, and how the resources overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from symscale.collectives import AxisOn, total_time
from symscale.cost.tally import PassCost, Transfer
from symscale.quantity import maximum
from symscale.vocabulary import symbol

OVERLAPS = ("max", "axes-serial", "sum")


@dataclass(frozen=True)
class Times:
    """The times of a pass [s].

    `math` is FLOPs over the peak, `hbm` bytes over HBM bandwidth, `comms` the networks as the overlap model has it,
    `axes` the time of each resource (a torus axis, a switch), `networks` that of each network, `total` the pass.
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
        mine = {key: spent for key, spent in busy.items() if network in (key, getattr(axes.get(key), "network", ""))}
        networks[network] = _together(own, mine, overlap, latency)
    return Times(math, hbm, comms, busy, networks, overlap)


def _together(transfers: Sequence[Transfer], busy: Mapping[str, sp.Expr], overlap: str, latency: bool) -> sp.Expr:
    if overlap == "max" and len(busy) > 1:
        return maximum(*busy.values())
    return sp.Add(*(total_time(transfer.cost, latency=latency) for transfer in transfers))


def busy_times(transfers: Sequence[Transfer], axes: Mapping[str, AxisOn], latency: bool = False) -> dict[str, sp.Expr]:
    """Return how long each network resource is busy: every mesh axis of a torus, every switch as a whole."""
    found: dict[str, list[sp.Expr]] = defaultdict(list)
    for transfer in transfers:
        spent = total_time(transfer.cost, latency=latency)
        for resource in dict.fromkeys(resource_of(axes[axis]) for axis in transfer.collective.axes):
            found[resource].append(spent)
    return {resource: sp.Add(*parts) for resource, parts in found.items()}


def resource_of(axis: AxisOn) -> str:
    """Return what a mesh axis keeps busy: itself on a torus, the network where a switch is shared."""
    return axis.name if axis.kind == "torus" else axis.network
