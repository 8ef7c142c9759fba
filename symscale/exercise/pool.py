"""The exercises there are: the derivations of the library, and the questions of a book among its printed answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symscale.derivation.registry import entries, ids
from symscale.derivation.registry import entry as registered
from symscale.errors import SymscaleError
from symscale.exercise.answers import Row, files, rows
from symscale.exercise.question import Question, question
from symscale.exercise.vary import varied

_ASKED = re.compile(r"ch\d+\.(q\d|quiz|popquiz|pop\d|p\d|problem|exercise)")
_CHAPTER = re.compile(r"\bch\. (\d+)\b")


def chapter_of(id: str) -> str:
    """Return the chapter that a derivation or an entry of a book belongs to, "" where it has none."""
    row = re.match(r"ch(\d+)\.", id)
    if row and id not in ids():
        return row[1]
    found = _CHAPTER.search(registered(id).source)
    return found[1] if found else ""


def listed(chapter: str = "") -> list[str]:
    """Return the ids of the exercises of a chapter, of a topic (what ids begin with, such as training), or of all.

    Raises SymscaleError for one without any.
    """
    every = [*(each.id for each in entries()), *(row.id for row in asked_rows())]
    found = [each for each in every if not chapter or chapter in (chapter_of(each), each.partition("/")[0])]
    if not found:
        there = sorted({chapter_of(each) for each in every} - {""}, key=lambda each: (len(each), each))
        topics = dict.fromkeys(each.partition("/")[0] for each in every if "/" in each)
        raise SymscaleError(
            f"There are no exercises of chapter {chapter[:20]}.",
            hint=f"There are chapters {', '.join(there)}, and topics {', '.join(topics)}.",
        )
    return found


def asked_rows() -> Iterator[Row]:
    """Yield the rows of printed answers that answer a question of the book."""
    for file in files():
        for row in rows(file.stem):
            # a formula that is a bare number asks nothing
            if _ASKED.match(row.id) and not row.not_modelled and not row.formula.strip().replace(".", "").isdigit():
                yield row


def questions(chapter: str = "") -> Iterator[Question]:
    """Yield the question of every exercise, its parts as questions of their own where an author asks for several."""
    for each in listed(chapter):
        yield from parts(each)


def parts(id: str, vary: int | None = None) -> Iterator[Question]:
    """Yield the questions of one exercise: those of its author, or that of its derivation."""
    first = varied(id, "", vary)
    asks = [each for each in first.asked if each.ask is not None] or [first.headline]
    for each in asks:
        yield question(first.asking(each), vary)
