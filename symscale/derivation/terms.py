"""The terms a derivation is written on: its own, or others that a reader asks for."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.frozen import dataclass
from symscale.machine import Machine, chosen
from symscale.notation.formula import parse_formula
from symscale.vocabulary import symbol


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

    def chip(self, on: str | Machine | None) -> Machine | None:
        """Return the chip that an author names, or the one in its place."""
        return chosen(self.on if self.on and on is not None else on)

    def given(self, values: Mapping[str, sp.Expr | int] | None) -> dict[sp.Symbol, sp.Expr]:
        """Return the values that an author gives, those of the same names in their place."""
        put = dict(self.values)
        return {symbol(name): put.get(name, read(value)) for name, value in (values or {}).items()}


OWN = Terms()


def read(value: str | int | sp.Expr) -> sp.Expr:
    """Return an expression from what an author writes: a formula, a whole number, or an expression."""
    if isinstance(value, str):
        return parse_formula(value).expr
    return sp.Integer(value) if isinstance(value, int) else value
