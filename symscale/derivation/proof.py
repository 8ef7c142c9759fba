"""Proofs of steps: every kind of step is checked by a way that does not share its algebra."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence

import sympy as sp

from symscale.derivation.points import Point, at_least_two, meeting, random_point, walked
from symscale.errors import StepError, UndecidedError, UnitError
from symscale.frozen import dataclass
from symscale.notation.text import relation_text, to_text
from symscale.quantity import PURE, Dimension, check, dimension_of, parse_unit, table_dimensions
from symscale.solve.bounds import bounds
from symscale.solve.exact import value_at
from symscale.solve.limits import Approximation
from symscale.solve.relation import Case, Interval, Relation, Solution, sign_at, sign_of_number

SAMPLES = 3
ATTEMPTS = 40
QUICK = 12
UNDEFINED = (sp.nan, sp.zoo, sp.oo)


def differ(found: sp.Expr, wanted: sp.Expr) -> bool:
    """Say whether two values differ; roots that are not real, outside a formula's conditions, compare as they are."""
    try:
        return sign_of_number(found, wanted) != 0
    except UndecidedError:
        left, right = found.evalf(40), wanted.evalf(40)
        if left.is_real and right.is_real:
            raise
        return bool(abs(left - right) > sp.Rational(1, 10**30) * abs(right))


def fail(what: str, equation: Relation) -> None:
    """Raise StepError naming the equation."""
    raise StepError(f"{what}: {relation_text(equation.lhs, equation.op, equation.rhs)}")


def agree(found: sp.Expr, wanted: sp.Expr, rng: random.Random, from_two: frozenset[sp.Symbol] = frozenset()) -> bool:
    """Say whether two expressions agree at random exact points, those left out where one has no finite value.

    Symbols that count `from_two` are never less there.
    """
    symbols = found.free_symbols | wanted.free_symbols
    one = found == wanted  # which is left to show is that it has a value at all
    tested = 0
    for _ in range(40 * SAMPLES):
        if tested == (1 if one else SAMPLES):
            return True
        point = at_least_two(random_point(symbols, rng), from_two)
        left = value_at(found, point)
        right = left if one else value_at(wanted, point)
        if left.has(*UNDEFINED) or right.has(*UNDEFINED):
            continue
        if not one and differ(left, right):
            return False
        tested += 1
    raise StepError(f"Too few random points have a finite value of {to_text(found)} to check it.")


@dataclass(frozen=True)
class Equal:
    """Each equation's right side equals an expression found in another way, at random exact points."""

    others: tuple[sp.Expr, ...]
    at_least_two: frozenset[sp.Symbol] = frozenset()
    name: str = "equal at random exact points"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the two differ."""
        rng = random.Random(seed)
        if len(self.others) != len(equations):
            raise StepError("A step states more equations than it proves.")
        for equation, other in zip(equations, self.others, strict=True):
            if not agree(equation.rhs, other, rng, self.at_least_two):
                fail("Not equal at a random point", equation)


@dataclass(frozen=True)
class Substituted:
    """Each equation is an earlier relation with symbols replaced: both decide alike at random points."""

    before: tuple[Relation, ...]
    values: tuple[tuple[sp.Expr, sp.Expr], ...]
    name: str = "agrees with the step before at random exact points"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a side differs."""
        rng = random.Random(seed)
        if len(self.before) != len(equations):
            raise StepError("A step states more equations than it proves.")
        for equation, before in zip(equations, self.before, strict=True):
            wanted = before.subs(dict(self.values))
            for side, other in ((equation.lhs, wanted.lhs), (equation.rhs, wanted.rhs)):
                if not agree(side, other, rng):
                    fail("The substitution does not give this", equation)


@dataclass(frozen=True)
class InLimit:
    """Approximations: the ratio exact/approximate tends to 1 in the named limit, and something was dropped."""

    found: tuple[Approximation, ...]
    name: str = "the ratio to the exact form tends to 1 in the limit"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the ratio does not tend to 1, or the step states something else."""
        rng = random.Random(seed)
        if not any(each.dropped for each in self.found):
            raise StepError("An approximation that drops nothing is no approximation.")
        for equation, each in zip(equations, self.found, strict=True):
            sides = [side for limit in each.limits for side in (limit.small, *limit.large)]
            symbols = set().union(*(part.free_symbols for part in (each.exact, each.approximate, *sides)))
            point = random_point(symbols, rng)
            if sign_of_number(value_at(equation.rhs, point), value_at(each.approximate, point)) != 0:
                fail("Not the approximation that was derived", equation)
            for by_growing in (False, True):
                far = self._at(each, point, sp.Rational(1, 10**6), by_growing)
                near = self._at(each, point, sp.Rational(1, 10**9), by_growing)
                if not (abs(near) <= abs(far) and abs(near) < sp.Rational(1, 100)):
                    fail("The ratio to the exact form does not tend to 1", equation)

    @staticmethod
    def _at(each: Approximation, point: Point, tiny: sp.Rational, by_growing: bool) -> sp.Expr:
        """Return exact/approximate − 1 where every limit holds by the factor `tiny`: by small lefts or large rights."""
        moved = dict(point)
        for _ in each.limits:
            for limit in each.limits:
                for large in limit.large:
                    over = value_at(limit.small / large, moved) / tiny
                    if over <= 1:
                        continue
                    grow = by_growing or limit.small == 1
                    name = _above(large if grow else limit.small)
                    moved[name] = sp.ceiling(moved[name] * over) if grow else moved[name] / over
        ratio = value_at(each.exact, moved) / value_at(each.approximate, moved)
        return (ratio - 1).evalf(30)


def _above(side: sp.Expr) -> sp.Symbol:
    """Return the first symbol above the line."""
    return min(sp.numer(sp.together(side)).free_symbols, key=str)


@dataclass(frozen=True)
class Solved:
    """A threshold: on both sides of it, at random exact points, it decides as the relation it solves."""

    solution: Solution
    unknown: sp.Expr
    conditions: tuple[Relation, ...] = ()
    at_least_two: frozenset[sp.Symbol] = frozenset()
    name: str = "decides as the relation does on both sides of the border"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the answer and the question differ."""
        rng = random.Random(seed)
        question = self.solution.relation
        tested = 0
        symbols = {*question.free_symbols, *(s for each in equations for s in each.free_symbols)}
        borders = [Relation(each.rhs, ">", sp.S.Zero) for each in equations]
        for attempt in range(ATTEMPTS):
            if tested == SAMPLES:
                break
            start = random_point(symbols, rng)
            if attempt < QUICK:
                point = walked(self.conditions, start, self.at_least_two, rng)
            else:
                point = meeting((*self.conditions, *borders), start, self.at_least_two, rng)
            if point is not None:
                tested += self._agrees(question, equations, point)
        if tested < SAMPLES:
            raise StepError("The conditions of a solution were met by too few random points to check it.")

    def _agrees(self, question: Relation, equations: Sequence[Relation], point: Point) -> int:
        borders = [_nearby(equation.rhs, point) for equation in equations]
        if any(border <= 0 for border in borders):
            return 0
        for equation, border in zip(equations, borders, strict=True):
            for factor in (sp.Rational(9, 10), sp.Rational(11, 10)):
                moved = self._moved(point, border * factor)
                if all(each.holds(moved) for each in equations) != question.holds(moved):
                    fail("The answer and the question differ beside the border", equation)
        return 1

    def _moved(self, point: Point, value: sp.Expr) -> Point:
        """Return the point with the unknown (a symbol, or a ratio by its numerator) set to `value`."""
        unknown = self.unknown
        symbol = unknown if unknown.is_Symbol else sorted(unknown.as_numer_denom()[0].free_symbols, key=str)[0]
        rest = unknown.xreplace({symbol: sp.S.One}).xreplace(point)
        return {**point, symbol: value / rest}


@dataclass(frozen=True)
class Covers:
    """Cases: at random exact points exactly one case applies, and it decides as the relation does."""

    solution: Solution
    at_least_two: frozenset[sp.Symbol] = frozenset()
    name: str = "the cases cover all sizes and decide as the relation does"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where no case or two apply, or the answer and the question differ."""
        rng = random.Random(seed)
        question, unknown = self.solution.relation, self.solution.unknown
        symbols = question.free_symbols | unknown.free_symbols
        for _ in range(SAMPLES):
            point = at_least_two(random_point(symbols, rng), self.at_least_two)
            cases = [case for case in self.solution.cases if all(each.holds(point) for each in case.when)]
            if len(cases) != 1:
                fail(f"{len(cases)} cases apply at a random point", question)
            here = unknown.xreplace(point)
            if any(_inside(each, here, point) for each in cases[0].intervals) != question.holds(point):
                fail("The answer and the question differ at a random point", question)


def _nearby(border: sp.Expr, point: Point) -> sp.Rational:
    """Return a rational number close to a border, beside which any rational point will do; 0 or less if that is."""
    found = bounds(border, point)
    if found is not None and found[1] - found[0] < abs(found[0]) / 10**6:
        return sp.Rational(found[0])
    value = value_at(border, point)
    if value.is_Rational or sign_of_number(value) <= 0:
        return value if value.is_Rational else sp.S.Zero
    return sp.Rational(value.evalf(20))


def _inside(interval: Interval, here: sp.Expr, point: Point) -> bool:
    low = sign_at(here, interval.lo, point)
    above = low > 0 or (low == 0 and not interval.lo_open)
    if interval.hi == sp.oo:
        return above
    high = sign_at(interval.hi, here, point)
    return above and (high > 0 or (high == 0 and not interval.hi_open))


@dataclass(frozen=True)
class Dimensioned:
    """Dimensions: every right side is in `unit`, or has the dimension of its left side; bytes are no seconds."""

    sides: tuple[tuple[sp.Expr, sp.Expr], ...] = ()
    unit: str = ""
    counts: frozenset[sp.Symbol] = frozenset()
    name: str = "dimensions agree, in byte and second"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where bytes meet seconds."""
        pairs = self.sides or tuple((each.lhs, each.rhs) for each in equations)
        try:
            for lhs, rhs in pairs:
                if rhs == 0:  # nothing, in any unit
                    continue
                if self.unit:
                    found = dimension_of(rhs, known_dimensions(rhs, counts=self.counts), show=to_text)
                    if found != parse_unit(self.unit).dimension:
                        raise StepError(f"{to_text(lhs)} is not in {self.unit}.")
                else:
                    check(lhs, rhs, known_dimensions(lhs, rhs, counts=self.counts), show=to_text)
        except UnitError as error:
            raise StepError(str(error)) from error


def known_dimensions(*expressions: sp.Expr, counts: Collection[sp.Symbol] = ()) -> dict[str, Dimension]:
    """Return the dimensions of the symbols: the table's, and of its families b_In (bytes), C_int8, W_x (rates).

    `counts` are sizes of a program, pure numbers whatever their name.
    """
    table = table_dimensions()
    known = dict(table)
    for symbol in (s for each in expressions for s in each.free_symbols):
        stem = symbol.name.partition("_")[0]
        if symbol in counts:
            known[symbol.name] = PURE
        elif symbol.name not in table and stem in ("b", "C", "W"):
            known[symbol.name] = table[stem]
    return known


@dataclass(frozen=True)
class Minimal:
    """An optimum: no random feasible neighbour is better than the stated point."""

    objective: sp.Expr
    variable: sp.Symbol
    name: str = "no random neighbour is better"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a neighbour is better."""
        rng = random.Random(seed)
        best = equations[0].rhs
        for _ in range(SAMPLES):
            point = random_point((self.objective.free_symbols | best.free_symbols) - {self.variable}, rng)
            at = _nearby(best, point)
            value = value_at(self.objective, {**point, self.variable: at})
            for factor in (sp.Rational(1, 2), sp.Rational(99, 100), sp.Rational(101, 100), sp.Integer(2)):
                other = value_at(self.objective, {**point, self.variable: at * factor})
                if sign_of_number(other - value) < 0:
                    fail("A neighbour is better than this optimum", equations[0])


@dataclass(frozen=True)
class Evaluated:
    """Numbers: each right side is the value of an expression, computed again with plain fractions or floats.

    `on` names the chip that some of the values are of, `kind` the dtype whose peak is C.
    """

    expressions: tuple[sp.Expr, ...]
    values: tuple[tuple[sp.Symbol, sp.Expr], ...]
    on: str = ""
    kind: str = ""
    name: str = "evaluated again in another arithmetic"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the numbers differ."""
        rng = random.Random(seed)
        known = dict(self.values)
        for equation, expression in zip(equations, self.expressions, strict=True):
            found, wanted = _somewhere(equation.rhs, expression, known, rng)
            if abs(found - wanted) > 1e-9 * max(abs(found), abs(wanted)):
                fail("The number is not the value of its formula", equation)


def _somewhere(
    expr: sp.Expr, other: sp.Expr, known: Mapping[sp.Symbol, sp.Expr], rng: random.Random
) -> tuple[float, float]:
    """Return two values at a random point where both are real: a root is not, outside a formula's conditions."""
    free = (expr.free_symbols | other.free_symbols) - set(known)
    for _ in range(ATTEMPTS if free else 1):
        point = {**random_point(free, rng), **known}
        values = float_value(expr, point), float_value(other, point)
        if not any(math.isnan(each) for each in values):
            return values
    raise StepError(f"Too few random points have a real value of {to_text(expr)} to check it.")


@dataclass(frozen=True)
class Settled:
    """Numbers decide conditions: at random points the cases left, with numbers in them, say what those before say."""

    before: tuple[Case, ...]
    left: tuple[Case, ...]
    values: tuple[tuple[sp.Symbol, sp.Expr], ...]
    at_least_two: frozenset[sp.Symbol] = frozenset()
    name: str = "the cases left out are refuted by the numbers, the others are the same with numbers"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError if a case was left out whose conditions hold, or one says something else in numbers."""
        rng = random.Random(seed)
        known = dict(self.values)
        ends = [end for case in self.before for each in case.intervals for end in (each.lo, each.hi)]
        conditions = [each for case in self.before for each in case.when]
        free = {s for each in (*conditions, *ends) for s in each.free_symbols} - set(known)
        for _ in range(4 * SAMPLES):
            point = {**at_least_two(random_point(free, rng), self.at_least_two), **known}
            self._agrees(point)

    def _agrees(self, point: Mapping[sp.Symbol, sp.Expr]) -> None:
        here = [case for case in self.before if _float_applies(case, point)]
        numeric = [case for case in self.left if _float_applies(case, point)]
        if here and len(numeric) != 1:
            raise StepError("A case was kept or left out against its own conditions.")
        if not all(_same_intervals(case, numeric[0], point) for case in here):
            raise StepError("A case says something else with the numbers put in.")


def _float_applies(case: Case, point: Mapping[sp.Symbol, sp.Expr]) -> bool:
    return all(_float_holds(each, point) for each in case.when)


def _same_intervals(case: Case, other: Case, point: Mapping[sp.Symbol, sp.Expr]) -> bool:
    ends = [[end for each in one.intervals for end in (each.lo, each.hi)] for one in (case, other)]
    if len(ends[0]) != len(ends[1]):
        return False
    for left, right in zip(*ends, strict=True):
        if sp.oo in (left, right):
            if left != right:
                return False
            continue
        found, wanted = float_value(left, point), float_value(right, point)
        if abs(found - wanted) > 1e-9 * max(abs(found), abs(wanted)):
            return False
    return True


@dataclass(frozen=True)
class Longest:
    """What takes the longest of several, computed again with floats."""

    parts: tuple[tuple[str, sp.Expr], ...]
    values: tuple[tuple[sp.Symbol, sp.Expr], ...]
    longest: str
    name: str = "what takes the longest, evaluated again in another arithmetic"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where something else takes longer."""
        times = {word: float_value(part, dict(self.values)) for word, part in self.parts}
        if times[self.longest] < max(times.values()) * (1 - 1e-9):
            raise StepError(f"{self.longest} does not take the longest.")


def _float_holds(each: Relation, point: Mapping[sp.Symbol, sp.Expr]) -> bool:
    lhs, rhs = float_value(each.lhs, point), float_value(each.rhs, point)
    return {"<": lhs < rhs, "<=": lhs <= rhs, ">": lhs > rhs, ">=": lhs >= rhs, "==": lhs == rhs}[each.op]


def float_value(expr: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> float:
    """Evaluate with Python floats, node by node: the judge of exact evaluation; nan where nothing real is there.

    What is too large for a float, or divided by zero, is infinite.
    """
    if expr.is_Symbol:
        return float(point[expr])
    if expr.is_number and not expr.args:
        return float(expr)
    parts = [float_value(each, point) for each in expr.args]
    if expr.is_Add:
        return math.fsum(parts)
    if expr.is_Mul:
        return math.prod(parts)
    if expr.is_Pow:
        return _power(*parts)
    if isinstance(expr, sp.Max | sp.Min):
        return max(parts) if isinstance(expr, sp.Max) else min(parts)
    if isinstance(expr, sp.ceiling | sp.floor):
        return float(math.ceil(parts[0]) if isinstance(expr, sp.ceiling) else math.floor(parts[0]))
    if isinstance(expr, sp.log):
        return math.log(*parts) if min(parts) > 0 else -math.inf if parts[0] == 0 else math.nan
    raise StepError(f"No second arithmetic for {to_text(expr)}.")


def _power(base: float, exponent: float) -> float:
    if base < 0 and exponent % 1:
        return math.nan
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return math.inf
