"""One expression as a quotient of two sums of powers of the unknown, in time linear in its number of terms."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

import sympy as sp

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve.terms import sign_of

#: power of the unknown -> the terms of its coefficient. A multivariate Poly would not stay linear here:
#: a program of 4000 einsums gives sums with 4000 different symbols.
Powers: TypeAlias = dict[sp.Rational, list[sp.Expr]]

_MOST_TERMS = 20000


@dataclass(frozen=True)
class Quotient:
    """`top / prod(factor ** power)`; `factors` keeps each denominator with the powers it consists of."""

    top: Powers
    below: dict[sp.Expr, int] = field(default_factory=dict)
    factors: dict[sp.Expr, Powers] = field(default_factory=dict)


def collect(expr: sp.Expr, unknown: sp.Symbol) -> Quotient:
    """Return `expr` over a common denominator, its numerator collected by power of the unknown.

    Raises UndecidedError where the unknown stands under a root of a sum, in an exponent or in a function.
    """
    if expr == unknown:
        return Quotient({sp.S.One: [sp.S.One]})
    if expr.is_Add:
        return _sum(expr, unknown)
    if _opaque(expr, unknown):
        return Quotient({sp.S.Zero: [expr]} if expr != 0 else {})
    if expr.is_Mul:
        return _product(expr, unknown)
    if expr.is_Pow:
        return _power(expr, unknown)
    raise UndecidedError(f"{expr} holds {unknown} inside {type(expr).__name__}, which is not a sum of powers")


def _opaque(expr: sp.Expr, unknown: sp.Symbol) -> bool:
    """Whether to keep an expression whole: it lacks the unknown, and has no quotient of undecided sign to clear."""
    if unknown in expr.free_symbols:
        return False
    if expr.is_Add or expr.is_Mul or (expr.is_Pow and expr.exp.is_Rational):
        return sign_of(expr) == 1 or not expr.has(sp.Add)
    return True


def _sum(expr: sp.Expr, unknown: sp.Symbol) -> Quotient:
    groups: dict[frozenset[tuple[sp.Expr, int]], Powers] = {}
    factors: dict[sp.Expr, Powers] = {}
    for term in expr.args:
        part = collect(term, unknown)
        factors.update(part.factors)
        key = frozenset(part.below.items())
        group = groups.setdefault(key, {})
        for power, terms in part.top.items():
            group.setdefault(power, []).extend(terms)
    if len(groups) == 1:
        ((key, top),) = groups.items()
        return Quotient(top, dict(key), factors)
    return _common_denominator(groups, factors)


def _common_denominator(
    groups: dict[frozenset[tuple[sp.Expr, int]], Powers], factors: dict[sp.Expr, Powers]
) -> Quotient:
    below: dict[sp.Expr, int] = {}
    for key in groups:
        for factor, power in key:
            below[factor] = max(below.get(factor, 0), power)
    top: Powers = {}
    for key, part in groups.items():
        present = dict(key)
        for factor, power in below.items():
            for _ in range(power - present.get(factor, 0)):
                part = times(part, factors[factor])
        for exponent, terms in part.items():
            top.setdefault(exponent, []).extend(terms)
    return Quotient(top, below, factors)


def times(first: Powers, second: Powers) -> Powers:
    """Return the product of two sums of powers."""
    size = sum(map(len, first.values())) * sum(map(len, second.values()))
    if size > _MOST_TERMS:
        raise UndecidedError(f"the common denominator has {size} terms", hint="give names to the inner sums")
    result: Powers = {}
    for power, terms in first.items():
        for other, others in second.items():
            result.setdefault(power + other, []).extend(a * b for a in terms for b in others)
    return result


def _product(expr: sp.Expr, unknown: sp.Symbol) -> Quotient:
    constant, top = [], {sp.S.Zero: [sp.S.One]}
    power = sp.S.Zero
    below: dict[sp.Expr, int] = {}
    factors: dict[sp.Expr, Powers] = {}
    for arg in expr.args:
        base, exponent = arg.as_base_exp() if arg.is_Pow else (arg, sp.S.One)
        if base == unknown and exponent.is_Rational:
            power += exponent
        elif _opaque(arg, unknown):
            constant.append(arg)
        else:
            part = collect(arg, unknown)
            factors.update(part.factors)
            for factor, count in part.below.items():
                below[factor] = below.get(factor, 0) + count
            top = times(top, part.top)
    scale = sp.Mul(*constant)
    shifted = {exponent + power: [scale * term for term in terms] for exponent, terms in top.items()}
    return Quotient(shifted, below, factors)


def _power(expr: sp.Expr, unknown: sp.Symbol) -> Quotient:
    base, exponent = expr.as_base_exp()
    if base == unknown and exponent.is_Rational:
        return Quotient({exponent: [sp.S.One]})
    if unknown not in expr.free_symbols and exponent.is_Rational and not exponent.is_Integer:
        raise UndecidedError(f"{base} stands under a root and may be negative")
    if not exponent.is_Integer:
        raise UndecidedError(f"{expr} holds {unknown} under a root or in an exponent")
    if abs(exponent) > 60:
        raise UndecidedError(f"the power {exponent} of {base} is too high")
    inner = collect(base, unknown)
    return _repeated(inner, int(exponent)) if exponent > 0 else _inverted(base, inner, int(-exponent))


def _repeated(inner: Quotient, count: int) -> Quotient:
    top = inner.top
    for _ in range(count - 1):
        top = times(top, inner.top)
    return Quotient(top, {f: n * count for f, n in inner.below.items()}, inner.factors)


# The key of a denominator is the base as written, though what stands for it is only the base's numerator: the
# base's own denominators have moved to the top.
def _inverted(base: sp.Expr, inner: Quotient, count: int) -> Quotient:
    top: Powers = {sp.S.Zero: [sp.S.One]}
    for factor, power in inner.below.items():
        for _ in range(power * count):
            top = times(top, inner.factors[factor])
    if len(inner.top) == 1:
        ((exponent, terms),) = inner.top.items()
        if len(terms) == 1:
            shifted = {p - exponent * count: [t / terms[0] ** count for t in ts] for p, ts in top.items()}
            return Quotient(shifted, {}, inner.factors)
    return Quotient(top, {base: count}, {**inner.factors, base: inner.top})
