"""The borders of a map inside its frame: where the areas of neighbouring vertical lines change, found by halving."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import sympy as sp

from symscale.derivation.figure import Axis, Figure, Map
from symscale.derivation.proof import float_value
from symscale.derivation.regions import End, Piece, applying, pieces
from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve import crossover
from symscale.solve.relation import Relation

FIRST, NARROW = 24, 1e-10
# Parts of the frame shorter than this share of its height are not told apart.
SLIVER = 0.004


@dataclass(frozen=True)
class Column:
    """A vertical line at the share `at` of the frame's width: the pieces of each area, cut to the frame."""

    at: float
    x: float
    areas: tuple[tuple[Piece, ...], ...]

    @property
    def shape(self) -> tuple[tuple[tuple[sp.Expr | None, sp.Expr | None], ...], ...]:
        """The closed forms of the borders of every piece, by area."""
        return tuple(tuple((low.form, high.form) for low, high in area) for area in self.areas)


@dataclass(frozen=True)
class Border:
    """A border in closed form, `y == …` or `x == …`, and the two sides that are equal there."""

    equation: Relation
    sides: Relation


def share(axis: Axis, value: float) -> float:
    """Return where a value lies between the ends of an axis, 0 to 1."""
    low, high = float(axis.low), float(axis.high)
    if not axis.log:
        return (value - low) / (high - low)
    if value <= 0:
        return -math.inf
    return math.log(value / low) / math.log(high / low) if value < math.inf else math.inf


def value_of(axis: Axis, at: float) -> float:
    """Return the value at a share of an axis."""
    low, high = float(axis.low), float(axis.high)
    return low * (high / low) ** at if axis.log else low + (high - low) * at


@lru_cache(maxsize=8)
def columns(figure: Figure, plane: Map) -> tuple[Column, ...]:
    """Return vertical lines from left to right, two close ones where the shape changes."""
    first = [_column(figure, plane, number / FIRST) for number in range(FIRST + 1)]
    found = [first[0]]
    for left, right in pairwise(first):
        found += [*_changes(figure, plane, left, right), right]
    return tuple(found)


def _changes(figure: Figure, plane: Map, left: Column, right: Column) -> Iterator[Column]:
    if left.shape == right.shape:
        return
    if right.at - left.at < NARROW:
        yield left
        yield right
        return
    middle = _column(figure, plane, (left.at + right.at) / 2)
    yield from _changes(figure, plane, left, middle)
    yield from _changes(figure, plane, middle, right)


def _column(figure: Figure, plane: Map, at: float) -> Column:
    x = value_of(figure.x, at)
    low, high = float(figure.y.low), float(figure.y.high)
    found = []
    for area in plane.areas:
        cut = []
        for start, end in pieces(area, plane, x):
            start = start if start.value > low else End(low)
            end = end if end.value < high else End(high)
            if start.value < end.value:
                cut.append((start, end))
        found.append(tuple(cut))
    return Column(at, x, tuple(found))


def borders(figure: Figure, plane: Map) -> list[Border]:
    """Return the borders that are seen inside the frame, in closed form, from left to right."""
    lines = columns(figure, plane)
    found: dict[Relation, Border] = {}
    for column in lines:
        for area in column.areas:
            for end in (end for piece in area for end in piece if end.form is not None):
                equation = Relation(plane.y, "==", end.form)
                if equation not in found:
                    found[equation] = Border(equation, _sides(plane, end))
    for left, right in upright(lines, figure):
        border = upright_border(plane, left, right)
        found.setdefault(border.equation, border)
    return list(found.values())


def _sides(plane: Map, end: End) -> Relation:
    """Return the comparison one of whose ends a border is."""
    for each in plane.conditions:
        if any(end.form in (one.lo, one.hi) for case in each.cases for one in case.intervals):
            return each.relation
    raise UndecidedError("a border of the map belongs to none of its conditions")


def upright(lines: Sequence[Column], figure: Figure) -> list[tuple[Column, Column]]:
    """Return pairs of close columns between which a part of the height goes over from one area to another."""
    return [
        (left, right)
        for left, right in pairwise(lines)
        if right.at - left.at < 2 * NARROW and steps(left, right, figure)
    ]


def steps(left: Column, right: Column, figure: Figure) -> list[tuple[float, float]]:
    """Return the parts of the height, as shares, at which two columns lie in different areas."""
    found = []
    for number, area in enumerate(left.areas):
        for other, theirs in enumerate(right.areas):
            for low, high in area if number != other else ():
                for low_there, high_there in theirs:
                    start = share(figure.y, max(low.value, low_there.value))
                    end = share(figure.y, min(high.value, high_there.value))
                    if end - start > SLIVER:
                        found.append((start, end))
    return sorted(found)


def upright_border(plane: Map, left: Column, right: Column) -> Border:
    """Return the closed form of a border at which a condition of x alone changes. Raises UndecidedError."""
    for condition in plane.conditions:
        cases = [applying(condition, {**dict(plane.values), plane.x: each.x}) for each in (left, right)]
        for when in (each for case in cases for each in case.when if cases[0] != cases[1]):
            if plane.x not in when.free_symbols:
                continue
            for case in crossover(when.lhs, ">=", when.rhs, plane.x).cases:
                for end in (end for each in case.intervals for end in (each.lo, each.hi)):
                    if end not in (0, sp.oo) and _near(end, plane, left.x):
                        return Border(Relation(plane.x, "==", end), when)
    raise UndecidedError("the map has an upright border without a closed form", hint="Swap its two variables.")


def _near(form: sp.Expr, plane: Map, x: float) -> bool:
    return abs(float_value(form, dict(plane.values)) / x - 1) < 1e-6
