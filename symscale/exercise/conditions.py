"""Relations against what a derivation says: by the solver's own answers, never by how they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.derivation.crossover import Crossover, border
from symscale.derivation.limits import readable
from symscale.errors import SymscaleError
from symscale.exercise.answers import same as same_formula
from symscale.exercise.borders import (
    CLOSED,
    alone,
    closed,
    ends_of,
    half_digit,
    of_sizes,
    put_in,
    rounded_alike,
    same_answer,
    same_border,
    solved,
)
from symscale.exercise.diagnosis import explained, on_other_terms
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.formulas import defined, is_formula
from symscale.exercise.judge import leading, number
from symscale.exercise.reading import Number, Relations
from symscale.exercise.search import search
from symscale.exercise.setting import Setting
from symscale.exercise.slips import TOGETHER
from symscale.exercise.verdict import RIGHT, UNEXPLAINED, UNIT, WRONG, Verdict
from symscale.notation.formula import parse_relation
from symscale.notation.text import relation_text, to_text
from symscale.quantity.unit import Unit
from symscale.solve import crossover
from symscale.solve.exact import value_at
from symscale.solve.relation import ALWAYS, MIRROR, Case, Interval, Relation, Solution

#: Stems of rates of a chip, and of bytes per element.
RATED = ("b", "C", "W")
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def relations(answer: Relations, exercise: Exercise) -> Verdict:
    """Judge relations: with each crossover that has their symbols, first the headline."""
    if exercise.headline.words in ("yes", "no"):
        return _as_word(answer, exercise)
    stated = [in_general(each, exercise) for each in answer.each]
    nowhere = next((each for each in stated if each.op in CLOSED and same_formula(each.lhs, each.rhs)), None)
    if nowhere is not None:
        said = f"{relation_text(nowhere.lhs, nowhere.op, nowhere.rhs)} holds nowhere."
        return Verdict(WRONG, said, exercise.headline)
    missing = _unit(answer, exercise)
    if missing is not None:
        return missing
    tried = [each for each in exercise.asked if each.crossover is not None and _concerns(each, stated)]
    if not tried:
        return _quantities(answer, exercise)
    verdicts = [_with_others(stated, each, exercise) for each in tried]
    right = next((each for each in verdicts if each.accepted), None)
    if right is None or right.asked is exercise.headline:
        return right or verdicts[0]
    if exercise.headline.crossover is None:
        return right
    about = right.asked.what if right.asked is not None else ""
    return Verdict(WRONG, f"This is about {about}; {exercise.headline.what} is asked for.")


def _unit(answer: Relations, exercise: Exercise) -> Verdict | None:
    """Judge the unit of a bound, B/X > 2550 GB, as that of a number alone; None where there is none, or it fits."""
    asked = exercise.headline
    if answer.number is None or answer.number.unit is None or asked.crossover is None or not list(asked.numbers):
        return None
    alone = asked.crossover.headline.unknown in (answer.each[0].lhs, answer.each[0].rhs)
    found = number(answer.number, exercise) if alone else None
    return found if found is not None and found.kind == UNIT else None


def _as_word(answer: Relations, exercise: Exercise) -> Verdict:
    """Judge a relation where yes or no is asked: the one in question is a yes, its opposite a no.

    Raises SymscaleError for another.
    """
    asked = exercise.headline
    lhs, op, rhs, _ = parse_relation(asked.what)
    question = Relation(lhs, op, rhs)
    for word, relation in (("yes", question), ("no", Relation(lhs, OPPOSITE[op], rhs))):
        if len(answer.each) == 1 and _among(answer.each[0], [relation]):
            said = f"This says {word} to {relation_text(lhs, op, rhs)}."
            return Verdict(RIGHT if asked.words == word else WRONG, said, asked)
    raise SymscaleError(f"{exercise.id} asks whether {relation_text(lhs, op, rhs)}.", hint="Write yes or no.")


def in_general(relation: Relation, exercise: Exercise) -> Relation:
    """Return a relation with what the derivation defines put in."""
    about = exercise.headline
    return Relation(defined(relation.lhs, exercise, about), relation.op, defined(relation.rhs, exercise, about))


def _concerns(asked: Asked, stated: Sequence[Relation]) -> bool:
    assert asked.crossover is not None
    names = {name for each in stated for name in each.free_symbols}
    return bool(asked.crossover.headline.unknown.free_symbols & names)


def _quantities(answer: Relations, exercise: Exercise) -> Verdict:
    """Judge relations where no condition is asked for: "X > 5" about a quantity whose number the derivation has."""
    if exercise.headline.crossover is not None:
        return Verdict(WRONG, f"It says nothing about {exercise.headline.what}.", exercise.headline)
    if len(answer.each) == 1:
        only = answer.each[0]
        best = exercise.headline.optimum
        if best is not None and only.op != "==":
            said = f"The best size of {to_text(best.variable)} is asked for, not a bound."
            return Verdict(WRONG, said, exercise.headline)
        for name, value in ((only.lhs, only.rhs), (only.rhs, only.lhs)):
            if value.is_number and name.free_symbols:
                found = number(Number(value, half_digit(value), sp.S.One, None, name), exercise)
                if found.accepted and only.op != "==":
                    return replace(found, kind=WRONG, said=f"{to_text(name)} is equal to it, neither more nor less.")
                return found
    there = ", ".join(each.what for each in exercise.asked[:6])
    raise SymscaleError(
        f"{exercise.id} asks for no condition.", hint=f"It asks for {exercise.headline.what}; it has {there}."
    )


def _with_others(stated: Sequence[Relation], asked: Asked, exercise: Exercise) -> Verdict:
    """Judge the relations that have the unknown; one about something else has to follow from what is given."""
    assert asked.crossover is not None
    about = asked.crossover.headline.unknown.free_symbols
    own = [each for each in stated if each.free_symbols & about]
    verdict = _against(own, asked, exercise)
    if not verdict.accepted:
        return verdict
    known = asked.values
    conditions = [each for answer in asked.crossover.answers for case in answer.cases for each in case.when]
    for each in (one for one in stated if one not in own):
        left, right = value_at(each.lhs, known), value_at(each.rhs, known)
        numbers = left.is_number and right.is_number
        if not (Relation(left, each.op, right).holds({}) if numbers else _among(each, conditions)):
            said = f"{relation_text(each.lhs, each.op, each.rhs)} is said besides, and does not follow."
            return Verdict(WRONG, said, asked)
    return verdict


def alike(one: Relation, other: Relation) -> bool:
    """Say whether two relations say the same, either way round and with the border or without."""
    turned = Relation(other.rhs, MIRROR[other.op], other.lhs)
    return any(
        CLOSED.get(one.op, one.op) == CLOSED.get(each.op, each.op)
        and same_formula(one.lhs, each.lhs)
        and same_formula(one.rhs, each.rhs)
        for each in (other, turned)
    )


def _among(relation: Relation, conditions: Sequence[Relation]) -> bool:
    """Say whether a relation is one of some conditions."""
    return any(alike(relation, each) for each in conditions)


def is_question(relation: Relation, found: Crossover, exercise: Exercise) -> bool:
    """Say whether a relation is what was to be solved, exactly or in a limit, and not solved yet."""
    asked = [in_general(each.solution.relation, exercise) for each in found.answers]
    open_ones = [each for each in asked if found.headline.unknown not in (each.lhs, each.rhs)]
    widths = exercise.widths
    typed = [Relation(each.lhs.xreplace(widths), each.op, each.rhs.xreplace(widths)) for each in open_ones]
    return _among(relation, [*open_ones, *typed])


def _against(stated: Sequence[Relation], asked: Asked, exercise: Exercise) -> Verdict:
    found = asked.crossover
    assert found is not None
    if len(stated) == 1 and is_question(stated[0], found, exercise):
        return Verdict(WRONG, f"This is the question: solve it for {to_text(found.headline.unknown)}.", asked)
    forms = [
        (ours, note, solved(stated, ours.unknown)) for ours, note in _forms(found, exercise, _values(stated, asked))
    ]
    for ours, note, theirs in forms:
        if any(_same_there(each, ours, asked) for each in dict.fromkeys((theirs, of_sizes(theirs)))):
            return Verdict(RIGHT, _remarks(stated, note), asked)
    for ours, note, theirs in forms:
        if any(same_answer(theirs, each) and _there_too(theirs, ours, asked) for each in _branches(ours)):
            whole = border(ours.cases)
            said = f"With the numbers this is {to_text(whole)}." if whole is not None else ""
            return Verdict(RIGHT, f"{said} {_remarks(stated, note)}".strip(), asked)
    if len(stated) == 1 and stated[0].op == "==":
        return _border(stated[0], asked, found, exercise)
    for ours, _, theirs in forms:
        cases = _cases_of(theirs, ours, asked)
        if cases:
            when = cases[0].when if len(cases) == 1 else ()
            return Verdict(RIGHT, _otherwise(cases[0], ours), asked, when=when)
    if _in_numbers(stated, forms[0][0], asked, exercise):
        return Verdict(RIGHT, "With the numbers it is the answer.", asked)
    turned = [Relation(each.lhs, MIRROR[each.op], each.rhs) for each in stated]
    if any(same_answer(solved(turned, ours.unknown), ours) for ours, _, _ in forms):
        return Verdict(WRONG, "The inequality is reversed.", asked, ("the inequality reversed",), step=_step(asked))
    if _half_of(forms[0][2], forms):
        return Verdict(WRONG, f"{to_text(found.headline.unknown)} is bounded on both sides, and this is one.", asked)
    upward = [_upward(each) for each in (forms[0][2], forms[0][0])]
    return _by_threshold(border(forms[0][2].cases), asked, found, exercise, upward[0] == upward[1])


def _there_too(theirs: Solution, ours: Solution, asked: Asked) -> bool | None:
    """Say whether answers are one with the derivation's numbers, too: another of a maximum may be the largest there.

    None where the numbers leave symbols in them.
    """
    return rounded_alike(*(closed(put_in(each, asked.values)) for each in (theirs, ours)))


def _same_there(theirs: Solution, ours: Solution, asked: Asked) -> bool:
    """Say whether answers are one, also where the derivation's numbers are put in for a part of a maximum."""
    if not same_answer(theirs, ours):
        return False
    there = _there_too(theirs, ours, asked)
    extremes = [any(end.has(sp.Max, sp.Min) for end in ends_of(each)) for each in (ours, theirs)]
    return extremes[0] <= extremes[1] if there is None else there


def _branches(ours: Solution) -> Iterator[Solution]:
    """Yield an answer whose one border is the largest or smallest of several with each of these alone.

    Only where the chip decides which of them it is: its rates, and bytes per element, are all that they differ in.
    """
    edge = border(ours.cases)
    if not isinstance(edge, sp.Max | sp.Min) or len(ours.cases) > 1:
        return
    differ = {name for each in edge.args for name in (each / edge.args[0]).free_symbols}
    numbers = any(each.is_number for each in edge.args)
    if numbers or not all(name.name.partition("_")[0] in RATED for name in differ):
        return
    (whole,) = ours.cases[0].intervals
    for each in edge.args:
        one = replace(whole, lo=each) if whole.lo == edge else replace(whole, hi=each)
        yield replace(ours, cases=(replace(ours.cases[0], intervals=(one,)),))


def _in_numbers(stated: Sequence[Relation], ours: Solution, asked: Asked, exercise: Exercise) -> bool:
    """Say whether relations in symbols whose values the question gives are the answer in numbers."""
    values = asked.values
    names = {name for each in stated for name in each.free_symbols} - ours.unknown.free_symbols
    given = exercise.row.given if exercise.row is not None else {}
    if not names or not names <= values.keys() or any(name.name not in given for name in names):
        return False
    put = [Relation(value_at(each.lhs, values), each.op, value_at(each.rhs, values)) for each in stated]
    return bool(rounded_alike(solved(put, ours.unknown), closed(put_in(ours, values))))


def _half_of(theirs: Solution, forms: Sequence[tuple[Solution, str, Solution]]) -> bool:
    """Say whether an answer is one side of an interval that has two."""
    ends = set(ends_of(theirs)) - {sp.S.Zero, sp.oo}
    for ours, _, _ in forms:
        for each in (one for case in ours.cases for one in case.intervals):
            if each.two_sided and len(ends) == 1 and any(_is_end(end, each) for end in ends):
                return True
    return False


def _is_end(end: sp.Expr, interval: Interval) -> bool:
    whole = (sp.ceiling(interval.lo), sp.floor(interval.hi)) if interval.lo.is_number and interval.hi.is_number else ()
    return end in whole or any(same_border(end, each) for each in (interval.lo, interval.hi))


def _upward(solution: Solution) -> bool:
    """Say whether an answer bounds its unknown from below."""
    return any(each.hi == sp.oo for case in solution.cases for each in case.intervals)


def _values(stated: Sequence[Relation], asked: Asked) -> dict[sp.Symbol, sp.Expr]:
    """Return the derivation's numbers for symbols that a relation does not have."""
    names = {name for each in stated for name in each.free_symbols}
    return {name: value for name, value in asked.values.items() if name not in names}


def _forms(found: Crossover, exercise: Exercise, values: Mapping[sp.Symbol, sp.Expr]) -> Iterator[tuple[Solution, str]]:
    """Yield the answers of a crossover, the book's form first: in general, in its dtypes, and in numbers.

    `values` are numbers that may have been put in already.
    """
    widths = exercise.widths
    for answer in reversed(found.answers):
        limits = ", ".join(map(readable, answer.assumptions))
        note = f"This is the answer for {limits}." if limits else ""
        general = Solution(answer.solution.relation, answer.unknown, answer.cases)
        yield closed(general), note
        yield closed(put_in(general, widths)), note
        if values:
            yield closed(put_in(general, {**widths, **values})), note
            # numbers for some symbols, and b bytes per element still
            kept = {name: value for name, value in values.items() if name.name.partition("_")[0] != "b"}
            if kept != values or widths:
                yield closed(put_in(general, kept)), note
    if found.numbered:
        numeric = tuple(each.numeric for each in found.numbered)
        yield closed(Solution(found.relation, found.headline.unknown, numeric)), ""


def _remarks(stated: Sequence[Relation], note: str) -> str:
    strict = " At the border both sides are equal." if any(each.op in CLOSED for each in stated) else ""
    return (note + strict).strip()


def _border(stated: Relation, asked: Asked, found: Crossover, exercise: Exercise) -> Verdict:
    """Judge an equation: the border of a condition, without its direction."""
    unknown = found.headline.unknown
    theirs = border(crossover(stated.lhs, "==", stated.rhs, unknown).cases)
    for ours, note in _forms(found, exercise, _values([stated], asked)):
        edge = border(ours.cases)
        if theirs is not None and edge is not None and same_border(theirs, edge):
            sense = relation_text(unknown, ">=" if ours.cases[0].intervals[0].hi == sp.oo else "<=", edge)
            return Verdict(RIGHT, f"This is the border; the condition is {sense}. {note}".strip(), asked)
    return _by_threshold(theirs, asked, found, exercise)


def _cases_of(theirs: Solution, ours: Solution, asked: Asked) -> list[Case]:
    """Return the cases, of several, that an answer without conditions is."""
    if all(each == ALWAYS for case in theirs.cases for each in case.intervals):
        return []
    conditional = [case for case in ours.cases if case.when and case.intervals and _may_hold(case, asked)]
    return [case for case in conditional if _same_there(alone(theirs), alone(replace(ours, cases=(case,))), asked)]


def _may_hold(case: Case, asked: Asked) -> bool:
    """Say whether the derivation's numbers do not rule a case out."""
    put = [Relation(value_at(e.lhs, asked.values), e.op, value_at(e.rhs, asked.values)) for e in case.when]
    return all(each.free_symbols or each.holds({}) for each in put)


def _otherwise(case: Case, ours: Solution) -> str:
    """Say under which condition one case of an answer holds, and what holds otherwise."""
    when = " and ".join(relation_text(each.lhs, each.op, each.rhs) for each in case.when)
    never = all(each.never for each in ours.cases if each is not case)
    return f"It holds if {when}; otherwise {'no value is enough' if never else 'the answer is another'}."


def _by_threshold(
    theirs: sp.Expr | None, asked: Asked, found: Crossover, exercise: Exercise, along: bool = False
) -> Verdict:
    """Judge a border that is a number, `along` with the right direction or against it; diagnose a wrong formula."""
    if theirs is None:
        return Verdict(WRONG, UNEXPLAINED, asked)
    if theirs.is_number:
        whole = replace(exercise, asked=(asked,))
        verdict = number(Number(theirs, max(half_digit(theirs), abs(theirs) / 10**9), sp.S.One, _base(asked)), whole)
        return verdict if along else _turned(verdict)
    unknown = found.headline.unknown
    edges: dict[sp.Expr, None] = {}
    for ours, _ in _forms(found, exercise, {}):
        edge = border(ours.cases)
        if edge is not None and ours.unknown == unknown:
            edges[edge] = None
        elif edge is not None and same_formula(theirs, edge):
            return Verdict(WRONG, f"This is the border of {to_text(ours.unknown)}, not of {to_text(unknown)}.", asked)
    values = asked.values
    settings = [Setting(edge, values, found.headline.unknown, at=_step(asked)) for edge in edges]
    shorter = [one for each in settings if along and (one := leading(theirs, each, asked)) is not None]
    if shorter and shorter[0].accepted:
        return shorter[0]
    fits, general = is_formula(theirs), [each.without_values for each in settings]
    known = [one for each in general for one in search(each, fits, 2, besides=TOGETHER)]
    if not any(each.harmless for each in known):
        known += on_other_terms(asked, exercise, fits)
    if known:
        verdict = explained(known, asked, exercise, None)
        return verdict if along else _turned(verdict)
    if shorter:
        return shorter[0]
    return Verdict(WRONG, UNEXPLAINED, asked)


def _turned(verdict: Verdict) -> Verdict:
    """Return the verdict on a border whose direction is the other one."""
    if verdict.accepted:
        return replace(verdict, kind=WRONG, said="The number is right, its direction is not.")
    if not verdict.diagnosis:
        return verdict
    said = f"The inequality is reversed, and the border is that of {verdict.diagnosis[0]}."
    return replace(verdict, kind=WRONG, said=said, diagnosis=("the inequality reversed", *verdict.diagnosis))


def _base(asked: Asked) -> Unit | None:
    """Return the base unit of what is asked for: relations have lost theirs."""
    measured = asked.settings[0].dimension if asked.settings else None
    return Unit(sp.S.One, measured, "") if measured is not None else None


def _step(asked: Asked) -> int:
    return asked.settings[-1].at if asked.settings else 0
