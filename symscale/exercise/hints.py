"""Hints: an author's words, or the steps of the derivation one by one; only the last gives the answer."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from symscale.derivation.registry import blackboard
from symscale.derivation.step import Prose, Step
from symscale.errors import SymscaleError
from symscale.exercise.answers import same
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.question import filled
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class Hint:
    """One hint: a title, a reason, equations, and lines of notation; `last` gives the answer."""

    title: str
    reason: Prose = ""
    equations: tuple[Relation, ...] = ()
    last: bool = False
    lines: tuple[Prose, ...] = ()


def hint(one: Exercise, number: int) -> tuple[Hint, int]:
    """Return a hint by its number from 1, and how many there are. Raises SymscaleError for a number beyond them."""
    found = hints(one)
    if not 1 <= number <= len(found):
        raise SymscaleError(
            f"{one.id} has {len(found)} hints, and none is number {number}.",
            hint=f"Ask for --hint 1 to --hint {len(found)}, or for --solution.",
        )
    return found[number - 1], len(found)


def hints(one: Exercise) -> list[Hint]:
    """Return the hints to what an exercise asks first, the answer last."""
    asked = one.headline
    steps = blackboard(one.derivation, one.terms).steps if one.derivation else []
    at = _answered(asked, steps)
    if asked.ask is not None and asked.ask.hints:
        before = [Hint(filled(each, one)) for each in asked.ask.hints]
    else:
        before = [_guarded(each, asked) for each in steps[:at] if each.kind != "given"]
    return [*before, _answer(one, asked, steps[at] if at < len(steps) else None)]


def _answered(asked: Asked, steps: list[Step]) -> int:
    """Return the index of the first step that states the answer, how many steps there are if none does."""
    if asked.sent is not None:
        which = asked.what.removeprefix("collectives ").capitalize()
        return next((n for n, each in enumerate(steps) if each.title == f"{which} pass: collectives"), len(steps))
    found = list(_answers(asked))
    for n, step in enumerate(steps):
        if any(_gives(each, asked, found) for each in step.equations):
            return n
    return len(steps)


def _answers(asked: Asked) -> Iterator[sp.Expr]:
    """Yield what the answer is, as formulas and as numbers: of a number that is asked for the numbers alone."""
    for each in asked.settings:
        value = each.value
        if value.is_number:
            yield value
        if not value.is_number or asked.crossover is not None or asked.optimum is not None:
            yield each.expr


def _gives(equation: Relation, asked: Asked, answers: list[sp.Expr]) -> bool:
    """Say whether an equation gives the answer, or a threshold of what is asked for."""
    if asked.crossover is not None:
        unknown = asked.crossover.headline.unknown
        if equation.lhs in (unknown, unknown.as_numer_denom()[0]):
            return True
    if asked.optimum is not None and equation.lhs == asked.optimum.variable:
        return True
    return any(_equal(equation.rhs, each) for each in answers)


def _equal(one: sp.Expr, other: sp.Expr) -> bool:
    if one.is_number or other.is_number:
        return bool(one.is_number and other.is_number and one == other and not (one.is_Integer and abs(one) <= 2))
    return one.free_symbols == other.free_symbols and len(to_text(one)) > 1 and same(one, other)


def _guarded(step: Step, asked: Asked) -> Hint:
    """Return a step as a hint, without words that have the answer in them."""
    words = step.reason if isinstance(step.reason, str) else "".join(map(_text, step.reason))
    told = [to_text(each) for each in _answers(asked)]
    spoilt = any(len(each) > 2 and each in words for each in told)
    return Hint(step.title, "" if spoilt else step.reason, step.equations)


def _text(part: str | sp.Expr | Relation) -> str:
    if isinstance(part, Relation):
        return f"{to_text(part.lhs)} {part.op} {to_text(part.rhs)}"
    return part if isinstance(part, str) else to_text(part)


def _answer(one: Exercise, asked: Asked, step: Step | None) -> Hint:
    """Return the last hint: the step that states the answer, or the formula with its numbers."""
    if step is not None:
        return Hint(step.title, step.reason, step.equations, True, step.lines)
    name = sp.S.One if not asked.settings else asked.settings[0].of_what
    for each in asked.settings:
        said = name if name != 1 else each.expr
        return Hint("The answer", "", (Relation(said, "==", each.value),), last=True)
    said_words = asked.words or ", ".join(f"{kind} over {', '.join(axes)}" for kind, axes, _ in asked.sent or ())
    return Hint("The answer", said_words or "none", (), last=True)
