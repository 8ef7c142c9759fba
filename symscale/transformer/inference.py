"""What a step of inference asks of the chips: FLOPs and HBM bytes of the weights and of attention, from the blocks."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.array.element import local_elements
from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.quantity import minimum
from symscale.transformer.block import Block, counted, parameters, program
from symscale.transformer.blocks import blocks
from symscale.transformer.cache import cache_forms, held
from symscale.transformer.config import FULL, Config
from symscale.transformer.flops import attended
from symscale.transformer.parameters import collected
from symscale.vocabulary import symbol

B, T, S, S_WINDOW, E, K_ACTIVE = (symbol(name) for name in ("B", "T", "S", "S_window", "E", "k"))
#: Bytes per weight, and per element of the KV cache.
WEIGHT, CACHED, ELEMENT = symbol("b_w"), symbol("b_kv"), symbol("b")
#: Which experts a step reads: every one, or as many as its tokens are expected to reach.
TOUCHED = ("all", "expected")


@dataclass(frozen=True)
class Load:
    """One step on all chips together: FLOPs and HBM bytes [B] of the weights, and of attention over the cache."""

    weight_flops: sp.Expr
    weight_bytes: sp.Expr
    score_flops: sp.Expr
    cache_bytes: sp.Expr

    def put(self, known: Mapping[sp.Symbol, sp.Expr]) -> Load:
        """Return the load with symbols replaced."""
        parts = (self.weight_flops, self.weight_bytes, self.score_flops, self.cache_bytes)
        return Load(*(each.xreplace(dict(known)) for each in parts))

    @property
    def intensity(self) -> sp.Expr:
        """FLOPs per byte of attention [FLOP/B]."""
        return sp.cancel(self.score_flops / self.cache_bytes)


@dataclass(frozen=True)
class Held:
    """What lies in HBM while serving [B]: all weights once, and the cache of one sequence of S tokens."""

    weights: sp.Expr
    cache: sp.Expr


def distinct_experts(tokens: sp.Expr) -> sp.Expr:
    """Return how many of E experts B tokens are expected to reach, k each, evenly: `E·(1 − (1 − k/E)^B)`.

    A token misses an expert with the chance 1 − k/E, and B tokens independently of each other.
    """
    return E * (1 - (1 - K_ACTIVE / E) ** tokens)


def decode(config: Config, *, touched: str = "all") -> Load:
    """Return the load of a decode step: one token for each of B sequences with S tokens in the cache.

    Every weight that multiplies is read once, and every cached key and value. A look-up reads one row per token, and
    queries and results are one token long: both are left out. `touched` says which experts are read, all of them or
    the number that is `expected`. A chunk counts as full. Raises ModelError.
    """
    flops = sp.Add(*(each.count * counted(each.text, "forward").total_flops for each in _weighing(config)))
    scores, cache = [], []
    for block in _scoring(config):
        span = S if block.kind == FULL else minimum(S, S_WINDOW)
        pairs = counted(block.text, "forward").total_flops.xreplace({T: sp.S.One, S: span})
        scores.append(block.count * B * pairs)
        # a layer that takes keys and values from another one reads them all the same
        cache.append(block.count * B * held(block).xreplace({ELEMENT: CACHED}))
    return Load(collected(flops), read_bytes(config, touched, B), sp.Add(*scores), sp.Add(*cache))


def prefill(config: Config, *, touched: str = "all") -> Load:
    """Return the load of a prefill of one prompt of T tokens, causal; logits are made for its last token alone.

    The cache is written once; scores in tiles read it from the chip. Raises ModelError.
    """
    weights = []
    for block in _weighing(config):
        tokens = sp.S.One if block.part == "unembedding" else T
        weights.append(block.count * counted(block.text, "forward").total_flops.xreplace({B: tokens}))
    scores = [
        block.count * sp.cancel(counted(block.text, "forward").total_flops / (T * S)) * attended(block.kind)
        for block in blocks(config)
        if block.over_sequence
    ]
    written = held_bytes(config).cache.xreplace({S: T, minimum(S, S_WINDOW): minimum(T, S_WINDOW)})
    return Load(collected(sp.Add(*weights)), read_bytes(config, touched, T), sp.Add(*scores), written)


def held_bytes(config: Config) -> Held:
    """Return the bytes of all weights, tied ones once, and of the cache of one sequence of S tokens [B]."""
    whole = sp.Add(*(block.count * parameters(block) for block in blocks(config)))
    cache = sp.Add(*cache_forms(config).values()).xreplace({ELEMENT: CACHED})
    return Held(WEIGHT * collected(whole), cache)


def read_bytes(config: Config, touched: str, tokens: sp.Expr) -> sp.Expr:
    """Return the bytes of the weights that a step of so many tokens reads, a tied table included [B]."""
    if touched not in TOUCHED:
        raise ModelError(f"Unknown choice of experts {touched!r}.", hint=f"Use one of {', '.join(TOUCHED)}.")
    reached = E if touched == "all" else distinct_experts(tokens)
    return WEIGHT * collected(sp.Add(*(each.count * _elements(each, reached) for each in _weighing(config))))


def _elements(block: Block, reached: sp.Expr) -> sp.Expr:
    """Return the elements of the weights of one occurrence of a block, also of those that another block stores."""
    made = program(block.text)
    values = [made.values[name] for name in made.leaves]
    weights = [each.layout for each in values if each.role == "weight" and each.layout is not None]
    whole = sp.Add(*(local_elements(layout, made) for layout in weights))
    return whole.xreplace({E: reached}) if "M" in made.sizes else whole


def _weighing(config: Config) -> list[Block]:
    """Return the blocks whose weights work on every token: all but scores and look-ups, which compute nothing."""
    return [each for each in blocks(config) if not each.over_sequence and _computes(each)]


def _computes(block: Block) -> bool:
    cost = counted(block.text, "forward")
    return bool(cost.total_flops != 0 or cost.vector_flops != 0)


def _scoring(config: Config) -> list[Block]:
    return [each for each in blocks(config, absorbed=True) if each.over_sequence]
