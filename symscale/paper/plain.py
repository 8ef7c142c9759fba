"""Plain text, as a terminal shows a derivation: formulas of our own grammar, which read back."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import sympy as sp

from symscale.derivation.figure import Figure
from symscale.derivation.sheet import Sheet
from symscale.derivation.step import Prose, Step
from symscale.notation.order import Order
from symscale.paper.language import Dialect
from symscale.paper.maths import TEXT, Row
from symscale.paper.style import Style
from symscale.report.figures import alternative, description
from symscale.report.plain import WIDTH, broken, step_text, words
from symscale.report.prose import Form
from symscale.report.sheets import sheet_table


class Plain(Dialect):
    """Text without markup; symbols have their own names, for renames are LaTeX."""

    name = "text"
    suffixes = ()
    form = Form("text", str, str)
    space = " "
    below = "\n"
    maths = TEXT

    def display(self, rows: Sequence[Row], style: Style, label: str = "") -> str:
        return "\n".join(line for each in rows for line in broken(each.whole, WIDTH))

    def bare(self, latex: str) -> str:
        return latex

    def number(self, value: sp.Expr, unit: str, style: Style) -> str:
        return self.maths.number(value, unit, style.measures.digits, style.numbers)

    def table(self, step: Step, sheet: Sheet, order: Order, style: Style) -> str:
        return sheet_table(step, sheet, "text", order, measures=style.measures)

    def figure(self, figure: Figure, order: Order, style: Style, file: str = "") -> str:
        said = (alternative(figure), description(figure))
        return "\n".join(textwrap.fill(each, WIDTH, break_long_words=False) for each in said if each)

    def cite(self, keys: Sequence[str]) -> str:
        return f"[{', '.join(keys)}]"

    def comment(self, text: str) -> str:
        return text

    def strong(self, text: str) -> str:
        return text

    def code(self, lines: Sequence[str]) -> str:
        return "\n".join(f"    {line}" for line in lines)

    def items(self, lines: Sequence[str]) -> str:
        return "\n".join(f"- {line}" for line in lines)

    def step(self, number: int, step: Step, order: Order, style: Style) -> str:
        return step_text(number, step, order, style.measures if style.digits or style.units or style.unit else None)

    def joined(self, rows: Sequence[Row]) -> str:
        return ", ".join(each.whole for each in rows)

    def said(self, prose: Prose, order: Order) -> str:
        return words(prose, order)
