"""Answers that once went wrong or were refused: guards, poles, floors, powers, and terms that both sides share."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.errors import UndecidedError
from symscale.solve import Relation, Solution, crossover, verify
from symscale.vocabulary import symbol

B, D, F, C, W, X = map(symbol, "BDFCWX")
N, P, n, a, c = symbol("N_chips"), symbol("P"), symbol("n"), symbol("a"), symbol("c")


def answer(solution: Solution) -> dict[str, str]:
    """Return an answer as text, conditions -> intervals, after comparing it with direct evaluation."""
    verify(solution, samples=25)
    found = {}
    for case in solution.cases:
        sets = "never" if case.never else "always" if case.always else " or ".join(map(str, case.intervals))
        found[" and ".join(map(str, case.when))] = sets
    return found


def test_a_guard_is_not_dropped_for_a_condition_that_needs_it() -> None:
    # D**3/(3*C*W - 2*D*F) <= … seems to imply D*F < 3*C*W/2, but only where it has a meaning
    sum_of_two = C * W * B / (2 * D) + 2 * D * F / (B * C)
    verify(crossover(sp.Max(3 * W / B, D / (2 * F * W)), "==", sum_of_two, B), samples=60, seed=50491)


def test_a_pole_of_the_other_symbols_belongs_to_no_answer() -> None:
    quotient = D / (C * F * (5 * D * W / 3 - 1 / W))
    found = answer(crossover(quotient, "<=", sp.Max(C * W, 5 * B * C * D), B))
    assert found["D*W**2 == 3/5"] == "never"
    assert answer(crossover(sp.Max(B, D) / (C - W), ">=", F, B))["C <= W"] == "never"


def test_terms_on_both_sides_are_cancelled() -> None:
    # (D + 1)/D > 1 needs no case
    assert answer(crossover(1 / (X - 1), ">=", D, X)) == {"": "(1, (D + 1)/D]"}
    assert answer(crossover(B * D + F * (C - W), ">=", D * F, B)) == {
        "C >= D + W": "always",
        "C < D + W": "[F*(-C + D + W)/D, oo)",
    }


def test_floor_and_ceiling_with_symbols() -> None:
    assert answer(crossover(D * sp.floor(B / X), ">", C, B)) == {"": "[X*floor((C + D)/D), oo)"}
    assert answer(crossover(sp.ceiling(P * a / C), "<=", N, a)) == {
        "N_chips >= 1": "[0, C*floor(N_chips)/P]",
        "N_chips < 1": "never",
    }


def test_a_power_at_its_border_is_decided_exactly() -> None:
    assert answer(crossover(a**n, ">=", c, n))["a > 1 and c > 1"] == "[log(c)/log(a), oo)"
    assert answer(crossover(sp.log(n, 2), ">=", c, n)) == {"": "[2**c, oo)"}


def test_what_may_not_be_real_is_refused() -> None:
    with pytest.raises(UndecidedError, match="may be negative"):
        crossover(B * D, ">=", sp.sqrt(C + D - F / 2), B)


def test_a_factor_of_both_sides_does_not_raise_the_degree() -> None:
    assert answer(crossover(P * (X - 1) / (W * X), ">=", F * (X - 1), X)) == {
        "F*W < P": "[1, P/(F*W)]",
        "F*W == P": "[1, 1]",
        "F*W > P": "[P/(F*W), 1]",
    }
    verify(crossover(B / (X - D), ">", X**2 / (X - D), X), samples=40)
    verify(crossover(B * (X - D) ** 2, "<=", X * (X - D) ** 2, X), samples=40)


def test_assumptions_on_the_unknown_tell_signs() -> None:
    two_or_more = [Relation(X, ">=", sp.Integer(2))]
    assert answer(crossover(P * (X - 1) / (W * X), ">=", F * (X - 1), X, given=two_or_more)) == {"": "[0, P/(F*W)]"}
    assert answer(crossover(P * (X - 1) / (W * X), "<=", D * (X - 1) / X, X, given=two_or_more)) == {
        "D*W >= P": "always",
        "D*W < P": "never",
    }
