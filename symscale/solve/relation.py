"""The answer's own words: relations, intervals, cases and solutions, with exact decisions at a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import sympy as sp

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.shown import Shown
from symscale.solve.bounds import apart
from symscale.solve.exact import value_at
from symscale.vocabulary import fresh

Point: TypeAlias = Mapping[sp.Symbol, sp.Rational]

#: Each operator as the set of signs of lhs - rhs it allows: 1 for <, 2 for ==, 4 for >.
MASKS = {"<": 1, "==": 2, "<=": 3, ">": 4, ">=": 6}
OPERATORS = {mask: op for op, mask in MASKS.items()}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


@dataclass(frozen=True)
class Relation(Shown):
    """`lhs op rhs` with op one of `< <= > >= ==`, kept as written (sympy's own relations evaluate at once)."""

    lhs: sp.Expr
    op: str
    rhs: sp.Expr

    def __post_init__(self) -> None:
        if self.op not in MASKS:
            raise UndecidedError(f"unknown relation {self.op!r}", hint="use one of <, <=, >, >=, ==")

    def holds(self, values: Point) -> bool:
        """Return whether the relation is true at an exact point; radicals, logs and Max are decided exactly."""
        sign = apart(self.lhs, self.rhs, values)
        if not sign:
            lhs, rhs = value_at(self.lhs, values), value_at(self.rhs, values)
            if lhs.has(sp.zoo, sp.nan) or rhs.has(sp.zoo, sp.nan):
                return False
            sign = sign_of_number(lhs, rhs)
        return bool(MASKS[self.op] & 1 << (sign + 1))

    def negated(self) -> Relation:
        """Return the relation that holds exactly where this one does not; an equality has no such relation."""
        if self.op == "==":
            raise UndecidedError(f"the negation of {self} is not one relation")
        return replace(self, op=OPERATORS[7 - MASKS[self.op]])

    def subs(self, values: Mapping[sp.Expr, sp.Expr]) -> Relation:
        """Return the relation with expressions replaced on both sides; symbols at once, which is much quicker."""
        if all(each.is_Symbol for each in values):
            return Relation(self.lhs.xreplace(dict(values)), self.op, self.rhs.xreplace(dict(values)))
        return Relation(self.lhs.subs(values), self.op, self.rhs.subs(values))

    @property
    def free_symbols(self) -> frozenset[sp.Symbol]:
        """The symbols of both sides."""
        return frozenset(self.lhs.free_symbols | self.rhs.free_symbols)

    def __str__(self) -> str:
        return f"{self.lhs} {self.op} {self.rhs}"


@dataclass(frozen=True)
class Interval(Shown):
    """The values from `lo` to `hi`, each end in or out; lo may be 0 and hi may be oo, both of which are out."""

    lo: sp.Expr
    lo_open: bool
    hi: sp.Expr
    hi_open: bool

    def contains(self, value: sp.Expr, values: Point) -> bool:
        """Return whether a positive exact number lies in the interval, with `values` put into its ends."""
        low, high = sign_at(value, self.lo, values), sign_at(value, self.hi, values)
        return (low > 0 or (low == 0 and not self.lo_open)) and (high < 0 or (high == 0 and not self.hi_open))

    @property
    def is_point(self) -> bool:
        """Whether the interval is a single value."""
        return bool(self.lo == self.hi)

    @property
    def two_sided(self) -> bool:
        """Whether there is a border below and one above."""
        return bool(self.lo != 0 and self.hi != sp.oo)

    def __str__(self) -> str:
        return f"{'(' if self.lo_open else '['}{self.lo}, {self.hi}{')' if self.hi_open else ']'}"


ALWAYS = Interval(sp.S.Zero, False, sp.oo, True)


@dataclass(frozen=True)
class Case(Shown):
    """Under all of `when` the unknown lies in one of `intervals`; no interval means never.

    Conditions are to be read from left to right: a later one may only make sense where the earlier ones hold.
    """

    when: tuple[Relation, ...]
    intervals: tuple[Interval, ...]

    def applies(self, values: Point) -> bool:
        """Return whether every condition holds at an exact point."""
        return all(condition.holds(values) for condition in self.when)

    @property
    def never(self) -> bool:
        """Whether no value of the unknown will do."""
        return not self.intervals

    @property
    def always(self) -> bool:
        """Whether every positive value of the unknown will do."""
        return self.intervals == (ALWAYS,)

    def __str__(self) -> str:
        found = "never" if self.never else "always" if self.always else " or ".join(map(str, self.intervals))
        return f"{' and '.join(map(str, self.when))}: {found}" if self.when else found


@dataclass(frozen=True)
class Solution(Shown):
    """Where `relation` holds, as disjoint cases that cover all positive values of the other symbols."""

    relation: Relation
    unknown: sp.Expr
    cases: tuple[Case, ...]
    exact: bool = True
    assumptions: tuple[str | Relation, ...] = ()

    def contains(self, value: sp.Expr, values: Point) -> bool:
        """Return whether the unknown may take this value at an exact point of the other symbols."""
        for case in self.cases:
            if case.applies(values):
                return any(interval.contains(value, values) for interval in case.intervals)
        return False

    def __str__(self) -> str:
        return "\n".join(f"{self.unknown} in {case}" for case in self.cases)


def sign_at(left: sp.Expr, right: sp.Expr, values: Point) -> int:
    """Return the sign of `left - right` at an exact point, exactly."""
    return apart(left, right, values) or sign_of_number(value_at(left, values), value_at(right, values))


def sign_of_number(left: sp.Expr, right: sp.Expr = sp.S.Zero) -> int:
    """Return the sign of `left - right` for two real numbers, exactly; infinity compares as expected."""
    if left.is_Rational and right.is_Rational:
        a, b = left.p * right.q, right.p * left.q
        return int(a > b) - int(a < b)
    if left is right or left == right:
        return 0
    if sp.oo in (left, right):
        return 1 if left is sp.oo else -1
    difference = left - right
    if difference.is_Rational:
        return int(difference.p > 0) - int(difference.p < 0)
    return _sign_by_digits(difference)


def _sign_by_digits(number: sp.Expr) -> int:
    for digits in (15, 60, 240):
        value = number.evalf(digits)
        real, imaginary = value.as_real_imag()
        if imaginary.is_zero is False and abs(imaginary) > abs(real) * sp.Rational(1, 10**10):
            raise UndecidedError(f"{number} is not real")
        # sympy marks a value without a single certain digit by the precision 1
        if getattr(real, "_prec", 1) > 1 and real != 0:
            return 1 if real > 0 else -1
        if digits == 15 and _vanishes(number):
            return 0
    raise UndecidedError(f"the sign of {number} is beyond 240 digits")


def _vanishes(number: sp.Expr) -> bool:
    number = _without_logarithmic_powers(number)
    if number.is_Rational:
        return bool(number == 0)
    if number.is_algebraic and not number.has(sp.CRootOf, sp.log):
        unknown = fresh("x")
        return bool(sp.minimal_polynomial(number, unknown) == unknown)
    written_out = number.expand()
    if _of_exponentials(written_out):
        return bool(written_out == 0)
    return bool(number.equals(0))


def _of_exponentials(number: sp.Expr) -> bool:
    """Return whether a number is a sum of rationals times exp of distinct rationals, which vanishes only term by term.

    This is the theorem of Lindemann and Weierstrass.
    """
    factors = [part for term in sp.Add.make_args(number) for part in sp.Mul.make_args(term)]
    return all(
        each.is_Rational or (each.as_base_exp()[0] is sp.E and each.as_base_exp()[1].is_Rational) for each in factors
    )


def _without_logarithmic_powers(number: sp.Expr) -> sp.Expr:
    """Turn a**(log(c)/log(a)) into c, which sympy leaves as it is for a rational base."""
    powers = {p: sp.exp(p.exp * sp.log(p.base)) for p in number.atoms(sp.Pow) if p.exp.has(sp.log)}
    return number.xreplace(powers) if powers else number
