"""Programs that are compiled by JAX as well (`make verify`): a name, the notation, the mesh.

Sizes are divisible by every mesh and large enough for products to dominate the compiler's FLOP count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

SIZES: Mapping[str, int] = MappingProxyType(
    {
        "B": 1024,  # tokens
        "D": 2048,
        "F": 4096,
        "I": 512,
        "J": 1024,
        "K": 2048,
        "L": 256,
        "M": 4096,
        "R": 16,  # sequences
        "T": 512,
        "S": 1024,
        "N": 8,  # KV heads
        "G": 4,
        "H": 128,
        "E": 8,
        "Q": 1024,  # tokens of one expert
        "V": 8192,
    }
)
X8, XY42, XY24, XYZ = {"X": 8}, {"X": 4, "Y": 2}, {"X": 2, "Y": 4}, {"X": 2, "Y": 2, "Z": 2}


@dataclass(frozen=True)
class Case:
    """A program on a mesh; `sizes` overrides the common ones."""

    name: str
    text: str
    mesh: Mapping[str, int]
    sizes: Mapping[str, int] = field(default_factory=dict)


CASES = (
    # the four cases of a sharded contraction
    Case("case 1, rows", "A[I_X, J] * B[J, K] -> C[I_X, K]", X8),
    Case("case 1, rows and columns", "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]", XY42),
    Case("case 2, left", "A[I, J_X] * B[J, K] -> C[I, K]", X8),
    Case("case 2, right", "A[I, J] * B[J_X, K] -> C[I, K]", X8),
    Case("case 3, all-reduce", "A[I, J_X] * B[J_X, K] -> C[I, K]", X8),
    Case("case 3, scatter rows", "A[I, J_X] * B[J_X, K] -> C[I_X, K]", X8),
    Case("case 3, scatter columns", "A[I, J_X] * B[J_X, K] -> C[I, K_X]", X8),
    Case("case 3, two axes", "A[I, J_XY] * B[J_XY, K] -> C[I, K]", XY42),
    Case("case 3, scatter one of two axes", "A[I, J_XY] * B[J_XY, K] -> C[I_X, K]", XY42),
    Case("case 4, keep rows", "A[I_X, J] * B[J, K_X] -> C[I_X, K]", X8),
    Case("case 4, keep columns", "A[I_X, J] * B[J, K_X] -> C[I, K_X]", X8),
    Case("contracting and free", "A[I, J_X] * B[J, K_X] -> C[I, K_X]", X8),
    Case("case 3 within rows", "A[I_X, J_Y] * B[J_Y, K] -> C[I_X, K]", XY42),
    Case("three axes at once", "A[I_X, J_Y] * B[J_Y, K_Z] -> C[I_X, K_Z]", XYZ),
    # reshardings
    Case("gather", "A[I_X, J] -> B[I, J]", X8),
    Case("exchange", "A[I_X, J] -> B[I, J_X]", X8),
    Case("slice", "A[I, J] -> B[I_X, J]", X8),
    Case("pay by scatter", "A[I, J]{U_X} -> B[I_X, J]", X8),
    Case("pay in full", "A[I, J]{U_X} -> B[I, J]", X8),
    Case("pay two axes", "A[I, J]{U_XY} -> B[I_X, J_Y]", XY42),
    Case("pay one by scatter, one in full", "A[I, J]{U_XY} -> B[I_X, J]", XY42),
    Case("gather two axes of one dimension", "A[I_XY, J] -> B[I, J]", XY42),
    Case("gather two dimensions", "A[I_X, J_Y] -> B[I, J]", XY42),
    Case("partial removal, minor", "A[I_XY, J] -> B[I_X, J]", XY42),
    Case("partial removal, major", "A[I_XY, J] -> B[I_Y, J]", XY42),
    Case("move the minor axis", "A[I_XY, J] -> B[I_X, J_Y]", XY42),
    Case("swap the order", "A[I_XY, J] -> B[I_YX, J]", XY42),
    Case("swap the dimensions", "A[I_X, J_Y] -> B[I_Y, J_X]", {"X": 2, "Y": 2}),
    Case("exchange beside a split", "A[I_X, J_Y, K] -> B[I, J_Y, K_X]", XY42),
    # layers
    Case("DP", "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]", X8),
    Case("FSDP", "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]", X8),
    Case("TP", "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]", {"Y": 8}),
    Case("TP, replicated activations", "In[B, D] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D]", {"Y": 8}),
    Case("TP + sequence", "In[B_Y, D] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B_Y, D]", {"Y": 8}),
    Case("FSDP x TP", "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]", XY42),
    Case("DP x TP", "In[B_X, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B_X, D_Y]", XY42),
    Case("ZeRO-1", "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]; state W_in[D_X, F]; state W_out[F, D_X]", X8),
    Case("ZeRO-2", "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]; grad W_in[D_X, F]; grad W_out[F, D_X]", X8),
    Case("FSDP over two axes", "In[B_XY, D] * W_in[D_XY, F] * W_out[F, D_XY] -> Out[B_XY, D]", XY42),
    Case("DP x FSDP", "In[B_XY, D] * W_in[D_Y, F] * W_out[F, D_Y] -> Out[B_XY, D]", XY24),
    Case("DP x FSDP x TP", "In[B_XY, D_Z] * W_in[D_Y, F_Z] * W_out[F_Z, D_Y] -> Out[B_XY, D_Z]", XYZ),
    Case("TP over two axes", "In[B, D_XY] * W_in[D, F_XY] * W_out[F_XY, D] -> Out[B, D_XY]", XY42),
    Case("2D weights", "In[B, D] * W[D_X, F_Y] -> Out[B, F_Y]", XY42),
    Case(
        "gated MLP, TP",
        "A[B, F_Y] = silu(In[B, D] * W_g[D, F_Y]) .* (In * W_u[D, F_Y]); A * W_d[F_Y, D] -> Out[B, D]",
        {"Y": 8},
    ),
    Case(
        "gated MLP, FSDP x TP",
        "In[B_X, D_Y] -> All[B_X, D]; A[B_X, F_Y] = silu(All * W_g[D_X, F_Y]) .* (All * W_u[D_X, F_Y]); "
        "A * W_d[F_Y, D_X] -> Out[B_X, D_Y]",
        XY42,
    ),
    Case("MLP with a nonlinearity", "Z[B_X, F_Y] = relu(In[B_X, D] * W_in[D, F_Y]); Z * W_out[F_Y, D] -> Out[B_X, D]", XY42),
    Case("residual", "Y1[B_X, D] = x[B_X, D] * W_in[D_X, J] * W_out[J, D_X]; Out[B_X, D] = x + Y1", X8),
    Case(
        "residual over tensor parallel layers",
        "H1[B, F_Y] = x[B, D] * W_in[D, F_Y]; H2[B, D] = H1 * W_out[F_Y, D]; Out[B, D] = x + H2",
        {"Y": 8},
    ),
    Case(
        "attention, heads split",
        "P[R, T, N_Y, G, S] = softmax_S(Q[R, T, N_Y, G, H] * K[R, S, N_Y, H]); P * V1[R, S, N_Y, H] -> O[R, T, N_Y, G, H]",
        {"Y": 8},
    ),
    Case(
        "attention, sequences and heads",
        "P[R_X, T, N_Y, G, S] = softmax_S(Q[R_X, T, N_Y, G, H] * K[R_X, S, N_Y, H]); "
        "P * V1[R_X, S, N_Y, H] -> O[R_X, T, N_Y, G, H]",
        XY42,
    ),
    Case(
        "attention, context parallel",
        "P[R, T_X, N, G, S] = softmax_S(Q[R, T_X, N, G, H] * K[R, S_X, N, H]); P * V1[R, S_X, N, H] -> O[R, T_X, N, G, H]",
        X8,
    ),
    Case("attention output", "O[R_X, T, N_Y, H] * W_o[N_Y, H, D] -> Out[R_X, T, D]", XY42),
    Case("batch dimension", "A[E_X, I, J] * B[E_X, J, K] -> C[E_X, I, K]", X8),
    Case("batch and replicated", "A[E_X, I, J] * B[E, J, K] -> C[E_X, I, K]", X8),
    Case("batch dimension, contraction split", "A[E_X, I, J_Y] * B[E_X, J_Y, K] -> C[E_X, I, K]", XY42),
    Case("experts", "A[E_X, Q, D] * W_1[E_X, D, F] -> H1[E_X, Q, F]; H1 * W_2[E_X, F, D] -> Out[E_X, Q, D]", X8, {"Q": 256}),
    Case(
        "experts, tokens exchanged",
        "In[E, Q_X, D] -> A[E_X, Q, D]; A * W_1[E_X, D, F] -> H1[E_X, Q, F]; H1 * W_2[E_X, F, D] -> C[E_X, Q, D]; "
        "C -> Out[E, Q_X, D]",
        X8,
        {"Q": 256},
    ),
    Case("experts x TP", "A[E_X, Q, D] * W_1[E_X, D, F_Y] -> H1[E_X, Q, F_Y]; H1 * W_2[E_X, F_Y, D] -> Out[E_X, Q, D]", XY42, {"Q": 256}),
    Case("logits", "In[B_X, D] * W_vocab[D, V_Y] -> Out[B_X, V_Y]", XY42),
    Case("sum over a split dimension", "Out[J] = sum_I(A[I_X, J] * W[J, J2])" if False else "Out[J] = sum_I(A[I_X, J])", X8),
    Case("x2 right cheap", "A[I, J] * B[J_X, K] -> C[I, K]", X8, {"I": 256}),
    Case("x2 right gather", "A[I, J] * B[J_X, K] -> C[I, K]", X8, {"I": 4096}),
    Case("x2 left gather", "A[I, J_X] * B[J, K] -> C[I, K]", X8, {"K": 8192}),
    Case("x2 left cheap", "A[I, J_X] * B[J, K] -> C[I, K]", X8, {"K": 128}),
    Case("x2D weights gather", "In[B, D] * W[D_X, F_Y] -> Out[B, F_Y]", XY42,{"B": 4096}),
    Case("x2D weights slice", "In[B, D] * W[D_X, F_Y] -> Out[B, F_Y]", XY42,{"B": 256}),
    Case("xswap42", "A[I_X, J_Y] -> B[I_Y, J_X]", XY42),
    Case("xTP + sequence, gather written", "In[B_Y, D] -> All[B, D]; H1[B, F_Y] = All * W_in[D, F_Y]; H1 * W_out[F_Y, D] -> Out[B_Y, D]", {"Y": 8}),
    Case("xDP x FSDP x TP B_YX", "In[B_YX, D_Z] * W_in[D_Y, F_Z] * W_out[F_Z, D_Y] -> Out[B_YX, D_Z]", XYZ),
    Case("xthree matrices declared", "H1[B_X, F] = A[B_X, D] * W_1[D_X, F]; H2[B_X, K] = H1 * W_2[F, K_X]; H2 * W_3[K_X, J] -> Out[B_X, J]", X8),
    Case("xgated up", "A[B_X, F_Y] = silu(In[B_X, D] * W_g[D, F_Y]) .* (In * W_u[D, F_Y]); A * W_d[F_Y, D] -> Out[B_X, D]", XY42),
    Case("three matrices", "A[B_X, D] * W_1[D_X, F] * W_2[F, K_X] * W_3[K_X, J] -> Out[B_X, J]", X8),
)
