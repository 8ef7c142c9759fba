"""Minima of posynomials with numbers, by iteration in log space, with a proven bound on the gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.errors import UndecidedError

_DIGITS = 40


def numeric_minimum(
    terms: Sequence[sp.Expr], rows: Sequence[Sequence[sp.Rational]], names: Sequence[sp.Symbol]
) -> tuple[dict[sp.Symbol, sp.Expr], sp.Expr]:
    """Return (point, relative gap): f(x) >= f(point)*(1 - gap) everywhere.

    The bound is the inequality of arithmetic and geometric means with the terms' shares at the point, made to
    satisfy sum(share) = 1 and sum(share*row) = 0 exactly: f >= prod((coefficient/share)**share).
    Raises UndecidedError if a coefficient is not a number or there is no minimum.
    """
    import mpmath  # type: ignore[import-untyped]

    ones = dict.fromkeys(names, sp.S.One)
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
        place = _newton(context, logs, matrix)
        sizes, _ = _state(context, logs, matrix, place)
        bound = _bound(context, logs, rows, [_rational(context, size / sum(sizes)) for size in sizes])
        gap = 1 - bound / sum(sizes)
        if not gap < context.mpf(10) ** (-_DIGITS // 2):
            raise UndecidedError("the iteration found no minimum: along some direction no term rises")
        point = {name: _rational(context, context.exp(y)) for name, y in zip(names, place, strict=True)}
        # the point is rounded to 30 digits, and the value near a minimum is off by the square of that at most
        return point, _rational(context, max(gap, context.mpf(0)) + context.mpf(10) ** -28)


def _bound(context: Any, logs: list[Any], rows: Sequence[Sequence[sp.Rational]], shares: Sequence[sp.Rational]) -> Any:
    columns = sp.Matrix([*sp.Matrix(rows).T.tolist(), [1] * len(rows)])
    wanted = sp.Matrix([0] * (columns.rows - 1) + [1])
    near = sp.Matrix(shares)
    if columns.rank() < columns.rows:
        raise UndecidedError("the terms do not depend on the variables independently")
    exact = near - columns.T * (columns * columns.T).LUsolve(columns * near - wanted)
    if any(share <= 0 for share in exact):
        return context.mpf(0)
    numbers = [context.mpf(int(share.p)) / int(share.q) for share in exact]
    total = context.fsum(share * (log - context.log(share)) for share, log in zip(numbers, logs, strict=True))
    return context.exp(total)


def _rational(context: Any, number: Any) -> sp.Rational:
    return sp.Rational(context.nstr(number, 30))


def _newton(context: Any, logs: list[Any], rows: list[list[Any]]) -> list[Any]:
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
        moved = _damped(context, logs, rows, place, [step[i] for i in range(count)], total)
        if moved is place:
            break
        place = moved
    return place


def _state(context: Any, logs: list[Any], rows: list[list[Any]], place: list[Any]) -> tuple[list[Any], list[Any]]:
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


# ---------------------------------------------------------------- one variable, with Max


def convex_minimum(expr: sp.Expr, name: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """Return (place, relative gap) for sums, products, powers and Max of positive monomials in one variable.

    Two tangents in log space, one falling and one rising, meet below the whole function: that is the bound.
    Raises UndecidedError if a number is missing, the expression is of another form, or there is no minimum.
    """
    import mpmath

    free = expr.free_symbols - {name}
    if free:
        raise UndecidedError(
            f"the minimum of {expr} over {name} has no closed form here",
            hint=f"give numbers for {', '.join(sorted(map(str, free)))}",
        )
    if not _convex(expr):
        raise UndecidedError(f"{expr} is not made of positive monomials by sums, products and Max")
    with mpmath.workdps(_DIGITS):
        context = mpmath.mp
        left, right = _bracket(context, expr, name)
        place, gap = _narrowed(context, expr, name, left, right)
        return _rational(context, context.exp(place)), _rational(context, gap + context.mpf(10) ** -25)


def _convex(expr: sp.Expr) -> bool:
    if not expr.args:
        return bool(expr.is_positive)
    if expr.is_Pow:
        monomial = not expr.base.has(sp.Add, sp.Max, sp.Min)
        return bool(expr.exp.is_Rational and _convex(expr.base) and (monomial or expr.exp > 0))
    return (expr.is_Add or expr.is_Mul or isinstance(expr, sp.Max)) and all(map(_convex, expr.args))


def _slope(context: Any, expr: sp.Expr, name: sp.Symbol, at: Any) -> tuple[Any, Any]:
    """Return the value at exp(at) and the slope in log space."""
    if expr == name:
        return context.exp(at), context.exp(at)
    if not expr.args:
        return context.mpf(int(expr.p)) / int(expr.q), context.mpf(0)
    if expr.is_Pow:
        value, slope = _slope(context, expr.base, name, at)
        power = context.mpf(int(expr.exp.p)) / int(expr.exp.q)
        return value**power, power * value ** (power - 1) * slope
    parts = [_slope(context, arg, name, at) for arg in expr.args]
    if expr.is_Add:
        return sum(value for value, _ in parts), sum(slope for _, slope in parts)
    if expr.is_Mul:
        whole = context.fprod(value for value, _ in parts)
        return whole, whole * sum(slope / value for value, slope in parts)
    return max(parts)


def _bracket(context: Any, expr: sp.Expr, name: sp.Symbol) -> tuple[Any, Any]:
    width = 1
    while width < 1 << 12:
        left, right = context.mpf(-width), context.mpf(width)
        if _slope(context, expr, name, left)[1] <= 0 <= _slope(context, expr, name, right)[1]:
            return left, right
        width *= 2
    raise UndecidedError(f"{expr} has no minimum over {name}: it only rises or only falls")


def _narrowed(context: Any, expr: sp.Expr, name: sp.Symbol, left: Any, right: Any) -> tuple[Any, Any]:
    best, place, gap = context.inf, left, context.inf
    for step in range(400):
        (low, down), (high, up) = (_slope(context, expr, name, end) for end in (left, right))
        cross = (low - high - down * left + up * right) / (up - down) if up != down else (left + right) / 2
        bound = low + down * (cross - left)
        for end, value in ((left, low), (right, high)):
            if value < best:
                best, place = value, end
        gap = (best - bound) / best
        if gap < context.mpf(10) ** -25:
            break
        # tangents find a kink at once, halving finds a smooth minimum
        middle = min(max(cross, left), right) if step % 2 else (left + right) / 2
        if _slope(context, expr, name, middle)[1] < 0:
            left = middle
        else:
            right = middle
    return place, max(gap, context.mpf(0))
