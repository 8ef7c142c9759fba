"""Training on a blackboard: parameters and FLOPs of a model by part, counted in its blocks and written down."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symscale.array import Einsum
from symscale.derivation.proof import float_value
from symscale.derivation.served import Count, CountedAgain, Point
from symscale.derivation.step import Step
from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.shown import Shown
from symscale.solve.relation import Relation
from symscale.transformer.block import Block, planned
from symscale.transformer.blocks import PARTS, blocks, values
from symscale.transformer.catalogue import model
from symscale.transformer.config import FULL, Attention, Config
from symscale.transformer.flops import PASSES, REMAT, flops_forms, training_forms
from symscale.transformer.parameters import active_forms, parameter_forms
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.derivation.builder import Builder

B, T = symbol("B"), symbol("T")
Forms = Mapping[str, sp.Expr]


@dataclass(frozen=True)
class Training(Shown):
    """A model in training, by part: parameters, those that a token meets, and FLOPs over B tokens in sequences of T.

    `step` is forward and backward with what is computed again; `values` has the model's sizes by name.
    """

    parameters: Forms
    active: Forms
    forward: Forms
    backward: Forms
    step: Forms
    values: Mapping[str, sp.Expr]


def training(d: Builder, name: str, *, show: str = "", causal: bool = True, remat: str = "none") -> Training:
    """Return a model of the catalogue in training, and write down what `show` says.

    `show` names any of parameters, active, forward, backward, step. A multiply-add is two FLOPs; `causal` counts the
    pairs of query and key that a mask leaves, else all; `remat` (none, scores, full) is what the backward pass computes
    again. Raises ModelError.
    """
    for word in show.split():
        if word not in _WORDS:
            raise ModelError(f"Training cannot show {word!r}.", hint=f"Use any of {', '.join(_WORDS)}.")
    config = model(name)
    ahead, back = (flops_forms(config, each, causal=causal) for each in PASSES)
    step = training_forms(config, causal=causal, remat=remat)
    sizes = {str(each): number for each, number in values(config).items()}
    found = Training(parameter_forms(config), active_forms(config), ahead, back, step, sizes)
    again = _factors(remat)
    for word in show.split():
        d.add(_step(config, word, getattr(found, word), again[word], causal=causal))
    return found


#: What a step of each word says: its title, the stem of its symbols, and the reason.
_WORDS = {
    "parameters": ("Parameters of {}", "P", "The sizes of the weights, times how often each occurs."),
    "active": ("Parameters of {} that a token meets", "P", "All of them, but of routed experts k of E."),
    "forward": (
        "Forward pass of {}",
        "FLOPs",
        "B tokens in sequences of T. A contraction takes 2 FLOPs per multiply-add, so 2 per token and weight; "
        "a look-up takes none. Scores: {}.",
    ),
    "backward": (
        "Backward pass of {}",
        "FLOPs",
        "Each contraction has two gradients, each as much work as itself. Scores: {}.",
    ),
    "step": (
        "Training step of {}",
        "FLOPs",
        "Forward and backward, with what the backward pass computes again. Scores: {}.",
    ),
}


def _factors(remat: str) -> dict[str, Mapping[str, int]]:
    """Return how many times its forward work each part takes in a pass; 1 for parameters."""
    once, twice = (dict.fromkeys(PARTS, times) for times in (1, 2))
    step = {part: 4 if part in REMAT[remat] else 3 for part in PARTS}
    return {"parameters": once, "active": once, "forward": once, "backward": twice, "step": step}


def _step(config: Config, word: str, forms: Forms, factors: Mapping[str, int], *, causal: bool) -> Step:
    title, stem, reason = _WORDS[word]
    equations = tuple(Relation(symbol(f"{stem}_{part.split()[0]}"), "==", form) for part, form in forms.items())
    count = {"parameters": _stored, "active": _met}.get(word)
    counts = tuple(count(part) if count else _worked(part, factors[part], causal=causal) for part in forms)
    pairs = "a query sees the keys up to its own" if causal else "every query sees every key"
    return Step("count", title.format(config.name), reason.format(pairs), equations, (CountedAgain(config, counts),))


def _stored(part: str) -> Count:
    return lambda config, at: math.fsum(
        float_value(one.count, at) * math.fsum(_elements(one, at).values()) for one in _of(config, part)
    )


def _met(part: str) -> Count:
    return lambda config, at: math.fsum(
        float_value(one.count, at) * _share(one, at) * math.fsum(_elements(one, at).values())
        for one in _of(config, part)
    )


def _worked(part: str, factor: int, *, causal: bool) -> Count:
    """Count FLOPs: 2 per token and element of each matrix it meets, or 2 per pair, head and width of the scores."""
    if part == "scores":
        return lambda config, at: factor * float(at[B]) / float(at[T]) * _pairs(config, at, causal=causal)
    return lambda config, at: (
        factor
        * float(at[B])
        * math.fsum(
            2 * float_value(one.count, at) * _share(one, at) * math.fsum(_multiplied(one, at))
            for one in _of(config, part)
        )
    )


def _of(config: Config, part: str) -> list[Block]:
    return [one for one in blocks(config) if one.part == part]


def _share(block: Block, at: Point) -> float:
    routed = "M" in planned(block.text)[0].program.sizes
    return float_value(symbol("k") / symbol("E"), at) if routed else 1.0


def _elements(block: Block, at: Point, *, elsewhere: bool = False) -> dict[str, float]:
    """Return the elements of each weight; those that another block stores only with `elsewhere`."""
    made = planned(block.text)[0].program
    return {
        name: math.prod(float_value(made.sizes[dim], at) for dim in made.values[name].dims)
        for name in made.leaves
        if made.values[name].role == "weight" and (elsewhere or name not in block.elsewhere)
    }


def _multiplied(block: Block, at: Point) -> list[float]:
    """Return the elements of each weight that is an operand of a product."""
    operations = planned(block.text)[0].program.operations
    inside = {name for each in operations if isinstance(each, Einsum) and not each.elementwise for name in each.inputs}
    return [size for name, size in _elements(block, at, elsewhere=True).items() if name in inside]


def _pairs(config: Config, at: Point, *, causal: bool) -> float:
    """Return the FLOPs of all queries of a sequence on the keys they see, layer by layer and key by key."""
    heads, last = config.attention, int(at[T])
    width = 2 * heads.H if isinstance(heads, Attention) else heads.H_nope + heads.H_rope + heads.H_v
    seen = {kind: _seen(kind, config.window, last, causal=causal) for kind in set(config.kinds)}
    return float(2 * heads.N_heads * width * sum(seen[kind] for kind in config.kinds))


def _seen(kind: str, window: int, last: int, *, causal: bool) -> int:
    span = last if kind == FULL else min(window, last)
    if not causal:
        return last * span
    if kind == "chunked":
        return sum(query % span + 1 for query in range(last))
    return sum(min(query + 1, span) for query in range(last))
