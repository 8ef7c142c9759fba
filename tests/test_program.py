"""Programs: what the notation means, and what is said about text that means nothing."""

from __future__ import annotations

import time

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.array import Add, Einsum, Map, Move, Operation, Program, Reduce, Rename
from symscale.errors import LayoutError, NotationError, SymscaleError
from symscale.notation.elaborate import elaborate
from symscale.vocabulary import symbol


def told(operation: Operation) -> str:
    """Write an operation in one word order: `Tmp = In * W over D`."""
    match operation:
        case Einsum(out, lhs, rhs, contracted, elementwise):
            over = f" over {' '.join(sorted(contracted))}" if contracted else ""
            return f"{out} = {lhs} {'.*' if elementwise else '*'} {rhs}{over}"
        case Add(out, lhs, rhs):
            return f"{out} = {lhs} + {rhs}"
        case Map(out, function, source, along):
            return f"{out} = {'_'.join((function, *along))}({source})"
        case Reduce(out, kind, source, dims):
            return f"{out} = {'_'.join((kind, *dims))}({source})"
        case Move(out, source):
            return f"{out} = {source}"
        case Rename(out, source, names):
            return f"{out} = {source} with {', '.join(f'{new} for {old}' for old, new in names)}"


def shown(program: Program, name: str) -> str:
    """Write a value with its declared layout, or its dimensions."""
    value = program.values[name]
    return str(value.layout) if value.layout else f"[{', '.join(value.dims)}]"


def facts(program: Program) -> tuple[object, ...]:
    """Return what a program means, without its text."""
    return (
        dict(program.values),
        program.operations,
        program.leaves,
        program.outputs,
        dict(program.sizes),
        dict(program.mesh),
        dict(program.grads),
        dict(program.states),
    )


MLP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
GATED = "H[B_X, F_Y] = silu(x[B_X, D] * W_g[D, F_Y]) .* (x * W_u[D, F_Y])"
ATTENTION = """
    Q[B, T, K, G, H] * K[B, S, K, H] -> A[B, T, S, K, G]
    softmax_S(A) * V[B, S, K, H] -> O[B, T, K, G, H]
"""

MEANINGS = {
    MLP: ["Tmp = In * W_in over D", "Out = Tmp * W_out over F"],
    GATED: [
        "Tmp_1 = x * W_g over D",
        "Tmp_2 = silu(Tmp_1)",
        "Tmp_3 = x * W_u over D",
        "H = Tmp_2 .* Tmp_3",
    ],
    ATTENTION: ["A = Q * K over H", "Tmp = softmax_S(A)", "O = Tmp * V over S"],
    # a residual; a later use needs no dimensions
    "x[B_X, D]; y[B_X, D] = x + x * W[D, F] * V[F, D]": [
        "Tmp_1 = x * W over D",
        "Tmp_2 = Tmp_1 * V over F",
        "y = x + Tmp_2",
    ],
    # three axes, two of them on one dimension
    "A[I_XY, J_Z] * B[J_Z, K] -> C[I_XY, K]": ["C = A * B over J"],
    "a[d_model_X, tokens_{data,seq}] * b[d_model_X, F] -> c[tokens_{data,seq}, F]": ["c = a * b over d_model"],
    # one product with a declared result: what is shared and kept is a batch dimension
    "A[E, I, J] * B[E, J, K] -> C[E, I, K]": ["C = A * B over J"],
    "A[I, J] * B[I, J] -> C[I, J]": ["C = A * B"],
    "A[I, J, K] * B[I, J, K] -> C[K]": ["C = A * B over I J"],
    "A[I] * B[J] -> C[I, J]": ["C = A * B"],
    "A[J] * B[J] -> C[]": ["C = A * B over J"],
    "C = A[I, J] * B[J, K]": ["C = A * B over J"],
    # a reduction around a product takes the dimension itself
    "sum_T(A[T, I] * B[T, I]) -> C[I]": ["Tmp = A * B", "C = sum_T(Tmp)"],
    "A[T, I] * B[T, I] -> C[I]": ["C = A * B over T"],
    "max_{d_model}(A[d_model, I]) -> C[I]": ["C = max_d_model(A)"],
    "sum_IJ(A[I, J]) -> C[]": ["C = sum_I_J(A)"],
    "sum_EX(A[EX, J]) -> C[J]": ["C = sum_EX(A)"],
    # marks
    "A[E, I, J] *_J B[E, J, K] *_K C[E, K, L] -> D[E, I, L]": ["Tmp = A * B over J", "D = Tmp * C over K"],
    "A[E, I] *_{E,I} B[E, I, J] * C[J, K] -> D[K]": ["Tmp = A * B over E I", "D = Tmp * C over J"],
    "A[I, d_ff] *_{d_ff} B[d_ff, J] * C[J] -> D[I]": ["Tmp = A * B over d_ff", "D = Tmp * C over J"],
    # brackets, sums and functions
    "A[I, J] * (B[J, K] * C[K, L]) -> D[I, L]": ["Tmp = B * C over K", "D = A * Tmp over J"],
    "A[I] + b[J] -> C[I, J]": ["C = A + b"],
    "f(g_I(A[I, J])) -> C[J, I]": ["Tmp = g_I(A)", "C = f(Tmp)"],
    "layer_norm_D(x[B, D]) * W[D, F] -> y[B, F]": ["Tmp = layer_norm_D(x)", "y = Tmp * W over D"],
    # layouts
    "A[I_XY, J] -> B[I_X, J]": ["B = A"],
    "A[I_XY, J] -> A[I_X, J]; A -> B[I, J]": ["A_2 = A", "B = A_2"],
    "A[I]{U_X} -> B[I_X]": ["B = A"],
    "x[B_X, D] * W[D, F] -> y[B_X, F]; x[B, D] * y -> z[D, F]": ["y = x * W over D", "Tmp = x", "z = Tmp * y over B"],
    "x[B_X] + f(x[B]) + g(x[B]) -> y[B_X]": [
        "Tmp_1 = x",
        "Tmp_2 = f(Tmp_1)",
        "Tmp_3 = x + Tmp_2",
        "Tmp_4 = g(Tmp_1)",
        "y = Tmp_3 + Tmp_4",
    ],
    "x[I, J] + x[J, I] -> y[I, J]": ["y = x + x"],
    # names made up keep clear of the user's
    "Tmp[I, J] * W[J, K] * V[K, L] -> C[I, L]": ["Tmp_1 = Tmp * W over J", "C = Tmp_1 * V over K"],
    "x[B] -> x[B]; x + x_2[B] -> y[B]": ["x_3 = x", "y = x_3 + x_2"],
    "bf16[I, J] * A1[J, K] -> bf16[I, K]": ["Out = A2 * A1 over J"],
}


@pytest.mark.parametrize("text", MEANINGS)
def test_meaning(text: str) -> None:
    assert [told(operation) for operation in elaborate(text).operations] == MEANINGS[text]


SPELLINGS = {
    r"\text{In}[B_X, D] \cdot_D W_\text{in}[D_X, F] \cdot_{F} W_{\text{out}}[F, D_X] \to \text{Out}[B_{X}, D]": MLP,
    r"$\mathrm{Out}[B_X, D] = \mathbf{In}[B_X, D] × W_{in}[D_X, F] \times W_{out}[F, D_X]$": MLP,
    "Out[B_X,D]:=In[B_X,D]·W_in[D_X,F]⋅W_out[F,D_X]": MLP,
    r"H[B_X, F_Y] = \operatorname{silu}\left(x[B_X, D] \cdot W_g[D, F_Y]\right) \odot (x \cdot W_u[D, F_Y])": GATED,
    "silu(x[B_X, D] * W_g[D, F_Y]) ⊙ (x * W_u[D, F_Y]) → H[B_X, F_Y];\n": GATED,
    r"A[I_{XY}, J]\{U_Z\} \rightarrow B[I_{X,Y}, J] \\": "A[I_XY, J]{U_Z} -> B[I_XY, J]",
    r"A[d_\text{model}, t_{\text{data}}] -> B[d_\text{model}, t]": "A[d_model, t_{data}] -> B[d_model, t]",
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings_agree(text: str) -> None:
    assert facts(elaborate(text)) == facts(elaborate(SPELLINGS[text]))


def test_values_of_the_mlp() -> None:
    program = elaborate(MLP)
    assert program.leaves == ("In", "W_in", "W_out")
    assert program.outputs == ("Out",)
    assert {name: shown(program, name) for name in program.values} == {
        "In": "[B_X, D]",
        "W_in": "[D_X, F]",
        "Tmp": "[B, F]",
        "W_out": "[F, D_X]",
        "Out": "[B_X, D]",
    }
    assert program.values["Tmp"].hint == (("B", ("X",)),)
    assert program.sizes == {name: symbol(name) for name in "BDF"}
    assert program.mesh == {"X": symbol("X")}


def test_a_hint_follows_the_dimensions_that_survive() -> None:
    program = elaborate("A[I, J] * B[J, K] * C[K, L] -> D[I_X, L_Y]; D * E[L, K] * F[K, L] -> G[I_Y, L_X]")
    # the L of D is contracted; that of G is another one
    assert program.values["Tmp_1"].hint == (("I", ("X",)),)
    assert program.values["Tmp_2"].hint == (("I", ("Y",)),)
    assert program.values["G"].hint == ()


ROLES = {
    MLP: "In",
    GATED: "x",
    ATTENTION: "Q K V",
    "Q[T, N, H] * K[S, N, H] -> A[T, S, N]": "Q K",
    "x[E, C, D] * W[E, D, F] -> y[E, C, F]": "x W",  # experts look like a batch: say `weight`
    "x[E, C, D] * weight W[E, D, F] -> y[E, C, F]": "x",
    "weight W[E, D, F]; x[E, C, D] * W -> y[E, C, F]": "x",
    "x[B, D] * W[D, F] -> y[B, F]; y .* m[B, F] -> z[B, F]": "x m",
    # moved, normed or added to, the first array is still the same data
    "rms(x[B_X, D]) .* g[D] -> h[B_X, D]; h * W[D, F] -> y[B_X, F]": "x",
    "x[B_XY, D] -> x[B_X, D]; x * W[D, F] -> y[B_X, F]": "x",
    "x[B, D] * activation W[D, F] -> y[B, F]": "x W",
    "W[D, F]; x[B, D] * W -> y[B, F]": "x",
}


@pytest.mark.parametrize("text", ROLES)
def test_roles(text: str) -> None:
    program = elaborate(text)
    found = [name for name in program.leaves if program.values[name].role == "activation"]
    assert sorted(found) == sorted(ROLES[text].split())
    assert {program.values[name].role for name in program.leaves} <= {"activation", "weight"}
    assert {value.role for name, value in program.values.items() if name not in program.leaves} == {"result"}


def test_declarations() -> None:
    program = elaborate(f"{MLP}; grad W_in[D, F_X]; state W_out[F_X, D]; const In")
    assert {name: str(layout) for name, layout in program.grads.items()} == {"W_in": "[D, F_X]"}
    assert {name: str(layout) for name, layout in program.states.items()} == {"W_out": "[F_X, D]"}
    assert [name for name, value in program.values.items() if value.const] == ["In"]


def test_dtypes() -> None:
    program = elaborate("int8 W[D, F]; bfloat16[B, D] * W -> fp32 y[B, F]; y + fp8 z[B, F] -> out[B, F]")
    assert {name: value.dtype for name, value in program.values.items()} == {
        "W": "int8",
        "A1": "bf16",
        "y": "fp32",
        "z": "fp8",
        "out": None,
    }


def test_marks() -> None:
    program = elaborate("x[B, D]{saved} * W[D, F]{freed} -> h[B, F]{U_X}{saved}; f(h[B, F]) -> y[B, F]")
    assert {name: value.keep for name, value in program.values.items()} == {
        "x": True,
        "W": False,
        "h": True,
        "Tmp": None,
        "y": None,
    }
    assert shown(program, "h") == "[B, F]{U_X}"
    assert told(program.operations[1]) == "Tmp = h"
    assert shown(elaborate("A[I]{U_X, U_{data}} -> B[I]"), "A") == "[I]{U_{X,data}}"


def test_a_result_has_the_first_layout_that_is_stated_for_it() -> None:
    program = elaborate("h = x[B_X, D] * W[D, F_Y]; silu(h[B, F_Y]) -> y[B_X, F_Y]")
    assert shown(program, "h") == "[B, F_Y]"
    assert [told(operation) for operation in program.operations] == ["h = x * W over D", "y = silu(h)"]


def test_the_target_orders_the_dimensions() -> None:
    program = elaborate("A[I, J] * B[J, K] -> C[K, I]; C + D[I] -> E[I, K]; E * F[K, L]*G[L, M] -> H")
    assert {name: program.values[name].dims for name in "CEH"} == {"C": ("K", "I"), "E": ("I", "K"), "H": ("I", "M")}


def test_several_outputs() -> None:
    assert elaborate("x[B, D] * W[D, F] -> y[B, F]; x * V[D, E] -> z[B, E]; f(z) -> u[B, E]").outputs == ("y", "u")


def test_given_sizes() -> None:
    program = elaborate(MLP, mesh={"X": sp.Integer(16)}, sizes={"F": 4 * symbol("D")})
    assert program.mesh == {"X": sp.Integer(16)}
    assert program.sizes == {"B": symbol("B"), "D": symbol("D"), "F": 4 * symbol("D")}


def test_given_axes_name_axes_of_several_letters() -> None:
    program = elaborate(
        "A[tokens_DP, d_model] -> B[tokens, d_model_{TP}]", mesh={"DP": sp.Integer(4), "TP": symbol("TP")}
    )
    assert (shown(program, "A"), shown(program, "B")) == ("[tokens_{DP}, d_model]", "[tokens, d_model_{TP}]")
    assert shown(elaborate("A[tokens_DP] -> B[tokens]"), "A") == "[tokens_DP]"
    assert elaborate("A[tokens_DP] -> B[tokens]").mesh.keys() == {"D", "P"}


def test_names_of_machine_symbols_stay_apart() -> None:
    program = elaborate("a[C_W, b] * c[b, W_k] -> d[C_W, W_k]")
    assert program.sizes == {"C": symbol("C_dim"), "b": symbol("b_dim"), "W_k": symbol("W_k")}
    assert program.mesh == {"W": symbol("W_axis")}


# text, words of the message, the text from the caret on
WRONG = [
    ("", "is empty", None),
    (" \n ", "is empty", None),
    (";", "ends where '(' or a name is needed", ""),
    ("A[I, J", "never closed", "[I, J"),
    ("A[I, J)] -> B[I]", "closes nothing", ")]"),
    ("A[I] -> B[I] -> C[I]", "Found '->'", "-> C"),
    ("A[I] -> ", "ends where a name is needed", ""),
    ("A[I] - B[I] -> C[I]", "'-' has no meaning", "- B"),
    ("A[2] -> C[I]", "'2' has no meaning", "2]"),
    ("__import__('os')", "'_' has no meaning", "__import"),
    ("9**9**9**9", "'9' has no meaning", "9**"),
    (r"\text{a b!}[I] -> C[I]", "'ab!' is no name", r"\text"),
    ("A[I_{X-Y}] -> C[I]", "'X-Y' is no name", "I_{X-Y}"),
    ("A[I]{U} -> B[I]", "mark {U} is not known", "{U}"),
    ("A[I]{lost} -> B[I]", "mark {lost} is not known", "{lost}"),
    ("A B C D[I] -> E[I]", "4 words stand before one array", "B C D"),
    ("A B[I] -> E[I]", "'A' is no dtype and no declaration", "A B"),
    ("A[I]; B[J]", "computes nothing", "A[I]"),
    ("A[I]; B[J] -> C[J]", "A is declared and never used", "A[I]"),
    ("A[I, J] * B[J, K]", "has no result", "* B"),
    ("f(A[I])", "has no result", "f("),
    ("A * B[I] -> C[I]", "A is used before its dimensions are known", "A *"),
    ("A[I_X, J_X] -> B[I, J]", "uses the mesh axis X twice (on I and on J)", "A["),
    ("A[I, I] -> B[I]", "has the dimension I twice", "A["),
    ("A[I_X]{U_X} -> B[I]", "both splits I over X and owes a sum over it", "A["),
    ("A[I]{U_XX} -> B[I]", "owes a sum twice", "A["),
    ("A[I]; f(A){U_X} -> B[I]", "Found '{U_X}'", "{U_X}"),
    ("A[I] -> B{U_X}", "needs its dimensions", "B{"),
    ("A[I_X] -> B[X]", "B has the dimension X, but the expression has [I]", "B["),
    ("A[I_X] + B[X] -> C[I, X]", "X is both a dimension and a mesh axis", "A[I_X]"),
    ("A[I, J] * B[J, K] * C[L, M] -> D[I, M]", "contracts a dimension that is not there", "* C"),
    ("A[E, I, J] * B[E, J, K] * C[K, L] -> D[E, I, L]", "share [E, J]; which of them contract?", "* B"),
    ("A[I, J] *_K B[J, K] -> C[I, K]", "contracts K, a dimension that is not there", "*_K"),
    ("A[I, J] .*_J B[J] -> C[I, J]", "elementwise product contracts nothing", ".*_J"),
    ("A[I, J] * B[J, K] -> C[I, L]", "C has the dimension L, but the expression has [I, K]", "C["),
    ("A[I, J] * B[K, L] -> C[I, L]", "dimension J of the expression is missing in C", "C["),
    ("A[I, J] *_J B[J, K] -> C[I, J, K]", "C has the dimension J", "C["),
    ("f(A[I, J]) -> C[I]", "dimension J of the expression is missing in C", "C["),
    ("sum(A[I, J]) -> C[I]", "sum needs the dimension it reduces", "sum("),
    ("sum_K(A[I, J]) -> C[I]", "sum runs over K, but its argument has [I, J]", "sum_K"),
    ("softmax_K(A[I, J]) -> C[I]", "softmax runs over K", "softmax_K"),
    ("A[I, J] + A[I, K] -> C[I, J, K]", "A has the dimensions [I, J], here it has [I, K]", "A[I, K]"),
    ("f(A[I, J]) -> A[I, J]; sum_I(A) -> A[J]", "A has the dimensions [I, J], here it has [J]", "A[J]"),
    ("int8 A[I] + fp8 A[I] -> C[I]", "A is int8, here it is fp8", "fp8"),
    ("A[I] -> C[I]{saved}{freed}", "cannot be both saved and freed", "C["),
    ("A[I_X]; A[I]; f(A) -> B[I]", "has the layout [I_X], and is declared again as [I]", "A[I];"),
    ("grad A[I]; f(A[I]) -> B[I]", "speaks of an array that does not occur before", "grad"),
    ("f(A[I]) -> B[I]; grad A[J]", "A has the dimensions [I], here it has [J]", "grad"),
    ("f(A[I]) -> B[I]; grad A", "grad A needs a layout", "grad"),
    ("f(A[I]) -> B[I]; state fp32 A[I]", "declared with a dtype", "state"),
    ("f(grad A[I]) -> B[I]", "grad is a statement of its own", "grad"),
    ("f(A[I]) -> const B[I]", "const declares an array", "const"),
    ("f(A[I]) -> B[I]; const B", "speaks of a result", "const"),
    ("(" * 70 + "A[I]" + ")" * 70 + " -> B[I]", "nested brackets", None),
]


@pytest.mark.parametrize(("text", "words", "at"), WRONG)
def test_errors_say_what_where_and_how(text: str, words: str, at: str | None) -> None:
    with pytest.raises((NotationError, LayoutError)) as caught:
        elaborate(text)
    error = caught.value
    assert words in str(error)
    if at is not None:
        assert error.position is not None
        assert error.text == text
        assert text[error.position :].startswith(at)
        assert (error.position == len(text)) == (at == "")


@pytest.mark.parametrize("text", [text for text, _, at in WRONG if at is not None])
def test_errors_offer_a_way_out(text: str) -> None:
    with pytest.raises(SymscaleError) as caught:
        elaborate(text)
    assert caught.value.hint or "needs its dimensions" in str(caught.value)


GIVEN = [
    ({"X": sp.Integer(4), "Z": sp.Integer(2)}, {}, "axis Z, but the program does not use it"),
    ({"X": sp.S.Zero}, {}, "The mesh axis X has the size 0"),
    ({"X": sp.Rational(3, 2)}, {}, "The mesh axis X has the size 3/2"),
    ({}, {"B": sp.Integer(-3)}, "The dimension B has the size -3"),
    ({}, {"B": sp.nan}, "The dimension B has the size nan"),
    ({}, {"B": sp.oo}, "The dimension B has the size oo"),
    ({}, {"B": -symbol("D")}, "The dimension B has the size -D"),
]


@pytest.mark.parametrize(("mesh", "sizes", "words"), GIVEN)
def test_sizes_are_checked(mesh: dict[str, sp.Expr], sizes: dict[str, sp.Expr], words: str) -> None:
    with pytest.raises(LayoutError) as caught:
        elaborate(MLP, mesh=mesh, sizes=sizes)
    assert words in str(caught.value)
    assert caught.value.hint


def test_a_huge_text_is_refused_at_once() -> None:
    start = time.process_time()
    with pytest.raises(NotationError, match="1,000,000 characters"):
        elaborate("A" * 1_000_000)
    assert time.process_time() - start < 1


def test_long_programs_and_sums() -> None:
    chain = ";".join(f"f(x{n}) -> x{n + 1}[B_X]" for n in range(400))
    program = elaborate(f"x0[B_X]; {chain}")
    assert len(program.operations) == 400
    assert program.outputs == ("x400",)
    assert len(elaborate("A[I]" + " + A" * 5000 + " -> B[I]").operations) == 5000
    assert len(elaborate("A[I]" + "; A -> A" * 2000).values) == 2001


def test_time_grows_linearly() -> None:
    def seconds(n: int) -> float:
        text = ";".join(f"x{i}[B_X, D] * W{i}[D, F] -> y{i}[B_X, F]" for i in range(n))
        start = time.process_time()
        elaborate(text)
        return time.process_time() - start

    seconds(10)
    few = min(seconds(200) for _ in range(3))
    # a square would be 100
    assert min(seconds(2000) for _ in range(2)) < 25 * few


ARRAYS = ["A[I, J]", "B[J_X, K]", "C[K, L_YZ]", "A", "B", "C[K, L]", "W_in[I_X, d_model]", "int8 D[I]{U_X}", "x[]"]
PIECES = [
    *ARRAYS,
    "*",
    "*_J",
    ".*",
    "+",
    "->",
    "=",
    ";",
    "f(",
    "sum_J(",
    "softmax_K(",
    ")",
    "grad",
    "const",
    "{saved}",
    "Out[I, K]",
]
LETTERS = r"ABIJX_,[](){}*.+->=;\ 1\text{}→·é" + "\n"


@given(
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join) | st.text(LETTERS, max_size=40) | st.text(max_size=20)
)
@settings(derandomize=True, deadline=None, max_examples=700)
def test_any_text_is_a_program_or_one_error(text: str) -> None:
    try:
        program = elaborate(text)
    except SymscaleError:
        return
    made = [operation.out for operation in program.operations]
    assert set(program.values) == {*program.leaves, *made}
    assert len(set(made)) == len(made)
    assert all(name == value.name for name, value in program.values.items())


NAMES = st.sampled_from("IJKL")


@given(
    st.lists(NAMES, min_size=1, max_size=3, unique=True),
    st.lists(NAMES, min_size=1, max_size=3, unique=True),
    st.data(),
)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_a_shared_dimension_contracts_iff_the_result_lacks_it(
    one: list[str], two: list[str], data: st.DataObject
) -> None:
    shared = [dim for dim in one if dim in two]
    kept = data.draw(st.lists(st.sampled_from(shared), unique=True)) if shared else []
    free = [dim for dim in (*one, *two) if dim not in shared]
    target = data.draw(st.permutations([*kept, *free]))
    program = elaborate(f"a[{', '.join(one)}] * b[{', '.join(two)}] -> c[{', '.join(target)}]")
    (product,) = program.operations
    assert isinstance(product, Einsum)
    assert product.contracted == set(shared) - set(kept)
    assert program.values["c"].dims == tuple(target)


def test_a_result_can_give_a_dimension_another_name():
    made = elaborate("q[B, T, H] = x[B, T, D] * W_Q[D, H]; k[B, S=T, H] = x * W_K[D, H]; a[B, T, S] = q * k")
    assert [told(each) for each in made.operations][1:] == [
        "Tmp = x * W_K over D",
        "k = Tmp with S for T",
        "a = q * k over H",
    ]
    assert made.sizes["S"] == made.sizes["T"] == symbol("T")
    assert made.values["x"].role == "activation"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x[B, T] -> y[B, S=Q]", "has no Q"),
        ("x[B, T] -> y[B, B=T]", "has the dimension B twice"),
        ("x[B, T] -> y[T, B=T]", "has B already"),
        ("y[B, S=T] * W[S, D] -> z[B, D]", "is no result here"),
        ("x[B, T] -> y[B, S=]", "needed"),
        ("x[B, T] -> y[B, exp=T]", "is a function"),
    ],
)
def test_another_name_is_refused_where_it_means_nothing(text, words):
    with pytest.raises(SymscaleError, match=words):
        elaborate(text)


def test_another_name_has_the_size_of_the_first():
    text = "x[B, T] * W[T, D] -> h[B, D]; x -> y[B, S=T]"
    assert elaborate(text, sizes={"T": sp.Integer(8)}).sizes["S"] == 8
    with pytest.raises(LayoutError, match="S is T under another name"):
        elaborate(text, sizes={"T": sp.Integer(8), "S": sp.Integer(4)})
