"""Quizzes as text, Markdown and LaTeX, their keys, and the empty answer sheets that go with them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.derivation.step import Prose
from symscale.exercise.exercise import exercise
from symscale.exercise.key import answers
from symscale.exercise.question import Question
from symscale.exercise.quiz import Quiz
from symscale.notation.latex import to_latex
from symscale.notation.order import Order
from symscale.report.document import filled
from symscale.report.plain import one_line, statements, words
from symscale.report.prose import LATEX, MARKDOWN, Form, equation_latex, inline, markdown_math
from symscale.report.teaching import answer_text, question_text
from symscale.report.wide import wide_latex, width
from symscale.solve.relation import Relation

#: A formula that is wider stands on a line of its own.
INLINE = 45
#: So many values stand in a sentence, more in a table.
SENTENCE = 2


def quiz_text(found: Quiz, style: str, *, questions: bool = True, key: bool = True) -> str:
    """Return a quiz in `text`, `md` or `latex`: its questions, the key behind them, or one of the two."""
    if style == "text":
        return _text(found, questions, key)
    form = MARKDOWN if style == "md" else LATEX
    return filled(
        f"quiz.{'md' if style == 'md' else 'tex'}.jinja",
        title=title(found) if questions else f"Key: {title(found)}",
        questions=[_view(each.question, form) for each in found.items] if questions else [],
        keys=[_key(answers(each.exercise), each.question.order, form) for each in found.items] if key else [],
        key_title="Key",
    ).strip()


def title(found: Quiz) -> str:
    """Return the title of a quiz: its chapter and its seed, by which it can be drawn again."""
    about = f", {'chapter ' if found.chapter.isdigit() else ''}{found.chapter}" if found.chapter else ""
    return f"Quiz{about} (seed {found.seed})"


def _text(found: Quiz, questions: bool, key: bool) -> str:
    head = title(found)
    blocks = [f"{head}\n{'=' * len(head)}"] if questions else [f"Key: {head}"]
    if questions:
        blocks += [_numbered(number, each.question) for number, each in enumerate(found.items, 1)]
    if key:
        blocks += ["Key\n---"] if questions else []
        for number, each in enumerate(found.items, 1):
            lines = "\n".join(answer_text(line, each.question.order) for line in answers(each.exercise)).split("\n")
            blocks.append("\n".join([f"{number}. {lines[0].strip()}", *(f"   {line[2:]}" for line in lines[1:])]))
    return "\n\n".join(blocks)


def _numbered(number: int, asked: Question) -> str:
    """Return a question as text, what is to be found in front."""
    return f"{number}. {question_text([asked], headed=False)}"


def _view(asked: Question, form: Form) -> dict[str, Any]:
    short = len(asked.givens) <= SENTENCE
    on = f" on {form.escape(asked.chip)}" if asked.chip else ""
    pairs = [(_math(each.name, form), each.shown, each.meaning) for each in asked.givens]
    told = [
        f"{name} = {_spoken(shown, form)}{f' ({form.escape(said)})' if said else ''}" for name, shown, said in pairs
    ]
    said = f"Given{on}: {', '.join(told)}." if told and short else f"Given{on}:" if told else ""
    rows = [(to_latex(each.name), _spoken(each.shown, form), form.escape(each.meaning)) for each in asked.givens]
    return {
        "find": sentence(asked.find, asked.order, form),
        "programs": [line for each in asked.programs for line in statements(one_line(each))],
        "setting": form.escape(asked.setting),
        "said": said,
        "givens": [] if short else rows,
        "form": form.escape(asked.form.replace("…", "...")),
    }


def _math(name: sp.Symbol, form: Form) -> str:
    return form.formula(to_latex(name))


def sentence(prose: Prose, order: Order, form: Form) -> str:
    """Return words with their formulas for Markdown or LaTeX, a wide formula on a line of its own."""
    if isinstance(prose, str):
        return form.escape(prose)
    shown = ""
    for part in prose:
        if isinstance(part, str):
            # a point has no place below a formula
            after = part.lstrip(" .") if shown.endswith("\n") and part.strip(" .") == "" else part
            shown += _spoken(after, form)
        else:
            shown += _set(part, order, form)
    return shown.strip()


def _set(part: sp.Expr | Relation, order: Order, form: Form) -> str:
    shown = equation_latex(part, order) if isinstance(part, Relation) else wide_latex(part, order)
    if "aligned" not in shown and width(shown) <= INLINE:
        return inline((part,), order, form)
    return f"\n\n$$\n{markdown_math(shown)}\n$$\n\n" if form.name == "md" else f"\n\\[{shown}\\]\n"


def _spoken(text: str, form: Form) -> str:
    """Return words, or a value with its unit, with a power of ten as a formula: 10^7."""
    parts = re.split(r"(?<![\w.^])(10\^-?\d+)(?![\w.])", text)
    return "".join(f"${each.replace('^', '^{')}}}$" if n % 2 else form.escape(each) for n, each in enumerate(parts))


def _key(lines: Sequence[Prose], order: Order, form: Form) -> list[str]:
    return [sentence(line, order, form) for line in lines]


def sheet(found: Quiz) -> str:
    """Return the empty answer sheet of a quiz: TOML that `check --file` and `grade` read once it is filled in."""
    blocks = [f"# {title(found)}: write each answer between the quotation marks; ''' … ''' for several lines."]
    for number, each in enumerate(found.items, 1):
        asked = each.question
        headline = exercise(asked.id).headline.what
        lines = [f"# {number}. {one_line(words(asked.find, asked.order))}", f"# Answer: {asked.form}."]
        lines += ["[[answer]]", f"id = {json.dumps(asked.id)}"]
        lines += [f"what = {json.dumps(asked.what)}"] if asked.what != headline else []
        lines += [f"vary = {asked.vary}"] if asked.vary is not None else []
        blocks.append("\n".join([*lines, 'answer = ""']))
    return "\n\n".join(blocks)
