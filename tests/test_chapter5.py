"""Chapter 5 of "How To Scale Your Model": what it prints beside what the engine derives.

The chapter's table of FLOPs and bytes, and its checks of every derivation, are in `test_derivations.py`.
"""

from __future__ import annotations

import pytest
import sympy as sp
from answers import Row, check, read, rows, same, written

from symscale.array import Einsum
from symscale.array.element import local_elements
from symscale.derivation import Builder
from symscale.partition import Local
from symscale.vocabulary import symbol


@pytest.mark.parametrize("row", rows("chapter5"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


# ch5.scheme.* as the chapter writes them; each with the collectives that its algorithm lists, ch5.alg.*
SCHEMES = {
    "dp": "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]",
    "fsdp": "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]",
    "tp": "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]",
    "mixed": "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]",
}
COLLECTIVES = [
    ("dp", "forward", []),
    ("dp", "backward", ["AllReduce X", "AllReduce X"]),
    ("fsdp", "forward", ["AllGather X", "AllGather X"]),
    ("fsdp", "backward", ["AllGather X", "AllGather X", "ReduceScatter X", "ReduceScatter X"]),
    ("tp", "forward", ["AllGather Y", "ReduceScatter Y"]),
    # the gather of In is kept from the forward pass
    ("tp", "backward", ["AllGather Y", "ReduceScatter Y"]),
    ("mixed", "forward", ["AllGather X", "AllGather X", "AllGather Y", "ReduceScatter Y"]),
    (
        "mixed",
        "backward",
        ["AllGather X", "AllGather X", "AllGather Y", "ReduceScatter X", "ReduceScatter X", "ReduceScatter Y"],
    ),
]


@pytest.mark.parametrize(("scheme", "which", "kinds"), COLLECTIVES)
def test_collectives_of_the_algorithms(scheme: str, which: str, kinds: list[str]) -> None:
    cost = Builder(scheme).program(SCHEMES[scheme]).costs[which]
    found = [f"{each.collective.kind} {','.join(each.collective.axes)}" for each in cost.transfers]
    assert sorted(found) == kinds


def test_products_of_the_backward_pass() -> None:
    # ch5.alg.none.bwd, ch5.appA.*: dW_out = Tmp *_B dOut, dTmp = dOut *_D W_out, and so for the first matrix
    plan = Builder("backward").program("In[B, D] * W_in[D, F] * W_out[F, D] -> Out[B, D]").plan
    found = set()
    for each in plan.passes["backward"]:
        if isinstance(each, Local) and isinstance(each.operation, Einsum):
            dims = {dim for buffer in each.operands for dim in buffer.layout.dims}
            (contracted,) = dims - set(each.result.layout.dims)
            found.add((contracted[0], "".join(sorted(dim[0] for dim in each.result.layout.dims))))
    assert found == {("B", "DF"), ("D", "BF"), ("F", "BD")}


# entry, layer with a gated MLP, chips that share the state and the checkpoints
MEMORY = [
    ("ch5.ext.mem.dp", "In[B_X, D] * {W1}[D, F] -> g[B_X, F]", "h[B_X, F] * W_out[F, D] -> Out[B_X, D]", "1", "X"),
    (
        "ch5.ext.mem.fsdp",
        "In[B_X, D] * {W1}[D_X, F] -> g[B_X, F]",
        "h[B_X, F] * W_out[F, D_X] -> Out[B_X, D]",
        "X",
        "X",
    ),
    ("ch5.ext.mem.tp", "In[B, D_Y] * {W1}[D, F_Y] -> g[B, F_Y]", "h[B, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]", "Y", "Y"),
    (
        "ch5.ext.mem.mixed",
        "In[B_X, D_Y] * {W1}[D_X, F_Y] -> g[B_X, F_Y]",
        "h[B_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]",
        "X*Y",
        "X*Y",
    ),
]


@pytest.mark.parametrize(("key", "first", "last", "weights", "tokens"), MEMORY, ids=[row[0] for row in MEMORY])
def test_memory_of_the_schemes(key: str, first: str, last: str, weights: str, tokens: str) -> None:
    # 10 bytes per parameter, and the results of the three products (two of F, one of D) in bf16: ch5.q2.act-formula
    gate, down = first.format(W1="W_gate"), last
    d = Builder(key)
    parameters, results = [], []
    for text, times in ((gate, 2), (down, 1)):
        plan = d.program(text).plan
        made = plan.program
        weighing = [name for name in made.leaves if made.values[name].role == "weight"]
        parameters += [times * local_elements(plan.results[name].layout, made) for name in weighing]
        results.append(times * local_elements(plan.results[made.outputs[0]].layout, made))
    assert same(sp.Add(*parameters), read(f"3*D*F/({weights})"))
    assert same(2 * sp.Add(*results), read(f"2*B*(D + 2*F)/({tokens})"))


def test_replicas_multiply_the_memory_of_weights() -> None:
    # ch5.claim.dp-weights-replicated
    plan = Builder("replicas").program(SCHEMES["dp"]).plan
    for name in ("W_in", "W_out"):
        assert local_elements(plan.results[name].layout, plan.program) == symbol("D") * symbol("F")


def test_gathers_shrink_with_the_other_axis() -> None:
    # ch5.claim.mixed-gather-shrink: exponents of -1 each
    found = {
        e.lhs: e.rhs for step in written("training/mixed-parts").steps if step.kind == "remark" for e in step.equations
    }
    for part, axis in (("T_fsdp", "Y"), ("T_tp", "X")):
        twice = found[symbol(part)].subs(symbol(axis), 2 * symbol(axis))
        assert twice == found[symbol(part)] / 2


def test_whole_meshes_of_64_chips() -> None:
    # ch5.claim.mixed-choose-16x4: the best power of two next to 13.7
    lines = [line for step in written("training/mixed-mesh").steps for line in step.lines]
    assert any(str(line[0]) == "X" and str(line[1]).startswith(" = 16:") for line in lines if len(line) > 1)
