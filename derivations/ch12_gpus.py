"""How To Scale Your Model, chapter 12: networks of GPUs, and what they allow in training."""

from symscale import derivation

BOOK = "How To Scale Your Model, ch. 12 [@austin2025]"
DP = "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
EXPERTS = "y[E_Z, M, D] * weight W_in[E_Z, D, F] -> h[E_Z, M, F]; h * weight W_out[E_Z, F, D] -> o[E_Z, M, D]"
# The chapter rounds the H100's 989 TFLOP/s.
ROUNDED = {"C": 990 * 10**12}


@derivation("gpus/all-gather-node", title="An AllGather inside a node", source=BOOK)
def all_gather_node(d):
    gathered = d.collective("AllGather", "b*I*J", {"X": 8}, on="h100:8")
    d.expect(gathered.time, "7/8*b*I*J/W_nvlink")
    d.number("T_comms", gathered.time, on="h100", values={"b": 2, "I": 4096, "J": 65536}, expect="1044e-6")


@derivation("gpus/all-gather-small", title="An AllGather of 34 MB inside a node", source=BOOK)
def all_gather_small(d):
    gathered = d.collective("AllGather", "b*I*J", {"X": 8}, on="h100:8")
    d.number("T_comms", gathered.time, on="h100", values={"b": 2, "I": 1024, "J": 16384}, expect="65.2e-6")


@derivation("gpus/all-gather-unit", title="An AllGather over the 256 GPUs of a unit", source=BOOK)
def all_gather_unit(d):
    gathered = d.collective("AllGather", "M_array", {"X": 256}, on="h100:256")
    d.expect(gathered.time, "M_array*Max(7/8/W_nvlink, 31/32/W_node)")
    d.number("W_all", d.read("M_array") / gathered.time, on="h100:256", expect="413e9")


@derivation("gpus/all-gather-pod", title="An AllGather over a SuperPod: the nodes' uplinks carry more", source=BOOK)
def all_gather_pod(d):
    gathered = d.collective("AllGather", "M_array", {"X": 1024}, on="h100:1024")
    d.expect(gathered.time, "M_array*Max(7/8/W_nvlink, 127/128/W_node)")
    d.number("W_all", d.read("M_array") / gathered.time, on="h100:1024", expect="403e9")


@derivation("gpus/all-gather-two-nodes", title="Over two nodes the GPUs' own ports are the slow ones", source=BOOK)
def all_gather_two_nodes(d):
    gathered = d.collective("AllGather", "M_array", {"X": 16}, on="h100:16")
    d.expect(gathered.time, "M_array*Max(7/8/W_nvlink, 1/2/W_node)")
    d.number("W_all", d.read("M_array") / gathered.time, on="h100:16", expect="514e9")


@derivation("gpus/sharded-inside", title="An inner axis inside the node does not help the outer gather", source=BOOK)
def sharded_inside(d):
    whole = d.collective("AllGather", "b*D*F", {"X": 256}, on="h100:256")
    inside = d.collective("AllGather", "b*D*F/8", {"X": 32, "Y": 8}, ["X"], on="h100:256")
    d.equal("T_comms", inside.levels[0][1], whole.levels[1][1], "The uplinks of the nodes are as busy as before.")
    d.number("T_comms", inside.time, on="h100:256", values={"b": 2, "D": 8192, "F": 32768}, expect="1300e-6")


@derivation("gpus/sharded-outside", title="An inner axis over two nodes halves the outer gather", source=BOOK)
def sharded_outside(d):
    wide = d.collective("AllGather", "b*D*F/16", {"X": 16, "Y": 16}, ["X"], on="h100:256")
    d.expect(wide.time, "b*D*F/2*15/16/W_node")
    d.number("T_comms", wide.time, on="h100:256", values={"b": 2, "D": 8192, "F": 32768}, expect="629e-6")


@derivation(
    "gpus/reduction-shrinks", title="The outer reduction shrinks by the nodes the inner axis spans", source=BOOK
)
def reduction_shrinks(d):
    narrow = d.collective("AllReduce", "b*D*F/8", {"X": 128, "Y": 8}, ["X"], on="h100:1024", in_network=True)
    wide = d.collective("AllReduce", "b*D*F/64", {"X": 16, "Y": 64}, ["X"], on="h100:1024", in_network=True)
    d.equal("T_comms", narrow.time, 8 * wide.time, "The inner axis spans eight nodes: an eighth.")
    d.expect(wide.time, "b*D*F/(8*W_node)")


@derivation("gpus/sharp", title="Switches that add up save seven eighths of an AllReduce at most", source=BOOK)
def sharp(d):
    ring = d.collective("AllReduce", "M_array", {"X": 8}, on="h100:8")
    added = d.collective("AllReduce", "M_array", {"X": 8}, on="h100:8", in_network=True)
    d.expect(ring.time, "2*7/8*M_array/W_nvlink")
    d.expect(added.time, "M_array/W_nvlink")
    d.number("gain", ring.time / added.time, expect="1.75")
    d.equal("bytes_in", 8 * added.time * d.symbol("W_nvlink"), d.read("8*M_array"), "Every GPU sends the array up.")
    d.equal("bytes_out", 8 * added.received, d.read("8*M_array"), "Every GPU receives the sum.")
    # what NCCL calls bus bandwidth: the speed of a ring's links that would give the measured time
    d.number(
        "W_bus", ring.time * d.read("W_nvlink/M_array*W_measured"), values={"W_measured": 210 * 10**9}, expect="370e9"
    )


@derivation("gpus/all-to-all-node", title="An AllToAll inside a node", source=BOOK)
def all_to_all_node(d):
    dense = d.collective("AllToAll", "M_array", {"X": 8}, on="h100:8")
    gathered = d.collective("AllGather", "M_array", {"X": 8}, on="h100:8")
    d.expect(dense.time, "7/64*M_array/W_nvlink")
    d.equal("T_comms", dense.time, gathered.time / 8, "An eighth of what the AllGather of the same array takes.")


@derivation("gpus/all-to-all-two-nodes", title="Two nodes make an AllToAll 2.6 times slower", source=BOOK)
def all_to_all_two_nodes(d):
    near = d.collective("AllToAll", "M_array", {"X": 8}, on="h100:8")
    far = d.collective("AllToAll", "M_array", {"X": 16}, on="h100:16")
    d.number("slowdown", far.time / near.time, on="h100:16", expect="2.57")


@derivation("gpus/all-to-all-sparse", title="Tokens for 4 of 8 GPUs take half the time", source=BOOK)
def all_to_all_sparse(d):
    # a token for each of the 8 GPUs is a dense array of 8 copies
    sparse = d.collective("AllToAll", "M_array", {"X": 8}, on="h100:8", copies=4)
    dense = d.collective("AllToAll", "8*M_array", {"X": 8}, on="h100:8")
    d.expect(sparse.time, "4*7/64*M_array/W_nvlink")
    d.number("share", sparse.time / dense.time, expect="0.50")


@derivation("gpus/ring-or-tree", title="Below which size two trees beat a ring", source=BOOK)
def ring_or_tree(d):
    ring = d.all_reduce("ring", "M_array", "n", "W_nvlink")
    tree = d.all_reduce("tree", "M_array", "n", "W_nvlink")
    size = d.crossover(ring, ">=", tree, "M_array", exact=True, title="Two trees against a ring")
    d.evaluate(size, on="h100", values={"n": 8, "T_hop": d.read("1/10^6")}, expect="14.4e6")
    d.plot(
        {"ring": ring, "two trees": tree},
        "M_array",
        (10**3, 10**10),
        title="An AllReduce through one switch",
        caption="Trees take fewer hops, rings send fewer bytes: which is faster turns at the mark.",
        x="whole array [B]",
        marks=[size],
        on="h100",
        values={"n": 8, "T_hop": d.read("1/10^6")},
    )


def data_parallel(d, on, **options):
    """Solve for the tokens that data parallelism needs in the backward pass."""
    layer = d.program(DP, on=on, passes=["forward", "backward"], **options)
    t = d.times(layer, "backward")
    return d.crossover(t.math, ">=", t.comms, "B", passes="backward", resource="tree" if ":" in on else "nvlink")


@derivation("gpus/dp", title="Data parallelism over a SuperPod needs 2475 tokens per GPU", source=BOOK)
def dp(d):
    batch = data_parallel(d, "h100:1024")
    d.expect(batch, "B/X >= Max(C/W_node, 7/8*C/W_nvlink)")
    d.evaluate(on="h100:1024", values=ROUNDED, expect="2475")


@derivation("gpus/dp-curve", title="What a SuperPod's levels take over the batch", source=BOOK)
def dp_curve(d):
    layer = d.program(DP, on="h100:1024", passes=["forward", "backward"])
    t = d.times(layer, "backward")
    uplinks = d.crossover(t.math, ">=", t.axes["leaf"], "B", passes="backward", resource="leaf", exact=True)
    ports = d.crossover(t.math, ">=", t.axes["node"], "B", passes="backward", resource="node", exact=True)
    d.evaluate(uplinks, on="h100:1024", values={**ROUNDED, "X": 1024}, expect="2.51e6")
    d.plot(
        {"arithmetic": t.math, "uplinks of the nodes": t.axes["leaf"], "NVLink ports": t.axes["node"]},
        "B",
        (10**5, 10**7),
        title="Backward pass of one layer on 1024 H100",
        caption="The AllReduce of the gradients takes as long for every batch; from 2.5 million tokens on the "
        "arithmetic is longer than the slowest level.",
        y="time per layer [s]",
        marks=[uplinks, ports],
        on="h100:1024",
        values={**ROUNDED, "X": 1024, "D": 8192, "F": 28672},
    )


@derivation("gpus/dp-node", title="Data parallelism inside a node, for many GPUs", source=BOOK)
def dp_node(d):
    batch = data_parallel(d, "h100")
    d.expect(batch, "B/X >= C/W_nvlink")
    d.evaluate(on="h100", values=ROUNDED, expect="2200")


@derivation("gpus/dp-uplinks", title="What the uplinks alone ask of the batch", source=BOOK)
def dp_uplinks(d):
    layer = d.program(DP, on="h100:1024", passes=["forward", "backward"])
    t = d.times(layer, "backward")
    uplinks = d.crossover(t.math, ">=", t.axes["leaf"], "B/X", passes="backward", resource="leaf", exact=True)
    d.evaluate(uplinks, on="h100:1024", values={**ROUNDED, "X": 16}, expect="1237.5")


@derivation("gpus/dp-two-nodes", title="Over two nodes the GPUs' ports decide, not the uplinks", source=BOOK)
def dp_two_nodes(d):
    layer = d.program(DP, on="h100:16", mesh={"X": 16}, passes=["forward", "backward"])
    t = d.times(layer, "backward")
    d.crossover(t.math, ">=", t.comms, "B/16", passes="backward", resource="tree", exact=True)
    d.evaluate(on="h100:16", values=ROUNDED, expect="1925")


@derivation("gpus/dp-sharp-node", title="Inside a node, with a switch that adds up", source=BOOK)
def dp_sharp_node(d):
    layer = d.program(DP, on="h100", passes=["forward", "backward"], in_network=True)
    t = d.times(layer, "backward")
    batch = d.crossover(t.math, ">=", t.comms, "B/X", passes="backward", resource="nvlink")
    d.expect(batch, "B/X >= C/(2*W_nvlink)")
    d.evaluate(on="h100", values=ROUNDED, expect="1100")


@derivation("gpus/zero-3", title="Sharded weights need no larger batch than data parallelism", source=BOOK)
def zero_3(d):
    replicated = data_parallel(d, "h100:1024")
    layer = d.program(FSDP, on="h100:1024", passes=["forward", "backward"])
    for which in ("forward", "backward"):
        t = d.times(layer, which)
        sharded = d.crossover(t.math, ">=", t.comms, "B", passes=which, resource="tree")
        d.number("factor", sharded.threshold / replicated.threshold, expect="1.0")


@derivation("gpus/dp-sharp", title="Switches that add up halve the tokens", source=BOOK)
def dp_sharp(d):
    batch = data_parallel(d, "h100:1024", in_network=True)
    d.expect(batch, "B/X >= Max(C/(2*W_node), C/(2*W_nvlink))")
    d.evaluate(on="h100:1024", values=ROUNDED, expect="1237.5")


@derivation("gpus/dp-measured", title="With the bandwidth that NCCL measures in a node", source=BOOK)
def dp_measured(d):
    data_parallel(d, "h100")
    d.evaluate(on="h100", values={"W_nvlink": 370 * 10**9}, expect="2673")


@derivation("gpus/dp-h800", title="Data parallelism on the H800", source=BOOK)
def dp_h800(d):
    data_parallel(d, "h800")
    d.evaluate(on="h800", values=ROUNDED, expect="3300")


@derivation("gpus/dp-b200", title="Data parallelism on B200s behind InfiniBand", source=BOOK)
def dp_b200(d):
    data_parallel(d, "b200:1024")
    d.evaluate(on="b200:1024", expect="5625")


@derivation("gpus/dp-gb200", title="Data parallelism over racks of 72", source=BOOK)
def dp_gb200(d):
    batch = data_parallel(d, "gb200:576")
    d.expect(batch, "B/X >= Max(C/W_node, 71/72*C/W_nvlink)")
    d.evaluate(on="gb200:576", expect="2465")


@derivation("gpus/dp-moe", title="Experts multiply the batch by E/k", source=BOOK)
def dp_moe(d):
    # M tokens for each of the E experts are M·E/k tokens, as each goes to k of them
    experts = "In[E, M_X, D] * W_in[E, D, F] -> h[E, M_X, F]; h * W_out[E, F, D] -> Out[E, M_X, D]"
    layer = d.program(experts, on="h100:1024", passes=["forward", "backward"])
    t = d.times(layer, "backward")
    rows = d.crossover(t.math, ">=", t.comms, "M", passes="backward", resource="tree")
    d.expect(rows, "M/X >= Max(C/W_node, 7/8*C/W_nvlink)")
    tokens = d.read("E/k") * rows.threshold
    d.number("tokens", tokens, on="h100:1024", values={**ROUNDED, "E": 128, "k": 4}, expect="79200")


@derivation("gpus/tp", title="How far tensor parallelism goes over nodes", source=BOOK)
def tp(d):
    layer = d.program(TP, on="h100:1024", passes=["forward"])
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="tree")
    d.expect(chips, "Y <= Min(F*W_node/C, 8/7*F*W_nvlink/C)")
    d.evaluate(on="h100:1024", values={**ROUNDED, "F": 28000}, expect="11.3")


@derivation("gpus/tp-node", title="How far tensor parallelism goes inside a node", source=BOOK)
def tp_node(d):
    layer = d.program(TP, on="h100", passes=["forward"])
    t = d.times(layer)
    chips = d.crossover(t.math, ">=", t.comms, "Y", passes="forward", resource="nvlink")
    d.expect(chips, "Y <= F*W_nvlink/C")
    d.evaluate(on="h100", values={**ROUNDED, "F": 28000}, expect="12.7")


@derivation("gpus/tp-uplinks", title="How far the uplinks alone let tensor parallelism go", source=BOOK)
def tp_uplinks(d):
    layer = d.program(TP, on="h100:1024", passes=["forward"])
    t = d.times(layer)
    uplinks = d.crossover(t.math, ">=", t.axes["leaf"], "Y", exact=True)
    d.expect(uplinks, "Y <= F*W_node/C + 8")
    d.evaluate(on="h100:1024", values={**ROUNDED, "F": 28000}, expect="19.3")


@derivation("gpus/tp-ports", title="Over two nodes the GPUs' ports stop tensor parallelism first", source=BOOK)
def tp_ports(d):
    layer = d.program(TP, on="h100:1024", passes=["forward"])
    t = d.times(layer)
    ports = d.crossover(t.math, ">=", t.axes["node"], "Y", limits="Y >> 1")
    d.expect(ports, "Y <= 8/7*F*W_nvlink/C")
    d.evaluate(on="h100:1024", values={**ROUNDED, "F": 28000}, expect="14.5")


def experts(d, k="k"):
    """Write the MLP of the experts on Z GPUs, and two AllToAlls of tokens for k of them; return both times."""
    layer = d.program(EXPERTS, on="h100:1024", passes=["forward"])
    math = d.times(layer).math.subs(d.symbol("M"), d.read(f"{k}*B/E"))
    d.equal("T_math", math, d.read(f"4*B*{k}*D*F/(Z*C)"), "Each of E experts has the E-th part of the rows.")
    moved = d.collective("AllToAll", "b*B*D", {"Z": d.symbol("Z")}, on="h100:1024", copies=k)
    up = dict(moved.levels)["leaf"]
    d.equal("T_moved", 2 * up, up + up, "Tokens go to the experts, and come back.")
    return math, 2 * up


@derivation("gpus/ep", title="When the uplinks hide expert parallelism", source=BOOK)
def ep(d):
    math, moved = experts(d)
    d.crossover(math, ">=", moved, "F", exact=True, title="Arithmetic against the uplinks")
    d.evaluate(on="h100:1024", values={**ROUNDED, "b": 2, "Z": 16, "k": 8}, expect="2475")


@derivation("gpus/ep-wide", title="Expert parallelism over many more nodes than k", source=BOOK)
def ep_wide(d):
    math, moved = experts(d)
    width = d.crossover(math, ">=", moved, "F", limits="k << Z; Z >> 1", title="Arithmetic against the uplinks")
    d.expect(width, "F >= 4*b*C/W_node")
    d.evaluate(on="h100:1024", values={**ROUNDED, "b": 2}, expect="19800")


@derivation("gpus/ep-reach", title="How many GPUs the experts of a narrow MLP may span", source=BOOK)
def ep_reach(d):
    math, moved = experts(d, "8")
    chips = d.crossover(math, ">=", moved, "Z", exact=True, title="Arithmetic against the uplinks")
    d.evaluate(chips, on="h100:1024", values={**ROUNDED, "b": 2, "F": 2048}, expect="14.6")


@derivation("gpus/b200", title="B200s in a node, and behind InfiniBand", source=BOOK)
def b200(d):
    layer = d.program(DP, on="b200", passes=["forward", "backward"])
    t = d.times(layer, "backward")
    d.crossover(t.math, ">=", t.comms, "B", passes="backward", resource="nvlink")
    d.evaluate(on="b200", expect="2500")


@derivation("gpus/roofline-b200", title="The batch that keeps a B200 busy", source=BOOK)
def roofline_b200(d):
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", passes=["forward"])
    t = d.times(layer)
    d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    d.evaluate(on="b200", expect="281.25")


@derivation("gpus/roofline", title="The roofline of a B200, in bf16 and fp8", source=BOOK)
def roofline(d):
    products = {}
    for kind in ("bf16", "fp8"):
        layer = d.program("x[B, D] * W[D, F] -> y[B, F]", dtype=kind, passes=["forward"])
        products |= {f"{kind}, $B = {each}$": (layer, {"B": each, "D": 4096, "F": 8192}) for each in (64, 512)}
    d.number("intensity", d.intensity(layer), values={"B": 64, "D": 4096, "F": 8192}, expect="125")
    d.roofline(
        products,
        on="b200",
        dtypes=("bf16", "fp8"),
        title="Roofline of B200",
        caption="Dots: products of $B$ tokens with a matrix of 4096 by 8192. With 64 tokens they wait for HBM, with "
        "512 for the tensor cores.",
    )


@derivation("gpus/matmul-small", title="A product of 64 tokens waits for HBM", source=BOOK)
def matmul_small(d):
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", passes=["forward"])
    d.counts(layer)
    t = d.times(layer)
    d.number("T_hbm", t.hbm, on="b200", values={"B": 64, "D": 4096, "F": 8192}, expect="8.6e-6")


@derivation("gpus/matmul-large", title="A product of 512 tokens waits for the tensor cores", source=BOOK)
def matmul_large(d):
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", passes=["forward"])
    t = d.times(layer)
    d.number("T_math", t.math, on="b200", values={"B": 512, "D": 4096, "F": 8192}, expect="15e-6")


@derivation("gpus/vector-add", title="Adding two vectors waits for HBM", source=BOOK)
def vector_add(d):
    layer = d.program("fp32 x[N] + fp32 y[N] -> z[N]", passes=["forward"])
    d.counts(layer)
    cost = layer.costs["forward"]
    d.number("intensity", cost.vector_flops / cost.hbm_bytes, expect="1/12")
    t = d.times(layer)
    d.number("T_hbm", t.hbm, on="h100", values={"N": 2**30}, expect="3.85e-3")
