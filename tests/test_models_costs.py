"""FLOPs, KV cache and intensity of models: against counting by hand, and formulas that calculators got wrong."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from symscale.errors import ModelError
from symscale.transformer import blocks, catalogue, model, parameter_count, read_config, values
from symscale.transformer.block import counted, program
from symscale.transformer.breakdown import Asked, breakdown
from symscale.transformer.cache import cache_forms, cache_per_token
from symscale.transformer.config import CHUNKED, FULL, KINDS, SLIDING, Config
from symscale.transformer.flops import (
    attended,
    equal_length,
    flops_forms,
    per_token,
    rule_of_six,
    training_forms,
)
from symscale.transformer.inference import decode
from symscale.transformer.intensity import attention_intensity, tiled_traffic
from symscale.vocabulary import symbol

B, T, S, W, b = (symbol(name) for name in ("B", "T", "S", "S_window", "b"))
D, F, L, K, H, N, V, E, k = (symbol(name) for name in ("D", "F", "L", "K", "H", "N_heads", "V", "E", "k"))
OWN: dict[str, Any] = {
    "model_type": "symscale",
    "hidden_size": 64,
    "vocab_size": 100,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
}


def total(forms: dict[str, sp.Expr]) -> sp.Expr:
    return sp.Add(*forms.values())


def number(config: Config, form: sp.Expr, **more: int) -> sp.Expr:
    """Return a form with a model's numbers and those of `more` put in."""
    return form.xreplace({**values(config), **{symbol(name): sp.Integer(value) for name, value in more.items()}})


def own(**fields: Any) -> Config:
    return read_config({**OWN, **fields}, "own")


# --- pairs of query and key


def pairs_by_hand(kind: str, length: int, window: int, causal: bool) -> int:
    """Count the pairs that a mask lets through, one by one."""
    found = 0
    for query in range(length):
        for key in range(length):
            ahead = key > query
            if kind == CHUNKED:
                found += not ahead and key // window == query // window
            elif causal:
                found += not ahead and (kind == FULL or query - key < window)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [1, 3, 8])
def test_causal_pairs_are_those_that_the_mask_lets_through(kind: str, window: int) -> None:
    for length in range(1, 20):
        counted_pairs = attended(kind).subs({T: length, W: window})
        assert counted_pairs == pairs_by_hand(kind, length, window, True), (length, window)
        if kind == CHUNKED:
            whole = attended(kind, whole_chunks=True).subs({T: length, W: window})
            exact = length <= window or length % window == 0
            assert whole == counted_pairs if exact else whole > counted_pairs


def test_pairs_with_a_window() -> None:
    """C04. 8192 tokens, a window of 128, 64 heads of 64: an MFU above 1 came from counting all pairs."""
    at = {T: sp.Integer(8192), W: sp.Integer(128)}
    assert attended(SLIDING).subs(at) == 1_040_448
    assert attended(FULL).subs(at) == 33_558_528
    assert attended(SLIDING, causal=False).subs(at) == 1_048_576
    assert attended(SLIDING).subs({T: 100, W: 128}) == attended(FULL).subs({T: 100})
    assert float(attended(FULL).subs(at) / attended(SLIDING).subs(at)) == pytest.approx(32.25, abs=0.01)
    # of the model: 4 FLOPs per pair, head and dimension in each windowed layer
    found = own(num_attention_heads=64, num_key_value_heads=8, head_dim=64, sliding_window=128)
    one_layer = number(found, flops_forms(found)["scores"], B=8192, T=8192) / 6
    assert one_layer == 4 * 64 * 64 * 1_040_448


# --- forward and backward


def test_one_multiply_add_is_two_flops_and_attention_two_products() -> None:
    """C36. 2 sequences of 9, 5 heads of 4: 6480 for Q K^T alone and 12960 for both products."""
    found = own(num_attention_heads=5, num_key_value_heads=5, head_dim=4, num_hidden_layers=1)
    text = next(each.text for each in blocks(found) if each.part == "scores")
    first = program(text.split(";")[0])
    assert number(found, 2 * 2 * sp.Mul(*(first.sizes[each] for each in "TKGSH")), T=9, S=9) == 6480
    assert number(found, flops_forms(found, causal=False)["scores"], B=18, T=9) == 12960


def test_causal_is_half_of_full_to_leading_order() -> None:
    """C35. 4 L^2 D, and 2 L D (L + 1) under a causal mask: both with two FLOPs per multiply-add."""
    found = own(num_key_value_heads=4)
    full, causal = (flops_forms(found, causal=each)["scores"] / (L * B) for each in (False, True))
    assert sp.expand(full - 4 * N * H * T) == 0
    assert sp.expand(causal - 2 * N * H * (T + 1)) == 0


def test_grouped_heads_and_a_gated_mlp() -> None:
    """C01. 6 b s h (L(2h + 2hg/a + 2s + 3f) + V): two projections have the group factor, SwiGLU three matrices."""
    found = model("llama2-70b")
    step = number(found, total(training_forms(found, causal=False)), B=4096, T=4096)
    s, h, f, a, g, layers, v = 4096, 8192, 28672, 64, 8, 80, 32000
    assert step == 6 * s * h * (layers * (2 * h + sp.Rational(2 * h * g, a) + 2 * s + 3 * f) + v)
    assert float(step) == pytest.approx(1.82064e15, rel=1e-5)
    for wrong in (1.47429e15, 1.93609e15):
        assert float(step) != pytest.approx(wrong, rel=0.01)


def test_a_plain_mlp_of_four_and_one_kv_head_each() -> None:
    """72 b s L h^2 (1 + s/6h + V/(12 L h)) for g = a and f = 4h with two matrices."""
    found = read_config({**catalogue()["gpt3-175b"].fields, "n_positions": 2048}, "gpt3")
    step = number(found, total(training_forms(found, causal=False)), B=2048, T=2048)
    s, h, layers, v = 2048, 12288, 96, 50257
    assert step == 72 * s * layers * h**2 * (1 + sp.Rational(s, 6 * h) + sp.Rational(v, 12 * layers * h))


@pytest.mark.parametrize(("remat", "coefficient"), [("none", 12), ("selective", 14), ("scores", 16), ("full", 16)])
def test_scores_in_training(remat: str, coefficient: int) -> None:
    """C02. 12 b s^2 h per layer forward and backward, 16 with everything computed again, 14 with Q K^T alone."""
    found = own(num_key_value_heads=4)
    forms = training_forms(found, causal=False, remat=remat)
    assert sp.expand(forms["scores"] - coefficient * B * T * N * H * L) == 0


def test_full_rematerialisation_repeats_the_layers_and_not_the_unembedding() -> None:
    plain, full = (training_forms(own(), remat=each) for each in ("none", "full"))
    for part in plain:
        ratio = sp.cancel(full[part] / plain[part])
        assert ratio == (1 if part == "unembedding" else sp.Rational(4, 3))
    with pytest.raises(ModelError, match="none, selective, scores, full"):
        training_forms(own(), remat="some")
    with pytest.raises(ModelError, match="forward, backward"):
        flops_forms(own(), "sideways")


@pytest.mark.parametrize("name", ["llama3-8b", "gpt-oss-20b", "deepseek-v3", "gemma2-9b", "llama4-scout"])
def test_backward_is_twice_forward(name: str) -> None:
    ahead, back = (flops_forms(model(name), each) for each in ("forward", "backward"))
    for part, form in ahead.items():
        assert sp.expand(back[part] - 2 * form) == 0


def test_latent_scores_have_a_head_dimension_for_keys_and_one_for_values() -> None:
    """C06. 6 N (d_qk + d_v) s per token and layer in training: both products."""
    found = model("deepseek-v3")
    scores = per_token(training_forms(found, causal=False))["scores"]
    assert number(found, scores, T=4096) == 61 * 6 * 128 * (192 + 128) * 4096


def test_experts_run_for_the_chosen_ones_only() -> None:
    """C08. Mixtral 8x7B, 1024 tokens in training: 79.98 TFLOP, not the 287.78 of all eight experts."""
    found = model("mixtral-8x7b")
    step = total(training_forms(found, causal=False))
    active = float(number(found, step, B=1024, T=1024))
    every = float(step.xreplace({k: E}).xreplace({**values(found), B: sp.Integer(1024), T: sp.Integer(1024)}))
    assert active / 1e12 == pytest.approx(79.98, abs=0.02)
    assert every / 1e12 == pytest.approx(287.78, abs=0.02)


def test_the_experts_see_k_copies_of_the_tokens_however_they_are_spread() -> None:
    """C32. Dispatched elements are k s b h, wherever the experts lie: 234,881,024 for 8, 4096, 1, 7168."""
    found = model("deepseek-v3")
    text = next(each.text for each in blocks(found) if each.part == "experts")
    sizes = program(text).sizes
    copies = sizes["E"] * sizes["M"] * sizes["D"]
    assert copies == k * B * D
    assert number(found, copies, B=4096) == 234_881_024


def test_tying_changes_parameters_and_not_flops() -> None:
    """C09. TinyLlama's table: 2 V h forward and 6 V h in training, tied or not; the look-up is free."""
    fields = catalogue()["tinyllama-1.1b"].fields
    apart, tied = (read_config({**fields, "tie_word_embeddings": flag}, "x") for flag in (False, True))
    assert parameter_count(apart) - parameter_count(tied) == 32000 * 2048
    for found in (apart, tied):
        assert number(found, flops_forms(found)["unembedding"], B=1) == 131_072_000
        assert number(found, training_forms(found)["unembedding"], B=1) == 393_216_000
        assert "embedding" not in flops_forms(found)


def test_the_textbooks_mixture() -> None:
    """Chapter 7, question 5: 2 FLOPs per active parameter, the unembedding included."""
    found = model("ch7-moe")
    products = total({part: form for part, form in flops_forms(found).items() if part != "scores"})
    assert number(found, products, B=1) == 2 * 31_270_109_184
    assert number(found, flops_forms(found)["unembedding"], B=1) == 2 * 4096 * 32128


@pytest.mark.parametrize("name", ["llama3-8b", "gemma2-9b", "deepseek-v3", "mixtral-8x7b"])
def test_decoding_costs_what_the_last_token_of_a_prefill_does(name: str) -> None:
    """The weights' FLOPs are the same; scores are those of one query, in the latent where there is one."""
    found = model(name)
    ahead, one = flops_forms(found), decode(found)
    weights = sp.Add(*(form for part, form in ahead.items() if part != "scores"))
    assert sp.expand(one.weight_flops - weights) == 0
    long, short = (number(found, ahead["scores"], B=n, T=n) for n in (5001, 5000))
    wider = sp.Rational(512 + 64 + 512, 128 + 64 + 128) if name == "deepseek-v3" else 1
    assert number(found, one.score_flops, S=5001, B=1) == wider * (long - short)


# --- the rule of six


@pytest.mark.parametrize("name", ["llama3-70b", "gpt2", "mixtral-8x7b", "gemma2-9b"])
def test_the_rule_of_six_with_its_error(name: str) -> None:
    found = model(name)
    rule = rule_of_six(found)
    at = {"B": 4096, "T": 4096}
    exact, approximate, error = (number(found, each, **at) for each in (rule.exact, rule.approximate, rule.error))
    assert exact == number(found, total(training_forms(found)), **at)
    assert sp.cancel(approximate / exact - 1 - error) == 0
    assert error != 0


def test_what_the_rule_of_six_leaves_out() -> None:
    """6 P B is too little by the scores, and too much by the look-up of an untied table and the norms."""
    found = model("llama3-8b")
    rule = rule_of_six(found)
    scores = training_forms(found)["scores"]
    no_products = D * V + D * (2 * L + 1)
    assert sp.expand(rule.exact - rule.approximate - scores + 6 * B * no_products) == 0


# --- where the scores cost as much as the feed-forward blocks


def test_equal_length_in_the_textbooks_model() -> None:
    """Full attention with N H = D: 4 T D per token in scores against 6 D F gives T = 3 F / 2."""
    found = own(num_attention_heads=4, num_key_value_heads=4, head_dim=16)
    only = [each for case in equal_length(found, causal=False).cases for each in case.intervals]
    assert [each.lo for each in only] == [sp.Rational(3 * 96, 2)]
    # of all products outside the scores, with F = 4D and two matrices: 24 D^2 against 4 T D
    plain = own(intermediate_size=256, gated=False, num_key_value_heads=4)
    every = equal_length(plain, ("attention", "MLP"), causal=False).cases[0].intervals
    assert every[0].lo == 6 * 64


@pytest.mark.parametrize("name", ["llama3-8b", "gemma2-9b", "gemma3-12b", "deepseek-v3", "gpt-oss-20b", "llama4-scout"])
def test_the_equal_length_is_one(name: str) -> None:
    found = model(name)
    forms = per_token(flops_forms(found, whole_chunks=True))
    feed = total({part: form for part, form in forms.items() if part in ("MLP", "router", "experts", "shared experts")})
    (interval,) = (each for case in equal_length(found).cases for each in case.intervals)
    border = interval.lo
    for length, more in ((sp.floor(border), False), (sp.floor(border) + 1, True)):
        scores = forms["scores"].xreplace({**values(found), T: length})
        assert bool(scores >= feed.xreplace(values(found))) is (more or length == border)


def test_a_window_in_every_layer_may_leave_the_scores_below() -> None:
    assert not [each for case in equal_length(model("mistral-7b")).cases for each in case.intervals]


# --- the KV cache


def test_cache_per_token() -> None:
    """How To Scale Your Model, chapters 6 to 8: bytes per token in int8 and bf16."""
    wanted = {
        "llama3-70b": 163_840,
        "llama3-8b": 65_536,
        "llama3-405b": 258_048,
        "llama2-13b": 409_600,
        "llama2-13b-gqa8": 81_920,
        "ch7-18b": 262_144,
        "ch7-18b-k1": 32_768,
        "ch7-moe": 262_144,
    }
    for name, each in wanted.items():
        found = model(name)
        form = total(cache_per_token(found))
        assert number(found, form).xreplace({b: sp.S.One}) == each
        assert number(found, form).xreplace({b: sp.Integer(2)}) == 2 * each
        assert sp.expand(form - 2 * b * K * H * L) == 0


def test_latent_cache() -> None:
    """R_kv + H_rope values per token and layer, not 2 K H: 576 for DeepSeek-V3."""
    found = model("deepseek-v3")
    assert number(found, cache_per_token(found)["full"]) == 61 * 576 * b


def test_a_window_is_a_ring_buffer_of_what_there_is() -> None:
    """C18. Window 1024, at most 128 tokens: 50 sliding layers and 10 full ones need an eighth of what was allocated."""
    found = own(num_hidden_layers=60, sliding_window=1024, sliding_window_pattern=6)
    assert (found.kinds.count(SLIDING), found.kinds.count(FULL)) == (50, 10)
    forms = cache_forms(found)
    short = {kind: number(found, form, S=128) for kind, form in forms.items()}
    allocated = {SLIDING: number(found, forms[SLIDING], S=1024), FULL: short[FULL]}
    assert allocated[SLIDING] / short[SLIDING] == 8
    assert float(total(allocated) / total(short)) == pytest.approx(6.83, abs=0.01)
    assert number(found, forms[SLIDING], S=10**6) == allocated[SLIDING]


def test_layers_that_share_keys_and_values_cache_nothing() -> None:
    plain = own(sliding_window=8, sliding_window_pattern=3)
    shared = own(sliding_window=8, sliding_window_pattern=3, num_kv_shared_layers=3)
    for kind, layers in ((SLIDING, (4, 2)), (FULL, (2, 1))):
        one = 2 * 2 * 16 * b
        assert [number(each, cache_per_token(each)[kind]) for each in (plain, shared)] == [n * one for n in layers]
    for fields, layers in (({"num_kv_shared_layers": 4}, 2), ({"kv_share_every": 2}, 3), ({}, 6)):
        found = own(**fields)
        assert number(found, cache_per_token(found)[FULL]) == layers * 2 * 2 * 16 * b
    # they score all the same
    assert sp.expand(total(flops_forms(plain)) - total(flops_forms(shared))) != 0
    assert number(plain, flops_forms(plain)["scores"]) == number(shared, flops_forms(shared)["scores"])


# --- intensity


def test_decode_reads_kv_heads_and_computes_query_heads() -> None:
    """C28. 64 query heads on 8: 8 FLOPs per byte in bf16 in the limit of a long context, not 1 and not 64."""
    found = own(num_attention_heads=64, num_key_value_heads=8, head_dim=128)
    ratio = attention_intensity(found, "decode").ratio
    assert sp.limit(number(found, ratio).xreplace({b: sp.Integer(2)}), S, sp.oo) == 8
    assert sp.limit(ratio, S, sp.oo) == 2 * N / (K * b)
    assert float(number(found, ratio, S=4096).subs(b, 2)) == pytest.approx(8, rel=0.01)


def test_prefill_grows_with_the_length_and_naive_scores_do_not() -> None:
    found = own(num_key_value_heads=4)
    fused, naive = (attention_intensity(found, "prefill", fused=each) for each in (True, False))
    assert sp.cancel(fused.ratio.xreplace({K: N}) - S / b) == 0
    assert sp.limit(naive.ratio, S, sp.oo) == H / b
    assert fused.flops == naive.flops == 4 * N * H * S**2
    with pytest.raises(ModelError, match="prefill, decode"):
        attention_intensity(found, "train")


def test_absorbed_latent_attention() -> None:
    """Decoding in the latent: all heads score one shared key, which is read once: 242 for 128 heads in bf16."""
    found = model("deepseek-v3")
    limit = sp.limit(number(found, attention_intensity(found, "decode").ratio).subs(b, 2), S, sp.oo)
    assert limit == sp.Rational(2 * 128 * (2 * 512 + 64), 2 * (512 + 64))


def test_tiles_save_the_scores() -> None:
    """Naive scores move four arrays of T S per head; in tiles only K and V return, once for every tile."""
    found = own(num_key_value_heads=4)
    traffic = tiled_traffic(found)
    assert sp.expand(traffic.naive - b * (2 * N * H * T + 2 * K * H * S + 4 * N * T * S)) == 0
    tile = symbol("T_tile")
    assert sp.expand(traffic.tiled - b * (2 * N * H * T + 2 * K * H * S * T / tile)) == 0
    assert traffic.tile == symbol("M_sram") / (4 * H * b)
    assert sp.expand(traffic.tiled.subs(tile, T) - b * (2 * N * H * T + 2 * K * H * S)) == 0


def test_sinks_are_counted_in_the_softmax_and_not_in_the_products() -> None:
    with_sinks, without = model("gpt-oss-20b"), own(num_attention_heads=64, num_key_value_heads=8, head_dim=64)
    texts = [next(each.text for each in blocks(found) if each.part == "scores") for found in (with_sinks, without)]
    one, two = (counted(text, "forward").total_flops for text in texts)
    assert sp.expand(one - two) == 0


# --- breakdown


@pytest.mark.parametrize("name", catalogue())
def test_every_model_breaks_down(name: str) -> None:
    config = model(name)
    length = min(4096, config.positions - config.positions_kept or 4096)
    found = breakdown(config, Asked(seq=length, batch=2, tokens=10**9, kv_dtype="int8", remat="full"))
    for section in found.sections[:4]:
        assert all(line.value.is_number for line in section.lines), section.title
    shares = [line.share for line in found.sections[0].lines if line.share is not None]
    assert sum(shares) == 2  # the parts, and the total


def test_a_batch_needs_a_length() -> None:
    with pytest.raises(ModelError, match="--seq"):
        breakdown(model("gpt2"), Asked(batch=4))
