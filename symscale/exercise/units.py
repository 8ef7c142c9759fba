"""Units of answers: what a quantity is measured in, and a number whose unit is missing or measures something else."""

from __future__ import annotations

import re
from dataclasses import replace

import sympy as sp

from symscale.derivation.measured import BYTE, SECOND, TIMES
from symscale.errors import UnitError
from symscale.exercise.exercise import Asked
from symscale.exercise.reading import Number
from symscale.exercise.setting import Setting
from symscale.exercise.verdict import RIGHT, UNIT, Verdict
from symscale.notation.numbers import format_number, format_quantity
from symscale.quantity import PURE, Unit, parse_unit

#: So far a number may be from the value and still be it: rounding of what went in.
CLOSE = sp.Rational(1, 1000)
#: What is counted, where two of these are not the same.
COUNTED = {"token": "token", "chip": "chip", "GPU": "chip", "TPU": "chip", "device": "chip", "FLOP": "FLOP"}
COUNTED |= {each: each for each in ("element", "param", "layer", "head", "expert", "step", "times")}
#: Prefixes and hours, for a number whose unit is missing.
SCALES = tuple(sp.Integer(1000) ** power for power in range(-4, 6))
OTHER_SCALES = tuple(sp.Integer(each) for each in (60, 3600, 86400, 2**10, 2**20, 2**30, 2**40))
HUNDRED = sp.Integer(100)


def with_its_unit(value: sp.Expr, setting: Setting, unit: Unit | None = None) -> str:
    """Return a number to six digits with its unit: the one that an answer has, or that of what it is the value of."""
    if unit is not None and unit.word and unit.dimension:
        return f"{format_number(value / unit.factor, 6)} {unit.word}"
    return format_quantity(value, setting.measured_in, 6)


def in_named_time(answer: Number, asked: Asked) -> Number:
    """Return days of "44 days" as the number that a quantity called days is."""
    scale = TIMES.get(asked.what)
    if scale is None or answer.unit is None or answer.unit.dimension != SECOND:
        return answer
    return replace(answer, value=answer.value / scale, half=answer.half / scale, digit=answer.digit / scale, unit=None)


def unit_fits(answer: Number, setting: Setting) -> bool:
    """Say whether the unit is of the right kind. A pure number, an intensity, zero and times in counts need none."""
    wanted = setting.dimension
    given = answer.unit.dimension if answer.unit is not None else PURE
    if answer.unit is None and (wanted == PURE / BYTE or answer.value == 0 or not setting.measured_in):
        return True
    return wanted is None or (given == wanted and _same_counted(answer, setting))


def _same_counted(answer: Number, setting: Setting) -> bool:
    """Say whether tokens are not called chips, nor what is per chip per pod."""
    try:
        wanted = parse_unit(setting.unit).word
    except UnitError:
        return True
    first = [re.match(r"[A-Za-z]*", word) for word in (wanted, answer.unit.word if answer.unit is not None else "")]
    ours, theirs = (COUNTED.get(each[0]) if each else None for each in first)
    if ours is not None and theirs is not None and ours != theirs:
        return False
    # per pod is not per chip
    of = [word.partition("/")[2] for word in (wanted, answer.unit.word if answer.unit is not None else "")]
    one, other = (COUNTED.get(each, each) for each in of)
    return not one or not other or one == other


def by_unit(answer: Number, setting: Setting, value: sp.Expr, asked: Asked) -> Verdict | None:
    """Judge a number whose unit is missing, or measures something else; 9.6B of what is counted are billions."""
    word = answer.unit.word if answer.unit is not None else ""
    factor = answer.unit.factor if answer.unit is not None else sp.S.One
    pure = setting.dimension == PURE
    if word == "B" and pure and _is(answer, sp.Integer(10) ** 9, value):
        return Verdict(RIGHT, "B is read as billions.", asked)
    if pure and word in ("", "%") and _is(answer, HUNDRED if word else 1 / HUNDRED, value):
        return Verdict(UNIT, "It is no percentage." if word else "The % is missing.", asked)
    if unit_fits(answer, setting):
        return None
    for scale in (*SCALES, *OTHER_SCALES):
        if _is(answer, scale / factor, value):
            unit = setting.unit or str(setting.dimension) or "a pure number"
            measured = f"it is measured in {unit}." if unit != "1" else "it is a pure number."
            return Verdict(UNIT, f"{f'{word} is not its unit' if word else 'The unit is missing'}: {measured}", asked)
    return None


def _is(answer: Number, scale: sp.Expr, value: sp.Expr) -> bool:
    size = abs(sp.N(value, 20))
    return bool(
        abs(answer.value * scale - sp.N(value, 20)) <= max(min(abs(answer.half * scale), size / 20), size * CLOSE)
    )
