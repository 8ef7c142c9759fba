"""Chapter 4 of "How To Scale Your Model": what it prints beside what the engine derives."""

from __future__ import annotations

import pytest
from answers import Row, check, rows, written

from symscale.derivation import Builder, verify
from symscale.derivation.registry import ids
from symscale.derivation.step import doubled
from symscale.errors import ModelError, StepError
from symscale.transformer import catalogue

LIBRARY = [each for each in ids() if each.startswith("transformer/")]


@pytest.mark.parametrize("row", rows("chapter4"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


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


# ------------------------------------------------------------------ models in training

SHOWN = "parameters active forward backward step"


@pytest.mark.parametrize("name", catalogue())
def test_the_counts_of_every_model_are_counted_again(name: str) -> None:
    from symscale import training

    for options in ({}, {"causal": False, "remat": "full"}, {"remat": "scores"}):
        d = Builder("counts")
        found = training(d, name, show=SHOWN, **options)  # type: ignore[arg-type]
        assert len(d.steps) == 5
        for step in d.steps:
            assert verify(step, seed=11)
        if not options:
            for step in d.steps:
                for at in range(len(step.equations)):
                    with pytest.raises(StepError):
                        verify(doubled(step, at), seed=11)
        assert found.forward.keys() == found.backward.keys() == found.step.keys()


def test_an_unknown_model_or_policy_is_refused() -> None:
    from symscale import training

    with pytest.raises(ModelError, match="No model is called"):
        training(Builder("none"), "no-such-model")
    with pytest.raises(ModelError, match="Unknown rematerialisation"):
        training(Builder("none"), "llama3-8b", remat="some")
    with pytest.raises(ModelError, match="cannot show 'flops'"):
        training(Builder("none"), "llama3-8b", show="flops")
