"""Chapter 4 of "How To Scale Your Model": what it prints beside what the engine derives."""

from __future__ import annotations

import pytest
import sympy as sp
from answers import Row, check, read, rows, same, written

from symscale.derivation import Builder, verify
from symscale.derivation.registry import ids
from symscale.derivation.step import doubled
from symscale.errors import ModelError, StepError
from symscale.transformer import catalogue
from symscale.vocabulary import symbol

LIBRARY = [each for each in ids() if each.startswith("transformer/")]


@pytest.mark.parametrize("row", rows("chapter4"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


PROJECTION = "x[B, T, D] * {weight} -> {result}"
QUERIES = PROJECTION.format(weight="W_Q[D, N, H]", result="q[B, T, N, H]")
KEYS = PROJECTION.format(weight="W_K[D, K, H]", result="k[B, T, K, H]")
OUTPUT = "o[B, T, N, H] * W_O[N, H, D] -> y[B, T, D]"
MATRIX = PROJECTION.format(weight="W[D, F]", result="h[B, T, F]")
DOWN = "h[B, T, F] * W[F, D] -> y[B, T, D]"
CONTRACTION = "A[G, H, I, J, K, L] * W[G, H, M, N, K, L] -> Y[G, H, I, J, M, N]"
SCORES = "q[B, T, K, G, H] * activation k[B, S, K, H] -> a[B, T, S, K, G]"
VALUES = "p[B, T, S, K, G] * activation v[B, S, K, H] -> o[B, T, K, G, H]"

# entry, program, what is counted: FLOPs of a pass or of training, elements that are read, of the weights, of the result
PROGRAMS = [
    ("ch4.formula.dot-data", "x[P] * y[P] -> s[]", "read", "2*P"),
    ("ch4.formula.matvec-data", "A[N, P] * x[P] -> y[N]", "read", "N*P + P"),
    ("ch4.formula.matmul-data", "A[N, P] * W[P, M] -> Y[N, M]", "read", "N*P + P*M"),
    ("ch4.formula.general-data", CONTRACTION, "read", "G*H*K*L*(I*J + M*N)"),
    ("ch4.formula.backward-weight", "A[N, P] * Y[N, M] -> G[P, M]", "forward", "2*N*P*M"),
    ("ch4.formula.backward-input", "Y[N, M] * W[P, M] -> G[N, P]", "forward", "2*N*P*M"),
    ("ch4.formula.backward-weight", "A[N, P] * W[P, M] -> Y[N, M]", "backward", "2*2*N*P*M"),
    ("ch4.formula.mlp-in1-params", MATRIX, "weights", "D*F"),
    ("ch4.formula.mlp-in2-params", MATRIX, "weights", "D*F"),
    ("ch4.formula.mlp-out-params", DOWN, "weights", "D*F"),
    ("ch4.formula.attn-q-flops", QUERIES, "training", "6*B*T*D*N*H"),
    ("ch4.formula.attn-q-params", QUERIES, "weights", "D*N*H"),
    ("ch4.formula.attn-k-flops", KEYS, "training", "6*B*T*D*K*H"),
    ("ch4.formula.attn-k-params", KEYS, "weights", "D*K*H"),
    ("ch4.formula.attn-v-flops", KEYS, "training", "6*B*T*D*K*H"),
    ("ch4.formula.attn-v-params", KEYS, "weights", "D*K*H"),
    ("ch4.formula.attn-o-flops", OUTPUT, "training", "6*B*T*D*N*H"),
    ("ch4.formula.attn-o-params", OUTPUT, "weights", "D*N*H"),
    ("ch4.formula.unembed-flops", "x[B, T, D] * W_U[D, V] -> l[B, T, V]", "training", "6*B*T*D*V"),
    ("ch4.flash.attn-matrix-shape", SCORES, "result", "B*T*S*K*G"),
    ("ch4.flash.ds", "g[B, T, K, G, H] * activation v[B, S, K, H] -> s[B, T, S, K, G]", "result", "B*T*S*K*G"),
]


@pytest.mark.parametrize(("key", "text", "what", "printed"), PROGRAMS, ids=[f"{row[0]}-{row[2]}" for row in PROGRAMS])
def test_products(key: str, text: str, what: str, printed: str) -> None:
    d = Builder(key)
    layer = d.program(text)
    made = layer.program
    elements = {name: sp.prod([made.sizes[dim] for dim in made.values[name].dims]) for name in made.values}
    weights = [name for name in made.leaves if made.values[name].role == "weight"]
    found = {
        "forward": layer.costs["forward"].total_flops,
        "backward": layer.costs["backward"].total_flops,
        "training": layer.costs["forward"].total_flops + layer.costs["backward"].total_flops,
        "read": sp.expand(layer.costs["forward"].hbm_bytes / symbol("b")) - elements[made.outputs[0]],
        "weights": sp.Add(*(elements[name] for name in weights)),
        "result": elements[made.outputs[0]],
    }[what]
    assert same(found, read(printed))


@pytest.mark.parametrize("text", [MATRIX, SCORES, VALUES, CONTRACTION, OUTPUT])
def test_training_takes_three_forward_passes(text: str) -> None:
    costs = Builder("ch4.claim.train-is-3x").program(text).costs
    assert costs["forward"].total_flops + costs["backward"].total_flops == 3 * costs["forward"].total_flops


def test_the_attention_row_of_the_summary() -> None:
    # ch4.table.attention, MHA and S = T: projections and scores together
    def last(name: str, quantity: str) -> sp.Expr:
        return next(e.rhs for step in written(name).steps for e in step.equations if e.lhs == symbol(quantity))

    whole = last("transformer/projections", "FLOPs_mha") + last("transformer/scores", "FLOPs_attention")
    assert same(whole, read("24*B*T*D*N_heads*H + 12*B*T^2*N_heads*H"))


@pytest.mark.parametrize(("name", "groups"), [("llama2-7b", 1), ("llama3-70b", 8), ("falcon-7b", 71)])
def test_query_heads_per_key_head(name: str, groups: int) -> None:
    # ch4.claim.gqa-groups: K = N is MHA, K = 1 MQA (Falcon has 71 heads), any divisor between them GQA
    heads = {str(each): value for each, value in _values(name).items()}
    assert heads["N_heads"] / heads["K"] == groups


def _values(name: str) -> dict[sp.Symbol, sp.Integer]:
    from symscale.transformer import model, values

    return values(model(name))


@pytest.mark.parametrize("name", LIBRARY)
def test_every_step_is_checked_and_every_mutant_is_caught(name: str) -> None:
    d = written(name)
    assert d.source
    for step in d.steps:
        assert verify(step, seed=5)
        for at, equation in enumerate(step.equations):
            if equation.rhs != 0:
                with pytest.raises(StepError):
                    verify(doubled(step, at), seed=5)


# ------------------------------------------------------------------ models in training

SHOWN = "parameters active forward backward step"


@pytest.mark.parametrize("name", catalogue())
def test_the_counts_of_every_model_are_counted_again(name: str) -> None:
    from symscale import training

    for options in ({}, {"causal": False, "remat": "full"}, {"remat": "scores"}):
        d = Builder("counts")
        found = training(d, name, show=SHOWN, **options)  # type: ignore[arg-type]
        assert len(d.steps) == 5
        for step in d.steps:
            assert verify(step, seed=11)
        if not options:
            for step in d.steps:
                for at in range(len(step.equations)):
                    with pytest.raises(StepError):
                        verify(doubled(step, at), seed=11)
        assert found.forward.keys() == found.backward.keys() == found.step.keys()


def test_an_unknown_model_or_policy_is_refused() -> None:
    from symscale import training

    with pytest.raises(ModelError, match="No model is called"):
        training(Builder("none"), "no-such-model")
    with pytest.raises(ModelError, match="Unknown rematerialisation"):
        training(Builder("none"), "llama3-8b", remat="some")
    with pytest.raises(ModelError, match="cannot show 'flops'"):
        training(Builder("none"), "llama3-8b", show="flops")
