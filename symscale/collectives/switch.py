"""Time through one switch.

Every chip is one link of egress W (one way, and as much in) away from a switch that is fast enough for all.
AllGather: a chip receives the other n−1 shards, V·(n−1)/(n·W). AllToAll: it sends n−1 chunks of V/n². With
in-network reduction an AllReduce sends V up once and receives V once, at the same time: V/W.
"""

from __future__ import annotations

import sympy as sp

from symscale.collectives.model import AxisOn, Kind


def bandwidth_time(
    kind: Kind, volume: sp.Expr, axes: tuple[AxisOn, ...], *, in_network: bool = False, large: bool = False
) -> sp.Expr:
    """Return the bandwidth time of a collective over one switch [s]; joint axes share the same egress."""
    chips, egress = sp.Mul(*(axis.size for axis in axes)), axes[0].one_way
    if kind is Kind.Slice:
        return sp.S.Zero
    if kind is Kind.Permute:
        return volume / egress
    return through_uplink(kind, volume, chips, egress, in_network=in_network, large=large)


def through_uplink(
    kind: Kind,
    volume: sp.Expr,
    children: sp.Expr,
    uplink: sp.Expr,
    *,
    in_network: bool = False,
    large: bool = False,
) -> sp.Expr:
    """Return the time of what one of `children` equal parts exchanges with the others [s]."""
    if kind is Kind.AllReduce and in_network:
        return volume / uplink if children != 1 else sp.S.Zero
    share = sp.S.One if large and not children.is_Integer else (children - 1) / children
    if kind is Kind.AllToAll:
        return volume * share / children / uplink
    return (2 if kind is Kind.AllReduce else 1) * volume * share / uplink


def hops(kind: Kind) -> sp.Expr:
    """Return the steps through a switch in sequence: one, two for an AllReduce, none for a slice."""
    return sp.Integer({Kind.Slice: 0, Kind.AllReduce: 2}.get(kind, 1))
