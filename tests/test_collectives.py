"""Collective costs: closed forms judged by the step-by-step simulator, and the book's numbers."""

from __future__ import annotations

import pytest
import simulator as sim
import sympy as sp
from sympy import Integer, Rational

from symscale.collectives import (
    KINDS,
    AxisOn,
    Cost,
    Kind,
    axis_on,
    bus_factor,
    cost,
    nested,
    point_to_point,
    total_time,
)
from symscale.collectives.torus import LINE_DETOUR
from symscale.errors import MachineError
from symscale.machine import Level, Network, chosen, generic_network, machine
from symscale.vocabulary import symbol

V, X, Y, Z, W_ici, W_link, W_dcn, T_hop = map(symbol, ("V", "X", "Y", "Z", "W_ici", "W_link", "W_dcn", "T_hop"))
ICI = generic_network("ici")
NVLINK, DCN, IB = generic_network("nvlink"), generic_network("dcn"), generic_network("ib")
MICRO = Rational(1, 10**6)


def ring(name: str, size: int | sp.Expr, *, closed: bool = True) -> AxisOn:
    return axis_on(name, size, ICI, closed=closed, latency=True)


def tree_axes(levels: tuple[tuple[int, int], ...], **sizes: int | sp.Expr) -> tuple[AxisOn, ...]:
    """Lay axes on a fat tree of (children joined, one-way bandwidth of each); the last one is the innermost."""
    stages = tuple(Level(f"l{n}", size, Integer(speed)) for n, (size, speed) in enumerate(levels))
    network = Network("tree", "tree", stages[0].bandwidth, levels=stages)
    return tuple(nested({name: axis_on(name, size, network, numeric=True) for name, size in sizes.items()}).values())


def over_tree(kind: Kind, levels: tuple[tuple[int, int], ...], **options: bool) -> sp.Expr:
    """The time of one byte over the whole tree."""
    return cost(kind, Integer(1), tree_axes(levels, X=sp.prod(size for size, _ in levels)), **options).time


def on_links_of_one(found: Cost) -> sp.Rational:
    """The time of one byte with W_link = 1 B/s and W_ici = 2 B/s."""
    return found.time.subs({V: 1, W_ici: 2, W_link: 1})


# ------------------------------------------------------------------ the simulator judges rings and lines

# Size, closed, both directions in use. Two chips never close a ring.
WAYS = ((True, True), (True, False), (False, True))
LINES = [(size, *way) for size in range(2, 10) for way in WAYS if size > 2 or not way[0]]


def simulated(trees: list[sim.Tree], pieces: int) -> tuple[sp.Rational, sim.Run]:
    run = sim.run(trees)
    return Rational(run.steps, pieces), run


@pytest.mark.parametrize(("size", "closed", "two_way"), LINES)
def test_all_gather_takes_the_simulated_time(size: int, closed: bool, two_way: bool) -> None:
    mesh = sim.Mesh((size,), (closed,))
    time, run = simulated(sim.gather(mesh, two_way), 2 * size)
    found = cost(Kind.AllGather, V, (ring("X", size, closed=closed),), bidirectional=two_way)
    assert on_links_of_one(found) == time
    assert found.latency == run.hops * T_hop
    assert all(reached == set(mesh.chips) for reached in run.reached)
    assert found.received == V * Rational(size - 1, size)


@pytest.mark.parametrize(("size", "closed", "two_way"), LINES)
def test_reduce_scatter_takes_the_simulated_time_and_sums_everything(size: int, closed: bool, two_way: bool) -> None:
    mesh = sim.Mesh((size,), (closed,))
    trees = sim.scatter(mesh, two_way)
    time, run = simulated(trees, 2 * size)
    found = cost(Kind.ReduceScatter, V, (ring("X", size, closed=closed),), bidirectional=two_way)
    assert on_links_of_one(found) == time
    # Each chip's two half shards come from both sides; together the paths visit every other chip twice.
    arrivals = [(tree.branches[-1][1][0], reached) for tree, reached in zip(trees, run.reached, strict=True)]
    for owner in mesh.chips:
        summed = [chip for chip_owner, reached in arrivals if chip_owner == owner for chip in reached - {owner}]
        assert sorted(summed) == sorted(2 * [chip for chip in mesh.chips if chip != owner])


@pytest.mark.parametrize(("size", "closed", "two_way"), LINES)
def test_all_to_all_takes_the_simulated_time(size: int, closed: bool, two_way: bool) -> None:
    mesh = sim.Mesh((size,), (closed,))
    time, run = simulated(sim.exchange(mesh, two_way), 4 * size**2)
    found = cost(Kind.AllToAll, V, (ring("X", size, closed=closed),), bidirectional=two_way)
    # The convention for a line, V/(2·W_link), is LINE_DETOUR times what shortest paths need.
    assert on_links_of_one(found) == time * (1 if closed else LINE_DETOUR)
    assert found.latency == run.hops * T_hop
    assert found.received == V * Rational(size - 1, size**2)


@pytest.mark.parametrize("kind", [Kind.AllGather, Kind.ReduceScatter])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("size", [2, 3, 4, 7, 16])
def test_all_reduce_is_scatter_then_gather(kind: Kind, closed: bool, size: int) -> None:
    axes = (ring("X", size, closed=closed),)
    half, both = cost(kind, V, axes), cost(Kind.AllReduce, V, axes)
    assert both.time == 2 * half.time
    assert both.latency == 2 * half.latency
    assert both.received == 2 * half.received


# ------------------------------------------------------------------ ... and tori


@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (3, 3, 3), (4, 4, 4)])
@pytest.mark.parametrize("closed", [True, False])
def test_joint_gather_over_equal_axes_adds_bandwidths(sizes: tuple[int, ...], closed: bool) -> None:
    mesh = sim.Mesh(sizes, tuple(closed for _ in sizes))
    time, run = simulated(sim.gather(mesh), 2 * len(sizes) * len(mesh.chips))
    found = cost(Kind.AllGather, V, tuple(ring(f"X{i}", size, closed=closed) for i, size in enumerate(sizes)))
    assert on_links_of_one(found) == time
    assert found.latency == run.hops * T_hop


# sizes, closed, and the parts of the array that start along each axis so that all links work equally.
UNEQUAL = [
    ((3, 5), (True, True), (3, 5)),
    ((4, 8), (True, True), (17, 25)),
    ((4, 6), (True, True), (13, 17)),
    ((4, 2), (True, False), (4, 5)),
]


@pytest.mark.parametrize(("sizes", "closed", "weights"), UNEQUAL)
def test_joint_gather_over_unequal_axes_loads_all_links_equally(
    sizes: tuple[int, ...], closed: tuple[bool, ...], weights: tuple[int, ...]
) -> None:
    mesh = sim.Mesh(sizes, closed)
    pieces = 2 * sum(weights) * len(mesh.chips)
    time, run = simulated(sim.gather(mesh, weights=weights), pieces)
    axes = tuple(ring(f"X{i}", size, closed=c) for i, (size, c) in enumerate(zip(sizes, closed, strict=True)))
    expected = on_links_of_one(cost(Kind.AllGather, V, axes))
    assert Rational(max(run.load.values()), pieces) == expected
    # Store and forward of whole pieces fills the links up to the last few steps.
    assert expected <= time <= expected * Rational(11, 10)


@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (3, 5), (4, 6), (3, 3, 3)])
def test_torus_all_to_all_is_the_longest_axis(sizes: tuple[int, ...]) -> None:
    mesh = sim.Mesh(sizes, tuple(True for _ in sizes))
    pieces = 4 * len(mesh.chips) ** 2
    time, _ = simulated(sim.exchange(mesh), pieces)
    found = cost(Kind.AllToAll, V, tuple(ring(f"X{i}", size) for i, size in enumerate(sizes)))
    assert on_links_of_one(found) == time


def test_a_switch_is_busy_in_every_round() -> None:
    # In round r chip i sends to chip i+r: each chip sends one shard and receives one, n−1 times.
    for n in (2, 3, 8):
        rounds = [{(i, (i + r) % n) for i in range(n)} for r in range(1, n)]
        assert all(len({a for a, _ in r}) == len({b for _, b in r}) == n for r in rounds)
        axes = (axis_on("X", n, NVLINK),)
        assert cost(Kind.AllGather, V, axes).time == V * len(rounds) / (n * symbol("W_nvlink"))
        assert cost(Kind.AllToAll, V, axes).time == V * len(rounds) / (n**2 * symbol("W_nvlink"))


def test_a_middle_level_carries_what_comes_from_beyond_its_parent() -> None:
    # 2 chips in a node, 3 nodes under a leaf, 2 leaves: a node's uplink brings every shard from outside it.
    gpus, nodes, leaves = 2, 3, 2
    n = gpus * nodes * leaves
    shards = {(leaf, node, gpu) for leaf in range(leaves) for node in range(nodes) for gpu in range(gpus)}
    outside = {shard for shard in shards if shard[:2] != (0, 0)}
    tree = ((gpus, 10**9), (nodes, 1), (leaves, 10**9))
    assert over_tree(Kind.AllGather, tree) == Rational(len(outside), n)


# ------------------------------------------------------------------ closed forms in symbols


def test_symbolic_forms_on_a_ring() -> None:
    axes = (ring("X", X),)
    gather, exchange = cost(Kind.AllGather, V, axes), cost(Kind.AllToAll, V, axes)
    assert gather.time == V * (X - 1) / (X * W_ici)
    assert gather.limit == V / W_ici
    assert cost(Kind.AllReduce, V, axes).limit == 2 * V / W_ici
    assert exchange.limit == V / (4 * W_ici)
    assert exchange.time.subs(X, 8) == V / (4 * W_ici)
    assert exchange.time.subs(X, 5) == V * Rational(6, 25) / W_ici
    assert (gather.latency, gather.latency_limit) == (T_hop * sp.floor(X / 2), T_hop * X / 2)
    assert gather.per_axis == (("X", V * (X - 1) / X),)
    assert gather.resources == ("ici",)


def test_symbolic_forms_on_a_line_and_one_way_ring() -> None:
    line = (ring("X", X, closed=False),)
    assert cost(Kind.AllGather, V, line).time == V * (X - 1) / (X * W_link)
    assert cost(Kind.AllGather, V, line).latency == T_hop * (X - 1)
    assert cost(Kind.AllToAll, V, line).limit == LINE_DETOUR * V / (4 * W_link)
    one_way = cost(Kind.AllToAll, V, (ring("X", X),), bidirectional=False)
    assert sp.cancel(one_way.time - V * (X - 1) / (2 * X * W_link)) == 0


def test_symbolic_forms_over_several_axes() -> None:
    axes = (ring("X", X), ring("Y", Y))
    gather = cost(Kind.AllGather, V, axes)
    assert sp.cancel(gather.time - V * (X * Y - 1) / (2 * X * Y * W_ici)) == 0
    assert gather.limit == V / (2 * W_ici)
    assert gather.latency_limit == T_hop * (X / 2 + Y / 2)
    assert [name for name, _ in gather.per_axis] == ["X", "Y"]
    assert sp.Add(*(share for _, share in gather.per_axis)).equals(gather.received)
    exchange = cost(Kind.AllToAll, V, axes)
    assert exchange.limit.subs({X: 4, Y: 16}) == V / (4 * 4 * W_ici)


def test_an_axis_over_three_physical_axes() -> None:
    axis = axis_on("X", X, ICI, links=3)
    assert cost(Kind.AllGather, V, (axis,)).limit == V / (3 * W_ici)
    assert cost(Kind.AllToAll, V, (axis,)).limit == V / (4 * W_ici)
    cube = axis_on("X", 64, ICI, shape=(4, 4, 4), latency=True)
    assert cost(Kind.AllGather, V, (cube,)).time == V * Rational(63, 64) / (3 * W_ici)
    assert cost(Kind.AllToAll, V, (cube,)).time == V / (64 * W_ici)
    assert cost(Kind.AllGather, V, (cube,)).latency == 6 * T_hop


def test_two_chips_share_one_link() -> None:
    assert cost(Kind.AllGather, V, (axis_on("X", 2, ICI),)).time == V / (2 * W_link)
    # Also when the caller forgets the rule.
    assert cost(Kind.AllGather, V, (AxisOn("X", Integer(2)),)).time == V / (2 * W_link)


def test_one_chip_costs_nothing() -> None:
    for kind in KINDS:
        if kind is not Kind.Permute:
            found = cost(kind, V, (ring("X", 1),), in_network=True)
            assert (found.time, found.latency, found.received) == (0, 0, 0)


def test_a_slice_is_free_and_other_kinds_need_an_axis() -> None:
    free = cost("Slice", V, ())
    assert (free.time, free.latency, free.received, free.limit) == (0, 0, 0, 0)
    with pytest.raises(MachineError, match="AllGather needs at least one mesh axis"):
        cost(Kind.AllGather, V, ())


def test_switch_forms() -> None:
    W = symbol("W_nvlink")
    axes = (axis_on("X", X, NVLINK),)
    assert cost(Kind.AllGather, V, axes).time == V * (X - 1) / (X * W)
    assert cost(Kind.AllReduce, V, axes).limit == 2 * V / W
    assert cost(Kind.AllReduce, V, axes, in_network=True).time == V / W
    assert cost(Kind.AllReduce, V, axes, in_network=True).received == V
    assert cost(Kind.AllToAll, V, axes).time == V * (X - 1) / (X**2 * W)
    # Joint axes of one switch share its egress.
    joint = (axis_on("X", 4, NVLINK), axis_on("Y", 2, NVLINK))
    assert cost(Kind.AllGather, V, joint).time == V * Rational(7, 8) / W


def test_axes_on_two_networks_are_levels() -> None:
    axes = (axis_on("Z", Z, DCN), ring("X", X))
    found = cost(Kind.AllGather, V, axes)
    point = {X: 16, Z: 4, V: 1, W_ici: 100, W_dcn: 1}
    # The DCN moves the shards of one chip, V/16, before the ring multiplies them.
    assert found.time.subs(point) == Rational(1, 16) * Rational(3, 4)
    assert found.time.subs({**point, W_dcn: 100}) == Rational(15, 16) / 100
    assert found.resources == ("dcn", "ici")
    nodes = (axis_on("X", 8, NVLINK), axis_on("Y", 4, IB))
    exchange = cost(Kind.AllToAll, V, nodes).time.subs({symbol("W_nvlink"): 10**9, symbol("W_ib"): 1})
    assert exchange == V * over_tree(Kind.AllToAll, ((8, 10**9), (4, 8)))


def test_an_exchange_inside_a_node_has_the_chunks_of_all_chips() -> None:
    # 8 chips in a node, 4 nodes: a chip sends 7 chunks of V/32² to its neighbours.
    expected = Rational(7, 32**2)
    assert over_tree(Kind.AllToAll, ((8, 1), (4, 10**9))) == expected
    nodes = (axis_on("X", 8, NVLINK), axis_on("Y", 4, IB))
    found = cost(Kind.AllToAll, V, nodes).time
    assert found.subs({V: 1, symbol("W_nvlink"): 1, symbol("W_ib"): 10**9}) == expected


def test_hops_through_switches() -> None:
    for kind, steps in (("AllGather", 1), ("AllToAll", 1), ("AllReduce", 2)):
        assert cost(kind, V, (axis_on("X", X, NVLINK, latency=True),)).latency == steps * T_hop
    # T_hop is not the latency of the data-centre network.
    assert cost("AllGather", V, (axis_on("X", X, DCN, latency=True),)).latency == 0


def test_point_to_point_adds_latency() -> None:
    shift = cost(Kind.Permute, V, (ring("X", X),))
    assert total_time(shift) == V / W_link + T_hop
    assert total_time(shift, latency=False) == V / W_link


def test_total_time_is_the_larger() -> None:
    gather = cost(Kind.AllGather, V, (ring("X", X),))
    total = total_time(gather)
    assert total.func is sp.Max
    assert set(total.args) == {gather.time, gather.latency}
    assert total_time(cost(Kind.AllGather, V, (axis_on("X", X, ICI),))) == gather.time


# ------------------------------------------------------------------ the book's numbers (chapter 3)

V5E, V4P = machine("tpu-v5e").network("ici"), machine("tpu-v4p").network("ici")


def on(network: object, name: str, size: int, **options: object) -> AxisOn:
    return axis_on(name, size, network, numeric=True, latency=True, **options)  # type: ignore[arg-type]


def micros(time: sp.Expr) -> float:
    return float(time * 10**6)


def test_ch3_latency_switch_on_v5e_is_a_shard_of_45_kB() -> None:
    found = cost(Kind.AllGather, V, (ring("X", X),))
    (switch,) = sp.solve(sp.Eq(found.limit, found.latency_limit), V)
    assert switch == X * T_hop * W_ici / 2
    assert (switch / X).subs({T_hop: MICRO, W_ici: V5E.both}) == 45_000


def test_ch3_pop_quiz_all_gather_on_an_open_axis_of_4() -> None:
    axis = on(V5E, "Y", 4)
    assert not axis.closed
    volume = Integer(2 * 2048 * 8192)
    large = cost(Kind.AllGather, volume, (axis,))
    assert micros(total_time(large)) == pytest.approx(559.2, rel=1e-3)  # printed: 560 µs
    # Printed as 377 µs, from 34 MB; 2·2048·8192 B is 33.55 MB.
    ideal = cost(Kind.AllGather, volume, (ring("Y", Y),)).limit.subs(W_ici, V5E.both)
    assert micros(ideal) == pytest.approx(372.8, rel=1e-3)
    small = cost(Kind.AllGather, Integer(2 * 256 * 256), (axis,))
    assert small.latency == 3 * MICRO
    assert total_time(small) == 3 * MICRO
    assert micros(small.time) == pytest.approx(3 * 0.728, rel=1e-3)  # printed hop: 0.7 µs


B, D = 1024, 4096


@pytest.mark.parametrize(
    ("kind", "volume", "sizes", "book", "exact"),
    [
        ("AllGather", 2 * B * D // 4, (4,), 23.30, 17.48),  # q2.1, A07; printed 23
        ("AllGather", 2 * B * D, (4, 4), 46.60, 43.69),  # q2.2; printed 46
        ("AllReduce", 2 * B * D // 16, (4,), 11.65, 8.738),  # q2.3, A08; printed 11.6, once 190
        ("AllGather", 2 * B * D // 4, (4, 4), 11.65, 10.92),  # q2 fun fact 1; printed 11.5, which is wrong
        ("AllGather", 2 * B * D, (4, 4, 4), 31.07, 30.58),  # q2 fun fact 2; printed 31
    ],
)
def test_ch3_q2_on_v4p(kind: str, volume: int, sizes: tuple[int, ...], book: float, exact: float) -> None:
    symbols = tuple(AxisOn(f"X{i}", symbol(f"X{i}")) for i, _ in enumerate(sizes))
    large = cost(kind, Integer(volume), symbols).limit.subs(W_ici, V4P.both)
    assert micros(large) == pytest.approx(book, rel=1e-3)
    found = cost(kind, Integer(volume), tuple(on(V4P, f"X{i}", size) for i, size in enumerate(sizes)))
    assert micros(total_time(found)) == pytest.approx(exact, rel=1e-3)


def test_ch3_q2_latency_of_a_4_by_4_gather_is_4_hops() -> None:
    assert cost(Kind.AllGather, V, (on(V4P, "X", 4), on(V4P, "Y", 4))).latency == 4 * MICRO


def test_ch3_q3_latency_bound() -> None:
    found = cost(Kind.AllGather, Integer(256), (on(V4P, "X", 4),))
    assert total_time(found) == 2 * MICRO
    assert micros(found.time) < 0.003


def test_ch3_q10_one_way_and_two_way_all_to_all() -> None:
    axes = (AxisOn("D", symbol("D")),)
    times = {
        (kind, two): cost(kind, V, axes, bidirectional=two).time.subs(W_ici, 2 * W_link)
        for kind in (Kind.AllGather, Kind.AllToAll)
        for two in (True, False)
    }
    at = {key: [time.subs({symbol("D"): d, V: 1, W_link: 1}) for d in (4, 16, 64)] for key, time in times.items()}
    gather, gather1 = at[Kind.AllGather, True], at[Kind.AllGather, False]
    exchange, exchange1 = at[Kind.AllToAll, True], at[Kind.AllToAll, False]
    for i, d in enumerate((4, 16, 64)):
        assert gather1[i] == 1 - Rational(1, d)  # 10.1
        assert exchange1[i] / gather1[i] == Rational(1, 2)  # 10.3
        assert gather[i] / gather1[i] == Rational(1, 2)  # 10.4
        assert exchange1[i] / exchange[i] == 4 * (1 - Rational(1, d))  # 10.5; printed 4, its limit
        assert gather[i] / exchange[i] == 4 * (1 - Rational(1, d))  # 10.6; printed 4, its limit


def test_ch3_all_to_all_over_a_torus_falls_with_the_shorter_axis() -> None:
    found = cost(Kind.AllToAll, V, (AxisOn("A", Integer(4)), AxisOn("B", Integer(8))))
    assert found.time == V / (4 * W_ici * 4)


# ------------------------------------------------------------------ chapter 12: switches and the fat tree

H100 = machine("h100")
EGRESS, NODE = H100.network("nvlink").one_way, Integer(400 * 10**9)
POD = tuple((level.size, level.bandwidth) for level in H100.network("ib").levels[:3])


def per_byte(kind: Kind, size: int, **options: bool) -> sp.Rational:
    return cost(kind, Integer(1), (axis_on("X", size, H100.network("nvlink"), numeric=True),), **options).time


def test_ch12_node_gather_and_reduce() -> None:
    assert float(1 / per_byte(Kind.AllGather, 8)) == pytest.approx(514.29e9, rel=1e-4)
    assert per_byte(Kind.AllReduce, 8, in_network=True) == 1 / EGRESS
    assert per_byte(Kind.AllReduce, 8) * EGRESS - 1 == Rational(3, 4)  # the gain in-network reduction promises


def test_ch12_all_to_all_in_a_node_and_across_two() -> None:
    assert per_byte(Kind.AllToAll, 8) == Rational(7, 64) / EGRESS  # printed 1/8, its limit
    assert Rational(1, 4) / (Rational(7, 64)) == Rational(16, 7)  # against a ring: 2.29, printed 2
    across = over_tree(Kind.AllToAll, ((8, EGRESS), (2, NODE)))
    assert across == Rational(1, 4) / NODE
    assert float(across / per_byte(Kind.AllToAll, 8)) == pytest.approx(2.571, rel=1e-3)


def test_ch12_fat_tree_gather() -> None:
    one_unit = over_tree(Kind.AllGather, POD[:2])
    assert float(1 / one_unit) == pytest.approx(412.90e9, rel=1e-4)
    # With four units a node's uplink brings 127/128 of the array, not 31/32: printed 413e9.
    assert float(1 / over_tree(Kind.AllGather, POD)) == pytest.approx(403.15e9, rel=1e-4)
    two_nodes = over_tree(Kind.AllGather, ((8, EGRESS), (2, NODE)))
    assert float(1 / two_nodes) == pytest.approx(514.29e9, rel=1e-4)
    assert over_tree(Kind.AllReduce, POD, in_network=True) == 1 / NODE


@pytest.mark.parametrize(("inner", "seconds"), [(1, 1), (4, 1), (8, 1), (16, 2)])
def test_ch12_pop3_gather_of_an_array_sharded_inside(inner: int, seconds: int) -> None:
    # bf16[D_X, F_Y] over one unit of 256: V/400e9 for Y ≤ 8, less in proportion beyond.
    whole = 2 * 8192 * 32768
    outer, *_ = tree_axes(POD[:2], X=256 // inner, Y=inner)
    found = cost(Kind.AllGather, Integer(whole) / inner, (outer,)).time
    members = 32 if inner <= 8 else 16
    assert found == Rational(whole * (members - 1), members) / NODE / seconds


# ------------------------------------------------------------------ what people asked


def test_A05_latency_adds_in_a_point_to_point_transfer() -> None:
    sent = point_to_point(Integer(2 * 8 * 128 * 8192), Integer(45 * 10**9), paths=2, hops=6, hop=MICRO)
    assert sent.latency == 6 * MICRO
    assert micros(total_time(sent)) == pytest.approx(192.41, rel=1e-4)
    symbolic = point_to_point(V, W_link, paths=symbol("p"), hops=symbol("h"), hop=symbol("l"))
    assert total_time(symbolic) == symbol("h") * symbol("l") + V / (symbol("p") * W_link)


def test_A07_where_the_2_comes_from() -> None:
    # One step moves 2·V/X bytes over both links, and there are X/2 steps.
    step, steps = 2 * V / (X * W_ici), X / 2
    assert step * steps == cost(Kind.AllGather, V, (AxisOn("X", X),)).limit


def test_A33_the_spine_has_51_TB_per_second() -> None:
    leaves, spines, links, port = 32, 16, 2, Rational(400 * 10**9, 8)
    spine = chosen("h100:1024").network("tree").levels[-1]
    assert leaves * spines * links * port == spines * 64 * port == spine.size * spine.bandwidth
    assert spine.bandwidth == 12_800 * 10**9


def test_C24_bus_factors() -> None:
    speed = Rational(2**30) / Rational(1, 100)
    assert float(speed * bus_factor("AllReduce", 8)) / 1e9 == pytest.approx(187.9, rel=1e-3)
    for kind in ("AllGather", "ReduceScatter", "AllToAll"):
        assert float(speed * bus_factor(kind, 8)) / 1e9 == pytest.approx(93.95, rel=1e-3)
    assert bus_factor("Permute", 8) == 1


def test_C29_bus_bandwidth_above_the_link_speed() -> None:
    assert float(275 * bus_factor("AllReduce", 8)) == 481.25
    assert per_byte(Kind.AllReduce, 8) / per_byte(Kind.AllReduce, 8, in_network=True) == Rational(7, 4)


def test_C31_all_reduce_is_never_dearer_than_its_halves() -> None:
    axes = (ring("X", X),)
    halves = total_time(cost("ReduceScatter", V, axes)) + total_time(cost("AllGather", V, axes))
    whole = total_time(cost("AllReduce", V, axes))
    for size, latency in ((3, 0), (8, 1), (16, 1000)):
        point = {X: size, T_hop: latency, V: 7, W_ici: 2}
        assert whole.subs(point) == halves.subs(point)


def test_numeric_axes_need_numbers() -> None:
    with pytest.raises(MachineError, match="has no number for W_ici"):
        axis_on("X", 4, ICI, numeric=True)
