r"""LaTeX: equations, align and gather of amsmath, `\qty` of siunitx, tabular, pgfplots, `\cite`."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symscale.derivation.figure import Figure
from symscale.derivation.sheet import Sheet
from symscale.derivation.step import Step
from symscale.errors import SymscaleError
from symscale.notation.numbers import NumberStyle, format_number, with_unit
from symscale.notation.order import Order
from symscale.paper.language import Dialect
from symscale.paper.maths import PACKAGES, Row
from symscale.paper.style import Style
from symscale.paper.widths import Width
from symscale.report.prose import LATEX
from symscale.report.sheets import sheet_table


class Latex(Dialect):
    """LaTeX with amsmath."""

    name = "latex"
    suffixes = (".tex", ".ltx", ".latex", ".sty", ".cls")
    form = LATEX
    maths = PACKAGES
    space = "~"
    below = "\n"

    def display(self, rows: Sequence[Row], style: Style, label: str = "") -> str:
        marked = rf"\label{{{style.label}{label}}}" if label else ""
        numbered = style.numbered or bool(label)
        star = "" if numbered else "*"
        env = style.env if style.env in ("align", "gather", "equation") else ""
        if not env:
            env = "align" if len(rows) > 1 and not label else "equation"
        if env == "equation":
            inside = aligned(rows) if len(rows) > 1 else rows[0].whole
            return f"\\begin{{equation{star}}}{marked}\n{inside}\n\\end{{equation{star}}}"
        lines = [_marked(each) if env == "align" else each.whole for each in rows]
        # one label names one number, and so does an equation of several lines
        lone = bool(label) and not style.numbered
        ends = [r" \nonumber \\" if lone or (numbered and each.goes_on) else r" \\" for each in rows[1:]]
        ends.append(marked and f" {marked}")
        inside = "\n".join(line + end for line, end in zip(lines, ends, strict=True))
        return f"\\begin{{{env}{star}}}\n{inside}\n\\end{{{env}{star}}}"

    def bare(self, latex: str) -> str:
        return latex

    def number(self, value: sp.Expr, unit: str, style: Style) -> str:
        if style.numbers != "siunitx" and style.env != "math":
            return super().number(value, unit, style)
        kind: NumberStyle = "siunitx" if style.numbers == "siunitx" else "latex"
        shown = format_number(value, style.measures.digits, kind)
        if " " in unit and style.env != "math":
            return f"{shown}~{self.text(unit)}"  # lines may break between its words
        return with_unit(shown, unit, kind) if unit else shown

    def table(self, step: Step, sheet: Sheet, order: Order, style: Style) -> str:
        shown = sheet_table(step, sheet, "tabular", order, style.width.letters, style.measures)
        return fitted(shown, style.width)

    def figure(self, figure: Figure, order: Order, style: Style, file: str = "") -> str:
        if file:
            raise SymscaleError("LaTeX draws its figures itself, with pgfplots.", hint="Leave file= out.")
        from symscale.report.pgf import tikz

        return fitted(tikz(figure), style.width, exact=style.width.said)

    def cite(self, keys: Sequence[str]) -> str:
        return rf"\cite{{{','.join(keys)}}}"

    def comment(self, text: str) -> str:
        return "\n".join(f"% {line}" for line in text.splitlines())

    def strong(self, text: str) -> str:
        return rf"\textbf{{{text}}}"

    def apart(self, block: str) -> str:
        return f"\\begin{{center}}\n{block}\n\\end{{center}}"

    def code(self, lines: Sequence[str]) -> str:
        shown = "\n".join(f"{self.text(line)}\\par" for line in lines)
        # what stands above ends its paragraph first, which would be set like the code
        begin = r"{\par\smallskip\small\ttfamily\raggedright\parindent=0pt\leftskip=1.5em\relax"
        return f"{begin}\n{shown}\n\\smallskip}}"

    def items(self, lines: Sequence[str]) -> str:
        shown = "\n".join(f"\\item {line}" for line in lines)
        return f"\\begin{{itemize}}\n{shown}\n\\end{{itemize}}"


def fitted(block: str, width: Width, *, exact: bool = False) -> str:
    r"""Return a figure or a table as wide as is said if `exact`, else at most so; never wider than the line, nor higher
    than four fifths of the page.

    Boxes are scaled by \resizebox of graphicx, which knows the line where they stand.
    """
    line, wide = r"\linewidth", width.latex
    limits = [line] if wide.endswith(line) else [wide, line]
    if exact:
        block = f"\\resizebox{{{wide}}}{{!}}{{%\n{block}}}"
        limits = [each for each in limits if each != wide]
    for each in limits:
        block = f"\\resizebox{{\\ifdim\\width>{each} {each}\\else\\width\\fi}}{{!}}{{%\n{block}}}"
    high = r"0.8\textheight"
    room = rf"\ifdim\totalheight>{high} {high}\else\totalheight\fi"
    return f"\\noindent\n\\resizebox*{{!}}{{{room}}}{{%\n{block}}}"


def _marked(row: Row) -> str:
    return " ".join(filter(None, (row.left, f"&{row.sign}", row.right, row.tail)))


def aligned(rows: Sequence[Row]) -> str:
    inside = " \\\\\n".join(map(_marked, rows))
    return f"\\begin{{aligned}}\n{inside}\n\\end{{aligned}}"
