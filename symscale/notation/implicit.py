"""What a program leaves implicit: names of intermediates, roles of leaves, symbols of sizes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.array import Add, Einsum, Layout, Map, Move, Operation, Reduce, Rename, Value, canonical_dtype
from symscale.errors import LayoutError
from symscale.notation.text import to_text
from symscale.vocabulary import entry, symbol

HIDDEN = "·"
# What a derivation calls its results; the vocabulary has the others.
LABELS = {
    "FLOPs": "the work of a chip",
    "FLOPs_vector": "the elementwise work of a chip",
    "bytes_hbm": "the HBM traffic of a chip",
    "intensity": "the arithmetic intensity of a pass",
    "lhs": "the left side of a relation",
    "rhs": "the right side of a relation",
    "ratio": "the exact border over the approximate one",
}

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
        product = isinstance(operation, Einsum) and not operation.elementwise
        if isinstance(operation, Move | Rename | Map | Add | Einsum) and not product:
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


def meaning(name: str, arrays: Collection[str]) -> str:
    """Return what a name means already where formulas are written, in words; "" where it is free for a size."""
    row = entry(name)
    if row is not None and (row.unit or name == "N_chips"):
        return f"the {row.meaning}"
    stem, _, rest = name.partition("_")
    if stem == "b" and rest in arrays:
        return f"the bytes per element of {rest}"
    if stem == "C" and rest and canonical_dtype(rest) == rest:
        return f"the peak FLOPs per second in {rest}"
    return LABELS.get(name, "")


def mesh_sizes(axes: Sequence[str], given: Mapping[str, sp.Expr], arrays: Collection[str]) -> dict[str, sp.Expr]:
    """Return the size of every mesh axis: the given one, or its symbol; one that is linked in terms of the open ones.

    Raises LayoutError for an axis that is not used, or that is given in terms of itself.
    """
    unused = [axis for axis in given if axis not in set(axes)]
    if unused:
        raise LayoutError(
            f"The mesh has an axis {unused[0]}, but the program does not use it.",
            hint=f"The program uses {', '.join(axes) or 'no axis'}. Shard over {unused[0]}, or drop it from the mesh.",
        )
    sizes = {axis: _size(axis, given, "mesh axis", _own(axis, "axis", axes, arrays)) for axis in axes}
    linked = {symbol(axis): sizes[axis] for axis in axes if axis in given and sizes[axis] != symbol(axis)}
    return {axis: _followed(axis, size, linked, axes) if axis in given else size for axis, size in sizes.items()}


def _followed(axis: str, size: sp.Expr, linked: Mapping[sp.Symbol, sp.Expr], axes: Sequence[str]) -> sp.Expr:
    """Return a size with the axes inside it replaced by what they are given as."""
    for _ in linked:
        if not any(each in linked for each in size.free_symbols):
            break
        size = size.xreplace(dict(linked))
    misspelt = next((name for name in map(str, size.free_symbols) if _other_case(name, axes)), "")
    if misspelt:
        raise LayoutError(
            f"The mesh axis {axis} has the size {to_text(size)}, and {misspelt} is no axis.",
            hint=f"The program has {misspelt.swapcase()}.",
        )
    left = [str(each) for each in size.free_symbols if each in linked]
    if left:
        circle = ", ".join(f"{name} = {to_text(value)}" for name, value in linked.items())
        raise LayoutError(
            f"The mesh axis {axis} is given in terms of itself: {circle}.", hint="Leave one of these out."
        )
    _countable(axis, size)
    return size


def _other_case(name: str, axes: Sequence[str]) -> bool:
    return name not in axes and name.swapcase() in axes


def _countable(axis: str, size: sp.Expr) -> None:
    rate = next((each for each in sorted(map(str, size.free_symbols)) if (row := entry(each)) and row.unit), None)
    if rate is not None:
        raise LayoutError(
            f"The mesh axis {axis} has the size {to_text(size)}, and {rate} is {meaning(rate, ())}.",
            hint="Sizes are positive whole numbers, or formulas of other sizes.",
        )


def dim_sizes(
    dims: Sequence[str],
    given: Mapping[str, sp.Expr],
    axes: Collection[str],
    arrays: Collection[str],
    again: Mapping[str, str],
) -> dict[str, sp.Expr]:
    """Return the size of every dimension: the given one, its symbol, or that of the dimension it is `again`."""
    others = (*dims, *axes)
    found = {dim: _size(dim, given, "dimension", _own(dim, "dim", others, arrays)) for dim in dims}
    for new, old in again.items():
        if new in given and found[new] != found[old]:
            raise LayoutError(
                f"The dimension {new} is {old} under another name, but has the size {to_text(found[new])}.",
                hint=f"Leave {new} out: it has the size of {old}.",
            )
        found[new] = found[old]
    return found


def _own(name: str, suffix: str, names: Collection[str], arrays: Collection[str]) -> sp.Symbol:
    """Return the symbol of a size: its name, or C_dim where formulas mean something else by C."""
    if not meaning(name, arrays):
        return symbol(name)
    found = f"{name}_{suffix}"
    while found in names or meaning(found, arrays):
        found += f"_{suffix}"
    return symbol(found)


def _size(name: str, given: Mapping[str, sp.Expr], kind: str, own: sp.Symbol) -> sp.Expr:
    if name not in given:
        return own
    size = sp.Integer(given[name]) if isinstance(given[name], int) else given[name]
    fits = (size.is_Integer and size.is_positive) if size.is_number else size.is_positive is not False
    if not fits:
        raise LayoutError(
            f"The {kind} {name} has the size {size}.",
            hint="Sizes are positive whole numbers, or formulas of other sizes.",
        )
    return size
