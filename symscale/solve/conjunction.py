"""Where several relations hold at once: the answers to each, met case by case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from symscale.solve.crossover import narrowed
from symscale.solve.pieces import Piece, both, tidied
from symscale.solve.region import EVERYWHERE, Region, lean
from symscale.solve.relation import MASKS, Case, Relation


def conjunction(answers: Sequence[Sequence[Case]], given: Sequence[Relation] = ()) -> tuple[Case, ...]:
    """Return the cases in which the unknown meets all of several answers, each disjoint cases that cover everything.

    Y <= a, and Y <= c if B >= d (else never), give Y <= min(a, c) if B >= d, else never. `given` narrows the cases
    to where those relations hold. Raises UndecidedError for too many cases.
    """
    met = reduce(both, [[_piece(case) for case in cases] for cases in answers])
    pieces = tidied(narrowed(met, given) if given else met)
    return tuple(Case(conditions, piece.intervals) for piece in pieces for conditions in piece.region.relations())


def alike(first: Iterable[Case], second: Iterable[Case]) -> bool:
    """Say whether two answers are the same cases, in any order of their conditions."""
    return _unordered(first) == _unordered(second)


def compatible(conditions: Sequence[Relation]) -> tuple[Relation, ...] | None:
    """Return conditions without those that follow from the others, or None where they contradict each other."""
    region: Region | None = EVERYWHERE
    for each in conditions:
        region = region.meet(each) if region is not None else None
    return None if region is None else next(lean(region).relations())


def _unordered(cases: Iterable[Case]) -> frozenset[tuple[frozenset[Relation], frozenset[object]]]:
    return frozenset((frozenset(case.when), frozenset(case.intervals)) for case in cases)


def _piece(case: Case) -> Piece:
    return Piece(Region(tuple((each.lhs, each.rhs, MASKS[each.op]) for each in case.when)), case.intervals)
