"""How To Scale Your Model, chapter 4: what a transformer computes and holds, counted from its products."""

from symscale import derivation, inference, machine, summed, training

BOOK = "How To Scale Your Model, ch. 4 [@austin2025]"
CONTRACTION = "A[G, H, I, J, K, L] * W[G, H, M, N, K, L] -> Y[G, H, I, J, M, N]"
GATED = """x[B, T, D] * W_in1[D, F] -> g[B, T, F]; x * W_in2[D, F] -> u[B, T, F]
act(g) .* u -> h[B, T, F]
h * W_out[F, D] -> y[B, T, D]"""
PROJECTIONS = """x[B, T, D] * W_Q[D, K, G, H] -> q[B, T, K, G, H]
x * W_K[D, K, H] -> k[B, T, K, H]; x * W_V[D, K, H] -> v[B, T, K, H]
activation o[B, T, K, G, H] * W_O[K, G, H, D] -> y[B, T, D]"""
SCORES = "q[B, T, K, G, H] * activation k[B, S, K, H] -> a[B, T, S, K, G]"
VALUES = "p[B, T, S, K, G] * activation v[B, S, K, H] -> o[B, T, K, G, H]"
ATTENTION = f"{SCORES}; softmax_S(a) -> p[B, T, S, K, G]; p * activation v[B, S, K, H] -> o[B, T, K, G, H]"
# sequences of S = T tokens, N query heads of H = D/N
SQUARE = {"F": "4*D", "K": "D/H", "N_heads": "D/H"}
# the model of question 1
SMALL = {"D": 4096, "F": 16384, "V": 32000, "L": 64, "H": 128, "K": 32, "N_heads": 32}
# DeepSeek-V3: active parameters, tokens, hours of H800s at half of the peak that sparse operands reach
DEEPSEEK = {"P": "37*10^9", "tokens": "148*10^11", "hours": "279*10^4", "C": "3026*10^12/2"}


def put(d, expr, values):
    """Return an expression with formulas such as {"F": "4*D"} put in."""
    return expr.subs({d.symbol(name): d.read(text) for name, text in values.items()})


def both(d, layer):
    """Write down the work of the forward and of the backward pass; return that of both together."""
    for name in ("forward", "backward"):
        d.counts(layer, name)
    return layer.costs["forward"].total_flops + layer.costs["backward"].total_flops


def reads(d, layer):
    """Write down how many elements a product reads: what it touches, less its result."""
    inputs, (result,) = layer.program.leaves, layer.program.outputs
    held = d.shards(layer, *inputs, result)
    touched = layer.costs["forward"].hbm_bytes / d.symbol("b")
    d.equal("elements_read", sum(held[each] for each in inputs), touched - held[result], "Without the result.")


def trained(d, text, whole):
    """Write a program down and compare the FLOPs of training it with what the chapter says."""
    layer = d.program(text, passes=["forward", "backward"])
    flops = both(d, layer)
    d.equal("FLOPs_training", flops, 3 * layer.costs["forward"].total_flops, "Three times the forward pass.")
    d.expect(flops, whole)
    return layer


@derivation("transformer/dot", title="A dot product reads as much as it computes", source=BOOK)
def dot(d):
    layer = d.program("x[P] * y[P] -> s[]", passes=["forward"])
    d.counts(layer)
    d.expect(layer.costs["forward"].total_flops, "2*P")
    reads(d, layer)


@derivation("transformer/matrix-vector", title="A matrix times a vector", source=BOOK)
def matrix_vector(d):
    layer = d.program("A[N, P] * x[P] -> y[N]", passes=["forward"])
    d.counts(layer)
    d.expect(layer.costs["forward"].total_flops, "2*N*P")
    reads(d, layer)


@derivation("transformer/matrices", title="Training a product of matrices takes three times its own work", source=BOOK)
def matrices(d):
    layer = trained(d, "A[N, P] * W[P, M] -> Y[N, M]", "6*N*P*M")
    reads(d, layer)
    one, back = (layer.costs[name].total_flops for name in ("forward", "backward"))
    d.equal("ratio", (one + back) / one, d.read("3"), "Training over inference.")


@derivation("transformer/square", title="A product of square matrices: N³ against N²", source=BOOK)
def square(d):
    layer = d.program("A[N, P] * W[P, M] -> Y[N, M]", passes=["forward"])
    d.counts(layer)
    size = {"P": "N", "M": "N"}
    cost = layer.costs["forward"]
    ratio = put(d, cost.total_flops, size) / (put(d, cost.hbm_bytes, size) / d.symbol("b"))
    d.equal("FLOPs_element", ratio, d.read("2*N/3"), "Per element read or written; N where only what is read counts.")


@derivation("transformer/contraction", title="Batch dimensions count once, contracted ones too", source=BOOK)
def contraction(d):
    layer = d.program(CONTRACTION, passes=["forward"])
    d.counts(layer)
    d.expect(layer.costs["forward"].total_flops, "2*G*H*I*J*K*L*M*N")
    reads(d, layer)


@derivation("transformer/mixed-contraction", title="Question 3: two dimensions contract", source=BOOK)
def mixed_contraction(d):
    layer = d.program("A[I, J, K, L] * W[I, J, M, N, O] -> Y[K, L, M, N, O]", passes=["forward"])
    d.counts(layer)
    d.expect(layer.costs["forward"].total_flops, "2*I*J*K*L*M*N*O")


@derivation("transformer/mlp", title="A gated MLP: 18 B T D F", source=BOOK)
def mlp(d):
    layer = trained(d, GATED, "18*B*T*D*F")
    d.shards(layer, "W_in1", "W_in2", "W_out")


@derivation("transformer/mlp-matrix", title="One matrix of an MLP: 6 B T D F", source=BOOK)
def mlp_matrix(d):
    trained(d, "x[B, T, D] * W_in1[D, F] -> g[B, T, F]", "6*B*T*D*F")


@derivation("transformer/projections", title="The projections of attention: 12 B T D (N + K) H", source=BOOK)
def projections(d):
    layer = trained(d, PROJECTIONS, "12*B*T*D*(G*K + K)*H")
    flops = sum(layer.costs[name].total_flops for name in ("forward", "backward"))
    heads = put(d, flops, {"G": "N_heads/K"})
    d.equal("FLOPs_training", heads, d.read("12*B*T*D*(N_heads + K)*H"), "With G = N/K query heads per KV head.")
    d.equal("FLOPs_mha", put(d, heads, {"K": "N_heads"}), d.read("24*B*T*D*N_heads*H"), "With a KV head for each.")


@derivation("transformer/scores", title="Scores and values: 12 B T S N H", source=BOOK)
def scores(d):
    first = trained(d, SCORES, "6*B*T*S*K*G*H")
    pairs = d.shards(first, "a")["a"]
    d.equal("elements_scores", put(d, pairs, {"G": "N_heads/K"}), d.read("B*T*S*N_heads"), "With G = N/K.")
    second = trained(d, VALUES, "6*B*T*S*K*G*H")
    flops = sum(each.costs[name].total_flops for each in (first, second) for name in ("forward", "backward"))
    heads = put(d, flops, {"G": "N_heads/K", "S": "T"})
    d.equal("FLOPs_attention", heads, d.read("12*B*T^2*N_heads*H"), "Self-attention, S = T, with G = N/K.")


@derivation("transformer/causal", title="A causal mask leaves half of the scores", source=BOOK)
def causal(d):
    masked = training(d, "llama2-13b", show="forward").forward["scores"]
    whole = training(d, "llama2-13b", show="forward", causal=False).forward["scores"]
    share = d.approximate("share", masked / whole, "T >> 1")
    d.expect(share, "1/2")


@derivation("transformer/unembedding", title="Making logits: 6 B T D V", source=BOOK)
def unembedding(d):
    trained(d, "x[B, T, D] * W_U[D, V] -> logits[B, T, V]", "6*B*T*D*V")


@derivation("transformer/vector", title="Softmax and norms: FLOPs of the vector units", source=BOOK)
def vector(d):
    softmax = d.program("softmax_S(a[B, T, S, K, G]) -> p[B, T, S, K, G]", passes=["forward"])
    d.counts(softmax)
    norm = d.program("norm_D(x[B, T, D]) .* weight g[D] -> y[B, T, D]", passes=["forward"])
    d.counts(norm)
    gate = d.program("act(g[B, T, F]) .* u[B, T, F] -> h[B, T, F]", passes=["forward"])
    d.counts(gate)


@derivation("transformer/parameters", title="Parameters by part: gated and plain, grouped and not", source=BOOK)
def parameters(d):
    found = training(d, "llama2-13b", show="parameters").parameters
    layers = d.symbol("L")
    d.equal("P_mlp", found["MLP"] / layers, d.read("3*D*F"), "Per layer.")
    attention = found["attention"] / layers
    d.equal("P_qkvo", attention, d.read("2*D*(N_heads + K)*H"), "Per layer.")
    d.equal("P_mha", put(d, attention, {"K": "N_heads"}), d.read("4*D*N_heads*H"), "A KV head for each query head.")
    d.equal("P_norm", found["norms"] - d.symbol("D"), d.read("2*D*L"), "Two per layer, and one at the end.")
    plain = training(d, "falcon-7b").parameters["MLP"] / layers
    d.equal("P_plain", plain, d.read("2*D*F"), "Without a gate, as in Falcon, there are two matrices.")


@derivation("transformer/rule-of-six", title="6 FLOPs per parameter and token", source=BOOK)
def rule_of_six(d):
    found = training(d, "llama2-13b", show="parameters step", causal=False)
    flops, weights = (sum(each[part] for part in ("MLP", "attention")) for each in (found.step, found.parameters))
    d.equal("FLOPs_products", flops, 6 * d.symbol("B") * weights, "Every weight of a product: 2 forward, 4 backward.")
    d.expect(flops, "B*L*(18*D*F + 12*D*(N_heads + K)*H)")


@derivation("transformer/attention-share", title="Scores dominate beyond 8 D tokens", source=BOOK)
def attention_share(d):
    found = training(d, "llama2-13b", show="step", causal=False).step
    products = found["MLP"] + found["attention"]
    ratio = found["scores"] / products
    d.equal("share", ratio, d.read("2*T*N_heads*H/(3*D*F + 2*D*H*(N_heads + K))"), "Scores over products.")
    d.equal("share", put(d, ratio, SQUARE), d.read("T/(8*D)"), "With F = 4 D, D = N H and K = N.")
    scores, rest = (put(d, each, SQUARE) for each in (found["scores"], products))
    length = d.crossover(scores, ">=", rest, "T", exact=True, title="Where scores cost as much as all products")
    d.expect(length, "T >= 8*D")
    length = d.evaluate(length, values={"D": 8192}, expect="65536")
    d.evaluate(length, values={"D": 4608}, expect="37e3")
    d.plot(
        {"scores": scores, "products with weights": rest},
        "T",
        (10**3, 10**6),
        title="Scores and products of a token over the length of its sequence",
        caption="The products cost as much at every length; the scores cost more with every token before.",
        x="length $T$ in tokens",
        y="FLOPs of a token in training",
        marks=[length],
        values={"B": 1, "D": 8192, "L": 80},
    )


@derivation("transformer/attention-block", title="The whole attention block passes the MLP at 4 D already", source=BOOK)
def attention_block(d):
    found = training(d, "llama2-13b", show="step", causal=False).step
    block, mlp = (put(d, each, SQUARE) for each in (found["scores"] + found["attention"], found["MLP"]))
    length = d.crossover(mlp, ">=", block, "T", exact=True, title="Where the MLP dominates")
    d.expect(length, "T <= 4*D")
    layer = put(d, (found["scores"] + found["attention"]) / d.symbol("L"), {"B": "B*T", "K": "N_heads"})
    whole = d.read("24*B*T*D*N_heads*H + 12*B*T^2*N_heads*H")
    d.equal(
        "FLOPs_block", layer.expand(), whole, "Of one layer, with a KV head for each query head and B sequences of T."
    )


@derivation("transformer/scores-projections", title="Question 5: scores pass the projections at 2 D", source=BOOK)
def scores_projections(d):
    found = training(d, "llama2-13b", show="step", causal=False).step
    scores, rest = (put(d, each, SQUARE) for each in (found["scores"], found["attention"]))
    length = d.crossover(scores, ">=", rest, "T", exact=True, title="Where scores cost as much as the projections")
    d.expect(length, "T >= 2*D")
    d.evaluate(length, values={"D": 4096}, expect="8192")


@derivation("transformer/experts", title="Experts: E times the parameters, k times the work", source=BOOK)
def experts(d):
    found = training(d, "mixtral-8x7b", show="parameters active")
    d.expect(found.parameters["experts"], "3*E*D*F_moe*L")
    d.expect(found.active["experts"], "3*k*D*F_moe*L")
    d.expect(found.parameters["router"], "D*E*L")
    deepseek = training(d, "deepseek-v3")
    d.number("sparsity", d.read("E/k"), values=deepseek.values, expect="32")


@derivation("transformer/experts-all-to-all", title="Experts add two AllToAlls: together half of a gather", source=BOOK)
def experts_all_to_all(d):
    moved = d.collective("AllToAll", "M_array", {"Z": d.symbol("Z")})
    gathered = d.collective("AllGather", "M_array", {"Z": d.symbol("Z")})
    long, whole = (d.approximate("T_comms", each.time, "Z >> 1") for each in (moved, gathered))
    d.equal("T_comms", 2 * long, whole / 2, "Two AllToAlls: half of an AllGather.")
    d.expect(2 * long, "2*M_array/(4*W_ici)")


@derivation("transformer/experts-batch", title="Question 8: experts need a batch E/k times as large", source=BOOK)
def experts_batch(d):
    layer = d.program("x[E, M, D] * int8 W[E, D, F] -> h[E, M, F]", passes=["forward"])
    d.counts(layer)
    rows = {d.symbol("M"): d.read("k*B/E")}
    d.remark("Each of B tokens goes to k of E experts: M = k B/E for each.")
    flops, weights = layer.costs["forward"].total_flops.subs(rows), d.read("b_w*E*D*F")
    d.equal("M_weights", d.read("E") * d.read("b_w*D*F"), weights, "Every expert is loaded.")
    d.equal("FLOPs", flops, d.read("2*k*B*D*F"), "For each matrix of the experts.")
    d.equal("intensity", flops / weights, d.read("2*k*B/(b_w*E)"), "Over the bytes of the weights alone.")
    batch = d.crossover(flops / d.symbol("C"), ">=", weights / d.symbol("W_hbm"), "B", exact=True)
    d.expect(batch, "B >= b_w*E*C/(2*k*W_hbm)")
    d.evaluate(
        batch, on="tpu-v5e", values={"E": 256, "k": 8, "b_w": 1, "C": machine("tpu-v5e").peak("bf16")}, expect="3840"
    )


@derivation(
    "transformer/checkpoints", title="Activations kept for the backward pass, by tensors per layer", source=BOOK
)
def checkpoints(d):
    known = {"b": 2, "B": "4*10^6", "D": 8192, "L": 64}
    kept = d.read("b*n*B*D*L")
    d.number("M_kept", kept, values={**known, "n": 20}, expect="84e12")
    d.number("M_kept", kept, values={**known, "n": 1}, expect="4.2e12")
    d.remark("Of the seven products alone: q, k, v and o, gate and up, and down, in units of D.")
    results = d.read("(N_heads*H + 2*K*H + 2*D + 2*F)/D")
    d.equal("n", put(d, results, SQUARE), d.read("13"), "With F = 4 D, D = N H and K = N the wide ones count four.")


@derivation("transformer/recompute", title="Computing a layer again: 8 instead of 6", source=BOOK)
def recompute(d):
    whole = training(d, "llama2-13b", show="step", causal=False, remat="full")
    weights = sum(whole.parameters[part] for part in ("MLP", "attention"))
    flops = sum(whole.step[part] for part in ("MLP", "attention"))
    d.equal("FLOPs_token", flops / d.symbol("B"), 8 * weights, "2 forward, 2 again, 4 backward.")
    part = training(d, "llama2-13b", show="step", causal=False, remat="scores").step["scores"]
    extra = part - training(d, "llama2-13b", causal=False).step["scores"]
    one = extra / d.symbol("L")
    d.equal("FLOPs_again", one, d.read("4*B*T*N_heads*H"), "Question 6: scores alone, B tokens in sequences of T.")
    d.remark("With nothing kept, the backward pass of layer l computes the l layers before it and itself again.")
    d.approximate("layers_again", summed(d.read("l"), "l", "L"), "L >> 1")


@derivation("transformer/kv-cache", title="The cache of a sequence: 2 S L K H elements", source=BOOK)
def kv_cache(d):
    found = inference(d, "llama2-13b", show="held").held.cache
    d.expect(found, "2*b_kv*S*L*K*H")
    one = {"b_kv": 1, "S": 8192, "L": 64, "K": 64, "H": 128}
    d.number("M_cache", found, values=one, expect="8*2^30")
    token = put(d, found / d.symbol("S"), {"K": "D/H"})
    d.number("M_token", token, values={"b_kv": 1, "L": 64, "D": 4096}, expect="512*2^10")


@derivation("transformer/question-1", title="Question 1: a model of 16 billion parameters", source=BOOK)
def question_1(d):
    found = training(d, "llama2-13b", show="parameters").parameters
    whole = sum(found.values())
    d.number("P", whole, values=SMALL, expect="17.4e9")
    inside = put(d, found["attention"] / (found["attention"] + found["MLP"]), SQUARE)
    d.equal("share", inside, d.read("1/4"), "Of the products, with F = 4 D, D = N H and K = N.")
    d.number("share", found["attention"] / whole, values=SMALL, expect="0.246")


@derivation("transformer/question-2", title="Question 2: an axis that splits nothing repeats the work", source=BOOK)
def question_2(d):
    layer = d.program("A[B_X, D_Y] * W[D_Y, F] -> O[B_X, F]{U_Y}", passes=["forward"])
    d.counts(layer)
    one = layer.costs["forward"].total_flops
    d.expect(one, "2*B*D*F/(X*Y)")
    d.equal("FLOPs_useful", one * d.read("X*Y"), d.read("2*B*D*F"), "One chip of each X and Y.")
    d.equal("FLOPs_all", one * d.read("X*Y*Z"), d.read("2*B*D*F*Z"), "All chips; those along Z do the same.")
    d.number("FLOPs_bdf", one * d.read("X*Y*Z/(B*D*F)"), values={"X": 4, "Y": 8, "Z": 4}, expect="8")
    d.number("FLOPs_bdf", one / d.read("B*D*F"), values={"X": 4, "Y": 8}, expect="2/32")


@derivation("transformer/question-4", title="Question 4: the intensity of fused attention", source=BOOK)
def question_4(d):
    layer = d.program(ATTENTION, passes=["forward"])
    d.counts(layer)
    sizes = ("B*T*K*G*H", "B*S*K*H", "B*S*K*H", "B*T*K*G*H")
    fused = d.symbol("b") * sum(d.read(size) for size in sizes)
    text = "Fused, Q, K and V are read once and O is written once; the scores stay on the chip."
    d.equal("bytes_fused", fused, d.read("2*b*B*K*H*(T*G + S)"), text)
    flops = layer.costs["forward"].total_flops
    d.expect(flops, "4*B*T*S*K*G*H")
    again = put(d, sum(d.read(size) for size in sizes), {"S": "S/n"}) * d.symbol("n") * d.symbol("b") / fused
    text = "How many times the bytes if Q and O move again for each of n chunks of keys: Q stays on the chip instead."
    d.equal("gain", again, d.read("(n*T*G + S)/(T*G + S)"), text)
    ratio = flops / fused
    d.equal("intensity", ratio, d.read("2*T*S*G/(b*(T*G + S))"), "In bf16 T S G/(T G + S).")
    prefill = put(d, ratio, {"S": "T"})
    d.equal("intensity_prefill", prefill, d.read("2*T*G/(b*(G + 1))"), "Prefill and training, S = T.")
    decode = put(d, ratio, {"T": "1"})
    d.equal("intensity_decode", decode, d.read("2*S*G/(b*(G + S))"), "Decoding, T = 1.")
    d.expect(d.approximate("intensity_decode", decode, "S >> G"), "2*G/b")
    length = d.crossover(prefill, ">=", d.read("C/W_hbm"), "T", exact=True, title="A compute-bound prefill")
    d.expect(length, "T >= b*C*(G + 1)/(2*G*W_hbm)")
    d.evaluate(length, on="tpu-v5e", values={"G": 1}, expect="480")


@derivation(
    "transformer/attention-time", title="Attention beside the MLP, in time: bound by bytes where short", source=BOOK
)
def attention_time(d):
    scores = training(d, "llama2-13b", show="forward", causal=False).forward
    layer = d.symbol("L") * d.symbol("C")
    mlp = put(d, scores["MLP"] / layer, {"B": "B*T"})
    math = put(d, scores["scores"] / layer, {"B": "B*T"})
    found = inference(d, "llama2-13b").decode.cache_bytes / d.symbol("L")
    moved = put(d, found, {"S": "T", "b_kv": "2"}) * 2 / d.symbol("W_hbm")
    d.remark("Keys and values of B sequences are read, and as many queries and results moved, in bf16.")
    square = {"K": "N_heads", "H": "D/N_heads"}
    longest = d.read("max(p, q)").subs({d.symbol("p"): put(d, math, square), d.symbol("q"): put(d, moved, square)})
    relative = longest / mlp
    d.equal("relative", relative, relative.expand(), "MHA, the MLP compute-bound.")
    d.expect(relative, "max(4*B*T^2*D/C, 8*B*T*D/W_hbm)/(6*B*T*D*F/C)")


@derivation("transformer/question-7", title="Question 7: which part of the peak trained DeepSeek-V3?", source=BOOK)
def question_7(d):
    d.number("C", d.read("C"), values=DEEPSEEK, expect="1.513e15")
    available, needed = d.read("hours*3600*C"), d.read("6*P*tokens")
    d.number("FLOPs_available", available, values=DEEPSEEK, expect="1.52e25")
    d.number("FLOPs_needed", needed, values=DEEPSEEK, expect="3.3e24")
    d.number("mfu", needed / available, values=DEEPSEEK, expect="0.216")


@derivation("transformer/softmax-in-chunks", title="A softmax over keys that come in chunks", source=BOOK)
def softmax_in_chunks(d):
    d.remark("u and w are the exponentials of two scores, v that of a constant added to both.")
    d.equal("p", d.read("u*v/(u*v + w*v)"), d.read("u/(u + w)"), "The constant does not change a softmax.")
    first, second = d.read("exp(a - M_1) + exp(c - M_1)"), d.read("exp(e - M_2) + exp(f - M_2)")
    merged = d.read("exp(M_1 - max(M_1, M_2))") * first + d.read("exp(M_2 - max(M_1, M_2))") * second
    d.equal("L_1", first, d.read("(exp(a) + exp(c))/exp(M_1)"), "The sum over a chunk, below its own maximum.")
    more = d.read("exp(M_1 - max(M_1, e))") * first + d.read("exp(e - max(M_1, e))")
    running = sum(d.read(f"exp({each} - max(M_1, e))") for each in "ace")
    d.equal("L_running", more, running, "One more key scales the running sum to the new maximum and adds one term.")
    whole = sum(d.read(f"exp({each} - max(M_1, M_2))") for each in "acef")
    d.equal("sum", merged, whole, "Sums of two chunks, each below its own maximum, merge into that of all keys.")


@derivation("transformer/softmax-gradient", title="The gradient of a softmax needs no row of scores", source=BOOK)
def softmax_gradient(d):
    u, tau = d.symbol("u"), d.symbol("tau")
    first, second = d.read("u/(u + w)"), d.read("w/(u + w)")
    g, h = d.symbol("g"), d.symbol("h")
    mean = g * first + h * second
    d.remark("u and w are the exponentials of two scores after the scale tau, g and h the gradients of their weights.")
    # a score changes u at the rate tau*u
    d.equal("grad_score", tau * first * (g - mean), tau * u * mean.diff(u), "Of the first score, by differentiation.")
    rows = [d.read("o_1*v_11 + o_2*v_12"), d.read("o_1*v_21 + o_2*v_22")]
    over_keys = first * rows[0] + second * rows[1]
    result = [first * d.symbol(f"v_1{n}") + second * d.symbol(f"v_2{n}") for n in (1, 2)]
    over_width = d.symbol("o_1") * result[0] + d.symbol("o_2") * result[1]
    d.equal("mean", over_width, over_keys, "The sum over keys is one over the width of a head: gradient times result.")


@derivation("transformer/summary", title="Parameters and training FLOPs of a layer, side by side", source=BOOK)
def side_by_side(d):
    found = training(d, "llama2-13b", show="parameters step", causal=False)
    layers, sequences = d.symbol("L"), {"B": "B*T", "K": "N_heads"}
    block = (found.step["scores"] + found.step["attention"]) / layers
    rows = {
        "MLP": (found.parameters["MLP"] / layers, found.step["MLP"] / layers),
        "attention": (found.parameters["attention"] / layers, block),
        "unembedding": (found.parameters["unembedding"], found.step["unembedding"]),
    }
    d.table(
        "A gated MLP, attention with a KV head for each query head, and the logits, for B sequences of T",
        {"params": "params", "FLOPs_training": "FLOPs_training"},
        rows={
            name: {"params": put(d, held, {"K": "N_heads"}), "FLOPs_training": put(d, work, sequences).expand()}
            for name, (held, work) in rows.items()
        },
        of="part",
        formulas=True,
        expect={
            "params": ("3*D*F", "4*D*N_heads*H", "D*V"),
            "FLOPs_training": ("18*B*T*D*F", "24*B*T*D*N_heads*H + 12*B*T^2*N_heads*H", "6*B*T*D*V"),
        },
        note="Norms and activations are no products: their work is that of the vector units.",
    )
