"""Tables of derivations: the cells of a step, a column in one unit, set by the grid that sets every table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.derivation.sheet import Cell, Head, Sheet
from symscale.derivation.step import Step
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.report.grid import Cell as Shown
from symscale.report.grid import Column, table
from symscale.report.measures import Measures
from symscale.report.plain import WIDTH, exact_text, words
from symscale.solve.relation import Relation

PLAIN = Measures()


def sheet_table(
    step: Step, sheet: Sheet, style: str, order: Order, room: int = WIDTH, measures: Measures = PLAIN
) -> str:
    """Return the table of a step in a layout of the grid's; a column has one unit, that of `measures` if it has one."""
    columns, cells = [], []
    for n, head in enumerate(sheet.columns):
        values = [value_in(row[n], step) for row in sheet.rows]
        unit, shown = in_one_unit(values, head.unit, measures, named(head))
        computed = [each for each in values if isinstance(each, sp.Expr)]
        numeric = bool(computed) and all(each.is_number for each in computed)
        columns.append(Column(head.label, numeric, unit))
        cells.append(shown)
    return table(columns, list(zip(*cells, strict=True)), style, order, room)


def sheet_data(step: Step, sheet: Sheet, order: Order) -> dict[str, Any]:
    """Return the table of a step for JSON: exact values as text that reads back, in base units."""

    def said(cell: Cell) -> str:
        value = value_in(cell, step)
        if isinstance(value, sp.Expr):
            return to_text(value, order)
        return exact_text(value, order) if isinstance(value, Relation) else words(value, order)

    columns = [{"name": said(head.label), "unit": head.unit} for head in sheet.columns]
    return {"columns": columns, "rows": [[said(cell) for cell in row] for row in sheet.rows], "note": sheet.mark}


def value_in(cell: Cell, step: Step) -> Shown:
    """Return what a cell shows: the right side of its equation, or what the row says itself."""
    return step.equations[cell].rhs if isinstance(cell, int) else cell


def named(head: Head) -> str:
    """Return the name of the quantity of a column, as equations have it."""
    return head.label if isinstance(head.label, str) else to_text(head.label)


def in_one_unit(
    values: Sequence[Shown], unit: str, measures: Measures = PLAIN, name: str = ""
) -> tuple[str, list[Shown]]:
    """Return the unit of a column with the prefix of one of its numbers, and its cells with numbers in that unit."""
    numbers = sorted((each for each in values if isinstance(each, sp.Expr) and each.is_number and each != 0), key=float)
    factor: sp.Expr = sp.S.One
    if measures.unit_of(name) and numbers:
        scaled, unit = measures.shown(sp.S.One, unit, name)
        factor = scaled
    elif unit and numbers:
        base = unit
        scaled, unit = measures.shown(numbers[0], base)
        factor = scaled / numbers[0]
        # the smallest is a number from 1 on, unless the largest would be long
        if numbers[-1] * factor >= 10**4:
            middle = numbers[len(numbers) // 2]
            scaled, unit = measures.shown(middle, base)
            factor = scaled / middle
    shown: list[Shown] = [
        format_number(each * factor, measures.digits) if isinstance(each, sp.Expr) and each.is_number else each
        for each in values
    ]
    return unit, shown
