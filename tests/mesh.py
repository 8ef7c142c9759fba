"""A mesh of chips in numpy: the judge of symscale.partition and symscale.cost.

Every chip holds its own arrays and knows nothing but what a collective hands it. A plan is run chip by chip;
after each planned operation the whole array, put together from the chips, must equal what one chip computes
alone. FLOPs are counted where an einsum runs, bytes where an array changes chips. The collectives are written
here from what they mean, and the gradients by reverse mode on the unsharded program: no formula and no rule of
the package is used, only its frozen values (Layout, Plan, Program).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from symscale.array import Add, Einsum, Layout, Map, Move, Operation, Program, Reduce, Rename
from symscale.partition import Buffer, Collective, Local, Plan

Array = NDArray[np.float64]
Chip = tuple[int, ...]
Shards = dict[Chip, Array]


class MeshError(AssertionError):
    """The plan does something that the chips cannot do, or that gives another value."""


@dataclass
class Count:
    """What one planned operation cost: bytes received per chip (mean and most), FLOPs and HBM bytes per chip."""

    planned: Collective | Local
    received: float = 0.0
    most: float = 0.0
    flops: int = 0
    hbm: int = 0


@dataclass
class Run:
    """The counts of each pass, the gradient of each leaf put together from the chips, collectives nobody reads."""

    counts: dict[str, list[Count]] = field(default_factory=dict)
    gradients: dict[str, Array] = field(default_factory=dict)
    expected: dict[str, Array] = field(default_factory=dict)
    unread: list[Collective] = field(default_factory=list)


# elementwise functions: any name stands for one nonlinear function that is exact on integers


def apply(x: Array) -> Array:
    return np.where(x > 0, 3 * x, -x)


def slope(x: Array) -> Array:
    return np.where(x > 0, 3.0, -1.0)


def softmax(x: Array, axes: tuple[int, ...]) -> Array:
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return np.asarray(e / e.sum(axis=axes, keepdims=True))


def softmax_transpose(g: Array, y: Array, axes: tuple[int, ...]) -> Array:
    return np.asarray(y * (g - (g * y).sum(axis=axes, keepdims=True)))


# one chip alone


def positions(dims: tuple[str, ...], chosen: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(dims.index(dim) for dim in chosen)


def aligned(x: Array, dims: tuple[str, ...], out: tuple[str, ...]) -> Array:
    """Bring an array to the order of `out`, with length 1 where it has no such dimension."""
    order = [dim for dim in out if dim in dims]
    x = np.transpose(x, positions(dims, tuple(order)))
    return x[tuple(slice(None) if dim in dims else np.newaxis for dim in out)]


def einsum(x: Array, xd: tuple[str, ...], y: Array, yd: tuple[str, ...], out: tuple[str, ...]) -> Array:
    letter = {dim: chr(ord("a") + i) for i, dim in enumerate(dict.fromkeys((*xd, *yd)))}
    one, two, three = ("".join(letter[dim] for dim in dims) for dims in (xd, yd, out))
    return np.asarray(np.einsum(f"{one},{two}->{three}", x, y))


def evaluate(operation: Operation, args: list[Array], dims: list[tuple[str, ...]], out: tuple[str, ...]) -> Array:
    """Run a forward operation on whole arrays or on one chip's shards."""
    if isinstance(operation, Einsum):
        return einsum(args[0], dims[0], args[1], dims[1], out)
    if isinstance(operation, Add):
        return aligned(args[0], dims[0], out) + aligned(args[1], dims[1], out)
    if isinstance(operation, Move):
        return aligned(args[0], dims[0], out)
    if isinstance(operation, Rename):
        names = dict(operation.names)
        return aligned(args[0], tuple(names.get(dim, dim) for dim in dims[0]), out)
    if isinstance(operation, Map):
        along = positions(dims[0], operation.along)
        return aligned(softmax(args[0], along) if along else apply(args[0]), dims[0], out)
    reducer = np.sum if operation.kind == "sum" else np.max
    left = tuple(dim for dim in dims[0] if dim not in operation.dims)
    return aligned(np.asarray(reducer(args[0], axis=positions(dims[0], operation.dims))), left, out)


def run_alone(program: Program, leaves: Mapping[str, Array]) -> dict[str, Array]:
    """Return every value of the unsharded program."""
    values = dict(leaves)
    for each in program.operations:
        dims = [program.values[name].dims for name in each.inputs]
        args = [values[name] for name in each.inputs]
        values[each.out] = evaluate(each, args, dims, program.values[each.out].dims)
    return values


def reverse_alone(program: Program, values: Mapping[str, Array], cotangents: Mapping[str, Array]) -> dict[str, Array]:
    """Return the gradients of the unsharded program by reverse mode."""
    grads: dict[str, Array] = dict(cotangents)
    for each in reversed(program.operations):
        if each.out not in grads:
            continue
        dims = program.values[each.out].dims
        for place, name in enumerate(each.inputs):
            part = vector_jacobian(program, each, place, grads[each.out], values, dims)
            grads[name] = grads[name] + part if name in grads else part
    return grads


def vector_jacobian(
    program: Program, each: Operation, place: int, g: Array, values: Mapping[str, Array], dims: tuple[str, ...]
) -> Array:
    name = each.inputs[place]
    own, x = program.values[name].dims, values[name]
    if isinstance(each, Einsum):
        other = each.inputs[1 - place]
        return einsum(g, dims, values[other], program.values[other].dims, own)
    if isinstance(each, Map):
        g = aligned(g, dims, own)
        if each.along:
            return softmax_transpose(g, aligned(values[each.out], dims, own), positions(own, each.along))
        return g * slope(x)
    if isinstance(each, Reduce):
        spread = np.broadcast_to(aligned(g, dims, own), x.shape)
        return spread * (x == aligned(values[each.out], dims, own)) if each.kind == "max" else spread.copy()
    if isinstance(each, Rename):
        names = dict(each.back)
        return aligned(g, tuple(names.get(dim, dim) for dim in dims), own)
    extra = tuple(dim for dim in dims if dim not in own)
    kept = tuple(dim for dim in dims if dim in own)
    return aligned(np.asarray(g.sum(axis=positions(dims, extra))), kept, own)


# many chips


class Mesh:
    """The chips of a program, what each holds, and what the whole arrays have to be."""

    def __init__(self, program: Program, plan: Plan, seed: int = 0, scale: int = 3) -> None:
        self.program, self.plan = program, plan
        self.axes = tuple(program.mesh)
        self.length = {axis: int(size) for axis, size in program.mesh.items()}
        self.sizes = {dim: int(size) for dim, size in program.sizes.items()}
        self.chips: list[Chip] = list(product(*(range(self.length[axis]) for axis in self.axes)))
        self.random, self.scale = np.random.default_rng(seed), scale
        self.exact = not any(isinstance(each, Map) and each.along for each in program.operations)
        self.held: dict[Buffer, Shards] = {}
        self.read: set[Buffer] = set()
        self.whole: dict[str, tuple[tuple[str, ...], Array]] = {}

    # where an array lies

    def at(self, chip: Chip, axis: str) -> int:
        return chip[self.axes.index(axis)]

    def block(self, chip: Chip, axes: tuple[str, ...]) -> tuple[int, int]:
        """Return which of how many blocks the chip has of a dimension split over `axes`, major first."""
        index, count = 0, 1
        for axis in axes:
            index, count = index * self.length[axis] + self.at(chip, axis), count * self.length[axis]
        return index, count

    def part(self, x: Array, chip: Chip, layout: Layout) -> Array:
        for place, (_, axes) in enumerate(layout.items()):
            index, count = self.block(chip, axes)
            x = split(x, count, place)[index]
        return x

    def team(self, chip: Chip, axes: tuple[str, ...]) -> list[Chip]:
        """Return the chips that differ from this one in `axes` only, in the order of the blocks."""
        found = []
        for where in product(*(range(self.length[axis]) for axis in axes)):
            other = list(chip)
            for axis, index in zip(axes, where, strict=True):
                other[self.axes.index(axis)] = index
            found.append(tuple(other))
        return found

    def numbers(self, dims: tuple[str, ...]) -> Array:
        shape = tuple(self.sizes[dim] for dim in dims)
        return self.random.integers(-self.scale, self.scale + 1, shape).astype(np.float64)

    def place(self, name: str, layout: Layout, x: Array) -> None:
        """Shard a whole array; an owed sum is split into random addends."""
        self.whole[name] = (layout.dims, x)
        shards = {chip: self.part(x, chip, layout).copy() for chip in self.chips}
        for chip in self.chips:
            team = self.team(chip, layout.owes)
            if len(team) > 1 and chip == team[0]:
                for other in team[1:]:
                    shards[other] = self.random.integers(-5, 6, shards[other].shape).astype(np.float64)
                    shards[chip] = shards[chip] - shards[other]
        # Chips that differ in axes that neither split nor owe hold the same addend.
        idle = [axis for axis in self.axes if axis not in layout.split and axis not in layout.owes]
        for chip in self.chips:
            first = tuple(0 if axis in idle else i for axis, i in zip(self.axes, chip, strict=True))
            shards[chip] = shards[first].copy()
        self.held[Buffer(name, layout)] = shards

    def gathered(self, buffer: Buffer, reduction: str = "sum") -> Array:
        """Put the whole array together; chips that must hold the same array have to."""
        layout, shards = buffer.layout, self.held[buffer]
        total: Array | None = None
        idle = tuple(axis for axis in self.axes if axis not in layout.split and axis not in layout.owes)
        for chip in self.chips:
            if not self.same(shards[chip], shards[self.team(chip, idle)[0]]):
                raise MeshError(f"{buffer}: chips that should agree hold different values.")
        home = (0,) * len(self.axes)
        for member in self.team(home, layout.owes):
            whole = np.full(tuple(self.sizes[dim] for dim in layout.dims), np.nan)
            for chip in self.team(member, tuple(layout.split)):
                spot = []
                for dim, axes in layout.items():
                    index, count = self.block(chip, axes)
                    size = self.sizes[dim] // count
                    spot.append(slice(index * size, (index + 1) * size))
                whole[tuple(spot)] = shards[chip]
            merge = np.add if reduction == "sum" else np.maximum
            total = whole if total is None else merge(total, whole)
        assert total is not None
        return total

    def same(self, one: Array, two: Array) -> bool:
        if one.shape != two.shape:
            return False
        if self.exact:
            return bool(np.array_equal(one, two))
        return bool(np.allclose(one, two, rtol=1e-9, atol=1e-9 * (1 + np.abs(two).max(initial=0))))

    def check(self, buffer: Buffer, reduction: str = "sum") -> None:
        dims, expected = self.whole[buffer.value]
        found = self.gathered(buffer, reduction)
        if not self.same(found, aligned(expected, dims, buffer.layout.dims)):
            raise MeshError(f"{buffer} is not the value that one chip computes alone.")

    def find(self, buffer: Buffer) -> Shards:
        """Return what the chips hold; a slope f'(x) comes for free from x in the same layout."""
        self.read.add(buffer)
        if buffer in self.held:
            return self.held[buffer]
        if buffer.value.endswith(")") and "'(" in buffer.value:
            name = buffer.value.split("'(", 1)[1][:-1]
            source = Buffer(name, buffer.layout)
            if source in self.held and not buffer.layout.owes:
                self.held[buffer] = {chip: slope(x) for chip, x in self.held[source].items()}
                dims, x = self.whole[name]
                self.whole[buffer.value] = (dims, slope(x))
                return self.held[buffer]
        known = [str(each) for each in self.held if each.value == buffer.value]
        raise MeshError(f"No chip holds {buffer}; they hold {known}.")

    # collectives

    def collective(self, each: Collective) -> Count:
        shards = self.find(Buffer(each.value, each.before))
        run = getattr(self, f"_{each.kind.lower()}")
        result, received = run(each, shards)
        buffer = Buffer(each.value, each.after)
        self.held[buffer] = result
        self.check(buffer)
        return Count(each, float(np.mean(list(received.values()))), max(received.values()))

    def _every(
        self, shards: Shards, axes: tuple[str, ...], rule: Callable[[int, list[Array]], tuple[Array, float]]
    ) -> tuple[Shards, dict[Chip, float]]:
        """Apply a rule to each chip's rank in its team and the team's arrays."""
        result, received = {}, {}
        for chip in self.chips:
            team = self.team(chip, axes)
            result[chip], received[chip] = rule(team.index(chip), [shards[other] for other in team])
        return result, received

    def _allgather(self, each: Collective, shards: Shards) -> tuple[Shards, dict[Chip, float]]:
        places = self._changed(each)
        gone = [each.before.axes[place][len(each.after.axes[place]) :] for place in places]
        kept = all(each.before.axes[place][: len(each.after.axes[place])] == each.after.axes[place] for place in places)
        if not kept or tuple(axis for axes in gone for axis in axes) != each.axes:
            raise MeshError(f"{each}: only the minor axes of a dimension can be gathered.")

        def rule(rank: int, team: list[Array]) -> tuple[Array, float]:
            received = sum(x.nbytes for i, x in enumerate(team) if i != rank)
            # the last axes vary fastest over the team, so the last dimension is joined first
            for place, axes in zip(reversed(places), reversed(gone), strict=True):
                size = math.prod(self.length[axis] for axis in axes)
                team = [np.concatenate(team[at : at + size], axis=place) for at in range(0, len(team), size)]
            return team[0], received

        return self._every(shards, each.axes, rule)

    def _reducescatter(self, each: Collective, shards: Shards) -> tuple[Shards, dict[Chip, float]]:
        place = self._changed(each)[0]
        if each.after.axes[place] != each.before.axes[place] + each.axes:
            raise MeshError(f"{each}: a sum is scattered below the axes that the dimension has.")

        def rule(rank: int, team: list[Array]) -> tuple[Array, float]:
            parts = [split(x, len(team), place)[rank] for x in team]
            return np.sum(parts, axis=0), sum(x.nbytes for i, x in enumerate(parts) if i != rank)

        return self._every(shards, each.axes, rule)

    def _allreduce(self, each: Collective, shards: Shards) -> tuple[Shards, dict[Chip, float]]:
        if self._changed(each):
            raise MeshError(f"{each}: an AllReduce leaves every dimension where it is.")

        def rule(rank: int, team: list[Array]) -> tuple[Array, float]:
            # A ring first scatters the sum, then gathers it: the chip's own piece is the rank-th.
            pieces = [np.array_split(x.ravel(), len(team)) for x in team]
            scattered = sum(p[rank].nbytes for i, p in enumerate(pieces) if i != rank)
            returned = sum(p.nbytes for i, p in enumerate(pieces[rank]) if i != rank)
            reducer = np.sum if each.reduction == "sum" else np.max
            summed = [np.asarray(reducer([p[i] for p in pieces], axis=0)) for i in range(len(team))]
            return np.concatenate(summed).reshape(team[rank].shape), scattered + returned

        return self._every(shards, each.axes, rule)

    def _alltoall(self, each: Collective, shards: Shards) -> tuple[Shards, dict[Chip, float]]:
        changed = self._changed(each)
        before, after, moved = each.before, each.after, each.axes
        source = [i for i in changed if before.axes[i] == after.axes[i] + moved]
        target = [i for i in changed if after.axes[i] == before.axes[i] + moved]
        if len(changed) != 2 or len(source) != 1 or len(target) != 1:
            raise MeshError(f"{each}: an AllToAll moves the minor axes of one dimension below those of another.")

        def rule(rank: int, team: list[Array]) -> tuple[Array, float]:
            parts = [split(x, len(team), target[0])[rank] for x in team]
            bytes_in = sum(x.nbytes for i, x in enumerate(parts) if i != rank)
            return np.concatenate(parts, axis=source[0]), bytes_in

        return self._every(shards, moved, rule)

    def _permute(self, each: Collective, shards: Shards) -> tuple[Shards, dict[Chip, float]]:
        result, received = {}, {}
        for chip in self.chips:
            want = [self.block(chip, axes) for axes in each.after.axes]
            team = [chip, *self.team(chip, each.axes)]
            senders = [o for o in team if [self.block(o, axes) for axes in each.before.axes] == want]
            if not senders:
                raise MeshError(f"{each}: no chip of the axes has the block that {chip} needs.")
            result[chip] = shards[senders[0]].copy()
            received[chip] = 0.0 if senders[0] == chip else float(result[chip].nbytes)
        return result, received

    def _slice(self, each: Collective, shards: Shards) -> tuple[Shards, dict[Chip, float]]:
        result = {}
        for chip in self.chips:
            x = shards[chip]
            for place in self._changed(each):
                have, want = each.before.axes[place], each.after.axes[place]
                if want[: len(have)] != have:
                    raise MeshError(f"{each}: a slice adds minor axes only.")
                index, count = self.block(chip, want[len(have) :])
                x = split(x, count, place)[index]
            result[chip] = x.copy()
        return result, dict.fromkeys(self.chips, 0.0)

    def _mask(self, each: Collective, shards: Shards) -> tuple[Shards, dict[Chip, float]]:
        first = {chip: all(self.at(chip, axis) == 0 for axis in each.axes) for chip in self.chips}
        result = {chip: shards[chip] * float(first[chip]) for chip in self.chips}
        return result, dict.fromkeys(self.chips, 0.0)

    def _changed(self, each: Collective) -> list[int]:
        pairs = zip(each.before.axes, each.after.axes, strict=True)
        return [place for place, (before, after) in enumerate(pairs) if before != after]

    # local operations

    def local(self, each: Local) -> Count:
        operation, layouts = each.operation, [buffer.layout for buffer in each.operands]
        inputs = [self.find(buffer) for buffer in each.operands]
        dims, out = [layout.dims for layout in layouts], each.result.layout.dims
        full = [aligned(self.whole[b.value][1], self.whole[b.value][0], b.layout.dims) for b in each.operands]
        self.whole[each.result.value] = (out, self.compute(operation, full, dims, out, self.sizes))
        result: Shards = {}
        for chip in self.chips:
            shards = [shard[chip] for shard in inputs]
            sizes = self.on_chip(shards, dims, each.result.layout)
            result[chip] = self.compute(operation, shards, dims, out, sizes)
        self.held[each.result] = result
        kind = operation.kind if isinstance(operation, Reduce) else "sum"
        self.check(each.result, "max" if kind == "max" else "sum")
        return self.counted(each, [shard[self.chips[0]] for shard in inputs], dims, result[self.chips[0]])

    def on_chip(self, shards: list[Array], dims: list[tuple[str, ...]], layout: Layout) -> dict[str, int]:
        """Return the length of each dimension on a chip; operands that disagree cannot be combined there."""
        sizes: dict[str, int] = {}
        for x, names in zip(shards, dims, strict=True):
            for dim, size in zip(names, x.shape, strict=True):
                if sizes.setdefault(dim, size) != size:
                    raise MeshError(f"The operands have {sizes[dim]} and {size} of {dim} on one chip.")
        for dim, axes in layout.items():
            sizes.setdefault(dim, self.sizes[dim] // int(np.prod([self.length[axis] for axis in axes], dtype=int)))
        return sizes

    def compute(
        self,
        operation: Operation,
        args: list[Array],
        dims: list[tuple[str, ...]],
        out: tuple[str, ...],
        sizes: Mapping[str, int],
    ) -> Array:
        """Run an operation of any pass on whole arrays or on one chip's shards."""
        if isinstance(operation, Einsum):
            summed = {dim for each in dims for dim in each} - set(out)
            if summed != operation.contracted:
                raise MeshError(f"{operation.out} sums over {sorted(summed)}, not {sorted(operation.contracted)}.")
        if isinstance(operation, Map) and operation.function == "update":
            return args[0] - aligned(args[1], dims[1], dims[0])
        if isinstance(operation, Map) and operation.function.endswith("'"):
            y = aligned(args[1], dims[1], dims[0])
            return aligned(softmax_transpose(args[0], y, positions(dims[0], operation.along)), dims[0], out)
        if isinstance(operation, Reduce) and operation.kind.startswith("spread"):
            spread = np.broadcast_to(aligned(args[0], dims[0], out), tuple(sizes[dim] for dim in out))
            if operation.kind == "spread_max":
                return np.asarray(spread * (aligned(args[1], dims[1], out) == aligned(args[2], dims[2], out)))
            return spread.copy()
        return evaluate(operation, args, dims, out)

    def counted(self, each: Local, shards: list[Array], dims: list[tuple[str, ...]], result: Array) -> Count:
        operation = each.operation
        if isinstance(operation, Move | Rename):
            return Count(each)
        touched = {buffer: x.nbytes for buffer, x in zip(each.operands, shards, strict=True)}
        flops = 0
        if isinstance(operation, Einsum) and not operation.elementwise:
            flops = 2 * int(np.prod(list(self.on_chip(shards, dims, each.result.layout).values()), dtype=int))
        return Count(each, flops=flops, hbm=sum(touched.values()) + result.nbytes)

    # passes

    def run(self) -> Run:
        """Run the three passes; every operation's value is checked on the way."""
        done = Run()
        for name in self.program.leaves:
            layout = self.program.values[name].layout
            assert layout is not None
            self.place(name, layout, self.numbers(layout.dims))
        leaves = {name: aligned(x, d, self.program.values[name].dims) for name, (d, x) in self.whole.items()}
        values = run_alone(self.program, leaves)
        done.counts["forward"] = list(self.steps("forward"))
        for name, buffer in self.plan.results.items():
            if name in self.program.outputs:
                self.whole[name] = (self.program.values[name].dims, values[name])
                self.find(buffer)
                self.check(buffer)
        self.release()
        cotangents = {name: self.numbers(self.program.values[name].dims) for name in self.program.outputs}
        for name, g in cotangents.items():
            layout = self.plan.results[name].layout.paid
            self.place(f"d{name}", layout, aligned(g, self.program.values[name].dims, layout.dims))
        done.counts["backward"] = list(self.steps("backward"))
        expected = reverse_alone(self.program, values, cotangents)
        for name, buffer in self.plan.gradients.items():
            self.find(buffer)
            dims = self.program.values[name].dims
            done.gradients[name] = aligned(self.gathered(buffer), buffer.layout.dims, dims)
        done.expected = {n: g for n, g in expected.items() if n in self.program.leaves}
        done.counts["update"] = list(self.steps("update"))
        for name in self.program.leaves:
            if f"{name}+" in self.whole:
                self.find(Buffer(f"{name}+", self.plan.results[name].layout))
        moves = [each for steps in self.plan.passes.values() for each in steps if isinstance(each, Collective)]
        done.unread = [each for each in moves if Buffer(each.value, each.after) not in self.read]
        return done

    def steps(self, name: str) -> Iterator[Count]:
        for each in self.plan.passes[name]:
            try:
                yield self.collective(each) if isinstance(each, Collective) else self.local(each)
            except MeshError as error:
                raise MeshError(f"{name}, {shown(each)}: {error}") from None

    def release(self) -> None:
        """Free what the forward pass gathered of a weight: only the stored layout is left."""
        for buffer in list(self.held):
            value = self.program.values.get(buffer.value)
            freed = value is not None and (value.role == "weight" if value.keep is None else not value.keep)
            if freed and buffer != self.plan.results[buffer.value]:
                del self.held[buffer]


def shown(each: Collective | Local) -> str:
    if isinstance(each, Collective):
        return str(each)
    kind = each.operation.kind if isinstance(each.operation, Reduce) else type(each.operation).__name__
    return f"{kind}({', '.join(map(str, each.operands))}) -> {each.result}"


def split(x: Array, count: int, place: int) -> list[Array]:
    if x.shape[place] % count:
        raise MeshError(f"{x.shape[place]} elements do not split over {count} chips.")
    return np.split(x, count, axis=place)
