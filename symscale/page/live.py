"""What of a derivation is live: its right sides as formulas, with the numbers that its own steps put into them."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from symscale.derivation.figure import Figure, Values
from symscale.derivation.filling import Cells, shown_unit
from symscale.derivation.proof import Evaluated, Substituted
from symscale.derivation.step import Derivation, Step
from symscale.frozen import dataclass
from symscale.page.script import supported
from symscale.solve.relation import Relation

# The sides of a relation in a limit are shown as formulas of something else.
SIDES = ("lhs", "rhs", "expected", "kappa")
NAMED = {"FLOPs": "FLOP", "bytes": "B", "intensity": "FLOP/B"}


@dataclass(frozen=True)
class Live:
    """A formula that a page counts again, in a base unit; `own` are the numbers that its step puts in."""

    expr: sp.Expr
    unit: str = ""
    own: Values = ()

    @property
    def used(self) -> frozenset[sp.Symbol]:
        """The symbols that a reader may give numbers for."""
        return frozenset(self.expr.free_symbols)


def results(derivation: Derivation) -> frozenset[sp.Symbol]:
    """Return the names that a derivation gives to what it finds, such as T_math, and never puts a number in for."""
    given = {name for step in derivation.steps for each in evaluated(step) for name, _ in each.values}
    given |= {name for step in derivation.steps for each in tabled(step) for _, row in each.parts for name, _ in row}
    found = {
        each.lhs
        for step in derivation.steps
        if step.kind != "optimise"
        for each in step.equations
        if each.op == "==" and each.lhs.is_Symbol
    }
    return frozenset(found - given)


def evaluated(step: Step) -> list[Evaluated]:
    """Return the proofs that have the numbers of a step."""
    return [each for each in step.proofs if isinstance(each, Evaluated)]


def tabled(step: Step) -> list[Cells]:
    """Return the proofs that have the cells of a step's table."""
    return [each for each in step.proofs if isinstance(each, Cells)]


def lives(step: Step) -> tuple[Live | None, ...]:
    """Return what each equation of a step counts, or None where that is no formula of inputs."""
    cells = tabled(step)
    if cells:
        return _cells(step, cells[0])
    put = evaluated(step)
    units = step.units or ("",) * len(step.equations)
    found: list[Live | None] = []
    for number, (each, unit) in enumerate(zip(step.equations, units, strict=True)):
        if put:
            expr = put[0].expressions[number]
            own = tuple((name, value) for name, value in put[0].values if name in expr.free_symbols)
            if each.rhs.is_number:
                # what has no number and is not missed cancels: a ratio of two times of the same array
                expr = expr.xreplace(dict.fromkeys(expr.free_symbols - dict(own).keys(), sp.S.One))
            found.append(_kept(Live(expr, unit, own)))
        else:
            expr, own = _typed(step, number)
            found.append(_kept(Live(expr, unit or _unit(each, step.kind), own)) if str(each.lhs) not in SIDES else None)
    return tuple(found)


def of_dtype(step: Step) -> Substituted | None:
    """Return the proof of a step that puts in the bytes of a dtype."""
    for each in step.proofs:
        if isinstance(each, Substituted) and each.values:
            numbers = all(name.is_Symbol and value.is_number for name, value in each.values)
            return each if numbers and len(each.before) == len(step.equations) else None
    return None


def _typed(step: Step, number: int) -> tuple[sp.Expr, Values]:
    """Return the right side of an equation, with the bytes of its dtype as numbers of the step."""
    put = of_dtype(step)
    if put is None:
        return step.equations[number].rhs, ()
    expr = put.before[number].rhs
    own = tuple((name, value) for name, value in put.values if isinstance(name, sp.Symbol) and expr.has(name))
    return expr, own


def _unit(equation: Relation, kind: str) -> str:
    """Return the unit of what an equation names: T_X is a time where times are stated."""
    name = str(equation.lhs)
    stem = name.partition("_")[0]
    if equation.op != "==" or not equation.lhs.is_Symbol:
        return ""
    if kind == "substitute" and stem == "T":
        return "s"
    return NAMED.get(stem) or shown_unit(name, {})


def _kept(live: Live) -> Live | None:
    """Return what is live if there is anything to give a number for."""
    return live if live.used and supported(live.expr) else None


def _cells(step: Step, cells: Cells) -> tuple[Live | None, ...]:
    """Return the cells of a table; what differs between them belongs to their rows."""
    points = [dict(values) for _, values in cells.parts]
    common = dict(shared(cells.parts[n][1] for n in range(len(points))))
    found: list[Live | None] = []
    for (formula, _), point, unit in zip(cells.parts, points, step.units, strict=True):
        own = {name: value for name, value in point.items() if name in common and value.is_number}
        put = {name: value for name, value in point.items() if name not in own}
        found.append(_kept(Live(formula.xreplace(put), unit, tuple(own.items()))))
    return tuple(found)


def shared(rows: Iterable[Values]) -> Values:
    """Return the numbers that are the same wherever they are given."""
    found: dict[sp.Symbol, set[sp.Expr]] = {}
    for row in rows:
        for name, value in row:
            found.setdefault(name, set()).add(value)
    return tuple((name, next(iter(values))) for name, values in found.items() if len(values) == 1)


def drawn_with(figure: Figure) -> Values:
    """Return the numbers of a figure that a reader may change: those that all curves share, and none runs along."""
    if figure.map is not None:
        return figure.map.values
    along = {each.along for each in figure.curves}
    return tuple((name, value) for name, value in shared(each.values for each in figure.curves) if name not in along)
