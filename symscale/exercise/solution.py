"""The derivation behind an exercise, on its terms, as the library shows derivations."""

from __future__ import annotations

from dataclasses import replace

from symscale.derivation.builder import Builder
from symscale.derivation.registry import proven
from symscale.derivation.step import Derivation, checked
from symscale.exercise.answers import known, read
from symscale.exercise.exercise import Exercise
from symscale.notation.formula import parse_relation
from symscale.notation.text import to_text


def solution(one: Exercise, vary: int | None = None) -> Derivation:
    """Return the derivation of an exercise with every step checked. Raises StepError if one fails."""
    if one.derivation:
        found = proven(one.derivation, one.terms).derivation
        return found if vary is None else replace(found, title=f"{one.id}, variant {vary}")
    found = _arithmetic(one)
    checked(found)
    return found


def _arithmetic(one: Exercise) -> Derivation:
    """Return the one step that puts numbers into the formula of a row, or into both sides of its relation."""
    assert one.row is not None
    text = one.row.formula
    values = {str(name): value for name, value in known(one.row).items()}
    d = Builder(one.id)
    if one.headline.words in ("yes", "no"):
        lhs, _, rhs, _ = parse_relation(text)
        d.number("lhs", lhs, values=values)
        d.number("rhs", rhs, values=values)
        return d.derivation
    for number, each in enumerate(text.split(";"), start=1):
        d.number("answer" if ";" not in text else f"answer_{number}", read(each), values=values)
    d.title = f"{one.id}: {to_text(read(text.split(';')[0]))}"
    return d.derivation
