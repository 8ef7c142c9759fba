"""How To Scale Your Model, chapter 7: what a step of inference costs, and what fits."""

from symscale import (
    derivation,
    distinct_experts,
    expected_tokens,
    inference,
    machine,
    page_occupancy,
    reserved_occupancy,
    speedup,
    static_occupancy,
    summed,
    wasted_slots,
)

BOOK = "How To Scale Your Model, ch. 7 [@austin2025]"
MATMUL = "x[B, D] * {weights}W[D, F] -> y[B, F]"
ATTENTION = "Q[B, T, D] * K[B, S, D] -> A[B, T, S]; softmax_S(A) -> P[B, T, S]; P * V[B, S, D] -> O[B, T, D]"
# The chapter's estimate for LLaMA 2-13B: 26 GB of weights, caches of 6.7 GB, or a fifth with 8 KV heads.
MHA, GQA = ({"M_weights": 26 * 10**9, "M_cache": cache * 10**7} for cache in (670, 134))
BATCHES = (1, 8, 16, 32, 64, 240)
MHA_ROWS = {
    "M_caches": ("6.7e9", "53.6e9", "107.2e9", "214.4e9", "428.8e9", "1608e9"),
    "M_held": ("32.7e9", "79.6e9", "133.2e9", "240.4e9", "454.8e9", "1634e9"),
    "T_step": ("4.98e-3", "12.13e-3", "20.30e-3", "36.65e-3", "69.33e-3", "249.09e-3"),
    "rate": ("200.61", "659.30", "787.99", "873.21", "923.13", "963.53"),
}
# twice the tokens are so many times the work: of orders 2, 3, 1 and 2
GROWTH = {"FLOPs": "4", "FLOPs_scores": "8", "FLOPs_cached": "2", "FLOPs_cached_scores": "4"}
# with 8 KV heads
GQA_ROWS = {
    "M_caches": ("1.34e9", "10.72e9", "21.44e9", "42.88e9", "85.76e9", "321.6e9"),
    "M_held": ("27.34e9", "36.72e9", "47.44e9", "68.88e9", "111.76e9", "347.6e9"),
    "T_step": ("4.168e-3", "5.60e-3", "7.232e-3", "10.5e-3", "17.04e-3", "52.99e-3"),
    "rate": ("239.94", "1429.2", "2212.48", "3047.62", "3756.6", "4529.34"),
}


def peak(dtype="bf16", chip="tpu-v5e"):
    """Return the peak of a chip as a value for C."""
    return {"C": machine(chip).peak(dtype)}


def given(d, **values):
    """Return values from formulas such as "30*10^9"."""
    return {name: d.read(value) if isinstance(value, str) else value for name, value in values.items()}


@derivation("inference/with-a-cache", title="What a cache saves: the work of n tokens", source=BOOK)
def with_a_cache(d):
    llama = inference(d, "llama2-13b", show="prefill decode")
    last, first = d.read("n"), d.symbol("T")
    plain = llama.prefill.put({d.symbol("S"): first})
    cached = llama.decode.put({d.symbol("S"): first, d.symbol("B"): d.read("1")})
    d.remark("Without a cache step t computes all t tokens again, with one it computes its own: sum over t = 1 … n.")
    for name, per_step in (
        ("FLOPs", plain.weight_flops),
        ("FLOPs_scores", plain.score_flops),
        ("FLOPs_cached", cached.weight_flops),
        ("FLOPs_cached_scores", cached.score_flops),
    ):
        whole = summed(per_step, "T", "n")
        if name != "FLOPs_cached":
            order = d.approximate(name, whole, "n >> 1; n >> V" if name == "FLOPs" else "n >> 1")
        else:
            d.equal(name, whole, per_step * last, "As much for every token.")
            order = whole
        growth = (order.subs(last, 2 * last) / order).cancel()
        d.equal(f"growth_{name}", growth, d.read(GROWTH[name]), "Twice the tokens.")


@derivation("inference/linear", title="From which batch on does arithmetic bind a product?", source=BOOK)
def linear(d):
    layer = d.program(MATMUL.format(weights=""), passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    d.expect(t.math, "2*B*D*F/C")
    batch = d.crossover(t.math, ">=", t.hbm, "B", passes="forward", resource="hbm")
    d.expect(batch, "B >= C/W_hbm")
    d.evaluate(on="tpu-v5e", expect="240")


@derivation("inference/linear-exact", title="The same at D = 8192, F = 28672, exactly", source=BOOK)
def linear_exact(d):
    layer = d.program(MATMUL.format(weights=""), passes=["forward"])
    t = d.times(layer)
    d.crossover(t.math, ">=", t.hbm, "B", passes="forward", resource="hbm", exact=True)
    d.evaluate(on="tpu-v5e", values={"D": 8192, "F": 28672}, expect="249.66")


@derivation("inference/int8-weights", title="Half the bytes, half the batch", source=BOOK)
def int8_weights(d):
    layer = d.program(MATMUL.format(weights="int8 "), passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", passes="forward", resource="hbm")
    d.expect(batch, "B >= C/(2*W_hbm)")
    d.evaluate(on="tpu-v5e", expect="120")


@derivation("inference/int8", title="Weights and arithmetic in int8: the batch is that of bf16", source=BOOK)
def int8(d):
    layer = d.program(MATMUL.format(weights=""), dtype="int8", passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", passes="forward", resource="hbm")
    d.expect(batch, "B >= b*C/(2*W_hbm)")
    d.evaluate(on="tpu-v5e", expect="240")
    d.number("C", d.read("C"), values=peak("int8"), expect="3.94e14")


@derivation("inference/h100", title="The same batch on an H100", source=BOOK)
def h100(d):
    layer = d.program(MATMUL.format(weights=""), passes=["forward"])
    t = d.times(layer)
    d.crossover(t.math, ">=", t.hbm, "B", passes="forward", resource="hbm")
    d.evaluate(on="h100", expect="295")


@derivation("inference/attention", title="Attention reads its cache for every sequence anew", source=BOOK)
def attention(d):
    layer = d.program(ATTENTION, passes=["forward"])
    d.counts(layer)
    fused = layer.costs["forward"].hbm_bytes - d.read("4*b*B*S*T")
    text = "Fused, the scores and their softmax stay on the chip, written and read neither: Q, K, V and O are left."
    d.equal("bytes_fused", fused, d.read("2*b*B*T*D + 2*b*B*S*D"), text)
    flops = layer.costs["forward"].total_flops
    d.expect(flops, "4*B*S*T*D")
    ratio = flops / fused
    d.equal("intensity", ratio, d.read("2*S*T/(b*(S + T))"), "In bf16 S T/(S + T), which no batch changes.")
    d.equal("intensity", ratio.subs(d.symbol("T"), d.symbol("S")), d.read("S/b"), "Prefill, T = S: T/2 in bf16.")
    decoding = d.approximate("intensity", ratio.subs(d.symbol("T"), 1), "S >> 1")
    d.expect(decoding, "2/b")
    length = d.crossover(d.read("S/b"), ">=", d.read("C/W_hbm"), "S", exact=True, title="A compute-bound prefill")
    d.evaluate(length, on="tpu-v5e", values={"b": 2, **peak()}, expect="480")


@derivation("inference/decode-attention", title="Decode attention does 2G/b FLOPs per byte of cache", source=BOOK)
def decode_attention(d):
    grouped = inference(d, "llama3-70b")
    d.expect(grouped.decode.intensity, "2*N_heads/(b_kv*K)")
    d.number("intensity", grouped.decode.intensity, values={**grouped.values, "b_kv": 2}, expect="8")
    latent = inference(d, "deepseek-v3")
    d.expect(latent.decode.intensity, "2*N_heads*(2*R_kv + H_rope)/(b_kv*(R_kv + H_rope))")
    d.number("intensity", latent.decode.intensity, values={**latent.values, "b_kv": 2}, expect="241.8")
    d.number("alpha", d.read("C/W_hbm"), on="tpu-v5e", values=peak(), expect="240.2")
    peaks = d.crossover(latent.step.score_math, ">=", latent.step.cache_read, "C", exact=True)
    d.expect(peaks, "C <= 2*N_heads*(2*R_kv + H_rope)*W_hbm/(b_kv*(R_kv + H_rope))")


@derivation("inference/weights-or-cache", title="Weights of a layer against one sequence's cache", source=BOOK)
def weights_or_cache(d):
    llama = inference(d, "llama2-13b", show="held")
    cache = llama.held.cache.subs(d.symbol("b_kv"), d.symbol("b")) / d.symbol("L")
    ratio = d.read("2*b*D*F") / cache
    d.equal("ratio", ratio, d.read("D*F/(S*H*K)"), "Two matrices of D F elements, and keys and values of S tokens.")
    d.equal("ratio", ratio.subs(d.symbol("K"), d.read("D/H")), d.read("F/S"), "With K H = D.")


@derivation("inference/step", title="A decode step: read the weights or multiply them, and read the cache", source=BOOK)
def step(d):
    any_model = inference(d)
    time, tokens = any_model.step, d.read("B")
    d.remark("FLOPs_token per sequence and M_weights once; M_cache per sequence, below the machine's FLOPs per byte.")
    held = any_model.held.weights + tokens * any_model.held.cache
    d.equal("M_caches", tokens * any_model.held.cache, d.read("B*M_cache"), "A cache for every sequence.")
    d.equal("M_held", held, d.read("B*M_cache + M_weights"), "The weights once beside them.")
    d.equal("T_load", time.weight_read, d.read("M_weights/(N_chips*W_hbm)"), "No step is shorter.")
    d.equal("T_math", time.weight_math, d.read("B*FLOPs_token/(N_chips*C)"), "Their arithmetic.")
    read = time.weight_read + time.cache_read
    d.equal("T_step", read, d.read("(B*M_cache + M_weights)/(N_chips*W_hbm)"), "While HBM binds both parts.")
    whole = time.weights + time.cache_read
    text = "B*M_cache/(N_chips*W_hbm) + Max(B*FLOPs_token/(N_chips*C), M_weights/(N_chips*W_hbm))"
    d.equal("T_step", whole, d.read(text), "The weights may be bound by their arithmetic, the cache is not.")
    d.number(
        "T_step",
        whole.subs(tokens, 0),
        on="tpu-v5e",
        values=given(d, M_weights="30*10^9", N_chips=16, FLOPs_token=0, **peak()),
        expect="2.29e-3",
    )
    d.equal("rate", tokens / read, d.read("B*N_chips*W_hbm/(B*M_cache + M_weights)"), "Tokens per second.")
    batch = d.crossover(time.weight_math, ">=", time.weight_read, "B", exact=True)
    d.expect(batch, "B >= M_weights*C/(FLOPs_token*W_hbm)")
    fits = d.crossover(held, "<=", d.read("N_chips*M_hbm"), "B", exact=True)
    d.expect(fits, "B <= (N_chips*M_hbm - M_weights)/M_cache")
    quiz = given(d, M_weights="30*10^9", FLOPs_token="60*10^9", M_cache="8192*100*10^3", N_chips=16, **peak())
    d.number("M_cache", d.read("M_cache"), values=quiz, expect="819e6")
    d.number("T_step", whole, on="tpu-v5e", values={**quiz, "B": 4}, expect="2.5e-3")
    d.number("T_step", whole, on="tpu-v5e", values={**quiz, "B": 256}, expect="20.9e-3")


@derivation("inference/llama2-13b", title="LLaMA 2-13B: parameters, cache, what fits on eight chips", source=BOOK)
def llama2_13b(d):
    llama = inference(d, "llama2-13b", show="held")
    known = {**llama.values, "b_w": 2, "b_kv": 2, "S": 8192, "N_chips": 8}
    parts = llama.parts
    rows = {
        "MLP": parts["MLP"],
        "vocabulary": parts["embedding"] + parts["unembedding"],
        "attention": parts["attention"],
        "all, with norms": llama.parameters,
    }
    d.table(
        "Parameters by part",
        {"formula": "", "N_params": "form", "M_part": "b_w*form"},
        rows={name: {"formula": form, "form": form} for name, form in rows.items()},
        of="part",
        values=known,
        expect={"N_params": ("8.5e9", "327.68e6", "4.2e9", "13.0e9"), "M_part": (None, None, None, "26e9")},
    )
    d.number("M_MLP", d.read("b_w") * llama.parts["MLP"], values=known, expect="17e9")
    d.number("M_weights", llama.held.weights, values=known, expect="26e9")
    d.number("M_cache", llama.held.cache, values=known, expect="6.7e9")
    d.expect(llama.held.cache, "2*b_kv*H*K*L*S")
    d.number("M_training", 8 * llama.parameters, values=known, expect="104e9")
    d.number("M_activation", d.read("2*S*D"), values=known, expect="83.9e6")
    heavier = d.crossover(d.read("B") * llama.held.cache, ">", llama.held.weights, "B", exact=True)
    d.evaluate(heavier, values=known, expect="3.88")
    batch = d.crossover(
        llama.held.weights + d.read("B") * llama.held.cache, "<=", d.read("N_chips*M_hbm"), "B", exact=True
    )
    d.evaluate(batch, on="tpu-v5e", values=known, expect="15.2")


@derivation(
    "inference/llama2-13b-gqa", title="With 8 KV heads the cache is a fifth, and the weights are fewer too", source=BOOK
)
def llama2_13b_gqa(d):
    llama = inference(d, "llama2-13b-gqa8", show="held")
    whole = inference(d, "llama2-13b", show="")
    known = {**llama.values, "b_w": 2, "b_kv": 2, "S": 8192, "N_chips": 8}
    d.number("ratio", whole.held.cache.subs(d.symbol("K"), 40) / llama.held.cache, values=known, expect="5")
    d.number("M_weights", llama.held.weights, values=known, expect="22.7e9")
    batch = d.crossover(
        llama.held.weights + d.read("B") * llama.held.cache, "<=", d.read("N_chips*M_hbm"), "B", exact=True
    )
    d.evaluate(batch, on="tpu-v5e", values=known, expect="78.5")


@derivation("inference/latency-throughput", title="LLaMA 2-13B on eight chips: latency and throughput", source=BOOK)
def latency_throughput(d):
    slice_of_eight = {"N_chips": 8, **peak()}
    d.number("W_all", d.read("N_chips*W_hbm"), on="tpu-v5e", values=slice_of_eight, expect="6.56e12")
    d.number("M_all", d.read("N_chips*M_hbm"), on="tpu-v5e", values=slice_of_eight, expect="128e9")
    d.number("C_all", d.read("N_chips*C"), on="tpu-v5e", values=slice_of_eight, expect="1576e12")
    for heads, bytes_, expect in (("40 KV heads", MHA, MHA_ROWS), ("8 KV heads, weights as before", GQA, GQA_ROWS)):
        d.table(
            f"Decoding with {heads}",
            decoding(d),
            over={"B": BATCHES},
            on="tpu-v5e",
            values={**bytes_, "N_chips": 8},
            units={"rate": "token/s"},
            expect=expect,
            fits="M_held <= N_chips*M_hbm",
            front={"T_step": "least", "rate": "most"},
        )
    columns = decoding(d)
    fits = d.crossover(columns["M_held"], "<=", d.read("N_chips*M_hbm"), "B", exact=True, title="What fits")
    d.pareto(
        columns["T_step"],
        columns["rate"],
        {"40 KV heads": MHA, "8 KV heads": GQA},
        BATCHES,
        fits=fits,
        title="Throughput against latency of LLaMA 2-13B",
        caption="A larger batch takes longer per step and gives more tokens per second, up to a limit that the caches "
        "set; a fifth of the cache raises it fivefold. Dashed: batches that do not fit.",
        on="tpu-v5e",
        values=slice_of_eight,
    )


def decoding(d):
    """Return what caches take, what is held, how long a step reads, and tokens per second."""
    any_model = inference(d)
    spent = any_model.step.weight_read + any_model.step.cache_read
    caches = d.read("B") * any_model.held.cache
    return {
        "M_caches": caches,
        "M_held": any_model.held.weights + caches,
        "T_step": spent,
        "rate": d.read("B") / spent,
    }


@derivation("inference/slices", title="LLaMA 2-13B on slices of TPU v5e: latency, throughput and cost", source=BOOK)
def slices(d):
    columns = decoding(d)
    chip = machine("tpu-v5e")
    d.table(
        "Decoding on three slices, 8192 tokens of context",
        {
            "M_chip": columns["M_held"] / d.read("N_chips"),
            "T_step": columns["T_step"],
            "rate": columns["rate"],
            "rate_chip": columns["rate"] / d.read("N_chips"),
            "cost": d.read("10^6*price*N_chips") / columns["rate"],
        },
        rows={
            "4x2": {"N_chips": 8},
            "4x4": {"N_chips": 16},
            "4x8": {"N_chips": 32},
        },
        of="slice",
        over={"B": (1, 8, 32, 64)},
        on=chip,
        values={**MHA, "price": chip.price},
        units={"rate": "token/s", "rate_chip": "token/s", "cost": "USD", "price": "USD/s"},
        fits="M_chip <= M_hbm",
        front={"T_step": "least", "cost": "least"},
        note="The network is left out. The cost is that of a million tokens at the list price.",
    )


@derivation("inference/max-batch", title="An invented model of 18 billion parameters on 16 chips, in int8", source=BOOK)
def max_batch(d):
    invented = inference(d, "ch7-18b", show="held")
    known = {**invented.values, "b_w": 1, "b_kv": 1, "S": 128_000, "N_chips": 16}
    d.number("N_params", invented.parameters, values=known, expect="18.4e9")
    d.number("M_token", invented.held.cache / d.symbol("S"), values=known, expect="262e3")
    d.number("M_cache", invented.held.cache, values=known, expect="33.55e9")
    room = d.read("N_chips*M_hbm")
    batch = d.crossover(invented.held.weights + d.read("B") * invented.held.cache, "<=", room, "B", exact=True)
    d.evaluate(batch, on="tpu-v5e", values=known, expect="7.08")
    d.number("T_load", invented.held.weights / d.read("N_chips*W_hbm"), on="tpu-v5e", values=known, expect="1.4e-3")
    whole = invented.held.weights + d.read("B") * invented.held.cache
    d.number("T_step", whole / d.read("N_chips*W_hbm"), on="tpu-v5e", values={**known, "B": 7}, expect="19.3e-3")
    single = inference(d, "ch7-18b-k1", show="")
    batch = d.crossover(single.held.weights + d.read("B") * single.held.cache, "<=", room, "B", exact=True)
    d.evaluate(batch, on="tpu-v5e", values={**known, **single.values}, expect="56.9")


@derivation("inference/experts", title="A mixture of experts needs a batch E/k as large", source=BOOK)
def experts(d):
    dense = inference(d, "ch7-18b", show="")
    moe = inference(d, "ch7-moe")
    known = {**moe.values, **peak()}
    dense_params = dense.parameters.subs({d.symbol(name): number for name, number in dense.values.items()})
    d.number("N_params", moe.parameters, values=known, expect="212e9")
    d.number("ratio", moe.parameters / dense_params, values=known, expect="11.5")
    active = moe.parameters.subs(d.symbol("E"), d.symbol("k"))
    d.number("N_active", active, values=known, expect="31.3e9")
    d.number("ratio_active", active / dense_params, values=known, expect="1.70")
    held = moe.held.cache / d.symbol("S")
    d.equal("M_token", held, dense.held.cache / d.symbol("S"), "The cache of a token is that of the dense model.")
    d.number("FLOPs_token", 2 * active, values=known, expect="62.5e9")
    part = moe.parts["experts"]
    math = 2 * d.read("B") * part * d.read("k/E") / d.read("C")
    batch = d.crossover(math, ">=", d.read("b_w") * part / d.read("W_hbm"), "B", exact=True, title="The experts alone")
    d.expect(batch, "B >= b_w*C*E/(2*k*W_hbm)")
    d.evaluate(batch, on="tpu-v5e", values={**known, "b_w": 2}, expect="1922")
    whole = d.crossover(moe.step.weight_math, ">=", moe.step.weight_read, "B", exact=True, title="The whole model")
    d.evaluate(whole, on="tpu-v5e", values={**known, "b_w": 2}, expect="1626")
    few = {"E": 16, "k": 2}
    d.number("E_reached", distinct_experts(d.read("B")), values={**few, "B": 8}, expect="10.5")
    d.number("E_reached", distinct_experts(d.read("B")), values={**few, "B": 64}, expect="16.0")


@derivation(
    "inference/experts-sharded", title="Experts over Z and Y, the rest over Y: how long weights load", source=BOOK
)
def experts_sharded(d):
    moe = inference(d, "ch7-moe", show="held")
    known = {**moe.values, "b_w": 1, "N_chips": 128, "Y": 8, "Z": 16}
    d.number("T_load", moe.held.weights / d.read("N_chips*W_hbm"), on="tpu-v5e", values=known, expect="2.02e-3")
    routed = moe.parts["experts"]
    split = d.read("b_w") * (routed / d.read("Y*Z") + (moe.parameters - routed) / d.read("Y"))
    d.number("T_load", split / d.read("W_hbm"), on="tpu-v5e", values=known, expect="2.80e-3")
    free = d.read("M_hbm") - moe.held.weights / d.read("N_chips")
    d.number("M_free", free, on="tpu-v5e", values=known, expect="14.35e9")
    chips = d.crossover(moe.held.weights, "<=", d.read("N_chips*M_hbm"), "N_chips", exact=True)
    d.evaluate(chips, on="tpu-v5e", values=moe.values | {"b_w": 1}, expect="13.2")


@derivation("inference/prefix", title="A cached prefix saves its own prefill", source=BOOK)
def prefix(d):
    whole = inference(d, "llama2-13b", show="prefill")
    tokens, cached = d.read("T"), d.read("T_prefix")
    linear_part = whole.prefill.weight_flops - d.read("2*D*V")
    left = 1 - linear_part.subs(tokens, cached) / linear_part
    d.equal("f_left", left, 1 - cached / tokens, "The products with weights, without the logits of the last token.")
    d.number("f_left", left, values={**whole.values, "T": 3, "T_prefix": 2}, expect="0.333")
    scores = whole.prefill.score_flops
    d.equal("f_scores", scores.subs(tokens, cached) / scores, d.read("T_prefix*(T_prefix + 1)/(T*(T + 1))"), "Scores.")
    d.number("M_all", d.read("8*M_hbm"), on="tpu-v5e", expect="128e9")


@derivation(
    "inference/speculation", title="Speculative decoding: tokens per step, and what a draft may cost", source=BOOK
)
def speculation(d):
    tokens = expected_tokens()
    text = "Token i of a run appears if the i before it were accepted, with the chance a^i: sum over i = 0 … n_draft."
    d.equal("tokens", tokens, d.read("(1 - a^(n_draft + 1))/(1 - a)"), text)
    d.equal("gain", speedup(), tokens / d.read("1 + c_draft*n_draft"), "While HBM binds, checking costs one step.")
    for drafted, limit in ((0, "0.80"), (1, "0.5517"), (2, "0.3616")):
        now, more = (speedup(d.read(str(n))) for n in (drafted, drafted + 1))
        cost = d.crossover(more, ">", now, "c_draft", exact=True, title=f"Drafted token {drafted + 1} pays")
        d.evaluate(cost, values=given(d, a="4/5"), expect=limit)
    d.number("tokens", tokens, values=given(d, a="4/5", n_draft=4), expect="3.36")
    d.number("gain", speedup(), values=given(d, a="4/5", n_draft=4, c_draft="1/10"), expect="2.40")
    bound = speedup(check=d.read("n_draft + 1"))
    d.number("gain", bound, values=given(d, a="4/5", n_draft=4, c_draft="1/10"), expect="0.6225")


@derivation(
    "inference/pages",
    title="Pages, batches and reserved lengths: which share of the slots holds a token",
    source="Kwon et al. 2023 [@kwon2023]",
)
def pages(d):
    d.remark("Lengths are even over 1 … S_max; the last page of a sequence holds 1 … S_page tokens, each as often.")
    d.equal("S_empty", wasted_slots(), d.read("(S_page - 1)/2"), "Slots of the last page that are empty on average.")
    d.equal("f_pages", page_occupancy(), d.read("S/(S + (S_page - 1)/2)"), "Slots in use with pages.")
    d.number("f_pages", page_occupancy(), values={"S": 1000, "S_page": 16}, expect="0.9926")
    d.equal("f_reserved", reserved_occupancy(), d.read("(1 + 1/S_max)/2"), "Slots in use where S_max are reserved.")
    d.equal("f_static", static_occupancy(), d.read("(1 + 1/B)/2"), "A batch that waits for its longest sequence.")


@derivation("inference/small-claims", title="How real is the batch of 240?", source=BOOK)
def small_claims(d):
    layer = {"D": 8192, "F": 32768, "N_chips": 4}
    d.number("N_params", d.read("2*D*F"), values=layer, expect="537e6")
    d.number("T_load", d.read("2*2*D*F/(N_chips*W_hbm)"), on="tpu-v5e", values=layer, expect="327e-6")
    d.number("ratio", d.read("W_hbm/W_ici"), on="tpu-v5e", expect="9.11")
