"""How To Scale Your Model, chapter 3: the four cases of a sharded product."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 3"


@derivation("sharding/case-1", title="Nothing contracts over a mesh axis: nothing is sent", source=BOOK)
def case_1(d):
    layer = d.program("A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]", passes=["forward"])
    d.counts(layer)
    d.expect(d.times(layer).comms, "0")


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


@derivation("sharding/gather-first-or-last", title="A replicated result: gather the input or the output", source=BOOK)
def gather_first_or_last(d):
    early = d.program("A[I_X, J] -> G[I, J]; G * B[J, K] -> C[I, K]", passes=["forward"])
    first = d.times(early)
    late = d.program("A[I_X, J] * B[J, K] -> P[I_X, K]; P -> C[I, K]", passes=["forward"])
    second = d.times(late)
    cheaper = d.crossover(first.comms, "<=", second.comms, "J", exact=True, title="Where gathering first sends less")
    d.expect(cheaper, "J <= K")


@derivation("sharding/gather-or-reduce", title="Gather the weights, or reduce the result?", source=BOOK)
def gather_or_reduce(d):
    gather = d.program("W[D_X, F] -> G[D, F]; x[B, D] * G -> y[B, F]", passes=["forward"])
    whole = d.times(gather)
    reduce = d.program("x[B, D_X] * W[D_X, F] -> y[B, F]", passes=["forward"])
    split = d.times(reduce)
    better = d.crossover(split.total, "<=", whole.total, "D", limits="X >> 1", title="Where reducing is faster")
    d.expect(better, "D >= Min(2*B, 2*C/W_ici)")
    d.evaluate(better, on="tpu-v5p", values={"B": 8192}, expect="5100")


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
