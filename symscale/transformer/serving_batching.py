"""What batching wastes and saves: pages of the cache, batches that wait for their longest, prefixes that are shared.

Lengths are taken as even over 1 … M_len tokens where they matter; every mean below is summed, not stated.
"""

from __future__ import annotations

import sympy as sp

from symscale.quantity.series import area, total
from symscale.transformer.config import Config
from symscale.transformer.inference import T, prefill
from symscale.vocabulary import fresh, symbol

#: Tokens of a page, tokens of the longest sequence, tokens of a shared prefix, share of prompts that find it.
PAGE, LONGEST, PREFIX, HIT = symbol("S_page"), symbol("S_max"), symbol("T_prefix"), symbol("f_hit")
B, S = symbol("B"), symbol("S")


def wasted_slots() -> sp.Expr:
    """Return the mean number of empty slots in the last page of a sequence: (page − 1)/2 tokens.

    The last page holds 1 … page tokens, each as often, while a sequence grows or where lengths are even.
    """
    filled = fresh("n")
    return sp.factor(total(PAGE - filled, filled, PAGE) / PAGE)


def page_occupancy(length: sp.Expr = S) -> sp.Expr:
    """Return which share of the slots in pages holds a token, for sequences of `length` tokens on average."""
    return sp.cancel(length / (length + wasted_slots()))


def reserved_occupancy() -> sp.Expr:
    """Return which share of the slots is used where `S_max` are kept for each sequence: `(S_max + 1)/(2·S_max)`."""
    length = fresh("n")
    return sp.cancel(total(length, length, LONGEST) / LONGEST / LONGEST)


def static_occupancy() -> sp.Expr:
    """Return which share of its slots a batch of B uses that runs until its longest is done: (B + 1)/(2·B).

    Lengths are even over 0 … `S_max`: the mean is `S_max/2`, the density of the longest of B `B·x^(B−1)/S_max^B`.
    A batch that is refilled at every step, continuous batching, uses all of them.
    """
    length = fresh("x")
    longest = area(length * B * length ** (B - 1) / LONGEST**B, length, LONGEST)
    mean = area(length / LONGEST, length, LONGEST)
    return sp.cancel(sp.powsimp(mean / longest))


def prefix_flops(config: Config) -> sp.Expr:
    """Return the FLOPs that a cached prefix of `T_prefix` tokens saves a prompt: those of its own prefill.

    Nothing later changes what causal layers make of a prefix; the logits of its last token are not made either way.
    """
    whole = prefill(config)
    alone = (whole.weight_flops + whole.score_flops).xreplace({T: PREFIX})
    return sp.expand(alone - _logits(config))


def _logits(config: Config) -> sp.Expr:
    """Return the FLOPs of the logits of one token: what a prefill of no tokens at all would still do."""
    return prefill(config).weight_flops.xreplace({T: sp.S.Zero})
