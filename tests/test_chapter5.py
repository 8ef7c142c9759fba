"""Chapter 5 of "How To Scale Your Model": what it prints beside what the engine derives.

The checks of every derivation are in `test_derivations.py`.
"""

from __future__ import annotations

import pytest
from answers import Row, check, rows, written

from symscale.exercise.compiled import collectives


@pytest.mark.parametrize("row", rows("chapter5"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


# ch5.alg.tp and ch5.alg.mixed: the collectives that the listings name, by pass
COLLECTIVES = [
    ("tp", "forward", ["AllGather Y", "ReduceScatter Y"]),
    # the gather of In is kept from the forward pass
    ("tp", "backward", ["AllGather Y", "ReduceScatter Y"]),
    ("mixed", "forward", ["AllGather X", "AllGather X", "AllGather Y", "ReduceScatter Y"]),
    (
        "mixed",
        "backward",
        ["AllGather X", "AllGather X", "AllGather Y", "ReduceScatter X", "ReduceScatter X", "ReduceScatter Y"],
    ),
]


@pytest.mark.parametrize(("scheme", "which", "kinds"), COLLECTIVES)
def test_collectives_of_the_algorithms(scheme: str, which: str, kinds: list[str]) -> None:
    layer = written(f"training/summary-{scheme}").layer
    assert layer is not None
    assert sorted(collectives(layer, which).split(", ")) == kinds
