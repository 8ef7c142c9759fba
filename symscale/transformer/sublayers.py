"""Sublayers: the blocks of one layer wired together, from the residual stream back to it.

A block stands for itself; a sublayer is what a chip runs in one piece, so that an input read by several blocks is
gathered once and its gradient reduced once. Tokens B are R sequences of T here. The keys' S is T again, and stays a
symbol of its own, because a mask leaves fewer keys to score than there are to keep.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import sympy as sp

from symscale.array import Add, Einsum, Operation, Program, Rename, Value
from symscale.frozen import dataclass
from symscale.transformer.block import Block, program
from symscale.transformer.blocks import blocks, local_count
from symscale.transformer.config import Config
from symscale.vocabulary import symbol

B, T = symbol("B"), symbol("T")
Dims = tuple[str, ...]


@dataclass(frozen=True)
class Sublayer:
    """A program of a layer, what it is called, how often the model runs it, and which keys its queries see."""

    name: str
    program: Program
    count: sp.Expr
    kind: str = ""

    @property
    def opens(self) -> bool:
        """Whether it is the first of its layer, and its input the layer's: attention."""
        return bool(self.kind)


@dataclasses.dataclass
class _Wiring:
    """A program being put together from others; `named` maps a role such as `q` to the value that plays it."""

    values: dict[str, Value] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    sizes: dict[str, sp.Expr] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def add(self, block: Block, dims: Callable[[Dims], Dims], inputs: Mapping[str, str]) -> list[str]:
        """Append a block whose leaves `inputs` are values that are there already; return its results."""
        part = program(block.text)
        names = {name: inputs.get(name) or self._free(name) for name in part.values}
        for name, value in part.values.items():
            if name not in inputs:
                self.values[names[name]] = replace(value, name=names[name], dims=dims(value.dims), layout=None)
        self.leaves += [names[name] for name in part.leaves if name not in inputs]
        self.operations += [_renamed(each, names) for each in part.operations]
        self.sizes |= part.sizes
        self.texts.append(block.text)
        return [names[name] for name in part.outputs]

    def rename(self, name: str, old: str, new: str) -> str:
        """Append a value under another name of one dimension."""
        value, out = self.values[name], self._free(f"{name}_{new}")
        dims = tuple(new if dim == old else dim for dim in value.dims)
        self.values[out] = Value(out, dims)
        self.operations.append(Rename(out, name, ((old, new),)))
        return out

    def program(self) -> Program:
        """Return what has been put together."""
        sizes = {**self.sizes, "R": B / T, "T": T}
        used = {dim for value in self.values.values() for dim in value.dims}
        read = {name for each in self.operations for name in each.inputs}
        made = [each.out for each in self.operations]
        return Program(
            "; ".join(self.texts),
            self.values,
            tuple(self.operations),
            tuple(self.leaves),
            tuple(name for name in made if name not in read),
            {dim: size for dim, size in sizes.items() if dim in used},
            {},
        )

    def _free(self, name: str) -> str:
        taken = [each for each in self.values if each == name or each.rpartition("_")[0] == name]
        return f"{name}_{len(taken) + 1}" if name in self.values else name


def _renamed(operation: Operation, names: Mapping[str, str]) -> Operation:
    if isinstance(operation, Einsum | Add):
        return replace(operation, out=names[operation.out], lhs=names[operation.lhs], rhs=names[operation.rhs])
    return replace(operation, out=names[operation.out], source=names[operation.source])


def sublayers(config: Config) -> tuple[Sublayer, ...]:
    """Return the sublayers of a model: attention by kind, the feed-forward ones, embedding and unembedding."""
    return (*_attentions(config), *_feed_forwards(config), *_ends(config))


def tied_tables(config: Config) -> tuple[Sublayer, ...]:
    """Return the look-up in a table that the unembedding shares, which a first stage of several holds as well."""
    tables = [each for each in blocks(config) if each.part == "embedding" and each.name == "tokens"]
    return tuple(Sublayer(f"embedding, {block.name}", _plain(block), sp.S.One) for block in tables if config.tied)


def _attentions(config: Config) -> list[Sublayer]:
    several = len(set(config.kinds)) > 1
    return [
        Sublayer(f"{kind} attention" if several else "attention", made, local_count(config, kind), kind)
        for kind in dict.fromkeys(config.kinds)
        for made in [_attention(config, kind)]
    ]


def _feed_forwards(config: Config) -> list[Sublayer]:
    """Experts are a program of their own: their tokens arrive by expert, E lists of M."""
    found: dict[str, list[Block]] = {}
    for block in blocks(config):
        if block.part in ("MLP", "router", "shared experts", "experts"):
            found.setdefault(block.part if block.part in ("MLP", "experts") else "router", []).append(block)
    made = []
    for name, parts in found.items():
        alone = name == "experts"
        made.append(Sublayer(name, program(parts[0].text) if alone else _feed_forward(config, parts), parts[0].count))
    return made


def _ends(config: Config) -> list[Sublayer]:
    inside = [block for block in blocks(config) if block.part == "unembedding"]
    wiring = _Wiring()
    stream = wiring.add(_norm_block(config), _tokens, {})[0] if config.final_norm else None
    for block in inside:
        leaf = "e" if block.name == "logits" and len(inside) > 1 else "x"
        stream = wiring.add(block, _tokens, {} if stream is None else {_input(block, leaf): stream})[0]
    # a tied table is the unembedding's: no stage holds it twice
    tables = [
        each for each in blocks(config) if each.part == "embedding" and not (config.tied and each.name == "tokens")
    ]
    first = [Sublayer("embedding, norm", _plain(_norm_block(config)), sp.S.One)] if config.embedding_norm else []
    return [
        *first,
        *(Sublayer(f"embedding, {block.name}", _plain(block), sp.S.One) for block in tables),
        Sublayer("unembedding", wiring.program(), sp.S.One),
    ]


def _attention(config: Config, kind: str) -> Program:
    wiring = _Wiring()
    parts = {block.name: block for block in blocks(config) if block.part == "attention"}
    scores = next(block for block in blocks(config) if block.part == "scores" and block.kind == kind)
    stream = _norm(wiring, config)
    queries = wiring.add(parts["queries"], _tokens, {} if stream is None else {"x": stream})
    stream = stream or "x"
    roles = {"q": queries[0], "r": queries[-1]}
    source = {"x": stream}  # without a norm the first block brings the input itself
    if "latent" in parts:
        rotary, latent = wiring.add(parts["latent"], _tokens, {"x": stream})
        roles["s"] = wiring.rename(rotary, "T", "S")
        source = {"d": latent}
    for name in wiring.add(parts["keys and values"], _tokens, source):
        roles["v" if name.startswith("v") else "k"] = wiring.rename(name, "T", "S")
    wanted = {name: roles[name] for name in program(scores.text).leaves if name in roles}
    (result,) = wiring.add(scores, _sequences, wanted)
    (out,) = wiring.add(parts["output"], _tokens, {"o": result})
    _norm_after(wiring, config, out)
    return wiring.program()


def _feed_forward(config: Config, parts: Sequence[Block]) -> Program:
    """A layer with one norm feeds attention and MLP from it, and the norm is attention's."""
    wiring = _Wiring()
    stream = _norm(wiring, config) if config.norms_per_layer > 1 else None
    for block in parts:
        out = wiring.add(block, _tokens, {} if stream is None else {"x": stream})
        stream = stream or "x"
        if block.part == "MLP":
            _norm_after(wiring, config, out[-1])
    return wiring.program()


def _norm(wiring: _Wiring, config: Config) -> str | None:
    """Append the norm of a sublayer's input; None for a model that has none."""
    return wiring.add(_norm_block(config), _tokens, {})[0] if config.norms_per_layer else None


def _norm_after(wiring: _Wiring, config: Config, name: str) -> None:
    """Append the norm of a sublayer's result, where a layer has four."""
    if config.norms_per_layer > 2:
        wiring.add(_norm_block(config), _tokens, {"x": name})


def _norm_block(config: Config) -> Block:
    return next(block for block in blocks(config) if block.part == "norms")


def _plain(block: Block) -> Program:
    wiring = _Wiring()
    wiring.add(block, _tokens, {})
    return wiring.program()


def _input(block: Block, name: str) -> str:
    leaves = program(block.text).leaves
    return name if name in leaves else leaves[0]


def _tokens(dims: Dims) -> Dims:
    return tuple(new for dim in dims for new in (("R", "T") if dim == "B" else (dim,)))


def _sequences(dims: Dims) -> Dims:
    return ("R", *dims) if {"T", "S"} & set(dims) else dims
