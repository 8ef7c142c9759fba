"""A program laid on a mesh and a network: its plan and its costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from symscale.array import Program
from symscale.array.element import Elements, elements
from symscale.collectives import AxisOn, axis_on
from symscale.cost import PassCost, tally
from symscale.errors import LayoutError
from symscale.machine import Machine, generic_network
from symscale.notation.order import Order
from symscale.partition import Plan, partition


@dataclass(frozen=True)
class Layer:
    """A planned and priced program.

    `axes` lays the mesh axes on networks, `costs` are per pass, `kinds` the dtypes that compute.
    """

    program: Program
    plan: Plan
    typed: Elements
    axes: Mapping[str, AxisOn]
    costs: Mapping[str, PassCost]
    kinds: tuple[str, ...]

    @property
    def mesh_symbols(self) -> tuple[sp.Symbol, ...]:
        """The mesh axes whose size is a symbol."""
        return tuple(size for size in self.program.mesh.values() if size.is_Symbol)

    @property
    def order(self) -> Order:
        """The order formulas are printed in: dimensions as they appear, terms as the arrays appear."""
        names = [str(self.program.sizes[dim]) for value in self.program.values.values() for dim in value.dims]
        terms = tuple(
            dict.fromkeys(
                frozenset(str(self.program.sizes[dim]) for dim in value.dims) for value in self.program.values.values()
            )
        )
        widths = [str(size) for size in self.typed.numbers]
        axes = [str(size) for size in self.mesh_symbols]
        return Order(symbols=tuple(dict.fromkeys([*widths, *names, *axes])), terms=(terms,))


def lay(
    program: Program,
    *,
    dtype: str = "bf16",
    machine: Machine | None = None,
    placement: Mapping[str, sp.Expr | str] | None = None,
    values: Mapping[sp.Symbol, sp.Expr] | None = None,
    passes: Sequence[str] = ("forward", "backward", "update"),
    latency: bool = False,
    regather: bool = False,
) -> Layer:
    """Plan a program and count its costs.

    `placement` gives for a mesh axis the number of physical axes it spans, or the name of its network;
    `values` are sizes already known, by which choice points are decided. Raises LayoutError, MachineError.
    """
    typed = elements(program, dtype)
    axes = _axes(program, machine, placement or {}, latency)
    backward = any(name != "forward" for name in passes)
    known = {**typed.numbers, **(values or {})}
    plan = partition(program, typed=typed, values=known, backward=backward, regather=regather)
    costs = {name: tally(plan, name, typed, axes) for name in passes}
    kinds = tuple(sorted({kind for each in costs.values() for kind in each.flops}))
    return Layer(program, plan, typed, axes, costs, kinds)


def _axes(
    program: Program, machine: Machine | None, placement: Mapping[str, sp.Expr | str], latency: bool
) -> dict[str, AxisOn]:
    unused = [axis for axis in placement if axis not in program.mesh]
    if unused:
        raise LayoutError(
            f"The axis {unused[0]} is placed on a network, but the program does not use it.",
            hint=f"The program's mesh axes are: {', '.join(program.mesh) or 'none'}.",
        )
    found = {}
    for axis, size in program.mesh.items():
        where = placement.get(axis, sp.S.One)
        name = where if isinstance(where, str) else None
        if machine is None:
            network = generic_network(name or "ici")
        else:
            main = machine.main_network
            network = main if name is None and main is not None else machine.network(name or "ici")
        links = sp.S.One if isinstance(where, str) else where
        found[axis] = axis_on(axis, size, network, links=links, latency=latency)
    return found
