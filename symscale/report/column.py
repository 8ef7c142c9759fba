"""Columns and cells of a table, before they are set."""

from __future__ import annotations

from typing import TypeAlias

import sympy as sp

from symscale.derivation.step import Prose
from symscale.frozen import dataclass
from symscale.solve.relation import Relation

# A word or a number as it is printed; a formula, a relation, or words with such among them.
Cell: TypeAlias = Prose | sp.Expr | Relation


@dataclass(frozen=True)
class Column:
    """A column: its head, whether its cells are set flush right, and the unit of all of them."""

    head: Cell
    right: bool = False
    unit: str = ""

    @property
    def bracketed(self) -> str:
        """The unit in brackets, if there is one."""
        return f"[{self.unit}]" if self.unit else ""

    @property
    def label(self) -> Cell:
        """The head with its unit."""
        return (*prose_of(self.head), f" {self.bracketed}") if self.unit else self.head


def prose_of(cell: Cell) -> tuple[str | sp.Expr | Relation, ...]:
    return cell if isinstance(cell, tuple) else (cell,)
