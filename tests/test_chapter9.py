"""Chapter 9 of "How To Scale Your Model": what it prints beside what the engine derives and reads in HLO."""

from __future__ import annotations

import pytest
import sympy as sp
from answers import Row, check, rows

from symscale.derivation import Builder
from symscale.derivation.registry import entry, ids
from symscale.derivation.step import doubled, verify
from symscale.errors import StepError
from symscale.hlo import Shape, Work, address, indices, inside, read_hlo, work_of


@pytest.mark.parametrize("row", rows("chapter9"), ids=lambda row: f"{row.id}-{row.quantity}")
def test_answers(row: Row) -> None:
    check(row)


@pytest.mark.parametrize("name", [each for each in ids() if each.startswith("profiling/")])
def test_every_step_is_checked_and_every_mutant_is_caught(name: str) -> None:
    found = entry(name)
    d = Builder(found.title, found.source)
    found.write(d)
    assert d.steps
    for step in d.steps:
        assert verify(step)
        for at in range(len(step.equations)):
            with pytest.raises(StepError):
                verify(doubled(step, at), seed=5)


def only(text: str) -> Work:
    (found,) = work_of(read_hlo(text))
    return found


def layout(text: str) -> Shape:
    return only(f"%x = {text} copy({text} %y)").writes[0]


def test_the_dot_of_the_einsum() -> None:
    # ch9.text.hlo-dot.shape, ch9.text.hlo-dot.contracting: x[b,f] in f32 with y[f,d] in bf16, to (d, b)
    dims = "lhs_contracting_dims={0}, rhs_contracting_dims={1}"
    found = only(f"ROOT dot.4 = f32[16,128]{{1,0}} dot(bf16[256,16] y, f32[128,256] x), {dims}")
    (product,) = found.products
    assert product.contraction.program == "A[J, I] * B[K, J] -> C[I, K]"
    assert product.contraction.sizes == {"I": 16, "K": 128, "J": 256}
    assert found.flops == 2 * 128 * 256 * 16
    for other in ("f32[128,16]", "f32[16,256]"):
        with pytest.raises(ValueError, match="is no f32"):
            only(f"dot.4 = {other}{{1,0}} dot(bf16[256,16] y, f32[128,256] x), {dims}")


def test_the_fusion_that_scatters() -> None:
    # ch9.text.fusion3.collective, ch9.text.fusion3.fields
    found = only(
        "fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)} fusion(bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} f.32), "
        "kind=kCustom, calls=all-reduce-scatter.3"
    )
    assert found.sent is not None
    assert (str(found.sent.kind), found.sent.chips, found.sent.volume) == ("ReduceScatter", 2, 2 * 32 * 32 * 8192)
    (shape,) = found.instruction.results
    assert (shape.dtype, shape.dims, shape.order) == ("bf16", (32, 32, 4096), (2, 1, 0))
    assert (shape.tiles, shape.where, shape.bytes, shape.waste) == (((8, 128), (2, 1)), "VMEM", 8388608, 0)


def test_order_inside_a_tile() -> None:
    # ch9.text.tiling.padding, ch9.text.tiling.order
    shape = layout("f32[3,5]{1,0:T(2,2)}")
    assert (shape.padded, sp.Rational(shape.held, shape.bytes)) == ((4, 6), sp.Rational(8, 5))
    assert inside(shape) == ((0, 0), (0, 1), (1, 0), (1, 1))
    i, j = indices(shape)
    stated = 4 * (3 * sp.floor(i / 2) + sp.floor(j / 2)) + 2 * sp.Mod(i, 2) + sp.Mod(j, 2)
    assert sp.expand(address(shape) - stated) == 0


def test_order_inside_two_tiles() -> None:
    # ch9.text.tiling.two-level: two rows of bf16 side by side, 4 bytes at a time
    shape = layout("bf16[4,8]{1,0:T(2,4)(2,1)}")
    assert inside(shape)[:4] == ((0, 0), (1, 0), (0, 1), (1, 1))
    i, j = indices(shape)
    places = [int(address(shape).subs({i: a, j: b})) for a in range(4) for b in range(8)]
    assert sorted(places) == list(range(32))


# entry, operands and result, the contraction that they leave, its FLOPs
MATMULS = [
    (
        "ch9.text.ffw.local-output-shape",
        ("bf16[8,1024,8192]", "bf16[8192,16384]", "bf16[8,1024,16384]"),
        "A[I1, I2, J] * B[J, K] -> C[I1, I2, K]",
        2 * 8 * 1024 * 8192 * 16384,
    ),
    (
        "ch9.text.attn.qproj",
        ("bf16[8,1024,8192]", "bf16[8192,8,256,1]", "bf16[8,1024,8,256]"),
        "A[I1, I2, J] * B[J, K1, K2] -> C[I1, I2, K1, K2]",
        2 * 8 * 1024 * 8192 * 8 * 256,
    ),
    ("ch9.q1.b", ("bf16[4096,8192]", "bf16[8192]", "bf16[4096]"), "A[I, J] * B[J] -> C[I]", 2 * 4096 * 8192),
]


@pytest.mark.parametrize(("key", "shapes", "program", "flops"), MATMULS, ids=[row[0] for row in MATMULS])
def test_products_by_their_shapes(key: str, shapes: tuple[str, str, str], program: str, flops: int) -> None:
    left, right, result = shapes
    found = only(f"%fusion.1 = {result} fusion({left} %x, {right} %w), kind=kOutput, calls=%fused.1")
    (product,) = found.products
    assert (product.contraction.program, found.flops) == (program, flops)
    assert any("not given" in note for note in found.notes)


def test_the_counters_of_the_profile() -> None:
    # ch9.q1.e, ch9.q1.f
    found = only("%fusion.1 = bf16[4096] fusion(bf16[4096,8192] %w, bf16[8192] %x), kind=kOutput, calls=%f")
    assert (found.products[0].contraction.exact_flops, found.bytes) == (67104768, 67133440)


def test_the_groups_of_the_all_reduce() -> None:
    # ch9.q1.c, ch9.q1.h: 16 groups of 8, 16 apart
    groups = ",".join("{" + ",".join(str(at + 16 * n) for n in range(8)) + "}" for at in range(16))
    for said in (f"{{{groups}}}", "[16,8]<=[8,16]T(1,0)"):
        sent = only(f"%all-reduce = bf16[8192] all-reduce(bf16[8192] %x), replica_groups={said}").sent
        assert sent is not None
        assert (sent.chips, sent.apart, len(sent.groups), sent.volume) == (8, 16, 16, 16384)


def test_the_computation_of_the_profile() -> None:
    # ch9.q1.a, ch9.q1.d: two products, one AllReduce over the model axis
    layer = Builder("q1").program("x[B_X, D] * W_1[F_Y, D] -> h[B_X, F_Y]; h * W_2[D, F_Y] -> y[B_X, D]")
    (transfer,) = layer.costs["forward"].transfers
    assert (transfer.collective.kind, transfer.collective.axes) == ("AllReduce", ("Y",))


def test_the_sharding_of_the_transformer() -> None:
    # ch9.q2.a: data and model parallelism; the down-projection scatters over the model axis
    layer = Builder("q2").program(
        "x[B_X, T, D] * W_in[D, F_Y] -> h; h * W_out[F_Y, D] -> y[B_X, T, D_Y]", passes=["forward"]
    )
    (transfer,) = layer.costs["forward"].transfers
    assert (transfer.collective.kind, transfer.collective.axes) == ("ReduceScatter", ("Y",))
