"""How To Scale Your Model, chapter 2: slices of TPUs, and the networks that leave them."""

from symscale import derivation, machine

BOOK = "How To Scale Your Model, ch. 2"
# int8[131072, 131072] lies in the memory of the hosts of a 4x4 slice of v5e.
ARRAY = {"I": 131072, "J": 131072, "b": 1}


@derivation("tpus/weights", title="Reading 200 billion parameters takes 10 ms on 32 chips", source=BOOK)
def weights(d):
    layer = d.program("x[B, D] * W[D, F_Y] -> y[B, F_Y]", mesh={"Y": 32}, passes=["forward"])
    read = d.approximate("T_hbm", d.times(layer).hbm, "B << D, F")
    d.expect(read, "b*D*F/(32*W_hbm)")
    # D·F stands for all parameters together
    d.number("T_hbm", read, on="tpu-v4p", values={"D": 400_000, "F": 500_000}, expect="10.4e-3")


@derivation("tpus/wraparound", title="Without wraparound a gather takes twice as long", source=BOOK)
def wraparound(d):
    line = d.collective("AllGather", "b*I*J", {"X": 8}, on="tpu-v5e:8x16")
    ring = d.collective("AllGather", "b*I*J", {"X": 16}, on="tpu-v5e:8x16")
    d.expect(line.time, "7/8*b*I*J/W_link")
    d.expect(ring.time, "15/16*b*I*J/W_ici")


@derivation("tpus/cubes", title="A slice that is no row of whole cubes does not wrap", source=BOOK)
def cubes(d):
    flat = d.collective("AllGather", "b*I*J", {"X": 4}, on="tpu-v5p:2x4x4")
    cube = d.collective("AllGather", "b*I*J", {"X": 4}, on="tpu-v5p:4x4x4")
    d.expect(flat.time, "3/4*b*I*J/W_link")
    d.expect(cube.time, "3/4*b*I*J/W_ici")


@derivation("tpus/corner-to-corner", title="From corner to corner of a 4x4 slice", source=BOOK)
def corner_to_corner(d):
    sent = d.send("b*I*J*K", paths=2, hops=6)
    d.expect(sent, "6*T_hop + b*I*J*K/(2*W_link)")
    d.number("T_comms", sent, on="tpu-v5e", values={"b": 2, "I": 8, "J": 128, "K": 8192}, expect="192.4e-6")


@derivation("tpus/from-the-host", title="A product whose matrices come over PCIe", source=BOOK)
def from_the_host(d):
    chip = machine("tpu-v6e")
    moved = d.collective("Permute", "b*(B*D + D*F + B*F)", {"P": 2}, on=chip, axes={"P": "pcie"})
    batch = d.crossover(d.read("2*B*D*F/C"), ">=", moved.time, "B", limits="B << D, F", title="Against PCIe")
    d.expect(batch, "B >= b*C/(2*W_pcie)")
    d.evaluate(on=chip, values={"b": 2, "C": chip.peak("bf16"), "W_pcie": 16 * 10**9}, expect="57500")


@derivation("tpus/hosts-load", title="Sixteen chips load an array of 17 GB from their hosts", source=BOOK)
def hosts_load(d):
    loaded = d.collective("Permute", "b*I*J/16", {"P": 2}, on="tpu-v5e", axes={"P": "pcie"})
    d.number("T_comms", loaded.time, on="tpu-v5e", values=ARRAY, expect="67.1e-3")


@derivation("tpus/corner-gathers", title="One corner of the slice gathers all of it", source=BOOK)
def corner_gathers(d):
    # 15 of 16 shards come in through the two links of the corner
    gathered = d.send("15/16*b*I*J", paths=2, hops=6)
    d.number("T_comms", gathered, on="tpu-v5e", values={**ARRAY}, expect="179e-3")


@derivation("tpus/corner-multiplies", title="Multiplying by it is the least part", source=BOOK)
def corner_multiplies(d):
    layer = d.program("bf16 x[B, I] * int8 W[I, J] -> y[B, J]", passes=["forward"])
    t = d.times(layer)
    d.number("T_math", t.math, on="tpu-v5e", values={"B": 8, **ARRAY}, expect="1.395e-3")


@derivation("tpus/dcn-per-host", title="The data-centre network of a host is shared by its chips", source=BOOK)
def dcn_per_host(d):
    chip = machine("tpu-v5p")
    each = d.collective("AllGather", "M_array", {"P": 2}, on=chip, axes={"P": "dcn"})
    d.expect(each.time, "M_array/(2*W_dcn)")
    # every chip of a host sends as much, so the host sends n times what one chip does
    host = d.read("n*M_array/2") / each.time
    d.number("W_host", host, on=chip, values={"n": chip.chips_per_host}, expect="25e9")
