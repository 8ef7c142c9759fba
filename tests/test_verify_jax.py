"""The partitioner against a compiler: the same programs, compiled by JAX for eight CPU devices (`make verify`).

Compared for each program, forward and backward (the backward with the update where an optimizer state or gradient
has a layout of its own): every collective by kind, mesh axes and bytes, and the FLOPs of the products. The CPU compiler
writes a ReduceScatter as an AllReduce and a slice, which counts as one; a chain of gathers or reductions of one array
over several axes counts as one over all of them. Any other difference stands in DIFFERENCES with its reason.
"""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest
import sympy as sp

if importlib.util.find_spec("jax"):
    # Both are read once, when jax is imported.
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
pytest.importorskip("jax", reason="jax is not installed: pip install 'symscale[verify]', or make verify")

from jax_judge import Judge
from jax_programs import CASES, SIZES, Case

from symscale.array.element import Elements, elements
from symscale.collectives import AxisOn
from symscale.cost.tally import Transfer, tally
from symscale.notation.elaborate import elaborate
from symscale.partition import Plan, partition

if TYPE_CHECKING:
    from jax_module import Found

pytestmark = pytest.mark.verify

FLOPS_WITHIN = 0.02
DIFFERING_PROGRAMS = 0.10

REASONS = {}

DIFFERENCES: dict[tuple[str, str], str] = {}


def planned(case: Case) -> tuple[Plan, Elements]:
    """Return our plan of a case and its element sizes, all in fp32."""
    dims = elaborate(case.text).sizes
    sizes = {dim: sp.Integer({**SIZES, **case.sizes}[dim]) for dim in dims}
    program = elaborate(case.text, mesh={axis: sp.Integer(size) for axis, size in case.mesh.items()}, sizes=sizes)
    typed = elements(program, "fp32")
    return partition(program, typed=typed, values=typed.numbers), typed


def ours(case: Case, name: str) -> tuple[Counter[Found], int]:
    """Return the collectives and the FLOPs of our plan; the update belongs to the backward pass here."""
    plan, typed = planned(case)
    axes = {axis: AxisOn(axis, size) for axis, size in plan.program.mesh.items()}
    costs = [tally(plan, each, typed, axes) for each in (("forward",) if name == "forward" else ("backward", "update"))]
    transfers = [transfer for cost in costs for transfer in cost.transfers]
    return Counter(joined(transfers, typed)), int(sp.Add(*(cost.total_flops for cost in costs)))


def joined(transfers: Iterable[Transfer], typed: Elements) -> list[Found]:
    """Join a chain of gathers (of scatters) of one value over several axes: their order is no difference."""
    found: list[Found] = []
    last: Transfer | None = None
    for each in transfers:
        now = each.collective
        kind, axes = str(now.kind), now.axes
        size = int(each.volume.xreplace(dict(typed.numbers)))
        if last is not None and last.collective.kind == kind and last.collective.after == now.before:
            if last.collective.value == now.value and kind in ("AllGather", "ReduceScatter"):
                _, before, first = found.pop()
                axes, size = (*before, *axes), size if kind == "AllGather" else first
        found.append((kind, tuple(sorted(axes)), size))
        last = each
    return found


def shown(found: Counter[Found]) -> str:
    """Return collectives in one line, without bytes: `2 AllGather_X, AllReduce_XY`."""
    short = Counter(f"{kind}_{''.join(axes)}" for kind, axes, _ in found.elements())
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in sorted(short.items())) or "nothing"


def difference(case: Case, name: str) -> str:
    """Return what our plan and the compiled module do not share, or ''."""
    mine, flops = ours(case, name)
    theirs = getattr(Judge(planned(case)[0]), name)()
    said = []
    if mine != theirs.collectives:
        said.append(f"{shown(mine - theirs.collectives)} | {shown(theirs.collectives - mine)}")
    counted = theirs.counted_flops if flops >= 1e6 else flops  # without a product of note the compiler counts the rest
    if flops != theirs.dot_flops or abs(counted - flops) > FLOPS_WITHIN * flops:
        said.append(f"FLOPs {flops:.3g} | {theirs.dot_flops:.3g}")
    return "; ".join(said)


@pytest.mark.parametrize("name", ["forward", "backward"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_compiler_does_what_the_plan_says(case: Case, name: str) -> None:
    found = difference(case, name)
    explained = DIFFERENCES.get((case.name, name))
    if explained is None:
        assert found == "", f"{case.text} on {dict(case.mesh)}, {name} (ours | the compiler's)"
    else:
        assert found == explained, "the difference is another one than the table says: change or remove its row"


def test_enough_programs_and_few_differences() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) >= 40
    assert {name for name, _ in DIFFERENCES} <= set(names)
    assert len({name for name, _ in DIFFERENCES}) <= DIFFERING_PROGRAMS * len(names)
