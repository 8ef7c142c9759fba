"""Under which convention a printed answer that differs would be right."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from symscale.exercise.answers import Row, close, half_unit, known, read
from symscale.exercise.search import Fits, search
from symscale.exercise.setting import Setting, stated
from symscale.exercise.slips import OF_READERS

#: Fewer digits than these fit too many pairs of conventions, and too many values that are cut off, to mean anything.
TELLING_DIGITS = 3


def right_if(row: Row) -> tuple[str, ...]:
    """Return the conventions under which the print of a row is right, the simplest first; none for words."""
    if not row.printed or row.printed in ("yes", "no"):
        return ()
    pairs = _digits(row.printed) >= TELLING_DIGITS
    found = [search(each, fits(row.printed, row.within), 2 if pairs else 1, OF_READERS) for each in settings(row)]
    return tuple(dict.fromkeys(str(one) for each in found for one in each))


def settings(row: Row) -> Iterator[Setting]:
    """Yield how a row's value is computed: by its formula, or by each equation that states its quantity."""
    if row.formula:
        yield Setting(read(row.formula), known(row))
    else:
        yield from stated(row.derivation, read(row.quantity), known(row))


def fits(printed: str, within: str = "") -> Fits:
    """Return what says whether a value is the printed one: to half a unit of its last digit, or cut off there."""
    shown = read(printed)
    unit = 0 if within or not shown.is_number else 2 * half_unit(printed)

    def fit(value: sp.Expr) -> str | None:
        if close(value, printed, within):
            return ""
        if unit and value.is_number and 0 < sp.N(value, 20) - shown < unit:
            return "cut off instead of rounded"
        return None

    return fit


def _digits(printed: str) -> int:
    return sum(each.isdigit() for each in printed.lower().partition("e")[0].lstrip("0."))
