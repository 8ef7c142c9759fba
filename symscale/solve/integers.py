"""Whole numbers in an answer, and the best whole numbers near an optimum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import sympy as sp

from symscale.errors import UndecidedError
from symscale.solve.optimum import minimise
from symscale.solve.relation import Interval, Relation, Solution
from symscale.vocabulary import expression

_MOST = 1_000_000

Found = tuple[dict[sp.Symbol, int], sp.Expr, sp.Expr]


def integers_in(
    where: Solution | Interval | Sequence[Interval],
    values: Mapping[sp.Symbol, sp.Expr] | None = None,
    *,
    divides: int | None = None,
    powers_of_two: bool = False,
) -> list[int]:
    """Return the whole numbers >= 1 in an answer at given values: all, or only divisors of `divides`, or 2**k.

    Raises UndecidedError if there are infinitely many, or if a border is not a number at these values.
    """
    point = {name: expression(value) for name, value in (values or {}).items()}
    found: set[int] = set()
    for interval in _intervals(where, point):
        low, high = _ends(interval, point, divides)
        candidates = _candidates(low, high, divides, powers_of_two)
        found.update(n for n in candidates if interval.contains(sp.Integer(n), point))
    return sorted(found)


def _intervals(
    where: Solution | Interval | Sequence[Interval], point: Mapping[sp.Symbol, sp.Expr]
) -> Sequence[Interval]:
    if isinstance(where, Interval):
        return [where]
    if not isinstance(where, Solution):
        return where
    for case in where.cases:
        missing = set().union(*(c.free_symbols for c in case.when)) - set(point)
        if missing:
            raise UndecidedError(f"no number for {', '.join(sorted(map(str, missing)))}, which decides the case")
        if case.applies(point):
            return case.intervals
    return ()


def _ends(interval: Interval, point: Mapping[sp.Symbol, sp.Expr], divides: int | None) -> tuple[int, int]:
    low, high = interval.lo.xreplace(point), interval.hi.xreplace(point)
    free = low.free_symbols | high.free_symbols
    if free:
        raise UndecidedError(f"no number for {', '.join(sorted(map(str, free)))}")
    if high is sp.oo:
        if divides is None:
            raise UndecidedError("infinitely many whole numbers", hint="bound them, or give what they must divide")
        return max(1, int(sp.floor(low))), divides
    top = int(sp.floor(high))
    return max(1, int(sp.floor(low))), top if divides is None else min(top, divides)


def _candidates(low: int, high: int, divides: int | None, powers_of_two: bool) -> Iterable[int]:
    if powers_of_two:
        powers = [1 << k for k in range(high.bit_length()) if low <= 1 << k <= high]
        return [p for p in powers if divides is None or divides % p == 0]
    if divides is not None:
        return [int(d) for d in sp.divisors(divides) if low <= d <= high]
    if high - low > _MOST:
        raise UndecidedError(
            f"{high - low} whole numbers are too many to list", hint="ask for divisors or powers of two"
        )
    return range(low, high + 1)


def best_integers(
    objective: sp.Expr,
    variables: sp.Symbol | Sequence[sp.Symbol],
    constraint: Relation | None = None,
    candidates: str | Iterable[int] = "divisors",
) -> list[Found]:
    """Return (point, value, loss against the real optimum) for whole-number points, the best first.

    `constraint` is X*Y == N with a number N: the candidates for X are the divisors of N, the powers of two that
    divide it, or those given; Y follows and must be whole. The loss is value/optimum - 1.
    """
    names = [variables] if isinstance(variables, sp.Symbol) else list(variables)
    free = (objective.free_symbols | (constraint.free_symbols if constraint else set())) - set(names)
    if free:
        raise UndecidedError(f"no number for {', '.join(sorted(map(str, free)))}, so integers cannot be ranked")
    best = minimise(objective, names, constraint).value
    found = []
    for point in _points(names, constraint, candidates):
        value = objective.xreplace({name: sp.Integer(n) for name, n in point.items()})
        found.append((point, value, value / best - 1))
    return sorted(found, key=lambda row: float(row[1]))


def _points(
    names: Sequence[sp.Symbol], constraint: Relation | None, candidates: str | Iterable[int]
) -> Iterator[dict[sp.Symbol, int]]:
    total = _total(names, constraint)
    if isinstance(candidates, str):
        if total is None:
            raise UndecidedError(f"{candidates} of what?", hint="give a constraint such as X*Y == 64, or a list")
        values = [int(d) for d in sp.divisors(total) if candidates == "divisors" or d & (d - 1) == 0]
    else:
        values = [int(value) for value in candidates]
    if total is None and len(names) > 1:
        raise UndecidedError("several variables need a constraint such as X*Y == 64")
    yield from ({names[0]: value} for value in values) if total is None else _split(total, names, values)


def _split(total: int, names: Sequence[sp.Symbol], values: Sequence[int]) -> Iterator[dict[sp.Symbol, int]]:
    """Yield the ways to write a number as a product; the last factor follows from the candidates before it."""
    if len(names) == 1:
        yield {names[0]: total}
        return
    for value in values:
        if total % value == 0:
            for rest in _split(total // value, names[1:], values):
                yield {names[0]: value, **rest}


def _total(names: Sequence[sp.Symbol], constraint: Relation | None) -> int | None:
    if constraint is None:
        return None
    total = constraint.rhs * sp.Mul(*names) / constraint.lhs
    if not total.is_Integer or constraint.op != "==":
        raise UndecidedError(f"{constraint} is not {'*'.join(map(str, names))} == a whole number")
    return int(total)
