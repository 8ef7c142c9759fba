"""Partitioning: a sharded program becomes local operations and collectives, forward, backward and update."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import sympy as sp

from symscale.array import Program
from symscale.array.element import Elements, elements
from symscale.partition.backward import Backward, plan_update
from symscale.partition.forward import Schedule, plan_forward
from symscale.partition.plan import PASSES, Alternative, Buffer, Choice, Collective, Local, Plan, Planned
from symscale.partition.price import Pricing, primal
from symscale.partition.reshard import reshard

__all__ = [
    "PASSES",
    "Alternative",
    "Buffer",
    "Choice",
    "Collective",
    "Local",
    "Plan",
    "Planned",
    "partition",
    "primal",
    "reshard",
]


def partition(
    program: Program,
    *,
    typed: Elements | None = None,
    values: Mapping[sp.Symbol, sp.Expr] | None = None,
    backward: bool = True,
    regather: bool = False,
) -> Plan:
    """Return the plan of a program: local operations and the collectives between them, per pass.

    `typed` gives the element sizes by which choice points are priced and `values` the sizes already known;
    `regather` frees gathered activations after the forward pass. Raises LayoutError where layouts do not fit.
    """
    pricing = Pricing(program, typed or elements(program), values or {})
    ahead, back, after = (Schedule(pricing) for _ in range(3))
    stored = plan_forward(program, ahead)
    gradients: dict[str, Buffer] = {}
    if backward:
        gradients = Backward(program, ahead.planned, stored, back, regather).run()
        plan_update(program, gradients, stored, after)
    return Plan(
        program,
        {"forward": tuple(ahead.planned), "backward": tuple(back.planned), "update": tuple(after.planned)},
        {"forward": tuple(ahead.choices), "backward": tuple(back.choices), "update": tuple(after.choices)},
        gradients,
        {name: Buffer(name, layout) for name, layout in stored.items()},
    )


class _Package(ModuleType):
    """`from symscale import partition` gives this package; called, it plans a program."""

    def __call__(self, program: Program, **options: Any) -> Plan:
        return partition(program, **options)


sys.modules[__name__].__class__ = _Package
