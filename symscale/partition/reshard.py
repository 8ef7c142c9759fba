"""Changes of layout: the shortest list of collectives from one layout to another.

Free moves come first (they shrink what travels), then reductions, then exchanges, and gathers last. Only the
minor-most axes of a dimension can be gathered or exchanged; a Permute brings them there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile

from symscale.array import Axes, Layout, common_prefix
from symscale.errors import LayoutError
from symscale.partition.plan import Collective


@lru_cache(maxsize=16384)
def reshard(value: str, before: Layout, after: Layout) -> tuple[Collective, ...]:
    """Return the collectives that bring `value` from `before` to `after`.

    `[I_X, J] -> [I, J]` gathers, `[I]{U_X} -> [I_X]` reduce-scatters, `[I]{U_X} -> [I]` all-reduces,
    `[I_X, J] -> [I, J_X]` exchanges, `[I] -> [I_X]` slices for free. Raises LayoutError if the dimensions differ.
    """
    if before.dims != after.dims:
        if set(before.dims) != set(after.dims):
            raise LayoutError(f"{value}{before} has other dimensions than {value}{after}.")
        after = Layout(before.dims, tuple(after.of(dim) for dim in before.dims), after.owes)
    done: list[Collective] = []
    now = before
    while now != after:
        step = next(found for move in _MOVES if (found := move(value, now, after)) is not None)
        done.append(step)
        now = step.after
    return tuple(done)


def _needed(now: Layout, after: Layout, dim: str) -> Axes:
    """Return the axes that `dim` still lacks, or () if something has to leave it first."""
    have, want = now.of(dim), after.of(dim)
    return want[len(have) :] if want[: len(have)] == have else ()


def _slice(value: str, now: Layout, after: Layout) -> Collective | None:
    for dim in now.dims:
        block = _leading(_needed(now, after, dim), lambda axis: axis not in now.split and axis not in now.owes)
        if block:
            return Collective("Slice", block, value, now, now.put(dim, now.of(dim) + block))
    return None


def _slice_below(value: str, now: Layout, after: Layout) -> Collective | None:
    """Slice by axes that belong above those in place: a Permute of the small parts then costs less than a gather."""
    for dim, have in now.items():
        want = after.of(dim)
        more = tuple(axis for axis in want if axis not in have)
        free = all(axis not in now.split and axis not in now.owes for axis in more)
        if have and more and free and set(have) <= set(want):
            return Collective("Slice", more, value, now, now.put(dim, have + more))
    return None


def _exchange_below(value: str, now: Layout, after: Layout) -> Collective | None:
    """Move an axis below one that still has to leave its new dimension, where nothing there is gathered or owed."""
    for source, have in now.items():
        target = next((dim for dim in now.dims if have and dim != source and have[-1] in after.of(dim)), None)
        if target is not None and after.split.issuperset(now.of(target)) and now.split.issuperset(after.of(target)):
            gone = now.put(source, have[:-1])
            arrived = gone.put(target, (*gone.of(target), have[-1]))
            return Collective("AllToAll", have[-1:], value, now, arrived)
    return None


def _mask(value: str, now: Layout, after: Layout) -> Collective | None:
    block = tuple(axis for axis in after.owes if axis not in now.owes and axis not in now.split)
    return Collective("Mask", block, value, now, now.owing({*now.owes, *block})) if block else None


def _scatter(value: str, now: Layout, after: Layout) -> Collective | None:
    for dim in now.dims:
        block = _leading(_needed(now, after, dim), lambda axis: axis in now.owes)
        if block:
            left = now.owing(axis for axis in now.owes if axis not in block)
            return Collective("ReduceScatter", block, value, now, left.put(dim, now.of(dim) + block))
    return None


def _reduce(value: str, now: Layout, after: Layout) -> Collective | None:
    block = tuple(axis for axis in now.owes if axis not in after.owes and axis not in after.split)
    if not block:
        return None
    return Collective("AllReduce", block, value, now, now.owing(a for a in now.owes if a not in block))


def _exchange(value: str, now: Layout, after: Layout) -> Collective | None:
    for source, have in now.items():
        leaving = have[len(_kept(now, after, source)) :]
        for target in now.dims:
            need = _needed(now, after, target)
            for size in range(min(len(leaving), len(need)) if target != source else 0, 0, -1):
                if leaving[-size:] == need[:size]:
                    gone = now.put(source, have[:-size])
                    arrived = gone.put(target, gone.of(target) + need[:size])
                    return Collective("AllToAll", need[:size], value, now, arrived)
    return None


def _permute(value: str, now: Layout, after: Layout) -> Collective | None:
    for dim, have in now.items():
        want = after.of(dim)
        staying = tuple(axis for axis in want if axis in have)
        moving = tuple(axis for other in now.dims if other != dim for axis in after.of(other) if axis in have)
        gathered = tuple(axis for axis in have if axis not in staying and axis not in moving)
        ordered = (*staying, *gathered, *moving)
        if ordered != have and (staying != have[: len(staying)] or moving):
            changed = tuple(a for a, b in zip(have, ordered, strict=True) if a != b)
            return Collective("Permute", tuple(sorted(changed)), value, now, now.put(dim, ordered))
    return None


def _gather(value: str, now: Layout, after: Layout) -> Collective | None:
    """Gather over all that is left to gather at once, as its axes then work at the same time; else one dimension."""
    surplus = {dim: have[len(_kept(now, after, dim)) :] for dim, have in now.items()}
    joint = now.without(axis for axes in surplus.values() for axis in axes)
    if joint.axes == after.axes and joint != now:
        return Collective("AllGather", tuple(axis for axes in surplus.values() for axis in axes), value, now, joint)
    for dim, axes in surplus.items():
        if axes:
            return Collective("AllGather", axes, value, now, now.put(dim, now.of(dim)[: -len(axes)]))
    return None


def _reduce_rest(value: str, now: Layout, after: Layout) -> Collective | None:
    block = tuple(axis for axis in now.owes if axis not in after.owes)
    return Collective("AllReduce", block, value, now, now.owing(after.owes)) if block else None


def _kept(now: Layout, after: Layout, dim: str) -> Axes:
    """Return the leading axes of `dim` that the wanted layout has in the same place."""
    return common_prefix(now.of(dim), after.of(dim))


def _leading(axes: Axes, wanted: Callable[[str], bool]) -> Axes:
    return tuple(takewhile(wanted, axes))


_MOVES = (_slice, _slice_below, _mask, _scatter, _reduce, _exchange, _permute, _exchange_below, _gather, _reduce_rest)
