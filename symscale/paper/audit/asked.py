"""What a tag asks: the exercise of a derivation, of one of its quantities, or of one step."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import sympy as sp

from symscale.derivation.builder import Builder
from symscale.derivation.crossover import Crossover, bounds
from symscale.derivation.registry import blackboard
from symscale.errors import SymscaleError
from symscale.exercise.exercise import Asked, Exercise, exercise
from symscale.exercise.names import named
from symscale.exercise.setting import Setting, everything
from symscale.notation.text import to_text
from symscale.paper.known import names_of
from symscale.paper.pieces import step_number
from symscale.paper.request import Request
from symscale.paper.values import number
from symscale.solve.relation import Relation

PIECES = ("claim", "step", "value")


@lru_cache(maxsize=1024)
def asked(request: Request) -> Exercise:
    """Return what a tag names as an exercise. Raises SymscaleError with the closest ids, steps or quantities."""
    if request.piece not in PIECES:
        raise SymscaleError(
            f"A tag names no {request.piece}: that states nothing that could be checked.",
            hint="Write `training/fsdp`, `training/fsdp value T_comms` or `training/fsdp step 3`.",
        )
    whole = exercise(request.id, terms=request.terms)
    if request.piece == "claim":
        return whole
    if request.piece == "value":
        return _valued(request, whole)
    d = blackboard(whole.derivation, request.terms)
    number = step_number(request.id, d.steps, request.which)
    found = [each for each in everything(whole.derivation, terms=request.terms) if each.at == number]
    if not found:
        title = d.steps[number - 1].title
        raise SymscaleError(f"Step {number} of {request.id}, {title}, has no equation.", hint="Name another step.")
    return replace(whole, asked=tuple(_stated(each, d) for each in found))


def names_in(request: Request) -> frozenset[str]:
    """Return the names of the symbols that a tag's derivation has. Raises SymscaleError."""
    one = asked(request)
    return frozenset(named(one)) | (names_of(blackboard(one.derivation, request.terms)) if one.derivation else set())


def _valued(request: Request, whole: Exercise) -> Exercise:
    """Return an exercise that asks for the number which the same request writes into a document, or for the formula of
    a quantity without one.
    """
    step = request.option("step")
    steps = blackboard(whole.derivation, request.terms).steps if step else ()
    try:
        value, unit, name = number(request, step_number(request.id, steps, step) if step else 0)
    except SymscaleError:
        wanted = request.which.replace(" ", "")
        stated = [each for each in whole.asked if wanted and each.what.replace(" ", "") == wanted]
        if step or not stated:
            raise
        return replace(whole, asked=(*stated, *(each for each in whole.asked if each not in stated)))
    about = next((each for each in whole.asked if each.what == name), whole.headline)
    setting = Setting(value, {}, about.settings[0].of_what if about.settings else sp.S.One, unit=unit)
    others = [each for each in whole.asked if each is not about]
    return replace(whole, asked=(replace(about, settings=(setting, *about.settings)), *others))


def _stated(setting: Setting, d: Builder) -> Asked:
    """Return what an equation of a step states; a bound has the answer of the crossover that it is part of."""
    name = to_text(setting.of_what)
    if setting.sign == "==":
        return Asked(name, (setting,))
    relation = Relation(setting.of_what, setting.sign, setting.value)
    general = Relation(setting.of_what, setting.sign, setting.expr)
    crossover = next((one for each in d.crossovers if (one := _of(each, (relation, general)))), None)
    return Asked(name, (setting,), crossover)


def _of(found: Crossover, said: tuple[Relation, ...]) -> Crossover | None:
    """Return a crossover with those of its answers that state one of the relations, None if it has none."""

    def stated(bound: Relation) -> bool:
        return any(bound.lhs == one.lhs and bound.rhs == one.rhs for one in said)

    unknown = found.headline.unknown
    answers = [
        each for each in found.answers if any(stated(one) for case in each.cases for one in bounds(each.unknown, case))
    ]
    numbered = [each for each in found.numbered if any(map(stated, bounds(unknown, each.numeric)))]
    if not answers and not numbered:
        return None
    return replace(found, answers=tuple(answers) or found.answers, numbered=tuple(numbered))
