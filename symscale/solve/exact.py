"""Exact values at exact points, by Python's own fractions, which are many times faster than sympy's arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, isqrt, prod

import sympy as sp

LARGEST_POWER = 100


def value_at(expr: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Return `expr.xreplace(point)`, with fractions for every part that is rational and sympy for the others."""
    return _expression(_value(expr, point))


def _value(expr: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> Fraction | sp.Expr:
    if not expr.args:
        found = point.get(expr, expr)
        return Fraction(found.p, found.q) if found.is_Rational else found
    parts = [_value(each, point) for each in expr.args]
    fractions = [part for part in parts if isinstance(part, Fraction)]
    if len(fractions) == len(parts):
        rational = _rational(expr, fractions)
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


def _expression(value: Fraction | sp.Expr) -> sp.Expr:
    return sp.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value


def _rational(expr: sp.Expr, parts: Sequence[Fraction]) -> Fraction | None:
    """Return what the head of `expr` makes of rational arguments, None where that is not rational or not known here."""
    if expr.is_Add:
        return sum(parts, Fraction())
    if expr.is_Mul:
        return prod(parts, start=Fraction(1))
    if expr.is_Pow:
        return _power(*parts)
    if isinstance(expr, sp.Max | sp.Min):
        return max(parts) if isinstance(expr, sp.Max) else min(parts)
    if isinstance(expr, sp.ceiling | sp.floor):
        return Fraction(ceil(parts[0]) if isinstance(expr, sp.ceiling) else floor(parts[0]))
    return None


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """Return a whole or half power that is rational and small enough to write out."""
    root = _root(base) if exponent.denominator == 2 else base
    if root is None or exponent.denominator > 2 or abs(exponent) > LARGEST_POWER or (root == 0 and exponent < 0):
        return None
    return root**exponent.numerator


def _root(square: Fraction) -> Fraction | None:
    if square < 0:
        return None
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root * root == square else None
