"""Figures of regimes: which of several times is the largest, or which condition holds, over two variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import sympy as sp

from symscale.derivation.columns import borders
from symscale.derivation.crossover import Crossover
from symscale.derivation.figure import Area, Axis, Condition, Figure, Map, used
from symscale.derivation.plots import ends, named, prose, settings, write
from symscale.errors import SymscaleError
from symscale.notation.formula import parse_formula
from symscale.notation.text import to_text
from symscale.solve import crossover
from symscale.solve.relation import Case, Relation
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.derivation.plotting import Known, Plotting, Span

Point = Mapping[sp.Symbol, sp.Expr]


def of_times(
    d: Plotting,
    times: Mapping[str, sp.Expr],
    x: str,
    y: str,
    spans: tuple[Span, Span],
    title: str,
    caption: str,
    labels: tuple[str, str],
    found: Known,
) -> Figure:
    """Return the map of which time is the largest, and write it down."""
    widths = _widths(d)
    spent = [each.xreplace(widths) for each in times.values()]
    over = parse_formula(y).expr
    conditions, pairs = [], list(combinations(range(len(spent)), 2))
    for one, other in pairs:
        solution = crossover(spent[one], ">=", spent[other], over)
        conditions.append(Condition(Relation(spent[one], ">=", spent[other]), solution.cases))
    areas = [
        Area(
            prose(label),
            tuple(n for n, (one, _) in enumerate(pairs) if one == place),
            tuple(n for n, (_, other) in enumerate(pairs) if other == place),
        )
        for place, label in enumerate(times)
    ]
    return _map(d, over, x, conditions, areas, spans, title, caption, labels, found, spent)


def of_conditions(
    d: Plotting,
    answers: Mapping[str, Crossover],
    otherwise: str,
    x: str,
    spans: tuple[Span, Span],
    title: str,
    caption: str,
    labels: tuple[str, str],
    found: Known,
) -> Figure:
    """Return the map of the first condition that holds, and write it down."""
    unknowns = {each.headline.unknown for each in answers.values()}
    if len(unknowns) != 1:
        raise SymscaleError(
            f"A map shows one unknown, and these are solved for {', '.join(sorted(map(to_text, unknowns)))}.",
            hint='Solve all of them for the same one; subject_to="X = N_chips" makes B/X a B/N_chips.',
        )
    widths = _widths(d)
    conditions = [
        Condition(
            each.headline.solution.relation.subs(widths), tuple(_put(case, widths) for case in each.headline.cases)
        )
        for each in answers.values()
    ]
    areas = [Area(prose(label), (place,), tuple(range(place))) for place, label in enumerate(answers)]
    areas.append(Area(prose(otherwise), (), tuple(range(len(areas)))))
    return _map(d, unknowns.pop(), x, conditions, areas, spans, title, caption, labels, found)


def _map(
    d: Plotting,
    over: sp.Expr,
    x: str,
    conditions: Sequence[Condition],
    areas: Sequence[Area],
    spans: tuple[Span, Span],
    title: str,
    caption: str,
    labels: tuple[str, str],
    found: Known,
    times: Sequence[sp.Expr] = (),
) -> Figure:
    chip, known, own = found
    across = symbol(x)
    moving = {across, *over.as_numer_denom()[0].free_symbols}
    sides = [side for each in conditions for side in (each.relation.lhs, each.relation.rhs)]
    values = used({name: value for name, value in known.items() if name not in moving}, *sides)
    found_in = [*times, *(end for each in conditions for case in each.cases for end in _formulas(case))]
    missing = {name for form in found_in for name in form.free_symbols} - moving - dict(values).keys()
    if missing:
        raise SymscaleError(
            f"The map needs a number for {', '.join(sorted(map(str, missing)))}.", hint="Give it in `values`."
        )
    plane = Map(across, over, tuple(conditions), tuple(areas), values, tuple(times))
    (left, right), (low, high) = map(ends, spans)
    horizontal = Axis(prose(labels[0]) if labels[0] else named(across), left, right)
    vertical = Axis(prose(labels[1]) if labels[1] else named(over), low, high)
    setting = settings(chip, d.layer, {name: known[name] for name in own}, (), plane)
    figure = Figure(title, prose(caption), setting, horizontal, vertical, map=plane)
    seen = borders(figure, plane)
    return write(d, figure, [each.equation for each in seen], [each.sides for each in seen])


def _formulas(case: Case) -> list[sp.Expr]:
    ends = [end for each in case.intervals for end in (each.lo, each.hi)]
    return [*ends, *(side for each in case.when for side in (each.lhs, each.rhs))]


def _widths(d: Plotting) -> Point:
    return dict(d.layer.typed.numbers) if d.layer is not None else {}


def _put(case: Case, known: Point) -> Case:
    when = tuple(each.subs(known) for each in case.when)
    intervals = tuple(
        replace(each, lo=each.lo.xreplace(dict(known)), hi=each.hi.xreplace(dict(known))) for each in case.intervals
    )
    return Case(when, intervals)
