"""Variants: an exercise with other numbers, drawn by a seed, in which what makes it interesting is kept.

The derivation is written again on other terms, and a draw is taken only if its steps are of the same kinds, the same
cases of the same forms apply, thresholds are finite and of like size, an optimum lies inside the mesh, whole numbers
stay whole and shares stay shares.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

import sympy as sp

from symscale.derivation.builder import Builder
from symscale.derivation.crossover import Crossover
from symscale.derivation.minimum import Optimised
from symscale.derivation.registry import blackboard
from symscale.derivation.step import checked
from symscale.derivation.terms import OWN, Terms
from symscale.errors import SymscaleError
from symscale.exercise.exercise import Asked, Exercise, exercise
from symscale.exercise.knobs import knobs, sampled
from symscale.exercise.setting import Setting
from symscale.solve.exact import value_at
from symscale.vocabulary import entry, symbol

MOST_TRIED = 40
#: How far a threshold and another number may move, by what factor.
BORDERS, NUMBERS = 10, 300
#: A mesh is the best where the next one takes so much longer.
CLEAR = sp.Rational(1, 200)
#: A number that moves less than this is no variant.
MOVED = sp.Rational(1, 50)
LARGEST_SEED = 10**9


def varied(id: str, what: str, seed: int | None) -> Exercise:
    """Return an exercise as it is, or the variant of a seed. Raises SymscaleError where it has none."""
    return exercise(id, what) if seed is None else exercise(id, what, variant(id, seed))


@lru_cache(maxsize=1024)
def variant(id: str, seed: int) -> Terms:
    """Return the terms of the variant of an exercise that a seed draws. Raises SymscaleError where it has none."""
    if not 0 <= seed <= LARGEST_SEED:
        raise SymscaleError(f"{seed} is no seed.", hint=f"Give a whole number from 0 to {LARGEST_SEED:,}.")
    own = exercise(id)
    if not can_vary(own):
        raise SymscaleError(f"{id} has no numbers that could be others.", hint="Ask it as it is, without --vary.")
    found = knobs(own)
    # a text as a seed draws alike on every machine
    rng = random.Random(f"{id} {seed}")
    for _ in range(MOST_TRIED):
        terms = sampled(found, rng)
        if terms is not None and fits(own, terms):
            return terms
    raise SymscaleError(f"No other numbers were found that keep {id} as it is.", hint="Ask it without --vary.")


def can_vary(own: Exercise) -> bool:
    """Say whether an exercise asks for a number, a condition or a mesh that depends on what may be varied."""
    if own.headline.words or not any(_numeric(each) for each in _main(own)):
        return False
    return bool(knobs(own))


def _numeric(asked: Asked) -> bool:
    return next(asked.numbers, None) is not None or (asked.optimum is not None and asked.optimum.number is not None)


def _main(one: Exercise) -> list[Asked]:
    """Return what an author asks for, or else what is asked for first."""
    return [each for each in one.asked if each.ask is not None] or [one.headline]


def fits(own: Exercise, terms: Terms) -> bool:
    """Say whether other terms leave an exercise what it is."""
    try:
        other = exercise(own.id, "", terms)
        if own.derivation and not _same_steps(own.derivation, terms):
            return False
    except Exception:  # a derivation's own code may fail in any way on numbers that it was not written for
        return False
    pairs = list(zip(_main(own), _main(other), strict=False))
    if [one.what for one, _ in pairs] != [two.what for _, two in pairs] or not pairs:
        return False
    if not all(_like(one, two) for one, two in pairs) or not any(_moved(one, two) for one, two in pairs):
        return False
    return not own.derivation or _proved(own.derivation, terms)


def _proved(id: str, terms: Terms) -> bool:
    """Say whether every step holds: an author may have written down what holds for his numbers alone."""
    try:
        return bool(checked(blackboard(id, terms).derivation))
    except SymscaleError:
        return False


def _same_steps(id: str, terms: Terms) -> bool:
    """Say whether a derivation has the same steps on other terms, and its crossovers and optima are like its own."""
    if terms == OWN:
        return True
    own, other = blackboard(id), blackboard(id, terms)
    if [(each.kind, len(each.equations)) for each in own.steps] != [
        (each.kind, len(each.equations)) for each in other.steps
    ]:
        return False
    if not _on_a_mesh(own, other):
        return False
    axes = own.layer.mesh_symbols if own.layer is not None else ()
    crossed = zip(own.crossovers, other.crossovers, strict=False)
    best = zip(own.optima, other.optima, strict=False)
    return all(_same_case(one, two, axes) for one, two in crossed) and all(_inside(one, two) for one, two in best)


def _on_a_mesh(own: Builder, other: Builder) -> bool:
    """Say whether ends of intervals of an axis that are below the number of chips still are."""
    for one, two in zip(own.crossovers, other.crossovers, strict=False):
        chips = [_chips(each) for each in (own, other)]
        if own.layer is None or one.headline.unknown not in own.layer.mesh_symbols or None in chips:
            continue
        below = [[bool(end < most) for end in _ends(each)] for each, most in zip((one, two), chips, strict=True)]
        if below[0] != below[1]:
            return False
    return True


def _chips(board: Builder) -> sp.Expr | None:
    """Return the number of chips that an author puts in, on the terms of the derivation."""
    given = [value for each in board.entered for name, value in each.values if name == "N_chips"]
    return board.terms.given({"N_chips": given[-1]})[symbol("N_chips")] if given else None


def _same_case(own: Crossover, other: Crossover, axes: Sequence[sp.Symbol]) -> bool:
    """Say whether the same cases apply, in the same form, with a threshold of like size."""
    if [each.form for each in own.answers] != [each.form for each in other.answers]:
        return False
    shapes = [[(len(each.numeric.intervals), len(each.numeric.when)) for each in one.numbered] for one in (own, other)]
    if shapes[0] != shapes[1] or own.headline.unknown != other.headline.unknown:
        return False
    unknown = other.headline.unknown
    if unknown in axes and _some_power(own) and not _some_power(other):
        return False
    for one, two in zip(_ends(own), _ends(other), strict=False):
        if not _near(one, two, BORDERS) or not _possible(unknown, one, two, unknown in axes):
            return False
    if own.value is None or other.value is None:
        return own.value is other.value
    return _near(own.value, other.value, BORDERS) and _possible(unknown, own.value, other.value, unknown in axes)


def _some_power(found: Crossover) -> bool:
    """Say whether a mesh axis of some power of two chips meets the numbers."""
    intervals = [one for each in found.numbered for one in each.numeric.intervals]
    numeric = [one for one in intervals if not one.lo.free_symbols | one.hi.free_symbols]
    return any(one.contains(sp.Integer(2) ** n, {}) for one in numeric for n in range(1, 17))


def _ends(found: Crossover) -> list[sp.Expr]:
    """Return the ends of the intervals that the numbers leave, in their order."""
    ends = [end for each in found.numbered for one in each.numeric.intervals for end in (one.lo, one.hi)]
    return [each for each in ends if each.is_number and each not in (0, sp.oo)]


def _possible(unknown: sp.Expr, own: sp.Expr, other: sp.Expr, axis: bool) -> bool:
    """Say whether a threshold is one that a size can have, as the one of the author is: two chips on an axis."""
    row = entry(str(unknown))
    low, high = (sp.Rational(row.low), sp.Rational(row.high)) if row is not None else (sp.S.One, sp.oo)
    low = sp.Integer(2) if axis else low
    counted = row is None or not row.unit
    return not counted or not low < own < high or bool(low < other < high)


def _inside(own: Optimised, other: Optimised) -> bool:
    """Say whether the best size lies inside the mesh if it did, and one whole mesh is clearly the best."""
    if own.number is None or other.number is None:
        return own.number is other.number
    if not own.integers or not other.integers:
        return bool(own.integers) is bool(other.integers)
    spans = [max(each[0] for each in one.integers) for one in (own, other)]
    if 1 < own.number < spans[0] and not 1 < other.number < spans[1]:
        return False
    losses = sorted((each[2], each[0]) for each in other.integers)
    best = own.whole
    clear = len(losses) == 1 or bool(losses[1][0] - losses[0][0] > CLEAR)
    return clear and (not 1 < best < spans[0] or 1 < losses[0][1] < spans[1])


def _like(own: Asked, other: Asked) -> bool:
    """Say whether the numbers of what is asked for are of like size, whole if they were, shares if they were."""
    mine, theirs = ([value for _, value in each.numbers] for each in (own, other))
    if len(mine) != len(theirs):
        return False
    for one, two in zip(mine[:1], theirs[:1], strict=True):
        if not _near(one, two, NUMBERS):
            return False
        counted = own.crossover is None and own.optimum is None and not next(own.numbers)[0].unit
        if counted and ((one.is_Integer and not two.is_Integer) or bool(one < 1) is not bool(two < 1)):
            return False
    return [_largest(each) for each in own.settings[:1]] == [_largest(each) for each in other.settings[:1]]


def _largest(setting: Setting) -> list[frozenset[sp.Symbol]]:
    """Return of every max in a formula, and of every min, what its numbers choose: bandwidth, or latency."""
    found = []
    for node in sorted(setting.expr.atoms(sp.Max, sp.Min), key=str):
        numbers = {each: value_at(each, setting.values) for each in node.args}
        if all(each.is_number for each in numbers.values()):
            chosen = (max if isinstance(node, sp.Max) else min)(node.args, key=lambda each: numbers[each])
            found.append(chosen.free_symbols)
    return found


def _near(own: sp.Expr, other: sp.Expr, factor: int) -> bool:
    """Say whether a number is finite, of the same sign as another, and at most a factor away."""
    if not other.is_number or other.is_finite is False or not other.is_real:
        return False
    if own == 0 or other == 0:
        return bool(own == other)
    ratio = sp.N(other / own, 15)
    return bool(ratio * factor >= 1) and bool(ratio <= factor)


def _moved(own: Asked, other: Asked) -> bool:
    """Say whether the answer is another one."""
    if own.optimum is not None and other.optimum is not None and own.optimum.integers and other.optimum.integers:
        ranked = [each.optimum.whole for each in (own, other) if each.optimum]
        return ranked[0] != ranked[1]
    mine, theirs = (next(each.numbers, None) for each in (own, other))
    if mine is None or theirs is None or mine[1] == 0:
        return False
    return bool(abs(sp.N(theirs[1] / mine[1], 15) - 1) > MOVED)
