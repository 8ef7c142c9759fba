"""What a blackboard writes besides crossovers: quantities in a limit, numbers, and what an author expects."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.derivation.crossover import Crossover, bounds
from symscale.derivation.evaluate import numbers, quantity, taken_from
from symscale.derivation.layer import Layer
from symscale.derivation.limits import limit_text, listed, read_limits, readable
from symscale.derivation.measured import shown_in
from symscale.derivation.proof import Equal, Evaluated, InLimit
from symscale.derivation.shorter import shorter
from symscale.derivation.step import Prose, Step, verify
from symscale.errors import StepError
from symscale.machine import Machine
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.text import relation_text
from symscale.solve import approximate
from symscale.solve.relation import MIRROR, Relation, sign_of_number
from symscale.vocabulary import symbol


def in_limit(name: str, expr: sp.Expr, limits: str) -> tuple[sp.Expr, Step]:
    """Return a quantity in the named limits, and the step that shows it. Raises UndecidedError."""
    named = read_limits(limits)
    found = approximate(expr, named)
    said = ", ".join(readable(limit_text(each)) for each in named)
    reason: Prose = (f"In the limit {said} drop ", *listed(found.dropped), ".")
    line: Prose = (symbol(name), " is exactly ", shorter(found.ratio), " times this")
    equation = Relation(symbol(name), "==", found.approximate)
    step = Step("approximate", f"For {said}", reason, (equation,), (InLimit((found,)),), (line,))
    return found.approximate, step


def in_numbers(
    name: str, expr: sp.Expr, layer: Layer | None, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]
) -> tuple[sp.Expr, Step]:
    """Return a quantity with every known number put in, and the step that shows it."""
    known = numbers(layer, chip, given)
    used = {each: known[each] for each in sorted(expr.free_symbols & set(known), key=str)}
    value = expr.xreplace(used)
    lines: tuple[Prose, ...] = tuple((each, f" = {quantity(each, number, layer)}") for each, number in used.items())
    title = f"In numbers on {chip.title}" if chip is not None else "In numbers"
    proof = Evaluated((expr,), tuple(known.items()), *taken_from(layer, chip))
    unit = shown_in(symbol(name), value, expr, used.values())
    return value, Step(
        "evaluate", title, "Put in the numbers.", (Relation(symbol(name), "==", value),), (proof,), lines, (), (unit,)
    )


def expected_number(value: sp.Expr | None, text: str) -> None:
    """Raise StepError unless a number is what an author prints, to the digits given (two at least)."""
    stated = parse_formula(text).expr
    # half a unit of the last digit printed, of two digits at least
    mantissa = text.lower().partition("e")[0].replace(",", "").replace(".", "").strip("0").ljust(2, "0")
    tolerance = sp.Rational(1, 2) / int(mantissa) if mantissa.isdigit() else sp.Rational(1, 200)
    if value is None or value.free_symbols or sign_of_number(abs(value / stated - 1), tolerance) > 0:
        shown = "no number" if value is None or value.free_symbols else str(value.evalf(6))
        raise StepError(f"The derivation gives {shown}, where {text} is expected.")


def expected_formula(found: sp.Expr, text: str) -> None:
    """Raise StepError unless a formula equals the one that an author states."""
    stated = parse_formula(text).expr
    verify(Step("remark", "Expected", text, (Relation(symbol("expected"), "==", stated),), (Equal((found,)),)))


def expected_answer(found: Crossover, layer: Layer | None, text: str) -> None:
    """Raise StepError unless a crossover's main case is what an author states: B/X >= C/W_ici, always, never.

    A statement without bytes per element is read in the dtype form.
    """
    answer = found.headline
    case = next((each for each in answer.cases if each.intervals), answer.cases[0])
    if text in ("always", "never"):
        if not (case.always if text == "always" else case.never):
            raise StepError(f"The derivation does not give {text!r}: {case}.")
        return
    lhs, op, rhs, _ = parse_relation(text)
    if lhs != answer.unknown:
        lhs, op, rhs = rhs, MIRROR[op], lhs
    same = [each for each in bounds(answer.unknown, case) if each.lhs == lhs and each.op == op]
    if len(same) != 1:
        have = " and ".join(relation_text(each.lhs, each.op, each.rhs) for each in bounds(answer.unknown, case))
        raise StepError(f"The derivation gives {have or case}, where {text} is expected.")
    widths = dict(layer.typed.numbers) if layer is not None else {}
    general = bool(set(widths) & rhs.free_symbols)
    wanted = same[0].rhs if general else same[0].rhs.xreplace(widths)
    verify(Step("remark", "Expected", text, (Relation(lhs, op, rhs),), (Equal((wanted,)),)))
