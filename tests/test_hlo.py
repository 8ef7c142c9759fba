"""Compiled modules: shapes and layouts, contractions, collectives, rooflines; each form with a small example."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
import sympy as sp

from symscale.hlo import Module, Roofline, Setting, Shape, Work, address, indices, read_hlo, roofline, work_of
from symscale.hlo.attributes import Window
from symscale.hlo.sharding import sharding_of
from symscale.machine import chosen, machine


def only(text: str, **mesh: int) -> Work:
    (found,) = work_of(read_hlo(text), mesh)
    return found


def layout(text: str) -> Shape:
    return only(f"%x = {text} copy({text} %y)").writes[0]


def on(name: str, text: str, **mesh: int) -> Roofline:
    chip = chosen(name)
    assert chip is not None
    return roofline(only(text, **mesh), Setting(chip, mesh, {}))


# layout, dimensions with padding, bytes in memory, memory
LAYOUTS = [
    ("f32[3,5]{1,0:T(2,2)}", (4, 6), 96, "HBM"),
    ("bf16[7,100]{1,0:T(8,128)(2,1)}", (8, 128), 2048, "HBM"),
    ("bf16[7,100]{0,1:T(8,128)(2,1)}", (128, 104), 2 * 128 * 104, "HBM"),
    ("bf16[2,7,100]{2,0,1:T(8,128)(2,1)S(1)}", (8, 7, 128), 2 * 8 * 7 * 128, "VMEM"),
    ("bf16[100]{0:T(1024)(128)(2,1)}", (1024,), 2048, "HBM"),
    ("f32[100]{0:T(128)S(6)}", (128,), 512, "memory space 6"),
    ("s4[5,3]{1,0:E(4)}", (5, 3), 8, "HBM"),
    ("pred[10]", (10,), 10, "HBM"),
    ("f8e4m3fn[8,16]{1,0}", (8, 16), 128, "HBM"),
    ("f32[]", (), 4, "HBM"),
    ("c64[2,2]{0,1:S(5)}", (2, 2), 32, "host"),
    ("f32[<=8,4]", (8, 4), 128, "HBM"),
    ("bf16[3,5,7]{2,1,0:T(*,128)}", (3, 5, 7), 2 * 3 * 128, "HBM"),
]


@pytest.mark.parametrize(("text", "padded", "held", "where"), LAYOUTS, ids=[row[0] for row in LAYOUTS])
def test_layouts(text: str, padded: tuple[int, ...], held: int, where: str) -> None:
    shape = layout(text)
    assert (shape.padded, shape.held, shape.where) == (padded, held, where)
    assert shape.bytes <= held
    assert shape.waste == 1 - sp.Rational(shape.bytes, held)


def laid(shape: Shape) -> dict[tuple[int, ...], int]:
    """Return the place of every element by cutting and transposing an array of places, as the tiles say."""
    sizes = [shape.dims[at] for at in reversed(shape.order)]
    count = len(sizes)
    whole = np.arange(prod(sizes)).reshape(sizes)
    for tile in shape.tiles:
        sizes = list(whole.shape)
        keep = len(sizes) - len(tile)
        pad = [(0, 0)] * keep + [(0, -size % width) for size, width in zip(sizes[keep:], tile, strict=True)]
        whole = np.pad(whole, pad, constant_values=-1)
        cut = list(whole.shape[:keep])
        for size, width in zip(whole.shape[keep:], tile, strict=True):
            cut += [size // width, width]
        axes = [*range(keep), *range(keep, len(cut), 2), *range(keep + 1, len(cut), 2)]
        whole = whole.reshape(cut).transpose(axes)
    flat = {int(value): at for at, value in enumerate(whole.ravel()) if value >= 0}
    strides = [prod([shape.dims[at] for at in reversed(shape.order)][n + 1 :]) for n in range(count)]
    logical = {}
    for place in product(*(range(size) for size in shape.dims)):
        number = sum(place[at] * stride for at, stride in zip(reversed(shape.order), strides, strict=True))
        logical[place] = flat[number]
    return logical


@pytest.mark.parametrize(
    "text",
    [
        "f32[3,5]{1,0:T(2,2)}",
        "bf16[4,8]{1,0:T(2,4)(2,1)}",
        "bf16[5,9]{0,1:T(4,4)(2,1)}",
        "f32[2,3,5]{1,2,0:T(2,4)}",
        "bf16[20]{0:T(16)(8)(2,1)}",
        "f32[4,6]{0,1}",
    ],
)
def test_addresses_against_numpy(text: str) -> None:
    shape = layout(text)
    formula, names = address(shape), indices(shape)
    for place, expected in laid(shape).items():
        assert formula.subs(dict(zip(names, place, strict=True))) == expected, place


CONTRACTIONS = [
    (
        "%d = f32[8,16] dot(f32[8,32] %x, f32[32,16] %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "A[I, J] * B[J, K] -> C[I, K]",
        2 * 8 * 16 * 32,
    ),
    (
        "%d = f32[2,4,8,16] dot(f32[2,8,4,32] %x, f32[2,4,32,16] %y), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
        "rhs_batch_dims={0,1}, rhs_contracting_dims={2}",
        "A[H1, I, H2, J] * B[H1, H2, J, K] -> C[H1, H2, I, K]",
        2 * 2 * 4 * 8 * 16 * 32,
    ),
    ("%d = f32[8,16] dot(f32[8] %x, f32[16] %y)", "A[I] * B[K] -> C[I, K]", 2 * 8 * 16),
    (
        "%d = f32[8] dot(f32[8,4,3] %x, f32[3,4] %y), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}",
        "A[I, J1, J2] * B[J2, J1] -> C[I]",
        2 * 8 * 12,
    ),
    (
        "%c = bf16[8,16] convolution(bf16[8,32] %a, bf16[16,32] %b), dim_labels=bf_oi->bf",
        "A[I, J] * B[K, J] -> C[I, K]",
        2 * 8 * 16 * 32,
    ),
    (  # a batch dimension as a window that meets each element once
        "%c = f32[4,8,16] convolution(f32[4,8,32] %a, f32[4,32,16] %b), window={size=4 stride=3 lhs_dilate=4}, "
        "dim_labels=0bf_0io->0bf",
        "A[H, I, J] * B[H, J, K] -> C[H, I, K]",
        2 * 4 * 8 * 16 * 32,
    ),
    (  # a second dimension that is summed
        "%c = f32[1,8,16] convolution(f32[4,8,32] %a, f32[4,32,16] %b), window={size=4}, dim_labels=0bf_0io->0bf",
        "A[J1, I, J2] * B[J1, J2, K] -> C[I, K]",
        2 * 4 * 8 * 16 * 32,
    ),
    (  # heads as a dimension of the kernel alone
        "%c = f32[8,4,16] convolution(f32[8,1,32] %a, f32[4,32,16] %b), "
        "window={size=4 pad=3_3 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
        "A[I, J] * B[K1, J, K2] -> C[I, K1, K2]",
        2 * 8 * 4 * 16 * 32,
    ),
    (
        "%c = bf16[8,1024,16] convolution(bf16[8,1024,32] %a, bf16[1,32,16] %b), window={size=1}, "
        "dim_labels=b0f_0io->b0f",
        "A[I1, I2, J] * B[J, K] -> C[I1, I2, K]",
        2 * 8 * 1024 * 16 * 32,
    ),
    (  # a window that slides: 46 of 48 places along each side
        "%c = f32[2,16,16,32] convolution(f32[2,16,16,8] %a, f32[3,3,8,32] %b), window={size=3x3 pad=1_1x1_1}, "
        "dim_labels=b01f_01io->b01f",
        "",
        2 * 2 * 32 * 8 * 46**2,
    ),
    (  # depthwise
        "%c = f32[2,14,8] convolution(f32[2,16,8] %a, f32[3,1,8] %b), window={size=3}, dim_labels=b0f_0io->b0f, "
        "feature_group_count=8",
        "",
        2 * 2 * 8 * 3 * 14,
    ),
]


@pytest.mark.parametrize(
    ("text", "program", "flops"), CONTRACTIONS, ids=[row[1] or row[0][:40] for row in CONTRACTIONS]
)
def test_contractions(text: str, program: str, flops: int) -> None:
    (found,) = only(text).products
    assert (found.contraction.program, found.contraction.flops) == (program, flops)


def test_windows_against_counting() -> None:
    for size, stride, low, lhs, rhs, length, results in product(
        (1, 2, 5), (1, 2, 3), (-1, 0, 2), (1, 2, 3), (1, 2), (1, 4), (1, 3, 6)
    ):
        window = Window(size, stride, low, 0, lhs, rhs)
        places = (r * stride + tap * rhs - low for r in range(results) for tap in range(size))
        counted = sum(at >= 0 and at % lhs == 0 and at // lhs < length for at in places)
        assert window.taps(length, results) == counted, window


FUSED = """HloModule two, num_partitions=8
%fused (a: bf16[8,32], b: bf16[32,16]) -> bf16[8,16] {
  %a = bf16[8,32]{1,0} parameter(0)
  %b = bf16[32,16]{1,0} parameter(1)
  ROOT %dot = bf16[8,16]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
%body (s: (s32[], bf16[8,32], bf16[4,32,16])) -> (s32[], bf16[8,32], bf16[4,32,16]) {
  %s = (s32[], bf16[8,32]{1,0}, /*index=2*/bf16[4,32,16]{2,1,0}) parameter(0)
  %x = bf16[8,32]{1,0} get-tuple-element(%s), index=1
  %w = bf16[4,32,16]{2,1,0} get-tuple-element(%s), index=2
  %n = s32[] get-tuple-element(%s), index=0
  %z = s32[] constant(0)
  %one = bf16[1,32,16]{2,1,0} dynamic-slice(%w, %n, %z, %z), dynamic_slice_sizes={1,32,16}
  %flat = bf16[32,16]{1,0} bitcast(%one)
  %y = bf16[8,16]{1,0} fusion(%x, %flat), kind=kOutput, calls=%fused
  ROOT %t = (s32[], bf16[8,32]{1,0}, bf16[4,32,16]{2,1,0}) tuple(%n, %x, %w)
}
%cond (s: (s32[], bf16[8,32], bf16[4,32,16])) -> pred[] {
  %s = (s32[], bf16[8,32]{1,0}, bf16[4,32,16]{2,1,0}) parameter(0)
  ROOT %c = pred[] constant(true)
}
ENTRY %main (p: bf16[8,32], q: bf16[4,32,16]) -> (s32[], bf16[8,32], bf16[4,32,16]) {
  %p = bf16[8,32]{1,0} parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  %q = bf16[4,32,16]{2,1,0} parameter(1)
  %i = s32[] constant(0)
  %in = (s32[], bf16[8,32]{1,0}, bf16[4,32,16]{2,1,0}) tuple(%i, %p, %q)
  ROOT %loop = (s32[], bf16[8,32]{1,0}, bf16[4,32,16]{2,1,0}) while(%in), condition=%cond, body=%body,
    backend_config={"known_trip_count":{"n":"4"}}
}
"""


def test_a_loop_counts_its_body_as_often_as_it_runs() -> None:
    sliced, fused = work_of(read_hlo(FUSED))
    assert (sliced.times, fused.times, fused.flops) == (4, 4, 2 * 8 * 16 * 32)
    # of the stacked weights one layer is read and written, with the three indices
    assert sliced.bytes == 2 * (2 * 32 * 16) + 3 * 4
    assert fused.bytes == 2 * (8 * 32 + 32 * 16 + 8 * 16)
    unknown = FUSED.replace(',\n    backend_config={"known_trip_count":{"n":"4"}}', "")
    assert [each.times for each in work_of(read_hlo(unknown))] == [1, 1]
    assert all(any("loop" in note for note in each.notes) for each in work_of(read_hlo(unknown)))


def test_a_fusion_reads_only_the_slice_that_it_takes() -> None:
    text = """HloModule m
%f (a: f32[64,8], i: s32[]) -> f32[1,8] {
  %a = f32[64,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %z = s32[] constant(0)
  ROOT %s = f32[1,8]{1,0} dynamic-slice(%a, %i, %z), dynamic_slice_sizes={1,8}
}
ENTRY %m (a: f32[64,8], i: s32[]) -> f32[1,8] {
  %a = f32[64,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  ROOT %y = f32[1,8]{1,0} fusion(%a, %i), kind=kLoop, calls=%f
}"""
    assert only(text).bytes == 2 * 32 + 4


# line, kind, V [B], chips, distance of neighbours, mesh axes of X=4, Y=2
COLLECTIVES = [
    (
        "%g = f32[32,8] all-gather(f32[8,8] %x), replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}",
        ("AllGather", 1024, 4, 2, ("X",)),
    ),
    (
        "%g = (f32[8,8], f32[32,8]) all-gather-start(f32[8,8] %x), replica_groups={{0,2,4,6},{1,3,5,7}}",
        ("AllGather", 1024, 4, 2, ("X",)),
    ),
    (
        "%r = f32[8,8] all-reduce(f32[8,8] %x), replica_groups=[4,2]<=[8], to_apply=%add",
        ("AllReduce", 256, 2, 1, ("Y",)),
    ),
    (
        "%r = (f32[8], f32[4]) all-reduce(f32[8] %x, f32[4] %y), replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=%add",
        ("AllReduce", 48, 8, 1, ("X", "Y")),
    ),
    (
        "%s = f32[2,8] reduce-scatter(f32[8,8] %x), replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}, to_apply=%add",
        ("ReduceScatter", 256, 4, 2, ("X",)),
    ),
    (
        "%a = f32[8,8] all-to-all(f32[8,8] %x), replica_groups=[4,2]<=[8], dimensions={0}",
        ("AllToAll", 512, 2, 1, ("Y",)),
    ),
    (
        "%g = f32[16,8] all-gather(f32[8,8] %x), replica_groups=mesh['a'=4,'b'=2] {'b'}, dimensions={0}",
        ("AllGather", 512, 2, 1, ("Y",)),
    ),
    (
        "%g = f32[16,8] all-gather(f32[8,8] %x), replica_groups=mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a'}",
        ("AllGather", 512, 2, 1, ("Y",)),
    ),
    (
        "%p = f32[8,8] collective-permute(f32[8,8] %x), source_target_pairs={{0,1},{1,0}}",
        ("Permute", 256, 2, 0, ("Y",)),
    ),
    (
        "%p = (f32[8], f32[8], u32[], u32[]) collective-permute-start(f32[8] %x), source_target_pairs={{0,2},{2,4}}",
        ("Permute", 32, 3, 0, ("X",)),
    ),
]


@pytest.mark.parametrize(("line", "expected"), COLLECTIVES, ids=[row[0][:60] for row in COLLECTIVES])
def test_collectives(line: str, expected: tuple[str, int, int, int, tuple[str, ...]]) -> None:
    sent = only(line, X=4, Y=2).sent
    assert sent is not None
    assert (str(sent.kind), sent.volume, sent.chips, sent.apart, sent.axes) == expected


def test_an_asynchronous_pair_counts_once() -> None:
    text = """HloModule m, num_partitions=4
%w (x: f32[8]) -> f32[2] {
  %x = f32[8]{0} parameter(0)
  ROOT %s = f32[2]{0} reduce-scatter(%x), replica_groups={}, dimensions={0}, to_apply=%add
}
ENTRY %m (x: f32[8], y: f32[8]) -> f32[2] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %a = ((f32[8]{0}), f32[2]{0}) async-start(%x), calls=%w
  %g = (f32[8]{0}, f32[32]{0}) all-gather-start(%y), replica_groups={{0,1,2,3}}, dimensions={0}
  %h = f32[32]{0} all-gather-done(%g)
  ROOT %b = f32[2]{0} async-done(%a)
}"""
    found = [each.sent for each in work_of(read_hlo(text))]
    assert [(str(each.kind), each.volume, each.chips) for each in found if each is not None] == [
        ("ReduceScatter", 32, 4),
        ("AllGather", 128, 4),
    ]


# chip, line, resource, the lower bound in closed form over numbers of the chip's file
WIDE = "%d = bf16[8192,8192] fusion(bf16[8192,4096] %x, bf16[4096,8192] %y), calls=%c"
THIN = "%d = bf16[8,8192] fusion(bf16[8,4096] %x, bf16[4096,8192] %y), calls=%c"
SUM = "%r = bf16[1024,8] all-reduce(bf16[1024,8] %x), replica_groups="
SEND = "%p = bf16[1024,8] collective-permute(bf16[1024,8] %x), source_target_pairs={{0,1}}"
ROOFLINES = [
    ("tpu-v5e", WIDE, "compute", "2*8192*8192*4096/C"),
    ("tpu-v5e", THIN, "HBM", "2*(8*4096 + 4096*8192 + 8*8192)/W_hbm"),
    ("tpu-v5e", "%d = bf16[1000] copy(bf16[1000]{0:T(1024)} %x)", "HBM", "(2000 + 2048)/W_hbm"),
    ("tpu-v5e", "%d = bf16[1024]{0:S(1)} copy(bf16[1024]{0:S(1)} %x)", "VMEM", "2*2048/W_scratchpad"),
    ("tpu-v5e", SUM + "[1,16]<=[16]", "network", "2*15/16*16384/W_ici"),
    ("tpu-v5e", SUM + "[1,8]<=[8]", "network", "2*7/8*16384/W_link"),
    ("tpu-v5p", SEND, "network", "16384/W_link"),
]


@pytest.mark.parametrize(("name", "line", "bound", "formula"), ROOFLINES)
def test_rooflines(name: str, line: str, bound: str, formula: str) -> None:
    from symscale.notation.formula import parse_formula
    from symscale.vocabulary import symbol

    found, chip = on(name, line), machine(name)
    numbers = {symbol(key): value for key, value in (chip.constants("bf16") | chip.cores).items()}
    assert found.bound == bound
    assert found.time == parse_formula(formula).expr.xreplace(numbers)
    assert found.reached(2 * found.time) == sp.Rational(1, 2)


def test_a_dtype_without_a_peak_is_said() -> None:
    line = "%d = f32[8,16] dot(f32[8,32] %x, f32[32,16] %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    assert any("no peak for fp32" in note for note in on("tpu-v5e", line).notes)
    assert dict(on("tpu-v5e", line.replace("f32[", "s8[")).peaks) == {"int8": machine("tpu-v5e").peak("int8")}


def sharded(said: str, module: Module | None = None, **mesh: int) -> tuple[object, ...]:
    read = module or read_hlo(f"%p = f32[8,64]{{1,0}} parameter(0), sharding={said}")
    found = sharding_of(read.text, read.main.instructions["p"], mesh)
    assert found is not None
    return found.parts, found.copies, found.axes, found.whole((8, 64))


def test_shardings() -> None:
    two = {"X": 4, "Y": 2}
    assert sharded("{devices=[4,2]<=[8]}", **two) == ((4, 2), 1, (("X",), ("Y",)), (32, 128))
    assert sharded("{devices=[2,4]<=[4,2]T(1,0)}", **two) == ((2, 4), 1, (("Y",), ("X",)), (16, 256))
    assert sharded("{devices=[1,4,2]<=[8] last_tile_dim_replicate}", **two) == ((1, 4), 2, ((), ("X",)), (8, 256))
    assert sharded("{devices=[4,1,2]<=[8] last_tile_dims={manual}}", **two) == ((4, 1), 2, (("X",), ()), (32, 64))
    assert sharded("{devices=[2,2]0,1,2,3}") == ((2, 2), 1, ((), ()), (16, 128))
    read = read_hlo(FUSED)
    assert sharding_of(read.text, read.main.instructions["q"], {}) is None
    assert sharded("", read) == ((4, 1), 2, ((), ()), (32, 64))


REDUCED = "%r = f32[8192,8192] all-reduce(f32[8192,8192] %x), to_apply=%add, replica_groups="
# machine, groups, the mesh and the axes of it that give the same time when they are named
GROUPS = [
    ("h100:16", "[4,4]<=[4,4]T(1,0)", {"X": 4, "Y": 4}),
    ("h100:16", "[2,8]<=[8,2]T(1,0)", {"X": 8, "Y": 2}),
    ("h100:16", "[2,8]<=[16]", {"Y": 2, "X": 8}),
    ("h100:16", "[1,16]<=[16]", {"X": 16}),
    ("h100:16", "{{0,1,8,9},{2,3,10,11},{4,5,12,13},{6,7,14,15}}", {"X": 2, "Y": 4, "Z": 2}),
    ("h100:64", "[4,16]<=[4,4,4]T(1,0,2)", {"X": 4, "Z": 4, "Y": 4}),
    ("tpu-v5e:4x4", "[4,4]<=[4,4]T(1,0)", {"X": 4, "Y": 4}),
    ("tpu-v5e:4x4", "[1,16]<=[16]", {"X": 16}),
]


@pytest.mark.parametrize(("name", "groups", "mesh"), GROUPS)
def test_groups_determine_the_mesh(name: str, groups: str, mesh: dict[str, int]) -> None:
    assert on(name, REDUCED + groups).time == on(name, REDUCED + groups, **mesh).time


def test_groups_that_share_the_uplink_of_a_node() -> None:
    # 4 x 4 of 16: two of a group in each node, four groups on its uplink; V = 256 MiB
    tree = chosen("h100:16")
    assert tree is not None
    assert tree.main_network is not None
    uplink = tree.main_network.levels[1].bandwidth
    volume = 4 * 8192 * 8192
    assert on("h100:16", REDUCED + "[4,4]<=[4,4]T(1,0)").time == 2 * sp.Rational(volume, 2) * 4 / uplink


# machine, pairs, how many sends the busiest link carries, in shares of V over one direction of a link
SENDS = [
    ("tpu-v5e:4x4", "{0,1},{1,0}", 1),
    ("tpu-v5e:4x4", "{0,2},{1,3},{2,0},{3,1}", 2),
    ("tpu-v5e:4x4", "{0,3},{1,2},{2,1},{3,0}", 2),
    ("tpu-v5e:4x4", "{0,8},{4,12}", 2),
    ("tpu-v5e:4x4", "{0,5},{5,0}", 1),
    ("tpu-v5p:4x4x4", "{0,1},{1,2},{2,3},{3,0}", 1),
    ("tpu-v5p:4x4x4", "{0,2},{1,3},{2,0},{3,1}", 1),  # half of each way round a ring of four
    ("tpu-v5e:4x4", "{0,0}", 0),
    ("tpu-v5e", "{0,2},{2,4},{4,6},{1,3},{3,5},{5,7}", 1),  # others lie between
]


@pytest.mark.parametrize(("name", "pairs", "load"), SENDS)
def test_sends_that_share_a_link(name: str, pairs: str, load: int) -> None:
    found = on(name, SEND.replace("{0,1}", pairs))
    main = machine(name.partition(":")[0]).main_network
    assert main is not None
    assert main.one_way is not None
    assert found.time == sp.Integer(16384) * load / main.one_way


def test_sends_through_a_tree() -> None:
    tree = chosen("h100:16")
    assert tree is not None
    assert tree.main_network is not None
    ports, uplink = (level.bandwidth for level in tree.main_network.levels)
    assert on("h100:16", SEND).time == 16384 / ports
    across = ",".join(f"{{{n},{(n + 8) % 16}}}" for n in range(16))
    assert on("h100:16", SEND.replace("{0,1}", across)).time == 8 * 16384 / uplink


def test_every_link_of_a_line_is_counted() -> None:
    """Any permutation on a line: the load is that of the sends that pass each link, counted one by one."""
    import random
    from itertools import product

    dice = random.Random(3)
    main = machine("tpu-v5e").main_network
    assert main is not None
    assert main.one_way is not None
    for _ in range(20):
        targets = dice.sample(range(4), 4)
        passing = [
            sum(1 for s, t in enumerate(targets) if (min(s, t) <= link < max(s, t)) and (t > s) == up)
            for link, up in product(range(3), (True, False))
        ]
        pairs = ",".join(f"{{{s},{t}}}" for s, t in enumerate(targets))
        assert on("tpu-v5e:4x4", SEND.replace("{0,1}", pairs)).time == sp.Integer(16384) * max(passing) / main.one_way
