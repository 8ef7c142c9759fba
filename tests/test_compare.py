"""Cases of a comparison that have one answer are one case; those that do not stay apart."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.derivation.comparison import joined
from symscale.solve import Case, Interval, Relation, Solution, same
from symscale.vocabulary import symbol

J, K, X, a, c = map(symbol, ["J", "K", "X", "a", "c"])
ABOVE_ONE = (Relation(X, ">", sp.S.One),)


def solution(when: Relation, ends: tuple[sp.Expr, sp.Expr]) -> Solution:
    intervals = [Interval(sp.S.Zero, False, end, False) for end in ends]
    cases = (Case((when,), (intervals[0],)), Case((when.negated(),), (intervals[1],)))
    return Solution(Relation(J, "<=", a), J, cases)


@pytest.mark.parametrize(
    ("when", "ends", "one"),
    [
        (Relation(c, "<", a), (sp.Min(a, c), a), True),
        (Relation(K, "<", a * X), (sp.Min(a, K), a), True),  # K >= a*X is above a, because X > 1
        (Relation(a * X, ">", a + K), (sp.Min(a * (X - 1) / X, K), a * (X - 1) / X), True),
        (Relation(K, "<", a / X), (sp.Min(a, K), a), False),  # K may lie between a/X and a
        (Relation(c, ">", a), (c, a), False),
        (Relation(c, "<", a), (c, a), False),
    ],
)
def test_two_cases_with_one_answer_are_one(when, ends, one):
    before = solution(when, ends)
    after = joined(before, ABOVE_ONE)
    assert (len(after.cases) == 1) is one
    if one:
        assert after.cases == (Case((), (Interval(sp.S.Zero, False, ends[0], False),)),)


def test_an_answer_that_needs_no_assumption_is_the_same_set():
    before = solution(Relation(c, "<", a), (sp.Min(a, c), a))
    assert same(before, joined(before))


def test_open_and_closed_ends_are_different_answers():
    when = Relation(c, "<", a)
    cases = (
        Case((when,), (Interval(sp.S.Zero, False, a, False),)),
        Case((when.negated(),), (Interval(sp.S.Zero, False, a, True),)),
    )
    assert len(joined(Solution(Relation(J, "<=", a), J, cases)).cases) == 2
