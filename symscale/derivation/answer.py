"""The Answer step: what binds, in general, in the dtype form and in numbers, or that the unknown decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.derivation.crossover import (
    Crossover,
    Numbered,
    bounds,
    case_words,
    depends,
    pass_name,
    resource_name,
)
from symscale.derivation.evaluate import long_axes, settled_by
from symscale.derivation.layer import Layer
from symscale.derivation.limits import readable
from symscale.derivation.proof import Covers, Equal
from symscale.derivation.step import Proof, Prose, Step
from symscale.solve.relation import Case, Relation

TITLE = "Answer"


def conclusion(
    found: Crossover, layer: Layer, known: Mapping[sp.Symbol, sp.Expr], beside: Sequence[Crossover] = ()
) -> list[Step]:
    """Return the headline as steps, one for each of its cases; `known` are the numbers it was evaluated with.

    `beside` are conditions that do not depend on the unknown: they are said with the first case. Where the headline
    itself is one, the step is words only.
    """
    if not depends(found.headline.cases):
        every = (found, *(each for each in beside if each is not found))
        reason: Prose = ("Nothing that binds depends on ", found.headline.solution.unknown, ".")
        proofs = [proof for each in every for proof in _proofs(each, layer, known)]
        return [Step("remark", TITLE, reason, (), tuple(proofs), tuple(map(needed, every)))]
    parts = found.numbered or tuple(Numbered(case, case) for case in found.headline.cases)
    steps = []
    for number, each in enumerate(parts):
        others = beside if number == 0 else ()
        steps.append(_case(found, each, number, layer, known, others))
    return steps


def _case(
    found: Crossover,
    each: Numbered,
    number: int,
    layer: Layer,
    known: Mapping[sp.Symbol, sp.Expr],
    beside: Sequence[Crossover],
) -> Step:
    unknown = found.headline.unknown
    equations, again, units = _forms(found, each, layer, known)
    words = () if equations else (case_words(unknown, each.numeric),)
    in_numbers = bool(found.numbered) and bool(words or equations[-1].rhs.is_number)
    proofs = [Equal(tuple(again)), *(proof for one in (found, *beside) for proof in _proofs(one, layer, known))]
    return Step(
        "remark",
        TITLE if number == 0 else f"{TITLE}, case {number + 1}",
        _reason(found, in_numbers, bool(words)) if number == 0 else "Otherwise:",
        tuple(equations),
        tuple(proofs),
        (*words, *each.notes, *map(needed, beside)),
        each.numeric.when,
        tuple(units),
    )


def _forms(
    found: Crossover, each: Numbered, layer: Layer, known: Mapping[sp.Symbol, sp.Expr]
) -> tuple[list[Relation], list[sp.Expr], list[str]]:
    """Return a case in general, in the dtype form and in numbers, with the right sides found again, and the units."""
    unknown = found.headline.unknown
    general = bounds(unknown, each.case)
    widths = {k: v for k, v in layer.typed.numbers.items() if k not in unknown.free_symbols}
    shown, again = list(general), [one.rhs for one in general]
    typed = [Relation(one.lhs, one.op, sp.factor_terms(one.rhs.subs(widths))) for one in general]
    if any(one.rhs.free_symbols & set(widths) for one in general):
        shown += typed
        again += [one.rhs.subs(list(widths.items())) for one in general]
    units = [""] * len(shown)
    numeric = bounds(unknown, each.numeric)
    if found.numbered and numeric and not any(one.rhs.free_symbols for one in numeric):
        shown += numeric
        again += [one.rhs.xreplace(known) for one in general]
        units += [found.unit] * len(numeric)
    return shown, again, units


def _reason(found: Crossover, in_numbers: bool, in_words: bool) -> str:
    answer = found.headline
    limits = f", for {', '.join(map(readable, answer.assumptions))}" if answer.assumptions else ""
    reason = f"The strictest condition: {_against(found)}{limits}"
    if found.on and in_numbers:
        reason += f", on {found.on}" if in_words else f"; the last line on {found.on}"
    return reason + "."


def _against(found: Crossover) -> str:
    return f"{pass_name(found.passes).lower()} against {resource_name(found.resource)}"


def _proofs(found: Crossover, layer: Layer, known: Mapping[sp.Symbol, sp.Expr]) -> list[Proof]:
    """Return the proofs of a crossover's cases, and that its numbers leave those that are shown."""
    proofs: list[Proof] = [Covers(found.headline.solution, long_axes(layer))]
    if found.numbered:
        proofs += settled_by(found, layer, found.numbered, known)
    return proofs


def needed(found: Crossover) -> Prose:
    """Return in words what a condition asks for that does not depend on the unknown."""
    cases: Sequence[Case] = [each.numeric for each in found.numbered] or found.headline.cases
    unknown = found.headline.solution.unknown
    name = _against(found)
    start = f"{name[:1].upper()}{name[1:]}"
    if found.headline.assumptions:
        start += f" (for {', '.join(map(readable, found.headline.assumptions))})"
    if all(case.never for case in cases):
        return (f"{start} does not depend on ", unknown, ": no ", unknown, " is enough.")
    if all(case.always for case in cases):
        return (f"{start} does not depend on ", unknown, ": every ", unknown, " is enough.")
    ways: list[str | sp.Expr | Relation] = []
    for case in (each for each in cases if each.always):
        ways += [" or ", *[part for each in case.when for part in (" and ", each)][1:]]
    return (f"{start} does not depend on ", unknown, ": it needs ", *ways[1:], ".")
