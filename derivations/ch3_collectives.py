"""How To Scale Your Model, chapter 3: every change of layout, its collective and its time."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 3 [@austin2025]"


def move(d, program, limits="X >> 1", **where):
    """Write a change of layout down, and return its time for long axes."""
    layer = d.program(program, passes=["forward"], **where)
    d.collectives(layer)
    spent = d.times(layer).comms
    return d.approximate("T_comms", spent, limits) if limits else spent


@derivation("collectives/all-gather", title="AllGather removes a subscript", source=BOOK)
def all_gather(d):
    spent = move(d, "A[I_X, J] -> G[I, J]")
    d.expect(spent, "b*I*J/W_ici")
    d.number("T_comms", spent, on="tpu-v5e", values={"I": 2048, "J": 8192}, expect="373e-6")


@derivation("collectives/reduce-scatter", title="ReduceScatter pays an owed sum and splits", source=BOOK)
def reduce_scatter(d):
    d.expect(move(d, "A[I, J]{U_X} -> R[I_X, J]"), "b*I*J/W_ici")


@derivation("collectives/all-reduce", title="AllReduce is a ReduceScatter and an AllGather", source=BOOK)
def all_reduce(d):
    whole = move(d, "A[I, J]{U_X} -> R[I, J]")
    parts = move(d, "A[I, J]{U_X} -> P[I_X, J]; P -> R[I, J]")
    d.expect(whole, "2*b*I*J/W_ici")
    d.equal("T_comms", whole, parts, "Both ways take the same time.")


@derivation("collectives/all-to-all", title="AllToAll moves a subscript, at a quarter of the price", source=BOOK)
def all_to_all(d):
    moved = move(d, "A[I_X, J] -> M[I, J_X]")
    gathered = move(d, "A[I_X, J] -> G[I, J]")
    d.expect(moved, "b*I*J/(4*W_ici)")
    d.equal("T_comms", moved, gathered / 4, "A quarter of what the AllGather of the same array takes.")
    d.equal("ratio", d.read("1/4"), moved / gathered, "AllToAll over AllGather.")


@derivation("collectives/all-to-all-line", title="AllToAll without wraparound takes twice as long", source=BOOK)
def all_to_all_line(d):
    spent = move(d, "A[I_Y, J] -> M[I, J_Y]", limits="", on="tpu-v5e", mesh={"Y": 4})
    d.expect(spent, "b*I*J/(4*W_link)")


@derivation("collectives/all-to-all-torus", title="AllToAll over a torus waits for its longer axis", source=BOOK)
def all_to_all_torus(d):
    spent = move(d, "A[I_XY, J] -> M[I, J_XY]", "X, Y >> 1")
    d.expect(spent, "b*I*J/(4*Min(X, Y)*W_ici)")


@derivation("collectives/slice", title="Adding a subscript is free", source=BOOK)
def slice_(d):
    layer = d.program("A[I, J] -> S[I_X, J]", passes=["forward"])
    d.collectives(layer)


@derivation("collectives/two-axes", title="An AllGather over two axes is twice as fast", source=BOOK)
def two_axes(d):
    both = move(d, "A[I_XY, J] -> G[I, J]", "X, Y >> 1")
    d.expect(both, "b*I*J/(2*W_ici)")


@derivation("collectives/partial", title="Gathering over one of two axes", source=BOOK)
def partial(d):
    inner = move(d, "A[I_XY, J] -> G[I_X, J]", "Y >> 1")
    d.expect(inner, "b*I*J/(X*W_ici)")


@derivation("collectives/line", title="Without wraparound a link carries everything one way", source=BOOK)
def line(d):
    spent = move(d, "A[I_Y, J] -> G[I, J]", limits="", on="tpu-v5e", mesh={"Y": 4})
    d.expect(spent, "3*b*I*J/(4*W_link)")
    d.number("T_comms", spent, on="tpu-v5e", values={"I": 2048, "J": 8192}, expect="560e-6")


@derivation("collectives/latency", title="Below which size latency rules", source=BOOK)
def latency(d):
    layer = d.program("A[I_X] -> G[I]", passes=["forward"], latency=True)
    d.collectives(layer)
    ideal = d.times(layer)
    real = d.times(layer, latency=True)
    bound = d.crossover(ideal.comms, ">=", real.comms, "b*I", limits="X >> 1", title="Bandwidth rules")
    d.expect(bound, "b*I >= T_hop*X*W_ici/2")
    d.evaluate(on="tpu-v5e", values={"X": 16}, expect="720000")


@derivation("collectives/latency-shard", title="The shard below which latency rules", source=BOOK)
def latency_shard(d):
    layer = d.program("A[I_X] -> G[I]", passes=["forward"], latency=True)
    ideal = d.times(layer)
    real = d.times(layer, latency=True)
    bound = d.crossover(ideal.comms, ">=", real.comms, "b*I/X", limits="X >> 1", title="Bandwidth rules")
    d.expect(bound, "b*I/X >= T_hop*W_ici/2")
    d.evaluate(on="tpu-v5e", expect="45e3")


@derivation("collectives/latency-curve", title="Small arrays wait for hops, large ones for bandwidth", source=BOOK)
def latency_curve(d):
    gather = d.collective("AllGather", "M_array", {"X": "X"}, latency=True)
    size = d.crossover(gather.time, ">=", gather.latency, "M_array", exact=True, title="Bandwidth rules")
    d.evaluate(size, on="tpu-v5p", values={"X": 16}, expect="1.536e6")
    slower = d.read("max(p, q)").subs({d.symbol("p"): gather.time, d.symbol("q"): gather.latency})
    rings = {f"$X = {each}$": {"X": each} for each in (4, 16, 64)}
    d.plot(
        {label: (slower, ring) for label, ring in rings.items()},
        "M_array",
        (10**3, 10**9),
        title="An AllGather over rings of three lengths",
        caption="Flat: the hops take longer than the bytes. Rising: the bandwidth rules, and the length of the ring "
        "hardly matters.",
        x="whole array [B]",
        marks=[(size, label) for label in rings],
        on="tpu-v5p",
    )


@derivation("collectives/latency-two-axes", title="Latency over two axes", source=BOOK)
def latency_two_axes(d):
    layer = d.program("A[I_XY] -> G[I]", passes=["forward"], latency=True)
    ideal = d.times(layer)
    real = d.times(layer, latency=True)
    bound = d.crossover(ideal.comms, ">=", real.comms, "b*I", limits="X, Y >> 1", title="Bandwidth rules")
    d.expect(bound, "b*I >= T_hop*(X + Y)*W_ici")
    d.evaluate(on="tpu-v5e", values={"X": 16, "Y": 16}, expect="2.88e6")


@derivation("collectives/latency-bound", title="A small array on a line of four takes three hops", source=BOOK)
def latency_bound(d):
    layer = d.program("A[I_Y, J] -> G[I, J]", on="tpu-v5e", mesh={"Y": 4}, passes=["forward"], latency=True)
    spent = d.times(layer, latency=True).comms
    sent = layer.costs["forward"].transfers[0]
    shard = (sent.volume - sent.cost.received) / d.symbol("W_link")
    d.number("T_shard", shard, on="tpu-v5e", values={"I": 256, "J": 256}, expect="0.73e-6")
    d.number("T_comms", spent, on="tpu-v5e", values={"I": 256, "J": 256}, expect="3e-6")


@derivation("collectives/activations-one-axis", title="Gathering activations over one axis", source=BOOK)
def activations_one_axis(d):
    spent = move(d, "A[B_X, D_Y] -> G[B, D_Y]")
    d.number("T_comms", spent, on="tpu-v4p", values={"B": 1024, "D": 4096, "Y": 4}, expect="23.3e-6")


@derivation("collectives/activations-two-axes", title="Gathering activations over two axes at once", source=BOOK)
def activations_two_axes(d):
    spent = move(d, "A[B_XY, D] -> G[B, D]", "X, Y >> 1")
    d.number("T_comms", spent, on="tpu-v4p", values={"B": 1024, "D": 4096}, expect="46.6e-6")


@derivation("collectives/activations-sum", title="Paying an owed sum over the third axis", source=BOOK)
def activations_sum(d):
    spent = move(d, "A[B_X, D_Y]{U_Z} -> R[B_X, D_Y]", "Z >> 1")
    d.number("T_comms", spent, on="tpu-v4p", values={"B": 1024, "D": 4096, "X": 4, "Y": 4}, expect="11.65e-6")


@derivation("collectives/hops", title="Half as many hops where a ring turns both ways", source=BOOK)
def hops(d):
    one = d.collective("AllGather", "M_array", {"X": "X"}, latency=True, both_ways=False)
    two = d.collective("AllGather", "M_array", {"X": "X"}, latency=True)
    step = d.symbol("T_hop")
    d.equal("hops_one", one.latency / step, d.read("X - 1"), "Shards that a chip lacks, one hop each.")
    d.equal("hops_two", two.latency / step, d.read("floor(X/2)"), "The farthest chip is half way around.")
    d.equal("hops_line", four(d).latency / step, d.read("3"), "On a line of four, from end to end.")
    d.expect(two.time, "M_array*(X - 1)/(X*W_ici)")
    count = two.latency_limit / step
    d.equal("T_step", two.limit / count, d.read("2*M_array/(X*W_ici)"), "Long rings: a hop brings two shards.")
    slow = d.read("max(p, q)").subs({d.symbol("p"): two.limit, d.symbol("q"): two.latency_limit})
    d.equal("T_floor", d.read("max(T_hop, 2*M_array/(X*W_ici))"), slow / count, "Or the latency, if that is longer.")


def four(d):
    """Return an AllGather over an axis of four, which does not close on TPU v5e."""
    return d.collective("AllGather", "M_array", {"Y": 4}, on="tpu-v5e", latency=True)


@derivation(
    "collectives/one-way", title="One way around a gather takes twice, an AllToAll four times as long", source=BOOK
)
def one_way(d):
    matrix, ring, links = "b*N^2", {"X": "X"}, {d.symbol("W_ici"): d.read("2*W_link")}
    gather = d.collective("AllGather", matrix, ring, both_ways=False)
    moved = d.collective("AllToAll", matrix, ring, both_ways=False)
    d.expect(moved.limit, "b*N^2/(2*W_link)")
    scalars = d.read("W_link/b")
    crossing = {"scalars_gather": gather.time * scalars, "scalars_moved": moved.time * scalars}
    for name, wanted in (("scalars_gather", "N^2*(1 - 1/X)"), ("scalars_moved", "N^2*(1 - 1/X)/2")):
        d.equal(name, d.read(wanted), crossing[name], "Numbers that cross one link.")
        d.approximate(name, crossing[name], "X >> 1")
    d.equal("ratio_moved", moved.time / gather.time, d.read("1/2"), "AllToAll over AllGather, one way.")
    gather_both, moved_both = (d.collective(kind, matrix, ring) for kind in ("AllGather", "AllToAll"))
    d.equal("ratio_gather", gather_both.time.subs(links) / gather.time, d.read("1/2"), "Both ways over one way.")
    even = {d.symbol("X"): d.read("2*ceil(n)")}
    gain = (moved.time / moved_both.time).subs(links).subs(even)
    d.equal("gain_even", d.read("4*(1 - 1/(2*ceil(n)))"), gain, "One way over both ways, X = 2 n even.")
    d.equal("gain", moved.limit / moved_both.limit.subs(links), d.read("4"), "For long rings.")
    d.equal("ratio_both", gather_both.limit / moved_both.limit, d.read("4"), "AllGather over AllToAll, both ways.")


@derivation("collectives/chunk-hops", title="How far the chunks of an AllToAll travel", source=BOOK)
def chunk_hops(d):
    right = d.added("chunks_right", "i", "i", "N/2")
    left = d.added("chunks_left", "i", "i", "N/2 - 1")
    d.expect(right, "(N/2)*(N/2 + 1)/2")
    d.expect(left, "(N/2)*(N/2 - 1)/2")
    d.remark("An even ring of N; the chunk for the chip across goes right.")
    both, matrix = right + left, d.read("M_array")
    d.equal("chunks", d.read("N^2/4"), both, "All of a chip's chunk-hops.")
    d.equal("bytes_sent", matrix / 4, both * matrix / d.read("N^2"), "A chunk has 1/N of a shard.")
    d.equal("distance", d.read("N/4"), both / d.symbol("N"), "Between two chips at random, on average.")
    d.approximate("chunks_right", right.expand(), "N >> 1")
    moved = d.collective("AllToAll", matrix, {"X": "X"})
    sent = (moved.time * d.symbol("W_ici")).subs(d.symbol("X"), d.read("2*ceil(n)"))
    d.equal(
        "bytes_both",
        sent,
        both.subs(d.symbol("N"), d.read("2*ceil(n)")) * matrix / d.read("4*ceil(n)^2"),
        "The same from the time of an AllToAll over X = 2 n chips.",
    )


@derivation("collectives/bisection", title="Half of an AllToAll crosses the middle, half of that each way", source=BOOK)
def bisection(d):
    spent = move(d, "A[I_XYZ, J] -> M[I, J_XYZ]", "X, Y, Z >> 1")
    d.expect(spent, "b*I*J*max(X, Y, Z)/(4*X*Y*Z*W_ici)")
    matrix, chips = d.read("b*I*J"), d.read("X*Y*Z")
    crossing = chips / 2 * (matrix / chips) / 2
    d.equal("bytes_cut", crossing, d.read("b*I*J/4"), "Half of the chips send half of what they hold.")
    links = d.read("2*X*Y*Z/max(X, Y, Z)*W_ici/2")
    d.equal("W_cut", links, crossing / spent, "Rings are cut at two places, across the longest axis: one way.")


@derivation("collectives/axes", title="Several physical axes behind a mesh axis share the work", source=BOOK)
def axes(d):
    several = {"X": d.symbol("M_X")}
    gathered = move(d, "A[I_X, J] -> G[I, J]", axes=several)
    scattered = move(d, "A[I, J]{U_X} -> R[I_X, J]", axes=several)
    reduced = move(d, "A[I, J]{U_X} -> R[I, J]", axes=several)
    d.equal("T_gather", gathered, d.read("b*I*J/(M_X*W_ici)"), "AllGather.")
    d.equal("T_scatter", scattered, d.read("b*I*J/(M_X*W_ici)"), "ReduceScatter.")
    d.equal("T_reduce", reduced, d.read("2*b*I*J/(M_X*W_ici)"), "AllReduce.")
    d.number("X", d.read("X_1*X_2"), values={"X_1": 4, "X_2": 4}, expect="16")


@derivation("collectives/transposes", title="The gradient of an AllGather is a ReduceScatter", source=BOOK)
def transposes(d):
    layer = d.program("const x[B_X, D] * W[D_X, F] -> y[B_X, F]", passes=["forward", "backward"])
    d.collectives(layer)
    d.collectives(layer, "backward")
    gathered, scattered = d.times(layer), d.times(layer, "backward")
    d.equal("T_backward", scattered.comms, gathered.comms, "It takes as long.")
    summed = d.program("A[D, F]{U_X} -> R[D_X, F]", passes=["forward"])
    d.expect(d.times(summed).comms, "b*D*F*(X - 1)/(X*W_ici)")
    d.equal("T_scatter", d.times(summed).comms, scattered.comms, "As the ReduceScatter on its own.")


@derivation("collectives/over-rows", title="An AllReduce leaves what is split over other axes", source=BOOK)
def over_rows(d):
    d.expect(move(d, "A[I_X, J]{U_Y} -> R[I_X, J]", "Y >> 1"), "2*b*I*J/(X*W_ici)")


@derivation("collectives/partial-outer", title="Gathering over one of two axes, the rows kept apart", source=BOOK)
def partial_outer(d):
    d.expect(move(d, "A[I_YX, J] -> G[I_Y, J]"), "b*I*J/(Y*W_ici)")


@derivation("collectives/activations-idle-axis", title="Question 2: an idle axis carries half of a gather", source=BOOK)
def activations_idle_axis(d):
    size = {"B": 1024, "D": 4096, "Y": 4}
    spent = move(d, "A[B_XZ, D_Y] -> G[B, D_Y]", "X, Z >> 1")
    d.number("T_comms", spent, on="tpu-v4p", values=size, expect="11.65e-6")
    whole = move(d, "A[B_XYZ, D] -> G[B, D]", "X, Y, Z >> 1")
    d.number("T_three", whole, on="tpu-v4p", values=size, expect="31.07e-6")
    layer = d.program("A[B_XY, D] -> G[B, D]", on="tpu-v4p", mesh={"X": 4, "Y": 4}, passes=["forward"], latency=True)
    latency = layer.costs["forward"].transfers[0].cost.latency
    d.number("T_latency", latency, on="tpu-v4p", expect="4e-6")


@derivation("collectives/tiny", title="Question 3: 256 bytes over a ring of four", source=BOOK)
def tiny(d):
    layer = d.program("A[B_X] -> G[B]", on="tpu-v4p", mesh={"X": 4}, passes=["forward"], latency=True)
    d.collectives(layer)
    cost = layer.costs["forward"].transfers[0].cost
    d.number("hops", cost.latency / d.symbol("T_hop"), expect="2")
    d.number("bytes", layer.costs["forward"].transfers[0].volume, values={"b": 2, "B": 128}, expect="256")
    shard = d.read("b*B") - cost.received
    d.number("bytes_shard", shard, values={"b": 2, "B": 128}, expect="64")
    d.number("T_shard", shard / d.symbol("W_link"), on="tpu-v4p", values={"b": 2, "B": 128}, expect="1.42e-9")
    d.number("T_comms", d.times(layer, latency=True).comms, on="tpu-v4p", values={"b": 2, "B": 128}, expect="2e-6")


@derivation("collectives/summary", title="The four collectives on a ring, both directions in use", source=BOOK)
def summary(d):
    kinds = {
        "AllGather": ("A[I_X, J] -> A[I, J]", "b*I*J/W_ici"),
        "ReduceScatter": ("A[I, J]{U_X} -> A[I_X, J]", "b*I*J/W_ici"),
        "AllReduce": ("A[I, J]{U_X} -> A[I, J]", "2*b*I*J/W_ici"),
        "AllToAll": ("A[I, J_X] -> A[I_X, J]", "b*I*J/(4*W_ici)"),
    }
    rows = {}
    for kind, (notation, _) in kinds.items():
        found = d.collective(kind, "b*I*J", {"X": d.symbol("X")}, latency=True)
        rows[kind] = {
            "notation": notation,
            "T_ring": found.time,
            "T_comms": d.approximate("T_comms", found.time, "X >> 1"),
            "T_latency": found.latency,
        }
    d.table(
        "Times of b I J bytes",
        {"notation": "", "T_ring": "T_ring", "T_comms": "T_comms", "T_latency": "T_latency"},
        rows=rows,
        of="collective",
        formulas=True,
        expect={"T_comms": [long for _, long in kinds.values()]},
        note="T_ring is exact, T_comms for long rings; a collective takes no less than T_latency, its hops.",
    )
