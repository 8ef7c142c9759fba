"""Chapter 10 by JAX itself, on eight CPU devices: loops of permutes, and what jit sends for routed experts."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import Any

import numpy as np
import pytest

from symscale.derivation import Builder
from symscale.vocabulary import symbol

if importlib.util.find_spec("jax"):
    # Both are read once, when jax is imported.
    if "device_count" not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'symscale[verify]', or make verify")

pytestmark = pytest.mark.verify

KINDS = "all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute"


def sent(function: Any, *args: Any) -> list[tuple[str, str]]:
    """Return what the compiled module sends: kind and shape."""
    module = jax.jit(function).lower(*args).compile().as_text()
    found = re.finditer(rf"= (\w+\[[\d,]*\])\S* ({KINDS})(?:-start)?\(", module)
    return sorted((each[2], each[1]) for each in found)


@pytest.mark.parametrize("chips", [2, 4, 8])
def test_a_loop_of_permutes_is_the_product(chips: int) -> None:
    # ch10.text.collmm.steps: A[B, D_Y] * W[D, F_Y] -> Out[B, F_Y]
    B, D, F = 3, 16, 24
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:chips]), ("Y",))
    spec = jax.sharding.PartitionSpec
    shard_map = jax.shard_map if hasattr(jax, "shard_map") else jax.experimental.shard_map.shard_map

    def loop(a: Any, w: Any) -> Any:
        here, rows, out = jax.lax.axis_index("Y"), D // chips, 0
        for step in range(chips):
            part = jax.lax.dynamic_slice_in_dim(w, (here - step) % chips * rows, rows)
            out += a @ part
            if step + 1 < chips:
                a = jax.lax.ppermute(a, "Y", [(chip, (chip + 1) % chips) for chip in range(chips)])
        return out

    columns = spec(None, "Y")
    mapped = shard_map(loop, mesh=mesh, in_specs=(columns, columns), out_specs=columns)
    rng = np.random.default_rng(chips)
    a, w = (rng.integers(-9, 9, shape).astype("float32") for shape in ((B, D), (D, F)))
    assert np.array_equal(mapped(a, w), a @ w)
    d = Builder("loop")
    found = d.looped(d.program("A[B, D_Y] * W[D, F_Y] -> Out[B, F_Y]", passes=["forward"]), "Y")
    permutes = int(found.transfers.xreplace({symbol("Y"): chips}))
    assert sent(mapped, a, w) == [("collective-permute", f"f32[{B},{D // chips}]")] * permutes


@pytest.mark.parametrize(("experts", "tokens"), [(8, 64), (8, 4096), (64, 64)])
def test_jit_gathers_every_expert_where_tokens_look_theirs_up(experts: int, tokens: int) -> None:
    # ch10.q2.b: W[B] for the experts B of the tokens
    D, F = 32, 16
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("X",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("X"))
    shapes = [((experts, D, F), "float32"), ((tokens, D), "float32"), ((tokens,), "int32")]
    args = [jax.ShapeDtypeStruct(shape, dtype, sharding=split) for shape, dtype in shapes]

    def layer(w: Any, x: Any, expert: Any) -> Any:
        return jax.lax.with_sharding_constraint(jax.numpy.einsum("sd,sdf->sf", x, w[expert]), split)

    assert sent(layer, *args) == [("all-gather", f"f32[{experts},{D},{F}]")]


@pytest.mark.parametrize(("experts", "tokens", "gathered"), [(8, 64, "x"), (8, 4096, "W"), (64, 64, "x")])
def test_jit_gathers_what_is_less_where_tokens_choose_by_a_mask(experts: int, tokens: int, gathered: str) -> None:
    # the border of jax/moe-jit: S = E·D·F/(D + F)
    D, F = 32, 16
    assert (tokens <= experts * D * F / (D + F)) is (gathered == "x")
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("X",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("X"))
    shapes = [((experts, D, F), "float32"), ((tokens, D), "float32"), ((tokens,), "int32")]
    args = [jax.ShapeDtypeStruct(shape, dtype, sharding=split) for shape, dtype in shapes]

    def layer(w: Any, x: Any, expert: Any) -> Any:
        mask = jax.nn.one_hot(expert, experts)
        every = jax.numpy.einsum("sd,edf->sef", x, w)
        return jax.lax.with_sharding_constraint(jax.numpy.einsum("sef,se->sf", every, mask), split)

    shape = {"x": f"f32[{tokens},{D}]", "W": f"f32[{experts},{D},{F}]"}[gathered]
    assert [each for each in sent(layer, *args) if each[0] == "all-gather"] == [("all-gather", shape)]
