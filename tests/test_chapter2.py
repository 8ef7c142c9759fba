"""Chapter 2 of "How To Scale Your Model": what it prints beside what the engine derives.

Every step of its derivations is checked in `test_derivations.py`.
"""

from __future__ import annotations

import pytest
import sympy as sp
from answers import Row, check, read, rows

from symscale.derivation import Builder, verify
from symscale.derivation.step import doubled
from symscale.errors import LayoutError, StepError
from symscale.hlo.shape import Shape
from symscale.machine import chosen
from symscale.machine.model import wraps
from symscale.vocabulary import symbol

TPUS = ("tpu-v3", "tpu-v4p", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu7x")


@pytest.mark.parametrize("row", rows("chapter2"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


@pytest.mark.parametrize("name", TPUS)
def test_a_link_carries_half_of_an_axis(name: str) -> None:
    # ch2.table.bidi
    chip = chosen(name)
    assert chip is not None
    rates = chip.constants()
    assert rates["W_ici"] == 2 * rates["W_link"]


# ch2.claim.wrap-rule: slice, which of its axes are rings
SLICES = [
    ("tpu-v5e:8x16", (False, True)),
    ("tpu-v5e:16x16", (True, True)),
    ("tpu-v6e:4x4", (False, False)),
    ("tpu-v6e:4x16", (False, True)),
    ("tpu-v5p:2x2x4", (False, False, False)),
    ("tpu-v5p:4x4x8", (True, True, True)),
    ("tpu-v4p:2x4x4", (False, False, False)),
    ("tpu-v4p:8x8x8", (True, True, True)),
]


@pytest.mark.parametrize(("slice_", "rings"), SLICES, ids=[row[0] for row in SLICES])
def test_when_an_axis_wraps(slice_: str, rings: tuple[bool, ...]) -> None:
    chip = chosen(slice_)
    assert chip is not None
    network = chip.network("ici")
    found = network.rings or tuple(wraps(network, size) for size in network.pod)
    assert found == rings


@pytest.mark.parametrize(("size", "tile"), [(1, 128), (127, 128), (128, 128), (300, 128), (300, 256)])
def test_a_dimension_is_padded_to_whole_tiles(size: int, tile: int) -> None:
    # ch2.formula.padding, as an array of this width lies in memory
    row = next(row for row in rows("chapter2") if row.id == "ch2.formula.padding")
    padded = Shape("bf16", (tile, size), (1, 0), ((tile, tile),), bits=16).padded
    assert padded == (tile, read(row.formula).xreplace({symbol("t"): sp.Integer(tile), symbol("n"): sp.Integer(size)}))


# ------------------------------------------------------------------ what one chip has of an array


@pytest.mark.parametrize(
    ("program", "mesh", "lengths"),
    [
        ("A[B_X, D_Y] -> G[B, D_Y]", {}, {"B_A": "B/X", "D_A": "D/Y", "B_G": "B"}),
        ("A[B_XY, D] -> G[B_X, D]", {}, {"B_A": "B/(X*Y)", "B_G": "B/X"}),
        ("A[B_X, D] -> G[B, D]", {"X": 3}, {"B_A": "B/3"}),
    ],
)
def test_shards_are_what_is_dealt_out(program: str, mesh: dict[str, int], lengths: dict[str, str]) -> None:
    d = Builder("shards")
    layer = d.program(program, mesh=mesh, passes=["forward"])
    d.shards(layer, "A", "G")
    step = d.steps[-1]
    found = {str(each.lhs): each.rhs for each in step.equations}
    assert {name: found[name] for name in lengths} == {name: d.read(text) for name, text in lengths.items()}
    for seed in (1, 2):
        assert verify(step, seed)
        for at in range(len(step.equations)):
            with pytest.raises(StepError):
                verify(doubled(step, at), seed)


def test_a_name_that_is_not_in_the_program_is_refused() -> None:
    d = Builder("none")
    with pytest.raises(LayoutError, match="has no array W") as caught:
        d.shards(d.program("A[B_X, D] -> G[B, D]", passes=["forward"]), "W")
    assert "A" in caught.value.hint
