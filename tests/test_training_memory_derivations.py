"""The derivations `memory/…`: every step checked, every mutant and every doubled expectation caught."""

from __future__ import annotations

from typing import Any

import pytest

from symscale.derivation import Builder, verify
from symscale.derivation import builder as blackboard_module
from symscale.derivation.registry import entry, ids
from symscale.derivation.step import doubled
from symscale.errors import StepError

OURS = [each for each in ids() if each.startswith("memory/")]


def written(name: str) -> Builder:
    found = entry(name)
    d = Builder(found.title, found.source)
    found.write(d)
    return d


def test_there_are_derivations() -> None:
    assert len(OURS) == 5


@pytest.mark.parametrize("name", OURS)
def test_every_step_is_checked_and_every_mutant_is_caught(name: str) -> None:
    d = written(name)
    assert entry(name).cites
    for step in d.steps:
        assert verify(step, seed=5)
        for at, equation in enumerate(step.equations):
            if equation.rhs != 0:
                with pytest.raises(StepError):
                    verify(doubled(step, at), seed=5)


@pytest.mark.parametrize("name", OURS)
def test_a_doubled_expectation_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, number = blackboard_module.expected_answer, blackboard_module.expected_number
    seen = []

    def formula(found: Any, layer: Any, text: str) -> None:
        answer(found, layer, text)
        seen.append(text)
        lhs, op, rhs = text.split(" ", 2)
        with pytest.raises(StepError):
            answer(found, layer, f"{lhs} {op} 2*({rhs})")

    def numeric(value: Any, text: str) -> None:
        number(value, text)
        seen.append(text)
        with pytest.raises(StepError):
            number(2 * value, text)

    monkeypatch.setattr(blackboard_module, "expected_answer", formula)
    monkeypatch.setattr(blackboard_module, "expected_number", numeric)
    written(name)
    assert seen
