"""Case analyses as data: disjoint regions with sets of the unknown, combined by `and` and `or`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import sympy as sp
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve.contradiction import contradictory
from symscale.solve.region import EVERYWHERE, Region, lean, order, relate
from symscale.solve.relation import ALWAYS, Interval, Relation

Intervals: TypeAlias = tuple[Interval, ...]
_Combine: TypeAlias = Callable[[Region, Intervals, Intervals], Iterator[tuple[Region, Intervals]]]

_MOST_PIECES = 64


@dataclass(frozen=True)
class Piece:
    """In `region`, the unknown lies in one of `intervals`."""

    region: Region
    intervals: Intervals


def always(truth: bool) -> list[Piece]:
    """Return the answer that does not depend on anything."""
    return [Piece(EVERYWHERE, (ALWAYS,) if truth else ())]


def given(relation: Relation | bool) -> list[Piece]:
    """Return the answer of a relation that is free of the unknown."""
    if isinstance(relation, bool):
        return always(relation)
    inside = [Piece(region, (ALWAYS,)) for region, truth in split(EVERYWHERE, relation) if truth]
    return inside + [Piece(region, ()) for region, truth in split(EVERYWHERE, relation) if not truth]


def split(region: Region, relation: Relation | bool) -> Iterator[tuple[Region, bool]]:
    """Yield the parts of a region where the relation is true and where it is false."""
    if isinstance(relation, bool):
        yield region, relation
        return
    inside = region.meet(relation)
    if inside is not None:
        yield inside, True
    if relation.op == "==":
        for op in ("<", ">"):
            outside = region.meet(Relation(relation.lhs, op, relation.rhs))
            if outside is not None:
                yield outside, False
        return
    outside = region.meet(relation.negated())
    if outside is not None:
        yield outside, False


# ---------------------------------------------------------------- boolean combination


def both(first: Sequence[Piece], second: Sequence[Piece]) -> list[Piece]:
    """Return the answer of `first and second`."""
    return _product(first, second, intersection)


def either(first: Sequence[Piece], second: Sequence[Piece]) -> list[Piece]:
    """Return the answer of `first or second`."""
    return _product(first, second, union)


def _product(first: Sequence[Piece], second: Sequence[Piece], combine: _Combine) -> list[Piece]:
    result: list[Piece] = []
    for one in first:
        for other in second:
            region = one.region.join(other.region)
            if region is not None:
                result += [Piece(*found) for found in combine(region, one.intervals, other.intervals)]
        if len(result) > _MOST_PIECES:
            raise UndecidedError(
                "the answer falls into too many cases", hint="name the larger side of a Max, or give numbers"
            )
    return merged(result)


def merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the same answer with pieces joined that differ in one condition only."""
    current = list(pieces)
    changed = True
    while changed:
        changed = False
        for position, piece in enumerate(current):
            for later in range(position + 1, len(current)):
                joined = _joined(piece, current[later])
                if joined is not None:
                    current[position : position + 1] = [joined]
                    del current[later]
                    changed = True
                    break
            if changed:
                break
    return current


def _joined(first: Piece, second: Piece) -> Piece | None:
    if first.intervals != second.intervals:
        return None
    if len(first.region.conditions) != len(second.region.conditions):
        return _absorbed(first, second)
    ours = {c[:2]: c[2] for c in first.region.conditions}
    theirs = {c[:2]: c[2] for c in second.region.conditions}
    if ours.keys() != theirs.keys():
        return None
    differing = [key for key in ours if ours[key] != theirs[key]]
    if len(differing) != 1:
        return None
    union_mask = ours[differing[0]] | theirs[differing[0]]
    kept = [
        (*c[:2], union_mask if c[:2] == differing[0] else c[2])
        for c in first.region.conditions
        if c[:2] != differing[0] or union_mask != 7
    ]
    return Piece(Region(tuple(kept)), first.intervals)


def _absorbed(first: Piece, second: Piece) -> Piece | None:
    # {a} and {not a, b} have no common form here, but an empty condition list covers everything
    for one, other in ((first, second), (second, first)):
        if not one.region.conditions and other.region.conditions:
            return one
    return None


# ---------------------------------------------------------------- sets of the unknown


def intersection(region: Region, first: Intervals, second: Intervals) -> Iterator[tuple[Region, Intervals]]:
    """Yield the parts of the region with the intersection of two unions of intervals on each."""
    if first == (ALWAYS,) or not second:
        yield region, second
        return
    if second == (ALWAYS,) or not first:
        yield region, first
        return
    states: list[tuple[Region, Intervals]] = [(region, ())]
    for one in first:
        for other in second:
            states = [
                (inner, (*found, common) if common and common not in found else found)
                for outer, found in states
                for inner, common in _overlap(outer, one, other)
            ]
    yield from states


def _overlap(region: Region, one: Interval, other: Interval) -> Iterator[tuple[Region, Interval | None]]:
    if one.is_point:
        yield from _kept_if(region, one, other)
    elif other.is_point:
        yield from _kept_if(region, other, one)
    else:
        for inside, lo, lo_open in _extreme(region, (one.lo, one.lo_open), (other.lo, other.lo_open), highest=True):
            for inner, hi, hi_open in _extreme(inside, (one.hi, one.hi_open), (other.hi, other.hi_open), highest=False):
                yield from _unless_empty(inner, Interval(lo, lo_open, hi, hi_open))


def _kept_if(region: Region, point: Interval, other: Interval) -> Iterator[tuple[Region, Interval | None]]:
    for inside, above in _decide(region, other.lo, point.lo, "<" if other.lo_open else "<="):
        if not above:
            yield inside, None
            continue
        for inner, below in _decide(inside, point.lo, other.hi, "<" if other.hi_open else "<="):
            yield inner, point if below else None


def _decide(region: Region, left: sp.Expr, right: sp.Expr, op: str) -> Iterator[tuple[Region, bool]]:
    """Yield the parts of the region where `left op right` (op < or <=) is true and false."""
    allowed = 1 if op == "<" else 3
    mask = order(region, left, right)
    if not mask & ~allowed:
        yield region, True
    elif not mask & allowed:
        yield region, False
    else:
        yield from _decide_each(region, left, right, op)


def _decide_each(region: Region, left: sp.Expr, right: sp.Expr, op: str) -> Iterator[tuple[Region, bool]]:
    if isinstance(left, sp.Max) or isinstance(right, sp.Min):
        pairs = [(a, b) for a in _parts(left, sp.Max) for b in _parts(right, sp.Min)]
        yield from _decide_all(region, pairs, op)
        return
    if isinstance(left, sp.Min) or isinstance(right, sp.Max):
        turned = "<=" if op == "<" else "<"
        pairs = [(b, a) for a in _parts(left, sp.Min) for b in _parts(right, sp.Max)]
        yield from ((inner, not truth) for inner, truth in _decide_all(region, pairs, turned))
        return
    yield from split(region, relate(left, right, op))


def _decide_all(region: Region, pairs: list[tuple[sp.Expr, sp.Expr]], op: str) -> Iterator[tuple[Region, bool]]:
    inside = [region]
    for left, right in pairs:
        reached: list[Region] = []
        for part in inside:
            for inner, truth in _decide(part, left, right, op):
                if truth:
                    reached.append(inner)
                else:
                    yield inner, False
        inside = reached
    yield from ((part, True) for part in inside)


def _parts(expr: sp.Expr, kind: type[MinMaxBase]) -> tuple[sp.Expr, ...]:
    return expr.args if isinstance(expr, kind) else (expr,)


def _extreme(
    region: Region, one: tuple[sp.Expr, bool], other: tuple[sp.Expr, bool], *, highest: bool
) -> Iterator[tuple[Region, sp.Expr, bool]]:
    """Yield the end that binds: the highest lower end, or the lowest upper end; open wins where both are equal."""
    wins, loses = (4, 1) if highest else (1, 4)
    mask = order(region, one[0], other[0])
    if not mask & loses and not (mask & 2 and other[1] and not one[1]):
        yield region, *one
    elif not mask & wins and not (mask & 2 and one[1] and not other[1]):
        yield region, *other
    elif mask == 2:
        yield region, one[0], one[1] or other[1]
    elif one[1] == other[1]:
        yield region, extremum(sp.Max if highest else sp.Min, (one[0], other[0]), region), one[1]
    else:
        strict, closed = (one, other) if one[1] else (other, one)
        low, high = (closed, strict) if highest else (strict, closed)
        for inner, truth in _decide(region, low[0], high[0], "<="):
            yield inner, *(strict if truth else closed)


def extremum(kind: type[MinMaxBase], parts: Iterable[sp.Expr], region: Region = EVERYWHERE) -> sp.Expr:
    """Return the Max or Min of positive expressions without the arguments that never win in the region."""
    flat = [part for whole in parts for part in _parts(whole, kind)]
    beaten = 3 if kind is sp.Max else 6
    kept: list[sp.Expr] = []
    for part in flat:
        if any(not order(region, part, other) & ~beaten for other in kept):
            continue
        kept = [other for other in kept if order(region, other, part) & ~beaten]
        kept.append(part)
    return kept[0] if len(kept) == 1 else kind(*kept, evaluate=False)


def _unless_empty(region: Region, found: Interval) -> Iterator[tuple[Region, Interval | None]]:
    # equal ends leave one point, and that only where both are closed
    op = "<" if found.lo_open or found.hi_open else "<="
    for inner, truth in _decide(region, found.lo, found.hi, op):
        yield inner, found if truth else None


def union(region: Region, first: Intervals, second: Intervals) -> Iterator[tuple[Region, Intervals]]:
    """Yield the parts of the region with the union of two unions of intervals on each."""
    if ALWAYS in first or ALWAYS in second:
        yield region, (ALWAYS,)
        return
    states: list[tuple[Region, Intervals]] = [(region, first)]
    for other in second:
        states = [state for outer, found in states for state in _added(outer, found, other)]
    yield from states


def _added(region: Region, found: Intervals, other: Interval) -> Iterator[tuple[Region, Intervals]]:
    for position, one in enumerate(found):
        if _meets(region, one, other):
            rest = found[:position] + found[position + 1 :]
            for inner, whole in _fused(region, one, other):
                if whole is None:  # apart: kept as two intervals
                    yield inner, (*found, other)
                else:
                    yield from _added(inner, rest, whole)
            return
    yield region, (*found, other) if ALWAYS not in found else found


def _meets(region: Region, one: Interval, other: Interval) -> bool:
    """Whether two intervals are of a kind that joins into one, perhaps after a case distinction."""
    if one == other or one.lo == other.lo or one.hi == other.hi or ALWAYS in (one, other):
        return True
    if 0 in (one.lo, other.lo) and sp.oo in (one.hi, other.hi) and not (one.is_point or other.is_point):
        return True
    if _touches(region, one, other) or _touches(region, other, one):
        return True
    return _within(region, one, other) or _within(region, other, one)


def _touches(region: Region, low: Interval, high: Interval) -> bool:
    return not (low.hi_open and high.lo_open) and order(region, low.hi, high.lo) == 2


def _within(region: Region, inner: Interval, outer: Interval) -> bool:
    low, high = order(region, outer.lo, inner.lo), order(region, inner.hi, outer.hi)
    fine_low = 1 if outer.lo_open and not inner.lo_open else 3
    fine_high = 1 if outer.hi_open and not inner.hi_open else 3
    return not low & ~fine_low and not high & ~fine_high


def _fused(region: Region, one: Interval, other: Interval) -> Iterator[tuple[Region, Interval | None]]:
    if _within(region, other, one):
        yield region, one
    elif _within(region, one, other):
        yield region, other
    elif _touches(region, one, other):
        yield region, _whole(Interval(one.lo, one.lo_open, other.hi, other.hi_open))
    elif _touches(region, other, one):
        yield region, _whole(Interval(other.lo, other.lo_open, one.hi, one.hi_open))
    elif one.lo == other.lo == 0:
        for inner, hi, is_open in _outer(region, (one.hi, one.hi_open), (other.hi, other.hi_open), highest=True):
            yield inner, Interval(one.lo, one.lo_open, hi, is_open)
    elif one.hi is sp.oo and other.hi is sp.oo:
        for inner, lo, is_open in _outer(region, (one.lo, one.lo_open), (other.lo, other.lo_open), highest=False):
            yield inner, Interval(lo, is_open, sp.oo, True)
    elif one.lo == 0 and other.hi is sp.oo:
        yield from _bridged(region, one, other)
    elif other.lo == 0 and one.hi is sp.oo:
        yield from _bridged(region, other, one)
    else:
        yield region, None


def _whole(found: Interval) -> Interval:
    return ALWAYS if found.lo == 0 and found.hi is sp.oo else found


def _outer(
    region: Region, one: tuple[sp.Expr, bool], other: tuple[sp.Expr, bool], *, highest: bool
) -> Iterator[tuple[Region, sp.Expr, bool]]:
    # the outer of two ends is the binding one of the complements, where open and closed change places
    for inner, end, is_open in _extreme(region, (one[0], not one[1]), (other[0], not other[1]), highest=highest):
        yield inner, end, not is_open


def _bridged(region: Region, low: Interval, high: Interval) -> Iterator[tuple[Region, Interval | None]]:
    op = "<" if low.hi_open and high.lo_open else "<="
    for inner, truth in _decide(region, high.lo, low.hi, op):
        yield inner, ALWAYS if truth else None


def tidied(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces merged, without redundant conditions and what no sizes meet, those with an answer first."""
    found = [_simplest(piece) for piece in merged(pieces)]
    found = merged([piece for piece in found if not contradictory(piece.region)])
    for piece in [each for each in found if any(mask == 2 for *_, mask in each.region.conditions)]:
        found = _taken_in(found, piece)
    return sorted(found, key=lambda piece: not piece.intervals)


def _taken_in(pieces: list[Piece], thin: Piece) -> list[Piece]:
    """Return the pieces with one for `x == 8` taken in by its neighbour `x > 8`, whose answer is the same there."""
    for position, other in enumerate(pieces):
        wider = _with_border(other, thin) if other is not thin else None
        if wider is not None:
            return [each for each in (*pieces[:position], wider, *pieces[position + 1 :]) if each is not thin]
    return pieces


def _with_border(wide: Piece, thin: Piece) -> Piece | None:
    ours = {c[:2]: c[2] for c in wide.region.conditions}
    theirs = {c[:2]: c[2] for c in thin.region.conditions}
    differing = [key for key in theirs if ours.get(key) != theirs[key]]
    if ours.keys() != theirs.keys() or len(differing) != 1:
        return None
    lhs, rhs = differing[0]
    if theirs[lhs, rhs] != 2 or not (lhs.is_Symbol and rhs.is_number):
        return None
    if any(_pole(end, lhs, rhs) for each in wide.intervals for end in (each.lo, each.hi)):
        return None
    if _at(wide.intervals, lhs, rhs) != _at(thin.intervals, lhs, rhs):
        return None
    kept = tuple((*c[:2], c[2] | 2 if c[:2] == (lhs, rhs) else c[2]) for c in wide.region.conditions)
    return Piece(Region(tuple(c for c in kept if c[2] != 7)), wide.intervals)


def _pole(end: sp.Expr, name: sp.Expr, value: sp.Expr) -> bool:
    """Say whether an end is over nothing where a symbol has a value."""
    return any(power.exp.is_negative and power.base.xreplace({name: value}) == 0 for power in end.atoms(sp.Pow))


def _at(intervals: Intervals, name: sp.Expr, value: sp.Expr) -> Intervals:
    """Return intervals where a symbol has a value."""
    return tuple(
        Interval(each.lo.xreplace({name: value}), each.lo_open, each.hi.xreplace({name: value}), each.hi_open)
        for each in intervals
    )


def _simplest(piece: Piece) -> Piece:
    intervals = tuple(
        Interval(_end(piece.region, i.lo), i.lo_open, _end(piece.region, i.hi), i.hi_open) for i in piece.intervals
    )
    return Piece(lean(piece.region), intervals)


def _end(region: Region, end: sp.Expr) -> sp.Expr:
    return extremum(type(end), end.args, region) if isinstance(end, MinMaxBase) else end
