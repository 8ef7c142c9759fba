"""Time through a fat tree of switches, for mesh axes that lie inside each other.

At a level of the tree a child is a group of s chips with one uplink of W (one way, and as much down). Of the n
chips of a collective m are in it, so s/m such collectives share the uplink. What the child lacks comes through it:
AllGather V·(1 − m/n)·(s/m)/W, and a ReduceScatter the same; an AllReduce takes both, or with in-network reduction
V·(s/m)/W, as the group's sum goes up once and the whole sum comes down once; an AllToAll moves m·(n − m) chunks of
V/n². The lowest level has ports of its own (NVLink beside the NIC) and carries only what stays inside it, D of the n
chips: V·(D − 1)/(D·W). The levels work at the same time on different parts of the array: the slowest one counts.

In an AllToAll of tokens that each go to k of the n chips a token goes once to each group it has a copy in, at most
min(k, n/m) of them, and is copied on inside: V·(s/m)·min(k, g)·(g − 1)/(g²·W) for g = n/m groups and V bytes of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import sympy as sp

from symscale.collectives.model import AxisOn, Kind, slowest
from symscale.collectives.switch import through_uplink
from symscale.errors import MachineError
from symscale.machine.cluster import never_binds
from symscale.quantity.extrema import minimum
from symscale.vocabulary import symbol


def nested(axes: Mapping[str, AxisOn]) -> dict[str, AxisOn]:
    """Lay the mesh axes of a fat tree inside each other; the last one fills the lowest places first.

    An axis placed on a level of the tree joins whole children of that level. Of axes whose size is a symbol all but
    the outermost are taken to stay inside a node (or the group of the tree that the axes inside them reach).
    MachineError where numbers do not fill whole groups, or exceed the tree.
    """
    inside = [axis for axis in reversed(list(axes.values())) if axis.kind == "tree"]
    if not inside:
        return dict(axes)
    inside.sort(key=lambda axis: -1 if axis.level is None else axis.level)
    found: dict[str, AxisOn] = {}
    reached: sp.Expr = sp.S.One
    for number, axis in enumerate(inside):
        groups = groups_of(axis)
        if axis.level is not None:
            reached = _from_level(axis, groups[axis.level], reached)
        bound = None
        if not axis.size.is_Integer:
            outermost = number == len(inside) - 1 and axis.level is None
            bound = groups[-1] if outermost else _bound(axis, groups, found, reached)
        found[axis.name] = replace(axis, inner=reached, within=bound)
        reached = _grown(found[axis.name], groups, reached)
    return {name: found.get(name, axis) for name, axis in axes.items()}


def groups_of(axis: AxisOn) -> tuple[int, ...]:
    """Return the chips of a child at each level of an axis's tree, and of the whole tree last."""
    return tuple(prod(level.size for level in axis.levels[:n]) for n in range(len(axis.levels) + 1))


def _from_level(axis: AxisOn, group: int, reached: sp.Expr) -> sp.Expr:
    if reached.is_Integer and reached > group:
        raise MachineError(
            f"The axis {axis.name} cannot join groups of {group} chips: the axes inside it have {reached} already.",
            hint="Place it on a level further out, or make the axes inside it shorter.",
        )
    return sp.Integer(group)


def _bound(axis: AxisOn, groups: tuple[int, ...], laid: Mapping[str, AxisOn], reached: sp.Expr) -> int:
    """Return the group that an axis whose size is a symbol is taken to stay in."""
    if axis.level is not None:
        return groups[axis.level + 1]
    if not reached.is_Integer:
        return max(each.within or 1 for each in laid.values())
    return next((group for group in groups if group > reached), groups[-1])


def _grown(axis: AxisOn, groups: tuple[int, ...], reached: sp.Expr) -> sp.Expr:
    """Return how many chips the axes laid so far have. Raises MachineError where they exceed the tree."""
    total = reached * axis.size
    if total.is_Integer:
        if total > groups[-1]:
            raise MachineError(
                f"The mesh has {total} chips on a tree of {groups[-1]}.",
                hint="Name a cluster of at least as many (--on CHIP:NUMBER), or use shorter axes.",
            )
        for group in groups:
            members(replace(axis, inner=reached), group)
    return total


def members(axis: AxisOn, group: int) -> sp.Expr:
    """Return how many of an axis's chips are in a group of `group` chips of the tree.

    Sizes that are symbols are taken to fill whole groups. MachineError where numbers do not.
    """
    if axis.within is not None and group >= axis.within:
        return axis.size
    reach = axis.inner * axis.size
    if axis.inner.is_Integer and axis.inner >= group:
        fits, found = axis.inner % group == 0, sp.S.One
    elif reach.is_Integer and reach <= group:
        fits, found = group % reach == 0, axis.size
    else:
        found = group / axis.inner if axis.size.is_Integer else minimum(axis.size, group / axis.inner)
        fits = not (axis.inner.is_Integer and group % axis.inner) and not (reach.is_Integer and reach % group)
    if not fits:
        inside = f", {axis.inner} chips apart," if axis.inner != 1 else ""
        raise MachineError(
            f"The axis {axis.name} of {axis.size} chips{inside} does not fill whole groups of {group}.",
            hint=f"Use axes whose product divides {group} or is a multiple of it.",
        )
    return found


def bandwidth_time(
    kind: Kind,
    volume: sp.Expr,
    axes: tuple[AxisOn, ...],
    *,
    in_network: bool = False,
    large: bool = False,
    copies: sp.Expr | None = None,
) -> sp.Expr:
    """Return the bandwidth time of a collective over axes of one fat tree, the slowest level's [s]."""
    return slowest([time for _, time in level_times(kind, volume, axes, in_network, large, copies)])


def level_times(
    kind: Kind,
    volume: sp.Expr,
    axes: tuple[AxisOn, ...],
    in_network: bool = False,
    large: bool = False,
    copies: sp.Expr | None = None,
) -> list[tuple[str, sp.Expr]]:
    """Return each level that can be the slowest, by name, with its time [s]; at least the lowest one."""
    levels, groups = axes[0].levels, groups_of(axes[0])
    chips = sp.Mul(*(axis.size for axis in axes))
    found = [(levels[0].name, _lowest(kind, volume, axes, in_network, large, copies))]
    for index, level in enumerate(levels[1:], 1):
        inside = sp.Mul(*(members(axis, groups[index]) for axis in axes))
        if inside == chips or (kind is not Kind.Permute and never_binds(levels, index)):
            continue
        # of the groups[index] chips that share an uplink, `inside` belong to one and the same collective
        part = volume * groups[index] / inside / _rate(axes[0], index)
        found.append((level.name, part * _share(kind, chips, inside, in_network, large, copies)))
    crossed = [each for each in found if each[1] != 0]
    return crossed or found[:1]


def levels_spanned(axes: tuple[AxisOn, ...]) -> int:
    """Return how many levels of the tree a collective over the axes passes."""
    groups, chips = groups_of(axes[0]), sp.Mul(*(axis.size for axis in axes))
    inside = [sp.Mul(*(members(axis, group) for axis in axes)) for group in groups]
    return sum(below != above for below, above in zip(inside[:-1], [*inside[1:-1], chips], strict=True))


def _rate(axis: AxisOn, index: int) -> sp.Expr:
    level = axis.levels[index]
    return level.bandwidth if axis.numeric else symbol(level.symbol)


def _lowest(
    kind: Kind,
    volume: sp.Expr,
    axes: tuple[AxisOn, ...],
    in_network: bool,
    large: bool,
    copies: sp.Expr | None,
) -> sp.Expr:
    chips = sp.Mul(*(axis.size for axis in axes))
    near = sp.Mul(*(members(axis, axis.levels[0].size) for axis in axes))
    if near == 1:
        return sp.S.Zero
    if kind is Kind.AllToAll:
        # chunks for chips of other nodes leave by other ports; copies are passed on from where they arrive
        volume = volume * (near / chips) ** 2 if copies is None else volume * minimum(copies, chips) * near / chips
    rate = _rate(axes[0], 0)
    if kind is Kind.Permute:
        return volume / rate
    # an axis that stays inside a node is long there; of one that leaves it a node holds what it holds
    return through_uplink(kind, volume, near, rate, in_network=in_network, large=large and near == chips)


def _share(
    kind: Kind, chips: sp.Expr, inside: sp.Expr, in_network: bool, large: bool, copies: sp.Expr | None
) -> sp.Expr:
    """Return the part of V that one of the groups of a collective, `inside` of its chips, exchanges with the others."""
    if kind is Kind.Permute or (kind is Kind.AllReduce and in_network):
        return sp.S.One
    outside = sp.S.One if large and not chips.is_Integer else (chips - inside) / chips
    if kind is Kind.AllToAll:
        return outside * inside / chips * (1 if copies is None else minimum(copies, chips / inside))
    return (2 if kind is Kind.AllReduce else 1) * outside
