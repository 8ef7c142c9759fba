"""How To Scale Your Model, chapter 7: how inference is split over chips, and when more of them no longer help."""

from symscale import derivation, evicted_per_step, finished_per_second, inference, machine

BOOK = "How To Scale Your Model, ch. 7 [@austin2025]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
# D over all axes between the layers; inside, each axis of a weight stays where it is
STATIONARY = """In[B, D_{X,Y,Z}] -> G[B, D_X]
G * W_in[D_X, F_{Y,Z}] -> Tmp[B, F_{Y,Z,X}]
Tmp -> H[B, F_{Y,Z}]
H * W_out[F_{Y,Z}, D_X] -> Out[B, D_{X,Y,Z}]"""
# keys and values: heads over Y, sequences over Z; queries change from heads over Y and Z to that, and back
CACHE = """Q[B, K_Y, G_Z, H] -> q[B_Z, K_Y, G, H]
q * const k[B_Z, S, K_Y, H] -> a[B_Z, K_Y, G, S]
softmax_S(a) -> p[B_Z, K_Y, G, S]
p * const v[B_Z, S, K_Y, H] -> o[B_Z, K_Y, G, H]
o -> O[B, K_Y, G_Z, H]
O * W_O[K_Y, G_Z, H, D] -> y[B, D]"""


@derivation("inference/prefill-tp", title="How many chips can share a prefill?", source=BOOK)
def prefill_tp(d):
    layer = d.program(TP, passes=["forward"])
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.expect(chips, "Y <= F*W_ici/C")
    d.number("alpha", d.read("C/W_ici"), on="tpu-v5e", values={"C": machine("tpu-v5e").peak("bf16")}, expect="2189")
    d.evaluate(chips, on="tpu-v5e", values={"F": 16384}, expect="7.485")


@derivation("inference/decode-tp", title="When does a larger slice no longer make decoding faster?", source=BOOK)
def decode_tp(d):
    layer = d.program(TP, axes={"Y": d.symbol("M_Y")}, passes=["forward"])
    t = d.times(layer)
    sent = d.approximate("T_comms", t.comms, "Y >> 1")
    read = d.approximate("T_hbm", t.hbm, "B*Y << F; B << D")
    d.expect(read, "2*b*D*F/(Y*W_hbm)")
    d.expect(sent, "2*b*B*D/(M_Y*W_ici)")
    chips = d.crossover(sent, ">=", read, "Y", exact=True)
    d.expect(chips, "Y >= M_Y*F*W_ici/(B*W_hbm)")
    d.number("beta", d.read("W_hbm/W_ici"), on="tpu-v5e", expect="9.11")
    d.evaluate(chips, on="tpu-v5e", values={"F": 16384, "B": 32, "M_Y": 1}, expect="56.2")


@derivation("inference/decode-tp-model", title="Two branches per layer: the same for a whole model", source=BOOK)
def decode_tp_model(d):
    llama = inference(d, "llama2-13b")
    branch = d.program("x[B, D_Y] -> g[B, D]; o[B, D]{U_Y} -> y[B, D_Y]", passes=["forward"])
    sent = d.approximate("T_comms", 2 * d.symbol("L") * d.times(branch).comms, "Y >> 1")
    read = (llama.decode.weight_bytes + llama.decode.cache_bytes) / d.read("Y*W_hbm")
    chips = d.crossover(sent, ">=", read, "Y", exact=True)
    known = {**llama.values, "b_w": 2, "b_kv": 2, "b": 2, "S": 8192}
    few = d.evaluate(chips, on="tpu-v5e", values={**known, "B": 8})
    d.evaluate(few, on="tpu-v5e", values={**known, "B": 64})


@derivation(
    "inference/int8-no-wraparound", title="Tensor parallelism in int8 on a 4x4 slice, which has no rings", source=BOOK
)
def int8_no_wraparound(d):
    layer = d.program(TP, dtype="int8", axes={"Y": d.symbol("M_Y")}, passes=["forward"])
    t = d.times(layer)
    ring = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.expect(ring, "Y <= 2*M_Y*F*W_ici/C")
    line = ring.headline.solution.cases[0].intervals[0].hi.subs(d.symbol("W_ici"), d.symbol("W_link"))
    d.remark("Without wraparound an axis passes half of what a ring does: W_link for W_ici.")
    known = {"C": machine("tpu-v5e").peak("int8"), "F": 16384, "M_Y": 2, "b": 1}
    d.number("W_link", d.read("W_link"), on="tpu-v5e", expect="45e9")
    d.number("Y", line, on="tpu-v5e", values=known, expect="7.49")


@derivation(
    "inference/cache-sharding", title="A cache split by sequences costs two AllToAlls of one token", source=BOOK
)
def cache_sharding(d):
    keys = d.program("q[B_Z, K_Y, H] * const k[B_Z, S, K_Y, H] -> a[B_Z, S, K_Y]", passes=["forward"])
    read = d.approximate("M_keys", keys.costs["forward"].hbm_bytes, "S >> 1; H >> 1")
    d.equal("M_kv", 2 * read, d.read("2*b*B*S*K*H/(Y*Z)"), "A chip's keys and values.")
    text = "With a head of keys per chip along Y, the rest of the chips share the sequences."
    d.remark(text)
    d.number("Z", d.read("N_chips/K"), values={"N_chips": 16, "K": 8}, expect="2.0")
    layer = d.program(CACHE, passes=["forward"])
    d.collectives(layer)
    kinds = [each.collective.kind for each in layer.costs["forward"].transfers]
    moved = layer.costs["forward"].transfers[0].volume / d.symbol("Z")
    heads = {d.symbol("G"): d.read("N_heads/K")}
    text = f"A chip holds this of the queries; the collectives are {', '.join(kinds)}."
    d.equal("M_queries", moved.subs(heads), d.read("b*B*N_heads*H/(Y*Z)"), text)


@derivation(
    "inference/two-dimensional", title="Two-dimensional weight-stationary sharding: the square root", source=BOOK
)
def two_dimensional(d):
    flat = d.program(TP, axes={"Y": 3}, passes=["forward"])
    one = d.approximate("T_flat", d.times(flat).comms, "Y >> 1")
    d.expect(one, "2*b*B*D/(3*W_ici)")
    layer = d.program(STATIONARY, passes=["forward"])
    d.counts(layer)
    t = d.times(layer, overlap="axes-serial")
    long = d.approximate("T_comms", t.comms, "X >> 1; Y >> 1; Z >> 1")
    chips = {d.symbol("Y"): d.read("N_chips/(X*Z)")}
    sent = long.subs(chips)
    d.equal("T_comms", sent, d.read("b*B*D/(X*W_ici) + 2*b*B*F*X/(N_chips*W_ici)"), "With X Y Z = N_chips.")
    math = t.math.subs(chips)
    d.equal("T_math", math, d.read("4*B*D*F/(N_chips*C)"), "With X Y Z = N_chips.")
    best = d.least("T_comms", sent, "X")
    d.expect(best.point, "sqrt(D*N_chips/(2*F))")
    d.equal("Y_Z", d.read("N_chips") / best.point, d.read("sqrt(2*F*N_chips/D)"), "The size of Y and Z together.")
    four = {d.symbol("F"): d.read("4*D"), d.symbol("b"): d.read("2")}
    d.equal("X", best.point.subs(four), d.read("sqrt(N_chips/8)"), "With F = 4 D.")
    d.equal("T_comms", best.value.subs(four), d.read("sqrt(128)*B*D/(sqrt(N_chips)*W_ici)"), "With F = 4 D in bf16.")
    unit = d.read("B*D/(sqrt(N_chips)*W_ici)")
    d.number("coefficient", best.value.subs(four) / unit, expect="11.3")
    fewer = best.value.subs(d.symbol("N_chips"), d.read("4*N_chips")) / best.value
    d.equal("growth", fewer, d.read("1/2"), "Four times the chips halve it: an exponent of -1/2.")
    least = d.crossover(one, ">", best.value, "N_chips", exact=True, title="Where two dimensions send less")
    d.expect(least, "N_chips > 18*F/D")
    d.evaluate(least, values={"D": 8192, "F": 32768}, expect="72")


@derivation("inference/latency-bound", title="Small activations are bound by the latency of hops", source=BOOK)
def latency_bound(d):
    gathered = d.collective("AllGather", "M_array", {"Y": d.symbol("Y")}, latency=True)
    size = d.crossover(d.read("M_array/(Y*W_link)"), "<", d.read("T_hop"), "M_array", exact=True, title="Per shard")
    d.expect(size, "M_array < Y*W_link*T_hop")
    d.evaluate(size, on="tpu-v5e", values={"Y": 8}, expect="360e3")
    d.number("M_array", d.read("B*D"), values={"B": 16, "D": 8192}, expect="131e3")
    chips = d.crossover(d.read("b*B*D/(Y*W_link)"), "<", d.read("T_hop"), "Y", exact=True, title="In int8, b = 1")
    d.expect(chips, "Y > b*B*D/(W_link*T_hop)")
    d.evaluate(chips, on="tpu-v5e", values={"B": 16, "D": 8192, "b": 1}, expect="2.91")
    d.equal("T_comms", gathered.time, d.read("M_array*(Y - 1)/(Y*W_ici)"), "The bytes alone.")


@derivation(
    "inference/disaggregated",
    title="How many prefill servers does a decode server need?",
    source="How To Scale Your Model, ch. 8 [@austin2025]",
)
def disaggregated(d):
    ended = finished_per_second()
    d.expect(ended, "B/(T_step*T_gen)")
    ratio = d.crossover(
        d.read("N_prefill/T_prefill"), ">=", d.symbol("N_decode") * ended, "N_prefill/N_decode", exact=True
    )
    d.expect(ratio, "N_prefill/N_decode >= B*T_prefill/(T_step*T_gen)")
    times = {"T_prefill": d.read("91/100"), "T_step": d.read("19/1000")}
    d.evaluate(ratio, values={"B": 32, "T_gen": 512, **times}, expect="2.99")
    text = "A sequence ends every T_gen/B steps, and with it all of its tokens."
    d.equal("evicted", evicted_per_step(), d.read("B*(T_prompt + T_gen)/T_gen"), text)
    d.number("evicted", evicted_per_step(), values={"B": 32, "T_prompt": 8192, "T_gen": 4096}, expect="96")
    d.number("ended", d.read("B/T_gen"), values={"B": 32, "T_gen": 4096}, expect="0.0078")


@derivation(
    "inference/chunked-prefill",
    title="A chunk of a prompt is free while the weights are read",
    source="Agrawal et al. 2023, SARATHI [@agrawal2023]",
)
def chunked_prefill(d):
    llama = inference(d, "llama3-70b")
    tokens, chunk = d.read("B"), d.read("B + T_chunk")
    math = llama.step.weight_math.subs(tokens, chunk)
    free = d.crossover(math, "<=", llama.step.weight_read, "T_chunk", exact=True)
    known = {**llama.values, "b_w": 1, "C": machine("tpu-v5e").peak("bf16")}
    d.evaluate(free, on="tpu-v5e", values={**known, "B": 32}, expect="88.1")
