"""What is priced: kinds of collectives, a mesh axis laid on a network, and the cost that comes out."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import sympy as sp

from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.machine.model import LINK, Level, Network, wraps
from symscale.quantity.extrema import maximum
from symscale.vocabulary import symbol

W_ICI, W_LINK = symbol("W_ici"), symbol("W_link")


class Kind(StrEnum):
    """The collectives a change of layout can need; Permute is point to point, Slice is free."""

    AllGather = "AllGather"
    ReduceScatter = "ReduceScatter"
    AllReduce = "AllReduce"
    AllToAll = "AllToAll"
    Permute = "Permute"
    Slice = "Slice"


KINDS = tuple(Kind)


@dataclass(frozen=True)
class AxisOn:
    """A mesh axis of `size` chips laid on a network.

    `bandwidth` [B/s] is both directions of one physical axis (torus) or a chip's egress (switch), `one_way`
    one direction of one link (or the same egress); `links` is the number of physical axes it spans (M_X),
    `shape` their sizes where known and `rings` which of them close; `hop` the latency of one hop [s], None to
    leave latency out.

    On a fat tree with the switches `levels`, `inner` chips of other axes lie inside the axis, `level` is the one
    it was placed on and `within` the group that it does not leave, if its size is a symbol.
    """

    name: str
    size: sp.Expr
    network: str = "ici"
    kind: str = "torus"
    links: sp.Expr = sp.S.One
    wraps: bool = True
    bandwidth: sp.Expr = W_ICI
    one_way: sp.Expr = W_LINK
    hop: sp.Expr | None = None
    tier: int = 0
    shape: tuple[sp.Expr, ...] = ()
    rings: tuple[bool, ...] = ()
    levels: tuple[Level, ...] = ()
    inner: sp.Expr = sp.S.One
    level: int | None = None
    within: int | None = None
    numeric: bool = False

    @property
    def closed(self) -> bool:
        """Whether the axis is a ring; two chips share one link, whatever the rule says."""
        return self.wraps and not (self.size.is_Integer and self.size <= 2)


@dataclass(frozen=True)
class Cost:
    """What a collective costs, per chip.

    `time` is the exact bandwidth time [s] and `limit` its form for large axes (X ≫ 1); `latency` is hops ×
    hop time [s] and `latency_limit` its form for large axes; `received` are the bytes that a chip keeps of
    what it receives, `per_axis` the same split equally over the joint axes, `resources` the networks in use;
    `reduced` says that the switches added up, `levels` how long each level of a fat tree is busy [s].
    """

    kind: Kind
    time: sp.Expr
    latency: sp.Expr
    received: sp.Expr
    per_axis: tuple[tuple[str, sp.Expr], ...]
    resources: tuple[str, ...]
    limit: sp.Expr
    latency_limit: sp.Expr
    reduced: bool = False
    levels: tuple[tuple[str, sp.Expr], ...] = ()


def axis_on(
    name: str,
    size: int | sp.Expr,
    network: Network,
    *,
    links: int | sp.Expr = 1,
    closed: bool | None = None,
    latency: bool = False,
    shape: tuple[int, ...] = (),
    rings: tuple[bool, ...] = (),
    level: int | None = None,
    numeric: bool = False,
) -> AxisOn:
    """Lay a mesh axis on a machine's network, wrapping by the network's rule unless `closed` says otherwise.

    Bandwidth and hop time are the network's symbols, or its numbers if `numeric`; MachineError without one.
    Networks further out (tier 1) have no T_hop, only a number of their own. On a fat tree the axis lies alone,
    from the chips up or from `level` on; `nested` lays several inside each other.
    """
    size, links = exact(size), exact(len(shape) or links)
    if closed is None:
        closed = all(rings) if rings else _closed(network, size, links, shape)
    torus = network.kind == "torus"
    both = _value(network, network.symbol, network.both if torus else network.one_way, numeric)
    one_way = _value(network, LINK if torus else network.symbol, network.one_way, numeric)
    hop = _hop(network, numeric) if latency else None
    sizes = tuple(sp.Integer(s) for s in shape)
    return AxisOn(
        name,
        size,
        network.name,
        network.kind,
        links,
        closed,
        both,
        one_way,
        hop,
        network.tier,
        sizes,
        rings,
        levels=network.levels if network.kind == "tree" else (),
        level=level,
        numeric=numeric,
    )


def _closed(network: Network, size: sp.Expr, links: sp.Expr, shape: tuple[int, ...]) -> bool:
    if shape:
        return all(wraps(network, length) for length in shape)
    return not links.is_Integer or wraps(network, size, int(links))


def _hop(network: Network, numeric: bool) -> sp.Expr | None:
    # T_hop is the hop of the network between neighbours; one further out has its own number, or none.
    return network.hop_time if network.tier else _value(network, "T_hop", network.hop_time, numeric)


def _value(network: Network, name: str, number: sp.Rational | None, numeric: bool) -> sp.Expr:
    if not numeric:
        return symbol(name)
    if number is None:
        raise MachineError(
            f"The network {network.name} has no number for {name}.", hint="Give one in the machine's file."
        )
    return number


def exact(value: int | sp.Expr) -> sp.Expr:
    """Return an int as a sympy Integer, an expression as it is."""
    return sp.Integer(value) if isinstance(value, int) else value


def slowest(times: list[sp.Expr]) -> sp.Expr:
    """Return the largest of the times; one alone is not examined."""
    return times[0] if len(times) == 1 else maximum(*times)


def physical(axes: tuple[AxisOn, ...]) -> tuple[AxisOn, ...]:
    """Replace each axis of known shape by the physical axes it spans."""
    found: list[AxisOn] = []
    for axis in axes:
        rings = axis.rings or (axis.wraps,) * len(axis.shape)
        found += [
            replace(axis, size=size, links=sp.S.One, shape=(), rings=(), wraps=ring)
            for size, ring in zip(axis.shape, rings, strict=True)
        ] or [axis]
    return tuple(found)
