"""The memory of a training step as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from symscale.notation.numbers import format_quantity
from symscale.notation.text import to_text
from symscale.report.grid import Column, grid
from symscale.report.plain import exact_text
from symscale.transformer.budget import Answer, Budget

VERSION = "1.0"
PARTS = (Column("part"), Column("closed form"), Column("bytes", right=True))
ANSWERS = (Column("question"), Column("closed form"), Column("answer"))


def memory_report(found: Budget, style: str) -> str:
    """Return the memory of a chip as `text`, `md` or `latex`: its parts, what fits, what hides on PCIe."""
    rows = [(line.name, line.form, format_quantity(line.bytes, "B", 4)) for line in found.lines]
    total = ("total", "", format_quantity(found.total, "B", 4))
    made = [grid(found.title, PARTS, [*rows, total], style, notes=(*_verdict(found), *found.notes))]
    for title, answers in _sections(found):
        cells = [(each.name, "" if each.relation is None else each.relation, each.words) for each in answers]
        made.append(grid(title, ANSWERS, cells, style))
    return "\n\n".join(made)


def _sections(found: Budget) -> list[tuple[str, Sequence[Answer]]]:
    both = (("What fits", found.fitting), ("What hides behind the arithmetic on PCIe", found.moving))
    return [(title, answers) for title, answers in both if answers]


def _verdict(found: Budget) -> tuple[str, ...]:
    if found.job.room is None:
        return ()
    verdict = "fits into" if found.fits else "does not fit into"
    return (f"The total {verdict} {format_quantity(found.job.room, 'B', 4)}.",)


def memory_json(found: Budget) -> str:
    """Return the memory of a chip as JSON: exact closed forms as text that reads back, numbers in bytes."""
    job = found.job
    document: dict[str, Any] = {
        "schema": f"symscale.memory/{VERSION}",
        "model": job.config.name,
        "on": found.machine.title if found.machine is not None else None,
        "mesh": dict(job.mesh),
        "microbatches": job.microbatches,
        "stage": job.busiest,
        "tokens": job.setting.tokens,
        "length": job.setting.length,
        "parts": [{"part": line.name, "form": to_text(line.form), "bytes": float(line.bytes)} for line in found.lines],
        "bytes": float(found.total),
        "capacity": None if job.room is None else float(job.room),
        "fits": found.fits,
        "answers": [_answer(each) for each in found.fitting],
        "pcie": [_answer(each) for each in found.moving],
        "notes": found.notes,
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _answer(each: Answer) -> dict[str, Any]:
    relation = each.relation
    return {
        "name": each.name,
        "value": None if each.value is None else float(each.value),
        "words": each.words,
        "relation": None if relation is None else exact_text(relation),
    }
