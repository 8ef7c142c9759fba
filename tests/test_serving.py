"""A decode step, a prefill and what fits: against short computations of their own, printed numbers, and monotony."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.derivation.decoding import chips_in, pointless_network, step_network
from symscale.errors import MachineError, ModelError, UndecidedError
from symscale.machine import chosen, machine
from symscale.transformer import catalogue, model, parameter_count, read_config, values
from symscale.transformer.inference import B, S, decode, distinct_experts, held_bytes, prefill
from symscale.transformer.inference_time import (
    binding,
    compute_bound,
    fitting,
    latency_floor,
    longest,
    step_time,
    throughput,
    throughput_limit,
)
from symscale.transformer.serving import Place, Serve, Served, serve
from symscale.vocabulary import symbol

B_W, B_KV, N, C, W = (symbol(name) for name in ("b_w", "b_kv", "N_chips", "C", "W_hbm"))


def at(name: str, **more: Any) -> dict[sp.Symbol, sp.Expr]:
    """Return the numbers of a model and others by name, exactly."""
    return {**values(model(name)), **{symbol(key): sp.Rational(str(value)) for key, value in more.items()}}


def place(on: str, name: str) -> Place:
    config, chip = model(name), chosen(on)
    assert chip is not None
    chips = chips_in(chip, on)
    alone = machine(on.partition(":")[0])
    return Place(chip, chips, step_network(config, chip, chips), pointless_network(config, alone), alone)


def served(name: str, on: str, **asked: Any) -> Served:
    return serve(model(name), place(on, name), Serve(**asked))


# ------------------------------------------------------------------ counts, by hand


def llama_by_hand(D: int, F: int, L: int, heads: int, K: int, H: int, V: int, S_: int) -> tuple[int, int, int, int]:
    """FLOPs per token, elements read, FLOPs of the scores, elements cached: gated MLPs, an unembedding of its own."""
    matrices = L * (2 * D * heads * H + 2 * D * K * H + 3 * D * F) + D * V
    return 2 * matrices, matrices + (2 * L + 1) * D, L * heads * 4 * S_ * H, 2 * L * K * H * S_


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("llama2-13b", (5120, 13824, 40, 40, 40, 128, 32000)),
        ("llama3-70b", (8192, 28672, 80, 64, 8, 128, 128256)),
        ("llama3-8b", (4096, 14336, 32, 32, 8, 128, 128256)),
    ],
)
def test_a_decode_step_is_what_hands_count(name: str, sizes: tuple[int, ...]) -> None:
    load = decode(model(name)).put(at(name, B=3, S=777, b_w=1, b_kv=2))
    flops, read, scores, cached = llama_by_hand(*sizes, 777)
    assert (load.weight_flops, load.weight_bytes) == (3 * flops, read)
    assert (load.score_flops, load.cache_bytes) == (3 * scores, 3 * 2 * cached)


def test_a_tied_table_is_held_once_and_read_as_the_unembedding() -> None:
    config = model("gemma2-9b")
    known = at("gemma2-9b", b_w=1)
    held = held_bytes(config).weights.xreplace(known)
    assert held == parameter_count(config) == decode(config).weight_bytes.xreplace(known)


def test_an_untied_look_up_is_held_and_not_read() -> None:
    config = model("llama2-13b")
    known = at("llama2-13b", b_w=1)
    left = held_bytes(config).weights.xreplace(known) - decode(config).weight_bytes.xreplace(known)
    assert left == 32000 * 5120


def test_layers_that_share_a_cache_read_it_and_do_not_hold_it() -> None:
    config = model("llama3-8b")
    half = replace(config, owns_kv=tuple(n % 2 == 0 for n in range(config.L)))
    known = {**values(half), S: sp.Integer(100), B: sp.Integer(1), B_KV: sp.Integer(1)}
    assert decode(half).cache_bytes.xreplace(known) == 2 * held_bytes(half).cache.xreplace(known)


def test_a_ring_buffer_is_no_longer_than_the_sequence() -> None:
    """A window of 1024 over 128 tokens: layers that are sized by the window hold eight times too much."""
    config = model("gemma2-9b")
    kinds = ("sliding",) * 50 + ("full",) * 10
    local = replace(config, kinds=kinds, routed=(False,) * 60, owns_kv=(True,) * 60, window=1024)
    cache = held_bytes(local).cache.xreplace({**values(local), B_KV: sp.Integer(1)})
    short = cache.xreplace({S: sp.Integer(128)})
    row = 2 * 8 * 256
    assert short == 60 * 128 * row
    assert round(float((50 * 1024 + 10 * 128) * row / short), 2) == 6.83
    assert cache.xreplace({S: sp.Integer(4096)}) == (50 * 1024 + 10 * 4096) * row


def test_a_cache_has_the_key_heads_and_scores_have_the_query_heads() -> None:
    load = decode(model("llama3-70b")).put(at("llama3-70b", b_kv=2, S=4096, B=1))
    assert load.score_flops == 4 * 80 * 64 * 128 * 4096
    assert load.cache_bytes == 2 * 2 * 80 * 8 * 128 * 4096
    assert load.intensity == 8


def test_decoding_latent_attention_stays_in_the_latent() -> None:
    load = decode(model("deepseek-v3")).put(at("deepseek-v3", b_kv=2, S=1000, B=1))
    assert load.cache_bytes == 2 * 61 * (512 + 64) * 1000
    assert load.score_flops == 61 * 128 * 2 * (512 + 64 + 512) * 1000
    assert load.intensity == sp.Rational(2 * 128 * (2 * 512 + 64), 2 * (512 + 64))


@pytest.mark.parametrize("length", [1, 5, 300, 4096, 5000])
@pytest.mark.parametrize("name", ["llama2-13b", "gemma2-9b", "deepseek-v3"])
def test_a_prefill_is_the_sum_of_its_tokens(name: str, length: int) -> None:
    """Token t scores t keys, at most its window's; in a prefill keys and values of latent attention are built."""
    config = model(name)
    load = prefill(config).put(at(name, T=length, b_w=1, b_kv=1))
    heads = config.attention
    width = 2 * heads.H if hasattr(heads, "H") else heads.H_nope + heads.H_rope + heads.H_v  # type: ignore[union-attr]
    pairs = sum(min(t, config.window) if kind != "full" else t for kind in config.kinds for t in range(1, length + 1))
    assert load.score_flops == 2 * heads.N_heads * width * pairs
    one = prefill(config).put(at(name, T=1, b_w=1, b_kv=1)).weight_flops
    logits = 2 * config.D * config.V
    assert load.weight_flops == length * (one - logits) + logits


def test_every_model_of_the_catalogue_can_be_served() -> None:
    for name in catalogue():
        config = model(name)
        load = decode(config).put(at(name, B=2, S=512, b_w=2, b_kv=2))
        assert load.weight_flops > 0
        assert load.cache_bytes > 0
        assert not load.weight_bytes.free_symbols


# ------------------------------------------------------------------ experts


def test_distinct_experts_are_those_of_random_tokens() -> None:
    import random

    rng = random.Random(1)
    runs = [len({e for _ in range(12) for e in rng.sample(range(32), 4)}) for _ in range(4000)]
    expected = distinct_experts(B).xreplace(
        {symbol("E"): sp.Integer(32), symbol("k"): sp.Integer(4), B: sp.Integer(12)}
    )
    assert abs(float(expected) - sum(runs) / len(runs)) < 0.1


def test_one_token_reads_the_experts_it_meets_and_many_read_all() -> None:
    config = model("mixtral-8x7b")
    some, every = decode(config, touched="expected").weight_bytes, decode(config).weight_bytes
    expert = 32 * 3 * 4096 * 14336
    assert (every - some).xreplace(at("mixtral-8x7b", B=1, b_w=1)) == 6 * expert
    assert (every - some).xreplace(at("mixtral-8x7b", B=500, b_w=1)) < sp.Rational(1, 1000)


def test_the_critical_batch_has_no_closed_form_where_bytes_grow_with_it() -> None:
    with pytest.raises(UndecidedError):
        compute_bound(decode(model("mixtral-8x7b"), touched="expected"))
    with pytest.raises(ModelError, match="Unknown choice of experts"):
        decode(model("mixtral-8x7b"), touched="few")


# ------------------------------------------------------------------ times and batches


def plain_step(batch: int, chips: int, flops: float, read: float, cached: float, scores: float) -> float:
    peak, width = 197e12, 820e9
    return max(batch * flops / peak, read / width) / chips + batch * max(cached / width, scores / peak) / chips


@pytest.mark.parametrize("batch", [1, 7, 119, 120, 121, 500])
def test_a_step_is_weights_then_attention(batch: int) -> None:
    found = served("llama3-70b", "tpu-v5e:4x8", weights="int8", cache="int8", context=2048, batches=(batch,))
    flops, read, scores, cached = llama_by_hand(8192, 28672, 80, 64, 8, 128, 128256, 2048)
    row = found.rows[0]
    assert math.isclose(float(row.weights + row.attention), plain_step(batch, 32, flops, read, cached, scores))
    assert math.isclose(float(row.throughput), batch / float(row.step))
    assert math.isclose(float(row.memory), (read + 128256 * 8192 + batch * cached) / 32)


def test_the_borders_are_those_of_trial() -> None:
    found = served("llama3-70b", "tpu-v5e:4x4", weights="int8", cache="int8", context=2048)
    flops, read, _, cached = llama_by_hand(8192, 28672, 80, 64, 8, 128, 128256, 2048)
    held = read + 128256 * 8192
    fit = max(b for b in range(1, 1000) if held + b * cached <= 16 * 16e9)
    bound = min(b for b in range(1, 1000) if b * flops / 197e12 >= read / 820e9)
    assert (found.largest, math.ceil(float(found.critical))) == (fit, bound)
    front = [row.batch for row in found.rows if row.best]
    assert max(front) == bound
    assert {row.batch for row in found.rows} - set(front) == {b for b in (128, 256, 512, fit) if b > bound}


def test_thresholds_hold_on_both_sides() -> None:
    config = model("llama3-8b")
    load, held = decode(config), held_bytes(config)
    numbers = at("llama3-8b", b_w=1, b_kv=1, S=8192, C=197e12, W_hbm=820e9, M_hbm=16e9)
    batch = compute_bound(load).cases[0].intervals[0].lo.xreplace(numbers)
    time = step_time(load).put({**numbers, N: sp.Integer(4)})
    for factor, sign in ((0.9, -1), (1.1, 1)):
        here = time.put({B: sp.Rational(str(factor)) * batch})
        assert sp.sign(here.weight_math - here.weight_read) == sign
    fits = fitting(held).cases[0].intervals[0].hi.xreplace({**numbers, N: sp.Integer(4)})
    assert (held.weights + fits * held.cache).xreplace(numbers) == 64 * 10**9
    length = longest(held, S).cases[0].intervals[0].hi.xreplace({**numbers, N: sp.Integer(4), B: sp.Integer(10)})
    assert (held.weights + 10 * held.cache).xreplace({**numbers, S: length}) == 64 * 10**9


def test_attention_is_bound_by_its_cache_unless_the_intensity_says_so() -> None:
    grouped = decode(model("llama3-70b")).intensity
    assert sp.cancel(grouped - 2 * symbol("N_heads") / (symbol("K") * B_KV)) == 0
    latent = decode(model("deepseek-v3")).intensity
    peak = 820e9 * latent.xreplace(at("deepseek-v3", b_kv=2))
    assert float(peak) > 197e12  # the latent is read once for 128 heads
    assert float(peak) < 394e12


def test_limits_of_a_step_are_met_far_out() -> None:
    load = decode(model("llama3-8b"))
    numbers = at("llama3-8b", b_w=2, b_kv=2, S=8192, C=197e12, W_hbm=820e9, N_chips=4)
    time = step_time(load).put(numbers)
    most = throughput_limit(time)
    far = throughput(time).xreplace({B: sp.Integer(10**9)})
    assert far <= most
    assert math.isclose(float(far), float(most), rel_tol=1e-6)
    near = time.put({B: sp.Rational(1, 10**12)}).total
    assert math.isclose(float(near), float(latency_floor(time)), rel_tol=1e-9)


def test_a_step_that_nothing_lengthens_has_no_limit() -> None:
    still = replace(
        step_time(decode(model("llama3-8b"))), weight_math=sp.S.Zero, cache_read=sp.S.Zero, score_math=sp.S.Zero
    )
    with pytest.raises(UndecidedError):
        throughput_limit(replace(still, cache_read=symbol("t"), score_math=symbol("u")))


BATCHES = st.integers(1, 4000)
LENGTHS = st.integers(1, 200_000)


@settings(max_examples=60, deadline=None)
@given(BATCHES, BATCHES, LENGTHS, st.sampled_from(["llama3-8b", "gemma2-9b", "deepseek-v2-lite"]))
def test_larger_batches_are_slower_and_yield_no_less(first: int, second: int, length: int, name: str) -> None:
    time = step_time(decode(model(name))).put(at(name, b_w=2, b_kv=2, S=length, C=197e12, W_hbm=820e9, N_chips=4))
    few, many = (time.put({B: sp.Integer(each)}).total for each in sorted((first, second)))
    assert few <= many
    assert min(first, second) / few <= max(first, second) / many


@settings(max_examples=60, deadline=None)
@given(LENGTHS, LENGTHS, st.integers(2, 64), st.sampled_from(["llama3-8b", "gemma2-9b", "mistral-7b"]))
def test_longer_sequences_leave_room_for_no_more_of_them(first: int, second: int, chips: int, name: str) -> None:
    held = held_bytes(model(name))
    numbers = at(name, b_w=2, b_kv=2, M_hbm=16e9, N_chips=chips)
    room = chips * 16 * 10**9 - held.weights.xreplace(numbers)
    short, long = (held.cache.xreplace({**numbers, S: sp.Integer(each)}) for each in sorted((first, second)))
    assert room / short >= room / long
    assert (held.weights.xreplace(numbers) + sp.floor(room / long) * long) <= chips * 16 * 10**9


@settings(max_examples=40, deadline=None)
@given(BATCHES, LENGTHS)
def test_what_binds_takes_the_longest(batch: int, length: int) -> None:
    numbers = at("llama3-8b", b_w=2, b_kv=2, S=length, C=197e12, W_hbm=820e9, N_chips=4, B=batch)
    here = step_time(decode(model("llama3-8b"))).put(numbers)
    parts = {
        "weights: compute": here.weight_math,
        "weights: HBM": here.weight_read,
        "attention: compute": here.score_math,
        "cache: HBM": here.cache_read,
    }
    assert parts[binding(here)] == max(parts.values())
    assert binding(replace(here, network=10 * here.total)) == "network"


# ------------------------------------------------------------------ the network


@pytest.mark.parametrize(
    ("on", "seconds"),
    [
        # two branches of 40 layers, each a gather and a scatter of 2·B·D bytes; 4x4 has no rings
        ("tpu-v5e:4x4", 4 * 40 * 2048 * 5120 * 2 * 15 / 16 / (2 * 45e9)),
        ("tpu-v5e:16x16", 4 * 40 * 2048 * 5120 * 2 * 255 / 256 / (2 * 90e9)),
        ("h100:8", 4 * 40 * 2048 * 5120 * 2 * 7 / 8 / 450e9),
        ("tpu-v5e", 0),
    ],
)
def test_the_collectives_of_a_step(on: str, seconds: float) -> None:
    where = place(on, "llama2-13b")
    known = {**at("llama2-13b", B=2048), **{symbol(k): v for k, v in where.chip.constants().items()}}
    assert math.isclose(float(where.network.xreplace(known)), seconds, rel_tol=1e-12)


def test_few_sequences_wait_for_hops() -> None:
    where = place("tpu-v5e:16x16", "llama2-13b")
    known = {**at("llama2-13b", B=1), **{symbol(k): v for k, v in where.chip.constants().items()}}
    assert math.isclose(float(where.network.xreplace(known)), 4 * 40 * 16e-6)


def test_no_slice_is_worth_its_chips_beyond_the_border() -> None:
    from symscale.transformer.serving_sections import sections

    found = served("llama2-13b", "tpu-v5e:4x4", batches=(8,))
    part = next(each for each in sections(found) if each.title == "How large a slice pays")
    chips = float(part.lines[-1].value)
    sent = 4 * 40 * 8 * 5120 * 2 / (2 * 90e9)
    _, read, _, cached = llama_by_hand(5120, 13824, 40, 40, 40, 128, 32000, 8192)
    assert chips.is_integer()
    assert (2 * read + 8 * 2 * cached) / ((chips + 1) * 820e9) < sent <= (2 * read + 8 * 2 * cached) / (chips * 820e9)


# ------------------------------------------------------------------ printed elsewhere

# "Transformer Inference Arithmetic" (kipply, 2022): 52 billion parameters, L = 64, D = 8192, A100 with 1.5 TB/s
KIPPLY: dict[str, Any] = {
    "model_type": "symscale",
    "hidden_size": 8192,
    "num_hidden_layers": 64,
    "num_attention_heads": 64,
    "intermediate_size": 4 * 8192,
    "gated": False,
    "vocab_size": 1,
    "norms_per_layer": 0,
    "final_norm": False,
    "tie_word_embeddings": True,
}


def test_the_inference_arithmetic_of_a_52b_model() -> None:
    from symscale.transformer import blocks
    from symscale.transformer.block import counted

    config = read_config(KIPPLY, "52b")
    known = {**values(config), B: sp.Integer(1), B_W: sp.Integer(2), S: sp.Integer(1), B_KV: sp.Integer(2)}
    keys = next(each for each in blocks(config) if each.name == "keys and values")
    flops = (keys.count * counted(keys.text, "forward").total_flops).xreplace(known)
    load = decode(config).put(known)
    assert flops == 17_179_869_184
    assert round(float(load.weight_flops / flops), 3) == 6
    assert round(float(load.weight_bytes) / 1.5e12 * 1e3) == 69
    ridge = compute_bound(decode(config)).cases[0].intervals[0].lo
    tokens = ridge.xreplace({**known, C: sp.Integer(312 * 10**12), W: sp.Integer(15 * 10**11)})
    assert round(float(tokens)) == 208


@pytest.mark.parametrize(("chips", "measured"), [(1, 22.0e-3), (2, 13.5e-3)])
def test_measured_steps_of_a_13b_model_are_above_the_bound(chips: int, measured: float) -> None:
    """FasterTransformer on A100-40GB with 1.555 TB/s, as kipply reports."""
    sizes = {"hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 40, "intermediate_size": 4 * 5120}
    config = read_config({**KIPPLY, **sizes}, "13b")
    floor = latency_floor(step_time(decode(config)))
    known = {**values(config), B_W: sp.Integer(2), W: sp.Integer(1555 * 10**9), N: sp.Integer(chips)}
    bound = float(floor.xreplace(known))
    assert math.isclose(bound, 12 * 40 * 5120**2 * 2 / 1.555e12 / chips, rel_tol=1e-3)
    assert bound < measured < 2 * bound


# ------------------------------------------------------------------ what does not fit


@pytest.mark.parametrize(
    ("name", "on", "asked", "words"),
    [
        ("llama3-70b", "tpu-v5e", {}, "141.1 GB"),
        ("llama3-70b", "tpu-v5e:4x2", {}, "such as --on tpu-v5e:4x4, or --weights int8"),
        ("llama2-13b", "tpu-v5e:4x2", {"context": 10**6}, "Use 53 chips or more"),
        ("llama2-13b", "tpu-v5e:4x2", {"batches": (16,)}, "at most 15"),
        ("llama2-13b", "tpu-v5e:4x2", {"batches": tuple(range(1, 1200))}, "1,199 rows"),
        ("llama2-13b", "tpu-v5e:4x2", {"prompt": 9000}, "exceed the context"),
        ("llama2-13b", "tpu-v5e:4x2", {"generate": 9}, "--prompt"),
        ("llama2-13b", "tpu-v5e:4x2", {"accept": sp.Rational(1, 2)}, "--draft"),
        ("gpt2", "tpu-v5e:4x2", {}, "1,024 positions"),
        ("deepseek-v3", "h100:16", {}, "such as --on h100:24"),
        ("llama3-70b", "tpu-v5e:4x2", {}, "such as --on tpu-v5e:4x4"),
        ("llama2-13b", "tpu-v5e:4x2", {"touched": "expected"}, "no routed experts"),
        ("mixtral-8x7b", "tpu-v5e:4x4", {"touched": "most"}, "Unknown choice"),
    ],
)
def test_what_cannot_be_served_says_what_can(name: str, on: str, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        served(name, on, **asked)
    assert words in str(caught.value)


def test_a_dtype_without_a_peak_is_refused() -> None:
    with pytest.raises(MachineError, match="no peak for 'fp8'"):
        served("llama3-8b", "tpu-v5e:2x2", compute="fp8")


@pytest.mark.parametrize("chips", [8, 9, 16])
def test_the_hint_is_the_least_number_of_chips(chips: int) -> None:
    held = held_bytes(model("llama3-70b"))
    need = (held.weights + held.cache).xreplace(at("llama3-70b", b_w=2, b_kv=2, S=8192))
    assert bool(need <= chips * 16 * 10**9) == (chips >= 9)
