"""Max and Min of many terms in linear time (sympy compares every pair of arguments)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import sympy as sp


def maximum(*arguments: sp.Expr) -> sp.Expr:
    """Return Max of the arguments: nested ones flattened, of multiples the largest.

    maximum(2*x, x, y) = Max(2*x, y). Unlike `sympy.Max` it never compares two different monomials.
    """
    terms = _reduced(sp.Max, arguments, max)
    if any(term.is_positive for term in terms):
        terms = [term for term in terms if not term.is_nonpositive]
    return _built(sp.Max, terms)


def minimum(*arguments: sp.Expr) -> sp.Expr:
    """Return Min of the arguments: nested ones flattened, of multiples the least."""
    terms = _reduced(sp.Min, arguments, min)
    if any(term.is_nonpositive for term in terms):
        terms = [term for term in terms if not term.is_positive]
    return _built(sp.Min, terms)


def divided(expr: sp.Expr, divisor: sp.Expr) -> sp.Expr:
    """Return expr/divisor for a positive divisor, which goes into a Max or Min: Max(a*X, b*X)/X = Max(a, b)."""
    if not isinstance(expr, sp.Max | sp.Min):
        return expr / divisor
    return _built(type(expr), [divided(each, divisor) for each in expr.args])


def _reduced(kind: type[sp.Expr], arguments: Iterable[sp.Expr], pick: Callable[..., sp.Rational]) -> list[sp.Expr]:
    best: dict[sp.Expr, sp.Rational] = {}
    constants: list[sp.Expr] = []
    for argument in _flat(kind, arguments):
        if argument.is_number:
            constants.append(argument)
            continue
        coefficient, rest = argument.as_coeff_Mul()
        if not rest.is_positive:
            coefficient, rest = sp.S.One, argument
        best[rest] = pick(best[rest], coefficient) if rest in best else coefficient
    constant = [kind(*constants)] if constants else []
    return [coefficient * rest for rest, coefficient in best.items()] + constant


def _built(kind: type[sp.Expr], terms: list[sp.Expr]) -> sp.Expr:
    return terms[0] if len(terms) == 1 else kind(*terms, evaluate=False)


def _flat(kind: type[sp.Expr], arguments: Iterable[sp.Expr]) -> Iterable[sp.Expr]:
    for argument in arguments:
        if isinstance(argument, kind):
            yield from argument.args
        else:
            yield argument
