"""Braces of LaTeX in pairs."""

from __future__ import annotations

import re

from symscale.errors import NotationError

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def group(text: str, at: int) -> tuple[str, int]:
    """Return what stands in the braces that open at a place, and where they end. Raises NotationError."""
    start = text.find("{", at)
    depth = 0
    for found in _BRACE.finditer(text, max(start, 0)):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if not depth and found[0] == "}":
            return text[start + 1 : found.start()], found.end()
    raise NotationError("This brace is never closed.", text=text, position=max(start, 0), hint="Close it with }.")
