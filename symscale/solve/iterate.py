"""Minimum of a posynomial with numbers, by Newton's method in log space, with a proven bound on the gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.errors import UndecidedError

_DIGITS = 40


def numeric_minimum(
    terms: Sequence[sp.Expr], rows: Sequence[Sequence[sp.Rational]], names: Sequence[sp.Symbol]
) -> tuple[dict[sp.Symbol, sp.Expr], sp.Expr, sp.Expr]:
    """Return (point, value, relative gap): f(x) >= value*(1 - gap) everywhere within a factor e of the point.

    In y = log(x) the sum of exp(row.y + c) is convex, so f(z) >= f(y) - |gradient|*|z - y|, and beyond that
    distance f only rises. Raises UndecidedError if a coefficient is not a number or there is no minimum.
    """
    import mpmath

    ones = {name: sp.S.One for name in names}
    factors = [term.xreplace(ones) for term in terms]
    free = set().union(*(factor.free_symbols for factor in factors))
    if free:
        raise UndecidedError(
            f"the minimum over {', '.join(map(str, names))} has no closed form: {len(terms)} terms",
            hint=f"give numbers for {', '.join(sorted(map(str, free)))}",
        )
    with mpmath.workdps(_DIGITS):
        context = mpmath.mp
        logs = [context.log(context.mpmathify(factor.evalf(_DIGITS))) for factor in factors]
        matrix = [[context.mpf(int(p.p)) / int(p.q) for p in row] for row in rows]
        place, value, gradient = _newton(context, logs, matrix)
        gap = context.sqrt(sum(g * g for g in gradient)) * context.sqrt(len(names)) / value
        if gap > context.mpf(10) ** (-_DIGITS // 2):
            raise UndecidedError("the iteration found no minimum: along some direction no term rises")
        point = {name: sp.Float(context.exp(y), 30) for name, y in zip(names, place, strict=True)}
        return point, sp.Float(value, 30), sp.Float(gap, 5)


def _newton(context: Any, logs: list[Any], rows: list[list[Any]]) -> tuple[list[Any], Any, list[Any]]:
    count = len(rows[0])
    place = [context.mpf(0)] * count
    for _ in range(200):
        sizes, gradient = _state(context, logs, rows, place)
        total = sum(sizes)
        if context.sqrt(sum(g * g for g in gradient)) < total * context.mpf(10) ** (-_DIGITS + 8):
            break
        bend = context.matrix(count, count)
        for size, row in zip(sizes, rows, strict=True):
            for i in range(count):
                for j in range(count):
                    bend[i, j] += size * row[i] * row[j]
        try:
            step = context.lu_solve(bend, context.matrix(gradient))
        except ZeroDivisionError:
            raise UndecidedError("the terms do not depend on the variables independently") from None
        place = _damped(context, logs, rows, place, [step[i] for i in range(count)], total)
    sizes, gradient = _state(context, logs, rows, place)
    return place, sum(sizes), gradient


def _state(
    context: Any, logs: list[Any], rows: list[list[Any]], place: list[Any]
) -> tuple[list[Any], list[Any]]:
    sizes = [
        context.exp(log + sum(p * y for p, y in zip(row, place, strict=True)))
        for log, row in zip(logs, rows, strict=True)
    ]
    gradient = [sum(size * row[i] for size, row in zip(sizes, rows, strict=True)) for i in range(len(place))]
    return sizes, gradient


def _damped(
    context: Any, logs: list[Any], rows: list[list[Any]], place: list[Any], step: list[Any], total: Any
) -> list[Any]:
    scale = context.mpf(1)
    for _ in range(60):
        moved = [y - scale * s for y, s in zip(place, step, strict=True)]
        if sum(_state(context, logs, rows, moved)[0]) < total:
            return moved
        scale /= 2
    return place
