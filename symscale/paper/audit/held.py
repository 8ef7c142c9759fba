"""What a claim is said to hold under, against the limits and conditions of the derivation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symscale.derivation.crossover import Crossover
from symscale.derivation.registry import blackboard
from symscale.errors import SymscaleError
from symscale.exercise.answers import same
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.names import aliases
from symscale.notation.formula import parse_limits, parse_relation
from symscale.notation.text import relation_text, to_text
from symscale.solve.relation import MIRROR, Relation

_CLOSED = {">": ">=", "<": "<=", "=": "=="}


def unfounded(when: Sequence[str], asked: Asked | None, exercise: Exercise) -> tuple[str, list[str]]:
    """Return what is wrong with the conditions of a claim, "" for nothing, and those that could not be judged."""
    left: list[str] = []
    names = aliases(exercise)
    crossover = asked.crossover if asked is not None else None
    for each in when:
        try:
            if any(sign in each for sign in (r"\ll", r"\gg", "<<", ">>", "≪", "≫")):
                wrong = _limit(each, crossover, names)
            else:
                wrong = _condition(each, crossover, exercise, names)
        except SymscaleError:
            left.append(each)
            continue
        if wrong:
            return wrong, left
    return "", left


def _limit(text: str, crossover: Crossover | None, names: Mapping[str, str]) -> str:
    """Say what is wrong with a limit: the derivation has it the other way round."""
    said = set(_pairs(text, names))
    taken = {pair for each in _assumptions(crossover) if "<<" in each or ">>" in each for pair in _pairs(each, {})}
    turned = sorted({(large, small) for small, large in said} & taken)
    return f"The limit is reversed: the derivation takes {turned[0][0]} << {turned[0][1]}." if turned else ""


def _pairs(text: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for each in parse_limits(text, aliases=names):
        yield from ((to_text(each.small), to_text(large)) for large in each.large)


def _assumptions(crossover: Crossover | None) -> Iterator[str]:
    for answer in crossover.answers if crossover is not None else ():
        yield from answer.assumptions


def _condition(text: str, crossover: Crossover | None, exercise: Exercise, names: Mapping[str, str]) -> str:
    """Say what is wrong with a condition: the derivation has another one in the same symbols."""
    lhs, op, rhs, _ = parse_relation(text, implicit=True, aliases=names)
    said = Relation(lhs, _CLOSED.get(op, op), rhs)
    widths = dict(exercise.layer.typed.numbers) if exercise.layer is not None else {}
    general = list(_conditions(crossover, exercise))
    there = [*general, *(Relation(each.lhs.xreplace(widths), each.op, each.rhs.xreplace(widths)) for each in general)]
    if any(_alike(said, each) for each in there):
        return ""
    turned = Relation(said.lhs, MIRROR[said.op], said.rhs)
    for each in there:
        shown = relation_text(each.lhs, "=" if each.op == "==" else each.op, each.rhs)
        if _alike(turned, each):
            return f"The condition is reversed: it holds if {shown}."
        if each.free_symbols == said.free_symbols:
            return f"The condition is another: it holds if {shown}."
    raise SymscaleError("The derivation has no such condition.")


def _conditions(crossover: Crossover | None, exercise: Exercise) -> Iterator[Relation]:
    if crossover is not None:
        yield from (one for answer in crossover.answers for case in answer.cases if not case.never for one in case.when)
        for each in _assumptions(crossover):
            if "<<" not in each and ">>" not in each:
                lhs, op, rhs, _ = parse_relation(each)
                yield Relation(lhs, _CLOSED.get(op, op), rhs)
    elif exercise.derivation:
        yield from (one for step in blackboard(exercise.derivation, exercise.terms).steps for one in step.conditions)


def _alike(one: Relation, other: Relation) -> bool:
    """Return whether two relations say the same, either way round, with their borders or without."""
    turned = Relation(other.rhs, MIRROR[other.op], other.lhs)
    return any(
        _CLOSED.get(one.op, one.op) == _CLOSED.get(each.op, each.op)
        and same(one.lhs, each.lhs)
        and same(one.rhs, each.rhs)
        for each in (other, turned)
    )
