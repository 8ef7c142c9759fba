r"""How formulas are printed for a document: in LaTeX, which most languages take or translate, or as plain text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import sympy as sp

from symscale.derivation.step import Prose
from symscale.frozen import dataclass
from symscale.notation.latex import to_latex
from symscale.notation.numbers import NumberStyle, format_number, with_unit
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.report import plain, prose, wide
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class Row:
    """A line of a formula: its sides around a sign, and what it holds under behind them.

    A line that goes on with the one above it is of the same equation, and has one number with it.
    """

    left: str
    sign: str
    right: str
    tail: str = ""
    goes_on: bool = False

    @property
    def whole(self) -> str:
        """The line without marks of alignment."""
        return " ".join(filter(None, (self.left, self.sign, self.right, self.tail)))


class Maths(ABC):
    """A way to print formulas."""

    signs: ClassVar[Mapping[str, str]]

    @abstractmethod
    def formula(self, expr: sp.Expr, order: Order) -> str:
        """Return an expression."""

    @abstractmethod
    def sides(self, relation: Relation, order: Order, room: int) -> Row:
        """Return a relation for a line of its own that has room for some letters."""

    @abstractmethod
    def in_line(self, relation: Relation, order: Order) -> Row:
        """Return a relation for running text."""

    @abstractmethod
    def number(self, value: sp.Expr, unit: str, digits: int, style: str) -> str:
        """Return a number with its unit inside a formula."""

    @abstractmethod
    def words(self, said: Prose, order: Order) -> str:
        """Return words with formulas for the inside of a formula."""

    @abstractmethod
    def held(self, when: Sequence[Relation], limits: Sequence[Prose], order: Order) -> tuple[str, ...]:
        """Return what a line holds under, in parts between which a line may end: conditions, and limits in brackets."""

    @abstractmethod
    def joined(self, held: Sequence[str]) -> str:
        """Return parts of what a line holds under on one line."""

    @abstractmethod
    def behind(self, held: str) -> str:
        """Return what a line holds under for a place behind it."""

    @abstractmethod
    def width(self, text: str) -> int:
        """Return about how many letters wide a formula is set."""

    def room(self, letters: int) -> int:
        """Return how wide a formula may be on a line that has room for some letters."""
        return letters


_LIMIT = {" ≪ ": r" \ll ", " ≫ ": r" \gg ", ", ": ", "}
_PLAIN = re.compile(r"[^\w ,.;:()+=/-]")


class _Latex(Maths):
    signs = prose.SIGNS

    def __init__(self, *, siunitx: bool = False) -> None:
        self.siunitx = siunitx

    def formula(self, expr: sp.Expr, order: Order) -> str:
        return to_latex(expr, order)

    def sides(self, relation: Relation, order: Order, room: int) -> Row:
        return Row(*prose.sides(relation, order, room))

    def in_line(self, relation: Relation, order: Order) -> Row:
        left, sign, right = prose.relation_inline(relation, order).partition(f" {self.signs[relation.op]} ")
        return Row(left, sign.strip(), right)

    def number(self, value: sp.Expr, unit: str, digits: int, style: str) -> str:
        kind: NumberStyle = "siunitx" if self.siunitx and style == "siunitx" else "latex"
        shown = format_number(value, digits, kind)
        return with_unit(shown, unit, kind) if unit else shown

    def words(self, said: Prose, order: Order) -> str:
        r"""Return words with formulas: `\text{nothing is sent}`."""
        found = ""
        for each in (said,) if isinstance(said, str) else said:
            if isinstance(each, Relation):
                found += prose.relation_inline(each, order)
            elif isinstance(each, str):
                found += _LIMIT.get(each) or rf"\text{{{_PLAIN.sub('', each).replace('_', chr(92) + '_')}}}"
            else:
                found += to_latex(each, order)
        return found

    def held(self, when: Sequence[Relation], limits: Sequence[Prose], order: Order) -> tuple[str, ...]:
        r"""Return `\text{if } a`, `\text{and } b`, and the limits in brackets."""
        parts = [
            rf"\text{{{'and' if n else 'if'} }} {prose.equation_latex(each, order)}" for n, each in enumerate(when)
        ]
        bracketed = r",\ ".join(self.words(each, order) for each in limits)
        return (*parts, *([f"({bracketed})"] if bracketed else []))

    def joined(self, held: Sequence[str]) -> str:
        return r"\ ".join(held).replace(r"\ \text{and } ", r" \text{ and } ")

    def behind(self, held: str) -> str:
        return rf"\quad {held}"

    def width(self, text: str) -> int:
        return wide.width(text)


class _Text(Maths):
    signs: ClassVar[Mapping[str, str]] = {each: "=" if each == "==" else each for each in prose.SIGNS}

    def formula(self, expr: sp.Expr, order: Order) -> str:
        return to_text(expr, order)

    def sides(self, relation: Relation, order: Order, room: int) -> Row:
        return self.in_line(relation, order)

    def in_line(self, relation: Relation, order: Order) -> Row:
        left, sign, right = plain.equation_text(relation, order).partition(f" {self.signs[relation.op]} ")
        return Row(left, sign.strip(), right)

    def number(self, value: sp.Expr, unit: str, digits: int, style: str) -> str:
        return f"{format_number(value, digits)} {unit}".rstrip()

    def words(self, said: Prose, order: Order) -> str:
        return plain.words(said, order)

    def held(self, when: Sequence[Relation], limits: Sequence[Prose], order: Order) -> tuple[str, ...]:
        parts = [f"{'and' if n else 'if'} {plain.equation_text(each, order)}" for n, each in enumerate(when)]
        bracketed = ", ".join(self.words(each, order) for each in limits)
        return (*parts, *([f"({bracketed})"] if bracketed else []))

    def joined(self, held: Sequence[str]) -> str:
        return " ".join(held)

    def behind(self, held: str) -> str:
        return held

    def width(self, text: str) -> int:
        return len(text)

    def room(self, letters: int) -> int:
        """Return the width of a terminal."""
        return plain.WIDTH


LATEX: Maths = _Latex()
#: LaTeX where a document may load packages.
PACKAGES: Maths = _Latex(siunitx=True)
TEXT: Maths = _Text()
