"""What the tags of a text stand beside: the rows of a display, a formula in running text, or a number."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.paper.audit.formulas import Formula, Unclosed, formulas
from symscale.paper.audit.macros import LONGEST, expanded, original
from symscale.paper.audit.masked import Tag, masked
from symscale.paper.audit.prose import numbers, unit_after
from symscale.paper.audit.statements import Statement, statements
from symscale.paper.audit.tidied import goes_on, plain, rows, shown_row
from symscale.paper.audit.typst import as_latex
from symscale.paper.blocks import document
from symscale.paper.comments import TYPST, Syntax
from symscale.paper.request import read_request
from symscale.paper.style import Style

_SIGN = re.compile(r"[=<>≤≥≈]|\\(?:leq?|geq?|lt|gt|approx|simeq|leqslant|geqslant)(?![A-Za-z])")
_LINE_END = re.compile(r"\r\n?|\n")
_BLANK_LINE = re.compile(r"\n[ \t>]*\r?\n")
#: A tag of running text looks at so many formulas and numbers for one that is a claim.
MOST_TRIED = 5


@dataclass(frozen=True)
class Claim:
    """A line of a formula, or a number: where it stands, as it is written, and what it states, or why it cannot be."""

    at: int
    text: str
    states: tuple[Statement, ...]
    fault: SymscaleError | None = None


@dataclass(frozen=True)
class Tagged:
    """A tag with what it covers: the first of these groups that claims something, every line of it."""

    tag: Tag
    groups: tuple[tuple[Claim, ...], ...] = ()


@dataclass(frozen=True)
class Spelling:
    """How a document writes symbols: macros of its own, and renamed symbols."""

    macros: Mapping[str, str]
    renames: tuple[tuple[str, str], ...] = ()

    def of(self, tag: Tag) -> Spelling:
        """Return the spelling with what a tag renames besides."""
        try:
            options = read_request(tag.sentence).options
            style = Style(renames=self.renames).changed([each for each in options if each[0] == "rename"])
        except SymscaleError:
            return self  # what is wrong with its sentence is said when it is judged
        return replace(self, renames=style.renames)

    def read(self, latex: str) -> str:
        """Return a formula with macros put in, and symbols under their own names. Raises SymscaleError."""
        return original(expanded(latex, self.macros), self.renames)


@dataclass(frozen=True)
class Found:
    """The tags of a text with what they cover, formulas without a tag, and formulas that never end."""

    tagged: tuple[Tagged, ...]
    untagged: tuple[tuple[int, str], ...]
    unclosed: tuple[Unclosed, ...]


def claims(text: str, syntax: Syntax, spelling: Spelling) -> Found:
    """Return what the tags of a text cover, and what is left without a tag."""
    return _Text(text, syntax, spelling).found


class _Text:
    """One text while its tags are given to its formulas."""

    def __init__(self, text: str, syntax: Syntax, spelling: Spelling) -> None:
        self.source, self.syntax, self.spelled, self.spelling = text, syntax, spelling, spelling
        hidden = masked(text, syntax)
        self.text, self.tags = hidden.text, hidden.tags
        everything = list(formulas(self.text, syntax))
        self.formulas = [each for each in everything if isinstance(each, Formula)]
        self.unclosed = tuple(each for each in everything if isinstance(each, Unclosed))
        self.starts = [each.start for each in self.formulas]
        self.ends = [each.end for each in self.formulas]
        self.blanks = [each.start() for each in _BLANK_LINE.finditer(text)]
        self.lines = [0, *(each.end() for each in _LINE_END.finditer(text))]
        self.taken: set[int] = set()

    @cached_property
    def found(self) -> Found:
        tagged = tuple(self.covered(each) for each in self.tags)
        kept = [each.span for each in document(self.source, self.syntax).blocks]
        untagged = [each for formula in self.formulas for each in self.left(formula, kept)]
        return Found(tagged, tuple(untagged), self.unclosed)

    def covered(self, tag: Tag) -> Tagged:
        self.spelling = self.spelled.of(tag)
        inside = self.around(tag)
        if inside is not None:
            return Tagged(tag, (self.tagged_rows(inside, tag),))
        display = self.beside(tag)
        if display is not None:
            return Tagged(tag, (self.take(display),))
        tried = tuple(self.in_text(tag))
        self.taken |= {claim.at for group in tried for claim in group}
        return Tagged(tag, tried)

    def left(self, formula: Formula, kept: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
        """Yield the rows of a formula that state something, carry no tag, and are not kept up to date by blocks."""
        if any(first <= formula.start < last for first, last in kept):
            return
        for at, row in _lines(self.text[formula.first : formula.last], formula.first):
            if at not in self.taken and _SIGN.search(row):
                yield at, _one_line(row)

    # ---- displays

    def around(self, tag: Tag) -> Formula | None:
        """Return the formula that a tag stands in."""
        n = bisect_right(self.starts, tag.start) - 1
        return self.formulas[n] if n >= 0 and tag.start < self.formulas[n].end else None

    def beside(self, tag: Tag) -> Formula | None:
        """Return the display that a tag stands directly before, or behind."""
        n = bisect_left(self.starts, tag.end)
        after = self.formulas[n] if n < len(self.formulas) and not self.text[tag.end : self.starts[n]].strip() else None
        n = bisect_right(self.ends, tag.start) - 1
        behind = self.formulas[n] if n >= 0 and not self.text[self.ends[n] : tag.start].strip(" \t\r\n.,;") else None
        before = behind if behind is not None and behind.display and not self.parted(behind.end, tag.start) else None
        if tag.trailing:
            return before
        if not tag.alone or after is None or not after.display:
            after = after if after is not None and after.display and not tag.trailing else None
        free = before is not None and not self.taken & {at for at, _ in self.rows(before)}
        if after is not None and (not self.parted(tag.end, after.start) or not free):
            return after
        return before if free and tag.alone else after

    def parted(self, start: int, end: int) -> bool:
        """Return whether a blank line lies between two places."""
        n = bisect_left(self.blanks, start)
        return n < len(self.blanks) and self.blanks[n] < end

    def rows(self, formula: Formula) -> list[tuple[int, str]]:
        return list(_lines(self.text[formula.first : formula.last], formula.first))

    def take(self, formula: Formula, only: int | None = None) -> tuple[Claim, ...]:
        """Return what the rows of a formula state, or one of them, which have a tag then."""
        found = tuple(each for each in self.read(formula) if only is None or only == each.at)
        self.taken |= {each.at for each in found}
        return found

    def read(self, formula: Formula, unit: str = "") -> Iterator[Claim]:
        """Yield what the rows of a formula state; one that begins with a sign goes on with the last side."""
        side = ""
        for at, row in self.rows(formula):
            claim, side = self.claim(at, row, side, unit)
            yield claim

    def tagged_rows(self, formula: Formula, tag: Tag) -> tuple[Claim, ...]:
        """Return the row that a tag stands on, or every one where it stands beside what opens the display."""
        before = self.text[formula.first : tag.start]
        rows = self.rows(formula)
        if (not before.strip() and "\n" not in before) or not rows:
            return self.take(formula)
        behind = [at for at, _ in rows if at <= tag.start]
        own = [at for at, _ in rows if at > tag.start]
        # a comment on a line of its own is about what follows, one behind a row about that row
        chosen = own[0] if (tag.alone and own) or not behind else behind[-1]
        return self.take(formula, chosen)

    # ---- running text

    def in_text(self, tag: Tag) -> Iterator[tuple[Claim, ...]]:
        """Yield the formulas and numbers that a tag of running text may be about, the nearest first."""
        if tag.trailing:
            start = self.lines[bisect_right(self.lines, tag.start) - 1]
            before = list(self.between(start, tag.start))
            if before:
                yield from reversed(before[-MOST_TRIED:])
                return
        follows = re.compile(r"\s*").match(self.text, tag.end)
        start = follows.end() if follows else tag.end
        n = bisect_left(self.blanks, start)
        end = self.blanks[n] if n < len(self.blanks) else len(self.text)
        after = list(self.between(tag.end, end))[:MOST_TRIED]
        if after or tag.alone:
            yield from after
            return
        n = bisect_left(self.blanks, tag.start) - 1
        yield from reversed(list(self.between(self.blanks[n] if n >= 0 else 0, tag.start))[-MOST_TRIED:])

    def between(self, start: int, end: int) -> Iterator[tuple[Claim, ...]]:
        """Yield the formulas and numbers between two places, in their order."""
        at = start
        for n in range(bisect_left(self.starts, start), bisect_left(self.starts, end)):
            formula = self.formulas[n]
            yield from self.counted(at, formula.start)
            behind = "" if formula.display else unit_after(self.text[formula.end : formula.end + 80])
            yield tuple(self.read(formula, behind))
            at = formula.end
        yield from self.counted(at, end)

    def counted(self, start: int, end: int) -> Iterator[tuple[Claim, ...]]:
        for first, said in numbers(self.text, start, end):
            yield (Claim(first, said, (Statement(said),)),)

    def claim(self, at: int, row: str, side: str, unit: str) -> tuple[Claim, str]:
        """Return what a row states, with the unit that stands in the text behind a number, and its first side."""
        if unit and re.search(r"\d\s*\}?\s*$", row):
            row = rf"{row} \text{{ {unit}}}"
        shown = _one_line(shown_row(row))
        try:
            if len(row) > LONGEST:
                raise SymscaleError(f"This formula has more than {LONGEST:,} letters.", hint="State the result alone.")
            row = as_latex(row) if self.syntax is TYPST else row
            found, side = statements(self.spelling.read(row), side)
        except SymscaleError as error:
            return Claim(at, shown, (), error), side
        return Claim(at, shown, tuple(found)), side


def _lines(body: str, base: int) -> Iterator[tuple[int, str]]:
    """Yield the rows of a formula that state something: where each begins, with those that go on with it."""
    current: tuple[int, str] | None = None
    for start, row in rows(body):
        if not plain(row):
            continue
        at = base + start + len(row) - len(row.lstrip())
        if current is not None and goes_on(row):
            current = (current[0], f"{current[1]} {row}")
            continue
        if current is not None:
            yield current
        current = (at, row)
    if current is not None:
        yield current


def _one_line(text: str) -> str:
    return " ".join(text.split())
