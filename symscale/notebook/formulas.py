"""Relations, intervals, cases, solutions and limits as one formula each."""

from __future__ import annotations

from typing import Any

import sympy as sp

from symscale.cost import Times
from symscale.notation.latex import relation_latex, to_latex
from symscale.notation.order import Order
from symscale.report.prose import equation_latex
from symscale.solve.limits import Limit
from symscale.solve.relation import Case, Interval, Relation, Solution
from symscale.vocabulary import symbol


def formula(value: Any) -> str | None:
    """Return a value as LaTeX for the inside of dollar signs, None for what is no formula."""
    match value:
        case Relation():
            return relation_latex(value.lhs, value.op, value.rhs)
        case Limit():
            large = ", ".join(map(to_latex, value.large))
            return rf"{large} \gg 1" if value.small == 1 else rf"{to_latex(value.small)} \ll {large}"
        case Interval():
            return _interval(value)
        case Case():
            when = r",\ ".join(relation_latex(each.lhs, each.op, each.rhs) for each in value.when)
            return rf"{_sets(value)} \quad \text{{if }} {when}" if when else _sets(value)
        case Solution():
            return rf"{to_latex(value.unknown)} \in {_lines('cases', [_row(each) for each in value.cases])}"
        case Times():
            # fractions of neighbouring lines would touch
            return _lines("aligned", [equation_latex(each, Order(), "&") for each in times(value)], r" \\[.5em] ")
    return None


def times(value: Times) -> list[Relation]:
    """Return the times of a pass as equations, those that are zero left out."""
    parts = {"T_math": value.math, "T_hbm": value.hbm, "T_comms": value.comms, "T_total": value.total}
    return [Relation(symbol(name), "==", spent) for name, spent in parts.items() if spent != 0]


def _lines(environment: str, rows: list[str], between: str = r" \\ ") -> str:
    return rf"\begin{{{environment}}}{between.join(rows)}\end{{{environment}}}"


def _row(case: Case) -> str:
    when = r",\ ".join(relation_latex(each.lhs, each.op, each.rhs) for each in case.when)
    return f"{_sets(case)} & {when}" if when else _sets(case)


def _sets(case: Case) -> str:
    return r" \cup ".join(map(_interval, case.intervals)) or r"\emptyset"


def _interval(interval: Interval) -> str:
    ends = (to_latex(interval.lo), r"\infty" if interval.hi == sp.oo else to_latex(interval.hi))
    left, right = r"\left(" if interval.lo_open else r"\left[", r"\right)" if interval.hi_open else r"\right]"
    return f"{left}{ends[0]}, {ends[1]}{right}"
