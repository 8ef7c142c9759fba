"""Coverage and errata: how many printed answers are derived, and every one that differs, with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

from symscale.exercise.answers import Row
from symscale.exercise.coverage import STATUSES, Chapter
from symscale.exercise.explain import right_if
from symscale.report.grid import Column, grid

COUNTS = (Column("answers"), Column("entries", right=True), *(Column(each, right=True) for each in STATUSES))
DIFFERENCES = (
    Column("id"),
    Column("printed"),
    Column("derived"),
    Column("printed/derived", right=True),
    Column("why"),
    Column("right with"),
)
SEARCHED = (
    "What a print is right with is found by search: the derivation is computed again with one direction of a link, GiB "
    "read as GB, a quantity rounded on the way and other conventions and slips, and what gives the printed digits is "
    "named. Where nothing does, the column is empty. That a convention fits does not show that it was meant."
)
#: So many conventions are named under which a print is right.
NAMED = 2


def coverage(found: Sequence[Chapter], style: str) -> str:
    """Return the counts of every chapter, and of all, in `text`, `md`, `latex` or `json`."""
    if style == "json":
        return coverage_json(found)
    rows = [(each.name, str(len(each.outcomes)), *(str(each.count(status)) for status in STATUSES)) for each in found]
    if len(found) > 1:
        totals = (str(sum(each.count(status) for each in found)) for status in STATUSES)
        rows.append(("all", str(sum(len(each.outcomes) for each in found)), *totals))
    notes = (
        "Every entry is derived now. Open: the source prints no value. Not modelled: nothing that a derivation could "
        "state; the row says why.",
    )
    return grid("Printed answers and what is derived for them", COUNTS, rows, style, notes=notes)


def coverage_json(found: Sequence[Chapter]) -> str:
    """Return every entry with its outcome as JSON."""
    chapters = [
        {
            "name": each.name,
            "entries": [
                {**asdict(one.row), "status": one.status, "derived": one.derived, "ratio": one.ratio}
                for one in each.outcomes
            ],
        }
        for each in found
    ]
    return json.dumps({"schema": "symscale.coverage/1.0", "chapters": chapters}, indent=2, ensure_ascii=False)


def errata(found: Sequence[Chapter], style: str = "md", right: Callable[[Row], Sequence[str]] = right_if) -> str:
    """Return the entries whose print differs from what is derived, by chapter; `right` says when it is right."""
    rows = [(each.name, differences(each, right)) for each in found]
    return "\n\n".join([SEARCHED, *(grid(name, DIFFERENCES, each, style) for name, each in rows if each)])


def differences(found: Chapter, right: Callable[[Row], Sequence[str]] = right_if) -> list[tuple[str, ...]]:
    """Return the entries of a chapter whose print differs from what is derived, as rows under DIFFERENCES."""
    return [
        (
            each.row.id,
            each.row.printed,
            each.derived,
            "" if each.ratio is None else f"{each.ratio:.4g}",
            each.row.why,
            " / ".join(right(each.row)[:NAMED]),
        )
        for each in found.outcomes
        if each.status == "differs"
    ]
