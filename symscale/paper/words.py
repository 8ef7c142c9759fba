"""Words of a derivation for a document: symbols that are renamed are renamed where words name them, too."""

from __future__ import annotations

import re
from functools import lru_cache

import sympy as sp

from symscale.derivation.step import Prose
from symscale.errors import UnitError
from symscale.notation.order import Order
from symscale.quantity import parse_unit
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

#: Letters that are words of their own.
_ARTICLES = frozenset("AaI")
#: A space at which no line ends.
TIE = "\N{NO-BREAK SPACE}"
#: Longer words around a sign stay apart: a narrow column could not set them side by side.
SHORT = 8
_SIGN = r"[=<>≤≥≪≫]|[<>]=|<<|>>|−(?= \d)"


def tied(prose: Prose) -> Prose:
    """Return words in which no line ends inside a short relation, or between its number and unit: `b = 2 B`."""
    if isinstance(prose, str):
        words = re.sub(rf"(?<=\S) ({_SIGN}) (?=\S)", _around, prose)
        return re.sub(rf"((?:{_SIGN}){TIE}[\d.,]*\d) ([^\s.,;:)]+)", _beside, words)
    return tuple(str(tied(each)) if isinstance(each, str) else each for each in prose)


def _around(found: re.Match[str]) -> str:
    before, after = found.string[: found.start()].split(), found.string[found.end() :].split()
    short = len(before[-1]) <= SHORT and len(after[0]) <= SHORT
    return f"{TIE}{found[1]}{TIE}" if short else found[0]


def _beside(found: re.Match[str]) -> str:
    return f"{found[1]}{TIE}{found[2]}" if _is_unit(found[2]) else found[0]


def renamed(prose: Prose, order: Order) -> Prose:
    """Return words in which each symbol that the order renames is a formula: `for X ≫ 1` has the document's X.

    The names of arrays and axes in notation (`In[B_X, D]`, `X: a ring`), articles, and units behind numbers stay.
    """
    if not order.written:
        return prose
    found = _pattern(order.written)
    parts = (prose,) if isinstance(prose, str) else prose
    made: list[str | sp.Expr | Relation] = []
    for each in parts:
        if not isinstance(each, str):
            made.append(each)
            continue
        pieces = found.split(each)
        made += [symbol(piece) if n % 2 else piece for n, piece in enumerate(pieces) if piece]
    return tuple(made)


@lru_cache(maxsize=64)
def _pattern(written: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    names = sorted((name for name, _ in written if name not in _ARTICLES), key=len, reverse=True)
    units = "|".join(re.escape(name) for name in names if _is_unit(name))
    behind = rf"(?!(?<=\d[ {TIE}])(?:{units})(?!\w))" if units else ""
    either = "|".join(map(re.escape, names)) or r"(?!)"
    return re.compile(rf"(?<![\w\[{{.^-]){behind}({either})(?![\w\[{{:])(?![^\[]*\])")


def _is_unit(name: str) -> bool:
    try:
        parse_unit(name)
    except UnitError:
        return False
    return True
