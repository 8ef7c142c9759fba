"""Equality of answers: structural where possible, by exact points otherwise."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.solve import Case, Interval, Relation, Solution, crossover, same
from symscale.vocabulary import symbol

B, D, F, C, W, X, b, x, a, c = map(symbol, ["B", "D", "F", "C", "W", "X", "b", "x", "a", "c"])


def stated(answer: Solution, when: list[Relation], lo: sp.Expr, lo_open: bool = True) -> Solution:
    """Return an answer as a person would state it: `unknown > lo` under conditions, else never."""
    cases = [Case(tuple(when), (Interval(lo, lo_open, sp.oo, True),))]
    if when:
        cases.append(Case((when[0].negated(),), ()))
    return Solution(answer.relation, answer.unknown, tuple(cases))


def test_equal_answers_in_another_form() -> None:
    roofline = crossover(2 * B * D * F / C, ">", b * (B * D + D * F + B * F) / W, B)
    condition = Relation(2 * D * F * W, ">", b * C * (D + F))
    assert same(roofline, stated(roofline, [condition], 1 / (2 * W / (b * C) - 1 / D - 1 / F)))
    assert not same(roofline, stated(roofline, [condition], b * C / (2 * W)))
    assert not same(roofline, stated(roofline, [Relation(D, ">", F)], 1 / (2 * W / (b * C) - 1 / D - 1 / F)))


@pytest.mark.parametrize(("lo", "lo_open", "equal"), [(a / 2, True, True), (a / 2, False, False), (a, True, False)])
def test_strictness_and_factors_count(lo: sp.Expr, lo_open: bool, equal: bool) -> None:
    answer = crossover(2 * x, ">", a, x)
    assert same(answer, stated(answer, [], lo, lo_open)) is equal


def test_equivalent_relations() -> None:
    assert same(crossover(2 * x + a, ">", c, x), crossover(4 * x / c + 2 * a / c, ">", sp.Integer(2), x))
    assert same(crossover(sp.sqrt(x), ">", a, x), crossover(x, ">", a**2, x))
    assert not same(crossover(x, ">", a, x), crossover(x, "<", a, x))
    assert not same(crossover(x, ">", a, x), crossover(x, ">", c, x))
    assert not same(crossover(x, ">", a, x), crossover(a, "<", x, a))
