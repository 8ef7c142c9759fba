"""The right answer of an exercise in words and formulas, for a key."""

from __future__ import annotations

from collections.abc import Iterator

from symscale.derivation.crossover import Crossover, bounds, case_words
from symscale.derivation.limits import readable
from symscale.derivation.step import Prose
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.structures import whole_mesh
from symscale.notation.numbers import format_number, format_quantity
from symscale.notation.text import relation_text, to_text
from symscale.solve.relation import Case, Relation
from symscale.vocabulary import symbol

#: A formula of more characters is left out where there is a number.
MOST_READ = 300


def answers(one: Exercise) -> list[Prose]:
    """Return what an exercise asks for, in general and in numbers, a line each."""
    return list(_lines(one.headline, one)) or [one.headline.what]


def written(one: Exercise) -> str:
    """Return the right answer as somebody writes it who is asked: what the desk has to accept."""
    asked = one.headline
    if asked.words or asked.sent is not None:
        return next(str(each) for each in _lines(asked, one))
    if asked.optimum is not None and asked.optimum.integers:
        return f"{asked.what} = {asked.optimum.whole}"
    if asked.crossover is not None:
        return _written(asked.crossover)
    numbers = next(asked.numbers, None)
    if numbers is None:
        return to_text(asked.settings[0].expr)
    setting, value = numbers
    unit = setting.unit or str(setting.dimension or "")
    unit = {"1/B": "FLOP/B", "1": ""}.get(unit, unit)
    return f"{format_number(value, 10, style='ascii')} {unit}".strip()


def _written(found: Crossover) -> str:
    """Return a condition: the case in which it depends on the unknown, or the only one there is."""
    case = next((each for each in found.headline.cases if not each.always and not each.never), found.headline.cases[0])
    sides = bounds(found.headline.unknown, case)
    said = " and ".join(relation_text(each.lhs, each.op, each.rhs) for each in sides)
    return said or ("never" if case.never else "always")


def _lines(asked: Asked, one: Exercise) -> Iterator[Prose]:
    if asked.words:
        yield asked.words
    elif asked.sent is not None:
        yield ", ".join(f"{kind}_{''.join(axes)}({array})" for kind, axes, array in asked.sent) or "none"
    elif asked.optimum is not None and asked.optimum.integers and asked.optimum.number is not None:
        best, number = asked.optimum, format_number(asked.optimum.number, 5)
        mesh = whole_mesh(str(best.variable), best.whole, one)
        sizes = [part for name, size in mesh.items() for part in (", ", symbol(name), f" = {size}")]
        yield (*sizes[1:], "; of all real sizes ", best.variable, f" = {number} is the best.")
    elif asked.crossover is not None:
        yield from _conditions(asked.crossover, one)
    elif asked.settings:
        yield from _values(asked)


def _values(asked: Asked) -> Iterator[Prose]:
    numbers = next(asked.numbers, None)
    formulas = [each for each in asked.settings if each.expr.free_symbols]
    if formulas and (numbers is None or len(to_text(formulas[0].expr)) <= MOST_READ):
        name = formulas[0].of_what
        yield (Relation(name, "==", formulas[0].expr) if name != 1 else formulas[0].expr,)
    if numbers is not None:
        setting, value = numbers
        said = format_quantity(value, setting.asked_in, 6)
        yield (setting.of_what, f" = {said}") if setting.of_what != 1 else said


def _conditions(found: Crossover, one: Exercise) -> Iterator[Prose]:
    """Yield the answer in its limits and in the dtypes of the program, case by case, and in numbers."""
    widths = dict(one.layer.typed.numbers) if one.layer is not None else {}
    answer = found.headline
    limits = f" for {', '.join(map(readable, answer.assumptions))}" if answer.assumptions else ""
    for case in answer.cases:
        held = [Relation(each.lhs, each.op, each.rhs.xreplace(widths)) for each in bounds(answer.unknown, case)]
        parts: list[str | Relation] = [part for each in held for part in (" and ", each)][1:]
        said: Prose = tuple(parts) if parts else _outright(found, case)
        when = [part for each in case.when for part in (" and ", each)]
        if len(answer.cases) > 1 and when:
            when = [" if ", *when[1:]]
        yield (*((said,) if isinstance(said, str) else said), limits, *when)
    for numeric in [each.numeric for each in found.numbered] if found.value is None else []:
        ends = [each for each in bounds(answer.unknown, numeric) if each.rhs.is_number]
        if ends:
            yield ("In numbers: ", *[part for each in ends for part in (" and ", each)][1:], ".")
    if found.value is not None:
        yield (answer.unknown, f": {format_quantity(found.value, found.unit, 6)}")


def _outright(found: Crossover, case: Case) -> Prose:
    if case.always or case.never:
        return "always" if case.always else "never"
    return case_words(found.headline.unknown, case)
