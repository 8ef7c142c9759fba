"""Speculation, pages, batches, prefixes, chunks and servers: against simulations that toss, fill and count."""

from __future__ import annotations

import math
import random

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.errors import ModelError
from symscale.transformer import model, values
from symscale.transformer.inference import B, S, T, decode, prefill
from symscale.transformer.inference_time import StepTime, step_time
from symscale.transformer.serving_batching import (
    LONGEST,
    PAGE,
    PREFIX,
    page_occupancy,
    prefix_flops,
    reserved_occupancy,
    static_occupancy,
    wasted_slots,
)
from symscale.transformer.serving_prefill import (
    CHUNK,
    GENERATED,
    PROMPT,
    T_PREFILL,
    T_STEP,
    chunked,
    evicted_per_step,
    free_chunk,
    server_ratio,
)
from symscale.transformer.serving_speculation import (
    ACCEPTED,
    COST,
    DRAFTED,
    best_speculation,
    dearest_draft,
    expected_tokens,
    one_more_pays,
    speedup,
)
from symscale.vocabulary import symbol


def put(form: sp.Expr, **numbers: object) -> float:
    names = {
        "a": ACCEPTED, "n": DRAFTED, "c": COST, "page": PAGE, "longest": LONGEST, "batch": B, "length": S,
    }  # fmt: skip
    return float(form.xreplace({names[key]: sp.Rational(str(value)) for key, value in numbers.items()}))


# ------------------------------------------------------------------ speculation


@pytest.mark.parametrize(("a", "n"), [(0.5, 1), (0.8, 4), (0.9, 8), (0.3, 3)])
def test_tokens_per_step_are_those_of_tosses(a: float, n: int) -> None:
    rng, total, runs = random.Random(5), 0, 40_000
    for _ in range(runs):
        accepted = 0
        while accepted < n and rng.random() < a:
            accepted += 1
        total += accepted + 1
    assert math.isclose(put(expected_tokens(), a=a, n=n), total / runs, rel_tol=0.02)


@pytest.mark.parametrize("n", range(6))
def test_the_closed_sum_is_the_sum(n: int) -> None:
    whole = expected_tokens().xreplace({DRAFTED: sp.Integer(n)})
    assert sp.cancel(whole - sum(ACCEPTED**i for i in range(n + 1))) == 0
    assert sp.cancel(expected_tokens(sp.Integer(n)) - sum(ACCEPTED**i for i in range(n + 1))) == 0


@pytest.mark.parametrize("n", range(5))
@pytest.mark.parametrize("a", [0.2, 0.5, 0.8, 0.99])
def test_one_more_pays_up_to_its_border(a: float, n: int) -> None:
    border = put(dearest_draft(), a=a, n=n)
    for factor, faster in ((0.99, True), (1.01, False)):
        cost = border * factor
        more, now = ((1 - a ** (m + 1)) / (1 - a) / (1 + cost * m) for m in (n + 1, n))
        assert (more > now) is faster
    point = {ACCEPTED: sp.Rational(str(a)), DRAFTED: sp.Integer(n)}
    assert one_more_pays().contains(sp.Rational(str(round(border * 0.99, 12))), point)
    assert not one_more_pays().contains(sp.Rational(str(round(border * 1.01, 12))), point)


@settings(max_examples=80, deadline=None)
@given(st.fractions(sp.Rational(1, 100), sp.Rational(99, 100), max_denominator=100), st.integers(1, 60))
def test_where_arithmetic_binds_no_draft_pays(a: object, n: int) -> None:
    accepted = sp.Rational(str(a))
    gain = speedup(check=DRAFTED + 1).xreplace({ACCEPTED: accepted, DRAFTED: sp.Integer(n), COST: sp.S.Zero})
    assert gain < 1


STEPS = {
    "reads": StepTime(sp.Rational(1, 10**6), sp.Rational(5, 1000), sp.Rational(1, 10**7), sp.Rational(1, 1000)),
    "half": StepTime(sp.Rational(2, 1000), sp.Rational(5, 1000), sp.Rational(1, 1000), sp.Rational(3, 1000)),
    "computes": StepTime(sp.Rational(5, 1000), sp.Rational(4, 1000), sp.Rational(2, 1000), sp.Rational(1, 1000)),
}


def by_trial(step: StepTime, a: float, cost: float) -> tuple[int, float]:
    w, r, s, c = (float(each) for each in (step.weight_math, step.weight_read, step.score_math, step.cache_read))
    plain = max(w, r) + max(s, c)
    gains = [
        (sum(a**i for i in range(n + 1)) * plain / (max((n + 1) * w, r) + max((n + 1) * s, c) + n * cost * plain), -n)
        for n in range(200)
    ]
    gain, n = max(gains)
    return -n, gain


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize(("a", "cost"), [(0.5, 0.05), (0.8, 0.1), (0.95, 0.02), (0.3, 0.5), (0.7, 0.001)])
def test_the_best_draft_is_that_of_all_trials(name: str, a: float, cost: float) -> None:
    step = STEPS[name]
    best = best_speculation(step, sp.Rational(str(a)), sp.Rational(str(cost)) * step.total)
    drafted, gain = by_trial(step, a, cost)
    assert best.drafted == drafted
    assert math.isclose(float(best.speedup), gain, rel_tol=1e-9)
    if name == "computes":
        assert best.drafted == 0


@pytest.mark.parametrize("a", [0, 1, sp.Rational(3, 2), -1])
def test_an_acceptance_is_a_chance(a: sp.Expr) -> None:
    with pytest.raises(ModelError, match="no chance"):
        best_speculation(STEPS["reads"], sp.Integer(0) + a, sp.Rational(1, 1000))


def test_a_draft_that_costs_nothing_is_refused() -> None:
    free = StepTime(sp.Rational(1, 10**30), sp.S.One, sp.Rational(1, 10**30), sp.Rational(1, 10**9))
    with pytest.raises(ModelError, match="next to nothing"):
        best_speculation(free, 1 - sp.Rational(1, 10**9), sp.Rational(1, 10**30))


# ------------------------------------------------------------------ pages, batches, prefixes


@pytest.mark.parametrize("page", [1, 7, 16, 128])
def test_empty_slots_are_those_of_random_lengths(page: int) -> None:
    rng = random.Random(2)
    lengths = [rng.randint(1, 50 * page) for _ in range(20_000)]
    empty = sum(-length % page for length in lengths) / len(lengths)
    assert put(wasted_slots(), page=page) == pytest.approx(empty, rel=0.03, abs=1e-12)
    share = sum(lengths) / sum(length + -length % page for length in lengths)
    mean = sum(lengths) / len(lengths)
    assert put(page_occupancy(), page=page, length=mean) == pytest.approx(share, rel=1e-2)


def test_reserved_lengths_are_half_empty() -> None:
    rng, longest = random.Random(3), 2048
    lengths = [rng.randint(1, longest) for _ in range(20_000)]
    assert put(reserved_occupancy(), longest=longest) == pytest.approx(sum(lengths) / len(lengths) / longest, rel=0.02)


@pytest.mark.parametrize("batch", [1, 2, 8, 64])
def test_a_batch_that_waits_for_its_longest(batch: int) -> None:
    rng = random.Random(4)
    used = slots = 0.0
    for _ in range(4000):
        lengths = [rng.random() for _ in range(batch)]
        used += sum(lengths)
        slots += batch * max(lengths)
    assert put(static_occupancy(), batch=batch) == pytest.approx(used / slots, rel=0.02)


@pytest.mark.parametrize("name", ["llama2-13b", "gemma2-9b", "deepseek-v2-lite"])
@pytest.mark.parametrize(("prefix", "length"), [(1, 2), (100, 300), (5000, 6000)])
def test_a_cached_prefix_saves_its_own_prefill(name: str, prefix: int, length: int) -> None:
    config = model(name)
    known = values(config)

    def whole(tokens: int) -> sp.Expr:
        load = prefill(config).put({**known, T: sp.Integer(tokens)})
        return load.weight_flops + load.score_flops

    saved = prefix_flops(config).xreplace({**known, PREFIX: sp.Integer(prefix)})
    # the logits of one token are made either way
    assert saved == whole(prefix) - 2 * config.D * config.V
    assert saved < whole(length)


# ------------------------------------------------------------------ prefill beside decode


def test_servers_in_balance_leave_no_queue() -> None:
    """Sequences arrive at a decode server as fast as its batch ends them."""
    numbers = {B: 32, T_PREFILL: sp.Rational(91, 100), T_STEP: sp.Rational(19, 1000), GENERATED: 512}
    border = server_ratio().cases[0].intervals[0].lo
    ratio = border.xreplace({key: sp.Integer(0) + value for key, value in numbers.items()})
    started, ended = float(ratio) / 0.91, 32 / (0.019 * 512)
    assert math.isclose(started, ended)
    assert float(ratio) == pytest.approx(2.99, abs=0.005)


def test_evicted_tokens_are_those_of_a_turning_batch() -> None:
    prompt, generated, batch, steps, gone = 80, 40, 8, 4000, 0
    ages = [place * generated // batch for place in range(batch)]
    for _ in range(steps):
        ages = [age + 1 for age in ages]
        gone += sum(prompt + age for age in ages if age == generated)
        ages = [0 if age == generated else age for age in ages]
    form = evicted_per_step().xreplace(
        {B: sp.Integer(batch), PROMPT: sp.Integer(prompt), GENERATED: sp.Integer(generated)}
    )
    assert float(form) == pytest.approx(gone / steps)


def test_a_free_chunk_ends_where_arithmetic_binds() -> None:
    load = decode(model("llama3-8b"))
    known = {
        **values(model("llama3-8b")),
        symbol("b_w"): sp.Integer(2),
        symbol("C"): sp.Integer(197 * 10**12),
        symbol("W_hbm"): sp.Integer(820 * 10**9),
    }
    case = next(each for each in free_chunk(load).cases if each.intervals)
    room = case.intervals[0].hi.xreplace({**known, B: sp.Integer(50)})
    mixed = load.weight_flops.xreplace({**known, B: 50 + room}) / (197 * 10**12)
    assert mixed == load.weight_bytes.xreplace(known) / (820 * 10**9)
    assert CHUNK not in room.free_symbols
    full = {**known, B: sp.Integer(300)}
    assert not any(each.applies(full) and each.intervals for each in free_chunk(load).cases)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3000), st.integers(1, 700), st.integers(1, 64))
def test_chunks_add_up_to_their_prompt(prompt: int, chunk: int, batch: int) -> None:
    load = decode(model("llama3-8b"))
    names = {"b_w": 2, "b_kv": 2, "S": 1000, "C": 197 * 10**12, "W_hbm": 820 * 10**9, "N_chips": 1, "B": batch}
    known = {**values(model("llama3-8b")), **{symbol(key): sp.Integer(number) for key, number in names.items()}}
    time = step_time(load).put(known)
    scores, read = sp.Rational(3, 1000), sp.Rational(2, 1000)
    found = chunked(time, batch, prompt, chunk, scores, read)
    done, total, longest = 0, 0.0, 0.0
    while done < prompt:
        size = min(chunk, prompt - done)
        share = sum(range(done + 1, done + size + 1)) / sum(range(1, prompt + 1))
        weights = max(float(time.weight_math) * (batch + size) / batch, float(time.weight_read))
        attention = max(
            float(time.score_math) + share * float(scores), float(time.cache_read) + done / prompt * float(read)
        )
        total, longest, done = total + weights + attention, max(longest, weights + attention), done + size
    assert found.steps == math.ceil(prompt / chunk)
    assert float(found.first_token) == pytest.approx(total, rel=1e-9)
    assert float(found.step) == pytest.approx(longest, rel=1e-9)


@pytest.mark.parametrize("sizes", [(0, 5, 5), (5, 0, 5), (5, 5, 0)])
def test_no_chunk_is_no_plan(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ModelError, match="no plan"):
        chunked(STEPS["reads"], *sizes, sp.S.One, sp.S.One)
