"""HTML: words, formulas as MathML, and tables that say which cell belongs to which head."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from symscale.notation.order import Order
from symscale.report.column import Cell, Column
from symscale.report.mathml import mathml
from symscale.report.prose import Form, set_cell, with_signs


def escape_html(text: str) -> str:
    """Return text in which no character is HTML markup; arrows and comparisons are set as such."""
    return html.escape(re.sub(r"\s", " ", with_signs(text)))


HTML = Form("html", escape_html, mathml)


def html_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order) -> str:
    """Return a table, numbers flush right."""
    sides = [' style="text-align: right"' if each.right else "" for each in columns]
    heads = "".join(
        f'<th scope="col"{side}>{set_cell(each.label, order, HTML)}</th>'
        for each, side in zip(columns, sides, strict=True)
    )
    lines = [
        "".join(f"<td{side}>{set_cell(cell, order, HTML)}</td>" for cell, side in zip(row, sides, strict=True))
        for row in rows
    ]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
