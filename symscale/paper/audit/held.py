"""What a claim is said to hold under, against the limits and conditions of the derivation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from symscale.derivation.crossover import bounds
from symscale.derivation.registry import blackboard
from symscale.errors import SymscaleError
from symscale.exercise.borders import CLOSED
from symscale.exercise.conditions import alike
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.names import aliases
from symscale.exercise.verdict import RIGHT, WRONG, Verdict
from symscale.notation.formula import parse_limits, parse_relation
from symscale.notation.text import relation_text, to_text
from symscale.solve.relation import MIRROR, Relation

_CLOSED = {**CLOSED, "=": "=="}


def unfounded(when: Sequence[str], verdict: Verdict, exercise: Exercise) -> tuple[str, list[str]]:
    """Return what is wrong with the conditions of a claim, "" for nothing, and those that could not be judged.

    A claim that is one case of several is held to the conditions of that case.
    """
    left: list[str] = []
    asked = verdict.asked
    there = list(_typed(_conditions(asked, exercise, verdict.when), exercise))
    names = aliases(exercise)
    for each in when:
        try:
            wrong = _limit(each, asked, names) if _is_limit(each) else _condition(each, there, names)
        except SymscaleError:
            left.append(each)
            continue
        if wrong:
            return wrong, left
    return "", left


def one_case(word: str, when: Sequence[str], exercise: Exercise) -> Verdict:
    """Judge that under conditions every value is enough, "always", or none is, "never". Raises SymscaleError."""
    found = exercise.headline.crossover
    if found is None:
        raise SymscaleError(f"{exercise.id} asks for no condition.")
    names = aliases(exercise)
    said = [_relation(each, names) for each in when if not _is_limit(each)]
    cases = [
        case for answer in found.answers for case in answer.cases if (case.never if word == "never" else case.always)
    ]
    for case in cases:
        there = list(_typed(case.when, exercise))
        if all(any(alike(one, each) for each in there) for one in said):
            return Verdict(RIGHT, "", exercise.headline)
    shown = [" and ".join(relation_text(each.lhs, each.op, each.rhs) for each in case.when) for case in cases]
    real = f"It is so if {', or if '.join(dict.fromkeys(filter(None, shown)))}." if any(shown) else ""
    return Verdict(WRONG, real or "It is never so.", exercise.headline)


def _is_limit(text: str) -> bool:
    return any(sign in text for sign in (r"\ll", r"\gg", "<<", ">>", "≪", "≫"))


def _relation(text: str, names: Mapping[str, str]) -> Relation:
    lhs, op, rhs, _ = parse_relation(text, implicit=True, aliases=names)
    return Relation(lhs, _CLOSED.get(op, op), rhs)


def _limit(text: str, asked: Asked | None, names: Mapping[str, str]) -> str:
    """Say what is wrong with a limit: the derivation has it the other way round."""
    said = set(_pairs(text, names))
    taken = {pair for each in _assumptions(asked) if _is_limit(each) for pair in _pairs(each, {})}
    turned = sorted({(large, small) for small, large in said} & taken)
    if turned:
        return f"The limit is reversed: the derivation takes {turned[0][0]} << {turned[0][1]}."
    if said - taken:
        raise SymscaleError("The derivation has no such limit.")
    return ""


def _pairs(text: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for each in parse_limits(text, aliases=names):
        yield from ((to_text(each.small), to_text(large)) for large in each.large)


def _assumptions(asked: Asked | None) -> Iterator[str]:
    if asked is not None and asked.crossover is not None:
        yield from (each for answer in asked.crossover.answers for each in answer.assumptions)
    if asked is not None and asked.optimum is not None:
        yield from asked.optimum.limits


def _condition(text: str, there: Sequence[Relation], names: Mapping[str, str]) -> str:
    """Say what is wrong with a condition: the derivation has another one in the same symbols."""
    said = _relation(text, names)
    if any(alike(said, each) for each in there):
        return ""
    turned = Relation(said.lhs, MIRROR[said.op], said.rhs)
    for each in there:
        shown = relation_text(each.lhs, "=" if each.op == "==" else each.op, each.rhs)
        if alike(turned, each):
            return f"The condition is reversed: it holds if {shown}."
        if each.free_symbols == said.free_symbols:
            return f"The condition is another: it holds if {shown}."
    raise SymscaleError("The derivation has no such condition.")


def _conditions(asked: Asked | None, exercise: Exercise, case: Sequence[Relation]) -> Iterator[Relation]:
    found, best = (asked.crossover, asked.optimum) if asked is not None else (None, None)
    for each in _assumptions(asked):
        if not _is_limit(each):
            yield _relation(each, {})
    if best is not None:
        yield from best.when
    if case:
        yield from case
    elif found is not None:
        cases = [case for answer in found.answers for case in answer.cases]
        cases += [each.case for each in found.numbered] + [each.numeric for each in found.numbered]
        yield from (one for case in cases if not case.never for one in case.when)
    elif best is None and exercise.derivation:
        yield from (one for step in blackboard(exercise.derivation, exercise.terms).steps for one in step.conditions)


def bounds_of(asked: Asked, exercise: Exercise) -> Iterator[tuple[Relation, tuple[Relation, ...]]]:
    """Yield the inequalities that a derivation states of a quantity, in general and in its dtypes, with their case."""
    stated = [(Relation(each.of_what, each.sign, each.expr), ()) for each in asked.settings if each.sign != "=="]
    yield from ((one, when) for each, when in stated for one in _typed([each], exercise))
    found = asked.crossover
    for answer in found.answers if found is not None else ():
        for case in answer.cases:
            yield from ((one, case.when) for one in _typed(bounds(answer.unknown, case), exercise))


def _typed(stated: Iterable[Relation], exercise: Exercise) -> Iterator[Relation]:
    """Yield relations with bytes per element as symbols, and as the numbers that the dtypes give."""
    widths = exercise.widths
    for each in stated:
        yield each
        yield Relation(each.lhs.xreplace(widths), each.op, each.rhs.xreplace(widths))
