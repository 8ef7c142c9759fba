"""Rows of printed answers for the tests: those of the library, and those of files in `data/`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from symscale.derivation.registry import blackboard as written
from symscale.exercise import answers
from symscale.exercise.answers import Row, candidates, close, entries, outcome, read, same

__all__ = ["DATA", "Row", "candidates", "check", "close", "entries", "read", "rows", "same", "written"]

DATA = Path(__file__).parent / "data"


@cache
def rows(name: str) -> tuple[Row, ...]:
    """Return the rows of a file: of `data/`, else of the library."""
    file = DATA / f"{name}.toml"
    if not file.is_file():
        return answers.rows(name)
    return tuple(Row(**each) for each in tomllib.loads(file.read_text(encoding="utf-8"))["row"])


def check(row: Row) -> None:
    """Compare a row with what the engine derives. Raises AssertionError."""
    try:
        outcome(row)
    except answers.AnswerError as error:
        raise AssertionError(str(error)) from error
