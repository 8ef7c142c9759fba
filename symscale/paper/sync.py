"""`symscale sync`: the blocks of documents are written again, all of a document's or none."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from symscale.errors import SettingsError, SymscaleError
from symscale.frozen import dataclass
from symscale.paper.blocks import Block, Document, document
from symscale.paper.comments import Syntax, syntax_of
from symscale.paper.held import LARGEST, locked, real, replace
from symscale.paper.many import Wish, granted
from symscale.paper.markers import Fault
from symscale.paper.nearest import find
from symscale.textfile import decoded, read_bytes

#: What writes a piece of a derivation. Raises SymscaleError.
Writer: TypeAlias = Callable[[Wish], str]


@dataclass(frozen=True)
class Outcome:
    """What became of a document: its blocks as they were and as they have to be, or what is wrong with it.

    `stale` are the blocks that differ; `edited` those of them that hold what symscale has not written; `drawings` the
    figures beside it that were drawn again, or have to be.
    """

    file: Path
    old: Document
    new: Document
    stale: tuple[Block, ...] = ()
    edited: tuple[Block, ...] = ()
    faults: tuple[SymscaleError, ...] = ()
    drawings: tuple[Path, ...] = ()


EMPTY = Document("", (), ())


def sync(files: Iterable[Path], write: Writer, *, check: bool = False, force: bool = False) -> Iterator[Outcome]:
    """Yield what becomes of each document; its blocks are refreshed unless `check` is set.

    A document with a fault is left as it is, and so is one with a block that was edited by hand, without `force`.
    """
    for file in files:
        try:
            syntax, target = syntax_of(file), real(file)
            if check:
                found = _compared(file, held_by(target)[1], syntax, write)
                yield found if found.faults else dataclasses.replace(found, drawings=_drawn(found, check=True))
                continue
            with locked(target):
                data, text = held_by(target)
                found = _compared(file, text, syntax, write)
                if not found.faults and (force or not found.edited):
                    found = dataclasses.replace(found, drawings=_drawn(found))
                    if found.stale:
                        replace(target, data, found.new.text)
            yield found
        except SymscaleError as error:
            yield Outcome(file, EMPTY, EMPTY, faults=(error,))


def held_by(file: Path) -> tuple[bytes, str]:
    """Return what a document holds, and its text; none where it has no marker, whatever its encoding and length."""
    data = read_bytes(file, most=LARGEST, hint="Split the document.")
    # in UTF-16 and UTF-32 there are zeros between the letters
    if b"symscale" not in (data.replace(b"\0", b"") if b"\0" in data else data).lower():
        return data, ""
    return data, decoded(data, file)


def _drawn(found: Outcome, *, check: bool = False) -> tuple[Path, ...]:
    """Draw the figures that blocks put into files beside a document, and return those that were stale."""
    asked = [each for each in found.old.blocks if " file=" in each.request]
    if not asked:
        return ()
    from symscale.paper.drawings import draw
    from symscale.paper.request import read_request
    from symscale.paper.settings import read_settings

    folder = found.file.parent
    settings = read_settings(folder)
    drawn: list[Path | None] = []
    with settings.used():
        for each in asked:
            try:
                drawn.append(draw(read_request(each.request), settings, folder, check=check))
            except SymscaleError as error:
                raise _unwritten(each, error).error(str(found.file)) from error
    return tuple(each for each in drawn if each is not None)


def documents(files: Sequence[Path]) -> tuple[Path, ...]:
    """Return the documents asked for: files, and in the place of a folder those that its `symscale.toml` lists.

    Without any the folder is the current one. Raises SymscaleError where none are listed.
    """
    found: list[Path] = []
    for each in files or (Path(),):
        listed = _listed(each) if each.is_dir() else (each,)
        if not listed:
            where = "There is no symscale.toml that lists" if find(each) is None else f"{find(each)} does not list"
            hint = 'Name files, or list them there: documents = ["paper.tex", "chapters/*.tex"].'
            raise SymscaleError(f"{where} documents.", hint=hint)
        found += listed
    return tuple(dict.fromkeys(found))


def _listed(folder: Path) -> tuple[Path, ...]:
    from symscale.paper.settings import read_settings

    return read_settings(folder).documents


def _settled(file: Path) -> None:
    """Raise SymscaleError for what is wrong with the settings of a document: said once, not in every block."""
    if find(file.parent) is not None:
        _listed(file.parent)


def writer(files: Iterable[Path], workers: int) -> Writer:
    """Return what writes the blocks of documents, all of them at once beforehand."""
    done = dict(granted((wish for file in files for wish in _wishes(file)), workers))

    def write(wish: Wish) -> str:
        if wish not in done:  # the document has changed since
            done.update(granted([wish], 1))
        found = done[wish]
        if isinstance(found, SymscaleError):
            raise found
        return found

    return write


def _wishes(file: Path) -> Iterator[Wish]:
    """Yield what the blocks of a document ask for; one that cannot be read says so later."""
    try:
        syntax = syntax_of(file)
        found = document(held_by(real(file))[1], syntax)
        if found.blocks:
            _settled(file)
        yield from (_wish(each, file, syntax) for each in found.blocks)
    except SymscaleError:
        return


def _wish(block: Block, file: Path, syntax: Syntax) -> Wish:
    return Wish(block.request, syntax.dialect, file.parent, inline=not block.start.alone)


def _compared(file: Path, text: str, syntax: Syntax, write: Writer) -> Outcome:
    old = document(text, syntax)
    faults, contents = list(old.faults), []
    if old.blocks:
        _settled(file)
    for block in old.blocks:
        try:
            written = write(_wish(block, file, syntax)).strip()
            if "\n" in written and not block.start.alone:
                raise SymscaleError(
                    "This takes several lines.", hint="Give both markers lines of their own, or ask for env=inline."
                )
            contents.append(block.filled(written))
        except SettingsError:
            raise  # said once, not in every block
        except SymscaleError as error:
            faults.append(_unwritten(block, error))
    faults += _labelled_twice(old.blocks, contents) if len(contents) == len(old.blocks) else []
    if faults:
        faults.sort(key=lambda each: each.number)
        return Outcome(file, old, old, faults=tuple(each.error(str(file)) for each in faults))
    new = document(old.rewritten(contents), syntax)
    stale = tuple(
        block
        for block, other in zip(old.blocks, new.blocks, strict=True)
        if (block.content(text), block.end.digest) != (other.content(new.text), other.end.digest)
    )
    edited = tuple(
        block
        for block, content in zip(old.blocks, contents, strict=True)
        if block.content(text) != content and block.edited(text)
    )
    return Outcome(file, old, new, stale, edited)


def _unwritten(block: Block, error: SymscaleError) -> Fault:
    """Return the fault of a block that cannot be written, its caret under the word of the marker that is to blame."""
    line = block.start.line
    first = line.index(block.request, block.start.start)
    found = line.find(error.text, first) if error.text and error.position is not None else -1
    at = first if found < 0 else min(found + (error.position or 0), len(line.rstrip("\r\n")))
    return Fault(block.start.number, line, at, error.message, error.hint)


_LABEL = re.compile(r"\\label\{([^}]*)\}|<([\w:.-]+)>\s*$|\bid=\"([^\"]*)\"", re.MULTILINE)


def _labelled_twice(blocks: Sequence[Block], contents: Sequence[str]) -> list[Fault]:
    """Return a fault for each block with a label that an earlier one has: a reference would lead to either."""
    seen: dict[str, Block] = {}
    faults = []
    for block, content in zip(blocks, contents, strict=True):
        for label in ("".join(filter(None, found)) for found in _LABEL.findall(content)):
            if seen.setdefault(label, block) is not block:
                message = f"The label {label} is also that of the block in line {seen[label].start.number}."
                faults.append(
                    Fault(block.start.number, block.start.line, block.start.start, message, "Give one another label=….")
                )
    return faults
