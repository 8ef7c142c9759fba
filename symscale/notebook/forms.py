"""Which forms a result has: Markdown for derivations and tables, LaTeX for formulas, SVG for plots, text for all."""

from __future__ import annotations

from typing import Any

from symscale.array import Program
from symscale.cost import Times
from symscale.derivation.builder import Builder
from symscale.derivation.comparison import Compared
from symscale.derivation.crossover import Crossover
from symscale.derivation.figure import Figure
from symscale.derivation.formulae import Found
from symscale.derivation.given import program_step
from symscale.derivation.layer import Layer
from symscale.derivation.question import Answered
from symscale.derivation.served import Inference
from symscale.derivation.stack import Table
from symscale.derivation.step import Derivation, Step, checked
from symscale.derivation.trained import Training
from symscale.errors import MissingError
from symscale.machine import Machine
from symscale.notation.order import Order
from symscale.notebook import drawings, formulas, tables
from symscale.notebook.several import Several

HOLD_ONE = (Answered, Builder, Compared, Found)
TABLES = (Crossover, Inference, Machine, Program, Table, Training)


def markdown(value: Any) -> str | None:
    """Return a derivation or a table as Markdown, and a figure that cannot be drawn as its caption."""
    value = _derivation(value)
    if isinstance(value, Derivation):
        return drawings.embedded(value)
    if isinstance(value, Step):
        return drawings.embedded(Derivation("", (value,)), bare=True).replace("**1. ", "**", 1)
    if isinstance(value, Several):
        return "\n\n".join(each for part in value.parts if (each := markdown(part)) is not None)
    if isinstance(value, TABLES):
        return tables.table(value, "md")
    if isinstance(value, Figure) and svg(value) is None:
        return drawings.described(value)
    return None


def latex(value: Any) -> str | None:
    """Return a formula between dollar signs."""
    shown = formulas.formula(value)
    return None if shown is None else rf"$\displaystyle {shown}$"


def svg(value: Any) -> str | None:
    """Return a figure as SVG, None where matplotlib is missing."""
    if not isinstance(value, Figure):
        return None
    from symscale.report.drawing import svg as draw

    try:
        return draw(value)
    except MissingError:
        return None


def plain(value: Any) -> str:
    """Return a result as text."""
    value = _derivation(value)
    if isinstance(value, Derivation):
        from symscale.report.plain import text

        return text(value)
    if isinstance(value, Step):
        from symscale.report.plain import step_text

        (step,) = checked(Derivation("", (value,)))
        return step_text(1, step, Order()).removeprefix("1. ")
    if isinstance(value, Several):
        return "\n\n".join(plain(each) for each in value.parts)
    if isinstance(value, TABLES):
        return tables.table(value, "text")
    if isinstance(value, Times):
        from symscale.report.plain import equation_text

        return "\n".join(equation_text(each, Order()) for each in formulas.times(value))
    if isinstance(value, Figure):
        from symscale.report.figures import alternative, description

        return f"{alternative(value)}\n{description(value)}"
    return str(value)


def _derivation(value: Any) -> Any:
    """Return the derivation of what has one, of a layer that of its costs, and anything else as it is."""
    if isinstance(value, HOLD_ONE):
        return value.derivation
    if isinstance(value, Layer):
        d = Builder("A program, and what it costs")
        d.order = value.order
        d.add(program_step(value, value.program.text))
        for name, planned in value.plan.passes.items():
            if planned:
                d.counts(value, name)
        return d.derivation
    return value
