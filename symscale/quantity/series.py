"""Sums and areas in closed form, of the terms that occur here: polynomials, powers a^i, and x^e with e a symbol.

Sympy's own `summation` and `integrate` answer far more, and load half of sympy first.
"""

from __future__ import annotations

from itertools import pairwise

import sympy as sp

from symscale.errors import UndecidedError


def total(term: sp.Expr, index: sp.Symbol, last: sp.Expr) -> sp.Expr:
    """Return the sum of a term over index = 1 … last, of a polynomial or a power base^index with base ≠ 1.

    A polynomial's sum is Newton's series, Σ_k Δ^k(1)·C(last, k + 1); that of a power follows from S − base·S. Raises
    UndecidedError for other terms.
    """
    base, exponent = term.as_base_exp()
    if exponent == index and not base.has(index):
        return base * (1 - base**last) / (1 - base)
    if not term.is_polynomial(index):
        raise UndecidedError(f"the sum of {term} over {index} has no closed form here")
    degree = sp.Poly(term, index).degree() if term != 0 else 0
    differences = [term.subs(index, 1 + k) for k in range(int(degree) + 1)]
    found, chosen = sp.S.Zero, sp.S.One
    for k in range(len(differences)):
        chosen = chosen * (last - k) / (k + 1)
        found += differences[0] * chosen
        differences = [after - before for before, after in pairwise(differences)]
    return sp.expand(found)


def area(density: sp.Expr, variable: sp.Symbol, last: sp.Expr) -> sp.Expr:
    """Return the integral of a density over variable = 0 … last, term by term c·x^e with e > −1.

    Raises UndecidedError for other terms.
    """
    found = []
    for term in sp.Add.make_args(sp.expand(density)):
        factor, power = term.as_independent(variable, as_Add=False)
        base, exponent = power.as_base_exp() if power != 1 else (variable, sp.S.Zero)
        if base != variable or exponent.has(variable):
            raise UndecidedError(f"the area under {term} has no closed form here")
        found.append(factor * last ** (exponent + 1) / (exponent + 1))
    return sp.Add(*found)
