"""Values and bounds at exact points against sympy's own substitution."""

from __future__ import annotations

import random

import pytest
import sympy as sp

from symscale.notation.formula import parse_formula
from symscale.solve.bounds import apart, bounds
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation, sign_of_number
from symscale.vocabulary import symbol

x, y, z = map(symbol, "xyz")
Q = sp.Rational
EXPRESSIONS = [
    x + y / 3 - 2 * z,
    (x - y) ** 2 / (x * z),
    (x - y) ** -3,
    sp.sqrt(x * y) + sp.sqrt(z / 3),
    (x + y) ** Q(3, 2) / z ** Q(1, 2),
    x ** Q(1, 3) + y,
    sp.Max(x, y - z, 2) * sp.Min(x, z),
    sp.ceiling(x / y) - sp.floor(z / 2),
    sp.log(x) / sp.log(y + 1),
    x**200 / y**200,
    sp.sqrt(x - y),
    sp.sqrt(2) * x,
]


def points(count: int) -> list[dict[sp.Symbol, sp.Rational]]:
    chance = random.Random(1)
    return [{each: Q(chance.randint(1, 40), chance.randint(1, 6)) for each in (x, y, z)} for _ in range(count)]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_a_value_is_what_substitution_gives(expr: sp.Expr) -> None:
    for point in points(12):
        found, wanted = value_at(expr, point), expr.xreplace(point)
        assert found == wanted or abs((found - wanted).evalf(40)) < Q(1, 10**30)
        assert found.is_Rational == wanted.is_Rational


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_a_value_lies_within_its_bounds(expr: sp.Expr) -> None:
    for point in points(12):
        found = bounds(expr, point)
        if found is not None:
            low, high = (Q(end) for end in found)
            value = expr.xreplace(point).evalf(60)
            assert low <= value <= high
            assert expr.has(sp.ceiling) or high - low <= abs(value) / 10**6 + Q(1, 10**9)


def test_roots_have_bounds_and_what_is_not_real_has_none() -> None:
    assert bounds(sp.sqrt(x * y), {x: Q(2), y: Q(3)}) is not None
    assert bounds(sp.sqrt(x - y), {x: Q(2), y: Q(3)}) is None
    assert bounds(1 / (x - y), {x: Q(2), y: Q(2)}) is None
    assert bounds(x + z, {x: Q(2)}) is None


def test_close_values_are_left_to_exact_arithmetic() -> None:
    tiny = Q(1, 10**40)
    assert apart(x, y, {x: Q(1, 3), y: Q(1, 3) + tiny}) == 0
    assert apart(sp.sqrt(x) * sp.sqrt(y), sp.sqrt(x * y), {x: Q(2), y: Q(3)}) == 0
    assert apart(x, y, {x: Q(1, 3), y: Q(1, 3) + Q(1, 10**12)}) == -1
    for op, true in (("<", True), ("<=", True), ("==", False), (">=", False), (">", False)):
        assert Relation(x, op, y).holds({x: Q(1, 3), y: Q(1, 3) + tiny}) is true


def test_a_relation_without_a_value_does_not_hold() -> None:
    assert not Relation(1 / (x - y), ">=", z).holds({x: Q(2), y: Q(2), z: Q(1)})


@pytest.mark.parametrize("kind", [sp.Max, sp.Min])
def test_an_extremum_of_what_has_no_value_has_none(kind):
    size = symbol("X")
    assert value_at(kind(1 / sp.floor(size / 2), size, evaluate=False), {size: sp.S.One}) is sp.nan


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("exp(1/3)*(exp(2/3) + exp(2))", "exp(1) + exp(7/3)", 0),
        ("(exp(2) - exp(1))/exp(1)", "exp(1) - 1", 0),
        ("exp(1)^2", "exp(2)", 0),
        ("3*exp(1/2) - 2*exp(1/3)", "2", 1),
        ("exp(1/3)*(exp(2/3) + exp(2))", "exp(1) + exp(7/3) + 1/10^30", -1),
    ],
)
def test_sums_of_exponentials_are_compared_exactly(left: str, right: str, sign: int) -> None:
    assert sign_of_number(parse_formula(left).expr, parse_formula(right).expr) == sign
