"""Which contraction a dot or a convolution is: an einsum in our notation, its sizes, and its FLOPs by the engine.

XLA writes products for a TPU as convolutions: a spatial dimension whose window takes each element once is a dimension
of the einsum, by the sizes that it has in the operands and the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

import sympy as sp

from symscale.array.element import elements
from symscale.cost import tally
from symscale.frozen import dataclass
from symscale.hlo.attributes import count_of, labels_of, numbers_of, window_of, wrong
from symscale.hlo.module import Instruction
from symscale.hlo.shape import Shape
from symscale.notation.elaborate import elaborate
from symscale.partition import partition
from symscale.vocabulary import symbol

# Where a dimension is: in both operands and the result, in one of them and the result, in both operands only.
Row = tuple[str, int, tuple[int | None, int | None, int | None]]
LETTERS = {"batch": "H", "left": "I", "summed": "J", "right": "K"}


@dataclass(frozen=True)
class Dim:
    """A dimension of a contraction: its letter, role, size, and its place in left operand, right operand, result."""

    name: str
    role: str
    size: int
    places: tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Contraction:
    """A product of two arrays.

    `program` is its einsum in our notation, `sizes` those of its dimensions, `results` how many elements come out; a
    convolution whose window slides is no einsum and has FLOPs only.
    """

    program: str
    sizes: Mapping[str, int]
    summed: tuple[str, ...]
    results: int
    flops: int

    @property
    def exact_flops(self) -> int:
        """FLOPs with K − 1 additions for a sum of K products, as profilers count."""
        return self.flops - self.results


def dot(text: str, each: Instruction, left: Shape, right: Shape) -> Contraction:
    """Return the contraction that a `dot` is. Raises NotationError where its dimensions do not fit."""
    read = {key: numbers_of(text, each, f"{key}_dims") for key in _DOT}
    (result,) = each.results
    pairs = [("batch", "lhs_batch", "rhs_batch"), ("summed", "lhs_contracting", "rhs_contracting")]
    found: list[tuple[str, int, tuple[int | None, int | None]]] = []
    for role, one, other in pairs:
        if len(read[one]) != len(read[other]):
            raise wrong(text, each, f"{one}_dims", f"{one}_dims and {other}_dims differ in number.", "Pair them.")
        for a, b in zip(read[one], read[other], strict=True):
            if a >= len(left.dims) or b >= len(right.dims) or left.dims[a] != right.dims[b]:
                said = f"The {role} dimensions {a} of {left.text} and {b} of {right.text} do not fit."
                raise wrong(text, each, f"{one}_dims", said, "They have one size.")
            found.append((role, left.dims[a], (a, b)))
    taken = [{place for _, _, pair in found for place in (pair[side],)} for side in (0, 1)]
    batch = [each for each in found if each[0] == "batch"]
    free: list[tuple[str, int, tuple[int | None, int | None]]]
    free = [("left", size, (at, None)) for at, size in enumerate(left.dims) if at not in taken[0]]
    free += [("right", size, (None, at)) for at, size in enumerate(right.dims) if at not in taken[1]]
    made = [*batch, *free]
    if tuple(size for _, size, _ in made) != result.dims:
        said = f"The product of {left.text} and {right.text} is no {result.text}."
        raise wrong(text, each, "", said, "A result has the batch dimensions, then those of each operand alone.")
    rows: list[Row] = [(role, size, (*places, at)) for at, (role, size, places) in enumerate(made)]
    rows += [(role, size, (*places, None)) for role, size, places in found if role == "summed"]
    return contraction(rows)


_DOT = ("lhs_batch", "rhs_batch", "lhs_contracting", "rhs_contracting")


def convolution(text: str, each: Instruction, left: Shape, right: Shape) -> Contraction:
    """Return the contraction that a `convolution` is, or its FLOPs where its window slides.

    Only places of the window inside the input count. Raises NotationError where its dimensions do not fit.
    """
    lhs, rhs, out = labels_of(text, each)
    (result,) = each.results
    if tuple(map(len, (lhs, rhs, out))) != (len(left.dims), len(right.dims), len(result.dims)):
        said = f"dim_labels do not label {left.text}, {right.text} and {result.text}."
        raise wrong(text, each, "dim_labels", said, "One label per dimension, as in bf_io->bf.")
    sides = ((left, lhs), (right, rhs), (result, out))
    size = {(side, label): shape.dims[at] for side, (shape, word) in enumerate(sides) for at, label in enumerate(word)}
    place = {(side, label): at for side, (_, word) in enumerate(sides) for at, label in enumerate(word)}
    groups = tuple(count_of(text, each, f"{kind}_group_count") for kind in ("feature", "batch"))
    fits = size[0, "f"] == size[1, "i"] * groups[0] and size[1, "o"] == size[2, "f"]
    if not fits or size[0, "b"] != size[2, "b"] * groups[1]:
        said = f"The sizes of {left.text}, {right.text} and {result.text} do not fit dim_labels."
        raise wrong(
            text, each, "dim_labels", said, "Input features f are kernel features i, o are those of the result."
        )
    rows: list[Row] = [
        ("left", size[2, "b"], (place[0, "b"], None, place[2, "b"])),
        ("summed", size[1, "i"], (place[0, "f"], place[1, "i"], None)),
        ("right", size[1, "o"], (None, place[1, "o"], place[2, "f"])),
    ]
    taps, slides = 1, max(groups) > 1
    for at, window in enumerate(window_of(text, each, [size[1, label] for label in rhs if label.isdigit()])):
        sizes = (size[0, str(at)], size[1, str(at)], size[2, str(at)])
        counted = window.taps(sizes[0], sizes[2])
        role = _role(sizes, counted)
        taps *= counted
        slides |= not role
        used = [place[side, str(at)] if role in _USES[side] else None for side in range(3)]
        rows.append((role, max(sizes), (used[0], used[1], used[2])))
    if slides:
        flops = 2 * (size[0, "b"] // groups[1]) * size[1, "o"] * size[1, "i"] * taps
        return Contraction("", {}, (), result.elements, flops)
    # dimensions of size 1 that have no role are not written
    return contraction(sorted(rows, key=order_of))


_USES = (("batch", "left", "summed"), ("batch", "right", "summed"), ("batch", "left", "right"))


def _role(sizes: tuple[int, int, int], taps: int) -> str:
    """Return what a spatial dimension is by its sizes in input, window and result; "" where the window slides."""
    n = max(sizes)
    if taps != n:
        return ""
    table = {(n, n, n): "batch", (n, 1, n): "left", (1, n, n): "right", (n, n, 1): "summed"}
    return "left" if n == 1 else table.get(sizes, "")


def _named(rows: Sequence[Row]) -> tuple[Dim, ...]:
    """Give each dimension the letter of its role, with a number where several have it."""
    count = {role: sum(row[0] == role for row in rows) for role in LETTERS}
    seen = dict.fromkeys(LETTERS, 0)
    found = []
    for role, size, places in rows:
        seen[role] += 1
        letter = LETTERS[role] + (str(seen[role]) if count[role] > 1 else "")
        found.append(Dim(letter, role, size, places))
    return tuple(found)


def order_of(row: Row) -> tuple[bool, int]:
    """Return the place of a dimension among others: as in the result, then those that are summed."""
    left, _, made = row[2]
    return made is None, (left if made is None else made) or 0


def contraction(rows: Sequence[Row]) -> Contraction:
    """Return the contraction of dimensions in (role, size, places), with the FLOPs that the engine counts."""
    dims = _named(rows)
    arrays = []
    for side in range(3):
        mine = sorted((each.places[side] or 0, each.name) for each in dims if each.places[side] is not None)
        arrays.append("[" + ", ".join(name for _, name in mine) + "]")
    program = f"A{arrays[0]} * B{arrays[1]} -> C{arrays[2]}"
    sizes = {each.name: each.size for each in dims}
    summed = tuple(each.name for each in dims if each.role == "summed")
    flops = _counted(program).xreplace({symbol(name): sp.Integer(size) for name, size in sizes.items()})
    results = prod(each.size for each in dims if each.role != "summed")
    return Contraction(program, sizes, summed, results, int(flops))


@lru_cache(maxsize=1024)
def _counted(program: str) -> sp.Expr:
    """Return the FLOPs of a program in the sizes of its dimensions, counted by its plan."""
    read = elaborate(program)
    typed = elements(read)
    cost = tally(partition(read, typed=typed, backward=False), "forward", typed, {})
    # an outer product sums nothing: one multiplication each
    return cost.total_flops + cost.vector_flops
