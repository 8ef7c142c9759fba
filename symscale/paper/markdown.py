"""Markdown: $ and $$ for KaTeX, GitHub and pandoc, pipe tables, [@key]."""

from __future__ import annotations

import html
from collections.abc import Sequence

from symscale.derivation.figure import Figure
from symscale.derivation.sheet import Sheet
from symscale.derivation.step import Step
from symscale.notation.order import Order
from symscale.paper.language import Dialect
from symscale.paper.latex import aligned
from symscale.paper.maths import Row
from symscale.paper.style import Style
from symscale.report.figures import alternative, caption
from symscale.report.prose import MARKDOWN, fence, markdown_math
from symscale.report.sheets import sheet_table


class Markdown(Dialect):
    """Markdown with formulas between dollar signs."""

    name = "markdown"
    suffixes = (".md", ".markdown", ".qmd", ".rmd")
    form = MARKDOWN
    space = " "

    def display(self, rows: Sequence[Row], style: Style, label: str = "") -> str:
        inside = aligned(rows) if len(rows) > 1 else rows[0].whole
        shown = f"$$\n{markdown_math(inside)}\n$$"
        return f'<a id="{style.label}{label}"></a>\n\n{shown}' if label else shown

    def bare(self, latex: str) -> str:
        return markdown_math(latex)

    def table(self, step: Step, sheet: Sheet, order: Order, style: Style) -> str:
        return sheet_table(step, sheet, "md", order, measures=style.measures)

    def figure(self, figure: Figure, order: Order, style: Style, file: str = "") -> str:
        if file:
            said, wide = alternative(figure), style.width.percent
            # Markdown itself has no widths
            image = (
                f'<img src="{file}" alt="{html.escape(said)}" width="{wide}">'
                if wide
                else f"![{self.text(said)}]({file})"
            )
            return f"{image}\n\n{self.said(caption(figure), order)}"
        return f"*{self.text(alternative(figure))}* {self.said(caption(figure), order)}"

    def cite(self, keys: Sequence[str]) -> str:
        return f"[{'; '.join(f'@{key}' for key in keys)}]"

    def comment(self, text: str) -> str:
        return f"<!-- {text.replace('--', '- -')} -->"

    def strong(self, text: str) -> str:
        return f"**{text}**"

    def code(self, lines: Sequence[str]) -> str:
        marks = fence(list(lines))
        return "\n".join([f"{marks}text", *lines, marks])

    def items(self, lines: Sequence[str]) -> str:
        return "\n".join(f"- {line}" for line in lines)
