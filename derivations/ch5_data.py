"""How To Scale Your Model, chapter 5: splitting the batch, and the weights with it."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 5 [@austin2025]"
LAYER = "In[B, D] * W_in[D, F] * W_out[F, D] -> Out[B, D]"
DP = "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
PODS = "In[B_{P,X}, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_{P,X}, D]"


@derivation("training/layer", title="The backward pass computes twice as much as the forward", source=BOOK)
def layer(d):
    both = d.program(LAYER, passes=["forward", "backward"])
    d.counts(both, "forward")
    d.counts(both, "backward")
    forward, backward = d.times(both, "forward"), d.times(both, "backward")
    d.expect(forward.math, "4*B*D*F/C")
    d.expect(backward.math, "8*B*D*F/C")
    d.equal("T_math", backward.math, 2 * forward.math, "Each product has two gradients of its own size.")


@derivation("training/dp", title="When does data parallelism hide its gradients?", source=BOOK)
def dp(d):
    layer = d.program(DP, passes=["forward", "backward"])
    d.counts(layer, "backward")
    t = d.times(layer, "backward")
    batch = d.crossover(t.math, ">=", t.comms, "B", passes="backward", resource="ici")
    d.expect(batch, "B/X >= C/W_ici")
    d.evaluate(on="tpu-v5p", expect="2550")


@derivation("training/dp-both-passes", title="Data parallelism with both passes to hide behind", source=BOOK)
def dp_both_passes(d):
    layer = d.program(DP, passes=["forward", "backward"])
    t = d.times(layer, "both")
    batch = d.crossover(t.math, ">=", t.comms, "B", passes="both", resource="ici")
    d.expect(batch, "B/X >= 2/3*C/W_ici")
    d.evaluate(on="tpu-v5p", expect="1700")


@derivation("training/dp-three-axes", title="Data parallelism over three axes", source=BOOK)
def dp_three_axes(d):
    layer = d.program(DP, axes={"X": 3}, passes=["forward", "backward"])
    t = d.times(layer, "backward")
    batch = d.crossover(t.math, ">=", t.comms, "B", passes="backward", resource="ici")
    d.expect(batch, "B/X >= C/(3*W_ici)")
    d.evaluate(on="tpu-v5p", expect="850")


@derivation("training/dp-chips", title="How many chips can a batch of 40 million tokens feed?", source=BOOK)
def dp_chips(d):
    layer = d.program(DP, axes={"X": 3}, passes=["forward", "backward"])
    t = d.times(layer, "backward")
    d.crossover(t.math, ">=", t.comms, "X", passes="backward", resource="ici")
    d.evaluate(on="tpu-v5p", values={"B": 40_000_000}, expect="47000")


@derivation("training/fsdp", title="When does FSDP hide its gathers?", source=BOOK)
def fsdp(d):
    layer = d.program(FSDP, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.comms, "B", passes="forward", resource="ici")
    d.expect(batch, "B/X >= C/W_ici")
    d.evaluate(on="tpu-v5p", expect="2550")


@derivation("training/fsdp-backward", title="The backward pass of FSDP has the same threshold", source=BOOK)
def fsdp_backward(d):
    layer = d.program(FSDP, passes=["forward", "backward"])
    d.counts(layer, "backward")
    t = d.times(layer, "backward")
    batch = d.crossover(t.math, ">=", t.comms, "B", passes="backward", resource="ici")
    d.expect(batch, "B/X >= C/W_ici")
    d.evaluate(on="tpu-v5p", expect="2550")


@derivation("training/fsdp-axes", title="FSDP over several physical axes", source=BOOK)
def fsdp_axes(d):
    layer = d.program(FSDP, axes={"X": d.symbol("M_X")}, passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.comms, "B", passes="forward", resource="ici")
    d.expect(batch, "B/X >= C/(M_X*W_ici)")
    d.evaluate(on="tpu-v5p", values={"M_X": 3}, expect="850")


@derivation("training/zero-1", title="ZeRO-1 moves the bytes of data parallelism", source=BOOK)
def zero_1(d):
    plain = d.times(d.program(DP), "both")
    split = d.program(f"{DP}; state W_in[D_X, F]; state W_out[F, D_X]")
    d.collectives(split, "backward")
    d.collectives(split, "update")
    d.equal("T_comms", d.times(split, "both").comms, plain.comms, "As much as data parallelism.")


@derivation("training/zero-2", title="ZeRO-2 moves the bytes of data parallelism", source=BOOK)
def zero_2(d):
    plain = d.times(d.program(DP), "both")
    split = d.program(f"{DP}; grad W_in[D_X, F]; grad W_out[F, D_X]")
    d.collectives(split, "backward")
    d.collectives(split, "update")
    d.equal("T_comms", d.times(split, "both").comms, plain.comms, "As much as data parallelism.")


@derivation("training/zero-3", title="ZeRO-3 adds one more gather of the weights", source=BOOK)
def zero_3(d):
    plain = d.times(d.program(DP), "both")
    split = d.program(FSDP)
    d.collectives(split, "forward")
    d.collectives(split, "backward")
    full = d.times(split, "both")
    d.equal("T_comms", full.comms, 3 * plain.comms / 2, "Three parts where data parallelism has two.")


@derivation("training/pods", title="Data parallelism between pods, over the data-centre network", source=BOOK)
def pods(d):
    layer = d.program(PODS, axes={"P": "dcn"}, passes=["forward", "backward"])
    d.counts(layer, "backward")
    t = d.times(layer, "backward")
    batch = d.crossover(t.math, ">=", t.networks["dcn"], "B", passes="backward", resource="dcn")
    d.expect(batch, "B/P >= C/W_dcn")
    d.evaluate(on="tpu-v5p", expect="73440")
