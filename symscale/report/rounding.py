"""Formulas with long numbers in them, rounded for reading: min(2*K, 39400/9) is min(2*K, 4377.78)."""

from __future__ import annotations

import sympy as sp

from symscale.notation.numbers import decimal
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

DIGITS = 6
# A whole number of more digits than this is long in a formula with many symbols.
LONG = 9_999


def rounded(expr: sp.Expr, digits: int = DIGITS) -> sp.Expr:
    """Return a formula with its long coefficients rounded, and fractions that stand alone as decimals.

    Long is what has more than six digits; whole numbers of fewer are shown in full, as on their own.
    """
    if not expr.free_symbols:
        return expr
    replaced = {part: _coefficient(part, digits) for part in expr.atoms(sp.Mul)}
    shown = expr.xreplace({part: other for part, other in replaced.items() if other is not part})
    return _alone(shown, digits)


def shortened(relation: Relation) -> tuple[Relation, sp.Expr | None]:
    """Return a relation with the numbers of its right side to four digits.

    A long one in front is written as kappa, which is returned too.
    """
    number, rest = sp.factor_terms(relation.rhs).as_coeff_Mul()
    long = [each for each in rest.atoms(sp.Rational) if each.q != 1 or abs(each) > LONG]
    rest = rest.xreplace({each: sp.Rational(f"{float(each):.3e}") for each in long})
    kappa = number if number.q != 1 or abs(number) > LONG else None
    front = number if kappa is None else symbol("kappa")
    return Relation(relation.lhs, relation.op, front * rest), kappa


def _coefficient(product: sp.Mul, digits: int) -> sp.Expr:
    """Return a product with a coefficient of more than six digits rounded; a small one divides by a large number."""
    number, rest = product.as_coeff_Mul()
    if not number.is_Rational or not (_long(number.p) or _long(number.q)):
        return product
    size = abs(number)
    near = _near(size, digits) if size >= 1 else 1 / _near(1 / size, digits)
    return sp.Mul(sp.sign(number) * near, rest)


def _alone(expr: sp.Expr, digits: int) -> sp.Expr:
    """Return the formula with fractions that are arguments of a Max or Min as decimals."""
    if not expr.args:
        return expr
    parts = [_alone(each, digits) for each in expr.args]
    if not isinstance(expr, sp.Max | sp.Min):
        return expr if parts == list(expr.args) else expr.func(*parts)
    parts = [sp.Float(each, digits) if each.is_Rational and not each.is_Integer else each for each in parts]
    return expr.func(*parts, evaluate=False)


def _near(size: sp.Rational, digits: int) -> sp.Expr:
    """Return a number of at least 1 with some digits: a whole one, or a decimal."""
    if size >= 10 ** (DIGITS - 1):
        near = decimal(size, digits)
        return sp.Integer(near.digits) * sp.Integer(10) ** (near.exponent - len(near.digits))
    return size if size.is_Integer else sp.Float(size, digits)


def _long(number: int) -> bool:
    return len(str(abs(number)).rstrip("0")) > DIGITS
