"""Numbers and formulas against what a derivation says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from symscale.derivation.crossover import border
from symscale.derivation.registry import blackboard
from symscale.errors import SymscaleError
from symscale.exercise.answers import same
from symscale.exercise.conventions import CONVENTIONS, Reading, Readings, shards
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.reading import Formula, Number
from symscale.exercise.rewritten import other_passes, otherwise, rewritten
from symscale.exercise.search import Fits, Found, search
from symscale.exercise.setting import Setting
from symscale.exercise.slips import COARSE, MANY_READINGS, SLIPS, TOGETHER, left_out, rounded
from symscale.exercise.units import by_unit, in_named_time, unit_fits
from symscale.exercise.verdict import CONVENTION, LEADING, RIGHT, UNEXPLAINED, WRONG, Verdict
from symscale.notation.numbers import format_number
from symscale.notation.text import to_text
from symscale.solve.exact import value_at
from symscale.vocabulary import symbol

#: So far a number may be from the value and still be it: rounding of what went in.
CLOSE = sp.Rational(1, 1000)
#: A number is no coarser than this, however few digits it has.
COARSEST = sp.Rational(1, 20)
#: A number of four digits or more comes seldom by chance.
VERY_PRECISE = 1000
#: So near a number has to be to be explained: by values that were rounded, or by what ends in zeros.
NEARBY = sp.Rational(1, 100)
#: A term of at most this part of the whole may be left out to leading order.
SMALL = sp.Rational(1, 4)
MOST_NAMED, MOST_FORMS = 3, 6
#: The rank of other terms: conventions are named before them.
LAST = 100


def number(answer: Number, exercise: Exercise) -> Verdict:
    """Judge a number: the headline first, then by conventions, then what else the derivation states."""
    asked = _named(answer.named, exercise)
    if _two_sided(asked):
        return Verdict(WRONG, f"{asked.what} is bounded on both sides: write the interval.", asked)
    found = [(setting, value) for setting, value in asked.numbers]
    if not found:
        return _without_numbers(answer, exercise, asked)
    answer = in_named_time(answer, asked)
    for setting, value in found:
        if (_close(answer, value) or _whole(answer, value, asked)) and unit_fits(answer, setting):
            return _found(answer, value, asked)
    exact = _exact(asked)
    if exact is not None and (_close(answer, exact) or _whole(answer, exact, asked)) and unit_fits(answer, found[0][0]):
        return Verdict(RIGHT, f"It is {format_number(exact, 6)} without the limits of the derivation.", asked)
    for setting, value in found:
        verdict = by_unit(answer, setting, value, asked)
        if verdict is not None:
            return verdict
    setting, value = found[0]
    if _too_few(answer, value, asked):
        return Verdict(WRONG, f"{answer.value} falls short: part of a chip is one more.", asked)
    known = _searched(answer, [setting for setting, _ in found[:MOST_NAMED]], value)
    if not any(each.harmless for each in known):
        known += on_other_terms(asked, exercise, within(answer), bool(known))
    if not known:
        known = _roundings(answer, [setting for setting, _ in found[:MOST_NAMED]])
    if known:
        return explained(known, asked, exercise, _ratio(answer.value, value))
    other = _another(answer, exercise, asked)
    return Verdict(WRONG, other or UNEXPLAINED, asked, ratio=_ratio(answer.value, value))


def _two_sided(asked: Asked) -> bool:
    """Say whether a condition is an interval with two borders."""
    if asked.crossover is None:
        return False
    intervals = [each for case in asked.crossover.headline.cases for each in case.intervals]
    return any(each.lo != 0 and each.hi != sp.oo for each in intervals)


def _found(answer: Number, value: sp.Expr, asked: Asked) -> Verdict:
    """Return the verdict on the right number; a border that is named, X = 47,058, says nothing of its side."""
    said, kind, ratio = _rounding(answer, value), RIGHT, _ratio(answer.value, value)
    if asked.optimum is not None and asked.optimum.integers and not answer.value.is_Integer:
        kind, said = LEADING, "It is the best of all real sizes; the best whole size is asked for."
    side = _bound(asked)
    if answer.named is not None and side is not None:
        said = f"{said} This is the border; the condition is {asked.what} {'>=' if side else '<='} it.".strip()
    return Verdict(kind, said, asked, ratio=ratio)


def on_other_terms(asked: Asked, exercise: Exercise, fits: Fits, known: bool = False) -> list[Found]:
    """Return the other terms on which the derivation, written again, says what `fits`: a number or a formula.

    Where a slip is `known` already, only terms on which the answer would be as good are tried.
    """
    found: dict[str, Found] = {}
    also: list[Found] = []
    passes = [(words, False, again) for words, again in other_passes(asked, exercise)]
    counted = list(otherwise(asked, exercise))
    for words, harmless, again in (*passes, *counted, *rewritten(asked, exercise, harmless=known)):
        forms = [each.expr for each in _typed(again, exercise)]
        how = next((said for form in (again.value, *forms) if (said := fits(form)) is not None), None)
        here = Reading(words, again)
        if how is not None:
            found.setdefault(words, Found((here,), again, how, harmless, LAST))
        elif not known:
            more = [each for each in shards(again) if fits(each.setting.value) == ""]
            also += [Found((here, each), each.setting, "", harmless, LAST) for each in more]
    return list(found.values()) or also


def _named(name: sp.Expr | None, exercise: Exercise) -> Asked:
    """Return what an answer says it is about; the headline where it does not say, or names something else."""
    if name is not None:
        for each in exercise.asked:
            if each.settings and each.settings[0].of_what == name:
                return each
        if name.free_symbols and exercise.headline.settings and exercise.headline.settings[0].of_what.free_symbols:
            there = ", ".join(each.what for each in exercise.asked if each.settings)
            raise SymscaleError(f"{exercise.id} does not speak of {to_text(name)}.", hint=f"It has {there}.")
    return exercise.headline


def _without_numbers(answer: Number, exercise: Exercise, asked: Asked) -> Verdict:
    """Judge a number where a formula is asked for: it may be the formula where that has no symbols, or another's."""
    other = _another(answer, exercise, asked)
    what = f"{asked.what} is asked for as a formula" if asked.settings else f"{asked.what} is asked for"
    return Verdict(WRONG, f"{what}. {other}" if other else f"{what}, not as a number.", asked)


def _close(answer: Number, value: sp.Expr) -> bool:
    size = abs(sp.N(value, 20))
    distance = abs(sp.N(value, 20) - answer.value)
    return bool(distance <= max(min(answer.half, size * COARSEST), size * CLOSE) * (1 + sp.Rational(1, 10**9)))


def _whole(answer: Number, value: sp.Expr, asked: Asked) -> bool:
    """Say whether a whole number is the last below an upper bound, or the first above a lower one."""
    side = _bound(asked)
    if side is None or not answer.value.is_Integer or answer.digit > 1 or value < 1:
        return False
    return bool(answer.value == (sp.ceiling(value) if side else sp.floor(value)))


def _exact(asked: Asked) -> sp.Expr | None:
    """Return the number of the exact answer to a condition, where that has one border."""
    answer = asked.crossover.exact if asked.crossover is not None and asked.crossover.numbered else None
    edge = border(answer.cases) if answer is not None and answer.unknown == asked.settings[0].of_what else None
    value = value_at(edge, asked.settings[0].values) if edge is not None else None
    return value if value is not None and value.is_number and value.is_real else None


def _too_few(answer: Number, value: sp.Expr, asked: Asked) -> bool:
    """Say whether a whole number of chips is what is needed, cut off: one too few."""
    chips = asked.crossover is not None and asked.crossover.unit == "chips"
    return bool(chips and _bound(asked) and answer.value == sp.floor(value) != value)


def _bound(asked: Asked) -> bool | None:
    """Say whether a condition bounds its unknown from below; None where there is no condition, or no one bound."""
    if asked.crossover is None or asked.crossover.threshold is None:
        return None
    first = next((each for case in asked.crossover.headline.cases for each in case.intervals), None)
    return None if first is None else first.hi == sp.oo


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


def _another(answer: Number, exercise: Exercise, asked: Asked) -> str:
    """Say which other quantity of the derivation has this value, or the same one in another place, if one has."""
    for one in asked.elsewhere:
        value = one.value
        if value.is_number and value.is_real and _close(answer, value):
            return _said_elsewhere(one, asked, exercise)
    for each in exercise.asked:
        if each is not asked and any(_close(answer, value) for _, value in each.numbers):
            return f"This is {each.what}, and {asked.what} is asked for."
    return ""


def _said_elsewhere(one: Setting, asked: Asked, exercise: Exercise) -> str:
    """Say where a derivation calls something else by the same name."""
    title = blackboard(exercise.derivation).steps[one.at - 1].title if exercise.derivation and one.at else ""
    return f"Step {one.at} says this of {asked.what} ({title}), which is not what is asked for." if title else ""


def _rounding(answer: Number, value: sp.Expr) -> str:
    return "" if answer.value == value else f"It is {format_number(value, 6)} to six digits."


def _ratio(left: sp.Expr, right: sp.Expr) -> float | None:
    return float(left / right) if right.is_number and right != 0 and left.is_number else None


def formula(answer: Formula, exercise: Exercise) -> Verdict:
    """Judge a formula: as it stands, with what the derivation defines put in, with numbers put in, to leading order."""
    asked = _named(answer.named, exercise)
    targets = list(formulas(asked, exercise))
    if not targets:
        return Verdict(WRONG, f"{asked.what} is asked for, not a formula.", asked)
    written = list(dict.fromkeys([answer.expr, defined(answer.expr, exercise, asked)]))
    for setting in targets:
        for each in written:
            if same(each, setting.expr):
                return Verdict(RIGHT, "", asked)
    dropped: list[Verdict] = []
    # a formula in the very symbols is to be the formula: numbers may agree by chance, as 2 + 2 and 2*2
    formal = any(each.free_symbols == setting.expr.free_symbols for setting in targets for each in written)
    for setting in targets:
        for each in written:
            verdict = (None if formal else _in_numbers(each, setting, asked)) or leading(each, setting, asked)
            if verdict is not None and verdict.accepted:
                return verdict
            dropped += [verdict] if verdict is not None else []
    known = [
        found
        for setting in targets[:MOST_FORMS]
        for each in written
        for found in search(replace(setting, values={}, parts={}), is_formula(each), 2, besides=TOGETHER)
    ]
    if not any(each.harmless for each in known):
        known += [one for each in written for one in on_other_terms(asked, exercise, is_formula(each))]
    place = next((one for one in asked.elsewhere for each in written if same(each, one.expr)), None)
    if place is not None and not any(each.harmless for each in known):
        return Verdict(WRONG, _said_elsewhere(place, asked, exercise), asked, step=place.at)
    if known:
        return explained(known, asked, exercise, None)
    if dropped:
        return dropped[0]
    for other in exercise.asked:
        if other is not asked and any(same(each, one.expr) for each in written for one in formulas(other, exercise)):
            return Verdict(WRONG, f"This is {other.what}, and {asked.what} is asked for.", asked)
    return Verdict(WRONG, UNEXPLAINED, asked)


def formulas(asked: Asked, exercise: Exercise) -> Iterator[Setting]:
    """Yield the formulas of what is asked for, in general and in the dtypes of its program."""
    seen: set[sp.Expr] = set()
    for setting in asked.settings:
        for each in _typed(setting, exercise):
            if each.expr.free_symbols and each.expr not in seen:
                seen.add(each.expr)
                yield each


def _typed(setting: Setting, exercise: Exercise) -> Iterator[Setting]:
    """Yield a setting in general, with formulas and dtypes that are given, and in the program's dtypes, else bf16."""
    widths = dict(exercise.layer.typed.numbers) if exercise.layer is not None else {symbol("b"): sp.Integer(2)}
    put = setting.values.items()
    given = {name: value for name, value in put if name.name.partition("_")[0] == "b" or value.free_symbols}
    yield setting
    for each in (given, {**widths, **given}) if given else (widths,):
        yield setting.of(setting.expr.xreplace(each).xreplace(each))


def defined(expr: sp.Expr, exercise: Exercise, asked: Asked) -> sp.Expr:
    """Return a formula with the quantities that the derivation states put in, and alpha as C over its bandwidth."""
    # what is asked for stays what it is, whatever else the derivation states of its symbols
    stays = [setting.expr.free_symbols | setting.of_what.free_symbols for setting in asked.settings]
    wanted = {name for each in stays for name in each}
    meaning: dict[sp.Symbol, sp.Expr] = {}
    for each in (one for one in exercise.asked if one.crossover is None and one.optimum is None):
        names = [one.expr for one in each.settings if one.expr.free_symbols]
        if names and each.settings[0].of_what.is_Symbol and each.settings[0].of_what not in wanted:
            meaning[each.settings[0].of_what] = names[-1]
    if exercise.layer is not None:
        sizes = {symbol(axis): size for axis, size in exercise.layer.program.mesh.items() if str(size).isdigit()}
        meaning |= {axis: sp.Integer(str(size)) for axis, size in sizes.items() if axis not in wanted}
    rates = sorted((name for name in wanted if name.name.startswith("W_")), key=str)
    if rates and symbol("alpha") not in wanted:
        meaning[symbol("alpha")] = symbol("C") / rates[0]
    for _ in range(3):
        expr = expr.xreplace(meaning)
    return expr


def is_formula(expr: sp.Expr) -> Fits:
    """Return what says whether a value is a formula."""
    return lambda value: "" if expr.free_symbols <= value.free_symbols and same(value, expr) else None


def _in_numbers(expr: sp.Expr, setting: Setting, asked: Asked) -> Verdict | None:
    """Judge a formula some of whose symbols are numbers already."""
    if not setting.values or expr.free_symbols == setting.expr.free_symbols:
        return None
    value, wanted = value_at(expr, setting.values), setting.value
    if not (value.is_number and wanted.is_number and value.is_real and wanted.is_real):
        return None
    if abs(sp.N(value - wanted, 20)) > CLOSE * abs(sp.N(wanted, 20)):
        return None
    return Verdict(RIGHT, f"With the numbers it is {format_number(wanted, 6)}.", asked, ratio=float(value / wanted))


def leading(expr: sp.Expr, setting: Setting, asked: Asked) -> Verdict | None:
    """Judge a formula without terms of sums: right to leading order where they are small beside what is left."""
    for dropped, rest in _shorter(setting.expr, 3):
        if rest.free_symbols <= expr.free_symbols and same(expr, rest):
            share = _share(setting, rest)
            missing = " and ".join(_left_out(total, term) for total, term in dropped)
            if share is None and all(term.is_number for _, term in dropped):
                return Verdict(
                    LEADING, f"{missing}, which is small beside the rest.", asked, (missing,), step=setting.at
                )
            if share is not None:
                kind = LEADING if abs(share) <= SMALL else WRONG
                said = f"{missing}, which changes it by {format_number(100 * abs(share), 3)} % here."
                return Verdict(kind, said, asked, (missing,), step=setting.at)
    return None


def _left_out(total: sp.Expr, term: sp.Expr) -> str:
    if term.is_number:
        return f"{to_text(total)} is taken as {to_text(total - term)}"
    return f"{to_text(term)} is left out"


def _shorter(expr: sp.Expr, most: int) -> Iterator[tuple[tuple[tuple[sp.Expr, sp.Expr], ...], sp.Expr]]:
    """Yield an expression with one term of a sum left out, then two, then three; each with its sum."""
    level: list[tuple[tuple[tuple[sp.Expr, sp.Expr], ...], sp.Expr]] = [((), expr)]
    for _ in range(most):
        further: dict[sp.Expr, tuple[tuple[sp.Expr, sp.Expr], ...]] = {}
        for dropped, found in level:
            for total in sorted(found.atoms(sp.Add), key=to_text):
                for term in total.args if len(total.args) <= 8 else ():
                    further.setdefault(found.xreplace({total: total - term}), (*dropped, (total, term)))
        level = [(dropped, found) for found, dropped in further.items()][:200]
        yield from level


def _share(setting: Setting, rest: sp.Expr) -> sp.Expr | None:
    """Return by which part of the whole a shorter formula is off, in the numbers of the setting."""
    whole, part = setting.value, value_at(rest, setting.values)
    if whole.is_number and part.is_number and whole != 0 and whole.is_real and part.is_real:
        return sp.N(1 - part / whole, 6)
    return None
