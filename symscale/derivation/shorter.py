"""Formulas made shorter for reading: factors taken out of sums, so that what is above and below the line cancels."""

from __future__ import annotations

import sympy as sp

from symscale.notation.text import to_text

# A sum of more terms is not factored: that could take long, and seldom gives anything.
MOST_FACTORED = 6


def shorter(expr: sp.Expr) -> sp.Expr:
    """Return the formula with its short polynomials factored, X*G + X - G - 1 = (X - 1)*(G + 1), if shorter."""
    sums = {each: sp.factor(each) for each in expr.atoms(sp.Add) if _few_plain_terms(each)}
    products = {each: product for each, product in sums.items() if product.is_Mul}
    best = expr
    for other in (sp.factor_terms(expr), sp.factor_terms(expr.xreplace(products))):
        if len(to_text(other)) < len(to_text(best)):
            best = other
    return best


def _few_plain_terms(total: sp.Expr) -> bool:
    return len(total.args) <= MOST_FACTORED and bool(total.is_polynomial(*total.free_symbols))
