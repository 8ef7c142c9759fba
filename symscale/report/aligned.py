"""Tables as text: columns under one another, long formulas below their row, long words on several lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import sympy as sp

from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.report.column import Cell, Column, prose_of
from symscale.report.plain import WIDTH, broken, words
from symscale.report.rounding import rounded

_GAP = 2
# A column of words that has less room than this is not worth breaking.
_LEAST = 36


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return a text on lines that fit a terminal."""
    return _filled(text, WIDTH - len(indent), indent)


def aligned(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order | None = None, room: int = WIDTH
) -> list[str]:
    """Return the lines of a table, columns under one another; formulas too long for a line stand below their row."""
    order = order or Order()
    heads = [_text(each.label, order) for each in columns]
    cells = [[_text(each, order) for each in row] for row in rows]
    below = _spilled(heads, columns, rows, cells, room)
    kept = [n for n in range(len(heads)) if not below or any(row[n] for row in cells)]
    widths = [max([len(heads[n]), *(len(row[n]) for row in cells)]) for n in kept]
    if sum(widths) + _GAP * (len(widths) - 1) > room:
        widths = [max([*map(len, heads[n].split()), 0, *(len(row[n]) for row in cells)]) for n in kept]
    _narrowed(widths, [columns[n] for n in kept], room)
    lines = []
    for at, row in enumerate([heads, *cells]):
        if not any(row):
            continue
        lines += _line([row[n] for n in kept], widths, [columns[n].right for n in kept])
        lines += [f"    {part}" for formula in below.get(at - 1, ()) for part in broken(formula, room - 4)]
    return lines


def _spilled(
    heads: Sequence[str],
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    cells: list[list[str]],
    room: int,
) -> dict[int, list[str]]:
    """Take the longest formulas out of the cells until the lines fit, and return them by row."""
    formulas = sorted(
        ((len(cells[at][n]), at, n) for at, row in enumerate(rows) for n, each in enumerate(row) if _formula(each)),
        key=lambda each: (-each[0], each[1:]),
    )
    words = [n for n, column in enumerate(columns) if not column.right and n not in {n for _, _, n in formulas}]
    taken: list[tuple[int, int, str]] = []
    for _, at, n in formulas:
        # heads may stand on two lines, and so may words
        widths = [max([0, *map(len, heads[m].split()), *(len(row[m]) for row in cells)]) for m in range(len(heads))]
        widest = max(words, key=widths.__getitem__, default=0)
        if words:
            widths[widest] = min(widths[widest], _LEAST)
        if sum(widths) + _GAP * (len(heads) - 1) <= room:
            break
        taken.append((at, n, cells[at][n]))
        cells[at][n] = ""
    several = len({n for _, n, _ in taken}) > 1
    below: dict[int, list[str]] = {}
    for at, n, text in sorted(taken):
        named = heads[n] and (several or not isinstance(columns[n].head, str))
        below.setdefault(at, []).append(f"{heads[n]}: {text}" if named else text)
    return below


def _formula(cell: Cell) -> bool:
    return not isinstance(cell, str)


def _narrowed(widths: list[int], columns: Sequence[Column], room: int) -> None:
    """Narrow the widest column of words to what is left of a line, where that is worth the while."""
    left = [n for n, each in enumerate(columns) if not each.right]
    over = sum(widths) + _GAP * (len(widths) - 1) - room
    if over <= 0 or not left:
        return
    widest = max(left, key=lambda n: widths[n])
    if widths[widest] - over >= _LEAST:
        widths[widest] -= over


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    """Return a row, on several lines where a cell is longer than its column."""
    parts = [[cell] if len(cell) <= width else _filled(cell, width) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for n in range(max(map(len, parts))):
        words = [each[n] if n < len(each) else "" for each in parts]
        fitted = [
            word.rjust(width) if flush else word.ljust(width)
            for word, width, flush in zip(words, widths, right, strict=True)
        ]
        lines.append((" " * _GAP).join(fitted).rstrip())
    return lines


def _filled(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width + len(indent),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _text(cell: Cell, order: Order) -> str:
    shown = to_text(rounded(cell, order.digits), order) if isinstance(cell, sp.Basic) else words(prose_of(cell), order)
    return re.sub(r"\s", " ", shown)
