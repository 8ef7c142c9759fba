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
from symscale.derivation.shorter import factored, longer_than
from symscale.derivation.step import Proof, Prose, Step
from symscale.derivation.strictest import Strictest, binding, known_values, of_resource, strictest
from symscale.derivation.units import unit_beside
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.notation.numbers import format_quantity
from symscale.notation.text import to_text
from symscale.solve.relation import Case, Relation

TITLE = "Answer"
# A sentence of more characters in formulas than this is left to the steps that derive it.
MOST_SAID = 160


@dataclass(frozen=True)
class Context:
    """What an answer is said with: the layer, the numbers, and the conditions on other resources beside it."""

    layer: Layer
    known: Mapping[sp.Symbol, sp.Expr]
    beside: tuple[Crossover, ...] = ()


def concluded(
    crossovers: Sequence[Crossover], layer: Layer, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]
) -> tuple[Strictest, Context]:
    """Return what binds on the networks if the unknown decides there, else against HBM, and what to say beside it."""
    known = known_values(crossovers, layer, chip, given)
    network, hbm = (of_resource(crossovers, network=each) for each in (True, False))
    pools = [each for each in (network, hbm) if each]
    decides = next((pool for pool in pools if any(depends(each.headline.cases) for each in pool)), pools[0])
    found = strictest(decides, layer, chip, given)
    others = [each for pool in pools if pool is not decides for each in binding(pool, known)]
    return found, Context(layer, known, tuple(others))


def conclusion(found: Strictest, context: Context) -> list[Step]:
    """Return the answer as steps, one for each of its cases.

    Conditions beside it (on another resource, or without the unknown) are said with the first case. Where no
    condition has the unknown, or where all of them together fall into too many cases, the step is words only.
    """
    answer = found.together
    if answer is None or not any(depends(each.headline.cases) for each in found.parts):
        return [_in_words(found, context)]
    parts = answer.numbered or tuple(Numbered(case, case) for case in answer.headline.cases)
    return [_case(found, answer, number, each, context) for number, each in enumerate(parts)]


def _in_words(found: Strictest, context: Context) -> Step:
    every = dict.fromkeys((*found.parts, *context.beside))
    unknown = found.parts[0].headline.solution.unknown
    reason: Prose = ("Nothing that binds depends on ", unknown, ".")
    if any(depends(each.headline.cases) for each in found.parts):
        reason = "Each of these conditions has to hold:"
    proofs = [proof for each in every for proof in _proofs(each, context)]
    return Step("remark", TITLE, reason, (), tuple(proofs), tuple(map(said, every)))


def _case(found: Strictest, answer: Crossover, number: int, each: Numbered, context: Context) -> Step:
    unknown = answer.headline.unknown
    equations, again, units, in_numbers = _forms(answer, each, context)
    words = () if equations else (case_words(unknown, each.numeric),)
    shown = (*(found.parts if len(found.parts) > 1 else ()), *context.beside) if number == 0 else ()
    proofs = [Equal(tuple(again)), *(proof for one in (answer, *shown) for proof in _proofs(one, context))]
    return Step(
        "remark",
        TITLE if number == 0 else f"{TITLE}, case {number + 1}",
        _reason(found, answer, context.beside, in_numbers, bool(words)) if number == 0 else "Otherwise:",
        tuple(equations),
        tuple(proofs),
        (*words, *each.notes, *map(said, shown)),
        each.numeric.when,
        tuple(units),
    )


def _forms(found: Crossover, each: Numbered, context: Context) -> tuple[list[Relation], list[sp.Expr], list[str], bool]:
    """Return a case in general, in the dtype form and in numbers, the right sides found again, the units.

    The last item tells whether the last line has the numbers in it.
    """
    unknown = found.headline.unknown
    general = bounds(unknown, each.case)
    widths = {k: v for k, v in context.layer.typed.numbers.items() if k not in unknown.free_symbols}
    shown, again = list(general), [one.rhs for one in general]
    typed = [Relation(one.lhs, one.op, factored(one.rhs.subs(widths))) for one in general]
    if any(one.rhs.free_symbols & set(widths) for one in general):
        shown += typed
        again += [one.rhs.subs(list(widths.items())) for one in general]
    units = [""] * len(shown)
    numeric = bounds(unknown, each.numeric)
    if not found.numbered:
        return shown, again, units, not general
    if numeric and any(one not in shown for one in numeric):
        shown += numeric
        again += [one.rhs.xreplace(context.known) for one in general]
        units += [unit_beside(one.rhs, found.unit) for one in numeric]
        return shown, again, units, True
    return shown, again, units, not general


def _reason(found: Strictest, answer: Crossover, beside: Sequence[Crossover], in_numbers: bool, in_words: bool) -> str:
    limits = answer.headline.assumptions
    reason = f"The strictest condition: {_against(answer)}"
    if len(found.parts) > 1:
        names = [_against(each) for each in found.parts]
        reason = f"What binds together: {', '.join(names[:-1])} and {names[-1]}"
    reason += f", for {', '.join(map(readable, limits))}" if limits else ""
    if answer.on and in_numbers:
        last = (
            "the last line"
            if len(bounds(answer.headline.unknown, _numeric_cases(answer)[0])) == 1
            else "the last lines"
        )
        reason += f", on {answer.on}" if in_words else f"; {last} on {answer.on}"
    impossible = [_against(each) for each in beside if all(case.never for case in _numeric_cases(each))]
    return reason + (f"; but {impossible[0]} nothing is enough." if impossible else ".")


def _against(found: Crossover) -> str:
    return f"{pass_name(found.passes).lower()} against {resource_name(found.resource)}"


def _proofs(found: Crossover, context: Context) -> list[Proof]:
    """Return the proofs of a crossover's cases, and that its numbers leave those that are shown."""
    axes = long_axes(context.layer)
    proofs: list[Proof] = [Covers(each.solution, axes) for each in found.answers]
    if found.numbered:
        proofs += settled_by(found, context.layer, found.numbered, context.known)
    return proofs


def said(found: Crossover) -> Prose:
    """Return a condition in words, with its numbers if it has any."""
    return _has_unknown(found) if depends(found.headline.cases) else needed(found)


def _start(found: Crossover) -> str:
    name = _against(found)
    limits = found.headline.assumptions
    return f"{name[:1].upper()}{name[1:]}" + (f" (for {', '.join(map(readable, limits))})" if limits else "")


def _numeric_cases(found: Crossover) -> Sequence[Case]:
    return [each.numeric for each in found.numbered] or found.headline.cases


def _has_unknown(found: Crossover) -> Prose:
    cases = _numeric_cases(found)
    parts: list[str | sp.Expr | Relation] = [f"{_start(found)}: "]
    for number, case in enumerate(cases):
        parts += ["; "] * (number > 0) + _case_with_units(found, case)
        if number > 0 and number == len(cases) - 1:
            parts += [" otherwise"]
        elif case.when:
            parts += [" if ", *[part for each in case.when for part in (" and ", each)][1:]]
    sides = [side for each in parts if isinstance(each, Relation) for side in (each.lhs, each.rhs)]
    if any(longer_than(side, MOST_SAID) for side in sides) or sum(len(to_text(side)) for side in sides) > MOST_SAID:
        return (f"{_start(found)}: longer bounds, in the steps above.",)
    return (*parts, ".")


def _case_with_units(found: Crossover, case: Case) -> list[str | sp.Expr | Relation]:
    """Return a case as words, its numbers with units."""
    unknown = found.headline.unknown
    words: list[str | sp.Expr | Relation] = []
    for each in bounds(unknown, case):
        value: list[str | sp.Expr | Relation] = [each]
        if not each.rhs.free_symbols:
            value = [unknown, f" {each.op} {format_quantity(each.rhs, found.unit, 6)}"]
        words += [" and ", *value]
    return words[1:] or list(case_words(unknown, case))


def needed(found: Crossover) -> Prose:
    """Return in words what a condition asks for that does not depend on the unknown."""
    cases, start = _numeric_cases(found), _start(found)
    unknown = found.headline.solution.unknown
    if all(case.never for case in cases):
        return (f"{start} does not depend on ", unknown, ": no ", unknown, " is enough.")
    if all(case.always for case in cases):
        return (f"{start} does not depend on ", unknown, ": every ", unknown, " is enough.")
    ways: list[str | sp.Expr | Relation] = []
    for case in (each for each in cases if each.always):
        ways += [" or ", *[part for each in case.when for part in (" and ", each)][1:]]
    return (f"{start} does not depend on ", unknown, ": it needs ", *ways[1:], ".")
