"""Chapter 12 of "How To Scale Your Model": what it prints beside what the engine derives or the chips' files hold.

Every row has the name of its entry in our key of the book. A printed number is compared to the digits it has, or to
what its words allow ("roughly 1k"); where it is left to the reader, the row holds the value worked out by hand. Where
the chapter is wrong, or contradicts itself, the row stands under errata with the right value and the reason.
"""

from __future__ import annotations

from functools import cache

import pytest
import sympy as sp

from symscale import parse_formula, parse_relation
from symscale.collectives import bus_factor, cost, groups_reached, laid
from symscale.derivation import Builder
from symscale.derivation.registry import entry
from symscale.machine import chosen
from symscale.vocabulary import symbol

V = symbol("V")


@cache
def numbers(on: str) -> dict[sp.Symbol, sp.Expr]:
    """What a chip, slice or cluster has: its rates, parts, levels (D_node chips and so on) and dtype peaks."""
    found = chosen(on)
    assert found is not None
    peaks = {f"C_{dtype}": value for dtype, value in found.peaks}
    levels = {f"D_{level.name}": level.size for level in found.networks[0].levels}
    pairs = {**found.constants("bf16"), **found.cores, **peaks, **levels}
    return {symbol(name): sp.Rational(value) for name, value in pairs.items()}


@cache
def written(name: str) -> Builder:
    """Write a derivation on a blackboard of its own, once."""
    found = entry(name)
    d = Builder(found.title, found.source)
    found.write(d)
    return d


def value(on: str, text: str) -> float:
    found = parse_formula(text).expr.xreplace(numbers(on))
    assert found.is_number, found.free_symbols
    return float(found)


# ------------------------------------------------------------------ chips and links

# entry, chip, formula in its numbers, printed, the relative distance that the printed digits explain
CHIPS = [
    ("text.h100-tc-flops-per-cycle", "h100", "C/(N_core*N_matrix*1.76e9)", 1024, 0.05),  # to the power of two
    ("text.h100-flops-per-sm", "h100", "C/N_core", 7.5e12, 0.01),
    ("text.b200-tc-flops-per-cycle", "b200", "C/(N_core*N_matrix*1.86e9)", 2048, 0.01),
    ("text.a100-tc-flops-per-cycle", "a100", "C/(N_core*N_matrix*f_clock)", 512, 0.001),
    ("text.cuda-core-tflops", "h100", "2*N_core*N_lane*f_clock", 66e12, 0.02),
    ("text.register-file", "h100", "M_register", 256 * 1024, 0),
    ("text.resident-warps", "h100", "M_register/(4*32*256)", 8, 0),
    ("text.l2-vs-hbm", "h100", "5.5e12/W_hbm", 1.6, 0.03),
    ("table.h100-fp8", "h100", "C_fp8", 2.0e15, 0.02),
    ("table.a100-int8", "a100", "C_int8", 6.2e14, 0.01),
    ("table.b200-bf16", "b200", "C", 2.3e15, 0.03),
    ("table.b200-fp8", "b200", "C_fp8", 4.5e15, 0),
    ("table.b200-fp4", "b200", "C_fp4", 9e15, 0),
    ("table.h100-hbm-bw", "h100", "W_hbm", 3.4e12, 0.015),
    ("table.simd-units", "h100", "N_core*N_matrix", 528, 0),
    ("text.h100-alus", "h100", "N_core*N_lane", 16e3, 0.06),
    ("text.tpu-vpu-alus", "tpu-v5p", "N_lane", 4096, 0),
    ("quiz1.q1.a", "h100", "N_core*N_lane", 16896, 0),
    ("quiz1.q1.b", "b200", "N_core*N_lane", 18944, 0),
    ("quiz1.q1.c", "tpu-v5p", "N_core*N_lane", 8192, 0),
    ("quiz1.q1.d", "h100", "8192/(N_core*N_lane)", 0.5, 0.04),
    ("quiz1.q2.a", "h100", "N_core*N_lane*1.59e9", 26.9e12, 0.002),
    ("quiz1.q2.b", "h100", "N_core*N_lane*f_clock", 33.5e12, 0.002),
    ("quiz1.q2.c", "h100", "C/(N_core*N_lane*f_clock)", 30, 0.02),
    ("quiz1.q3.h100-fp16", "h100", "C/W_hbm", 295, 0.002),
    ("quiz1.q3.b200-fp16", "b200", "C/W_hbm", 281, 0.001),
    ("quiz1.q3.tpu", "tpu-v5e", "C/W_hbm", 240, 0.002),
    ("quiz1.q3.h100-fp8", "h100", "C_fp8/W_hbm", 591, 0.001),
    ("quiz1.q3.b200-fp8", "b200", "C_fp8/W_hbm", 562, 0.001),
    ("quiz1.q5.a", "h100", "N_core*M_scratchpad", 33e6, 0.025),
    ("quiz1.q5.b", "h100", "2*N_core*M_scratchpad", 66e6, 0.025),
    ("quiz1.q6.a", "b200", "2*N_core*N_lane", 37888, 0),
    ("quiz1.q6.b", "b200", "80e12/(2*N_core*N_lane)", 2.1e9, 0.01),
    ("quiz1.q7.formula", "h100", "W_hbm/12", 2.8e11, 0.005),
    ("quiz1.q7.slowdown", "h100", "N_core*N_lane/1024", 16, 0.04),
    ("quiz1.q7.sms", "h100", "1024/N_lane", 8, 0),
    ("text.h200-vs-v5p-flops", "h200", "C/459e12", 2, 0.08),
    ("table.nvlink-ampere", "a100", "W_nvlink", 300e9, 0),
    ("table.nvlink-hopper", "h100", "W_nvlink", 450e9, 0),
    ("table.nvlink-blackwell", "b200", "W_nvlink", 900e9, 0),
    ("quiz2.q1.gpu", "h100:8", "D_node*W_nvlink", 3.6e12, 0),
    ("quiz2.q2", "h100:8", "2*D_node/2*W_nvlink", 3.6e12, 0),
    ("text.su-gpus", "h100:1024", "D_node*D_leaf", 256, 0),
    ("text.superpod-gpus", "h100:1024", "D_node*D_leaf*D_spine", 1024, 0),
    ("table.node-bw", "h100:1024", "D_node*W_nvlink", 3.6e12, 0),
    ("table.leaf-bw", "h100:1024", "D_leaf*W_node", 12.8e12, 0),
    ("table.spine-bw", "h100:1024", "D_spine*W_leaf", 51.2e12, 0),
    ("table.leaf-gpu-bw", "h100:1024", "W_ib", 50e9, 0),
    ("table.spine-gpu-bw", "h100:1024", "W_leaf/(D_node*D_leaf)", 50e9, 0),
    ("table.fat-tree-bw", "h100:1024", "D_node*W_ib", 400e9, 0),
    ("text.tpu-v5p-egress", "tpu-v5p", "3*W_ici", 540e9, 0),
    ("text.gb200-node-egress", "gb200:576", "W_node", 3.6e12, 0),
    ("text.gb200-vs-h100-egress", "gb200:576", "W_node/400e9", 9, 0),
    ("text.gb200-superpod-gpus", "gb200:576", "D_node*D_spine", 576, 0),
    ("quiz3.q1.node", "h100:1024", "D_node*W_ib", 400e9, 0),
    ("quiz3.q1.per-node", "h100:1024", "D_spine*W_leaf/(D_leaf*D_spine)", 400e9, 0),
    ("quiz3.q1.bisection", "h100:1024", "D_spine/2*W_leaf", 25.6e12, 0),
    ("quiz3.q1.su-spine", "h100:1024", "W_leaf", 12.8e12, 0),
    ("quiz3.q2.4096-core", "h100:4096", "D_core*W_spine", 204.8e12, 0),
    ("text.alltoall-effective-bw", "h100:1024", "W_node/D_node", 50e9, 0),
    ("text.dp-node", "h100", "C/W_nvlink", 2200, 0.002),
    ("text.dp-su", "h100:1024", "C/W_node", 2475, 0.002),
    ("text.dp-tpu", "tpu-v5p", "C/(3*W_ici)", 850, 0),
    ("text.dp-llama3", "h100:1024", "16000*C/W_node", 40e6, 0.02),
    ("text.dp-deepseek-threshold", "h800", "C/W_nvlink", 3300, 0.002),
    ("text.dp-deepseek-batch", "h800", "2048*C/W_nvlink", 6.758e6, 0.002),
    ("takeaway.tp", "h100:1024", "C/W_node", 2475, 0.002),
    ("text.ep-8alpha", "h100:1024", "8*C/W_node", 19800, 0.002),
    ("quiz5.q1.flops-ratio", "b200", "C/990e12", 2.25, 0.011),
    ("quiz5.q1.tp", "b200", "C/W_nvlink", 2500, 0),
    ("quiz5.q1.dp", "b200:1024", "C/W_node", 5625, 0),
    ("quiz5.q2.1.gpus", "h100", "ceiling(700e9/M_hbm)", 9, 0),
    ("quiz5.q2.2.seconds", "h100", "6*70e9*15e12/(4096*C*0.45)", 3.5e6, 0.02),
    ("quiz5.q2.2.days", "h100", "6*70e9*15e12/(4096*C*0.45)/86400", 40, 0.01),
    ("quiz5.q2.3.pp-bw", "h100:1024", "8*W_node", 3200e9, 0),
    ("quiz5.q2.3.pp-roofline", "h100:1024", "C/(8*W_node)", 309, 0.002),
    ("quiz5.q3.threshold", "h100:1024", "C/W_node", 2472, 0.0005),
    ("quiz5.q3.crit-70b", "h100:1024", "C/(2*W_node)", 1000, 0.25),  # "roughly 1k"
    ("quiz5.q3.crit-314b", "h100:1024", "C/(8*W_node)", 300, 0.035),
    ("appA.egress", "gb200:576", "W_node", 3.6e12, 0),
    ("appA.improvement", "gb200:576", "(W_node/400e9)/(C/990e12)", 4, 0.011),
    ("appA.nvlink-x", "b200", "W_nvlink/450e9", 2, 0),
    ("text.tc-8x8x8", "h100", "FLOPs_cycle", 2 * 8**3, 0),
    ("table.tpu-vpu-slots", "tpu-v5p", "N_core*N_lane/1024", 8, 0),
    ("text.h200-vs-v5p-hbm", "h200", "M_hbm/96e9", 1.47, 0.002),
    ("quiz1.q3.batch", "b200", "C/W_hbm", 281, 0.001),
    ("quiz1.q5.c", "h100", "2*N_core*M_scratchpad/120e6", 0.56, 0.01),
    ("quiz1.q7.peak-intensity", "h100", "N_core*N_lane*f_clock/W_hbm", 10, 0.002),
    ("text.spine-ag-bw", "h100:1024", "W_leaf*D_spine/(D_spine - 1)", 17.1e12, 0.002),
    ("quiz4.q5.leaf", "h100:16", "W_node*D_leaf/(D_leaf - 1)", 800e9, 0),
    ("text.collective-bw-bisection", "h100:8", "2*D_node/2*W_nvlink/D_node", 450e9, 0),
    ("example.deepseek-ep-nodes", "h800:2048", "64/D_node", 8, 0),
    ("quiz5.q2.1.nodes", "h100:1024", "ceiling(ceiling(700e9/M_hbm)/D_node)", 2, 0),
    ("quiz5.q2.3.mem", "h100:1024", "700e9/D_node/M_hbm", 87.5 / 80, 0),
    ("tldr.tp", "h100:1024", "min(floor(28000*W_nvlink/C), D_node)", 8, 0),
    ("appA.within-node", "b200", "C/W_nvlink/2200", 1.136, 0.001),
    ("appB.leaf-cable", "h100:1024", "D_node*D_leaf*W_ib", 12.8e12, 0),
    ("appB.per-gpu-leaf", "h100:1024", "D_leaf*W_node/(D_leaf*D_node)", 50e9, 0),
]


@pytest.mark.parametrize(("key", "on", "text", "printed", "rounding"), CHIPS, ids=[row[0] for row in CHIPS])
def test_numbers_of_chips_and_clusters(key: str, on: str, text: str, printed: float, rounding: float) -> None:
    assert value(on, text) == pytest.approx(printed, rel=rounding or 1e-12)


# ------------------------------------------------------------------ collectives

# entry, kind, mesh, axes of the collective, cluster, options, bandwidth V/T that the chapter prints, its rounding
BANDWIDTHS = [
    ("takeaway.ag-node-h100", "AllGather", {"X": 8}, "X", "h100:8", {}, 514.3e9, 0.001),
    ("takeaway.ag-node-b200", "AllGather", {"X": 8}, "X", "b200:8", {}, 1028.6e9, 0.001),
    ("text.node-ag-bw", "AllGather", {"X": 8}, "X", "h100:8", {}, 514e9, 0.001),
    ("text.leaf-ag-bw", "AllGather", {"X": 256}, "X", "h100:256", {}, 413e9, 0.001),
    ("quiz4.q5.total", "AllGather", {"X": 16}, "X", "h100:16", {}, 514e9, 0.001),
    ("formula.sharp-ar", "AllReduce", {"X": 8}, "X", "h100:8", {"in_network": True}, 450e9, 0),
    ("text.sharp-crossnode", "AllReduce", {"X": 256}, "X", "h100:256", {"in_network": True}, 400e9, 0),
    ("quiz4.q4", "AllReduce", {"X": 4, "Y": 256}, "X", "h100:1024", {"in_network": True}, 50e9, 0),
    ("formula.ag-rs-crossnode", "ReduceScatter", {"X": 128, "Y": 8}, "X", "h100:1024", {}, 50.4e9, 0.001),
    ("formula.allreduce-node", "AllReduce", {"X": 8}, "X", "h100:8", {}, 257e9, 0.001),
]


@pytest.mark.parametrize(
    ("key", "kind", "mesh", "axis", "on", "options", "printed", "rounding"),
    BANDWIDTHS,
    ids=[row[0] for row in BANDWIDTHS],
)
def test_bandwidths_of_collectives(
    key: str,
    kind: str,
    mesh: dict[str, int],
    axis: str,
    on: str,
    options: dict[str, bool],
    printed: float,
    rounding: float,
) -> None:
    axes = laid({name: sp.Integer(size) for name, size in mesh.items()}, chosen(on), {}, numeric=True)
    found = cost(kind, sp.S.One, (axes[axis],), **options).time
    assert float(1 / found) == pytest.approx(printed, rel=rounding or 1e-12)


def time(kind: str, on: str, chips: int, **options: object) -> sp.Expr:
    (axis,) = laid({"X": sp.Integer(chips)}, chosen(on), {}, numeric=True).values()
    return cost(kind, sp.S.One, (axis,), **options).time  # type: ignore[arg-type]


def test_all_to_all() -> None:
    node = time("AllToAll", "h100:8", 8)
    assert node * 450 * 10**9 == sp.Rational(7, 64)  # formula.alltoall-node, takeaway.alltoall-node
    assert sp.Rational(1, 4) / (node * 450 * 10**9) == sp.Rational(16, 7)  # text.alltoall-vs-tpu, printed 2
    # formula.alltoall-crossnode, text.alltoall-degradation
    for chips in (16, 64, 256):
        nodes = chips // 8
        assert time("AllToAll", f"h100:{chips}", chips) == sp.Rational(nodes - 1, nodes**2) / (400 * 10**9)
    assert float(time("AllToAll", "h100:16", 16) / node) == pytest.approx(2.571, rel=1e-3)
    # takeaway.alltoall-ragged, pop2.b: k of 8 GPUs of a dense array of 8 tokens each
    for k in (1, 4, 8):
        assert time("AllToAll", "h100:8", 8, copies=k) / 8 == node * sp.Rational(k, 8)


# entry, derivation, what one of its equations says in bf16
FORMULAS = [
    ("formula.dp-tmath", "gpus/dp", "T_math == 8*B*D*F/(X*C)"),
    ("formula.dp-tcomms", "gpus/dp-node", "rhs == 8*D*F/W_nvlink"),
    ("formula.dp-threshold", "gpus/dp-node", "B/X >= C/W_nvlink"),
    ("formula.dp-small-x", "gpus/dp", "B >= Max(7*X*C/(8*W_nvlink), C*(X - 8)/W_node)"),
    ("formula.tp-tmath", "gpus/tp-node", "T_math == 4*B*D*F/(Y*C)"),
    ("formula.tp-tcomms", "gpus/tp-node", "rhs == 4*B*D/W_nvlink"),
    ("formula.tp-threshold", "gpus/tp-node", "Y <= F*W_nvlink/C"),
    ("formula.tp-two-nodes", "gpus/tp-uplinks", "Y <= F*W_node/C + 8"),
    ("formula.ep-small", "gpus/ep", "F >= C*(Z - 8)/(k*W_node)"),
    ("formula.ep-large@exact", "gpus/ep", "F >= 8*C*(Z - 8)/(Z*W_node)"),
    ("formula.ep-large", "gpus/ep-wide", "F >= 8*C/W_node"),
    ("formula.pp-hop", "gpus/pp", "T_comms == 8*2*B*D/(m*W_node)"),  # W is one GPU's share, W_node/8
    ("quiz4.q2.time", "gpus/sharp", "T_comms == M_array/W_nvlink"),
    ("formula.allreduce-node", "gpus/sharp", "T_comms == 7/4*M_array/W_nvlink"),
    ("pop3.a", "gpus/sharded-inside", "T_comms == 31/32*2*D*F/W_node"),
    ("pop3.b", "gpus/sharded-outside", "T_comms == 15/16*D*F/W_node"),
]


@pytest.mark.parametrize(("key", "name", "text"), FORMULAS, ids=[f"{key}@{name}" for key, name, _ in FORMULAS])
def test_formulas(key: str, name: str, text: str) -> None:
    lhs, op, rhs, _ = parse_relation(text)
    found = [
        each.rhs.xreplace({symbol("b"): sp.Integer(2)})
        for step in written(name).steps
        for each in step.equations
        if each.lhs == lhs and each.op == ("==" if op == "=" else op)
    ]
    assert any(same(each, rhs) for each in found), found


def same(found: sp.Expr, stated: sp.Expr) -> bool:
    names = sorted(found.free_symbols | stated.free_symbols, key=str)
    for seed in (3, 7, 11):
        point = {name: sp.Rational(seed + 5 * n, 1 + n) for n, name in enumerate(names)}
        if sp.expand(found.xreplace(point) - stated.xreplace(point)) != 0:
            return False
    return True


@pytest.mark.parametrize("nodes", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("k", [1, 4, 8])
def test_experts_over_nodes(nodes: int, k: int) -> None:
    # formula.ep-a2a: 2·B·D·(Z − 8)/Z·min(8k/Z, 1) over the uplinks of a node
    chips = 8 * nodes
    (axis,) = laid({"Z": sp.Integer(chips)}, chosen("h100:256"), {}).values()
    uplinks = dict(cost("AllToAll", V, (axis,), copies=k).levels)["leaf"]
    printed = V * sp.Rational(chips - 8, chips) * min(sp.Rational(8 * k, chips), 1) / symbol("W_node")
    assert sp.cancel(uplinks - printed) == 0


def test_sums_over_an_array_that_is_sharded_inside() -> None:
    # quiz4.q3: bf16[D, F_Y]{U_X}, in one node and over four
    size = symbol("D") * symbol("F") * 2
    one = laid({"X": sp.Integer(2), "Y": sp.Integer(4)}, chosen("h100:8"), {})
    assert cost("AllReduce", size / 4, (one["X"],), in_network=True).time == size / (4 * symbol("W_nvlink"))
    four = laid({"X": sp.Integer(8), "Y": sp.Integer(4)}, chosen("h100:32"), {})
    levels = dict(cost("AllReduce", size / 4, (four["X"],), in_network=True).levels)
    assert levels["leaf"] == size / symbol("W_node")  # what leaves a node is the whole array once
    # formula.sharded-precise prints (D − 1)/(D·max(Y, S)·W): with Y = 1 that is an eighth of the unsharded time
    alone = laid({"X": sp.Integer(256)}, chosen("h100:256"), {})
    unsharded = dict(cost("AllGather", V, (alone["X"],)).levels)["leaf"]
    assert unsharded == sp.Rational(31, 32) * V / symbol("W_node")


def test_random_destinations() -> None:
    def nonlocal_share(k: int, groups: int) -> sp.Expr:
        return groups_reached(k, groups, independent=True) / groups * sp.Rational(groups - 1, groups)

    assert float(nonlocal_share(4, 4)) == pytest.approx(0.51, abs=0.005)  # appB.a2a-fig
    # text.alltoall-approx-quality: "very close" is 21 % at K = 4, Z = 8, and 46 % at K = Z = 4
    near = {z: groups_reached(4, z) / groups_reached(4, z, independent=True) for z in (4, 8, 64)}
    assert [float(near[z]) for z in (4, 8, 64)] == pytest.approx([1.4629, 1.2080, 1.0238], rel=1e-3)


def test_bus_bandwidth() -> None:
    assert float(210 * bus_factor("AllReduce", 8)) == pytest.approx(370, rel=0.01)  # text.bus-bw: 367.5
    ring, added = time("AllReduce", "h100:8", 8), time("AllReduce", "h100:8", 8, in_network=True)
    assert ring / added - 1 == sp.Rational(3, 4)  # text.sharp-gain


# ------------------------------------------------------------------ derivations

# entry, derivation, printed, rounding: the last number that the derivation arrives at
DERIVED = [
    ("quiz2.q3.exact", "gpus/all-gather-node", 1.0439e-3, 1e-4),
    ("pop1.exact", "gpus/all-gather-small", 65.24e-6, 1e-3),
    ("text.overall-ag-bw@unit", "gpus/all-gather-unit", 413e9, 0.001),
    ("quiz4.q5.node", "gpus/all-gather-two-nodes", 514e9, 0.001),
    ("pop3.fig", "gpus/sharded-inside", 1.3e-3, 0.005),
    ("text.sharp-gain", "gpus/sharp", 1.75, 0),
    ("formula.dp-threshold", "gpus/dp", 2475, 0),
    ("text.dp-su", "gpus/dp", 2475, 0),
    ("tldr.dp", "gpus/dp", 2500, 0.011),
    ("text.dp-node@2200", "gpus/dp-node", 2200, 0),
    ("text.dp-sharp-node", "gpus/dp-sharp", 2475 / 2, 0),
    ("text.dp-gptoss", "gpus/dp-moe", 79200, 0),
    ("text.tp-beyond", "gpus/tp", 11, 0.03),
    ("formula.ep-small", "gpus/ep", 2475, 0),
    ("formula.ep-large", "gpus/ep-wide", 19800, 0),
    ("tldr.ep", "gpus/ep-wide", 8 * 2475, 0),
    ("text.ep-deepseek", "gpus/ep-reach", 8 + 8 * 2048 / 2475, 1e-9),
    ("quiz5.q1.dp", "gpus/dp-b200", 5625, 0),
    ("quiz5.q1.tp", "gpus/b200", 2500, 0),
    ("quiz1.q4.a", "gpus/matmul-small", 8.6e-6, 0.005),
    ("quiz1.q4.b", "gpus/matmul-large", 15e-6, 0.02),
    ("quiz1.q7.big", "gpus/vector-add", 3.84e-3, 0.002),
]


def last_number(name: str) -> float:
    return float([step for step in written(name).steps if step.kind == "evaluate"][-1].equations[-1].rhs)


@pytest.mark.parametrize(("key", "name", "printed", "rounding"), DERIVED, ids=[row[0] for row in DERIVED])
def test_numbers_of_derivations(key: str, name: str, printed: float, rounding: float) -> None:
    assert last_number(name) == pytest.approx(printed, rel=rounding or 1e-12)


# ------------------------------------------------------------------ errata

# entry, chip, formula in its numbers, ours, printed, why
ERRATA = [
    (
        "table.tpu-vreg",
        "tpu-v5p",
        "N_core*M_register",
        2 * 256 * 1024,
        256e3,
        "256 KiB is one core's, the chip has two",
    ),
    ("table.h100-smem", "h100", "N_core*M_scratchpad", 33.792e6, 32e6, "Quiz 1 has 33 MB for the same product"),
    ("text.vmem-vs-l2", "h100", "128e6/M_cache", 2.56, 2, "2.56, not 2"),
    ("text.b200-hbm-bw", "b200", "W_hbm", 8e12, 9e12, "the table and Quiz 1 have 8 TB/s"),
    ("takeaway.dp", "b200:1024", "C/W_node", 5625, 2500, "2500 is the B200's inside a node; Quiz 5 has 5625 beyond"),
    ("text.tp-node", "h100", "28000*W_nvlink/C", 12.74, 11, "11 is F/2475, beyond the node; F/2200 is 12.7"),
    ("quiz5.q2.3.tp", "h100", "28672*W_nvlink/C", 13.046, 14.372, "C/W_nvlink is 2198; no peak or rate gives 1995"),
]


@pytest.mark.parametrize(("key", "on", "text", "ours", "printed", "why"), ERRATA, ids=[row[0] for row in ERRATA])
def test_what_the_chapter_prints_is_off(key: str, on: str, text: str, ours: float, printed: float, why: str) -> None:
    assert value(on, text) == pytest.approx(ours, rel=1e-3)
    assert value(on, text) != pytest.approx(printed, rel=0.05)


def test_the_spine_does_not_make_a_gather_faster() -> None:
    # text.overall-ag-bw prints 413e9 for the SuperPod: its levels each count as the top one. A node's uplink also
    # carries what comes from the other units, 127/128 of the array, not 31/32.
    assert float(1 / time("AllGather", "h100:1024", 1024)) == pytest.approx(403.1e9, rel=1e-3)
    assert float(1 / time("AllGather", "h100:256", 256)) == pytest.approx(412.9e9, rel=1e-3)


def test_two_nodes_do_not_halve_the_batch() -> None:
    # text.dp-2node prints 1237: the uplinks' share alone. Inside each node the ring still takes 7/8 of V/W_nvlink.
    assert last_number("gpus/dp-two-nodes") == pytest.approx(7 / 8 * 2200)
    # text.tp-19: likewise, 19 GPUs by the uplinks and 14.5 by the ports
    assert last_number("gpus/tp-uplinks") == pytest.approx(28000 * 8 / 7 / 2200)


def test_a_rack_waits_for_its_own_switches() -> None:
    # appA: nine times the uplinks make the roofline beyond the rack 4 times lower, but the ports of the GPUs now bind
    assert last_number("gpus/dp-gb200") == pytest.approx(71 / 72 * 2500)


def test_the_vector_intensity_is_not_constant() -> None:
    # quiz1.q7.footnote compares an H100 without multiply-adds (33.5/3.35) with a B200 with them (80/8)
    h100 = value("h100", "N_core*N_lane*f_clock/W_hbm")
    b200 = 80e12 / 2 / value("b200", "W_hbm")
    assert h100 / b200 == pytest.approx(2.0, rel=0.01)


def test_zero_3_needs_no_larger_batch() -> None:
    # quiz5.q2.3.zero3-factor, printed as twice: every pass moves as many bytes per FLOP as data parallelism's backward
    def sent_per_flop(program: str, which: str) -> sp.Expr:
        layer = Builder("").program(program, on="h100:1024", mesh={"X": 1024})
        each = layer.costs[which]
        return sp.cancel(sp.Add(*each.comm_bytes().values()) / each.total_flops)

    plain = sent_per_flop("In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]", "backward")
    split = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
    assert sent_per_flop(split, "forward") == sent_per_flop(split, "backward") == plain


def test_stages_and_tensor_parallelism_divide_the_reduction() -> None:
    # example.llama3-dp-reduction: 8 x 16 chips inside span 16 nodes
    wide = laid({"X": sp.Integer(128), "Y": sp.Integer(128)}, chosen("h100:16384"), {}, numeric=True)
    narrow = laid({"X": sp.Integer(128), "Y": sp.Integer(8)}, chosen("h100:1024"), {}, numeric=True)
    inside = cost("AllReduce", sp.Rational(1, 128), (wide["X"],)).time
    assert cost("AllReduce", sp.Rational(1, 8), (narrow["X"],)).time / inside == 16
