"""Clusters: chips of one kind behind a fat tree of switches, as in `h100:1024` or `h100:4x32x8`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import sympy as sp

from symscale.errors import MachineError
from symscale.machine.model import BANDWIDTH, Level, Machine, Network


def fabric(chip: Machine) -> tuple[Level, ...]:
    """Return the levels of switches above a chip, from its own ports up, each with the symbol of its bandwidth.

    They are the `levels` of a network in the chip's file; without any, the one switch of its domain. Empty for a
    chip that no switch of known size joins to others.
    """
    main = chip.main_network
    if main is None or main.kind != "switch":
        return ()
    levels = next((network.levels for network in chip.networks if network.levels), ())
    if not levels and main.domain and main.one_way is not None:
        levels = (Level("node", main.domain, main.one_way),)
    names = [BANDWIDTH[main.name], *(f"W_{level.name}" for level in levels)]
    return tuple(replace(level, symbol=name) for level, name in zip(levels, names, strict=False))


def cluster(chip: Machine, shape: Sequence[int], *, text: str = "", position: int = 0) -> Machine:
    """Return the chip with the fat tree of a cluster as its main network.

    `shape` is the number of chips, or the sizes of the levels from the top down: (4, 32, 8) is 4 units of 32 nodes
    of 8. The lowest places are filled first, so nodes are whole. MachineError where the tree has no such part.
    """
    whole = fabric(chip)
    if not whole:
        raise MachineError(
            f"{chip.title} has no tree of switches, so there is no cluster of it.",
            text=text,
            position=position,
            hint="Give its file a network with levels, as docs/machines.md shows.",
        )
    levels, problem = cut(whole, shape[0]) if len(shape) == 1 else named(whole, shape)
    if problem:
        said = " x ".join(f"{level.size} ({level.name})" for level in reversed(whole))
        raise MachineError(
            f"{chip.title} has no such cluster: {problem}.",
            text=text,
            position=position,
            hint=f"Its tree is {said} = {prod(level.size for level in whole)} chips; nodes are whole.",
        )
    chips = prod(level.size for level in levels)
    reduces = all(each.in_network_reduction for each in chip.networks if each.levels or each == chip.main_network)
    tree = Network("tree", "tree", levels[0].bandwidth, levels=levels, in_network_reduction=reduces)
    return replace(
        chip,
        name=f"{chip.name}:{chips}",
        title=f"{chip.title}, {chips} {'chip' if chips == 1 else 'chips'}",
        networks=(tree, *chip.networks),
    )


def cut(levels: Sequence[Level], chips: int) -> tuple[tuple[Level, ...], str]:
    """Return the part of a tree that `chips` fill from below, and what is wrong with it (empty: nothing)."""
    if chips > prod(level.size for level in levels):
        return (), f"{chips} chips are more than the whole tree"
    found: list[Level] = []
    left = chips
    for level in levels:
        taken = min(level.size, left)
        if left % taken:
            return (), f"{chips} chips do not fill whole groups of {prod(each.size for each in found) * level.size}"
        found.append(replace(level, size=taken))
        left //= taken
        if left == 1:
            break
    return tuple(found), ""


def named(levels: Sequence[Level], shape: Sequence[int]) -> tuple[tuple[Level, ...], str]:
    """Return the part of a tree whose levels have the sizes of `shape` from the top down, and what is wrong with it."""
    upward = shape[::-1]
    found, problem = cut(levels, prod(shape))
    if problem:
        return (), problem
    # `4x8` of a tree of 8 and more is 4 nodes; `128x8` leaves it to the tree how the 128 nodes are joined.
    below = [prod(level.size for level in found[:n]) for n in range(len(found) + 1)]
    for n in range(1, len(upward)):
        if prod(upward[:n]) not in below:
            return (), f"there are no groups of {prod(upward[:n])}"
    return found, ""


def never_binds(levels: Sequence[Level], index: int) -> bool:
    """Say whether a level can never be the slowest: what the level below lets through, it lets through at once.

    Its child is a group of D children of the level below. With D times their bandwidth it is as fast as they are
    together, and less has to pass it. A chip's own ports (level 0) are not the uplinks above them.
    """
    if index < 2:
        return False
    below, own = levels[index - 1], levels[index]
    return bool(own.bandwidth >= below.size * below.bandwidth)


def chips_of(network: Network) -> sp.Integer:
    """Return the number of chips of a cluster's tree."""
    return sp.Integer(prod(level.size for level in network.levels))
