"""Verdicts and explanations as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import sympy as sp

from symscale.derivation.crossover import Crossover, bounds
from symscale.derivation.limits import readable
from symscale.derivation.registry import blackboard
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.search import Found
from symscale.exercise.sheet import Judged
from symscale.exercise.verdict import Verdict
from symscale.frozen import dataclass
from symscale.notation.formula import parse_limits, parse_relation
from symscale.notation.latex import relation_latex, to_latex
from symscale.notation.numbers import format_number, format_quantity
from symscale.notation.order import Order
from symscale.notation.text import relation_text, to_text
from symscale.solve.relation import Relation

SCHEMA = "symscale.check/1.0"
#: What a document writes symbols as: W_ici as \\beta.
Renames: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Form:
    """How answers are written: in our own grammar, or in LaTeX where a document has names of its own for symbols."""

    renames: Renames = ()

    def formula(self, expr: sp.Expr) -> str:
        return to_latex(expr, Order(written=self.renames)) if self.renames else to_text(expr)

    def relation(self, said: Relation) -> str:
        if self.renames:
            return relation_latex(said.lhs, said.op, said.rhs, Order(written=self.renames))
        return relation_text(said.lhs, said.op, said.rhs)

    def assumed(self, text: str) -> str:
        if not self.renames:
            return readable(text)
        if "<<" not in text and ">>" not in text:
            lhs, op, rhs, _ = parse_relation(text)
            return self.relation(Relation(lhs, op, rhs))
        limits = [(self.formula(each.small), ", ".join(map(self.formula, each.large))) for each in parse_limits(text)]
        return ", ".join(rf"{large} \gg 1" if small == "1" else rf"{small} \ll {large}" for small, large in limits)


def verdict_text(found: Judged, *, show: bool = False, explain: bool = False, renames: Renames = ()) -> str:
    """Return a verdict in a few lines; `show` adds the right answer, `explain` the step at which the paths part.

    With `renames` the right answer is LaTeX in the symbols of a document.
    """
    if found.verdict is None:
        return f"{found.entry.label}: not judged. {found.fault}"
    verdict, exercise = found.verdict, found.exercise
    lines = [f"{verdict.kind[:1].upper()}{verdict.kind[1:]}.{f' {verdict.said}' if verdict.said else ''}"]
    if len(verdict.diagnosis) > 1:
        lines.append("Also with: " + "; or ".join(verdict.diagnosis[1:]) + ".")
    if found.working is not None:
        lines += [_line(each.number, each.follows, each.text, each.said) for each in found.working.lines]
    if explain and exercise is not None:
        lines.append(parting(verdict, exercise, show))
    if show and verdict.asked is not None and exercise is not None:
        lines.append(f"The answer: {right_answer(verdict.asked, exercise, renames)}")
    return "\n".join(lines)


def _line(number: int, follows: bool, text: str, said: str) -> str:
    return f"  {number:>3} {'ok ' if follows else '-> '} {text}{f'   ({said})' if said else ''}"


def parting(verdict: Verdict, exercise: Exercise, show: bool = False) -> str:
    """Say at which step of the derivation an answer takes another path; `show` adds what the step says."""
    if verdict.accepted and not verdict.diagnosis:
        return "The answer is that of the derivation; no step differs."
    if not verdict.step or not exercise.derivation:
        return "Where the paths part is not known."
    step = blackboard(exercise.derivation, exercise.terms).steps[verdict.step - 1]
    said = f"The paths part at step {verdict.step} of {exercise.derivation}, {step.title}"
    shown = (relation_text(each.lhs, "=" if each.op == "==" else each.op, each.rhs) for each in step.equations[:3])
    return f"{said}: {'; '.join(shown)}" if show else f"{said}."


def right_answer(asked: Asked, exercise: Exercise, renames: Renames = ()) -> str:
    """Return what is asked for, as the derivation has it: in general, in its dtypes, and as a number.

    With `renames`, what symbols are written as, it is LaTeX.
    """
    form = _Form(renames)
    if asked.words:
        return asked.words
    if asked.sent is not None:
        return ", ".join(f"{kind}_{''.join(axes)}({array})" for kind, axes, array in asked.sent) or "none"
    if asked.optimum is not None and asked.optimum.integers and asked.optimum.number is not None:
        return f"{asked.what} = {asked.optimum.whole}, of all real sizes {format_number(asked.optimum.number, 5)}"
    if asked.crossover is not None:
        return "; ".join(dict.fromkeys(_conditions(asked.crossover, exercise, form)))
    formulas = [form.formula(each.expr) for each in asked.settings if each.expr.free_symbols][-1:]
    numbers = [format_quantity(value, each.measured_in, 6) for each, value in asked.numbers][:1]
    what = form.formula(asked.settings[0].of_what) if asked.settings and renames else asked.what
    return " = ".join([what, *formulas, *numbers])


def verdict_json(found: Sequence[Judged], *, show: bool = False) -> str:
    """Return verdicts as JSON."""
    rows = [_row(each, show) for each in found]
    return json.dumps({"schema": SCHEMA, "answers": rows}, indent=2, ensure_ascii=False)


def _row(found: Judged, show: bool) -> dict[str, Any]:
    verdict = found.verdict
    row: dict[str, Any] = {"id": found.entry.id, "answer": found.entry.answer}
    row |= {"what": found.entry.what or None, "vary": found.entry.vary}
    row |= {
        "verdict": verdict.kind if verdict is not None else "not judged",
        "accepted": verdict is not None and verdict.accepted,
        "message": verdict.said if verdict is not None else found.fault,
        "diagnosis": list(verdict.diagnosis) if verdict is not None else [],
        "ratio": verdict.ratio if verdict is not None and show else None,
        "step": (verdict.step or None) if verdict is not None else None,
        "asked": verdict.asked.what if verdict is not None and verdict.asked is not None else None,
    }
    if found.working is not None:
        row["lines"] = [
            {"number": each.number, "text": each.text, "follows": each.follows, "message": each.said}
            for each in found.working.lines
        ]
    if show and verdict is not None and verdict.asked is not None and found.exercise is not None:
        row["right_answer"] = right_answer(verdict.asked, found.exercise)
    return row


def explanation_text(said: str, found: Sequence[Found]) -> str:
    """Return all conventions that give a number, one on a line."""
    if not found:
        return f"{said}: no known convention or slip gives this."
    return "\n".join([f"{said}:", *(f"  - {str(each) or 'as it is'}" for each in found)])


def explanation_json(said: str, found: Sequence[Found]) -> str:
    """Return all conventions that give a number as JSON."""
    rows = [{"with": [each.words for each in one.readings], "how": one.how, "harmless": one.harmless} for one in found]
    return json.dumps({"schema": "symscale.explain/1.0", "question": said, "found": rows}, indent=2, ensure_ascii=False)


def _conditions(found: Crossover, exercise: Exercise, form: _Form) -> Iterator[str]:
    """Yield the answers of a crossover: exact, in its limits, in the dtypes of its program, and in numbers."""
    widths = exercise.widths
    for answer in found.answers:
        limits = f" for {', '.join(map(form.assumed, answer.assumptions))}" if answer.assumptions else ""
        for case in answer.cases:
            when = " and ".join(map(form.relation, case.when))
            held = [Relation(each.lhs, each.op, each.rhs.xreplace(widths)) for each in bounds(answer.unknown, case)]
            said = " and ".join(map(form.relation, held)) or ("never" if case.never else "always")
            yield said + limits + (f" if {when}" if when else "")
    if found.value is not None:
        yield f"{form.formula(found.headline.unknown)}: {format_quantity(found.value, found.unit, 6)}"
