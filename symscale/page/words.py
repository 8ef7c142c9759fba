"""Words and formulas as HTML: what is escaped, and MathML in running text or on a line of its own."""

from __future__ import annotations

import re

import sympy as sp
from markupsafe import Markup, escape

from symscale.derivation.step import Prose
from symscale.notation.latex import to_latex
from symscale.notation.order import Order
from symscale.report.mathml import mathml
from symscale.report.plain import one_line
from symscale.report.prose import relation_inline, sides
from symscale.report.rounding import rounded
from symscale.report.ties import tied
from symscale.solve.relation import Relation

_POWER = re.compile(r"\b((?:\d[\d.,]* × )?)10\^(-?\d+)")


def words(prose: Prose, order: Order) -> Markup:
    """Return words with their formulas as HTML."""
    if isinstance(prose, str):
        return plain(prose)
    return Markup("").join(plain(each) if isinstance(each, str) else formula(each, order) for each in prose)


def plain(text: str) -> Markup:
    """Return words in which no character is markup; powers of ten are set as such."""
    text = tied(text)
    parts: list[Markup] = []
    end = 0
    for found in _POWER.finditer(text):
        number = (found[1].replace("×", r"\times").replace(",", "{,}") + f"10^{{{found[2]}}}").strip()
        parts += [escape(text[end : found.start()]), math(number)]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def math(latex: str, display: bool = False) -> Markup:
    """Return LaTeX as MathML."""
    return Markup(mathml(latex, display))


def formula(each: sp.Expr | Relation, order: Order) -> Markup:
    """Return a formula for running text."""
    latex = relation_inline(each, order) if isinstance(each, Relation) else to_latex(rounded(each, order.digits), order)
    return math(latex)


def displayed_formula(equation: Relation, order: Order) -> Markup:
    """Return an equation for a line of its own."""
    return math(" ".join(sides(equation, order)), display=True)


def left_side(equation: Relation, order: Order) -> Markup:
    """Return an equation up to its sign, for a number that stands beside it."""
    left, sign, _ = sides(equation, order)
    before, operator, rest = mathml(f"{left} {sign}", display=True).rpartition("<mo")
    # a sign at the end of a row would have no space before it
    return Markup(f'{before}<mspace width="0.28em"/>{operator} lspace="0"{rest}' if operator else rest)


def heading(text: str) -> Markup:
    """Return a title on one line."""
    return escape(tied(one_line(text)))
