"""An optimised HLO module as text, and the questions the tests ask of it: collectives, their axes and bytes, FLOPs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

BYTES = 4  # everything is fp32: the CPU compiler widens bf16 reductions, which would double their bytes
Found = tuple[str, tuple[str, ...], int]  # kind, mesh axes, V: the whole array over these axes, per chip [B]
Groups = frozenset[frozenset[int]]

KINDS: Mapping[str, str] = {
    "all-gather": "AllGather",
    "all-reduce": "AllReduce",
    "reduce-scatter": "ReduceScatter",
    "all-to-all": "AllToAll",
    "collective-permute": "Permute",
}
_PASSES_ON = frozenset(("bitcast", "copy", "reshape", "transpose", "convert"))
_LINE = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([a-z][\w\-]*)\((.*)$")
_SHAPE = re.compile(r"\b[a-z]\w*\[([\d,]*)\]")


@dataclass(frozen=True)
class Instruction:
    """One line of a module: the computation it is in, its name, result shapes, operation, operands and attributes."""

    where: str
    name: str
    shapes: tuple[tuple[int, ...], ...]
    op: str
    inside: str
    rest: str

    @property
    def operands(self) -> tuple[str, ...]:
        """The names of the operands."""
        return tuple(re.findall(r"%([\w.\-]+)", self.inside))

    @property
    def kind(self) -> str | None:
        """The collective that this is, or None."""
        return KINDS.get(self.op.removesuffix("-start"))

    @property
    def called(self) -> str:
        """The computation that a fusion or call runs."""
        found = re.search(r"(?:calls|to_apply)=%?([\w.\-]+)", self.rest)
        return found.group(1) if found and self.op in ("fusion", "call") else ""


class Module:
    """The instructions of a module and who uses them."""

    def __init__(self, text: str, mesh: Mapping[str, int]) -> None:
        self.mesh = mesh
        self.lines = {(each.where, each.name): each for each in _instructions(text)}
        self.parameters = {
            (each.where, int(each.inside)): each for each in self.lines.values() if each.op == "parameter"
        }
        self.users: dict[tuple[str, str], list[Instruction]] = {}
        for each in self.lines.values():
            for operand in dict.fromkeys(each.operands):
                self.users.setdefault((each.where, operand), []).append(each)

    def uses(self, each: Instruction) -> list[Instruction]:
        """Return the instructions that read a value."""
        return self.users.get((each.where, each.name), [])

    def dot_flops(self) -> int:
        """Return 2 × the product of all dimensions of every dot, per device."""
        total = 0
        for each in self.lines.values():
            if each.op == "dot":
                left = self.lines[each.where, each.operands[0]].shapes[0]
                found = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", each.rest)
                summed = [left[at] for at in _numbers(found.group(1))] if found else []
                total += 2 * math.prod(each.shapes[0]) * math.prod(summed)
        return total

    def collectives(self) -> Counter[Found]:
        """Return every collective; tuples are expanded, and a chain of one kind on one array counts as one."""
        found: Counter[Found] = Counter()
        before: dict[tuple[str, str], tuple[str, ...]] = {}  # axes of the chain that ends before an instruction
        for each in self.lines.values():  # a module lists instructions in the order of their use
            if each.kind is None:
                continue
            axes = tuple(sorted({*self.axes(each), *before.get((each.where, each.name), ())}))
            following = self.chained(each, each)
            if following is not None:
                before[following.where, following.name] = axes
                continue
            found.update(self.counted(each, axes))
        return found

    def counted(self, each: Instruction, axes: tuple[str, ...]) -> list[Found]:
        """Return the collectives that one instruction stands for."""
        if each.kind == "AllToAll":  # a tuple here is one array in pieces, and every piece travels
            return [("AllToAll", axes, sum(map(_bytes, each.shapes)) * self.members(axes))]
        if each.kind == "AllReduce":
            return [found for at in range(len(each.shapes)) for found in self.paid(each, at, axes)]
        count = self.members(axes) if each.kind == "ReduceScatter" else 1
        return [(each.kind or "", axes, _bytes(shape) * count) for shape in each.shapes]

    def members(self, axes: Iterable[str]) -> int:
        """Return the number of chips along axes; `X/2` is two of those along X."""
        return math.prod(int(axis.partition("/")[2] or self.mesh.get(axis, 1)) for axis in axes)

    def chained(self, first: Instruction, made: Instruction) -> Instruction | None:
        """Return the gather (reduction) that alone reads a gather (reduction), through copies and transposes."""
        users = self.uses(made)
        if len(users) != 1 or first.kind not in ("AllGather", "AllReduce") or len(first.shapes) > 1:
            return None
        (user,) = users
        if user.kind == first.kind:
            return user if len(user.shapes) == 1 else None
        return self.chained(first, user) if self.moves(user) else None

    def moves(self, each: Instruction) -> bool:
        """Tell whether an instruction only moves its one operand about in memory."""
        if each.called:
            inner = [line for (where, _), line in self.lines.items() if where == each.called and line.op != "parameter"]
            return len(each.operands) == 1 and all(line.op in _PASSES_ON for line in inner)
        return each.op in _PASSES_ON

    # reductions

    def paid(self, each: Instruction, at: int, axes: tuple[str, ...]) -> list[Found]:
        """Return what an AllReduce stands for: a ReduceScatter over the axes whose part each chip then keeps.

        The CPU compiler emits no ReduceScatter but an AllReduce and a slice of its result.
        """
        results = [each]
        if len(each.shapes) > 1:
            results = [user for user in self.uses(each) if re.search(rf"index={at}\b", user.rest)]
        whole = math.prod(each.shapes[at])
        parts = {whole // self.kept(user, result) for result in results for user in self.uses(result)}
        share = parts.pop() if len(parts) == 1 else 1
        size = whole * BYTES
        if share == 1:
            return [("AllReduce", axes, size)]
        ways = [
            over for few in range(1, len(axes) + 1) for over in combinations(axes, few) if self.members(over) == share
        ]
        if len(ways) != 1:
            raise ValueError(f"1/{share} of an AllReduce over {axes} of {dict(self.mesh)} is kept: {ways}")
        rest = tuple(axis for axis in axes if axis not in ways[0])
        return [("ReduceScatter", ways[0], size)] + ([("AllReduce", rest, size // share)] if rest else [])

    def kept(self, user: Instruction, made: Instruction) -> int:
        """Return how many elements of a value its user reads."""
        if user.op == "dynamic-slice" and user.operands[0] == made.name:
            return math.prod(user.shapes[0])
        onward: list[tuple[Instruction, Instruction]] = []
        if user.op in _PASSES_ON:
            onward = [(following, user) for following in self.uses(user)]
        elif user.called:
            inner = self.parameters[user.called, user.operands.index(made.name)]
            onward = [(following, inner) for following in self.uses(inner)]
        read = [self.kept(following, value) for following, value in onward]
        return max(read, default=math.prod(made.shapes[0]))

    # axes

    def axes(self, each: Instruction) -> tuple[str, ...]:
        """Return the mesh axes along which a collective runs; `X/2` is a half of one. Raises ValueError for no axes."""
        permute = each.kind == "Permute"
        groups = _pairs(each.rest) if permute else _groups(each.rest)
        ways = [axes for few in range(1, len(self.mesh) + 1) for axes in combinations(self.mesh, few)]
        for axes in ways:
            if not permute and groups == _members(self.mesh, axes):
                return axes
        for axes in ways:
            if all(any(group <= row for row in _members(self.mesh, axes)) for group in groups):
                return axes if permute else tuple(f"{axis}/{len(next(iter(groups)))}" for axis in axes)
        raise ValueError(f"{each.op} over {sorted(map(sorted, groups))} is along no mesh axes of {dict(self.mesh)}")


def _instructions(text: str) -> Iterable[Instruction]:
    where = ""
    for line in text.splitlines():
        if line.rstrip().endswith("{") and not line.startswith(" "):
            where = line.removeprefix("ENTRY ").split(" ")[0].lstrip("%")
        found = _LINE.match(line)
        if found:
            name, shape, op, rest = found.groups()
            inside = rest[: _closing(rest)]
            shapes = tuple(tuple(_numbers(dims)) for dims in _SHAPE.findall(shape))
            yield Instruction(where, name, shapes, op, inside, rest[len(inside) :])


def _closing(text: str) -> int:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return at
    return len(text)


def _bytes(shape: Sequence[int]) -> int:
    return BYTES * math.prod(shape)


def _members(mesh: Mapping[str, int], axes: Sequence[str]) -> Groups:
    """Return the groups of devices that lie along mesh axes."""
    order = [at for at, axis in enumerate(mesh) if axis not in axes] + [at for at, a in enumerate(mesh) if a in axes]
    grid = np.arange(math.prod(mesh.values())).reshape(tuple(mesh.values())).transpose(order)
    return _rows(grid.reshape(-1, math.prod(mesh[axis] for axis in axes)))


def _groups(rest: str) -> Groups:
    """Read replica groups in the three ways a module may write them: listed, as an iota, as axes of a device mesh."""
    listed = re.search(r"replica_groups=\{(\{[\d,{}]*\})\}", rest)
    if listed:
        return frozenset(frozenset(_numbers(group)) for group in re.findall(r"\{([\d,]+)\}", listed.group(1)))
    iota = re.search(r"replica_groups=(\[[\d,]+\])<=(\[[\d,]+\](?:T\([\d,]+\))?)", rest)
    if iota:
        return _rows(_iota(iota.group(2)).reshape(_numbers(iota.group(1))))
    named = re.search(r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\((.*?)\) )? *\{([^}]*)\}", rest)
    if named:
        return _named_groups(*named.groups())
    raise ValueError(f"no replica groups in {rest[:200]}")


def _named_groups(mesh: str, devices: str | None, axes: str) -> Groups:
    """Read `mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b', 'a':(1)2}`: whole axes, or `(pre)size` parts of them."""
    sizes = {name: int(size) for name, size in re.findall(r"'([^']+)'=(\d+)", mesh)}
    used = {n: (int(pre or 1), int(size or 0)) for n, pre, size in re.findall(r"'([^']+)'(?::\((\d+)\)(\d+))?", axes)}
    shape: list[int] = []
    picked: list[int] = []
    for name, size in sizes.items():
        pre, part = used.get(name, (1, size))
        if name in used:
            picked.append(len(shape) + 1)
        shape += [pre, part or size, size // (pre * (part or size))]
    grid = _iota(devices or f"[{math.prod(sizes.values())}]").reshape(shape)
    others = [at for at in range(len(shape)) if at not in picked]
    return _rows(grid.transpose([*others, *picked]).reshape(-1, math.prod(shape[at] for at in picked)))


def _pairs(rest: str) -> Groups:
    found = re.search(r"source_target_pairs=\{(.*?\})\}", rest)
    pairs = re.findall(r"\{(\d+),(\d+)\}", found.group(1)) if found else []
    return frozenset(frozenset((int(source), int(target))) for source, target in pairs)


def _iota(text: str) -> Any:
    """Read `[4,2]T(1,0)`: the numbers from 0 in this shape, transposed."""
    shape, _, order = text.partition("T")
    grid = np.arange(math.prod(_numbers(shape))).reshape(_numbers(shape))
    return grid.transpose(_numbers(order)) if order else grid


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _rows(grid: Any) -> Groups:
    return frozenset(frozenset(row) for row in grid.tolist())
