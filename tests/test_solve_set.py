"""The benchmark set: every question is answered, and every answer agrees with direct evaluation."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from symscale.solve import crossover, verify

_path = Path(__file__).parent.parent / "benchmarks" / "solver_cases.py"
_spec = importlib.util.spec_from_file_location("solver_cases", _path)
assert _spec is not None
assert _spec.loader is not None
solver_cases = importlib.util.module_from_spec(_spec)
sys.modules["solver_cases"] = solver_cases
_spec.loader.exec_module(solver_cases)


@pytest.mark.parametrize("question", solver_cases.QUESTIONS, ids=lambda question: question.name)
def test_answered_and_right(question: solver_cases.Question) -> None:  # type: ignore[name-defined]
    answer = crossover(question.lhs, question.relation, question.rhs, question.unknown)
    assert answer.exact
    verify(answer, 4)


def test_there_are_enough_of_each_hard_kind() -> None:
    names = [question.name for question in solver_cases.QUESTIONS]
    assert len(names) == len(set(names))
    for kind in ("max.", "two.", "rad."):
        assert sum(name.startswith(kind) for name in names) >= 10
