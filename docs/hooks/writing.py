"""Markdown that the other hooks write."""

from __future__ import annotations

import re
from collections.abc import Iterable


def plain(text: str) -> str:
    """Return words in which nothing is markup."""
    return re.sub(r"([*_`<>|\[\]$])", r"\\\1", text)


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; its cells are Markdown."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " :-- |" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
