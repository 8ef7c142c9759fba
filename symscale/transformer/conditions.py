"""When a network hides: the closed-form condition of every axis of a mesh, solved for the batch or for the axis."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.frozen import dataclass
from symscale.solve import Relation, crossover
from symscale.transformer.footprint import Use
from symscale.transformer.parts import UNEVEN
from symscale.transformer.plan import Planned
from symscale.transformer.step import StepForm
from symscale.transformer.strategy import size
from symscale.vocabulary import symbol

B = symbol("B")
#: Collectives that take a smaller part of their axis's time than this are left out of its condition.
SMALL = 0.01


@dataclass(frozen=True)
class Condition:
    """In a pass an axis hides behind the arithmetic iff `relation` holds; None: always or never, whatever B is.

    `threshold` and `actual` are the numbers of both sides; `left_out` names collectives of less than 1 % of its time.
    """

    name: str
    axis: str
    relation: Relation | None
    threshold: float
    actual: float
    holds: bool
    left_out: tuple[Use, ...] = ()


def conditions(form: StepForm, row: Planned, tokens: int) -> list[Condition]:
    """Return the conditions of the axes in use, of the forward and the backward pass; `form` has an open batch."""
    point = {**row.point, B: sp.Integer(tokens)}
    pipe = {size("pipe"): sp.Integer(row.sizes["pipe"]), UNEVEN: row.uneven}
    found = []
    for name in ("forward", "backward"):
        for axis, length in row.sizes.items():
            spent = {use: time for use, time in form.shares[name].items() if axis in use.axes}
            if length > 1 and spent:
                found.append(_condition(name, axis, form.times[name]["compute"], spent, pipe, point))
    return [each for each in found if each is not None]


def _condition(
    name: str,
    axis: str,
    work: sp.Expr,
    spent: Mapping[Use, sp.Expr],
    pipe: Mapping[sp.Basic, sp.Expr],
    point: Mapping[sp.Symbol, sp.Expr],
) -> Condition | None:
    numbers = {use: float(time.xreplace(point)) for use, time in spent.items()}
    whole = sum(numbers.values())
    if whole == 0:
        return None
    kept = [use for use, number in numbers.items() if number >= SMALL * whole]
    math, comms = (sp.expand(each.xreplace(pipe)) for each in (work, sp.Add(*(spent[use] for use in kept))))
    ratio = sp.cancel(math / comms)
    unknown = B if ratio.has(B) else size(axis)
    holds = float(work.xreplace(point)) >= whole
    left_out = tuple(use for use in numbers if use not in kept and numbers[use] > 0)
    relation = _solved(math, comms, unknown)
    if relation is None:
        return Condition(name, axis, None, 0, 0, holds, left_out)
    border, actual = (float(side.xreplace(point)) for side in (relation.rhs, relation.lhs))
    return Condition(name, axis, relation, border, actual, holds, left_out)


def _solved(math: sp.Expr, comms: sp.Expr, unknown: sp.Symbol) -> Relation | None:
    solution = crossover(math, ">=", comms, unknown)
    intervals = [each for case in solution.cases for each in case.intervals]
    if len(intervals) != 1:
        return None
    only = intervals[0]
    if only.lo != 0:
        return Relation(unknown, ">=", only.lo)
    return None if only.hi == sp.oo else Relation(unknown, "<=", only.hi)
