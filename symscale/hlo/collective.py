"""Which collective an instruction is: its kind, V, the chips of a group and the mesh axes that they lie along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from math import prod

from symscale.collectives import Kind
from symscale.errors import NotationError
from symscale.frozen import dataclass
from symscale.hlo.attributes import Groups, groups_of, pairs_of
from symscale.hlo.module import Instruction, leaves
from symscale.hlo.shape import Shape


@dataclass(frozen=True)
class Sent:
    """A collective: V is the whole array over its axes, per chip [B]; for a permute what a chip sends.

    `chips` is the size of a group, `axes` the mesh axes along which the groups lie (empty where none do).
    """

    kind: Kind
    volume: int
    chips: int
    groups: Groups = ()
    axes: tuple[str, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def devices(self) -> int:
        """The devices that the groups or pairs name, numbered from 0; 0 where none are named."""
        return max((device for group in (*self.groups, *self.pairs) for device in group), default=-1) + 1

    @property
    def apart(self) -> int:
        """The distance between neighbours of a group in device numbers, 0 where it varies or is not known."""
        steps = {b - a for group in self.groups for a, b in pairwise(group)}
        return steps.pop() if len(steps) == 1 else 0


def sent_by(
    text: str,
    each: Instruction,
    kind: Kind,
    inputs: Sequence[Shape],
    devices: int,
    mesh: Mapping[str, int],
) -> Sent:
    """Return what a collective sends. `inputs` may be unknown. Raises NotationError where the line does not say."""
    outputs = _outputs(each, kind, len(inputs))
    given, made = (sum(shape.bytes for shape in shapes) for shapes in (inputs, outputs))
    if kind is Kind.Permute:
        pairs = pairs_of(text, each)
        axes = along(tuple(pairs), mesh, whole=False)
        return Sent(kind, given or made, len({at for pair in pairs for at in pair}) or 2, (), axes, pairs)
    groups = groups_of(text, each, devices)
    chips = _chips(text, each, kind, groups, given, made, mesh)
    volume = {
        Kind.AllGather: made or given * chips,
        Kind.ReduceScatter: given or made * chips,
        Kind.AllToAll: (given or made) * chips,
    }.get(kind, given or made)
    axes = along(groups, mesh, whole=True) if groups else tuple(mesh) if len(mesh) == 1 else ()
    if mesh and chips > 1 and not axes:
        said = ", ".join(f"{name}={size}" for name, size in mesh.items())
        raise NotationError(
            f"The groups of {each.name[:40]} lie along no axes of the mesh {said}.",
            text=text,
            position=each.places.get("replica_groups", each.at),
            hint="Give the axes in the order of device numbers, the last one the fastest, or leave --mesh out.",
        )
    return Sent(kind, volume, chips, groups, axes)


def _outputs(each: Instruction, kind: Kind, inputs: int) -> tuple[Shape, ...]:
    """Return the arrays that come out: of the start of a gather or permute the second part of its tuple."""
    started = each.op.endswith("-start") and kind is not Kind.AllReduce
    if started and isinstance(each.shape, tuple) and len(each.shape) > 1:
        return tuple(leaves(each.shape[1]))
    return each.results


def _chips(
    text: str, each: Instruction, kind: Kind, groups: Groups, given: int, made: int, mesh: Mapping[str, int]
) -> int:
    """Return the size of a group: as it is listed, or as the shapes say. Raises NotationError where they disagree."""
    big, small = (made, given) if kind is Kind.AllGather else (given, made)
    scaled = kind in (Kind.AllGather, Kind.ReduceScatter)
    by_shapes = big // small if scaled and small and big and big % small == 0 else 0
    listed = len(groups[0]) if groups else 0
    if scaled and big and small and listed and listed * small != big:
        raise NotationError(
            f"A group has {listed} devices, and {kind} makes {made:,} B of {given:,} B.",
            text=text,
            position=each.places.get("replica_groups", each.at),
            hint="A gather makes its operand that many times larger, a scatter that many times smaller.",
        )
    found = listed or by_shapes or (prod(mesh.values()) if len(mesh) == 1 else 0)
    if not found:
        raise NotationError(
            f"The groups of {each.name[:40]} are not written.",
            text=text,
            position=each.at,
            hint="Give replica_groups={{0,1},{2,3}}, the module's header, or the axis it runs along: --mesh X=8.",
        )
    return found


def along(groups: Groups | tuple[tuple[int, int], ...], mesh: Mapping[str, int], *, whole: bool) -> tuple[str, ...]:
    """Return the fewest mesh axes along which groups lie; whole groups have to fill them."""
    if not groups or not mesh:
        return ()
    wanted = {frozenset(group) for group in groups}
    for few in range(1, len(mesh) + 1):
        for axes in combinations(mesh, few):
            rows = members(mesh, axes)
            if wanted == rows if whole else all(any(pair <= row for row in rows) for pair in wanted):
                return axes
    return ()


def members(mesh: Mapping[str, int], axes: Sequence[str]) -> set[frozenset[int]]:
    """Return the groups of devices along mesh axes, where devices are numbered with the last axis the fastest."""
    names = list(mesh)
    strides = {name: prod(list(mesh.values())[at + 1 :]) for at, name in enumerate(names)}

    def offsets(over: Sequence[str]) -> list[int]:
        found = [0]
        for name in over:
            found = [base + at * strides[name] for base in found for at in range(mesh[name])]
        return found

    inner = offsets(axes)
    return {frozenset(start + at for at in inner) for start in offsets([name for name in names if name not in axes])}
