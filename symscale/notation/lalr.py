"""Lark parsers whose tables are kept beside the bytecode, so that a grammar is worked out once and not in every run."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

TABLES = Path(__file__).parent / "__pycache__"


@lru_cache(maxsize=8)
def lalr(name: str, grammar: str) -> Lark:
    """Return the parser of a grammar.

    Lark compares the kept table with the grammar, its own version and Python's, and works it out again if one of them
    has changed or the table cannot be read. Where Python may not write bytecode, no table is written either.
    """
    from lark import Lark

    kept = str(TABLES / f"{name}.{sys.implementation.cache_tag}.lark") if TABLES.is_dir() else False
    return Lark(grammar, parser="lalr", lexer="basic", propagate_positions=False, maybe_placeholders=False, cache=kept)
