"""Chapter 10 of "How To Scale Your Model": what it prints beside what the engine derives, and a ring that runs it.

Every step of its derivations is checked in `test_parallelism.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from answers import Row, check, read, rows, same, written
from ring import Ring, gather_product, gather_then_product, gradient_gather, product_scatter

from symscale.array.element import local_elements
from symscale.collectives import Loop
from symscale.derivation import Builder, verify
from symscale.errors import LayoutError, MachineError
from symscale.vocabulary import symbol


@pytest.mark.parametrize("row", rows("chapter10"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


# entry, program, mesh, sizes, local shapes of arrays
SHAPES = [
    (
        "ch10.text.jit-matmul.local-shapes",
        "In[B_X, D_Y] * W[D_Y, F] -> Out[B_X, F]",
        {"X": 4, "Y": 2},
        {"B": 8, "D": 2048, "F": 8192},
        {"In": 2 * 1024, "W": 1024 * 8192, "Out": 2 * 8192},
    ),
    ("ch10.text.explicit.typeof", "x[a_X, c_Y] -> y[a_X, c_Y]", {"X": 2, "Y": 2}, {"a": 8, "c": 2}, {"x": 4, "y": 4}),
    ("ch10.text.sliceavg.local-shape", "sum_n(x[n_XY]) -> s[]", {"X": 2, "Y": 4}, {"n": 512}, {"x": 64}),
    (
        "ch10.text.collmm.shapes",
        "A[B_X, D_Y] * W[D, F_Y] -> Out[B_X, F_Y]",
        {"X": 2, "Y": 4},
        {"B": 1024, "D": 2048, "F": 8192},
        {"A": 512 * 512, "W": 2048 * 2048, "Out": 512 * 2048},
    ),
    (
        "ch10.q1.a",
        "sum_{s,t}(A[P_X, s, Q_Y, t]) -> m[P_X, Q_Y]",
        {"X": 4, "Y": 2},
        {"P": 4, "s": 128, "Q": 2, "t": 4},
        {"A": 512, "m": 1},
    ),
]


@pytest.mark.parametrize(("key", "program", "mesh", "sizes", "held"), SHAPES, ids=[row[0] for row in SHAPES])
def test_local_shapes(
    key: str, program: str, mesh: dict[str, int], sizes: dict[str, int], held: dict[str, int]
) -> None:
    given = {name: sp.Integer(size) for name, size in sizes.items()}
    plan = Builder(key).program(program, mesh=mesh, sizes=given, passes=["forward"]).plan
    assert {name: local_elements(plan.results[name].layout, plan.program) for name in held} == held


def test_ways_an_array_is_split() -> None:
    # ch10.text.jit-matmul.shard-count
    plan = Builder("shards").program(SHAPES[0][1], mesh={"X": 4, "Y": 2}, passes=["forward"]).plan
    whole = symbol("B") * symbol("D")
    assert whole / local_elements(plan.results["In"].layout, plan.program) == 8


CONTRACTED = "A[B_X, D_Y] * W[D_Y, F] -> "
COLLECTIVES = [
    ("ch10.text.jit-matmul.collective", CONTRACTED + "Out[B_X, F]", ["AllReduce Y"]),
    ("ch10.text.explicit.ambiguity", CONTRACTED + "Out[B_X, F_Y]", ["ReduceScatter Y"]),
    ("ch10.text.sliceavg.collective", "sum_P(x[P_XY, n]) -> s[n]", ["AllReduce X,Y"]),
    ("ch10.text.collmm.naive", "A[B_X, D_Y] * W[D, F_Y] -> Out[B_X, F_Y]", ["AllGather Y"]),
    ("ch10.q1.a", "sum_{s,t}(A[P_X, s, Q_Y, t]) -> m[P_X, Q_Y]", []),
    # rolling the rows of a shard is a product with a permutation of its own rows
    ("ch10.q1.b", "A[P_X, s, D] * shift[s, t] -> R[P_X, t, D]", []),
    ("ch10.q2.b", "W[E_X, D, F] -> All[E, D, F]; x[S_X, D] * All -> o[S_X, E, F]", ["AllGather X"]),
    ("ch10.q2.c1", "x[S_X, D] -> y[S, D]; o[S, F]{U_X} -> out[S_X, F]", ["AllGather X", "ReduceScatter X"]),
    ("ch10.q2.c2", "x[E, M_X, D] -> y[E_X, M, D]; o[E_X, M, F] -> out[E, M_X, F]", ["AllToAll X", "AllToAll X"]),
    ("ch10.q3.b", "T[B_X, F_Y] * W[F_Y, D] -> Out[B_X, D_Y]", ["ReduceScatter Y"]),
    ("ch10.q3.c", "In[B_X, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B_X, D_Y]", ["AllGather Y", "ReduceScatter Y"]),
]


@pytest.mark.parametrize(("key", "program", "kinds"), COLLECTIVES, ids=[row[0] for row in COLLECTIVES])
def test_collectives(key: str, program: str, kinds: list[str]) -> None:
    cost = Builder(key).program(program, passes=["forward"]).costs["forward"]
    assert [f"{each.collective.kind} {','.join(each.collective.axes)}" for each in cost.transfers] == kinds


def test_mean_of_what_each_chip_keeps() -> None:
    # ch10.text.sliceavg.result: mean(x[:4], x[64:68], …)
    kept = np.arange(512).reshape(8, 64)[:, :4]
    found = next(e.rhs for step in written("jax/slice-average").steps for e in step.equations if str(e.lhs) == "mean")
    first = int(found.xreplace({symbol("m"): 64, symbol("p"): 8}))
    assert list(kept.mean(axis=0)) == [first + each for each in range(4)]


# ------------------------------------------------------------------ a product in a loop with its collective, run

ONE, BOTH = (1,), (1, -1)
GATHERED = "A[B, D_Y] * W[D, F_Y] -> Out[B, F_Y]"
SCATTERED = "A[B, F_Y] * W[F_Y, D] -> Out[B, D_Y]"
WEIGHTS = "A[B, D_Y] * W[B, F_Y] -> dW[D, F_Y]"
Schedule = Callable[[Ring, np.ndarray, np.ndarray, tuple[int, ...]], list[np.ndarray]]
LOOPS: list[tuple[str, Schedule]] = [
    (GATHERED, gather_product),
    (SCATTERED, product_scatter),
    (WEIGHTS, gradient_gather),
]
# chips, B, D, F, peak, bytes/s of a link: arithmetic rules, the links rule, both alike
SETTINGS = [
    (3, 4, 6, 9, 1, 50),
    (4, 8, 16, 8, 1000, 1),
    (5, 2, 10, 20, 40, 2),
    (6, 3, 12, 24, 48, 2),
    (8, 2, 16, 8, 7, 3),
]


def matrices(program: str, B: int, D: int, F: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(B + D + F)
    shapes = {GATHERED: ((B, D), (D, F)), SCATTERED: ((B, F), (F, D)), WEIGHTS: ((B, D), (B, F))}[program]
    first, second = (rng.integers(-9, 9, shape).astype(float) for shape in shapes)
    return first, second


def loop(program: str, ways: tuple[int, ...]) -> Loop:
    d = Builder("loop")
    layer = d.program(program, passes=["forward"], latency=True)
    return d.looped(layer, "Y", both_ways=len(ways) == 2)


def at(expr: sp.Expr, chips: int, B: int, D: int, F: int, peak: int, link: int, hop: int = 0) -> sp.Expr:
    known = {"Y": chips, "B": B, "D": D, "F": F, "C": peak, "W_link": link, "W_ici": 2 * link, "b": 2, "T_hop": hop}
    return expr.xreplace({symbol(name): sp.Integer(value) for name, value in known.items()})


@pytest.mark.parametrize("hop", [0, 5])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("ways", [ONE, BOTH], ids=["one way", "both ways"])
@pytest.mark.parametrize(("program", "schedule"), LOOPS, ids=["gather", "scatter", "weights"])
def test_a_ring_computes_the_product_in_the_time_of_the_loop(
    program: str, schedule: Schedule, ways: tuple[int, ...], setting: tuple[int, ...], hop: int
) -> None:
    chips, B, D, F, peak, link = setting
    first, second = matrices(program, B, D * len(ways), F)
    ring = Ring(chips, Fraction(peak), Fraction(link), Fraction(hop))
    parts = schedule(ring, first, second, ways)
    whole = first.T @ second if program == WEIGHTS else first @ second
    assert np.array_equal(np.concatenate(parts, axis=1), whole)
    found = loop(program, ways)
    sizes = (chips, B, D * len(ways), F, peak, link, hop)
    assert ring.permutes == len(ways) * at(found.transfers, *sizes)
    assert ring.end == at(found.time, *sizes)
    volume = 2 * B * D * len(ways)
    assert ring.received == volume * (chips - 1)  # of all chips: each receives V·(n − 1)/n


def test_where_a_ring_is_faster_with_a_loop() -> None:
    # F/Y ≥ b·C/(2·W_ici) one way; both ways always
    rng = random.Random(3)
    for _ in range(40):
        chips, B, D = rng.randint(3, 7), rng.randint(1, 3), rng.randint(1, 3)
        F, peak, link = chips * rng.randint(1, 20), rng.randint(1, 40), rng.randint(1, 5)
        a, w = matrices(GATHERED, B, 2 * chips * D, F)
        times = []
        for ways in (ONE, BOTH):
            ring = Ring(chips, Fraction(peak), Fraction(link))
            gather_product(ring, a, w, ways)
            times.append(ring.end)
        plain = Ring(chips, Fraction(peak), Fraction(link))
        assert np.array_equal(np.concatenate(gather_then_product(plain, a, w), axis=1), a @ w)
        assert (times[0] <= plain.end) is (Fraction(F, chips) >= Fraction(2 * peak, 2 * 2 * link))
        assert times[1] <= plain.end


def test_a_line_or_a_switch_gains_nothing_from_both_ways() -> None:
    def spent(**options: object) -> list[sp.Expr]:
        d = Builder("ends")
        layer = d.program(GATHERED, passes=["forward"], **options)  # type: ignore[arg-type]
        found = [d.looped(layer, "Y", both_ways=both) for both in (False, True)]
        for step in d.steps:
            verify(step, seed=5)
        return [each.time for each in found]

    for options in ({"on": "tpu-v5e", "mesh": {"Y": 4}, "latency": True}, {"axes": {"Y": "nvlink"}}):
        one, both = spent(**options)
        assert one == both
    one, both = spent(on="tpu-v5e", mesh={"Y": 16}, latency=True)
    assert one != both


def test_one_chip_sends_nothing() -> None:
    d = Builder("one")
    layer = d.program(GATHERED, passes=["forward"], mesh={"Y": 1})
    found = d.looped(layer, "Y", both_ways=True)
    assert verify(d.steps[-1], seed=5)
    assert (found.transfers, found.time) == (0, d.times(layer).math)


def test_the_last_transfer_of_a_line_passes_all_its_links() -> None:
    d = Builder("line")
    layer = d.program(GATHERED, passes=["forward"], on="tpu-v5e", mesh={"Y": 4}, latency=True)
    hop = symbol("T_hop")
    assert sp.expand(d.looped(layer, "Y").sent).coeff(hop) == 3


@pytest.mark.parametrize(
    ("math", "comms", "tiles"), [("7", "3", 4), ("3", "7", 4), ("5", "5", 3), ("2", "9", 1)], ids=str
)
def test_tiles_are_sent_while_the_next_is_computed(math: str, comms: str, tiles: int) -> None:
    computed = sent = Fraction(0)
    for _ in range(tiles):
        computed += Fraction(math) / tiles
        sent = max(sent, computed) + Fraction(comms) / tiles
    assert Builder("tiles").tiled(read(math), read(comms), tiles).time == sent


def test_a_loop_is_the_product_and_its_gather() -> None:
    # one chunk has nothing beside it: no shorter than either, no longer than both
    found = loop(GATHERED, BOTH)
    math, comms = found.work * found.chunks, found.sent * found.transfers
    for setting in SETTINGS:
        lowest, highest = sp.Max(at(math, *setting), at(comms, *setting)), at(math + comms, *setting)
        assert lowest <= at(found.time, *setting) <= highest
    assert same(math, read("2*B*D*F/(Y*C)"))


def test_tokens_that_travel_to_their_experts() -> None:
    # ch10.q2.c2: values, and bytes beside those of gathering every token
    chips, experts, S, D, F = 4, 8, 64, 3, 5
    rng = np.random.default_rng(1)
    x, w = rng.integers(-9, 9, (S, D)), rng.integers(-9, 9, (experts, D, F))
    # every chip has as many tokens for one expert as for another
    expert = np.concatenate([rng.permutation(np.arange(S // chips) % experts) for _ in range(chips)])
    out, received = np.zeros((S, F)), 0
    for chip in range(chips):
        here = [s for s in range(S) if expert[s] * chips // experts == chip]
        away = [s for s in here if s * chips // S != chip]
        received += len(away) * 4 * D
        for s in here:
            out[s] = x[s] @ w[expert[s]]
    assert np.array_equal(out, np.einsum("sd,sdf->sf", x, w[expert]))
    program = "x[E, M_X, D] -> y[E_X, M, D]"
    cost = Builder("dispatch").program(program, dtype="fp32", passes=["forward"]).costs["forward"]
    point = {"E": experts, "M": S // experts, "X": chips, "D": D, "b": 4}
    each = cost.comm_bytes()["X"].xreplace({symbol(name): sp.Integer(value) for name, value in point.items()})
    assert each * chips == received


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("program", "error", "said"),
    [
        ("A[B, D_Y] * W[D_Y, F] -> Out[B, F]", MachineError, "AllReduce is no loop"),
        ("A[B, D] * W[D, F_Y] -> Out[B, F_Y]", LayoutError, "the forward pass has: none"),
        ("A[B, D_Y] -> G[B, D]", LayoutError, "beside a product"),
        ("In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]", LayoutError, "AllGather, ReduceScatter"),
        ("A[B, D_YZ] * W[D, F] -> Out[B, F]", LayoutError, "over Y alone|over Y beside"),
    ],
)
def test_what_is_no_loop_is_refused(program: str, error: type[Exception], said: str) -> None:
    d = Builder("refused")
    layer = d.program(program, passes=["forward"])
    with pytest.raises(error, match=said) as caught:
        d.looped(layer, "Y")
    assert caught.value.hint  # type: ignore[attr-defined]


def test_a_fat_tree_is_refused() -> None:
    d = Builder("tree")
    layer = d.program(GATHERED, passes=["forward"], on="h100:64", mesh={"Y": 64})
    with pytest.raises(MachineError, match="lies on a fat tree"):
        d.looped(layer, "Y")
