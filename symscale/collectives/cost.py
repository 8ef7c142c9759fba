"""The price of one collective over the mesh axes it spans."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from symscale.collectives import switch, torus, tree
from symscale.collectives.model import AxisOn, Cost, Kind, exact, physical, slowest
from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.quantity.extrema import maximum, minimum


def cost(
    kind: Kind | str,
    volume: sp.Expr,
    axes: tuple[AxisOn, ...],
    *,
    bidirectional: bool = True,
    in_network: bool = False,
    copies: int | sp.Expr | None = None,
) -> Cost:
    """Return what a collective costs per chip.

    `volume` V [B] is the whole array over the collective's axes, held by a chip after an AllGather and before
    a ReduceScatter; for Permute, what a chip sends. Joint axes of one torus add their bandwidths, joint
    axes of one switch share its egress; axes on different networks, and the levels of a fat tree, work at the
    same time, and the slowest counts. With `in_network` the switches of an AllReduce add up. `copies` k makes an
    AllToAll sparse: V bytes of tokens, each sent to k of the n chips (of all of them where there are fewer).
    MachineError if there is no axis (a Slice needs none), or copies of anything but an AllToAll.
    """
    kind = Kind(kind)
    if not axes and kind is not Kind.Slice:
        raise MachineError(f"{kind} needs at least one mesh axis.")
    if copies is not None and kind is not Kind.AllToAll:
        raise MachineError(f"{kind} sends no copies to some of the chips.", hint="Only an AllToAll does.")
    rate = _rate(kind, axes, bidirectional, in_network, None if copies is None else exact(copies))
    received = volume * rate.received
    return Cost(
        kind=kind,
        time=_scaled(volume, rate.time),
        latency=rate.latency,
        received=received,
        per_axis=tuple((axis.name, received / len(axes)) for axis in axes),
        resources=tuple(dict.fromkeys(axis.network for axis in axes)),
        limit=_scaled(volume, rate.limit),
        latency_limit=rate.latency_limit,
        reduced=kind is Kind.AllReduce and in_network and _all_switch(axes),
        levels=tuple((name, volume * time) for name, time in rate.levels),
    )


@dataclass(frozen=True)
class Rate:
    """A collective's cost per byte of V, and its latency."""

    time: sp.Expr
    limit: sp.Expr
    latency: sp.Expr
    latency_limit: sp.Expr
    received: sp.Expr
    levels: tuple[tuple[str, sp.Expr], ...]


# A program asks for the same kind on the same axes once per array, with another volume.
@lru_cache(maxsize=1024)
def _rate(kind: Kind, axes: tuple[AxisOn, ...], bidirectional: bool, in_network: bool, copies: sp.Expr | None) -> Rate:
    one, flags = sp.S.One, (bidirectional, in_network, copies)
    return Rate(
        time=_time(kind, one, axes, *flags, large=False),
        limit=_time(kind, one, axes, *flags, large=True),
        latency=_latency(kind, axes, bidirectional, large=False),
        latency_limit=_latency(kind, axes, bidirectional, large=True),
        received=received_bytes(kind, one, axes, in_network, copies),
        levels=tuple(_tree_levels(kind, axes, in_network, copies)),
    )


def _tree_levels(
    kind: Kind, axes: tuple[AxisOn, ...], in_network: bool, copies: sp.Expr | None
) -> list[tuple[str, sp.Expr]]:
    """Return each level of a fat tree among the networks, with how long it is busy per byte of V."""
    on_tree = tuple(axis for axis in axes if axis.kind == "tree" and axis.size != 1)
    if not on_tree or kind is Kind.Slice:
        return []
    beyond = sp.Mul(*(axis.size for axis in axes if axis.tier > on_tree[0].tier))
    part = sp.S.One / (beyond**2 if kind is Kind.AllToAll else 1)
    return tree.level_times(kind, part, on_tree, in_network, copies=copies)


def _scaled(volume: sp.Expr, time: sp.Expr) -> sp.Expr:
    """Multiply by the volume inside a Max, so that its arguments are times."""
    return slowest([volume * part for part in (time.args if isinstance(time, sp.Max) else (time,))])


def total_time(cost: Cost, *, latency: bool = True) -> sp.Expr:
    """Return max(bandwidth time, latency) [s], their sum for point to point; without latency if not asked."""
    if not latency or cost.latency == 0:
        return cost.time
    return cost.time + cost.latency if cost.kind is Kind.Permute else maximum(cost.time, cost.latency)


def point_to_point(
    volume: sp.Expr,
    one_way: sp.Expr,
    *,
    paths: int | sp.Expr = 1,
    hops: int | sp.Expr = 1,
    hop: sp.Expr | None = None,
    resource: str = "ici",
) -> Cost:
    """Return the cost of sending V bytes over disjoint paths: hops·T_hop + V/(paths·W_link)."""
    time = volume / (exact(paths) * one_way)
    latency = sp.S.Zero if hop is None else exact(hops) * hop
    return Cost(Kind.Permute, time, latency, volume, (), (resource,), time, latency)


def bus_factor(kind: Kind | str, chips: int | sp.Expr) -> sp.Expr:
    """Return bus over algorithm bandwidth: 2(n−1)/n for AllReduce, (n−1)/n for the others, 1 for Permute.

    It turns a measured V/t into the speed of a ring's links; with in-network reduction it can exceed them.
    """
    kind, n = Kind(kind), exact(chips)
    if kind is Kind.Permute:
        return sp.S.One
    share = (n - 1) / n
    return 2 * share if kind is Kind.AllReduce else share


def received_bytes(
    kind: Kind,
    volume: sp.Expr,
    axes: tuple[AxisOn, ...],
    in_network: bool = False,
    copies: sp.Expr | None = None,
) -> sp.Expr:
    """Return the bytes meant for a chip that it receives [B]; what it only passes on is not counted."""
    n = sp.Mul(*(axis.size for axis in axes))
    if kind is Kind.Slice or n == 1:
        return sp.S.Zero
    if kind is Kind.Permute or (kind is Kind.AllReduce and in_network and _all_switch(axes)):
        return volume
    if kind is Kind.AllToAll:
        return volume * (n - 1) / n**2 * (1 if copies is None else minimum(copies, n))
    return bus_factor(kind, n) * volume


def _all_switch(axes: tuple[AxisOn, ...]) -> bool:
    return all(axis.kind in ("switch", "tree") for axis in axes)


def _time(
    kind: Kind,
    volume: sp.Expr,
    axes: tuple[AxisOn, ...],
    bidirectional: bool,
    in_network: bool,
    copies: sp.Expr | None,
    *,
    large: bool,
) -> sp.Expr:
    """The slowest network's time; an outer network moves each shard once, however many chips are inside."""
    groups = _levels(axes)
    if kind is Kind.Slice or not groups:
        return sp.S.Zero
    if kind is Kind.Permute:
        groups = groups[:1]
    sizes = [sp.Mul(*(axis.size for axis in group)) for group in groups]
    times = []
    for i, group in enumerate(groups):
        inner, outer = sp.Mul(*sizes[:i]), sp.Mul(*sizes[i + 1 :])
        part = volume / inner / (outer**2 if kind is Kind.AllToAll else 1)
        sent = part if copies is None or group[0].kind == "tree" else part * minimum(copies, sp.Mul(*sizes))
        if group[0].kind == "torus":
            times.append(torus.bandwidth_time(kind, sent, group, bidirectional=bidirectional, large=large))
        elif group[0].kind == "tree":
            times.append(tree.bandwidth_time(kind, sent, group, in_network=in_network, large=large, copies=copies))
        else:
            times.append(switch.bandwidth_time(kind, sent, group, in_network=in_network, large=large))
    return slowest(times)


def _latency(kind: Kind, axes: tuple[AxisOn, ...], bidirectional: bool, *, large: bool) -> sp.Expr:
    """Hops × hop time, summed over the networks; 0 for those whose hop time is left out."""
    total = sp.S.Zero
    for group in _levels(axes):
        hop = group[0].hop
        if hop is not None:
            if group[0].kind == "torus":
                steps = torus.hops(kind, group, bidirectional=bidirectional, large=large)
            else:
                steps = switch.hops(kind) * (tree.levels_spanned(group) if group[0].kind == "tree" else 1)
            total += steps * hop
    return total


def _levels(axes: tuple[AxisOn, ...]) -> list[tuple[AxisOn, ...]]:
    """Group the physical axes by network, between neighbouring chips first; axes of one chip drop out."""
    groups: dict[str, list[AxisOn]] = {}
    for axis in sorted(physical(axes), key=lambda axis: axis.tier):
        if axis.size != 1:
            groups.setdefault(axis.network, []).append(axis)
    return [tuple(group) for group in groups.values()]
