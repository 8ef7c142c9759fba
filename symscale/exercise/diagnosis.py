"""What explains an answer that is not right: conventions, slips and other terms, and the verdict that names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from symscale.derivation.registry import blackboard
from symscale.exercise.conventions import CONVENTIONS, Reading, Readings, shards
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.formulas import typed
from symscale.exercise.reading import Number
from symscale.exercise.rewritten import other_passes, otherwise, rewritten
from symscale.exercise.search import Fits, Found, search
from symscale.exercise.setting import Setting
from symscale.exercise.slips import COARSE, MANY_READINGS, SLIPS, left_out, rounded
from symscale.exercise.verdict import CONVENTION, WRONG, Verdict

#: A number is no coarser than this, however few digits it has.
COARSEST = sp.Rational(1, 20)
#: A number of four digits or more comes seldom by chance.
VERY_PRECISE = 1000
#: So near a number has to be to be explained: by values that were rounded, or by what ends in zeros.
NEARBY = sp.Rational(1, 100)
MOST_NAMED = 3
#: The rank of other terms: conventions are named before them.
LAST = 100


def diagnosed(answer: Number, value: sp.Expr, asked: Asked, exercise: Exercise) -> list[Found]:
    """Return what explains a number in place of a value: conventions and slips, then other terms, then roundings."""
    settings = [setting for setting, _ in asked.numbers][:MOST_NAMED]
    known = _searched(answer, settings, value)
    if not any(each.harmless for each in known):
        known += on_other_terms(asked, exercise, within(answer), bool(known))
    return known or _roundings(answer, settings)


def on_other_terms(asked: Asked, exercise: Exercise, fits: Fits, known: bool = False) -> list[Found]:
    """Return the other terms on which the derivation, written again, says what `fits`: a number or a formula.

    Where a slip is `known` already, only terms on which the answer would be as good are tried.
    """
    found: dict[str, Found] = {}
    also: list[Found] = []
    passes = [(words, False, again) for words, again in other_passes(asked, exercise)]
    counted = list(otherwise(asked, exercise))
    for words, harmless, again in (*passes, *counted, *rewritten(asked, exercise, harmless=known)):
        forms = [each.expr for each in typed(again, exercise)]
        how = next((said for form in (again.value, *forms) if (said := fits(form)) is not None), None)
        here = Reading(words, again)
        if how is not None:
            found.setdefault(words, Found((here,), again, how, harmless, LAST))
        elif not known:
            more = [each for each in shards(again) if fits(each.setting.value) == ""]
            also += [Found((here, each), each.setting, "", harmless, LAST) for each in more]
    return list(found.values()) or also


def within(answer: Number) -> Fits:
    """Return what says whether a value is the number, to half a unit of its last digit, or cut off there."""
    near = abs(answer.value) * NEARBY
    half = max(min(answer.half, near), min(answer.digit / 2, abs(answer.value) * COARSEST))

    def fit(value: sp.Expr) -> str | None:
        if not (value.is_number and value.is_real):
            return None
        over = (value if value.is_Rational else sp.N(value, 20)) - answer.value
        if abs(over) <= half * (1 + sp.Rational(1, 10**9)):
            return ""
        return "cut off instead of rounded" if 0 < over < answer.digit and over <= near else None

    return fit


def _pairs(answer: Number) -> int:
    """Return how many conventions may come together: two only for a number of three digits or more."""
    return 2 if answer.half * 100 <= abs(answer.value) else 1


def _searched(answer: Number, settings: list[Setting], value: sp.Expr) -> list[Found]:
    """Return the conventions and slips that give a number; roundings only where it is near the value."""
    without: Readings = () if _pairs(answer) == 2 else MANY_READINGS
    without += COARSE if abs(answer.value - value) > NEARBY * abs(value) else ()
    besides: Readings = (left_out,) if _precise(answer) else ()
    besides += (rounded,) if answer.half * VERY_PRECISE <= abs(answer.value) else ()
    known = [each for one in settings for each in search(one, within(answer), _pairs(answer), without, besides)]
    whole = [each for each in known if not (each.how and each.readings)]
    if whole or not _precise(answer):
        return whole
    return [replace(each, harmless=False) for each in known if each.rank < len(CONVENTIONS) and len(each.readings) == 1]


def _roundings(answer: Number, settings: list[Setting]) -> list[Found]:
    """Return the roundings that give a number far from the value, which are slips: those of values that go in."""
    if not _precise(answer):
        return []
    only = tuple(kind for kind in (*CONVENTIONS, *SLIPS) if kind not in COARSE)
    known = [each for one in settings for each in search(one, within(answer), 1, only)]
    return [replace(each, harmless=False) for each in known if each.readings and not each.how]


def _precise(answer: Number) -> bool:
    """Say whether a number is written to 0.4 % or better."""
    return bool(answer.half * 250 <= abs(answer.value))


def explained(found: list[Found], asked: Asked, exercise: Exercise, ratio: float | None) -> Verdict:
    """Return the verdict on an answer that conventions or slips give: the harmless ones are named first."""
    found = list(_simplest(found))
    harmless = [each for each in found if each.harmless]
    words = tuple(dict.fromkeys(str(each) for each in (harmless or found)))[:MOST_NAMED]
    chosen = (harmless or found)[0]
    kind = CONVENTION if harmless else WRONG
    if not chosen.readings:
        kind = kind if chosen.how else WRONG
        besides = "The value is right; its unit, or what is said with it, is not."
        said = f"It is right, but {chosen.how}." if chosen.how else besides
    else:
        how = "It is right" if harmless else "The derivation gives this"
        said = f"{how} with {words[0]}."
    return Verdict(kind, said, asked, words, ratio, _parting(chosen, exercise))


def _simplest(found: list[Found]) -> Iterator[Found]:
    """Yield what explains an answer, the simplest first, without what only adds to a simpler one."""
    kept: list[set[str]] = []
    for each in sorted(found, key=lambda one: (len(one.readings), one.rank)):
        words = {reading.words for reading in each.readings}
        if not any(one < words for one in kept):
            kept.append(words)
            yield each


def _parting(found: Found, exercise: Exercise) -> int:
    """Return the first step that has to do with what a convention changes, or else the one that states the quantity."""
    names = {name for each in found.readings for name in each.about}
    steps = blackboard(exercise.derivation).steps if names and exercise.derivation else ()
    for number, step in enumerate(steps, start=1):
        for each in step.equations:
            if names & (each.rhs.free_symbols | each.lhs.free_symbols) and step.kind != "given":
                return number
    return found.setting.at
