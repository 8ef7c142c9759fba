"""Pipelines: the layers split over stages, the batch into microbatches."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 5 [@austin2025]"
GPUS = "How To Scale Your Model, ch. 12 [@austin2025]"
GPIPE = "Huang et al. 2019, GPipe [@huang2019]"
MEGATRON = "Narayanan et al. 2021, Efficient Large-Scale Language Model Training on GPU Clusters [@narayanan2021]"
ZERO_BUBBLE = "Qi et al. 2023, Zero Bubble Pipeline Parallelism [@qi2023]"
HELD = "Korthikanti et al. 2022, Reducing Activation Recomputation in Large Transformer Models [@korthikanti2022]"
LAYER = "In[B, D] * W_in[D, F] * W_out[F, D] -> Out[B, D]"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"


@derivation("pipeline/gpipe", title="The bubble of GPipe", source=GPIPE)
def gpipe(d):
    run = d.pipeline("gpipe")
    d.expect(run.bubble, "(p - 1)*(t_F + t_B + t_W)")
    d.expect(run.fraction, "(p - 1)/(m + p - 1)")
    d.expect(run.held, "m")


@derivation("pipeline/naive", title="One microbatch keeps one stage of p at work", source=BOOK)
def naive(d):
    run = d.pipeline("gpipe", "rule step")
    alone = run.fraction.subs(d.symbol("m"), 1)
    d.equal("f_bubble", alone, 1 - 1 / d.symbol("p"), "With m = 1 a stage works for 1/p of the time.")


@derivation("pipeline/1f1b", title="1F1B has GPipe's bubble and holds fewer microbatches", source=MEGATRON)
def one_f_one_b(d):
    run = d.pipeline("1f1b")
    d.expect(run.ratio, "(p - 1)/m")
    d.expect(run.fraction, "(p - 1)/(m + p - 1)")
    d.expect(run.held, "min(m, p - s)")


@derivation("pipeline/interleaved", title="v chunks per stage divide the bubble by v", source=MEGATRON)
def interleaved(d):
    run = d.pipeline("interleaved")
    d.expect(run.bubble, "(p - 1)*(t_F + t_B + t_W)/v")
    d.expect(run.ratio, "(p - 1)/(m*v)")
    d.expect(run.fraction, "(p - 1)/(m*v + p - 1)")


@derivation("pipeline/interleaved-memory", title="What interleaving costs in activations", source=HELD)
def interleaved_memory(d):
    s = d.symbol("s")
    chunks, plain = d.pipeline("interleaved", "rule held"), d.pipeline("1f1b", "rule held")
    more = chunks.held.subs(s, 0) / plain.held.subs(s, 0)
    # the paper has 1 + (p - 1)/(p v) for the first stage
    d.number("m_ratio", more, values={"p": 4, "v": 2, "m": 16}, expect="1.375")
    d.number("m_ratio", more, values={"p": 8, "v": 3, "m": 64}, expect="1.2917")


@derivation("pipeline/zb-h1", title="Weight gradients in the bubble, in the memory of 1F1B", source=ZERO_BUBBLE)
def zb_h1(d):
    run = d.pipeline("zb-h1")
    d.expect(run.bubble, "(p - 1)*max(t_F, t_B, t_F + t_B - t_W)")
    d.expect(run.held, "min(m, p)")
    d.number("T_bubble", run.bubble, values={"t_F": 2, "t_B": 2, "t_W": 1, "p": 8}, expect="21")


@derivation(
    "pipeline/zb-h2", title="With equal tasks and twice the memory the first stage never waits", source=ZERO_BUBBLE
)
def zb_h2(d):
    run = d.pipeline("zb-h2")
    d.expect(run.bubble, "(p - 1)*max(t_F, t_B - t_F, t_F + t_B - 2*t_W)")
    d.expect(run.first, "(p - 1)*max(0, t_B - t_F, t_F + t_B - 2*t_W)")
    d.expect(run.held, "min(m, 2*p - 1)")
    equal = {d.symbol(name): d.symbol("t") for name in ("t_F", "t_B", "t_W")}
    d.equal(
        "T_first",
        run.first.subs(equal),
        d.symbol("t") - d.symbol("t"),
        "With tasks of equal length t the first stage is busy.",
    )


@derivation("pipeline/microbatches", title="How many microbatches keep the bubble small?", source=GPIPE)
def microbatches(d):
    run = d.pipeline("1f1b", "rule step")
    rest = {d.symbol("p"): d.symbol("n_below") + 1}
    few = d.crossover(run.fraction, "<=", d.symbol("epsilon"), "m", exact=True, rule=rest)
    d.expect(few, "m >= n_below*(1 - epsilon)/epsilon")
    d.evaluate(few, values={"n_below": 7, "epsilon": "1/10"}, expect="63")
    d.plot(
        {f"$p = {each}$": (run.fraction, {"p": each}) for each in (4, 8, 16, 64)},
        "m",
        (1, 1000),
        title="The bubble over the number of microbatches",
        caption="The share of a step in which a stage waits: ten microbatches for every stage leave a tenth.",
        x="microbatches, $m$",
        y="bubble over step",
    )


@derivation("pipeline/hop", title="How many stages hide their hops?", source=MEGATRON)
def hop(d):
    layer = d.program("In[R, D] * W_in[D, F] * W_out[F, D] -> Out[R, D]", passes=["forward"])
    t = d.times(layer)
    sent = d.collective("Permute", "b*R*D", {"Z": d.symbol("Z")})
    stages = d.crossover(d.symbol("L") / d.symbol("p") * t.math, ">=", sent.time, "p", exact=True)
    d.expect(stages, "p <= 2*F*L*W_link/C")
    d.evaluate(stages, on="tpu-v5p", values={"F": 28672, "L": 80}, expect="899.5")


@derivation("pipeline/hop-chunks", title="Interleaving sends v times as often", source=MEGATRON)
def hop_chunks(d):
    layer = d.program("In[R, D] * W_in[D, F] * W_out[F, D] -> Out[R, D]", passes=["forward"])
    t = d.times(layer)
    sent = d.collective("Permute", "b*R*D", {"Z": d.symbol("Z")}, on="h100", axes={"Z": "ib"})
    chunk = d.symbol("L") / (d.symbol("p") * d.symbol("v")) * t.math
    chunks = d.crossover(chunk, ">=", sent.time, "v", exact=True)
    d.expect(chunks, "v <= 2*F*L*W_ib/(C*p)")
    d.evaluate(chunks, on="h100", values={"F": 28672, "L": 80, "p": 8}, expect="29")


@derivation("pipeline/hop-total", title="What all hops of a forward pass take if none is hidden", source=GPUS)
def hop_total(d):
    p, t_F = d.symbol("p"), d.symbol("t_F")
    sent = d.collective("Permute", "b*B*D/m", {"Z": d.symbol("Z")}, axes={"Z": "ib"})
    run = d.pipeline("gpipe", "rule step")
    # the p − 1 boundaries are a pipeline of their own, whose only task is a hop
    alone = {p: p - 1, d.symbol("t_B"): 0, d.symbol("t_W"): 0}
    total = run.step.subs(alone).subs(t_F, sent.time)
    d.equal(
        "T_hops",
        total,
        (d.symbol("m") + p - 2) * sent.time,
        "The boundaries between stages are a pipeline of their own.",
    )
    d.expect(total, "b*B*D*(m + p - 2)/(m*W_ib)")


@derivation("pipeline/fsdp", title="The best number of microbatches when each gathers the weights", source=MEGATRON)
def pipeline_fsdp(d):
    L, p, m, below = (d.symbol(name) for name in ("L", "p", "m", "n_below"))
    layer = d.program(FSDP)
    t = d.times(layer, "both", overlap="sum")
    gathers = d.approximate("T_comms", t.comms, "X >> 1")
    run = d.pipeline("1f1b", "rule step")
    # a microbatch has its share of the arithmetic, and moves all weights of a stage: 1/p of the layers
    one = L / p * (t.math / m + gathers)
    work = d.symbol("t_F") + d.symbol("t_B") + d.symbol("t_W")
    step = (run.step / work * one).subs(p, below + 1)
    d.equal(
        "T_step",
        step,
        L / (below + 1) * (m + below) * (t.math / m + gathers),
        "Below the first stage are n_below more.",
    )
    known = {"X": 64, "B": 4_000_000, "n_below": 7, "L": 80, "D": 8192, "F": 28672}
    best = d.least("T_step", step, "m", on="tpu-v5p", values=known, whole=[8, 16, 32, 64, 128])
    d.expect(best.point, "sqrt(2*n_below*B*W_ici/(b*C*X))")
