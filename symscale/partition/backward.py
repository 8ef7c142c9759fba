"""The backward and update passes: the transpose of the planned forward pass.

Every local einsum is transposed operand by operand; every change of layout is transposed by bringing the
cotangent back to the layout the value had before. A cotangent of an owing value is replicated; a sum that a
gradient owes stays unpaid until the transpose of a gather scatters it, or the gradient has to lie in its own layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symscale.array import Add, Einsum, Layout, Map, Move, Program, Reduce, Rename, Value
from symscale.errors import LayoutError
from symscale.partition.forward import Schedule, binary
from symscale.partition.plan import Buffer, Local, Planned


class Backward:
    """The gradients on their way from the outputs to the leaves."""

    def __init__(
        self,
        program: Program,
        forward: Sequence[Planned],
        stored: Mapping[str, Layout],
        schedule: Schedule,
        regather: bool,
    ) -> None:
        self.program = program
        self.forward = forward
        self.stored = stored
        self.schedule = schedule
        self.regather = regather
        self.parts: dict[str, list[Buffer]] = {}
        self._made: dict[str, int] = {}
        self.wants = _differentiable(program)
        clash = next((name for name in self.wants if f"d{name}" in program.values), None)
        if clash is not None:
            raise LayoutError(
                f"d{clash} is the gradient of {clash}, but the program uses that name for an array.",
                hint=f"Rename d{clash}, or exclude its gradient with `const {clash}`.",
            )

    def run(self) -> dict[str, Buffer]:
        """Plan the pass and return the gradient of every leaf that has one."""
        for name in self.program.outputs:
            if name in self.wants:
                self.parts[name] = [Buffer(f"d{name}", self.stored[name].paid)]
        for planned in reversed(self.forward):
            if isinstance(planned, Local) and planned.operation.out in self.wants:
                gradient = self.result(planned.result)
                if gradient is not None:
                    self.transpose(planned, gradient)
        return {name: found for name in self.program.leaves if name in self.wants and (found := self.leaf(name))}

    def result(self, made: Buffer) -> Buffer | None:
        """Bring the gradient of a result to the layout in which the result fell out, by way of the one it is kept in.

        A gather after it is undone by a ReduceScatter before a ReduceScatter of its own is undone by a gather.
        """
        gradient = self.collect(made.value, self.stored[made.value].paid)
        if gradient is None:
            return None
        layout = made.layout.paid
        owes = [axis for axis in gradient.layout.owes if axis not in layout.split]
        return self.schedule.fetch(gradient.value, gradient.layout, layout.owing(owes))

    def leaf(self, name: str) -> Buffer | None:
        """Bring a leaf's gradient to its declared layout; one that only the update needs stays unpaid."""
        layout = self.program.grads.get(name, self.stored[name].paid)
        gradient = self.collect(name, layout)
        if gradient is None or (name in self.program.states and name not in self.program.grads):
            return gradient
        return self.schedule.fetch(gradient.value, gradient.layout, layout)

    def collect(self, name: str, layout: Layout) -> Buffer | None:
        """Sum the parts of a gradient in `layout`, paying only those owed sums that `layout` splits."""
        parts = self._sums(name, self.parts.pop(name, []))
        moved = []
        for part in parts:
            owes = [axis for axis in part.layout.owes if axis not in layout.split]
            moved.append(self.schedule.fetch(part.value, part.layout, layout.owing(owes)))
        while len(moved) > 1:
            moved = self._sums(name, moved)
            if len(moved) > 1:
                moved = [self.add(name, moved[0], moved[1]), *moved[2:]]
        return moved[0] if moved else None

    def _sums(self, name: str, parts: list[Buffer]) -> list[Buffer]:
        """Add the parts that lie in the same layout, so that a sum they all owe is reduced once."""
        grouped: dict[Layout, Buffer] = {}
        for part in parts:
            known = grouped.get(part.layout)
            grouped[part.layout] = part if known is None else self.add(name, known, part)
        return list(grouped.values())

    def add(self, name: str, first: Buffer, second: Buffer) -> Buffer:
        """Plan the sum of two parts of a gradient."""
        out = self.fresh(name)
        value = Value(out, first.layout.dims)
        return binary(Add(out, first.value, second.value), value, [first, second], self.schedule, owing=True)

    def fresh(self, name: str) -> str:
        """Return a new name for a part of the gradient of `name`: `dW`, then `dW.1`, `dW.2`."""
        made = self._made.get(name, 0)
        self._made[name] = made + 1
        return f"d{name}.{made}" if made else f"d{name}"

    def give(self, name: str, part: Buffer) -> None:
        """Add a part to the gradient of a value that has one."""
        self.parts.setdefault(name, []).append(part)

    def transpose(self, planned: Local, gradient: Buffer) -> None:
        """Plan what an operation's operands get from the gradient of its result."""
        operation = planned.operation
        if isinstance(operation, Einsum):
            self._einsum(operation, planned, gradient)
        elif isinstance(operation, Add):
            for operand in planned.operands:
                if operand.value in self.wants:
                    self.give(operand.value, self._unbroadcast(operand, gradient))
        elif isinstance(operation, Map):
            self._map(operation, planned.operands[0], planned.result, gradient)
        elif isinstance(operation, Reduce):
            self._spread(operation, planned, gradient)
        elif isinstance(operation, Move):
            self.give(operation.source, gradient)
        elif isinstance(operation, Rename):
            made = Rename(self.fresh(operation.source), gradient.value, operation.back)
            self.give(operation.source, self.schedule.run(made, [gradient], gradient.layout.renamed(made.names)))

    def _einsum(self, operation: Einsum, planned: Local, gradient: Buffer) -> None:
        pairs = (planned.operands, tuple(reversed(planned.operands)))
        for operand, other in pairs:
            if operand.value not in self.wants:
                continue
            dims = operand.layout.dims
            summed = frozenset((*gradient.layout.dims, *other.layout.dims)) - frozenset(dims)
            made = Einsum(self.fresh(operand.value), gradient.value, other.value, summed, operation.elementwise)
            value = Value(made.out, dims, hint=tuple(operand.layout.items()))
            final = dict(self.stored[operand.value].items())  # where a gather is undone by a free slice, slice first
            ends = [gradient, self.saved(other)]
            self.give(operand.value, binary(made, value, ends, self.schedule, final=final))

    def saved(self, buffer: Buffer) -> Buffer:
        """Return a forward operand: still there if an activation, gathered again if a freed weight."""
        name = buffer.value
        value = self.program.values[name]
        freed = value.role == "weight" or self.regather if value.keep is None else not value.keep
        if freed:
            return self.schedule.fetch(name, self.stored[name], buffer.layout)
        return buffer

    def _unbroadcast(self, operand: Buffer, gradient: Buffer) -> Buffer:
        extra = tuple(dim for dim in gradient.layout.dims if dim not in operand.layout.dims)
        dims = operand.layout.dims
        if not extra and gradient.layout.dims == dims:
            return gradient
        summed = {axis for dim in extra for axis in gradient.layout.of(dim)}
        layout = Layout(dims, tuple(gradient.layout.of(dim) for dim in dims)).owing({*gradient.layout.owes, *summed})
        return self.schedule.run(Reduce(self.fresh(operand.value), "sum", gradient.value, extra), [gradient], layout)

    def _map(self, operation: Map, source: Buffer, result: Buffer, gradient: Buffer) -> None:
        name = source.value
        if operation.along:
            gradient = self.schedule.fetch(gradient.value, gradient.layout, gradient.layout.paid)
            made = Map(self.fresh(name), f"{operation.function}'", gradient.value, operation.along)
            self.give(name, self.schedule.run(made, [gradient, self.saved(result)], gradient.layout))
            return
        slope = Buffer(f"{operation.function}'({name})", source.layout)
        dims = source.layout.dims
        product = Einsum(self.fresh(name), gradient.value, slope.value, frozenset(), elementwise=True)
        self.give(name, binary(product, Value(product.out, dims), [gradient, slope], self.schedule))

    def _spread(self, operation: Reduce, planned: Local, gradient: Buffer) -> None:
        """Spread the gradient over what was reduced; a sum owed over an axis that splits it is paid first."""
        source = planned.operands[0]
        linear = operation.kind == "sum"
        owes = [axis for axis in gradient.layout.owes if linear and axis not in source.layout.split]
        ready = self.schedule.fetch(gradient.value, gradient.layout, gradient.layout.owing(owes))
        made = Reduce(
            self.fresh(source.value), "spread" if linear else f"spread_{operation.kind}", ready.value, operation.dims
        )
        result = Buffer(planned.result.value, planned.result.layout.paid)
        operands = [ready] if linear else [ready, self.saved(source), result]
        self.give(source.value, self.schedule.run(made, operands, source.layout.paid.owing(owes)))


def _differentiable(program: Program) -> frozenset[str]:
    """Return the values that depend on a leaf with a gradient."""
    found = {name for name in program.leaves if not program.values[name].const}
    for operation in program.operations:
        if found.intersection(operation.inputs):
            found.add(operation.out)
    return frozenset(found)


def plan_update(
    program: Program, gradients: Mapping[str, Buffer], stored: Mapping[str, Layout], schedule: Schedule
) -> None:
    """Plan the optimizer step of every weight whose gradient or state has a layout of its own.

    Gradient to the state's layout, update there, and the new weight back to the weight's layout.
    """
    for name in program.leaves:
        if name not in gradients or not (name in program.states or name in program.grads):
            continue
        gradient = gradients[name]
        layout = program.states.get(name, program.grads.get(name, stored[name]))
        ready = schedule.fetch(gradient.value, gradient.layout, layout)
        held = schedule.fetch(name, stored[name], layout)
        made = Map(f"{name}+", "update", name)
        schedule.run(made, [held, ready], layout)
        schedule.fetch(f"{name}+", layout, stored[name])
