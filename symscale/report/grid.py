"""Tables of words, numbers and formulas as text, Markdown, LaTeX and CSV: the one layout of every table."""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import sympy as sp

from symscale.derivation.step import Prose
from symscale.frozen import dataclass
from symscale.notation.latex import to_latex
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.report.plain import WIDTH, broken, words
from symscale.report.prose import (
    equation_latex,
    escape_latex,
    escape_markdown,
    inline,
    markdown_math,
    relation_inline,
)
from symscale.report.rounding import rounded
from symscale.report.wide import wide_latex, width
from symscale.solve.relation import Relation

# A word or a number as it is printed; a formula, a relation, or words with such among them.
Cell: TypeAlias = Prose | sp.Expr | Relation

_GAP = 2
# A column of words that has less room than this is not worth breaking.
_LEAST = 36
# Formulas of a LaTeX table wider than this are set on several lines.
_FORMULA = 44
# The width of a character in each LaTeX size, of a line in a list, and of the space between columns [pt].
_SIZES = ((5.6, ""), (5.1, r"\small"), (4.6, r"\footnotesize"), (4.1, r"\scriptsize"))
_LINE_WIDTH, _BETWEEN = 428, 12
# Room above and below a fraction.
_BELOW_RULE = r"\rule{0pt}{2.6ex}"
_STRUT = r"\rule[-2.4ex]{0pt}{6ex}"


@dataclass(frozen=True)
class Column:
    """A column: its head, whether its cells are set flush right, and the unit of all of them."""

    head: Cell
    right: bool = False
    unit: str = ""

    @property
    def bracketed(self) -> str:
        """The unit in brackets, if there is one."""
        return f"[{self.unit}]" if self.unit else ""

    @property
    def label(self) -> Cell:
        """The head with its unit."""
        return (*_prose(self.head), f" {self.bracketed}") if self.unit else self.head


def grid(
    title: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], style: str, *, notes: Sequence[str] = ()
) -> str:
    """Return a titled table in `text`, `md` or `latex`, with remarks below it."""
    body = table(columns, rows, style)
    if style == "text":
        remarks = [line for note in notes for line in wrapped(note)]
        return "\n".join([*wrapped(title), "-" * min(len(title), WIDTH), body, *([""] if remarks else []), *remarks])
    if style == "md":
        return "\n\n".join([f"## {escape_markdown(title)}", body, *map(escape_markdown, notes)])
    head = f"\\paragraph{{{escape_latex(title)}}}\\mbox{{}}\\par\\nopagebreak"
    return "\n\n".join([f"{head}\n{body}", *map(escape_latex, notes)])


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], style: str, order: Order | None = None, room: int = WIDTH
) -> str:
    """Return a table without a title in `text` (at most `room` characters wide where it can be), `md` or `latex`."""
    order = order or Order()
    if style == "text":
        return "\n".join(aligned(columns, rows, order, room))
    return (_markdown if style == "md" else _latex)(columns, rows, order)


def page(title: str, notes: Sequence[str], style: str) -> list[str]:
    """Return the head of several tables: a title, and what is said before them."""
    if style == "text":
        lines = [line for note in notes for line in wrapped(note)]
        return [f"{title}\n{'=' * min(len(title), WIDTH)}", *(["\n".join(lines)] if lines else [])]
    head = f"# {escape_markdown(title)}" if style == "md" else rf"\subsection*{{{escape_latex(title)}}}"
    return [head, *(paragraph(note, style) for note in notes)]


def paragraph(text: str, style: str) -> str:
    """Return a remark in `text`, `md` or `latex`."""
    if style == "text":
        return "\n".join(wrapped(text))
    return escape_markdown(text) if style == "md" else escape_latex(text)


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return a text on lines that fit a terminal."""
    return _filled(text, WIDTH - len(indent), indent)


def comma_separated(rows: Sequence[Mapping[str, object]], heads: Sequence[str]) -> str:
    """Return rows as CSV below their heads; yes and no are `true` and `false`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow(str(each).lower() if isinstance(each, bool) else each for each in row.values())
    return out.getvalue().rstrip("\n")


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
    shown = to_text(rounded(cell), order) if isinstance(cell, sp.Basic) else words(_prose(cell), order)
    return re.sub(r"\s", " ", shown)


def _prose(cell: Cell) -> tuple[str | sp.Expr | Relation, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def _markdown(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order) -> str:
    rule = "|".join("--:" if each.right else ":--" for each in columns)
    cells = [[_marked(each, order) for each in row] for row in ([column.label for column in columns], *rows)]
    lines = [f"| {' | '.join(each)} |" for each in cells]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def _marked(cell: Cell, order: Order) -> str:
    if isinstance(cell, sp.Basic):
        return f"${markdown_math(to_latex(rounded(cell), order))}$"
    return inline(_prose(cell), order, escape_markdown)


def _latex(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order) -> str:
    """Return a tabular with plain rules, in the size that fits a page; where none does, words are broken."""
    heads = [[_set(each.label, order) for each in columns]]
    cells = [[_set(each, order) for each in row] for row in rows]
    if any(each.unit for each in columns) and _across(_widths([*heads, *cells]), _SIZES[0][0]) > _LINE_WIDTH:
        heads = [[_set(each.head, order) for each in columns], [_set(each.bracketed, order) for each in columns]]
    widths = _widths([*heads, *cells])
    character, size = next((each for each in _SIZES if _across(widths, each[0]) <= _LINE_WIDTH), _SIZES[-1])
    flush = ["r" if each.right else "l" for each in columns]
    over = _across(widths, character) - _LINE_WIDTH
    if over > 0:
        widest = max((n for n in range(len(columns)) if flush[n] == "l"), key=lambda n: widths[n], default=0)
        share = max(widths[widest] * character - over, 12 * character) / _LINE_WIDTH
        flush[widest] = f"p{{{share:.2f}\\linewidth}}"
        cells = [[rf"\raggedright {c}" if n == widest else c for n, c in enumerate(row)] for row in cells]
    above = [*_rows(heads), r"\hline"] if any(map(any, heads)) else []
    tabular = "\n".join([r"\hline", *above, *_rows(cells), r"\hline"])
    return f"{{{size}\\noindent\n\\begin{{tabular}}{{{''.join(flush)}}}\n{tabular}\n\\end{{tabular}}\\par}}\\smallskip"


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
        return _math(wide_latex(rounded(cell), order, _FORMULA))
    if isinstance(cell, Relation):
        whole = relation_inline(cell, order)
        return _math(whole if width(whole) <= _FORMULA else equation_latex(cell, order))
    return inline(_prose(cell), order, escape_latex)


def _width(latex: str) -> int:
    """Return about how many characters wide a cell is set: its longest line."""
    lines = latex.replace(r"\begin{aligned}", "").replace(r"\end{aligned}", "").split(r"\\")
    plain = (re.sub(r"\\[_&%#{}]", "x", re.sub(r"[$]|\{\}", "", each)) for each in lines)
    # signs in formulas have room around them
    return max(map(width, plain)) + 2 * latex.count(" + ")
