"""Programs: arrays, the operations between them, and what is declared about them.

A program is a straight line of operations in single-assignment form. Layouts are declared for the leaves
and for named results; everything else is inferred by `symscale.partition`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import sympy as sp

from symscale.array.layout import Axes, Layout
from symscale.frozen import dataclass
from symscale.shown import Shown


@dataclass(frozen=True)
class Einsum:
    """`out = lhs * rhs`: a product that sums over `contracted`; elementwise where nothing is summed (`⊙`)."""

    out: str
    lhs: str
    rhs: str
    contracted: frozenset[str]
    elementwise: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """The operands, left first."""
        return (self.lhs, self.rhs)


@dataclass(frozen=True)
class Add:
    """`out = lhs + rhs`, broadcasting the operand that lacks a dimension."""

    out: str
    lhs: str
    rhs: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """The operands, left first."""
        return (self.lhs, self.rhs)


@dataclass(frozen=True)
class Map:
    """`out = f(x)` elementwise, or along the dimensions `along` (softmax), which must then be whole."""

    out: str
    function: str
    source: str
    along: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operand."""
        return (self.source,)


@dataclass(frozen=True)
class Reduce:
    """`out = sum_D(x)` or `max_D(x)`."""

    out: str
    kind: str
    source: str
    dims: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operand."""
        return (self.source,)


@dataclass(frozen=True)
class Move:
    """`out = x` in another layout."""

    out: str
    source: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operand."""
        return (self.source,)


@dataclass(frozen=True)
class Rename:
    """`out = x` with other names for some dimensions, `(old, new)` each: the keys' S is the queries' T again."""

    out: str
    source: str
    names: tuple[tuple[str, str], ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operand."""
        return (self.source,)

    @property
    def back(self) -> tuple[tuple[str, str], ...]:
        """The names that undo this."""
        return tuple((new, old) for old, new in self.names)


Operation = Einsum | Add | Map | Reduce | Move | Rename


@dataclass(frozen=True)
class Value:
    """An array of the program: its dimensions, its declared layout and dtype (None: inferred) and its role.

    `role` is "activation", "weight" or "result"; `keep` is True (`{saved}`), False (`{freed}`) or None.
    """

    name: str
    dims: tuple[str, ...]
    layout: Layout | None = None
    dtype: str | None = None
    role: str = "result"
    keep: bool | None = None
    const: bool = False
    hint: tuple[tuple[str, Axes], ...] = ()


@dataclass(frozen=True)
class Program(Shown):
    """A sharded computation.

    `values` in order of appearance; `leaves` are those no operation makes; `grads` and `states` are declared
    layouts of gradients and optimizer state; `sizes` and `mesh` give the size of each dimension and axis.
    """

    text: str
    values: Mapping[str, Value]
    operations: tuple[Operation, ...]
    leaves: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: Mapping[str, sp.Expr]
    mesh: Mapping[str, sp.Expr]
    grads: Mapping[str, Layout] = field(default_factory=dict)
    states: Mapping[str, Layout] = field(default_factory=dict)
