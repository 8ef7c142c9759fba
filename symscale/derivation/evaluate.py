"""Numbers: a crossover on a named machine, at given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from symscale.derivation.crossover import (
    Answer,
    Crossover,
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
from symscale.machine import Machine
from symscale.notation.numbers import format_number, format_quantity
from symscale.solve.relation import Relation
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
) -> tuple[Crossover, Step]:
    """Return the crossover with its number, and the step that shows it; symbols without a number stay."""
    known = numbers(layer, chip, given)
    answer = _settled(found.headline, known)
    formulas = tuple(each for case in answer.cases for each in bounds(answer.unknown, case))
    equations = tuple(Relation(e.lhs, e.op, sp.factor_terms(e.rhs.xreplace(known))) for e in formulas)
    names = {s for each in formulas for s in each.rhs.free_symbols if s in known}
    used = {s: known[s] for s in sorted(names, key=str)}
    edge = border(answer.cases)
    value = None if edge is None else edge.xreplace(known)
    if value is not None and value.free_symbols:
        value = None
    on = chip.title if chip is not None else ""
    where = f" on {on}" if on else ""
    lines: tuple[Prose, ...] = tuple((s, f" = {quantity(s, v)}") for s, v in used.items())
    if not formulas:
        lines = tuple(case_words(answer.unknown, case) for case in answer.cases)
    lines += _whole(answer.unknown, equations, layer, known)
    conditions = [each.subs(known) for case in answer.cases for each in case.when if case.intervals]
    shown = tuple(each for each in conditions if each.free_symbols)
    passes = f"{pass_name(found.passes)} against {resource_name(found.resource)}" if found.passes else "In numbers"
    step = Step(
        "evaluate",
        f"{passes}{where if where or not found.passes else ' in numbers'}",
        "Put in the numbers.",
        equations,
        (
            Evaluated(tuple(each.rhs for each in formulas), tuple(known.items())),
            Settled(found.headline.cases, answer.cases, tuple(known.items())),
        ),
        lines,
        shown,
        (found.unit,) * len(equations),
    )
    return with_value(found, value, on), step


def _settled(answer: Answer, known: Mapping[sp.Symbol, sp.Expr]) -> Answer:
    """Return the answer without the cases whose conditions the numbers refute."""
    left = []
    for case in answer.cases:
        conditions = [each.subs(known) for each in case.when]
        if all(each.free_symbols or each.holds({}) for each in conditions):
            left.append(case)
    return replace(answer, cases=tuple(left))


def quantity(name: sp.Symbol, value: sp.Expr) -> str:
    """Return a number with the unit of its symbol."""
    row = entry(str(name))
    return format_quantity(value, row.unit, 6) if row is not None and row.unit else format_number(value, 6)


def _whole(
    unknown: sp.Expr, equations: tuple[Relation, ...], layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr]
) -> tuple[Prose, ...]:
    """Return the whole sizes of a mesh axis that meet the numbers: divisors of N if it is known, else powers of two."""
    if layer is None or unknown not in layer.mesh_symbols or any(each.rhs.free_symbols for each in equations):
        return ()
    chips = known.get(symbol("N_chips"))
    top = int(chips) if chips is not None else 2**16
    options = sp.divisors(top) if chips is not None else [2**n for n in range(17)]
    fitting = [n for n in options if all(each.holds({unknown: sp.Integer(n)}) for each in equations)]
    among = f"divisors of {top}" if chips is not None else "powers of two"
    return (("Whole ", unknown, f" among the {among}: {', '.join(map(str, fitting)) or 'none'}"),)
