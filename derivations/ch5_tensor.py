"""How To Scale Your Model, chapter 5: splitting the weights only, and mixing it with FSDP."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 5 [@austin2025]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
REPLICATED = "In[B, D] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D]"
SEQUENCE = "In[B_Y, D] -> All[B, D]; All * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B_Y, D]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
NUMBERS = {"F": 32768, "B": 48000, "N_chips": 64}


@derivation("training/tp", title="How far does tensor parallelism go?", source=BOOK)
def tp(d):
    layer = d.program(TP, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.expect(chips, "Y <= F*W_ici/C")
    d.evaluate(on="tpu-v5p", values={"F": 28672}, expect="11.2")
    d.ask(
        "Over how many chips of {chip} may an MLP with d_ff = {F} be split by tensor parallelism in {dtype}, before "
        "the communication of the forward pass takes longer than its arithmetic? The axis is one ring, and long.",
        chips,
        hints=[
            "Which collectives does the split of F need? Ask for the other part of this exercise first.",
            "Each of them moves B*D elements, however many chips there are, and the arithmetic is divided by Y.",
            "Set 4*B*D*F/(Y*C) against the time of the collectives: B and D cancel.",
        ],
    )
    d.ask(
        "Which collectives does the forward pass need, and of which arrays?",
        layer,
        hints=["In has to be whole in D where it meets W_in.", "The product with W_out contracts F, which is split."],
    )


@derivation("training/tp-backward", title="The backward pass of tensor parallelism", source=BOOK)
def tp_backward(d):
    layer = d.program(TP, passes=["forward", "backward"])
    d.counts(layer, "backward")
    t = d.times(layer, "backward")
    d.crossover(t.math, ">=", t.comms, "Y", passes="backward", resource="ici")
    d.evaluate(on="tpu-v5p", values={"F": 28672})


@derivation("training/tp-axes", title="Tensor parallelism over several physical axes", source=BOOK)
def tp_axes(d):
    layer = d.program(TP, axes={"Y": d.symbol("M_Y")}, passes=["forward"])
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.expect(chips, "Y <= M_Y*F*W_ici/C")
    d.evaluate(on="tpu-v5p", values={"F": 28672, "M_Y": 2}, expect="22.5")


@derivation("training/tp-width", title="The width that eight-way tensor parallelism needs", source=BOOK)
def tp_width(d):
    layer = d.program(TP, passes=["forward"])
    t = d.times(layer)
    width = d.crossover(t.math, ">=", t.comms, "F", passes="forward", resource="ici")
    d.expect(width, "F/Y >= C/W_ici")
    d.evaluate(on="tpu-v5p", expect="2550")


@derivation("training/tp-int8", title="The same number of chips in int8", source=BOOK)
def tp_int8(d):
    layer = d.program(TP, dtype="int8", passes=["forward"])
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.expect(chips, "Y <= 2*F*W_ici/C")
    d.evaluate(on="tpu-v5p", values={"F": 28672}, expect="11.2")


@derivation("training/tp-replicated", title="Tensor parallelism with whole activations", source=BOOK)
def tp_replicated(d):
    layer = d.program(REPLICATED, passes=["forward", "backward"])
    d.counts(layer, "forward")
    d.counts(layer, "backward")
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.expect(chips, "Y <= F*W_ici/C")


@derivation("training/tp-sequence", title="Tensor parallelism with the tokens split between layers", source=BOOK)
def tp_sequence(d):
    layer = d.program(SEQUENCE, passes=["forward", "backward"])
    d.counts(layer, "forward")
    d.counts(layer, "backward")
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="ici")
    d.expect(chips, "Y <= F*W_ici/C")


@derivation("training/tp-or-fsdp", title="Moving activations is cheaper than moving weights", source=BOOK)
def tp_or_fsdp(d):
    activations = d.program(TP, passes=["forward"])
    first = d.approximate("T_comms", d.times(activations).comms, "Y >> 1")
    weights = d.program("In[B_Y, D] * W_in[D_Y, F] * W_out[F, D_Y] -> Out[B_Y, D]", passes=["forward"])
    second = d.approximate("T_comms", d.times(weights).comms, "Y >> 1")
    batch = d.crossover(first, "<=", second, "B", exact=True, title="Where activations are the smaller")
    d.expect(batch, "B <= F")


def mixed(d, overlap, **axes):
    """Write FSDP over X with tensor parallelism over Y down, and return the layer and its forward times."""
    layer = d.program(MIXED, axes=axes or {"X": d.symbol("M_X"), "Y": d.symbol("M_Y")}, passes=["forward"])
    d.counts(layer)
    return layer, d.times(layer, overlap=overlap)


@derivation("training/mixed", title="FSDP with tensor parallelism: the axes overlap", source=BOOK)
def mixed_overlapped(d):
    layer, t = mixed(d, "max")
    best = d.optimise(layer, t, "X", subject_to="X*Y = N_chips", solve="B")
    d.expect(best.point, "sqrt(B*N_chips*M_X/(F*M_Y))")
    d.expect(d.crossovers[-1], "B/N_chips >= (C/W_ici)**2/(M_X*M_Y*F)")
    d.evaluate(on="tpu-v5p", values={"F": 32768, "M_X": 2, "M_Y": 1}, expect="99.2")


@derivation("training/mixed-serial", title="FSDP with tensor parallelism: the axes take turns", source=BOOK)
def mixed_serial(d):
    layer, t = mixed(d, "axes-serial")
    best = d.optimise(layer, t, "X", subject_to="X*Y = N_chips", solve="B")
    d.expect(best.point, "sqrt(B*N_chips*M_X/(F*M_Y))")
    d.expect(d.crossovers[-1], "B/N_chips >= 4*(C/W_ici)**2/(M_X*M_Y*F)")
    d.evaluate(on="tpu-v5p", values={"F": 32768, "M_X": 2, "M_Y": 1}, expect="396.9")


@derivation("training/mixed-backward", title="The backward pass needs half the batch", source=BOOK)
def mixed_backward(d):
    layer = d.program(MIXED, axes={"X": d.symbol("M_X"), "Y": d.symbol("M_Y")}, passes=["forward", "backward"])
    d.counts(layer, "backward")
    t = d.times(layer, "backward", overlap="axes-serial")
    best = d.optimise(layer, t, "X", subject_to="X*Y = N_chips", solve="B", passes="backward")
    d.expect(best.point, "sqrt(B*N_chips*M_X/(2*F*M_Y))")
    d.expect(d.crossovers[-1], "B/N_chips >= 2*(C/W_ici)**2/(M_X*M_Y*F)")
    d.evaluate(on="tpu-v5p", values={"F": 32768, "M_X": 2, "M_Y": 1}, expect="198.4")


@derivation("training/mixed-mesh", title="The best mesh of 64 chips, axes overlapping", source=BOOK)
def mixed_mesh(d):
    layer, t = mixed(d, "max", X=2, Y=1)
    best = d.optimise(layer, t, "X", subject_to="X*Y = N_chips", on="tpu-v5p", values=NUMBERS)
    d.ask(
        "A batch of {B} tokens and d_ff = {F} on {N_chips} chips: which mesh takes the least time to send in the "
        "forward pass?",
        best,
        hints=[
            "X splits the batch: the weights are gathered over it. Y splits F: the activations move over it.",
            "Write both times with Y = N/X. One falls with X, and the other one grows.",
            "The best real X makes both terms equal; then compare the whole sizes beside it.",
        ],
    )
    whole, *_ = best.integers[0]
    d.number("X_whole", d.read(str(whole)), expect="16")
    d.number("Y_whole", d.read(f"N_chips/{whole}"), values=NUMBERS, expect="4")
    d.number("X", best.point, values=NUMBERS, expect="13.69")


@derivation("training/mixed-mesh-serial", title="The best mesh of 64 chips, axes taking turns", source=BOOK)
def mixed_mesh_serial(d):
    layer, t = mixed(d, "axes-serial", X=2, Y=1)
    d.optimise(layer, t, "X", subject_to="X*Y = N_chips", on="tpu-v5p", values=NUMBERS)


@derivation("training/mixed-feasible", title="Which meshes of 64 chips are busy, axes overlapping", source=BOOK)
def mixed_feasible(d):
    _, t = mixed(d, "max", X=2, Y=1)
    d.crossover(t.math, ">=", t.comms, "X", subject_to="X*Y = N_chips", passes="forward", resource="ici")
    d.evaluate(on="tpu-v5p", values=NUMBERS)


@derivation("training/mixed-feasible-serial", title="Which meshes of 64 chips are busy, axes taking turns", source=BOOK)
def mixed_feasible_serial(d):
    _, t = mixed(d, "axes-serial", X=2, Y=1)
    d.crossover(t.math, ">=", t.comms, "X", subject_to="X*Y = N_chips", passes="forward", resource="ici")
    d.evaluate(on="tpu-v5p", values=NUMBERS)


@derivation("training/mixed-discriminant", title="The same bound from the meshes that exist", source=BOOK)
def mixed_discriminant(d):
    _, t = mixed(d, "axes-serial")
    ask = {"limits": "X, Y >> 1", "subject_to": "X*Y = N_chips", "title": "Meshes that hide their communication"}
    meshes = d.crossover(t.math, ">=", t.comms, "X", **ask)
    (exists,) = meshes.headline.cases[0].when
    batch = d.crossover(exists.lhs, exists.op, exists.rhs, "B", exact=True, title="There is such a mesh")
    d.expect(batch, "B/N_chips >= 4*(C/W_ici)**2/(M_X*M_Y*F)")
    d.evaluate(batch, on="tpu-v5p", values={"F": 32768, "M_X": 2, "M_Y": 1}, expect="396.9")


@derivation("training/mixed-chips", title="How many chips can a batch of two million tokens feed?", source=BOOK)
def mixed_chips(d):
    layer, t = mixed(d, "max", X=2, Y=1)
    d.optimise(layer, t, "X", subject_to="X*Y = N_chips", solve="N_chips")
    d.evaluate(on="tpu-v5p", values={"B": 2_000_000, "F": 30000}, expect="18000")
