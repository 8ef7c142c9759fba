"""The memory of a training step as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

from symscale.notation.latex import relation_latex, to_latex
from symscale.notation.numbers import format_quantity
from symscale.notation.text import relation_text, to_text
from symscale.report.grid import Column, grid
from symscale.report.plain import WIDTH, broken
from symscale.transformer.budget import Answer, Budget

VERSION = "1.0"
PARTS = (Column("part"), Column("closed form", math=True), Column("bytes", right=True))
ANSWERS = (Column("question"), Column("closed form", math=True), Column("answer"))


def memory_report(found: Budget, style: str) -> str:
    """Return the memory of a chip as `text`, `md` or `latex`: its parts, what fits, what hides on PCIe."""
    if style == "text":
        return _text(found)
    rows = [(line.name, to_latex(line.form), format_quantity(line.bytes, "B", 4)) for line in found.lines]
    made = [grid(found.title, PARTS, [*rows, ("total", "", _total(found))], style, notes=found.notes)]
    for title, answers in _sections(found):
        cells = [(each.name, _relation(each), each.words) for each in answers]
        made.append(grid(title, ANSWERS, cells, style))
    return "\n\n".join(made)


def _sections(found: Budget) -> list[tuple[str, Sequence[Answer]]]:
    both = (("What fits", found.fitting), ("What hides behind the arithmetic on PCIe", found.moving))
    return [(title, answers) for title, answers in both if answers]


def _relation(each: Answer) -> str:
    return "" if each.relation is None else relation_latex(each.relation.lhs, each.relation.op, each.relation.rhs)


def _total(found: Budget) -> str:
    total = format_quantity(found.total, "B", 4)
    if found.job.room is None:
        return total
    verdict = "fits into" if found.fits else "does not fit into"
    return f"{total}: {verdict} {format_quantity(found.job.room, 'B', 4)}"


def _text(found: Budget) -> str:
    """Return formulas below the numbers, for they are long."""
    wide = max(len(line.name) for line in found.lines)
    lines = [*textwrap.wrap(found.title, WIDTH), "-" * min(len(found.title), WIDTH)]
    for line in found.lines:
        lines.append(f"{line.name.ljust(wide)}  {format_quantity(line.bytes, 'B', 4):>9}")
        lines += [f"    {part}" for part in broken(to_text(line.form), WIDTH - 4)]
    lines += [f"{'total'.ljust(wide)}  {_total(found):>9}"]
    for title, answers in _sections(found):
        lines += ["", title, "-" * len(title)]
        for each in answers:
            lines += textwrap.wrap(f"{each.name}: {each.words}", WIDTH, subsequent_indent="    ")
            if each.relation is not None:
                relation = relation_text(each.relation.lhs, each.relation.op, each.relation.rhs)
                lines += [f"    {part}" for part in broken(relation, WIDTH - 4)]
    return "\n".join([*lines, "", *(part for note in found.notes for part in textwrap.wrap(note, WIDTH))])


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
        "relation": None if relation is None else relation_text(relation.lhs, relation.op, relation.rhs),
    }
