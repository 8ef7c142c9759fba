"""Gradient accumulation: in how many microbatches to cut a step, by what fits and by what it costs.

m microbatches hold 1/m of the activations each; weights that are split are gathered m times, gradients are reduced
once, and a pipeline of p stages is idle for (p − 1)/m of its work.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from symscale.solve import Optimum, Solution, crossover, minimise
from symscale.transformer.bubble import step_time
from symscale.transformer.pipeline import MICROBATCHES, STAGES, T_FORWARD, T_INPUT, T_WEIGHT, rule_of
from symscale.vocabulary import fresh, symbol

T_WORK, T_GATHER = symbol("T_work"), symbol("T_gather")
M_KEPT, M_REST, M_HBM = symbol("M_kept"), symbol("M_rest"), symbol("M_hbm")


def fewest() -> Solution:
    """Return the microbatches with which activations of M_kept in one piece fit: m >= M_kept/(M_hbm - M_rest)."""
    return crossover(M_KEPT / MICROBATCHES + M_REST, "<=", M_HBM, MICROBATCHES)


def time_of(schedule: str = "1f1b") -> sp.Expr:
    """Return the time of a step of p stages whose work is T_work and whose gathers of T_gather do not hide [s]."""
    each = T_WORK / MICROBATCHES + T_GATHER
    share = sp.Rational(1, 3)
    # the sum counts, not how it is shared between the passes
    return sp.expand(step_time(rule_of(schedule)).xreplace(dict.fromkeys((T_FORWARD, T_INPUT, T_WEIGHT), share * each)))


def best(schedule: str = "1f1b") -> Optimum:
    """Return the microbatches with the shortest step: sqrt((p − 1)·T_work/T_gather), where gathers do not hide."""
    beyond = fresh("q")  # the stages beyond the first: a positive symbol, as p − 1 is not known to be
    found = minimise(sp.expand(time_of(schedule).xreplace({STAGES: 1 + beyond})), [MICROBATCHES])
    back = {beyond: STAGES - 1}
    point = {name: value.xreplace(back) for name, value in found.point.items()}
    return replace(found, point=point, value=found.value.xreplace(back))
