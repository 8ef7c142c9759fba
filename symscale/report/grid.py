"""Tables of words and numbers as text, Markdown and LaTeX."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from symscale.frozen import dataclass
from symscale.report.document import escape_latex, escape_markdown
from symscale.report.plain import WIDTH


@dataclass(frozen=True)
class Column:
    """A column: its head, whether it is set flush right, and whether its cells are formulas (LaTeX but in text)."""

    head: str
    right: bool = False
    math: bool = False


def grid(
    title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], style: str, *, notes: Sequence[str] = ()
) -> str:
    """Return a titled table in `text`, `md` or `latex`, with remarks below it."""
    return {"text": _text, "md": _markdown, "latex": _latex}[style](title, columns, rows, notes)


def _text(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    cells = [tuple(each.head for each in columns), *rows]
    widths = [max(len(each[n]) for each in cells) for n in range(len(columns))]
    lines = [
        "  ".join(
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(each, widths, columns, strict=True)
        ).rstrip()
        for each in cells
    ]
    remarks = [line for note in notes for line in textwrap.wrap(note, WIDTH)]
    return "\n".join([title, "-" * min(len(title), WIDTH), *lines, *([""] if remarks else []), *remarks])


def _markdown(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    rule = "|".join("--:" if each.right else ":--" for each in columns)
    heads = [column.head for column in columns]
    lines = [f"| {' | '.join(each)} |" for each in (heads, *_cells(columns, rows, escape_markdown))]
    table = "\n".join([lines[0], f"|{rule}|", *lines[1:]])
    return "\n\n".join([f"### {escape_markdown(title)}", table, *map(escape_markdown, notes)])


def _latex(title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    heads = [escape_latex(column.head) for column in columns]
    lines = [" & ".join(each) + r" \\" for each in (heads, *_cells(columns, rows, _number))]
    table = "\n".join([lines[0], r"\hline", *lines[1:]])
    flush = "".join("r" if each.right else "l" for each in columns)
    head = f"\\paragraph{{{escape_latex(title)}}}\\mbox{{}}\\par\\noindent"
    tabular = f"{head}\n\\begin{{tabular}}{{{flush}}}\n{table}\n\\end{{tabular}}"
    return "\n\n".join([tabular, *map(escape_latex, notes)])


def _cells(columns: Sequence[Column], rows: Sequence[Sequence[str]], escape: Callable[[str], str]) -> list[list[str]]:
    """Return the cells escaped, but for formulas."""
    pairs = [list(zip(row, columns, strict=True)) for row in rows]
    return [[f"${cell}$" if column.math and "\\" in cell else escape(cell) for cell, column in row] for row in pairs]


def _number(cell: str) -> str:
    return re.sub(r"(\S+) × 10\^(-?\d+)", r"$\1 \\times 10^{\2}$", escape_latex(cell).replace("µ", r"$\mu$"))
