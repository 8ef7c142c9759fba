"""Formulas made shorter for reading: factors taken out of sums, so that what is above and below the line cancels."""

from __future__ import annotations

import sympy as sp

from symscale.notation.text import to_text

# Factoring a sum of more terms could take long, and seldom gives anything.
FACTORED = range(2, 7)
LONGEST = 400


def shorter(expr: sp.Expr) -> sp.Expr:
    """Return the formula with its short polynomials factored, X*G + X - G - 1 = (X - 1)*(G + 1), if shorter."""
    if _nodes_exceed(expr, LONGEST) or not expr.has(sp.Add):
        return expr
    length = sp.count_ops(expr)
    sums = {each: sp.factor(each) for each in expr.atoms(sp.Add) if _may_factor(each)}
    products = {each: product for each, product in sums.items() if product.is_Mul}
    best = expr
    for other in (sp.factor_terms(expr), *([sp.factor_terms(expr.xreplace(products))] if products else [])):
        if sp.count_ops(other) < length:
            best, length = other, sp.count_ops(other)
    return best


def factored(expr: sp.Expr) -> sp.Expr:
    """Return the formula with what all terms of a sum share in front; a very long one stays as it is."""
    return expr if _nodes_exceed(expr, LONGEST) else sp.factor_terms(expr)


def longer_than(expr: sp.Expr, characters: int) -> bool:
    """Say whether the text of a formula is longer; a very long one is not written for that."""
    return _nodes_exceed(expr, characters) or len(to_text(expr)) > characters


def _nodes_exceed(expr: sp.Expr, most: int) -> bool:
    return any(count > most for count, _ in enumerate(sp.preorder_traversal(expr)))


def _may_factor(total: sp.Expr) -> bool:
    """Say whether a sum has few terms, is a polynomial, and is not one that is known to have no factors.

    One that is linear in a symbol of one term only, m*x + q, has none but what all its terms share.
    """
    if len(total.args) not in FACTORED or not total.is_polynomial(*total.free_symbols):
        return False
    return not any(
        term.as_powers_dict().get(name) == 1 and not any(other.has(name) for other in total.args if other is not term)
        for term in total.args
        if not term.has(sp.Add)
        for name in term.free_symbols
    )
