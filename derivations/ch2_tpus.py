"""How To Scale Your Model, chapter 2: slices of TPUs, and the networks that leave them."""

from symscale import derivation, machine

BOOK = "How To Scale Your Model, ch. 2 [@austin2025]"
# int8[131072, 131072] lies in the memory of the hosts of a 4x4 slice of v5e.
ARRAY = {"I": 131072, "J": 131072, "b": 1}
# bf16[8, 128, 8192]
TENSOR = {"b": 2, "I": 8, "J": 128, "K": 8192}


@derivation("tpus/weights", title="Reading 200 billion parameters takes 10 ms on 32 chips", source=BOOK)
def weights(d):
    layer = d.program("x[B, D] * W[D, F_Y] -> y[B, F_Y]", mesh={"Y": 32}, passes=["forward"])
    read = d.approximate("T_hbm", d.times(layer).hbm, "B << D, F")
    d.expect(read, "b*D*F/(32*W_hbm)")
    d.number("bytes_weights", d.read("b*P"), values={"b": 2, "P": 200 * 10**9}, expect="400e9")
    d.number("bytes_chip", d.read("b*P/n"), values={"b": 2, "P": 200 * 10**9, "n": 32}, expect="12.5e9")
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
    slower = (flat.time / cube.time).subs(d.symbol("W_ici"), d.read("2*W_link"))
    d.equal("slowdown", d.read("2"), slower, "A link carries one direction, half of what an axis carries both ways.")


@derivation("tpus/corner-to-corner", title="From corner to corner of a 4x4 slice", source=BOOK)
def corner_to_corner(d):
    # the longest way of a gather over both lines
    ends = d.collective("AllGather", "b*I*J*K", {"X": 4, "Y": 4}, on="tpu-v5e:4x4", latency=True)
    hops = ends.latency / d.symbol("T_hop")
    d.equal("n_hops", d.read("(4 - 1) + (4 - 1)"), hops, "Along one line, then along the other.")
    sent = d.send("b*I*J*K", paths=2, hops=int(hops))
    d.expect(sent, "6*T_hop + b*I*J*K/(2*W_link)")
    d.number("M_array", d.read("b*I*J*K"), values=TENSOR, expect="1.68e7")
    d.number("W_corner", d.read("2*W_link"), on="tpu-v5e", expect="9e10")
    first = d.approximate("T_first", sent, "b*I*J*K/W_link << T_hop")
    d.number("T_first", first, on="tpu-v5e", expect="6e-6")
    d.number("T_rest", sent - first, on="tpu-v5e", values=TENSOR, expect="186.4e-6")
    d.number("T_comms", sent, on="tpu-v5e", values=TENSOR, expect="192.4e-6")


@derivation("tpus/from-the-host", title="A product whose matrices come over PCIe", source=BOOK)
def from_the_host(d):
    chip = machine("tpu-v6e")
    t, moved = over_pcie(d)
    short = d.approximate("T_comms", moved.time, "B << D, F")
    square = {d.symbol("F"): d.read("4*D"), d.symbol("b"): d.read("2")}
    d.equal("T_pcie", d.read("8*D^2/W_pcie"), short.subs(square), "In bf16, for F = 4 D.")
    batch = d.crossover(t.math, ">=", moved.time, "B", limits="B << D, F", title="Against PCIe")
    d.expect(batch, "B >= C/W_pcie")
    d.evaluate(on=chip, values={"b": 2, "C": chip.peak("bf16"), "W_pcie": 16 * 10**9}, expect="57500")


@derivation("tpus/from-the-host-width", title="The width below which no batch hides PCIe", source=BOOK)
def from_the_host_width(d):
    chip = machine("tpu-v6e")
    t, moved = over_pcie(d)
    # for ever larger batches the activations are all that is sent
    sent = d.approximate("T_comms", moved.time, "D << B; F << B").subs(d.symbol("F"), d.read("4*D"))
    math = t.math.subs(d.symbol("F"), d.read("4*D"))
    width = d.crossover(math, ">=", sent, "D", exact=True, title="For F = 4 D")
    d.expect(width, "D >= 5*C/(4*W_pcie)")
    d.evaluate(width, on=chip, values={"C": chip.peak("bf16"), "W_pcie": 16 * 10**9}, expect="71875")


def over_pcie(d):
    """Write a product whose matrices all go over PCIe, and return its times and that traffic."""
    layer = d.program("x[B, D] * A[D, F] -> y[B, F]", passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    sent = layer.costs["forward"].hbm_bytes
    return t, d.collective("Permute", sent, {"P": 2}, on="tpu-v6e", axes={"P": "pcie"})


@derivation("tpus/int8-product", title="An int8 product from HBM, and out of VMEM", source=BOOK)
def int8_product(d):
    chip, sizes = machine("tpu-v5e"), {"D": 4096, "F": 16384}
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", dtype="int8", passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    one = {d.symbol("b"): d.read("1")}
    longer = d.read("max(p, q)").subs({d.symbol("p"): t.math, d.symbol("q"): t.hbm.subs(one)})
    wanted = d.read("max(2*D*F*B/C, (D*F + (D + F)*B)/W_hbm)")
    d.equal("T_total", wanted, longer, "In int8, the longer of the two: they overlap.")
    work, read = layer.costs["forward"].total_flops, layer.costs["forward"].hbm_bytes
    d.number("FLOPs_token", work / d.symbol("B"), values=sizes, expect="1.3e8")
    weight = d.approximate("bytes_weights", read, "B << D, F")
    d.number("bytes_weights", weight, values={**sizes, "b": 1}, expect="6.7e7")
    d.number("bytes_token", (read - weight) / d.symbol("B"), values={**sizes, "b": 1}, expect="2e4")
    batch = d.crossover(t.math, ">=", t.hbm, "B", exact=True, resource="hbm")
    d.expect(batch, "B >= D*F*C/(2*D*F*W_hbm - C*(D + F))")
    d.evaluate(batch, on=chip, values=sizes, expect="259")


@derivation("tpus/out-of-vmem", title="Out of VMEM a batch of eleven is enough", source=BOOK)
def out_of_vmem(d):
    chip, sizes = machine("tpu-v5e"), {"D": 4096, "F": 16384}
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", dtype="int8", passes=["forward"])
    t = d.times(layer)
    # VMEM reads 22 times as fast as HBM
    near = t.hbm / 22
    d.number("W_vmem", d.read("22*W_hbm"), on=chip, expect="1.80e13")
    d.number("intensity", d.read("C/(22*W_hbm)"), on=chip, values={"C": chip.peak("bf16")}, expect="10.9")
    batch = d.crossover(t.math, ">=", near, "B", exact=True)
    d.evaluate(batch, on=chip, values=sizes, expect="11")


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


@derivation("tpus/diameter", title="Wraparound halves the longest way", source=BOOK)
def diameter(d):
    ring = d.collective("AllGather", "b*I", {"X": d.symbol("X")}, latency=True)
    d.expect(ring.latency, "floor(X/2)*T_hop")
    d.equal("n_ring", d.read("floor(X/2)"), ring.latency / d.symbol("T_hop"), "Hops around a ring, the shorter way.")
    line = d.collective("AllGather", "b*I", {"X": 8}, on="tpu-v5e", latency=True)
    d.expect(line.latency, "(8 - 1)*T_hop")


@derivation("tpus/matrix-unit", title="What a systolic array multiplies in a cycle", source=BOOK)
def matrix_unit(d):
    # an array of n x n takes [8, n] x [n, n] every 8 cycles
    layer = d.program("x[m, n] * W[n, p] -> y[m, p]", passes=["forward"])
    d.counts(layer)
    cycle = (layer.costs["forward"].total_flops / d.symbol("m")).subs(d.symbol("p"), d.symbol("n"))
    d.equal("FLOPs_cycle", d.read("2*n^2"), cycle, "m rows take m cycles.")
    d.equal("N_alu", d.read("n^2"), cycle / 2, "A multiply-add for each unit of the array.")
    d.number("FLOPs_cycle", cycle, values={"n": 128}, expect="32768")
    chip = machine("tpu-v5e")
    parts = {"n": 128, **{name: chip.cores[name] for name in ("f_clock", "N_matrix")}}
    d.number("rate_unit", cycle * d.symbol("f_clock"), values=parts, expect="4.92e13")
    d.number("rate_chip", cycle * d.read("f_clock*N_matrix"), values=parts, expect="1.97e14")
    wide = cycle.subs(d.symbol("n"), 2 * d.symbol("n")) / cycle
    d.equal("wider", d.read("4"), wide, "Arrays of twice the side, as on TPU v6e: 256 instead of 128.")


@derivation("tpus/vector-unit", title="How much slower is the vector unit than the systolic arrays?", source=BOOK)
def vector_unit(d):
    chip = machine("tpu-v5p")
    parts = {name: chip.cores[name] for name in ("N_lane", "f_clock", "N_core")}
    d.number("rate_core", d.read("N_lane*f_clock"), values=parts, expect="7.2e12")
    d.number("rate_chip", d.read("N_core*N_lane*f_clock"), values=parts, expect="1.4e13")
    slower = d.read("C/(N_core*N_lane*f_clock)")
    d.number("ratio", slower, on=chip, values={**parts, "C": chip.peak("bf16")}, expect="32.0")


def pod(d, name, hosts, cores, flops, memory):
    """Write down what a pod of a chip has."""
    chip, chips = machine(name), 1
    for size in chip.network("ici").pod:
        chips *= size
    has = {"n": chips, "n_host": chip.chips_per_host, "N_core": chip.cores["N_core"], "C": chip.peak("bf16")}
    d.number("hosts", d.read("n/n_host"), values=has, expect=hosts)
    d.number("cores", d.read("n*N_core"), values=has, expect=cores)
    d.number("rate_pod", d.read("n*C"), values=has, expect=flops)
    d.number("M_pod", d.read("n*M_hbm"), on=chip, values=has, expect=memory)


@derivation("tpus/pod-v5e", title="A pod of TPU v5e", source=BOOK)
def pod_v5e(d):
    pod(d, "tpu-v5e", "32", "256", "5.04e16", "4.1e12")


@derivation("tpus/pod-v5p", title="A pod of TPU v5p", source=BOOK)
def pod_v5p(d):
    pod(d, "tpu-v5p", "2240", "17920", "4.1e18", "860e12")


@derivation("tpus/host-stages", title="Loading, gathering and multiplying, one behind the other", source=BOOK)
def host_stages(d):
    loaded = d.collective("Permute", "b*I*J/16", {"P": 2}, on="tpu-v5e", axes={"P": "pcie"}).time
    gathered = d.send("15/16*b*I*J", paths=2, hops=6)
    sent = d.approximate("T_gather", gathered, "T_hop << b*I*J/W_link")
    layer = d.program("bf16 x[B, I] * int8 W[I, J] -> y[B, J]", passes=["forward"])
    t = d.times(layer)
    weights = {d.symbol("b_W"): d.symbol("b")}
    read = d.approximate("T_hbm", t.hbm.subs(weights), "B << I, J")
    known = {"on": "tpu-v5e", "values": {"B": 8, **ARRAY}}
    for name, size, expect in (
        ("M_array", d.read("b*I*J"), "17.18e9"),
        ("M_host", d.read("b*I*J/2"), "8.59e9"),
        ("M_shard", d.read("b*I*J/16"), "1.07e9"),
        ("FLOPs", layer.costs["forward"].total_flops, "2.75e11"),
    ):
        d.number(name, size, **known, expect=expect)
    d.number("M_vector", d.read("b_x*B*I"), values={"b_x": 2, "B": 8, "I": 131072}, expect="2.1e6")
    for name, spent, expect in (
        ("T_load", loaded, "67.1e-3"),
        ("T_gather", sent, "179e-3"),
        ("T_hbm", read, "20.95e-3"),
        ("T_math", t.math, "1.395e-3"),
    ):
        d.number(name, spent, **known, expect=expect)
    d.number("T_lower", longest(d, loaded, sent, read), **known, expect="179e-3")
    d.number("T_upper", loaded + sent + read + t.math, **known, expect="268e-3")
    whole = d.collective("AllGather", "b*I*J", {"X": 4, "Y": 4}, on="tpu-v5e:4x4")
    d.number("T_all", whole.time, **known, expect="179e-3")


def longest(d, *spent):
    """Return the longest of three times."""
    return d.read("max(p, q, r)").subs(dict(zip((d.symbol(name) for name in "pqr"), spent, strict=True)))


TPUS = ("tpu-v3", "tpu-v4p", "tpu-v5p", "tpu-v5e", "tpu-v6e", "tpu7x")


@derivation("tpus/specs", title="TPUs: pods, hosts, memory, bandwidths and peaks", source=BOOK)
def specs(d):
    chips = {machine(name).title: machine(name).figures for name in TPUS}
    d.table(
        "Chips, pods and memory",
        ["N_pod", "N_host", "N_pod/N_host", "M_hbm", "W_hbm"],
        rows=chips,
        of="chip",
        units={"N_pod": "chip", "N_host": "chip", "N_pod/N_host": "host"},
        expect={
            "M_hbm": ("32e9", "32e9", "96e9", "16e9", "32e9", "192e9"),
            "W_hbm": ("9.0e11", "1.2e12", "2.8e12", "8.2e11", "1.6e12", "7.4e12"),
        },
        note="As the sources of the chips' files state them.",
    )
    d.table(
        "Peaks and links of one chip",
        ["C", "C_int8", "W_link", "W_ici", "C/W_hbm", "C/W_ici"],
        rows=chips,
        of="chip",
        expect={
            "C": ("1.4e14", "2.75e14", "4.59e14", "1.97e14", "9.20e14", "2.3e15"),
            "C_int8": ("1.4e14", "2.75e14", "9.18e14", "3.94e14", "1.84e15", "4.61e15"),
            "W_ici": ("2e11", "9e10", "1.8e11", "9e10", "1.8e11", "1.8e11"),
        },
        note="C is the bf16 peak, W_link one direction of a link, W_ici both directions of an axis.",
    )
