r"""Expressions -> LaTeX as on the blackboard: `2BDF`, `\frac{C}{W_\text{ici}}`, `1.97 \times 10^{14}`.

Our own printer: sympy's turns W_hbm into a bold h, layernorm into a norm, and sorts what the user wrote.
"""

from __future__ import annotations

import re
from itertools import pairwise

import sympy as sp

from symscale.frozen import dataclass
from symscale.notation.formula_lexer import GREEK
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.notation.shape import Factor, LogBase, Root, fraction, signed_sum, terms
from symscale.notation.text import round_parts
from symscale.vocabulary import TABLE


@dataclass(frozen=True)
class LatexStyle:
    r"""How to write: `siunitx` writes `\num{3.94e14}`."""

    siunitx: bool = False


_PLAIN = LatexStyle()
_DEFAULT = Order()
_RELATIONS = {"<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "=": "=", "==": "=", "<<": r"\ll", ">>": r"\gg"}
_FUNCTIONS = {sp.Max: r"\max", sp.Min: r"\min", sp.log: r"\log", sp.exp: r"\exp"}
_BRACKETS = {
    sp.ceiling: (r"\left\lceil ", r" \right\rceil"),
    sp.floor: (r"\left\lfloor ", r" \right\rfloor"),
}
# what may stand right beside a letter: 2BDF
_RAISED = re.compile(r"\^|'")
_LETTER = re.compile(r"[A-Za-z](?:\^\{?[^{}]*\}?)?")


def to_latex(expr: sp.Expr, order: Order | None = None, style: LatexStyle | None = None) -> str:
    r"""Return the expression as LaTeX in maths mode, in the user's order of factors and terms.

    One fraction, one root: `\sqrt{\frac{BN M_X}{F M_Y}}`. A symbol is written as the order has it, else as the
    symbol table says, else with an upright subscript: `T_\text{comms, math}`.
    """
    return _Printer(order or _DEFAULT, style or _PLAIN).sum(expr)


def relation_latex(
    lhs: sp.Expr, op: str, rhs: sp.Expr, order: Order | None = None, style: LatexStyle | None = None
) -> str:
    r"""Return `lhs op rhs` as LaTeX (`>=` is `\ge`, `<<` is `\ll`)."""
    return f"{to_latex(lhs, order, style)} {_RELATIONS[op]} {to_latex(rhs, order, style)}"


def symbol_latex(name: str, order: Order | None = None) -> str:
    r"""Return the LaTeX of a symbol: as the order writes it, the table's, or `W_\text{ici}` from `W_ici`."""
    if order is not None and order.written:
        written = dict(order.written)
        if name in written:
            return written[name]
    known = TABLE.get(name)
    return known.latex if known is not None else name_latex(name)


def name_latex(name: str) -> str:
    """Return the LaTeX of a name: its first underscore starts the one subscript, later ones are commas."""
    base, *parts = [part for part in name.split("_") if part]
    if name.startswith("_"):
        # a symbol of the tool's own
        return rf"\tilde{{{_base(base)}}}" + _subscript(parts)
    return _base(base) + _subscript(parts)


def _base(word: str) -> str:
    if word in GREEK:
        return rf"\{word}"
    return word if len(word) == 1 else rf"\text{{{word}}}"


def _subscript(parts: list[str]) -> str:
    if not parts:
        return ""
    if all(len(part) == 1 or part.isdigit() or part in GREEK for part in parts):
        inside = ", ".join(rf"\{part}" if part in GREEK else part for part in parts)
        return f"_{inside}" if len(inside) == 1 else f"_{{{inside}}}"
    if not any(len(part) == 1 and part.isupper() for part in parts):
        return rf"_\text{{{', '.join(parts)}}}"
    inside = ", ".join(part if len(part) == 1 else rf"\text{{{part}}}" for part in parts)
    return f"_{{{inside}}}"


def integer_latex(value: int, style: LatexStyle | None = None) -> str:
    r"""Return a whole number: `28{,}672`, a long round one as `1.97 \times 10^{14}`."""
    split = round_parts(value)
    if style is not None and style.siunitx and (split or abs(value) >= 10_000):
        return rf"\num{{{value if split is None else f'{split[0]}e{split[1]}'}}}"
    if split is not None:
        mantissa, exponent = split
        return f"10^{{{exponent}}}" if mantissa == "1" else rf"{mantissa} \times 10^{{{exponent}}}"
    return f"{value:,}".replace(",", "{,}") if abs(value) >= 10_000 else str(value)


@dataclass(frozen=True)
class _Printer:
    order: Order
    style: LatexStyle

    def sum(self, expr: sp.Expr) -> str:
        if not expr.is_Add:
            return self.product(expr)
        return signed_sum(self.product(term) for term in terms(expr, self.order))

    def product(self, expr: sp.Expr) -> str:
        if expr.is_Integer:
            return integer_latex(int(expr), self.style)
        if not (expr.is_Mul or expr.is_Pow or expr.is_Rational):
            return self.factor(expr, alone=True)
        shape = fraction(expr, self.order)
        alone = len(shape.above) == 1 and shape.p == 1
        above = [self.factor(f, alone and (bool(shape.below) or shape.q != 1)) for f in shape.above]
        below = [self.factor(f, len(shape.below) == 1 and shape.q == 1) for f in shape.below]
        return ("-" if shape.negative else "") + self.over(shape.p, shape.q, above, below)

    def over(self, p: int, q: int, above: list[str], below: list[str]) -> str:
        top = ([integer_latex(p, self.style)] if p != 1 or not above else []) + above
        bottom = ([integer_latex(q, self.style)] if q != 1 else []) + below
        return rf"\frac{{{joined(top)}}}{{{joined(bottom)}}}" if bottom else joined(top)

    def factor(self, factor: Factor, alone: bool = False) -> str:
        """Return a factor, in brackets if it would fall apart beside others (`alone`: none beside)."""
        if isinstance(factor, Root):
            above = [self.factor(f, len(factor.above) == 1 and factor.p == 1) for f in factor.above]
            below = [self.factor(f, len(factor.below) == 1 and factor.q == 1) for f in factor.below]
            return rf"\sqrt{{{self.over(factor.p, factor.q, above, below)}}}"
        if isinstance(factor, LogBase):
            return rf"\log_{{{self.sum(factor.base)}}}" + bracketed(self.sum(factor.argument))
        if factor.is_Symbol:
            return symbol_latex(factor.name, self.order)
        if factor is sp.E:
            return "e"
        if factor.is_Integer and factor >= 0:
            return integer_latex(int(factor), self.style)
        if factor.is_Float:
            return format_number(sp.Rational(str(factor)), 6, "siunitx" if self.style.siunitx else "latex")
        if factor.is_Pow and not isinstance(factor, sp.exp):
            return self.power(factor)
        if factor.func in _FUNCTIONS or factor.func in _BRACKETS:
            return self.function(factor)
        if factor.is_Add or factor.is_Mul or factor.is_Rational:
            return self.sum(factor) if alone else bracketed(self.sum(factor))
        return bracketed(sp.latex(factor))

    def function(self, factor: sp.Expr) -> str:
        several = isinstance(factor, sp.Max | sp.Min)
        arguments = terms(factor, self.order) if several else factor.args
        inside = ", ".join(map(self.sum, arguments))
        if factor.func in _BRACKETS:
            left, right = _BRACKETS[factor.func]
            return left + inside + right
        return _FUNCTIONS[factor.func] + bracketed(inside)

    def power(self, factor: sp.Expr) -> str:
        base, exponent = factor.args
        if exponent == sp.S.Half:
            return rf"\sqrt{{{self.sum(base)}}}"
        if exponent.as_coeff_Mul()[0].is_negative:
            return self.product(factor)
        below = self.base(base)
        raised = f"{exponent.p}/{exponent.q}" if exponent.is_Rational and exponent.q != 1 else self.sum(exponent)
        return f"{below}^{raised}" if len(raised) == 1 else f"{below}^{{{raised}}}"

    def base(self, base: sp.Expr) -> str:
        text = self.factor(base)
        # a power of 5 \cdot 10^{-14} or of a power would be set as 14^2
        loose = base.is_Pow or (not base.is_Add and (r"\times" in text or r"\num" in text)) or base.func in _FUNCTIONS
        if loose:
            return bracketed(text)
        # B^* to the power of 2 has two exponents
        return f"{{{text}}}" if base.is_Symbol and _RAISED.search(text) else text


def bracketed(inside: str) -> str:
    """Return the text in brackets that grow with it."""
    tall = r"\frac" in inside or r"\left" in inside
    return rf"\left({inside}\right)" if tall else f"({inside})"


def joined(factors: list[str]) -> str:
    """Return factors side by side: letters touch, a word keeps a thin space, words and numbers a dot."""
    text = factors[0]
    for before, after in pairwise(factors):
        text += _between(before, after) + after
    return text


def _between(before: str, after: str) -> str:
    if after[0].isdigit() or after.startswith(r"\num"):
        return r" \cdot "
    words = (before.startswith(r"\text"), after.startswith(r"\text"))
    if all(words):
        return r" \cdot "
    if any(words) or before.startswith((r"\max", r"\min", r"\log", r"\exp")) or r"\times" in before:
        return r"\, "
    if before.startswith(r"\num"):
        return r"\, "
    if before[-1].islower() and after[0].islower():
        return " "  # looks the same, and is not read back as a word
    if (before.isdigit() or _LETTER.fullmatch(before)) and (_LETTER.match(after) or after[0] == "("):
        return ""
    if before[-1] == ")" and (after[0] == "(" or _LETTER.match(after)):
        return ""
    return " "
