"""The derivation written again on other terms: other overlaps of times, another dtype, other passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symscale.cost import times
from symscale.derivation.terms import Terms
from symscale.errors import SymscaleError
from symscale.exercise.answers import same
from symscale.exercise.compiled import BOTH
from symscale.exercise.exercise import Asked, Exercise, exercise
from symscale.exercise.setting import Setting

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


def rewritten(asked: Asked, one: Exercise, *, harmless: bool = False) -> Iterator[tuple[str, bool, Setting]]:
    """Yield in words other terms, or the harmless alone, whether they are, and what the exercise asks for on them.

    Terms on which the derivation cannot be written, or on which nothing changes, are left out.
    """
    if not one.derivation or not asked.settings or one.layer is None:
        return
    own = {(each.expr, each.value) for each in asked.settings}
    for words, other, kind in (each for each in OTHERS if each[2] or not harmless):
        terms = replace(one.terms, overlap=other.overlap, dtype=other.dtype or one.terms.dtype)
        try:
            again = next((each for each in exercise(one.id, terms=terms).asked if each.what == asked.what), None)
        except SymscaleError:
            continue
        for each in again.settings if again is not None else ():
            if (each.expr, each.value) not in own:
                yield words, kind, each
