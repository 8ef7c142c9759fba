"""Kinds of answers that an exercise may ask for."""

from __future__ import annotations

from symscale.exercise.exercise import Asked

CONDITION, NUMBER, FORMULA, MESH = "condition", "number", "formula", "mesh"
COLLECTIVES, YES_OR_NO, NOTATION = "collectives", "yes or no", "notation"
KINDS = (CONDITION, NUMBER, FORMULA, MESH, COLLECTIVES, YES_OR_NO, NOTATION)


def kind_of(asked: Asked) -> str:
    """Return what kind of answer is asked for."""
    if asked.words:
        return YES_OR_NO if asked.words in ("yes", "no") else NOTATION
    if asked.sent is not None:
        return COLLECTIVES
    if asked.crossover is not None:
        return CONDITION
    if asked.optimum is not None:
        return MESH if asked.optimum.integers else FORMULA
    return NUMBER if asked.settings and next(asked.numbers, (None,))[0] is asked.settings[0] else FORMULA
