"""The languages that documents are written in, by name and by the suffix of a file."""

from __future__ import annotations

from symscale.errors import SymscaleError
from symscale.paper.html import Html
from symscale.paper.language import Dialect
from symscale.paper.latex import Latex
from symscale.paper.markdown import Markdown
from symscale.paper.plain import Plain
from symscale.paper.typst import Typst

__all__ = ["DIALECTS", "HTML", "LATEX", "MARKDOWN", "TEXT", "TYPST", "Dialect", "dialect_of"]

LATEX: Dialect = Latex()
MARKDOWN: Dialect = Markdown()
TYPST: Dialect = Typst()
HTML: Dialect = Html()
#: What a terminal shows of a piece; no documents are written in it.
TEXT: Dialect = Plain()
DIALECTS = {each.name: each for each in (LATEX, MARKDOWN, TYPST, HTML)}


def dialect_of(file: str, name: str = "") -> Dialect:
    """Return the dialect of a name, or else of a file by its suffix. Raises SymscaleError."""
    if name:
        if name not in DIALECTS:
            raise SymscaleError(f"There is no dialect {name[:40]!r}.", hint=f"There are {', '.join(DIALECTS)}.")
        return DIALECTS[name]
    stem = file.lower().removesuffix(".jinja").removesuffix(".j2")
    for each in DIALECTS.values():
        if stem.endswith(each.suffixes):
            return each
    known = ", ".join(suffix for each in DIALECTS.values() for suffix in each.suffixes)
    raise SymscaleError(f"What {file} is written in does not show.", hint=f"Name it {known}, or give --dialect.")
