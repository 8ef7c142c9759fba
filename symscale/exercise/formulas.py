"""The formulas of what is asked for, in general and in the dtypes of a program, and answers with definitions put in."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from symscale.exercise.answers import same
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.search import Fits
from symscale.exercise.setting import Setting
from symscale.vocabulary import symbol


def formulas(asked: Asked, exercise: Exercise) -> Iterator[Setting]:
    """Yield the formulas of what is asked for, in general and in the dtypes of its program."""
    seen: set[sp.Expr] = set()
    for setting in asked.settings:
        for each in typed(setting, exercise):
            if each.expr.free_symbols and each.expr not in seen:
                seen.add(each.expr)
                yield each


def typed(setting: Setting, exercise: Exercise) -> Iterator[Setting]:
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
