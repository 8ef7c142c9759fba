"""Cases of a comparison that have one answer are one case; those that do not stay apart."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import sympy as sp

from symscale.derivation import Question, verify
from symscale.derivation.comparison import compare, joined
from symscale.derivation.step import doubled
from symscale.errors import StepError
from symscale.notation.formula import parse_assignments
from symscale.report import text
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


GATHER = "A[I, J_X] -> G[I, J]; G * B[J, K] -> C[I, K]"
REDUCE = "A[I, J_X] * B[J_X, K] -> C[I, K]"
ONE_AXIS, TWO_AXES = "In[B_Z, D] * W[D_Z, F] -> Out[B_Z, F]", "In[B_X, D_Y] * W[D_X, F_Y] -> Out[B_X, F_Y]"

# by hand: 2*b*I*K/W is J*b*I/W at J = 2*K, and 2*I*J*K/C is not above b*I*J/W where K <= b*C/(2*W)
ANSWERS = [
    (GATHER, REDUCE, {"solve": "J", "on": "tpu-v5e"}, ["for X ≫ 1, on TPU v5e", "J <= min(b*C/W_ici, 2*K)",
                                                      "J <= min(2*K, 4377.78) elements",
                                                      "elsewhere the second is faster"]),
    (ONE_AXIS, TWO_AXES, {"solve": "B", "on": "tpu-v5p", "passes": "both", "mesh": "Z=64,X=8,Y=8",
                          "values": "D=8192,F=32768"}, ["B >= min(63*b*C/(2*W_ici), 27*F/2)", "B >= 160,650 tokens"]),
    (ONE_AXIS, TWO_AXES, {"solve": "B", "on": "tpu-v5p", "mesh": "Z=X*Y"},
     ["B >= min(b*X*Y*C/(2*W_ici), F*X) B >=", "B >= min(F*X, 2550*X*Y) tokens"]),
    (GATHER, REDUCE, {"solve": "J"}, ["for X ≫ 1:", "J <= min(b*C/W_ici, 2*K)"]),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "options", "words"), ANSWERS)
def test_a_comparison_ends_with_its_answer(first, second, options, words):
    numbers = {name: parse_assignments(options[name]) for name in ("mesh", "values") if name in options}
    found = compare(Question(first, **{"passes": "forward", **options, **numbers}), second)
    answers = [each for each in found.derivation.steps if each.title.startswith("Answer")]
    said = re.sub(r"\s+", " ", text(replace(found.derivation, steps=tuple(answers))))
    places = [said.find(each) for each in words]
    assert -1 not in places, said
    assert places == sorted(places)
    for each in answers:
        assert verify(each)
        for at in range(len(each.equations)):
            with pytest.raises(StepError):
                verify(doubled(each, at))
