"""Numbers: a crossover on a named machine, at given sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.derivation.crossover import (
    Answer,
    Crossover,
    Numbered,
    border,
    bounds,
    case_words,
    pass_name,
    resource_name,
    with_value,
)
from symscale.derivation.layer import Layer
from symscale.derivation.proof import Evaluated, Settled
from symscale.derivation.step import Prose, Step
from symscale.errors import SymscaleError
from symscale.machine import Machine
from symscale.notation.numbers import format_number, format_quantity
from symscale.solve import crossover
from symscale.solve.relation import MIRROR, Case, Interval, Relation
from symscale.vocabulary import entry, symbol


def numbers(layer: Layer | None, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """Return the value of every symbol that is known: the machine's constants, bytes per element, given sizes."""
    known: dict[sp.Symbol, sp.Expr] = {}
    kinds = layer.kinds if layer is not None else ()
    if chip is not None:
        constants = chip.constants(kinds[0] if len(kinds) == 1 else None)
        known |= {symbol(name): value for name, value in constants.items()}
        if len(kinds) > 1:
            known |= {symbol(f"C_{kind}"): chip.peak(kind) for kind in kinds}
    if layer is not None:
        known |= layer.typed.numbers
    return {**known, **given}


def evaluate(
    found: Crossover, layer: Layer | None, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]
) -> tuple[Crossover, list[Step]]:
    """Return the crossover with its number, and a step for every case that the numbers leave.

    Symbols without a number stay; the conditions of a case are shown with the numbers in them.
    """
    known = numbers(layer, chip, given)
    answer = found.headline
    left = [replace(n, notes=_whole(answer.unknown, n.numeric, layer, known)) for n in _left(answer, known)]
    exact = _exact(found, known)
    if exact is not None and [exact] != [each.numeric for each in left]:
        left[:1] = [
            replace(n, notes=(_without_limit(found, exact, n.numeric, layer, known), *n.notes)) for n in left[:1]
        ]
    edge = border([each.case for each in left])
    value = None if edge is None else edge.xreplace(known)
    if value is not None and value.free_symbols:
        value = None
    on = chip.title if chip is not None else ""
    return with_value(found, value, on, tuple(left)), _steps(found, left, layer, known, on)


def _steps(
    found: Crossover, left: Sequence[Numbered], layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr], on: str
) -> list[Step]:
    title = f"{pass_name(found.passes)} against {resource_name(found.resource)}" if found.passes else "In numbers"
    title += f" on {on}" if on else " in numbers" if found.passes else ""
    proofs = settled_by(found, layer, left, known)
    steps: list[Step] = []
    said: set[sp.Symbol] = set()
    for number, each in enumerate(left):
        formulas = bounds(found.headline.unknown, each.case)
        equations = tuple(Relation(e.lhs, e.op, sp.factor_terms(e.rhs.xreplace(known))) for e in formulas)
        names = {s for part in (formulas or each.case.when) for s in part.free_symbols if s in known}
        words = () if equations else (case_words(found.headline.unknown, each.numeric),)
        values = tuple((s, f" = {quantity(s, known[s], layer)}") for s in sorted(names - said, key=str))
        said |= names
        steps.append(
            Step(
                "evaluate",
                title if number == 0 else f"{title}, case {number + 1}",
                "Put in the numbers." if number == 0 else "Otherwise:",
                equations,
                (Evaluated(tuple(e.rhs for e in formulas), tuple(known.items())), *proofs),
                (*words, *values, *each.notes),
                each.numeric.when,
                tuple("" if e.rhs.free_symbols else found.unit for e in equations),
            )
        )
    return steps


def settled_by(
    found: Crossover, layer: Layer | None, left: Sequence[Numbered], known: Mapping[sp.Symbol, sp.Expr]
) -> list[Settled]:
    """Return the proofs that the numbers leave these cases of a headline, and those of the exact answer beside it."""
    cases = [(found.headline, tuple(each.numeric for each in left))]
    if _exact(found, known) is not None:
        cases.append((found.answers[0], tuple(each.numeric for each in _left(found.answers[0], known))))
    return [Settled(answer.cases, numeric, tuple(known.items()), long_axes(layer)) for answer, numeric in cases]


def _exact(found: Crossover, known: Mapping[sp.Symbol, sp.Expr]) -> Case | None:
    """Return the exact answer in numbers beside one in a limit, where the numbers settle it."""
    exact = found.answers[0]
    left = _left(exact, known) if exact is not found.headline else ()
    ends = [end for each in left for one in each.numeric.intervals for end in (one.lo, one.hi)]
    return left[0].numeric if len(left) == 1 and not any(end.free_symbols for end in ends) else None


def _without_limit(
    found: Crossover, exact: Case, near: Case, layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr]
) -> Prose:
    """Return the exact answer in words, and which whole sizes fit it if they are not those that fit in the limit."""
    unknown = found.answers[0].unknown
    whole, _ = _fitting(unknown, exact, layer, known)
    differs = whole != _fitting(unknown, near, layer, known)[0]
    more: Prose = ("; whole ", unknown, f": {', '.join(map(str, whole)) or 'none'}.") if differs else (".",)
    return ("Without the limit: ", *case_words(unknown, exact), *more)


def long_axes(layer: Layer | None) -> frozenset[sp.Symbol]:
    """Return the mesh axes that are symbols: of two chips or more, where an answer's cases cover everything."""
    return frozenset(layer.mesh_symbols) if layer is not None else frozenset()


def _left(answer: Answer, known: Mapping[sp.Symbol, sp.Expr]) -> tuple[Numbered, ...]:
    """Return the cases that the numbers do not refute; one case without conditions where all of them agree."""
    kept: list[tuple[Case, Case]] = []
    for case in answer.cases:
        conditions = [each.subs(known) for each in case.when]
        verdicts = [decided(each) for each in conditions]
        if False in verdicts:
            continue
        open_ones = tuple(_numeric(each) for each, verdict in zip(conditions, verdicts, strict=True) if verdict is None)
        kept.append((case, Case(open_ones, tuple(_put_in(each, known) for each in case.intervals))))
    if len({numeric.intervals for _, numeric in kept}) == 1:
        kept = [(case, Case((), numeric.intervals)) for case, numeric in kept]
    found: dict[Case, Numbered] = {}
    for case, numeric in kept:
        found.setdefault(numeric, Numbered(case, numeric))
    return tuple(found.values())


def _put_in(interval: Interval, known: Mapping[sp.Symbol, sp.Expr]) -> Interval:
    lo, hi = (sp.factor_terms(end.xreplace(known)) for end in (interval.lo, interval.hi))
    return replace(interval, lo=lo, hi=hi)


def decided(condition: Relation) -> bool | None:
    """Return whether a condition holds for all sizes (True) or for none (False); None if it depends on them."""
    names = sorted(condition.free_symbols, key=str)
    if not names:
        return condition.holds({})
    try:
        cases = crossover(condition.lhs, condition.op, condition.rhs, names[0]).cases
    except SymscaleError:
        return None
    if all(case.always for case in cases):
        return True
    return False if all(case.never for case in cases) else None


def _numeric(condition: Relation) -> Relation:
    """Return a condition with its number on the right, at least 1 where both sides may be turned over."""
    lhs, rhs, op = sp.factor_terms(condition.lhs), sp.factor_terms(condition.rhs), condition.op
    if not lhs.free_symbols:
        lhs, rhs, op = rhs, lhs, MIRROR[op]
    factor, lhs = lhs.as_coeff_Mul()
    rhs = sp.expand_mul(rhs / factor)
    op = MIRROR[op] if factor.is_negative else op
    if rhs.is_number and 0 < rhs < 1 and lhs.is_positive:
        lhs, rhs, op = 1 / lhs, 1 / rhs, MIRROR[op]
    return Relation(lhs, op, rhs)


def quantity(name: sp.Symbol, value: sp.Expr, *layers: Layer | None) -> str:
    """Return a number with the unit of its symbol: bytes for the width of an array, FLOP/s for the peak of a dtype."""
    # W_row and the like are rates of a cluster's own levels
    row = entry(str(name)) or (entry("W") if str(name).startswith("W_") else None)
    unit = row.unit if row is not None else ""
    for layer in (each for each in layers if each is not None):
        if name in layer.typed.numbers:
            unit = "B"
        elif name in {symbol(f"C_{kind}") for kind in layer.kinds}:
            unit = "FLOP/s"
    return format_quantity(value, unit, 6) if unit else format_number(value, 6)


def _whole(unknown: sp.Expr, case: Case, layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr]) -> tuple[Prose, ...]:
    """Return in words the whole sizes of a mesh axis that meet the numbers."""
    fitting, among = _fitting(unknown, case, layer, known)
    return (("Whole ", unknown, f" among the {among}: {', '.join(map(str, fitting)) or 'none'}"),) if among else ()


def _fitting(
    unknown: sp.Expr, case: Case, layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr]
) -> tuple[list[int], str]:
    """Return the whole sizes of a mesh axis in a case, among the divisors of N if it is known, else powers of two.

    Nothing where no bound is a number.
    """
    ends = [end for each in case.intervals for end in (each.lo, each.hi)]
    if layer is None or unknown not in layer.mesh_symbols or case.never or case.always:
        return [], ""
    if any(end.free_symbols for end in ends):
        return [], ""
    chips = known.get(symbol("N_chips"))
    top = int(chips) if chips is not None else 2**16
    options = sp.divisors(top) if chips is not None else [2**n for n in range(17)]
    fitting = [n for n in options if any(each.contains(sp.Integer(n), {}) for each in case.intervals)]
    return fitting, f"divisors of {top}" if chips is not None else "powers of two"
