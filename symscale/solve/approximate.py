"""Approximations: the leading terms of an expression in named limits, with what was dropped and how far off it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp

from symscale.errors import UndecidedError
from symscale.solve.limits import Approximation, Limit
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class _Scale:
    """How a monomial shrinks: `small` powers of ε from x ≪ y, and the powers of the symbols taken as X ≫ 1."""

    small: sp.Rational
    long: tuple[tuple[sp.Symbol, sp.Rational], ...]


@dataclass(frozen=True)
class _Lead:
    expr: sp.Expr
    dropped: tuple[sp.Expr, ...] = ()


def approximate(expr: sp.Expr, limits: Iterable[Limit]) -> Approximation:
    """Return the leading terms of an expression: `x << y` takes x to εx, `X >> 1` takes X to X/ε, ε → 0.

    A term goes against X ≫ 1 only if it is another one times powers of such X and a number. Raises UndecidedError
    if nothing is dropped, or if the leading terms cancel.
    """
    limits = tuple(limits)
    found = _approximation(expr, limits)
    if not found.dropped:
        raise UndecidedError(
            f"The limit {_names(limits)} drops no term of {expr}.", hint="Name a limit that makes some term small."
        )
    return found


def approximate_relation(
    relation: Relation, limits: Iterable[Limit]
) -> tuple[Relation, tuple[Approximation, Approximation]]:
    """Return both sides of a relation in the named limits. Raises UndecidedError if neither side drops a term."""
    limits = tuple(limits)
    sides = (_approximation(relation.lhs, limits), _approximation(relation.rhs, limits))
    if not any(side.dropped for side in sides):
        raise UndecidedError(
            f"The limit {_names(limits)} drops no term on either side.",
            hint="Name a limit that makes some term small.",
        )
    return Relation(sides[0].approximate, relation.op, sides[1].approximate), sides


def _approximation(expr: sp.Expr, limits: tuple[Limit, ...]) -> Approximation:
    small = frozenset(s for each in limits if each.small != 1 for s in each.small.free_symbols)
    long = frozenset(s for each in limits if each.small == 1 for x in each.large for s in x.free_symbols)
    lead = _lead(expr, small, long)
    ratio = sp.S.One if not lead.dropped else _ratio(expr, lead.expr)
    return Approximation(expr, lead.expr, tuple(dict.fromkeys(lead.dropped)), limits, ratio, ratio - 1)


def _ratio(exact: sp.Expr, near: sp.Expr) -> sp.Expr:
    # term by term, so that (BD + DF + BF)/DF reads 1 + B/D + B/F
    if exact.is_Add and not near.is_Add:
        return sp.Add(*(term / near for term in exact.args))
    return exact / near


def _names(limits: Sequence[Limit]) -> str:
    return "; ".join(f"{each.small} << {', '.join(map(str, each.large))}" for each in limits)


def _lead(expr: sp.Expr, small: frozenset[sp.Symbol], long: frozenset[sp.Symbol]) -> _Lead:
    if not expr.args or not expr.free_symbols & (small | long):
        return _Lead(expr)
    parts = [_lead(each, small, long) for each in expr.args]
    inside = tuple(term for part in parts for term in part.dropped)
    if expr.is_Add:
        return _sum([part.expr for part in parts], inside, small, long)
    if isinstance(expr, sp.floor | sp.ceiling):
        inner = parts[0].expr
        grows = any(power > 0 for _, power in _scale(inner, small, long).long) and inner.free_symbols <= long
        return _Lead(inner, (*inside, expr - inner)) if grows else _Lead(expr.func(inner), inside)
    return _Lead(expr.func(*(part.expr for part in parts)), inside)


def _sum(
    terms: list[sp.Expr], inside: tuple[sp.Expr, ...], small: frozenset[sp.Symbol], long: frozenset[sp.Symbol]
) -> _Lead:
    scales = [_scale(term, small, long) for term in terms]
    gone = [
        any(_dominates(terms[k], scales[k], terms[n], scales[n], long) for k in range(len(terms)) if k != n)
        for n in range(len(terms))
    ]
    kept = sp.Add(*(term for term, out in zip(terms, gone, strict=True) if not out))
    if kept == 0:
        raise UndecidedError("The leading terms cancel in this limit.", hint="Rewrite the expression without them.")
    return _Lead(kept, (*inside, *(term for term, out in zip(terms, gone, strict=True) if out)))


def _dominates(
    big: sp.Expr, scale: _Scale, term: sp.Expr, other: _Scale, long: frozenset[sp.Symbol]
) -> bool:
    """Tell whether `term` vanishes beside `big`."""
    if scale.small != other.small:
        return bool(scale.small < other.small)
    powers, others = dict(scale.long), dict(other.long)
    differences = [powers.get(s, 0) - others.get(s, 0) for s in {*powers, *others}]
    if not differences or min(differences) < 0 or max(differences) == 0:
        return False
    ratio = term / big
    return bool(ratio.free_symbols <= long)


def _scale(term: sp.Expr, small: frozenset[sp.Symbol], long: frozenset[sp.Symbol]) -> _Scale:
    """Return how a product scales; a sum, by then its own leading terms, scales as its first term."""
    power, grown = sp.S.Zero, {}
    for factor in sp.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if base.is_Add or isinstance(base, sp.Max | sp.Min):
            inner = _scale(base.args[0], small, long)
            power += exponent * inner.small
            for symbol, times in inner.long:
                grown[symbol] = grown.get(symbol, 0) + exponent * times
        elif base in small:
            power += exponent
        elif base in long:
            grown[base] = grown.get(base, 0) + exponent
    return _Scale(power, tuple((symbol, times) for symbol, times in grown.items() if times != 0))
