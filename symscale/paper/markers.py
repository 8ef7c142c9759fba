"""The markers of a document: its comments that say `symscale: …` and `end symscale`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.paper.comments import Syntax

DIGITS = 8  # of the digest on an end marker
_MARKER = re.compile(r"[ \t]*(?:symscale:(?P<request>.*)|end[ \t]+symscale\b(?P<rest>.*))", re.DOTALL)
_ALMOST = re.compile(r"[ \t]*(?:symscale[ \t]*:|end[ \t]*symscale\b).*", re.DOTALL | re.IGNORECASE)
# In LaTeX a comment behind text ends the line, so a block begins on a line of its own.
_BEHIND = re.compile(r"\s*[^\s%].*?(?<!\\)%[ \t]*(?:symscale:|end[ \t]+symscale\b)")
_DIGEST = re.compile(rf"(?:[ \t]+([0-9a-f]{{{DIGITS}}}))?[ \t]*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Marker:
    """A marker: its line (from 1) and where that begins in the text; where the comment starts and stops in the line.

    `request` is what a start marker asks for, None of an end marker, whose digest stands at `slot` of the line; `alone`
    means that the line holds nothing else but `prefix`, its indentation.
    """

    number: int
    offset: int
    line: str
    start: int
    stop: int
    request: str | None
    digest: str
    slot: tuple[int, int]
    alone: bool

    @property
    def prefix(self) -> str:
        """What stands before a marker that has a line of its own."""
        return self.line[: self.start]

    @property
    def ending(self) -> str:
        """How its line ends."""
        return self.line[len(self.line.rstrip("\r\n")) :]


@dataclass(frozen=True)
class Fault:
    """Something wrong with a line of a document (from 1): what, where in the line, and what would be right."""

    number: int
    line: str
    at: int
    message: str
    hint: str

    def error(self, name: str) -> SymscaleError:
        """Return the error that says so of a document called `name`."""
        where = f"{name}:{self.number}: {self.message}"
        return SymscaleError(where, text=self.line.rstrip("\r\n"), position=self.at, hint=self.hint)


def lines(text: str) -> list[str]:
    """Return the lines of a text with their endings, of any system."""
    return _LINE.findall(text)


def markers(text: str, syntax: Syntax) -> tuple[list[Marker], list[Fault]]:
    """Return the markers of a text in their order, and what is wrong with single ones. Takes linear time."""
    found: list[Marker | Fault] = []
    state, opened, hidden = "", (0, ""), 0
    for number, match in enumerate(_LINE.finditer(text, int(text.startswith("\ufeff"))), 1):
        line = match[0]
        if "symscale" in line.lower():
            here = list(_read(number, match.start(), line, syntax))
            if not state:
                found += here
            elif not hidden and here:
                hidden = number
        after = syntax.after(state, line)
        if after and after[:2] != state[:2]:
            opened, hidden = (number, line), 0
        state = after
    if state and hidden:
        close = state.rstrip("0123456789")  # how deep comments of Typst are
        what = f"What begins here has no end ({close}), and would swallow the marker in line {hidden}."
        found.append(Fault(*opened, 0, what, f"End it with {close}."))
    return [each for each in found if isinstance(each, Marker)], [each for each in found if isinstance(each, Fault)]


def _read(number: int, offset: int, line: str, syntax: Syntax) -> Iterator[Marker | Fault]:
    """Yield the markers of a line, and what only begins like one."""
    if syntax.dialect == "latex" and _BEHIND.match(line):
        hint = "Give it a line of its own; a number within a sentence is a macro: symscale macros."
        yield Fault(number, line, line.index("%"), "A marker stands behind text.", hint)
        return
    lead, tail = len(line) - len(line.lstrip(syntax.margin)), len(line.rstrip())
    for start, stop, said in syntax.comments(line):
        found = _MARKER.fullmatch(said)
        if found is None:
            if _ALMOST.fullmatch(said):
                yield Fault(
                    number, line, start, "This is almost a marker.", f"Write `{syntax.start}` or `{syntax.end}`."
                )
            continue
        if stop < 0:
            yield Fault(number, line, start, "This marker does not end in its line.", f"Write `{syntax.start}`.")
            continue
        request, digest, slot = found["request"], "", (0, 0)
        if request is None:
            after = _DIGEST.fullmatch(found["rest"])
            at = line.index(said, start) + found.start("rest")
            if after is None:
                hint = f"Write `{syntax.end}` alone; symscale adds {DIGITS} digits that say what it wrote."
                yield Fault(number, line, at, "This is no end marker.", hint)
                continue
            digest = after[1] or ""
            slot = at, at + (after.end(1) if digest else 0)
        elif not request.strip():
            yield Fault(number, line, start, "This marker asks for nothing.", f"Write `{syntax.start}`.")
            continue
        alone = start <= lead and stop >= tail
        yield Marker(number, offset, line, start, stop, request and request.strip(), digest, slot, alone)
