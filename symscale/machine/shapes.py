"""Clusters of a number of chips: the part of a pod or of a tree that so many chips are."""

from __future__ import annotations

from math import prod

from symscale.errors import MachineError
from symscale.machine.cluster import cluster
from symscale.machine.model import Machine
from symscale.machine.slices import Slice, misfit, sliced


def sized(chip: Machine, chips: int) -> Machine:
    """Return a cluster of so many chips: the slice nearest to a cube, or a part of the tree.

    A machine that is a slice or a cluster already has to have as many. Raises MachineError with sizes that exist.
    """
    network = chip.main_network
    if network is None:
        if chips == 1:
            return chip
        raise MachineError(f"{chip.title} has no network to join {chips} chips.", hint="Plan for one chip.")
    own = chips_of(chip)
    if own:
        if own != chips:
            raise MachineError(f"{chip.title} has {own} chips, not {chips}.", hint=f"Leave --chips out, or give {own}.")
        return chip
    if network.kind != "torus":
        return cluster(chip, (chips,))
    shapes = [Slice(chip, shape) for shape in _shapes(chips, network.axes) if not misfit(network, shape)]
    if not shapes:
        raise MachineError(
            f"{chip.title} has no slice of {chips} chips.",
            hint=f"A pod has {prod(network.pod)} chips, {'x'.join(map(str, network.pod))}; give a power of two below.",
        )
    return sliced(max(shapes, key=lambda each: (-max(each.shape) / min(each.shape), sum(each.wraps))))


def chips_of(chip: Machine) -> int:
    """Return the number of chips of a slice or a cluster, 0 for a chip alone."""
    network = chip.main_network
    if network is None:
        return 0
    if network.rings:
        return prod(network.pod)
    return prod(level.size for level in network.levels) if network.kind == "tree" else 0


def _shapes(chips: int, axes: int) -> list[tuple[int, ...]]:
    """Return the ways to write a number as a product of so many sizes, the smallest first."""
    if axes == 1:
        return [(chips,)]
    found = []
    for first in range(1, int(chips ** (1 / axes)) + 2):
        if chips % first == 0:
            found += [(first, *rest) for rest in _shapes(chips // first, axes - 1) if rest[0] >= first]
    return found
