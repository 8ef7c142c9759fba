"""Typst: its own maths, tables, `@key`."""

from __future__ import annotations

from collections.abc import Sequence

from symscale.derivation.figure import Figure
from symscale.derivation.sheet import Sheet
from symscale.derivation.step import Step
from symscale.notation.order import Order
from symscale.paper.language import Dialect
from symscale.paper.maths import Row
from symscale.paper.style import Style
from symscale.report.figures import alternative, caption
from symscale.report.sheets import sheet_table
from symscale.report.typst import TYPST, typst, typst_string


class Typst(Dialect):
    """Typst's markup."""

    name = "typst"
    suffixes = (".typ",)
    form = TYPST
    space = "~"

    def display(self, rows: Sequence[Row], style: Style, label: str = "") -> str:
        marks = style.env != "gather" and len(rows) > 1
        shown = " \\\n  ".join(_line(each, marks) for each in rows)
        numbered = style.numbered or bool(label)
        if not numbered:
            return f"$ {shown} $"
        named = f" <{style.label}{label}>" if label else ""
        # an equation of its own has its number whatever the document numbers
        return f'#math.equation(block: true, numbering: "(1)", $ {shown} $){named}'

    def bare(self, latex: str) -> str:
        return typst(latex)

    def table(self, step: Step, sheet: Sheet, order: Order, style: Style) -> str:
        shown = sheet_table(step, sheet, "typst", order, measures=style.measures)
        wide = style.width.percent or (f"{style.width.length:.4g}cm" if style.width.length else "")
        return f"#block(width: {wide})[\n{shown}\n]" if wide else shown

    def figure(self, figure: Figure, order: Order, style: Style, file: str = "") -> str:
        if file:
            # without a width it is as wide as it was drawn, unless its column is narrower
            wide = f"width: {style.width.percent}, " if style.width.percent else ""
            drawn = f"image({typst_string(file)}, {wide}alt: {typst_string(alternative(figure))})"
            return f"#figure(\n  {drawn},\n  caption: [{self.said(caption(figure), order)}],\n)"
        return f"_{self.text(alternative(figure))}_ {self.said(caption(figure), order)}"

    def cite(self, keys: Sequence[str]) -> str:
        return " ".join(f"@{key}" for key in keys)

    def comment(self, text: str) -> str:
        return "\n".join(f"// {line}" for line in text.splitlines())

    def strong(self, text: str) -> str:
        return f"*{text}*"

    def head(self, text: str) -> str:
        return f"#block(sticky: true)[{text}]"

    def code(self, lines: Sequence[str]) -> str:
        return f"#raw(block: true, {typst_string(chr(10).join(lines))})"

    def items(self, lines: Sequence[str]) -> str:
        return "\n".join(f"- {line}" for line in lines)


def _line(row: Row, marks: bool) -> str:
    left, sign, right, tail = (typst(each) if each else "" for each in (row.left, row.sign, row.right, row.tail))
    return " ".join(filter(None, (left, f"& {sign}" if marks else sign, right, tail)))
