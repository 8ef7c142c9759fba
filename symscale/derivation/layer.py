"""A program laid on a mesh and a network: its plan and its costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

import sympy as sp
from sympy import factorint

from symscale.array import Program
from symscale.array.dtypes import ELEMENT_BYTES
from symscale.array.element import Elements, elements
from symscale.collectives import AxisOn, laid, reducing
from symscale.cost import PassCost, tally
from symscale.errors import LayoutError
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.machine.model import Network
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.partition import Plan, partition
from symscale.shown import Shown

# No torus that is built has more physical axes.
MOST_AXES = 3


@dataclass(frozen=True)
class Layer(Shown):
    """A planned and priced program.

    `axes` lays the mesh axes on networks, by their `placement` where one is given, `costs` are per pass, `kinds` the
    dtypes that compute.
    """

    program: Program
    plan: Plan
    typed: Elements
    axes: Mapping[str, AxisOn]
    costs: Mapping[str, PassCost]
    kinds: tuple[str, ...]
    placement: Mapping[str, sp.Expr | str] = field(default_factory=dict)

    @property
    def mesh_symbols(self) -> tuple[sp.Symbol, ...]:
        """The mesh axes whose size is a symbol."""
        return tuple(size for size in self.program.mesh.values() if size.is_Symbol)

    @property
    def follows(self) -> bool:
        """Whether some array declares no dtype, and so has that of the program."""
        return any(self.program.values[name].dtype is None for name in self.program.leaves)

    @property
    def counted(self) -> frozenset[sp.Symbol]:
        """The symbols in which sizes of dimensions and mesh axes are given: pure numbers."""
        sizes = (*self.program.sizes.values(), *self.program.mesh.values())
        return frozenset(each for size in sizes for each in size.free_symbols)

    @property
    def other_names(self) -> dict[str, sp.Symbol]:
        """The dimensions and mesh axes whose symbol has another name than they, such as `C_dim` for `C`."""
        sizes = [*self.program.sizes.items(), *self.program.mesh.items()]
        own = [(name, size, (f"{name}_dim", f"{name}_axis")) for name, size in sizes if size.is_Symbol]
        return {name: size for name, size, suffixed in own if size.name.startswith(suffixed)}

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


def widest(program: Program, dtype: str) -> str:
    """Return the widest dtype of a program's arrays, those that declare none in the dtype given: it sets the peak."""
    return max(elements(program, dtype).dtype.values(), key=lambda each: ELEMENT_BYTES[each])


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
    in_network: bool = False,
) -> Layer:
    """Plan a program and count its costs.

    `placement` gives for a mesh axis the number of physical axes it spans, or the name of its network or level;
    `values` are sizes already known, by which choice points are decided; with `in_network` switches add up the sums
    of AllReduces. Raises LayoutError, MachineError.
    """
    typed = elements(program, dtype)
    axes = _axes(program, machine, placement or {}, latency)
    _room(program, axes, placement or {}, machine, values or {})
    if in_network:
        reducing(axes, machine)
    backward = any(name != "forward" for name in passes)
    known = {**typed.numbers, **(values or {})}
    plan = partition(program, typed=typed, values=known, backward=backward, regather=regather)
    costs = {name: tally(plan, name, typed, axes, in_network=in_network) for name in passes}
    kinds = tuple(sorted({kind for each in costs.values() for kind in each.flops}))
    return Layer(program, plan, typed, axes, costs, kinds, placement or {})


def lies_alike(layer: Layer, machine: Machine) -> bool:
    """Say whether the mesh of a layer lies on another machine as on its own. Raises LayoutError, MachineError."""
    latency = any(each.hop is not None for each in layer.axes.values())
    axes = _axes(layer.program, machine, layer.placement, latency)
    _room(layer.program, axes, layer.placement, machine, {})
    return axes == dict(layer.axes)


def _axes(
    program: Program, machine: Machine | None, placement: Mapping[str, sp.Expr | str], latency: bool
) -> dict[str, AxisOn]:
    unused = [axis for axis in placement if axis not in program.mesh]
    if unused:
        raise LayoutError(
            f"The axis {unused[0]} is placed on a network, but the program does not use it.",
            hint=f"The program's mesh axes are: {', '.join(program.mesh) or 'none'}.",
        )
    return laid(program.mesh, machine, placement, latency=latency)


def _room(
    program: Program,
    axes: Mapping[str, AxisOn],
    placement: Mapping[str, sp.Expr | str],
    machine: Machine | None,
    values: Mapping[sp.Symbol, sp.Expr],
) -> None:
    """Refuse a placement that no network of the machine has room for. Raises LayoutError."""
    for axis, where in placement.items():
        if not isinstance(where, str):
            _spans(program, axis, where, axes[axis], values)
    for network in machine.networks if machine is not None else ():
        here = {name: on for name, on in axes.items() if on.network == network.name and program.mesh[name] != 1}
        spans = {name: spanned([on], values) for name, on in here.items()}
        if machine is not None:
            _enough(program, here, network, machine, values)
        if not network.pod or sum(spans.values()) <= len(network.pod) or machine is None:
            continue
        others = [each.name for each in machine.networks if each is not network]
        way = f", or lay one on another network: {next(iter(spans))}={others[0]}" if others else ""
        raise LayoutError(
            f"The mesh takes {sum(spans.values())} physical axes of {network.name} "
            f"({', '.join(f'{name} takes {count}' for name, count in spans.items())}), "
            f"and {machine.title} has {len(network.pod)}.",
            hint=f"Give the axes fewer with --axes{way}; two dimensions may be split over one axis.",
        )


def _enough(
    program: Program,
    here: Mapping[str, AxisOn],
    network: Network,
    machine: Machine,
    values: Mapping[sp.Symbol, sp.Expr],
) -> None:
    """Refuse a mesh of more chips than a pod or the domain of a switch has. Raises LayoutError."""
    most = math.prod(network.pod) if network.pod else network.domain if network.kind == "switch" else None
    sizes = {name: program.mesh[name].xreplace(dict(values)) for name in here}
    numbers = {name: int(size) for name, size in sizes.items() if size.is_Integer}
    if most is None or math.prod(numbers.values()) <= most:
        return
    axes = " and ".join(f"{name} = {size}" for name, size in numbers.items())
    what = "A slice" if network.rings else "A pod" if network.pod else f"A domain of {network.name}"
    others = [each.name for each in machine.networks if each is not network]
    ways = [f"a cluster (--on {machine.name}:{math.prod(numbers.values())})"] if network.kind == "switch" else []
    ways += [f"lay an axis on another network (--axes {next(reversed(numbers))}={others[0]})"] if others else []
    raise LayoutError(
        f"{what} of {machine.title} has {most} chips, and {axes} take {math.prod(numbers.values())}.",
        hint=f"Use fewer chips{''.join(f', or {way}' for way in ways)}.",
    )


def _spans(program: Program, axis: str, links: sp.Expr, on: AxisOn, values: Mapping[sp.Symbol, sp.Expr]) -> None:
    """Refuse physical axes on a switch, a number of them that is not whole, and one that is a size too."""
    if on.kind != "torus":
        raise LayoutError(
            f"The axis {axis} cannot span {to_text(links)} physical axes: {on.network} is a switch, which has none.",
            hint=f"Leave {axis} out of --axes, or name a network: {axis}={on.network}.",
        )
    number = links.xreplace(dict(values))
    size = program.mesh[axis].xreplace(dict(values))
    if number.is_Integer and size.is_Integer and size > 1 and sum(factorint(int(size)).values()) < number:
        raise LayoutError(
            f"The axis {axis} has {size} chips, too few for {to_text(number)} physical axes of two or more.",
            hint=f"Use a product of {to_text(number)} sizes such as {2 ** int(number)}, or fewer physical axes.",
        )
    if number.is_number and not (number.is_Integer and number.is_positive):
        raise LayoutError(
            f"The axis {axis} cannot span {to_text(number)} physical axes.", hint="Give a whole number from 1."
        )
    sizes = {each for size in (*program.sizes.values(), *program.mesh.values()) for each in size.free_symbols}
    both = sorted(map(str, links.free_symbols & sizes))
    if both:
        raise LayoutError(
            f"{both[0]} is a size of the program, so it cannot be a number of physical axes too.",
            hint="Rename one of them.",
        )


def spanned(axes: Sequence[AxisOn], values: Mapping[sp.Symbol, sp.Expr]) -> int:
    """Return how many physical axes of a torus mesh axes span, those given by a symbol one at least."""
    numbers = [each.links.xreplace(dict(values)) for each in axes if each.kind == "torus" and each.size != 1]
    return sum(int(number) if number.is_Integer else 1 for number in numbers)
