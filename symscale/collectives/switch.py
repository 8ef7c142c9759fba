"""Time through switches: one switch, and the levels of a fat tree.

Every chip is one link of egress W (one way, and as much in) away from a switch that is fast enough for all.
AllGather: a chip receives the other n−1 shards, V·(n−1)/(n·W). AllToAll: it sends n−1 chunks of V/n². With
in-network reduction an AllReduce sends V up once and receives V once, at the same time: V/W.

In a fat tree a level's children each have one uplink of W_i. What a child receives from outside itself comes
through it, so with N_i children on that level in all, AllGather takes max_i V·(N_i−1)/(N_i·W_i) and AllToAll
max_i V·(N_i−1)/(N_i²·W_i). The lowest level has ports of its own (NVLink beside the NIC) and carries only
what stays inside it.
"""

from __future__ import annotations

import sympy as sp

from symscale.collectives.model import AxisOn, Kind, exact, slowest
from symscale.errors import MachineError
from symscale.machine.model import Level


def bandwidth_time(
    kind: Kind, volume: sp.Expr, axes: tuple[AxisOn, ...], *, in_network: bool = False, large: bool = False
) -> sp.Expr:
    """Return the bandwidth time of a collective over one switch [s]; joint axes share the same egress."""
    chips, egress = sp.Mul(*(axis.size for axis in axes)), axes[0].one_way
    if kind is Kind.Slice:
        return sp.S.Zero
    if kind is Kind.Permute:
        return volume / egress
    return through_uplink(kind, volume, chips, egress, in_network=in_network, large=large)


def through_uplink(
    kind: Kind,
    volume: sp.Expr,
    children: sp.Expr,
    uplink: sp.Expr,
    *,
    in_network: bool = False,
    large: bool = False,
) -> sp.Expr:
    """Return the time of what one of `children` equal parts exchanges with the others [s]."""
    if kind is Kind.AllReduce and in_network:
        return volume / uplink if children != 1 else sp.S.Zero
    share = sp.S.One if large and not children.is_Integer else (children - 1) / children
    if kind is Kind.AllToAll:
        return volume * share / children / uplink
    return (2 if kind is Kind.AllReduce else 1) * volume * share / uplink


def hops(kind: Kind) -> sp.Expr:
    """Return the steps through a switch in sequence: one, two for an AllReduce, none for a slice."""
    return sp.Integer({Kind.Slice: 0, Kind.AllReduce: 2}.get(kind, 1))


def hierarchical(
    kind: Kind,
    volume: sp.Expr,
    levels: tuple[tuple[int | sp.Expr, int | sp.Expr], ...],
    *,
    in_network: bool = False,
    printed: bool = False,
) -> sp.Expr:
    """Return the time of a collective over a whole fat tree, the slowest level's [s].

    `levels` lists, from the chips up, (children joined, one-way bandwidth of one child [B/s]). With `printed`
    every level is counted as if it were the top one, (D_i−1)/D_i, as the scaling book does in chapter 12:
    that is too fast for a middle level, whose uplink also carries what comes from beyond its parent.
    """
    degrees = [exact(degree) for degree, _ in levels]
    times = []
    for i, (_, uplink) in enumerate(levels):
        inside = i == 0 or printed
        outer = sp.Mul(*degrees[i + 1 :])
        children = degrees[i] if inside else degrees[i] * outer
        # An AllToAll's chunks shrink with all chips, also with those that this level's ports do not reach.
        part = volume / outer**2 if inside and kind is Kind.AllToAll else volume
        times.append(through_uplink(kind, part, children, exact(uplink), in_network=in_network))
    return slowest(times)


def tree(levels: tuple[Level, ...], chips: int, *, inner: int = 1) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
    """Cut a machine's fat tree down to what a mesh axis of `chips` spans, as `hierarchical` takes it.

    `inner` is the size of the axes laid inside it: they fill the lowest places first, and the groups that run
    side by side share the uplinks. MachineError if the axis does not fill whole nodes or the tree ends.
    """
    found: list[tuple[sp.Expr, sp.Expr]] = []
    below, inside, left = 1, inner, chips
    for level in levels:
        taken = min(inside, level.size)
        degree = min(level.size // taken, left)
        if level.size % taken or inside % taken or left % degree:
            raise MachineError(
                f"{inner} x {chips} chips do not fill whole groups of {level.size} (level {level.name}).",
                hint=f"Use axes that divide {level.size} or are multiples of it.",
            )
        # The lowest level stays even when the inner axes fill it: its ports are not those of the next one.
        if degree > 1 or not found:
            found.append((sp.Integer(degree), level.bandwidth / min(inner, below)))
        below, inside, left = below * level.size, inside // taken, left // degree
    if left > 1 or inside > 1:
        raise MachineError(f"{inner} x {chips} chips are more than the {below} of the whole tree.")
    return tuple(found)
