"""A model's breakdown as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

import json
from typing import Any

import sympy as sp

from symscale.notation.numbers import format_number, format_percent, format_quantity
from symscale.notation.text import to_text
from symscale.report.grid import Cell, Column, grid, page, paragraph
from symscale.solve import Solution
from symscale.transformer.block import Block
from symscale.transformer.blocks import blocks
from symscale.transformer.breakdown import Breakdown, Line, Section

VERSION = "1.0"
COLUMNS = (Column(""), Column("closed form"), Column("value", True), Column("share", True))


def model_report(found: Breakdown, style: str) -> str:
    """Return a breakdown as `text`, `md` or `latex`: a table for each of its sections."""
    parts = page(heading(found), _preface(found), style)
    parts += [section_report(each, style) for each in found.sections]
    return "\n\n".join([*parts, paragraph(equal_text(found.equal), style)])


def model_json(found: Breakdown) -> str:
    """Return a breakdown as JSON: formulas as text, values as exact text; parameters as integers."""
    config = found.config
    document: dict[str, Any] = {
        "schema": f"symscale.model/{VERSION}",
        "name": config.name,
        "model_type": config.model_type,
        "sizes": {str(name): int(number) for name, number in found.sizes.items()},
        "assumed": dict(config.assumed),
        "ignored": list(config.ignored),
        "notes": list(config.notes),
        "blocks": [_block(each) for each in blocks(config)],
        "sections": [section_data(each) for each in found.sections],
        "scores_equal_feed_forward": [
            {"lo": to_text(each.lo), "hi": None if each.hi == sp.oo else to_text(each.hi)}
            for case in found.equal.cases
            for each in case.intervals
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _block(each: Block) -> dict[str, str]:
    return {"part": each.part, "name": each.name, "program": each.text, "count": to_text(each.count)}


def section_data(each: Section) -> dict[str, Any]:
    """Return a section for JSON."""
    rows = [
        {"label": row.label, "form": to_text(row.form), "value": to_text(row.value), "unit": row.unit}
        for row in each.lines
    ]
    return {"title": each.title, "rows": rows, "notes": list(each.notes)}


def heading(found: Breakdown) -> str:
    """Return the title: the model, its type, its parameters."""
    total = next(row for row in found.sections[0].lines if row.label == "total")
    return f"{found.config.name} ({found.config.model_type}): {int(total.value):,} parameters"


def _preface(found: Breakdown) -> list[str]:
    config = found.config
    notes = [", ".join(f"{name} = {number}" for name, number in found.sizes.items()) + "."]
    if config.assumed:
        said = ", ".join(f"{name} = {value}" for name, value in config.assumed)
        notes.append(f"Not in the config, and as the model type has it: {said}.")
    if config.ignored:
        notes.append(f"In the config, and without meaning for the model type: {', '.join(config.ignored)}.")
    return [*notes, *config.notes, *found.asked.notes]


def section_report(section: Section, style: str) -> str:
    """Return a section as a table of labels, closed forms and values, with shares where there are any."""
    shares = any(row.share is not None for row in section.lines)
    columns = COLUMNS if shares else COLUMNS[:-1]
    rows = [_cells(row)[: len(columns)] for row in section.lines]
    return grid(section.title, columns, rows, style, notes=section.notes)


def _cells(row: Line) -> tuple[Cell, ...]:
    share = "" if row.share is None else format_percent(row.share)
    return (row.label, "" if row.plain else row.form, shown(row), share)


def shown(row: Line) -> Cell:
    """Return the value of a row: a count in full, a quantity with its prefix, a formula where a length is open."""
    value = row.value
    if value.free_symbols:
        return value
    if row.label == "its error":
        return format_percent(value, sign=True)
    if not row.unit and value.is_Integer:
        return f"{int(value):,}"
    return format_quantity(value, row.unit, 6) if row.unit else format_number(value, 6)


def equal_text(solution: Solution) -> str:
    """Return from which length on the scores cost as much as the feed-forward blocks."""
    intervals = [each for case in solution.cases for each in case.intervals]
    if not intervals:
        return "At no length do the scores cost as much as the feed-forward blocks."
    exact = to_text(intervals[0].lo)
    number = format_number(intervals[0].lo, 6)
    root = "" if intervals[0].lo.is_Integer else f" (T = {exact})"
    return f"From sequences of {number} tokens on the scores cost as much as the feed-forward blocks{root}."
