"""Inference on a blackboard: what a model's decode step and prefill ask of the chips, counted and written down."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symscale.array import Einsum
from symscale.derivation.proof import float_value
from symscale.derivation.step import Step
from symscale.errors import StepError
from symscale.frozen import dataclass
from symscale.notation.text import relation_text
from symscale.quantity.series import total
from symscale.shown import Shown
from symscale.solve.relation import Relation
from symscale.transformer.block import Block, parameters, planned
from symscale.transformer.blocks import blocks, values
from symscale.transformer.catalogue import model
from symscale.transformer.config import FULL, Config
from symscale.transformer.inference import CACHED, WEIGHT, B, Held, Load, S, T, decode, held_bytes, prefill
from symscale.transformer.inference_time import StepTime, step_time
from symscale.transformer.parameters import collected, parameter_forms
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.derivation.builder import Builder

Point = Mapping[sp.Symbol, sp.Expr]
Count = Callable[[Config, Point], float]

#: Any model, by short names: FLOPs per token, weights and cache in bytes, all parameters.
ANY = Load(B * symbol("FLOPs_token"), symbol("M_weights"), B * symbol("FLOPs_scores"), B * symbol("M_cache"))
ANY_HELD = Held(symbol("M_weights"), symbol("M_cache"))


@dataclass(frozen=True)
class Inference(Shown):
    """A model in use, or any model: what it costs as formulas, each worked out when it is asked for."""

    config: Config | None = None
    experts: str = "all"

    @cached_property
    def decode(self) -> Load:
        """The load of a decode step."""
        return ANY if self.config is None else decode(self.config, touched=self.experts)

    @cached_property
    def prefill(self) -> Load:
        """The load of a prefill."""
        return ANY if self.config is None else prefill(self.config, touched=self.experts)

    @cached_property
    def held(self) -> Held:
        """The bytes of weights and of the cache of one sequence."""
        return ANY_HELD if self.config is None else held_bytes(self.config)

    @cached_property
    def step(self) -> StepTime:
        """The times of a decode step."""
        return step_time(self.decode)

    @cached_property
    def values(self) -> Mapping[str, sp.Expr]:
        """The model's sizes by name."""
        return {} if self.config is None else {str(each): number for each, number in values(self.config).items()}

    @cached_property
    def parts(self) -> Mapping[str, sp.Expr]:
        """Its parameters by part."""
        return {} if self.config is None else parameter_forms(self.config)

    @property
    def parameters(self) -> sp.Expr:
        """All parameters, tied ones once."""
        return sp.Add(*self.parts.values())


def inference(d: Builder, name: str = "", *, show: str = "decode", experts: str = "all") -> Inference:
    """Return a model of the catalogue in use, and write down what `show` says: decode, prefill, held or nothing.

    Without a name it is any model: 2·P FLOPs and so on are short names. Raises ModelError.
    """
    if not name:
        return Inference()
    config = model(name)
    found = Inference(config, experts)
    for word in show.split():
        d.add(_STEPS[word](config, found))
    return found


def summed(expr: sp.Expr, over: str, last: str) -> sp.Expr:
    """Return the sum of an expression for a symbol from 1 to another one."""
    return collected(sp.expand(total(expr, symbol(over), symbol(last))))


@dataclass(frozen=True)
class CountedAgain:
    """Counts of a model: each right side is what adding up its layers and matrices one by one gives, in numbers."""

    config: Config
    counts: tuple[Count, ...]
    name: str = "counted again over the layers of the model, in numbers"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a count differs."""
        rng = random.Random(seed)
        if len(self.counts) != len(equations):
            raise StepError("A step states more equations than it proves.")
        point: dict[sp.Symbol, sp.Expr] = dict(values(self.config))
        point |= {each: sp.Integer(rng.randint(2, 9000)) for each in (B, S, T)}
        point |= {WEIGHT: sp.Rational(rng.randint(1, 8), 2), CACHED: sp.Rational(rng.randint(1, 8), 2)}
        for equation, count in zip(equations, self.counts, strict=True):
            found, wanted = float_value(equation.rhs, point), count(self.config, point)
            if abs(found - wanted) > 1e-9 * abs(wanted):
                raise StepError(f"A second count differs: {relation_text(equation.lhs, equation.op, equation.rhs)}")


def _decode_step(config: Config, found: Inference) -> Step:
    equations = _equations(("FLOPs", "M_weights", "FLOPs_scores", "M_cache"), found.decode)
    counts: tuple[Count, ...] = (
        lambda each, at: _times(at, B) * _products(each, at),
        lambda each, at: _times(at, WEIGHT) * _read(each, at),
        lambda each, at: _times(at, B) * _pairs(each, at),
        lambda each, at: _times(at, B) * _times(at, CACHED) * _kept(each, at, owning=False),
    )
    reason = (
        "B sequences add one token each. Every weight that multiplies is read once, every cached key and value too; a"
        " multiply-add is two FLOPs, a look-up none."
    )
    return Step("count", f"A decode step of {config.name}", reason, equations, (CountedAgain(config, counts),))


def _prefill_step(config: Config, found: Inference) -> Step:
    equations = _equations(("FLOPs", "M_weights", "FLOPs_scores", "M_cache"), found.prefill)
    counts: tuple[Count, ...] = (
        lambda each, at: _times(at, T) * _products(each, at) - (_times(at, T) - 1) * _logits(each, at),
        lambda each, at: _times(at, WEIGHT) * _read(each, at),
        _causal,
        lambda each, at: _times(at, CACHED) * _kept(each, {**at, S: at[T]}, owning=True),
    )
    reason = "A prompt of T tokens, causal; logits are made for its last token, the cache is written once."
    return Step("count", f"A prefill of {config.name}", reason, equations, (CountedAgain(config, counts),))


def _held_step(config: Config, found: Inference) -> Step:
    equations = (
        Relation(symbol("M_weights"), "==", found.held.weights),
        Relation(symbol("M_cache"), "==", found.held.cache),
    )
    counts: tuple[Count, ...] = (
        lambda each, at: (
            _times(at, WEIGHT) * math.fsum(_number(one.count * parameters(one), at) for one in blocks(each))
        ),
        lambda each, at: _times(at, CACHED) * _kept(each, at, owning=True),
    )
    reason = "All weights once, and keys and values of one sequence of S tokens, b_w and b_kv bytes per element."
    return Step("count", f"What {config.name} holds", reason, equations, (CountedAgain(config, counts),))


_STEPS = {"decode": _decode_step, "prefill": _prefill_step, "held": _held_step}


def _equations(names: tuple[str, ...], load: Load) -> tuple[Relation, ...]:
    parts = (load.weight_flops, load.weight_bytes, load.score_flops, load.cache_bytes)
    return tuple(Relation(symbol(name), "==", part) for name, part in zip(names, parts, strict=True))


def _times(at: Point, name: sp.Symbol) -> float:
    return float(at[name])


def _number(form: sp.Expr, at: Point) -> float:
    return float_value(form, at)


def _products(config: Config, at: Point) -> float:
    """Return the FLOPs per token of every product with weights: twice the elements of each matrix a token meets."""
    return math.fsum(_number(one.count, at) * _matrices(one, at, multiplied=True) for one in _weighing(config))


def _read(config: Config, at: Point) -> float:
    """Return the elements of all matrices and gains that are read, of routed experts all."""
    return math.fsum(_number(one.count, at) * _matrices(one, at, multiplied=False) for one in _weighing(config))


def _logits(config: Config, at: Point) -> float:
    last = [one for one in _weighing(config) if one.part == "unembedding"]
    return math.fsum(_number(one.count, at) * _matrices(one, at, multiplied=True) for one in last)


def _weighing(config: Config) -> list[Block]:
    # a look-up has no operation that computes
    return [one for one in blocks(config) if not one.over_sequence and one.name not in ("tokens", "positions")]


def _matrices(block: Block, at: Point, *, multiplied: bool) -> float:
    """Return 2 × the elements of the matrices in products (k of E experts), or all elements of the weights once."""
    made = planned(block.text)[0].program
    inside = {
        name for each in made.operations if isinstance(each, Einsum) and not each.elementwise for name in each.inputs
    }
    total = 0.0
    for name in made.leaves:
        value = made.values[name]
        if value.role != "weight" or (multiplied and name not in inside):
            continue
        dims = [_number(made.sizes[dim], at) for dim in value.dims]
        share = _number(symbol("k") / symbol("E"), at) if multiplied and "M" in made.sizes else 1
        total += (2 if multiplied else 1) * share * math.prod(dims)
    return total


def _pairs(config: Config, at: Point) -> float:
    """Return the FLOPs of one query on what is cached: 2 × every key and value element of each query head."""
    heads = _sizes(config)
    span = {
        kind: min(float(at[S]), config.window or math.inf) if kind != FULL else float(at[S]) for kind in config.kinds
    }
    width = heads.width if not heads.latent else 2 * heads.latent + heads.rope
    return math.fsum(2 * heads.queries * width * span[kind] for kind in config.kinds)


def _causal(config: Config, at: Point) -> float:
    """Return the FLOPs of all queries of a prompt on the keys they see, key by key."""
    heads, last = _sizes(config), int(at[T])
    total = 0
    for kind, count in {kind: config.kinds.count(kind) for kind in config.kinds}.items():
        window = config.window if kind != FULL else last
        seen = (n % window + 1 for n in range(last)) if kind == "chunked" else (min(n + 1, window) for n in range(last))
        total += count * sum(seen)
    return float(2 * heads.queries * heads.width * total)


def _kept(config: Config, at: Point, *, owning: bool) -> float:
    """Return the elements cached for one sequence, layer by layer; without `owning` those that are read."""
    heads = _sizes(config)
    width = heads.latent + heads.rope if heads.latent else heads.keys * heads.width
    spans = [
        min(float(at[S]), config.window) if kind != FULL else float(at[S])
        for kind, own in zip(config.kinds, config.owns_kv, strict=True)
        if own or not owning
    ]
    return width * math.fsum(spans)


@dataclass(frozen=True)
class _Heads:
    queries: int
    keys: int
    width: int
    latent: int = 0
    rope: int = 0


def _sizes(config: Config) -> _Heads:
    """Return query heads, key/value heads, the width of a key with its value, and the ranks of latent attention."""
    from symscale.transformer.config import Attention

    heads = config.attention
    if isinstance(heads, Attention):
        return _Heads(heads.N_heads, heads.K, 2 * heads.H)
    return _Heads(heads.N_heads, 1, heads.H_nope + heads.H_rope + heads.H_v, heads.R_kv, heads.H_rope)
