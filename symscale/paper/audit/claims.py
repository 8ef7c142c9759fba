"""What the tags of a text stand beside: the rows of a display, a formula in running text, or a number."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.paper.audit.asked import names_in
from symscale.paper.audit.formulas import Formula, Unclosed, formulas
from symscale.paper.audit.macros import LONGEST, Macro, expanded
from symscale.paper.audit.masked import Tag, masked
from symscale.paper.audit.mathml import mathml_latex
from symscale.paper.audit.normal import normal
from symscale.paper.audit.prose import around, disclaimed, numbers, unit_after
from symscale.paper.audit.renames import original
from symscale.paper.audit.statements import Statement, statements
from symscale.paper.audit.tidied import goes_on, measured, plain, rows, shown_row
from symscale.paper.audit.typst import Let, as_latex
from symscale.paper.blocks import document
from symscale.paper.comments import TYPST, Syntax
from symscale.paper.request import read_request
from symscale.paper.style import Style

_SIGN = re.compile(r"[=<>≤≥≈]|\\(?:leq?|geq?|lt|gt|approx|simeq|leqslant|geqslant)(?![A-Za-z])")
_EQUALS = re.compile(r"\s*(?:=|≈|\bis)\s*(?:about|roughly|~)?\s*")
#: A number in dollar signs, which words beside it compare.
_BARE_NUMBER = re.compile(r"\s*(?:\d(?:[\d.]|\{,\}|,(?=\d)|\\,)*|\\num\s*\{[^{}]*\})\s*")
_LINE_END = re.compile(r"\r\n?|\n")
_BLANK_LINE = re.compile(r"\n[ \t>]*\r?\n")
#: A tag of running text looks at so many formulas and numbers for one that is a claim.
MOST_TRIED = 5
#: So far from a tag its claim may be in running text, and a display that it stands behind.
_FAR, _NEAR = 2000, 200


@dataclass(frozen=True)
class Claim:
    """A line of a formula, or a number: where it stands, as it is written, and what it states, or why it cannot be."""

    at: int
    text: str
    states: tuple[Statement, ...]
    fault: SymscaleError | None = None


@dataclass(frozen=True)
class Tagged:
    """A tag with what it covers: the first of these groups that claims something, every line of it.

    `renames` is what its text writes the symbols of its derivation as.
    """

    tag: Tag
    groups: tuple[tuple[Claim, ...], ...] = ()
    renames: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Spelling:
    """How a document writes symbols: macros of its own, and renamed symbols."""

    macros: tuple[tuple[str, Macro], ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    lets: tuple[tuple[str, Let], ...] = ()

    def of(self, tag: Tag) -> Spelling:
        """Return the spelling with what a tag renames besides, for the symbols of its derivation alone."""
        try:
            request = read_request(tag.sentence)
            style = Style(renames=self.renames).changed([each for each in request.options if each[0] == "rename"])
            names = names_in(request) if style.renames else ()
        except SymscaleError:
            return self  # what is wrong with its sentence is said when it is judged
        return replace(self, renames=tuple(each for each in style.renames if each[0] in names))

    def read(self, latex: str) -> str:
        """Return a formula with macros put in, and symbols under their own names. Raises SymscaleError."""
        macros = dict(self.macros)
        written = [(name, normal(expanded(each, macros))) for name, each in self.renames]
        return original(normal(measured(expanded(latex, macros))), written)


@dataclass(frozen=True)
class Found:
    """The tags of a text with what they may cover, rows of formulas without one, and formulas that never end."""

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
        self.words = [each.span() for each in re.finditer(r"\S+", self.text)]
        self.taken: set[int] = set()
        self.unread: dict[int, SymscaleError] = {}
        self.cut: dict[Formula, list[tuple[int, str]]] = {}
        self.known: dict[tuple[int, str, Spelling], tuple[Claim, ...]] = {}

    @cached_property
    def found(self) -> Found:
        tagged = tuple(self.covered(each) for each in self.tags)
        kept = [each.span for each in document(self.source, self.syntax).blocks]
        untagged = [each for formula in self.formulas for each in self.left(formula, kept)]
        return Found(tagged, tuple(untagged), self.unclosed)

    def covered(self, tag: Tag) -> Tagged:
        self.spelling = self.spelled.of(tag)
        inside = self.around(tag)
        display = self.beside(tag) if inside is None else None
        if inside is not None:
            groups: tuple[tuple[Claim, ...], ...] = (self.tagged_rows(inside, tag),)
        else:
            groups = (self.take(display),) if display is not None else tuple(self.in_text(tag))
        return Tagged(tag, groups, self.spelling.renames)

    def left(self, formula: Formula, kept: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
        """Yield the rows of a formula that state something, carry no tag, and are not kept up to date by blocks."""
        if any(first <= formula.start < last for first, last in kept):
            return
        for at, row in self.rows(formula):
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
        after = self.formulas[n] if n < len(self.formulas) and self.follows(tag.end) == self.starts[n] else None
        after = after if after is not None and after.display and not tag.trailing else None
        n = bisect_right(self.ends, tag.start) - 1
        behind = self.formulas[n] if n >= 0 and tag.start - self.ends[n] < _NEAR else None
        if behind is None or not behind.display or self.text[behind.end : tag.start].strip(" \t\r\n.,;"):
            return after
        if tag.trailing:
            return None if self.parted(behind.end, tag.start) else behind
        free = (
            tag.alone
            and not self.parted(behind.end, tag.start)
            and not self.taken & {at for at, _ in self.rows(behind)}
        )
        return behind if free and (after is None or self.parted(tag.end, after.start)) else after

    def follows(self, at: int) -> int:
        """Return where the next word begins that is printed, from a place on."""
        n = bisect_left(self.words, (at, at))
        if n and self.words[n - 1][1] > at:
            return at
        return self.words[n][0] if n < len(self.words) else len(self.text)

    def parted(self, start: int, end: int) -> bool:
        """Return whether a blank line lies between two places."""
        n = bisect_left(self.blanks, start)
        return n < len(self.blanks) and self.blanks[n] < end

    def rows(self, formula: Formula) -> list[tuple[int, str]]:
        """Return the rows of a formula that state something, with the places where they begin."""
        if formula not in self.cut:
            if formula.mathml:
                self.cut[formula] = list(self.columns(formula))
                return self.cut[formula]
            body = self.text[formula.first : formula.last]
            # Typst ends a row with one backslash and a blank
            body = re.sub(r"\\\s", r"\\\\", body) if self.syntax is TYPST else body
            self.cut[formula] = list(_lines(body, formula.first))
        return self.cut[formula]

    def columns(self, formula: Formula) -> Iterator[tuple[int, str]]:
        """Yield the rows of a formula of MathML in LaTeX, each at a place of its own."""
        try:
            latex = mathml_latex(self.source[formula.start : formula.end])
        except SymscaleError as error:
            self.unread[formula.first] = error
            latex = self.source[formula.first : formula.last]
        for number, (_, row) in enumerate(_lines(latex, 0)):
            yield formula.first + number, row

    def take(self, formula: Formula, only: int | None = None) -> tuple[Claim, ...]:
        """Return what the rows of a formula state, or one of them, which have a tag then."""
        found = tuple(each for each in self.read(formula) if only is None or only == each.at)
        self.taken |= {each.at for each in found}
        return found

    def read(self, formula: Formula, unit: str = "") -> tuple[Claim, ...]:
        """Return what the rows of a formula state; one that begins with a sign goes on with the last side."""
        key = (formula.start, unit, self.spelling)
        if key not in self.known:
            found, side = list[Claim](), ""
            for at, row in self.rows(formula):
                claim, side = self.claim(at, row, side, unit)
                found.append(claim)
            self.known[key] = tuple(found)
        return self.known[key]

    def tagged_rows(self, formula: Formula, tag: Tag) -> tuple[Claim, ...]:
        """Return the row that a tag stands on, or every one where it stands beside what opens the display."""
        rows = [at for at, _ in self.rows(formula)]
        if not rows or (self.follows(formula.first) >= tag.start and self.line(formula.first) == self.line(tag.start)):
            return self.take(formula)
        n = bisect_right(rows, tag.start)
        # a comment on a line of its own is about what follows, one behind a row about that row
        before = n < len(rows) and (tag.alone or not n or (not tag.trailing and self.follows(tag.end) == rows[n]))
        return self.take(formula, rows[n] if before else rows[n - 1])

    def line(self, at: int) -> int:
        return bisect_right(self.lines, at)

    # ---- running text

    def in_text(self, tag: Tag) -> Iterator[tuple[Claim, ...]]:
        """Yield the formulas and numbers that a tag of running text may be about, the nearest first."""
        if tag.trailing:
            start = max(self.lines[self.line(tag.start) - 1], tag.start - _FAR)
            before = list(self.between(start, tag.start))
            # words on its line that claim nothing do not send it to the next one
            if before or self.text[start : tag.start].strip():
                yield from reversed(before[-MOST_TRIED:])
                return
        start = self.follows(tag.end)
        n = bisect_left(self.blanks, start)
        end = self.blanks[n] if n < len(self.blanks) else len(self.text)
        after = list(self.between(start, min(end, start + _FAR)))[:MOST_TRIED]
        if after or tag.alone:
            yield from after
            return
        n = bisect_left(self.blanks, tag.start) - 1
        start = max(self.blanks[n] if n >= 0 else 0, tag.start - _FAR)
        yield from reversed(list(self.between(start, tag.start))[-MOST_TRIED:])

    def between(self, start: int, end: int) -> Iterator[tuple[Claim, ...]]:
        """Yield the formulas and numbers between two places, in their order."""
        at, name = start, ""
        for n in range(bisect_left(self.starts, start), bisect_left(self.starts, end)):
            formula = self.formulas[n]
            yield from self.counted(at, formula.start, name)
            rows = self.rows(formula)
            name = rows[0][1] if len(rows) == 1 and not formula.display and not _SIGN.search(rows[0][1]) else ""
            behind = "" if formula.display else unit_after(self.text[formula.end : formula.end + 80])
            yield from self.inline(formula, behind, rows)
            at = formula.end
        yield from self.counted(at, end, name)

    def inline(self, formula: Formula, unit: str, found: Sequence[tuple[int, str]]) -> Iterator[tuple[Claim, ...]]:
        """Yield what a formula of running text states, a number alone with the words that compare it."""
        before = self.text[max(formula.start - _NEAR, 0) : formula.start]
        before = _BLANK_LINE.split(before)[-1]
        if formula.display:
            yield self.read(formula, unit)
        elif len(found) == 1 and _BARE_NUMBER.fullmatch(found[0][1]):
            at, row = found[0]
            sign, why = around(before, self.text[formula.end : formula.end + _NEAR], f"{row} {unit}".strip())
            if why:
                yield (Claim(at, row, (), SymscaleError(why, hint="Write the number alone, or a formula.")),)
            else:
                self.taken.add(at)
                yield (self.claim(at, f"{sign} {row}".strip(), "", unit)[0],)
        elif not disclaimed(before):
            yield self.read(formula, unit)

    def counted(self, start: int, end: int, name: str) -> Iterator[tuple[Claim, ...]]:
        """Yield the numbers between two places; `name` is the formula before them, of which one may be the value."""
        for first, said, why in numbers(self.text, start, end):
            if why:
                yield (Claim(first, said, (), SymscaleError(why, hint="Write the number alone, or a formula.")),)
            elif name and _EQUALS.fullmatch(self.text[start:first]):
                yield (self.claim(first, f"{name} = {said}", "", "")[0],)
            else:
                yield (Claim(first, said, (Statement(said),)),)

    def claim(self, at: int, row: str, side: str, unit: str) -> tuple[Claim, str]:
        """Return what a row states, with the unit that stands in the text behind a number, and its first side."""
        if unit and re.search(r"\d\s*\}?\s*$", row):
            row = f'{row} "{unit}"' if self.syntax is TYPST else rf"{row} \text{{ {unit}}}"
        shown = _one_line(shown_row(row))
        try:
            if at in self.unread:
                raise self.unread[at]
            if len(row) > LONGEST:
                raise SymscaleError(f"This formula has more than {LONGEST:,} letters.", hint="State the result alone.")
            row = as_latex(row, dict(self.spelling.lets)) if self.syntax is TYPST else row
            found, side = statements(self.spelling.read(row), side)
        except SymscaleError as error:
            return Claim(at, shown, (), error), side
        return Claim(at, shown, tuple(found)), side


def _lines(body: str, base: int) -> Iterator[tuple[int, str]]:
    """Yield the rows of a formula that state something: where each begins, with those that go on with it."""
    begin, current = 0, list[str]()
    for start, row in rows(body):
        if not plain(row):
            continue
        if current and not goes_on(row):
            yield begin, " ".join(current)
            current = []
        if not current:
            begin = base + start + len(row) - len(row.lstrip())
        current.append(row)
    if current:
        yield begin, " ".join(current)


def _one_line(text: str) -> str:
    return " ".join(text.split())
