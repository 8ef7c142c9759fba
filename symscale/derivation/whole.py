"""Whole meshes: the communication at every divisor of the number of chips, by the exact form, edges included."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.derivation.proof import float_value
from symscale.derivation.step import Prose
from symscale.errors import StepError
from symscale.frozen import dataclass
from symscale.notation.numbers import format_number
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class Cheapest:
    """A whole mesh: evaluated again with floats, no divisor of the number of chips takes less time."""

    objective: sp.Expr
    variable: sp.Symbol
    span: int
    name: str = "no other whole mesh is better, evaluated in another arithmetic"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where another mesh is better, or the one stated is none."""
        times = {n: float_value(self.objective, {self.variable: sp.Integer(n)}) for n in sp.divisors(self.span)}
        best = equations[0].rhs
        if best not in times or times[int(best)] > min(times.values()) * (1 + 1e-9):
            raise StepError("Another whole mesh is better than this one.")


def whole_meshes(there: sp.Expr, variable: sp.Symbol, span: int) -> list[tuple[int, sp.Expr]]:
    """Return what every whole size of an axis costs, of a mesh of two axes and `span` chips."""
    return [(n, value_at(there, {variable: sp.Integer(n)})) for n in sp.divisors(span)]


def ranked_meshes(
    times: Sequence[tuple[int, sp.Expr]],
    variable: sp.Symbol,
    least: float,
    what: str,
    in_limit: Mapping[int, sp.Expr] | None = None,
) -> tuple[tuple[tuple[int, sp.Expr, sp.Expr], ...], tuple[Prose, ...]]:
    """Return whole meshes from the best on, with the time and the loss of each, and the first of them in words.

    `in_limit` has losses by the form that gave the optimum, which are said first.
    """
    losses = [(n, time, sp.Rational(max(float(time) / least - 1, 0.0)) if least else sp.S.Zero) for n, time in times]
    ranked = tuple(sorted(losses, key=lambda each: float(each[1])))
    return ranked, tuple(_words(variable, n, loss, what, (in_limit or {}).get(n)) for n, _, loss in ranked[:3])


def _words(variable: sp.Symbol, size: int, loss: sp.Expr, what: str, near: sp.Expr | None) -> Prose:
    exact = f"{format_number(100 * loss, 3)} %"
    if near is None:
        return (variable, f" = {size}: {exact} above {what}")
    return (variable, f" = {size}: {format_number(100 * near, 3)} % above {what}, {exact} by the exact form")


def least_of_all(there: sp.Expr, variable: sp.Symbol, span: int) -> float:
    """Return the least value for a real size from 1 to the number of chips, by ever finer grids."""
    low, high = 1.0, float(span)
    best = math.inf
    for _ in range(7):
        grid = [low * (high / low) ** (n / 40) for n in range(41)]
        values = [float_value(there, {variable: sp.Float(each)}) for each in grid]
        at = min(range(41), key=values.__getitem__)
        best = min(best, values[at])
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, 40)]
    return best


def relative(objective: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """Return the objective divided by what all its terms share: the loss of a mesh does not depend on it."""
    parts = [part.as_powers_dict() for part in _parts(objective)]
    shared = [
        name
        for name in objective.free_symbols - {variable}
        if len({powers.get(name, 0) for powers in parts}) == 1 and parts
    ]
    factor = sp.Mul(*(name ** parts[0].get(name, 0) for name in shared))
    if isinstance(objective, sp.Max):
        return sp.Max(*(part / factor for part in objective.args), evaluate=False)
    return sp.Add(*(part / factor for part in _parts(objective)))


def _parts(objective: sp.Expr) -> tuple[sp.Expr, ...]:
    return tuple(objective.args) if isinstance(objective, sp.Max | sp.Add) else (objective,)
