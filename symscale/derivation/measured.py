"""What a quantity is measured in: by its unit, its name, or the dimension of its formula."""

from __future__ import annotations

from collections.abc import Collection

import sympy as sp

from symscale.derivation.proof import known_dimensions
from symscale.errors import UnitError
from symscale.notation.text import to_text
from symscale.quantity import PURE, Dimension, dimension_of, parse_unit
from symscale.vocabulary import entry

BYTE, SECOND, JOULE = (parse_unit(each).dimension for each in ("B", "s", "J"))
#: The units that numbers of these dimensions are shown in.
UNITS = {SECOND: "s", BYTE: "B", BYTE / SECOND: "B/s", JOULE: "J", PURE / BYTE: "FLOP/B"}
#: What names begin with, and what they measure: M_cache, bytes_X, T_step, W_all, rate_core, intensity_chip.
STEMS = {"M": BYTE, "bytes": BYTE, "V": BYTE, "T": SECOND, "W": BYTE / SECOND, "C": PURE / SECOND}
STEMS |= {"rate": PURE / SECOND, "intensity": PURE / BYTE}
#: Times that are counted in the unit they are called by, in seconds.
TIMES = {"minutes": 60, "hours": 3600, "days": 86400, "years": 31536000}


def dimension(what: sp.Expr, expr: sp.Expr, unit: str = "") -> Dimension | None:
    """Return the dimension of a quantity, by its unit, its name, or its formula; None where none of them tells."""
    if unit:
        try:
            return parse_unit(unit).dimension
        except UnitError:
            return PURE  # what is counted has no unit of measure: physical axes
    stem, _, rest = to_text(what).partition("_")
    whole = what.is_Symbol and (bool(rest) or entry(stem) is None or stem in ("M", "C", "W", "V"))
    if whole and stem in STEMS and not (len(rest) == 1 and stem == "M"):
        # T_chunk = b*C/W counts the tokens of a chunk
        return PURE if stem == "T" and _rated(expr) and _by_formula(expr) == PURE else STEMS[stem]
    if what.free_symbols and not _familiar(expr):
        return PURE
    if what == 1 and any(abs(each) >= 1000 for each in expr.atoms(sp.Number)):
        return None  # a number among the symbols may be of any unit
    found = _by_formula(expr)
    return found if found == PURE or found in STEMS.values() else None


def unit_for(what: sp.Expr, expr: sp.Expr, given: Collection[sp.Expr] = (), unit: str = "") -> str:
    """Return the unit of a number: as the step has it, of its symbol, or of the dimension of its formula.

    `given` are the values that were put into the formula.
    """
    name = to_text(what)
    row = entry(name)
    if unit or (row is not None and row.unit):
        return unit or (row.unit if row is not None else "")
    if name.startswith("FLOPs"):
        return "FLOP"
    if name in TIMES:
        return name
    measured = dimension(what, expr)
    if measured == SECOND and given and not _rated(expr) and all(each.is_Integer for each in given):
        return ""  # in the times that are given, as counts
    if measured == PURE / SECOND:
        peaks = any(each.name.partition("_")[0] == "C" for each in expr.free_symbols)
        return "FLOP/s" if name.startswith("C_") or peaks else "1/s"
    return UNITS.get(measured, "") if measured is not None else ""


def shown_in(what: sp.Expr, value: sp.Expr, expr: sp.Expr, given: Collection[sp.Expr] = ()) -> str:
    """Return the unit that a step shows a number in: none for what is no number, and where years = 435 says it."""
    return "" if value.free_symbols or to_text(what) in TIMES else unit_for(what, expr, given)


def unit_of(name: sp.Symbol, value: sp.Expr) -> str:
    """Return the unit of a number that is given for a symbol: that of the table of symbols, or what its name says."""
    row = entry(name.name)
    if row is not None:
        return row.unit
    stem = name.name.partition("_")[0]
    return unit_for(name, name, (value,)) if stem in STEMS or name.name.startswith("FLOPs") else ""


def _rated(expr: sp.Expr) -> bool:
    """Say whether a formula has the peak or a bandwidth of a chip."""
    return any(each.name.partition("_")[0] in ("C", "W") for each in expr.free_symbols)


def _by_formula(expr: sp.Expr) -> Dimension | None:
    try:
        return dimension_of(expr, known_dimensions(expr))
    except UnitError:
        return None


def _familiar(expr: sp.Expr) -> bool:
    """Say whether the dimensions of all symbols are known: of letters, which count, and of those of the table."""
    names = known_dimensions(expr)
    return all(each.name in names or (len(each.name) == 1 and each.name not in STEMS) for each in expr.free_symbols)
