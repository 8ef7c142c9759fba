"""AllReduce through one switch by messages between chips, step after step: a ring, and a pair of binary trees.

Here latency adds to the transfer, as every step waits for the one before (the pipelined bound of `cost` is the
larger of the two). Ring: 2·(n − 1) steps of V/n each, so 2·(n − 1)·T_hop + 2·V·(n − 1)/(n·W). Double binary tree:
two trees carry half of the array each, and a chip that is a leaf of the one is an inner node of the other, so it sends
V on the way up and V on the way down, in many small pieces: 2·log2(n)·T_hop + 2·V/W.
"""

from __future__ import annotations

from enum import StrEnum

import sympy as sp

from symscale.collectives.model import Cost, Kind, exact


class Algorithm(StrEnum):
    """How an AllReduce goes through a switch: in a ring of chips, or up and down two binary trees."""

    Ring = "ring"
    Tree = "tree"


def all_reduce(
    algorithm: Algorithm | str,
    volume: sp.Expr,
    chips: int | sp.Expr,
    egress: sp.Expr,
    hop: sp.Expr,
    *,
    resource: str = "nvlink",
) -> Cost:
    """Return what an AllReduce of V bytes costs by an algorithm; `stepwise` is its whole time.

    `egress` is what one chip sends through the switch [B/s, one way], `hop` the latency of one step [s].
    ValueError for an unknown algorithm.
    """
    n, ring = exact(chips), Algorithm(algorithm) is Algorithm.Ring
    share = (n - 1) / n if ring else sp.S.One
    steps = n - 1 if ring else sp.log(n, 2)
    time, latency, limit = 2 * volume * share / egress, 2 * steps * hop, 2 * volume / egress
    return Cost(Kind.AllReduce, time, latency, 2 * volume * share, (), (resource,), limit, latency)


def stepwise(cost: Cost) -> sp.Expr:
    """Return the time of a collective whose steps wait for each other: latency plus transfer [s]."""
    return cost.latency + cost.time
