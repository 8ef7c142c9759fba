"""Spaces at which no line ends: inside a short relation, and between its number and unit."""

from __future__ import annotations

import re

from symscale.errors import UnitError
from symscale.quantity import parse_unit

#: A space at which no line ends.
TIE = "\N{NO-BREAK SPACE}"
#: Longer words around a sign stay apart: a narrow column could not set them side by side.
SHORT = 8
_SIGN = r"[=<>≤≥≪≫]|[<>]=|<<|>>|−(?= \d)"


def tied(words: str) -> str:
    """Return words in which no line ends inside a short relation, or between its number and unit: `b = 2 B`."""
    words = re.sub(rf"(?<=\S) ({_SIGN}) (?=\S)", _around, words)
    return re.sub(rf"((?:{_SIGN}){TIE}[\d.,]*\d) ([^\s.,;:)]+)", _beside, words)


def _around(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - SHORT - 1) : found.start()].split()[-1]
    after = found.string[found.end() : found.end() + SHORT + 1].split()[0]
    short = max(len(before), len(after)) <= SHORT
    return f"{TIE}{found[1]}{TIE}" if short else found[0]


def _beside(found: re.Match[str]) -> str:
    return f"{found[1]}{TIE}{found[2]}" if is_unit(found[2]) else found[0]


def is_unit(name: str) -> bool:
    """Return whether a word is a unit."""
    try:
        parse_unit(name)
    except UnitError:
        return False
    return True
