"""Maps in numbers: the pieces of a vertical line that belong to each area, between closed-form borders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.derivation.figure import Area, Condition, Map
from symscale.derivation.proof import float_value
from symscale.frozen import dataclass
from symscale.solve.relation import Case, Relation
from symscale.vocabulary import expression

# Conditions and ends of intervals are compared in floats; at a tie of a border either side will do.
EDGE = 1e-12


@dataclass(frozen=True)
class End:
    """One end of a piece: its value, and the closed form of the border it lies on (None at 0 and infinity)."""

    value: float
    form: sp.Expr | None = None


Piece = tuple[End, End]
BOTTOM, TOP = End(0.0), End(math.inf)


def pieces(area: Area, plane: Map, x: float) -> list[Piece]:
    """Return the pieces of the vertical line at `x` that belong to an area, from below."""
    found: list[Piece] = [(BOTTOM, TOP)]
    for number in (*area.inside, *area.outside):
        held = holding(plane.conditions[number], plane, x)
        found = _common(found, held if number in area.inside else _others(held))
    return found


def holding(condition: Condition, plane: Map, x: float) -> list[Piece]:
    """Return where on the vertical line at `x` a condition holds, by its closed form."""
    point = {**dict(plane.values), plane.x: x}
    case = applying(condition, point)
    found = []
    for each in case.intervals:
        low = BOTTOM if each.lo == 0 else End(float_value(each.lo, point), each.lo)
        high = TOP if each.hi == sp.oo else End(float_value(each.hi, point), each.hi)
        if low.value < high.value:
            found.append((low, high))
    return found


def applying(condition: Condition, point: Mapping[sp.Symbol, sp.Expr | float]) -> Case:
    """Return the case whose conditions hold at a point; on the border of two, one of them."""
    for slack in (0.0, EDGE, 1e-6):
        for case in condition.cases:
            if all(_holds(each, point, slack) for each in case.when):
                return case
    return condition.cases[-1]


def _holds(relation: Relation, point: Mapping[sp.Symbol, sp.Expr | float], slack: float) -> bool:
    lhs, rhs = float_value(relation.lhs, point), float_value(relation.rhs, point)
    room = slack * max(abs(lhs), abs(rhs))
    return {
        "<": lhs < rhs + room,
        "<=": lhs <= rhs + room,
        ">": lhs > rhs - room,
        ">=": lhs >= rhs - room,
        "==": abs(lhs - rhs) <= room,
    }[relation.op]


def _common(some: Sequence[Piece], others: Sequence[Piece]) -> list[Piece]:
    found = []
    for low, high in some:
        for other_low, other_high in others:
            start = low if low.value >= other_low.value else other_low
            end = high if high.value <= other_high.value else other_high
            if start.value < end.value:
                found.append((start, end))
    return found


def _others(held: Sequence[Piece]) -> list[Piece]:
    found, start = [], BOTTOM
    for low, high in sorted(held, key=lambda each: each[0].value):
        if start.value < low.value:
            found.append((start, low))
        start = high
    return [*found, (start, TOP)] if start.value < math.inf else found


def area_at(plane: Map, x: float, y: float) -> list[int]:
    """Return the numbers of the areas that hold a point: one, but on a border."""
    return [
        number
        for number, area in enumerate(plane.areas)
        if any(low.value <= y <= high.value for low, high in pieces(area, plane, x))
    ]


def direct(plane: Map, x: sp.Expr, y: sp.Expr, others: sp.Expr = sp.S.One) -> int | None:
    """Return the area of a point by evaluating what was compared, exactly and without the solver; None on a border."""
    point = plane.at(x, y, others)
    if plane.times:
        spent = [float_value(each, point) for each in plane.times]
        most = max(spent)
        near = [number for number, each in enumerate(spent) if each > most * (1 - 1e-9)]
        return near[0] if len(near) == 1 else None
    exact = {name: expression(value) for name, value in point.items()}
    truths = [each.relation.holds(exact) for each in plane.conditions]
    for number, area in enumerate(plane.areas):
        if all(truths[each] for each in area.inside) and not any(truths[each] for each in area.outside):
            return number
    return None
