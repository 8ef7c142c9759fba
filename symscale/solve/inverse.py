"""Ceilings, floors, powers a**n and logs of the unknown, undone by their inverse functions."""

from __future__ import annotations

import sympy as sp

from symscale.solve.pieces import Piece


def by_inverse(lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Symbol) -> list[Piece] | None:
    """Return where the relation holds if the unknown stands in such a function, else None."""
    return None
