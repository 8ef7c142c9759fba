"""The search for a convention under which a number is right: the simplest first, one change and then two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import sympy as sp

from symscale.exercise.conventions import CONVENTIONS, Reading, Readings, bits
from symscale.exercise.setting import Setting
from symscale.exercise.slips import HARMLESS, LATER, SLIPS
from symscale.frozen import dataclass

#: Says how a value is what was printed: "" as it is, words such as "cut off", or None where it is not.
Fits = Callable[[sp.Expr], str | None]


@dataclass(frozen=True)
class Found:
    """Conventions that lead from a setting to a number, none for the setting itself, and how the number fits.

    Those of a lower `rank` are more usual.
    """

    readings: tuple[Reading, ...]
    setting: Setting
    how: str = ""
    harmless: bool = True
    rank: int = 0

    def __str__(self) -> str:
        return "; ".join((*(each.words for each in self.readings), *([self.how] if self.how else [])))


def search(
    start: Setting, fits: Fits, most: int = 1, without: Readings = (), besides: Readings = ()
) -> Iterator[Found]:
    """Yield the conventions under which a setting gives what `fits`: none, one, or with `most=2` two at once.

    Slips `besides` may be the second of two.

    As soon as some fit, no more are put together. What fits when it is cut off stands behind what fits as it is, but
    a number that is nothing but cut off comes first. Kinds of conventions may be left out.
    """
    alone = _fitting([Found((), start)], fits)
    if any(not each.how for each in alone):
        yield from alone
        return
    one = sorted(_fitting(_one(start, without), fits) or _fitting(_later(start), fits), key=lambda each: bool(each.how))
    if alone:
        one = [each for each in one if not each.how]
    found = [*alone, *one]
    # two at once and cut off as well would be almost anything
    yield from found if found or most < 2 else (each for each in _fitting(_two(start, besides), fits) if not each.how)


def _fitting(level: Iterable[Found], fits: Fits) -> list[Found]:
    return [replace(each, how=how) for each in level if (how := _fits(each, fits)) is not None]


def _one(start: Setting, without: Readings) -> Iterator[Found]:
    for rank, kind in enumerate((*CONVENTIONS, *SLIPS)):
        for each in kind(start) if kind not in without else ():
            yield Found((each,), each.setting, harmless=kind in HARMLESS, rank=rank)


def _later(start: Setting) -> Iterator[Found]:
    rank = len(CONVENTIONS) + len(SLIPS)
    return (Found((each,), each.setting, harmless=False, rank=rank) for kind in LATER for each in kind(start))


def _two(start: Setting, besides: Readings) -> Iterator[Found]:
    several = [kind for kind in CONVENTIONS if kind is not bits]
    if start.expr.has(sp.Max, sp.Min):  # whose parts are compared anew with every change
        besides = ()
    for at, kind in enumerate(several):
        for one in kind(start):
            for other in (*several[at + 1 :], *besides):
                for each in other(one.setting):
                    both = kind in HARMLESS and other in HARMLESS and other not in besides
                    yield Found((one, each), each.setting, harmless=both, rank=at)


def _fits(found: Found, fits: Fits) -> str | None:
    value = found.setting.value
    return None if value.has(sp.nan, sp.zoo, sp.oo) else fits(value)
