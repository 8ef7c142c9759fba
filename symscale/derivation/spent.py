"""Times as a step, and the same times put together again from the collectives one by one."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symscale.collectives import total_time
from symscale.cost import Times, resource_of
from symscale.derivation.layer import Layer
from symscale.derivation.proof import Dimensioned, Equal
from symscale.derivation.step import Step
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol


def times_step(layer: Layer, passes: str, names: Sequence[str], found: Times, *, overlap: str, latency: bool) -> Step:
    """Return the step that writes down the times of the passes `names` together."""
    equations, proofs = [], []
    if found.math != 0:
        equations.append(Relation(symbol("T_math"), "==", found.math))
        proofs.append(_math_again(layer, names))
    if found.hbm != 0:
        equations.append(Relation(symbol("T_hbm"), "==", found.hbm))
        proofs.append(sp.Add(*(layer.costs[name].hbm_bytes for name in names)) / symbol("W_hbm"))
    several = len(found.axes) > 1
    for axis, spent in found.axes.items() if several else ():
        equations.append(Relation(symbol(f"T_{axis}"), "==", spent))
        proofs.append(_axis_again(layer, names, axis, latency))
    if found.comms != 0:
        equations.append(Relation(symbol("T_comms"), "==", found.comms))
        proofs.append(_comms_again(layer, names, overlap, latency))
    title = "Both passes together: times" if passes == "both" else f"{passes.capitalize()} pass: times"
    checks = (Equal(tuple(proofs)), Dimensioned(unit="s"))
    return Step("substitute", title, _assumed(overlap, several), tuple(equations), checks)


def _assumed(overlap: str, several: bool) -> str:
    reason = "FLOPs over the peak, bytes over the bandwidth, per chip."
    if overlap == "sum":
        return reason + " Nothing overlaps (upper bound)."
    if several and overlap == "axes-serial":
        return reason + " The mesh axes communicate one after the other, behind the arithmetic."
    if several:
        return reason + " The mesh axes communicate at the same time, behind the arithmetic."
    return reason + " Communication overlaps with the arithmetic (lower bound)."


def _math_again(layer: Layer, names: Sequence[str]) -> sp.Expr:
    if len(layer.kinds) == 1:
        return sp.Add(*(layer.costs[name].total_flops for name in names)) / symbol("C")
    parts = [(kind, work) for name in names for kind, work in layer.costs[name].flops.items()]
    return sp.Add(*(work / symbol(f"C_{kind}") for kind, work in parts))


def _axis_again(layer: Layer, names: Sequence[str], axis: str, latency: bool) -> sp.Expr:
    return sp.Add(
        *(
            total_time(each.cost, latency=latency)
            for name in names
            for each in layer.costs[name].transfers
            if any(resource_of(layer.axes[a]) == axis for a in each.collective.axes)
        )
    )


def _comms_again(layer: Layer, names: Sequence[str], overlap: str, latency: bool) -> sp.Expr:
    transfers = [each for name in names for each in layer.costs[name].transfers]
    if overlap != "max":
        return sp.Add(*(total_time(each.cost, latency=latency) for each in transfers))
    resources = dict.fromkeys(resource_of(layer.axes[a]) for each in transfers for a in each.collective.axes)
    return sp.Max(*(_axis_again(layer, names, each, latency) for each in resources), evaluate=False)
