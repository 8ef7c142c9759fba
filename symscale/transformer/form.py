"""From the values of a config to a Config: heads, kinds of layers, experts and norms in normal form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.transformer.config import (
    CHUNKED,
    FULL,
    NORMS,
    QK_NORMS,
    SLIDING,
    Attention,
    Config,
    Experts,
    LatentAttention,
    Mlp,
)
from symscale.transformer.fields import Place, one_of

Layers = tuple[bool, ...]


@dataclass(frozen=True)
class Values:
    """The value of each word, the name of its field, and the fields that were not stated with what was assumed."""

    file: str
    found: Mapping[str, Any]
    names: Mapping[str, str]
    assumed: dict[str, str]

    def __getitem__(self, word: str) -> Any:
        return self.found.get(word)

    def place(self, word: str) -> Place:
        """Return where a word stands, for an error."""
        return Place(self.file, self.names.get(word, word))

    def follows(self, word: str, value: int, reason: str) -> int:
        """Note that a value which was not stated follows from others."""
        if word in self.names:
            self.assumed[self.names[word]] = f"{value} ({reason})"
        return value


def config_of(
    values: Values, model_type: str, name: str, *, notes: tuple[str, ...] = (), ignored: tuple[str, ...] = ()
) -> Config:
    """Return the Config that the values of a file describe. Raises ModelError for contradictions."""
    layers = values["L"]
    kinds, window = _kinds(values, layers)
    routed = _routed(values, layers)
    found = Config(
        name=name,
        model_type=model_type,
        D=values["D"],
        V=values["V"],
        attention=_latent(values) if values["R_kv"] else _grouped(values),
        mlp=None if all(routed) else _mlp(values),
        experts=_experts(values) if any(routed) else None,
        kinds=kinds,
        routed=routed,
        owns_kv=_owners(values, layers),
        window=window,
        tied=values["tied"],
        unembedding_bias=bool(values["unembedding_bias"]),
        positions=(values["positions"] + (values["position_offset"] or 0)) if values["positions"] else 0,
        positions_kept=(values["position_offset"] or 0) if values["positions"] else 0,
        D_embed=0 if values["D_embed"] == values["D"] else values["D_embed"] or 0,
        ignored=ignored,
        notes=notes,
    )
    return replace(_normed(found, values), assumed=tuple(values.assumed.items()))


def _grouped(values: Values) -> Attention:
    heads = values["N_heads"]
    qk_norm = "none" if values["qk_normed"] is False else values["qk_norm"] or "none"
    return Attention(
        N_heads=heads,
        K=_kv_heads(values, heads),
        H=values["H"] or _head_dim(values, heads),
        qkv_bias=bool(values["qkv_bias"]),
        out_bias=bool(values["out_bias"]),
        qk_norm=one_of(qk_norm, QK_NORMS, values.place("qk_norm")),
        sinks=bool(values["sinks"]),
    )


def _kv_heads(values: Values, heads: int) -> int:
    """Return the number of key/value heads; a multi-query flag overrules the number, except in a new-style Falcon."""
    if values["multi_query"] is not None and not values["new_decoder"]:
        return 1 if values["multi_query"] else heads
    if values["K"] is not None:
        return int(values["K"])
    return values.follows("K", heads, "one for each query head")


def _head_dim(values: Values, heads: int) -> int:
    width = values["D"]
    if width % heads:
        where = "" if "H" not in values.names else f" Or state {values.names['H']}."
        raise values.place("N_heads").error(
            f"is {heads}, which does not divide {values.names['D']} {width}",
            f"Heads of equal size need a multiple.{where}",
        )
    return values.follows("H", width // heads, f"{values.names['D']}/{values.names['N_heads']}")


def _latent(values: Values) -> LatentAttention:
    sizes = {word: values[word] for word in ("N_heads", "R_kv", "H_nope", "H_rope", "H_v")}
    return LatentAttention(
        **sizes,
        R_q=values["R_q"] or 0,
        latent_bias=bool(values["latent_bias"]),
        out_bias=bool(values["out_bias"]),
    )


def _mlp(values: Values) -> Mlp:
    width = values["F"]
    if width is None:
        if "F" in values.names and values.names["F"] not in ("n_inner", "ffn_hidden_size"):
            raise values.place("F").error("is missing", "Give the width of the feed-forward block.")
        width = values.follows("F", 4 * values["D"], f"4 {values.names['D']}")
    return Mlp(F=width, gated=values["gated"], bias=bool(values["mlp_bias"]))


def _experts(values: Values) -> Experts:
    for word in ("E", "k", "F_moe"):
        if values[word] is None:
            raise values.place(word).error("is missing", "A mixture of experts needs it.")
    shared = values["F_shared"] or (values["n_shared"] or 0) * values["F_moe"]
    return Experts(
        E=values["E"],
        k=values["k"],
        F=values["F_moe"],
        gated=values["gated"],
        bias=bool(values["expert_bias"]),
        router=values["router"] is not False,
        router_bias=bool(values["router_bias"]),
        F_shared=shared,
        shared_gate=bool(values["shared_gate"]) and shared > 0,
        shared_bias=bool(values["mlp_bias"]) and shared > 0,
    )


def _routed(values: Values, layers: int) -> Layers:
    """Say for each layer whether it has experts."""
    if values["E"] is None:
        return (False,) * layers
    if values["moe_layers"] is not None:
        chosen = _within(values, "moe_layers", layers)
        return tuple(layer in chosen for layer in range(layers))
    dense = _within(values, "dense_layers", layers)
    step, first = values["moe_step"] or 1, values["first_dense"] or 0
    if first > layers:
        raise values.place("first_dense").error(f"is {first}, of {layers} layers", "Give at most the number of layers.")
    return tuple(layer >= first and (layer + 1) % step == 0 and layer not in dense for layer in range(layers))


def _within(values: Values, word: str, layers: int) -> frozenset[int]:
    chosen = values[word] or ()
    outside = next((layer for layer in chosen if layer >= layers), None)
    if outside is not None:
        raise values.place(word).error(f"names layer {outside}, of {layers} layers", "Layers are counted from 0.")
    return frozenset(chosen)


def _owners(values: Values, layers: int) -> Layers:
    """Say for each layer whether it has keys and values of its own."""
    shared, every = values["kv_shared"] or 0, values["kv_share_every"] or 1
    if shared >= layers:
        raise values.place("kv_shared").error(f"is {shared}, of {layers} layers", "The first layers have their own.")
    return tuple(layer < layers - shared and layer % every == 0 for layer in range(layers))


def _kinds(values: Values, layers: int) -> tuple[tuple[str, ...], int]:
    """Return the kind of attention of each layer, and the window of the local ones."""
    window = int(values["chunk"] or values["window"] or 0)
    if values["use_window"] is False:
        window = 0
    kinds = values["types"]
    if kinds is None:
        kinds = tuple(_kind(values, layer, window) for layer in range(layers))
    if len(kinds) != layers:
        raise values.place("types").error(f"has {len(kinds)} entries for {layers} layers", "Give one for each layer.")
    local = {kind for kind in kinds if kind != FULL}
    if len(local) > 1:
        raise values.place("types").error("mixes sliding and chunked attention", "One kind of window is read.")
    if local and not window:
        name = values.names.get("chunk") or values.names.get("window") or "the window"
        raise ModelError(
            f"{values.file}: {local.pop()} attention needs a window, and {name} gives none.",
            hint="State the window, or make the layers full_attention.",
        )
    return kinds, window if local else 0


def _kind(values: Values, layer: int, window: int) -> str:
    """Return what kind of attention the model type gives a layer when the file does not list them."""
    rule, pattern = values["windows"], values["pattern"]
    if rule == "none" or (not window and rule != "pattern"):
        return FULL
    local = CHUNKED if rule == "chunks" else SLIDING
    inside = {
        "all": True,
        "from": layer >= (values["window_from"] or 0),
        "alternate": layer % 2 == 0 and layer < (values["window_from"] or 0),
        "pattern_or_all": pattern is None or (layer + 1) % pattern != 0,
    }.get(rule, bool(pattern) and (layer + 1) % pattern != 0)
    return local if inside else FULL


def _normed(config: Config, values: Values) -> Config:
    """Return the config with its norms: how many per layer, of which kind, and those outside the layers."""
    norm = one_of(values["norm"], NORMS, values.place("norm"))
    final = values["final_norm"] is not False
    if values["norm_first"] is False or values["no_final_norm"]:
        final = False
    return replace(
        config,
        norm="none" if values["norm_affine"] is False else norm,
        norms_per_layer=_norms(values),
        final_norm=final,
        embedding_norm=bool(values["embedding_norm"]),
    )


def _norms(values: Values) -> int:
    """Return the norms of a layer; attention and MLP side by side share one unless the file says two."""
    if "parallel" not in values.found:
        return int(values["norms"])
    if not values["parallel"]:
        return 2
    stated = values["norms"] if "norms" in values.names else 0
    return 2 if stated == 2 or (not stated and values["new_decoder"]) else 1
