"""How To Scale Your Model, chapter 12: what passes the switches of a node, of a unit and of a SuperPod."""

from symscale import derivation, machine

BOOK = "How To Scale Your Model, ch. 12 [@austin2025]"


@derivation("gpus/hop", title="A ring inside a node, step by step", source=BOOK)
def hop(d):
    sent = d.collective("Permute", "M_array/X", {"X": d.symbol("X")}, on="h100")
    d.expect(sent.time, "M_array/(X*W_nvlink)")
    gathered = d.collective("AllGather", "M_array", {"X": d.symbol("X")}, on="h100")
    steps = (d.symbol("X") - 1) * sent.time
    d.equal("T_ring", gathered.time, steps, "An AllGather takes X - 1 such steps.")


@derivation("gpus/gather", title="An AllGather or ReduceScatter inside a node", source=BOOK)
def gather(d):
    gathered = d.collective("AllGather", "M_array", {"X": d.symbol("X")}, on="h100")
    scattered = d.collective("ReduceScatter", "M_array", {"X": d.symbol("X")}, on="h100")
    d.equal("T_comms", gathered.time, scattered.time, "Both take as long.")
    sent = d.read("X*(X - 1)*(M_array/X)")
    d.equal("bytes_all", d.symbol("X") * gathered.received, sent, "Each of X GPUs sends its part to X - 1 others.")
    speed = d.read("M_array") / gathered.time
    d.equal("W_all", speed, d.read("W_nvlink*X/(X - 1)"), "Only what a GPU lacks is sent, so the array seems faster.")
    d.approximate("T_comms", gathered.time, "X >> 1")
    d.expect(d.approximate("W_all", speed, "X >> 1"), "W_nvlink")


@derivation("gpus/reduce", title="An AllReduce inside a node", source=BOOK)
def reduce(d):
    reduced = d.collective("AllReduce", "M_array", {"X": d.symbol("X")}, on="h100")
    d.expect(d.approximate("T_comms", reduced.time, "X >> 1"), "2*M_array/W_nvlink")


@derivation("gpus/tree", title="Trees take fewer hops than a ring, for as many bytes", source=BOOK)
def tree(d):
    hop = d.symbol("T_hop")
    ring = d.all_reduce("ring", "M_array", "X", "W_nvlink")
    trees = d.all_reduce("tree", "M_array", "X", "W_nvlink")
    # a ring and a tree both go around or up once to add, and once more to hand out the sum
    d.equal("hops_ring", ring.coeff(hop) / 2, d.read("X - 1"), "A ring passes every GPU.")
    d.equal("hops", trees.coeff(hop) / 2, d.read("log(X)/log(2)"), "Every level of a tree halves the GPUs.")
    d.number("hops", trees.coeff(hop) / 2, values={"X": 8}, expect="3.0")
    many = d.approximate("T_transfer", ring.subs(hop, 0), "X >> 1")
    d.equal("T_transfer", trees.subs(hop, 0), many, "The trees move as many bytes as a long ring.")


@derivation("gpus/all-to-all-ring", title="An AllToAll through a switch, and on a ring as fast", source=BOOK)
def all_to_all_ring(d):
    dense = d.collective("AllToAll", "M_array", {"X": d.symbol("X")}, on="h100")
    ring = d.collective("AllToAll", "M_array", {"X": d.symbol("X")}, on="tpu-v5p")
    # one way out of a GPU taken as fast as both ways along an axis of a TPU
    gain = (ring.time / dense.time).subs({d.symbol(name): d.symbol("W") for name in ("W_ici", "W_nvlink")})
    d.number("gain", gain, values={"X": 8}, expect="2.286")
    d.expect(d.approximate("gain", gain, "X >> 1"), "X/4")


@derivation("gpus/all-to-all-ragged", title="An AllToAll of tokens for k of the GPUs", source=BOOK)
def all_to_all_ragged(d):
    # a token for each of the X GPUs is a dense array of X copies
    sparse = d.collective("AllToAll", "M_array/X", {"X": d.symbol("X")}, on="h100", copies="k")
    d.expect(sparse.time, "(X - 1)/X*Min(k/X, 1)*M_array/(X*W_nvlink)")
    d.approximate("T_comms", sparse.time, "X >> 1")


@derivation("gpus/random", title="How much k random draws of Z GPUs send away", source=BOOK)
def random(d):
    # draw i is the first to find a certain GPU with probability r^(i - 1)/Z, where r = 1 - 1/Z
    powers = d.added("total", "r^i", "i", "k")
    reached = (powers / d.read("Z*r")).subs(d.symbol("r"), d.read("1 - 1/Z"))
    missed = d.read("((Z - 1)/Z)^k")
    d.equal("share_reached", reached, 1 - missed, "All k draws miss a GPU with probability ((Z - 1)/Z)^k.")
    away = d.read("(Z - 1)/Z")
    d.equal("share_sent", reached * away, (1 - missed) * away, "A part 1/Z of it stays at home.")
    d.number("share_sent", reached * away, values={"Z": 4, "k": 4}, expect="0.51")
    bound = d.read("Min(k/Z, 1)")
    most = d.read("Min(k*(Z - 1)/Z^2, (Z - 1)/Z)")
    d.equal("share_bound", bound * away, most, "No more than k GPUs are reached, and no more than there are.")
    d.number("excess", bound / reached, values={"Z": 8, "k": 4}, expect="1.208")


@derivation("gpus/uplinks", title="An AllGather over nodes: what enters and leaves each switch", source=BOOK)
def uplinks(d):
    nodes, whole = d.symbol("N"), d.read("M_array")
    gathered = d.collective("AllGather", "M_array", {"N": nodes, "Y": 8}, on="h100:1024")
    entering = dict(gathered.levels)["leaf"] * d.symbol("W_node")
    own = whole / nodes
    d.equal(
        "bytes_in", whole, own + entering, "Into the switch of a node: its GPUs' parts, and the others' from above."
    )
    leaving = own + 8 * gathered.received
    d.equal("bytes_out", 8 * whole, leaving, "Out of it: its part up, and down what each of 8 GPUs lacks.")
    ports = 8 * d.symbol("W_nvlink")
    d.equal("T_switch", d.read("M_array/W_nvlink"), leaving / ports, "At the speed of its 8 ports to the GPUs.")
    d.equal("bytes_top_in", whole, nodes * own, "Into the switch on top: every node's part.")
    d.equal("bytes_top_out", (nodes - 1) * whole, nodes * entering, "Out of it: what every node lacks.")
    d.expect(d.approximate("T_leaf", dict(gathered.levels)["leaf"], "N >> 1"), "M_array/W_node")
    d.approximate("T_comms", gathered.time, "N >> 1")


@derivation("gpus/all-to-all-uplinks", title="An AllToAll over nodes", source=BOOK)
def all_to_all_uplinks(d):
    dense = d.collective("AllToAll", "M_array", {"N": d.symbol("N"), "Y": 8}, on="h100:1024")
    up = dict(dense.levels)["leaf"]
    d.expect(up, "M_array*(N - 1)/(N^2*W_node)")
    d.approximate("T_leaf", up, "N >> 1")


@derivation("gpus/sharded-sum", title="Sums in the switches of an array that Y shards inside the node", source=BOOK)
def sharded_sum(d):
    near = {"X": d.symbol("X"), "Y": d.symbol("Y")}
    inside = d.collective("AllReduce", "M_array/Y", near, ["X"], on="h100", in_network=True)
    d.expect(inside.time, "M_array/(Y*W_nvlink)")
    far = {"N": d.symbol("N"), "X": 2, "Y": 4}
    over = d.collective("AllReduce", "M_array/4", far, ["N", "X"], on="h100:1024", in_network=True)
    d.expect(dict(over.levels)["leaf"], "M_array/W_node")
    sent = dict(over.levels)["leaf"] * d.symbol("W_node")
    d.equal("bytes_leaf", sent, 4 * d.read("M_array/4"), "A node sends each of its 4 sums once: the whole array.")


@derivation("gpus/sharded-sum-gain", title="Eight shards inside a node do not shorten the sum over nodes", source=BOOK)
def sharded_sum_gain(d):
    whole = d.collective("AllReduce", "M_array", {"X": 1024}, on="h100:1024", in_network=True)
    inside = d.collective("AllReduce", "M_array/8", {"X": 128, "Y": 8}, ["X"], on="h100:1024", in_network=True)
    d.number("gain", whole.time / inside.time, on="h100:1024", expect="1.0")


@derivation("gpus/sum-first", title="A node that adds up first sends an eighth", source=BOOK)
def sum_first(d):
    first = d.collective("AllReduce", "M_array", {"X": 1024}, on="h100:1024", in_network=True)
    apart = d.collective("AllReduce", "M_array", {"X": 128, "Y": 8}, ["X"], on="h100:1024", in_network=True)
    d.number("factor", dict(apart.levels)["leaf"] / dict(first.levels)["leaf"], expect="8.0")


@derivation("gpus/sharp-unit", title="Switches that add up over the 256 GPUs of a unit", source=BOOK)
def sharp_unit(d):
    added = d.collective("AllReduce", "M_array", {"X": 256}, on="h100:256", in_network=True)
    d.number("W_all", d.read("M_array") / added.time, on="h100:256", expect="400e9")


@derivation("gpus/sharp-spine", title="A sum over four units in the spine", source=BOOK)
def sharp_spine(d):
    added = d.collective("AllReduce", "M_array/256", {"X": 4, "Y": 256}, ["X"], on="h100:1024", in_network=True)
    d.number("W_all", d.read("M_array") / added.time, on="h100:1024", expect="12.8e12")


@derivation(
    "gpus/reduction-stages", title="Stages and tensor parallelism over 16 nodes divide the reduction", source=BOOK
)
def reduction_stages(d):
    narrow = d.collective("AllReduce", "M_array/8", {"X": 128, "Y": 8}, ["X"], on="h100:1024")
    wide = d.collective("AllReduce", "M_array/128", {"X": 128, "P": 16, "Y": 8}, ["X"], on="h100:16384")
    d.number("gain", narrow.time / wide.time, on="h100:16384", expect="16.0")


def hops(d, stages):
    """Write how many hops after each other the microbatches of a pipeline take: its boundaries are one, too."""
    run = d.pipeline("gpipe", "rule step")
    alone = {"p": stages - 1, "t_F": 1, "t_B": 0, "t_W": 0}
    return run.step.subs({d.symbol(name): value for name, value in alone.items()})


@derivation("gpus/pp", title="What pipeline stages send is little", source=BOOK)
def pp(d):
    # every eighth GPU is of another stage: each sends one of m microbatches through its share of the uplinks
    hop = d.collective("Permute", "b*B*D/m", {"P": 16}, on="h100:1024", axes={"P": "leaf"})
    d.expect(hop.time, "8*b*B*D/(m*W_node)")
    every = hop.time * hops(d, d.symbol("P"))
    d.expect(d.approximate("T_comms", every, "P << m; m >> 1"), "8*b*B*D/W_node")


@derivation("gpus/pp-layers", title="What the hops of a pipeline add to a layer", source=BOOK)
def pp_layers(d):
    sent = d.collective("Permute", "b*B*D/m", {"Z": d.symbol("Z")}, on="h100", axes={"Z": "ib"})
    taken = hops(d, d.symbol("p"))
    d.equal("hops", taken, d.read("m + (p - 1) - 1"), "m microbatches pass p - 1 boundaries.")
    # half as many stages as microbatches
    layer = (taken * sent.time / d.symbol("L")).subs(d.symbol("p"), d.symbol("m") / 2)
    d.expect(d.approximate("T_layer", layer, "m >> 1"), "3/2*b*B*D/(L*W_ib)")


GPUS = ("v100", "a100", "h100", "h200", "b200")


@derivation("gpus/specs", title="GPUs: memory, bandwidths and peaks", source=BOOK)
def specs(d):
    wanted = dict.fromkeys(("C", "C_fp8", "C_int8", "W_nvlink"))
    chips = {machine(name).title: {**wanted, **machine(name).figures} for name in GPUS}
    d.table(
        "Memory and peaks of a GPU",
        ["M_hbm", "W_hbm", "C", "C_int8", "C_fp8", "W_nvlink"],
        rows=chips,
        of="GPU",
        expect={
            "M_hbm": ("32e9", "80e9", "80e9", "141e9", "192e9"),
            "W_hbm": ("9.0e11", "2.0e12", "3.4e12", "4.8e12", "8.0e12"),
            "C": (None, "3.1e14", "9.9e14", "9.9e14", "2.3e15"),
            "C_int8": (None, "6.2e14", None, None, None),
            "C_fp8": (None, None, "2.0e15", "2.0e15", "4.5e15"),
            "W_nvlink": ("150e9", "300e9", "450e9", "450e9", "900e9"),
        },
        note="Dense peaks, C in bf16; W_nvlink is the egress of a GPU, one way.",
    )
    d.table(
        "FLOPs for each byte from HBM and from NVLink",
        ["C/W_hbm", "C_fp8/W_hbm", "C/W_nvlink"],
        rows=chips,
        of="GPU",
        units=dict.fromkeys(("C/W_hbm", "C_fp8/W_hbm", "C/W_nvlink"), "FLOP/B"),
        note="From that many on arithmetic takes longer than moving the bytes.",
    )


@derivation("gpus/levels", title="A SuperPod of H100: what each level carries", source=BOOK)
def levels(d):
    pod = machine("h100:1024").figures
    up = {"node": ("D_node", "W_nvlink"), "leaf": ("D_leaf", "W_node"), "spine": ("D_spine", "W_leaf")}
    below = {"node": "1", "leaf": "D_node", "spine": "D_node*D_leaf"}
    d.table(
        "Switches by level",
        {"n": "n", "N_below": "n*below", "W_child": "W_child", "W_level": "n*W_child", "W_gpu": "W_child/below"},
        rows={
            name: {"n": pod[size], "W_child": pod[width], "below": d.read(below[name]).xreplace(sizes(d, pod))}
            for name, (size, width) in up.items()
        },
        of="level",
        units={"N_below": "GPU"},
        expect={
            "n": ("8", "32", "4"),
            "W_level": ("3.6e12", "12.8e12", "51.2e12"),
            "W_gpu": ("450e9", "50e9", "50e9"),
        },
        note="Each switch joins n children of bandwidth W_child, one way; W_gpu is what is left for each GPU below.",
    )
    ports = {name: pod[name] for name in ("D_node", "W_ib")}
    d.number("W_out", d.read("D_node*W_ib"), values=ports, expect="400e9")


def sizes(d, figures):
    """Return the figures of a machine by symbol."""
    return {d.symbol(name): value for name, value in figures.items()}
