"""How To Scale Your Model, chapter 3: what a chip holds, and the four cases of a sharded product."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 3 [@austin2025]"
ROWS, COLUMNS = "A[I_X, J]", "B[J, K_Y]"
CUBE = {"X": 4, "Y": 4, "Z": 4}


def held(d, program):
    """Return the bytes of an array, and what of them a chip holds: what it does not receive when all is gathered."""
    layer = d.program(program, passes=["forward"])
    d.counts(layer)
    cost = layer.costs["forward"]
    whole = cost.transfers[0].volume
    return whole, whole - sum(cost.comm_bytes().values())


def longer(d, first, second):
    """Return the longer of two times."""
    return d.read("max(p, q)").subs({d.symbol("p"): first, d.symbol("q"): second})


@derivation("sharding/share", title="Which part of an array one chip holds", source=BOOK)
def share(d):
    whole, each = held(d, "A[I_X, J_Y] -> G[I, J]")
    d.equal("bytes_chip", d.read("b*I*J/(X*Y)"), each, "What a gather does not bring.")
    d.equal("share", d.read("1/(X*Y)"), each / whole, "Of the whole.")
    d.equal("elements", d.read("I*J/(X*Y)"), each / d.symbol("b"), "I/X rows by J/Y columns.")
    d.number("share", each / whole, values={"X": 2, "Y": 2}, expect="1/4")


@derivation("sharding/rows", title="Rows split over two axes", source=BOOK)
def rows(d):
    whole, each = held(d, "A[I_XY, J] -> G[I, J]")
    d.equal("rows", d.read("I/(X*Y)"), each / d.read("b*J"), "Rows of one chip.")
    d.equal("bytes_chip", d.read("b*I*J/(X*Y)"), each, "In bytes.")
    d.equal("shards", d.read("X*Y"), whole / each, "Ways to split the rows.")
    d.equal("T_hbm", d.read("b*I*J/(X*Y*W_hbm)"), each / d.symbol("W_hbm"), "To read it once.")
    size = {"b": 4, "I": 1024, "J": 4096, "X": 8, "Y": 2}
    d.number("T_hbm", each / d.symbol("W_hbm"), on="h100", values=size, expect="313e-9")


@derivation("sharding/copies", title="An axis that splits nothing holds copies", source=BOOK)
def copies(d):
    whole, each = held(d, "A[I_XY, J] -> G[I, J]")
    every = each * d.read("X*Y*Z")
    d.equal("bytes_all", d.read("b*I*J*Z"), every, "Over all chips of a mesh X, Y, Z.")
    d.number("bytes_all", every, values={"b": 1, "I": 128, "J": 2048, "X": 2, "Y": 8, "Z": 2}, expect="524288")
    whole, each = held(d, "A[I_X, J, K] -> G[I, J, K]")
    ratio = each * d.read("X*Y*Z") / whole
    d.equal("copies", d.read("Y*Z"), ratio, "Question 1, split over X alone: all bytes over those of one copy.")
    d.number("copies", d.read("Y*Z"), values={"Y": 8, "Z": 2}, expect="16")
    whole, _ = held(d, "A[I_X] -> G[I]")
    vector = (whole / d.symbol("b") * d.symbol("X")).subs({d.symbol("X"): d.symbol("p"), d.symbol("I"): d.read("p*n")})
    d.equal("elements", d.read("p^2*n"), vector, "After a gather over p chips, of n elements from each.")


@derivation("sharding/blocks", title="A product is a sum of products of blocks, at last of outer products", source=BOOK)
def blocks(d):
    whole = d.read("a_1*c_1 + a_2*c_2 + a_3*c_3 + a_4*c_4")
    d.remark("A row of A holds a_1 to a_4, a column of B holds c_1 to c_4; a block has two of them.")
    first, second = d.read("a_1*c_1 + a_2*c_2"), d.read("a_3*c_3 + a_4*c_4")
    d.equal("y", whole, first + second, "Products of blocks add up.")
    layer = d.program("A[I, J_X] * B[J_X, K] -> C[I, K]", sizes={"J": d.symbol("X")}, passes=["forward"])
    d.counts(layer)
    d.remark("With a chip for every index of J, each has a column of A and a row of B: an outer product.")
    d.expect(layer.costs["forward"].total_flops, "2*I*K")


@derivation("sharding/case-1", title="Nothing contracts over a mesh axis: nothing is sent", source=BOOK)
def case_1(d):
    for program in (
        f"{ROWS} * B[J, K] -> C[I_X, K]",
        f"A[I, J] * {COLUMNS} -> C[I, K_Y]",
        "A[I, J] * B[J, K] -> C[I, K]",
    ):
        layer = d.program(program, passes=["forward"])
        d.collectives(layer)
        d.expect(d.times(layer).comms, "0")
    layer = d.program(f"{ROWS} * {COLUMNS} -> C[I_X, K_Y]", passes=["forward"])
    d.counts(layer)
    sent = d.times(layer).comms
    d.expect(sent, "0")
    d.equal("T_comms", sent, d.read("0"), "In all four programs.")


@derivation(
    "sharding/inputs-or-output", title="A result on every chip: gather both operands, or the result", source=BOOK
)
def inputs_or_output(d):
    early = d.program(f"{ROWS} -> G[I, J]; {COLUMNS} -> H[J, K]; G * H -> C[I, K]", passes=["forward"])
    d.collectives(early)
    first = d.approximate("T_inputs", d.times(early).comms, "X, Y >> 1")
    late = d.program(f"{ROWS} * {COLUMNS} -> P[I_X, K_Y]; P -> C[I, K]", passes=["forward"])
    d.collectives(late)
    second = d.approximate("T_output", d.times(late).comms, "X, Y >> 1")
    d.expect(first, "max(b*I*J, b*J*K)/W_ici")
    d.expect(second, "b*I*K/(2*W_ici)")
    least = d.read("min(p, q)").subs({d.symbol("p"): first, d.symbol("q"): second})
    either = d.read("min(max(b*I*J, b*J*K)/W_ici, b*I*K/(2*W_ici))")
    d.equal("T_least", either, least, "The two axes carry both operands at the same time, or the result together.")


@derivation("sharding/case-2", title="One operand contracts over an axis: gather it", source=BOOK)
def case_2(d):
    layer = d.program("A[I, J_X] * B[J, K] -> C[I, K]", passes=["forward"])
    d.counts(layer)
    spent = d.approximate("T_comms", d.times(layer).comms, "X >> 1")
    d.expect(spent, "b*I*J/W_ici")


@derivation("sharding/case-2-or-slice", title="Or slice the other operand and owe a sum", source=BOOK)
def case_2_or_slice(d):
    gather = d.program("A[I, J_X] -> G[I, J]; G * B[J, K] -> C[I, K]", passes=["forward"])
    d.collectives(gather)
    first = d.times(gather)
    slice_ = d.program("B[J, K] -> P[J_X, K]; A[I, J_X] * P -> C[I, K]", passes=["forward"])
    d.collectives(slice_)
    second = d.times(slice_)
    cheaper = d.crossover(first.comms, "<=", second.comms, "J", exact=True, title="Where gathering sends less")
    d.expect(cheaper, "J <= 2*K")


@derivation("sharding/case-3", title="Both operands contract over the same axis: a sum is owed", source=BOOK)
def case_3(d):
    layer = d.program("A[I, J_X] * B[J_X, K] -> C[I, K]", passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    width = d.crossover(t.math, ">=", t.comms, "J", passes="forward", resource="ici")
    d.expect(width, "J/X >= 2*C/W_ici")
    d.evaluate(on="tpu-v5p", expect="5100")


@derivation("sharding/case-3-scattered", title="An output that stays split costs half", source=BOOK)
def case_3_scattered(d):
    layer = d.program("A[I, J_X] * B[J_X, K] -> C[I, K_X]", passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    width = d.crossover(t.math, ">=", t.comms, "J", passes="forward", resource="ici")
    d.expect(width, "J/X >= C/W_ici")
    d.evaluate(on="tpu-v5p", expect="2550")


@derivation("sharding/case-4", title="Both operands split the output over one axis: gather either", source=BOOK)
def case_4(d):
    left = d.program("A[I_X, J] -> G[I, J]; G * B[J, K_X] -> C[I, K_X]", passes=["forward"])
    d.collectives(left)
    first = d.times(left)
    right = d.program("B[J, K_X] -> G[J, K]; A[I_X, J] * G -> C[I_X, K]", passes=["forward"])
    d.collectives(right)
    second = d.times(right)
    cheaper = d.crossover(first.comms, "<=", second.comms, "I", exact=True, title="Where gathering A sends less")
    d.expect(cheaper, "I <= K")
    d.approximate("T_left", first.comms, "X >> 1")
    d.approximate("T_right", second.comms, "X >> 1")
    have, wanted = d.read("X*(I/X)*(K/X)"), d.read("I*K")
    d.equal("share", d.read("1/X"), have / wanted, "Of C without a gather: the blocks on the diagonal, one per chip.")


@derivation("sharding/gather-first-or-last", title="A replicated result: gather the input or the output", source=BOOK)
def gather_first_or_last(d):
    early = d.program("A[I_X, J] -> G[I, J]; G * B[J, K] -> C[I, K]", passes=["forward"])
    first = d.times(early)
    late = d.program("A[I_X, J] * B[J, K] -> P[I_X, K]; P -> C[I, K]", passes=["forward"])
    second = d.times(late)
    cheaper = d.crossover(first.comms, "<=", second.comms, "J", exact=True, title="Where gathering first sends less")
    d.expect(cheaper, "J <= K")
    gathers = (d.approximate("T_comms", each.comms, "X >> 1") for each in (first, second))
    least = d.read("min(p, q)").subs(dict(zip((d.symbol("p"), d.symbol("q")), gathers, strict=True)))
    d.equal("T_least", d.read("min(b*I*J/W_ici, b*I*K/W_ici)"), least, "The cheaper of the two.")


@derivation("sharding/gather-or-reduce", title="Gather the weights, or reduce the result?", source=BOOK)
def gather_or_reduce(d):
    gather = d.program("W[D_X, F] -> G[D, F]; x[B, D] * G -> y[B, F]", passes=["forward"])
    whole = d.times(gather)
    reduce = d.program("x[B, D_X] * W[D_X, F] -> y[B, F]", passes=["forward"])
    split = d.times(reduce)
    better = d.crossover(split.total, "<=", whole.total, "D", limits="X >> 1", title="Where reducing is faster")
    d.expect(better, "D >= Min(2*B, 2*C/W_ici)")
    better = d.evaluate(better, on="tpu-v5p", values={"B": 1024}, expect="2048")
    d.evaluate(better, on="tpu-v5p", values={"B": 8192}, expect="5100")


@derivation("sharding/gather-or-reduce-bounds", title="Question 4: what binds each of the two ways", source=BOOK)
def gather_or_reduce_bounds(d):
    gather = d.program("W[D_X, F] -> G[D, F]; x[B, D] * G -> y[B, F]", passes=["forward"])
    whole = d.times(gather)
    rows = d.crossover(whole.math, "<", whole.comms, "B", limits="X >> 1", title="Gathering waits for the network")
    d.expect(rows, "B < C/W_ici")
    d.evaluate(rows, on="tpu-v5p", expect="2550")
    reduce = d.program("x[B, D_X] * W[D_X, F] -> y[B, F]", passes=["forward"])
    split = d.times(reduce)
    ways = d.crossover(split.math, ">", split.comms, "X", limits="X >> 1", title="Reducing waits for the arithmetic")
    d.expect(ways, "X < D*W_ici/(2*C)")
    d.evaluate(ways, on="tpu-v5p", values={"D": 8192}, expect="1.606")
    exact = d.crossover(split.math, ">", split.comms, "X", exact=True, title="Exactly, for few chips")
    d.evaluate(exact, on="tpu-v5p", values={"D": 8192}, expect="2.606")


@derivation("sharding/replicate", title="When is it best not to split at all?", source=BOOK)
def replicate(d):
    whole = d.program("A[I, J] * B[J, K] -> C[I, K]", passes=["forward"])
    first = d.times(whole)
    split = d.program("A[I_XYZ, J] * B[J, K] -> P[I_XYZ, K]; P -> C[I, K]", passes=["forward"])
    d.collectives(split)
    second = d.times(split)
    inner = d.crossover(first.total, ">=", second.total, "J", limits="X, Y, Z >> 1", title="Where splitting is faster")
    d.expect(inner, "J >= C/(3*W_ici)")
    d.evaluate(inner, on="tpu-v4p", expect="1018.5")


@derivation("sharding/replicate-sum", title="Question 5: splitting the contraction sends twice as much", source=BOOK)
def replicate_sum(d):
    split = d.program("A[I, J_XYZ] * B[J_XYZ, K] -> C[I, K]", passes=["forward"])
    d.collectives(split)
    t = d.times(split)
    sent = d.approximate("T_comms", t.comms, "X, Y, Z >> 1")
    d.expect(sent, "2*b*I*K/(3*W_ici)")
    cube = {d.symbol(name): size for name, size in CUBE.items()}
    total = longer(d, t.math, sent)
    d.equal("T_total", total.subs(cube), d.read("max(2*I*J*K/(64*C), 2*b*I*K/(3*W_ici))"), "On 4 x 4 x 4 chips.")


@derivation("sharding/mesh-4x4-contraction", title="A contraction over a line of four", source=BOOK)
def mesh_contraction(d):
    where = {"on": "tpu-v5e", "mesh": {"X": 4, "Y": 4}}
    layer = d.program("A[I_X, J_Y] * B[J_Y, K] -> C[I_X, K]", passes=["forward"], **where)
    d.counts(layer)
    t = d.times(layer)
    width = d.crossover(t.math, ">=", t.comms, "J", passes="forward", resource="ici")
    d.expect(width, "J >= 6*C/W_link")
    d.evaluate(on="tpu-v5e", expect="26266.7")


@derivation("sharding/mesh-4x4-gather", title="Gathering weights over a line of four", source=BOOK)
def mesh_gather(d):
    where = {"on": "tpu-v5e", "mesh": {"X": 4, "Y": 4}}
    layer = d.program("A[I_X, J] * B[J_X, K_Y] -> C[I_X, K_Y]", passes=["forward"], **where)
    d.counts(layer)
    t = d.times(layer)
    rows = d.crossover(t.math, ">=", t.comms, "I", passes="forward", resource="ici")
    d.expect(rows, "I >= 3*C/W_link")
    d.evaluate(on="tpu-v5e", expect="13133.3")


@derivation("sharding/mesh-4x4-free", title="Rows and columns over a mesh of 4 x 4: nothing is sent", source=BOOK)
def mesh_free(d):
    layer = d.program(f"{ROWS} * {COLUMNS} -> C[I_X, K_Y]", on="tpu-v5e", mesh={"X": 4, "Y": 4}, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    d.equal("T_comms", t.comms, d.read("0"), "Question 6: no array changes its layout.")
    d.expect(t.math, "2*I*J*K/(16*C)")


@derivation("sharding/question-7", title="Question 7: which scheme for an MLP on 2 x 2 chips?", source=BOOK)
def question_7(d):
    size = {"B": 128, "D": 8192, "F": 32768, "b": 2}
    where = {"on": "tpu-v5e", "mesh": {"X": 2, "Y": 2}, "passes": ["forward"]}
    wide = d.program("In[B, D_XY] * W_in[D, F_XY] * W_out[F_XY, D] -> Out[B, D_XY]", **where)
    d.counts(wide)
    t = d.times(wide)
    d.number("bytes_in", wide.costs["forward"].transfers[0].volume, values=size, expect="2.1e6")
    read = d.approximate("T_hbm", t.hbm, "B << D, F")
    d.number("bytes_weights", read * d.symbol("W_hbm"), values=size, expect="268e6")
    d.number("T_math", t.math, on="tpu-v5e", values=size, expect="174e-6")
    d.number("T_hbm", read, on="tpu-v5e", values=size, expect="327e-6")
    d.number("T_tp", t.comms, on="tpu-v5e", values=size, expect="35e-6")
    data = d.program("In[B_XY, D] * W_in[D_XY, F] * W_out[F, D_XY] -> Out[B_XY, D]", **where)
    d.counts(data)
    d.number("bytes_matrix", data.costs["forward"].transfers[0].volume, values=size, expect="537e6")
    gathers = d.times(data).comms
    d.number("T_fsdp", gathers, on="tpu-v5e", values=size, expect="8.95e-3")
    d.equal("ratio", d.read("F/B"), gathers / t.comms, "What FSDP sends over what tensor parallelism sends: 256 times.")


@derivation("sharding/question-9", title="Question 9: partial sums instead of a gather", source=BOOK)
def question_9(d):
    gather = d.program("A[N, M_X] -> G[N, M]; G * B[M, K] -> O[N, K]", passes=["forward"])
    d.collectives(gather)
    first = d.times(gather).comms
    d.expect(first, "b*N*M*(X - 1)/(X*W_ici)")
    whole = d.program("A[N, M_X] * B[M_X, K] -> O[N, K]", passes=["forward"])
    d.collectives(whole)
    d.equal(
        "T_reduced", d.read("2*b*N*K*(X - 1)/(X*W_ici)"), d.times(whole).comms, "Each chip sums over its part of M."
    )
    scattered = []
    for result in ("O[N_X, K]", "O[N, K_X]"):
        layer = d.program(f"A[N, M_X] * B[M_X, K] -> {result}", passes=["forward"])
        d.collectives(layer)
        scattered.append(d.times(layer).comms)
    d.equal("T_scattered", *scattered, "Split over N or over K: the same bytes, half of the AllReduce's.")
    d.equal("ratio_gather", d.read("M/K"), first / scattered[0], "The gather of A over the ReduceScatter of O.")
