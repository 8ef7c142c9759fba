"""How To Scale Your Model, chapter 1: what keeps one chip busy, and what two."""

from math import prod

from symscale import derivation, machine

BOOK = "How To Scale Your Model, ch. 1 [@austin2025]"
MATMUL = "x[B, D] * W[D, F] -> y[B, F]"
MIXED = "bf16 x[B, D] * int8 W[D, F] -> y[B, F]"
# every output tile reads its own copies of t_k pairs of tiles, and is written once
TILES = "A[t_m, t_n, t_k, b_m, b_k] * W[t_m, t_n, t_k, b_k, b_n] -> Y[t_m, t_n, b_m, b_n]"


def longer(d, first, second):
    """Return the longer of two times."""
    return d.read("max(p, q)").subs({d.symbol("p"): first, d.symbol("q"): second})


def moved(d, layer, names):
    """Return the bytes of whole arrays."""
    program = layer.program
    return sum(d.symbol("b") * prod(program.sizes[dim] for dim in program.values[name].dims) for name in names)


@derivation("roofline/times", title="FLOPs over the peak, bytes over the bandwidth", source=BOOK)
def times(d):
    layer = d.program(MATMUL, passes=["forward"])
    cost, t = layer.costs["forward"], d.times(layer)
    d.equal("rate_math", cost.total_flops / t.math, d.symbol("C"), "The arithmetic runs at the peak.")
    d.equal("rate_hbm", cost.hbm_bytes / t.hbm, d.symbol("W_hbm"), "The bytes at the bandwidth.")
    trillion = d.read("FLOPs/C")
    for chip, spent in (("h100", "1.01e-3"), ("tpu-v6e", "1.09e-3")):
        peak = machine(chip).peak("bf16")
        d.number("T_math", trillion, on=chip, values={"FLOPs": 10**12, "C": peak}, expect=spent)


@derivation("roofline/bounds", title="A program takes the longer time at least, both at most", source=BOOK)
def bounds(d):
    layer = d.program(MATMUL, passes=["forward"])
    cost, t = layer.costs["forward"], d.times(layer)
    first, second = cost.total_flops / d.symbol("C"), cost.hbm_bytes / d.symbol("W_hbm")
    lower, upper = longer(d, t.math, t.hbm), t.math + t.hbm
    d.equal("T_lower", lower, longer(d, first, second), "Everything overlaps.")
    d.equal("T_upper", upper, first + second, "Nothing does.")
    bound = d.crossover(upper, "<=", 2 * lower, "B", exact=True, title="Both against twice the longer")
    d.expect(bound, "always")
    kink = d.crossover(t.math, ">=", t.hbm, "B", exact=True, resource="hbm", title="Equal times")
    size = {"D": 8192, "F": 8192}
    kink = d.evaluate(kink, on="tpu-v5e", values=size, expect="255.2")
    ratio = upper / lower
    d.number("ratio", ratio, on="tpu-v5e", values={**size, "B": kink.value}, expect="2")


@derivation("roofline/machine-intensity", title="More FLOPs per byte than the machine has", source=BOOK)
def machine_intensity(d):
    math, hbm = d.read("FLOPs/C"), d.read("FLOPs/(I_op*W_hbm)")
    d.remark("An algorithm moves a byte for every I_op FLOPs.")
    busy = d.crossover(math, ">", hbm, "I_op", exact=True)
    d.expect(busy, "I_op > C/W_hbm")
    d.evaluate(busy, on="tpu-v5e", values={"C": machine("tpu-v5e").peak("bf16")}, expect="240.24")
    rate = d.symbol("FLOPs") / longer(d, math, hbm)
    d.equal("rate", rate, d.read("min(C, I_op*W_hbm)"), "What it attains: the roofline, bent at that intensity.")


@derivation("roofline/vector-unit", title="The vector units of a chip need five FLOPs per byte", source=BOOK)
def vector_unit(d):
    chip = machine("tpu-v5p")
    core = d.read("N_lane*f_clock")
    d.number("C_core", core, values=chip.cores, expect="7.168e12")
    d.number("C_vector", d.symbol("N_core") * core, values=chip.cores, expect="14.336e12")
    d.number("intensity", d.symbol("N_core") * core / d.symbol("W_hbm"), on=chip, values=chip.cores, expect="5.12")


@derivation("roofline/matmul", title="How large must a batch be?", source=BOOK)
def matmul(d):
    layer = d.program(MATMUL, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.expect(batch, "B >= C/W_hbm")
    d.evaluate(on="tpu-v5e", expect="240.24")
    d.ask(
        "A matrix product in {dtype} runs on one {chip}. From which batch on does the arithmetic take longer than "
        "the traffic to HBM, if the batch is small beside both dimensions of the matrix?",
        batch,
        hints=[
            "Count the FLOPs: a multiplication and an addition for every element of x and every column of W.",
            "Count the bytes: both operands are read once, the result is written once. Which of the three is large?",
            "Divide by the peak and by the bandwidth, and ask when the first time is the longer one.",
        ],
    )


@derivation("roofline/intensity", title="The intensity of a matrix product", source=BOOK)
def intensity(d):
    layer = d.program(MATMUL, passes=["forward"])
    d.counts(layer)
    full = d.intensity(layer)
    d.expect(full, "2*B*D*F/(b*(B*D + D*F + B*F))")
    near = d.approximate("intensity", full, "B << D, F")
    d.expect(near, "2*B/b")
    d.number("intensity", near, values={"B": 240}, expect="240")
    program, total = layer.program, layer.costs["forward"].hbm_bytes
    read, written = moved(d, layer, program.leaves), moved(d, layer, program.outputs)
    d.equal("bytes_read", read, total - written, "Both operands.")
    d.equal("bytes_written", written, total - read, "The result.")


@derivation("roofline/int8", title="The same in int8", source=BOOK)
def int8(d):
    layer = d.program(MATMUL, dtype="int8", passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.expect(batch, "B >= C/(2*W_hbm)")
    d.evaluate(on="tpu-v5e", expect="240.24")


@derivation("roofline/chip", title="The roofline of a chip, and products of matrices on it", source=BOOK)
def chip(d):
    products = {}
    for kind, batches in (("bf16", (16, 128, 1024)), ("int8", (32,))):
        layer = d.program(MATMUL, dtype=kind, passes=["forward"])
        products |= {f"{kind}, $B = {each}$": (layer, {"B": each, "D": 8192, "F": 8192}) for each in batches}
    d.number("intensity", d.intensity(layer), values={"B": 128, "D": 8192, "F": 8192}, expect="248")
    d.roofline(
        products,
        on="tpu-v5e",
        dtypes=("bf16", "int8"),
        title="Roofline of TPU v5e",
        caption="Left of the bend HBM is the limit, right of it the peak. Dots: products with a matrix of "
        "8192 by 8192; in int8 a batch reaches twice the intensity.",
    )


@derivation("roofline/int8-weights", title="Weights in int8, activations in bf16", source=BOOK)
def int8_weights(d):
    layer = d.program(MIXED, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.expect(batch, "B >= C/(2*W_hbm)")
    d.evaluate(on="tpu-v5e", expect="120.12")


@derivation("roofline/kink", title="Where the curve of a real matrix bends", source=BOOK)
def kink(d):
    layer = d.program(MIXED, passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", exact=True, resource="hbm", passes="forward")
    d.expect(batch, "B >= D*F*C/(2*(D*F*W_hbm - C*(D + F)))")
    d.evaluate(batch, on="tpu-v5e", values={"D": 4096, "F": 4096}, expect="136.1")
    rate = layer.costs["forward"].total_flops / longer(d, t.math, t.hbm)
    known = "2*B*D*F/max(2*B*D*F/C, (b_x*B*D + b_W*D*F + b_x*B*F)/W_hbm)"
    d.equal("rate", rate, d.read(known), "The curve: what is attained with B tokens.")
    sizes = {f"{each} by {each}": {"D": each, "F": each} for each in (4096, 1024)}
    d.plot(
        {label: (rate, size) for label, size in sizes.items()},
        "B",
        (16, 1024),
        title="What a product of matrices attains",
        caption="The rate grows with the batch up to the peak, and bends later where the matrix is small.",
        y="attained [FLOP/s]",
        marks=[(batch, label) for label in sizes],
        on="tpu-v5e",
    )


@derivation("roofline/small-matrices", title="Small matrices need nearly twice the batch", source=BOOK)
def small_matrices(d):
    layer = d.program(MIXED, passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", exact=True, resource="hbm", passes="forward")
    d.evaluate(batch, on="tpu-v5e", values={"D": 1024, "F": 1024}, expect="226.3")


@derivation("roofline/growth", title="How much larger: 226 tokens beside 120", source=BOOK)
def growth(d):
    layer = d.program(MIXED, passes=["forward"])
    t = d.times(layer)
    small = d.crossover(t.math, ">=", t.hbm, "B", exact=True, resource="hbm", passes="forward")
    small = d.evaluate(small, on="tpu-v5e", values={"D": 1024, "F": 1024}, expect="226.3")
    wide = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward", title="For wide matrices")
    wide = d.evaluate(wide, on="tpu-v5e", expect="120.12")
    d.number("growth", d.read("B_small/B_wide"), values={"B_small": small.value, "B_wide": wide.value}, expect="1.88")


@derivation("roofline/sharded-weights", title="Weights split over chips need no larger batch", source=BOOK)
def sharded_weights(d):
    layer = d.program("x[B, D] * W[D, F_X] -> y[B, F_X]", passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward", limits="B << D, F/X")
    d.expect(batch, "B >= C/W_hbm")
    d.evaluate(on="tpu-v5e", expect="240.24")


@derivation("roofline/tokens", title="Two million tokens on 2048 GPUs", source=BOOK)
def tokens(d):
    batch, each = d.read("sequences*T"), d.read("sequences*T/N_chips")
    d.number("B", batch, values={"sequences": 512, "T": 4096}, expect="2097152")
    d.number("B_chip", each, values={"sequences": 512, "T": 4096, "N_chips": 2048}, expect="1024")


@derivation("roofline/tiles", title="A product in tiles reads its operands again for every tile", source=BOOK)
def tiles(d):
    layer = d.program(TILES, passes=["forward"])
    d.counts(layer)
    full = d.intensity(layer)
    d.expect(full, "2*b_m*b_n*t_k*b_k/(b*(t_k*b_k*(b_m + b_n) + b_m*b_n))")
    deep = d.approximate("intensity", full, "b_m, b_n << t_k*b_k")
    d.equal("intensity_deep", d.read("2*b_m*b_n/(b*(b_m + b_n))"), deep, "The depth cancels.")
    size = {"b_m": 128, "b_n": 128, "b_k": 128, "t_k": 32, "b": 2}
    d.number("intensity", full, values=size, expect="63.02")
    d.number("intensity_deep", deep, values=size, expect="64")


@derivation("roofline/h100", title="The batch of an H100", source=BOOK)
def h100(d):
    sparse = machine("h100").peak("bf16", sparse=True)
    d.number("C", d.read("C_sparse/2"), values={"C_sparse": sparse}, expect="9.89e14")
    layer = d.program(MATMUL, passes=["forward"])
    t = d.times(layer)
    d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.evaluate(on="h100", expect="295.2")


@derivation("roofline/dot-product", title="A dot product is never busy", source=BOOK)
def dot_product(d):
    layer = d.program("x[N] * y[N] -> z[]", passes=["forward"])
    d.counts(layer)
    long = d.approximate("intensity", d.intensity(layer), "N >> 1")
    d.expect(long, "1/b")
    d.number("intensity", long, expect="0.5")
    t = d.times(layer)
    length = d.crossover(t.math, ">=", t.hbm, "N", exact=True, resource="hbm", passes="forward")
    d.evaluate(length, on="tpu-v5e")


@derivation("roofline/matrix-per-row", title="One matrix for each row of the batch", source=BOOK)
def matrix_per_row(d):
    layer = d.program("x[B, D] * W[B, D, F] -> y[B, F]", dtype="int8", passes=["forward"])
    d.counts(layer)
    wide = d.approximate("intensity", d.intensity(layer), "D, F >> 1")
    d.expect(wide, "2/b")
    d.number("intensity", wide, expect="2")


@derivation("sharding/two-chips", title="Splitting a contraction over two chips", source=BOOK)
def two_chips(d):
    layer = d.program("x[B, D_X] * W[D_X, F] -> y[B, F]", on="tpu-v5e", mesh={"X": 2}, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    cost = layer.costs["forward"]
    ratio = cost.total_flops / sum(cost.comm_bytes().values())
    d.equal("intensity_link", ratio, d.read("D/b"), "FLOPs per byte that crosses the link: in bf16 D/2.")
    peak = machine("tpu-v5e").peak("bf16")
    d.number("intensity_chip", d.read("C/W_link"), on="tpu-v5e", values={"C": peak}, expect="4377.78")
    width = d.crossover(t.math, ">=", t.comms, "D", passes="forward", resource="ici")
    d.expect(width, "D >= 2*C/W_link")
    d.evaluate(on="tpu-v5e", expect="8755.56")
    d.ask(
        "The contracted dimension D is split over two chips of {chip}, and the partial sums are added up. How wide "
        "must D be at least for the arithmetic to take as long as the communication?",
        width,
        hints=[
            "Each chip multiplies its part of D: its result has the full size and is a partial sum.",
            "What is sent depends on the size of y, and not on D; what is computed grows with D.",
            "A line has no way around: its link carries one direction at a time for the end chips.",
        ],
    )


@derivation("sharding/two-chips-add", title="Adding two partial sums is little work", source=BOOK)
def two_chips_add(d):
    layer = d.program("one[B, F] + two[B, F] -> y[B, F]", passes=["forward"])
    d.counts(layer)
    d.expect(layer.costs["forward"].vector_flops, "B*F")


@derivation("roofline/overlap", title="Overlap gains at most a factor of two", source=BOOK)
def overlap(d):
    layer = d.program("x[B_X, D] * W[D_X, F] -> y[B_X, F]", passes=["forward"])
    serial = d.times(layer, overlap="sum")
    overlapped = d.times(layer)
    bound = d.crossover(serial.total, "<=", 2 * overlapped.total, "B", exact=True, title="Sum against twice the larger")
    d.expect(bound, "always")
