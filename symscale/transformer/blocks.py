"""A Config as blocks: the lines of notation that a model is, each with how often it occurs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import sympy as sp

from symscale.transformer.block import Block
from symscale.transformer.config import FULL, Attention, Config, Experts, LatentAttention, Mlp
from symscale.vocabulary import symbol

# An embedding is a table: a look-up moves rows and multiplies nothing.
TOKENS = "weight W_E[V, {D}] -> rows[V, {D}]"
POSITIONS = "weight W_P[N_pos, D] -> rows[N_pos, D]"
UNEMBED = "x[B, {D}] * weight W_E[V, {D}]{bias} -> logits[B, V]"
UNEMBED_OWN = "x[B, {D}] * W_U[{D}, V]{bias} -> logits[B, V]"
PROJECT_IN = "e[B, D_embed] * W_in[D_embed, D] -> x[B, D]"
PROJECT_OUT = "x[B, D] * W_out[D, D_embed] -> e[B, D_embed]"

NORM = {
    "rms": "norm_D(x[B, D]) .* weight g[D] -> y[B, D]",
    "layer_without_bias": "norm_D(x[B, D]) .* weight g[D] -> y[B, D]",
    "layer": "norm_D(x[B, D]) .* weight g[D] + weight c[D] -> y[B, D]",
    "none": "norm_D(x[B, D]) -> y[B, D]",
}
QUERIES = "x[B, D] * W_Q[D, K, G, H]{bQ} -> q[B, K, G, H]"
KEYS_VALUES = "x[B, D] * W_K[D, K, H]{bK} -> k[B, K, H]; x * W_V[D, K, H]{bV} -> v[B, K, H]"
OUTPUT = "o[B, K, G, H] * W_O[K, G, H, D]{b} -> y[B, D]{drop}"
QK_NORM = {
    "head": ("weight g_Q[H]", "weight g_K[H]"),
    "head_with_bias": ("weight g_Q[H] + weight h_Q[H]", "weight g_K[H] + weight h_K[H]"),
    "heads": ("weight g_Q[K, G, H]", "weight g_K[K, H]"),
}
SCORES = "q[T, K, G, H] * k[S, K, H] -> a[T, K, G, S]; softmax_S(a) -> p[T, K, G, S]; {p} * v[S, K, H] -> o[T, K, G, H]"
# A sink adds exp(sink) to the denominator of each head's softmax.
SCORES_WITH_SINKS = (
    "q[T, K, G, H] * k[S, K, H] -> a[T, K, G, S]; exp(a) -> e[T, K, G, S]; "
    "sum_S(e) + exp(weight sink[K, G]) -> z[T, K, G]; {p} * v[S, K, H] -> n[T, K, G, H]; "
    "n .* inverse(z) -> o[T, K, G, H]"
)
LATENT_QUERIES = "x[B, D] * W_QA[D, R_q]{bQ} -> c[B, R_q]; norm_{{R_q}}(c) .* weight g_Q[R_q] -> d[B, R_q]; "
LATENT_QUERIES_UP = (
    "{first} * W_QN[{R}, N_heads, H_nope] -> q[B, N_heads, H_nope]; "
    "{again} * W_QR[{R}, N_heads, H_rope] -> r[B, N_heads, H_rope]"
)
LATENT = (
    "x[B, D] * W_KVA[D, R_kv]{bKV} -> c[B, R_kv]; x * W_KR[D, H_rope]{bKR} -> r[B, H_rope]; "
    "norm_{{R_kv}}(c) .* weight g_KV[R_kv] -> d[B, R_kv]"
)
LATENT_UP = (
    "d[B, R_kv] * W_KN[R_kv, N_heads, H_nope] -> k[B, N_heads, H_nope]; "
    "d * W_VN[R_kv, N_heads, H_v] -> v[B, N_heads, H_v]"
)
LATENT_OUTPUT = "o[B, N_heads, H_v] * W_O[N_heads, H_v, D]{b} -> y[B, D]{drop}"
# Training and prefill build keys and values of every head; the rotary part of a key is the same for all heads.
LATENT_SCORES = (
    "q[T, N_heads, H_nope] * k[S, N_heads, H_nope] -> a[T, N_heads, S]; "
    "r[T, N_heads, H_rope] * activation s[S, H_rope] -> e[T, N_heads, S]; "
    "softmax_S(a + e) -> p[T, N_heads, S]; {p} * v[S, N_heads, H_v] -> o[T, N_heads, H_v]"
)
# Decoding stays in the latent: W_KN is applied to the query instead of the keys, W_VN after the sum over S.
ABSORBED_SCORES = (
    "q[T, N_heads, R_kv] * activation c[S, R_kv] -> a[T, N_heads, S]; "
    "r[T, N_heads, H_rope] * activation s[S, H_rope] -> e[T, N_heads, S]; "
    "softmax_S(a + e) -> p[T, N_heads, S]; p * c -> o[T, N_heads, R_kv]"
)
GATED = (
    "x[B, D] * W_gate[D, {F}]{b1} -> g[B, {F}]; x * W_up[D, {F}]{b2} -> u[B, {F}]; act(g) .* u -> h[B, {F}]; "
    "h * W_down[{F}, D]{b3} -> y[B, D]{drop}"
)
PLAIN = "x[B, D] * W_up[D, {F}]{b2} -> u[B, {F}]; act(u) -> h[B, {F}]; h * W_down[{F}, D]{b3} -> y[B, D]{drop}"
ROUTER = "x[B, D] * W_R[D, E]{b} -> logits[B, E]"
SHARED_GATE = "x[B, D] * W_S[D] -> gate[B]"
# Every expert gets M = k·B/E tokens.
GATED_EXPERTS = (
    "x[E, M, D] * weight W_gate[E, D, F_moe]{b1} -> g[E, M, F_moe]; "
    "x * weight W_up[E, D, F_moe]{b2} -> u[E, M, F_moe]; "
    "act(g) .* u -> h[E, M, F_moe]; h * weight W_down[E, F_moe, D]{b3} -> y[E, M, D]; y .* p[E, M] -> z[E, M, D]"
)
PLAIN_EXPERTS = (
    "x[E, M, D] * weight W_up[E, D, F_moe]{b2} -> u[E, M, F_moe]; act(u) -> h[E, M, F_moe]; "
    "h * weight W_down[E, F_moe, D]{b3} -> y[E, M, D]; y .* p[E, M] -> z[E, M, D]"
)

PARTS = ("embedding", "attention", "scores", "MLP", "router", "experts", "shared experts", "norms", "unembedding")

Counts = Callable[[Iterable[bool], str], sp.Expr]


def blocks(config: Config, *, absorbed: bool = False) -> tuple[Block, ...]:
    """Return the blocks of a model. `absorbed` scores latent attention in the latent, as decoding does."""
    return (
        *_embedding(config),
        *_projections(config),
        *_scores(config, absorbed),
        *_feed_forward(config),
        *_norms(config),
        *_unembedding(config),
    )


def count_of(chosen: Iterable[bool], name: str) -> sp.Expr:
    """Return how many layers are chosen, in symbols: L for all, 0 for none, L_name for some."""
    flags = tuple(chosen)
    if not any(flags):
        return sp.S.Zero
    return symbol("L") if all(flags) else symbol(f"L_{name}")


def local_count(config: Config, kind: str, *, owning: bool = False) -> sp.Expr:
    """Return how many layers attend in this way, in symbols; `owning` counts those with keys of their own."""
    flags = [each == kind and (own or not owning) for each, own in zip(config.kinds, config.owns_kv, strict=True)]
    name = "global" if kind == FULL else "local"
    return count_of(flags, f"kv_{name}" if owning and not all(config.owns_kv) else name)


def _bias(stated: bool, name: str, dims: str) -> str:
    return f" + weight {name}[{dims}]" if stated else ""


def _drop(config: Config) -> str:
    return "; dropout(y) -> z[B, D]" if config.dropout else ""


def _embedding(config: Config) -> list[Block]:
    width = "D_embed" if config.D_embed else "D"
    found = [Block("embedding", "tokens", TOKENS.format(D=width), sp.S.One)]
    if config.positions:
        found.append(Block("embedding", "positions", POSITIONS, sp.S.One))
    if config.D_embed:
        found.append(Block("embedding", "projection", PROJECT_IN, sp.S.One))
    return found


def _unembedding(config: Config) -> list[Block]:
    width = "D_embed" if config.D_embed else "D"
    bias = _bias(config.unembedding_bias, "c_U", "V")
    text = (UNEMBED if config.tied else UNEMBED_OWN).format(D=width, bias=bias)
    elsewhere = frozenset(("W_E",)) if config.tied else frozenset[str]()
    found = [Block("unembedding", "logits", text, sp.S.One, elsewhere=elsewhere)]
    return [Block("unembedding", "projection", PROJECT_OUT, sp.S.One), *found] if config.D_embed else found


def _projections(config: Config) -> list[Block]:
    attention = config.attention
    return _grouped(config, attention) if isinstance(attention, Attention) else _latent(config, attention)


def _grouped(config: Config, attention: Attention) -> list[Block]:
    bias, out = attention.qkv_bias, attention.out_bias
    queries = QUERIES.format(bQ=_bias(bias, "c_Q", "K, G, H"))
    keys = KEYS_VALUES.format(bK=_bias(bias, "c_K", "K, H"), bV=_bias(bias, "c_V", "K, H"))
    if attention.qk_norm != "none":
        for_queries, for_keys = QK_NORM[attention.qk_norm]
        queries += f"; norm_H(q) .* {for_queries} -> n[B, K, G, H]"
        keys += f"; norm_H(k) .* {for_keys} -> n[B, K, H]"
    layers = symbol("L")
    return [
        Block("attention", "queries", queries, layers),
        Block("attention", "keys and values", keys, count_of(config.owns_kv, "kv")),
        Block("attention", "output", OUTPUT.format(b=_bias(out, "c_O", "D"), drop=_drop(config)), layers),
    ]


def _latent(config: Config, attention: LatentAttention) -> list[Block]:
    bias = attention.latent_bias
    queries = LATENT_QUERIES.format(bQ=_bias(bias, "c_QA", "R_q")) if attention.R_q else ""
    rank = "R_q" if attention.R_q else "D"
    first, again = ("d", "d") if attention.R_q else ("x[B, D]", "x")
    queries += LATENT_QUERIES_UP.format(first=first, again=again, R=rank)
    latent = LATENT.format(bKV=_bias(bias, "c_KVA", "R_kv"), bKR=_bias(bias, "c_KR", "H_rope"))
    layers = symbol("L")
    output = LATENT_OUTPUT.format(b=_bias(attention.out_bias, "c_O", "D"), drop=_drop(config))
    return [
        Block("attention", "queries", queries, layers),
        Block("attention", "latent", latent, layers),
        Block("attention", "keys and values", LATENT_UP, layers),
        Block("attention", "output", output, layers),
    ]


def _scores(config: Config, absorbed: bool) -> list[Block]:
    if isinstance(config.attention, LatentAttention):
        text, cached = (ABSORBED_SCORES, ("c", "s")) if absorbed else (LATENT_SCORES, ("k", "s", "v"))
    else:
        text, cached = (SCORES_WITH_SINKS if config.attention.sinks else SCORES), ("k", "v")
    # with sinks the weights are not yet divided by their sum; dropout commutes with that
    weights = "e" if text is SCORES_WITH_SINKS else "p"
    text = text.format(p=f"dropout({weights})" if config.dropout else weights)
    return [
        Block(
            "scores",
            "scores" if len(set(config.kinds)) == 1 else f"scores, {kind}",
            text,
            local_count(config, kind),
            over_sequence=True,
            kind=kind,
            cached=cached,
            cache_count=local_count(config, kind, owning=True),
        )
        for kind in dict.fromkeys(config.kinds)
    ]


def _feed_forward(config: Config) -> list[Block]:
    found = []
    if config.mlp is not None:
        dense = count_of((not each for each in config.routed), "dense")
        found.append(Block("MLP", "MLP", _mlp_text(config.mlp, "F", _drop(config)), dense))
    if config.experts is not None:
        found += _experts(config.experts, count_of(config.routed, "moe"))
    return found


def _mlp_text(mlp: Mlp, width: str, drop: str = "") -> str:
    biases = {
        "b1": _bias(mlp.bias, "c_gate", width),
        "b2": _bias(mlp.bias, "c_up", width),
        "b3": _bias(mlp.bias, "c_down", "D"),
    }
    return (GATED if mlp.gated else PLAIN).format(F=width, drop=drop, **biases)


def _experts(experts: Experts, count: sp.Expr) -> list[Block]:
    biases = {
        "b1": _bias(experts.bias, "c_gate", "E, F_moe"),
        "b2": _bias(experts.bias, "c_up", "E, F_moe"),
        "b3": _bias(experts.bias, "c_down", "E, D"),
    }
    text = (GATED_EXPERTS if experts.gated else PLAIN_EXPERTS).format(**biases)
    found = [Block("experts", "experts", text, count)]
    if experts.router:
        found.append(Block("router", "router", ROUTER.format(b=_bias(experts.router_bias, "c_R", "E")), count))
    if experts.F_shared:
        shared = Mlp(experts.F_shared, experts.gated, experts.shared_bias)
        found.append(Block("shared experts", "shared", _mlp_text(shared, "F_shared"), count))
    if experts.shared_gate:
        found.append(Block("shared experts", "gate", SHARED_GATE, count))
    return found


def _norms(config: Config) -> list[Block]:
    text = NORM[config.norm]
    found = [Block("norms", "layers", text, config.norms_per_layer * symbol("L"))]
    outside = config.final_norm + config.embedding_norm
    if outside:
        found.append(Block("norms", "outside the layers", text, sp.Integer(outside)))
    return found


def values(config: Config) -> dict[sp.Symbol, sp.Integer]:
    """Return the number of every size and count that the blocks of a model speak of."""
    found = {"D": config.D, "V": config.V, "L": config.L}
    attention = config.attention
    sizes = (
        ("N_heads", "K", "H") if isinstance(attention, Attention) else ("N_heads", "H_nope", "H_rope", "H_v", "R_kv")
    )
    found |= {name: getattr(attention, name) for name in sizes}
    if isinstance(attention, LatentAttention) and attention.R_q:
        found["R_q"] = attention.R_q
    if config.mlp is not None:
        found["F"] = config.mlp.F
    if config.experts is not None:
        found |= {"E": config.experts.E, "k": config.experts.k, "F_moe": config.experts.F}
        found |= {"F_shared": config.experts.F_shared} if config.experts.F_shared else {}
    found |= _layer_counts(config)
    extra = {"N_pos": config.positions, "D_embed": config.D_embed, "S_window": config.window}
    found |= {name: number for name, number in extra.items() if number}
    return {symbol(name): sp.Integer(number) for name, number in found.items()}


def _layer_counts(config: Config) -> dict[str, int]:
    pairs = list(zip(config.kinds, config.owns_kv, strict=True))
    counts = {
        "L_dense": sum(not each for each in config.routed),
        "L_moe": sum(config.routed),
        "L_global": sum(kind == FULL for kind in config.kinds),
        "L_local": sum(kind != FULL for kind in config.kinds),
        "L_kv": sum(config.owns_kv),
        "L_kv_global": sum(own and kind == FULL for kind, own in pairs),
        "L_kv_local": sum(own and kind != FULL for kind, own in pairs),
    }
    if all(config.owns_kv):
        counts = {name: number for name, number in counts.items() if not name.startswith("L_kv")}
    return {name: number for name, number in counts.items() if 0 < number < config.L}
