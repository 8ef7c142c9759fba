"""Tokens that each go to a few experts: how many of the groups that hold the experts a token reaches."""

from __future__ import annotations

import sympy as sp

from symscale.collectives.model import exact
from symscale.quantity.extrema import minimum


def groups_reached(copies: int | sp.Expr, groups: int | sp.Expr, *, independent: bool = False) -> sp.Expr:
    """Return how many of `groups` equal groups a token reaches that has `copies` experts.

    At most min(k, g), which is what a sparse AllToAll is priced with; where k experts are drawn independently,
    g·(1 − (1 − 1/g)^k) on average. The share of them that is not the token's own group is (g − 1)/g.
    """
    k, g = exact(copies), exact(groups)
    return g * (1 - (1 - 1 / g) ** k) if independent else minimum(k, g)
