"""Context and sequence parallelism: one sequence over several chips."""

from symscale import derivation

RING = "Liu et al. 2023, Ring Attention with Blockwise Transformers [@liu2023]"
ULYSSES = "Jacobs et al. 2023, DeepSpeed Ulysses [@jacobs2023]"
SEQUENCE = "Korthikanti et al. 2022, Reducing Activation Recomputation in Large Transformer Models [@korthikanti2022]"
GATHERED = "Grattafiori et al. 2024, The Llama 3 Herd of Models [@grattafiori2024]"
# T queries and S keys of one sequence; K heads of keys and values, G query heads for each
GATHER = """Key[S_X, K, H] -> Keys[S, K, H]
Value[S_X, K, H] -> Values[S, K, H]
Q[T_X, K, G, H] * Keys -> A[T_X, S, K, G]
softmax_S(A) -> P
P * Values -> O[T_X, K, G, H]"""
BLOCK = """Q[T_X, K, G, H] * Key[R, K, H] -> A[T_X, R, K, G]
softmax_R(A) -> P
P * Value[R, K, H] -> O[T_X, K, G, H]"""
HEADS = """Q[T_X, K, G, H] -> Qh[T, K_X, G, H]
Key[S_X, K, H] -> Kh[S, K_X, H]
Value[S_X, K, H] -> Vh[S, K_X, H]
Qh * Kh -> A[T, S, K_X, G]
softmax_S(A) -> P
P * Vh -> Oh[T, K_X, G, H]
Oh -> O[T_X, K, G, H]"""
SPLIT = "In[T_Y, D] -> All[T, D]; All * W_in[D, F_Y] * W_out[F_Y, D] -> Out[T_Y, D]"
WHOLE = "In[T, D] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[T, D]"
MLP = "In[T_X, D] * W_in[D, F] * W_out[F, D] -> Out[T_X, D]"


def same_length(d):
    """Return the rule of self-attention: as many keys as queries."""
    return {d.symbol("S"): d.symbol("T")}


@derivation(
    "context/gather", title="How long must a sequence be to hide the gather of keys and values?", source=GATHERED
)
def gather(d):
    layer = d.program(GATHER, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    length = d.crossover(t.math, ">=", t.comms, "T", passes="forward", resource="ici")
    d.expect(length, "T/X >= C/(G*W_ici)")
    d.evaluate(on="tpu-v5p", values={"G": 8}, expect="319")


@derivation(
    "context/gather-causal", title="Half of the work is masked: the sequence must be twice as long", source=GATHERED
)
def gather_causal(d):
    layer = d.program(GATHER, passes=["forward"])
    t = d.times(layer)
    d.remark(
        "A causal mask leaves half of the products, the same half on every chip if each has an early and a late part."
    )
    length = d.crossover(t.math / 2, ">=", t.comms, "T", passes="forward", resource="ici")
    d.expect(length, "T/X >= 2*C/(G*W_ici)")
    d.evaluate(on="tpu-v5p", values={"G": 8}, expect="637.5")


@derivation(
    "context/gather-backward", title="The backward pass scatters the gradients of keys and values", source=GATHERED
)
def gather_backward(d):
    layer = d.program(GATHER, passes=["forward", "backward"])
    d.counts(layer, "backward")
    t = d.times(layer, "backward")
    length = d.crossover(t.math, ">=", t.comms, "T", passes="backward", resource="ici")
    d.expect(length, "T/X >= C/(2*G*W_ici)")


@derivation("context/behind-mlp", title="How many chips hide the gather behind the MLP alone?", source=GATHERED)
def behind_mlp(d):
    attention = d.program(GATHER, passes=["forward"])
    sent = d.approximate("T_comms", d.times(attention).comms, "X >> 1").subs(same_length(d))
    mlp = d.program(MLP, passes=["forward"])
    t = d.times(mlp)
    chips = d.crossover(t.math, ">=", sent, "X", exact=True, title="The MLP takes longer, however long the sequence")
    d.expect(chips, "X <= D*F*W_ici/(K*H*C)")
    d.evaluate(chips, on="tpu-v5p", values={"D": 8192, "F": 28672, "K": 8, "H": 128}, expect="90")


@derivation("context/ring", title="Ring attention: a step must hide the next block of keys and values", source=RING)
def ring(d):
    layer = d.program(BLOCK, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    sent = d.collective("Permute", "2*b*R*K*H", {"X": d.symbol("X")})
    length = d.crossover(t.math, ">=", sent.time, "T", exact=True, passes="forward", resource="ici")
    d.expect(length, "T/X >= C/(G*W_link)")
    d.evaluate(length, on="tpu-v5p", values={"G": 1}, expect="5100")


@derivation("context/ring-causal", title="Ring attention under a causal mask", source=RING)
def ring_causal(d):
    layer = d.program(BLOCK, passes=["forward"])
    t = d.times(layer)
    sent = d.collective("Permute", "2*b*R*K*H", {"X": d.symbol("X")})
    d.remark(
        "A causal mask leaves half of a step's products if every chip has an early and a late part of the sequence."
    )
    length = d.crossover(t.math / 2, ">=", sent.time, "T", exact=True, passes="forward", resource="ici")
    d.expect(length, "T/X >= 2*C/(G*W_link)")
    d.evaluate(length, on="tpu-v5p", values={"G": 8}, expect="1275")


@derivation("context/ring-bytes", title="Ring attention receives the bytes of the gather", source=RING)
def ring_bytes(d):
    layer = d.program(GATHER, passes=["forward"])
    d.counts(layer)
    X, S = d.symbol("X"), d.symbol("S")
    sent = d.collective("Permute", "2*b*R*K*H", {"X": X}).received
    steps = (X - 1) * sent.subs(d.symbol("R"), S / X)
    d.equal("bytes_X", layer.costs["forward"].comm_bytes()["X"], steps, "X − 1 steps, each a block of S/X keys.")


@derivation("context/ring-or-gather", title="A ring that goes one way takes twice the gather's time", source=RING)
def ring_or_gather(d):
    layer = d.program(GATHER, passes=["forward"])
    t = d.times(layer)
    X, S, both = d.symbol("X"), d.symbol("S"), d.symbol("W_ici")
    sent = d.collective("Permute", "2*b*R*K*H", {"X": X}).time.subs(
        {d.symbol("R"): S / X, d.symbol("W_link"): both / 2}
    )
    d.equal("T_comms", (X - 1) * sent, 2 * t.comms, "One direction of a link has half the bandwidth of both.")


@derivation("context/ulysses", title="DeepSpeed Ulysses: an AllToAll from tokens to heads and back", source=ULYSSES)
def ulysses(d):
    layer = d.program(HEADS, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    rule = same_length(d)
    length = d.crossover(t.math, ">=", t.comms, "T", passes="forward", resource="ici", rule=rule)
    d.expect(length, "T/X >= (G + 1)*C/(4*G*W_ici)")
    d.evaluate(on="tpu-v5p", values={"G": 8}, expect="717")


@derivation("context/ulysses-causal", title="Under a causal mask every head has half of the work", source=ULYSSES)
def ulysses_causal(d):
    layer = d.program(HEADS, passes=["forward"])
    t = d.times(layer)
    d.remark("A chip has whole heads, so a causal mask leaves every chip the same half of its products.")
    rule = same_length(d)
    length = d.crossover(t.math / 2, ">=", t.comms, "T", passes="forward", resource="ici", rule=rule)
    d.expect(length, "T/X >= (G + 1)*C/(2*G*W_ici)")
    d.evaluate(on="tpu-v5p", values={"G": 8}, expect="1434")


@derivation("context/ulysses-switch", title="On a switch the AllToAll shrinks with the chips", source=ULYSSES)
def ulysses_switch(d):
    layer = d.program(HEADS, axes={"X": "nvlink"}, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    spent = d.approximate("T_comms", t.comms, "X >> 1").subs(same_length(d))
    d.expect(spent.subs(d.symbol("G"), 1), "4*b*T*K*H/(X*W_nvlink)")
    length = d.crossover(t.math, ">=", t.comms, "T", passes="forward", resource="nvlink", rule=same_length(d))
    d.expect(length, "T >= (G + 1)*C/(G*W_nvlink)")
    d.evaluate(on="h100", values={"G": 8}, expect="2472.5")


@derivation("context/ulysses-or-gather", title="On a torus few query heads per key head favour Ulysses", source=ULYSSES)
def ulysses_or_gather(d):
    heads = d.program(HEADS, passes=["forward"])
    first = d.times(heads).comms
    whole = d.program(GATHER, passes=["forward"])
    second = d.times(whole).comms
    group = d.crossover(
        first, "<=", second, "G", limits="X >> 1", rule=same_length(d), title="Where Ulysses sends less"
    )
    d.expect(group, "G <= 3")


@derivation("context/ulysses-or-gather-switch", title="On a switch many chips favour Ulysses", source=ULYSSES)
def ulysses_or_gather_switch(d):
    on = {"axes": {"X": "nvlink"}, "passes": ["forward"]}
    heads = d.program(HEADS, **on)
    first = d.times(heads).comms
    whole = d.program(GATHER, **on)
    second = d.times(whole).comms
    chips = d.crossover(first, "<=", second, "X", exact=True, rule=same_length(d), title="Where Ulysses sends less")
    d.expect(chips, "X >= G + 1")


@derivation(
    "context/sequence", title="Megatron's sequence parallelism moves the bytes of tensor parallelism", source=SEQUENCE
)
def sequence(d):
    split = d.program(SPLIT)
    d.collectives(split, "forward")
    whole = d.program(WHOLE)
    d.collectives(whole, "forward")
    for which in ("forward", "backward"):
        d.equal("T_comms", d.times(split, which).comms, d.times(whole, which).comms, f"The {which} pass, too.")
