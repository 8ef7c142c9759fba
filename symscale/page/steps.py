"""The steps of a derivation as parts of a page, each number written down in the ledger that makes it live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp
from markupsafe import Markup

from symscale.derivation.proof import Settled
from symscale.derivation.sheet import Sheet
from symscale.derivation.step import Derivation, Prose, Step, checked
from symscale.notation.numbers import format_number, format_quantity
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.page.figures import drawn_curves, drawn_map, longest_time
from symscale.page.ledger import Ledger
from symscale.page.live import Live, drawn_with, evaluated, lives, of_dtype, results, tabled
from symscale.page.maps import TIMES, Compared, compared, resource
from symscale.page.words import displayed_formula, formula, heading, left_side, math, plain, words
from symscale.report.plain import in_units, statements
from symscale.report.prose import equation_latex
from symscale.report.sheets import in_one_unit, value_in
from symscale.solve.relation import Relation

# What is put in is said with one of these units.
UNITS = ("FLOP/s", "B/s", "B", "s", "FLOP/B", "")
# Kinds of steps whose words speak of numbers.
OWN = ("evaluate", "table", "plot")


def ledger_of(key: str, derivation: Derivation) -> Ledger:
    """Return an empty ledger with the inputs of a derivation."""
    found = results(derivation)
    used: set[sp.Symbol] = set()
    for step in derivation.steps:
        for each, live in zip(step.equations, lives(step), strict=True):
            if live is None or live.used & found:
                continue
            used |= live.used
            if each.op != "==" and not each.lhs.free_symbols & found:
                used |= each.lhs.free_symbols
        if step.figure is not None:
            used |= {name for name, _ in drawn_with(step.figure)}
            used |= {step.figure.map.x, step.figure.map.lead} if step.figure.map is not None else set()
    return Ledger(key, derivation, frozenset(used))


def steps_of(derivation: Derivation, ledger: Ledger) -> list[dict[str, Any]]:
    """Return every step, checked, as what the template sets. Raises StepError."""
    shown = []
    mapped = False
    for place, step in enumerate(checked(derivation)):
        ledger.at(derivation, place)
        made = _step(step, derivation.order, ledger)
        times = compared(step)
        if times is not None and ledger.counts(*times.times.values()):
            made["bars"] = _bars(step, times, made["rows"], ledger)
            if not mapped:
                made["map"] = longest_time(derivation, times, ledger)
                mapped = made["map"] is not None
        if step.figure is not None:
            made["map"] = drawn_map(step.figure, derivation.order, ledger)
            made["plot"] = drawn_curves(step.figure, derivation.order, ledger)
        shown.append(made)
    return shown


def _step(step: Step, order: Order, ledger: Ledger) -> dict[str, Any]:
    table = _table(step, step.sheet, order, ledger) if step.sheet is not None else None
    rows = [] if table else _rows(step, order, ledger)
    noted = step.kind == "count" and len(step.lines) == len(step.equations)
    lines = [] if noted or step.kind == "given" else [_line(each, step, order, ledger) for each in step.lines]
    return {
        "kind": step.kind,
        "title": _title(step, ledger),
        "reason": words(step.reason, order),
        "of_dtype": of_dtype(step) is not None,
        "own_reason": step.kind in OWN and step.reason != "Put in the numbers.",
        "conditions": [math(equation_latex(each, order)) for each in step.conditions],
        "rows": rows,
        "notes": [each for each in step.lines if isinstance(each, str)] if noted else [],
        "lines": lines,
        "code": [line for each in step.lines if isinstance(each, str) for line in statements(each)]
        if step.kind == "given"
        else [],
        "table": table,
        "mark": plain(step.sheet.mark) if step.sheet is not None else "",
        "answer": _answer(step, order, ledger),
        "bars": None,
        "map": None,
        "plot": None,
    }


def _title(step: Step, ledger: Ledger) -> Markup:
    """Return the title of a step; the chip that its numbers are on is replaced by the one a reader chooses."""
    title, chip = step.title, ledger.setting.chip.title
    named = [each.on for each in evaluated(step)]
    if ledger.setting.chip.name in named and f" on {chip}" in title:
        before, _, after = title.partition(f" on {chip}")
        return heading(before) + Markup(' on <span class="chip">{}</span>').format(chip) + heading(after)
    return heading(title)


def _rows(step: Step, order: Order, ledger: Ledger) -> list[dict[str, Any]]:
    """Return the equations of a step: a number in its place, or a formula with its number beside it."""
    scaled, units = in_units(step)
    # which of several cases applies is said below them, at the inputs
    several = len(_cases(step)) > 1
    rows = []
    for each, number, unit, live in zip(step.equations, scaled, units, lives(step), strict=True):
        relation = each if each.op != "==" else None
        numeric = bool(each.rhs.is_number)
        place = ""
        if live is not None and ledger.counts(live.expr) and not several:
            place = ledger.number(live, relation, () if numeric else step.conditions)
        rows.append(
            {
                "unit": unit,
                "own": step.kind == "evaluate" and not (numeric and place),
                "left": left_side(each, order) if numeric else "",
                "text": plain(format_number(number.rhs, 6)) if numeric else "",
                "formula": "" if numeric else displayed_formula(each, order),
                "number": place,
                "verdict": bool(place) and relation is not None and ledger.counts(relation.lhs),
            }
        )
    return rows


def _cases(step: Step) -> Sequence[Any]:
    """Return the cases of which numbers have left those that a step shows."""
    settled = [each for each in step.proofs if isinstance(each, Settled)]
    return settled[0].before if settled and step.kind == "evaluate" else ()


def _answer(step: Step, order: Order, ledger: Ledger) -> dict[str, Any] | None:
    """Return where the case that holds at the inputs is shown, for an answer of several."""
    cases = _cases(step)
    unknown = step.equations[0].lhs if step.equations else None
    sides = [side for each in cases for one in each.when for side in (one.lhs, one.rhs)]
    ends = [end for each in cases for one in each.intervals for end in (one.lo, one.hi)]
    if len(cases) < 2 or unknown is None or not ledger.counts(*sides, *ends):
        return None
    used = {name for each in (*sides, *ends) for name in each.free_symbols}
    own = tuple((name, value) for name, value in evaluated(step)[0].values if name in used)
    unit = next(iter(step.units), "")
    return {"id": ledger.answer(cases, own, unit), "unknown": formula(unknown, order)}


def _line(line: Prose, step: Step, order: Order, ledger: Ledger) -> dict[str, Any]:
    """Return a line of a step: the number of an input, which a reader may change, or words about the own numbers."""
    put = evaluated(step)
    if put and isinstance(line, tuple) and len(line) == 2 and isinstance(line[0], sp.Symbol):
        name, said = line
        value = dict(put[0].values).get(name)
        if value is not None and name in ledger.places and isinstance(said, str):
            for unit in UNITS:
                if said == f" = {format_quantity(value, unit, 6)}":
                    number = ledger.number(Live(name, unit, ((name, value),)))
                    return {"left": formula(name, order), "number": number, "text": plain(said[3:]), "own": ""}
    return {"left": words(line, order), "number": "", "text": "", "own": "own" if step.kind == "evaluate" else ""}


def _bars(step: Step, found: Compared, rows: Sequence[dict[str, Any]], ledger: Ledger) -> dict[str, Any]:
    """Return the times of a step as bars, the longest of which binds."""
    ids = {str(each.lhs): row["number"] for each, row in zip(step.equations, rows, strict=True)}
    named = [(str(each.lhs), each.rhs) for each in step.equations]
    parts = [(resource(name, spent), ids[name], False) for name, spent in named if name in TIMES]
    parts += [(_part(name), ids[f"T_{name}"], True) for name in found.axes if ids.get(f"T_{name}")]
    kept = [each for each in parts if each[1]]
    passes = step.title.partition(":")[0] if ":" in step.title else ""
    rows = [{"label": label, "part": part} for label, _, part in kept]
    return {"id": ledger.bars(passes, kept), "rows": rows}


def _part(name: str) -> str:
    """Return a part of a network: a mesh axis X, or a level of a tree."""
    return f"axis {name}" if name[:1].isupper() else f"level {name}"


def _table(step: Step, sheet: Sheet, order: Order, ledger: Ledger) -> dict[str, Any]:
    """Return a table; its cells are live where a reader can change what they count with."""
    made = lives(step) if tabled(step) else (None,) * len(step.equations)
    columns = []
    for n, head in enumerate(sheet.columns):
        values = [value_in(row[n], step) for row in sheet.rows]
        unit, shown = in_one_unit(values, head.unit)
        ids = [_cell(row[n], made, ledger) for row in sheet.rows]
        numbers = [value for value in values if isinstance(value, sp.Expr) and value.is_number]
        column = ""
        if any(ids):
            cells = [each or value for each, value in zip(ids, values, strict=True) if each or _number(value)]
            column = ledger.column(head.unit, cells)
        texts = [_said(each, order) for each in shown]
        columns.append(
            {
                "head": _said(head.label, order),
                "name": to_text(head.label, order) if isinstance(head.label, sp.Expr) else head.label or "Marks",
                "unit": f"[{unit}]" if unit else "",
                "id": column,
                "right": bool(numbers),
                "cells": [{"text": each, "id": number} for each, number in zip(texts, ids, strict=True)],
            }
        )
    return {"columns": columns, "rows": len(sheet.rows)}


def _number(value: Any) -> bool:
    return isinstance(value, sp.Expr) and bool(value.is_number)


def _cell(cell: Any, made: Sequence[Live | None], ledger: Ledger) -> str:
    """Return the id of a live number in a cell, where its step has a number for every symbol of it."""
    live = made[cell] if isinstance(cell, int) else None
    if live is None or live.used - dict(live.own).keys() or not ledger.counts(live.expr):
        return ""
    return ledger.number(live)


def _said(cell: Any, order: Order) -> Markup:
    return formula(cell, order) if isinstance(cell, sp.Expr | Relation) else words(cell, order)
