"""What we read in compiled modules against the compiler: FLOPs by its own cost analysis, collectives by another reader.

The products are in fp32, for the CPU compiler converts others and counts that too (`make verify`).
"""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from typing import Any

import pytest

if importlib.util.find_spec("jax"):
    # Both are read once, when jax is imported.
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
pytest.importorskip("jax", reason="jax is not installed: pip install 'symscale[verify]', or make verify")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax_module import Module

from symscale.hlo import Work, read_hlo, work_of
from symscale.hlo.sharding import sharding_of

pytestmark = pytest.mark.verify

MESH = {"X": 4, "Y": 2}


def compiled(function: Any, *arguments: Any, **options: Any) -> tuple[str, float]:
    """Return the text of a compiled module, and the FLOPs that the compiler counts in it."""
    made = jax.jit(function, **options).lower(*arguments).compile()
    cost = made.cost_analysis()
    return made.as_text(), float((cost[0] if isinstance(cost, list) else cost)["flops"])


def array(*dims: int) -> Any:
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def flops(works: tuple[Work, ...]) -> int:
    return sum(each.flops * each.times for each in works)


EINSUMS = [
    ("bd,df->bf", (8, 32), (32, 64)),
    ("bsd,def->bsef", (4, 16, 32), (32, 8, 64)),
    ("btkgh,bskh->btskg", (2, 16, 4, 2, 8), (2, 16, 4, 8)),
    ("btskg,bskh->btkgh", (2, 16, 16, 4, 2), (2, 16, 4, 8)),
    ("ecd,edf->ecf", (4, 8, 32), (4, 32, 16)),
    ("b,d->bd", (8,), (16,)),
    ("bd,d->b", (8, 16), (16,)),
    ("bd,bd->", (8, 16), (8, 16)),
]


@pytest.mark.parametrize(("spec", "left", "right"), EINSUMS, ids=[row[0] for row in EINSUMS])
def test_flops_of_dots(spec: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    text, counted = compiled(lambda x, w: jnp.einsum(spec, x, w), array(*left), array(*right))
    works = work_of(read_hlo(text))
    found = flops(works)
    sizes = dict(zip(spec.replace(",", "").partition("->")[0], (*left, *right), strict=True))
    assert any(each.products for each in works) == (" dot(" in text)
    if " dot(" in text:  # an outer product, and a product with a vector, may be written as a multiplication
        assert found == counted == 2 * np.prod(list(sizes.values()))


CONVOLUTIONS = [
    ((2, 16, 16, 8), (3, 3, 8, 32), (1, 1), "SAME", {}),
    ((2, 16, 16, 8), (3, 3, 8, 32), (2, 2), "VALID", {}),
    ((2, 16, 16, 8), (5, 3, 8, 4), (2, 1), [(3, 1), (0, 2)], {"rhs_dilation": (2, 1)}),
    ((2, 7, 9, 8), (3, 3, 8, 4), (1, 1), [(1, 1), (2, 2)], {"lhs_dilation": (2, 3)}),
    ((2, 16, 16, 8), (3, 3, 1, 8), (1, 1), "SAME", {"feature_group_count": 8}),
    ((2, 16, 16, 8), (1, 1, 8, 32), (1, 1), "SAME", {}),
]


@pytest.mark.parametrize(("image", "kernel", "stride", "padding", "more"), CONVOLUTIONS)
def test_flops_of_convolutions(image: Any, kernel: Any, stride: Any, padding: Any, more: Any) -> None:
    def run(x: Any, w: Any) -> Any:
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, w, stride, padding, dimension_numbers=layout, **more)

    text, counted = compiled(run, array(*image), array(*kernel))
    assert flops(work_of(read_hlo(text))) == counted


def test_a_loop_over_layers() -> None:
    def run(x: Any, layers: Any) -> Any:
        return jax.lax.scan(lambda h, w: (jnp.dot(h, w), None), x, layers)[0]

    text, _ = compiled(run, array(8, 32), array(6, 32, 32))
    found = work_of(read_hlo(text))
    assert flops(found) == 6 * 2 * 8 * 32 * 32
    assert {each.times for each in found if each.products} == {6}


# layouts of In, W_in, W_out, Out of an MLP
SHARDED = [
    (("X", None), ("X", "Y"), ("Y", "X"), ("X", None)),
    (("X", None), (None, None), (None, None), ("X", None)),
    ((None, None), (None, "X"), ("X", None), (None, None)),
    (("X", "Y"), ("X", "Y"), ("Y", "X"), ("X", None)),
    ((("X", "Y"), None), (("X", "Y"), None), (None, ("X", "Y")), (("X", "Y"), None)),
]


@pytest.mark.parametrize("layouts", SHARDED, ids=str)
def test_sharded_layers(layouts: tuple[tuple[Any, ...], ...]) -> None:
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(4, 2), tuple(MESH))
    *inside, out = (NamedSharding(mesh, PartitionSpec(*each)) for each in layouts)
    sizes = (array(32, 64), array(64, 128), array(128, 64))
    text, _ = compiled(lambda x, w, v: jnp.maximum(x @ w, 0) @ v, *sizes, in_shardings=tuple(inside), out_shardings=out)
    module = read_hlo(text)
    works = work_of(module, MESH)
    other = Module(text, MESH)
    assert flops(works) == other.dot_flops()
    found = Counter(
        (str(each.sent.kind), tuple(sorted(each.sent.axes)), each.sent.volume)
        for each in works
        if each.sent is not None
    )
    assert found == other.collectives()
    for line in module.main.instructions.values():
        split = sharding_of(text, line, MESH)
        if line.op == "parameter" and split is not None:
            at = int(line.inside)
            assert split.whole(line.results[0].dims) == sizes[at].shape
            named = [(axes,) if isinstance(axes, str) else axes or () for axes in layouts[at]]
            assert [tuple(each) for each in split.axes] == [tuple(each) for each in named]
