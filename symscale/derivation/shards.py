"""What one chip has of an array: the length of every dimension there, and the number of elements."""

from __future__ import annotations

import random
from collections.abc import Sequence

import sympy as sp

from symscale.array.element import local_elements, local_size
from symscale.derivation.layer import Layer
from symscale.derivation.proof import fail
from symscale.derivation.recount import integer_point
from symscale.derivation.step import Step
from symscale.errors import LayoutError
from symscale.frozen import dataclass
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol


@dataclass(frozen=True)
class Dealt:
    """Shards: at random whole sizes, indices of an array dealt out to the chips, in blocks, are as many per chip.

    `what` has the array and the dimension of each equation, or no dimension for the number of elements.
    """

    layer: Layer
    what: tuple[tuple[str, str], ...]
    name: str = "indices dealt out to the chips at random sizes"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a chip has another number."""
        point = integer_point(self.layer, random.Random(seed))
        for equation, (array, dim) in zip(equations, self.what, strict=True):
            lengths = {each: self._dealt(array, each, point) for each in self.layer.plan.results[array].layout.dims}
            wanted = lengths[dim] if dim else int(sp.prod(lengths.values()))
            if value_at(equation.rhs, point) != wanted:
                fail("The first chip has another number", equation)

    def _dealt(self, array: str, dim: str, point: dict[sp.Symbol, sp.Expr]) -> int:
        """Count the indices of a dimension that the chip at the origin of the mesh gets."""
        program, layout = self.layer.program, self.layer.plan.results[array].layout
        indices = range(int(value_at(program.sizes[dim], point)))
        for axis in layout.of(dim):
            chips = int(value_at(program.mesh[axis], point))
            indices = indices[: -(-len(indices) // chips)]
        return len(indices)


def shards(layer: Layer, names: Sequence[str]) -> tuple[dict[str, sp.Expr], Step]:
    """Return the elements of arrays on one chip by name, and the step that says so. Raises LayoutError."""
    equations, what, elements = [], [], {}
    for name in names:
        if name not in layer.plan.results:
            raise LayoutError(
                f"The program has no array {name}.", hint=f"It has: {', '.join(map(str, layer.plan.results))}."
            )
        layout = layer.plan.results[name].layout
        for dim in layout.dims:
            equations.append(Relation(symbol(f"{dim}_{name}"), "==", local_size(dim, layout, layer.program)))
            what.append((name, dim))
        elements[name] = local_elements(layout, layer.program)
        equations.append(Relation(symbol(f"elements_{name}"), "==", elements[name]))
        what.append((name, ""))
    said = "A dimension is dealt out in blocks to the chips of its mesh axes."
    return elements, Step("count", "What one chip has", said, tuple(equations), (Dealt(layer, tuple(what)),))
