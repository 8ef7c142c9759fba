"""Expert parallelism: each chip has some of the experts, and tokens travel to them and back."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 12 [@austin2025]"
MOE = "Lepikhin et al. 2020, GShard [@lepikhin2020]"
ROOFLINE = "How To Scale Your Model, ch. 4 [@austin2025]"
# M tokens for each of E experts: M E = k B, before tokens that were dropped or rows that stay empty
EXPERTS = """x[E, M_Z, D] -> y[E_Z, M, D]
y * weight W_in[E_Z, D, F] -> h[E_Z, M, F]
h * weight W_out[E_Z, F, D] -> o[E_Z, M, D]
o -> out[E, M_Z, D]"""


def per_expert(d, factor=1):
    """Return what M stands for: k B tokens, times a capacity factor, over E experts."""
    k, B, E, M = (d.symbol(name) for name in ("k", "B", "E", "M"))
    return {M: factor * k * B / E}


@derivation("expert/torus", title="How wide must an expert be to hide two AllToAlls on a torus?", source=MOE)
def torus(d):
    layer = d.program(EXPERTS, passes=["forward", "backward"])
    d.counts(layer)
    d.collectives(layer, "backward")
    t = d.times(layer)
    width = d.crossover(t.math, ">=", t.comms, "F", passes="forward", resource="ici")
    d.expect(width, "F/Z >= C/(4*W_ici)")
    d.evaluate(on="tpu-v5p", expect="637.5")


@derivation("expert/switch", title="On a switch the width does not depend on the number of chips", source=BOOK)
def switch(d):
    layer = d.program(EXPERTS, axes={"Z": "nvlink"}, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    width = d.crossover(t.math, ">=", t.comms, "F", passes="forward", resource="nvlink")
    d.expect(width, "F >= C/W_nvlink")
    d.evaluate(on="h100", expect="2200")


@derivation("expert/chips", title="How many chips can share the experts on a torus?", source=MOE)
def chips(d):
    layer = d.program(EXPERTS, passes=["forward"])
    t = d.times(layer)
    most = d.crossover(t.math, ">=", t.comms, "Z", passes="forward", resource="ici")
    d.expect(most, "Z <= 4*F*W_ici/C")
    d.evaluate(on="tpu-v5p", values={"F": 2048}, expect="3.2")


@derivation(
    "expert/once-per-chip", title="A token goes to a chip once, however many of its experts are there", source=BOOK
)
def once_per_chip(d):
    layer = d.program(EXPERTS, axes={"Z": "ib"}, passes=["forward"])
    t = d.times(layer)
    sent = d.collective("AllToAll", "b*B*D", {"Z": d.symbol("Z")}, copies="k", axes={"Z": "ib"})
    width = d.crossover(t.math, ">=", 2 * sent.time, "F", exact=True, rule=per_expert(d))
    d.expect(width, "F >= C*(Z - 1)/(k*W_ib)")
    few = d.evaluate(width, on="h100", values={"k": 8, "Z": 4}, expect="7417.5")
    d.evaluate(few, on="h100", values={"k": 8, "Z": 64}, expect="19471")


@derivation("expert/or-gather", title="Dispatch to k experts, or gather all tokens? On a torus k decides", source=MOE)
def or_gather(d):
    two = d.program("x[E, M_Z, D] -> y[E_Z, M, D]; o[E_Z, M, D] -> out[E, M_Z, D]", passes=["forward"])
    dispatch = d.times(two).comms.subs(per_expert(d))
    d.remark("Every token goes to k experts, so M E = k B.")
    every = d.program("x[B_Z, D] -> y[B, D]; o[B, D]{U_Z} -> out[B_Z, D]", passes=["forward"])
    gather = d.times(every).comms
    fewer = d.crossover(dispatch, "<=", gather, "k", limits="Z >> 1", title="Where dispatching sends less")
    d.expect(fewer, "k <= 4")


@derivation("expert/or-gather-switch", title="On a switch dispatching sends less up to one expert per chip", source=MOE)
def or_gather_switch(d):
    on = {"axes": {"Z": "nvlink"}, "passes": ["forward"]}
    two = d.program("x[E, M_Z, D] -> y[E_Z, M, D]; o[E_Z, M, D] -> out[E, M_Z, D]", **on)
    dispatch = d.times(two).comms.subs(per_expert(d))
    d.remark("Every token goes to k experts, so M E = k B.")
    every = d.program("x[B_Z, D] -> y[B, D]; o[B, D]{U_Z} -> out[B_Z, D]", **on)
    gather = d.times(every).comms
    fewer = d.crossover(dispatch, "<=", gather, "k", exact=True, title="Where dispatching sends less")
    d.expect(fewer, "k <= Z")


@derivation("expert/capacity", title="Empty rows cost what full ones do", source=MOE)
def capacity(d):
    layer = d.program(EXPERTS, passes=["forward"])
    t = d.times(layer)
    padded, full = per_expert(d, d.symbol("f_capacity")), per_expert(d)
    factor = d.symbol("f_capacity")
    d.equal("T_math", t.math.subs(padded), factor * t.math.subs(full), "With M E = f_capacity k B rows.")
    d.equal("T_comms", t.comms.subs(padded), factor * t.comms.subs(full), "Both times grow alike.")


@derivation("expert/critical-batch", title="Sparse experts need E/k times the batch", source=ROOFLINE)
def critical_batch(d):
    layer = d.program("y[E, M, D] * weight W[E, D, F] -> h[E, M, F]", passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", limits="M << D, F", rule=per_expert(d), resource="hbm")
    d.expect(batch, "B >= E/k*C/W_hbm")
    d.evaluate(batch, on="tpu-v5e", values={"E": 256, "k": 8}, expect="7690")


@derivation("expert/data-parallel", title="Data parallelism over sparse experts needs E/k times the batch", source=BOOK)
def data_parallel(d):
    text = "y[E, M_X, D] * weight W_in[E, D, F] -> h[E, M_X, F]; h * weight W_out[E, F, D] -> o[E, M_X, D]"
    layer = d.program(text, passes=["forward", "backward"])
    d.counts(layer, "backward")
    t = d.times(layer, "backward")
    batch = d.crossover(
        t.math, ">=", t.comms, "B", limits="X >> 1", rule=per_expert(d), passes="backward", resource="ici"
    )
    d.expect(batch, "B/X >= E/k*C/W_ici")
    d.evaluate(batch, on="tpu-v5p", values={"E": 128, "k": 4}, expect="81600")


@derivation("expert/bytes", title="What a chip receives, one way and both", source=MOE)
def received(d):
    layer = d.program(EXPERTS, passes=["forward"])
    d.counts(layer)
    # each chip brings B/Z tokens
    both = layer.costs["forward"].comm_bytes()["Z"].subs(per_expert(d))
    known = {"k": 8, "B": 16 * 64, "D": 7168, "Z": 64}
    d.number("bytes_Z", both / 2, values=known, expect="1806336")
    d.number("bytes_Z", both, values=known, expect="3612672")
