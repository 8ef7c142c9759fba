"""Clusters of a number of chips: the part of a pod or of a tree that so many chips are."""

from __future__ import annotations

from math import prod

from symscale.errors import MachineError
from symscale.machine.cluster import cluster, cut, fabric
from symscale.machine.model import Machine, Network
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
        return chip if chips == 1 and not fabric(chip) else cluster(chip, (chips,))
    found = _slice(chip, network, chips)
    if found is None:
        larger = smallest(chip, chips)
        raise MachineError(
            f"{chip.title} has no slice of {chips} chips.",
            hint=f"A pod has {prod(network.pod)} chips, {'x'.join(map(str, network.pod))}"
            + (f"; the next larger slice is {larger}." if larger else "."),
        )
    return sliced(found)


def smallest(chip: Machine, chips: int) -> str:
    """Return the smallest slice or cluster of at least so many chips as --on names it, "" where there is none."""
    network = chip.main_network
    if network is None or chips_of(chip):
        return ""
    if network.kind == "torus":
        slices = (_slice(chip, network, number) for number in range(chips, prod(network.pod) + 1))
        found = next((each for each in slices if each is not None), None)
        return f"{chip.name}:{'x'.join(map(str, found.shape))}" if found is not None else ""
    levels = fabric(chip)
    numbers = range(chips, prod(level.size for level in levels) + 1) if levels else range(0)
    fits = next((number for number in numbers if not cut(levels, number)[1]), 0)
    return f"{chip.name}:{fits}" if fits else ""


def _slice(chip: Machine, network: Network, chips: int) -> Slice | None:
    """Return the slice of so many chips that is nearest to a cube, None where there is none."""
    shapes = [Slice(chip, shape) for shape in _shapes(chips, network.axes) if not misfit(network, shape)]
    return max(shapes, key=lambda each: (-max(each.shape) / min(each.shape), sum(each.wraps)), default=None)


def most_chips(chip: Machine) -> int:
    """Return how many chips the main network joins: those of a pod, of a tree of switches; 0 where no file says."""
    network = chip.main_network
    if network is None:
        return 1
    if network.kind == "torus":
        return prod(network.pod) if network.pod else 0
    return chips_of(chip) or (prod(level.size for level in fabric(chip)) if fabric(chip) else network.domain or 0)


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
