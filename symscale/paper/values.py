"""The number of a quantity of a derivation: as its steps have it, or with a chip's constants and values put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.derivation.crossover import border
from symscale.derivation.evaluate import numbers
from symscale.errors import SymscaleError
from symscale.exercise.exercise import Asked, Exercise, exercise
from symscale.exercise.setting import Setting, everything
from symscale.machine import chosen
from symscale.machine.model import did_you_mean
from symscale.paper.request import Request
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol


def number(request: Request, at: int = 0) -> tuple[sp.Expr, str, str]:
    """Return the number of a quantity, in base units of the unit that follows, and its name.

    The last step that states it counts, or step `at`; a symbol that is given has what it is given. A formula without a
    number takes the constants of the chip asked for, the values of `set=`, and what the steps say of the symbols left.
    Raises SymscaleError for a quantity that is not there, and for symbols without a value.
    """
    one = exercise(request.id, terms=request.terms)
    known = _known(request, one)
    name = request.which.strip()
    if name and not any(each.what == name for each in one.asked) and symbol(name) in known:
        chip = chosen(request.option("on") or None)
        figures = chip.figures if chip is not None else {}
        value = figures[name] if name in figures else _filled(known[symbol(name)], known)
        return value, Setting(value, {}, symbol(name)).measured_in, name
    asked = _asked(one, request, at)
    if not at:
        best = _whole(asked) or _in_its_case(asked, known, request)
        if best is not None:
            return best
    settings = [each for each in asked.settings if at in (0, each.at)]
    for setting in settings:
        value = _constant(setting.value)
        if value is not None:
            _of_the_chip(setting, request)
            return value, setting.measured_in, setting.name
    for setting in settings:
        value = _constant(_filled(setting.value, known))
        if value is not None:
            return value, setting.measured_in, setting.name
    if not settings:
        raise SymscaleError(f"{request.id} has no number to give.", hint="Ask for a quantity of its steps.")
    left = sorted(map(str, _filled(settings[0].value, known).free_symbols))
    constants = "" if request.option("on") else " A chip's constants come with on=tpu-v5p."
    given = ",".join(f"{name}=…" for name in left)
    raise SymscaleError(
        f"{settings[0].name} has no number in {request.id}: {', '.join(left)} "
        f"{'has' if len(left) == 1 else 'have'} no value.",
        hint=f"Give them: set={given}.{constants}",
    )


def _whole(asked: Asked) -> tuple[sp.Expr, str, str] | None:
    """Return the best whole size of a mesh axis, where whole meshes are compared."""
    best = asked.optimum
    if best is None or not best.integers:
        return None
    return sp.Integer(best.whole), "", str(best.variable)


def _in_its_case(asked: Asked, known: Mapping[sp.Symbol, sp.Expr], request: Request) -> tuple[sp.Expr, str, str] | None:
    """Return the border of a condition in the case that holds for the values there are; None where it has one case.

    Raises SymscaleError for a condition with two borders, and for one that holds always or never.
    """
    found = asked.crossover
    if found is None:
        return None
    cases = found.headline.cases
    if any(each.two_sided for case in cases for each in case.intervals):
        raise SymscaleError(
            f"{asked.what} of {request.id} is bounded on both sides.", hint=f"Ask for the claim: {request.id} claim."
        )
    if sum(border((case,)) is not None for case in cases) < 2:
        return None
    for case in cases:
        when = [Relation(_filled(each.lhs, known), each.op, _filled(each.rhs, known)) for each in case.when]
        if any(each.free_symbols for each in when):
            return None
        if all(each.holds({}) for each in when):
            edge = border((case,))
            value = _constant(_filled(edge, known)) if edge is not None else None
            if value is None:
                said = "no value is enough" if case.never else "every value is" if case.always else "it has no number"
                raise SymscaleError(f"For these values {said} for {asked.what} of {request.id}.")
            return value, found.unit, asked.what
    return None


def _of_the_chip(setting: Setting, request: Request) -> None:
    """Raise SymscaleError for a number that is not of the chip asked for: of none, or of another."""
    chip = chosen(request.option("on") or None)
    if chip is None:
        return
    put = dict(request.terms.values)
    own = {str(name): value for name, value in setting.used.items() if str(name) in chip.figures}
    if own and own.keys() <= put.keys():
        return
    own = {name: value for name, value in own.items() if name not in put}
    peaks = [value for _, value in chip.peaks]
    if not own or any(chip.figures[name] != value and value not in peaks for name, value in own.items()):
        raise SymscaleError(
            f"{setting.name} of {request.id} is not stated of {chip.title}: on= changes nothing in it.",
            hint="Leave on= out, or ask for another quantity.",
        )


def _asked(one: Exercise, request: Request, at: int) -> Asked:
    """Return the quantity asked for: the one of the claim, of the step, or the one that is named."""
    wanted = request.which.replace(" ", "")
    if not wanted and not at:
        return one.headline
    named = {each.what.replace(" ", ""): each for each in one.asked}
    for each in one.asked:
        if (not wanted or each.what.replace(" ", "") == wanted) and (not at or at in {s.at for s in each.settings}):
            return each
    there = [each.what for each in one.asked if not at or at in {s.at for s in each.settings}]
    where = f" in step {at}" if at else ""
    raise SymscaleError(
        f"{one.id} has no quantity {request.which[:40]!r}{where}." if wanted else f"Step {at} of {one.id} has none.",
        hint=f"It has {', '.join(there) or 'none there'}.{did_you_mean(wanted, named)}",
    )


def _constant(value: sp.Expr) -> sp.Expr | None:
    """Return a real number, None for what is none yet."""
    return value if value.is_number and value.is_real else None


def _known(request: Request, one: Exercise) -> dict[sp.Symbol, sp.Expr]:
    """Return every value there is: those asked for first, then the chip's, then those of the steps that agree."""
    given = {symbol(name): value for name, value in request.terms.values}
    _used(request, one)
    said: dict[sp.Symbol, set[sp.Expr]] = {}
    for setting in everything(one.id, terms=request.terms):
        for name, value in setting.values.items():
            said.setdefault(name, set()).add(value)
    agreed = {name: next(iter(values)) for name, values in said.items() if len(values) == 1}
    chip = chosen(request.option("on") or None)
    return {**agreed, **numbers(one.layer, chip, {}), **given}


def _used(request: Request, one: Exercise) -> None:
    """Raise SymscaleError for a value of a symbol that the derivation does not have."""
    names: set[str] = set()
    for setting in everything(one.id, terms=request.terms) if request.terms.values else ():
        names |= {
            str(each) for each in setting.expr.free_symbols | setting.values.keys() | setting.of_what.free_symbols
        }
    for name, _ in request.terms.values:
        if name not in names:
            raise SymscaleError(f"{one.id} has no symbol {name[:40]}.", hint=_has(sorted(names), name))


def _has(names: Sequence[str], name: str) -> str:
    return f"It has {', '.join(names[:40])}.{did_you_mean(name, names)}"


def _filled(value: sp.Expr, known: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Return a formula with all values in it, those that are formulas of others too: F = 4*D."""
    for _ in range(4):
        filled = value.xreplace(dict(known))
        if filled == value:
            return value
        value = filled
    return value
