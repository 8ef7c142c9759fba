"""How To Scale Your Model, chapter 5: what fits, how long a run takes, and its problems on LLaMA 2-13B."""

from symscale import derivation, machine, training

BOOK = "How To Scale Your Model, ch. 5 [@austin2025]"
DP = "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
POD = "8960"
# bf16 weights and two float32 moments of Adam
STATE = {"b_w": 2, "b_m": 4, "b_v": 4}
V5P = {"C": machine("tpu-v5p").peak("bf16")}
# 4096 chips, three million tokens, a model of 13 billion parameters
SLICE = {"N_chips": 4096, "B": 3_000_000, "P": 13 * 10**9, "L": 40, "D": 5120, "F": 13824, **STATE}


@derivation(
    "training/state", title="Ten bytes per parameter: the largest model that fits without sharding", source=BOOK
)
def state(d):
    each = d.read("b_w + b_m + b_v")
    d.number("bytes_parameter", each, values=STATE, expect="10")
    most = d.crossover(d.symbol("P") * each, "<=", d.read("M_hbm"), "P", exact=True)
    d.expect(most, "P <= M_hbm/(b_w + b_m + b_v)")
    d.evaluate(most, on="tpu-v5p", values=STATE, expect="9.6e9")


@derivation("training/overlap", title="The longer of arithmetic and communication", source=BOOK)
def overlap(d):
    layer = d.program(DP, passes=["forward", "backward"])
    hidden(d, layer, "backward", "X >> 1", "8*D*F*max(B/(X*C), 1/W_ici)")
    both = d.program(FSDP, passes=["forward"])
    hidden(d, both, "forward", "X >> 1", "4*D*F*max(B/(X*C), 1/W_ici)")
    wide = d.program(TP, passes=["forward"])
    hidden(d, wide, "forward", "Y >> 1", "max(4*B*D*F/(Y*C), 4*B*D/W_ici)")


def hidden(d, layer, which, limits, wanted):
    """Write down the time of a pass whose communication hides, in bf16 on long axes."""
    t = d.times(layer, which)
    sent = d.approximate("T_comms", t.comms, limits).subs(d.symbol("b"), 2)
    total = d.read("max(p, q)").subs({d.symbol("p"): t.math, d.symbol("q"): sent})
    d.equal("T_total", total, d.read(wanted), "In bf16, one behind the other.")
    d.expect(total, wanted)


@derivation("training/comms-per-flop", title="The forward pass sends the most per FLOP", source=BOOK)
def comms_per_flop(d):
    layer = d.program(MIXED, passes=["forward", "backward"])
    sent = []
    for name in ("forward", "backward"):
        cost = layer.costs[name]
        moved = sum(cost.comm_bytes().values())
        long = d.approximate(f"bytes_{name}", moved, "X >> 1; Y >> 1")
        sent.append(long.subs(d.symbol("b"), 2) / cost.total_flops)
    difference = sent[0] - sent[1]
    d.equal("difference", difference.expand(), difference, "Bytes per FLOP in bf16, forward less backward.")
    d.expect(difference, "Y/(2*F)")


@derivation("training/mixed-parts", title="What FSDP and tensor parallelism each add to a mixed mesh", source=BOOK)
def mixed_parts(d):
    layer = d.program(MIXED, axes={"X": d.symbol("M_X"), "Y": d.symbol("M_Y")}, passes=["forward"])
    t = d.times(layer)
    two = {d.symbol("b"): d.read("2")}
    gathers = d.approximate("T_fsdp", t.axes["X"], "X >> 1").subs(two)
    products = d.approximate("T_tp", t.axes["Y"], "Y >> 1").subs(two)
    d.equal("T_fsdp", gathers, d.read("4*D*F/(Y*W_ici*M_X)"), "In bf16: it shrinks as Y grows.")
    d.equal("T_tp", products, d.read("4*B*D/(X*W_ici*M_Y)"), "In bf16: it shrinks as X grows.")
    for part, axis in ((gathers, d.symbol("Y")), (products, d.symbol("X"))):
        d.equal("exponent", axis * part.diff(axis) / part, d.read("-1"), f"How it falls with {axis}.")
    longer = d.read("max(p, q)").subs({d.symbol("p"): gathers, d.symbol("q"): products})
    share = longer / t.math
    d.equal("share", share, d.read("max(F/(Y*M_X), B/(X*M_Y))*X*Y*C/(W_ici*B*F)"), "Below 1 where it hides.")
    mesh = {d.symbol("Y"): d.read("N_chips/X")}
    margin = (t.math - gathers - products).subs(mesh) * d.read("X*W_ici/(4*D)")
    text = "What is left if the axes take turns, in units of 4 D/(X W): a quadratic in X."
    d.equal("margin", margin.expand(), margin, text)
    d.expect(margin, "X*B*F*W_ici/(N_chips*C) - X^2*F/(N_chips*M_X) - B/M_Y")


@derivation(
    "training/ratio", title="At the best mesh compute grows over communication as the root of the batch", source=BOOK
)
def ratio(d):
    layer = d.program(MIXED, axes={"X": d.symbol("M_X"), "Y": d.symbol("M_Y")}, passes=["forward"])
    t = d.times(layer)
    best = d.optimise(layer, t, "X", subject_to="X*Y = N_chips", solve="B")
    math = t.math.subs(d.symbol("Y"), d.read("N_chips/X"))
    least = best.value.subs(d.symbol("b"), 2)
    share = math / least
    d.equal("ratio", share, d.read("W_ici/C*sqrt(B*F*M_X*M_Y/N_chips)"), "Arithmetic over communication, in bf16.")
    d.expect(share, "sqrt(B*F*M_X*M_Y/N_chips)*W_ici/C")
    four = share.subs(d.symbol("B"), d.read("4*B")) / share
    d.equal("growth", four, d.read("2"), "Four times the batch doubles it: an exponent of 1/2.")


@derivation("training/pipeline-hop", title="A pipeline sends the activations of one boundary", source=BOOK)
def pipeline_hop(d):
    moved = d.send("b*B*D", hop="T_hop")
    long = d.approximate("T_comms", moved, "T_hop << b*B*D/W_link").subs(d.symbol("b"), 2)
    d.expect(long, "2*B*D/W_link")


@derivation("training/tp-forms", title="A gather and a scatter of D replace AllReduces of D and F", source=BOOK)
def tp_forms(d):
    layer = d.program(TP, passes=["forward"])
    sent = d.approximate("bytes_tp", sum(layer.costs["forward"].comm_bytes().values()), "Y >> 1")
    naive = d.program(
        "In[B, D_Y] * W_in[D_Y, F] -> Tmp[B, F]; Tmp -> H[B, F_Y]; H * W_out[F_Y, D] -> Out[B, D]", passes=["forward"]
    )
    twice = d.approximate("bytes_naive", sum(naive.costs["forward"].comm_bytes().values()), "Y >> 1")
    d.expect(sent, "2*b*B*D")
    d.expect(twice, "2*b*B*D + 2*b*B*F")


@derivation("training/run", title="LLaMA 3-70B in 17 days: as many chips as the batch feeds", source=BOOK)
def run(d):
    known = {"P": 70 * 10**9, "tokens": 15 * 10**12, "B": 16_000_000, "mfu": "1/2", **V5P}
    flops = d.read("6*P*tokens")
    d.number("FLOPs_total", flops, values=known, expect="6.3e24")
    layer = d.program(FSDP, axes={"X": 3}, passes=["forward"])
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "X", passes="forward", resource="ici")
    chips = d.evaluate(chips, on="tpu-v5p", values={"B": 16_000_000}, expect="18824")
    d.number("pods", d.read(f"N_chips/{POD}"), values={"N_chips": chips.value}, expect="2.1")
    days = flops / d.read("N_chips*C*mfu*86400")
    d.number("days", days, values={**known, "N_chips": chips.value}, expect="17")


@derivation("training/across-pods", title="Two million tokens on two pods", source=BOOK)
def across_pods(d):
    d.number("hosts", d.read(f"{POD}/4"), expect="2240")
    d.number("W_dcn", d.read("W_dcn"), on="tpu-v5p", expect="6.25e9")
    ways = d.program(TP, passes=["forward"])
    t = d.times(ways)
    d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.evaluate(on="tpu-v5p", values={"F": 30000}, expect="11.8")
    data = d.program(FSDP, axes={"X": 3}, passes=["forward"])
    t = d.times(data)
    chips = d.crossover(t.math, ">=", t.comms, "X", passes="forward", resource="ici")
    chips = d.evaluate(chips, on="tpu-v5p", values={"B": 2_000_000}, expect="2353")
    d.number("pods", d.read(f"N_chips/{POD}"), values={"N_chips": chips.value}, expect="0.263")
    best = mixed(d)
    d.evaluate(on="tpu-v5p", values={"F": 30000}, expect="108")
    d.number("X", best.point, values={"B": 1_000_000, "F": 30000, "N_chips": 8192}, expect="739")
    d.number("B_pod", d.read("B/2"), values={"B": 2_000_000}, expect="1e6")
    d.number("B_chip", d.read(f"B/{POD}"), values={"B": 1_000_000}, expect="112")


def mixed(d):
    """Find the best mesh of FSDP over two physical axes with tensor parallelism over one, and the least batch."""
    layer = d.program(MIXED, axes={"X": 2, "Y": 1}, passes=["forward"])
    t = d.times(layer)
    return d.optimise(layer, t, "X", subject_to="X*Y = N_chips", solve="B")


@derivation("training/llama2-13b", title="Question 1: the parameters of LLaMA 2-13B", source=BOOK)
def llama2_13b(d):
    found = training(d, "llama2-13b", show="parameters")
    parts = found.parameters
    d.number("P_MLP", parts["MLP"], values=found.values, expect="8.5e9")
    d.number("P_attention", parts["attention"], values=found.values, expect="4.2e9")
    d.number("P_tables", parts["embedding"] + parts["unembedding"], values=found.values, expect="0.33e9")
    d.number("P", sum(parts.values()), values=found.values, expect="13.0e9")


def held(d):
    """Return what training holds, with the results of three products per layer: two of F, one of D, in bf16."""
    return d.read("P*(b_w + b_m + b_v)"), d.read("2*L*B*(D + 2*F)")


@derivation(
    "training/llama2-13b-memory", title="Question 2: checkpoints outweigh parameters at 16 million tokens", source=BOOK
)
def llama2_13b_memory(d):
    layer = d.program(
        "In[B, D] * W_gate[D, F] -> g[B, F]; In * W_up[D, F] -> u[B, F]; "
        "act(g) .* u -> h[B, F]; h * W_out[F, D] -> Out[B, D]",
        passes=["forward"],
    )
    made = d.shards(layer, "g", "u", "Out")
    weights, kept = held(d)
    d.equal("M_kept", 2 * d.symbol("L") * sum(made.values()), kept, "The results of the three products, in bf16.")
    d.number("M_state", weights, values=SLICE, expect="130e9")
    d.number("M_kept", kept, values={**SLICE, "B": 16_000_000}, expect="42e12")
    d.number("M", weights + kept, values={**SLICE, "B": 16_000_000}, expect="42.1e12")


@derivation("training/llama2-13b-mesh", title="Question 3: 3 million tokens on 4096 chips", source=BOOK)
def llama2_13b_mesh(d):
    weights, kept = held(d)
    d.number("sequences", d.read("B/T"), values={"B": 3 * 2**20, "T": 2**15}, expect="96")
    d.number("M_slice", d.read("N_chips*M_hbm"), on="tpu-v5p", values={"N_chips": 4096}, expect="393e12")
    d.number("share", weights / d.read("M_hbm"), on="tpu-v5p", values=SLICE, expect="1.35")
    d.number("M_kept", kept, values=SLICE, expect="7.86e12")
    d.number("M", weights + kept, values=SLICE, expect="8.0e12")
    d.number("M_chip", (weights + kept) / d.read("N_chips"), values=SLICE, expect="1.95e9")
    data = d.program(FSDP, axes={"X": 3}, passes=["forward"])
    t = d.times(data)
    d.crossover(t.math, ">=", t.comms, "B", passes="forward", resource="ici")
    least = d.evaluate(on="tpu-v5p", expect="850")
    d.number("B", least.value * d.read("N_chips"), values=SLICE, expect="3.48e6")
    d.number("B_chip", d.read("B/N_chips"), values=SLICE, expect="732")
    best = mixed(d)
    d.evaluate(on="tpu-v5p", values={"F": 13824}, expect="235")
    d.number("X", best.point, values=SLICE, expect="1333")
    d.number("Y", d.read("N_chips/X"), values={"N_chips": 4096, "X": 1024}, expect="4")
    spent = d.read("6*B*P/(N_chips*C*mfu)")
    d.number("T_step", spent, values={**SLICE, **V5P, "mfu": "2/5"}, expect="311e-3")


@derivation("training/llama2-13b-batches", title="Question 4: the same with 1 and with 10 million tokens", source=BOOK)
def llama2_13b_batches(d):
    best = mixed(d)
    d.evaluate(on="tpu-v5p", values={"F": 13824}, expect="235")
    for batch, each, ways in ((1_000_000, "244", "770"), (10_000_000, "2441", "2434")):
        d.number("B_chip", d.read("B/N_chips"), values={"B": batch, "N_chips": 4096}, expect=each)
        d.number("X", best.point, values={"B": batch, "N_chips": 4096, "F": 13824}, expect=ways)
