r"""Wide formulas in LaTeX, set on several lines inside `aligned`: arguments of a max, terms of a sum, fractions."""

from __future__ import annotations

import re

import sympy as sp

from symscale.notation.latex import bracketed, to_latex
from symscale.notation.order import Order
from symscale.notation.shape import terms

# Characters of ordinary size that fit on a line of a printed page.
LINE = 58

_WORD = re.compile(r"\\(?:text|mathrm|tilde)\{([^{}]*)\}")
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")
_BRACED = re.compile(r"\{([^{}]*)\}")
_OPERATOR = re.compile(r"\\(max|min|log|exp)")
_COMMAND = re.compile(r"\\(?:left|right|displaystyle)|\\[a-zA-Z]+|\\[,; ]")


_RAISED = str.maketrans("", "", "^_")


def width(latex: str) -> int:
    """Return about how many characters wide a formula is set: a fraction is as wide as its wider side."""
    text = _OPERATOR.sub(r"\1", _WORD.sub(r"\1", latex))
    while True:
        shorter = _FRACTION.sub(lambda found: "x" * max(map(_flat, found.groups())), text)
        if shorter == text:
            shorter = _BRACED.sub(r"\1", text)
        if shorter == text:
            return _flat(text)
        text = shorter


def _flat(text: str) -> int:
    return len(_COMMAND.sub(lambda found: "" if found[0] in (r"\left", r"\right") else "x", text).translate(_RAISED))


def wide_latex(expr: sp.Expr, order: Order, room: int = LINE) -> str:
    r"""Return the expression as LaTeX, with the arguments of a max or the terms of a sum on lines of their own."""
    whole = to_latex(expr, order)
    if width(whole) <= room:
        return whole
    if isinstance(expr, sp.Max | sp.Min):
        return _extremum(expr, order, room)
    if expr.is_Add:
        return _aligned(_lines([to_latex(each, order) for each in terms(expr, order)], room))
    if expr.is_Mul:
        inner = [each for each in expr.args if isinstance(each, sp.Max | sp.Min)]
        if len(inner) == 1:
            before = _factor(expr / inner[0], order)
            return rf"{before} \cdot {_extremum(inner[0], order, room - width(before) - 1)}"
        return _product(expr, order, room) or whole
    return whole


def _product(expr: sp.Expr, order: Order, room: int) -> str:
    """Return a fraction with its sides broken, or a product with its longest sum broken; empty where there is none."""
    above, below = sp.fraction(expr)
    if below != 1:
        return rf"\frac{{{wide_latex(above, order, room)}}}{{{wide_latex(below, order, room)}}}"
    sums = [each for each in expr.args if each.is_Add]
    if not sums:
        return ""
    longest = max(sums, key=lambda each: len(each.args))
    rest = expr / longest
    before = _factor(rest, order)
    lines = _lines([to_latex(each, order) for each in terms(longest, order)], room - width(before))
    return rf"{before} \left({_aligned(lines)}\right)"


def _factor(expr: sp.Expr, order: Order) -> str:
    """Return what stands before a product's broken part, a sum in brackets."""
    return bracketed(to_latex(expr, order)) if expr.is_Add else to_latex(expr, order)


def _extremum(expr: sp.Expr, order: Order, room: int) -> str:
    name = r"\max" if isinstance(expr, sp.Max) else r"\min"
    arguments = [wide_latex(each, order, room - 6) for each in terms(expr, order)]
    return rf"{name}\left({_aligned([f'{each},' for each in arguments[:-1]] + arguments[-1:])}\right)"


def _lines(pieces: list[str], room: int) -> list[str]:
    """Return terms filled into lines; a line after the first starts with its sign."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        signed = f"- {piece[1:]}" if piece.startswith("-") else f"+ {piece}"
        joined = f"{lines[-1]} {signed}"
        if width(joined) <= room:
            lines[-1] = joined
        else:
            lines.append(rf"\quad {signed}")
    return lines


def _aligned(lines: list[str]) -> str:
    return r"\begin{aligned}&" + r" \\ &".join(lines) + r"\end{aligned}"
