"""Tables of times as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

from typing import Any

from symscale.derivation.crossover import pass_name
from symscale.derivation.stack import Row, Table
from symscale.notation.numbers import format_number, format_quantity
from symscale.report.grid import Column, grid
from symscale.vocabulary import symbol

TIMES = (Column(symbol("T_math"), True), Column(symbol("T_hbm"), True), Column(symbol("T_comms"), True))


def table(found: Table, style: str) -> str:
    """Return a table in the format `text`, `md` or `latex`: one block for each pass."""
    columns = (Column(symbol(found.unknown), True), *TIMES, Column("bound"))
    return "\n\n".join(
        grid(f"{pass_name(name)}: times", columns, [_cells(each) for each in rows], style)
        for name, rows in found.rows.items()
    )


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
