"""An audit: every tag of a document read, and what it covers judged at the desk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from symscale.errors import SymscaleError
from symscale.exercise.conditions import in_general, is_question
from symscale.exercise.desk import check
from symscale.exercise.exercise import Exercise
from symscale.exercise.names import aliases
from symscale.exercise.reading import Formula, Relations, read_answer
from symscale.exercise.verdict import KINDS, RIGHT, WRONG, Verdict
from symscale.frozen import dataclass
from symscale.paper.audit.asked import asked
from symscale.paper.audit.claims import Claim, Found, Spelling, Tagged, claims
from symscale.paper.audit.held import unfounded
from symscale.paper.audit.sources import Document, Note, Source, document
from symscale.paper.audit.statements import Statement
from symscale.paper.request import Request, read_request
from symscale.paper.settings import read_settings

NOTHING = "Nothing to check: no formula and no number stands beside this tag."


@dataclass(frozen=True)
class Finding:
    """A claim of a document and its verdict, or why it could not be judged."""

    file: Path
    line: int
    tag: str
    text: str = ""
    verdict: Verdict | None = None
    exercise: Exercise | None = None
    fault: str = ""
    cell: int | None = None
    output: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the claim may stand."""
        return self.verdict is not None and self.verdict.accepted


@dataclass(frozen=True)
class Report:
    """What an audit found: claims, formulas without a tag, and what was left out."""

    findings: tuple[Finding, ...]
    untagged: tuple[Note, ...]
    notes: tuple[Note, ...]

    @property
    def code(self) -> int:
        """The exit code. 0: all right; 1: something is not; 2: something could not be read."""
        if any(each.verdict is None for each in self.findings):
            return 2
        return int(not all(each.accepted for each in self.findings))


def audited(file: Path, renames: Sequence[str] = ()) -> Report:
    r"""Judge what the tags of a document cover; the document is only read.

    Its derivations, chips and names for symbols are those of the `symscale.toml` of its folder; `renames` are names
    besides, `W_ici=\beta`. A document that cannot be read is a finding. Raises SymscaleError for a wrong name.
    """
    settings = read_settings(file.parent)
    style = settings.style.changed([("rename", each) for each in renames])
    with settings.used():
        try:
            read = document(file)
        except SymscaleError as error:
            return Report((Finding(file, 0, "", fault=str(error)),), (), ())
        spelling = Spelling(read.macros, style.renames)
        return _report(read, [(each, claims(each.text, each.syntax, spelling)) for each in read.sources])


def _report(read: Document, texts: Sequence[tuple[Source, Found]]) -> Report:
    findings = [each for source, found in texts for tagged in found.tagged for each in _findings(source, tagged)]
    untagged = [
        Note(source.file, source.line(at), text, source.cell) for source, found in texts for at, text in found.untagged
    ]
    notes = [
        Note(source.file, source.line(each.start), f"This formula has no end: {each.close} is missing.", source.cell)
        for source, found in texts
        for each in found.unclosed
    ]
    return Report(tuple(findings), tuple(untagged), (*read.notes, *notes))


def _findings(source: Source, tagged: Tagged) -> Iterator[Finding]:
    tag = tagged.tag
    place = Finding(source.file, source.line(tag.start), tag.sentence, cell=source.cell, output=source.output)
    if not tag.ended:
        yield replace(place, fault="This tag does not end in its line.")
        return
    try:
        request = read_request(tag.sentence)
        one = asked(request)
    except SymscaleError as error:
        yield replace(place, fault=str(error))
        return
    covered = next((group for group in tagged.groups if any(_claims(each, one) for each in group)), ())
    if not covered:
        yield replace(place, fault=f"{NOTHING}\nWrite it directly before a formula or a number.")
    for claim in covered:
        if _claims(claim, one):
            yield _finding(claim, request, replace(place, line=source.line(claim.at), text=claim.text))


def _claims(claim: Claim, one: Exercise) -> bool:
    """Return whether a line claims something: more than the name of what is asked for, or of a symbol."""
    return claim.fault is not None or any(not _is_name(state, one) for state in claim.states)


def _is_name(state: Statement, one: Exercise) -> bool:
    try:
        found = read_answer(state.said, aliases(one))
    except SymscaleError:
        return False
    wanted = [each.of_what for each in one.headline.settings[:1]]
    return isinstance(found, Formula) and found.named is None and (found.expr.is_Symbol or found.expr in wanted)


def _finding(claim: Claim, request: Request, place: Finding) -> Finding:
    one = asked(request)
    if claim.fault is not None:
        return replace(place, fault=str(claim.fault))
    found: list[Verdict] = []
    for state in claim.states:
        try:
            found.append(_judged(state, request))
        except SymscaleError as error:
            return replace(place, fault=str(error), exercise=one)
        except RecursionError:
            return replace(place, fault="This formula is nested too deeply to read.", exercise=one)
    # the worst of what a line states decides
    return replace(place, verdict=max(found, key=lambda each: KINDS.index(each.kind)), exercise=one)


@lru_cache(maxsize=4096)
def _judged(state: Statement, request: Request) -> Verdict:
    """Judge one statement with its conditions. Raises SymscaleError where it cannot be read."""
    one = asked(request)
    verdict = _of_sides(state, one)
    if not verdict.accepted and _asks(state.said, one):
        verdict = Verdict(RIGHT, "This is the question that the derivation answers.", one.headline)
    if not verdict.accepted or not state.when:
        return verdict
    wrong, left = unfounded(state.when, verdict.asked, one)
    if wrong:
        return replace(verdict, kind=WRONG, said=wrong)
    if left:
        return replace(verdict, said=f"{verdict.said} Not judged: {'; '.join(left)}.".strip())
    return verdict


def _of_sides(state: Statement, one: Exercise) -> Verdict:
    """Judge a statement; an equation that names no quantity of the derivation by each of its sides."""
    try:
        return check(one, state.said)
    except SymscaleError:
        if not state.name or _is_name(Statement(state.name), one):
            raise
        sides = [check(one, each) for each in (state.name, state.value)]
        return max(sides, key=lambda each: KINDS.index(each.kind))


def _asks(text: str, one: Exercise) -> bool:
    """Return whether a relation is what a derivation solves."""
    try:
        found = read_answer(text, aliases(one))
    except SymscaleError:
        return False
    stated = [in_general(each, one) for each in found.each] if isinstance(found, Relations) else []
    crossovers = [each.crossover for each in one.asked if each.crossover is not None]
    return len(stated) == 1 and any(is_question(stated[0], each, one) for each in crossovers)
