"""The inverse question: which assumption or convention makes a derivation, or a line of arithmetic, give a number."""

from __future__ import annotations

import re
from collections.abc import Iterable

import sympy as sp

from symscale.errors import NotationError, SymscaleError
from symscale.exercise.diagnosis import MOST_NAMED, on_other_terms, within
from symscale.exercise.exercise import Exercise
from symscale.exercise.reading import Number, read_answer
from symscale.exercise.search import Found, search
from symscale.exercise.setting import Setting
from symscale.exercise.slips import figures
from symscale.machine import machines
from symscale.notation.formula import parse_formula
from symscale.quantity.literal import NUMBER
from symscale.vocabulary import symbol

#: A number this close to a figure of a chip is taken for it.
NEAR = sp.Rational(1, 200)
_LITERAL = re.compile(rf"(?<![\w.^])({NUMBER})(?![\w.])")


def explanations(exercise: Exercise, text: str) -> list[Found]:
    """Return all conventions under which what an exercise asks for is this value, the simplest first.

    Raises SymscaleError where the value is no number.
    """
    answer = read_answer(text)
    if not isinstance(answer, Number):
        raise SymscaleError(f"{text[:40]!r} is no number.", hint="Write the value that is to be explained, such as 99.")
    settings = [one for one, _ in exercise.headline.numbers]
    if not settings:
        raise SymscaleError(f"{exercise.id} has no number for {exercise.headline.what}.")
    found = [one for each in settings[:MOST_NAMED] for one in search(each, within(answer), 2)]
    return _distinct([*found, *on_other_terms(exercise.headline, exercise, within(answer))])


def arithmetic(text: str) -> tuple[Setting, list[Found]]:
    """Return the setting of a line such as "28672*450e9/990e12 = 26.07", and what makes the left side the right one.

    Numbers that are figures of a chip are known by their names: 450e9 as W_nvlink.
    """
    left, sign, right = text.rpartition("=")
    if not sign or not left.strip():
        raise NotationError(
            "a line of arithmetic has an equals sign", text=text, position=len(text), hint="as in 2*8/3 = 5.3"
        )
    answer = read_answer(right)
    if not isinstance(answer, Number):
        raise NotationError("the right side is no number", text=text, position=len(left) + 1)
    setting = _setting(left)
    return setting, _distinct(search(setting, within(answer), 2))


def _setting(text: str) -> Setting:
    values: dict[sp.Symbol, sp.Expr] = {}

    def named(match: re.Match[str]) -> str:
        value = parse_formula(match[1]).expr
        if abs(value) < 10:  # factors and exponents are structure
            return match[1]
        name = _figure(value, {each.name for each in values}) or f"n_{len(values) + 1}"
        values[symbol(name)] = value
        return name

    expr = parse_formula(_LITERAL.sub(named, text.strip())).expr
    unknown = expr.free_symbols - values.keys()
    if unknown:
        raise SymscaleError(f"{min(map(str, unknown))} has no number.", hint="Write numbers for all symbols.")
    return Setting(expr, values)


def _figure(value: sp.Expr, taken: set[str]) -> str:
    """Return the name of the chips' figure that a number is, if it is one."""
    found = [
        (abs(figure - value), str(name))
        for chip in machines()
        for name, figure in figures(chip).items()
        if str(name) not in taken and abs(figure - value) <= NEAR * figure
    ]
    return min(found)[1] if found else ""


def _distinct(found: Iterable[Found]) -> list[Found]:
    return list({str(each): each for each in found}.values())
