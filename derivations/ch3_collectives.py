"""How To Scale Your Model, chapter 3: every change of layout, its collective and its time."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 3"


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
