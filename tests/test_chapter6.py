"""Chapter 6 of "How To Scale Your Model": what it prints beside what the engine derives."""

from __future__ import annotations

import pytest
from answers import Row, check, rows, written

from symscale.derivation import verify
from symscale.derivation.registry import ids
from symscale.derivation.step import doubled
from symscale.errors import StepError

LIBRARY = [each for each in ids() if each.startswith(("llama3/", "runs/"))]


@pytest.mark.parametrize("row", rows("chapter6"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


def test_the_best_mesh_of_a_pod() -> None:
    # ch6.p1.int-split: among the divisors of 8960
    lines = [line for step in written("llama3/four-pods").steps for line in step.lines]
    ranked = [str(line[1]) for line in lines if len(line) > 1 and "above the optimum" in str(line[1])]
    assert ranked[0].startswith(" = 896:")


@pytest.mark.parametrize("name", LIBRARY)
def test_every_step_is_checked_and_every_mutant_is_caught(name: str) -> None:
    d = written(name)
    assert d.source
    for step in d.steps:
        assert verify(step, seed=5)
        for at, equation in enumerate(step.equations):
            if equation.rhs != 0:
                with pytest.raises(StepError):
                    verify(doubled(step, at), seed=5)
