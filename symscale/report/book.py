"""Reports of several derivations: a chapter, and the book of all chapters, in Markdown and in LaTeX.

The book is one LaTeX document. In Markdown it is a front page (contents, symbols, references) that leads into the
chapters: a page with thousands of formulas is more than browsers and GitHub set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from symscale.exercise.coverage import STATUSES
from symscale.exercise.coverage import Chapter as Answers
from symscale.report.contents import Chapter
from symscale.report.document import filled
from symscale.report.errata import differences
from symscale.report.pieces import Piece, Rendered
from symscale.report.references import References
from symscale.report.symbols import tables

TITLE = "The mathematics of LLM scaling, derived"

Pieces: TypeAlias = Mapping[str, Piece]
# Derivations of the same document.
NOWHERE: Mapping[str, str] = {}


def chapter_markdown(chapter: Chapter, pieces: Pieces, cited: References) -> str:
    """Return a chapter as Markdown: contents, symbols, derivations, the authors' own symbols, references."""
    return filled("chapter.md.jinja", **_chapter(chapter, pieces), **_around([chapter], pieces, cited))


def chapter_latex(chapter: Chapter, pieces: Pieces, cited: References) -> str:
    """Return a chapter as a LaTeX document that compiles alone."""
    around = _around([chapter], pieces, cited)
    return filled("report.tex.jinja", **_chapter(chapter, pieces), **around, **_document())


def book_markdown(chapters: Sequence[Chapter], pieces: Pieces, cited: References) -> str:
    """Return the front page of the book as Markdown, with links into the chapters beside it."""
    links = {name: f"{each.name}.md" for each in chapters for name in each.ids}
    shown = [_chapter(each, pieces) for each in chapters]
    around = _around(chapters, pieces, cited, links)
    return filled("book.md.jinja", title=TITLE, chapters=shown, **around)


def book_latex(chapters: Sequence[Chapter], made: Rendered, cited: References) -> str:
    """Return the whole book as one LaTeX document, the printed answers that differ in an appendix."""
    differing = [(_spaced(each.name), differences(each, made.right)) for each in made.answers]
    more: dict[str, Any] = {
        **_document(),
        "title": TITLE,
        "chapters": [_chapter(each, made.pieces) for each in chapters],
        "errata": [(name, rows) for name, rows in differing if rows],
        "counts": _counts(made.answers),
    }
    return filled("report.tex.jinja", **_around(chapters, made.pieces, cited), **more)


def _spaced(name: str) -> str:
    """Return the name of a file of answers as a title: chapter1 is Chapter 1."""
    return re.sub(r"(?<=\D)(?=\d)", " ", name).capitalize()


def _document() -> dict[str, Any]:
    return {"chapters": (), "errata": (), "counts": ""}


def _chapter(chapter: Chapter, pieces: Pieces) -> dict[str, Any]:
    sections = [{"title": each.title, "pieces": [pieces[name] for name in each.ids]} for each in chapter.sections]
    return {"name": chapter.name, "title": chapter.title, "sections": sections}


def _around(
    chapters: Iterable[Chapter], pieces: Pieces, cited: References, links: Mapping[str, str] = NOWHERE
) -> dict[str, Any]:
    """Return what stands before and after the derivations: tables of symbols, and references with their numbers."""
    shown = [pieces[name] for each in chapters for name in each.ids]
    known, own = tables((each.id, each.symbols) for each in shown)
    found = [cited[key] for key in dict.fromkeys(key for each in shown for key in each.cites)]
    return {
        "figures": any(each.images for each in shown),
        "known": known,
        "own": own,
        "references": found,
        "numbers": {each.key: number for number, each in enumerate(found, 1)},
        "home": {each.id: links.get(each.id, "") for each in shown},
    }


def _counts(answers: Sequence[Answers]) -> str:
    counts = {status: sum(each.count(status) for each in answers) for status in STATUSES}
    return (
        f"Of {sum(counts.values()):,} printed answers {counts['agrees']:,} agree with what is derived, "
        f"{counts['differs']:,} differ, {counts['open']:,} were left open by the print, and for "
        f"{counts['not modelled']:,} nothing is derived. Those that differ follow; the ratio is printed over derived."
    )
