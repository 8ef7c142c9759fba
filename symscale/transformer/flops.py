"""FLOPs of a model: by part, forward and backward, with rematerialisation; the rule of six and its error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import sympy as sp

from symscale.cost import activations, recomputing, tally, without
from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.quantity import minimum
from symscale.quantity.series import total
from symscale.solve import Solution, crossover
from symscale.transformer.block import Block, counted, planned
from symscale.transformer.blocks import PARTS, blocks, values
from symscale.transformer.config import CHUNKED, FULL, SLIDING, Config
from symscale.transformer.parameters import active_forms, collected
from symscale.vocabulary import fresh, symbol

B, T, S, S_WINDOW = symbol("B"), symbol("T"), symbol("S"), symbol("S_window")
PASSES = ("forward", "backward")
#: The parts that the backward pass computes again: none; of the scores what it reads and is not kept, Q·K^T, as fused
#: attention does; the scores with both products, as a checkpoint around them does; every layer.
REMAT = {
    "none": (),
    "selective": ("scores",),
    "scores": ("scores",),
    "full": tuple(p for p in PARTS if p not in ("embedding", "unembedding")),
}
FEED_FORWARD = ("MLP", "router", "experts", "shared experts")


@lru_cache(maxsize=16)
def attended(kind: str = FULL, *, causal: bool = True, whole_chunks: bool = False) -> sp.Expr:
    """Return how many pairs of query and key one sequence of T tokens scores.

    Causal: query i sees min(i, S_window) keys, itself included, so T(T + 1)/2 without a window; in a chunk of S_window
    it sees those of its chunk up to itself; `whole_chunks` counts a part of a chunk like a whole one, which is exact
    up to one chunk and at multiples of it, and else too much. Not causal: every query sees min(T, S_window).
    """
    span = T if kind == FULL else minimum(T, S_WINDOW)
    if kind == CHUNKED and causal and not whole_chunks:
        whole = sp.floor(T / S_WINDOW)
        return sp.expand(whole * _ramp(S_WINDOW) + _ramp(T - whole * S_WINDOW))
    if not causal:
        return T * span
    after = (T - span) * span if kind == SLIDING else sp.cancel(_ramp(span) / span) * (T - span)
    return _ramp(span) + after


def _ramp(last: sp.Expr) -> sp.Expr:
    """Return 1 + 2 + … + last."""
    query, end = fresh("i"), fresh("n")
    return sp.factor(total(query, query, end)).xreplace({end: last})


def flops_forms(
    config: Config, name: str = "forward", *, causal: bool = True, whole_chunks: bool = False
) -> dict[str, sp.Expr]:
    """Return the FLOPs of one pass over B tokens in sequences of T, by part; norms and look-ups have none.

    A contraction counts 2 FLOPs per multiply-add, of its pairs of query and key those that are `attended`.
    """
    if name not in PASSES:
        raise ModelError(f"There is no pass {name!r}.", hint=f"Use one of {', '.join(PASSES)}.")
    return dict(_forms(config, name, causal, whole_chunks))


@lru_cache(maxsize=64)
def _forms(config: Config, name: str, causal: bool, whole_chunks: bool) -> dict[str, sp.Expr]:
    return _by_part(config, lambda block: counted(block.text, name).total_flops, causal, whole_chunks)


def _by_part(
    config: Config, cost: Callable[[Block], sp.Expr], causal: bool, whole_chunks: bool = False
) -> dict[str, sp.Expr]:
    found: dict[str, list[sp.Expr]] = {part: [] for part in PARTS}
    for block in blocks(config):
        flops = cost(block)
        if block.over_sequence:
            # the pass is bilinear in T and S: what one pair costs, times the pairs, for each of B/T sequences
            pairs = attended(block.kind, causal=causal, whole_chunks=whole_chunks)
            flops = sp.cancel(flops / (T * S)) * pairs * B / T
        found[block.part].append(block.count * flops)
    summed = {part: collected(sp.Add(*terms)) for part, terms in found.items()}
    return {part: form for part, form in summed.items() if form != 0}


def training_forms(config: Config, *, causal: bool = True, remat: str = "none") -> dict[str, sp.Expr]:
    """Return the FLOPs of a training step over B tokens by part: forward, backward, and what is computed again."""
    if remat not in REMAT:
        raise ModelError(f"Unknown rematerialisation {remat!r}.", hint=f"Use one of {', '.join(REMAT)}.")
    ahead, back = (flops_forms(config, name, causal=causal) for name in PASSES)
    again = _by_part(config, _needed_again, causal) if remat == "selective" else ahead
    return {
        part: collected(form + back.get(part, sp.S.Zero) + (again[part] if part in REMAT[remat] else sp.S.Zero))
        for part, form in ahead.items()
    }


def _needed_again(block: Block) -> sp.Expr:
    """Return the FLOPs of what the backward pass reads of a block where no array over queries and keys is kept."""
    plan, typed = planned(block.text)
    made = recomputing(plan, activations(plan, typed, without(("T", "S"))))
    return tally(made, "again", typed, {}).total_flops


def per_token(forms: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    """Return FLOPs per token: forms over B tokens divided by B."""
    return {part: _factored(form / B) for part, form in forms.items()}


def _factored(form: sp.Expr) -> sp.Expr:
    if form.has(sp.Min, sp.floor):
        return sp.factor_terms(sp.expand(form))
    return sp.factor(form)


@dataclass(frozen=True)
class Rule:
    """An approximation of the FLOPs of a training step: `approximate`, `exact`, and `error` = approximate/exact - 1."""

    approximate: sp.Expr
    exact: sp.Expr
    error: sp.Expr


def rule_of_six(config: Config, *, causal: bool = True, remat: str = "none") -> Rule:
    """Return 6·parameters·tokens beside the exact count; of routed experts the active parameters.

    The rule counts a look-up as a product (too much, unless the table is tied) and leaves out the scores (too little).
    """
    exact = sp.Add(*training_forms(config, causal=causal, remat=remat).values())
    approximate = 6 * B * sp.Add(*active_forms(config).values())
    return Rule(approximate, exact, approximate / exact - 1)


def equal_length(config: Config, against: Sequence[str] = FEED_FORWARD, *, causal: bool = True) -> Solution:
    """Return from which sequence length T on the scores cost more than the parts `against`, forward.

    Both are per token with the model's numbers in; where every layer has a window the scores stop growing, and there
    may be none. Chunks count as whole ones: exact up to one chunk and at multiples of it, and never too little.
    """
    known = values(config)
    forms = flops_forms(config, causal=causal, whole_chunks=True)
    scores = sp.expand(forms["scores"].xreplace(known) / B)
    others = sp.expand(sp.Add(*(forms[part] for part in against if part in forms)).xreplace(known) / B)
    return crossover(scores, ">=", others, T)
