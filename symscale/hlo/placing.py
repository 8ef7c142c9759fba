"""Where a collective lies on a machine: along axes of the mesh given, or of the one that its groups determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, prod

import sympy as sp

from symscale.collectives import AxisOn, Kind, laid
from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.hlo.attributes import Groups
from symscale.hlo.collective import Sent, members
from symscale.machine import Machine

OWN = "X"  # the axis of a collective whose mesh is not given
NAMES = "XYZUVW"


@dataclass(frozen=True)
class Setting:
    """A machine, and how the mesh lies on it: sizes of axes, physical axes or network of each, latency of hops."""

    machine: Machine
    mesh: Mapping[str, int]
    placement: Mapping[str, sp.Expr | str]
    latency: bool = False


@dataclass(frozen=True)
class Placed:
    """A mesh laid on networks, and the names of those of its axes that a collective runs along."""

    mesh: Mapping[str, int]
    axes: Mapping[str, AxisOn]
    over: tuple[str, ...]


def placed(sent: Sent, setting: Setting) -> Placed:
    """Return the mesh of a collective on its machine.

    It is the mesh given, else the one that the groups determine; on a chip alone a group lies on one axis of the
    network. Raises MachineError for groups that lie along no axes, and for more devices than the machine has.
    """
    mesh, over = _mesh(sent, setting)
    sizes = {name: sp.Integer(size) for name, size in mesh.items()}
    known = {name: where for name, where in setting.placement.items() if name in mesh}
    axes = laid(sizes, setting.machine, known, latency=setting.latency, numeric=True)
    if not setting.mesh and not known:  # a group on one axis of a chip alone has other groups beside it
        _room({OWN: max(sent.devices, sent.chips)}, {OWN: axes[over[0]]}, setting.machine)
    else:
        _room(mesh, axes, setting.machine)
    return Placed(mesh, axes, over)


def check_axes(setting: Setting) -> None:
    """Raise MachineError where an axis is placed that the mesh does not have."""
    have = tuple(setting.mesh) or (OWN,)
    for name in setting.placement:
        if name not in have:
            raise MachineError(
                f"The axis {name[:40]} is placed, and the mesh has none of that name.",
                hint=f"It has {', '.join(have)}." if setting.mesh else f"Give its size too: --mesh {name[:40]}=4.",
            )


def _mesh(sent: Sent, setting: Setting) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the mesh that a collective is priced on, and the axes that it runs along."""
    if sent.axes:
        return dict(setting.mesh), sent.axes
    many = bool(_shape(setting.machine))
    if sent.kind is Kind.Permute:
        _inside(sent, setting)
        if _on(setting) or not many:
            return _apart(sent)
        sizes = dict(zip(NAMES, _shape(setting.machine), strict=False))
        return sizes, tuple(sizes)
    if sent.groups and many and not _on(setting):
        return from_groups(sent.groups)
    return {OWN: sent.chips}, (OWN,)


def _apart(sent: Sent) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return one axis for the sends of a permute: where all go a multiple of so many devices, others lie between."""
    between = gcd(*(target - source for source, target in sent.pairs)) or 1
    return {OWN: -(-(sent.devices or sent.chips) // between), "other": between}, (OWN,)


def _on(setting: Setting) -> bool:
    return OWN in setting.placement


def _shape(machine: Machine) -> tuple[int, ...]:
    """Return the sizes of the axes of a slice, or the chips of a cluster; nothing for a chip alone."""
    main = machine.main_network
    if main is None or not (main.rings or main.kind == "tree"):
        return ()
    return tuple(size for size in main.pod if size > 1) if main.rings else (prod(each.size for each in main.levels),)


def _inside(sent: Sent, setting: Setting) -> None:
    """Refuse sends of devices that the mesh, or the machine, does not have. Raises MachineError."""
    shape = tuple(setting.mesh.values()) or _shape(setting.machine)
    if shape and sent.devices > prod(shape):
        where = "the mesh" if setting.mesh else setting.machine.title
        raise MachineError(
            f"A send names device {sent.devices - 1}, and {where} has {prod(shape)}, from 0.",
            hint="Give a mesh, or a slice, of all devices.",
        )


def from_groups(groups: Groups) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the mesh of the fewest axes whose rows the groups are, the last axis the fastest, and the groups' axes.

    [4,4]<=[4,4]T(1,0) is {X: 4, other: 4} along X: neighbours are 4 apart. Raises MachineError where there is none.
    """
    strides = _strides(sorted(groups[0]))
    mesh, over, covered = list[tuple[str, int]](), list[str](), 1
    for (stride, size), name in zip(strides, _named(len(strides)), strict=True):
        if stride % covered:
            raise _shapeless(groups)
        mesh += [(f"other{len(mesh) + 1}", stride // covered)] if stride > covered else []
        mesh.append((name, size))
        over.append(name)
        covered = stride * size
    outer = -(-(max(device for group in groups for device in group) + 1) // covered)
    mesh += [("other", outer)] if outer > 1 else []
    found = dict(reversed(mesh))
    if not {frozenset(group) for group in groups} <= members(found, over):
        raise _shapeless(groups)
    return found, tuple(reversed(over))


def _named(count: int) -> list[str]:
    """Return names of axes from the slowest, in the order from the fastest."""
    return [NAMES[n] if n < len(NAMES) else f"X{n}" for n in reversed(range(count))]


def _strides(group: Sequence[int]) -> list[tuple[int, int]]:
    """Return (stride, size) of the axes that a sorted group consists of, the fastest first: {0,1,8,9} is 2, 2 by 8."""
    found, known = list[tuple[int, int]](), 1
    while known < len(group):
        stride, size = group[known] - group[0], 1
        while size * known < len(group) and group[size * known] - group[0] == size * stride:
            size += 1
        found.append((stride, size))
        known *= size
    return found


def _shapeless(groups: Groups) -> MachineError:
    shown = ",".join(map(str, groups[0][:8])) + (",…" if len(groups[0]) > 8 else "")
    return MachineError(
        f"The groups of a collective, such as {{{shown}}}, are no rows of a mesh: how they share links is not known.",
        hint="Devices of a group are equally far apart along each axis. A chip alone (--on h100) prices one group.",
    )


def _room(mesh: Mapping[str, int], axes: Mapping[str, AxisOn], machine: Machine) -> None:
    """Refuse more devices, or more physical axes, than a network has. Raises MachineError."""
    for network in machine.networks:
        here = [name for name, axis in axes.items() if axis.network == network.name and mesh[name] > 1]
        devices = prod(mesh[name] for name in here)
        links = sum(int(axes[name].links) for name in here if axes[name].kind == "torus")
        own = (network.domain or 0) if network.kind == "switch" else prod(network.pod) if network.pod else 0
        most = prod(level.size for level in network.levels) if network.kind == "tree" else own
        what = f"{machine.title} has {most:,} chips" if network.rings or network.kind == "tree" else ""
        what = (
            what or f"{'A pod' if network.pod else f'A domain of {network.name}'} of {machine.title} has {most:,} chips"
        )
        if most and devices > most:
            way = f"a cluster (--on {machine.name}:{devices}), or " if network.kind == "switch" else ""
            raise MachineError(f"{what}, and the collective has {devices:,} devices.", hint=f"Give {way}fewer devices.")
        if network.pod and links > len(network.pod):
            raise MachineError(
                f"The mesh takes {links} physical axes of {network.name}, and {machine.title} has {len(network.pod)}.",
                hint="Give the axes fewer with --axes, or lay one on another network.",
            )
