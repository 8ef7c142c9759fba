"""How To Scale Your Model, chapter 10: collective matrix products, a gather or a scatter in a loop with its product."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 10 [@austin2025]"
LOOPED = "Wang et al. 2023, Overlap Communication with Dependent Computation via Decomposition [@wang2023]"
GATHERED = "A[B_X, D_Y] * W[D, F_Y] -> Out[B_X, F_Y]"
SCATTERED = "Tmp[B_X, F_Y] * W_out[F_Y, D] -> Out[B_X, D_Y]"
SUMMED = "A[B_X, D_Y] * W[D_Y, F] -> Out[B_X, F]"
# the chapter's mesh of 2 x 4 TPU v2 cores
MESH = {"B": 1024, "D": 2048, "F": 8192, "X": 2, "Y": 4}


def one_bandwidth(d):
    """Return the rule of a torus: a link carries one direction, half of both."""
    return {d.symbol("W_link"): d.symbol("W_ici") / 2}


def in_turn(d, text):
    """Plan one product and its collective, the one after the other, and return the layer and its times."""
    layer = d.program(text, passes=["forward"])
    d.collectives(layer)
    return layer, d.times(layer, overlap="sum")


@derivation("jax/gather-first", title="Gather, then multiply", source=BOOK)
def gather_first(d):
    _, t = in_turn(d, GATHERED)
    both = d.approximate("T_total", t.total, "Y >> 1").subs(d.symbol("b"), 2)
    d.expect(both, "2*B*D/(X*W_ici) + 2*B*D*F/(X*Y*C)")
    d.number("T_math", t.math, values={**MESH, "C": 23 * 10**12}, expect="186.7e-6")


@derivation("jax/collective-matmul", title="The gather in a loop with the product", source=BOOK)
def collective_matmul(d):
    layer = d.program(GATHERED, passes=["forward"])
    found = d.looped(layer, "Y")
    two = found.time.subs(d.symbol("b"), 2)
    d.expect(two, "(Y - 1)*max(2*B*D*F/(X*Y^2*C), 2*B*D/(X*Y*W_link)) + 2*B*D*F/(X*Y^2*C)")
    d.number("n_steps", found.transfers, values=MESH, expect="3")


@derivation("jax/both-ways", title="Both ways around the ring a transfer takes half the time", source=BOOK)
def both_ways(d):
    for text in (GATHERED, SCATTERED):
        layer = d.program(text, passes=["forward"])
        one = d.looped(layer, "Y")
        two = d.looped(layer, "Y", both_ways=True)
        d.equal("speedup", d.read("2"), (one.sent / two.sent).subs(one_bandwidth(d)), "One way over both ways.")


@derivation("jax/loop-or-gather", title="When does a loop one way beat gathering first?", source=LOOPED)
def loop_or_gather(d):
    layer, t = in_turn(d, GATHERED)
    one = d.looped(layer, "Y")
    width = d.crossover(one.time, "<=", t.total, "F", exact=True, rule=one_bandwidth(d), title="The loop is faster")
    d.expect(width, "F/Y >= C/W_ici")
    d.evaluate(width, on="tpu-v5p", expect="2550")


@derivation("jax/loop-or-gather-both-ways", title="A loop both ways is never slower", source=LOOPED)
def loop_or_gather_both_ways(d):
    layer, t = in_turn(d, GATHERED)
    two = d.looped(layer, "Y", both_ways=True)
    width = d.crossover(two.time, "<=", t.total, "F", exact=True, title="The loop is faster")
    d.expect(width, "always")


@derivation(
    "jax/loop-or-gather-one-way", title="Against a gather that goes one way, a loop one way always wins", source=LOOPED
)
def loop_or_gather_one_way(d):
    layer = d.program(GATHERED, passes=["forward"])
    t = d.times(layer)
    first = d.collective("AllGather", "b*B*D/X", {"Y": "Y"}, both_ways=False)
    one = d.looped(layer, "Y")
    width = d.crossover(one.time, "<=", first.time + t.math, "F", exact=True, title="The loop is faster")
    d.expect(width, "always")
    least = d.read("(Y - 1)/Y*min(p, q)").subs({d.symbol("p"): t.math, d.symbol("q"): d.read("b*B*D/(X*W_link)")})
    d.equal("T_saved", least, first.time + t.math - one.time, "All but one chunk of the shorter of the two.")


@derivation("jax/loop-hidden", title="When does the loop take no longer than the product alone?", source=LOOPED)
def loop_hidden(d):
    layer = d.program(GATHERED, passes=["forward"])
    t = d.times(layer)
    one = d.looped(layer, "Y")
    two = d.looped(layer, "Y", both_ways=True)
    width = d.crossover(one.time, "<=", t.math, "F", exact=True, title="One way hides")
    d.expect(width, "F/Y >= C/W_link")
    d.evaluate(width, on="tpu-v5p", expect="5100")
    narrow = d.crossover(two.time, "<=", t.math, "F", exact=True, title="Both ways hide")
    d.expect(narrow, "F/Y >= C/W_ici")
    d.evaluate(narrow, on="tpu-v5p", expect="2550")


@derivation("jax/loop-gain", title="A loop saves at most half", source=LOOPED)
def loop_gain(d):
    layer, t = in_turn(d, GATHERED)
    two = d.looped(layer, "Y", both_ways=True)
    # where a transfer lasts as long as a chunk: F = b·C·Y/(2·W_ici)
    balanced = {d.symbol("F"): d.read("b*C*Y/(2*W_ici)")}
    gain = (t.total / two.time).subs(balanced)
    d.equal("speedup", d.read("(2*Y - 1)/Y"), gain, "Where both take equally long; less on both sides of it.")


@derivation("jax/loop-scattered", title="Multiply and scatter: the loop wins where the gather's does", source=LOOPED)
def loop_scattered(d):
    layer, t = in_turn(d, SCATTERED)
    one = d.looped(layer, "Y")
    width = d.crossover(one.time, "<=", t.total, "F", exact=True, rule=one_bandwidth(d), title="The loop is faster")
    d.expect(width, "F/Y >= C/W_ici")
    two = d.looped(layer, "Y", both_ways=True)
    free = d.crossover(two.time, "<=", t.math, "F", exact=True, title="Both ways hide")
    d.expect(free, "F/Y >= C/W_ici")


@derivation("jax/loop-backward", title="The backward pass: two products beside one ReduceScatter", source=LOOPED)
def loop_backward(d):
    layer = d.program("A[B, D_Y] * W[D, F_Y] -> Out[B, F_Y]", passes=["forward", "backward"])
    d.collectives(layer, "backward")
    t = d.times(layer, "backward", overlap="sum")
    one = d.looped(layer, "Y", "backward")
    width = d.crossover(one.time, "<=", t.total, "F", exact=True, rule=one_bandwidth(d), title="The loop is faster")
    d.expect(width, "F/Y >= C/(2*W_ici)")
    two = d.looped(layer, "Y", "backward", both_ways=True)
    free = d.crossover(two.time, "<=", t.math, "F", exact=True, title="Both ways hide")
    d.expect(free, "F/Y >= C/(2*W_ici)")


@derivation("jax/loop-weights", title="Gathering again for the gradient of the weights", source=LOOPED)
def loop_weights(d):
    # the forward pass freed what it gathered
    layer, t = in_turn(d, "A[B, D_Y] * dOut[B, F_Y] -> dW[D, F_Y]")
    one = d.looped(layer, "Y")
    width = d.crossover(one.time, "<=", t.total, "F", exact=True, rule=one_bandwidth(d), title="The loop is faster")
    d.expect(width, "F/Y >= C/W_ici")


@derivation("jax/loop-latency", title="A chunk must last longer than a hop", source=LOOPED)
def loop_latency(d):
    _, t = in_turn(d, GATHERED)
    d.remark("The gather's own hops are left out, in its favour.")
    slow = d.program(GATHERED, passes=["forward"], latency=True)
    two = d.looped(slow, "Y", both_ways=True)
    tokens = d.crossover(two.time, "<=", t.total, "B", exact=True, title="The loop is faster")
    d.expect(tokens, "B/X >= T_hop*Y^2*C/(2*D*F)")
    d.evaluate(tokens, on="tpu-v5p", values={"D": 8192, "F": 28672, "X": 1, "Y": 4}, expect="15.6")


@derivation("jax/tiles", title="Tile by tile an AllReduce hides up to one tile", source=BOOK)
def tiles(d):
    layer = d.program(SUMMED, passes=["forward"])
    t = d.times(layer)
    found = d.tiled(t.math, t.comms, "m")
    ends = {d.symbol("p"): t.math, d.symbol("q"): t.comms}
    longer, shorter = d.read("max(p, q)").subs(ends), d.read("min(p, q)").subs(ends)
    d.equal("T_exposed", shorter / d.symbol("m"), found.time - longer, "Beyond the longer of the two: a tile's share.")
