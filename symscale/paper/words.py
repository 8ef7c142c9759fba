"""Words of a derivation for a document: symbols that are renamed are renamed where words name them, too."""

from __future__ import annotations

import re
from functools import lru_cache

import sympy as sp

from symscale.derivation.step import Prose
from symscale.notation.order import Order
from symscale.report.ties import TIE, is_unit
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

#: Letters that are words of their own.
_ARTICLES = frozenset("AaI")


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
    units = "|".join(re.escape(name) for name in names if is_unit(name))
    behind = rf"(?!(?<=\d[ {TIE}])(?:{units})(?!\w))" if units else ""
    either = "|".join(map(re.escape, names)) or r"(?!)"
    return re.compile(rf"(?<![\w\[{{.^-]){behind}({either})(?![\w\[{{:])(?![^\[]*\])")
