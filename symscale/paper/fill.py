"""A template filled in, in a process of its own: the text of the document, or what is wrong in which line."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Collection
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from symscale.errors import StepError, SymscaleError
from symscale.paper.dialect import dialect_of
from symscale.paper.drawings import draw
from symscale.paper.language import Dialect
from symscale.paper.limits import PIECES, OutOfTimeError, limit_process, paused, timed, too_long
from symscale.paper.objects import Derived, Piece
from symscale.paper.pieces import Number, find
from symscale.paper.render import MADE_BY
from symscale.paper.request import Request, read_request
from symscale.paper.settings import Settings, read_settings
from symscale.paper.template import delimiters, environment, rounded, source
from symscale.paper.write import formula, number, write


class _Press:
    """What writes the pieces of one document: counts them, keeps what was written, draws what goes into files."""

    def __init__(self, dialect: Dialect, settings: Settings, folder: Path | None, check: bool) -> None:
        self.dialect, self.settings, self.folder, self.check = dialect, settings, folder, check
        self.stale: list[str] = []
        self.asked = 0
        self.write = lru_cache(maxsize=4096)(self._written)

    def one(self, request: Request) -> str:
        """Return what is written of a request. Raises SymscaleError where a template asks for too many."""
        self.asked += 1
        if self.asked > PIECES:
            raise SymscaleError(
                f"The template asks for more than {PIECES:,} pieces.", hint="Let its loops end earlier."
            )
        with paused():
            return self.write(request)

    def _written(self, request: Request) -> str:
        shown = write(request, self.dialect, self.settings)
        if self.folder is not None and request.option("file"):
            file = draw(request, self.settings, self.folder, check=self.check)
            self.stale += [str(file)] if file is not None else []
        return shown

    def count(self, request: Request) -> float | int:
        """Return the number of a request for a value."""
        with paused():
            found = find(request).piece
        if not isinstance(found, Number):
            raise SymscaleError(f"{request.piece} of {request.id} is no number.", hint="Write .value.number.")
        return int(found.value) if found.value.is_Integer else float(found.value)

    def names(self) -> dict[str, Any]:
        """Return what templates may name."""
        return {"symscale": lambda name: Derived(str(name), self.one, self.count)}

    def filters(self) -> dict[str, Any]:
        """Return the filters: a request as a sentence, text, a formula and a number of the template's own."""
        style = self.settings.style
        return {
            "symscale": lambda text: _safe(self.dialect, self.one(read_request(str(text)))),
            # a piece is text of the document already
            "text": lambda text: _safe(self.dialect, _text(self.dialect, text)),
            "formula": lambda text, **options: _safe(
                self.dialect, formula(str(text), self.dialect, style.changed(_options(options)))
            ),
            "number": lambda value, unit="", **options: _safe(
                self.dialect, number(value, str(unit), self.dialect, style.changed(_options(options)))
            ),
        }


def _options(options: dict[str, Any]) -> list[tuple[str, str]]:
    return [(key, str(value)) for key, value in options.items()]


def _safe(dialect: Dialect, text: str) -> str:
    """Return text of the document's language as such, where what a template prints is escaped."""
    if dialect.name != "html":
        return text
    from markupsafe import Markup

    return Markup(text)


def filled(template: Path, dialect: Dialect, out: Path | None, check: bool) -> tuple[str, list[str], list[str]]:
    """Return the text of a template, the drawings that are stale, and the files it was made of.

    Raises SymscaleError naming the file and the line.
    """
    settings = read_settings(template.parent)
    press = _Press(dialect, settings, out, check)
    seen: set[Path] = set()
    found = environment(dialect, template.parent, press.names(), seen)
    found.filters = {**_kept(found.filters), **press.filters()}
    with settings.used():
        try:
            with timed():
                pieces: list[str] = []
                letters = 0
                for piece in found.get_template(template.name).generate():
                    letters += len(piece)
                    wrong = too_long(letters)
                    if wrong is not None:
                        raise wrong
                    pieces.append(piece)
        except Exception as error:
            raise _located(error, template, dialect, press, set(map(str, seen))) from error
    return "".join(pieces), press.stale, sorted(map(str, seen))


def _kept(filters: dict[str, Any]) -> dict[str, Any]:
    """Return jinja's filters without those that make random texts, or show what is behind an object."""
    kept = {name: each for name, each in filters.items() if name not in ("random", "pprint", "xmlattr")}
    return {**kept, "round": rounded}


def _located(
    error: BaseException, template: Path, dialect: Dialect, press: _Press, seen: Collection[str]
) -> SymscaleError:
    """Return an error as one that names the file and the line of the template, and what would be right."""
    from jinja2 import TemplateSyntaxError

    file, line = str(template), 0
    if isinstance(error, TemplateSyntaxError):
        file, line = error.filename or file, error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            # the deepest line of a template of this folder
            if (
                frame.lineno
                and Path(frame.filename).is_relative_to(template.parent.resolve())
                and frame.line is not None
            ):
                file, line = frame.filename, frame.lineno
    message, hint = _said(error, dialect, press)
    shown = _line(Path(file), line)
    name = os.path.relpath(file, template.parent)
    where = f"{name}, line {line}" if line else name
    kind = StepError if isinstance(error, StepError) else SymscaleError
    at = 0 if shown.strip() else None
    return kind(f"{where}: {message}", text=shown.strip(), position=at, hint=hint)


def _line(file: Path, number: int) -> str:
    try:
        return source(file).splitlines()[number - 1] if number > 0 else ""
    except (SymscaleError, OSError, IndexError):
        return ""


def _said(error: BaseException, dialect: Dialect, press: _Press) -> tuple[str, str]:
    """Return what is wrong, and what would be right."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError, UndefinedError
    from jinja2.exceptions import SecurityError

    if isinstance(error, SymscaleError):
        return error.message, error.hint
    if isinstance(error, OutOfTimeError):
        return "the template's loops take too long", "Let them end earlier: nothing here needs seconds."
    if isinstance(error, MemoryError):
        return "the template needs too much memory", "Let it make less text."
    if isinstance(error, RecursionError):
        return "the template is nested too deeply, or includes itself", "Let no file include itself."
    message = (getattr(error, "message", None) or str(error) or type(error).__name__).rstrip(".")
    if isinstance(error, TemplateNotFound):
        return f"there is no file {error.name} in its folder", "Templates include files of their own folder."
    if isinstance(error, TemplateSyntaxError):
        mark = delimiters(dialect).get("line_statement_prefix")
        if mark and "unknown tag" in message:
            return message, f"A line that begins with {mark.strip()} and a space is a statement, not a comment."
        return message, "docs/papers.md shows the notation of templates."
    if isinstance(error, UndefinedError):
        name = re.search(r"'(\w+)' is undefined", message)
        close = get_close_matches(name[1], press.names(), n=1) if name else []
        return message, f"Did you mean {close[0]}?" if close else 'Derivations are named symscale("training/fsdp").'
    if isinstance(error, SecurityError):
        return f"{message} in a template", "A template reads pieces of derivations; it does not run Python."
    if isinstance(error, NameError):  # 1e400 is compiled as inf
        return "a number is too large", "Write one that is less than 1e308."
    return f"{type(error).__name__}: {message}", "Correct the template."


def _text(dialect: Dialect, text: object) -> str:
    """Return words as text of a document; a piece is that already."""
    return str(text) if isinstance(text, Piece) else dialect.text(str(text))


def with_note(text: str, name: str, dialect: Dialect) -> str:
    """Return a document with a comment that names its template: in front, or behind where the head is not free."""
    note = dialect.comment(f"{MADE_BY} {name}: edit that file, not this one.")
    if dialect.name in ("latex", "typst"):
        return f"{note}\n{text}"
    return f"{text.rstrip(chr(10))}\n\n{note}\n"


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the text of the template that is asked for, or what is wrong, as JSON can have it."""
    try:
        out = Path(asked["folder"]) if asked["folder"] else None
        dialect = dialect_of(asked["name"], asked["dialect"])
        text, stale, made_of = filled(Path(asked["template"]), dialect, out, asked["check"])
    except SymscaleError as error:
        said = {"error": type(error).__name__, "message": error.message, "line": error.text, "at": error.position}
        return {**said, "hint": error.hint}
    return {"text": with_note(text, asked["name"], dialect), "stale": stale, "made of": made_of}


def main() -> None:
    """Answer what standard input asks on standard output."""
    asked = json.loads(sys.stdin.buffer.read())
    # what a derivation prints is not the document
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="")
    os.dup2(2, 1)
    limit_process()
    said = answer(asked)
    with out:
        json.dump(said, out)


if __name__ == "__main__":
    main()
