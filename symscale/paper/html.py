"""HTML: MathML, tables with heads, plots as SVG."""

from __future__ import annotations

import html
import re
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
from symscale.report.mathml import mathml
from symscale.report.sheets import sheet_table
from symscale.report.web import HTML


class Html(Dialect):
    """HTML with formulas in MathML."""

    name = "html"
    suffixes = (".html", ".htm", ".xhtml")
    form = HTML
    space = "&nbsp;"
    below = "\n"

    def display(self, rows: Sequence[Row], style: Style, label: str = "") -> str:
        latex = aligned(rows) if len(rows) > 1 else rows[0].whole
        named = f' id="{html.escape(style.label + label)}"' if label else ""
        return f'<div class="equation"{named}>{mathml(latex, True)}</div>'

    def bare(self, latex: str) -> str:
        return mathml(latex)

    def table(self, step: Step, sheet: Sheet, order: Order, style: Style) -> str:
        return sheet_table(step, sheet, "html", order, measures=style.measures)

    def figure(self, figure: Figure, order: Order, file: str = "") -> str:
        said = html.escape(alternative(figure), quote=True)
        drawn = f'<img src="{html.escape(file)}" alt="{said}">' if file else _drawn(figure, said)
        return f"<figure>\n{drawn}\n<figcaption>{self.said(caption(figure), order)}</figcaption>\n</figure>"

    def cite(self, keys: Sequence[str]) -> str:
        return " ".join(f'<a class="citation" href="#{html.escape(key)}">[{html.escape(key)}]</a>' for key in keys)

    def comment(self, text: str) -> str:
        return f"<!-- {text.replace('--', '- -')} -->"

    def strong(self, text: str) -> str:
        return f"<strong>{text}</strong>"

    def code(self, lines: Sequence[str]) -> str:
        return f"<pre><code>{html.escape(chr(10).join(lines))}</code></pre>"

    def items(self, lines: Sequence[str]) -> str:
        return "\n".join(["<ul>", *(f"<li>{line}</li>" for line in lines), "</ul>"])

    def paragraph(self, text: str) -> str:
        return f"<p>{text}</p>"


def _drawn(figure: Figure, said: str) -> str:
    """Return a figure as the SVG of a page, with what it shows in words."""
    from symscale.report.drawing import svg

    drawn = re.sub(r"^.*?(?=<svg)", "", svg(figure), flags=re.DOTALL).strip()
    return drawn.replace("<svg", f'<svg role="img" aria-label="{said}"', 1)
