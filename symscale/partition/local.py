"""How two operands meet: the layouts in which an operation is local, decided per mesh axis.

For an einsum the states of an axis in the two operands decide: contracting/contracting is local and owes a sum;
contracting/replicated gathers the one or slices the other; contracting/free gathers the contracting one; free/free
gathers either; batch/replicated slices; batch/free exchanges or gathers; owing/replicated stays owing; owing/other
reduces first. Every way through is returned, the canonical one first.
"""

from __future__ import annotations

from collections.abc import Iterator

from symscale.array import Axes, Layout, common_prefix
from symscale.frozen import dataclass

MAX_WAYS = 16


@dataclass(frozen=True)
class Meeting:
    """Layouts of both operands in which the operation is local, and the layout its result then has."""

    lhs: Layout
    rhs: Layout
    result: Layout


def einsum_meetings(lhs: Layout, rhs: Layout, contracted: frozenset[str], out: tuple[str, ...]) -> list[Meeting]:
    """Return the ways in which `lhs * rhs` can be made local, summing over `contracted`."""
    if not (lhs.split or rhs.split or lhs.owes or rhs.owes):
        return [Meeting(lhs, rhs, Layout(out, ((),) * len(out)))]
    found: list[Meeting] = []
    for left, right in _resolve(lhs, rhs, contracted):
        meeting = Meeting(left, right, _product(left, right, contracted, out))
        if meeting not in found:
            found.append(meeting)
        if len(found) == MAX_WAYS:
            break
    return found


def _product(lhs: Layout, rhs: Layout, contracted: frozenset[str], out: tuple[str, ...]) -> Layout:
    summed = {axis for dim in contracted for axis in lhs.of(dim)}
    axes = tuple(lhs.of(dim) if dim in lhs.dims else rhs.of(dim) for dim in out)
    return Layout(out, axes).owing({*lhs.owes, *rhs.owes, *summed})


def _resolve(lhs: Layout, rhs: Layout, contracted: frozenset[str]) -> Iterator[tuple[Layout, Layout]]:
    ways = _owing(lhs, rhs) or _shared(lhs, rhs, contracted) or _free(lhs, rhs)
    if not ways:
        yield lhs, rhs
    for left, right in ways:
        yield from _resolve(left, right, contracted)


def _owing(lhs: Layout, rhs: Layout) -> list[tuple[Layout, Layout]]:
    """Return the ways out of the first owed sum that the other operand's state does not allow to wait."""
    for axis in lhs.owes:
        if axis in rhs.split or axis in rhs.owes:
            ways = [(_pay(lhs, axis, rhs), rhs)]
            return [*ways, (lhs, _pay(rhs, axis, lhs))] if axis in rhs.owes else ways
    for axis in rhs.owes:
        if axis in lhs.split:
            return [(lhs, _pay(rhs, axis, lhs))]
    return []


def _pay(layout: Layout, axis: str, other: Layout) -> Layout:
    """Pay one owed sum: by scattering where the other operand is split alike, else in full."""
    paid = layout.owing(owed for owed in layout.owes if owed != axis)
    home = other.home(axis)
    if home in layout.dims and home is not None:
        wanted = other.of(home)
        if layout.of(home) == wanted[: wanted.index(axis)]:
            return paid.put(home, (*layout.of(home), axis))
    return paid


def _shared(lhs: Layout, rhs: Layout, contracted: frozenset[str]) -> list[tuple[Layout, Layout]]:
    """Return the ways out of the first shared dimension that the operands split differently."""
    for dim in lhs.dims:
        if dim not in rhs.dims or lhs.of(dim) == rhs.of(dim):
            continue
        have, other = lhs.of(dim), rhs.of(dim)
        prefix = common_prefix(have, other)
        rest, rest_other = have[len(prefix) :], other[len(prefix) :]
        if not rest_other:
            return _one_sided(lhs, rhs, dim, prefix, dim in contracted)
        if not rest:
            return [(b, a) for a, b in _one_sided(rhs, lhs, dim, prefix, dim in contracted)]
        if set(rest) == set(rest_other):
            return [(lhs, rhs.put(dim, have)), (lhs.put(dim, other), rhs)]
        shorter_left = len(rest) <= len(rest_other)
        return [(lhs.put(dim, prefix), rhs)] if shorter_left else [(lhs, rhs.put(dim, prefix))]
    return []


def _one_sided(split: Layout, whole: Layout, dim: str, prefix: Axes, contracting: bool) -> list[tuple[Layout, Layout]]:
    """Return the ways where only `split` divides `dim` further: gather it there, or divide the other alike."""
    rest = split.of(dim)[len(prefix) :]
    gather = (split.put(dim, prefix), whole)
    divide = (split, whole.without(rest).put(dim, (*prefix, *rest)))
    if not any(axis in whole.split for axis in rest):
        return [gather, divide] if contracting else [divide]
    homes = {whole.home(axis) for axis in rest}
    if contracting and not homes & set(split.dims):
        return [gather]
    return [gather, divide]


def _free(lhs: Layout, rhs: Layout) -> list[tuple[Layout, Layout]]:
    """Return the ways out of an axis that splits a different dimension in each operand."""
    for axis in sorted(lhs.split & rhs.split):
        mine, theirs = lhs.home(axis), rhs.home(axis)
        if mine != theirs and mine is not None and theirs is not None:
            return [(lhs, _drop(rhs, theirs, axis)), (_drop(lhs, mine, axis), rhs)]
    return []


def _drop(layout: Layout, dim: str, axis: str) -> Layout:
    return layout.put(dim, tuple(each for each in layout.of(dim) if each != axis))


def sum_meetings(lhs: Layout, rhs: Layout, out: tuple[str, ...], wanted: Layout | None) -> list[Meeting]:
    """Return the ways in which `lhs + rhs` can be made local: aligned to either operand or to the wanted layout.

    An owed sum is reduced first, or else the other operand is added on one member only (`Mask`).
    """
    found: list[Meeting] = []
    for base in filter(None, (_spread(lhs, out, rhs), _spread(rhs, out, lhs), wanted and wanted.paid)):
        for owes in sorted({(), lhs.owes, rhs.owes}, key=len, reverse=lhs.owes == rhs.owes):
            if set(owes) & base.split:
                continue
            left, right = (_restrict(base, side).owing(owes) for side in (lhs, rhs))
            meeting = Meeting(left, right, Layout(out, tuple(base.of(dim) for dim in out)).owing(owes))
            if meeting not in found:
                found.append(meeting)
    return found


def _spread(layout: Layout, out: tuple[str, ...], other: Layout) -> Layout:
    """Return the layout of the result that keeps `layout`, and of `other` what does not get in its way."""
    axes = tuple(
        layout.of(dim) if dim in layout.dims else tuple(a for a in other.of(dim) if a not in layout.split)
        for dim in out
    )
    return Layout(out, axes)


def _restrict(base: Layout, side: Layout) -> Layout:
    return Layout(side.dims, tuple(base.of(dim) for dim in side.dims))
