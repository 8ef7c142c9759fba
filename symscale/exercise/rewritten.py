"""The derivation written again on other terms: other overlaps of times, another dtype."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symscale.derivation.terms import Terms
from symscale.errors import SymscaleError
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.setting import Setting, everything

OVERLAPS = {
    "max": "all communication overlapped",
    "axes-serial": "communication of one axis after the other",
    "sum": "nothing overlapped",
}
DTYPES = ("int8", "fp32")
OTHERS = [
    *((words, Terms(overlap=kind), True) for kind, words in OVERLAPS.items()),
    *((f"everything in {dtype}", Terms(dtype=dtype), False) for dtype in DTYPES),
]


def rewritten(asked: Asked, exercise: Exercise) -> Iterator[tuple[str, bool, Setting]]:
    """Yield in words other terms, whether they are harmless, and what the derivation says of a quantity on them.

    Terms on which the derivation cannot be written are left out.
    """
    if not exercise.derivation or not asked.settings or exercise.layer is None:
        return
    what, more = asked.settings[0].of_what, dict(asked.settings[0].values)
    for words, other, harmless in OTHERS:
        terms = replace(exercise.terms, overlap=other.overlap, dtype=other.dtype or exercise.terms.dtype)
        try:
            found = [each for each in everything(exercise.derivation, {}, terms) if each.of_what == what]
        except SymscaleError:
            continue
        for each in reversed(found):
            yield words, harmless, each if each.values or each.value.is_number else each.put(more)
