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
        shown = sheet_table(step, sheet, "html", order, measures=style.measures)
        wide = style.width.percent or (f"{style.width.length:.4g}cm" if style.width.length else "")
        room = f"max-width: {wide}; " if wide else ""
        # a table that has no room is moved sideways, by keys too
        scrolled = f'style="{room}overflow-x: auto" tabindex="0" role="region" aria-label="Table"'
        return f"<div {scrolled}>\n{shown}\n</div>"

    def figure(self, figure: Figure, order: Order, style: Style, file: str = "") -> str:
        said = html.escape(alternative(figure), quote=True)
        room = f"width: {style.width.percent}; " if style.width.percent else ""
        fits = f'style="{room}max-width: 100%; height: auto"'
        drawn = f'<img src="{html.escape(file)}" alt="{said}" {fits}>' if file else _drawn(figure, said, fits)
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


def _drawn(figure: Figure, said: str, fits: str) -> str:
    """Return a figure as the SVG of a page, with what it shows in words and how wide it is."""
    from symscale.report.drawing import svg

    drawn = re.sub(r"^.*?(?=<svg)", "", svg(figure), flags=re.DOTALL).strip()
    # names within a drawing are those of a file of its own
    for each in (' aria-labelledby="title desc"', ' id="title"', ' id="desc"'):
        drawn = drawn.replace(each, "", 1)
    return drawn.replace("<svg", f'<svg aria-label="{said}" {fits}', 1)
