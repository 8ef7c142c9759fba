"""Time on rings, lines and tori, from the schedule of one step.

AllGather on a ring of X, volume V: every chip needs the other X−1 shards of V/X bytes. In a step each chip
passes one shard on to the right and one to the left, which takes (V/X)/W_link. An odd ring is done after
(X−1)/2 steps. An even one has a last shard, the one across the ring, which comes half from each side:
X/2 − 1 whole steps and one half step, (X−1)/2 again. So

    T = (X−1)/2 · (V/X)/W_link = V·(X−1)/(X·W),   W = 2·W_link.

On a line the chip at an end has one link, and all X−1 shards come through it: (X−1)·(V/X)/W_link. A
ReduceScatter is the same schedule backwards; an AllReduce is both. Over several axes the array is cut into
parts that go through the axes in different orders, so all links work all the time and bandwidths add:
T = V·(n−1)/(n·ΣW) with n the product of the sizes.

AllToAll on a ring: a chip has X chunks of V/X² bytes for the chips at distances 0…X−1; the shortest paths are
⌊X/2⌋·⌈X/2⌉ chunk-hops per chip, shared by its two outgoing links: V·⌊X/2⌋·⌈X/2⌉/(X²·W). On a torus of n chips
each axis of length X_i carries (V/n)·⌊X_i/2⌋·⌈X_i/2⌉/X_i bytes per chip, and the longest one takes longest.
"""

from __future__ import annotations

import sympy as sp

from symscale.collectives.model import AxisOn, Kind, slowest

# The stated convention for an AllToAll on a line is V/(2·W_link). The bound from the middle link, which the
# simulator in tests/ reaches, is half of it, V/(4·W_link) = V/(2·W): set this to 1 for the tight value.
LINE_DETOUR = 1


def bandwidth_time(
    kind: Kind, volume: sp.Expr, axes: tuple[AxisOn, ...], *, bidirectional: bool = True, large: bool = False
) -> sp.Expr:
    """Return the bandwidth time of a collective over torus axes [s]; `large` gives the form for X ≫ 1."""
    if kind is Kind.Slice:
        return sp.S.Zero
    if kind is Kind.Permute:
        return volume / (axes[0].links * axes[0].one_way)
    chips = sp.Mul(*(axis.size for axis in axes))
    if kind is Kind.AllToAll:
        return volume / chips * slowest([exchange(axis, bidirectional, large) for axis in axes])
    share = sp.S.One if large and not chips.is_Integer else (chips - 1) / chips
    gather = volume * share / sp.Add(*(rate(axis, bidirectional) for axis in axes))
    return 2 * gather if kind is Kind.AllReduce else gather


def rate(axis: AxisOn, bidirectional: bool) -> sp.Expr:
    """Return the bandwidth into the chip that receives slowest [B/s]: one link if at the end of a line."""
    return axis.links * (axis.bandwidth if axis.closed and bidirectional else axis.one_way)


def exchange(axis: AxisOn, bidirectional: bool, large: bool) -> sp.Expr:
    """Return the time an axis takes for its part of an AllToAll, per byte that a chip holds [s/B].

    Only the axis's length counts: spanning more physical axes does not help a ring of this length.
    """
    size = axis.size
    if axis.closed and not bidirectional:
        return (size if large and not size.is_Integer else size - 1) / (2 * axis.one_way)
    distance = size / 4 if large and not size.is_Integer else sp.floor(size / 2) * sp.ceiling(size / 2) / size
    return distance / axis.bandwidth if axis.closed else LINE_DETOUR * distance / axis.one_way


def hops(kind: Kind, axes: tuple[AxisOn, ...], *, bidirectional: bool = True, large: bool = False) -> sp.Expr:
    """Return the hops in sequence: ⌊X/2⌋ per ring, X−1 per line or one-way ring, twice for AllReduce."""
    if kind in (Kind.Slice, Kind.Permute):
        return sp.Integer(int(kind is Kind.Permute))
    total = sp.Add(*(_hops(axis, bidirectional, large and not axis.size.is_Integer) for axis in axes))
    return 2 * total if kind is Kind.AllReduce else total


def _hops(axis: AxisOn, bidirectional: bool, large: bool) -> sp.Expr:
    if axis.closed and bidirectional:
        return axis.size / 2 if large else sp.floor(axis.size / 2)
    return axis.size if large else axis.size - 1
