"""A served model as text, Markdown, LaTeX, JSON and CSV."""

from __future__ import annotations

import json
from typing import Any

import sympy as sp

from symscale.notation.numbers import format_number, format_quantity
from symscale.notation.text import to_text
from symscale.report.grid import Column, comma_separated, grid, page
from symscale.report.model import section_data, section_report
from symscale.transformer.serving import Served
from symscale.transformer.serving_sections import sections
from symscale.transformer.serving_table import Row
from symscale.vocabulary import symbol

VERSION = "1.0"
COLUMNS = (
    Column("B", True),
    Column(symbol("T_step"), True),
    Column("weights", True),
    Column("attention", True),
    Column("network", True),
    Column("tokens/s", True),
    Column("per chip", True),
    Column("bound"),
    Column(""),
)
FRONT = "A * marks the Pareto front: no other batch is both as fast and as productive."


def serving_report(found: Served, style: str) -> str:
    """Return a served model as `text`, `md` or `latex`: sections of closed forms, then latency and throughput."""
    parts = page(heading(found), _preface(found), style)
    parts += [section_report(each, style) for each in sections(found)]
    rows = [_cells(row) for row in found.rows]
    return "\n\n".join([*parts, grid("Latency and throughput", COLUMNS, rows, style, notes=(_below(found),))])


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
    return comma_separated(rows, list(rows[0]))


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
