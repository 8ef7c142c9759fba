"""Plans of a training step as text, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from symscale.notation.numbers import format_number, format_percent, format_quantity
from symscale.notation.text import to_text
from symscale.report.grid import Cell, Column, comma_separated, grid
from symscale.report.plain import exact_text
from symscale.report.rounding import shortened
from symscale.transformer.conditions import Condition
from symscale.transformer.plan import Planned
from symscale.transformer.training import Training
from symscale.vocabulary import symbol

VERSION = "1.0"
COLUMNS = (
    Column("mesh"),
    Column("microbatches", right=True),
    Column("step", right=True),
    Column("nothing hidden", right=True),
    Column("MFU", right=True),
    Column("memory", right=True),
    Column("binds"),
)
CONDITIONS = (
    Column("pass"),
    Column("axis"),
    Column("hides if"),
    Column("border", right=True),
    Column("here", right=True),
    Column(""),
)


def plan_report(found: Training, style: str) -> str:
    """Return a plan as `text`, `md` or `latex`: what was asked, the best meshes, and the conditions of the first."""
    best = found.plans.best
    parts = [grid(found.title, COLUMNS, [_cells(each) for each in best], style, notes=found.notes)]
    if best:
        rows = [(part, format_quantity(held, "B", 4) if held else "0") for part, held in best[0].memory.items()]
        where = "" if best[0].stage == "only" else f" of the {best[0].stage} stage"
        parts.append(grid(f"Memory of a chip{where}", (Column("part"), Column("bytes", right=True)), rows, style))
        spent = [(name, format_quantity(time, "s", 4) if time else "0") for name, time in best[0].times.items()]
        parts.append(grid("Time by resource", (Column("resource"), Column("time", right=True)), spent, style))
        parts.append(_conditions(found, style))
    return "\n\n".join(parts)


def _conditions(found: Training, style: str) -> str:
    rows = [_condition(each) for each in found.conditions]
    return grid("What hides, and until when", CONDITIONS, rows, style, notes=found.legend)


def plan_csv(found: Training) -> str:
    """Return the best meshes as CSV, a column per axis; seconds and bytes."""
    rows = [row(each) for each in found.plans.best]
    shown = rows or [row(each) for each in (found.plans.smallest,) if each is not None]
    return comma_separated(rows, list(shown[0]) if shown else ())


def plan_json(found: Training) -> str:
    """Return a plan as JSON: exact closed forms as text that reads back, numbers in seconds and bytes."""
    document: dict[str, Any] = {
        "schema": f"symscale.plan/{VERSION}",
        "model": found.model,
        "on": found.plans.cluster.title,
        "chips": found.chips,
        "compared": found.plans.compared,
        "fitting": found.plans.fitting,
        "notes": list(found.notes),
        "meshes": [
            {
                **row(each),
                "stage": each.stage,
                "memory_by_part": dict(each.memory),
                "time_by_resource": dict(each.times),
            }
            for each in found.plans.best
        ],
        "conditions": [
            {
                "pass": each.name,
                "axis": each.axis,
                "condition": exact_text(each.relation) if each.relation is not None else None,
                "border": each.threshold if each.relation is not None else None,
                "actual": each.actual if each.relation is not None else None,
                "holds": each.holds,
                "left_out": [f"{use.kind} over {', '.join(use.axes)}" for use in each.left_out],
            }
            for each in found.conditions
        ],
        "step_time": {heads: to_text(form.total) for heads, form in found.plans.forms.items()},
        "memory": {
            heads: {stage: {part: to_text(held) for part, held in of.items()} for stage, of in form.memory.items()}
            for heads, form in found.plans.forms.items()
        },
        "training": dict(found.totals),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def row(each: Planned) -> dict[str, Any]:
    """Return a mesh as one flat row."""
    return {
        **each.sizes,
        "microbatches": each.microbatches,
        "step_seconds": each.seconds,
        "step_seconds_nothing_hidden": each.exposed,
        "mfu": each.mfu,
        "bubble": each.bubble,
        "memory_bytes": each.bytes,
        "binds": each.binds,
        "kv_heads": "split" if each.heads == "K" else "replicated",
    }


def mesh_words(each: Planned) -> str:
    """Return the axes longer than one chip: data 16, fsdp 8, tensor 4."""
    words = ", ".join(f"{axis} {size}" for axis, size in each.sizes.items() if size > 1) or "one chip"
    return words if each.heads == "K" else f"{words} (KV heads replicated)"


def _cells(each: Planned) -> tuple[str, ...]:
    return (
        mesh_words(each),
        str(each.microbatches),
        format_quantity(each.seconds, "s", 4),
        format_quantity(each.exposed, "s", 4),
        format_percent(each.mfu),
        format_quantity(each.bytes, "B", 4),
        each.binds,
    )


def _condition(each: Condition) -> Sequence[Cell]:
    verdict = "hides" if each.holds else "does not hide"
    if each.relation is None:
        return (each.name, each.axis, "whatever the batch", "", "", verdict)
    relation, kappa = shortened(each.relation)
    where = (", ", symbol("kappa"), f" = {format_number(kappa, 4)}") if kappa is not None else ()
    numbers = (format_number(number, 4) for number in (each.threshold, each.actual))
    return (each.name, each.axis, (relation, *where), *numbers, verdict)
