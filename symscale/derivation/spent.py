"""Times as a step, and the same times put together again from the collectives one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.collectives import total_time
from symscale.cost import Times, Transfer, loads
from symscale.derivation.layer import Layer
from symscale.derivation.networks import NEIGHBOURS
from symscale.derivation.proof import Dimensioned, Equal, Evaluated, Longest
from symscale.derivation.step import Proof, Prose, Step
from symscale.machine import Machine
from symscale.solve.relation import Relation, sign_of_number
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

    def sent(name: str) -> Sequence[Transfer]:
        return layer.costs[name].transfers

    for axis, spent in found.axes.items() if several else ():
        equations.append(Relation(symbol(f"T_{axis}"), "==", spent))
        proofs.append(_axis_again(layer, names, axis, latency))
    if found.comms != 0:
        equations.append(Relation(symbol("T_comms"), "==", found.comms))
        proofs.append(_comms_again(layer, names, overlap, latency))
    title = "Both passes together: times" if passes == "both" else f"{passes.capitalize()} pass: times"
    tree = bool(found.axes) and not any(axis in layer.axes for axis in found.axes) and "tree" in found.networks
    checks = (Equal(tuple(proofs), frozenset(layer.mesh_symbols)), Dimensioned(unit="s", counts=layer.counted))
    reason = _assumed(overlap, several if found.comms != 0 else None, tree)
    kinds = {(each.collective.kind, layer.axes[each.collective.axes[0]].kind) for name in names for each in sent(name)}
    if ("Permute", "torus") in kinds:
        reason += f" {NEIGHBOURS}"
    return Step("substitute", title, reason, tuple(equations), checks)


def _assumed(overlap: str, several: bool | None, tree: bool = False) -> str:
    """Return what the times take for granted; `several` resources communicate, one, or none at all (None)."""
    reason = "FLOPs over the peak, bytes over the bandwidth, per chip."
    if several is not None:
        reason += " All chips work at the same pace (no stragglers)."
    if overlap == "sum":
        return reason + " Nothing overlaps (upper bound)."
    what = "levels of the fat tree" if tree else "mesh axes"
    if several and overlap == "axes-serial":
        return reason + f" The {what} communicate one after the other, behind the arithmetic."
    if several:
        return reason + f" The {what} communicate at the same time, behind the arithmetic."
    return reason + " Communication overlaps with the arithmetic (lower bound)."


def _math_again(layer: Layer, names: Sequence[str]) -> sp.Expr:
    if len(layer.kinds) == 1:
        return sp.Add(*(layer.costs[name].total_flops for name in names)) / symbol("C")
    parts = [(kind, work) for name in names for kind, work in layer.costs[name].flops.items()]
    return sp.Add(*(work / symbol(f"C_{kind}") for kind, work in parts))


def _axis_again(layer: Layer, names: Sequence[str], axis: str, latency: bool) -> sp.Expr:
    found = [loads(each, layer.axes, latency) for name in names for each in layer.costs[name].transfers]
    return sp.Add(*(each[axis] for each in found if axis in each))


def _comms_again(layer: Layer, names: Sequence[str], overlap: str, latency: bool) -> sp.Expr:
    transfers = [each for name in names for each in layer.costs[name].transfers]
    if overlap != "max":
        return sp.Add(*(total_time(each.cost, latency=latency) for each in transfers))
    resources = dict.fromkeys(key for each in transfers for key in loads(each, layer.axes))
    return sp.Max(*(_axis_again(layer, names, each, latency) for each in resources), evaluate=False)


def in_numbers(
    name: str, found: Times, known: Mapping[sp.Symbol, sp.Expr], chip: Machine | None, layers: sp.Expr = sp.S.One
) -> list[Step]:
    """Return the step with the times of a pass as numbers [s], and what takes the longest if all of them are known.

    No step where every time still has a symbol.
    """
    parts = _parts(found, layers)
    numeric = [(key, spent) for key, spent in parts if not (spent.free_symbols - set(known))]
    if not numeric or all(not spent.free_symbols for _, spent in numeric):
        return []
    equations = tuple(Relation(symbol(key), "==", spent.xreplace(known)) for key, spent in numeric)
    values = tuple(known.items())
    proofs: list[Proof] = [
        Evaluated(tuple(spent for _, spent in numeric), values, chip.name if chip is not None else "")
    ]
    words: tuple[Prose, ...] = ()
    if len(numeric) == len(parts):
        what = [("compute", "T_math"), ("the network", "T_comms"), ("HBM", "T_hbm")]
        times = dict(numeric)
        compared = tuple((word, times[key]) for word, key in what if key in times)
        longest = bound([(word, spent.xreplace(known)) for word, spent in compared])
        proofs.append(Longest(compared, values, longest))
        words = (f"{longest[:1].upper()}{longest[1:]} takes the longest: it binds.",)
    title = "Both passes together" if name == "both" else f"{name.capitalize()} pass"
    title += f": times of {layers} layers in numbers" if layers != 1 else ": times in numbers"
    title += f" on {chip.title}" if chip is not None else ""
    units = ("s",) * len(equations)
    return [Step("evaluate", title, "Put in the numbers.", equations, tuple(proofs), words, (), units)]


def _parts(found: Times, layers: sp.Expr) -> list[tuple[str, sp.Expr]]:
    axes = [(f"T_{axis}", spent) for axis, spent in found.axes.items()] if len(found.axes) > 1 else []
    parts = [("T_math", found.math), ("T_hbm", found.hbm), *axes, ("T_comms", found.comms)]
    return [(key, layers * spent) for key, spent in parts if spent != 0]


def bound(times: Sequence[tuple[str, sp.Expr]]) -> str:
    """Return the word of the longest time; the first of several that are equal."""
    longest = times[0]
    for each in times[1:]:
        if sign_of_number(each[1], longest[1]) > 0:
            longest = each
    return longest[0]
