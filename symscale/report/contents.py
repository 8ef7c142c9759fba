"""What a report holds, in order: chapters, the derivation files that are their sections, and the ids in each.

Files called `ch3_….py` are the sections of one chapter, as the book they follow has them; any other file is a chapter
of its own. Titles are the first lines of the files' docstrings: "Chapter 3 of a book: what a chip holds" names the
chapter before its colon and the section after it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from symscale.derivation.registry import files
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.textfile import read_text

_CHAPTER = re.compile(r"(ch\d+)(?:_|$)")


@dataclass(frozen=True)
class Section:
    """A file of derivations: its title and its ids, in the order in which it writes them."""

    file: Path
    title: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Chapter:
    """A report: the name of its files, its title and its sections."""

    name: str
    title: str
    sections: tuple[Section, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all sections."""
        return tuple(each for section in self.sections for each in section.ids)


def chapters() -> tuple[Chapter, ...]:
    """Return the chapters of the library, and of the folders in SYMSCALE_DERIVATIONS, in the order of their files."""
    grouped: dict[tuple[Path, str], list[Section]] = {}
    for file, ids in files().items():
        found = _CHAPTER.match(file.stem)
        grouped.setdefault((file.parent, found[1] if found else file.stem), []).append(
            Section(file, heading(file), ids)
        )
    named: dict[str, Chapter] = {}
    for (folder, name), sections in grouped.items():
        while name in named or name in RESERVED:
            name = f"{folder.name}_{name}"  # a file of the same name in another folder
        named[name] = _chapter(name, sections)
    return tuple(named.values())


# What else a folder of reports has.
RESERVED = ("README", "book", "errata")


def _chapter(name: str, sections: list[Section]) -> Chapter:
    parts = [each.title.partition(": ") for each in sections]
    titles = {before for before, colon, _ in parts}
    if len(titles) > 1:
        return Chapter(name, name.replace("_", " ").capitalize(), tuple(sections))
    return Chapter(
        name,
        titles.pop(),
        tuple(
            Section(each.file, capitalised(after or before), each.ids)
            for each, (before, _, after) in zip(sections, parts, strict=True)
        ),
    )


def capitalised(words: str) -> str:
    """Return words with a capital at their beginning."""
    return words[:1].upper() + words[1:]


def heading(file: Path) -> str:
    """Return the title of a derivation file: the first line of its docstring, else its name."""
    lines = (ast.get_docstring(ast.parse(read_text(file))) or "").splitlines()
    return lines[0].rstrip(".") if lines else file.stem.replace("_", " ").capitalize()


def wanted(only: tuple[str, ...]) -> tuple[Chapter, ...]:
    """Return the chapters with these names, or that hold these ids; all of them if there are none.

    Raises SymscaleError naming the chapters there are.
    """
    every = chapters()
    for each in only:
        if not any(each == chapter.name or each in chapter.ids for chapter in every):
            raise SymscaleError(
                f"No chapter and no derivation is called {each[:60]!r}.",
                hint=f"The chapters are {', '.join(chapter.name for chapter in every)}.",
            )
    if not only:
        return every
    return tuple(each for each in every if each.name in only or not set(only).isdisjoint(each.ids))
