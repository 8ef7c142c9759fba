"""What the backward pass keeps, against the tensors that torch's autograd saves in eager mode (`make verify`).

Fused attention is off. Equal to the byte, but for what is named: torch keeps the mean and the deviation of each
normalised row in fp32, two numbers a token, and the norm's input where the engine keeps its result of the same size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

pytest.importorskip("torch", reason="torch is not installed: pip install 'symscale[verify]'")

import torch
from torch.utils.checkpoint import checkpoint

from symscale.transformer import read_config, values
from symscale.transformer.config import Config, validate
from symscale.transformer.footprint import footprint
from symscale.transformer.strategy import Strategy
from symscale.transformer.sublayers import sublayers
from symscale.vocabulary import symbol

pytestmark = pytest.mark.verify

SEQUENCES, LENGTH, FP32 = 3, 10, 4
STATISTICS = 2 * FP32 * SEQUENCES * LENGTH  # of one norm


def saved_bytes(block: Callable[[Any], Any], width: int, parameters: list[Any]) -> int:
    """Return the bytes of all storages that autograd saves while a block runs, without parameters."""
    kept: dict[int, Any] = {}

    def pack(tensor: Any) -> Any:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    x = torch.randn(SEQUENCES, LENGTH, width, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = block(x)
    result.sum().backward()
    own = {each.untyped_storage().data_ptr() for each in parameters}
    return sum(each.untyped_storage().nbytes() for at, each in kept.items() if at not in own)


class Weights:
    """Parameters of one sublayer, made when they are asked for."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def __call__(self, *shape: int) -> Any:
        self.made.append(torch.nn.Parameter(torch.randn(*shape)))
        return self.made[-1]


def numbers(config: Config) -> dict[str, int]:
    return {str(name): int(value) for name, value in values(config).items()}


def normed(config: Config, weights: Weights) -> Callable[[Any], Any]:
    width = config.D
    gain, shift = weights(width), weights(width)
    return lambda x: torch.nn.functional.layer_norm(x, (width,), gain, shift)


def dropped(config: Config, x: Any) -> Any:
    """Drop by the operator of an accelerator, whose mask is a byte; eager CPU code keeps fp32 noise."""
    return torch.ops.aten.native_dropout(x, 0.1, True)[0] if config.dropout else x


def mlp(config: Config, weights: Weights) -> Callable[[Any], Any]:
    sizes, norm = numbers(config), normed(config, weights)
    up, down = weights(sizes["D"], sizes["F"]), weights(sizes["F"], sizes["D"])
    gate = weights(sizes["D"], sizes["F"])
    assert config.mlp is not None

    def gated(x: Any) -> Any:
        y = norm(x)
        return (torch.nn.functional.silu(y @ gate) * (y @ up)) @ down

    def plain(x: Any) -> Any:
        return dropped(config, torch.nn.functional.gelu(norm(x) @ up) @ down)

    return gated if config.mlp.gated else plain


def attention(config: Config, weights: Weights) -> Callable[[Any], Any]:
    sizes, norm = numbers(config), normed(config, weights)
    width, groups, heads, size = (sizes[name] for name in ("D", "K", "N_heads", "H"))
    to_q, to_o = weights(width, heads * size), weights(heads * size, width)
    to_k, to_v = weights(width, groups * size), weights(width, groups * size)

    def split(y: Any) -> Any:
        """Return [R, K, G·T, H], in which no key or value is repeated for the queries of its group."""
        parts = y.view(SEQUENCES, LENGTH, groups, -1, size).permute(0, 2, 3, 1, 4)
        return parts.reshape(SEQUENCES, groups, -1, size)

    def block(x: Any) -> Any:
        y = norm(x)
        q, k, v = split(y @ to_q) * size**-0.5, split(y @ to_k), split(y @ to_v)
        p = dropped(config, torch.softmax(q @ k.transpose(-1, -2), -1))
        o = (p @ v).view(SEQUENCES, groups, -1, LENGTH, size).permute(0, 3, 1, 2, 4)
        return dropped(config, o.reshape(SEQUENCES, LENGTH, heads * size) @ to_o)

    return block


def derived(config: Config, at: int, remat: str = "none") -> sp.Expr:
    """Return the bytes that the engine says are kept of a sublayer in fp32."""
    kept = footprint(sublayers(config)[at], Strategy(()), dtype="fp32", remat=remat).kept
    batch = {"B": SEQUENCES * LENGTH, "T": LENGTH, "S": LENGTH, "b": FP32}
    return kept.xreplace({**values(config), **{symbol(name): sp.Integer(size) for name, size in batch.items()}})


FIELDS = {"vocab_size": 50, "num_hidden_layers": 2, "hidden_size": 24, "intermediate_size": 56}
LLAMA = {**FIELDS, "model_type": "llama", "num_attention_heads": 6}
GPT2 = {"model_type": "gpt2", "n_embd": 24, "n_head": 4, "n_layer": 2, "n_inner": 88, "vocab_size": 50}
CONFIGS = {
    "plain": read_config({**GPT2, "n_positions": 16}, "plain"),
    "plain with dropout": validate(replace(read_config({**GPT2, "n_positions": 16}, "plain"), dropout=True)),
    "gated": replace(read_config({**LLAMA, "num_key_value_heads": 6}, "gated"), norm="layer"),
    "grouped queries": replace(read_config({**LLAMA, "num_key_value_heads": 2}, "grouped"), norm="layer"),
    "one key head": replace(read_config({**LLAMA, "num_key_value_heads": 1, "head_dim": 8}, "one"), norm="layer"),
}


@pytest.mark.parametrize("name", list(CONFIGS))
@pytest.mark.parametrize(("at", "make"), [(0, attention), (1, mlp)], ids=["attention", "MLP"])
def test_saved_tensors_are_what_is_kept(name: str, at: int, make: Callable[[Config, Weights], Any]) -> None:
    torch.manual_seed(0)
    config, weights = CONFIGS[name], Weights()
    block = make(config, weights)
    found = saved_bytes(block, config.D, weights.made)
    assert found == derived(config, at) + STATISTICS


@pytest.mark.parametrize("name", ["plain", "gated"])
@pytest.mark.parametrize(("at", "make"), [(0, attention), (1, mlp)], ids=["attention", "MLP"])
def test_checkpointing_keeps_the_input_of_a_sublayer(
    name: str, at: int, make: Callable[[Config, Weights], Any]
) -> None:
    config, weights = CONFIGS[name], Weights()
    block = make(config, weights)
    found = saved_bytes(lambda x: checkpoint(block, x, use_reentrant=False), config.D, weights.made)
    assert found == derived(config, at, "block")
