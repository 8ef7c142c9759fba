"""Clusters: chips behind a fat tree. A message simulator judges the closed forms; programs and answers use them."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import fabric
import pytest
import sympy as sp
from sympy import Integer, Rational

from symscale import Question, derive
from symscale.cli import run
from symscale.collectives import (
    AxisOn,
    Kind,
    all_reduce,
    axis_on,
    cost,
    groups_reached,
    laid,
    lies,
    nested,
    stepwise,
)
from symscale.collectives.placing import fitted
from symscale.errors import MachineError
from symscale.machine import Level, Network, chosen, machine
from symscale.machine.cluster import never_binds
from symscale.solve import crossover
from symscale.vocabulary import symbol

V, X, Y, B, D, F, C, W_node, W_nvlink = map(symbol, ("V", "X", "Y", "B", "D", "F", "C", "W_node", "W_nvlink"))
POD = chosen("h100:1024")


def on_tree(levels: tuple[tuple[int, int], ...], **sizes: int | sp.Expr) -> dict[str, AxisOn]:
    """Lay axes on a tree of (children joined, pieces per step of one child); the last one is the innermost."""
    stages = tuple(Level(f"l{n}", size, Integer(speed)) for n, (size, speed) in enumerate(levels))
    network = Network("tree", "tree", stages[0].bandwidth, levels=stages)
    return nested({name: axis_on(name, size, network, numeric=True) for name, size in sizes.items()})


def over_all(kind: Kind, fab: fabric.Fabric, pieces: int) -> sp.Rational:
    """The time of a collective over all chips whose shard is `pieces` pieces."""
    n = fab.chips
    (axis,) = on_tree(fab.levels, X=n).values()
    volume = Integer(n * pieces) * (n if kind is Kind.AllToAll else 1)
    return cost(kind, volume, (axis,)).time


# ------------------------------------------------------------------ the message simulator

# Levels as (children joined, pieces per step of one child); pieces of a shard.
FABRICS = [
    (((4, 9), (3, 4)), 6),
    (((8, 9), (4, 8)), 4),
    (((8, 2), (2, 8)), 8),  # the ports inside a node are the slow ones
    (((2, 3), (2, 2), (2, 4)), 8),
    (((8, 3),), 6),
]


@pytest.mark.parametrize(("levels", "pieces"), FABRICS)
def test_all_gather_keeps_the_busiest_port_busy(levels: tuple[tuple[int, int], ...], pieces: int) -> None:
    fab = fabric.Fabric(levels)
    run, expected = fabric.gather(fab, pieces), over_all(Kind.AllGather, fab, pieces)
    assert run.busiest(fab) == Fraction(int(expected.p), int(expected.q))
    assert all(len(held) == fab.chips * pieces for held in run.held.values())
    # whole pieces, and the first and last hop, cost a few steps more
    assert expected <= run.steps <= Rational(3, 2) * expected


@pytest.mark.parametrize(("levels", "pieces"), FABRICS)
def test_all_to_all_keeps_the_busiest_port_busy(levels: tuple[tuple[int, int], ...], pieces: int) -> None:
    fab = fabric.Fabric(levels)
    run, expected = fabric.exchange(fab, pieces), over_all(Kind.AllToAll, fab, pieces)
    assert run.busiest(fab) == Fraction(int(expected.p), int(expected.q))
    assert expected <= run.steps <= Rational(3, 2) * expected


def test_a_tapered_tree_waits_for_its_top() -> None:
    # 4 nodes in 2 units; a unit's uplink is no faster than a node's
    fab = fabric.Fabric(((4, 9), (2, 4), (2, 2)))
    run, expected = fabric.exchange(fab, 3), over_all(Kind.AllToAll, fab, 3)
    assert run.busiest(fab) == Fraction(int(expected.p), int(expected.q)) == Fraction(3 * 8 * 8, 2)


@pytest.mark.parametrize("copies", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("level", [0, 1])
def test_a_token_reaches_as_many_groups_as_it_has_copies(copies: int, level: int) -> None:
    fab = fabric.Fabric(((4, 100), (3, 1)) if level else ((6, 1),))
    load = fabric.routed(fab, copies, level)
    groups = 3 if level else 6
    (axis,) = on_tree(fab.levels, X=fab.chips).values()
    # every chip has one token for each group to start with
    found = cost(Kind.AllToAll, Integer(fab.chips * groups), (axis,), copies=copies).time
    assert set(load.values()) == {found}
    assert groups_reached(copies, groups) == min(copies, groups)


def test_independent_draws_reach_fewer_groups() -> None:
    # every sequence of 3 experts in 4 groups, counted
    draws = [{a, b, c} for a in range(4) for b in range(4) for c in range(4)]
    assert groups_reached(3, 4, independent=True) == Rational(sum(map(len, draws)), len(draws))
    assert groups_reached(3, 4, independent=True) < groups_reached(3, 4)


@pytest.mark.parametrize("chips", [8, 16, 32])
def test_two_trees_send_the_array_twice(chips: int) -> None:
    pieces = 64
    run = fabric.two_trees(chips, pieces)
    found = all_reduce("tree", Integer(2 * pieces), chips, Integer(1), Integer(1))
    assert run.busiest(fabric.Fabric(((chips, 1),))) == found.time
    assert found.time <= run.steps <= Rational(3, 2) * found.time
    # one piece takes a step up and one down per level of the tree, and one more where a chip has two children
    alone = fabric.two_trees(chips, 1).steps
    assert (found.latency - 2).evalf() <= alone <= 2 * found.latency.evalf()


def test_where_two_trees_beat_a_ring() -> None:
    n, W, hop = symbol("n"), symbol("W"), symbol("T_hop")
    ring, tree = (stepwise(all_reduce(each, V, n, W, hop)) for each in ("ring", "tree"))
    found = crossover(ring, ">=", tree, V)
    border = n * W * hop * (n - 1 - sp.log(n, 2))
    (case,) = [each for each in found.cases if each.intervals]
    point = {n: Integer(64), W: Integer(450), hop: Rational(1, 3)}
    assert case.applies(point)
    assert (case.intervals[0].hi - border).xreplace(point).evalf(30) == pytest.approx(0, abs=1e-20)
    for volume, better in ((1000, True), (10**6, False)):
        assert bool((ring - tree).subs({**point, V: volume}).evalf() > 0) is better


# ------------------------------------------------------------------ axes inside each other

# mesh (the last axis is the innermost), the axis, its AllGather's time per byte on an H100 SuperPod.
NESTED = [
    ({"X": 1024}, "X", "Max(127/(128*W_node), 7/(8*W_nvlink))"),
    ({"X": 8}, "X", "7/(8*W_nvlink)"),
    ({"X": 4}, "X", "3/(4*W_nvlink)"),
    ({"X": 128, "Y": 8}, "X", "8*127/(128*W_node)"),
    ({"X": 128, "Y": 8}, "Y", "7/(8*W_nvlink)"),
    ({"X": 128, "Y": 4}, "X", "Max(4*63/(64*W_node), 1/(2*W_nvlink))"),
    ({"X": 64, "Y": 16}, "X", "8*63/(64*W_node)"),
    ({"X": 64, "Y": 16}, "Y", "Max(1/(2*W_node), 7/(8*W_nvlink))"),
    ({"X": 2, "Y": 64, "Z": 8}, "Y", "8*63/(64*W_node)"),
]


@pytest.mark.parametrize(("mesh", "axis", "stated"), NESTED)
def test_axes_fill_the_lowest_places_first(mesh: dict[str, int], axis: str, stated: str) -> None:
    from symscale import parse_formula

    axes = laid({name: Integer(size) for name, size in mesh.items()}, POD, {})
    assert cost(Kind.AllGather, V, (axes[axis],)).time.subs(V, 1) == parse_formula(stated.replace("Max", "max")).expr


@pytest.mark.parametrize("inner", [1, 2, 4, 8, 16, 32])
def test_the_outer_reduction_shrinks_by_the_nodes_that_the_inner_axis_spans(inner: int) -> None:
    # AllReduce_X of A[I_Y, J]: chapter 12 prints bytes/W_node · D/max(D, Y), in the limit of many nodes
    outer, *_ = laid({"X": Integer(1024 // inner), "Y": Integer(inner)}, POD, {}).values()
    found = cost(Kind.AllReduce, V / inner, (outer,)).time.subs({V: 1, W_node: 400, W_nvlink: 10**9})
    members = 1024 // max(8, inner)
    assert found == 2 * Rational(members - 1, members) / 400 * Rational(8, max(8, inner))


def test_a_joint_collective_counts_what_lies_between_its_axes() -> None:
    # X and Z of a mesh X, Y, Z: four groups share each chip's ports, and all of a node's uplink goes to their members
    axes = on_tree(((8, 9), (4, 8)), X=4, Y=4, Z=2)
    found = cost(Kind.AllGather, Integer(1), (axes["X"], axes["Z"])).time
    assert found == max(Rational(1, 2) / 9, Rational(3, 4) * 4 / 8)


def test_symbolic_axes_name_what_they_take_for_granted() -> None:
    axes = laid({"X": X, "Y": Y}, POD, {})
    assert cost(Kind.AllGather, V, (axes["Y"],)).time == V * (Y - 1) / (Y * W_nvlink)
    assert "inside groups of 8" in lies(axes["Y"])
    assert "whole groups" in lies(axes["X"])
    alone = cost(Kind.AllGather, V, (laid({"X": X}, POD, {})["X"],)).time
    for size in (2, 4, 8, 16, 256, 1024):
        exact = cost(Kind.AllGather, V, (laid({"X": Integer(size)}, POD, {})["X"],)).time
        point = {V: 1, W_nvlink: 450, W_node: 400}
        assert alone.subs(X, size).subs(point) == exact.subs(point)


def test_a_level_places_an_axis() -> None:
    axes = laid({"Y": Y, "X": X}, POD, {"Y": "node", "X": "leaf"})
    assert cost(Kind.AllGather, V, (axes["X"],)).time == 8 * V * (X - 1) / (X * W_node)
    assert cost(Kind.AllGather, V, (axes["Y"],)).time == V * (Y - 1) / (Y * W_nvlink)
    with pytest.raises(MachineError, match=r"neither a network nor a level 'spin'.\n.*Did you mean spine"):
        laid({"X": X}, POD, {"X": "spin"})
    with pytest.raises(MachineError, match="cannot join groups of 8 chips"):
        laid({"X": Integer(2), "Y": Integer(16)}, POD, {"X": "leaf", "Y": "node"})


def test_latency_counts_the_levels_passed() -> None:
    hop = symbol("T_hop")
    for mesh, axis, levels in (
        ({"X": 1024}, "X", 3),
        ({"X": 256}, "X", 2),
        ({"X": 8}, "X", 1),
        ({"X": 4, "Y": 256}, "X", 1),
        ({"X": 128, "Y": 8}, "X", 2),
    ):
        axes = laid({name: Integer(size) for name, size in mesh.items()}, POD, {}, latency=True)
        assert cost(Kind.AllGather, V, (axes[axis],)).latency == levels * hop
        assert cost(Kind.AllReduce, V, (axes[axis],)).latency == 2 * levels * hop
    layer = Question(MIXED, on="h100:1024", mesh={"X": Integer(128), "Y": Integer(8)}, latency=True, passes="forward")
    assert hop in derive(layer).times["forward"].comms.free_symbols


def test_full_levels_never_bind() -> None:
    levels = POD.network("tree").levels
    assert [never_binds(levels, n) for n in range(3)] == [False, False, True]
    tapered = (*levels[:2], Level("spine", 4, levels[2].bandwidth / 2))
    assert not never_binds(tapered, 2)


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ({"X": 12}, "12 chips does not fill whole groups of 8"),
        ({"X": 2048}, "2048 chips on a tree of 1024"),
        ({"X": 4, "Y": 3}, "3 chips does not fill whole groups of 8"),
        ({"X": 24}, "does not fill whole groups of 256"),
    ],
)
def test_meshes_that_do_not_fit_a_tree(mesh: dict[str, int], message: str) -> None:
    with pytest.raises(MachineError, match=message):
        laid({name: Integer(size) for name, size in mesh.items()}, POD, {})


# ------------------------------------------------------------------ clusters by name


@pytest.mark.parametrize(
    ("text", "sizes", "rates"),
    [
        ("h100:1024", (8, 32, 4), ("W_nvlink", "W_node", "W_leaf")),
        ("h100:4x32x8", (8, 32, 4), ("W_nvlink", "W_node", "W_leaf")),
        ("h100:128x8", (8, 32, 4), ("W_nvlink", "W_node", "W_leaf")),
        ("H100:16", (8, 2), ("W_nvlink", "W_node")),
        ("h100:4", (4,), ("W_nvlink",)),
        ("gb200-nvl72:576", (72, 8), ("W_nvlink", "W_node")),
        ("a100:160", (8, 20), ("W_nvlink", "W_node")),
        ("h800:2048", (8, 32, 8), ("W_nvlink", "W_node", "W_leaf")),
        ("v100:8", (8,), ("W_nvlink",)),
    ],
)
def test_clusters(text: str, sizes: tuple[int, ...], rates: tuple[str, ...]) -> None:
    found = chosen(text)
    assert found is not None
    levels = found.network("tree").levels
    assert tuple(level.size for level in levels) == sizes
    assert tuple(level.symbol for level in levels) == rates
    assert all(found.constants()[level.symbol] == level.bandwidth for level in levels)
    assert found.main_network == found.network("tree")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h100:12", "12 chips do not fill whole groups of 8"),
        ("h100:900000000", "more than the whole tree"),
        ("h100:8x128", "no groups of 128"),
        ("h100:2x4", "no groups of 4"),
        ("h100:x", "'' is not one"),
        ("h100:", "'' is not one"),
        ("h100:0", "'0' is not one"),
        ("rtx-4080:4", "has no tree of switches"),
        ("v100:16", "more than the whole tree"),
    ],
)
def test_impossible_clusters(text: str, message: str) -> None:
    with pytest.raises(MachineError, match=re.escape(message)) as error:
        chosen(text)
    assert f"\n    {text}\n    {' ' * (text.index(':') + 1)}^" in str(error.value)
    assert error.value.hint


RACKS = """
source = "me"
[peak]
bf16 = { value = 1, unit = "PFLOP/s" }
[network.nvlink]
kind = "switch"
domain = 4
bandwidth = { value = 400, unit = "GB/s", direction = "one_way" }
levels = [
  { name = "box", size = 4, bandwidth = { value = 400, unit = "GB/s", direction = "one_way" } },
  { name = "row", size = 8, bandwidth = { value = 200, unit = "GB/s", direction = "one_way" } },
  { name = "hall", size = 2, bandwidth = { value = 50, unit = "GB/s", direction = "one_way" } },
]
"""


def test_a_cluster_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "racks.toml"
    path.write_text(RACKS, encoding="utf-8")
    arguments = ["derive", DP, "--solve", "B", "--passes", "backward", "--mesh", "X=64", "--machine"]
    code, out = printed(capsys, *arguments, f"{path}:64")
    # eight boxes share one uplink of the hall, and half of the array comes through it
    assert code == 0
    assert "B >= 640,000 tokens" in out
    assert "W_row = 50 GB/s" in out
    code, out = printed(capsys, *arguments, f"{path}:128")
    assert code == 2
    assert "more than the whole tree" in out


@pytest.mark.parametrize("name", ["h100", "h200", "b200", "gb200", "a100", "h800"])
def test_the_lowest_level_is_the_chips_own_switch(name: str) -> None:
    chip = machine(name)
    (lowest, above, *_) = chip.network("ib").levels
    main = chip.main_network
    assert main is not None
    assert (lowest.size, lowest.bandwidth) == (main.domain, main.one_way)
    # a node's uplinks are the ports of its chips, and the leaf layer is not oversubscribed
    assert above.bandwidth == lowest.size * chip.network("ib").one_way
    levels = chip.network("ib").levels
    assert all(never_binds(levels, n) for n in range(2, len(levels)))


# ------------------------------------------------------------------ programs on clusters

DP = "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"


def headline(program: str, **options: object) -> sp.Expr:
    found = derive(Question(program, **options))  # type: ignore[arg-type]
    assert found.headline is not None
    value = found.crossovers[found.headline].value
    assert value is not None
    return value


def test_data_parallelism_over_a_superpod() -> None:
    assert headline(DP, solve="B", on="h100:1024", passes="backward") == Rational(989, 400) * 1000
    assert headline(DP, solve="B", on="h100:8", passes="backward") == Rational(989, 450) * 1000
    # with switches that add up the sums
    reduced = headline(DP, solve="B", on="h100:1024", passes="backward", in_network=True)
    assert reduced == Rational(989, 800) * 1000


def test_one_formula_holds_inside_a_node_and_beyond() -> None:
    found = derive(Question(DP, solve="B", on="h100:1024", passes="backward"))
    inside, beyond = sorted(found.crossovers[0].answers[0].cases, key=lambda case: case.when[0].op)
    assert [(str(case.when[0].lhs), case.when[0].op, case.when[0].rhs) for case in (inside, beyond)] == [
        ("X", "<", 8),
        ("X", ">=", 8),
    ]
    assert W_node not in inside.intervals[0].lo.free_symbols
    # the limit of many chips is compared with the case that it belongs to
    (ratio,) = [
        e.rhs for s in found.derivation.steps for e in s.equations if str(e.lhs) == "ratio" and e.rhs.has(W_node)
    ]
    far = ratio.subs({**_numbers("h100:1024"), X: 10**9})
    assert float(far) == pytest.approx(1, abs=1e-7)


def test_tensor_parallelism_beyond_a_node() -> None:
    found = derive(Question(TP, solve="Y", on="h100:1024", passes="forward", values={"F": Integer(28000)}))
    exact = found.crossovers[0].answers[0]
    (long,) = [case for case in exact.cases if case.applies({F: Integer(28000), **_numbers("h100:1024")})]
    bound = long.intervals[0].hi.xreplace({F: Integer(28000), **_numbers("h100:1024")})
    # the uplinks alone would let 19 chips; the ports inside the nodes let 14.6 only
    assert float(bound) == pytest.approx(28000 * 450e9 / 989e12 * 8 / 7)
    assert float(8 + 28000 * 400e9 / 989e12) == pytest.approx(19.3, abs=0.05)


def _numbers(on: str) -> dict[sp.Symbol, sp.Expr]:
    found = chosen(on)
    assert found is not None
    return {symbol("b"): Integer(2), **{symbol(k): v for k, v in found.constants("bf16").items()}}


def test_levels_work_at_the_same_time() -> None:
    found = derive(Question(MIXED, on="h100:1024", mesh={"X": Integer(128), "Y": Integer(8)}, passes="forward"))
    spent = found.times["forward"]
    assert set(spent.axes) == {"node", "leaf"}
    assert spent.comms == sp.Max(*spent.axes.values())
    serial = derive(
        Question(
            MIXED,
            on="h100:1024",
            mesh={"X": Integer(128), "Y": Integer(8)},
            passes="forward",
            overlap="axes-serial",
        )
    ).times["forward"]
    assert sp.expand(serial.comms - sum(spent.axes.values())) == 0


def test_the_setting_says_where_axes_lie() -> None:
    said = str(derive(Question(MIXED, on="h100:1024", mesh={"Y": Integer(8)}, passes="forward")).derivation)
    assert "fat tree of 8 (node) x 32 (leaf) x 4 (spine)" in " ".join(said.split())
    assert "outside 8 chips of other axes" in " ".join(said.split())
    assert "(no stragglers)" in " ".join(said.split())


def test_in_network_reduction_needs_switches_that_reduce() -> None:
    with pytest.raises(MachineError, match="no network of the mesh reduces"):
        derive(Question(DP, solve="B", on="a100:160", in_network=True))
    with pytest.raises(MachineError, match="no network of the mesh reduces"):
        derive(Question(DP, solve="B", on="tpu-v5p", in_network=True))


# ------------------------------------------------------------------ slices of a torus


@pytest.mark.parametrize(
    ("on", "sizes", "kind", "stated"),
    [
        ("tpu-v5e:4x16", {"X": 4}, "AllGather", "3*V/(4*W_link)"),
        ("tpu-v5e:4x16", {"X": 16}, "AllGather", "15*V/(16*W_ici)"),
        ("tpu-v5e:4x16", {"X": 64}, "AllGather", "63*V/(64*(W_ici + W_link))"),
        ("tpu-v5e:4x16", {"X": 16, "Y": 4}, "AllGather", "15*V/(16*W_ici)"),
        ("tpu-v5p:4x4x4", {"X": 64}, "AllGather", "63*V/(64*3*W_ici)"),
        ("tpu-v5p:2x4x4", {"X": 4}, "AllGather", "3*V/(4*W_link)"),  # no whole cubes: nothing closes
        ("tpu-v5p:4x4x8", {"X": 8}, "AllGather", "7*V/(8*W_ici)"),
    ],
)
def test_axes_on_a_slice(on: str, sizes: dict[str, int], kind: str, stated: str) -> None:
    from symscale import parse_formula

    axes = laid({name: Integer(size) for name, size in sizes.items()}, chosen(on), {})
    found = cost(kind, V, (axes["X"],)).time
    assert sp.cancel(found - parse_formula(stated).expr) == 0


def test_a_mesh_has_to_fit_its_slice() -> None:
    assert fitted({"X": 16, "Y": 8}, {}, (4, 4, 8)) == {"X": (0, 1), "Y": (2,)}
    assert fitted({"X": 4}, {"X": 2}, (4, 4)) is None
    with pytest.raises(MachineError, match="X = 8 does not fit TPU v5e, 4x16 slice"):
        laid({"X": Integer(8)}, chosen("v5e:4x16"), {})
    words = lies(laid({"X": Integer(64)}, chosen("v5e:4x16"), {})["X"])
    assert words == "a line of 4 and a ring of 16 of ici"


def test_a_symbolic_axis_on_a_slice_is_a_ring_only_if_all_axes_are() -> None:
    assert laid({"X": X}, chosen("tpu-v5e:16x16"), {})["X"].closed
    assert not laid({"X": X}, chosen("tpu-v5e:4x16"), {})["X"].closed


# ------------------------------------------------------------------ the command line


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_derive_on_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = printed(capsys, "derive", DP, "--solve", "B", "--on", "h100:1024", "--passes", "backward")
    assert code == 0
    assert "B/X >= 2472.5 tokens per chip" in out
    code, out = printed(capsys, "derive", DP, "--solve", "B", "--on", "h100:12")
    assert (code, out.count("\n")) == (2, 4)
    code, out = printed(
        capsys, "derive", DP, "--solve", "B", "--on", "h100:1024", "--passes", "backward", "--in-network"
    )
    assert "B/X >= 1236.25 tokens per chip" in out


def test_machines_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = printed(capsys, "machines", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["schema"] == "symscale.machines/1.0"
    chips = {each["name"]: each for each in found["machines"]}
    assert chips["tpu-v5e"]["constants"]["W_ici"] == 9 * 10**10
    assert chips["h100"]["networks"][1]["levels"][1] == {"name": "leaf", "size": 32, "bandwidth": 4 * 10**11}
    for chip in chips.values():
        assert all(value["source"] and value["unit"] for value in chip["values"])
    _, out = printed(capsys, "machines", "h100:16", "--format", "json")
    (one,) = json.loads(out)["machines"]
    assert [level["size"] for level in one["networks"][0]["levels"]] == [8, 2]
    code, out = printed(capsys, "machines", "--format", "md")
    assert code == 2
    assert "text or json" in out
