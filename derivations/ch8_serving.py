"""How To Scale Your Model, chapter 8: serving LLaMA 3 on TPU v5e."""

from symscale import derivation, finished_per_second, inference, machine

BOOK = "How To Scale Your Model, ch. 8 [@austin2025]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
MATMUL = "x[B, D] * {weights}W[D, F] -> y[B, F]"
# The chapter takes 70 billion parameters, which is a little less than the model has.
ROUND = 70 * 10**9
WIDTHS = {"bf16": "2", "int8": "1", "int4": "1/2"}
CHIPS = {"bf16": 16, "int8": 8, "int4": 4}


def peak(dtype="bf16"):
    """Return the peak of a v5e as a value for C."""
    return {"C": machine("tpu-v5e").peak(dtype)}


def llama(d, show=""):
    """Return LLaMA 3-70B in use, and its bytes held with the chapter's number of parameters P."""
    found = inference(d, "llama3-70b", show=show)
    weights = d.read("b_w*P")
    cache = found.held.cache
    return found, weights, cache


@derivation("serving/flops-per-dollar", title="How many FLOPs does a dollar buy?", source=BOOK)
def flops_per_dollar(d):
    chips = {machine(name).title: machine(name).figures for name in ("h100", "tpu-v5p", "tpu-v5e")}
    found = d.table(
        "Peak and price of a chip",
        {"C": "C", "price_hour": "3600*price", "FLOPs_dollar": "C/price"},
        rows=chips,
        of="chip",
        units={"price_hour": "USD/h", "FLOPs_dollar": "FLOP/USD"},
        expect={"price_hour": ("10.8", "4.2", "1.2"), "FLOPs_dollar": ("3.3e17", "3.934e17", "5.91e17")},
        note="Dense bf16 peaks at list prices.",
    )
    found = [each["FLOPs_dollar"] for each in found]
    d.remark("Each of them buys more than the one before:")
    d.number("gain", found[1] / found[0], expect="1.19")
    d.number("gain", found[2] / found[1], expect="1.50")


@derivation("serving/cache", title="The cache of LLaMA 3-70B in int8", source=BOOK)
def cache(d):
    found, weights, kept = llama(d, "held")
    known = {**found.values, "b_kv": 1, "b_w": 1, "P": ROUND, "B": 240, "S": 32768}
    d.number("M_token", kept / d.symbol("S"), values=known, expect="163.84e3")
    d.number("M_cache", kept, values=known, expect="5.37e9")
    d.number("M_caches", d.read("B") * kept, values=known, expect="1.29e12")
    chips = d.crossover(weights + d.read("B") * kept, "<=", d.read("N_chips*M_hbm"), "N_chips", exact=True)
    d.evaluate(chips, on="tpu-v5e", values=known, expect="84.9")


@derivation("serving/batch-32", title="32 sequences of 8192 tokens: memory, chips, step", source=BOOK)
def batch_32(d):
    found, weights, kept = llama(d, "held")
    known = {**found.values, "b_kv": 1, "b_w": 1, "P": ROUND, "B": 32, "S": 8192}
    caches = d.read("B") * kept
    d.number("M_caches", caches, values=known, expect="42.9e9")
    d.number("M_held", weights + caches, values=known, expect="113e9")
    chips = d.crossover(weights + caches, "<=", d.read("N_chips*M_hbm"), "N_chips", exact=True)
    d.evaluate(chips, on="tpu-v5e", values=known, expect="7.06")
    spent = (weights + caches) / d.read("N_chips*W_hbm")
    d.number("T_step", spent, on="tpu-v5e", values={**known, "N_chips": 8}, expect="17.2e-3")
    rate = d.read("B") / spent
    d.number("rate", rate, on="tpu-v5e", values={**known, "N_chips": 8}, expect="1859")
    d.equal("rate_chip", rate / d.read("N_chips"), d.read("B*W_hbm") / (weights + caches), "The same on every slice.")
    twice = (rate / d.read("N_chips")).subs(d.symbol("N_chips"), d.read("2*N_chips"))
    d.equal("growth", twice / rate * d.read("N_chips"), d.read("1"), "Of the rate per chip with twice the chips.")
    d.number("rate_chip", rate / d.read("N_chips"), on="tpu-v5e", values={**known, "N_chips": 8}, expect="232")
    d.number("T_step", spent, on="tpu-v5e", values={**known, "N_chips": 16}, expect="8.61e-3")
    most_chips(d)


def most_chips(d):
    """Write down over how many chips the products of 70B can be split on two axes before their activations bind."""
    t = d.times(d.program(TP, axes={"Y": 2}, passes=["forward"]))
    d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.evaluate(on="tpu-v5e", values={"F": 28672}, expect="26.2")


@derivation(
    "serving/critical-batch", title="From which batch on does arithmetic bind? bf16, int8 weights, int8", source=BOOK
)
def critical_batch(d):
    for weights, dtype, rule, number in (
        ("", "bf16", "B >= C/W_hbm", "240"),
        ("int8 ", "bf16", "B >= C/(2*W_hbm)", "120"),
        ("", "int8", "B >= b*C/(2*W_hbm)", "240"),
        ("int4 ", "bf16", "B >= C/(4*W_hbm)", "60.1"),
    ):
        t = d.times(d.program(MATMUL.format(weights=weights), dtype=dtype, passes=["forward"]))
        batch = d.crossover(t.math, ">=", t.hbm, "B", passes="forward", resource="hbm")
        d.expect(batch, rule)
        d.evaluate(batch, on="tpu-v5e", expect=number)
    d.number("ratio", d.read("C_int8/C"), values={**peak(), "C_int8": machine("tpu-v5e").peak("int8")}, expect="2.0")


@derivation("serving/topology", title="The smallest slice by width, and what is left for the cache", source=BOOK)
def topology(d):
    found, weights, kept = llama(d, "held")
    known = {**found.values, "P": ROUND, "S": 8192}
    room = d.read("N_chips*M_hbm")
    rows = {}
    for kind, width in WIDTHS.items():
        here = {**known, "b_w": d.read(width), "b_kv": d.read(width)}
        least = d.crossover(weights, "<=", room, "N_chips", exact=True, title=kind)
        least = d.evaluate(least, on="tpu-v5e", values=here)
        fits = d.crossover(weights + d.read("B") * kept, "<=", room, "B", exact=True, title=kind)
        most = d.evaluate(fits, on="tpu-v5e", values={**here, "N_chips": CHIPS[kind]}, expect="43.2")
        rows[kind] = {**here, "N_chips": CHIPS[kind], "N_least": least.value, "B_most": most.value}
    d.table(
        "LLaMA 3-70B on TPU v5e, 8192 tokens of context",
        {
            "M_weights": weights,
            "M_token": kept / d.symbol("S"),
            "N_least": "N_least",
            "N_slice": "N_chips",
            "M_free": room - weights,
            "B_most": "B_most",
        },
        rows=rows,
        of="width",
        on="tpu-v5e",
        units={"N_least": "chip", "N_slice": "chip", "B_most": "sequences"},
        expect={
            "M_weights": ("140e9", "70e9", "35e9"),
            "N_least": ("8.75", "4.38", "2.19"),
            "N_slice": ("16", "8", "4"),
            "M_free": ("116e9", "58e9", "29e9"),
        },
        note="N_least chips hold the weights; N_slice has the next slice; B_most caches fill what it leaves.",
    )


@derivation("serving/slices", title="LLaMA 3-70B on slices of TPU v5e: latency, throughput and cost", source=BOOK)
def slices(d):
    found, weights, kept = llama(d, "held")
    chip = machine("tpu-v5e")
    held = weights + d.read("B") * kept
    spent = held / d.read("N_chips*W_hbm")
    rows = {
        f"{kind} on {chips}": {"b_w": d.read(width), "b_kv": d.read(width), "N_chips": chips}
        for kind, width in WIDTHS.items()
        for chips in (CHIPS[kind], 2 * CHIPS[kind])
    }
    d.table(
        "Decoding with 8192 tokens of context",
        {
            "M_chip": held / d.symbol("N_chips"),
            "T_step": spent,
            "rate": d.read("B") / spent,
            "rate_chip": d.read("B/N_chips") / spent,
            "cost": d.read("10^6*N_chips*price/B") * spent,
        },
        rows=rows,
        of="slice",
        over={"B": (1, 16, 43, 128)},
        on=chip,
        values={**found.values, "P": ROUND, "S": 8192, "price": chip.price},
        units={"rate": "token/s", "rate_chip": "token/s", "cost": "USD", "price": "USD/s"},
        fits="M_chip <= M_hbm",
        front={"T_step": "least", "cost": "least"},
        note="A step reads all that is held, without arithmetic and network. The cost is that of a million tokens.",
    )


@derivation("serving/queries", title="With HBM full a step reads all of it: queries per second and chip", source=BOOK)
def queries(d):
    step = d.number("T_step", d.read("M_hbm/W_hbm"), on="tpu-v5e", expect="19.5e-3")
    d.number("T_answer", 512 * step, expect="10.0")
    rate = finished_per_second()
    d.equal("queries_chip", rate / d.read("N_chips"), d.read("B/(T_step*T_gen*N_chips)"), "Of every chip.")
    rounded = {"T_step": d.read("19/1000"), "T_gen": 512}
    d.number("queries", rate, values={**rounded, "B": 43}, expect="4.42")
    for chips, each in ((16, "0.276"), (8, "0.5525"), (4, "1.105")):
        d.number("queries_chip", rate / d.read("N_chips"), values={**rounded, "B": 43, "N_chips": chips}, expect=each)
    d.number("queries", rate, values={**rounded, "B": 140}, expect="14.4")
    for chips, each in ((32, "0.4497"), (16, "0.8995"), (8, "1.799")):
        d.number("queries_chip", rate / d.read("N_chips"), values={**rounded, "B": 140, "N_chips": chips}, expect=each)
    d.number(
        "T_step",
        d.read("M_weights/(N_chips*W_hbm)"),
        on="tpu-v5e",
        values={"M_weights": 35 * 10**9, "N_chips": 4},
        expect="10.7e-3",
    )


@derivation("serving/double", title="Twice the chips hold more than twice the sequences", source=BOOK)
def double(d):
    found, weights, kept = llama(d, "held")
    known = {**found.values, "P": ROUND, "S": 8192, "b_w": 2, "b_kv": 2, "N_chips": 32}
    d.number("M_free", d.read("N_chips*M_hbm") - weights, on="tpu-v5e", values=known, expect="372e9")
    fits = d.crossover(weights + d.read("B") * kept, "<=", d.read("N_chips*M_hbm"), "B", exact=True)
    d.evaluate(fits, on="tpu-v5e", values=known, expect="138.6")


@derivation("serving/sharding", title="64 sequences on 32 chips: what binds a matrix of the MLP", source=BOOK)
def sharding(d):
    known = {"B": 64, "D": 8192, "F": 28672, "Y": 32, **peak()}
    most_chips(d)
    one = d.program("x[B, D] * W[D, F_Y] -> h[B, F_Y]", passes=["forward"])
    t = d.times(one)
    d.number("T_math", t.math, values=known | {"b": 2}, expect="4.8e-6")
    weight = d.approximate("T_hbm", t.hbm, "B << D; B*Y << F")
    d.expect(weight, "b*D*F/(Y*W_hbm)")
    d.number("T_hbm", weight, on="tpu-v5e", values=known | {"b": 2}, expect="17.9e-6")
    gathered = d.collective("AllGather", "b*B*D", {"Y": d.symbol("Y")})
    sent = d.approximate("T_comms", gathered.time, "Y >> 1")
    d.number("T_comms", sent, on="tpu-v5e", values=known | {"b": 2}, expect="11.65e-6")
    useful = d.crossover(sent, "<=", weight, "Y", exact=True, title="Behind the weights")
    d.expect(useful, "Y <= F*W_ici/(B*W_hbm)")
    d.evaluate(useful, on="tpu-v5e", values=known, expect="49.2")


@derivation("serving/prefill", title="Prefill of 8192 tokens on 16 chips at 40 % of the peak", source=BOOK)
def prefill(d):
    found = inference(d, "llama3-70b", show="prefill")
    share = {"mfu": d.read("2/5"), "N_chips": 16, "T": 8192, "P": ROUND, **peak()}
    d.number("T_prefill", d.read("2*P*T/(N_chips*C*mfu)"), values=share, expect="0.91")
    exact = (found.prefill.weight_flops + found.prefill.score_flops) / d.read("N_chips*C*mfu")
    d.number("T_prefill", exact, values={**found.values, **share}, expect="0.959")


@derivation("serving/latency-throughput", title="Latency against throughput on 16 chips in int8", source=BOOK)
def latency_throughput(d):
    found, weights, kept = llama(d, "held")
    known = {**found.values, **peak(), "P": ROUND, "b_w": 1, "b_kv": 1, "N_chips": 16}
    spent = (weights + d.read("B") * kept) / d.read("N_chips*W_hbm")
    d.number("T_step", spent, on="tpu-v5e", values={**known, "B": 1, "S": 8192}, expect="5.44e-3")
    rate = d.read("B") / spent / d.read("N_chips")
    d.number("rate_chip", rate, on="tpu-v5e", values={**known, "B": 120, "S": 2048}, expect="892")
    length = d.crossover(
        kept / d.read("W_hbm"), ">=", d.read("2*P/C"), "S", exact=True, title="Where the cache exceeds the FLOPs"
    )
    d.evaluate(length, on="tpu-v5e", values=known, expect="3557")


@derivation("serving/pareto", title="LLaMA 3-70B on slices of 8 to 64 chips", source=BOOK)
def pareto(d):
    found, weights, kept = llama(d, "held")
    known = {**found.values, **peak(), "P": ROUND, "b_w": 1, "b_kv": 1, "S": 8192}
    held = weights + d.read("B") * kept
    fits = d.crossover(held, "<=", d.read("N_chips*M_hbm"), "B", exact=True)
    d.evaluate(fits, on="tpu-v5e", values={**known, "N_chips": 16}, expect="138.6")
    spent = held / d.read("N_chips*W_hbm")
    d.pareto(
        spent,
        d.read("B") / spent / d.read("N_chips"),
        {f"{each} chips": {"N_chips": each} for each in (8, 16, 32, 64)},
        (1, 16, 128),
        fits=fits,
        beyond=False,
        title="Tokens per chip and second against the time of a step",
        caption="Weights and caches in int8, contexts of 8192 tokens, HBM the limit. Every slice reaches its largest "
        "batch in the time it takes to read all of its HBM; a larger slice spreads the weights thinner, and its "
        "batches are faster and more productive.",
        y="tokens per second and chip",
        on="tpu-v5e",
        values=known,
    )


@derivation("serving/regimes", title="What binds a decode step of LLaMA 3-70B", source=BOOK)
def regimes(d):
    found, weights, kept = llama(d, "held")
    loading, rate = d.read("N_chips*W_hbm"), d.read("N_chips*C")
    multiplied = d.read("2*P*B") / rate
    known = {**found.values, **peak(), "P": ROUND, "b_w": 1, "b_kv": 1, "N_chips": 16}
    batch = d.crossover(multiplied, ">=", weights / loading, "B", exact=True)
    d.evaluate(batch, on="tpu-v5e", values=known, expect="120.12")
    d.regime_map(
        {
            "reading the weights": weights / loading,
            "multiplying the weights": multiplied,
            "reading the caches": d.read("B") * kept / loading,
        },
        "S",
        "B",
        ((256, 131072), (1, 2048)),
        title="The longest part of a decode step over context and batch",
        caption="Small batches wait for the weights, long contexts for the caches; only large batches of short "
        "contexts keep the arithmetic busy.",
        labels=("context $S$ in tokens", "batch $B$ in sequences"),
        on="tpu-v5e",
        values=known,
    )


@derivation("serving/price-of-latency", title="What a sequence alone costs, against a step twice as long", source=BOOK)
def price_of_latency(d):
    any_model = inference(d)
    time, tokens = any_model.step, d.read("B")
    alone = (time.weight_read + time.cache_read).subs(tokens, 1)
    busy = time.weight_math + time.cache_read
    d.remark("Above the critical batch a step multiplies its weights for longer than it reads them.")
    batch = d.crossover(busy, "<=", 2 * alone, "B", exact=True, title="A step twice as long")
    d.equal("gain", tokens / 2, tokens / (2 * alone) * alone, "Tokens per second over those of one sequence.")
    known = {"M_weights": ROUND, "FLOPs_token": 2 * ROUND, "N_chips": 16, **peak()}
    for length, batch_there in (("2048", "153.2"), ("1000", "188.0"), ("0", "240.2")):
        there = {**known, "M_cache": d.read(f"163840*{length}")}
        batch = d.evaluate(batch, on="tpu-v5e", values=there, expect=batch_there)
        d.number("gain", tokens / 2, values={"B": batch.value})


@derivation("serving/llama3-405b", title="LLaMA 3-405B in 15 ms per token", source=BOOK)
def llama3_405b(d):
    found = inference(d, "llama3-405b", show="held")
    known = {**found.values, **peak(), "b_w": 1, "b_kv": 1, "S": 8192}
    d.number("FLOPs_token", 2 * found.parameters, values=known, expect="811.7e9")
    d.number("T_math", 2 * found.parameters / d.read("N_chips*C"), values={**known, "N_chips": 1}, expect="4.12e-3")
    loading = found.held.weights / d.read("N_chips*W_hbm")
    d.number("T_load", loading, on="tpu-v5e", values={**known, "b_w": 2, "N_chips": 1}, expect="0.990")
    d.number("M_token", found.held.cache / d.symbol("S"), values=known, expect="258e3")
    holds = d.crossover(found.held.weights, "<=", d.read("N_chips*M_hbm"), "N_chips", exact=True)
    d.evaluate(holds, on="tpu-v5e", values=known, expect="25.4")
    fast = d.crossover(loading, "<=", d.read("T_wanted"), "N_chips", exact=True)
    d.evaluate(fast, on="tpu-v5e", values={**known, "T_wanted": d.read("15/1000")}, expect="33.0")
    d.number("T_load", loading, on="tpu-v5e", values={**known, "N_chips": 64}, expect="7.73e-3")
    math = 2 * d.read("B") * found.parameters / d.read("64*C")
    read = d.read("B") * found.held.cache / d.read("64*W_hbm")
    batch = d.crossover(math + read, "<=", d.read("T_wanted"), "B", exact=True, title="Compute-bound")
    d.evaluate(batch, on="tpu-v5e", values={**known, "T_wanted": d.read("15/1000")}, expect="143.3")


@derivation("serving/llama3-8b", title="LLaMA 3-8B: 240 sequences of 8192 tokens in int8", source=BOOK)
def llama3_8b(d):
    found = inference(d, "llama3-8b", show="held")
    known = {**found.values, "b_w": 1, "b_kv": 1, "S": 8192, "B": 240}
    d.number("M_weights", found.held.weights, values=known, expect="8.03e9")
    d.number("M_caches", d.read("B") * found.held.cache, values=known, expect="128.85e9")
    d.number("M_activation", d.read("2*B*F"), values=known, expect="6.88e6")
    held = found.held.weights + d.read("B") * found.held.cache
    chips = d.crossover(held, "<=", d.read("N_chips*M_hbm"), "N_chips", exact=True)
    d.evaluate(chips, on="tpu-v5e", values=known, expect="8.555")
