"""The outside judge: a program of ours compiled by JAX for eight CPU devices, and its module read back.

The compiler sees what the user declared and no more: layouts of leaves are `in_shardings`, layouts of named results
are sharding constraints, layouts of outputs are `out_shardings`. The backward pass is compiled on its own, as a
function of the residuals (activations as the forward pass left them, weights as they are stored) and the cotangents.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax_module import Found, Module

from symscale.array import Add, Einsum, Layout, Map, Operation, Reduce, Rename
from symscale.partition import Buffer, Local, Plan


@dataclass(frozen=True)
class Compiled:
    """What the compiler made of one pass: collectives (kind, axes, V in bytes) and FLOPs per device."""

    collectives: Counter[Found]
    dot_flops: int
    counted_flops: float


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
                name: self.summed(array, self.stored[name]) for name, array in zip(program.leaves, given, strict=True)
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
            at = {buffer: self.summed(array, buffer.layout) for buffer, array in zip(inputs, given, strict=True)}
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
        if isinstance(operation, Rename):
            names = dict(operation.names)
            ins = [tuple(names.get(dim, dim) for dim in ins[0])]
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
        return Compiled(module.collectives(), module.dot_flops(), float(cost.get("flops", 0.0)))


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
