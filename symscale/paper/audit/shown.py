"""What an audit found: as text, as JSON, and as the annotations of GitHub's actions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from symscale.exercise.sheet import Entry, Judged
from symscale.exercise.verdict import KINDS
from symscale.paper.audit.judged import Finding, Report
from symscale.paper.audit.sources import Note
from symscale.report.desk import right_answer, verdict_text

SCHEMA = "symscale.audit/1.0"
#: So much of a formula is shown below its verdict.
_WIDTH = 100


def audit_text(reports: Sequence[Report], *, untagged: bool = False) -> str:
    """Return verdicts a line each, `file:line: …`, what is wrong with its formula below, and a summary."""
    lines: list[str] = []
    for report in reports:
        lines += [line for each in report.findings for line in _lines(each)]
        lines += [f"{place(each)}: {each.message}" for each in report.notes]
        if untagged:
            lines += [f"{place(each)}: no tag: {cut(each.message)}" for each in report.untagged]
        if len(reports) > 1 and not report.findings:
            lines.append(f"{report.file}: No tag names a derivation.")
    return "\n".join([*lines, summary(reports, untagged)])


def _lines(found: Finding) -> list[str]:
    first, *more = _said(found).split("\n")
    below = [cut(found.text)] if found.text and not found.accepted else []
    return [f"{place(found)}: {first}", *(f"    {each}" for each in (*below, *more))]


def _said(found: Finding) -> str:
    """Return a verdict as `symscale check` gives it, with the answer where it is not right; or why there is none."""
    if found.verdict is None:
        return f"Not judged. {found.fault}"
    judged = Judged(Entry(found.tag, found.text), found.verdict, exercise=found.exercise)
    return verdict_text(judged, show=not found.accepted, renames=found.renames)


def place(found: Finding | Note) -> str:
    """Return where something stands: `paper.tex:12`, or `notebook.ipynb:cell 3:2`."""
    output = " output" if isinstance(found, Finding) and found.output else ""
    cell = f":cell {found.cell}{output}" if found.cell is not None else ""
    return f"{found.file}{cell}{f':{found.line}' if found.line else ''}"


def cut(text: str) -> str:
    """Return a formula on one line, its end left out where it is long."""
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def summary(reports: Sequence[Report], listed: bool = False) -> str:
    """Return how many claims there are of each kind, and how many formulas carry no tag."""
    findings = [each for report in reports for each in report.findings]
    left = sum(len(report.untagged) for report in reports)
    kinds = [each.verdict.kind if each.verdict is not None else "not judged" for each in findings]
    counts = [f"{kinds.count(kind)} {kind}" for kind in (*KINDS, "not judged") if kind in kinds]
    said = (
        f"{len(kinds)} claim{'s' * (len(kinds) != 1)}: {', '.join(counts)}." if kinds else "No tag names a derivation."
    )
    without = f" {left} formula{'s carry' if left != 1 else ' carries'} no tag" if left else ""
    return said + (f"{without}{'' if listed else ' (--untagged lists them)'}." if left else "")


def audit_json(reports: Sequence[Report], *, untagged: bool = False) -> str:
    """Return everything as JSON (schema: docs/json.md)."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "accepted": all(report.code == 0 for report in reports),
        "claims": [_row(each) for report in reports for each in report.findings],
        "notes": [_place(each) | {"message": each.message} for report in reports for each in report.notes],
        "without_tags": [report.file.as_posix() for report in reports if not report.findings],
        "untagged_count": sum(len(report.untagged) for report in reports),
    }
    if untagged:
        document["untagged"] = [_place(each) | {"text": each.message} for report in reports for each in report.untagged]
    return json.dumps(document, indent=2, ensure_ascii=False)


def _row(found: Finding) -> dict[str, Any]:
    row = _place(found) | {"output": found.output, "tag": found.tag, "text": found.text}
    verdict = found.verdict
    if verdict is None:
        return row | {"verdict": "not judged", "accepted": False, "message": found.fault}
    asked, one = verdict.asked, found.exercise
    return row | {
        "verdict": verdict.kind,
        "accepted": verdict.accepted,
        "message": verdict.said,
        "diagnosis": list(verdict.diagnosis),
        "ratio": verdict.ratio,
        "step": verdict.step or None,
        "asked": asked.what if asked is not None else None,
        "right_answer": right_answer(asked, one, found.renames) if asked is not None and one is not None else None,
    }


def _place(found: Finding | Note) -> dict[str, Any]:
    return {"file": found.file.as_posix(), "cell": found.cell, "line": found.line or None}


def audit_github(reports: Sequence[Report], *, untagged: bool = False) -> str:
    """Return workflow commands: errors for what is not right, warnings for what is left out, notices without a tag."""
    lines = []
    for report in reports:
        lines += [
            _command("error", each, f"{_said(each)}\n{each.text}") for each in report.findings if not each.accepted
        ]
        lines += [_command("warning", each, each.message) for each in report.notes]
        lines += [_command("notice", each, f"No tag: {each.message}") for each in report.untagged] if untagged else []
    return "\n".join([*lines, summary(reports, untagged)])


def _command(kind: str, found: Finding | Note, message: str) -> str:
    file = _escaped(found.file.as_posix()).replace(":", "%3A").replace(",", "%2C")
    # a line of a cell is no line of the file
    line = f",line={found.line}" if found.cell is None and found.line else ""
    where = f"{place(found)}: " if found.cell is not None else ""
    return f"::{kind} file={file}{line},title=symscale audit::{_escaped((where + message).strip())}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
