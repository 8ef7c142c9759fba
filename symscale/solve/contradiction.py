"""Sums that contradict each other: X*F >= a + b and X*F <= a are each possible, and not both.

A condition is a sum of monomials that is not negative. If one such sum plus a positive multiple of another has no
positive term left, and the conditions are not both equalities, no point meets the two.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import TypeAlias

import sympy as sp

from symscale.solve.region import Region
from symscale.solve.terms import sign_of

#: exponents of the symbols -> coefficient
Terms: TypeAlias = dict[tuple[Fraction, ...], Fraction]

_MOST_TERMS = 12


def contradictory(region: Region) -> bool:
    """Return whether two of the conditions exclude each other; False as well where that is not seen."""
    names = sorted({s for lhs, rhs, _ in region.conditions for s in (lhs - rhs).free_symbols}, key=str)
    sums = [each for condition in region.conditions for each in _not_negative(*condition, names)]
    return any(_exclude(*first, *second) for first, second in permutations(sums, 2))


def _not_negative(lhs: sp.Expr, rhs: sp.Expr, mask: int, names: list[sp.Symbol]) -> list[tuple[Terms, bool]]:
    """Return the sums that a condition says are at least 0, and whether they are above it."""
    above, below = sp.fraction(sp.together(lhs - rhs))
    if sign_of(below) != 1 or mask in (5, 7):
        return []
    terms = _terms(sp.expand(above), names)
    if terms is None:
        return []
    turned = {key: -value for key, value in terms.items()}
    strict = not mask & 2
    return [(each, strict) for each, bit in ((terms, 1), (turned, 4)) if not mask & bit]


def _terms(expr: sp.Expr, names: list[sp.Symbol]) -> Terms | None:
    """Return a sum of monomials as coefficients by exponents, None for any other expression."""
    found: Terms = {}
    parts = sp.Add.make_args(expr)
    for part in parts if len(parts) <= _MOST_TERMS else ():
        number, rest = part.as_coeff_Mul()
        powers = rest.as_powers_dict() if rest != 1 else {}
        if not number.is_Rational or not all(b in names and p.is_Rational for b, p in powers.items()):
            return None
        key = tuple(Fraction(int(p.p), int(p.q)) for p in (sp.Rational(powers.get(name, 0)) for name in names))
        found[key] = found.get(key, Fraction()) + Fraction(int(number.p), int(number.q))
    return found or None


def _exclude(one: Terms, one_strict: bool, other: Terms, other_strict: bool) -> bool:
    """Tell whether two sums cannot both be at least 0: some multiple of one cancels a positive term of the other."""
    for key, value in one.items():
        for against, number in other.items() if value > 0 else ():
            if number >= 0:
                continue
            total = dict(one)
            for mine, part in other.items():
                moved = tuple(m + k - a for m, k, a in zip(mine, key, against, strict=True))
                total[moved] = total.get(moved, Fraction()) - part * value / number
            left = [each for each in total.values() if each]
            if all(each < 0 for each in left) and (left or one_strict or other_strict):
                return True
    return False
