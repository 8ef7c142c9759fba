"""Strategies: which mesh axis splits which dimension of a model, for every array of every sublayer at once.

Batch over `data`, `fsdp` and `expert`; positions over `context` and, between the sublayers, over `tensor` as well;
heads, F and V over `tensor`; the D of weights over `fsdp`; E over `expert`. What is gathered, reduced and exchanged
follows from these layouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from symscale.array import Axes, Layout, Map, Move, Program, Value
from symscale.frozen import dataclass
from symscale.vocabulary import symbol

AXES = ("data", "fsdp", "expert", "context", "tensor")
WIDE = ("F", "F_moe", "F_shared", "N_heads", "V")
ROWS = ("D", "D_embed", "R_q", "R_kv")
BATCH: Axes = ("data", "fsdp", "expert")
BETWEEN: Mapping[str, Axes] = {"R": BATCH, "T": ("context", "tensor")}
ROUTED: Axes = ("data", "fsdp", "context")


@dataclass(frozen=True)
class Strategy:
    """The mesh axes in use, and which of K (key/value heads) and G (queries per head) `tensor` splits.

    With `sequence` the positions between the sublayers lie over `tensor` as well (Korthikanti et al. 2022, sequence
    parallelism); without it every chip of `tensor` holds all of them (Shoeybi et al. 2019, Megatron-LM).
    """

    axes: tuple[str, ...] = AXES
    heads: str = "K"
    sequence: bool = True

    @property
    def between(self) -> Mapping[str, Axes]:
        """Which axes split the residual stream."""
        return BETWEEN if self.sequence else {**BETWEEN, "T": BETWEEN["T"][:1]}

    def layout(self, dims: tuple[str, ...], split: Mapping[str, Axes]) -> Layout:
        """Return the layout of an array whose dimensions are split over those of `split` that are in use."""
        return Layout(dims, tuple(tuple(axis for axis in split.get(dim, ()) if axis in self.axes) for dim in dims))


def size(axis: str) -> sp.Symbol:
    """Return the symbol of the size of an axis."""
    return symbol(f"N_{axis}")


def sharded(made: Program, strategy: Strategy) -> Program:
    """Return the program of a sublayer with layouts for its leaves, its wide arrays and its results.

    Tokens come to their experts, and go back, by an exchange over `expert`.
    """
    values = {name: replace(value, layout=_layout(made, value, strategy)) for name, value in made.values.items()}
    found = replace(made, values=values, mesh={axis: size(axis) for axis in strategy.axes})
    return _exchanged(found, strategy) if "M" in made.sizes and "expert" in strategy.axes else found


def _layout(made: Program, value: Value, strategy: Strategy) -> Layout | None:
    """Return where a value lies; None where that follows from its operands, as for scores."""
    dims = frozenset(value.dims)
    wide = dict.fromkeys(dims & {*WIDE, strategy.heads}, ("tensor",))
    if value.role == "weight":
        return strategy.layout(value.dims, {**wide, **_rows(value)})
    if "M" in dims:
        return strategy.layout(value.dims, {"E": ("expert",), "M": ROUTED if wide else (*ROUTED, "tensor"), **wide})
    if {"T", "S"} <= dims or "R" not in dims:
        return None
    if "S" in dims:
        return strategy.layout(value.dims, {"R": BATCH, **wide})
    if wide:
        return strategy.layout(value.dims, {"R": BATCH, "T": ("context",), **wide})
    ends = value.name in made.leaves or value.name in made.outputs or _read_alone(made, value)
    return strategy.layout(value.dims, strategy.between) if ends else None


def _read_alone(made: Program, value: Value) -> bool:
    """Say whether dropout or a norm reads this value of the stream, whose owed sums it needs paid."""
    whole = set(value.dims) == {"R", "T", "D"}
    return whole and any(
        isinstance(each, Map) and each.function in ("dropout", "norm") and each.source == value.name
        for each in made.operations
    )


def _rows(value: Value) -> Mapping[str, Axes]:
    """A matrix is split over fsdp by its D, or else by its rank; one of an expert belongs to its expert's chips."""
    rows = next((dim for dim in ROWS if dim in value.dims), None)
    if len(value.dims) < 2 or rows is None:
        return {}
    return {"E": ("expert",), rows: ("fsdp",)} if "F_moe" in value.dims else {rows: ("fsdp",)}


def _exchanged(made: Program, strategy: Strategy) -> Program:
    """Return the program with its tokens spread over all chips at both ends, every chip with tokens of all experts."""
    spread = {"M": (*ROUTED, "tensor", "expert")}
    values, operations, leaves = dict(made.values), list(made.operations), list(made.leaves)
    outputs = []
    for name in made.leaves:
        value = made.values[name]
        if value.role == "activation":
            sent = f"{name}_sent"
            values[sent] = replace(value, name=sent, layout=strategy.layout(value.dims, spread))
            values[name] = replace(value, role="result")
            operations.insert(0, Move(name, sent))
            leaves[leaves.index(name)] = sent
    for name in made.outputs:
        value, back = made.values[name], f"{name}_back"
        values[back] = replace(value, name=back, layout=strategy.layout(value.dims, spread))
        operations.append(Move(back, name))
        outputs.append(back)
    return replace(made, values=values, operations=tuple(operations), leaves=tuple(leaves), outputs=tuple(outputs))
