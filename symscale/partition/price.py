"""Prices: what a list of collectives costs on a ring, and which of several lists is cheaper for all sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.array import Program
from symscale.array.element import Elements, local_elements
from symscale.frozen import dataclass
from symscale.partition.plan import Collective


@dataclass(frozen=True)
class Pricing:
    """What the prices of a program's collectives depend on; `values` are numbers already given."""

    program: Program
    elements: Elements
    values: Mapping[sp.Symbol, sp.Expr]

    def bytes(self, collectives: Sequence[Collective]) -> sp.Expr:
        """Return the ring time of the collectives in units of 1/W, for many chips [B]."""
        return sp.Add(*(self._one(each) for each in collectives))

    def _one(self, each: Collective) -> sp.Expr:
        if each.kind in ("Slice", "Mask"):
            return sp.S.Zero
        size = self.elements.size[primal(each.value, self.program)]
        held = size * local_elements(each.before, self.program)
        if each.kind == "AllGather":
            return size * local_elements(each.after, self.program)
        if each.kind == "AllToAll":
            return held * sp.Mul(*(self.program.mesh[axis] for axis in each.axes)) / 4
        return 2 * held if each.kind == "AllReduce" else held


def primal(value: str, program: Program) -> str:
    """Return the program's value that this one is of: `W` for `dW`, a part `dW.1`, `silu'(W)` and the updated `W+`."""
    if value in program.values:
        return value
    if value.endswith(")"):
        return value[value.index("(") + 1 : -1]
    if value.endswith("+"):
        return value[:-1]
    return value[1:].partition(".")[0]


def cheapest(prices: Sequence[sp.Expr], values: Mapping[sp.Symbol, sp.Expr]) -> tuple[int, str]:
    """Return the index of the cheapest price and the reason; the first where the sizes decide."""
    numbers = [price.xreplace(dict(values)) for price in prices]
    if all(number.is_number for number in numbers):
        return min(range(len(numbers)), key=numbers.__getitem__), "fewest bytes for the given sizes"
    for index, price in enumerate(prices):
        if all(_never_dearer(price, other) for other in prices):
            return index, "fewest bytes for all sizes"
    return 0, "the sizes decide; this one is taken"


def _never_dearer(price: sp.Expr, other: sp.Expr) -> bool:
    difference = sp.expand(other - price)
    return all(term.as_coeff_Mul()[0] >= 0 for term in sp.Add.make_args(difference))
