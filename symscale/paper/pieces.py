"""What a request asks for, as data: formulas, numbers, steps, tables, figures, words and citation keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import sympy as sp

from symscale.derivation.crossover import Crossover, bounds, case_words
from symscale.derivation.evaluate import evaluate
from symscale.derivation.layer import Layer
from symscale.derivation.limits import listed, read_limits
from symscale.derivation.minimum import Optimised
from symscale.derivation.registry import entry, ids, proven
from symscale.derivation.shorter import factored
from symscale.derivation.step import KINDS, Prose, Step
from symscale.derivation.units import unit_beside
from symscale.errors import SymscaleError
from symscale.exercise.exercise import Asked, Exercise, exercise
from symscale.exercise.setting import Setting
from symscale.frozen import dataclass
from symscale.machine import chosen
from symscale.machine.model import did_you_mean
from symscale.notation.formula import parse_relation
from symscale.notation.order import Order
from symscale.paper.known import names_of
from symscale.paper.request import Request
from symscale.paper.values import number
from symscale.report.figures import caption
from symscale.report.plain import one_line
from symscale.solve.relation import Case, Relation
from symscale.vocabulary import symbol


@dataclass(frozen=True)
class Line:
    """A line of a formula: a relation or words, the unit of its number, what it holds under, the limits it is in."""

    said: Relation | Prose
    unit: str = ""
    when: tuple[Relation, ...] = ()
    limits: tuple[Prose, ...] = ()


@dataclass(frozen=True)
class Formula:
    """The lines of a formula."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Number:
    """A number in the base units of a unit, and the quantity it is a value of."""

    value: sp.Expr
    unit: str
    name: str


@dataclass(frozen=True)
class Steps:
    """Steps to be shown with their reasons; `numbers` says where each stands in its derivation, from 1."""

    steps: tuple[Step, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Words:
    """A title, a source or a caption."""

    prose: Prose


@dataclass(frozen=True)
class Keys:
    """Keys of entries of a bibliography."""

    keys: tuple[str, ...]


Piece: TypeAlias = Formula | Number | Steps | Words | Keys


@dataclass(frozen=True)
class Found:
    """A piece of a derivation, the order its formulas are printed in, and the names of all symbols there."""

    piece: Piece
    order: Order
    names: frozenset[str] = frozenset()


def find(request: Request) -> Found:
    """Return what a request asks for, all steps of its derivation checked.

    Raises SymscaleError with the closest ids, steps or quantities for what is not there; StepError if a check fails.
    """
    if request.id not in ids():
        entry(request.id)  # which names the closest
    if request.piece in _WORDS:
        return Found(_WORDS[request.piece](request.id), Order())
    d = proven(request.id, request.terms)
    return Found(_FIND[request.piece](request, d.steps), d.order, names_of(d))


def _cited(id: str) -> Keys:
    found = entry(id)
    if not found.cites:
        raise SymscaleError(f"{id} cites no entry of a bibliography.", hint="Write [@key] into its source.")
    return Keys(found.cites)


def _caption(request: Request, steps: Sequence[Step]) -> Piece:
    """Return what the caption of a figure says, with the numbers it was drawn with."""
    found = _shown("figure")(request, steps)
    figure = found.steps[0].figure if isinstance(found, Steps) else None
    return Words(caption(figure) if figure is not None else "")


_WORDS: dict[str, Callable[[str], Piece]] = {
    "cite": _cited,
    "title": lambda name: Words(one_line(entry(name).title)),
    "source": lambda name: Words(one_line(entry(name).source)),
}


# ------------------------------------------------------------------ steps, tables, figures


def _step(request: Request, steps: Sequence[Step]) -> Piece:
    number = step_number(request.id, steps, request.which)
    step = steps[number - 1]
    # a step that is no formula is shown as the derivation has it
    if request.option("detail") == "full" or not step.equations or step.sheet is not None or step.figure is not None:
        return Steps((step,), (number,))
    return Formula(lines_of(step))


def lines_of(step: Step) -> tuple[Line, ...]:
    """Return the equations of a step as lines of a formula; the last says what they hold under."""
    units = step.units or ("",) * len(step.equations)
    lines = [Line(each, unit) for each, unit in zip(step.equations, units, strict=True)]
    return (*lines[:-1], replace(lines[-1], when=step.conditions))


def step_number(id: str, steps: Sequence[Step], which: str) -> int:
    """Return the number of a step by its number (from the end below 0), kind or title. Raises SymscaleError."""
    if which.lstrip("-").isdigit():
        at = int(which)
        if not 1 <= abs(at) <= len(steps):
            raise SymscaleError(f"{id} has {len(steps)} steps, and no step {which[:20]}.")
        return at if at > 0 else len(steps) + 1 + at
    word = which.casefold().strip()
    if not word:
        raise SymscaleError("Which step?", hint=f"Give its number from 1 to {len(steps)}, kind or title.")
    titles = [each.title.casefold() for each in steps]
    for found in (
        [n for n, each in enumerate(steps, 1) if each.kind == word],
        [n for n, title in enumerate(titles, 1) if title == word],
        [n for n, title in enumerate(titles, 1) if word in title],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            named = "; ".join(f"{n} ({steps[n - 1].title})" for n in found[:8])
            raise SymscaleError(f"{id} has {len(found)} steps {which[:40]!r}.", hint=f"Choose by number: {named}.")
    close = did_you_mean(word, [*titles, *KINDS])
    raise SymscaleError(
        f"{id} has no step {which[:60]!r}.", hint=f"Give its number from 1 to {len(steps)}, kind or title.{close}"
    )


def _shown(what: str) -> Callable[[Request, Sequence[Step]], Piece]:
    """Return the function that finds a table or a figure among the steps."""

    def find(request: Request, steps: Sequence[Step]) -> Piece:
        there = [n for n, each in enumerate(steps, 1) if (each.sheet if what == "table" else each.figure) is not None]
        titles = "; ".join(f"{at} ({steps[n - 1].title})" for at, n in enumerate(there, 1))
        if not there:
            raise SymscaleError(f"{request.id} has no {what}.")
        which = request.which
        if not which and len(there) > 1:
            raise SymscaleError(f"{request.id} has {len(there)} {what}s.", hint=f"Choose one: {titles}.")
        if not which or which.isdigit():
            at = int(which or 1)
            if not 1 <= at <= len(there):
                raise SymscaleError(f"{request.id} has no {what} {which[:20]}.", hint=f"It has {titles}.")
            number = there[at - 1]
        else:
            number = there[step_number(request.id, [steps[n - 1] for n in there], which) - 1]
        return Steps((steps[number - 1],), (number,))

    return find


def _whole(request: Request, steps: Sequence[Step]) -> Piece:
    return Steps(tuple(steps), tuple(range(1, len(steps) + 1)))


def _value(request: Request, steps: Sequence[Step]) -> Piece:
    at = step_number(request.id, steps, request.option("step")) if request.option("step") else 0
    return Number(*number(request, at))


# ------------------------------------------------------------------ claims


def _claim(request: Request, steps: Sequence[Step]) -> Piece:
    one = exercise(request.id, terms=request.terms)
    asked, form = one.headline, request.option("form") or "general"
    if asked.crossover is not None:
        return Formula(tuple(_condition(asked.crossover, one.layer, form, request)))
    if asked.optimum is not None:
        return Formula((_optimum(asked.optimum, form, request.id),))
    if asked.sent is not None:
        said = ", ".join(f"{kind}_{''.join(axes)}({array})" for kind, axes, array in asked.sent)
        return Formula((Line(said or "nothing is sent"),))
    return Formula((_quantity(one, asked, form),))


def _condition(found: Crossover, layer: Layer | None, form: str, request: Request) -> Iterator[Line]:
    """Yield the lines of a condition: one for each bound of each case, with what it needs and its limits."""
    answer = found.headline
    cases, unit = answer.cases, ""
    if form == "exact":
        if found.exact is None:
            raise SymscaleError(f"{request.id} has no exact answer in closed form.", hint="Ask for form=general.")
        answer = found.exact
        cases = answer.cases
    elif form == "number":
        if not found.numbered:
            found, steps = evaluate(
                found, layer, chosen(request.option("on") or None), {symbol(n): v for n, v in request.terms.values}
            )
            for step in steps:
                _ = step.checks
        cases, unit = tuple(each.numeric for each in found.numbered), found.unit
    widths = dict(layer.typed.numbers) if layer is not None and form == "dtype" else {}
    assumed, limits = _assumed(answer.assumptions)
    some = any(case.intervals for case in cases)
    for case in cases:
        if case.never and some:
            continue  # what the others need says that without it nothing is enough
        held = bounds(answer.unknown, case)
        held = tuple(Relation(each.lhs, each.op, factored(each.rhs.xreplace(widths))) for each in held)
        when = tuple(each.subs(widths) if widths else each for each in case.when)
        yield from _lines(answer.unknown, case, held, unit, (*when, *assumed), limits)


def _lines(
    unknown: sp.Expr,
    case: Case,
    held: Sequence[Relation],
    unit: str,
    when: tuple[Relation, ...],
    limits: tuple[Prose, ...],
) -> Iterator[Line]:
    said: Sequence[Relation | Prose] = held or (case_words(unknown, case),)
    for at, each in enumerate(said, 1):
        beside = unit_beside(each.rhs, unit) if isinstance(each, Relation) else ""
        yield Line(each, beside, when, limits) if at == len(said) else Line(each, beside)


def _assumed(texts: Sequence[str]) -> tuple[tuple[Relation, ...], tuple[Prose, ...]]:
    """Return what an answer assumes: conditions, and limits as words with formulas."""
    conditions, limits = [], []
    for text in texts:
        if "<<" not in text and ">>" not in text:
            lhs, op, rhs, _ = parse_relation(text)
            conditions.append(Relation(lhs, op, rhs))
            continue
        for each in read_limits(text):
            large = listed(each.large)
            limits.append((*large, " ≫ ", each.small) if each.small == 1 else (each.small, " ≪ ", *large))
    return tuple(conditions), tuple(limits)


def _optimum(best: Optimised, form: str, id: str) -> Line:
    if form == "number":
        if best.number is None:
            raise SymscaleError(f"The optimum of {id} has no number.", hint="Give its values by set=…, a chip by on=….")
        whole = best.whole if best.integers else None
        return Line(Relation(best.variable, "==", best.number if whole is None else sp.Integer(whole)))
    assumed, limits = _assumed(best.limits)
    return Line(Relation(best.variable, "==", best.point), "", (*best.when, *assumed), limits)


def _quantity(one: Exercise, asked: Asked, form: str) -> Line:
    """Return the last formula for a quantity, or its number where that is all there is, or what is asked for."""
    formula = next((each for each in asked.settings if each.expr.free_symbols and each.expr != each.of_what), None)
    if form == "number" or formula is None:
        for setting, value in asked.numbers:
            return Line(Relation(setting.of_what, "==", value), setting.measured_in)
        if form == "number":
            raise SymscaleError(
                f"{asked.what} has no number in {one.id}.", hint="Give values by set=…, a chip by on=…."
            )
    found: Setting = formula or asked.settings[0]
    shown = found.expr if formula is not None else found.value
    if form == "dtype" and one.layer is not None:
        shown = factored(shown.xreplace(one.layer.typed.numbers))
    return Line(Relation(found.of_what, found.sign, shown))


_FIND: dict[str, Callable[[Request, Sequence[Step]], Piece]] = {
    "claim": _claim,
    "step": _step,
    "value": _value,
    "table": _shown("table"),
    "figure": _shown("figure"),
    "caption": _caption,
    "derivation": _whole,
}
