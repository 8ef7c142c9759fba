"""Chapters 7 and 8 of the library: every step is checked, every doubled right side is caught, printed values agree."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.derivation.builder import Builder
from symscale.derivation.registry import entry, ids
from symscale.derivation.served import inference
from symscale.derivation.step import doubled, verify
from symscale.errors import ModelError, StepError
from symscale.transformer import catalogue

OURS = [each for each in ids() if each.startswith(("inference/", "serving/"))]


def test_the_library_has_them() -> None:
    assert len(OURS) >= 40


@pytest.mark.parametrize("name", OURS)
def test_every_step_is_checked_and_every_mutant_is_caught(name: str) -> None:
    found = entry(name)
    d = Builder(found.title, found.source)
    found.write(d)
    assert d.steps
    assert found.source
    for step in d.steps:
        assert verify(step)
        for at in range(len(step.equations)):
            with pytest.raises(StepError):
                verify(doubled(step, at), seed=5)


@pytest.mark.parametrize("name", catalogue())
def test_the_counts_of_every_model_are_counted_again(name: str) -> None:
    d = Builder("counts")
    inference(d, name, show="decode prefill held")
    for step in d.steps:
        verify(step, seed=11)
        for at in range(len(step.equations)):
            with pytest.raises(StepError):
                verify(doubled(step, at), seed=11)


def test_a_model_without_a_name_has_short_names_only() -> None:
    names = {str(each) for each in inference(Builder("any")).step.total.free_symbols}
    assert names == {"B", "C", "W_hbm", "N_chips", "FLOPs_token", "M_weights", "FLOPs_scores", "M_cache"}


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ModelError, match="No model is called"):
        inference(Builder("none"), "no-such-model")


def test_two_dimensions_win_where_the_derivation_says() -> None:
    """Times of both shardings in plain arithmetic, at F = 4 D on three axes, per unit of B·D/W in bf16."""
    for chips, better in ((72 * 9 // 10, False), (80, True)):
        two = min(2 / x + 4 * 4 * x / chips for x in (sp.Rational(n, 16) for n in range(8, 200)))
        assert bool(two < sp.Rational(4, 3)) is better
