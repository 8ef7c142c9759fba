"""The terms a derivation is written on: its own, or others that a reader asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import sympy as sp

from symscale.array.dtypes import ELEMENT_BYTES
from symscale.derivation.layer import Layer
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.machine import Machine, chosen, machine, machines
from symscale.notation.formula import parse_formula
from symscale.notation.text import to_text
from symscale.vocabulary import symbol

#: The dtype that a program computes in, as its author has it and on other terms; two that are the same change nothing.
Kinds: TypeAlias = tuple[str, str]
SAME: Kinds = ("", "")
#: Where a figure that no chip has stays what it is.
ON_ANOTHER, IN_ANOTHER = "on any other", "in any other dtype"


@dataclass(frozen=True)
class Terms:
    """What is put in place of what an author writes: the overlap of times, the dtype, the chip, values of symbols.

    On terms of its own a derivation meets what its author expects; on others nothing is expected of it.
    """

    overlap: str = ""
    dtype: str = ""
    on: str = ""
    values: tuple[tuple[str, sp.Expr], ...] = ()

    @property
    def own(self) -> bool:
        """Whether nothing is put in place of anything."""
        return self == OWN

    def __str__(self) -> str:
        values = [f"{name} = {to_text(value)}" for name, value in self.values]
        words = [f"on {self.on}"] if self.on else []
        words += [f"in {self.dtype}"] if self.dtype else []
        words += [f"with overlap {self.overlap}"] if self.overlap else []
        return " ".join([*words, *([f"with {', '.join(values)}"] if values else [])])

    def chip(self, on: str | Machine | None) -> Machine | None:
        """Return the chip that an author names, or the one in its place, in a cluster as large as the author's.

        Raises SymscaleError where there is no such cluster of it.
        """
        if not self.on or on is None:
            return chosen(on)
        own, other = chosen(on), chosen(self.on)
        tree = own is not None and own.main_network is not None and own.main_network.kind == "tree"
        plain = other is not None and other.main_network is not None and other.main_network.kind == "switch"
        return chosen(f"{self.on}:{own.name.partition(':')[2]}") if own is not None and tree and plain else other

    def given(
        self, values: Mapping[str, sp.Expr | int] | None, on: str | Machine | None = None, kinds: Kinds = SAME
    ) -> dict[sp.Symbol, sp.Expr]:
        """Return the values that an author gives, those of the same names and of other terms in their place.

        Raises SymscaleError for a figure of a chip that the other chip has not, or that is no chip's.
        """
        put = dict(self.values)
        return {
            symbol(name): put[name] if name in put else self._there(name, read(value), on, kinds)
            for name, value in (values or {}).items()
        }

    def figures(self, chip: Machine | None, layer: Layer | None) -> dict[sp.Symbol, sp.Expr]:
        """Return the values that are asked for in place of a chip's own figures.

        Raises SymscaleError for bytes per element, which the program's dtypes say.
        """
        own = chip.figures if chip is not None else {}
        typed = {str(name) for name in layer.typed.numbers} if layer is not None else set()
        for name, _ in self.values:
            if name in typed:
                raise SymscaleError(f"{name} follows from the dtypes of its program.", hint="Give dtype= instead.")
        figures = {symbol(name): value for name, value in own.items()}
        return {symbol(name): value.xreplace(figures) for name, value in self.values if name in {*own, "C"} and own}

    def _there(self, name: str, value: sp.Expr, on: str | Machine | None, kinds: Kinds) -> sp.Expr:
        """Return what stands in place of a figure of an author's chip, of the bytes of his dtype, or of its peak."""
        own, other = kinds
        if own != other and is_width(name, value, own):
            return ELEMENT_BYTES[other]
        peak = own != other and name == "C"
        if not self.on and not peak:
            return value
        figure, holder = figure_of(name, value, chosen(on), ON_ANOTHER if self.on else IN_ANOTHER)
        chip = chosen(self.on) if self.on else holder
        if peak and figure == f"C_{own}" and chip is not None:
            return chip.peak(other)
        if not self.on or not figure or chip is None:
            return value
        if figure not in chip.figures:
            raise SymscaleError(f"{chip.title} has no {figure}.", hint="Take another chip.")
        return chip.figures[figure]


OWN = Terms()


def is_width(name: str, value: sp.Expr, kind: str) -> bool:
    """Say whether a number that an author types is that of the bytes of a dtype."""
    return name == "b" and ELEMENT_BYTES.get(kind) == value


def figure_of(name: str, value: sp.Expr, own: Machine | None, stays: str = ON_ANOTHER) -> tuple[str, Machine | None]:
    """Return which figure a number is that an author types, and of which chip: the one that he names, or the first.

    A peak is one of its dtype: C_bf16; "" if it is no figure. Raises SymscaleError for a rate that no chip has, and so
    `stays`.
    """
    for each in (own,) if own is not None else map(machine, machines()):
        names = each.stated_as(value)
        dtypes = [other for other in names if other.startswith("C_")]
        figure = name if name in names or each.figures.get(name) == value else ""
        if name == "C":
            figure = "C_bf16" if "C_bf16" in dtypes else next(iter(dtypes), "")
        if figure:
            return figure, each
    if name.partition("_")[0] in ("C", "W") or name in ("M_hbm", "T_hop"):
        raise SymscaleError(
            f"{name} is {value} here, a figure of no chip that is known, and stays {stays}.",
            hint="Give a value for it instead.",
        )
    return "", None


def read(value: str | int | sp.Expr) -> sp.Expr:
    """Return an expression from what an author writes: a formula, a whole number, or an expression."""
    if isinstance(value, str):
        return parse_formula(value).expr
    return sp.Integer(value) if isinstance(value, int) else value
