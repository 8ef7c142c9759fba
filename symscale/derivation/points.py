"""Random exact points for proofs: anywhere, or where conditions hold, however narrow the place is."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import sympy as sp

from symscale.errors import UndecidedError
from symscale.solve.bounds import apart, bounds
from symscale.solve.exact import value_at
from symscale.solve.relation import MASKS, Relation
from symscale.vocabulary import BY_NAME

Point = dict[sp.Symbol, sp.Expr]

# One symbol moves at a time: by some power of ten, and if that does not help, to the best of values that lie
# STEP to a decade, on so many decades to both sides.
NUDGES, MOVES, STEP, DECADES = 4, 12, 1, 8
STRIDES = 24
HALVINGS = 24
# Where between two borders a value is tried, and what a side counts that has no logarithm.
SHARES, FAR = (0.02, 0.5, 0.98), 100.0


def random_point(symbols: Iterable[sp.Symbol], rng: random.Random) -> Point:
    """Return random exact rationals, spread over orders of magnitude."""
    ordered = sorted(symbols, key=BY_NAME)
    return {each: sp.Rational(rng.randint(1, 9999), 10 ** rng.randint(0, 3)) for each in ordered}


def at_least_two(point: Point, symbols: Collection[sp.Symbol]) -> Point:
    """Return the point with 2 more for symbols that count from 2, such as the chips of an axis that sends."""
    return {name: value + 2 if name in symbols else value for name, value in point.items()}


def walked(
    conditions: Sequence[Relation], point: Point, from_two: Collection[sp.Symbol], rng: random.Random
) -> Point | None:
    """Return a point that meets conditions after a few steps by powers of ten, or None: quick, where they are wide."""
    point = at_least_two(point, from_two)
    for _ in range(STRIDES):
        broken = next((each for each in conditions if not _surely(each, point)), None)
        if broken is None:
            return point
        names = sorted(broken.free_symbols & point.keys(), key=BY_NAME)
        if not names:
            return None
        name = rng.choice(names)
        value = _nudged(point[name], rng)
        point = {**point, name: value + 2 if name in from_two and value < 2 else value}
    return None


def meeting(
    conditions: Sequence[Relation], point: Point, from_two: Collection[sp.Symbol], rng: random.Random
) -> Point | None:
    """Return a point that meets conditions, or None if none was found.

    It starts at a random one. An equation is met by solving it for a symbol; as long as an inequality does not hold,
    one of its symbols moves to where most of them do, between the borders that all of them have for it.
    """
    point = at_least_two(point, from_two)
    pins, left = _pinned(conditions)
    left += [Relation(name, ">=", sp.Integer(2)) for name in sorted(from_two & point.keys(), key=str)]
    left = [each.subs(pins) for each in left] + [Relation(value, ">", sp.S.Zero) for value in pins.values()]
    for move in range(NUDGES + MOVES):
        broken = [each for each in left if not _surely(each, point)]
        names = sorted({name for each in broken for name in each.free_symbols & point.keys()}, key=str)
        if not names:
            break
        name = rng.choice(names)
        point = {**point, name: _nudged(point[name], rng) if move < NUDGES else _best(name, left, point, rng)}
    point |= {name: value_at(value, point) for name, value in pins.items()}
    return point if all(_holds(each, point) for each in (*conditions, *left)) else None


def _holds(condition: Relation, point: Point) -> bool:
    """Say whether a condition holds, not where a side of it is no real number."""
    try:
        return condition.holds(point)
    except UndecidedError:
        return False


def _surely(condition: Relation, point: Point) -> bool:
    """Say whether a condition holds, by floats if they can tell."""
    sign = apart(condition.lhs, condition.rhs, point)
    return bool(MASKS[condition.op] & 1 << (sign + 1)) if sign else _holds(condition, point)


def _pinned(conditions: Sequence[Relation]) -> tuple[Point, list[Relation]]:
    """Return symbols that equations among the conditions fix, and the conditions that are left."""
    pins: Point = {}
    left = []
    for each in conditions:
        found = _solved(each.subs(pins)) if each.op == "==" else None
        if found is None:
            left.append(each)
        else:
            pins = {name: value.xreplace(found) for name, value in pins.items()} | found
    return pins, left


def _solved(equation: Relation) -> Point | None:
    """Return an equation solved for a symbol in which it is linear."""
    above = sp.expand(sp.numer(sp.together(equation.lhs - equation.rhs)))
    for name in sorted(above.free_symbols, key=str):
        slope = above.coeff(name, 1)
        rest = sp.expand(above - slope * name)
        if slope != 0 and name not in slope.free_symbols | rest.free_symbols:
            return {name: -rest / slope}
    return None


def _nudged(value: sp.Expr, rng: random.Random) -> sp.Expr:
    return value * sp.Integer(10) ** rng.choice((-4, -2, -1, 1, 2, 4))


def _best(name: sp.Symbol, conditions: Sequence[Relation], point: Point, rng: random.Random) -> sp.Expr:
    """Return a value of one symbol at which the most conditions hold, well between their borders."""
    others = {each: value for each, value in point.items() if each != name}
    about = [
        Relation(value_at(each.lhs, others), each.op, value_at(each.rhs, others))
        for each in conditions
        if name in each.free_symbols
    ]
    start = float(point[name])
    grid = [start * 10 ** (step / STEP) for step in range(-STEP * DECADES, STEP * DECADES + 1)]
    truths = [[_surely(each, {name: _rational(value)}) for each in about] for value in grid]
    marks = {grid[0], grid[-1]}
    for position, (before, after) in enumerate(pairwise(truths)):
        for each, was, becomes in zip(about, before, after, strict=True):
            if was != becomes:
                marks.add(_border(each, name, grid[position], grid[position + 1]))
    ends = list(pairwise(sorted(marks)))
    tried = [_rational(low * (high / low) ** share) for low, high in ends for share in SHARES]
    scores = [_shortfall(about, {name: value}) for value in tried]
    least = min(scores)
    return rng.choice([value for value, score in zip(tried, scores, strict=True) if score == least])


def _shortfall(conditions: Sequence[Relation], point: Point) -> tuple[int, float]:
    """Return how many conditions do not hold, and by which factors their sides miss, in logarithms."""
    broken = [each for each in conditions if not _surely(each, point)]
    missed = 0.0
    for each in broken:
        sides = [bounds(side, point) for side in (each.lhs, each.rhs)]
        lows = [side[0] for side in sides if side is not None and side[0] > 0]
        missed += abs(math.log(lows[0] / lows[1])) if len(lows) == 2 else FAR
    return len(broken), round(missed, 6)


def _border(condition: Relation, name: sp.Symbol, low: float, high: float) -> float:
    """Return where a condition turns true or false between two values of a symbol."""
    first = _surely(condition, {name: _rational(low)})
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        if _surely(condition, {name: _rational(middle)}) == first:
            low = middle
        else:
            high = middle
    return low


def _rational(value: float) -> sp.Rational:
    return sp.Rational(f"{value:.12g}")
