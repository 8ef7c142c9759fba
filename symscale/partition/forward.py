"""The forward pass: every operation made local, with the collectives that bring its operands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from symscale.array import Add, Axes, Einsum, Layout, Map, Move, Operation, Program, Reduce, Rename, Value
from symscale.errors import LayoutError
from symscale.partition.local import Meeting, einsum_meetings, sum_meetings
from symscale.partition.plan import Alternative, Buffer, Choice, Collective, Local, Planned
from symscale.partition.price import Pricing, cheapest
from symscale.partition.reshard import reshard


class Schedule:
    """The planned operations of one pass, in order, and the layouts in which each value is at hand."""

    def __init__(self, pricing: Pricing) -> None:
        self.pricing = pricing
        self.planned: list[Planned] = []
        self.choices: list[Choice] = []
        self._at_hand: dict[str, list[Layout]] = {}

    def hold(self, value: str, layout: Layout) -> None:
        """Note that `value` is at hand in `layout`."""
        self._at_hand.setdefault(value, []).append(layout)

    def keep_only(self, value: str, layout: Layout) -> None:
        """Forget every layout but one: a result lies in its declared layout, whatever it came out in."""
        self._at_hand[value] = [layout]

    def holds(self, value: str, layout: Layout) -> bool:
        """Tell whether `value` is at hand in `layout`."""
        return layout in self._at_hand.get(value, ())

    def fetch(self, value: str, stored: Layout, wanted: Layout) -> Buffer:
        """Bring `value` from its stored layout to the wanted one, unless it is there already."""
        if stored != wanted and not self.holds(value, wanted):
            for step in reshard(value, stored, wanted):
                self.planned.append(step)
                self.hold(value, step.after)
        return Buffer(value, wanted)

    def run(self, operation: Operation, operands: Sequence[Buffer], layout: Layout) -> Buffer:
        """Append a local operation and return its result."""
        result = Buffer(operation.out, layout)
        self.planned.append(Local(operation, tuple(operands), result))
        self.hold(operation.out, layout)
        return result

    def choose(
        self,
        result: str,
        operands: tuple[Buffer, Buffer],
        meetings: Sequence[Meeting],
        wanted: Mapping[str, Axes],
        target: Layout | None,
    ) -> Meeting:
        """Return the meeting that honours the wanted output, and among those the cheapest."""
        if len(meetings) == 1:
            return meetings[0]
        misses = [_misses(meeting.result, wanted) for meeting in meetings]
        fitting = [meeting for meeting, miss in zip(meetings, misses, strict=True) if miss == min(misses)]
        ways = [self._way(result, operands, meeting, target) for meeting in meetings]
        prices = [way.bytes for meeting, way in zip(meetings, ways, strict=True) if meeting in fitting]
        best, reason = cheapest(prices, self.pricing.values) if len(fitting) > 1 else (0, "the wanted output decides")
        taken = meetings.index(fitting[best])
        self.choices.append(Choice(result, tuple(ways), taken, reason))
        return meetings[taken]

    def _way(
        self, result: str, operands: tuple[Buffer, Buffer], meeting: Meeting, target: Layout | None
    ) -> Alternative:
        moves: list[Collective] = []
        for buffer, layout in zip(operands, (meeting.lhs, meeting.rhs), strict=True):
            if not self.holds(buffer.value, layout):
                moves += reshard(buffer.value, buffer.layout, layout)
        if target is not None:
            moves += reshard(result, meeting.result, target)
        return Alternative(tuple(moves), self.pricing.bytes(moves))


def _misses(layout: Layout, wanted: Mapping[str, Axes]) -> int:
    """Count the axes that split another dimension than the wanted one."""
    missing = sum(
        layout.home(axis) not in (None, dim) for dim, axes in wanted.items() for axis in axes if dim in layout.dims
    )
    return missing + sum(axis not in axes for dim, axes in wanted.items() for axis in layout.of(dim))


def plan_forward(program: Program, schedule: Schedule) -> dict[str, Layout]:
    """Plan the forward pass and return the layout in which each value is stored."""
    stored: dict[str, Layout] = {}
    for name in program.leaves:
        layout = program.values[name].layout
        stored[name] = layout if layout is not None else _whole(program.values[name].dims)
        schedule.hold(name, stored[name])
    for operation in program.operations:
        value = program.values[operation.out]
        result = _forward(operation, value, stored, schedule)
        stored[value.name] = schedule.fetch(value.name, result, value.layout or result).layout
        schedule.keep_only(value.name, stored[value.name])
    return stored


def _whole(dims: tuple[str, ...]) -> Layout:
    return Layout(dims, ((),) * len(dims))


def _forward(operation: Operation, value: Value, stored: Mapping[str, Layout], schedule: Schedule) -> Layout:
    """Plan one operation and return the layout in which its result falls out."""
    if isinstance(operation, Einsum | Add):
        return binary(operation, value, [Buffer(name, stored[name]) for name in operation.inputs], schedule).layout
    source = Buffer(operation.source, stored[operation.source])
    if isinstance(operation, Move):
        target = value.layout or source.layout
        return schedule.run(operation, [source], source.layout).layout if target else source.layout
    if isinstance(operation, Rename):
        return schedule.run(operation, [source], source.layout.renamed(operation.names)).layout
    if isinstance(operation, Map):
        return _map(operation, source, schedule)
    return _reduce(operation, source, value.dims, schedule)


def binary(
    operation: Einsum | Add,
    value: Value,
    operands: list[Buffer],
    schedule: Schedule,
    owing: bool = False,
    final: Mapping[str, Axes] | None = None,
) -> Buffer:
    """Plan a product or a sum of two values and return its result.

    `owing` says that the result may go on owing sums, so that their payment is no part of the price; `final` is where
    the result has to lie in the end, if that is not the layout that decides a choice.
    """
    wanted = dict(value.layout.items()) if value.layout is not None else dict(value.hint)
    if isinstance(operation, Einsum):
        ends = presliced(operands[0].layout, operands[1].layout, final or wanted)
        operands = [schedule.fetch(b.value, b.layout, end) for b, end in zip(operands, ends, strict=True)]
    lhs, rhs = operands
    if isinstance(operation, Einsum):
        meetings = einsum_meetings(lhs.layout, rhs.layout, operation.contracted, value.dims)
    else:
        meetings = sum_meetings(lhs.layout, rhs.layout, value.dims, value.layout)
    meeting = schedule.choose(value.name, (lhs, rhs), meetings, wanted, None if owing else value.layout)
    pair = [
        schedule.fetch(buffer.value, buffer.layout, layout)
        for buffer, layout in zip(operands, (meeting.lhs, meeting.rhs), strict=True)
    ]
    return schedule.run(operation, pair, meeting.result)


def presliced(lhs: Layout, rhs: Layout, wanted: Mapping[str, Axes]) -> tuple[Layout, Layout]:
    """Return the operands sliced ahead of a product, by axes that neither uses and that split the wanted result.

    `A[I, J] * B[J, K] -> C[I_X, K]`: slicing A is free as slicing C is, and the product is X times smaller.
    """
    for dim, axes in wanted.items():
        sides = [side for side in (lhs, rhs) if dim in side.dims]
        have = sides[0].of(dim) if sides else axes
        used = {*lhs.split, *rhs.split, *lhs.owes, *rhs.owes}
        rest = axes[len(have) :]
        more = rest[: next((at for at, axis in enumerate(rest) if axis in used), len(rest))]
        if more and axes[: len(have)] == have and all(side.of(dim) == have for side in sides):
            lhs, rhs = (side.put(dim, have + more) if dim in side.dims else side for side in (lhs, rhs))
    return lhs, rhs


def _map(operation: Map, source: Buffer, schedule: Schedule) -> Layout:
    if source.layout.owes:
        raise LayoutError(
            f"{operation.function}(...) is not linear, but its argument {source} owes a sum over "
            f"{', '.join(source.layout.owes)}.",
            hint=f"Name the argument and give it a layout that owes nothing, such as "
            f"Tmp{source.layout.paid} = ...; then {operation.function}(Tmp).",
        )
    layout = source.layout
    for dim in operation.along:
        layout = layout.put(dim, ())
    return schedule.run(operation, [schedule.fetch(source.value, source.layout, layout)], layout).layout


def _reduce(operation: Reduce, source: Buffer, dims: tuple[str, ...], schedule: Schedule) -> Layout:
    if operation.kind != "sum" and source.layout.owes:
        raise LayoutError(
            f"{operation.kind} is not linear, but its argument {source} owes a sum.",
            hint="Name the argument and give it a layout that owes nothing.",
        )
    summed = _axes(source.layout, operation.dims)
    result = Layout(dims, tuple(source.layout.of(dim) for dim in dims)).owing({*source.layout.owes, *summed})
    schedule.run(operation, [source], result)
    if operation.kind != "sum" and summed:
        schedule.planned.append(Collective("AllReduce", summed, operation.out, result, result.paid, operation.kind))
        result = result.paid
    return result


def _axes(layout: Layout, dims: Iterable[str]) -> Axes:
    return tuple(axis for dim in dims for axis in layout.of(dim))
