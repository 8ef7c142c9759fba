"""What a chip keeps between the passes under checkpointing policies, against published counts."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.array.element import elements
from symscale.cost import tally
from symscale.cost.memory import activations, everything, inputs, products, recomputing, without
from symscale.notation.elaborate import elaborate
from symscale.partition import Collective, partition
from symscale.vocabulary import symbol

B, D, F, N, H, T, S, X, Y, b = map(symbol, ["B", "D", "F", "N", "H", "T", "S", "X", "Y", "b"])

MLP = """
n = norm_D(x[B, D])
m = n .* gain[D]
h[B, F] = m * W_in[D, F]
a = gelu(h)
z[B, D] = a * W_out[F, D]
y = dropout(z)
Out[B, D] = x + y
"""
# queries from x, keys and values from s, which is x again under the other name of its positions
SCORES = """
q[B, T, N, H] = x[B, T, D] * W_Q[D, N, H]
k[B, S, N, H] = const s[B, S, D] * W_K[D, N, H]
v[B, S, N, H] = const s * W_V[D, N, H]
a[B, N, T, S] = q * k
p = softmax_S(a)
d = dropout(p)
o[B, T, N, H] = d * v
Out[B, T, D] = o * W_O[N, H, D]
"""


def kept(text, policy=everything, **options):
    program = elaborate(text)
    typed = elements(program)
    return activations(partition(program, typed=typed, **options), typed, policy)


def names(found):
    return {buffer.value for buffer in found.kept}


def same(found, wanted):
    return sp.expand(found - wanted) == 0


@pytest.mark.parametrize(
    ("text", "policy", "wanted"),
    [
        # Korthikanti et al. 2022, section 4.1, per layer in s·b·h with F = 4h: inputs 2 + 8, GELU 8, mask 1, norm 2
        (MLP, everything, 2 * b * B * D + 2 * b * B * F + B * D),
        (MLP, inputs, b * B * D),
        (MLP, products, b * B * D + b * B * F + B * D),
        ("x[B, D] * W[D, F] -> y[B, F]", everything, b * B * D),
        ("const x[B, D] * W[D, F] -> y[B, F]", everything, b * B * D),
        ("h = relu(x[B, D] * W[D, F]); h * V[F, D] -> y[B, D]", everything, b * B * D + b * B * F),
        ("h = gelu(x[B, D] * W[D, F]); h * V[F, D] -> y[B, D]", everything, b * B * D + 2 * b * B * F),
        # one gated MLP: input, both products, the activation, and the product of the two
        (
            "g = x[B, D] * W_g[D, F]; u = x * W_u[D, F]; a = silu(g); h = a .* u; Out[B, D] = h * W_o[F, D]",
            everything,
            b * B * D + 4 * b * B * F,
        ),
    ],
)
def test_what_the_backward_pass_reads_is_kept(text, policy, wanted):
    assert same(kept(text, policy).bytes, wanted)


def test_attention_keeps_five_bytes_per_score_in_sixteen_bit():
    """Softmax output 2, dropout mask 1, dropout output 2 (section 4.1: 5·a·s²·b); selective drops all of them."""
    scores = B * N * T * S
    whole, selective = kept(SCORES).bytes, kept(SCORES, without(["T", "S"])).bytes
    assert same((whole - selective).subs(b, 2), 5 * scores)
    assert not selective.has(scores)
    assert names(kept(SCORES, without(["T", "S"]))) == {"x", "s", "q", "k", "v", "o"}


def test_sharding_splits_what_is_kept():
    """Tensor parallelism splits the inner arrays only; with the sequence split as well everything is."""
    tensor = MLP.replace("W_in[D, F]", "W_in[D, F_Y]").replace("h[B, F]", "h[B, F_Y]").replace("[F, D]", "[F_Y, D]")
    assert same(kept(tensor).bytes, 2 * b * B * D + 2 * b * B * F / Y + B * D)
    split = tensor.replace("x[B, D]", "x[B_Y, D]").replace("z[B, D]", "z[B_Y, D]").replace("Out[B, D]", "Out[B_Y, D]")
    gathered = kept(split, regather=True)
    assert same(gathered.bytes, (2 * b * B * D + 2 * b * B * F + B * D) / Y)


def test_a_policy_says_what_runs_again():
    program = elaborate(MLP)
    typed = elements(program)
    plan = partition(program, typed=typed)
    again = {}
    for policy in (everything, products, inputs):
        found = activations(plan, typed, policy)
        again[policy] = tally(recomputing(plan, found), "again", typed, {})
    assert again[everything].total_flops == again[everything].vector_flops == 0
    assert again[products].total_flops == 0
    assert same(again[products].vector_flops, 2 * B * D + B * F)
    # the last product's result is read by a mask alone, so only the first runs again
    assert same(again[inputs].total_flops, 2 * B * D * F)


def test_a_gather_that_the_backward_pass_makes_anyway_is_not_made_twice():
    text = "n = norm_D(x[B_X, D]); h = n * W_in[D_X, F]; a = gelu(h); Out[B_X, D] = a * W_out[F, D_X]"
    found = kept(text, inputs)
    assert not [each for each in found.again if isinstance(each, Collective)]
    assert names(found) == {"x"}


def test_weights_are_parameters_and_do_not_count():
    assert names(kept("In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]")).isdisjoint({"W_in", "W_out"})
