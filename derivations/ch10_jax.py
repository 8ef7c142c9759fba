"""How To Scale Your Model, chapter 10: its examples and problems as programs."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 10 [@austin2025]"
SCATTERED = "Tmp[B_X, F_Y] * W_out[F_Y, D] -> Out[B_X, D_Y]"
SUMMED = "A[B_X, D_Y] * W[D_Y, F] -> Out[B_X, F]"
MLP = "In[B_X, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B_X, D_Y]"
# S tokens, each for one of E experts: M = S/E rows for each
ROUTED = """x[E, M_X, D] -> y[E_X, M, D]
y[E_X, M, D] * weight W[E_X, D, F] -> o[E_X, M, F]
o -> out[E, M_X, F]"""
PADDED = "y[E, S, D] * weight W[E, D, F] -> o[E, S, F]"
EVERY = "x[S_X, D] -> y[S, D]; o[S, F]{U_X} -> out[S_X, F]"


def hidden(d, text, wanted):
    """Write a layer in bf16 whose communication hides over a long axis, and return its times."""
    layer = d.program(text, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    sent = d.approximate("T_comms", t.comms, "Y >> 1").subs(d.symbol("b"), 2)
    total = d.read("max(p, q)").subs({d.symbol("p"): t.math, d.symbol("q"): sent})
    d.equal("T_total", d.read(wanted), total, "In bf16, one behind the other.")
    return t


@derivation("jax/local-shapes", title="What one chip has of the arrays of a product", source=BOOK)
def local_shapes(d):
    layer = d.program(SUMMED, passes=["forward"])
    held = d.shards(layer, "A", "W", "Out")
    d.expect(held["Out"], "B*F/X")
    d.equal("ways", d.read("X*Y"), d.read("B*D") / held["A"], "Parts that A is split into.")


@derivation("jax/local-chunks", title="What one chip has in a collective matrix product", source=BOOK)
def local_chunks(d):
    layer = d.program("A[B_X, D_Y] * W[D, F_Y] -> Out[B_X, F_Y]", passes=["forward"])
    held = d.shards(layer, "A", "W", "Out")
    d.expect(held["Out"], "B*F/(X*Y)")


@derivation("jax/typeof", title="An elementwise operation keeps the layout", source=BOOK)
def typeof(d):
    layer = d.program("double(x[a_X, c_Y]) -> y", dtype="fp32", passes=["forward"])
    d.collectives(layer)
    held = d.shards(layer, "x", "y")
    d.expect(held["y"], "a*c/(X*Y)")
    d.equal("elements", held["x"], held["y"], "As many before as after.")


@derivation("jax/contracted", title="Split over the contracted dimension: multiply, then AllReduce", source=BOOK)
def contracted(d):
    t = hidden(d, SUMMED, "max(2*B*D*F/(X*Y*C), 4*B*F/(X*W_ici))")
    width = d.crossover(t.math, ">=", t.comms, "D", resource="ici", passes="forward")
    d.expect(width, "D/Y >= 2*C/W_ici")


@derivation("jax/declared", title="The declared output decides between ReduceScatter and AllReduce", source=BOOK)
def declared(d):
    whole = d.program("A[B_X, D_Y] * W[D_Y, F] -> Out[B_X, F]", passes=["forward"])
    d.collectives(whole)
    split = d.program("A[B_X, D_Y] * W[D_Y, F] -> Out[B_X, F_Y]", passes=["forward"])
    d.collectives(split)
    d.equal("T_comms", d.times(split).comms, d.times(whole).comms / 2, "Half of what the AllReduce takes.")


@derivation("jax/scattered", title="A ReduceScatter behind the product", source=BOOK)
def scattered(d):
    t = hidden(d, SCATTERED, "max(2*B*D*F/(X*Y*C), 2*B*D/(X*W_ici))")
    width = d.crossover(t.math, ">=", t.comms, "F", resource="ici", passes="forward")
    d.expect(width, "F/Y >= C/W_ici")


@derivation("jax/mlp", title="A whole MLP gathers once and scatters once", source=BOOK)
def mlp(d):
    t = hidden(d, MLP, "max(4*B*D*F/(X*Y*C), 4*B*D/(X*W_ici))")
    width = d.crossover(t.math, ">=", t.comms, "F", resource="ici", passes="forward")
    d.expect(width, "F/Y >= C/W_ici")
    d.evaluate(on="tpu-v5p", expect="2550")


@derivation("jax/slice-average", title="The mean of what each chip keeps is one small AllReduce", source=BOOK)
def slice_average(d):
    whole = d.program("sum_n(x[n_XY]) -> s[]", dtype="fp32", passes=["forward"])
    d.shards(whole, "x")
    # P pieces of an array, n numbers kept of each, in float32
    layer = d.program("sum_P(x[P_XY, n]) -> s[n]", dtype="fp32", passes=["forward"])
    d.counts(layer)
    sent = layer.costs["forward"].transfers[0].volume
    d.number("V_1", sent, values={"n": 4, "b": 4}, expect="16")
    # piece i of p starts with m·(i − 1), if the array counts from 0
    mean = d.added("total", "m*(i - 1)", "i", "p") / d.symbol("p")
    d.equal("mean", d.read("m*(p - 1)/2"), mean, "The mean of the first elements of p pieces of m.")
    d.number("mean", mean, values={"m": 64, "p": 8}, expect="224")


@derivation("jax/mean-of-shards", title="A mean inside each shard sends nothing", source=BOOK)
def mean_of_shards(d):
    layer = d.program("sum_{s,t}(A[P_X, s, Q_Y, t]) -> m[P_X, Q_Y]", dtype="fp32", passes=["forward"])
    d.counts(layer)
    # as many shards as chips
    held = d.shards(layer, "m")["m"]
    d.expect(held, "P*Q/(X*Y)")
    one = held.subs({d.symbol("P"): d.symbol("X"), d.symbol("Q"): d.symbol("Y")})
    d.equal("outputs", d.read("X*Y"), one * d.read("X*Y"), "One number for each shard.")


def rows(d, active=1):
    """Return what M stands for: the rows of one expert where S tokens go to `active` experts each."""
    return {d.symbol("M"): active * d.symbol("S") / d.symbol("E")}


def in_float32(d, layer, wanted, rule=None):
    """Write the time of a program's collectives over a long axis in float32, and return it."""
    sent = d.approximate("T_comms", d.times(layer).comms, "X >> 1").subs(rule or {}).subs(d.symbol("b"), 4)
    said = "In float32, with the rows of an expert put in." if rule else "In float32."
    d.equal("T_comms", d.read(wanted), sent, said)
    return sent


@derivation("jax/moe-padded", title="A buffer with a row for every token and expert: E times the work", source=BOOK)
def moe_padded(d):
    # all tokens may go to one expert, so each has room for S of them
    padded = d.program(PADDED, dtype="fp32", passes=["forward"])
    d.counts(padded)
    full = d.program("y[E, M, D] * weight W[E, D, F] -> o[E, M, F]", dtype="fp32", passes=["forward"])
    d.counts(full)
    work = padded.costs["forward"].total_flops / full.costs["forward"].total_flops.subs(rows(d))
    d.equal("overhead", d.read("E"), work, "Rows that are multiplied over rows that hold a token, M E = S.")


@derivation("jax/moe-jit", title="Left to the compiler: gather the experts, or gather the tokens?", source=BOOK)
def moe_jit(d):
    # mask[S, E] says which expert a token goes to; one number per token, it costs nothing to have
    experts = d.program(
        "W[E_X, D, F] -> All[E, D, F]; x[S_X, D] * All -> o[S_X, E, F]; mask[S_X, E] * o -> out[S_X, F]",
        dtype="fp32",
        passes=["forward"],
    )
    d.collectives(experts)
    first = d.times(experts).comms
    tokens = d.program(
        "x[S_X, D] -> y[S, D]; y * W[E_X, D, F] -> o[S, E_X, F]; mask[S, E_X] * o -> out[S_X, F]",
        dtype="fp32",
        passes=["forward"],
    )
    d.collectives(tokens)
    second = d.times(tokens).comms
    more = d.crossover(second, "<=", first, "S", exact=True, title="Gathering the tokens sends less")
    d.expect(more, "S <= E*D*F/(D + F)")


@derivation(
    "jax/moe-gather", title="Gather every token, keep the rows of your experts, scatter the results", source=BOOK
)
def moe_gather(d):
    layer = d.program(EVERY, dtype="fp32", passes=["forward"])
    d.counts(layer)
    in_float32(d, layer, "4*S*D/W_ici + 4*S*F/W_ici")


@derivation("jax/moe-all-to-all", title="Send each token to its expert and back: a quarter", source=BOOK)
def moe_all_to_all(d):
    layer = d.program(ROUTED, dtype="fp32", passes=["forward"])
    d.counts(layer)
    sent = in_float32(d, layer, "4*S*D/(4*W_ici) + 4*S*F/(4*W_ici)", rows(d))
    every = d.program(EVERY, dtype="fp32", passes=["forward"])
    gathered = in_float32(d, every, "4*S*D/W_ici + 4*S*F/W_ici")
    d.equal("share", d.read("1/4"), sent / gathered, "Of what gathering every token takes.")


@derivation("jax/moe-bytes", title="An AllToAll carries a chip's tokens, a gather everybody's", source=BOOK)
def moe_bytes(d):
    layer = d.program(ROUTED, dtype="fp32", passes=["forward"])
    d.counts(layer)
    sent = layer.costs["forward"].comm_bytes()["X"].subs(rows(d))
    every = d.program(EVERY, dtype="fp32", passes=["forward"])
    d.counts(every)
    share = sent / every.costs["forward"].comm_bytes()["X"]
    d.equal("share", d.read("1/X"), share, "Bytes that a chip receives: those of its own tokens.")


@derivation("jax/moe-k-experts", title="Tokens for k experts, averaged: k times the dispatch", source=BOOK)
def moe_k_experts(d):
    layer = d.program("x[E, M_X, D] -> y[E_X, M, D]", dtype="fp32", passes=["forward"])
    d.counts(layer)
    sent = in_float32(d, layer, "k*4*S*D/(4*W_ici)", rows(d, d.symbol("k")))
    every = d.program("x[S_X, D] -> y[S, D]", dtype="fp32", passes=["forward"])
    gathered = in_float32(d, every, "4*S*D/W_ici")
    fewer = d.crossover(sent, "<=", gathered, "k", exact=True, title="Where dispatching is faster")
    d.expect(fewer, "k <= 4")


@derivation("jax/roll", title="Rolling inside a shard is free, rolling the whole array sends its edge", source=BOOK)
def roll(d):
    inside = d.program("A[P_X, s, D] * shift[s, t] -> R[P_X, t, D]", dtype="fp32", passes=["forward"])
    d.collectives(inside)
    # r rows of D leave each shard for the next chip
    edge = d.collective("Permute", "b*r*D", {"X": d.symbol("X")})
    d.expect(edge.time, "b*r*D/W_link")
