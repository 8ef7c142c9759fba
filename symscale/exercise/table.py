"""Tables of answers: "B=1: 4.98 ms; B=8: 12.1 ms", or rows of Markdown or CSV with the names of symbols above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from symscale.errors import SymscaleError
from symscale.exercise.exercise import Exercise
from symscale.exercise.judge import number
from symscale.exercise.names import aliases
from symscale.exercise.reading import Number, read_answer
from symscale.exercise.verdict import KINDS, RIGHT, Verdict
from symscale.vocabulary import symbol

Row = tuple[dict[str, str], str]
MOST_ROWS = 60
#: What stands between columns: in Markdown, in a spreadsheet, in CSV.
MARKS = ("|", "\t", ",")
_ASSIGNED = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*([^:=,;|]{1,40}?)\s*")
_RULE = re.compile(r"[\s|:+-]+")


def rows(text: str) -> list[Row]:
    """Return the rows of a table, each the values it is for and its answer; none where a text is no table."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    mark = next((each for each in MARKS if lines and each in lines[0]), "")
    if len(lines) > 1 and mark and not re.search(r"[=<>]", lines[0]):
        return _columns(lines, mark)
    parts = [part for line in lines for part in line.split(";") if part.strip()]
    found = [_row(part) for part in parts]
    return [each for each in found if each] if all(found) else []


def _row(part: str) -> Row | None:
    given, sign, answer = part.partition(":")
    found = [_ASSIGNED.fullmatch(each) for each in given.split(",")]
    if not sign or not answer.strip() or not all(found):
        return None
    return {each[1]: each[2] for each in found if each}, answer.strip()


def _columns(lines: list[str], mark: str) -> list[Row]:
    """Return the rows of Markdown, CSV or a spreadsheet: the last column answers, the others are what it is for."""
    plain = [line.strip().strip("|") for line in lines if not _RULE.fullmatch(line)]
    cells = [[cell.strip() for cell in line.split(mark)] for line in plain]
    head, body = cells[0], cells[1:]
    if any(len(row) != len(head) for row in body) or not all(re.fullmatch(r"[A-Za-z]\w*", name) for name in head[:-1]):
        return []
    unit = re.search(r"[\[(]([^\])]+)[\])]$", head[-1])
    if len(head) < 2 or not body:
        return []
    return [
        (dict(zip(head[:-1], row[:-1], strict=True)), f"{row[-1]} {unit[1] if unit else ''}".strip()) for row in body
    ]


def table(found: list[Row], exercise: Exercise) -> Verdict:
    """Judge each row by the formula of what is asked for, at the row's values; the worst row decides.

    Raises SymscaleError where there is no formula, or it has none of the symbols.
    """
    if len(found) > MOST_ROWS:
        raise SymscaleError(f"A table has {MOST_ROWS} rows at most.", hint="Split it.")
    verdicts = [_judged(each, exercise) for each in found]
    worst = max(verdicts, key=lambda each: KINDS.index(each.kind))
    if worst.kind == RIGHT:
        return replace(worst, said=f"All {len(verdicts)} rows are right." if len(verdicts) > 1 else worst.said)
    bad = [f"row {at} is {each.kind}" for at, each in enumerate(verdicts, start=1) if each.kind != RIGHT]
    return replace(worst, said=f"{', '.join(bad[:6]).capitalize()}. {worst.said}".strip())


def _judged(row: Row, exercise: Exercise) -> Verdict:
    written, text = row
    values = dict(_values(written, exercise))
    answer = read_answer(text, aliases(exercise))
    if not isinstance(answer, Number):
        raise SymscaleError(f"{text[:40]!r} is no number.", hint="Write rows such as B=8: 12.1 ms.")
    settings = tuple(each.put(values) for each in exercise.headline.settings if values.keys() <= each.expr.free_symbols)
    asked = replace(exercise.headline, settings=settings, crossover=None, optimum=None)
    if not list(asked.numbers):
        missing = sorted({str(name) for each in settings for name in each.value.free_symbols})
        needs = f"{', '.join(missing)} {'needs' if len(missing) == 1 else 'need'} a value" if missing else "no formula"
        names = ", ".join(map(str, values))
        raise SymscaleError(f"{exercise.headline.what} of {exercise.id} has no number at given {names}: {needs}.")
    return number(answer, replace(exercise, asked=(asked, *exercise.asked[1:])))


def _values(written: dict[str, str], exercise: Exercise) -> Iterator[tuple[sp.Symbol, sp.Expr]]:
    usual = aliases(exercise)
    for name, text in written.items():
        value = read_answer(text)
        if not isinstance(value, Number):
            raise SymscaleError(f"{name} = {text[:40]} is no number.")
        yield symbol(usual.get(name, name)), value.value
