"""Bytes per element: a symbol for every dtype in play, and its number.

One dtype for all arrays is `b`; several are `b_In`, `b_W`, …, one for each leaf or declared result. A result
without a dtype takes the wider operand's, and a gradient takes its primal's.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.array.dtypes import ELEMENT_BYTES, dtype, wider
from symscale.array.layout import Layout
from symscale.array.program import Program
from symscale.frozen import dataclass
from symscale.vocabulary import symbol


@dataclass(frozen=True)
class Elements:
    """`size` [B] and `dtype` of the elements of each value; `numbers` evaluates the symbols in `size`."""

    size: Mapping[str, sp.Expr]
    dtype: Mapping[str, str]
    numbers: Mapping[sp.Symbol, sp.Expr]

    @property
    def mixed(self) -> bool:
        """True if more than one dtype is in play."""
        return len(self.numbers) > 1


def elements(program: Program, default: str = "bf16") -> Elements:
    """Return the element sizes of a program; `default` is the dtype of every leaf that declares none."""
    default = dtype(default)
    kinds = {name: program.values[name].dtype or default for name in program.leaves}
    declared = [value.dtype for value in program.values.values() if value.dtype]
    one = len({*kinds.values(), *declared}) == 1
    sizes: dict[str, sp.Expr] = {name: symbol("b" if one else f"b_{name}") for name in program.leaves}
    for operation in program.operations:
        out = operation.out
        own = program.values[out].dtype
        parent = _widest(kinds, operation.inputs)
        kinds[out] = own or kinds[parent]
        sizes[out] = symbol(f"b_{out}") if own and not one else sizes[parent]
    numbers = {sizes[name]: ELEMENT_BYTES[kinds[name]] for name in kinds}
    return Elements(sizes, kinds, numbers)


def _widest(kinds: Mapping[str, str], names: tuple[str, ...]) -> str:
    best = names[0]
    for name in names[1:]:
        if wider(kinds[best], kinds[name]) != kinds[best]:
            best = name
    return best


def local_size(dim: str, layout: Layout, program: Program) -> sp.Expr:
    """Return the length of `dim` on one chip: the dimension over the axes that split it, rounded up if uneven."""
    whole = program.sizes[dim]
    axes = layout.of(dim)
    if not axes:
        return whole
    parts = sp.Mul(*(program.mesh[axis] for axis in axes))
    return sp.ceiling(whole / parts) if whole.is_Integer and parts.is_Integer else whole / parts


def local_elements(layout: Layout, program: Program) -> sp.Expr:
    """Return the number of elements of an array that one chip holds: 1 for a scalar."""
    return sp.Mul(*(local_size(dim, layout, program) for dim in layout.dims))
