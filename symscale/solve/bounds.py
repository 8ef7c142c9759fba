"""Certain bounds of a value, in floats rounded outwards: they settle all comparisons but the closest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import ceil, floor, inf, isfinite, nextafter, sqrt

import sympy as sp

Bounds = tuple[float, float]


def apart(left: sp.Expr, right: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> int:
    """Return the sign of `left - right` at an exact point, 0 where floats cannot tell."""
    a, b = bounds(left, point), bounds(right, point)
    if a is None or b is None:
        return 0
    return int(a[0] > b[1]) - int(a[1] < b[0])


def bounds(expr: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> Bounds | None:
    """Return floats between which the value surely lies; None where they are not finite or the head is not known."""
    if not expr.args:
        value = point.get(expr, expr)
        if not value.is_Rational:
            return bounds(value, {}) if value.args else None
        try:
            return _outward(value.p / value.q, value.p / value.q)
        except OverflowError:
            return None
    parts = []
    for each in expr.args:
        part = bounds(each, point)
        if part is None:
            return None
        parts.append(part)
    try:
        found = _combined(expr, parts)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    return found if found is not None and all(map(isfinite, found)) else None


def _combined(expr: sp.Expr, parts: list[Bounds]) -> Bounds | None:
    if expr.is_Add:
        return _folded(parts, lambda a, b: (a[0] + b[0], a[1] + b[1]))
    if expr.is_Mul:
        return _folded(parts, _times)
    if expr.is_Pow:
        return _power(parts[0], expr.exp)
    if isinstance(expr, sp.Max | sp.Min):
        choose = max if isinstance(expr, sp.Max) else min
        return choose(low for low, _ in parts), choose(high for _, high in parts)
    if isinstance(expr, sp.ceiling | sp.floor):
        step = ceil if isinstance(expr, sp.ceiling) else floor
        return float(step(parts[0][0])), float(step(parts[0][1]))
    return None


def _folded(parts: list[Bounds], combine: Callable[[Bounds, Bounds], Bounds]) -> Bounds:
    found = parts[0]
    for part in parts[1:]:
        found = _outward(*combine(found, part))
    return found


def _times(a: Bounds, b: Bounds) -> Bounds:
    if a[0] > 0 and b[0] > 0:
        return a[0] * b[0], a[1] * b[1]
    corners = [x * y for x, y in product(a, b)]
    return min(corners), max(corners)


def _power(base: Bounds, exponent: sp.Expr) -> Bounds | None:
    """Return a whole or half power of a positive base, which is monotone; None for others."""
    if not exponent.is_Rational or exponent.q > 2 or abs(exponent.p) > 16 or base[0] <= 0:
        return None
    low, high = base if exponent.q == 1 else _outward(sqrt(base[0]), sqrt(base[1]))
    found = low, high
    for _ in range(abs(exponent.p) - 1):
        found = _outward(found[0] * low, found[1] * high)
    return found if exponent.p > 0 else _outward(1 / found[1], 1 / found[0])


def _outward(low: float, high: float) -> Bounds:
    """Return the next floats, because the true result of one operation lies within half a unit of the last digit."""
    return nextafter(low, -inf), nextafter(high, inf)
