"""Programs that JAX compiles as well (`make verify`): a name, the notation, the mesh, sizes of their own.

Sizes are divisible by every mesh, and large enough for products to dominate the compiler's FLOP count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SIZES: Mapping[str, int] = {
    "B": 1024,  # tokens
    "D": 2048,
    "F": 4096,
    "I": 512,
    "J": 1024,
    "K": 2048,
    "R": 16,  # sequences
    "T": 512,
    "S": 1024,
    "N": 8,  # KV heads
    "G": 4,
    "H": 128,
    "E": 8,
    "Q": 256,  # tokens of one expert
    "V": 8192,
}
X8, Y8, XY42, XY24, XYZ = {"X": 8}, {"Y": 8}, {"X": 4, "Y": 2}, {"X": 2, "Y": 4}, {"X": 2, "Y": 2, "Z": 2}


@dataclass(frozen=True)
class Case:
    """A program on a mesh; `sizes` overrides the common ones."""

    name: str
    text: str
    mesh: Mapping[str, int]
    sizes: Mapping[str, int] = field(default_factory=dict)


CONTRACTIONS = (
    Case("case 1, rows", "A[I_X, J] * B[J, K] -> C[I_X, K]", X8),
    Case("case 1, rows and columns", "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]", XY42),
    Case("case 2, gather the left", "A[I, J_X] * B[J, K] -> C[I, K]", X8, {"K": 8192}),
    Case("case 2, slice the right", "A[I, J_X] * B[J, K] -> C[I, K]", X8, {"K": 128}),
    Case("case 2, gather the right", "A[I, J] * B[J_X, K] -> C[I, K]", X8, {"I": 4096}),
    Case("case 2, wanted columns", "A[I, J] * B[J_X, K] -> C[I, K_X]", X8),
    Case("case 3, all-reduce", "A[I, J_X] * B[J_X, K] -> C[I, K]", X8),
    Case("case 3, scatter rows", "A[I, J_X] * B[J_X, K] -> C[I_X, K]", X8),
    Case("case 3, scatter columns", "A[I, J_X] * B[J_X, K] -> C[I, K_X]", X8),
    Case("case 3, two axes", "A[I, J_XY] * B[J_XY, K] -> C[I, K]", XY42),
    Case("case 3, scatter over two axes", "A[I, J_XY] * B[J_XY, K] -> C[I_XY, K]", XY24),
    Case("case 3, scatter one of two axes", "A[I, J_XY] * B[J_XY, K] -> C[I_X, K]", XY42),
    Case("case 3, scatter rows and columns", "A[I, J_XY] * B[J_XY, K] -> C[I_X, K_Y]", XY42),
    Case("case 3 within rows", "A[I_X, J_Y] * B[J_Y, K] -> C[I_X, K]", XY42),
    Case("case 3 within rows and columns", "A[I_X, J_Y] * B[J_Y, K_Z] -> C[I_X, K_Z]", XYZ),
    Case("case 4, keep rows", "A[I_X, J] * B[J, K_X] -> C[I_X, K]", X8),
    Case("case 4, keep columns", "A[I_X, J] * B[J, K_X] -> C[I, K_X]", X8),
    Case("contracting and free", "A[I, J_X] * B[J, K_X] -> C[I, K_X]", X8),
    Case("whole operands, split result", "A[I, J] * B[J, K] -> C[I_X, K]", X8),
    Case("case 3, three axes", "A[I, J_XYZ] * B[J_XYZ, K] -> C[I, K]", XYZ),
    Case("case 4 beside a contraction", "A[I_X, J_Y] * B[J_Y, K_X] -> C[I_X, K]", XY42),
    Case("matrix and vector", "A[I_X, J_Y] * B[J_Y] -> C[I_X]", XY42),
)

RESHARDS = (
    Case("gather", "A[I_X, J] -> B[I, J]", X8),
    Case("exchange", "A[I_X, J] -> B[I, J_X]", X8),
    Case("slice", "A[I, J] -> B[I_X, J]", X8),
    Case("pay by scatter", "A[I, J]{U_X} -> B[I_X, J]", X8),
    Case("pay in full", "A[I, J]{U_X} -> B[I, J]", X8),
    Case("pay by scatter over two axes", "A[I, J]{U_XY} -> B[I_X, J_Y]", XY42),
    Case("pay one by scatter, one in full", "A[I, J]{U_XY} -> B[I_X, J]", XY42),
    Case("gather two axes of one dimension", "A[I_XY, J] -> B[I, J]", XY42),
    Case("gather two dimensions", "A[I_X, J_Y] -> B[I, J]", XY42),
    Case("gather three dimensions", "A[I_X, J_Y, K_Z] -> B[I, J, K]", XYZ),
    Case("gather two of three axes", "A[I_XYZ, J] -> B[I_X, J]", XYZ),
    Case("partial removal, minor", "A[I_XY, J] -> B[I_X, J]", XY42),
    Case("partial removal, major", "A[I_XY, J] -> B[I_Y, J]", XY42),
    Case("move the minor axis", "A[I_XY, J] -> B[I_X, J_Y]", XY42),
    Case("move an axis below another", "A[I_X, J_Y] -> B[I_XY, J]", XY42),
    Case("exchange two axes", "A[I_XY, J] -> B[I, J_XY]", XY42),
    Case("swap the order", "A[I_XY, J] -> B[I_YX, J]", XY42),
    Case("swap the dimensions", "A[I_X, J_Y] -> B[I_Y, J_X]", XY42),
    Case("exchange beside a split", "A[I_X, J_Y, K] -> B[I, J_Y, K_X]", XY42),
    Case("gather beside a split", "A[I_X, J_Y, K] -> B[I_X, J, K]", XY42),
)

_MLP = "In[B{}, D{}] * W_in[D{}, F{}] * W_out[F{}, D{}] -> Out[B{}, D{}]"


def _mlp(batch: str, model: str, weight: str, hidden: str) -> str:
    return _MLP.format(batch, model, weight, hidden, hidden, weight, batch, model)


_GATE = "A[B{0}, F_Y] = silu({1} * W_g[D{2}, F_Y]) .* ({3} * W_u[D{2}, F_Y]); A * W_d[F_Y, D{2}] -> Out[B{0}, D{4}]"
_SELF = (
    "Q[R{0}, T, N{1}, H] = x[R{0}, T, D] * W_Q[D{2}, N{1}, H]; K[R{0}, S=T, N{1}, H] = x * W_K[D{2}, N{1}, H]; "
    "V1[R{0}, S=T, N{1}, H] = x * W_V[D{2}, N{1}, H]; P[R{0}, T, N{1}, S] = softmax_S(Q * K); "
    "O[R{0}, T, N{1}, H] = P * V1; Out[R{0}, T, D] = O * W_O[N{1}, H, D{2}]"
)
_SCORES = "P[R{0}, T{1}, N{2}, G, S] = softmax_S(Q[R{0}, T{1}, N{2}, G, H] * K[R{0}, S{1}, N{2}, H])"
_ATTEND = _SCORES + "; P * V1[R{0}, S{1}, N{2}, H] -> O[R{0}, T{1}, N{2}, G, H]"

LAYERS = (
    Case("DP", _mlp("_X", "", "", ""), X8),
    Case("FSDP", _mlp("_X", "", "_X", ""), X8),
    Case(
        "FSDP, columns of the first weight",
        "In[B_X, D] * W_in[D, F_X] * W_out[F_X, D] -> Out[B_X, D]",
        X8,
        {"B": 16384},
    ),
    Case("TP", _mlp("", "_Y", "", "_Y"), Y8),
    Case("TP, replicated activations", _mlp("", "", "", "_Y"), Y8),
    Case("TP over two axes", _mlp("", "_XY", "", "_XY"), XY42),
    Case(
        "TP + sequence",
        "In[B_Y, D] -> All[B, D]; H1[B, F_Y] = All * W_in[D, F_Y]; H1 * W_out[F_Y, D] -> Out[B_Y, D]",
        Y8,
    ),
    Case("TP + sequence, gather not written", _mlp("_Y", "", "", "_Y"), Y8),
    Case("FSDP x TP", _mlp("_X", "_Y", "_X", "_Y"), XY42),
    Case("FSDP x TP, long TP", _mlp("_X", "_Y", "_X", "_Y"), XY24),
    Case("DP x TP", _mlp("_X", "_Y", "", "_Y"), XY42),
    Case("DP x FSDP", _mlp("_XY", "", "_Y", ""), XY24),
    Case("FSDP over two axes", _mlp("_XY", "", "_XY", ""), XY42),
    Case("DP x FSDP x TP", _mlp("_XY", "_Z", "_Y", "_Z"), XYZ),
    Case("DP x FSDP x TP, FSDP outermost", _mlp("_YX", "_Z", "_Y", "_Z"), XYZ),
    Case("DP x TP over two axes", _mlp("_X", "_YZ", "", "_YZ"), XYZ),
    Case("ZeRO-1", _mlp("_X", "", "", "") + "; state W_in[D_X, F]; state W_out[F, D_X]", X8),
    Case("ZeRO-2", _mlp("_X", "", "", "") + "; grad W_in[D_X, F]; grad W_out[F, D_X]", X8),
    Case("ZeRO-1 x TP", _mlp("_X", "_Y", "", "_Y") + "; state W_in[D_X, F_Y]; state W_out[F_Y, D_X]", XY42),
    Case("ZeRO-3 with states", _mlp("_X", "", "_X", "") + "; state W_in[D_X, F]; state W_out[F, D_X]", X8),
    Case("self-attention, FSDP", _SELF.format("_X", "", "_X"), X8, {"T": 1024}),
    Case("self-attention, FSDP x TP", _SELF.format("_X", "_Y", "_X"), XY42, {"T": 1024}),
    Case("inference, 2D weights", "In[B, D] * W[D_X, F_Y] -> Out[B, F_Y]", XY42, {"B": 4096}),
    Case("no gradient of the input", "In[B_X, D] * W[D_X, F] -> Out[B_X, F]; const In[B_X, D]", X8),
    Case(
        "two layers, FSDP",
        "H1[B_X, D] = In[B_X, D] * W_1[D_X, F] * W_2[F, D_X]; H1 * W_3[D_X, F] * W_4[F, D_X] -> Out[B_X, D]",
        X8,
    ),
    Case(
        "three matrices, FSDP",
        "H1[B_X, F] = A[B_X, D] * W_1[D_X, F]; H2[B_X, K] = H1 * W_2[F, K_X]; H2 * W_3[K_X, J] -> Out[B_X, J]",
        X8,
    ),
    Case("bias", "H1[B_X, F_Y] = In[B_X, D] * W_in[D, F_Y]; Out[B_X, F_Y] = relu(H1 + c[F_Y])", XY42),
    Case("nonlinearity", "Z[B_X, F_Y] = relu(In[B_X, D] * W_in[D, F_Y]); Z * W_out[F_Y, D] -> Out[B_X, D]", XY42),
    Case(
        "gated MLP, FSDP",
        "A[B_X, F] = silu(In[B_X, D] * W_g[D_X, F]) .* (In * W_u[D_X, F]); A * W_d[F, D_X] -> Out[B_X, D]",
        X8,
    ),
    Case("gated MLP, TP", _GATE.format("", "In[B, D]", "", "In", ""), Y8),
    Case("gated MLP, FSDP x TP", "In[B_X, D_Y] -> All[B_X, D]; " + _GATE.format("_X", "All", "_X", "All", "_Y"), XY42),
    Case("residual, FSDP", "Y1[B_X, D] = x[B_X, D] * W_in[D_X, F] * W_out[F, D_X]; Out[B_X, D] = x + Y1", X8),
    Case("residual, TP", "H1[B, F_Y] = x[B, D] * W_in[D, F_Y]; H2[B, D] = H1 * W_out[F_Y, D]; Out[B, D] = x + H2", Y8),
    Case("logits", "In[B_X, D] * W_vocab[D, V_Y] -> Out[B_X, V_Y]", XY42),
    Case("logits, FSDP x TP", "In[B_X, D] * W_vocab[D_X, V_Y] -> Out[B_X, V_Y]", XY42),
    Case("FSDP x TP over two axes", _mlp("_X", "_YZ", "_X", "_YZ"), XYZ),
    Case("FSDP over two axes x TP", _mlp("_XY", "_Z", "_XY", "_Z"), XYZ),
    Case("ZeRO-1, long DP, TP", _mlp("_X", "_Y", "", "_Y") + "; state W_in[D_X, F_Y]; state W_out[F_Y, D_X]", XY24),
    Case("ZeRO-2 x TP", _mlp("_X", "_Y", "", "_Y") + "; grad W_in[D_X, F_Y]; grad W_out[F_Y, D_X]", XY42),
    Case(
        "two layers, TP",
        "H1[B, D_Y] = In[B, D_Y] * W_1[D, F_Y] * W_2[F_Y, D]; H1 * W_3[D, F_Y] * W_4[F_Y, D] -> Out[B, D_Y]",
        Y8,
    ),
    Case(
        "two layers, FSDP x TP",
        "H1[B_X, D_Y] = In[B_X, D_Y] * W_1[D_X, F_Y] * W_2[F_Y, D_X]; "
        "H1 * W_3[D_X, F_Y] * W_4[F_Y, D_X] -> Out[B_X, D_Y]",
        XY42,
    ),
    Case(
        "words for letters",
        "x[tokens_{data}, d_model] * W[d_model_{data}, d_ff_{tensor}] -> y[tokens_{data}, d_ff_{tensor}]",
        {"data": 4, "tensor": 2},
        {"tokens": 1024, "d_model": 2048, "d_ff": 4096},
    ),
    Case("embedding gradient", "One[B_X, V] * W_emb[V_X, D] -> Out[B_X, D]", X8, {"V": 1024}),
    Case("scaled rows", "Out[B_X, D_Y] = A[B_X, D_Y] .* g[D_Y]", XY42),
    Case("shared weight", "H1[B_X, F] = In[B_X, D] * W[D_X, F]; H2[B_X, F] = tanh(H1); H2 * W -> Out[B_X, D]", X8),
    Case(
        "two layers with a residual, TP",
        "H1[B, D_Y] = In[B, D_Y] * W_1[D, F_Y] * W_2[F_Y, D]; H2[B, D_Y] = H1 * W_3[D, F_Y] * W_4[F_Y, D]; "
        "Out[B, D_Y] = H1 + H2",
        Y8,
    ),
    Case("sum over a split dimension", "Out[J] = sum_I(A[I_X, J])", X8),
    Case("maximum over a whole dimension", "Out[I_X] = max_J(A[I_X, J])", X8),
)

ATTENTION = (
    Case("attention, heads split", _ATTEND.format("", "", "_Y"), Y8),
    Case("attention, sequences split", _ATTEND.format("_X", "", ""), X8),
    Case("attention, sequences and heads", _ATTEND.format("_X", "", "_Y"), XY42),
    Case("attention, context split", _ATTEND.format("", "_X", ""), X8),
    Case("attention, queries of one head", _SCORES.format("", "", "_Y"), Y8),
    Case("attention, heads over two axes", _ATTEND.format("", "", "_XY"), XY42),
    Case("attention, sequences and context", _ATTEND.format("_Y", "_X", ""), XY42),
    Case("keys, FSDP", "x[R_X, T, D] * W_k[D_X, N, H] -> K[R_X, T, N, H]", X8),
    Case("queries, TP", "x[R_X, T, D] * W_q[D, N_Y, G, H] -> Q[R_X, T, N_Y, G, H]", XY42),
    Case("queries, FSDP x TP", "x[R_X, T, D] * W_q[D_X, N_Y, G, H] -> Q[R_X, T, N_Y, G, H]", XY42),
    Case("attention output, TP", "O[R_X, T, N_Y, H] * W_o[N_Y, H, D] -> Out[R_X, T, D]", XY42),
    Case("attention output, scatter", "O[R_X, T, N_Y, H] * W_o[N_Y, H, D] -> Out[R_X, T_Y, D]", XY42),
    Case("context to heads", "Q[R, T_X, N, H] -> Q2[R, T, N_X, H]", X8),
)

EXPERTS = (
    Case("batch dimension", "A[E_X, I, J] * B[E_X, J, K] -> C[E_X, I, K]", X8),
    Case("batch and replicated", "A[E_X, I, J] * B[E, J, K] -> C[E_X, I, K]", X8),
    Case("batch dimension, contraction split", "A[E_X, I, J_Y] * B[E_X, J_Y, K] -> C[E_X, I, K]", XY42),
    Case("experts", "A[E_X, Q, D] * W_1[E_X, D, F] -> H1[E_X, Q, F]; H1 * W_2[E_X, F, D] -> Out[E_X, Q, D]", X8),
    Case(
        "experts, tokens exchanged",
        "In[E, Q_X, D] -> A[E_X, Q, D]; A * W_1[E_X, D, F] -> H1[E_X, Q, F]; H1 * W_2[E_X, F, D] -> C[E_X, Q, D]; "
        "C -> Out[E, Q_X, D]",
        X8,
    ),
    Case(
        "experts x TP",
        "A[E_X, Q, D] * W_1[E_X, D, F_Y] -> H1[E_X, Q, F_Y]; H1 * W_2[E_X, F_Y, D] -> Out[E_X, Q, D]",
        XY42,
    ),
    Case(
        "experts x FSDP",
        "A[E_X, Q_Y, D] * W_1[E_X, D_Y, F] -> H1[E_X, Q_Y, F]; H1 * W_2[E_X, F, D_Y] -> Out[E_X, Q_Y, D]",
        XY42,
    ),
    Case("experts, tokens over two axes", "In[E, Q_YX, D] -> A[E_X, Q_Y, D]", XY42),
)

CASES = (*CONTRACTIONS, *RESHARDS, *LAYERS, *ATTENTION, *EXPERTS)
