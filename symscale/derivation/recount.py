"""A second count of a layer: plain integers at random sizes, without the algebra of the first."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import sympy as sp

from symscale.array import Einsum, Layout, Move, Rename
from symscale.cost import Transfer
from symscale.derivation.layer import Layer
from symscale.derivation.proof import float_value
from symscale.errors import StepError
from symscale.frozen import dataclass
from symscale.notation.text import relation_text, to_text
from symscale.partition import Alternative, Collective, Local, primal
from symscale.solve.relation import Relation

# Random lengths of mesh axes: from and to, without links between them and with.
LENGTHS = ((3, 6), (1, 64))
ATTEMPTS = 2000


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


@dataclass(frozen=True)
class Repriced:
    """Prices of the ways through a choice point, added up again over integers at random sizes [B]."""

    layer: Layer
    ways: tuple[Alternative, ...]
    name: str = "priced again over integers at random sizes"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a price differs."""
        rng = random.Random(seed)
        if len(equations) != len(self.ways):
            raise StepError("A step states more prices than there are ways.")
        for _ in range(2):
            point = integer_point(self.layer, rng)
            sizes = _Sizes(self.layer, point)
            for equation, way in zip(equations, self.ways, strict=True):
                wanted = sum((_ring_bytes(each, sizes) for each in way.collectives), Fraction(0))
                if abs(float_value(equation.rhs.xreplace(point), point) - float(wanted)) > 1e-9 * float(wanted):
                    raise StepError(f"A price differs: {relation_text(equation.lhs, equation.op, equation.rhs)}")


def _ring_bytes(each: Collective, sizes: _Sizes) -> Fraction:
    """Return the time of a collective on a long ring in units of 1/W: V, 2V for AllReduce, V/4 for AllToAll."""
    if each.kind in ("Slice", "Mask"):
        return Fraction(0)
    share = {"AllReduce": Fraction(2), "AllToAll": Fraction(1, 4)}
    return share.get(each.kind, Fraction(1)) * _volume(each, sizes)


def integer_point(layer: Layer, rng: random.Random) -> dict[sp.Symbol, sp.Expr]:
    """Return random integer sizes for every symbol of a program; every dimension is divisible by the mesh."""
    lengths = sorted({s for size in layer.program.mesh.values() for s in size.free_symbols}, key=str)
    point = _lengths(layer, lengths, rng)
    chips = math.prod(int(size.xreplace(point)) for size in layer.program.mesh.values())
    # a size such as D/3 is whole where D is a multiple of 3
    shares = [sp.fraction(sp.together(size))[1] for size in layer.program.sizes.values() if not size.is_Symbol]
    scale = chips * math.lcm(*(int(each) for each in shares if each.is_Integer))
    for size in layer.program.sizes.values():
        for symbol in size.free_symbols:
            point.setdefault(symbol, sp.Integer(scale * rng.randint(1, 5)))
    for size in layer.typed.size.values():
        point.setdefault(size, sp.Rational(rng.randint(1, 8), 2))
    for axis in layer.axes.values():
        for symbol in axis.links.free_symbols:
            point[symbol] = sp.Integer(rng.randint(1, 3))
    return point


def _lengths(layer: Layer, lengths: Sequence[sp.Symbol], rng: random.Random) -> dict[sp.Symbol, sp.Expr]:
    """Return random whole lengths of mesh axes at which linked axes, such as Y = 64/X, are whole too."""
    sizes = layer.program.mesh.values()
    linked = [size for size in sizes if size.free_symbols and not size.is_Symbol]
    for _ in range(ATTEMPTS):
        point: dict[sp.Symbol, sp.Expr] = {size: sp.Integer(rng.randint(*LENGTHS[bool(linked)])) for size in lengths}
        values = [size.xreplace(point) for size in linked]
        if all(value.is_Integer and value.is_positive for value in values):
            return point
    raise StepError(f"No random mesh has whole axes {', '.join(map(to_text, linked))}, so nothing is counted again.")


@dataclass(frozen=True)
class _Sizes:
    """A layer at one point: plain integers for dimensions and mesh axes, fractions for bytes per element."""

    layer: Layer
    point: Mapping[sp.Symbol, sp.Expr]

    def axis(self, name: str) -> int:
        return int(self.layer.program.mesh[name].xreplace(dict(self.point)))

    def axes(self, names: Iterable[str]) -> int:
        return math.prod(self.axis(name) for name in names)

    def local(self, dim: str, axes: Iterable[str]) -> int:
        whole = int(self.layer.program.sizes[dim].xreplace(dict(self.point)))
        return -(-whole // self.axes(axes))

    def held(self, layout: Layout) -> int:
        return math.prod(self.local(dim, axes) for dim, axes in layout.items())

    def width(self, value: str) -> Fraction:
        size = self.layer.typed.size[primal(value, self.layer.program)].xreplace(dict(self.point))
        return Fraction(int(size.p), int(size.q))


def count(layer: Layer, which: str, quantity: str, point: Mapping[sp.Symbol, sp.Expr]) -> Fraction:
    """Count a quantity of a pass with integers only."""
    sizes = _Sizes(layer, point)
    if quantity == "intensity":
        return count(layer, which, "flops", point) / count(layer, which, "hbm", point)
    if quantity in ("flops", "vector", "hbm"):
        local = [each for each in layer.plan.passes[which] if isinstance(each, Local)]
        return sum((_work(each, quantity, sizes) for each in local), Fraction(0))
    transfers = layer.costs[which].transfers
    kind, _, key = quantity.partition(":")
    if kind == "volume":
        return _volume(transfers[int(key)].collective, sizes)
    found = Fraction(0)
    for each in transfers:
        axes = each.collective.axes
        if key in axes:
            found += _received(each, _volume(each.collective, sizes), sizes.axes(axes)) / len(axes)
    return found


def _work(each: Local, quantity: str, sizes: _Sizes) -> Fraction:
    if isinstance(each.operation, Move | Rename):
        return Fraction(0)
    if quantity == "hbm":
        buffers = [
            *{(buffer.value, buffer.layout) for buffer in each.operands},
            (each.result.value, each.result.layout),
        ]
        return sum((sizes.width(value) * sizes.held(layout) for value, layout in buffers), Fraction(0))
    matrix = isinstance(each.operation, Einsum) and not each.operation.elementwise
    if matrix != (quantity == "flops") or getattr(each.operation, "kind", "") == "spread":
        return Fraction(0)
    local: dict[str, int] = {}
    for buffer in (*each.operands, each.result):
        for dim, axes in buffer.layout.items():
            local.setdefault(dim, sizes.local(dim, axes))
    return Fraction((2 if matrix else 1) * math.prod(local.values()))


def _volume(each: Collective, sizes: _Sizes) -> Fraction:
    size = sizes.width(each.value)
    if each.kind == "AllGather":
        return size * sizes.held(each.after)
    whole = sizes.axes(each.axes) if each.kind == "AllToAll" else 1
    return size * sizes.held(each.before) * whole


def _received(each: Transfer, volume: Fraction, n: int) -> Fraction:
    """Return what a chip receives: everything it does not have, once; twice for AllReduce, or the sum."""
    if each.cost.reduced:
        return volume
    shard = volume / n
    table = {
        "AllGather": shard * (n - 1),
        "ReduceScatter": shard * (n - 1),
        "AllReduce": 2 * shard * (n - 1),
        "AllToAll": shard / n * (n - 1),
        "Permute": volume,
    }
    return table[each.collective.kind]
