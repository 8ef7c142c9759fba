"""Limits and what they leave: the words of an approximation."""

from __future__ import annotations

import sympy as sp

from symscale.frozen import dataclass
from symscale.shown import Shown


@dataclass(frozen=True)
class Limit(Shown):
    """`small << large` for each large one; `X >> 1` is written with small = 1."""

    small: sp.Expr
    large: tuple[sp.Expr, ...]

    def __str__(self) -> str:
        large = ", ".join(map(str, self.large))
        return f"{large} >> 1" if self.small == 1 else f"{self.small} << {large}"


@dataclass(frozen=True)
class Approximation:
    """An expression in a limit: what stays, what was dropped, and how far off it is.

    `ratio` = exact / approximate tends to 1 in the limit; `error` = ratio − 1.
    """

    exact: sp.Expr
    approximate: sp.Expr
    dropped: tuple[sp.Expr, ...]
    limits: tuple[Limit, ...]
    ratio: sp.Expr
    error: sp.Expr
