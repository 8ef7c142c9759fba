"""JSON: an answer in the documented, versioned schema of docs/json.md; formulas are text of our own grammar."""

from __future__ import annotations

import json as library
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.cost import PassCost, Times
from symscale.derivation.crossover import Answer, Crossover
from symscale.derivation.minimum import Optimised
from symscale.derivation.question import Answered
from symscale.derivation.stack import Table
from symscale.derivation.step import Derivation, Step, checked
from symscale.notation.latex import relation_latex
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.report.figures import figure_data
from symscale.report.plain import exact_text, words
from symscale.report.sheets import sheet_data
from symscale.solve.relation import Case, Relation

VERSION = "1.1"


def json(answered: Answered, table: Table | None = None) -> str:
    """Return the whole answer as JSON text, with a table of times if one was asked for."""
    order = answered.derivation.order
    found = [
        (entry, number == answered.headline and position == len(each.answers) - 1)
        for number, each in enumerate(answered.crossovers)
        for position, entry in enumerate(_crossover(each, order))
    ]
    headline = next((n for n, (_, first) in enumerate(found) if first), None)
    document: dict[str, Any] = {
        "schema": f"symscale.derive/{VERSION}",
        "program": answered.question.program,
        "passes": {
            name: _pass(cost, answered.times.get(name), order)
            for name, cost in answered.layer.costs.items()
            if answered.layer.plan.passes[name]
        },
        "crossovers": [entry for entry, _ in found],
        "headline": headline,
        "optimum": _optimum(answered.optimum, order),
        "steps": [_step(each, order) for each in checked(answered.derivation)],
    }
    if table is not None:
        from symscale.report.tables import table_data

        document["table"] = table_data(table)
    return library.dumps(document, indent=2, ensure_ascii=False)


def _pass(cost: PassCost, times: Times | None, order: Order) -> dict[str, Any]:
    found: dict[str, Any] = {
        "collectives": [
            {
                "kind": each.collective.kind,
                "axes": list(each.collective.axes),
                "array": each.collective.value,
                "before": str(each.collective.before),
                "after": str(each.collective.after),
                "bytes": to_text(each.volume, order),
                "time": to_text(each.cost.time, order),
            }
            for each in cost.transfers
        ],
        "flops": to_text(cost.total_flops, order),
        "vector_flops": to_text(cost.vector_flops, order),
        "hbm_bytes": to_text(cost.hbm_bytes, order),
        "comm_bytes": {axis: to_text(each, order) for axis, each in cost.comm_bytes().items()},
    }
    if times is not None:
        found["times"] = {
            "math": to_text(times.math, order),
            "hbm": to_text(times.hbm, order),
            "comms": to_text(times.comms, order),
            "axes": {axis: to_text(each, order) for axis, each in times.axes.items()},
            "total": to_text(times.total, order),
        }
    return found


def _crossover(found: Crossover, order: Order) -> list[dict[str, Any]]:
    return [_answer(found, each, order) for each in found.answers]


def _answer(found: Crossover, answer: Answer, order: Order) -> dict[str, Any]:
    question = answer.solution.relation
    return {
        "pass": found.passes,
        "resource": found.resource,
        "lhs": to_text(question.lhs, order),
        "relation": question.op,
        "rhs": to_text(question.rhs, order),
        "unknown": to_text(answer.unknown, order),
        "form": answer.form,
        "assumptions": list(answer.assumptions),
        "cases": [_case(each, order) for each in answer.cases],
        "value": None if answer.value is None else to_text(answer.value),
        "unit": answer.unit,
    }


def _case(case: Case, order: Order) -> dict[str, Any]:
    return {
        "when": [exact_text(each, order) for each in case.when],
        "intervals": [
            {
                "lo": to_text(each.lo, order),
                "lo_open": each.lo_open,
                "hi": None if each.hi == sp.oo else to_text(each.hi, order),
                "hi_open": each.hi_open,
            }
            for each in case.intervals
        ],
    }


def _optimum(found: Optimised | None, order: Order) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "variable": str(found.variable),
        "point": to_text(found.point, order),
        "value": to_text(found.value, order),
        "number": None if found.number is None else to_text(found.number),
        "passes": found.passes,
        "assumptions": list(found.limits),
        "when": [exact_text(each, order) for each in found.when],
        "integers": [
            {
                "at": at,
                "loss": float(loss),
                "loss_in_limit": float(found.in_limit[at]) if at in found.in_limit else None,
            }
            for at, _, loss in found.integers
        ],
    }


def _step(step: Step, order: Order) -> dict[str, Any]:
    found = {
        "kind": step.kind,
        "title": step.title,
        "reason": words(step.reason, order),
        "when": [exact_text(each, order) for each in step.conditions],
        "equation": [exact_text(each, order) for each in step.equations],
        "units": list(step.units) or [""] * len(step.equations),
        "latex": _latex(step.equations, order),
        "lines": [words(each, order) for each in step.lines],
        "table": None if step.sheet is None else sheet_data(step, step.sheet, order),
        # `checks` names the proofs that have run; one that fails raises StepError before anything is printed
        "checks": [{"name": each.name, "passed": each.name in step.checks} for each in step.proofs],
    }
    return found if step.figure is None else {**found, "figure": figure_data(step.figure)}


def _latex(equations: Sequence[Relation], order: Order) -> list[str]:
    return [relation_latex(e.lhs, "=" if e.op == "==" else e.op, e.rhs, order) for e in equations]


def steps_json(derivation: Derivation, crossovers: Sequence[Crossover] = ()) -> str:
    """Return a derivation that is no answer about one program as JSON text: its steps, and its crossovers."""
    order = derivation.order
    document = {
        "schema": f"symscale.derivation/{VERSION}",
        "title": derivation.title,
        "source": derivation.source,
        "crossovers": [entry for each in crossovers for entry in _crossover(each, order)],
        "steps": [_step(each, order) for each in checked(derivation)],
    }
    return library.dumps(document, indent=2, ensure_ascii=False)
