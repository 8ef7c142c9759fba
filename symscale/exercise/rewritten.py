"""The derivation written again on other terms: other overlaps of times, another dtype, other passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from symscale.array import Einsum
from symscale.array.element import local_elements
from symscale.cost import PassCost, times
from symscale.derivation.layer import Layer
from symscale.derivation.terms import Terms
from symscale.errors import SymscaleError
from symscale.exercise.answers import same
from symscale.exercise.compiled import BOTH
from symscale.exercise.exercise import Asked, Exercise, exercise
from symscale.exercise.setting import Setting
from symscale.partition import Local
from symscale.vocabulary import symbol

OVERLAPS = {
    "max": "all communication overlapped",
    "axes-serial": "communication of one axis after the other",
    "sum": "nothing overlapped",
}
DTYPES = ("int8", "fp32")
TIMES = {"T_math": "math", "T_comms": "comms", "T_hbm": "hbm"}
PASSES = {"forward pass alone": ("forward",), "backward pass alone": ("backward",), "both passes": BOTH}
OTHERS = [
    *((words, Terms(overlap=kind), True) for kind, words in OVERLAPS.items()),
    *((f"everything in {dtype}", Terms(dtype=dtype), False) for dtype in DTYPES),
]


def other_passes(asked: Asked, one: Exercise) -> Iterator[tuple[str, Setting]]:
    """Yield in words the other passes of the program, and what a time that is asked for is in them."""
    layer, settings = one.layer, asked.settings
    if layer is None or not settings or asked.what not in TIMES:
        return
    found = {}
    for words, names in PASSES.items():
        costs = [layer.costs[name] for name in names if name in layer.costs]
        if len(costs) == len(names):
            found[words] = getattr(times(costs, layer.kinds, layer.axes), TIMES[asked.what])
    if any(same(settings[0].expr, each) for each in found.values()):
        for words, expr in found.items():
            if not same(settings[0].expr, expr) and expr != 0:
                yield f"the {words}", settings[0].of(expr)


def otherwise(asked: Asked, one: Exercise) -> Iterator[tuple[str, bool, Setting]]:
    """Yield in words other ways to count a program, whether they are as good, and what is asked for in them.

    A sum of n products may be n - 1 additions; of several collectives one may be counted alone.
    """
    if one.layer is None or not asked.settings:
        return
    setting = asked.settings[0]
    for name, cost in one.layer.costs.items():
        for what, work in (("FLOPs", cost.total_flops), ("T_math", cost.total_flops / symbol("C"))):
            if asked.what == what and work != 0 and same(setting.expr, work):
                fewer = sp.cancel(1 - _results(one.layer, name) / cost.total_flops)
                yield "n - 1 additions for a sum of n products", True, setting.scaled(fewer)
        if asked.what == "T_comms" or asked.what.startswith("bytes_"):
            yield from _alone(setting, one.layer, cost)


def _results(layer: Layer, name: str) -> sp.Expr:
    """Return the number of elements that the contractions of a pass make on one chip."""
    made = [each for each in layer.plan.passes[name] if isinstance(each, Local)]
    sums = [each for each in made if isinstance(each.operation, Einsum) and not each.operation.elementwise]
    return sp.Add(*(local_elements(each.result.layout, layer.program) for each in sums))


def _alone(setting: Setting, layer: Layer, cost: PassCost) -> Iterator[tuple[str, bool, Setting]]:
    """Yield one collective of a pass for all of them, where that is the same part in whichever sizes."""
    parts = [sp.Add(*(received for _, received in each.cost.per_axis)) for each in cost.transfers]
    for transfer, part in zip(cost.transfers, parts, strict=True) if len(parts) > 1 else ():
        share = sp.cancel(part / sp.Add(*parts))
        if share.is_number:
            words = (
                f"the {transfer.collective.kind} of {transfer.collective.value} alone, one of {len(parts)} collectives"
            )
            yield words, False, setting.scaled(share)


def rewritten(asked: Asked, one: Exercise, *, harmless: bool = False) -> Iterator[tuple[str, bool, Setting]]:
    """Yield in words other terms, or the harmless alone, whether they are, and what the exercise asks for on them.

    Terms on which the derivation cannot be written, or on which nothing changes, are left out.
    """
    if not one.derivation or not asked.settings or one.layer is None:
        return
    own = {(each.expr, each.value) for each in asked.settings}
    # where nothing is sent a condition is the same whatever overlaps
    silent = asked.crossover is not None and not any(each.transfers for each in one.layer.costs.values())
    others = [each for each in OTHERS if not (silent and each[1].overlap)]
    for words, other, kind in (each for each in others if each[2] or not harmless):
        terms = replace(one.terms, overlap=other.overlap, dtype=other.dtype or one.terms.dtype)
        try:
            again = next((each for each in exercise(one.id, terms=terms).asked if each.what == asked.what), None)
        except SymscaleError:
            continue
        for each in again.settings if again is not None else ():
            if (each.expr, each.value) not in own:
                yield words, kind, each
