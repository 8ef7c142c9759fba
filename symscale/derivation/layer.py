"""A program laid on a mesh and a network: its plan and its costs, and a second count of both by integers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from symscale.array import Einsum, Layout, Move, Program
from symscale.array.element import Elements, elements
from symscale.collectives import AxisOn, axis_on
from symscale.cost import PassCost, Transfer, tally
from symscale.derivation.proof import float_value
from symscale.derivation.step import Relation
from symscale.errors import LayoutError, StepError
from symscale.machine import Machine, generic_network
from symscale.notation.order import Order
from symscale.notation.text import relation_text
from symscale.partition import Collective, Plan, partition, primal


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
                frozenset(str(self.program.sizes[dim]) for dim in value.dims)
                for value in self.program.values.values()
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
            network = machine.network(name) if name or main is None else main
        links = sp.S.One if isinstance(where, str) else where
        found[axis] = axis_on(axis, size, network, links=links, latency=latency)
    return found


Quantity = Callable[["Layer", str, dict[sp.Symbol, sp.Expr]], Fraction]


@dataclass(frozen=True)
class Recount:
    """Counts: each right side agrees with a count over plain integers at random sizes that the mesh divides.

    `what` has one entry per equation: (pass, "flops" | "vector" | "hbm" | "intensity" | "axis:X" | "volume:3").
    """

    layer: Layer
    what: tuple[tuple[str, str], ...]
    name: str = "counted again over integers at random sizes"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the counts differ."""
        rng = random.Random(seed)
        if len(equations) != len(self.what):
            raise StepError("A step states more equations than it proves.")
        for _ in range(2):
            point = integer_point(self.layer, rng)
            for equation, (which, quantity) in zip(equations, self.what, strict=True):
                wanted = count(self.layer, which, quantity, point)
                found = equation.rhs.xreplace(point)
                if abs(float_value(found, point) - float(wanted)) > 1e-9 * abs(float(wanted)):
                    text = relation_text(equation.lhs, equation.op, equation.rhs)
                    raise StepError(f"A second count differs: {text}")


def integer_point(layer: Layer, rng: random.Random) -> dict[sp.Symbol, sp.Expr]:
    """Return random integer sizes for every symbol of a program; every dimension is divisible by the mesh."""
    point: dict[sp.Symbol, sp.Expr] = {size: sp.Integer(rng.randint(3, 6)) for size in layer.mesh_symbols}
    chips = math.prod(int(size.xreplace(point)) for size in layer.program.mesh.values())
    for size in layer.program.sizes.values():
        for symbol in size.free_symbols:
            point.setdefault(symbol, sp.Integer(chips * rng.randint(1, 5)))
    for size in layer.typed.size.values():
        point.setdefault(size, sp.Rational(rng.randint(1, 8), 2))
    for axis in layer.axes.values():
        for symbol in axis.links.free_symbols:
            point[symbol] = sp.Integer(rng.randint(1, 3))
    return point


def count(layer: Layer, which: str, quantity: str, point: Mapping[sp.Symbol, sp.Expr]) -> Fraction:
    """Count a quantity of a pass with integers only."""
    planned = layer.plan.passes[which]
    mesh = {name: int(size.xreplace(dict(point))) for name, size in layer.program.mesh.items()}
    sizes = {name: int(size.xreplace(dict(point))) for name, size in layer.program.sizes.items()}

    def held(layout: Layout) -> int:
        return math.prod(-(-sizes[d] // math.prod(mesh[a] for a in axes)) for d, axes in layout.items())

    def width(value: str) -> Fraction:
        size = layer.typed.size[primal(value, layer.program)].xreplace(dict(point))
        return Fraction(int(size.p), int(size.q))

    if quantity == "intensity":
        return count(layer, which, "flops", point) / count(layer, which, "hbm", point)
    if quantity in ("flops", "vector", "hbm"):
        total = Fraction(0)
        for each in planned:
            if isinstance(each, Collective) or isinstance(each.operation, Move):
                continue
            local = {}
            for buffer in (*each.operands, each.result):
                for dim, axes in buffer.layout.items():
                    local.setdefault(dim, -(-sizes[dim] // math.prod(mesh[a] for a in axes)))
            matrix = isinstance(each.operation, Einsum) and not each.operation.elementwise
            if quantity == "hbm":
                buffers = {(b.value, b.layout) for b in each.operands}
                total += sum(width(v) * held(at) for v, at in buffers)
                total += width(each.result.value) * held(each.result.layout)
            elif matrix == (quantity == "flops") and getattr(each.operation, "kind", "") != "spread":
                total += (2 if matrix else 1) * math.prod(local.values())
        return total
    transfers = layer.costs[which].transfers
    kind, _, key = quantity.partition(":")
    if kind == "volume":
        return _volume(transfers[int(key)].collective, held, width, mesh)
    total = Fraction(0)
    for each in transfers:
        axes = each.collective.axes
        if key in axes:
            volume = _volume(each.collective, held, width, mesh)
            total += _received(each, volume, math.prod(mesh[a] for a in axes)) / len(axes)
    return total


def _volume(
    each: Collective,
    held: Callable[[Layout], int],
    width: Callable[[str], Fraction],
    mesh: Mapping[str, int],
) -> Fraction:
    size = width(each.value)
    if each.kind == "AllGather":
        return size * held(each.after)
    whole = math.prod(mesh[a] for a in each.axes) if each.kind == "AllToAll" else 1
    return size * held(each.before) * whole


def _received(each: Transfer, volume: Fraction, n: int) -> Fraction:
    """Return what a chip receives: everything it does not have, once; twice for AllReduce."""
    shard = volume / n
    table = {
        "AllGather": shard * (n - 1),
        "ReduceScatter": shard * (n - 1),
        "AllReduce": 2 * shard * (n - 1),
        "AllToAll": shard / n * (n - 1),
        "Permute": volume,
    }
    return table[each.collective.kind]
