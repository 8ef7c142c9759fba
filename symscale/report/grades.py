"""Grades as CSV: a line for each answer, and below those of a student one with the points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from symscale.exercise.grade import UNJUDGED, Student
from symscale.report.grid import comma_separated

HEADS = (
    "student",
    "exercise",
    "what",
    "vary",
    "answer",
    "verdict",
    "accepted",
    "points",
    "of",
    "diagnosis",
    "message",
)
TOTAL = "total"
LONGEST = 400
#: What makes a spreadsheet take a cell for a formula.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")


def grades_csv(students: Iterable[Student]) -> str:
    """Return the grades of students as CSV."""
    return comma_separated([row for each in students for row in _rows(each)], HEADS)


def _rows(student: Student) -> Iterator[dict[str, object]]:
    if student.fault:
        yield _row(student.name, verdict=UNJUDGED, message=student.fault)
    for each in student.graded:
        yield _row(
            student.name,
            each.id,
            each.what,
            "" if each.vary is None else each.vary,
            each.answer,
            each.verdict,
            each.accepted,
            int(each.accepted),
            int(each.counts),
            "; ".join(each.diagnosis),
            each.message,
        )
    yield _row(student.name, TOTAL, points=student.points, of=student.of)


def _row(
    student: str,
    exercise: str = "",
    what: str = "",
    vary: int | str = "",
    answer: str = "",
    verdict: str = "",
    accepted: bool | str = "",
    points: int | str = "",
    of: int | str = "",
    diagnosis: str = "",
    message: str = "",
) -> dict[str, object]:
    values = (student, exercise, what, vary, answer, verdict, accepted, points, of, diagnosis, message)
    return {name: defused(each) if isinstance(each, str) else each for name, each in zip(HEADS, values, strict=True)}


def defused(text: str) -> str:
    """Return a text for a cell on one line, with an apostrophe before what a spreadsheet would run as a formula."""
    line = "".join(each if each.isprintable() else " " for each in text)
    line = " ".join(line.split())
    shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
