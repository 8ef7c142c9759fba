"""Configs: what is read, what is refused and in which words, the catalogue, and the blocks that come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from symscale.errors import ModelError
from symscale.transformer import (
    active_count,
    blocks,
    catalogue,
    load_config,
    model,
    model_or_file,
    parameter_count,
    parameter_counts,
    parameter_forms,
    read_config,
    values,
)
from symscale.transformer.architectures import ARCHITECTURES, WORDS, Stated
from symscale.transformer.block import SIZES, program, weights
from symscale.transformer.config import Attention
from symscale.vocabulary import symbol

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "vocab_size": 100,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2}
QWEN_MOE = {
    **{key: value for key, value in MIXTRAL.items() if key != "num_local_experts"},
    "model_type": "qwen3_moe",
    "num_experts": 4,
    "moe_intermediate_size": 32,
}
GEMMA2 = {**LLAMA, "model_type": "gemma2", "head_dim": 16, "sliding_window": 8}
GPT_OSS = {**MIXTRAL, "model_type": "gpt_oss", "head_dim": 16}
OWN = {**LLAMA, "model_type": "symscale"}
GONE = object()


def changed(base: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a config with fields changed, or taken out (GONE)."""
    return {key: value for key, value in {**base, **fields}.items() if value is not GONE}


# base, change, words of the message
WRONG = [
    (LLAMA, {"model_type": GONE}, "model_type is missing|the architecture"),
    (LLAMA, {"model_type": 7}, "model_type is 7"),
    (LLAMA, {"model_type": "lama"}, '"lama" is not known|Did you mean llama'),
    (LLAMA, {"model_type": "mamba2"}, '"mamba2" is not known|Known: '),
    (LLAMA, {"model_type": "x" * 10_000}, "is not known|…"),
    (LLAMA, {"is_encoder_decoder": True}, "is_encoder_decoder is true|decoder-only"),
    (LLAMA, {"add_cross_attention": True}, "add_cross_attention is true|decoder-only"),
    (LLAMA, {"hidden_size": GONE}, "hidden_size is missing|give a number"),
    (LLAMA, {"vocab_size": None}, "vocab_size is null|give a number"),
    (LLAMA, {"hidden_size": "64"}, 'hidden_size is "64", which is a text|without quotes'),
    (LLAMA, {"hidden_size": 64.0}, "hidden_size is 64.0, which is not whole"),
    (LLAMA, {"hidden_size": True}, "hidden_size is true, which is true or false"),
    (LLAMA, {"hidden_size": [64]}, "hidden_size is […], which is a list"),
    (LLAMA, {"hidden_size": -64}, "hidden_size is -64|positive"),
    (LLAMA, {"hidden_size": 0}, "hidden_size is 0|positive"),
    (LLAMA, {"hidden_size": 10**30}, "hidden_size is absurdly large"),
    (LLAMA, {"num_hidden_layers": 10**8}, "num_hidden_layers is 100,000,000|10,000 layers"),
    (LLAMA, {"num_key_value_heads": 3}, "4 query heads|3 key/value heads"),
    (LLAMA, {"num_key_value_heads": 8}, "4 query heads|8 key/value heads"),
    (LLAMA, {"num_key_value_heads": 0}, "num_key_value_heads is 0|positive"),
    (LLAMA, {"num_attention_heads": 6}, "num_attention_heads is 6|does not divide hidden_size 64|head_dim"),
    (LLAMA, {"head_dim": -1}, "head_dim is -1"),
    (GEMMA2, {"tie_word_embeddings": None}, "tie_word_embeddings is null|leave it out|true"),
    (GEMMA2, {"sliding_window": None}, "sliding_window is null|leave it out|4096"),
    (LLAMA, {"attention_bias": 1}, "attention_bias is 1|true or false"),
    (LLAMA, {"tie_word_embeddings": "false"}, 'tie_word_embeddings is "false"|true or false'),
    (MIXTRAL, {"num_local_experts": GONE}, "num_local_experts is missing"),
    (MIXTRAL, {"num_experts_per_tok": 5}, "5 active experts of 4"),
    (MIXTRAL, {"num_experts": 8}, "num_local_experts is 4 and num_experts is 8|remove one"),
    (MIXTRAL, {"moe_layer_freq": 2}, "moe_layer_freq is 2|Only 1"),
    (QWEN_MOE, {"mlp_only_layers": [4]}, "mlp_only_layers names layer 4, of 4 layers|from 0"),
    (QWEN_MOE, {"mlp_only_layers": 2}, "mlp_only_layers is 2|a list"),
    (QWEN_MOE, {"mlp_only_layers": ["0"]}, 'mlp_only_layers is "0"'),
    (GEMMA2, {"layer_types": ["full_attention"]}, "layer_types has 1 entries for 4 layers"),
    (GEMMA2, {"layer_types": ["local"] * 4}, 'layer_types has "local"|full_attention, sliding_attention'),
    (GEMMA2, {"layer_types": ["sliding_attention", "chunked_attention"] * 2}, "mixes sliding and chunked"),
    (GEMMA2, {"layer_types": "full_attention"}, 'layer_types is "full_attention"|a list'),
    (GEMMA2, {"layer_types": [["full_attention"]] * 4}, "layer_types has […]"),
    (GEMMA2, {"sliding_window": 0}, "sliding_window is 0|null"),
    (changed(LLAMA, model_type="mistral"), {"sliding_window": 0}, "sliding_window is 0|null"),
    (LLAMA, {"architectures": ["MixtralForCausalLM"]}, 'is "llama"|"MixtralForCausalLM"|"model_type": "mixtral"'),
    (MIXTRAL, {"architectures": ["LlamaForCausalLM"]}, 'is "mixtral"|"model_type": "llama"'),
    (OWN, {"gatd": False}, "gatd is no field of the type symscale|Did you mean gated"),
    (OWN, {"typo_field": 10}, "typo_field is no field"),
    (OWN, {"attention_chunk_size": 10}, "attention_chunk_size is no field"),
    (GEMMA2, {"sliding_window": -8}, "sliding_window is -8"),
    (OWN, {"norm": "batch"}, 'norm is "batch"|rms'),
    (OWN, {"intermediate_size": GONE}, "intermediate_size is missing|feed-forward"),
    (OWN, {"num_experts": 4}, "num_experts_per_tok is missing|mixture of experts"),
    (OWN, {"num_kv_shared_layers": 4}, "num_kv_shared_layers is 4, of 4 layers"),
    (OWN, {"kv_share_every": 0}, "kv_share_every is 0"),
]


@pytest.mark.parametrize(("base", "change", "words"), WRONG, ids=[" ".join(w[1])[:60] for w in WRONG])
def test_a_wrong_config_is_refused(base: dict[str, Any], change: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_config(changed(base, **change), "my.json")
    message = str(caught.value)
    assert message.startswith("my.json: ")
    assert len(message) < 1000
    assert "Traceback" not in message
    for word in words.split("|"):
        assert word in message
    assert caught.value.hint


def test_classes_that_agree_or_are_not_known_are_read() -> None:
    named = [
        (LLAMA, "LlamaForCausalLM"),
        (LLAMA, "OwnForCausalLM"),
        (GEMMA2, "Gemma2ForCausalLM"),
        (GPT_OSS, "GptOssX"),
    ]
    for base, name in named:
        assert read_config({**base, "architectures": [name]}, "x").ignored == ()
    off = {**LLAMA, "model_type": "qwen2", "use_sliding_window": False, "sliding_window": 0}
    assert read_config(off, "x").window == 0


@pytest.mark.parametrize("base", [LLAMA, MIXTRAL, QWEN_MOE, GEMMA2, GPT_OSS, OWN])
def test_the_config_without_the_change_is_read(base: dict[str, Any]) -> None:
    assert parameter_count(read_config(base, "my.json")) > 0


FILES = [
    ("", "not JSON"),
    ("{", "not JSON"),
    ("[1]", "a list or a single value"),
    ("3", "a list or a single value"),
    ('{"hidden_size": 1, "hidden_size": 2}', "hidden_size stands twice, with 1 and 2"),
    ("[" * 100_000, "nested too deeply"),
    ('{"a": ' + "9" * 5000 + "}", "a number is too long"),
    ('{"model_type": "llama", "text_config": 3}', "text_config is 3"),
    (" " * 1_000_001, "longer than 1 MB"),
]


@pytest.mark.parametrize(("text", "words"), FILES, ids=[words for _, words in FILES])
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_config(path)
    assert words in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, words in [
        (binary, "not UTF-8"),
        (tmp_path / "none.json", "cannot be read"),
        (tmp_path, "cannot be read"),
    ]:
        with pytest.raises(ModelError, match=words):
            load_config(path)
    with pytest.raises(ModelError, match="No model is called"):
        model_or_file("a" * 5000)
    with pytest.raises(ModelError, match="cannot be read"):
        model_or_file("nul\0.json")


def test_a_file_a_folder_and_a_name_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(catalogue()["llama3-8b"].fields), encoding="utf-8")
    counts = parameter_counts(model("llama3-8b"))
    for word in (str(tmp_path), str(tmp_path / "config.json"), "llama3-8b", "LLaMA3.1-8B"):
        assert parameter_counts(model_or_file(word)) == counts


def test_an_unknown_name_is_answered_with_close_ones() -> None:
    with pytest.raises(ModelError, match=r"Did you mean .*llama3-70b"):
        model("llama3-70")


def test_the_language_model_of_a_larger_one_is_read() -> None:
    found = read_config({"model_type": "llava", "text_config": LLAMA}, "x")
    assert parameter_counts(found) == parameter_counts(read_config(LLAMA, "x"))
    assert "only the language model" in found.notes[0]
    outer = {"model_type": "llava", "tie_word_embeddings": True, "text_config": LLAMA}
    assert read_config(outer, "x").tied
    with pytest.raises(ModelError, match="tie_word_embeddings is true, and false in text_config"):
        read_config({**outer, "text_config": {**LLAMA, "tie_word_embeddings": False}}, "x")


def test_what_is_not_stated_is_said() -> None:
    found = read_config(changed(LLAMA, num_key_value_heads=GONE), "x")
    assert dict(found.assumed) == {
        "num_key_value_heads": "4 (one for each query head)",
        "head_dim": "16 (hidden_size/num_attention_heads)",
        "tie_word_embeddings": "false",
        "attention_bias": "false",
        "mlp_bias": "false",
    }
    assert read_config({**LLAMA, "num_local_experts": 8}, "x").ignored == ("num_local_experts",)
    assert read_config({**LLAMA, "foo_bar": 1, "rope_theta": 1e4, "_note": 1}, "x").ignored == ("foo_bar",)
    assert any(
        "num_nextn_predict_layers" in n for n in read_config({**LLAMA, "num_nextn_predict_layers": 1}, "x").notes
    )


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_every_word_of_an_architecture_has_a_kind(kind: str) -> None:
    row = ARCHITECTURES[kind]
    assert row.keys() <= WORDS.keys()
    assert all(value.names for value in row.values() if isinstance(value, Stated))


# Exact counts as their authors or the hub's index of the weights state them.
PUBLISHED = {
    "llama2-7b": 6_738_415_616,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3-405b": 405_853_388_800,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
    "qwen2-7b": 7_615_616_512,
    "gemma-7b": 8_537_680_896,
    "gemma2-9b": 9_241_705_984,
    "phi-2": 2_779_683_840,
    "gpt2": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "gpt-neox-20b": 20_554_567_680,
    "opt-125m": 125_239_296,
    "falcon-7b": 6_921_720_704,
    "bloom-176b": 176_247_271_424,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_404_352,
}
# How To Scale Your Model, chapter 7: without norms, and without a router.
BOOK = {"ch7-18b": 18_385_207_296, "ch7-18b-k1": 17_445_683_200, "ch7-moe": 211_658_735_616}


@pytest.mark.parametrize("name", {**PUBLISHED, **BOOK})
def test_parameters_of_a_known_model(name: str) -> None:
    assert parameter_count(model(name)) == {**PUBLISHED, **BOOK}[name]


def test_active_parameters() -> None:
    assert active_count(model("ch7-moe")) == 31_270_109_184
    assert active_count(model("llama3-8b")) == parameter_count(model("llama3-8b"))
    assert 36.5e9 < active_count(model("deepseek-v3")) < 38e9  # 37B, arXiv:2412.19437


@pytest.mark.parametrize("name", catalogue())
def test_every_model_of_the_catalogue_is_whole(name: str) -> None:
    found, entry = model(name), catalogue()[name]
    assert entry.source
    known = values(found).keys()
    for block in blocks(found) + blocks(found, absorbed=True):
        sizes = {size for form in program(block.text).sizes.values() for size in form.free_symbols}
        open_ones = {symbol(each) for each in "BTS"}
        assert (sizes | block.count.free_symbols) - open_ones <= known, block
    forms = parameter_forms(found)
    assert sum(int(form.xreplace(values(found))) for form in forms.values()) == parameter_count(found)


def test_what_is_known_of_trainings_has_sources() -> None:
    known = {name: entry.training for name, entry in catalogue().items() if entry.training}
    assert known["deepseek-v3"]["batch_tokens"][0] == 15_360 * 4_096
    assert all(value > 0 and source for each in known.values() for value, source in each.values())


def test_closed_forms_are_those_of_the_field() -> None:
    D, F, L, K, H, N, V, E, k = (symbol(name) for name in ("D", "F", "L", "K", "H", "N_heads", "V", "E", "k"))
    forms = parameter_forms(model("llama3-70b"))
    wanted = {"embedding": D * V, "attention": 2 * D * H * L * (N + K), "MLP": 3 * D * F * L}
    wanted |= {"norms": D * (2 * L + 1), "unembedding": D * V}
    assert forms.keys() == wanted.keys()
    assert all(sp.expand(forms[part] - wanted[part]) == 0 for part in wanted)
    moe = parameter_forms(model("mixtral-8x7b"))
    assert sp.expand(moe["experts"] - 3 * D * symbol("F_moe") * E * L) == 0
    assert sp.expand(moe["router"] - D * E * L) == 0
    assert k not in moe["experts"].free_symbols


def test_tying_removes_one_table() -> None:
    apart, tied = (read_config({**LLAMA, "tie_word_embeddings": flag}, "x") for flag in (False, True))
    assert parameter_count(apart) - parameter_count(tied) == 64 * 100
    assert "unembedding" not in parameter_forms(tied)


def test_layers_that_share_keys_and_values_have_no_projections_for_them() -> None:
    own = read_config(OWN, "x")
    heads = own.attention
    assert isinstance(heads, Attention)
    one = 2 * own.D * heads.K * heads.H
    for fields, sharing in [({"num_kv_shared_layers": 3}, 3), ({"kv_share_every": 2}, 2)]:
        found = read_config({**OWN, **fields}, "x")
        assert parameter_count(own) - parameter_count(found) == sharing * one
        assert values(found)[symbol("L_kv")] == 4 - sharing


def test_weights_are_named() -> None:
    sizes = {block.name: weights(block) for block in blocks(read_config({**LLAMA, "attention_bias": True}, "x"))}
    D, K, H, N = symbol("D"), symbol("K"), symbol("H"), symbol("N_heads")
    assert sizes["queries"] == {"W_Q": D * N * H, "c_Q": N * H}
    assert sizes["keys and values"] == {"W_K": D * K * H, "c_K": K * H, "W_V": D * K * H, "c_V": K * H}
    assert SIZES["G"] * K == N
