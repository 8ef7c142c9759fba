"""Where the axes of a mesh lie: on the axes of a slice, inside each other on a fat tree, or on a network by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

import sympy as sp

from symscale.collectives.model import AxisOn, axis_on
from symscale.collectives.tree import nested
from symscale.errors import MachineError
from symscale.machine import Machine, generic_network
from symscale.machine.model import Network, did_you_mean


def laid(
    mesh: Mapping[str, sp.Expr],
    machine: Machine | None,
    placement: Mapping[str, sp.Expr | str],
    *,
    latency: bool = False,
    numeric: bool = False,
) -> dict[str, AxisOn]:
    """Lay mesh axes (name → size) on a machine's networks, or on those of no particular chip.

    `placement` gives for an axis the number of physical axes it spans, the name of its network, or a level of a
    cluster's fat tree; without it an axis lies on the main network. On a slice the axes have to be products of the
    slice's own, on a fat tree the last one is the innermost. Raises MachineError.
    """
    found = {}
    for axis, size in mesh.items():
        where = placement.get(axis, sp.S.One)
        network, level = located(machine, where if isinstance(where, str) else "")
        links = sp.S.One if isinstance(where, str) else where
        found[axis] = axis_on(axis, size, network, links=links, latency=latency, level=level, numeric=numeric)
    main = machine.main_network if machine is not None else None
    if machine is not None and main is not None and main.rings:
        found |= on_slice(machine, main, found, placement)
    return nested(found)


def located(machine: Machine | None, name: str) -> tuple[Network, int | None]:
    """Return a network by its name, or by a level of the machine's fat tree, and the level ("": the main network)."""
    if machine is None:
        return generic_network(name or "ici"), None
    main = machine.main_network
    if not name and main is not None:
        return main, None
    levels = [level.name for level in main.levels] if main is not None and main.kind == "tree" else []
    if main is not None and name in levels:
        return main, levels.index(name)
    if levels and name not in [network.name for network in machine.networks]:
        raise MachineError(
            f"{machine.title} has neither a network nor a level {name!r}.",
            hint=f"Its levels are {', '.join(levels)}.{did_you_mean(name, levels)}",
        )
    return machine.network(name or "ici"), None


def on_slice(
    machine: Machine, network: Network, axes: Mapping[str, AxisOn], placement: Mapping[str, sp.Expr | str]
) -> dict[str, AxisOn]:
    """Give each axis of a slice the physical axes it consists of, with their own wraparound.

    An axis whose size is a symbol is a ring only if every axis of the slice is. Raises MachineError where the
    sizes are no products of the slice's axes.
    """
    here = {name: axis for name, axis in axes.items() if axis.network == network.name}
    numbers = {name: axis for name, axis in here.items() if axis.size.is_Integer and axis.size != 1}
    links = {name: int(placement[name]) for name in numbers if isinstance(placement.get(name), sp.Integer)}
    chosen = fitted({name: int(axis.size) for name, axis in numbers.items()}, links, network.pod)
    if chosen is None:
        mesh = ", ".join(f"{name} = {axis.size}" for name, axis in numbers.items())
        raise MachineError(
            f"The mesh {mesh} does not fit {machine.title}.",
            hint="Each mesh axis takes whole axes of the slice: use their sizes, or products of several.",
        )
    found = {}
    for name, axis in here.items():
        taken = chosen.get(name, ())
        shape, rings = tuple(network.pod[n] for n in taken), tuple(network.rings[n] for n in taken)
        closed = None if taken or axis.size.is_Integer else all(network.rings)
        found[name] = axis_on(
            name,
            axis.size,
            network,
            links=axis.links,
            closed=closed,
            latency=axis.hop is not None,
            shape=shape,
            rings=rings,
            numeric=axis.numeric,
        )
    return found


def reducing(axes: Mapping[str, AxisOn], machine: Machine | None) -> None:
    """Raise MachineError unless some axis lies on switches that add up what passes them."""
    used = dict.fromkeys(axis.network for axis in axes.values())
    networks = [generic_network(name) if machine is None else machine.network(name) for name in used]
    if not any(network.in_network_reduction for network in networks):
        where = f"{machine.title}: " if machine is not None else ""
        raise MachineError(
            f"{where}no network of the mesh reduces in its switches ({', '.join(used) or 'no axis'}).",
            hint="In-network reduction needs switches such as those of an H100 cluster (--on h100:1024).",
        )


def fitted(
    sizes: Mapping[str, int], links: Mapping[str, int], shape: Sequence[int]
) -> dict[str, tuple[int, ...]] | None:
    """Return which physical axes of a slice each mesh axis takes, or None if there is no such choice."""

    def fill(names: Sequence[str], free: tuple[int, ...]) -> dict[str, tuple[int, ...]] | None:
        if not names:
            return {}
        first, *others = names
        counts = (links[first],) if first in links else range(1, len(free) + 1)
        for count in counts:
            for taken in combinations(free, count):
                if prod(shape[n] for n in taken) == sizes[first]:
                    rest = fill(others, tuple(n for n in free if n not in taken))
                    if rest is not None:
                        return {first: taken, **rest}
        return None

    return fill(list(sizes), tuple(range(len(shape))))


def lies(axis: AxisOn) -> str:
    """Return where an axis lies, in words: a ring of ici, the levels of a fat tree."""
    if axis.kind != "tree":
        if axis.shape and len(set(axis.rings)) > 1:
            each = (
                f"a {'ring' if ring else 'line'} of {size}" for size, ring in zip(axis.shape, axis.rings, strict=True)
            )
            return f"{' and '.join(each)} of {axis.network}"
        ring = ("ring" if axis.closed else "line") if axis.kind == "torus" else "switch"
        return f"a {ring} of {axis.network}"
    tree = " x ".join(f"{level.size} ({level.name})" for level in axis.levels)
    words = f"a fat tree of {tree}"
    if axis.inner != 1:
        words += f", outside {axis.inner} chips of other axes"
    if axis.within is not None and len(axis.levels) > 1:
        whole = axis.within == prod(level.size for level in axis.levels)
        words += ", taken to fill whole groups" if whole else f", taken to stay inside groups of {axis.within}"
    return words
