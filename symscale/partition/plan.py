"""Plans: a program with every operation made local and every change of layout made a collective."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.array import Axes, Layout, Operation, Program
from symscale.frozen import dataclass

PASSES = ("forward", "backward", "update")


@dataclass(frozen=True)
class Buffer:
    """A value of the program as it lies on the chips in one layout."""

    value: str
    layout: Layout

    def __str__(self) -> str:
        return f"{self.value}{self.layout}"


@dataclass(frozen=True)
class Collective:
    """One change of layout of one value.

    `kind` is AllGather, ReduceScatter, AllReduce, AllToAll, Permute, or one of the free ones: Slice (each chip
    keeps its part) and Mask (all but the first member of the axes set theirs to zero, and the value then owes a sum).
    """

    kind: str
    axes: Axes
    value: str
    before: Layout
    after: Layout
    reduction: str = "sum"

    def __str__(self) -> str:
        return f"{self.kind}_{''.join(self.axes)}({self.value}{self.before}) -> {self.value}{self.after}"


@dataclass(frozen=True)
class Local:
    """An operation every chip runs on its own shards: the operands' layouts agree, the result's layout follows."""

    operation: Operation
    operands: tuple[Buffer, ...]
    result: Buffer


Planned = Collective | Local


@dataclass(frozen=True)
class Alternative:
    """One way through a choice point: what it does, its collectives, and their ring time in bytes (times 1/W)."""

    collectives: tuple[Collective, ...]
    bytes: sp.Expr


@dataclass(frozen=True)
class Choice:
    """A choice point: the operation, the ways through it, which was taken, and why."""

    result: str
    alternatives: tuple[Alternative, ...]
    taken: int
    reason: str


@dataclass(frozen=True)
class Plan:
    """The planned operations of each pass, and the choices made on the way.

    `dims` gives the dimensions of every value, gradients (`dW`) included; `gradients` maps a value to its gradient.
    """

    program: Program
    passes: Mapping[str, tuple[Planned, ...]]
    choices: Mapping[str, tuple[Choice, ...]]
    gradients: Mapping[str, Buffer]
    results: Mapping[str, Buffer]
