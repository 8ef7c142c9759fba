"""How To Scale Your Model, chapter 1: what keeps one chip busy, and what two."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 1"
MATMUL = "x[B, D] * W[D, F] -> y[B, F]"


@derivation("roofline/matmul", title="How large must a batch be?", source=BOOK)
def matmul(d):
    layer = d.program(MATMUL, passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.expect(batch, "B >= C/W_hbm")
    d.evaluate(on="tpu-v5e", expect="240.24")


@derivation("roofline/intensity", title="The intensity of a matrix product", source=BOOK)
def intensity(d):
    layer = d.program(MATMUL, passes=["forward"])
    d.counts(layer)
    full = d.intensity(layer)
    d.expect(full, "2*B*D*F/(b*(B*D + D*F + B*F))")
    near = d.approximate("intensity", full, "B << D, F")
    d.expect(near, "2*B/b")
    d.number("intensity", near, values={"B": 240}, expect="240")


@derivation("roofline/int8", title="The same in int8", source=BOOK)
def int8(d):
    layer = d.program(MATMUL, dtype="int8", passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.expect(batch, "B >= C/(2*W_hbm)")
    d.evaluate(on="tpu-v5e", expect="240.24")


@derivation("roofline/int8-weights", title="Weights in int8, activations in bf16", source=BOOK)
def int8_weights(d):
    layer = d.program("bf16 x[B, D] * int8 W[D, F] -> y[B, F]", passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.expect(batch, "B >= C/(2*W_hbm)")
    d.evaluate(on="tpu-v5e", expect="120.12")


@derivation("roofline/kink", title="Where the curve of a real matrix bends", source=BOOK)
def kink(d):
    layer = d.program("bf16 x[B, D] * int8 W[D, F] -> y[B, F]", passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", exact=True, resource="hbm", passes="forward")
    d.expect(batch, "B >= D*F*C/(2*(D*F*W_hbm - C*(D + F)))")
    d.evaluate(batch, on="tpu-v5e", values={"D": 4096, "F": 4096}, expect="136.1")


@derivation("roofline/small-matrices", title="Small matrices need nearly twice the batch", source=BOOK)
def small_matrices(d):
    layer = d.program("bf16 x[B, D] * int8 W[D, F] -> y[B, F]", passes=["forward"])
    t = d.times(layer)
    batch = d.crossover(t.math, ">=", t.hbm, "B", exact=True, resource="hbm", passes="forward")
    d.evaluate(batch, on="tpu-v5e", values={"D": 1024, "F": 1024}, expect="226.3")


@derivation("roofline/h100", title="The batch of an H100", source=BOOK)
def h100(d):
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
    width = d.crossover(t.math, ">=", t.comms, "D", passes="forward", resource="ici")
    d.expect(width, "D >= 2*C/W_link")
    d.evaluate(on="tpu-v5e", expect="8755.56")


@derivation("roofline/overlap", title="Overlap gains at most a factor of two", source=BOOK)
def overlap(d):
    layer = d.program("x[B_X, D] * W[D_X, F] -> y[B_X, F]", passes=["forward"])
    serial = d.times(layer, overlap="sum")
    overlapped = d.times(layer)
    bound = d.crossover(serial.total, "<=", 2 * overlapped.total, "B", exact=True, title="Sum against twice the larger")
    d.expect(bound, "always")
