"""Exact values at exact points, by Python's own integers, which are many times faster than sympy's arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, isqrt
from typing import TypeAlias

import sympy as sp

#: A rational number: numerator and positive denominator, which may have a common factor.
Ratio: TypeAlias = tuple[int, int]

LARGEST_POWER = 100
#: From so many bits on a common factor is looked for: before that it takes longer than it saves.
LONG = 512


def value_at(expr: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Return `expr.xreplace(point)`, with integers for every part that is rational and sympy for the others."""
    return _expression(_value(expr, point))


def _value(expr: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> Ratio | sp.Expr:
    if not expr.args:
        found = point.get(expr, expr)
        return (found.p, found.q) if found.is_Rational else found
    parts = [_value(each, point) for each in expr.args]
    ratios = [part for part in parts if isinstance(part, tuple)]
    if len(ratios) == len(parts):
        rational = _rational(expr, ratios)
        if rational is not None:
            return rational
    if isinstance(expr, sp.Max | sp.Min):
        # 1/floor(X/2) has no value for X < 2, and sympy refuses to compare it
        if sp.zoo in parts or sp.nan in parts:
            return sp.nan
        # which is larger is not for sympy to find out: it takes long, and seldom succeeds
        return expr.func(
            *map(_expression, parts),
            evaluate=not any(isinstance(part, sp.Expr) and part.free_symbols for part in parts),
        )
    return expr.func(*map(_expression, parts))


def _expression(value: Ratio | sp.Expr) -> sp.Expr:
    return sp.Rational(*value) if isinstance(value, tuple) else value


def _rational(expr: sp.Expr, parts: Sequence[Ratio]) -> Ratio | None:
    """Return what the head of `expr` makes of rational arguments, None where that is not rational or not known here."""
    if expr.is_Add:
        above, below = parts[0]
        for p, q in parts[1:]:
            above, below = (above + p, below) if q == below else (above * q + p * below, below * q)
        return _shortened(above, below)
    if expr.is_Mul:
        above, below = parts[0]
        for p, q in parts[1:]:
            above, below = above * p, below * q
        return _shortened(above, below)
    if expr.is_Pow:
        return _power(*parts)
    if isinstance(expr, sp.Max | sp.Min):
        found = parts[0]
        for each in parts[1:]:
            larger = each[0] * found[1] > found[0] * each[1]
            if larger == isinstance(expr, sp.Max):
                found = each
        return found
    if isinstance(expr, sp.ceiling | sp.floor):
        above, below = parts[0]
        return -(-above // below) if isinstance(expr, sp.ceiling) else above // below, 1
    return None


def _shortened(above: int, below: int) -> Ratio:
    if below.bit_length() < LONG:
        return above, below
    factor = gcd(above, below)
    return above // factor, below // factor


def _power(base: Ratio, exponent: Ratio) -> Ratio | None:
    """Return a whole or half power that is rational and small enough to write out."""
    factor = gcd(*exponent)
    times, halves = exponent[0] // factor, exponent[1] // factor
    root = _root(*base) if halves == 2 else base
    if root is None or halves > 2 or abs(times) > LARGEST_POWER * halves:
        return None
    above, below = root
    if times >= 0:
        return _shortened(above**times, below**times)
    if above == 0:
        return None
    # the sign goes above
    return _shortened((below if above > 0 else -below) ** -times, abs(above) ** -times)


def _root(above: int, below: int) -> Ratio | None:
    if above < 0:
        return None
    root = isqrt(above * below)
    return (root, below) if root * root == above * below else None
