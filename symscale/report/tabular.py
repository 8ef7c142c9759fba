"""Tables as LaTeX: a tabular with plain rules that needs no package, in the size that fits a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

import sympy as sp

from symscale.notation.order import Order
from symscale.report.column import Cell, Column, prose_of
from symscale.report.prose import LATEX, equation_latex, inline, relation_inline
from symscale.report.rounding import rounded
from symscale.report.wide import LINE, wide_latex, width
from symscale.solve.relation import Relation

# Formulas of a LaTeX table wider than this are set on several lines.
_FORMULA = 44
# The width of a character in each LaTeX size, of a line in a list, and of the space between columns [pt].
_SIZES = ((5.6, ""), (5.1, r"\small"), (4.6, r"\footnotesize"), (4.1, r"\scriptsize"))
_LINE_WIDTH, _BETWEEN = 428, 12
# Room above and below a fraction.
_BELOW_RULE = r"\rule{0pt}{2.6ex}"
_STRUT = r"\rule[-2.4ex]{0pt}{6ex}"


def tabular(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order) -> str:
    """Return a tabular with plain rules as a paragraph, in the size that fits a page; or else its words are broken."""
    size, table = _fitted(columns, rows, order)
    return f"{{{size}\\noindent\n{table}\\par}}\\smallskip"


def bare_tabular(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order, room: int = LINE) -> str:
    """Return a tabular with plain rules for a place in a document whose formulas have `room` characters to a line."""
    size, table = _fitted(columns, rows, order, _LINE_WIDTH * room / LINE)
    return f"{{{size}\n{table}}}" if size else table


def _fitted(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order, room: float = _LINE_WIDTH
) -> tuple[str, str]:
    """Return the LaTeX size in which a table fits a page, and the tabular."""
    heads = [[_set(each.label, order) for each in columns]]
    cells = [[_set(each, order) for each in row] for row in rows]
    if any(each.unit for each in columns) and _across(_widths([*heads, *cells]), _SIZES[0][0]) > room:
        heads = [[_set(each.head, order) for each in columns], [_set(each.bracketed, order) for each in columns]]
    widths = _widths([*heads, *cells])
    character, size = next((each for each in _SIZES if _across(widths, each[0]) <= room), _SIZES[-1])
    flush = ["r" if each.right else "l" for each in columns]
    over = _across(widths, character) - room
    if over > 0:
        widest = max((n for n in range(len(columns)) if flush[n] == "l"), key=lambda n: widths[n], default=0)
        share = max(widths[widest] * character - over, 12 * character) / room
        flush[widest] = f"p{{{share:.2f}\\linewidth}}"
        cells = [[rf"\raggedright {c}" if n == widest else c for n, c in enumerate(row)] for row in cells]
    above = [*_rows(heads), r"\hline"] if any(map(any, heads)) else []
    inside = "\n".join([r"\hline", *above, *_rows(cells), r"\hline"])
    return size, f"\\begin{{tabular}}{{{''.join(flush)}}}\n{inside}\n\\end{{tabular}}"


def _rows(cells: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with room around fractions, and below the rule above them."""
    struts = [_STRUT if _tall(row) else "" if n else _BELOW_RULE for n, row in enumerate(cells)]
    return [f"{' & '.join(row)}{strut} \\tabularnewline" for row, strut in zip(cells, struts, strict=True)]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(_width, column)) for column in zip(*rows, strict=True)]


def _across(widths: Sequence[int], character: float) -> float:
    """Return about how wide a table is [pt]."""
    return sum(widths) * character + _BETWEEN * len(widths)


def _tall(row: Sequence[str]) -> bool:
    return any(r"\frac" in cell or "aligned" in cell for cell in row)


def _math(latex: str) -> str:
    return rf"$\displaystyle {latex}$" if r"\frac" in latex else f"${latex}$"


def _set(cell: Cell, order: Order) -> str:
    if isinstance(cell, sp.Basic):
        return _math(wide_latex(rounded(cell, order.digits), order, _FORMULA))
    if isinstance(cell, Relation):
        whole = relation_inline(cell, order)
        return _math(whole if width(whole) <= _FORMULA else equation_latex(cell, order))
    return inline(prose_of(cell), order, LATEX)


def _width(latex: str) -> int:
    """Return about how many characters wide a cell is set: its longest line."""
    lines = latex.replace(r"\begin{aligned}", "").replace(r"\end{aligned}", "").split(r"\\")
    plain = (re.sub(r"\\[_&%#{}]", "x", re.sub(r"[$]|\{\}", "", each)) for each in lines)
    # signs in formulas have room around them
    return max(map(width, plain)) + 2 * latex.count(" + ")
