"""Memory between the passes: which values the backward pass reads, what is kept of them, what is computed again.

The backward pass of a plan names every buffer it reads. A checkpointing policy says which of them stay in memory;
the others are made again from what was kept, by the operations of the forward pass that lead to them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

import sympy as sp

from symscale.array import Einsum, Map, Program
from symscale.array.element import Elements, local_elements
from symscale.cost.tally import held_bytes
from symscale.frozen import dataclass
from symscale.partition import Buffer, Collective, Local, Plan, Planned, primal

Policy = Callable[[Program, str], bool]

# The slope of an elementwise function is computed from its result, from a mask of one byte, else from its argument.
FROM_RESULT = ("relu", "sigmoid", "tanh", "exp", "sqrt")
FROM_MASK = ("dropout",)


@dataclass(frozen=True)
class Activations:
    """What one chip keeps from the forward to the backward pass [B each], and the operations that run again."""

    kept: Mapping[Buffer, sp.Expr]
    again: tuple[Planned, ...]

    @property
    def bytes(self) -> sp.Expr:
        """All that is kept [B]."""
        return sp.Add(*self.kept.values())


def everything(program: Program, value: str) -> bool:
    """Keep all that the backward pass reads."""
    return True


def inputs(program: Program, value: str) -> bool:
    """Keep the program's inputs alone: everything is computed again."""
    return False


def products(program: Program, value: str) -> bool:
    """Keep the results of matrix products; elementwise work is done again."""
    return any(isinstance(each, Einsum) and not each.elementwise and each.out == value for each in program.operations)


def without(dims: Collection[str]) -> Policy:
    """Return the policy that keeps all but the arrays with all of these dimensions, T and S for attention scores."""
    wanted = frozenset(dims)
    return lambda program, value: not wanted <= set(program.values[value].dims)


def activations(plan: Plan, typed: Elements, policy: Policy = everything, *, also: Collection[str] = ()) -> Activations:
    """Return what a chip keeps under a checkpointing policy.

    Of x[B, D] * W[D, F] -> h[B, F]; gelu(h) -> a[B, F] that is x and h, b·(B·D + B·F). Weights are parameters and
    do not count; the program's own inputs always stay; a dropout mask takes one byte per element. A gather that
    the backward pass makes anyway is not made twice. Values of `also` are read besides, by what follows.
    """
    makers = {_made(each): each for each in plan.passes["forward"]}
    present = {_made(each) for each in plan.passes["backward"]}
    kept: dict[Buffer, sp.Expr] = {}
    again: set[Buffer] = set()
    wanted = [*_read(plan), *(Buffer(name, plan.results[name].layout) for name in also)]
    while wanted:
        buffer = wanted.pop()
        if buffer in present or buffer in kept or buffer in again:
            continue
        name, maker = primal(buffer.value, plan.program), makers.get(buffer)
        mask = buffer.value != name
        if (maker is not None or mask) and not policy(plan.program, name):
            again.add(buffer)
            wanted += _inputs(maker) if maker is not None else ()
        elif maker is not None or plan.program.values[name].role != "weight":
            kept[buffer] = local_elements(buffer.layout, plan.program) if mask else _held(plan, buffer, typed)
    return Activations(kept, tuple(each for each in plan.passes["forward"] if _made(each) in again))


def recomputing(plan: Plan, found: Activations) -> Plan:
    """Return the plan with the pass `again`: what runs a second time before the backward pass."""
    return replace(plan, passes={**plan.passes, "again": found.again})


def _read(plan: Plan) -> Iterator[Buffer]:
    """Yield the buffers the backward pass reads and does not make."""
    made = {_made(each) for each in plan.passes["backward"]}
    for planned in plan.passes["backward"]:
        for buffer in _inputs(planned):
            if buffer not in made and (slope := _slope_of(buffer, plan)) is not None:
                yield slope


def _slope_of(buffer: Buffer, plan: Plan) -> Buffer | None:
    """Return what is kept for f'(x): the result, a mask, or x; other values as they are, None for gradients."""
    if buffer.value in plan.program.values:
        return buffer
    if not buffer.value.endswith(")"):
        return None
    name = primal(buffer.value, plan.program)
    function = buffer.value.partition("'(")[0]
    if function in FROM_MASK:
        return buffer
    if function in FROM_RESULT:
        for planned in plan.passes["forward"]:
            if isinstance(planned, Local) and _is_map(planned, function, name):
                return planned.result
    return Buffer(name, buffer.layout)


def _is_map(planned: Local, function: str, source: str) -> bool:
    operation = planned.operation
    return isinstance(operation, Map) and operation.function == function and operation.source == source


def _made(planned: Planned) -> Buffer:
    return Buffer(planned.value, planned.after) if isinstance(planned, Collective) else planned.result


def _inputs(planned: Planned) -> tuple[Buffer, ...]:
    return (Buffer(planned.value, planned.before),) if isinstance(planned, Collective) else planned.operands


def _held(plan: Plan, buffer: Buffer, typed: Elements) -> sp.Expr:
    return held_bytes(plan, buffer.value, buffer.layout, typed)
