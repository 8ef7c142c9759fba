"""Points where conditions hold, in narrow places too, and conditions that exclude each other."""

from __future__ import annotations

import random

import pytest
import sympy as sp

from symscale import parse_relation, symbol
from symscale.derivation.points import meeting, random_point
from symscale.solve.contradiction import contradictory
from symscale.solve.pieces import Piece, tidied
from symscale.solve.region import Region
from symscale.solve.relation import MASKS, Relation


def relations(*texts: str) -> list[Relation]:
    read = [parse_relation(text) for text in texts]
    return [Relation(lhs, "==" if op == "=" else op, rhs) for lhs, op, rhs, _ in read]


NARROW = [
    ("X*Y <= 8", "B + 2*F < B*Y + 2*F*X"),
    ("8 <= X", "X < 8.01", "Y > X*F", "F > 100*X"),
    ("C*F*X < B*C/2 + 2*B*F*W + C*F", "F*X > 4*B", "C*F*X > B*(C + 4*F*W)/2"),
    ("C*F*X = B*(C + 4*F*W)/2", "F*X < 4*B"),
    ("B = 2*X + Y", "F = B*X", "F > 10^6"),
    ("max(B, F) <= X + 1", "floor(X/Y) = X/Y", "X > 100*Y"),
]


@pytest.mark.parametrize("texts", NARROW[:-1], ids=" and ".join)
def test_a_walk_finds_points_in_narrow_places(texts: tuple[str, ...]) -> None:
    conditions = relations(*texts)
    symbols = {name for each in conditions for name in each.free_symbols}
    long = frozenset({symbol("X"), symbol("Y")} & symbols)
    rng = random.Random(0)
    found = [meeting(conditions, random_point(symbols, rng), long, rng) for _ in range(10)]
    there = [point for point in found if point is not None]
    assert len(there) >= 3
    assert all(each.holds(point) for point in there for each in conditions)
    assert all(point[name] >= 2 for point in there for name in long)
    assert len({tuple(point.items()) for point in there}) > 1


def test_no_point_is_made_up() -> None:
    conditions = relations("X > 2*Y", "Y > X")
    rng = random.Random(0)
    symbols = {symbol("X"), symbol("Y")}
    assert all(meeting(conditions, random_point(symbols, rng), (), rng) is None for _ in range(5))


# conditions, and whether two of them exclude each other
EXCLUDING = [
    (("F*X >= B/2 + 2*B*W + F", "F*X <= B/2 + 2*B*W"), True),
    (("F*X >= B/2 + 2*B*W", "F*X < B/2 + 2*B*W"), True),
    (("F*X >= B/2 + 2*B*W", "F*X <= B/2 + 2*B*W"), False),
    (("F*X >= B/2 + 2*B*W", "F*X <= B/2 + 3*B*W"), False),
    # the second times 2*X
    (("F*X >= B/2 + 2*B*W + F", "X*(B + 4*B*W + 2*F)/(4*B + F*X^2) >= 2"), True),
    (("F*X > B + D", "B*X^2 > F*X^3 + D"), True),
    (("F*X > B + D", "B*X^2 > F*X^3/2 + D"), False),
]


@pytest.mark.parametrize(("texts", "expected"), EXCLUDING, ids=str)
def test_sums_that_exclude_each_other(texts: tuple[str, ...], expected: bool) -> None:
    conditions = relations(*texts)
    region = Region(tuple((each.lhs, each.rhs, MASKS[each.op]) for each in conditions))
    assert contradictory(region) is expected
    assert tidied([Piece(region, ())]) == ([] if expected else tidied([Piece(region, ())]))
    rng = random.Random(1)
    symbols = {name for each in conditions for name in each.free_symbols}
    points = [{name: sp.Rational(rng.randint(1, 40), rng.randint(1, 9)) for name in symbols} for _ in range(300)]
    assert not (expected and any(all(each.holds(point) for each in conditions) for point in points))
