"""Sums of monomials: signs, common factors, and the form in which a condition reads well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import gcd, lcm

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.frozen import dataclass
from symscale.solve.relation import MASKS, MIRROR, Relation, sign_of_number
from symscale.vocabulary import entry

Powers = dict[sp.Expr, sp.Rational]

_MOST_SPREAD = 20

_HARDWARE_STEMS = ("W_", "C_", "T_", "b_")


@dataclass(frozen=True)
class Monomial:
    """`coefficient * prod(base ** exponent)`."""

    coefficient: sp.Rational
    powers: Powers

    def expr(self) -> sp.Expr:
        """Return the product as an expression."""
        return sp.Mul(self.coefficient, *(sp.Pow(base, power) for base, power in self.powers.items()))

    def over(self, other: Monomial) -> Monomial:
        """Return the quotient of two monomials."""
        powers = dict(self.powers)
        for base, power in other.powers.items():
            rest = powers.get(base, sp.S.Zero) - power
            if rest:
                powers[base] = rest
            else:
                del powers[base]
        return Monomial(self.coefficient / other.coefficient, powers)


def monomial(term: sp.Expr) -> Monomial:
    """Split one term into its rational coefficient and the powers of its bases."""
    coefficient = sp.S.One
    powers: Powers = {}
    for factor in term.args if term.is_Mul else (term,):
        if factor.is_Rational:
            coefficient *= factor
            continue
        base, power = factor.as_base_exp() if factor.is_Pow else (factor, sp.S.One)
        if not power.is_Rational:
            base, power = factor, sp.S.One
        elif base.is_Rational and base.q != 1 and base.p == 1:
            base, power = sp.Integer(base.q), -power  # (1/2)**(1/2) as 2**(-1/2), so that equal bases meet
        elif base.is_Add and power.is_Integer and sign_of(base) == -1:
            base, coefficient = sp.Add(*(-part for part in base.args)), coefficient * (-1) ** power
        powers[base] = powers.get(base, sp.S.Zero) + power
        if not powers[base]:
            del powers[base]
    return Monomial(coefficient, powers)


@lru_cache(maxsize=4096)
def sign_of(expr: sp.Expr) -> int | None:
    """Return 1, 0 or -1 if the sign follows from all symbols being positive, else None."""
    if expr.is_Number or expr.is_NumberSymbol:
        return sign_of_number(expr)
    if expr.is_Symbol:
        return 1
    if expr.is_Mul:
        return _sign_of_product(expr.args)
    if expr.is_Pow:
        return 1 if sign_of(expr.base) == 1 and expr.exp.is_real is not False else _sign_of_power(expr)
    if expr.is_Add:
        signs = [sign_of(term) for term in expr.args]
        return 1 if 1 in signs and all(map(_nonnegative, signs, expr.args)) else _common(signs)
    if isinstance(expr, MinMaxBase):
        return _sign_of_extremum(expr)
    if isinstance(expr, sp.ceiling):
        return 1 if sign_of(expr.args[0]) == 1 else None
    if isinstance(expr, sp.exp):
        return 1
    if not expr.free_symbols and not isinstance(expr, AppliedUndef):
        return sign_of_number(expr)
    return None


def _nonnegative(sign: int | None, expr: sp.Expr) -> bool:
    if sign is not None:
        return sign >= 0
    factors = expr.args if expr.is_Mul else (expr,)
    return all(sign_of(f) == 1 or (isinstance(f, sp.floor) and sign_of(f.args[0]) == 1) for f in factors)


def _sign_of_product(factors: Iterable[sp.Expr]) -> int | None:
    result = 1
    for factor in factors:
        sign = sign_of(factor)
        if sign is None:
            return None
        result *= sign
    return result


def _sign_of_power(expr: sp.Expr) -> int | None:
    base = sign_of(expr.base)
    if not expr.free_symbols:
        return sign_of_number(expr)
    if base == -1 and expr.exp.is_Integer:
        return 1 if expr.exp % 2 == 0 else -1
    return None


def _common(signs: Sequence[int | None]) -> int | None:
    kinds = set(signs) - {0}
    if not kinds:
        return 0
    return kinds.pop() if len(kinds) == 1 else None


def _sign_of_extremum(expr: sp.Expr) -> int | None:
    signs = [sign_of(arg) for arg in expr.args]
    winner = 1 if isinstance(expr, sp.Max) else -1
    return winner if winner in signs else _common(signs)


def common_factor(terms: Sequence[Monomial]) -> Monomial:
    """Return the greatest monomial that divides every term, negative powers included."""
    numerators = gcd(*(abs(int(term.coefficient.p)) for term in terms))
    denominators = lcm(*(int(term.coefficient.q) for term in terms))
    lowest: Powers = {}
    count: dict[sp.Expr, int] = {}
    for term in terms:
        for base, power in term.powers.items():
            count[base] = count.get(base, 0) + 1
            if base not in lowest or power < lowest[base]:
                lowest[base] = power
    # a base that a term lacks counts as power 0 there
    powers = {b: p for b, p in lowest.items() if p.is_negative or count[b] == len(terms)}
    return Monomial(sp.Rational(numerators, denominators), powers)


def grouped(terms: Sequence[sp.Expr]) -> tuple[Monomial, sp.Expr]:
    """Return (common factor, rest) of a sum; the rest is 1 for a single term."""
    return _grouped([monomial(term) for term in terms])


def _grouped(parts: Sequence[Monomial]) -> tuple[Monomial, sp.Expr]:
    if len(parts) == 1:
        return parts[0], sp.S.One
    factor = common_factor(parts)
    return factor, sp.Add(*(part.over(factor).expr() for part in parts))


def tidy(terms: Sequence[sp.Expr]) -> sp.Expr:
    """Return a sum as common factor times (grouped positive part minus grouped negative part)."""
    terms = [term for term in terms if term != 0]
    if len(terms) < 2:
        return terms[0] if terms else sp.S.Zero
    parts = [monomial(term) for term in terms]
    factor = common_factor(parts)
    sides: tuple[list[Monomial], list[Monomial]] = ([], [])
    for term, part in zip(terms, parts, strict=True):
        rest = part.over(factor)
        is_minus = sign_of(term) == -1
        sides[is_minus].append(Monomial(-rest.coefficient, rest.powers) if is_minus else rest)
    plus, minus = (_joined(side) for side in sides)
    return factor.expr() * (plus - minus)


def _joined(parts: Sequence[Monomial]) -> sp.Expr:
    if not parts:
        return sp.S.Zero
    factor, rest = _grouped(parts)
    return factor.expr() * rest


def signed_terms(expr: sp.Expr) -> tuple[sp.Expr, ...]:
    """Return the terms of a sum, none of which is zero."""
    return () if expr == 0 else sp.Add.make_args(expr)


def compare(terms: Sequence[sp.Expr], op: str) -> Relation | bool:
    """Return `sum(terms) op 0` in readable form, or the truth if positivity alone decides it.

    Shapes go to the left and hardware symbols to the right, so that a condition reads D*F/(D + F) > b*C/(2*W).
    The same comparison always gives the same two sides, whichever way round it came.
    """
    signs = [sign_of(term) for term in terms]
    plus = [term for term, sign in zip(terms, signs, strict=True) if sign == 1]
    minus = [-term for term, sign in zip(terms, signs, strict=True) if sign == -1]
    if None in signs:
        return _unclear(terms, op)
    if not plus or not minus:
        return bool(MASKS[op] & 1 << (bool(plus) - bool(minus) + 1))
    return compare_sides(plus, op, minus)


#: floor(r) against 0 and ceiling(r) against 1, for a positive r, as r against 1; True: always, False: never
_FLOOR: dict[str, str | bool] = {">": ">=", "<=": "<", "==": "<", ">=": True, "<": False}
_CEILING: dict[str, str | bool] = {">": ">", "<=": "<=", "==": "<=", ">=": True, "<": False}


def _stepped(step: sp.Expr, op: str, plain: dict[str, str | bool]) -> Relation | bool:
    found = plain[op]
    return found if isinstance(found, bool) else compare(signed_terms(sp.expand(step.args[0] - 1)), found)


def _unclear(terms: Sequence[sp.Expr], op: str) -> Relation | bool:
    if len(terms) == 1:
        floors = [base for base in monomial(terms[0]).powers if sign_of(base) != 1]
        if len(floors) == 1 and isinstance(floors[0], sp.floor) and sign_of(floors[0].args[0]) == 1:
            return _stepped(floors[0], op if monomial(terms[0]).coefficient > 0 else MIRROR[op], _FLOOR)
    for sign, op_here in ((1, op), (-1, MIRROR[op])):
        if sign_of(sp.Add(*(sign * term for term in terms))) == 1:
            return bool(MASKS[op_here] & 4)
    parts = [monomial(term) for term in terms]
    shared = common_factor(parts)
    # only what is surely positive may be divided by: a floor can be 0
    kept = {base: power for base, power in shared.powers.items() if sign_of(base) == 1}
    rest = [part.over(Monomial(shared.coefficient, kept)) for part in parts]
    plus, minus = [p.expr() for p in rest if p.coefficient > 0], [-p.expr() for p in rest if p.coefficient < 0]
    if _rank(sp.Add(*plus)) < _rank(sp.Add(*minus)):
        return Relation(tidy(minus), MIRROR[op], tidy(plus))
    return Relation(tidy(plus), op, tidy(minus))


def compare_sides(plus: Sequence[sp.Expr], op: str, minus: Sequence[sp.Expr]) -> Relation | bool:
    """Return `sum(plus) op sum(minus)` in readable form; every term is known to be positive."""
    (left, left_rest), (right, right_rest) = grouped(plus), grouped(minus)
    if left_rest == right_rest:
        left_rest = right_rest = sp.S.One
    ratio = left.over(right)
    if left_rest is sp.S.One and right_rest is sp.S.One:
        if not ratio.powers:
            return bool(MASKS[op] & 1 << (sign_of_number(ratio.coefficient, sp.S.One) + 1))
        ratio = _rooted(ratio)
        if ratio.coefficient == 1 and [type(base) for base in ratio.powers] == [sp.ceiling]:
            ((step, power),) = ratio.powers.items()
            return _stepped(step, op if power > 0 else MIRROR[op], _CEILING)
    if any(base.is_Add for base in (*ratio.powers, left_rest, right_rest)):
        # terms that both sides share are cancelled: D + 1 > D says nothing
        over, under = _spread(ratio, left_rest, 1), _spread(ratio, right_rest, -1)
        if {_shape(term) for term in over} & {_shape(term) for term in under}:
            return compare(signed_terms(sp.Add(*over, *(-term for term in under))), op)
    if all(base.is_Integer for base in ratio.powers) and left_rest is right_rest is sp.S.One:
        return bool(MASKS[op] & 1 << (sign_of_number(ratio.expr(), sp.S.One) + 1))
    return _laid_out(ratio, left_rest, right_rest, op)


def _spread(ratio: Monomial, rest: sp.Expr, sign: int) -> list[sp.Expr]:
    """Return the terms of one side of `ratio * left op right` without quotients, or none if they are not few."""
    powers = {base: sign * power for base, power in ratio.powers.items() if power * sign > 0}
    sums = [base for base in powers if base.is_Add] + ([rest] if rest.is_Add else [])
    if not sums:
        return [_whole(ratio, sign) * Monomial(sp.S.One, powers).expr()]
    if len(sums) > 1 or powers.get(sums[0], 1) != 1 or len(sums[0].args) > _MOST_SPREAD:
        return []
    powers.pop(sums[0], None)
    factor = _whole(ratio, sign) * Monomial(sp.S.One, powers).expr()
    return [factor * term for term in sums[0].args]


def _whole(ratio: Monomial, sign: int) -> sp.Integer:
    return ratio.coefficient.p if sign > 0 else ratio.coefficient.q


def _shape(term: sp.Expr) -> sp.Expr:
    return term.as_coeff_Mul()[1]


def _rooted(ratio: Monomial) -> Monomial:
    powers = [p for base, p in ratio.powers.items() if not base.is_Integer]
    if not powers:
        return ratio
    step = sp.Rational(gcd(*(int(p.p) for p in powers)), lcm(*(int(p.q) for p in powers)))
    if step == 1:
        return ratio
    number = sp.Pow(ratio.coefficient, 1 / step)
    rooted = {base: power / step for base, power in ratio.powers.items()}
    extra = monomial(number)
    return Monomial(extra.coefficient, _product(rooted, extra.powers))


def _product(first: Powers, second: Powers) -> Powers:
    result = dict(first)
    for base, power in second.items():
        result[base] = result.get(base, sp.S.Zero) + power
        if not result[base]:
            del result[base]
    return result


@lru_cache(maxsize=4096)
def is_hardware(base: sp.Expr) -> bool:
    """Return whether a symbol stands for a rate, a time or a capacity of a machine, not for a size."""
    if not base.is_Symbol:
        return False
    found = entry(base.name)
    return bool(found.unit) if found else base.name.startswith(_HARDWARE_STEMS)


def _laid_out(ratio: Monomial, left: sp.Expr, right: sp.Expr, op: str) -> Relation:
    hard = {b: p for b, p in ratio.powers.items() if is_hardware(b) or b.is_Integer}
    soft = {b: p for b, p in ratio.powers.items() if b not in hard}
    # a sum reads best below: D*F/(D + F) > …, or alone on the right: d > a + c
    height = sum(soft.values(), sp.S.Zero) - int(left is not sp.S.One) + int(right is not sp.S.One)
    if not soft and left is right:
        height = sum(hard.values(), sp.S.Zero)
    if height < 0 or (height == 0 and _later(ratio, left, right)):
        powers = {b: -p for b, p in ratio.powers.items()}
        return _placed(Monomial(1 / ratio.coefficient, powers), right, left, MIRROR[op])
    return _placed(ratio, left, right, op)


def _later(ratio: Monomial, left: sp.Expr, right: sp.Expr) -> bool:
    above = sorted(_rank(b) for b, p in ratio.powers.items() if p > 0)
    below = sorted(_rank(b) for b, p in ratio.powers.items() if p < 0)
    return (above, _rank(left)) > (below, _rank(right))


def _rank(base: sp.Expr) -> tuple[int, str]:
    # printing a sum sorts its terms, which for thousands of terms costs more than the whole question
    return (len(base.args), str(base) if len(base.args) < 50 else "")


def _placed(ratio: Monomial, left: sp.Expr, right: sp.Expr, op: str) -> Relation:
    hard = {b: p for b, p in ratio.powers.items() if is_hardware(b) or b.is_Integer}
    soft = {b: p for b, p in ratio.powers.items() if b not in hard}
    named = any(p < 0 and not b.is_Integer for b, p in hard.items())
    if named and (soft or left is not right):
        lhs = Monomial(sp.S.One, soft).expr() * left / right
        rhs = Monomial(1 / ratio.coefficient, {b: -p for b, p in hard.items()}).expr()
        return Relation(lhs, op, rhs)
    above = {b: p for b, p in ratio.powers.items() if p > 0 and not b.is_Integer}
    below = {b: -p for b, p in ratio.powers.items() if b not in above}
    return Relation(Monomial(sp.S.One, above).expr() * left, op, Monomial(1 / ratio.coefficient, below).expr() * right)
