"""Which statements of a quantity belong together: one formula and its forms, not another pass or other values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import sympy as sp

from symscale.derivation.crossover import Crossover
from symscale.derivation.step import Step
from symscale.exercise.answers import same
from symscale.exercise.setting import Setting
from symscale.solve.exact import value_at

Settings = tuple[Setting, ...]
NEAR = sp.Rational(1, 20)


def of_a_quantity(found: Sequence[Setting], steps: Sequence[Step], widths: Mapping[sp.Symbol, sp.Expr]) -> Settings:
    """Return the statements, the last first, that say the same as the first of them, exactly or in a limit."""
    kept: list[Setting] = []
    for at, each in enumerate(found):
        # an approximation goes on from the statement before it
        newer = found[at - 1] if at else None
        follows = newer is not None and newer in kept and bool(newer.at) and steps[newer.at - 1].kind == "approximate"
        if not kept or follows or any(_alike(each.expr, one.expr, widths) for one in kept):
            kept.append(each)
    there = list(_on_the_same_values(kept))
    values = {name: value for each in there for name, value in each.used.items()}
    numbers = [each.value for each in there if each.value.is_number and each.value.is_real]
    others = [each.put(values) for each in found if each not in kept] if numbers else []
    return (*there, *(each for each in others if _near(each.value, numbers[0])))


def _near(value: sp.Expr, number: sp.Expr) -> bool:
    """Say whether another formula has nearly the same number for the same values: 6 P, or the sum of its parts."""
    return bool(value.is_number and value.is_real and abs(sp.N(value - number, 20)) <= NEAR * abs(sp.N(number, 20)))


def of_a_condition(found: Sequence[Setting], crossover: Crossover, widths: Mapping[sp.Symbol, sp.Expr]) -> Settings:
    """Return the statements, the last first, that are borders of a crossover, exactly or in a limit."""
    cases = [case for answer in crossover.answers for case in answer.cases]
    ends = {end for case in cases for each in case.intervals for end in (each.lo, each.hi)} - {sp.S.Zero, sp.oo}
    return tuple(_on_the_same_values(each for each in found if any(_alike(each.expr, end, widths) for end in ends)))


def _on_the_same_values(found: Iterable[Setting]) -> Iterator[Setting]:
    """Yield statements until one has other values than those before it; formulas without values go on."""
    taken: dict[sp.Symbol, sp.Expr] = {}
    for each in found:
        if all(taken.get(name, value) == value for name, value in each.used.items()):
            taken |= each.used
            yield each


def _alike(one: sp.Expr, other: sp.Expr, widths: Mapping[sp.Symbol, sp.Expr]) -> bool:
    if same(one, other):
        return True
    sized = value_at(one, widths), value_at(other, widths)
    return sized != (one, other) and same(*sized)
