"""The texts of a document: its file, the files it takes in, the cells of a notebook."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.paper.audit.macros import Macro, definitions
from symscale.paper.audit.masked import masked
from symscale.paper.audit.typst import Let, lets
from symscale.paper.comments import LATEX, MARKDOWN, SUFFIXES, TYPST, Syntax, syntax_of
from symscale.paper.held import read

NOTEBOOK = ".ipynb"
LARGEST, DEEPEST, MOST_FILES = 20_000_000, 8, 500
_TAKES_IN = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}\n]+)\}|\\input[ \t]+([^\s{}\\%]+)")
_PACKAGES = re.compile(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{([^{}]+)\}")
_LINE_END = re.compile(r"\r\n?|\n")
#: In a cell of code this comment names what its output shows.
_OUTPUT_TAG = re.compile(r"^[ \t]*#[ \t]*audit:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_SHOWN = ("text/latex", "text/markdown", "text/plain")


@dataclass(frozen=True)
class Source:
    """A text of a document: the file, and in a notebook the cell, from 1; its first line is number `first`."""

    file: Path
    text: str
    syntax: Syntax
    cell: int | None = None
    output: bool = False
    first: int = 1

    @cached_property
    def ends(self) -> list[int]:
        """Where the lines end."""
        return [each.end() for each in _LINE_END.finditer(self.text)]

    def line(self, at: int) -> int:
        """Return the number of the line of a place."""
        return max(bisect_right(self.ends, at) + self.first, 1)


@dataclass(frozen=True)
class Note:
    """Something that is not followed or not closed: where, and why."""

    file: Path
    line: int
    message: str
    cell: int | None = None


@dataclass(frozen=True)
class Document:
    """The texts of a document, the macros it defines, and what was left out."""

    sources: tuple[Source, ...]
    macros: dict[str, Macro]
    notes: tuple[Note, ...]
    lets: Mapping[str, Let] = field(default_factory=dict)


def document(file: Path) -> Document:
    """Read a document with what it takes in from its folder. Raises SymscaleError for what is no readable document."""
    if file.is_dir():
        raise SymscaleError(f"{file} is a folder.", hint="Give its documents: notes/*.md.")
    if file.suffix.lower() == NOTEBOOK:
        cells = tuple(_cells(file))
        return Document(cells, _defined(cells), ())
    if file.suffix.lower() not in SUFFIXES:
        raise SymscaleError(
            f"{file}: a document that ends in {file.suffix or 'no suffix'!r} is of no kind that is audited.",
            hint=f"Formulas are found in {', '.join((*SUFFIXES, NOTEBOOK))}.",
        )
    syntax = syntax_of(file)
    first = Source(file, _text(file), syntax)
    if syntax is not LATEX:
        defined = lets(masked(first.text, TYPST).text) if syntax is TYPST else {}
        return Document((first,), _defined((first,)), (), defined)
    reader = _Tree(file.parent)
    reader.add(first, 0)
    return Document(tuple(reader.sources), reader.macros, tuple(reader.notes))


def _defined(sources: Iterable[Source]) -> dict[str, Macro]:
    """Return the macros that texts define one after another, as MathJax takes them."""
    found: dict[str, Macro] = {}
    for each in sources:
        if each.syntax is not TYPST and "\\" in each.text:
            found |= definitions(masked(each.text, each.syntax).text)
    return found


def _text(file: Path) -> str:
    """Return what a document holds. Raises SymscaleError if it is no file, too large, or not UTF-8."""
    if not file.is_file():
        missing = "is no file" if file.exists() else "cannot be read: there is no such file"
        what = "is a folder" if file.is_dir() else missing
        raise SymscaleError(f"{file} {what}.", hint="Give documents that are there.")
    return read(file, LARGEST)[1]


class _Tree:
    """The files of a LaTeX document while they are read; each once, and only those of its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inside = folder.resolve()
        self.sources: list[Source] = []
        self.notes: list[Note] = []
        self.macros: dict[str, Macro] = {}
        self.seen: set[Path] = set()

    def add(self, source: Source, depth: int) -> None:
        self.seen.add(source.file.resolve())
        self.sources.append(source)
        text = masked(source.text, source.syntax).text
        for names in _PACKAGES.findall(text):
            for name in names.split(","):
                self.define(self.folder / f"{name.strip()}.sty")
        self.macros |= definitions(text)
        for found in _TAKES_IN.finditer(text):
            name = (found[1] or found[2]).strip()
            why = self.follow(name, depth)
            if why:
                said = f"{found[0].strip()[:60]} is not followed: {why}."
                self.notes.append(Note(source.file, source.line(found.start()), said))

    def define(self, file: Path) -> None:
        """Take in the macros of a package that lies in the folder."""
        if file.is_file() and file.resolve().is_relative_to(self.inside) and file.resolve() not in self.seen:
            self.seen.add(file.resolve())
            self.macros |= definitions(masked(_text(file), LATEX).text)

    def follow(self, name: str, depth: int) -> str:
        """Read a file that is taken in, and say why not where it is not."""
        if "#" in name or "\\" in name:
            return "its name is made by a macro"
        path = self.folder / name
        path = path if path.suffix in (".tex", ".ltx") or path.is_file() else path.with_name(f"{path.name}.tex")
        try:
            target = path.resolve()
        except (OSError, RuntimeError):
            return "its links lead in a circle"
        if not target.is_relative_to(self.inside):
            return "it lies outside of the document's folder"
        if not target.is_file():
            return "there is no such file"
        if target in self.seen:
            return ""
        if depth >= DEEPEST or len(self.seen) >= MOST_FILES:
            return f"files are nested more than {DEEPEST} deep" if depth >= DEEPEST else f"it is file {MOST_FILES + 1}"
        self.add(Source(path, _text(path), LATEX), depth + 1)
        return ""


def _cells(file: Path) -> Iterator[Source]:
    """Yield the texts of a notebook: cells of Markdown, and outputs of code that a comment `# audit: …` tags."""

    def broken(why: str) -> SymscaleError:
        return SymscaleError(f"{file} is no notebook: {why}.", hint="Save it again in Jupyter (nbformat 4).")

    try:
        book = json.loads(_text(file))
    except RecursionError as error:
        raise broken("its JSON is nested too deeply") from error
    except ValueError as error:
        raise broken(f"its JSON is broken ({error})") from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise broken("it has no list of cells")
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            raise broken(f"cell {number} is none")
        text = _joined(cell.get("source", ""))
        if text is None:
            raise broken(f"the source of cell {number} is no text")
        if cell.get("cell_type") == "markdown":
            yield Source(file, text, MARKDOWN, number)
        elif cell.get("cell_type") == "code":
            yield from _outputs(file, number, text, cell.get("outputs"))


def _outputs(file: Path, number: int, source: str, outputs: Any) -> Iterator[Source]:
    tag = _OUTPUT_TAG.search(source)
    if tag is None:
        return
    shown = [each for one in outputs if (each := _output(one))] if isinstance(outputs, list) else []
    # the tag stands on two lines before the output's own first
    text = f"<!-- audit: {tag[1].replace('--', '')} -->\n\n" + (shown[-1] if shown else "")
    yield Source(file, text, MARKDOWN, number, output=True, first=-1)


def _output(one: Any) -> str:
    """Return what an output of a cell shows: a formula, Markdown, or text."""
    if not isinstance(one, dict):
        return ""
    data = one.get("data")
    if isinstance(data, dict):
        return next((text for kind in _SHOWN if kind in data and (text := _joined(data[kind]))), "")
    return _joined(one.get("text", "")) or ""


def _joined(source: Any) -> str | None:
    if isinstance(source, list) and all(isinstance(each, str) for each in source):
        return "".join(source)
    return source if isinstance(source, str) else None
