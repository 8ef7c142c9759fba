"""The time of a permute: every send takes its way through the network, and the busiest link decides.

On a torus a send goes along one axis after the other, the shorter way round a ring, half of it each way where both are
as long; on a fat tree it leaves each group that its target is not in, and the chips of a group share its uplink.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod

import sympy as sp

from symscale.collectives import AxisOn, Kind, cost
from symscale.collectives.tree import groups_of
from symscale.frozen import dataclass
from symscale.hlo.collective import Sent
from symscale.hlo.placing import Placed


@dataclass(frozen=True)
class Way:
    """One physical axis of a torus: its mesh axis, its length, whether it closes, and its stride inside that axis."""

    axis: AxisOn
    size: int
    ring: bool
    stride: int


def busiest(sent: Sent, where: Placed) -> tuple[sp.Expr, str]:
    """Return how long the sends take [s], and in words how many share the busiest link of a torus.

    Each sends `volume` bytes: load · V / W of the link, plus hops times their time where latency counts.
    """
    pairs = [
        (_place(source, where.mesh), _place(target, where.mesh)) for source, target in sent.pairs if source != target
    ]
    if not sent.pairs:  # not written: each to its neighbour
        pairs = [(dict.fromkeys(where.mesh, 0), {name: min(1, size - 1) for name, size in where.mesh.items()})]
    volume, spent, shared = sp.Integer(sent.volume), [sp.S.Zero], Fraction(1)
    crossing = [n for n in where.axes if any(a[n] != b[n] for a, b in pairs)]
    ways = _ways([where.axes[n] for n in where.mesh if where.axes[n].kind == "torus"])
    for way, load in zip(ways, _loads(pairs, ways), strict=True):
        spent.append(volume * sp.Rational(load.numerator, load.denominator) / way.axis.one_way)
        shared = max(shared, load)
    spent += _uplinks(pairs, where.axes, volume)
    others = [where.axes[n] for n in crossing if where.axes[n].kind == "switch"]
    spent += [cost(Kind.Permute, volume, (axis,)).time for axis in others]
    return max(spent) + _latency(pairs, ways, where.axes), f"{float(shared):g} sends share a link" if shared > 1 else ""


def _place(device: int, mesh: Mapping[str, int]) -> dict[str, int]:
    """Return the coordinates of a device number, the last axis the fastest."""
    found: dict[str, int] = {}
    for name, size in reversed(list(mesh.items())):
        device, found[name] = divmod(device, size)
    return found


Pair = tuple[dict[str, int], dict[str, int]]


def _ways(axes: Sequence[AxisOn]) -> list[Way]:
    found = []
    for axis in axes:
        shape = [int(size) for size in axis.shape] or [int(axis.size)]
        rings = axis.rings or (axis.closed,) * len(shape)
        for n, (size, ring) in enumerate(zip(shape, rings, strict=True)):
            found.append(Way(axis, size, ring and size > 2, prod(shape[n + 1 :])))
    return found


def _at(place: Mapping[str, int], way: Way) -> int:
    return place[way.axis.name] // way.stride % way.size


def _loads(pairs: Sequence[Pair], ways: Sequence[Way]) -> list[Fraction]:
    """Return how many sends the busiest link of each physical axis carries, in one direction."""
    found = [Fraction(0)] * len(ways)
    # lines of chips by their other coordinates and the direction; where sends enter and leave each of their links
    changes: dict[tuple[int, tuple[int, ...], int], Counter[int]] = defaultdict(Counter)
    for source, target in pairs:
        start, end = [_at(source, way) for way in ways], [_at(target, way) for way in ways]
        for n, way in enumerate(ways):
            others = (*end[:n], *start[n + 1 :])
            for first, steps, up, half in _hops(start[n], end[n], way):
                line = changes[n, others, up]
                for low, high in _cut(first, steps, way.size):
                    line[low] += half
                    line[high] -= half
    for (n, _, _), line in changes.items():
        now = 0
        for at in sorted(line):
            now += line[at]
            found[n] = max(found[n], Fraction(now, 2))
    return found


def _hops(start: int, end: int, way: Way) -> Iterator[tuple[int, int, int, int]]:
    """Yield (lowest link, how many links, direction, halves of the send) of the ways from one place to another."""
    if start == end:
        return
    if not way.ring:
        yield min(start, end), abs(end - start), int(end > start), 2
        return
    up = (end - start) % way.size
    if 2 * up <= way.size:
        yield start, up, 1, 1 if 2 * up == way.size else 2
    if 2 * up >= way.size:
        yield end, way.size - up, 0, 1 if 2 * up == way.size else 2


def _cut(first: int, steps: int, size: int) -> list[tuple[int, int]]:
    """Return a stretch of links, from `first` on around a ring, as stretches that do not wrap."""
    last = first + steps
    return [(first, last)] if last <= size else [(first, size), (0, last - size)]


def _uplinks(pairs: Sequence[Pair], axes: Mapping[str, AxisOn], volume: sp.Expr) -> list[sp.Expr]:
    """Return how long the levels of a fat tree are busy with the sends that leave their groups [s]."""
    inside = [axis for axis in axes.values() if axis.kind == "tree"]
    if not inside:
        return []
    groups, spent = groups_of(inside[0]), []
    numbers = [tuple(sum(place[a.name] * int(a.inner) for a in inside) for place in pair) for pair in pairs]
    for level, (each, low, high) in enumerate(zip(inside[0].levels, groups, groups[1:], strict=False)):
        # a chip's own ports carry what stays in its node; every level above, what leaves its group
        leaving = [
            (a // low, b // low) for a, b in numbers if a // low != b // low and (level or a // high == b // high)
        ]
        most = max((*Counter(a for a, _ in leaving).values(), *Counter(b for _, b in leaving).values()), default=0)
        spent.append(volume * most / each.bandwidth)
    return spent


def _latency(pairs: Sequence[Pair], ways: Sequence[Way], axes: Mapping[str, AxisOn]) -> sp.Expr:
    """Return the hops of the longest way times their time [s]; none where latency does not count."""

    def one(source: Mapping[str, int], target: Mapping[str, int]) -> sp.Expr:
        found = sp.S.Zero
        for way in ways:
            apart = abs(_at(source, way) - _at(target, way))
            found += (min(apart, way.size - apart) if way.ring else apart) * (way.axis.hop or sp.S.Zero)
        return found

    far = max((one(*pair) for pair in pairs), default=sp.S.Zero)
    crossed = [each for n, each in axes.items() if each.kind != "torus" and any(a[n] != b[n] for a, b in pairs)]
    return far + sp.Add(*(cost(Kind.Permute, sp.S.One, (each,)).latency for each in crossed))
