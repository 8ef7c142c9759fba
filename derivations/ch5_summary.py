"""How To Scale Your Model, chapter 5: what the schemes compute, send and hold, side by side."""

from symscale import Relation, derivation

BOOK = "How To Scale Your Model, ch. 5 [@austin2025]"
LAYER = "In[B, D] * W_in[D, F] * W_out[F, D] -> Out[B, D]"
DP = "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
PASSES = ("forward", "backward")


def summary(d, text, chips, forward, backward):
    """Write down the work of one chip in both passes and the bytes that it receives over long axes, in bf16."""
    whole = d.program(LAYER, passes=PASSES).costs
    layer = d.program(text, passes=PASSES)
    sent = {}
    for name, wanted in zip(PASSES, (forward, backward), strict=True):
        d.collectives(layer, name)
        flops = layer.costs[name].total_flops
        d.equal(f"FLOPs_{name}", flops, whole[name].total_flops / d.read(chips), "One chip's share of the layer.")
        sent[name] = received(d, layer, name)
        d.expect(sent[name], wanted)
    d.equal("bytes_both", sum(sent.values()), d.read(f"{forward} + {backward}"), "Both passes.")
    return layer


def received(d, layer, name):
    """Write down the bytes that a chip receives in a pass, an AllReduce counted twice, and return them."""
    moved = layer.costs[name].comm_bytes()
    found = sum(moved.values()) if moved else d.read("0")
    if moved:
        found = d.approximate(f"bytes_{name}", found, "; ".join(f"{axis} >> 1" for axis in moved))
    found = found.subs(d.symbol("b"), 2)
    d.equal(f"bytes_{name}", found, found.expand(), "In bf16.")
    return found


@derivation("training/summary-dp", title="Data parallelism: nothing forward, the gradients backward", source=BOOK)
def summary_dp(d):
    layer = summary(d, DP, "X", "0", "8*D*F")
    held = d.shards(layer, "W_in", "W_out")
    copies = d.symbol("X") * sum(held.values()) / d.read("2*D*F")
    d.equal("copies", copies, d.read("X"), "What all chips hold over the weights: one copy on each.")


@derivation("training/summary-fsdp", title="FSDP: weights twice, gradients once", source=BOOK)
def summary_fsdp(d):
    summary(d, FSDP, "X", "4*D*F", "8*D*F")


@derivation("training/summary-tp", title="Tensor parallelism: activations in both passes", source=BOOK)
def summary_tp(d):
    summary(d, TP, "Y", "4*B*D", "4*B*D")


@derivation("training/summary-mixed", title="FSDP with tensor parallelism: each part over the other axis", source=BOOK)
def summary_mixed(d):
    summary(d, MIXED, "X*Y", "4*B*D/X + 4*D*F/Y", "4*B*D/X + 8*D*F/Y")


@derivation("training/gradients", title="The gradients of a product of matrices", source=BOOK)
def gradients(d):
    layer = d.program("X[B, D] * A[D, F] -> Y[B, F]", passes=PASSES)
    d.counts(layer, "backward")
    d.expect(layer.costs["backward"].total_flops, "4*B*D*F")


@derivation("training/stages", title="Pipelining splits the layers: a stage keeps 1/Z of the weights", source=BOOK)
def stages(d):
    layer = d.program(
        "In[L_Z, B, D] * W_in[L_Z, D, F] -> Tmp[L_Z, B, F]; Tmp * W_out[L_Z, F, D] -> Out[L_Z, B, D]", passes=PASSES
    )
    d.collectives(layer)
    d.collectives(layer, "backward")
    held = d.shards(layer, "In", "W_in", "W_out")
    d.expect(held["W_in"] + held["W_out"], "2*L*D*F/Z")


def held(d, name, tokens, outer, inner, out, whole):
    """Write down what a chip holds of a gated MLP: 10 B per parameter, and the results of three products per layer."""
    layer = d.program(
        f"In[{tokens}, {out}] * W_gate[{outer}, {inner}] -> g[{tokens}, {inner}]; "
        f"In * W_up[{outer}, {inner}] -> u[{tokens}, {inner}]; act(g) .* u -> h[{tokens}, {inner}]; "
        f"h * W_out[{inner}, {outer}] -> Out[{tokens}, {out}]",
        passes=PASSES,
    )
    found = d.shards(layer, "W_gate", "W_up", "W_out", "g", "u", "Out")
    share = sum(found[each] for each in ("W_gate", "W_up", "W_out")) / d.read("3*D*F")
    kept = 2 * d.symbol("L") * sum(found[each] for each in ("g", "u", "Out"))
    text = "bf16 weights, float32 moments of Adam, and in bf16 what each of the three products makes."
    d.equal(f"M_{name}", 10 * d.symbol("P") * share + kept, d.read(whole), text)
    d.expect(10 * d.symbol("P") * share + kept, whole)


@derivation("training/memory-by-scheme", title="What a chip holds under each scheme", source=BOOK)
def memory_by_scheme(d):
    held(d, "dp", "B_X", "D", "F", "D", "10*P + 2*L*B*(D + 2*F)/X")
    held(d, "fsdp", "B_X", "D_X", "F", "D", "10*P/X + 2*L*B*(D + 2*F)/X")
    held(d, "tp", "B", "D", "F_Y", "D_Y", "10*P/Y + 2*L*B*(D + 2*F)/Y")
    held(d, "mixed", "B_X", "D_X", "F_Y", "D_Y", "10*P/(X*Y) + 2*L*B*(D + 2*F)/(X*Y)")


@derivation("training/mixed-or-fsdp", title="Up to which batch eight ways beat FSDP alone", source=BOOK)
def mixed_or_fsdp(d):
    # 16 x 16 x 16 chips
    known = {"F": 32768, "N_chips": 4096}
    layer = d.program(MIXED, axes={"X": 2, "Y": 1}, passes=["forward"])
    t = d.times(layer)
    products = d.approximate("T_tp", t.axes["Y"], "Y >> 1")
    gathers = d.approximate("T_fsdp", t.axes["X"], "X >> 1")
    alone = d.program(FSDP, axes={"X": 3}, passes=["forward"])
    whole = d.approximate("T_alone", d.times(alone).comms, "X >> 1")
    eight = {d.symbol("X"): d.read("N_chips/8"), d.symbol("Y"): d.read("8")}
    d.remark("With 8 ways the gathers take 3/16 of those of FSDP alone: the products decide.")
    d.equal("share", gathers.subs(eight) / whole, d.read("3/16"), "Gathers with 8 ways over those of FSDP alone.")
    most = d.crossover(products.subs(eight), "<=", whole, "B", exact=True, title="Where eight ways send less")
    most = d.evaluate(most, values=known, expect="1365")
    d.number("B_most", most.value * d.read("N_chips"), values=known, expect="5.6e6")
    least = d.crossover(gathers.subs(eight), "<=", products.subs(eight), "B", exact=True, title="Where fewer would do")
    least = d.evaluate(least, values=known, expect="256")
    d.number("B_least", least.value * d.read("N_chips"), values=known, expect="1.05e6")


SCHEMES = {
    "data parallel": (DP, "X", "2*D*F", ("0", "8*D*F")),
    "FSDP": (FSDP, "X", "2*D*F/X", ("4*D*F", "8*D*F")),
    "tensor parallel": (TP, "Y", "2*D*F/Y", ("4*B*D", "4*B*D")),
    "FSDP and tensor": (MIXED, "X*Y", "2*D*F/(X*Y)", ("4*B*D/X + 4*D*F/Y", "4*B*D/X + 8*D*F/Y")),
}


@derivation("training/side-by-side", title="The schemes side by side: shards, collectives, work and times", source=BOOK)
def side_by_side(d):
    rows = {name: scheme(d, text) for name, (text, *_) in SCHEMES.items()}
    printed = SCHEMES.values()
    d.table(
        "What is sharded, and the elements of both weights on a chip",
        {"arrays": "", "elements": "elements"},
        rows=rows,
        of="scheme",
        formulas=True,
        expect={"elements": [held for _, _, held, _ in printed]},
    )
    for n, name in enumerate(PASSES):
        d.table(
            f"Collectives of the {name} pass, and the bytes that a chip receives over long axes in bf16",
            {name: "", "FLOPs": f"FLOPs_{name}", "bytes_long": f"bytes_{name}"},
            rows=rows,
            of="scheme",
            formulas=True,
            expect={
                "FLOPs": [f"{4 + 4 * n}*B*D*F/({chips})" for _, chips, _, _ in printed],
                "bytes_long": [sent[n] for *_, sent in printed],
            },
        )
    for name in PASSES:
        d.table(
            f"Times of the {name} pass over long axes, and when the network hides",
            {"T_math": f"T_math_{name}", "T_long": f"T_long_{name}", "hides if": ""},
            rows={each: {**row, "hides if": row[f"hides {name}"]} for each, row in rows.items()},
            of="scheme",
            formulas=True,
        )


def scheme(d, text):
    """Write a scheme down, and return its arrays, collectives, work, bytes and times over long axes."""
    layer = d.program(text, passes=PASSES)
    held = d.shards(layer, "W_in", "W_out")
    found = {"arrays": ", ".join(f"{name}{layer.plan.results[name].layout}" for name in layer.program.leaves)}
    found["elements"] = sum(held.values())
    for name in PASSES:
        d.counts(layer, name)
        found[f"FLOPs_{name}"] = layer.costs[name].total_flops
        found[f"bytes_{name}"] = received(d, layer, name)
        found[name] = sent(layer, name)
        t = d.times(layer, name)
        long = "; ".join(f"{axis} >> 1" for axis in t.axes)
        found[f"T_math_{name}"] = t.math
        found[f"T_long_{name}"] = d.approximate("T_long", t.comms, long) if long else t.comms
        unknown = "B" if "B_X" in text else "Y"
        found[f"hides {name}"] = hidden(d, t.math, found[f"T_long_{name}"], unknown)
    return found


def sent(layer, name):
    """Return the collectives of a pass in words, those of one kind over one axis together."""
    found = {}
    for each in layer.costs[name].transfers:
        kind = f"{each.collective.kind}_{''.join(each.collective.axes)}"
        found.setdefault(kind, []).append(each.collective.value)
    return "; ".join(f"{kind}: {', '.join(arrays)}" for kind, arrays in found.items()) or "none"


def hidden(d, math, comms, unknown):
    """Return for which values the arithmetic takes as long as the network: a relation, or words."""
    if comms == 0:
        return "always"
    answer = d.crossover(math, ">=", comms, unknown, exact=True).headline
    case = next(each for each in answer.cases if each.intervals)
    (interval,) = case.intervals
    op, border = ("<=", interval.hi) if unknown == "Y" else (">=", interval.lo)
    conditions = [part for each in case.when for part in (" and ", each)][1:]
    return (Relation(answer.unknown, op, border), *((" where ", *conditions) if conditions else ()))


@derivation("training/over-batch", title="Which batch hides what each scheme sends", source=BOOK)
def over_batch(d):
    curves, found = {}, []
    for name, text, wanted in (("DP", DP, "B/X >= 2/3*C/W_ici"), ("FSDP", FSDP, "B/X >= C/W_ici")):
        t = d.times(d.program(text, passes=PASSES), "both")
        found.append(d.crossover(t.math, ">=", t.comms, "B", passes="both", resource="ici"))
        d.expect(found[-1], wanted)
        curves |= {"arithmetic": t.math, f"{name}: communication": t.comms}
    t = d.times(d.program(TP.replace("Y", "X"), passes=PASSES), "both")
    curves["TP: communication"] = t.comms
    d.plot(
        curves,
        "B",
        (10**4, 10**6),
        title="Arithmetic and communication of one layer over the batch",
        caption="Both passes on 64 chips along one physical axis. What data parallelism sends does not depend on the "
        "batch, so a large one hides it; what tensor parallelism sends grows with the batch, and 64 ways never hide.",
        y="time per layer [s]",
        marks=found,
        on="tpu-v5p",
        values={"X": 64, "D": 8192, "F": 32768},
    )


def schemes(d):
    """Solve for the tokens per chip that FSDP over three axes needs, and FSDP over two with TP over the third."""
    t = d.times(d.program(FSDP, axes={"X": 3}, passes=["forward"]))
    alone = d.crossover(t.math, ">=", t.comms, "B", subject_to="X = N_chips", passes="forward", resource="ici")
    layer = d.program(MIXED, axes={"X": 2, "Y": 1}, passes=["forward"])
    mixed = d.times(layer)
    best = d.optimise(layer, mixed, "X", subject_to="X*Y = N_chips", solve="B")
    return t, alone, mixed, best


@derivation("training/regimes", title="FSDP alone, FSDP with tensor parallelism, or too few tokens", source=BOOK)
def regimes(d):
    _, alone, _, _ = schemes(d)
    both = d.crossovers[-1]
    d.expect(alone, "B/N_chips >= C/(3*W_ici)")
    d.expect(both, "B/N_chips >= (C/W_ici)**2/(2*F)")
    d.evaluate(alone, on="tpu-v5p", expect="850")
    d.evaluate(both, on="tpu-v5p", values={"F": 32768}, expect="99.2")
    d.condition_map(
        {"FSDP alone": alone, "FSDP with tensor parallelism": both},
        "communication-bound",
        "F",
        ((4096, 131072), (10, 10**4)),
        title="Which scheme a number of tokens per chip needs",
        caption="Above the first border FSDP over three axes hides its gathers. Down to the second the best mix of "
        "FSDP over two axes with tensor parallelism over the third does, at $F = 32768$ with 99 tokens per chip. Below "
        "it no mesh is busy.",
        labels=("width of the MLP, $F$", "tokens per chip, $B/N_chips$"),
        on="tpu-v5p",
    )


@derivation("training/hiding", title="How many times over the arithmetic hides the communication", source=BOOK)
def hiding(d):
    alone, pure, _, best = schemes(d)
    put = {d.symbol("X"): d.symbol("N_chips")}
    math = alone.math.subs(put)
    t = d.times(d.program(TP, axes={"Y": 3}, passes=["forward"]))
    known = {"N_chips": 4096, "D": 8192, "F": 32768}
    d.number("ratio", math / best.value, on="tpu-v5p", values={**known, "B": 406425}, expect="1.0")
    d.plot(
        {
            "FSDP over three axes": math / alone.comms.subs(put),
            "FSDP with tensor parallelism": math / best.value,
            "tensor parallelism": t.math / t.comms,
        },
        "B",
        (10**5, 10**7),
        title="Arithmetic over communication, on 16 × 16 × 16 chips",
        caption="Above 1 the arithmetic is longer and can hide the communication: the mixed mesh gets there with a "
        "ninth of the batch of FSDP alone, tensor parallelism with none.",
        y="$T_math/T_comms$",
        height=("1/200", 60),
        marks=[(pure, "FSDP over three axes"), (d.crossovers[-1], "FSDP with tensor parallelism")],
        on="tpu-v5p",
        values={**known, "Y": 4096},
    )


@derivation("training/resources", title="What binds a layer on 4096 chips, mesh by mesh", source=BOOK)
def resources(d):
    layer = d.program(MIXED, axes={"X": 2, "Y": 1}, passes=["forward"])
    t = d.times(layer)
    gathers = d.approximate("T_X", t.axes["X"], "X >> 1")
    products = d.approximate("T_Y", t.axes["Y"], "Y >> 1")
    reads = d.approximate("T_hbm", t.hbm, "B << D, F; B*Y << F*X")
    mesh = {d.symbol("Y"): d.read("N_chips/X")}
    d.expect(products.subs(mesh), "2*b*B*D/(X*W_ici)")
    d.regime_map(
        {
            "arithmetic": t.math.subs(mesh),
            "gathers of the weights, axis X": gathers.subs(mesh),
            "activations, axis Y": products.subs(mesh),
            "HBM": reads.subs(mesh),
        },
        "X",
        "B/N_chips",
        ((8, 2048), (1, 10**4)),
        title="The longest time of a layer over the mesh and the batch",
        caption="FSDP over $X$ chips on two physical axes, tensor parallelism over the other $Y = N_chips/X$ on one. "
        "The arithmetic binds right of and above the corner where all networks are as slow as it is.",
        labels=("chips of the FSDP axis, $X$", "tokens per chip, $B/N_chips$"),
        on="tpu-v5p",
        values={"N_chips": 4096, "D": 8192, "F": 32768},
    )
