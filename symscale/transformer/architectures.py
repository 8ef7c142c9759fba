"""What the fields of a Hugging Face config mean, per model type, with that type's own defaults.

Each row maps our words to where their value stands: a `Stated` field of the file, or a constant of the type. The
defaults are those of the transformers library (5.24); what has none there, or a default that only fits one size of
the family, is required.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symscale.frozen import dataclass


class Required:
    """Stands where a field has no default."""


REQUIRED = Required()


@dataclass(frozen=True)
class Stated:
    """A field of the file under one of several names; without it `default`, or an error."""

    names: tuple[str, ...]
    default: Any = REQUIRED


def stated(*names: str, default: Any = REQUIRED) -> Stated:
    """Return a required field, or one with the type's default."""
    return Stated(names, default)


Row = Mapping[str, Any]

#: The kind of value of each word. `size` is a positive whole number, `optional` one or null, `extent` may be 0 too;
#: `flag` is true or false, `text` one of a few words, `layers` a list of layer numbers, `types` of attention kinds.
WORDS: Mapping[str, str] = {
    **dict.fromkeys(("D", "V", "L", "N_heads", "R_kv", "H_nope", "H_rope", "H_v"), "size"),
    **dict.fromkeys(("F", "K", "H", "R_q", "E", "k", "F_moe", "D_embed", "positions", "position_offset"), "optional"),
    **dict.fromkeys(("pattern", "moe_step", "kv_share_every"), "optional"),
    **dict.fromkeys(("window", "chunk", "window_from", "norms", "F_shared", "n_shared", "first_dense"), "extent"),
    **dict.fromkeys(("kv_shared",), "extent"),
    **dict.fromkeys(("gated", "qkv_bias", "out_bias", "mlp_bias", "latent_bias", "tied", "unembedding_bias"), "flag"),
    **dict.fromkeys(("sinks", "shared_gate", "router", "router_bias", "expert_bias", "embedding_norm"), "flag"),
    **dict.fromkeys(("final_norm", "no_final_norm", "norm_first", "norm_affine", "qk_normed", "use_window"), "flag"),
    **dict.fromkeys(("parallel", "multi_query", "new_decoder"), "flag"),
    **dict.fromkeys(("norm", "qk_norm", "windows"), "text"),
    **dict.fromkeys(("dense_layers", "moe_layers"), "layers"),
    "types": "types",
}

NO, YES = False, True
ATTENTION_BIAS = stated("attention_bias", default=NO)
SLIDING_WINDOW = stated("sliding_window", default=None)
LAYER_TYPES = stated("layer_types", default=None)

BASE: Row = {
    "D": stated("hidden_size"),
    "V": stated("vocab_size"),
    "L": stated("num_hidden_layers"),
    "N_heads": stated("num_attention_heads"),
    "F": stated("intermediate_size"),
    "gated": YES,
    "norm": "rms",
    "norms": 2,
    "tied": stated("tie_word_embeddings", default=NO),
    "windows": "none",
}
# K and head_dim are missing in older files of these types: N heads of D/N, as the library has it.
GROUPED: Row = {
    **BASE,
    "K": stated("num_key_value_heads", default=None),
    "H": stated("head_dim", default=None),
}
LLAMA: Row = {
    **GROUPED,
    "qkv_bias": ATTENTION_BIAS,
    "out_bias": ATTENTION_BIAS,
    "mlp_bias": stated("mlp_bias", default=NO),
}
MISTRAL: Row = {**GROUPED, "window": SLIDING_WINDOW, "windows": "all"}
EXPERTS: Row = {
    "F_moe": stated("intermediate_size"),
    "E": stated("num_local_experts", "num_experts"),
    "k": stated("num_experts_per_tok"),
}
MIXTRAL: Row = {**{word: value for word, value in MISTRAL.items() if word != "F"}, **EXPERTS}
QWEN_WINDOW: Row = {
    "window": SLIDING_WINDOW,
    "use_window": stated("use_sliding_window", default=NO),
    "window_from": stated("max_window_layers", default=28),
    "types": LAYER_TYPES,
    "windows": "from",
}
QWEN2: Row = {**GROUPED, **QWEN_WINDOW, "qkv_bias": YES}
QWEN3: Row = {
    **GROUPED,
    **QWEN_WINDOW,
    "H": stated("head_dim", default=128),
    "qkv_bias": ATTENTION_BIAS,
    "out_bias": ATTENTION_BIAS,
    "qk_norm": "head",
}
QWEN2_MOE: Row = {
    **QWEN2,
    "qkv_bias": stated("qkv_bias", default=YES),
    "windows": "alternate",
    "F_moe": stated("moe_intermediate_size"),
    "F_shared": stated("shared_expert_intermediate_size"),
    "shared_gate": YES,
    "E": stated("num_experts", "num_local_experts"),
    "k": stated("num_experts_per_tok"),
    "moe_step": stated("decoder_sparse_step", default=1),
    "dense_layers": stated("mlp_only_layers", default=None),
}
QWEN3_MOE: Row = {
    **{word: value for word, value in QWEN2_MOE.items() if word not in ("F_shared", "shared_gate", "types")},
    "qkv_bias": ATTENTION_BIAS,
    "out_bias": ATTENTION_BIAS,
    "qk_norm": "head",
    "windows": "all",
}
TIED = stated("tie_word_embeddings", default=YES)
GEMMA: Row = {
    **GROUPED,
    "H": stated("head_dim", default=256),
    "qkv_bias": ATTENTION_BIAS,
    "out_bias": ATTENTION_BIAS,
    "tied": TIED,
}
GEMMA2: Row = {
    **GEMMA,
    "norms": 4,
    "window": stated("sliding_window", default=4096),
    "types": LAYER_TYPES,
    "windows": "pattern",
    "pattern": 2,
}
# Files of the vision models leave out what equals the library's default, so these defaults are the model's own.
GEMMA3: Row = {
    **GEMMA2,
    "V": stated("vocab_size", default=262208),
    "N_heads": stated("num_attention_heads", default=8),
    "K": stated("num_key_value_heads", default=4),
    "qk_norm": "head",
    "pattern": stated("sliding_window_pattern", "_sliding_window_pattern", default=6),
}
BIASED: Row = {"qkv_bias": YES, "out_bias": YES, "mlp_bias": YES}
LAYER_NORM: Row = {"norm": "layer"}
PHI: Row = {
    **GROUPED,
    **BIASED,
    **LAYER_NORM,
    "gated": NO,
    "norms": 1,
    "qk_normed": stated("qk_layernorm", default=NO),
    "qk_norm": "head_with_bias",
    "unembedding_bias": YES,
}
GPT2: Row = {
    **BASE,
    **BIASED,
    **LAYER_NORM,
    "D": stated("n_embd", "hidden_size"),
    "L": stated("n_layer", "num_hidden_layers"),
    "N_heads": stated("n_head", "num_attention_heads"),
    "F": stated("n_inner", default=None),
    "gated": NO,
    "positions": stated("n_positions", "max_position_embeddings"),
    "tied": TIED,
}
GPT_NEOX: Row = {
    **BASE,
    **LAYER_NORM,
    "gated": NO,
    "qkv_bias": stated("attention_bias", default=YES),
    "out_bias": stated("attention_bias", default=YES),
    "mlp_bias": YES,
}
OPT_BIAS = stated("enable_bias", default=YES)
OPT: Row = {
    **BASE,
    **LAYER_NORM,
    "F": stated("ffn_dim"),
    "gated": NO,
    "qkv_bias": OPT_BIAS,
    "out_bias": OPT_BIAS,
    "mlp_bias": OPT_BIAS,
    "norm_affine": stated("layer_norm_elementwise_affine", default=YES),
    "norm_first": stated("do_layer_norm_before", default=YES),
    "no_final_norm": stated("_remove_final_layer_norm", default=NO),
    "positions": stated("max_position_embeddings"),
    "position_offset": 2,
    "D_embed": stated("word_embed_proj_dim", default=None),
    "tied": TIED,
}
FALCON_BIAS = stated("bias", default=NO)
FALCON: Row = {
    **BASE,
    **LAYER_NORM,
    "L": stated("num_hidden_layers", "n_layer"),
    "N_heads": stated("num_attention_heads", "n_head"),
    "K": stated("num_kv_heads", "n_head_kv", default=None),
    "F": stated("ffn_hidden_size", default=None),
    "gated": NO,
    "qkv_bias": FALCON_BIAS,
    "out_bias": FALCON_BIAS,
    "mlp_bias": FALCON_BIAS,
    "multi_query": stated("multi_query", default=YES),
    "new_decoder": stated("new_decoder_architecture", default=NO),
    "parallel": stated("parallel_attn", default=YES),
    "norms": stated("num_ln_in_parallel_attn", default=None),
    "tied": TIED,
}
BLOOM: Row = {
    **BASE,
    **BIASED,
    **LAYER_NORM,
    "D": stated("hidden_size", "n_embed"),
    "L": stated("n_layer", "num_hidden_layers"),
    "N_heads": stated("n_head", "num_attention_heads"),
    "F": None,
    "gated": NO,
    "embedding_norm": YES,
    "tied": TIED,
}
USE_BIAS = stated("use_bias", default=YES)
STARCODER2: Row = {
    **MISTRAL,
    **LAYER_NORM,
    "gated": NO,
    "qkv_bias": USE_BIAS,
    "out_bias": USE_BIAS,
    "mlp_bias": USE_BIAS,
    "tied": TIED,
}
COHERE: Row = {
    **LLAMA,
    "mlp_bias": NO,
    "norm": "layer_without_bias",
    "norms": 1,
    "tied": TIED,
    "qk_normed": stated("use_qk_norm", default=NO),
    "qk_norm": "heads",
}
COHERE2: Row = {
    **{word: value for word, value in COHERE.items() if word not in ("qk_normed", "qk_norm", "H")},
    "window": stated("sliding_window", default=4096),
    "types": LAYER_TYPES,
    "windows": "pattern",
    "pattern": stated("sliding_window_pattern", default=4),
}
OLMO: Row = {**LLAMA, "mlp_bias": NO, "norm": "none"}
OLMO2: Row = {**LLAMA, "mlp_bias": NO, "qk_norm": "heads"}
OLMO3: Row = {
    **OLMO2,
    "window": stated("sliding_window", default=4096),
    "types": LAYER_TYPES,
    "windows": "pattern",
    "pattern": 4,
}
OLMOE: Row = {
    **{word: value for word, value in OLMO2.items() if word != "F"},
    **EXPERTS,
    "E": stated("num_experts", "num_local_experts"),
}
STABLELM: Row = {
    **BASE,
    **LAYER_NORM,
    "K": stated("num_key_value_heads", default=None),
    "qkv_bias": stated("use_qkv_bias", default=NO),
    "qk_normed": stated("qk_layernorm", default=NO),
    "qk_norm": "heads",
    "parallel": stated("use_parallel_residual", default=NO),
}
GRANITEMOE: Row = {**{word: value for word, value in LLAMA.items() if word not in ("F", "mlp_bias")}, **EXPERTS}
PHIMOE: Row = {
    **GRANITEMOE,
    **LAYER_NORM,
    "window": SLIDING_WINDOW,
    "windows": "all",
    "unembedding_bias": stated("lm_head_bias", default=NO),
}
DEEPSEEK_V2: Row = {
    **BASE,
    "R_q": stated("q_lora_rank"),
    "R_kv": stated("kv_lora_rank"),
    "H_nope": stated("qk_nope_head_dim"),
    "H_rope": stated("qk_rope_head_dim"),
    "H_v": stated("v_head_dim"),
    "latent_bias": ATTENTION_BIAS,
    "out_bias": ATTENTION_BIAS,
    "mlp_bias": NO,
    "F_moe": stated("moe_intermediate_size"),
    "E": stated("n_routed_experts"),
    "k": stated("num_experts_per_tok"),
    "n_shared": stated("n_shared_experts"),
    "first_dense": stated("first_k_dense_replace"),
}
DEEPSEEK_V2_BIAS: Row = {**DEEPSEEK_V2, "mlp_bias": stated("mlp_bias", default=NO)}
GLM4: Row = {
    **GROUPED,
    "H": stated("head_dim", default=128),
    "qkv_bias": stated("attention_bias", default=YES),
    "norms": 4,
}
GLM4_MOE: Row = {
    **GROUPED,
    "qkv_bias": ATTENTION_BIAS,
    "qk_normed": stated("use_qk_norm", default=NO),
    "qk_norm": "head",
    "F_moe": stated("moe_intermediate_size"),
    "E": stated("n_routed_experts"),
    "k": stated("num_experts_per_tok"),
    "n_shared": stated("n_shared_experts"),
    "first_dense": stated("first_k_dense_replace"),
}
GPT_OSS: Row = {
    **{word: value for word, value in GROUPED.items() if word != "F"},
    **EXPERTS,
    "H": stated("head_dim", default=64),
    "qkv_bias": stated("attention_bias", default=YES),
    "out_bias": stated("attention_bias", default=YES),
    "sinks": YES,
    "router_bias": YES,
    "expert_bias": YES,
    "window": stated("sliding_window", default=128),
    "types": LAYER_TYPES,
    "windows": "pattern",
    "pattern": 2,
}
LLAMA4: Row = {
    **GROUPED,
    "H": stated("head_dim", default=128),
    "qkv_bias": ATTENTION_BIAS,
    "out_bias": ATTENTION_BIAS,
    "F": stated("intermediate_size_mlp"),
    "F_moe": stated("intermediate_size"),
    "E": stated("num_local_experts"),
    "k": stated("num_experts_per_tok"),
    "n_shared": 1,
    "moe_step": stated("interleave_moe_layer_step", default=1),
    "moe_layers": stated("moe_layers", default=None),
    "chunk": stated("attention_chunk_size", default=8192),
    "types": LAYER_TYPES,
    "windows": "chunks",
    "pattern": stated("no_rope_layer_interval", default=4),
}
SMOLLM3: Row = {**LLAMA, "tied": TIED}

# Our own form, for models of a textbook or of one's own: everything that is not a plain Llama is said.
OWN: Row = {
    **LLAMA,
    "F": stated("intermediate_size", default=None),
    "gated": stated("gated", default=YES),
    "norm": stated("norm", default="rms"),
    "norms": stated("norms_per_layer", default=2),
    "final_norm": stated("final_norm", default=YES),
    "qk_norm": stated("qk_norm", default="none"),
    "window": SLIDING_WINDOW,
    "types": LAYER_TYPES,
    "windows": "pattern_or_all",
    "pattern": stated("sliding_window_pattern", default=None),
    "positions": stated("learned_positions", default=None),
    "E": stated("num_experts", default=None),
    "k": stated("num_experts_per_tok", default=None),
    "F_moe": stated("moe_intermediate_size", default=None),
    "F_shared": stated("shared_expert_intermediate_size", default=None),
    "router": stated("router", default=YES),
    "first_dense": stated("first_dense_layers", default=None),
    "kv_shared": stated("num_kv_shared_layers", default=None),
    "kv_share_every": stated("kv_share_every", default=None),
}

ARCHITECTURES: Mapping[str, Row] = {
    "arcee": {**LLAMA, "gated": NO},
    "bloom": BLOOM,
    "cohere": COHERE,
    "cohere2": COHERE2,
    "deepseek_v2": DEEPSEEK_V2_BIAS,
    "deepseek_v3": DEEPSEEK_V2,
    "falcon": FALCON,
    "gemma": GEMMA,
    "gemma2": GEMMA2,
    "gemma3_text": GEMMA3,
    "glm4": GLM4,
    "glm4_moe": GLM4_MOE,
    "gpt2": GPT2,
    "gpt_bigcode": {**GPT2, "multi_query": stated("multi_query", default=YES)},
    "gpt_neox": GPT_NEOX,
    "gpt_oss": GPT_OSS,
    "gptj": {
        **GPT2,
        "qkv_bias": NO,
        "out_bias": NO,
        "norms": 1,
        "positions": None,
        "unembedding_bias": YES,
        "tied": stated("tie_word_embeddings", default=NO),
    },
    "granite": LLAMA,
    "granitemoe": GRANITEMOE,
    "llama": LLAMA,
    "llama4_text": LLAMA4,
    "mistral": MISTRAL,
    "mixtral": MIXTRAL,
    "nemotron": {**LLAMA, **LAYER_NORM, "gated": NO},
    "olmo": OLMO,
    "olmo2": OLMO2,
    "olmo3": OLMO3,
    "olmoe": OLMOE,
    "opt": OPT,
    "phi": PHI,
    "phi3": MISTRAL,
    "phimoe": PHIMOE,
    "qwen2": QWEN2,
    "qwen2_moe": QWEN2_MOE,
    "qwen3": QWEN3,
    "qwen3_moe": QWEN3_MOE,
    "smollm3": SMOLLM3,
    "stablelm": STABLELM,
    "starcoder2": STARCODER2,
    "symscale": OWN,
}

#: Fields that mean something for some type; the longest text is a size of the model only where positions are a table.
STRUCTURAL = frozenset(
    name
    for row in ARCHITECTURES.values()
    for value in row.values()
    if isinstance(value, Stated)
    for name in value.names
) - {"max_position_embeddings", "n_positions"}
