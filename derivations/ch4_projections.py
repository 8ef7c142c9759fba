"""How To Scale Your Model, chapter 4: each projection of attention, its heads, and the gradients of a product."""

from symscale import derivation, training

BOOK = "How To Scale Your Model, ch. 4 [@austin2025]"


def trained(d, name, text, weight, whole):
    """Write a projection down with its FLOPs in training and its parameters; return the number of parameters."""
    layer = d.program(text, passes=["forward", "backward"])
    ahead, back = (layer.costs[each].total_flops for each in ("forward", "backward"))
    d.equal(f"FLOPs_{name}", ahead + back, 3 * ahead, "Forward, and twice as much backward.")
    d.expect(ahead + back, whole)
    return d.shards(layer, weight)[weight]


@derivation("transformer/each-projection", title="The projections of attention one by one", source=BOOK)
def each_projection(d):
    queries = trained(d, "q", "x[B, T, D] * W_Q[D, N, H] -> q[B, T, N, H]", "W_Q", "6*B*T*D*N*H")
    keys = trained(d, "k", "x[B, T, D] * W_K[D, K, H] -> k[B, T, K, H]", "W_K", "6*B*T*D*K*H")
    trained(d, "v", "x[B, T, D] * W_V[D, K, H] -> v[B, T, K, H]", "W_V", "6*B*T*D*K*H")
    trained(d, "o", "o[B, T, N, H] * W_O[N, H, D] -> y[B, T, D]", "W_O", "6*B*T*D*N*H")
    d.equal("G", queries / keys, d.read("N/K"), "Query heads for each KV head.")


@derivation("transformer/heads", title="Query heads per KV head: MHA, GQA and MQA", source=BOOK)
def heads(d):
    for name, groups in (("llama2-7b", "1"), ("llama3-70b", "8"), ("falcon-7b", "71")):
        d.number("G", d.read("N_heads/K"), values=training(d, name).values, expect=groups)


@derivation("transformer/gradients", title="Two gradients, each as much work as the product", source=BOOK)
def gradients(d):
    layer = d.program("A[N, P] * W[P, M] -> Y[N, M]", passes=["forward", "backward"])
    back = layer.costs["backward"].total_flops
    weight = product(d, "A[N, P] * dY[N, M] -> dW[P, M]")
    inner = product(d, "dY[N, M] * W[P, M] -> dA[N, P]")
    d.equal("FLOPs_weight", weight, back - inner, "dL/dW: the rest of the backward pass is dL/dA.")
    d.equal("FLOPs_input", inner, back - weight, "dL/dA: the rest of the backward pass is dL/dW.")
    d.expect(weight + inner, "4*N*P*M")


def product(d, text):
    """Write a product down and return its FLOPs."""
    layer = d.program(text, passes=["forward"])
    d.counts(layer)
    return layer.costs["forward"].total_flops
