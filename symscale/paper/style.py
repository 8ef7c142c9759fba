r"""How formulas and numbers are set in a document: `B` as `\mathcal{B}`, times in ms, three digits, one align."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field, replace

from symscale.errors import NotationError, SymscaleError, UnitError
from symscale.frozen import dataclass
from symscale.machine.model import did_you_mean
from symscale.notation.formula import parse_formula
from symscale.notation.formula_lexer import GREEK_LETTERS
from symscale.notation.latex import symbol_latex
from symscale.notation.order import Order
from symscale.paper.naming import check_latex
from symscale.paper.widths import Width, read_width
from symscale.quantity import parse_unit
from symscale.report.measures import Measures

#: Where a formula stands: on its own, in the text, or bare for a place that is in maths mode already.
ENVIRONMENTS = ("display", "equation", "align", "gather", "inline", "math")
DETAILS = ("full", "compact")
NUMBERS = ("plain", "siunitx")
MOST_DIGITS = 30
MEASURES = Measures()
YES_NO = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True)
class Style:
    """How pieces are set: `renames` of symbols and `units` of quantities by name, digits, where formulas stand.

    Without `digits` numbers have four, those inside formulas six; `unit` is that of every number;
    `detail` is full or compact, "" what suits the piece; `env` is one of ENVIRONMENTS,
    "" what suits the formula; `label` is what the names of labels begin with, `width` the room of a piece.
    """

    renames: tuple[tuple[str, str], ...] = ()
    units: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    digits: int = 0
    detail: str = ""
    env: str = ""
    numbered: bool = False
    label: str = ""
    numbers: str = "plain"
    width: Width = field(default_factory=Width)

    def order(self, order: Order) -> Order:
        """Return the order that formulas are printed in, with the symbols renamed and long numbers rounded."""
        return replace(order, written=self.renames, digits=self.digits or order.digits)

    @property
    def measures(self) -> Measures:
        """The digits and units that numbers are shown with."""
        return Measures(self.digits or MEASURES.digits, self.units, self.unit)

    def changed(self, options: Iterable[tuple[str, str]]) -> Style:
        """Return the style with what the options of a request put in its place. Raises SymscaleError."""
        found = self
        for key, text in options:
            if key in READ:
                found = READ[key](found, text)
        return found


def one_of(word: str, words: Collection[str], what: str) -> str:
    """Return a word if it is one of these. Raises SymscaleError with the closest."""
    if word not in words:
        raise SymscaleError(
            f"{what} is not {word[:40]!r}.", hint=f"It is one of {', '.join(words)}.{did_you_mean(word, words)}"
        )
    return word


def digits_of(text: str) -> int:
    """Return a number of significant digits. Raises SymscaleError."""
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= MOST_DIGITS):
        raise SymscaleError(f"{text[:40]!r} is no number of digits.", hint=f"Write a number from 1 to {MOST_DIGITS}.")
    return int(text)


def renamed(style: Style, pairs: Iterable[tuple[str, str]]) -> Style:
    """Return the style with symbols renamed; the later of two names for one symbol counts. Raises NotationError."""
    for name, latex in pairs:
        _symbol(name)
        check_latex(name, latex)
    return replace(style, renames=tuple(({**dict(style.renames), **dict(pairs)}).items()))


def with_units(style: Style, pairs: Iterable[tuple[str, str]]) -> Style:
    """Return the style with units for quantities. Raises UnitError for a word that is no unit, NotationError."""
    for name, unit in pairs:
        parse_formula(name)
        try:
            unit_of(unit)
        except UnitError as error:
            raise UnitError(f"The unit of {name[:40]}: {error.message}", hint=error.hint) from error
    return replace(style, units=tuple(({**dict(style.units), **dict(pairs)}).items()))


def unit_of(text: str) -> str:
    """Return a unit that numbers can have. Raises UnitError."""
    parse_unit(text)
    return text


def pair(text: str, what: str, example: str) -> tuple[str, str]:
    """Return the two sides of `B=\\beta`. Raises SymscaleError."""
    name, equals, value = (each.strip() for each in text.partition("="))
    if not (name and equals and value):
        raise SymscaleError(f"{text[:60]!r} is no {what}.", hint=f"Write {example}.")
    return name, value


def yes_or_no(text: str) -> bool:
    """Return whether a word says yes. Raises SymscaleError."""
    return YES_NO[one_of(text, YES_NO, "What is yes or no")]


READ: Mapping[str, Callable[[Style, str], Style]] = {
    "digits": lambda style, text: replace(style, digits=digits_of(text)),
    "detail": lambda style, text: replace(style, detail=one_of(text, DETAILS, "detail")),
    "env": lambda style, text: replace(style, env=one_of(text, ENVIRONMENTS, "env")),
    "numbered": lambda style, text: replace(style, numbered=yes_or_no(text)),
    "numbers": lambda style, text: replace(style, numbers=one_of(text, NUMBERS, "numbers")),
    "unit": lambda style, text: replace(style, unit=unit_of(text)),
    "width": lambda style, text: replace(style, width=read_width(text)),
    "rename": lambda style, text: renamed(style, [pair(text, "name for a symbol", r"rename=W_ici=\beta")]),
}


def _symbol(name: str) -> None:
    if not re.fullmatch(r"[A-Za-zα-ωΑ-Ω][\w]*", name):
        raise NotationError(f"{name[:40]!r} is no symbol.", hint="A symbol is a name such as B or W_ici.")


def distinct(names: Iterable[str], order: Order) -> None:
    """Raise SymscaleError where renaming makes two symbols of a derivation look the same."""
    seen: dict[str, str] = {}
    for name in sorted(names):
        shown = _look(symbol_latex(name, order))
        if shown in seen:
            raise SymscaleError(
                f"{seen[shown]} and {name} would both be written {symbol_latex(name, order)}.",
                hint=f"Rename {name} too, or write {seen[shown]} otherwise.",
            )
        seen[shown] = name


def _look(latex: str) -> str:
    """Return LaTeX without what does not show: spaces, and braces around one thing."""
    text = "".join(f"\\{GREEK_LETTERS[each]} " if each in GREEK_LETTERS else each for each in latex)
    text = re.sub(r"\\(?:mathrm|textrm|textnormal|textup|mbox|operatorname)(?=\s*\{)", r"\\text", text)
    text = re.sub(r"\\(?:mathit|mathnormal|textit)(?=\s*\{)", "", text)
    text = re.sub(r"(?<![A-Za-z])\s+|(?<=[^A-Za-z\\])\s+|\s+(?![A-Za-z])", "", text.strip())
    while True:
        shorter = re.sub(r"(?<![A-Za-z}])\{(\\[A-Za-z]+(?:\{[^{}]*\})?|.)\}", r"\1", text)
        if shorter == text:
            return text
        text = shorter
