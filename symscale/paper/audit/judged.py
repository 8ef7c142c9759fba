"""An audit: every tag of a document read, and what it covers judged at the desk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from symscale.errors import SymscaleError
from symscale.exercise.conditions import alike, in_general, is_question
from symscale.exercise.desk import check
from symscale.exercise.exercise import Exercise
from symscale.exercise.names import aliases
from symscale.exercise.reading import Formula, Number, Relations, read_answer
from symscale.exercise.verdict import KINDS, RIGHT, WRONG, Verdict
from symscale.frozen import dataclass
from symscale.paper.audit.asked import asked
from symscale.paper.audit.claims import Claim, Found, Spelling, Tagged, claims
from symscale.paper.audit.held import bounds_of, one_case, unfounded
from symscale.paper.audit.normal import normal
from symscale.paper.audit.sources import Document, Note, Source, document
from symscale.paper.audit.statements import Statement
from symscale.paper.request import Request, read_request
from symscale.paper.settings import read_settings
from symscale.paper.values import number
from symscale.vocabulary import entry

_BOUND = re.compile(r"[<>≤≥]|\\(?:le|ge)q?(?![A-Za-z])")
NOTHING = "Nothing to check: no formula and no number stands beside this tag."


@dataclass(frozen=True)
class Finding:
    """A claim of a document and its verdict, or why there is none.

    `bound` is the inequality that it states, `renames` what the document writes symbols as.
    """

    file: Path
    line: int
    tag: str
    text: str = ""
    verdict: Verdict | None = None
    exercise: Exercise | None = None
    fault: str = ""
    cell: int | None = None
    output: bool = False
    bound: Statement | None = None
    renames: tuple[tuple[str, str], ...] = ()

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
    file: Path = Path()

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
            return Report((Finding(file, 0, "", fault=str(error)),), (), (), file)
        spelling = Spelling(tuple(read.macros.items()), style.renames, tuple(read.lets.items()))
        report = _report(read, [(each, claims(each.text, each.syntax, spelling)) for each in read.sources])
        return replace(report, file=file)


def _report(read: Document, texts: Sequence[tuple[Source, Found]]) -> Report:
    findings = [each for source, found in texts for tagged in found.tagged for each in _findings(source, tagged)]
    taken = [{each.at for tagged in found.tagged for each in _covered(tagged)} for _, found in texts]
    untagged = [
        Note(source.file, source.line(at), text, source.cell)
        for (source, found), judged in zip(texts, taken, strict=True)
        for at, text in found.untagged
        if at not in judged
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
    place = replace(place, renames=tagged.renames)
    if not tag.ended:
        yield replace(place, fault="This tag does not end in its line.")
        return
    try:
        request = read_request(tag.sentence)
        asked(request)
    except SymscaleError as error:
        yield replace(place, fault=str(error))
        return
    yield from _together(list(_each(tagged, request, place, source)), request)


def _each(tagged: Tagged, request: Request, place: Finding, source: Source) -> Iterator[Finding]:
    """Yield a finding for every line that a tag covers, or that it covers nothing."""
    one = asked(request)
    covered = _covered(tagged)
    if not covered:
        yield replace(place, fault=f"{NOTHING}\nWrite it directly before a formula or a number.")
    for claim in covered:
        if _claims(claim, one):
            yield _finding(claim, request, replace(place, line=source.line(claim.at), text=claim.text))


def _covered(tagged: Tagged) -> tuple[Claim, ...]:
    """Return what a tag covers: the first of its groups that claims something, nothing if it names nothing."""
    try:
        one = asked(read_request(tagged.tag.sentence))
    except SymscaleError:
        return ()
    return next((group for group in tagged.groups if any(_claims(each, one) for each in group)), ())


def _together(found: list[Finding], request: Request) -> list[Finding]:
    """Return the findings of a tag, bounds that are right only with each other judged as one answer."""
    bounds = [each.bound for each in found if each.verdict is not None and each.bound is not None]
    if len(bounds) < 2 or all(each.accepted for each in found if each.bound is not None):
        return found
    whole = Statement(" and ".join(each.said for each in bounds), tuple(one for each in bounds for one in each.when))
    try:
        verdict = _judged(whole, request)
    except SymscaleError:
        return found
    right = verdict.accepted
    return [replace(each, verdict=verdict) if right and each.bound is not None else each for each in found]


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
    worst = max(found, key=lambda each: KINDS.index(each.kind))
    bounds = [each for each in claim.states if not each.name and _BOUND.search(each.said)]
    return replace(place, verdict=worst, exercise=one, bound=bounds[0] if len(bounds) == len(found) == 1 else None)


@lru_cache(maxsize=4096)
def _judged(state: Statement, request: Request) -> Verdict:
    """Judge one statement with its conditions. Raises SymscaleError where it cannot be read."""
    request, when = _on_values(request, state.when)
    one = asked(request)
    if state.when and state.said in ("always", "never"):
        return one_case(state.said, state.when, one)
    verdict = _as_answer(state, one)
    if request.piece == "value" and not verdict.accepted and isinstance(read_answer(state.said, aliases(one)), Number):
        number(request)  # which says what a formula lacks to be one
    if not when:
        return verdict
    wrong, left = unfounded(when, verdict, one) if verdict.accepted else ("", [])
    if wrong or not verdict.accepted:
        # a claim under conditions may be of a case that the derivation's own numbers are not in
        general = _as_answer(state, one.general)
        elsewhere, left = unfounded(when, general, one) if general.accepted else ("wrong", left)
        if elsewhere:
            return replace(verdict, kind=WRONG, said=wrong) if wrong else verdict
        verdict = general
    if left:
        return replace(verdict, said=f"{verdict.said} Not judged: {'; '.join(left)}.".strip())
    return verdict


def _on_values(request: Request, when: tuple[str, ...]) -> tuple[Request, tuple[str, ...]]:
    """Return the request with the values that a claim is stated for, `F = 14336`, and the conditions left."""
    left: list[str] = []
    for each in when:
        name, equals, value = (part.strip() for part in normal(each).partition("="))
        name = re.sub(r"[{}]|\\text", "", name)
        given = Request(
            request.id, request.piece, request.which, (*request.options, ("set", f"{name}={_grouped(value)}"))
        )
        try:
            if not equals or not re.fullmatch(r"[\d.,{}\s\\;]+", value) or name not in _valued_names(request):
                raise SymscaleError("No value.")
            asked(given)
        except SymscaleError:
            left.append(each)
            continue
        request = given
    return request, tuple(left)


def _grouped(value: str) -> str:
    return re.sub(r"[{},\s]|\\[,;]", "", value)


def _valued_names(request: Request) -> set[str]:
    """Return the names of the counts that the derivation has put numbers in for: rates have units."""
    names = {str(name) for each in asked(request).headline.settings for name in each.used}
    return {name for name in names if (row := entry(name)) is None or not row.unit}


def _as_answer(state: Statement, one: Exercise) -> Verdict:
    """Judge a statement as an answer, and where that is not accepted, as what the derivation says word by word."""
    try:
        verdict = _of_sides(state, one)
    except SymscaleError:
        stated = _verbatim(state.said, one)
        if stated is None:
            raise
        return stated
    return verdict if verdict.accepted else _verbatim(state.said, one) or verdict


def _of_sides(state: Statement, one: Exercise) -> Verdict:
    """Judge a statement; an equation that names no quantity of the derivation by each of its sides."""
    try:
        # "more than 311 ms" of a quantity that is no bound is about its number
        bare = state.said.lstrip("<>= ") if one.headline.crossover is None else state.said
        return check(one, bare)
    except SymscaleError:
        if not state.name or _is_name(Statement(state.name), one):
            raise
        sides = [check(one, each) for each in (state.name, state.value)]
        return max(sides, key=lambda each: KINDS.index(each.kind))


def _verbatim(text: str, one: Exercise) -> Verdict | None:
    """Judge a relation that is written as the derivation has it, solved or still to be solved; None for another one."""
    names = aliases(one)
    letters = {name: meant for name, meant in names.items() if name.upper() != "BW"}  # which is a product then
    for known, apart in ((names, False), (letters, True)):
        try:
            found = read_answer(text, known, letters=apart)
        except SymscaleError:
            continue
        if not isinstance(found, Relations) or len(found.each) != 1:
            continue
        said = found.each[0]
        for each in one.asked:
            cases = [when for stated, when in bounds_of(each, one) if alike(said, stated)]
            if cases:
                return Verdict(RIGHT, "", each, when=cases[0] if len(set(cases)) == 1 else ())
            if each.crossover is not None and is_question(in_general(said, one), each.crossover, one):
                return Verdict(RIGHT, "This is the question that the derivation answers.", each)
    return None
