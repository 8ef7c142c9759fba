"""Results that are tables: chips, crossovers, times over a range, a model's counts, the arrays of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.array import Program
from symscale.derivation.crossover import Crossover, bounds, pass_name, resource_name
from symscale.derivation.limits import readable
from symscale.derivation.served import Inference
from symscale.derivation.stack import Table
from symscale.derivation.trained import Training
from symscale.machine import Machine
from symscale.notation.numbers import format_quantity
from symscale.report.chips import HEADS, chip_notes, chip_rows
from symscale.report.grid import Cell, Column, grid
from symscale.solve.relation import Relation


def table(value: Any, style: str) -> str:
    """Return a result as a table in `text` or `md`."""
    match value:
        case Table():
            from symscale.report.tables import table as times

            return times(value, style)
        case Machine():
            columns = [Column(head, head == "number") for head in HEADS]
            return grid(f"{value.title} ({value.name})", columns, chip_rows(value), style, notes=chip_notes(value))
        case Crossover():
            return _crossover(value, style)
        case Training():
            forms = (value.parameters, value.active, value.forward, value.backward, value.step)
            heads = ("parameters", "met by a token", "forward FLOPs", "backward FLOPs", "FLOPs of a step")
            parts = list(dict.fromkeys(part for form in forms for part in form))
            rows = [(part, *(form.get(part, sp.S.Zero) for form in forms)) for part in parts]
            return grid("Training, by part", _columns("part", *heads), rows, style)
        case Inference():
            return _inference(value, style)
        case Program():
            return _program(value, style)
    raise TypeError(f"{type(value).__name__} is no table")


def _columns(*heads: str) -> list[Column]:
    return [Column(head) for head in heads]


def _filled(columns: list[Column], rows: Sequence[Sequence[Cell]]) -> tuple[list[Column], list[Sequence[Cell]]]:
    """Return a table without the columns in which nothing stands."""
    kept = [n for n in range(len(columns)) if any(row[n] for row in rows)]
    return [columns[n] for n in kept], [[row[n] for n in kept] for row in rows]


def _crossover(found: Crossover, style: str) -> str:
    rows: list[Sequence[Cell]] = []
    for answer in found.answers:
        limits = ", ".join(map(readable, answer.assumptions))
        for case in answer.cases:
            held: list[Cell] = [*bounds(answer.unknown, case)] or ["never" if case.never else "always"]
            rows.append((answer.form, limits, _joined(held), _joined(list(case.when))))
    value = [] if found.value is None else [format_quantity(found.value, found.unit, 6)]
    notes = [f"{found.headline.unknown}: {each}{f' on {found.on}' if found.on else ''}." for each in value]
    title = f"{pass_name(found.passes)}: arithmetic against {resource_name(found.resource)}"
    return grid(title, *_filled(_columns("form", "limits", "answer", "if"), rows), style, notes=notes)


def _joined(parts: list[Cell]) -> Cell:
    """Return conditions with words between them."""
    whole: list[str | sp.Expr | Relation] = []
    for each in parts:
        whole += [" and "] if whole else []
        whole += each if isinstance(each, tuple) else [each]
    return tuple(whole)


def _inference(found: Inference, style: str) -> str:
    names = {
        "FLOPs of weights": "weight_flops",
        "bytes of weights": "weight_bytes",
        "FLOPs of attention": "score_flops",
        "bytes of the cache": "cache_bytes",
    }
    rows: list[Sequence[Cell]] = [
        (said, getattr(found.decode, name), getattr(found.prefill, name)) for said, name in names.items()
    ]
    held = [("parameters", found.parameters), ("weights held", found.held.weights), ("cache", found.held.cache)]
    rows += [(said, form, "") for said, form in held if form != 0]
    return grid("Inference, all chips together", _columns("what", "decode step", "prefill"), rows, style)


def _program(program: Program, style: str) -> str:
    text = "\n".join(part.strip() for part in program.text.replace(";", "\n").split("\n") if part.strip())
    if style == "text":
        return text
    rows = [
        (
            f"{each.name}{each.layout or ''}",
            each.role,
            each.dtype or "",
            " × ".join(str(program.sizes[d]) for d in each.dims),
        )
        for each in program.values.values()
    ]
    from symscale.report.grid import table as arrays
    from symscale.report.prose import fence

    marks = fence(text.split("\n"))
    return (
        f"{marks}text\n{text}\n{marks}\n\n{arrays(*_filled(_columns('array', 'role', 'dtype', 'size'), rows), style)}"
    )
