"""Arithmetic intensity of attention, and the HBM traffic of fused scores against naive ones."""

from __future__ import annotations

import sympy as sp

from symscale.cost import held_bytes
from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.transformer.block import Block, counted, planned
from symscale.transformer.blocks import blocks
from symscale.transformer.config import Config
from symscale.vocabulary import symbol

T, S, TILE, SRAM = symbol("T"), symbol("S"), symbol("T_tile"), symbol("M_sram")


@dataclass(frozen=True)
class Intensity:
    """FLOPs and HBM bytes of the scores of one layer and one sequence, and their ratio [FLOP/B], unmasked."""

    flops: sp.Expr
    bytes: sp.Expr

    @property
    def ratio(self) -> sp.Expr:
        """FLOPs per byte."""
        return sp.factor(self.flops / self.bytes)


def scores(config: Config, *, absorbed: bool = False) -> Block:
    """Return the block that scores queries against keys."""
    return next(block for block in blocks(config, absorbed=absorbed) if block.part == "scores")


def attention_intensity(config: Config, phase: str, *, fused: bool = True) -> Intensity:
    """Return the intensity of attention in `prefill` (T = S queries) or `decode` (one query on S keys).

    Fused, queries, keys and values are read once and the result is written once; naive, every intermediate is written
    and read again. Decoding of latent attention stays in the latent.
    """
    lengths = {"prefill": {T: S}, "decode": {T: sp.S.One}}
    if phase not in lengths:
        raise ModelError(f"Unknown phase {phase!r}.", hint=f"Use one of {', '.join(lengths)}.")
    block = scores(config, absorbed=phase == "decode")
    cost = counted(block.text, "forward")
    traffic = fused_bytes(block) if fused else cost.hbm_bytes
    return Intensity(*(each.subs(lengths[phase]) for each in (cost.total_flops, traffic)))


def fused_bytes(block: Block) -> sp.Expr:
    """Return the bytes of the arrays a block reads from outside and of its results [B]."""
    plan, typed = planned(block.text)
    held = [held_bytes(plan, name, plan.results[name].layout, typed) for name in _outside(block)]
    return sp.Add(*held)


def _outside(block: Block) -> tuple[str, ...]:
    made = planned(block.text)[0].program
    return (*made.leaves, *made.outputs)


@dataclass(frozen=True)
class Traffic:
    """HBM bytes of the scores of one layer and one sequence of T queries and S keys, and the tile they rest on [B]."""

    naive: sp.Expr
    tiled: sp.Expr
    tile: sp.Expr


def tiled_traffic(config: Config) -> Traffic:
    """Return the HBM traffic of naive scores, and of scores in tiles of T_tile queries that stay on the chip.

    Every tile reads its queries and all keys and values, and writes its result: T/T_tile passes over K and V. A tile
    of queries, keys, values and results of one head fills the memory M_sram, which gives the largest T_tile
    (FlashAttention, arXiv:2205.14135, has the same count).
    """
    block = scores(config)
    whole = fused_bytes(block)
    tiled = sp.expand(whole.subs(T, TILE) * T / TILE)
    heads = {symbol(name): sp.S.One for name in ("K", "N_heads")}
    row = whole.subs({T: sp.S.One, S: sp.S.One}).subs(heads)
    return Traffic(counted(block.text, "forward").hbm_bytes, tiled, SRAM / row)
