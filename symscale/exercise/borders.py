"""Answers to conditions as intervals with borders: solved, closed, put into numbers, and compared with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import sympy as sp

from symscale.errors import SymscaleError
from symscale.exercise.answers import same as same_formula
from symscale.exercise.units import CLOSE
from symscale.notation.text import to_text
from symscale.solve import conjunction, crossover, same
from symscale.solve.relation import MIRROR, Case, Interval, Relation, Solution

#: A decimal of more digits is not rounded.
MOST_DIGITS = 12
#: A relation with its border.
CLOSED = {">": ">=", "<": "<="}


def solved(stated: Sequence[Relation], unknown: sp.Expr) -> Solution:
    """Return where relations hold for an unknown, borders included. Raises SymscaleError where it cannot be decided."""
    try:
        return _solution(tuple(stated), unknown)
    except SymscaleError as error:
        raise SymscaleError(
            f"Where this holds for {to_text(unknown)} could not be decided: {error.args[0] if error.args else error}",
            hint=f"Solve it for {to_text(unknown)} first.",
        ) from error


@lru_cache(maxsize=64)
def _solution(stated: tuple[Relation, ...], unknown: sp.Expr) -> Solution:
    """Return where all relations hold, borders included."""
    whole = [Relation(each.lhs, CLOSED.get(each.op, each.op), each.rhs) for each in stated]
    try:
        answers = [crossover(each.lhs, each.op, each.rhs, unknown) for each in whole]
        cases = answers[0].cases if len(answers) == 1 else conjunction([each.cases for each in answers])
    except SymscaleError:
        # a root of what may be negative: what is solved already needs no solving
        cases = _isolated(whole, unknown)
        if not cases:
            raise
    return Solution(whole[0], unknown, cases)


def _isolated(stated: Sequence[Relation], unknown: sp.Expr) -> tuple[Case, ...]:
    """Return the interval of relations that have the unknown alone on one side, one bound on each side at most."""
    ends = {">=": sp.S.Zero, "<=": sp.oo}
    for each in stated:
        one = each if each.lhs == unknown else Relation(each.rhs, MIRROR[each.op], each.lhs)
        taken = ends.get(one.op) not in (sp.S.Zero, sp.oo)
        if one.lhs != unknown or one.op not in ends or taken or one.rhs.free_symbols & unknown.free_symbols:
            return ()
        ends[one.op] = one.rhs
    return (Case((), (Interval(ends[">="], False, ends["<="], ends["<="] == sp.oo),)),)


def put_in(solution: Solution, values: Mapping[sp.Symbol, sp.Expr]) -> Solution:
    """Return an answer with numbers for symbols, those of its unknown left."""
    point = {name: value for name, value in values.items() if name not in solution.unknown.free_symbols}
    cases = [
        Case(
            tuple(Relation(e.lhs.xreplace(point), e.op, e.rhs.xreplace(point)) for e in case.when),
            tuple(replace(e, lo=e.lo.xreplace(point), hi=e.hi.xreplace(point)) for e in case.intervals),
        )
        for case in solution.cases
    ]
    return replace(solution, cases=tuple(cases))


def closed(solution: Solution) -> Solution:
    """Return an answer with its borders in: at a border both sides are equal, and either sign may be meant."""
    cases = [replace(case, intervals=tuple(map(_with_ends, case.intervals))) for case in solution.cases]
    return replace(solution, cases=tuple(cases))


def _with_ends(interval: Interval) -> Interval:
    return replace(interval, lo_open=False, hi_open=interval.hi == sp.oo)


def of_sizes(solution: Solution) -> Solution:
    """Return an answer for a whole size without what goes without saying: Y >= 1, and a border rounded to inside."""
    if not solution.unknown.is_Symbol:
        return solution
    cases = tuple(replace(case, intervals=tuple(map(_of_sizes, case.intervals))) for case in solution.cases)
    some = [case for case in cases if case.intervals]
    if len(cases) == 2 and len(some) == 1 and _of_one_or_more(some[0]):
        cases = (Case((), some[0].intervals),)
    return replace(solution, cases=cases)


def _of_one_or_more(case: Case) -> bool:
    """Say whether a case says of its upper border that it is 1 at least, and nothing else."""
    if len(case.when) != 1 or len(case.intervals) != 1:
        return False
    only, hi = case.when[0], case.intervals[0].hi
    large, small = (only.lhs, only.rhs) if only.op in (">", ">=") else (only.rhs, only.lhs)
    return hi != sp.oo and small != 0 and same_formula(large / small, hi)


def _of_sizes(interval: Interval) -> Interval:
    lo = interval.lo.args[0] if isinstance(interval.lo, sp.ceiling) else interval.lo
    hi = interval.hi.args[0] if isinstance(interval.hi, sp.floor) else interval.hi
    return replace(interval, lo=sp.S.Zero if lo == 1 and hi != sp.oo else lo, hi=hi)


def same_answer(first: Solution, second: Solution) -> bool:
    """Say whether two answers are one; numbers as borders may be rounded."""
    near = rounded_alike(first, second)
    return same(first, second) if near is None else near


def rounded_alike(first: Solution, second: Solution) -> bool | None:
    """Compare answers whose borders are all numbers; None where they are not."""
    cases = [*first.cases, *second.cases]
    ends = [ends_of(each) for each in (first, second)]
    if any(case.when for case in cases) or not all(end.is_number for each in ends for end in each):
        return None
    if len(ends[0]) != len(ends[1]):
        return False
    # lower ends alternate with upper ones, and whole sizes lie inside them
    whole = [sp.floor(end) if at % 2 else sp.ceiling(end) for at, end in enumerate(ends[1])]
    return all(
        one == two or _near(one, two) or one == inside > 1 for one, two, inside in zip(*ends, whole, strict=True)
    )


def ends_of(solution: Solution) -> list[sp.Expr]:
    """Return the borders of all intervals, each lower one before its upper one."""
    return [end for case in solution.cases for each in case.intervals for end in (each.lo, each.hi)]


def _near(one: sp.Expr, two: sp.Expr) -> bool:
    if sp.oo in (one, two) or 0 in (one, two):
        return False
    return bool(abs(sp.N(one - two, 20)) <= half_digit(one) + CLOSE * abs(sp.N(two, 20)))


def half_digit(value: sp.Expr) -> sp.Expr:
    """Return half a unit of the last digit of a number, zeros at its end not counted, at most 2.5 %."""
    if not value.is_Rational or 10**MOST_DIGITS % value.q:
        return sp.S.Zero
    digits = next(count for count in range(MOST_DIGITS + 1) if 10**count % value.q == 0)
    zeros = len(str(value)) - len(str(value).rstrip("0")) if digits == 0 else -digits
    return min(sp.Integer(10) ** zeros / 2, abs(value) / 40)


def same_border(theirs: sp.Expr, ours: sp.Expr) -> bool:
    """Say whether two borders are one: numbers to their last digit, formulas exactly."""
    if theirs.is_number and ours.is_number:
        return _near(theirs, ours)
    return not theirs.is_number and same_formula(theirs, ours)


def alone(solution: Solution) -> Solution:
    """Return the one answer that has a border, or two, without its condition."""
    ends = (case for case in solution.cases if case.intervals and not case.always)
    chosen = next(ends, solution.cases[0])
    return replace(solution, cases=(Case((), chosen.intervals),))


def meets(stated: Sequence[Relation], then: Sequence[Relation], unknown: sp.Expr) -> bool:
    """Say whether relations and those that are said to follow hold for the same values of an unknown."""
    return same_answer(_solution(tuple(stated), unknown), _solution(tuple(then), unknown))
