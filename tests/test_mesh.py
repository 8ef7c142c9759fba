"""Plans run on a simulated mesh: values, gradients, layouts, bytes received, FLOPs and HBM bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from mesh import Count, Mesh, MeshError, Run

from symscale.array import Program
from symscale.array.element import elements
from symscale.collectives import AxisOn
from symscale.cost.tally import FREE, tally, transfer
from symscale.notation.elaborate import elaborate
from symscale.partition import Collective, Plan, partition

SIZES = {"X": 4, "Y": 2, "Z": 2}

# name: program. Dimensions have 16 elements, X 4 chips, Y and Z 2 each.
PROGRAMS = {
    # the four cases of a sharded contraction, and what lies between
    "case 1, nothing contracted is split": "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]",
    "case 2, one side contracts": "A[I, J_X] * B[J, K] -> C[I, K]",
    "case 2, right side": "A[I, J] * B[J_X, K] -> C[I, K]",
    "case 3, both contract": "A[I, J_X] * B[J_X, K] -> C[I, K]",
    "case 3, scattered": "A[I, J_X] * B[J_X, K] -> C[I_X, K]",
    "case 3, left owing": "A[I, J_X] * B[J_X, K] -> C[I, K]{U_X}",
    "case 4, both free, left wanted": "A[I_X, J] * B[J, K_X] -> C[I_X, K]",
    "case 4, both free, right wanted": "A[I_X, J] * B[J, K_X] -> C[I, K_X]",
    "case 4, both free, whole": "A[I_X, J] * B[J, K_X] -> C[I, K]",
    "contracting against free": "A[I_X, J] * B[J_X, K] -> C[I_X, K]",
    "two axes contract in one order": "A[I, J_XY] * B[J_XY, K] -> C[I, K_Y]",
    "two axes contract in two orders": "A[I, J_XY] * B[J_YX, K] -> C[I, K]",
    "a shared prefix": "A[I, J_XY] * B[J_X, K] -> C[I, K]",
    "mismatched suffixes": "A[I, J_XY] * B[J_XZ, K] -> C[I, K]",
    "self-attention": (
        "q[B_X, T, N_Y, H] = x[B_X, T, D] * W_Q[D, N_Y, H]; k[B_X, S=T, N_Y, H] = x * W_K[D, N_Y, H]; "
        "v[B_X, S=T, N_Y, H] = x * W_V[D, N_Y, H]; a[B_X, N_Y, T, S] = q * k; o[B_X, T, N_Y, H] = softmax_S(a) * v; "
        "Out[B_X, T, D] = o * W_O[N_Y, H, D]"
    ),
    "self-attention over a split sequence": (
        "k[B, S=T, H] = x[B, T_X, D] * W_K[D_X, H]; v[B, S_Y=T, H] = x * W_V[D, H_Y]; a[B, T_X, S] = x *_D y[B, D, S]; "
        "o[B, T_X, H] = a * k; p[B, T_X, H] = a * v; Out[B, T_X, H_Y] = o + p"
    ),
    "another name": "A[I_X, J] -> B[I_X, K=J]",
    "another name elsewhere": "A[I_X, J_Y] -> B[I, K_X=J]",
    "dot product": "A[I_X] * B[I_X] -> C[]",
    "outer product": "A[I_X] * B[J_X] -> C[I_X, J]",
    # changes of layout
    "gather": "A[I_X, J] -> B[I, J]",
    "gather two": "A[I_XY, J] -> B[I, J]",
    "gather two dimensions": "A[I_X, J_YZ] -> B[I, J]",
    "gather two of three": "A[I_XZ, J_Y] -> B[I_X, J]",
    "gather the minor": "A[I_XY, J] -> B[I_X, J]",
    "gather the major": "A[I_XY, J] -> B[I_Y, J]",
    "move both": "A[I_XY, J] -> B[I, J_XY]",
    "move the minor": "A[I_XY, J] -> B[I_X, J_Y]",
    "move the major": "A[I_XY, J] -> B[I_Y, J_X]",
    "exchange": "A[I_X, J] -> B[I, J_X]",
    "swap": "A[I_X, J_Y] -> B[I_Y, J_X]",
    "swap of three": "A[I_X, J_Y, K_Z] -> B[I_Y, J_Z, K_X]",
    "reorder": "A[I_XY, J] -> B[I_YX, J]",
    "reorder three": "A[I_XYZ, J] -> B[I_ZXY, J]",
    "replace": "A[I_X, J] -> B[I_Y, J]",
    "slice": "A[I, J] -> B[I_X, J_Y]",
    "slice below": "A[I_X, J] -> B[I_XY, J]",
    "slice above": "A[I_X, J] -> B[I_YX, J]",
    "all-reduce": "A[I, J]{U_X} -> B[I, J]",
    "reduce-scatter": "A[I, J]{U_X} -> B[I_X, J]",
    "reduce-scatter below": "A[I_Y, J]{U_X} -> B[I_YX, J]",
    "reduce-scatter above": "A[I_Y, J]{U_X} -> B[I_XY, J]",
    "reduce two, scatter one": "A[I, J]{U_XY} -> B[I_X, J]",
    "reduce one of two": "A[I, J]{U_XY} -> B[I, J]{U_X}",
    "reduce and exchange": "A[I_Y, J]{U_X} -> B[I_X, J_Y]",
    # parallel training of an MLP
    "DP": "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]",
    "FSDP": "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]",
    "ZeRO-1": "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]; state W_in[D_X, F]; state W_out[F, D_X]",
    "ZeRO-2": "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]; grad W_in[D_X, F]; grad W_out[F, D_X]",
    "ZeRO-1 and 2": "In[B_X, D] * W[D, F] -> Out[B_X, F]; grad W[D_X, F]; state W[D_X, F]",
    "TP": "In[B, D] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D]",
    "TP, activations split": "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]",
    "TP, sequence sharding": "In[B_Y, D] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B_Y, D]",
    "FSDP x TP": "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]",
    "three axes": "In[B_XZ, D_Y] * W_in[D_XZ, F_Y] * W_out[F_Y, D_XZ] -> Out[B_XZ, D_Y]",
    "three axes apart": "In[B_X, D_Y] * W_in[D_Z, F_Y] * W_out[F_Y, D_XZ] -> Out[B_XZ, D_Y]",
    "DP over Z, FSDP x TP": "In[B_ZX, D] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_ZX, D]",
    "const input": "const In[B_X, D]; In * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]",
    # other programs
    "nonlinear MLP": "In[B_X, D] * W_in[D_X, F_Y] -> H[B_X, F_Y]; gelu(H) * W_out[F_Y, D_X] -> Out[B_X, D]",
    "gated MLP": (
        "x[B_X, D] * W_g[D_X, F_Y] -> G[B_X, F_Y]; x * W_u[D_X, F_Y] -> U[B_X, F_Y]; "
        "silu(G) .* U -> H[B_X, F_Y]; H * W_d[F_Y, D_X] -> Out[B_X, D]"
    ),
    "attention": (
        "Q[B_X, T, K_Y, G, H] * K1[B_X, S, K_Y, H] -> A[B_X, T, S, K_Y, G]; softmax_S(A) -> P[B_X, T, S, K_Y, G]; "
        "P * V[B_X, S, K_Y, H] -> O[B_X, T, K_Y, G, H]"
    ),
    "attention, keys split": (
        "Q[B, T, K_Y, H] * K1[B, S_X, K_Y, H] -> A[B, T, S_X, K_Y]; softmax_S(A) -> P[B, T, S, K_Y]; "
        "P * V[B, S_X, K_Y, H] -> O[B, T, K_Y, H]"
    ),
    "residual": "x[B_X, D] * W[D_X, F] * V[F, D_X] -> y[B_X, D]; x + y -> Out[B_X, D]",
    "residual over TP": "x[B, D] * W[D, F_Y] * V[F_Y, D] -> y[B, D]; x + y -> Out[B, D]",
    "residual, owing": "x[B, D] * W[D, F_Y] * V[F_Y, D] -> y[B, D]{U_Y}; x + y -> Out[B, D]",
    "residual in both layouts": "x[B_X, D] * W[D, F_X] * V[F_X, D] -> y[B, D_X]; x + y -> Out[B_X, D]",
    "bias": "x[B_X, D] * W[D, F_Y] -> h[B_X, F_Y]; h + c[F_Y] -> Out[B_X, F_Y]",
    "bias, whole": "x[B_X, D] * W[D, F_Y] -> h[B_X, F_Y]; h + c[F] -> Out[B_X, F_Y]",
    "scale": "x[B_X, D_Y] .* g[D_Y] -> Out[B_X, D_Y]",
    "square": "x[B_X, D] .* x -> Out[B_X, D]",
    "Gram": "x[B_X, D] * W[D, E_Y] -> h[B_X, E_Y]; h .* h -> s[B_X, E_Y]; s * V[E_Y, D] -> Out[B_X, D]",
    "a value used twice": "x[B_X, D] * W[D_X, F] -> a[B_X, F]; a * V[F_X, D] -> u[B_X, D]; a * U[F_X, D] -> v[B_X, D]",
    "a weight used twice": "x[B_X, D] * W[D_X, F] -> h[B_X, F]; h * W -> Out[B_X, D]",
    "batch split alike": "A[B_X, I, J] * W[B_X, J, K] -> C[B_X, I, K]",
    "batch against whole": "A[B_X, I, J] * W[B, J, K] -> C[B_X, I, K]",
    "batch against free": "A[B_X, I, J] * W[B, J, K_X] -> C[B_X, I, K]",
    "batch against contracting": "A[B_X, I, J] * W[B, J_X, K] -> C[B_X, I, K]",
    "experts": "x[E_Y, B_X, D] * W[E_Y, D_X, F] -> h[E_Y, B_X, F]; gelu(h) * V[E_Y, F, D_X] -> Out[E_Y, B_X, D]",
    "experts, exchanged": (
        "x[E, B_X, D] -> y[E_X, B, D]; y * W[E_X, D, F] -> h[E_X, B, F]; "
        "h * V[E_X, F, D] -> z[E_X, B, D]; z -> Out[E, B_X, D]"
    ),
    "owing input": "A[I, J]{U_X} * B[J, K] -> C[I, K]",
    "owing input, scattered": "A[I, J]{U_X} * B[J, K] -> C[I_X, K]",
    "owing against split": "A[I, J]{U_X} * B[J_X, K] -> C[I, K]",
    "owing against free": "A[I, J]{U_X} * B[J, K_X] -> C[I, K_X]",
    "both owing": "A[I, J]{U_X} * B[J, K]{U_X} -> C[I, K]",
    "sum": "x[B_X, D_Y] -> y[B_X, D_Y]; sum_D(y) -> Out[B_X]",
    "sum of all, used": "x[B_X, D_Y] * W[D_Y, F] -> h[B_X, F]; sum_F(h) -> s[B_X]; s .* h -> Out[B_X, F]",
    "loss": "x[B_X, D] * W[D_X, F] -> h[B_X, F]; sum_B(h) -> s[F]; s .* g[F] -> Out[F]",
    "max": "x[B_X, D_Y] * W[D, F_Y] -> h[B_X, F_Y]; max_F(h) -> Out[B_X]",
    "norm by a sum": "x[B_X, D_Y] .* x -> s[B_X, D_Y]; sum_D(s) -> n[B_X]; gelu(n) .* x -> Out[B_X, D_Y]",
    "chain of four": "A[I_X, J] * B[J, K_Y] * C[K_Y, L] * D[L_X, M] -> E[I_X, M_Y]",
    "long names": "x[tokens_{data}, d_model] * W[d_model_{data}, d_ff_{tp}] -> h[tokens_{data}, d_ff_{tp}]",
    "other letters": "P[U_X, V_Y] * Q[V_Y, R] -> S[U_X, R_Y]",
}


def read(text: str, size: int = 16, chips: int | None = None) -> Program:
    """Return the program with numbers for every size."""
    open_ = elaborate(text)
    mesh = {axis: sp.Integer(chips or SIZES.get(axis, 2)) for axis in open_.mesh}
    return elaborate(text, mesh=mesh, sizes={dim: sp.Integer(size) for dim in open_.sizes})


def judge(text: str, size: int = 16, chips: int | None = None, regather: bool = False) -> tuple[Plan, Run]:
    """Run the plan of a program and compare everything that can be compared."""
    program = read(text, size, chips)
    plan = partition(program, regather=regather)
    mesh = Mesh(program, plan)
    run = mesh.run()
    check_gradients(plan, mesh, run)
    for name, counts in run.counts.items():
        check_costs(plan, name, counts)
    return plan, run


def check_gradients(plan: Plan, mesh: Mesh, run: Run) -> None:
    program = plan.program
    wanted = {n for n in program.leaves if not program.values[n].const and n in run.expected}
    assert set(run.gradients) == wanted
    for name in wanted:
        assert mesh.same(run.gradients[name], run.expected[name]), f"gradient of {name}"
        layout = program.values[name].layout
        assert layout is not None
        if name in program.grads or name not in program.states:
            assert plan.gradients[name].layout == program.grads.get(name, layout.paid)


def check_costs(plan: Plan, name: str, counts: list[Count]) -> None:
    typed = elements(plan.program, "fp64")
    axes = {axis: AxisOn(axis, size) for axis, size in plan.program.mesh.items()}
    for count in counts:
        if isinstance(count.planned, Collective):
            if count.planned.kind in FREE:
                assert count.most == 0
                continue
            received = int(transfer(plan, count.planned, typed, axes).cost.received.xreplace(typed.numbers))
            if count.planned.kind == "Permute":
                assert count.most <= received
            else:
                assert count.received == received, str(count.planned)
    cost = tally(plan, name, typed, axes)
    assert sum(count.flops for count in counts) == cost.total_flops
    assert sum(count.hbm for count in counts) == cost.hbm_bytes.xreplace(typed.numbers)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    _, run = judge(PROGRAMS[name])
    assert not run.unread, [str(each) for each in run.unread]


# A program that asks for a layout and back gets both moves, and could do without the second.
THERE_AND_BACK = "residual in both layouts"


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != THERE_AND_BACK])
def test_every_collective_is_needed(name: str) -> None:
    """The judge notices a plan that lacks one of the collectives that something reads."""
    plan, run = judge(PROGRAMS[name])
    for which, steps in plan.passes.items():
        for place, step in enumerate(steps):
            if isinstance(step, Collective) and step not in run.unread:
                broken = {**plan.passes, which: (*steps[:place], *steps[place + 1 :])}
                with pytest.raises(MeshError):
                    Mesh(plan.program, replace(plan, passes=broken)).run()


@pytest.mark.parametrize(
    "name", ["FSDP", "FSDP x TP", "gated MLP", "nonlinear MLP", "three axes", "a value used twice"]
)
def test_regather(name: str) -> None:
    judge(PROGRAMS[name], regather=True)


# programs made at random, on a mesh of 2 x 2 x 2 chips


@st.composite
def layouts(draw: st.DrawFn, dims: str, owing: bool = False) -> str:
    """Draw a legal layout: every axis splits one dimension, or is replicated, or (if allowed) owes a sum."""
    axes = dict.fromkeys(dims, "")
    owes = ""
    for axis in draw(st.permutations("XYZ")):
        state = draw(st.sampled_from([*dims, *dims, "", "U" if owing else ""]))
        if state == "U":
            owes += axis
        elif state:
            axes[state] += axis
    inside = ", ".join(dim + ("_" + split if split else "") for dim, split in axes.items())
    return f"[{inside}]" + (f"{{U_{owes}}}" if owes else "")


@st.composite
def moves(draw: st.DrawFn) -> str:
    return f"A{draw(layouts('IJK', True))} -> B{draw(layouts('IJK', True))}"


@st.composite
def products(draw: st.DrawFn) -> str:
    """A product with batch, contracted and free dimensions, and owed sums anywhere."""
    left, right, out = draw(st.sampled_from([("IJ", "JK", "IK"), ("EIJ", "EJK", "EIK"), ("IJK", "KJ", "I")]))
    parts = [draw(layouts(dims, True)) for dims in (left, right, out)]
    return f"A{parts[0]} * B{parts[1]} -> C{parts[2]}"


@st.composite
def chains(draw: st.DrawFn) -> str:
    """One to four products in a row; results in layouts of their own or as they fall out; elementwise functions."""
    letters = "BDFGK"
    batch = "E" if draw(st.booleans()) else ""
    x = f"A{draw(layouts(batch + 'BD', True))}"
    lines = []
    for n in range(draw(st.integers(1, 4))):
        inner, outer = letters[n + 1], letters[(n + 1) % 4 + 1]
        mark = f"*_{inner}"
        declared = draw(layouts(f"{batch}B{outer}")) if draw(st.booleans()) else ""
        lines.append(f"{x} {mark} W{n}{draw(layouts(batch + inner + outer))} -> h{n}{declared}")
        x = f"gelu(h{n})" if declared and draw(st.booleans()) else f"h{n}"
    return "; ".join(lines)


@st.composite
def branches(draw: st.DrawFn) -> str:
    """A gated MLP with a residual, a bias, reductions and an optimizer step, every array in its own layout."""

    def a(name: str, dims: str, owing: bool = False) -> str:
        return name + draw(layouts(dims, owing))

    lines = [f"{a('x', 'BD')} * {a('W', 'DF')} -> {a('g', 'BF')}", f"x * {a('V', 'DF')} -> {a('u', 'BF')}"]
    gate = draw(st.sampled_from(["g", "silu(g)", "u", "softmax_F(g)"]))
    lines += [f"{gate} .* u -> {a('h', 'BF')}", f"h * {a('O', 'FD')} -> {a('y', 'BD', True)}"]
    lines.append(f"{draw(st.sampled_from(['x + y', 'y + x', 'y + ' + a('c', 'D')]))} -> {a('r', 'BD')}")
    sums = [f"sum_D(r) -> {a('s', 'B')}", f"sum_B(r) -> {a('s', 'D', True)}", f"max_D(r) -> {a('s', 'B')}"]
    if draw(st.booleans()):
        lines += [draw(st.sampled_from(sums)), f"s .* r -> {a('t', 'BD')}"]
    for word in ("const", "grad", "state"):
        name, dims = draw(st.sampled_from([("W", "DF"), ("V", "DF"), ("O", "FD")]))
        if draw(st.booleans()):
            lines.append(f"{word} {a(name, dims)}" if word != "const" else f"const {name}")
    return "; ".join(lines)


@settings(derandomize=True, deadline=None, max_examples=90)
@given(moves())
def test_random_moves(text: str) -> None:
    judge(text, size=8, chips=2)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(products())
def test_random_products(text: str) -> None:
    judge(text, size=8, chips=2)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(chains(), st.booleans())
def test_random_chains(text: str, regather: bool) -> None:
    judge(text, size=8, chips=2, regather=regather)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(branches(), st.booleans())
def test_random_branches(text: str, regather: bool) -> None:
    judge(text, size=8, chips=2, regather=regather)
