"""Tables in every format: text, Markdown, LaTeX and CSV. The one layout of every table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from symscale.notation.order import Order
from symscale.report.aligned import aligned, wrapped
from symscale.report.column import Cell, Column
from symscale.report.plain import WIDTH
from symscale.report.prose import MARKDOWN, escape_latex, escape_markdown, set_cell
from symscale.report.tabular import bare_tabular, tabular
from symscale.report.typst import typst_table
from symscale.report.web import html_table

__all__ = ["Cell", "Column", "aligned", "comma_separated", "grid", "page", "paragraph", "table", "wrapped"]


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
    """Return a table without a title in `text`, `md`, `latex`, `tabular` (without a paragraph), `typst` or `html`.

    `room` is about how many characters a line has, of text or of the document a tabular is for.
    """
    order = order or Order()
    if style == "text":
        return "\n".join(aligned(columns, rows, order, room))
    if style == "tabular":
        return bare_tabular(columns, rows, order, room)
    return _LAYOUTS[style](columns, rows, order)


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


def comma_separated(rows: Sequence[Mapping[str, object]], heads: Sequence[str]) -> str:
    """Return rows as CSV below their heads; yes and no are `true` and `false`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow(str(each).lower() if isinstance(each, bool) else each for each in row.values())
    return out.getvalue().rstrip("\n")


def _markdown(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order) -> str:
    rule = "|".join("--:" if each.right else ":--" for each in columns)
    cells = [[set_cell(each, order, MARKDOWN) for each in row] for row in ([each.label for each in columns], *rows)]
    lines = [f"| {' | '.join(each)} |" for each in cells]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


_LAYOUTS = {"md": _markdown, "latex": tabular, "typst": typst_table, "html": html_table}
