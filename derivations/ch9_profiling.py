"""How To Scale Your Model, chapter 9: reading a profile, and undoing what the compiler did to a Transformer."""

from symscale import address, derivation, indices, read_hlo, work_of

BOOK = "How To Scale Your Model, ch. 9 [@austin2025]"
# the peak of a core of TPU v2 that the chapter gives, and its link: 120 GB/s in both directions
CORE = {"C": 23 * 10**12}
LINK = {"W_link": 60 * 10**9}
FFW = "x[B_X, T, D] * W_in[D, F_Y] -> Tmp[B_X, T, F_Y]"
SIZES = {"B": 32, "T": 1024, "D": 8192, "F": 32768, "X": 4, "Y": 2}
DOT = (
    "%dot.4 = f32[16,128]{1,0} dot(bf16[256,16] %y, f32[128,256] %x), "
    "lhs_contracting_dims={0}, rhs_contracting_dims={1}"
)
SCATTER = (
    "%fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)} fusion(bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} "
    "%fusion.32), kind=kCustom, calls=%all-reduce-scatter.3"
)
# what the profile of question 1 shows of its first product, and of its AllReduce
FUSION = "%fusion.1 = bf16[4096] fusion(bf16[4096,8192] %p.1, bf16[8192] %reduce.2), kind=kOutput, calls=%fused.1"
GROUPS = ",".join("{" + ",".join(str(at + 16 * n) for n in range(8)) + "}" for at in range(16))
REDUCED = f"%all-reduce = bf16[1,8192] all-reduce(bf16[1,8192] %fusion.2), replica_groups={{{GROUPS}}}"


def only(text):
    """Return what the one operation of a text does."""
    (found,) = work_of(read_hlo(text))
    return found


def layout(text):
    """Return the shape of an array that a text writes, with its layout."""
    return only(f"%x = {text} copy({text} %y)").writes[0]


@derivation("profiling/dot", title="A dot of HLO is an einsum", source=BOOK)
def dot(d):
    layer = d.program("x[B, F] * y[F, D] -> z[D, B]", passes=["forward"])
    d.counts(layer)
    found = only(DOT)
    (product,) = found.products
    d.remark(f"The compiler writes {DOT}, which is {product.contraction.program}.")
    flops = d.number("FLOPs", layer.costs["forward"].total_flops, values={"B": 128, "F": 256, "D": 16})
    d.equal("FLOPs", flops, d.read(str(found.flops)), "Counted in the line of HLO.")


@derivation("profiling/scatter", title="A fusion that scatters over two devices, in VMEM", source=BOOK)
def scatter(d):
    found = only(SCATTER)
    (result,) = found.writes
    d.remark(f"The profile shows {SCATTER}: {result.text} in {result.where}.")
    d.number("devices", d.read("L_in/L_out"), values={"L_in": 8192, "L_out": 4096}, expect=str(found.sent.chips))
    d.number("bytes", d.read("2*I*J*K"), values={"I": 32, "J": 32, "K": 4096}, expect=str(result.bytes))


@derivation("profiling/padding", title="Tiles of 2 x 2 make an array of 3 x 5 larger by 60 %", source=BOOK)
def padding(d):
    shape = layout("f32[3,5]{1,0:T(2,2)}")
    grown = d.read("ceil(I/t_1)*t_1*ceil(J/t_2)*t_2/(I*J)")
    value = d.number("expansion", grown, values={"I": 3, "J": 5, "t_1": 2, "t_2": 2}, expect="1.6")
    d.equal("expansion", value, d.read(f"{shape.held}/{shape.bytes}"), "Bytes in memory over bytes of the elements.")


@derivation("profiling/tiles", title="Where an element of a tiled array lies", source=BOOK)
def tiles(d):
    shape = layout("f32[3,5]{1,0:T(2,2)}")
    within = "2*(i - 2*floor(i/2)) + (j - 2*floor(j/2))"
    d.equal(
        "offset", d.read(f"4*(3*floor(i/2) + floor(j/2)) + {within}"), address(shape), "Tile after tile, row by row."
    )


@derivation("profiling/two-tiles", title="Two rows of bf16 share a word", source=BOOK)
def two_tiles(d):
    shape = layout("bf16[4,8]{1,0:T(2,4)(2,1)}")
    within = "2*(j - 4*floor(j/4)) + (i - 2*floor(i/2))"
    d.equal("offset", d.read(f"8*(2*floor(i/2) + floor(j/4)) + {within}"), address(shape), "The inner tile is 2 x 1.")
    i, j = indices(shape)
    below = address(shape).subs({i: 1, j: 0}) - address(shape).subs({i: 0, j: 0})
    d.equal("neighbours", d.read("1"), below, "Elements 0 and 1 of a column are adjacent: a unit of 4 bytes.")
    d.number("unit", d.read("b*t"), values={"b": 2, "t": 2}, expect="4")


@derivation("profiling/ffw", title="The up-projection of a Transformer on eight cores of TPU v2", source=BOOK)
def ffw(d):
    layer = d.program(FFW, passes=["forward"])
    d.counts(layer)
    d.number("B_local", d.read("B/X"), values=SIZES, expect="8")
    d.number("F_local", d.read("F/Y"), values=SIZES, expect="16384")
    d.number("B", d.read("B_local*X"), values={"B_local": 8, "X": 4}, expect="32")
    d.number("F", d.read("F_local*Y"), values={"F_local": 16384, "Y": 2}, expect="32768")
    d.number("tokens", d.read("B*T/X"), values=SIZES, expect="8192")
    t = d.times(layer)
    least = d.number("T_math", t.math, values={**SIZES, **CORE}, expect="95.6e-3")
    d.number(
        "share", d.read("T_math/T_measured"), values={"T_math": least, "T_measured": d.read("96/1000")}, expect="0.996"
    )
    d.number("parts", d.read("B/B_local"), values={"B": 32, "B_local": 8}, expect="4")


@derivation("profiling/reduce-scatter", title="The ReduceScatter behind the down-projection", source=BOOK)
def reduce_scatter(d):
    layer = d.program("Tmp[B_X, T, F_Y] * W_out[F_Y, D] -> Out[B_X, T, D_Y]", passes=["forward"])
    d.collectives(layer)
    sent = d.read("2*B*T*D/X")
    volume = d.number("V", sent, values=SIZES, expect="134.2e6")
    found = d.collective("ReduceScatter", sent, {"Y": 2}, on="tpu-v5e")
    d.expect(found.time, "B*T*D/(X*W_link)")
    d.equal("T_comms", found.time, sent / d.read("2*W_link"), "Over two chips: V over both directions of a link.")
    least = d.number("T_comms", found.time, values={**SIZES, **LINK}, expect="1.1e-3")
    d.number(
        "share",
        d.read("T_comms/T_measured"),
        values={"T_comms": least, "T_measured": d.read("113/100000")},
        expect="0.99",
    )
    d.equal("V", volume, d.read("128*2^20"), "128 MiB.")


@derivation("profiling/queries", title="The projection of the queries", source=BOOK)
def queries(d):
    layer = d.program("x[B, T, D] * W_Q[D, N, H] -> Q[B, T, N, H]", passes=["forward"])
    t = d.times(layer)
    local = {"B": 8, "T": 1024, "D": 8192, "N_heads": 8, "N": 8, "H": 256}
    least = d.number("T_math", t.math, values={**local, **CORE}, expect="11.95e-3")
    d.number(
        "share",
        d.read("T_math/T_measured"),
        values={"T_math": least, "T_measured": d.read("13883/10^6")},
        expect="0.861",
    )
    d.number("heads_split", d.read("N/N_local"), values={"N": 32, "N_local": 8})


@derivation("profiling/free", title="What is free of 16 GB", source=BOOK)
def free(d):
    d.number("M_free", d.read("M_hbm - M"), values={"M_hbm": 16 * 10**9, "M": 75 * 10**8}, expect="8.5e9")


@derivation("profiling/two-products", title="Question 1: two products and an AllReduce over 8 of 128", source=BOOK)
def two_products(d):
    layer = d.program("x[B_X, D] * W_1[F_Y, D] -> h[B_X, F_Y]; h * W_2[D, F_Y] -> y[B_X, D]", passes=["forward"])
    d.collectives(layer)
    reduced, product = only(REDUCED), only(FUSION)
    d.remark(
        f"fusion.1 is {product.products[0].contraction.program} by its shapes, and the AllReduce runs over groups."
    )
    d.number("Y", d.read("last/stride + 1"), values={"last": 112, "stride": 16}, expect=str(reduced.sent.chips))
    d.number("F", d.read("F_local*Y"), values={"F_local": 4096, "Y": reduced.sent.chips}, expect="32768")
    d.number("V", d.read("2*B*D"), values={"B": 1, "D": 8192}, expect=str(reduced.sent.volume))


@derivation("profiling/counters", title="Question 1: the counters of a profile", source=BOOK)
def counters(d):
    layer = d.program("W[F, D] * x[D] -> y[F]", passes=["forward"])
    d.counts(layer)
    found = only(FUSION)
    (product,) = found.products
    local = {"F": 4096, "D": 8192}
    flops = d.number("FLOPs", layer.costs["forward"].total_flops, values=local, expect="67108864")
    # a sum of D products takes D - 1 additions
    exact = flops - d.number("results", d.read("F"), values=local)
    d.equal(
        "FLOPs_exact", exact, d.read(str(product.contraction.exact_flops)), "A sum of D products has D - 1 additions."
    )
    d.equal(
        "FLOPs_exact", d.read("F*(2*D - 1)").subs({d.symbol(n): v for n, v in local.items()}), exact, "In closed form."
    )
    moved = d.number("bytes_hbm", layer.costs["forward"].hbm_bytes, values={**local, "b": 2}, expect="67133440")
    d.equal("bytes_hbm", moved, d.read(str(found.bytes)), "As the line's shapes say.")
    d.number("intensity", d.read("FLOPs/bytes"), values={"FLOPs": exact, "bytes": moved}, expect="0.99957")
    d.number(
        "W", d.read("bytes/T_measured"), values={"bytes": moved, "T_measured": d.read("209227/10^9")}, expect="320.9e9"
    )


@derivation("profiling/transformer", title="Question 2: most of a layer's time is the MLP's", source=BOOK)
def transformer(d):
    d.number("tokens", d.read("B_local*X*T"), values={"B_local": 8, "X": 4, "T": 1024}, expect="32768")
    parts = {
        "FLOPs_MLP": "x[B, D] * W_in[D, F] -> h[B, F]; h * W_out[F, D] -> y[B, D]",
        "FLOPs_projections": "x[B, D] * W_Q[D, A] -> Q[B, A]; x * W_K[D, A] -> K[B, A]; x * W_V[D, A] -> V[B, A]; "
        "Q * W_O[A, D] -> o[B, D]",
        "FLOPs_scores": "Q[B, A] * K[S, A] -> s[B, S]; s * V[S, A] -> o[B, A]",
    }
    counted = {name: d.program(text, passes=["forward"]).costs["forward"].total_flops for name, text in parts.items()}
    # keys are as many as the tokens of a sequence; every head has its part of A
    scores = counted["FLOPs_scores"].subs(d.symbol("S"), d.symbol("T"))
    whole = counted["FLOPs_MLP"] + counted["FLOPs_projections"] + scores
    d.equal("share", d.read("4*D*F/(4*D*F + 8*D*A + 4*T*A)"), counted["FLOPs_MLP"] / whole, "Of the FLOPs of a layer.")
    d.number("share", counted["FLOPs_MLP"] / whole, values={**SIZES, "A": 4096}, expect="0.79")
    layer = d.program("x[B_X, T, D] * W_in[D, F_Y] -> h; h * W_out[F_Y, D] -> y[B_X, T, D_Y]", passes=["forward"])
    least = d.number("T_math", d.times(layer).math, values={**SIZES, **CORE}, expect="0.191")
    d.number("speedup", d.read("T_0/T_1"), values={"T_0": 184, "T_1": 67})
    d.number("speedup", d.read("T_0/T_1"), values={"T_0": 90, "T_1": 80})
    d.number("share", d.read("T_measured/T_math"), values={"T_measured": d.read("184/1000"), "T_math": least})
    d.remark("The 184 ms of a layer are less than its two products take on these cores: another model or another chip.")
