"""What LaTeX's commands take: braces in pairs, brackets, or the one thing that follows."""

from __future__ import annotations

import re

from symscale.errors import NotationError

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_IN_BRACKETS = re.compile(r"\\.|[{}\[\]]", re.DOTALL)
_NEXT = re.compile(r"\s*(?P<next>\\(?:[A-Za-z@]+|.)|.)", re.DOTALL)


def group(text: str, at: int) -> tuple[str, int]:
    """Return what stands in the braces that open at a place, and where they end. Raises NotationError."""
    start = text.find("{", at)
    depth = 0
    for found in _BRACE.finditer(text, max(start, 0)):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if not depth and found[0] == "}":
            return text[start + 1 : found.start()], found.end()
    raise NotationError("This brace is never closed.", text=text, position=max(start, 0), hint="Close it with }.")


def argument(text: str, at: int) -> tuple[str, int]:
    r"""Return what a command takes from a place on, and where it ends: `{1}`, or the 1 of `\frac12`.

    Raises NotationError where nothing follows.
    """
    found = _NEXT.match(text, at)
    if found is None or found["next"] == "}":
        raise NotationError("A command lacks its argument.", text=text or " ", position=at, hint="Write it in braces.")
    return group(text, found.start("next")) if found["next"] == "{" else (found["next"], found.end())


def bracketed(text: str, at: int) -> tuple[str, int] | None:
    """Return what stands in the square brackets that open at a place, and where they end; None where none do."""
    opens = re.compile(r"\s*\[").match(text, at)
    if opens is None:
        return None
    depth = 0
    for found in _IN_BRACKETS.finditer(text, opens.end()):
        if found[0] == "]" and not depth:
            return text[opens.end() : found.start()], found.end()
        depth += {"{": 1, "}": -1}.get(found[0], 0)
    return None
