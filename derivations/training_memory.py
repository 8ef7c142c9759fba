"""Memory in training: what fits under ZeRO, when the host's memory hides behind arithmetic, gradient accumulation."""

from symscale import derivation

ZERO = "Rajbhandari et al. 2020, ZeRO [@rajbhandari2020]"
OFFLOAD = "Ren et al. 2021, ZeRO-Offload [@ren2021]"
MEGATRON = "Narayanan et al. 2021, Megatron-LM [@narayanan2021]"
MATRIX = "x[B, D] * W[D, F] -> y[B, F]"
# 16-bit weights and gradients; an fp32 copy of the weights and two fp32 moments of Adam
ADAM = {"b_w": 2, "b_g": 2, "b_o": 12}


def largest(d, held, formula, billions):
    """Solve what a chip holds for the parameters, put in a chip of 32 GB and 64 replicas, and return what it holds."""
    most = d.crossover(d.read(held), "<=", d.read("M_hbm"), "P", exact=True)
    d.expect(most, formula)
    d.evaluate(most, values={**ADAM, "N": 64, "M_hbm": 32 * 10**9}, expect=billions)
    return most.relation.lhs


@derivation("memory/zero", title="The largest model by its states, with ZeRO-0 to ZeRO-3 over N replicas", source=ZERO)
def zero(d):
    held = {
        "ZeRO-0": largest(d, "P*(b_w + b_g + b_o)", "P <= M_hbm/(b_w + b_g + b_o)", "2e9"),
        "ZeRO-1": largest(d, "P*(b_w + b_g + b_o/N)", "P <= M_hbm*N/(N*(b_w + b_g) + b_o)", "7.64e9"),
        "ZeRO-2": largest(d, "P*(b_w + (b_g + b_o)/N)", "P <= M_hbm*N/(N*b_w + b_g + b_o)", "14.42e9"),
        "ZeRO-3": largest(d, "P*(b_w + b_g + b_o)/N", "P <= M_hbm*N/(b_w + b_g + b_o)", "128e9"),
    }
    d.plot(
        {**held, "HBM": d.read("M_hbm")},
        "N",
        (1, 1024),
        title="States of a model of 7.5 billion parameters over the replicas",
        caption="Each stage divides one more part of the 16 bytes per parameter among the replicas; what is left whole "
        "is the level the curve falls to.",
        x="replicas, $N$",
        y="held by one chip [B]",
        values={**ADAM, "P": 75 * 10**8, "M_hbm": 32 * 10**9},
    )


@derivation("memory/offload", title="From how many tokens on does an optimizer on the host hide?", source=OFFLOAD)
def offload(d):
    layer = d.program(MATRIX, passes=["forward", "backward"])
    t = d.times(layer, "both")
    d.remark("Gradients go down and weights come back, at once: a step moves b bytes per parameter each way.")
    moved = d.read("b*D*F/W_pcie")
    border = d.crossover(t.math, ">=", moved, "B", exact=True)
    d.expect(border, "B >= b*C/(6*W_pcie)")
    d.evaluate(border, on="tpu-v5p", expect="9562.5")


@derivation(
    "memory/offload-shared", title="Chips that share the PCIe of a host need as many times more", source=OFFLOAD
)
def offload_shared(d):
    layer = d.program(MATRIX, passes=["forward", "backward"])
    t = d.times(layer, "both")
    border = d.crossover(t.math, ">=", d.read("n*b*D*F/W_host"), "B", exact=True)
    d.expect(border, "B >= n*b*C/(6*W_host)")


@derivation(
    "memory/offload-inputs", title="How wide must a model be to send the inputs of layers away?", source=OFFLOAD
)
def offload_inputs(d):
    # the matrices of a layer with F = 4 D are as large as those of one MLP with six times D
    layer = d.program("In[B, D] * W_in[D, F] * W_out[F, D] -> Out[B, D]", passes=["forward"])
    t = d.times(layer)
    D = d.symbol("D")
    whole = t.math.subs(d.symbol("F"), 6 * D)
    width = d.crossover(whole, ">=", d.read("b*B*D/W_pcie"), "D", exact=True)
    d.expect(width, "D >= b*C/(24*W_pcie)")
    d.evaluate(width, on="tpu-v5p", expect="2390.6")


@derivation("memory/microbatches", title="How many microbatches fit, and how many hide their gathers?", source=MEGATRON)
def microbatches(d):
    kept = d.crossover(d.read("M_kept/m + M_rest"), "<=", d.read("M_hbm"), "m", exact=True)
    d.expect(kept, "m >= M_kept/(M_hbm - M_rest)")
    layer = d.program("In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]", passes=["forward"])
    t = d.times(layer)
    d.remark("A microbatch has 1/m of the tokens and gathers all weights.")
    gathers = d.crossover(t.math / d.symbol("m"), ">=", t.comms, "m", passes="forward", resource="ici")
    d.expect(gathers, "m <= 2*B*W_ici/(b*C*X)")
    d.evaluate(gathers, on="tpu-v5p", values={"B": 4 * 2**20, "X": 256}, expect="6.425")
