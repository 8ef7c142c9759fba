"""Relations that hold at once: the conjunction of answers, judged at random exact points."""

from __future__ import annotations

import random

import pytest
import sympy as sp

from symscale.solve import Relation, alike, compatible, conjunction, crossover
from symscale.vocabulary import symbol

a, c, p, q, x = map(symbol, ["a", "c", "p", "q", "x"])

PAIRS = [
    [(x, ">=", a), (x, ">=", c)],
    [(x, "<=", a), (x, ">", c)],
    [(a / x, ">=", sp.Max(c, p / x)), (x, ">=", q)],
    [(a * x, ">=", c + p * x), (x, "<=", q)],
    [(a, ">=", c), (x, ">=", p), (x**2, "<", q)],
    [(a + x, ">=", c), (a * x, "<=", sp.Max(c, p)), (x, "<", 2 * q)],
]


@pytest.mark.parametrize("relations", PAIRS)
def test_all_hold_exactly_where_each_does(relations):
    solutions = [crossover(lhs, op, rhs, x) for lhs, op, rhs in relations]
    cases = conjunction([each.cases for each in solutions])
    rng = random.Random(1)
    seen = set()
    for _ in range(120):
        point = {each: sp.Rational(rng.randint(1, 20), rng.randint(1, 6)) for each in (a, c, p, q)}
        here = sp.Rational(rng.randint(1, 20), rng.randint(1, 6))
        applying = [case for case in cases if case.applies(point)]
        assert len(applying) == 1
        inside = any(each.contains(here, point) for each in applying[0].intervals)
        assert inside == all(Relation(*each).holds({**point, x: here}) for each in relations)
        seen.add(inside)
    assert seen == {True, False}


def test_a_weaker_relation_adds_nothing():
    strict, weak = (crossover(a * x, ">=", rhs, x).cases for rhs in (2 * c, c))
    assert alike(conjunction([strict, weak]), strict)
    assert not alike(conjunction([strict, weak]), weak)


def test_assumptions_narrow_the_cases():
    first, second = crossover(x, ">=", a, x).cases, crossover(c, ">=", 1, x).cases
    assert len(conjunction([first, second])) == 2
    assert alike(conjunction([first, second], [Relation(c, ">=", sp.Integer(2))]), first)


@pytest.mark.parametrize(
    ("conditions", "left"),
    [
        ([(a, ">=", sp.Integer(3)), (a, "<=", sp.Integer(2))], None),
        ([(a, ">=", sp.Integer(3)), (a, ">=", sp.Integer(2))], [(a, ">=", sp.Integer(3))]),
        ([(a, ">=", sp.Integer(2)), (c, ">", a)], [(a, ">=", sp.Integer(2)), (c, ">", a)]),
        ([(a, ">=", 2 * c), (c, ">=", sp.Integer(5)), (a, "<", sp.Integer(10))], None),
    ],
)
def test_conditions_that_contradict_each_other(conditions, left):
    found = compatible([Relation(*each) for each in conditions])
    assert found == (None if left is None else tuple(Relation(*each) for each in left))
