"""A served model as text, Markdown, LaTeX, JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.notation.numbers import format_number, format_quantity
from symscale.notation.text import to_text
from symscale.report.document import escape_latex, escape_markdown
from symscale.report.model import section_cells, section_data, section_text, wrapped
from symscale.report.plain import WIDTH
from symscale.transformer.breakdown import Section
from symscale.transformer.serving import Served
from symscale.transformer.serving_sections import sections
from symscale.transformer.serving_table import Row

VERSION = "1.0"
HEAD = ("B", "T_step", "weights", "attention", "network", "tokens/s", "per chip", "bound", "")
FRONT = "A * marks the Pareto front: no other batch is both as fast and as productive."


def serving_text(found: Served) -> str:
    """Return a served model for a terminal."""
    title = heading(found)
    parts = [
        f"{title}\n{'=' * min(len(title), WIDTH)}",
        "\n".join(x for note in _preface(found) for x in wrapped(note)),
    ]
    parts += [section_text(number, each) for number, each in enumerate(sections(found), 1)]
    cells = [HEAD, *map(_cells, found.rows)]
    widths = [max(len(each[n]) for each in cells) for n in range(len(HEAD))]
    lines = ["  ".join(word.rjust(width) for word, width in zip(each, widths, strict=True)).rstrip() for each in cells]
    return "\n\n".join([*parts, "\n".join(["Latency and throughput", *lines, *wrapped(_below(found))])])


def serving_markdown(found: Served) -> str:
    """Return a served model as Markdown tables with $…$ formulas."""
    parts = [f"# {escape_markdown(heading(found))}", *(escape_markdown(note) for note in _preface(found))]
    for each in sections(found):
        parts += [f"## {each.title}", _markdown_table(("", "closed form", "value"), _three(each), ":--|:--|--:")]
        parts += [escape_markdown(note) for note in each.notes]
    table = _markdown_table(
        HEAD, [tuple(map(escape_markdown, _cells(row))) for row in found.rows], "--:|" * 7 + ":--|:--"
    )
    return "\n\n".join([*parts, "## Latency and throughput", table, escape_markdown(_below(found))])


def serving_latex(found: Served) -> str:
    """Return a served model as LaTeX tables."""
    parts = [rf"\subsection*{{{escape_latex(heading(found))}}}", *(escape_latex(note) for note in _preface(found))]
    for each in sections(found):
        parts.append(_latex_table(each.title, ("", "closed form", "value"), _three(each, escaped=True), "llr"))
        parts += [escape_latex(note) for note in each.notes]
    rows = [tuple(map(escape_latex, _cells(row))) for row in found.rows]
    table = _latex_table("Latency and throughput", tuple(map(escape_latex, HEAD)), rows, "rrrrrrrll")
    return "\n\n".join([*parts, table, escape_latex(_below(found))])


def serving_json(found: Served) -> str:
    """Return a served model as JSON: formulas as text, exact values as text, the table in numbers of s and B."""
    asked = found.asked
    document: dict[str, Any] = {
        "schema": f"symscale.serve/{VERSION}",
        "name": found.config.name,
        "machine": found.place.chip.name,
        "chips": found.place.chips,
        "context": asked.context,
        "dtypes": {"weights": asked.weights, "cache": asked.cache, "compute": asked.compute},
        "fits": True,
        "largest_batch": found.largest,
        "compute_bound_batch": None if found.critical is sp.oo else to_text(found.critical),
        "sections": [section_data(each) for each in sections(found)],
        "rows": [_row_data(row) for row in found.rows],
        "notes": list(asked.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def serving_csv(found: Served) -> str:
    """Return the table as CSV, with a head: times in seconds, memory in bytes."""
    rows = [_row_data(row) for row in found.rows]
    lines = [",".join(rows[0]), *(",".join(_csv_word(value) for value in row.values()) for row in rows)]
    return "\n".join(lines)


def heading(found: Served) -> str:
    """Return the title: model and place."""
    chips = "1 chip" if found.place.chips == 1 else f"{found.place.chips:,} chips"
    return f"{found.config.name} on {found.place.chip.title} ({chips}), {found.asked.context:,} tokens of context"


def _preface(found: Served) -> list[str]:
    asked = found.asked
    said = f"Weights in {asked.weights}, cache in {asked.cache}, arithmetic at the {asked.compute} peak."
    bounds = "Times are lower bounds, from HBM, arithmetic and, on several chips, tensor parallelism over all of them."
    return [f"{said} {bounds}", *asked.notes]


def _below(found: Served) -> str:
    left = [row for row in found.rows if not row.fits]
    more = f" Of the batches {len(left)} cannot be held: at most {found.largest:,} sequences fit." if left else ""
    hops = " The network is the collectives of tensor parallelism over all chips." if found.place.chips > 1 else ""
    return f"{FRONT}{hops}{more}"


def _cells(row: Row) -> tuple[str, ...]:
    times = (
        format_quantity(each, "s", 4) if each else "0" for each in (row.step, row.weights, row.attention, row.network)
    )
    rate, memory = format_number(row.throughput, 5), format_quantity(row.memory, "B", 4)
    return (f"{row.batch:,}", *times, rate, memory, row.bound, "*" if row.best else "" if row.fits else "does not fit")


def _row_data(row: Row) -> dict[str, Any]:
    return {
        "batch": row.batch,
        "step_s": float(row.step),
        "weights_s": float(row.weights),
        "attention_s": float(row.attention),
        "network_s": float(row.network),
        "tokens_per_s": float(row.throughput),
        "bytes_per_chip": float(row.memory),
        "fits": row.fits,
        "bound": row.bound,
        "pareto": row.best,
    }


def _csv_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _three(section: Section, *, escaped: bool = False) -> list[Sequence[str]]:
    return [row[:3] for row in section_cells(section, "latex", escaped)]


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], marks: str) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{marks}|", *lines[1:]])


def _latex_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], columns: str) -> str:
    lines = [" & ".join(row) + r" \\" for row in (head, *rows)]
    body = "\n".join([lines[0], r"\hline", *lines[1:]])
    title = f"\\paragraph{{{escape_latex(title)}}}\\mbox{{}}\\par\\noindent"
    return f"{title}\n\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}"
