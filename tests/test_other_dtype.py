"""Derivations in another dtype: bytes and peaks follow it, also those that an author types, or it is refused."""

from __future__ import annotations

import pytest

from symscale.derivation.registry import blackboard
from symscale.derivation.step import Derivation
from symscale.derivation.terms import Terms
from symscale.errors import SymscaleError


def last(derivation: Derivation) -> float:
    """Return the number of the last step that puts numbers in."""
    steps = [each for each in derivation.steps if each.kind == "evaluate"]
    return float(steps[-1].equations[0].rhs)


# By hand from the data sheets: fp8 has twice the FLOP/s of bf16 and half its bytes. H100: 1979e12 FLOP/s in fp8, 989e12
# in bf16, B200: 4500e12 and 2250e12, both 400 GB/s of a node; TPU v5e: 394e12 in int8.
@pytest.mark.parametrize(
    ("name", "terms", "value"),
    [
        ("gpus/dp", Terms(dtype="fp8"), 1979e12 / (2 * 400e9)),
        ("gpus/dp", Terms(dtype="fp8", on="b200:1024"), 4500e12 / (2 * 400e9)),
        ("gpus/dp", Terms(on="b200:1024"), 2250e12 / 400e9),
        ("gpus/dp", Terms(dtype="bf16"), 2475),  # the author's own dtype keeps his rounded peak
        ("gpus/ep-reach", Terms(dtype="fp8"), 8 * (1 + 2 * 2048 * 400e9 / 1979e12)),  # he types b = 2 as well
        ("tpus/out-of-vmem", Terms(dtype="int8"), None),
    ],
)
def test_peaks_and_bytes_that_an_author_types_follow_the_dtype(name: str, terms: Terms, value: float | None) -> None:
    assert last(blackboard(name, terms).derivation) == pytest.approx(value or last(blackboard(name).derivation))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jax/gather-first", "a figure of no chip that is known, and stays in any other dtype"),
        ("llama3/memory", "no program whose arrays take its dtype"),
        ("transformer/checkpoints", "no program whose arrays take its dtype"),  # b = 2 is typed
    ],
)
def test_a_dtype_that_would_change_nothing_or_a_part_is_refused(name: str, words: str) -> None:
    with pytest.raises(SymscaleError, match=words):
        blackboard(name, Terms(dtype="int8"))


def test_the_dtype_form_of_several_cases_has_their_conditions() -> None:
    steps = [each for each in blackboard("gpus/ep-reach").derivation.steps if "In bf16" in each.title]
    assert [[str(one) for one in each.conditions] for each in steps] == [
        ["F < 8*C/W_node", "F >= 7*C/W_node"],
        ["F < 7*C/W_node"],
    ]
    assert ["".join(map(str, line)) for line in steps[-1].lines] == ["every Z is enough otherwise"]


def test_factors_that_all_terms_share_cancel_in_the_error_of_a_limit() -> None:
    lines = [line for each in blackboard("jax/moe-gather").derivation.steps for line in each.lines]
    assert "T_comms is exactly 1 - 1/X times this" in ["".join(map(str, line)) for line in lines]
