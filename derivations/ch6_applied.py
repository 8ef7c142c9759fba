"""How To Scale Your Model, chapter 6: training LLaMA 3 on TPU v5p."""

from symscale import derivation, machine, training

BOOK = "How To Scale Your Model, ch. 6 [@austin2025]"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
POD = {"N_chips": 16 * 20 * 28}
PEAK = {"C": machine("tpu-v5p").peak("bf16")}
# the chapter's round numbers: parameters, tokens of the run, MFU
RUN = {"P": 70 * 10**9, "tokens": 15 * 10**12, "mfu": "2/5", **PEAK, **POD}
BATCH = 1024 * 4096
YEAR = 365 * 86400


def total(d, found):
    """Return all parameters, and write the number down."""
    whole = sum(found.parameters.values())
    return d.number("P", whole, values=found.values)


def seconds(d):
    """Return how long a run takes at an MFU."""
    return d.read("6*P*tokens/(N_chips*C*mfu)")


def mixed(d):
    """Find the best mesh of FSDP over two physical axes with tensor parallelism over one, and the least batch."""
    layer = d.program(MIXED, axes={"X": 2, "Y": 1}, passes=["forward"])
    t = d.times(layer)
    return d.optimise(layer, t, "X", subject_to="X*Y = N_chips", solve="B")


@derivation("llama3/parameters", title="Four fifths of LLaMA 3-70B are its MLPs", source=BOOK)
def parameters(d):
    found = training(d, "llama3-70b", show="parameters")
    parts = found.parameters
    d.number("P_MLP", parts["MLP"], values=found.values, expect="56.4e9")
    d.number("P_tables", parts["embedding"] + parts["unembedding"], values=found.values, expect="2.1e9")
    d.number("P_attention", parts["attention"], values=found.values, expect="12e9")
    d.number("P", sum(parts.values()), values=found.values)
    d.number("share", parts["MLP"] / sum(parts.values()), values=found.values, expect="0.8")
    whole = sum(parts.values())
    sums = {
        "MLP": parts["MLP"],
        "vocabulary": parts["embedding"] + parts["unembedding"],
        "attention": parts["attention"],
        "norms": parts["norms"],
    }
    d.table(
        "Parameters by part",
        {"formula": "", "params": "params", "percent": 100 * d.read("params") / whole},
        rows={name: {"formula": form, "params": form} for name, form in sums.items()} | {"total": {"params": whole}},
        of="part",
        values=found.values,
        expect={"params": ("56.4e9", "2.1e9", "12e9", None, None)},
        units={"percent": "%"},
    )
    d.number("ratio", d.read("F/D"), values=found.values, expect="3.5")


@derivation("llama3/flops", title="Half a teraflop per token", source=BOOK)
def flops(d):
    found = training(d, "llama3-70b", show="step", causal=False)
    d.number("FLOPs_token", d.read("6*P"), values=RUN, expect="4.2e11")
    products = sum(form for part, form in found.step.items() if part != "scores") / d.symbol("B")
    d.number("FLOPs_token", products, values=found.values, expect="4.17e11")
    scores = found.step["scores"] / d.symbol("B")
    d.number("FLOPs_scores", scores, values={**found.values, "T": 4096}, expect="3.2e10")
    d.number("T_token", d.read("6*P/C"), values=RUN, expect="0.92e-3")
    d.number("FLOPs_total", d.read("6*P*tokens"), values=RUN, expect="6.3e24")
    again = training(d, "llama3-70b", show="step", causal=False, remat="full")
    weights = sum(again.parameters[part] for part in ("MLP", "attention"))
    layers = sum(again.step[part] for part in ("MLP", "attention"))
    d.equal("FLOPs_again", layers / d.symbol("B"), 8 * weights, "With every layer computed again: 8 per parameter.")


@derivation("llama3/time", title="LLaMA 3-70B: 435 years on a chip, 44 days on a pod", source=BOOK)
def time(d):
    alone = d.read("6*P*tokens/C") / YEAR
    d.number("years", alone, values=RUN, expect="435")
    d.number("N_chips", d.read("N_chips"), values=POD, expect="8960")
    d.number("T_run", seconds(d), values=RUN, expect="3.8e6")
    d.number("days", seconds(d) / 86400, values=RUN, expect="44")
    few = {**RUN, "N_chips": 117}
    d.number("days", seconds(d) / 86400, values=few, expect="3394")
    d.number("years", seconds(d) / YEAR, values=few, expect="9.3")


@derivation("llama3/memory", title="Weights, Adam and two checkpoints per layer fit on 117 chips", source=BOOK)
def memory(d):
    known = {"P": 70 * 10**9, "D": 8192, "B": 4 * 10**6, "L": 80, "n": 2, **POD}
    weights, moments, kept = d.read("2*P"), d.read("8*P"), d.read("2*D*B*n*L")
    d.number("M_weights", weights, values=known, expect="140e9")
    d.number("M_state", moments, values=known, expect="560e9")
    d.number("M_kept", kept, values=known, expect="10.5e12")
    held = weights + moments + kept
    d.number("M", held, values=known, expect="11.2e12")
    chips = d.crossover(held, "<=", d.read("N_chips*M_hbm"), "N_chips", exact=True)
    d.evaluate(chips, on="tpu-v5p", values={each: known[each] for each in ("P", "D", "B", "L", "n")}, expect="117")
    d.number("M_chip", held / d.read("N_chips"), values=known, expect="1.25e9")
    d.number("M_chip", held / d.read("N_chips"), values={**known, "n": 12}, expect="7.1e9")


@derivation("llama3/memory-first", title="The same with four checkpoints per layer", source=BOOK)
def memory_first(d):
    known = {"P": 70 * 10**9, "D": 8192, "B": 4 * 10**6, "L": 80}
    kept = d.read("2*D*B*n*L")
    d.number("M_kept", kept, values={**known, "n": 4}, expect="20.97e12")
    d.number("M_kept", kept, values={**known, "n": 3}, expect="15.7e12")
    held = d.read("10*P") + kept
    d.number("M", held, values={**known, "n": 4}, expect="21.7e12")
    chips = d.crossover(held, "<=", d.read("N_chips*M_hbm"), "N_chips", exact=True)
    d.evaluate(chips, on="tpu-v5p", values={**known, "n": 4}, expect="226")
    for few, days in ((171, "2323"), (225, "1765")):
        d.number("days", seconds(d) / 86400, values={**RUN, "N_chips": few}, expect=days)
        d.number("years", seconds(d) / YEAR, values={**RUN, "N_chips": few})
    d.number("M_chip", held / d.read("N_chips"), values={**known, **POD, "n": 4}, expect="2.42e9")


@derivation(
    "llama3/mesh",
    title="4 million tokens on 8960 chips: FSDP alone waits, with tensor parallelism it does not",
    source=BOOK,
)
def mesh(d):
    d.number("B", d.read("1024*T"), values={"T": 4096}, expect="4.2e6")
    d.number("sequences", d.read("B/T"), values={"B": BATCH, "T": 4096}, expect="1024")
    d.number("B_chip", d.read("B/N_chips"), values={"B": BATCH, **POD}, expect="468")
    data = d.program(FSDP, axes={"X": 3}, passes=["forward"])
    t = d.times(data)
    d.crossover(t.math, ">=", t.comms, "B", passes="forward", resource="ici")
    d.evaluate(on="tpu-v5p", expect="850")
    best = mixed(d)
    d.evaluate(on="tpu-v5p", values={"F": 28672}, expect="113")
    d.number("X", best.point, values={"B": BATCH, "F": 28672, **POD}, expect="1619")
    d.number("N_chips", d.read("X*Y"), values={"X": 2048, "Y": 4}, expect="8192")


@derivation("llama3/four-pods", title="Question 1: the same batch on four pods", source=BOOK)
def four_pods(d):
    d.number("B_chip", d.read("B/(4*N_chips)"), values={"B": BATCH, **POD}, expect="117")
    between = d.program("In[B_{P,X}, D] * W[D_X, F] -> Out[B_{P,X}, F]", axes={"P": "dcn"})
    t = d.times(between, "backward")
    d.crossover(t.math, ">=", t.networks["dcn"], "B", passes="backward", resource="dcn")
    d.evaluate(on="tpu-v5p", expect="73440")
    d.number("B_pod", d.read("B/4"), values={"B": BATCH}, expect="1.05e6")
    best = mixed(d)
    inside = {"B": BATCH // 4, "F": 28672, **POD}
    d.number("X", best.point, values=inside, expect="810")
    layer = d.program(MIXED, axes={"X": 2, "Y": 1}, passes=["forward"])
    d.optimise(layer, d.times(layer), "X", subject_to="X*Y = N_chips", on="tpu-v5p", values=inside)
    days = seconds(d) / (4 * 86400)
    d.number("days", days, values=RUN, expect="11.1")


@derivation("llama3/405b", title="Question 2: LLaMA 3-405B on eight pods", source=BOOK)
def llama3_405b(d):
    found = training(d, "llama3-405b", show="parameters")
    whole = total(d, found)
    run = {**RUN, "P": whole}
    d.number("FLOPs_token", d.read("6*P"), values=run, expect="2.435e12")
    d.number("FLOPs_total", d.read("6*P*tokens"), values=run, expect="3.65e25")
    best = mixed(d)
    d.evaluate(on="tpu-v5p", values={"F": 53248}, expect="61.06")
    d.number("B_chip", d.read("B/(8*N_chips)"), values={"B": BATCH, **POD}, expect="58.5")
    d.number("B_pod", d.read("B/8"), values={"B": BATCH}, expect="524e3")
    d.number("X", best.point, values={"B": 2_000_000, "F": 53248, **POD}, expect="820")
    d.number("days", seconds(d) / (8 * 86400), values=run, expect="32.1")
