"""What every language of documents can write: formulas, numbers, tables, figures, citations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import sympy as sp

from symscale.derivation.figure import Figure
from symscale.derivation.sheet import Sheet
from symscale.derivation.step import Prose, Step
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.paper.maths import LATEX, Maths, Row
from symscale.paper.style import Style
from symscale.paper.words import renamed
from symscale.report.prose import Form, inline, powers
from symscale.report.ties import TIE, tied


class Dialect(ABC):
    """A language of documents; formulas come as its `maths` prints them, most often as LaTeX."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    form: ClassVar[Form]
    #: A space at which no line breaks, and what stands between a paragraph and a formula that belongs to it.
    space: ClassVar[str]
    maths: ClassVar[Maths] = LATEX
    below: ClassVar[str] = "\n\n"

    @abstractmethod
    def display(self, rows: Sequence[Row], style: Style, label: str = "") -> str:
        """Return a formula on lines of its own."""

    @abstractmethod
    def bare(self, latex: str) -> str:
        """Return a formula for a place that is in maths mode already."""

    @abstractmethod
    def table(self, step: Step, sheet: Sheet, order: Order, style: Style) -> str:
        """Return the table of a step."""

    @abstractmethod
    def figure(self, figure: Figure, order: Order, style: Style, file: str = "") -> str:
        """Return a figure: drawn in the document, or in a file beside it, or told in words."""

    @abstractmethod
    def cite(self, keys: Sequence[str]) -> str:
        """Return a citation of entries of a bibliography."""

    @abstractmethod
    def comment(self, text: str) -> str:
        """Return a line that is not printed."""

    @abstractmethod
    def strong(self, text: str) -> str:
        """Return escaped text set in bold."""

    @abstractmethod
    def code(self, lines: Sequence[str]) -> str:
        """Return lines of notation as they are."""

    @abstractmethod
    def items(self, lines: Sequence[str]) -> str:
        """Return a list of escaped lines."""

    def formula(self, rows: Sequence[Row], style: Style, label: str = "") -> str:
        """Return a formula where the style has it: on its own, in the text, or bare."""
        if style.env == "inline":
            return self.form.formula(self.joined(rows))
        if style.env == "math":
            return self.bare(self.joined(rows))
        return self.display(rows, style, label)

    def joined(self, rows: Sequence[Row]) -> str:
        """Return the lines of a formula on one line."""
        return r",\quad ".join(each.whole for each in rows)

    def number(self, value: sp.Expr, unit: str, style: Style) -> str:
        """Return a number of a unit, which is shown as it is, for running text."""
        shown = format_number(value, style.measures.digits)
        shown = self.form.formula(f"-{shown[1:]}") if shown.startswith("-") else powers(shown, self.form)
        return f"{shown}{self.space}{self.form.escape(unit)}" if unit else shown

    def step(self, number: int, step: Step, order: Order, style: Style) -> str:
        """Return a step with its reason where the language has a layout of its own, "" where it has not."""
        return ""

    def paragraph(self, text: str) -> str:
        """Return escaped text as a paragraph."""
        return text

    def head(self, text: str) -> str:
        """Return escaped text as the paragraph that a step begins with, which what follows it belongs to."""
        return self.paragraph(text)

    def apart(self, block: str) -> str:
        """Return a table or a figure set apart from the text around it."""
        return block

    def said(self, prose: Prose, order: Order) -> str:
        """Return words with formulas among them, symbols renamed in both."""
        if not self.space.strip():
            return inline(renamed(prose, order), order, self.form)
        form = replace(self.form, escape=self._tied)
        parts = (prose,) if isinstance(prose, str) else prose
        words = tuple(tied(each) if isinstance(each, str) else each for each in parts)
        return inline(renamed(words, order), order, form)

    def _tied(self, words: str) -> str:
        return self.space.join(map(self.form.escape, words.split(TIE)))

    def text(self, words: str) -> str:
        """Return words as text."""
        return self.form.escape(words)
