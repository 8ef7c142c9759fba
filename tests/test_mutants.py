"""Mutants: doubling a definition inside the engine makes the derivations that use it fail their own checks."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from symscale.derivation import Question, derive, verify
from symscale.errors import StepError
from symscale.partition import price
from symscale.solve.limits import Approximation

# the modules, which functions of the same name hide in their packages
counted = sys.modules["symscale.cost.tally"]
crossing = sys.modules["symscale.derivation.crossover"]
evaluating = sys.modules["symscale.derivation.evaluate"]

MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"


def doubled(function):
    return lambda *arguments, **options: 2 * function(*arguments, **options)


def fails(program: str = MIXED, **options) -> None:
    """Derive and check: some step has to notice."""
    with pytest.raises(StepError):
        checked(program, **options)


def checked(program: str, **options) -> None:
    for step in derive(Question(program, solve="B", on="tpu-v5p", **options)).derivation.steps:
        verify(step)


def test_without_a_mutant_everything_holds():
    checked(MIXED)


@pytest.mark.parametrize("name", ["local_work", "held_bytes"])
def test_counts(monkeypatch, name):
    monkeypatch.setattr(counted, name, doubled(getattr(counted, name)))
    fails()


def test_received_bytes(monkeypatch):
    made = counted.cost

    def more(*arguments, **options):
        found = made(*arguments, **options)
        return dataclasses.replace(found, per_axis=tuple((axis, 2 * each) for axis, each in found.per_axis))

    monkeypatch.setattr(counted, "cost", more)
    fails()


def test_volume_of_a_choice(monkeypatch):
    monkeypatch.setattr(price.Pricing, "_one", doubled(price.Pricing._one))
    fails()


def test_solutions(monkeypatch):
    made = crossing.crossover

    def shifted(lhs, op, rhs, unknown, **options):
        return dataclasses.replace(made(2 * lhs, op, rhs, unknown, **options), relation=crossing.Relation(lhs, op, rhs))

    monkeypatch.setattr(crossing, "crossover", shifted)
    fails()


def test_approximations(monkeypatch):
    made = crossing.approximate_relation

    def wrong(relation, limits):
        question, sides = made(relation, limits)
        left, right = sides
        right = Approximation(
            right.exact, 2 * right.approximate, right.dropped, right.limits, right.ratio / 2, right.error
        )
        return dataclasses.replace(question, rhs=2 * question.rhs), (left, right)

    monkeypatch.setattr(crossing, "approximate_relation", wrong)
    fails()


def test_numbers(monkeypatch):
    factor = evaluating.sp.factor_terms
    monkeypatch.setattr(evaluating.sp, "factor_terms", doubled(factor))
    fails()
