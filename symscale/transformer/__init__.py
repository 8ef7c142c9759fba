"""Transformers: a config as blocks of our own notation, and what the engine counts in them."""

from symscale.transformer.blocks import blocks, values
from symscale.transformer.catalogue import catalogue, model, model_or_file
from symscale.transformer.config import Attention, Config, Experts, LatentAttention, Mlp
from symscale.transformer.parameters import (
    active_count,
    active_forms,
    parameter_count,
    parameter_counts,
    parameter_forms,
)
from symscale.transformer.reading import load_config, read_config

__all__ = [
    "Attention",
    "Config",
    "Experts",
    "LatentAttention",
    "Mlp",
    "active_count",
    "active_forms",
    "blocks",
    "catalogue",
    "load_config",
    "model",
    "model_or_file",
    "parameter_count",
    "parameter_counts",
    "parameter_forms",
    "read_config",
    "values",
]
