"""Sums as steps of a derivation: their closed form, its proof, and what has none."""

from __future__ import annotations

import pytest

from symscale.derivation import Builder, verify
from symscale.derivation.step import doubled
from symscale.errors import StepError, UndecidedError

# term, last, closed form
SUMS = [
    ("i", "n", "n*(n + 1)/2"),
    ("i", "N/2 - 1", "N*(N - 2)/8"),
    ("2*i - 1", "X", "X^2"),
    ("b*i^2", "n", "b*n*(n + 1)*(2*n + 1)/6"),
    ("M_array", "X - 1", "M_array*(X - 1)"),
]


@pytest.mark.parametrize(("term", "last", "closed"), SUMS)
def test_sums_are_proved_and_mutants_caught(term: str, last: str, closed: str) -> None:
    d = Builder("a sum")
    found = d.added("total", term, "i", last)
    d.expect(found, closed)
    (step,) = d.steps
    assert verify(step, seed=5)
    with pytest.raises(StepError, match="Not the sum"):
        verify(doubled(step, 0), seed=5)
    assert {d.read(term), d.read(last)} < set(step.reason)


def test_a_sum_without_a_closed_form_is_refused() -> None:
    with pytest.raises(UndecidedError, match="no closed form"):
        Builder("harmonic").added("total", "1/i", "i", "n")


def test_a_collective_that_turns_one_way_says_so() -> None:
    d = Builder("one way")
    one = d.collective("AllGather", "M_array", {"X": "X"}, both_ways=False)
    two = d.collective("AllGather", "M_array", {"X": "X"})
    both = {d.symbol("W_ici"): d.read("2*W_link")}
    assert one.time / two.time.subs(both) == 2
    assert "one way around" in str(d.steps[0].reason)
    assert "one way around" not in str(d.steps[1].reason)
    assert all(verify(step, seed=5) for step in d.steps)
