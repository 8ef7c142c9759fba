"""The outside judge: a program of ours compiled by JAX for eight CPU devices, and its module read back.

The compiler sees what the user declared and no more: layouts of leaves are `in_shardings`, layouts of named results
are sharding constraints, layouts of outputs are `out_shardings`. The backward pass is compiled on its own, as a
function of the residuals (activations as the forward pass left them, weights as they are stored) and the cotangents.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from symscale.array import Add, Einsum, Layout, Map, Operation, Reduce
from symscale.partition import Buffer, Local, Plan

BYTES = 4  # everything is fp32: the CPU compiler widens bf16 reductions, which would double their bytes
Found = tuple[str, tuple[str, ...], int]


@dataclass(frozen=True)
class Compiled:
    """What the compiler made of one pass: collectives (kind, axes, V in bytes) and FLOPs per device."""

    collectives: Counter[Found]
    dot_flops: int
    counted_flops: float
    text: str


class Judge:
    """Compiles the passes of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.program = plan.program
        self.axes = {axis: int(size) for axis, size in self.program.mesh.items()}
        count = math.prod(self.axes.values())
        devices = np.array(jax.devices()[:count]).reshape(tuple(self.axes.values()))
        self.mesh = Mesh(devices, tuple(self.axes))
        self.stored = {name: buffer.layout for name, buffer in plan.results.items()}

    def forward(self) -> Compiled:
        """Compile the program from its leaves to its outputs."""
        program = self.program
        leaves = [self.argument(Buffer(name, self.stored[name])) for name in program.leaves]

        def run(*given: Any) -> list[Any]:
            values = {
                name: self.summed(array, self.stored[name])
                for name, array in zip(program.leaves, given, strict=True)
            }
            for operation in program.operations:
                made = self.operation(operation)(*(values[name] for name in operation.inputs))
                values[operation.out] = self.pinned(operation.out, made)
            return [values[name] for name in program.outputs]

        return self.compile(run, leaves, [self.sharding(self.stored[name]) for name in program.outputs])

    def backward(self) -> Compiled:
        """Compile from residuals and cotangents to the gradients, and on to the new weights where a layout asks."""
        program, wants = self.program, self.plan.gradients
        outputs = [Buffer(f"d{name}", self.stored[name].paid) for name in program.outputs]
        kept = list(dict.fromkeys(b for each in self.locals() for b in self.residuals(each)))
        stepped = [name for name in wants if name in program.states or name in program.grads]
        inputs = [*outputs, *dict.fromkeys([*kept, *(Buffer(name, self.stored[name]) for name in stepped)])]

        def run(*given: Any) -> list[Any]:
            at = {
                buffer: self.summed(array, buffer.layout) for buffer, array in zip(inputs, given, strict=True)
            }
            parts = {name: [at[buffer]] for name, buffer in zip(program.outputs, outputs, strict=True)}
            for planned in reversed(self.locals()):
                self.transpose(planned, parts, at)
            found = {name: self.total(name, parts) for name in wants}
            return [
                self.updated(name, at[Buffer(name, self.stored[name])], array) if name in stepped else array
                for name, array in found.items()
            ]

        return self.compile(
            run, [self.argument(buffer) for buffer in inputs], [self.sharding(self.stored[name].paid) for name in wants]
        )

    def transpose(self, planned: Local, parts: dict[str, list[Any]], at: Mapping[Buffer, Any]) -> None:
        """Add what the operands of one operation get from the cotangent of its result."""
        operation = planned.operation
        if operation.out not in parts:
            return
        cotangent = self.total(operation.out, parts)
        if isinstance(operation, Map) and operation.along:
            (result,) = (at[b] for b in self.residuals(planned))
            where = tuple(self.dims(operation.out).index(dim) for dim in operation.along)
            given = [result * (cotangent - jnp.sum(cotangent * result, where, keepdims=True))]
        else:
            operands = self.residuals(planned) or tuple(Buffer(name, self.stored[name]) for name in operation.inputs)
            arrays = [at[b] if b in at else jnp.zeros(self.shape(b.layout.dims)) for b in operands]
            given = list(jax.vjp(self.operation(operation), *arrays)[1](cotangent))
        for name, part in zip(operation.inputs, given, strict=True):
            if name in self.plan.gradients or name not in self.program.leaves:
                parts.setdefault(name, []).append(part)

    def residuals(self, planned: Local) -> tuple[Buffer, ...]:
        """Return what the transpose of an operation reads: nothing for a linear one, freed weights as stored."""
        operation = planned.operation
        if isinstance(operation, Map):
            return (Buffer(operation.out, planned.result.layout),) if operation.along else planned.operands
        if isinstance(operation, Reduce) and operation.kind == "max":
            return planned.operands
        if not isinstance(operation, Einsum):
            return ()
        return tuple(self.kept(buffer) for buffer in planned.operands)

    def kept(self, buffer: Buffer) -> Buffer:
        """Return the form in which an operand waits for the backward pass."""
        value = self.program.values[buffer.value]
        freed = value.role == "weight" if value.keep is None else not value.keep
        return Buffer(buffer.value, self.stored[buffer.value]) if freed else buffer

    def total(self, name: str, parts: Mapping[str, Sequence[Any]]) -> Any:
        """Sum the parts of a cotangent, in the layout of its value where one is declared."""
        whole = parts[name][0]
        for part in parts[name][1:]:
            whole = whole + part
        return self.pinned(name, whole)

    def updated(self, name: str, weight: Any, gradient: Any) -> Any:
        """Return the new weight: gradient and weight meet in the layout of the optimizer state."""
        program = self.program
        if name in program.grads:
            gradient = self.placed(gradient, program.grads[name])
        if name in program.states:
            gradient = self.placed(gradient, program.states[name])
        meeting = program.states.get(name, program.grads.get(name))
        return self.placed(self.placed(weight, meeting) - gradient, meeting)

    # arrays

    def locals(self) -> list[Local]:
        """Return the local operations of the forward pass."""
        return [each for each in self.plan.passes["forward"] if isinstance(each, Local)]

    def dims(self, name: str) -> tuple[str, ...]:
        """Return the dimensions of a value."""
        return self.program.values[name].dims

    def shape(self, dims: Sequence[str]) -> tuple[int, ...]:
        """Return the whole shape of an array of these dimensions."""
        return tuple(int(self.program.sizes[dim]) for dim in dims)

    def sharding(self, layout: Layout) -> NamedSharding:
        """Return a layout as JAX writes it; an owed sum stands as a leading dimension, one slice for each member."""
        spec = ([layout.owes] if layout.owes else []) + [axes or None for axes in layout.axes]
        return NamedSharding(self.mesh, PartitionSpec(*spec))

    def argument(self, buffer: Buffer) -> Any:
        """Return the abstract array of an input."""
        layout = buffer.layout
        lead = (math.prod(self.axes[axis] for axis in layout.owes),) if layout.owes else ()
        return jax.ShapeDtypeStruct(lead + self.shape(layout.dims), jnp.float32, sharding=self.sharding(layout))

    def summed(self, array: Any, layout: Layout) -> Any:
        """Pay an input's owed sum, which the compiler then places."""
        return jnp.sum(array, 0) if layout.owes else array

    def placed(self, array: Any, layout: Layout | None) -> Any:
        """Constrain an array to a layout."""
        return array if layout is None else jax.lax.with_sharding_constraint(array, self.sharding(layout.paid))

    def pinned(self, name: str, array: Any) -> Any:
        """Constrain a value, or its cotangent, to its declared layout: the only hint that the compiler gets."""
        value = self.program.values[name]
        if name in self.program.leaves:
            # A gradient that only the update needs is not paid before it.
            own = None if name in self.program.states else self.stored[name]
            return self.placed(array, self.program.grads.get(name, own))
        return self.placed(array, value.layout)

    def operation(self, operation: Operation) -> Callable[..., Any]:
        """Return an operation as a JAX function of its operands."""
        out = self.dims(operation.out)
        ins = [self.dims(name) for name in operation.inputs]
        letter = {dim: chr(97 + at) for at, dim in enumerate(dict.fromkeys(d for dims in (*ins, out) for d in dims))}
        word = ["".join(letter[dim] for dim in dims) for dims in ins]
        target = "".join(letter[dim] for dim in out)
        if isinstance(operation, Einsum):
            return lambda x, y: jnp.einsum(f"{word[0]},{word[1]}->{target}", x, y)
        if isinstance(operation, Add):
            return lambda x, y: _spread(x, ins[0], out) + _spread(y, ins[1], out)
        if isinstance(operation, Map):
            where = tuple(ins[0].index(dim) for dim in operation.along)
            return lambda x: jnp.einsum(f"{word[0]}->{target}", _FUNCTIONS[operation.function](x, where))
        if isinstance(operation, Reduce):
            where = tuple(ins[0].index(dim) for dim in operation.dims)
            return lambda x: (jnp.max if operation.kind == "max" else jnp.sum)(x, where)
        return lambda x: jnp.einsum(f"{word[0]}->{target}", x)

    def compile(self, run: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> Compiled:
        """Compile a pass and read its module."""
        compiled = jax.jit(run, out_shardings=list(outputs)).lower(*inputs).compile()
        module = Module(compiled.as_text(), self.axes)
        cost = compiled.cost_analysis()
        cost = cost[0] if isinstance(cost, list) else cost
        return Compiled(module.collectives(), module.dot_flops(), float(cost.get("flops", 0.0)), module.text)


def _spread(array: Any, dims: Sequence[str], out: Sequence[str]) -> Any:
    order = [dims.index(dim) for dim in out if dim in dims]
    missing = tuple(at for at, dim in enumerate(out) if dim not in dims)
    return jnp.expand_dims(jnp.transpose(array, order), missing)


_FUNCTIONS: Mapping[str, Callable[[Any, tuple[int, ...]], Any]] = {
    "silu": lambda x, _: jax.nn.silu(x),
    "relu": lambda x, _: jax.nn.relu(x),
    "tanh": lambda x, _: jnp.tanh(x),
    "softmax": lambda x, along: jax.nn.softmax(x, along),
}

# The module's text

_LINE = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([a-z][\w\-]*)\((.*)$")
_SHAPE = re.compile(r"\b(?:f32|bf16|s32|u32|pred|f16|f64|s8|u8|s64|u64)\[([\d,]*)\]")
_KINDS = {
    "all-gather": "AllGather",
    "all-reduce": "AllReduce",
    "reduce-scatter": "ReduceScatter",
    "all-to-all": "AllToAll",
    "collective-permute": "Permute",
}


@dataclass(frozen=True)
class Instruction:
    """One line of a module: its name, the shapes of its result, the operation, its operands and what follows."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    op: str
    operands: tuple[str, ...]
    rest: str
    where: str


class Module:
    """An optimised HLO module as text, and the questions we ask of it."""

    def __init__(self, text: str, axes: Mapping[str, int]) -> None:
        self.text = text
        self.axes = axes
        self.lines: dict[tuple[str, str], Instruction] = {}
        where = ""
        for line in text.splitlines():
            if line.rstrip().endswith("{") and not line.startswith(" "):
                where = line.replace("ENTRY ", "").split(" ")[0].lstrip("%")
            found = _LINE.match(line)
            if found:
                name, shape, op, rest = found.groups()
                inside = rest[: _closing(rest)]
                shapes = tuple(tuple(int(n) for n in dims.split(",") if n) for dims in _SHAPE.findall(shape))
                operands = tuple(re.findall(r"%([\w.\-]+)", inside))
                self.lines[where, name] = Instruction(name, shapes, op, operands, rest[len(inside) :], where)
        self.users: dict[tuple[str, str], list[Instruction]] = {}
        for each in self.lines.values():
            for operand in dict.fromkeys(each.operands):
                self.users.setdefault((each.where, operand), []).append(each)

    def collectives(self) -> Counter[Found]:
        """Return every collective as (kind, axes, V), an AllReduce whose result is only sliced as a ReduceScatter."""
        found: Counter[Found] = Counter()
        for each in self.lines.values():
            kind = _KINDS.get(each.op.removesuffix("-start"))
            if kind is None:
                continue
            axes = self.group(each)
            count = math.prod(self.axes[axis] for axis in axes)
            if kind == "AllToAll":
                found[kind, axes, sum(map(_size, each.shapes)) * count] += 1
                continue
            for at, shape in enumerate(each.shapes):
                for one, over, size in self.paid(each, at, axes) if kind == "AllReduce" else [(kind, axes, _size(shape))]:
                    found[one, over, size * (count if one == "ReduceScatter" and kind == one else 1)] += 1
        return found

    def paid(self, each: Instruction, at: int, axes: tuple[str, ...]) -> list[Found]:
        """Return an AllReduce as what it stands for: a part of its axes may be scattered by a slice of the result."""
        size = _size(each.shapes[at])
        results = [each]
        if len(each.shapes) > 1:
            results = [u for u in self.uses(each) if u.op == "get-tuple-element" and f"index={at}" in u.rest]
        parts = {self.part(user, result) for result in results for user in self.uses(result)}
        kept = parts.pop() if len(parts) == 1 else 1
        if kept == 1:
            return [("AllReduce", axes, size)]
        for few in range(1, len(axes) + 1):
            for over in combinations(axes, few):
                if math.prod(self.axes[axis] for axis in over) == kept:
                    rest = tuple(axis for axis in axes if axis not in over)
                    left = [("AllReduce", rest, size // kept)] if rest else []
                    return [("ReduceScatter", over, size), *left]
        return [("AllReduce", axes, size)]

    def uses(self, each: Instruction) -> list[Instruction]:
        return self.users.get((each.where, each.name), [])

    def part(self, user: Instruction, made: Instruction) -> int:
        """Return how many times smaller the part is that a user takes of a value: 1 if it reads all of it."""
        if user.op == "dynamic-slice" and user.operands[0] == made.name:
            return math.prod(self.lines[made.where, made.name].shapes[0] if made.op != "all-reduce" or len(made.shapes) == 1 else (1,)) // math.prod(user.shapes[0])
        if user.op in ("bitcast", "copy", "reshape", "transpose", "convert"):
            parts = {self.part(next_user, user) for next_user in self.uses(user)}
            return parts.pop() if len(parts) == 1 else 1
        if user.op in ("fusion", "call"):
            called = re.search(r"(?:calls|to_apply)=%?([\w.\-]+)", user.rest)
            if called:
                at = user.operands.index(made.name)
                inner = self.parameter(called.group(1), at)
                parts = {self.part(next_user, inner) for next_user in self.uses(inner)}
                return parts.pop() if len(parts) == 1 else 1
        return 1

    def parameter(self, where: str, at: int) -> Instruction:
        return next(
            each
            for (place, _), each in self.lines.items()
            if place == where and each.op == "parameter" and re.search(rf"parameter\({at}\)", f"parameter({at})") and self.number(each) == at
        )

    def number(self, each: Instruction) -> int:
        line = re.search(rf"%?{re.escape(each.name)} = [^\n]*parameter\((\d+)\)", self.section(each.where))
        return int(line.group(1)) if line else -1

    def section(self, where: str) -> str:
        start = re.search(rf"^(ENTRY )?%?{re.escape(where)} ", self.text, re.M)
        begin = start.start() if start else 0
        return self.text[begin : self.text.index("\n}", begin)]

    def group(self, each: Instruction) -> tuple[str, ...]:
        """Return the mesh axes over which a collective runs. Raises ValueError if its groups are no axes."""
        groups = _groups(each.rest) if each.op.startswith("collective-permute") is False else _pairs(each.rest)
        names = tuple(self.axes)
        for few in range(1, len(names) + 1):
            for axes in combinations(names, few):
                whole = _members(self.axes, axes)
                if groups == whole or (each.op.startswith("collective-permute") and all(any(g <= w for w in whole) for g in groups)):
                    return axes
        raise ValueError(f"{each.op} over {sorted(map(sorted, groups))} is along no mesh axes of {dict(self.axes)}")

    def dot_flops(self) -> int:
        """Return 2 x the product of all dimensions of every dot, per device."""
        total = 0
        for each in self.lines.values():
            if each.op == "dot":
                left = self.lines[each.where, each.operands[0]].shapes[0]
                found = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", each.rest)
                summed = [left[int(n)] for n in found.group(1).split(",") if n] if found else []
                total += 2 * math.prod(each.shapes[0]) * math.prod(summed)
        return total


def _closing(text: str) -> int:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return at
    return len(text)


def _size(shape: Sequence[int]) -> int:
    return BYTES * math.prod(shape)


def _members(mesh: Mapping[str, int], axes: Sequence[str]) -> frozenset[frozenset[int]]:
    grid = np.arange(math.prod(mesh.values())).reshape(tuple(mesh.values()))
    order = [at for at, axis in enumerate(mesh) if axis not in axes] + [at for at, a in enumerate(mesh) if a in axes]
    rows = grid.transpose(order).reshape(-1, math.prod(mesh[axis] for axis in axes))
    return frozenset(frozenset(row) for row in rows.tolist())


def _groups(rest: str) -> frozenset[frozenset[int]]:
    """Read replica groups in the three ways a module may write them: listed, as an iota, as axes of a device mesh."""
    listed = re.search(r"replica_groups=\{(\{[\d,{}]*\})\}", rest)
    if listed:
        return frozenset(frozenset(map(int, g.split(","))) for g in re.findall(r"\{([\d,]+)\}", listed.group(1)))
    iota = re.search(r"replica_groups=(\[[\d,]+\])<=(\[[\d,]+\](?:T\([\d,]+\))?)", rest)
    if iota:
        return _rows(_iota(iota.group(2)).reshape(_numbers(iota.group(1))))
    named = re.search(r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\((.*?)\) )? *\{([^}]*)\}", rest)
    if named:
        return _named_groups(*named.groups())
    raise ValueError(f"no replica groups in {rest[:200]}")


def _named_groups(mesh: str, devices: str | None, axes: str) -> frozenset[frozenset[int]]:
    """Read `mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b', 'a':(1)2}`: whole axes, or `(pre)size` parts of them."""
    sizes = {name: int(size) for name, size in re.findall(r"'([^']+)'=(\d+)", mesh)}
    grid = _iota(devices or f"[{math.prod(sizes.values())}]")
    used = {n: (int(pre or 1), int(size or 0)) for n, pre, size in re.findall(r"'([^']+)'(?::\((\d+)\)(\d+))?", axes)}
    shape: list[int] = []
    picked: list[int] = []
    for name, size in sizes.items():
        pre, part = used.get(name, (1, 0))
        part = part or size
        if name in used:
            picked.append(len(shape) + 1)
        shape += [pre, part, size // (pre * part)]
    others = [at for at in range(len(shape)) if at not in picked]
    grid = grid.reshape(shape).transpose([*others, *picked])
    return _rows(grid.reshape(-1, math.prod(shape[at] for at in picked)))


def _iota(text: str) -> Any:
    """Read `[4,2]T(1,0)`: the numbers from 0 in this shape, transposed."""
    shape, _, order = text.partition("T")
    grid = np.arange(math.prod(_numbers(shape))).reshape(_numbers(shape))
    return grid.transpose(_numbers(order)) if order else grid


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _rows(grid: Any) -> frozenset[frozenset[int]]:
    return frozenset(frozenset(row) for row in grid.tolist())


def _pairs(rest: str) -> frozenset[frozenset[int]]:
    found = re.search(r"source_target_pairs=\{(.*?)\}\}", rest)
    pairs = re.findall(r"\{(\d+),(\d+)\}?", found.group(1) + "}") if found else []
    return frozenset(frozenset((int(a), int(b))) for a, b in pairs)


def permutations_of(axes: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all orders of axes."""
    return [order for order in product(axes, repeat=len(axes)) if len(set(order)) == len(axes)]
