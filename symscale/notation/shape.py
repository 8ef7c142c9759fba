"""The shape in which an expression is printed, shared by text and LaTeX: one fraction, one root, kept order.

sqrt(B)*sqrt(N)/sqrt(F) is one root, of B*N/F; terms and factors stand as the order or the table says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from math import gcd
from typing import TypeAlias

import sympy as sp

from symscale.frozen import dataclass
from symscale.notation.order import Key, Order, factor_key, term_positions

LONG = 60


@dataclass(frozen=True)
class Root:
    """The square root of one fraction of positive factors (at most one of unknown sign)."""

    p: int
    q: int
    above: tuple[sp.Expr, ...]
    below: tuple[sp.Expr, ...]


@dataclass(frozen=True)
class LogBase:
    """The logarithm of `argument` to a whole base, which sympy keeps as log(argument)/log(base)."""

    argument: sp.Expr
    base: sp.Expr


Factor: TypeAlias = sp.Expr | Root | LogBase


@dataclass(frozen=True)
class Fraction:
    """(-) p * above / (q * below), each list in printing order and without negative rational exponents."""

    negative: bool
    p: int
    q: int
    above: tuple[Factor, ...]
    below: tuple[Factor, ...]


_END: Key = (9, 0, 0, "")


def terms(expr: sp.Expr, order: Order) -> list[sp.Expr]:
    """Return the terms of a sum (or Max) in printing order: as written, else by factors, negatives last."""
    parts = sorted(expr.args, key=lambda part: term_key(part, order))
    if not order.terms:
        return parts
    names = [frozenset(s.name for s in part.free_symbols) for part in parts]
    for written in order.terms:
        # a term may carry factors the written sum had not, such as b and X in b*B*D/X
        known = frozenset[str]().union(*written)
        for shown in (names, [name & known for name in names]):
            ranks = _ranks(shown, term_positions(written))
            if ranks is not None:
                return [parts[index] for index in sorted(range(len(parts)), key=ranks.__getitem__)]
    return parts


def _ranks(names: list[frozenset[str]], places: dict[frozenset[str], list[int]]) -> list[int] | None:
    """Return the place of each term in a sum as it was written; None if one of them is not in it."""
    if not all(name in places for name in names):
        return None
    taken = Counter[frozenset[str]]()
    ranks = []
    for name in names:
        ranks.append(places[name][min(taken[name], len(places[name]) - 1)])
        taken[name] += 1
    return ranks


def term_key(term: sp.Expr, order: Order) -> tuple[bool, list[tuple[Key, float]], int, str]:
    """Return the sort key of a term: positive first, by its factors, longer ones first, constants last."""
    coefficient, rest = term.as_coeff_Mul()
    keys: list[tuple[Key, float]] = []
    below = 0
    for factor in sp.Mul.make_args(rest):
        base, exponent = factor.as_base_exp()
        if exponent.is_Rational and exponent < 0:
            below += 1
        elif base.is_Symbol:
            keys.append((factor_key(base.name, order), -float(exponent) if exponent.is_Rational else 0.0))
        elif base.free_symbols:
            keys.append((min(factor_key(s.name, order) for s in base.free_symbols), 0.0))
    keys.sort()
    return bool(coefficient.is_negative), [*keys, (_END, 0.0)], below, "" if rest.is_Symbol else _name(rest)


def fraction(expr: sp.Expr, order: Order) -> Fraction:
    """Return the one fraction that a product, power or number is printed as."""
    coefficient, rest = expr.as_coeff_Mul()
    if not coefficient.is_Rational:
        coefficient, rest = sp.S.One, expr
    above, below, roots_above, roots_below = _sides(rest)
    p, q = abs(int(coefficient.p)), int(coefficient.q)
    root, p, q = _root(p, q, roots_above, roots_below, order)
    if root is not None and not root.above and root.p == 1 and (root.below or root.q > 1):
        below.append(Root(root.q, 1, root.below, ()))
    elif root is not None:
        above.append(root)
    _pair_logarithms(above, below)
    return Fraction(bool(coefficient.is_negative), p, q, _sorted(above, order), _sorted(below, order))


def _sides(rest: sp.Expr) -> tuple[list[Factor], list[Factor], list[sp.Expr], list[sp.Expr]]:
    """Sort the factors into numerator, denominator, and the square roots of both."""
    above: list[Factor] = []
    below: list[Factor] = []
    roots: tuple[list[sp.Expr], list[sp.Expr]] = ([], [])
    unknown = 0
    for factor in sp.Mul.make_args(rest):
        base, exponent = (sp.E, factor.exp) if isinstance(factor, sp.exp) else factor.as_base_exp()
        if factor is sp.S.One:
            continue
        if isinstance(factor, sp.exp) or not _negative(exponent):
            side, raised, which = above, factor, 0
        else:
            side, raised, which = below, _inverted(factor, base, exponent), 1
        # sqrt(a - b)*sqrt(c - d) is not sqrt((a - b)*(c - d)) when both are negative
        if abs(exponent) == sp.S.Half and base is not sp.E and (base.is_positive or not unknown):
            unknown += not base.is_positive
            roots[which].append(base)
        else:
            side.append(raised)
    return above, below, *roots


def _negative(exponent: sp.Expr) -> bool:
    return bool(exponent.as_coeff_Mul()[0].is_negative)


def _inverted(factor: sp.Expr, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return base if exponent is sp.S.NegativeOne else sp.Pow(base, -exponent)


def _root(p: int, q: int, above: list[sp.Expr], below: list[sp.Expr], order: Order) -> tuple[Root | None, int, int]:
    """Join the square roots into one; sqrt(2)*x/2 with a root beside it becomes part of that root as 1/2."""
    if not above and not below:
        return None, p, q
    inside_p, inside_q = 1, 1
    for base in [base for base in above if base.is_Integer]:
        inside_p *= int(base)
    for base in [base for base in above if base.is_Rational and not base.is_Integer]:
        inside_p, inside_q = inside_p * int(base.p), inside_q * int(base.q)
    numbers_only = all(base.is_Rational for base in above) and not below
    if not numbers_only:
        common = gcd(inside_p, q)
        inside_p, inside_q, q = inside_p // common, inside_q * common, q // common
    sides = [[base for base in side if not base.is_Rational] for side in (above, below)]
    for base in [base for base in below if base.is_Rational]:
        inside_p, inside_q = inside_p * int(base.q), inside_q * int(base.p)
    return Root(inside_p, inside_q, _bases(sides[0], order), _bases(sides[1], order)), p, q


def _bases(side: list[sp.Expr], order: Order) -> tuple[sp.Expr, ...]:
    return tuple(factor for factor in _sorted(list(side), order) if isinstance(factor, sp.Expr))


def _pair_logarithms(above: list[Factor], below: list[Factor]) -> None:
    """Join log(x)/log(2) into the logarithm to base 2."""
    for under in [f for f in below if isinstance(f, sp.log) and f.args[0].is_Integer]:
        for over in above:
            if isinstance(over, sp.log) and not over.args[0].is_number:
                above[above.index(over)] = LogBase(over.args[0], under.args[0])
                below.remove(under)
                break


def _sorted(factors: list[Factor], order: Order) -> tuple[Factor, ...]:
    if len(factors) < 2:
        return tuple(factors)
    present = {factor.name for factor in factors if isinstance(factor, sp.Symbol)}
    before = {names: name for names, name in order.sums if name in present}
    return tuple(sorted(factors, key=lambda factor: _key(factor, order, before)))


def _key(factor: Factor, order: Order, before: dict[frozenset[str], str]) -> tuple[int, Key, int, str]:
    """Numbers, symbols (and sums that were written before one), sums, functions, the root."""
    if isinstance(factor, Root) and not (factor.above or factor.below):
        return (0, _END, 1, "")
    if isinstance(factor, Root | LogBase):
        return (4 if isinstance(factor, Root) else 3, _END, 0, _name(factor))
    base, _ = factor.as_base_exp()
    if base.is_number:
        return (0, _END, 0, _name(factor))
    if base.is_Symbol:
        return (1, factor_key(base.name, order), 1, _name(factor))
    if factor.is_Add:
        follower = before.get(frozenset(s.name for s in factor.free_symbols))
        if follower is not None:
            return (1, factor_key(follower, order), 0, "")
    names = [factor_key(s.name, order) for s in base.free_symbols]
    return (2 if base.is_Add else 3, min(names, default=_END), 0, _name(factor))


def signed_sum(pieces: Iterable[str]) -> str:
    """Return printed terms as a sum; a term that begins with a minus is subtracted."""
    first, *others = pieces
    return first + "".join(f" - {each[1:]}" if each.startswith("-") else f" + {each}" for each in others)


@lru_cache(maxsize=16384)
def _name(factor: Factor) -> str:
    """Return what settles the place of formulas that are alike otherwise; a long one is not written out for that."""
    if isinstance(factor, sp.Expr) and any(n > LONG for n, _ in enumerate(sp.preorder_traversal(factor))):
        return " ".join(islice(sorted(map(str, factor.free_symbols)), LONG))
    return str(factor)
