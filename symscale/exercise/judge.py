"""Numbers and formulas against what a derivation says."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from symscale.derivation.crossover import border
from symscale.derivation.registry import blackboard
from symscale.errors import SymscaleError
from symscale.exercise.answers import same
from symscale.exercise.diagnosis import COARSEST, diagnosed, explained, on_other_terms
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.formulas import defined, formulas, is_formula
from symscale.exercise.reading import Formula, Number
from symscale.exercise.search import search
from symscale.exercise.setting import Setting
from symscale.exercise.slips import TOGETHER
from symscale.exercise.units import CLOSE, by_unit, in_named_time, unit_fits, with_its_unit
from symscale.exercise.verdict import LEADING, RIGHT, UNEXPLAINED, WRONG, Verdict
from symscale.notation.numbers import format_number
from symscale.notation.text import to_text
from symscale.solve.exact import value_at
from symscale.solve.relation import ALWAYS

#: A term of at most this part of the whole may be left out to leading order.
SMALL = sp.Rational(1, 4)
MOST_FORMS = 6


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
            return _found(answer, value, asked, setting)
    exact = _exact(asked)
    if exact is not None and (_close(answer, exact) or _whole(answer, exact, asked)) and unit_fits(answer, found[0][0]):
        shown = with_its_unit(exact, found[0][0], answer.unit)
        return Verdict(RIGHT, f"It is {shown} without the limits of the derivation.", asked)
    for setting, value in found:
        verdict = by_unit(answer, setting, value, asked)
        if verdict is not None:
            return verdict
    setting, value = found[0]
    if _too_few(answer, value, asked):
        return Verdict(WRONG, f"{answer.value} falls short: part of a chip is one more.", asked)
    known = diagnosed(answer, value, asked, exercise)
    if known:
        return explained(known, asked, exercise, _ratio(answer.value, value))
    other = _another(answer, exercise, asked)
    return Verdict(WRONG, other or UNEXPLAINED, asked, ratio=_ratio(answer.value, value))


def _two_sided(asked: Asked) -> bool:
    """Say whether a condition is an interval with two borders."""
    if asked.crossover is None:
        return False
    intervals = [each for case in asked.crossover.headline.cases for each in case.intervals]
    return any(each.two_sided for each in intervals)


def _found(answer: Number, value: sp.Expr, asked: Asked, setting: Setting) -> Verdict:
    """Return the verdict on the right number; a border that is named, X = 47,058, says nothing of its side."""
    said, kind, ratio = _rounding(answer, value, setting), RIGHT, _ratio(answer.value, value)
    if asked.optimum is not None and asked.optimum.integers and not answer.value.is_Integer:
        kind, said = LEADING, "It is the best of all real sizes; the best whole size is asked for."
    side = _bound(asked)
    if answer.named is not None and side is not None:
        said = f"{said} This is the border; the condition is {asked.what} {'>=' if side else '<='} it.".strip()
    return Verdict(kind, said, asked, ratio=ratio)


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
    bounded = (each for case in asked.crossover.headline.cases for each in case.intervals if each != ALWAYS)
    first = next(bounded, None)
    return None if first is None else first.hi == sp.oo


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


def _rounding(answer: Number, value: sp.Expr, setting: Setting) -> str:
    return "" if answer.value == value else f"It is {with_its_unit(value, setting, answer.unit)} to six digits."


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
        for found in search(setting.without_values, is_formula(each), 2, besides=TOGETHER)
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


def _in_numbers(expr: sp.Expr, setting: Setting, asked: Asked) -> Verdict | None:
    """Judge a formula some of whose symbols are numbers already; sizes that are equal by chance are told apart."""
    if not setting.values or expr.free_symbols == setting.expr.free_symbols:
        return None
    used = setting.used
    alike = [name for name, value in used.items() if value.is_number and list(used.values()).count(value) > 1]
    # a model has as many heads of keys and values as of queries, or not: that is no chance
    alike = [name for name in alike if name.name not in ("K", "N_heads")]
    other = {name: used[name] * (3 + 2 * at) for at, name in enumerate(alike) if name in expr.free_symbols}
    for values in ({**setting.values, **other}, setting.values):
        value, wanted = value_at(expr, values), value_at(setting.expr, values)
        if not (value.is_number and wanted.is_number and value.is_real and wanted.is_real):
            return None
        if abs(sp.N(value - wanted, 20)) > CLOSE * abs(sp.N(wanted, 20)):
            return None
    return Verdict(
        RIGHT, f"With the numbers it is {with_its_unit(wanted, setting)}.", asked, ratio=float(value / wanted)
    )


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
