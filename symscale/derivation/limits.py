"""Limits as people write and read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy as sp

from symscale.notation.formula import parse_limits
from symscale.notation.text import to_text
from symscale.solve.limits import Limit


def read_limits(text: str, aliases: Mapping[str, str] | None = None) -> list[Limit]:
    """Return the limits of a text such as "B << D, F; X >> 1". Raises NotationError."""
    return [Limit(each.small, tuple(each.large)) for each in parse_limits(text, aliases=aliases)]


def limit_text(limit: Limit) -> str:
    """Return `B << D, F`, or `X >> 1` where the small side is 1."""
    if limit.small == 1:
        return f"{', '.join(to_text(each) for each in limit.large)} >> 1"
    return f"{to_text(limit.small)} << {', '.join(to_text(each) for each in limit.large)}"


def readable(limit: str) -> str:
    """Return a limit with the signs of print: B ≪ D, F."""
    return limit.replace("<<", "≪").replace(">>", "≫")


def limit_words(limit: Limit) -> list[str | sp.Expr]:
    """Return `B ≪ D, F` as words with formulas."""
    return [limit.small, " ≪ ", *listed(limit.large)]


def listed(expressions: Iterable[sp.Expr]) -> list[str | sp.Expr]:
    """Return formulas with commas between them, as words."""
    return [part for each in expressions for part in (", ", each)][1:]
