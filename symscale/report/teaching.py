"""Questions, hints and lists of exercises as text and JSON."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from symscale.derivation.step import Prose
from symscale.exercise.hints import Hint
from symscale.exercise.question import Given, Question
from symscale.notation.order import Order
from symscale.notation.text import relation_text
from symscale.report.plain import WIDTH, broken, equation_text, folded, one_line, statements, words

SCHEMA = "symscale.exercise/1.0"
LIST_SCHEMA = "symscale.exercises/1.0"


def question_text(asked: Sequence[Question], *, answer: Sequence[Sequence[Prose]] = (), headed: bool = True) -> str:
    """Return a question, or the parts of one, as text; with `answer` what is right below each.

    Without a head, as in a quiz, what is to be found stands in front.
    """
    first = asked[0]
    if not headed:
        above = [_filled(words(first.find, first.order)), *_programs(first), _filled(first.setting)]
        below = [_givens(first)] if first.givens else []
        return "\n\n".join([each for each in above if each] + [*below, _filled(f"Answer: {first.form}.")])
    head = first.id + (f", variant {first.vary}" if first.vary is not None else "")
    blocks = [head + (f"  ({first.source})" if first.source else "")]
    if first.title:
        blocks[0] += f"\n{one_line(first.title)}"
    for number, each in enumerate(asked):
        same = number > 0 and (each.programs, each.setting) == (first.programs, first.setting)
        blocks += [] if same else [*_programs(each), *([_filled(each.setting)] if each.setting else [])]
        blocks += [_givens(each)] if each.givens else []
        part = f"({chr(ord('a') + number)}) " if len(asked) > 1 else ""
        blocks.append(_filled(part + words(each.find, each.order)))
        what = f"   --what {shlex.quote(each.what)}" if len(asked) > 1 else ""
        blocks[-1] += f"\n{_filled(f'Answer: {each.form}.')}{what}"
        if answer:
            blocks += ["\n".join(answer_text(line, each.order) for line in answer[number])]
    return "\n\n".join(blocks)


def answer_text(line: Prose, order: Order) -> str:
    """Return a line of a right answer as text."""
    return "\n".join(f"  {each}" for each in broken(words(line, order), WIDTH - 2))


def _programs(asked: Question) -> list[str]:
    lines = [line for each in asked.programs for line in folded(statements(each))]
    return ["\n".join(f"     {line}" for line in lines)] if lines else []


def _givens(asked: Question) -> str:
    rows = [(f"{each.name} = {each.shown}", each.meaning) for each in asked.givens]
    width = max(len(left) for left, _ in rows)
    lines = [f"     {left:<{width}}   {meaning}".rstrip() for left, meaning in rows]
    return "\n".join([f"Given{f', on {asked.chip}' if asked.chip else ''}:", *lines])


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def hint_text(found: Hint, number: int, count: int, order: Order) -> str:
    """Return a hint as text, with its number among all of them."""
    last = ", the answer" if found.last else ""
    lines = [_filled(f"Hint {number} of {count}{last}: {one_line(found.title).rstrip('.')}.")]
    lines += [_filled(words(found.reason, order))] if found.reason else []
    shown = [equation_text(each, order) for each in found.equations] + [words(each, order) for each in found.lines]
    for each in shown:
        lines += [f"     {line}" for line in broken(each, WIDTH - 5)]
    return "\n".join(lines)


def hint_json(found: Hint, number: int, count: int, order: Order) -> str:
    """Return a hint as JSON."""
    return _json(
        {
            "schema": "symscale.hint/1.0",
            "number": number,
            "of": count,
            "last": found.last,
            "title": found.title,
            "reason": words(found.reason, order),
            "equations": [relation_text(each.lhs, each.op, each.rhs, order) for each in found.equations],
            "lines": [words(each, order) for each in found.lines],
        }
    )


def question_json(asked: Sequence[Question], *, answer: Sequence[Sequence[Prose]] = ()) -> str:
    """Return a question, or the parts of one, as JSON."""
    parts = [_data(each) for each in asked]
    for part, lines, each in zip(parts, answer, asked, strict=False):
        part["answer"] = [words(line, each.order) for line in lines]
    return _json({"schema": SCHEMA, "id": asked[0].id, "vary": asked[0].vary, "parts": parts})


def _data(asked: Question) -> dict[str, Any]:
    return {
        "what": asked.what,
        "kind": asked.kind,
        "question": words(asked.find, asked.order),
        "form": asked.form,
        "title": asked.title,
        "source": asked.source,
        "programs": list(asked.programs),
        "setting": asked.setting,
        "on": asked.chip,
        "given": [_given(each) for each in asked.givens],
        "complete": asked.whole,
    }


def _given(each: Given) -> dict[str, str]:
    return {"name": str(each.name), "value": each.shown, "meaning": each.meaning}


def listing(found: Iterable[Question], style: str) -> Iterable[str]:
    """Yield the lines of a list of exercises, as they are made: id, kind of answer, question; or one JSON document."""
    if style == "json":
        rows = [{"id": each.id, "what": each.what, "kind": each.kind, "question": about(each)} for each in found]
        yield _json({"schema": LIST_SCHEMA, "exercises": rows})
        return
    for each in found:
        yield f"{each.id:<34}  {each.kind:<11}  {about(each)}"


def about(asked: Question) -> str:
    """Return a question on one line, its title in front where it has one."""
    title = one_line(asked.title)
    return " ".join([f"{title}{'' if title.endswith(('?', '.')) else '.'}"] * bool(title) + [_plain(asked)])


def _plain(asked: Question) -> str:
    return one_line(words(asked.find, asked.order))


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
