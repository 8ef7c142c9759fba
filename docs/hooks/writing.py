"""Markdown that the other hooks write."""

from __future__ import annotations

import re
from collections.abc import Iterable


def plain(text: str) -> str:
    """Return words in which nothing is markup."""
    return re.sub(r"([*_`<>|\[\]$])", r"\\\1", text)


def number(text: str) -> str:
    """Return a number such as 1.97 × 10^14 in one piece, its power raised."""
    return re.sub(r"10\^(-?\d+)", r"10<sup>\1</sup>", text).replace(" ", "&nbsp;")


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; its cells are Markdown."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " :-- |" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
