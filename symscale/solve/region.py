"""A conjunction of conditions on the positive symbols: met with one more, refuted, and rid of redundancy.

A monomial condition is linear in logarithms, so contradiction and redundancy are decided exactly by
Fourier-Motzkin elimination over the rationals; for a sum below a monomial each term is below it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import lcm, log, prod
from typing import Any

import sympy as sp
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.frozen import dataclass
from symscale.solve.relation import MASKS, OPERATORS, Relation
from symscale.solve.terms import Monomial, compare, compare_sides, monomial, sign_of, signed_terms

_MOST_ROWS = 200


@dataclass(frozen=True)
class Region:
    """Conditions in order, each as (lhs, rhs, allowed signs of lhs - rhs)."""

    conditions: tuple[tuple[sp.Expr, sp.Expr, int], ...] = ()

    def mask(self, lhs: sp.Expr, rhs: sp.Expr) -> int:
        """Return the signs of `lhs - rhs` that the conditions on exactly this pair leave."""
        for left, right, mask in self.conditions:
            if left == lhs and right == rhs:
                return mask
        return 7

    def meet(self, relation: Relation | bool) -> Region | None:
        """Return the region inside which the relation holds too, or None if there is none."""
        if isinstance(relation, bool):
            return self if relation else None
        return self.meet_signs(relation.lhs, relation.rhs, MASKS[relation.op])

    def meet_signs(self, lhs: sp.Expr, rhs: sp.Expr, mask: int) -> Region | None:
        """Return the part of the region where the sign of `lhs - rhs` is one of `mask`, or None."""
        before = self.mask(lhs, rhs)
        after = before & mask
        if after == before:
            return self
        if not after:
            return None
        # a narrowed condition keeps its place: later ones may only make sense under it
        replaced = tuple((*c[:2], after) if c[:2] == (lhs, rhs) else c for c in self.conditions)
        region = Region(replaced if before != 7 else (*self.conditions, (lhs, rhs, after)))
        return region if len(region.conditions) == 1 or feasible(region) else None

    def join(self, other: Region) -> Region | None:
        """Return the intersection of two regions, or None."""
        region: Region | None = self
        for condition in other.conditions:
            if region is None:
                return None
            region = region.meet_signs(*condition)
        return region

    def relations(self) -> Iterator[tuple[Relation, ...]]:
        """Yield the conditions as relations; a condition `!=` makes two conjunctions of one."""
        for position, (lhs, rhs, mask) in enumerate(self.conditions):
            if mask == 5:
                for side in (1, 4):
                    changed = list(self.conditions)
                    changed[position] = (lhs, rhs, side)
                    yield from Region(tuple(changed)).relations()
                return
        yield tuple(Relation(lhs, OPERATORS[mask], rhs) for lhs, rhs, mask in self.conditions)


EVERYWHERE = Region()


def order(region: Region, left: sp.Expr, right: sp.Expr) -> int:
    """Return the signs that `left - right` can have in the region, as a mask (1 below, 2 equal, 4 above).

    Both are positive in the region, or 0 or oo.
    """
    if left == right:
        return 2
    if left is sp.oo or right == 0:
        return 4
    if right is sp.oo or left == 0:
        return 1
    if isinstance(left, MinMaxBase):
        return _order_of_extremum(isinstance(left, sp.Max), [order(region, a, right) for a in left.args])
    if isinstance(right, MinMaxBase):
        turned = _order_of_extremum(isinstance(right, sp.Max), [_turned(order(region, left, a)) for a in right.args])
        return _turned(turned)
    return _possible(region, left, right)


def _turned(mask: int) -> int:
    return (mask & 2) | (mask & 1) << 2 | mask >> 2


def _order_of_extremum(is_max: bool, masks: list[int]) -> int:
    reached, passed = (4, 1) if is_max else (1, 4)
    if any(mask == reached for mask in masks):
        return reached
    found = passed if all(mask & passed for mask in masks) else 0
    return found | (2 if any(mask & 2 for mask in masks) else 0) | (reached if any(m & reached for m in masks) else 0)


def _possible(region: Region, left: sp.Expr, right: sp.Expr) -> int:
    relation = relate(left, right)
    if isinstance(relation, bool):
        return 1 if relation else 2 if relate(left, right, "<=") else 4
    mask = sum(bit for bit in (1, 2, 4) if region.meet_signs(relation.lhs, relation.rhs, bit) is not None)
    return _turned(mask) if relation.op == ">" else mask


def relate(left: sp.Expr, right: sp.Expr, op: str = "<") -> Relation | bool:
    """Return `left op right` in readable form, for two expressions that are positive where the question arises."""
    if _is_difference(left) or _is_difference(right):
        (above, below), (other_above, other_below) = left.as_numer_denom(), right.as_numer_denom()
        sides = [above, below, other_above, other_below]
        if all(_small(side) for side in sides):
            return compare(signed_terms(sp.expand(above * other_below - other_above * below)), op)
    if left.is_Add or right.is_Add:
        return compare(signed_terms(left - right), op)
    return compare_sides([left], op, [right])


def _is_difference(expr: sp.Expr) -> bool:
    """Whether a difference is a factor; it is positive in the region, but that does not show in its terms."""
    bases = (factor.as_base_exp()[0] for factor in sp.Mul.make_args(expr))
    if not any(base.is_Add and sign_of(base) != 1 for base in bases):
        return False
    return all(power.exp.is_Integer for power in expr.atoms(sp.Pow))


def _small(side: sp.Expr) -> bool:
    factors = sp.Mul.make_args(side)
    sums = [factor for factor in factors if factor.is_Add or (factor.is_Pow and factor.base.is_Add)]
    return len(sums) < 3 and all(factor.is_Add and len(factor.args) < 6 for factor in sums)


def lean(region: Region) -> Region:
    """Return the same region without the conditions that follow from the others."""
    conditions = list(region.conditions)
    for condition in reversed(region.conditions):
        position = conditions.index(condition)
        # a later condition that may only make sense under this one cannot be what implies it
        later = [c for c in conditions[position + 1 :] if _always_meant(*c[:2])]
        rest = Region((*conditions[:position], *later))
        lhs, rhs, mask = condition
        if rest.conditions and all(rest.meet_signs(lhs, rhs, bit) is None for bit in (1, 2, 4) if not mask & bit):
            del conditions[position]
    return Region(tuple(conditions))


def _always_meant(lhs: sp.Expr, rhs: sp.Expr) -> bool:
    """Tell whether both sides are products of what is positive whatever the symbols are."""
    return all(sign_of(base) == 1 for side in (lhs, rhs) for base in monomial(side).powers)


# ---------------------------------------------------------------- linear in logarithms


@dataclass(frozen=True)
class Row:
    """`sum(exponent * log(base)) + log(number) > 0`, or >= 0 where not strict."""

    exponents: tuple[tuple[sp.Expr, Fraction], ...]
    number: tuple[tuple[int, Fraction], ...]
    strict: bool


@lru_cache(maxsize=4096)
def feasible(region: Region) -> bool:
    """Return False if the conditions contradict each other; True if they do not, or if that is not seen."""
    rows: list[Row] = []
    for lhs, rhs, mask in region.conditions:
        if rhs != 0 and mask != 5:
            rows += _rows(lhs, rhs, mask)
    bases = {base for row in rows for base, _ in row.exponents}
    for base in list(bases):
        extra = _rows_of_sum(base)
        rows += extra
        bases |= {b for row in extra for b, _ in row.exponents}
    return _consistent(rows, bases)


def _row(ratio: Monomial, strict: bool) -> Row:
    number: dict[int, Fraction] = {}
    exponents: list[tuple[sp.Expr, Fraction]] = []
    for base, power in ratio.powers.items():
        fraction = Fraction(int(power.p), int(power.q))
        if base.is_Integer:
            number[int(base)] = number.get(int(base), Fraction(0)) + fraction
        else:
            exponents.append((base, fraction))
    for value, sign in ((int(ratio.coefficient.p), 1), (int(ratio.coefficient.q), -1)):
        if value != 1:
            number[value] = number.get(value, Fraction(0)) + sign
    return Row(tuple(exponents), tuple(number.items()), strict)


@lru_cache(maxsize=4096)
def _rows(lhs: sp.Expr, rhs: sp.Expr, mask: int) -> tuple[Row, ...]:
    ratio = monomial(lhs).over(monomial(rhs))
    if ratio.coefficient <= 0:
        return ()
    inverse = Monomial(sp.S.One, {}).over(ratio)
    rows = []
    if not mask & 1:
        rows.append(_row(ratio, not mask & 2))
    if not mask & 4:
        rows.append(_row(inverse, not mask & 2))
    return tuple(rows)


@lru_cache(maxsize=4096)
def _rows_of_sum(base: sp.Expr) -> tuple[Row, ...]:
    if not base.is_Add or len(base.args) > 8:
        return ()
    plus = [t for t in base.args if sign_of(t) == 1]
    whole = Monomial(sp.S.One, {base: sp.S.One})
    if len(plus) == len(base.args):
        return tuple(_row(whole.over(monomial(term)), True) for term in plus)
    if len(plus) == 1 and all(sign_of(t) == -1 for t in base.args if t not in plus):
        return (_row(monomial(plus[0]).over(whole), True),)
    return ()


def _consistent(rows: list[Row], bases: set[sp.Expr]) -> bool:
    current = set(rows)
    for base in sorted(bases, key=lambda b: sum(1 for row in rows if any(b == x for x, _ in row.exponents))):
        up: list[tuple[Row, Fraction]] = []
        down: list[tuple[Row, Fraction]] = []
        free: set[Row] = set()
        for row in current:
            power = dict(row.exponents).get(base)
            if power is None:
                free.add(row)
            else:
                (up if power > 0 else down).append((row, abs(power)))
        if len(free) + len(up) * len(down) > _MOST_ROWS:
            return True  # too many to decide: claim nothing
        current = free | {_combined(a, 1 / p, b, 1 / q) for a, p in up for b, q in down}
        if any(not row.exponents and not _true(row) for row in current):
            return False
    return all(_true(row) for row in current if not row.exponents)


def _combined(first: Row, scale: Fraction, second: Row, other: Fraction) -> Row:
    return Row(
        _weighted(first.exponents, scale, second.exponents, other),
        _weighted(first.number, scale, second.number, other),
        first.strict or second.strict,
    )


def _weighted(
    first: tuple[tuple[Any, Fraction], ...],
    scale: Fraction,
    second: tuple[tuple[Any, Fraction], ...],
    other: Fraction,
) -> tuple[tuple[Any, Fraction], ...]:
    total = {base: power * scale for base, power in first}
    for base, power in second:
        total[base] = total.get(base, Fraction(0)) + power * other
    return tuple(sorted(((b, p) for b, p in total.items() if p), key=lambda item: hash(item[0])))


def _true(row: Row) -> bool:
    size = sum(float(power) * log(value) for value, power in row.number)
    if abs(size) > 1e-9:
        return size > 0
    scale = lcm(*(power.denominator for _, power in row.number))
    above = prod(value ** int(power * scale) for value, power in row.number if power > 0)
    below = prod(value ** int(-power * scale) for value, power in row.number if power < 0)
    return above > below or (above == below and not row.strict)
