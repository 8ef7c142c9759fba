"""A collective on its own as a step: which levels of a network it passes, and how long each is busy."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.collectives import (
    Cost,
    Kind,
    all_reduce,
    cost,
    laid,
    lies,
    point_to_point,
    reducing,
    stepwise,
    total_time,
)
from symscale.derivation.proof import Equal
from symscale.derivation.step import Step
from symscale.machine import Machine
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

# What the price of a Permute on a torus takes for granted.
NEIGHBOURS = (
    "A Permute counts as one hop: each chip sends to a neighbour, and no two shards share a link (a lower bound where "
    "they go further)."
)


def collective_step(
    kind: str,
    volume: sp.Expr,
    mesh: Mapping[str, sp.Expr],
    over: tuple[str, ...],
    chip: Machine | None,
    placement: Mapping[str, sp.Expr | str],
    *,
    in_network: bool = False,
    copies: sp.Expr | None = None,
    latency: bool = False,
    both_ways: bool = True,
) -> tuple[Cost, Step]:
    """Return what a collective of V bytes costs over some axes of a mesh, and the step that says so.

    Raises MachineError where the mesh does not fit the network.
    """
    axes = laid(mesh, chip, placement, latency=latency)
    if in_network:
        reducing(axes, chip)
    spanned = tuple(axes[name] for name in over)
    found = cost(kind, volume, spanned, in_network=in_network, copies=copies, bidirectional=both_ways)
    again = cost(kind, sp.S.One, spanned, in_network=in_network, copies=copies, bidirectional=both_ways)
    equations = [Relation(symbol(f"T_{name}"), "==", spent) for name, spent in found.levels]
    proofs = [spent * volume for _, spent in again.levels]
    if len(equations) < 2:
        equations, proofs = [], []
    equations.append(Relation(symbol("T_comms"), "==", total_time(found, latency=latency)))
    proofs.append(_again(again, volume, latency))
    where = "; ".join(
        f"{name}: {f'{axis.size} chips on ' if axis.size.is_Integer else ''}{lies(axis)}" for name, axis in axes.items()
    )
    said = f"{where}. All chips work at the same pace (no stragglers)."
    if found.kind is Kind.Permute and any(axis.kind == "torus" for axis in spanned):
        said += f" {NEIGHBOURS}"
    if not both_ways:
        said += " Everything turns one way around."
    if in_network:
        said += " The switches add up."
    title = f"{Kind(kind)} over {', '.join(over)}"
    if copies is not None:
        title += f", each token to {copies} of the chips"
    return found, Step("count", title, said, tuple(equations), (Equal(tuple(proofs)),))


def _again(unit: Cost, volume: sp.Expr, latency: bool) -> sp.Expr:
    moved = volume * unit.time
    if not latency or unit.latency == 0:
        return moved
    return moved + unit.latency if unit.kind is Kind.Permute else sp.Max(moved, unit.latency, evaluate=False)


def algorithm_step(
    algorithm: str, volume: sp.Expr, chips: sp.Expr, egress: sp.Expr, hop: sp.Expr
) -> tuple[sp.Expr, Step]:
    """Return the time of an AllReduce through one switch by a ring or two trees, and the step that says so."""
    found = all_reduce(algorithm, volume, chips, egress, hop)
    unit = all_reduce(algorithm, sp.S.One, chips, egress, sp.S.One)
    proof = Equal((volume * unit.time + hop * unit.latency,))
    way = "in a ring" if algorithm == "ring" else "up and down two binary trees"
    said = "Every step waits for the one before: latency adds to the transfer. All chips work at the same pace."
    return stepwise(found), Step(
        "count", f"AllReduce {way}", said, (Relation(symbol("T_comms"), "==", stepwise(found)),), (proof,)
    )


def sending_step(volume: sp.Expr, paths: int, hops: int, egress: sp.Expr, hop: sp.Expr) -> tuple[sp.Expr, Step]:
    """Return the time of sending bytes from one chip to another over disjoint paths, and the step that says so."""
    found = total_time(point_to_point(volume, egress, paths=paths, hops=hops, hop=hop))
    proof = Equal((hops * hop + volume / paths / egress,))
    said = (
        f"The first byte takes {hops} hop{'s' * (hops > 1)}, and the rest follows on {paths} path{'s' * (paths > 1)}."
    )
    return found, Step("count", "From chip to chip", said, (Relation(symbol("T_comms"), "==", found),), (proof,))
