"""What a program leaves implicit: names of intermediates, roles of leaves, symbols of sizes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.array import Add, Einsum, Layout, Map, Move, Operation, Reduce, Value
from symscale.errors import LayoutError
from symscale.vocabulary import symbol

HIDDEN = "·"
# Names of the machine's and the result's symbols: a dimension or axis of that name gets a symbol of its own.
RESERVED = frozenset(("C", "W", "b", "alpha"))
RESERVED_STEMS = ("b_", "W_", "T_", "M_")

Names = Mapping[str, str]


def visible(values: Mapping[str, Value], taken: Collection[str]) -> Names:
    """Return names for the intermediates: Tmp if there is one, else Tmp_1, Tmp_2, …, and none in `taken`."""
    hidden = [name for name in values if name.startswith(HIDDEN)]
    if len(hidden) == 1 and "Tmp" not in taken:
        return {hidden[0]: "Tmp"}
    found: dict[str, str] = {}
    number = 0
    for name in hidden:
        number += 1
        while f"Tmp_{number}" in taken:
            number += 1
        found[name] = f"Tmp_{number}"
    return found


def renamed(operation: Operation, new: Names) -> Operation:
    """Return the operation with its values called by their new names."""
    out = new.get(operation.out, operation.out)
    if isinstance(operation, Einsum | Add):
        lhs, rhs = operation.inputs
        return replace(operation, out=out, lhs=new.get(lhs, lhs), rhs=new.get(rhs, rhs))
    return replace(operation, out=out, source=new.get(operation.source, operation.source))


def summed(operation: Operation) -> frozenset[str]:
    """Return the dimensions that end in an operation."""
    if isinstance(operation, Einsum):
        return operation.contracted
    return frozenset(operation.dims) if isinstance(operation, Reduce) else frozenset()


def data_dims(first: Value, operations: Sequence[Operation]) -> frozenset[str]:
    """Return the dimensions of the first leaf that no product with it contracts: its batch-like dimensions.

    Moved, mapped (`norm(x)`), scaled or added to, the leaf is still the same data.
    """
    same = {first.name}
    gone: set[str] = set()
    for operation in operations:
        if same.isdisjoint(operation.inputs):
            continue
        if isinstance(operation, Move | Map | Add) or (isinstance(operation, Einsum) and operation.elementwise):
            same.add(operation.out)
        elif isinstance(operation, Einsum):
            gone |= operation.contracted
    return frozenset(first.dims) - gone


def role(name: str, value: Value, first: str, data: frozenset[str]) -> str:
    """Return the role of a leaf: the first one is data, and so is every other one that has a data dimension."""
    return "activation" if name == first or data.intersection(value.dims) else "weight"


def axes_of(layouts: Sequence[Layout]) -> tuple[str, ...]:
    """Return the mesh axes of the layouts, in the order in which they appear."""
    return tuple(
        dict.fromkeys(axis for layout in layouts for axis in (*(a for each in layout.axes for a in each), *layout.owes))
    )


def mesh_sizes(axes: Sequence[str], given: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    """Return the size of every mesh axis: the given one, or its symbol. Raises LayoutError for an unused axis."""
    unused = [axis for axis in given if axis not in set(axes)]
    if unused:
        raise LayoutError(
            f"The mesh has an axis {unused[0]}, but the program does not use it.",
            hint=f"The program uses {', '.join(axes) or 'no axis'}. Shard over {unused[0]}, or drop it from the mesh.",
        )
    return {axis: _size(axis, given, "mesh axis", "axis") for axis in axes}


def dim_sizes(dims: Sequence[str], given: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    """Return the size of every dimension: the given one, or its symbol."""
    return {dim: _size(dim, given, "dimension", "dim") for dim in dims}


def _size(name: str, given: Mapping[str, sp.Expr], kind: str, suffix: str) -> sp.Expr:
    if name not in given:
        taken = name in RESERVED or name.startswith(RESERVED_STEMS)
        return symbol(f"{name}_{suffix}" if taken else name)
    size = sp.Integer(given[name]) if isinstance(given[name], int) else given[name]
    fits = (size.is_Integer and size.is_positive) if size.is_number else size.is_positive is not False
    if not fits:
        raise LayoutError(
            f"The {kind} {name} has the size {size}.",
            hint="Sizes are positive whole numbers, or formulas of other sizes.",
        )
    return size
