"""Tables of times as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from symscale.derivation.crossover import pass_name
from symscale.derivation.stack import Row, Table
from symscale.notation.numbers import format_number, format_quantity

HEAD = ("T_math", "T_hbm", "T_comms", "bound")


def table(found: Table, style: str) -> str:
    """Return a table in the format `text`, `md` or `latex`: one block for each pass."""
    render = {"text": _text, "md": _markdown, "latex": _latex}[style]
    return "\n\n".join(render(pass_name(name), found.unknown, rows) for name, rows in found.rows.items())


def table_data(found: Table) -> dict[str, Any]:
    """Return a table for JSON; times in seconds."""
    return {
        "unknown": found.unknown,
        "passes": {
            name: [
                {"value": str(r.value), "math": r.math, "hbm": r.hbm, "comms": r.comms, "bound": r.bound} for r in rows
            ]
            for name, rows in found.rows.items()
        },
    }


def _cells(row: Row) -> tuple[str, ...]:
    times = (format_quantity(each, "s", 4) if each else "0" for each in (row.math, row.hbm, row.comms))
    return (format_number(row.value, 6), *times, row.bound)


def _text(title: str, unknown: str, rows: Sequence[Row]) -> str:
    cells = [(unknown, *HEAD), *map(_cells, rows)]
    widths = [max(len(each[n]) for each in cells) for n in range(len(cells[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(each, widths, strict=True)) for each in cells]
    return "\n".join([f"{title}: times", *lines])


def _markdown(title: str, unknown: str, rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(each)} |" for each in [(f"${unknown}$", *_heads()), *map(_cells, rows)]]
    return "\n".join([f"**{title}: times**", "", lines[0], "|--:|--:|--:|--:|:--|", *lines[1:]])


def _latex(title: str, unknown: str, rows: Sequence[Row]) -> str:
    lines = [" & ".join(each) + r" \\" for each in [(f"${unknown}$", *_heads()), *map(_cells, rows)]]
    body = "\n".join([lines[0], r"\hline", *lines[1:]]).replace("µ", r"$\mu$")
    body = re.sub(r"(\S+) × 10\^(-?\d+)", r"$\1 \\times 10^{\2}$", body)
    return (
        f"\\paragraph{{{title}: times}}\\mbox{{}}\\par\\noindent\n\\begin{{tabular}}{{rrrrl}}\n{body}\n\\end{{tabular}}"
    )


def _heads() -> tuple[str, ...]:
    return (r"$T_\text{math}$", r"$T_\text{hbm}$", r"$T_\text{comms}$", "bound")
