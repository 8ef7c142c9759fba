"""The KV cache: what decoding keeps of each sequence, counted from the arrays that the scores read."""

from __future__ import annotations

import sympy as sp

from symscale.cost import held_bytes
from symscale.quantity import minimum
from symscale.transformer.block import Block, planned
from symscale.transformer.blocks import blocks
from symscale.transformer.config import FULL, Config
from symscale.vocabulary import symbol

S, S_WINDOW = symbol("S"), symbol("S_window")


def cache_forms(config: Config) -> dict[str, sp.Expr]:
    """Return the bytes cached for one sequence of S tokens by kind of attention [B].

    Full attention keeps every token, a window a ring buffer of min(S, S_window); latent attention keeps the latent and
    the rotary key, and a layer that takes keys and values from another one nothing. `b` is bytes per element.
    """
    return {
        block.kind: block.cache_count * held(block)
        for block in blocks(config, absorbed=True)
        if block.cached and block.cache_count != 0
    }


def cache_per_token(config: Config) -> dict[str, sp.Expr]:
    """Return the bytes that one more token of context adds, by kind of attention, until a window is full [B]."""
    kept = {S: sp.S.One, minimum(S, S_WINDOW): sp.S.One}
    return {kind: form.xreplace(kept) for kind, form in cache_forms(config).items()}


def held(block: Block) -> sp.Expr:
    """Return the bytes that one layer of a block caches for one sequence of S tokens, at most its window [B]."""
    plan, typed = planned(block.text)
    layouts = [(name, plan.program.values[name].layout) for name in block.cached]
    whole = sp.Add(*(held_bytes(plan, name, layout, typed) for name, layout in layouts if layout is not None))
    one_size = sp.factor_terms(whole)
    return one_size if block.kind == FULL else one_size.xreplace({S: minimum(S, S_WINDOW)})
