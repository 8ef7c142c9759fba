"""Plain text: a derivation for a terminal."""

from __future__ import annotations

import textwrap

import sympy as sp

from symscale.derivation.step import Derivation, Prose, Step
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.notation.text import relation_text, to_text
from symscale.solve.relation import Relation

WIDTH = 96


def text(derivation: Derivation) -> str:
    """Return a derivation as numbered steps of plain text."""
    blocks = [f"{derivation.title}\n{'=' * len(derivation.title)}"]
    blocks += [step_text(number, step, derivation.order) for number, step in enumerate(derivation.steps, 1)]
    return "\n\n".join(blocks)


def step_text(number: int, step: Step, order: Order) -> str:
    """Return one step: its number and title, its reason, its equations with what stands beside them."""
    head = f"{number}. {step.title}"
    lines = [
        head,
        *textwrap.wrap(words(step.reason, order), WIDTH, initial_indent="   ", subsequent_indent="   "),
    ]
    if step.conditions:
        shown = " and ".join(relation_text(each.lhs, each.op, each.rhs, order) for each in step.conditions)
        lines.append(f"   If {shown}:")
    equations = [equation_text(each, order) for each in step.equations]
    if step.kind == "count" and len(step.lines) == len(equations):
        notes = [words(each, order) for each in step.lines]
        width = max((len(each) for each in notes), default=0)
        lines += [f"     {note:<{width}}   {each}" for note, each in zip(notes, equations, strict=True)]
        return "\n".join(lines)
    units = step.units or ("",) * len(equations)
    lines += [f"     {each} {unit}".rstrip() for each, unit in zip(equations, units, strict=True)]
    lines += [f"     {words(each, order)}" for each in step.lines]
    return "\n".join(lines)


def equation_text(equation: Relation, order: Order) -> str:
    """Return an equation; a number on the right side is rounded for reading."""
    op = "=" if equation.op == "==" else equation.op
    if equation.rhs.is_number and not _short(equation.rhs):
        return f"{to_text(equation.lhs, order)} {op} {format_number(equation.rhs, 6)}"
    return relation_text(equation.lhs, op, equation.rhs, order)


def words(prose: Prose, order: Order) -> str:
    """Return words with their formulas as text."""
    if isinstance(prose, str):
        return prose
    return "".join(_word(each, order) for each in prose)


def _word(each: str | sp.Expr | Relation, order: Order) -> str:
    if isinstance(each, str):
        return each
    return equation_text(each, order) if isinstance(each, Relation) else to_text(each, order)


def _short(number: sp.Expr) -> bool:
    return bool(number.is_Integer and abs(number) < 10**6)
