"""A model's breakdown as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.frozen import dataclass
from symscale.notation.latex import to_latex
from symscale.notation.numbers import format_number, format_quantity
from symscale.notation.text import to_text
from symscale.report.document import escape_latex, escape_markdown
from symscale.report.plain import WIDTH, broken
from symscale.solve import Solution
from symscale.transformer.block import Block
from symscale.transformer.blocks import blocks
from symscale.transformer.breakdown import Breakdown, Line, Section

VERSION = "1.0"
_FORM = 46  # the widest formula and value that stand on one line in a table
_VALUE = 24


def model_text(found: Breakdown) -> str:
    """Return a breakdown for a terminal."""
    title = heading(found)
    parts = [f"{title}\n{'=' * min(len(title), WIDTH)}"]
    parts.append("\n".join(line for note in _preface(found) for line in wrapped(note)))
    parts += [section_text(number, each) for number, each in enumerate(found.sections, 1)]
    parts.append("\n".join(wrapped(equal_text(found.equal))))
    return "\n\n".join(parts)


def model_markdown(found: Breakdown) -> str:
    """Return a breakdown as Markdown tables with $…$ formulas."""
    parts = [f"# {escape_markdown(heading(found))}", *(escape_markdown(note) for note in _preface(found))]
    for each in found.sections:
        rows = [("", "closed form", "value", "share"), *section_cells(each, "latex")]
        head, *body = [f"| {' | '.join(row)} |" for row in rows]
        parts += [f"## {each.title}", "\n".join([head, "|:--|:--|--:|--:|", *body])]
        parts += [escape_markdown(note) for note in each.notes]
    return "\n\n".join([*parts, escape_markdown(equal_text(found.equal))])


def model_latex(found: Breakdown) -> str:
    """Return a breakdown as LaTeX tables."""
    parts = [rf"\subsection*{{{escape_latex(heading(found))}}}", *(escape_latex(note) for note in _preface(found))]
    for each in found.sections:
        rows = [
            " & ".join(row) + r" \\"
            for row in [("", "closed form", "value", "share"), *section_cells(each, "latex", True)]
        ]
        body = "\n".join([rows[0], r"\hline", *rows[1:]])
        parts.append(
            f"\\paragraph{{{escape_latex(each.title)}}}\\mbox{{}}\\par\\noindent\n"
            f"\\begin{{tabular}}{{llrr}}\n{body}\n\\end{{tabular}}"
        )
        parts += [escape_latex(note) for note in each.notes]
    return "\n\n".join([*parts, escape_latex(equal_text(found.equal))])


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


def section_text(number: int, section: Section) -> str:
    """Return a section for a terminal: a row per line, long formulas on lines of their own."""
    forms = ["" if row.plain else to_text(row.form) for row in section.lines]
    values = [shown(row) for row in section.lines]
    widths = _Widths(
        max(len(row.label) for row in section.lines),
        max((len(form) for form in forms if len(form) <= _FORM), default=0),
        max((len(value) for value in values if len(value) <= _VALUE), default=0),
    )
    rows = [
        line
        for row, form, value in zip(section.lines, forms, values, strict=True)
        for line in _row(row, form, value, widths)
    ]
    return "\n".join(
        [f"{number}. {section.title}", *rows, *(x for note in section.notes for x in wrapped(note, "   "))]
    )


@dataclass(frozen=True)
class _Widths:
    label: int
    form: int
    value: int


def _row(row: Line, form: str, value: str, widths: _Widths) -> list[str]:
    """Return a row on one line, or a long formula on lines of its own with the value below."""
    lead = f"   {row.label:<{widths.label}}  "
    share = "" if row.share is None else f"  {percent(row.share):>8}"
    sign = "  " if row.plain else "= "
    if len(form) <= widths.form and len(value) <= widths.value:
        return [f"{lead}{form:<{widths.form}}  {sign}{value:>{widths.value}}{share}"]
    indent, room = " " * len(lead), WIDTH - len(lead) - 3
    above = broken(form, room) if form else []
    below = [f"{sign if at == 0 else '  '}{piece}" for at, piece in enumerate(broken(value, room))]
    below[0] += share
    first, *more = [*above, *below]
    return [lead + first, *(indent + piece for piece in more)]


def shown(row: Line, style: str = "text") -> str:
    """Return the value of a row: a count in full, a quantity with its prefix, a formula where a length is open."""
    value = row.value
    if value.free_symbols:
        return to_text(value) if style == "text" else f"${to_latex(value)}$"
    if row.label == "its error":
        return percent(value, sign=True)
    if not row.unit and value.is_Integer:
        return f"{int(value):,}"
    return format_quantity(value, row.unit, 6) if row.unit else format_number(value, 6)


def percent(value: sp.Expr, *, sign: bool = False) -> str:
    """Return a share of one in percent."""
    return f"{float(100 * value):{'+' if sign else ''}.2f} %"


def section_cells(section: Section, style: str, escaped: bool = False) -> list[Sequence[str]]:
    """Return the rows of a section as cells: label, closed form, value, share."""
    escape = escape_latex if escaped else escape_markdown
    return [
        (
            escape(row.label),
            "" if row.plain else f"${to_latex(row.form)}$",
            escape(shown(row, style)) if not row.value.free_symbols else shown(row, style),
            "" if row.share is None else escape(percent(row.share)),
        )
        for row in section.lines
    ]


def equal_text(solution: Solution) -> str:
    """Return from which length on the scores cost as much as the feed-forward blocks."""
    intervals = [each for case in solution.cases for each in case.intervals]
    if not intervals:
        return "At no length do the scores cost as much as the feed-forward blocks."
    exact = to_text(intervals[0].lo)
    number = format_number(intervals[0].lo, 6)
    root = "" if intervals[0].lo.is_Integer else f" (T = {exact})"
    return f"From sequences of {number} tokens on the scores cost as much as the feed-forward blocks{root}."


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return a text on lines that fit a terminal."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
