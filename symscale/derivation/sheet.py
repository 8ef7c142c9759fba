"""A table as data: the equations of a step, one for each cell that is computed, set in rows and columns."""

from __future__ import annotations

from typing import TypeAlias

import sympy as sp

from symscale.frozen import dataclass
from symscale.solve.relation import Relation

# The place of the equation whose right side the cell shows; or what the row says itself: words, a value, a relation.
Cell: TypeAlias = int | str | sp.Expr | Relation | tuple[str | sp.Expr | Relation, ...]


@dataclass(frozen=True)
class Head:
    """The head of a column: a quantity with its base unit, or words."""

    label: str | sp.Expr
    unit: str = ""


@dataclass(frozen=True)
class Sheet:
    """Columns and rows; `mark` says what the marks of the last column mean."""

    columns: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    mark: str = ""
