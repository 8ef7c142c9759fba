"""What a refreshed document has that the stale one has not, as a unified diff, in linear time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from symscale.paper.blocks import Document
from symscale.paper.markers import lines

CONTEXT = 3
#: A run of lines: those of the old text from and to, those of the new one.
Run: TypeAlias = tuple[int, int, int, int]


def unified(old: Document, new: Document, name: str) -> str:
    """Return the unified diff of two texts that differ in what their blocks hold; "" if they do not."""
    before, after = lines(old.text), lines(new.text)
    hunks = list(_hunks(_changes(old, new, before, after)))
    if not hunks:
        return ""
    name = _quoted(name)
    shown = [f"--- {name}\n", f"+++ {name} (refreshed)\n"]
    for runs in hunks:
        shown += _hunk(runs, before, after)
    return "".join(shown)


def _quoted(name: str) -> str:
    """Return a name of a file as patch reads it: one with ends of lines and the like is quoted as in C."""
    return json.dumps(name, ensure_ascii=False) if set(name) & set('\n\r\t"\\') else name


def _changes(old: Document, new: Document, before: Sequence[str], after: Sequence[str]) -> Iterator[Run]:
    """Yield the runs of lines that differ; only those of blocks are compared, which begin at known lines."""
    for was, now in zip(old.blocks, new.blocks, strict=True):
        first, second = was.start.number - 1, now.start.number - 1
        a, b = before[first : was.end.number], after[second : now.end.number]
        if a != b:
            for kind, left, right, low, high in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
                if kind != "equal":
                    yield first + left, first + right, second + low, second + high


def _hunks(changes: Iterable[Run]) -> Iterator[list[Run]]:
    """Yield the changes whose lines of context meet, together."""
    group: list[Run] = []
    for change in dict.fromkeys(changes):  # blocks of one line change it once
        if group and change[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(runs: Sequence[Run], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    lead = min(CONTEXT, runs[0][0])
    tail = min(CONTEXT, len(before) - runs[-1][1])
    first, last = runs[0][0] - lead, runs[-1][1] + tail
    low, high = runs[0][2] - lead, runs[-1][3] + tail
    yield f"@@ -{_range(first, last)} +{_range(low, high)} @@\n"
    for left, right, start, stop in runs:
        yield from _marked(" ", before[first:left])
        yield from _marked("-", before[left:right])
        yield from _marked("+", after[start:stop])
        first = right
    yield from _marked(" ", before[first:last])


def _marked(mark: str, of: Sequence[str]) -> Iterator[str]:
    for line in of:
        yield mark + line if line.endswith(("\n", "\r")) else f"{mark}{line}\n\\ No newline at end of file\n"


def _range(first: int, last: int) -> str:
    length = last - first
    start = first + 1 if length else first
    return str(start) if length == 1 else f"{start},{length}"
