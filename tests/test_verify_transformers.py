"""Parameter counts against the `transformers` library, which builds each model on torch's meta device (`make verify`).

Equal to the last parameter, by part: for every public model of the catalogue, and for small models of every
architecture with odd sizes and every combination of optional fields that a draw hits. FLOPs are equal to those that
torch counts while such a small model runs forward and backward.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("transformers", reason="transformers is not installed: pip install 'symscale[verify]'")
pytest.importorskip("torch", reason="torch is not installed: pip install 'symscale[verify]'")

import torch
import transformers

from symscale.transformer import active_count, catalogue, model, parameter_counts, read_config, values
from symscale.transformer.architectures import ARCHITECTURES
from symscale.transformer.flops import flops_forms, training_forms
from symscale.vocabulary import symbol

pytestmark = [pytest.mark.verify, pytest.mark.filterwarnings("ignore")]

PUBLIC = [name for name, entry in catalogue().items() if entry.fields["model_type"] != "symscale"]
DRAWS = 40

# Where a parameter of the library belongs, by its name; the first pattern that is found decides.
PARTS = (
    (r"shared_expert", "shared experts"),
    (r"lm_head|embed_out|project_out", "unembedding"),
    (r"word_embeddings_layernorm|ln_f|final_layer_?norm|(model|transformer)\.norm", "norms"),
    (r"embed_tokens|embed_in|wte|wpe|word_embeddings|embed_positions|project_in", "embedding"),
    (r"\.(q|k)_(layer)?norm|q_a_layernorm|kv_a_layernorm", "attention"),
    (r"(layer_?norm|ln_\d|ln_attn|ln_mlp|post_\w+_norm)", "norms"),
    (r"sinks", "scores"),
    (r"(self_)?attn|attention", "attention"),
    (r"router|(mlp|feed_forward|block_sparse_moe)\.gate\.", "router"),
    (r"experts", "experts"),
    (r"mlp|fc1|fc2|feed_forward", "MLP"),
)


def built(fields: dict[str, Any]) -> Any:
    """Return the library's model of a config, without memory behind it."""
    transformers.logging.set_verbosity_error()
    fields = dict(fields)
    config = transformers.CONFIG_MAPPING[fields.pop("model_type")](**fields)
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(config)


def counts(built_model: Any) -> dict[str, int]:
    """Return the library's parameters by part, tied ones once."""
    found: Counter[str] = Counter()
    for name, parameter in built_model.named_parameters():
        found[part_of(name)] += parameter.numel()
    return dict(found)


def part_of(name: str) -> str:
    part = next((part for pattern, part in PARTS if re.search(pattern, name)), None)
    assert part is not None, f"no part for {name}"
    return part


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_model_has_the_librarys_parameters(name: str) -> None:
    assert parameter_counts(model(name)) == counts(built(dict(catalogue()[name].fields)))


def test_the_public_models_are_many() -> None:
    assert len(PUBLIC) >= 60
    assert len({catalogue()[name].fields["model_type"] for name in PUBLIC}) >= 25


# Small models: the values each field is drawn from. `...` leaves a field out, so that the type's default is read.
HEADS = [(4, 4), (6, 3), (6, 2), (8, 1)]
FLAG = [True, False, ...]
COMMON = {
    "hidden_size": [48, 96],
    "vocab_size": [101, 256],
    "num_hidden_layers": [1, 2, 5, 7],
    "tie_word_embeddings": FLAG,
}
MLP = {"intermediate_size": [40, 112]}
GROUPED = {**COMMON, **MLP, "head_dim": [8, 14, ...]}
BIAS = {"attention_bias": FLAG}
EXPERTS = {"num_local_experts": [4, 6], "num_experts_per_tok": [1, 3]}
QWEN_MOE = {
    "num_experts": [4, 6],
    "num_experts_per_tok": [2],
    "moe_intermediate_size": [24],
    "decoder_sparse_step": [1, 2, ...],
    "mlp_only_layers": [[], [0], ...],
}
QWEN_WINDOW = {
    "use_sliding_window": FLAG,
    "sliding_window": [16],
    "max_window_layers": [0, 3, ...],
}
DEEPSEEK = {
    **COMMON,
    **MLP,
    **BIAS,
    "moe_intermediate_size": [24],
    "n_routed_experts": [8],
    "num_experts_per_tok": [3],
    "n_shared_experts": [1, 2],
    "n_group": [2],
    "topk_group": [1],
    "first_k_dense_replace": [0, 1],
    "q_lora_rank": [None, 20],
    "kv_lora_rank": [12],
    "qk_nope_head_dim": [10],
    "qk_rope_head_dim": [6],
    "v_head_dim": [14],
}
GPT = {
    "n_embd": [48, 96],
    "vocab_size": [101],
    "n_layer": [1, 3],
    "n_head": [2, 6],
    "n_positions": [33],
    "n_inner": [None, 70, ...],
    "tie_word_embeddings": FLAG,
}
SMALL: dict[str, dict[str, list[Any]]] = {
    "arcee": {**GROUPED, **BIAS, "mlp_bias": FLAG},
    "bloom": {"hidden_size": [48], "n_layer": [3], "n_head": [6], "vocab_size": [101], "tie_word_embeddings": FLAG},
    "cohere": {**COMMON, **MLP, **BIAS, "use_qk_norm": FLAG},
    "cohere2": {**COMMON, **MLP, **BIAS, "sliding_window": [16], "sliding_window_pattern": [2, 3, ...]},
    "deepseek_v2": {**DEEPSEEK, "mlp_bias": FLAG},
    "deepseek_v3": DEEPSEEK,
    "falcon": {
        **COMMON,
        "num_kv_heads": [...],
        "ffn_hidden_size": [70, ...],
        "bias": FLAG,
        "multi_query": FLAG,
        "new_decoder_architecture": FLAG,
        "parallel_attn": FLAG,
        "num_ln_in_parallel_attn": [1, 2, ...],
    },
    "gemma": {**GROUPED, **BIAS},
    "gemma2": {**GROUPED, **BIAS, "sliding_window": [16, ...]},
    "gemma3_text": {
        **GROUPED,
        **BIAS,
        "head_dim": [8],
        "sliding_window": [16, ...],
        "sliding_window_pattern": [2, 5, ...],
    },
    "glm4": {**GROUPED, **BIAS, "head_dim": [8, 14]},
    "glm4_moe": {
        **GROUPED,
        **BIAS,
        "use_qk_norm": FLAG,
        "moe_intermediate_size": [24],
        "n_routed_experts": [8],
        "num_experts_per_tok": [3],
        "n_shared_experts": [1, 2],
        "first_k_dense_replace": [0, 1],
    },
    "gpt2": GPT,
    "gpt_bigcode": {**GPT, "multi_query": FLAG},
    "gpt_neox": {**COMMON, **MLP, **BIAS},
    "gpt_oss": {**GROUPED, **BIAS, **EXPERTS},
    "gptj": {**GPT, "rotary_dim": [4]},
    "granite": {**GROUPED, **BIAS, "mlp_bias": FLAG},
    "granitemoe": {**COMMON, **MLP, **BIAS, **EXPERTS},
    "llama": {**GROUPED, **BIAS, "mlp_bias": FLAG},
    "llama4_text": {
        **GROUPED,
        **BIAS,
        **EXPERTS,
        "intermediate_size_mlp": [52],
        "interleave_moe_layer_step": [1, 2],
        "moe_layers": [[0], ...],
    },
    "mistral": GROUPED,
    "mixtral": {**GROUPED, **EXPERTS},
    "nemotron": {**GROUPED, **BIAS, "head_dim": [8, 14], "mlp_bias": FLAG},
    "olmo": {**COMMON, **MLP, **BIAS},
    "olmo2": {**COMMON, **MLP, **BIAS},
    "olmo3": {**COMMON, **MLP, **BIAS},
    "olmoe": {**COMMON, **MLP, **BIAS, "num_experts": [4, 6], "num_experts_per_tok": [2]},
    "opt": {
        "hidden_size": [48],
        "num_hidden_layers": [3],
        "num_attention_heads": [6],
        "ffn_dim": [70],
        "vocab_size": [101],
        "max_position_embeddings": [33],
        "word_embed_proj_dim": [20, 48],
        "do_layer_norm_before": FLAG,
        "_remove_final_layer_norm": FLAG,
        "enable_bias": FLAG,
        "layer_norm_elementwise_affine": FLAG,
        "tie_word_embeddings": FLAG,
    },
    "phi": {**COMMON, **MLP, "qk_layernorm": FLAG},
    "phi3": {**COMMON, **MLP},
    "phimoe": {**COMMON, **MLP, **BIAS, **EXPERTS, "lm_head_bias": FLAG},
    "qwen2": {**COMMON, **MLP, **QWEN_WINDOW},
    "qwen2_moe": {
        **COMMON,
        **MLP,
        **QWEN_MOE,
        **QWEN_WINDOW,
        "shared_expert_intermediate_size": [30],
        "qkv_bias": FLAG,
    },
    "qwen3": {**GROUPED, **BIAS, **QWEN_WINDOW},
    "qwen3_moe": {**GROUPED, **BIAS, **QWEN_MOE},
    "smollm3": {**COMMON, **MLP, **BIAS, "mlp_bias": FLAG},
    "stablelm": {**COMMON, **MLP, "use_qkv_bias": FLAG, "qk_layernorm": FLAG, "use_parallel_residual": FLAG},
    "starcoder2": {**COMMON, **MLP, "use_bias": FLAG},
}
ONE_HEAD_COUNT = ("bloom", "gpt2", "gpt_bigcode", "gptj", "gpt_neox", "opt", "deepseek_v2", "deepseek_v3")


def drawn(kind: str, seed: int) -> dict[str, Any]:
    """Return a small config of an architecture."""
    chance = random.Random(f"{kind}{seed}")
    heads, groups = chance.choice(HEADS)
    fields: dict[str, Any] = {"model_type": kind, "pad_token_id": None, "bos_token_id": None, "eos_token_id": None}
    if kind in ("deepseek_v2", "deepseek_v3", "gpt_neox", "falcon"):
        fields["num_attention_heads"] = heads
    elif kind not in ONE_HEAD_COUNT:
        fields |= {"num_attention_heads": heads, "num_key_value_heads": groups}
    if kind == "falcon" and chance.random() < 0.7:
        fields["num_kv_heads"] = groups
    picked = {name: chance.choice(options) for name, options in SMALL[kind].items()}
    return {**fields, **{name: value for name, value in picked.items() if value is not ...}}


def test_every_architecture_is_drawn() -> None:
    assert SMALL.keys() == ARCHITECTURES.keys() - {"symscale"}


@pytest.mark.parametrize("kind", SMALL)
def test_small_models_have_the_librarys_parameters(kind: str) -> None:
    for seed in range(DRAWS):
        fields = drawn(kind, seed)
        assert parameter_counts(read_config(fields, kind)) == counts(built(fields)), fields


@pytest.mark.parametrize("kind", SMALL)
def test_kinds_of_layers_are_the_librarys(kind: str) -> None:
    """Where the library lists the kind of each layer, ours is the same."""
    for seed in range(DRAWS):
        fields = drawn(kind, seed)
        config = transformers.CONFIG_MAPPING[kind](**{k: v for k, v in fields.items() if k != "model_type"})
        theirs = getattr(config, "layer_types", None)
        if theirs is not None:
            assert [f"{each}_attention" for each in read_config(fields, kind).kinds] == list(theirs), fields


@pytest.mark.parametrize("name", ["mixtral-8x7b", "deepseek-v3", "gpt-oss-20b", "qwen3-30b-a3b", "llama4-maverick"])
def test_active_parameters_are_those_of_the_chosen_experts(name: str) -> None:
    """The library's model with k experts instead of E, and the router of E."""
    fields = dict(catalogue()[name].fields)
    config = model(name)
    assert config.experts is not None
    experts = next(each for each in fields if each in ("num_local_experts", "num_experts", "n_routed_experts"))
    k, layers = config.experts.k, sum(config.routed)
    group = {"n_group": 1, "topk_group": 1} if "n_routed_experts" in fields else {}
    few = sum(counts(built({**fields, experts: k, **group})).values())
    row = config.D + config.experts.router_bias
    assert active_count(config) == few + layers * (config.experts.E - k) * row


# What a draw has to be for the library to run it and score every pair: windows longer than the text, norms and heads
# as its layers call them.
RUNNABLE: dict[str, dict[str, Any]] = {
    **{kind: {"sliding_window": 64} for kind in ("cohere2", "gemma2", "gemma3_text", "gpt_oss", "olmo3")},
    **{kind: {"sliding_window": 64} for kind in ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe")},
    "falcon": {"num_ln_in_parallel_attn": ..., "parallel_attn": True, "alibi": False},
    "deepseek_v2": {"n_group": 1, "topk_group": 1},
    "deepseek_v3": {"n_group": 1, "topk_group": 1, "num_attention_heads": 4, "num_key_value_heads": 4},
    "phimoe": {"num_experts_per_tok": 2},  # its router picks two, whatever the config says
}
# Its experts run for every token, weighted by zero where they were not chosen.
ALL_EXPERTS_RUN = ("llama4_text",)


@pytest.mark.parametrize("kind", [kind for kind in SMALL if kind not in ALL_EXPERTS_RUN])
def test_flops_are_those_that_torch_counts(kind: str) -> None:
    """Forward and backward, every pair of query and key scored: 2 texts of 20 tokens on the CPU."""
    from torch.utils.flop_counter import FlopCounterMode

    fields = {key: value for key, value in {**drawn(kind, 3), **RUNNABLE.get(kind, {})}.items() if value is not ...}
    stated = {key: value for key, value in fields.items() if key != "model_type"}
    config = transformers.CONFIG_MAPPING[kind](**stated)
    config._experts_implementation = "eager"
    built_model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    found = read_config(fields, kind)
    at = {**values(found), symbol("B"): 40, symbol("T"): 20}
    with FlopCounterMode(display=False) as counter:
        logits = built_model(input_ids=torch.zeros((2, 20), dtype=torch.long), use_cache=False).logits
        assert counter.get_total_flops() == sum(flops_forms(found, causal=False).values()).subs(at)
        logits.sum().backward()
    assert counter.get_total_flops() == sum(training_forms(found, causal=False).values()).subs(at)
