"""Words in LaTeX for narrow places: headings, which are bookmarks too, and the columns of tables."""

from __future__ import annotations

import re

from symscale.report.plain import one_line
from symscale.report.prose import LATEX, escape_latex, powers


def heading_latex(text: str) -> str:
    """Return a title for a heading, and what stands in its place where no formula can: in bookmarks."""
    shown = escape_latex(one_line(text))
    return rf"\texorpdfstring{{{shown}}}{{{_without_formulas(shown)}}}" if _FORMULA.search(shown) else shown


def _without_formulas(latex: str) -> str:
    plain = {rf"${sign}$": word for sign, word in _BOOKMARKS.items()}
    return _FORMULA.sub(lambda found: plain.get(found[0], ""), latex)


_FORMULA = re.compile(r"(?<!\\)\$[^$]*(?<!\\)\$")  # not a dollar sign of the title itself
_BOOKMARKS = {r"\rightarrow": "-{}>", r"\ge": ">=", r"\le": "<=", r"\gg": ">{}>", r"\ll": "<{}<", r"\times": "x"}
_BOOKMARKS |= {"-": "-", r"\mu": "u", r"\cdot": "*", r"\surd": "sqrt"}


def breakable_latex(text: str) -> str:
    """Return text for a narrow column: numbers with their powers of ten set, and breaks inside ids and formulas."""
    shown = powers(one_line(text), LATEX)
    return re.sub(r"(?<![\\{])([/*]|(?<!\d)\.|\.(?=[a-z])|-\{\}|\\_)(?=\S)", r"\1\\allowbreak{}", shown)
