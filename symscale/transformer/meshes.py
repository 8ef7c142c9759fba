"""Meshes: every way to lay the axes of a strategy on the chips of a cluster, and what its networks cost per byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import prod

import sympy as sp

from symscale.collectives import AxisOn, axis_on, cost, laid
from symscale.errors import MachineError, ModelError
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.machine.model import Network
from symscale.transformer.config import Attention, Config
from symscale.transformer.footprint import Use

#: The axes from the outside in: the last one lies on the nearest chips.
ORDER = ("pipe", "data", "fsdp", "expert", "context", "tensor")
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Limits:
    """What the sizes of a model allow: which axis has to divide what."""

    layers: int
    sequences: int
    length: int
    heads: int
    widths: tuple[int, ...]
    experts: int
    rows: int


def limits(config: Config, tokens: int, length: int, heads: str = "K") -> Limits:
    """Return the limits of a model, with `tensor` splitting key/value heads (K) or the queries of each (G)."""
    if tokens % length:
        raise ModelError(
            f"{tokens:,} tokens are not whole sequences of {length:,}.", hint="Give a multiple of the sequence length."
        )
    attention = config.attention
    if isinstance(attention, Attention):
        own = attention.K if heads == "K" else attention.N_heads // attention.K
    else:
        own = attention.N_heads
    mlp, experts = config.mlp, config.experts
    widths = [mlp.F] if mlp is not None else []
    widths += [width for width in (experts.F, experts.F_shared) if width] if experts is not None else []
    count = experts.E if experts is not None else 1
    return Limits(config.L, tokens // length, length, own, tuple(widths), count, config.D)


def meshes(chips: int, limit: Limits) -> Iterator[Sizes]:
    """Yield the sizes of the axes in `ORDER` of every mesh of exactly so many chips that the limits allow."""
    for tensor in _divisors(chips):
        if limit.heads % tensor or any(width % tensor for width in limit.widths):
            continue
        for context in _divisors(chips // tensor):
            if limit.length % (context * tensor):
                continue
            for expert in _divisors(chips // (tensor * context)):
                if limit.experts % expert:
                    continue
                left = chips // (tensor * context * expert)
                for fsdp in _divisors(left):
                    if limit.rows % (fsdp * expert) or limit.sequences % (fsdp * expert):
                        continue
                    for data in _divisors(left // fsdp):
                        pipe = left // (fsdp * data)
                        if pipe <= limit.layers and limit.sequences % (data * fsdp * expert) == 0:
                            yield (pipe, data, fsdp, expert, context, tensor)


def microbatches(sequences: int) -> list[int]:
    """Return the numbers of microbatches: powers of two that divide the sequences of a replica, and all of them."""
    powers = [2**n for n in range(sequences.bit_length()) if sequences % 2**n == 0]
    return sorted({*powers, sequences})


@lru_cache(maxsize=4096)
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(sp.divisors(number))


@dataclass(frozen=True)
class Piece:
    """A part of a physical axis: `size` chips of `whole`, `stride` apart because other axes lie between them."""

    axis: int
    size: int
    whole: int
    stride: int

    def links(self, ring: bool) -> sp.Rational:
        """Return the piece's part of the axis's bandwidth: half for a line, 1/stride where others share the links."""
        closes = ring and self.size * self.stride == self.whole and self.size > 2
        return sp.Rational(1 if closes else sp.Rational(1, 2)) / self.stride


@dataclass(frozen=True)
class Place:
    """Where an axis lies: outside `inner` chips of other axes on switches, on pieces of physical axes on a torus."""

    axis: str
    size: int
    inner: int = 1
    pieces: tuple[Piece, ...] = ()


def placed(sizes: Sizes, cluster: Machine) -> dict[str, Place] | None:
    """Return where the axes of a mesh lie, the last one on the nearest chips; None if they do not fit a torus."""
    network = cluster.main_network
    if network is None or network.kind != "torus":
        inner = [prod(sizes[at + 1 :]) for at in range(len(sizes))]
        return {axis: Place(axis, *both) for axis, both in zip(ORDER, zip(sizes, inner, strict=True), strict=True)}
    pieces = split(sizes, network.pod)
    if pieces is None:
        return None
    return {axis: Place(axis, size, pieces=found) for axis, size, found in zip(ORDER, sizes, pieces, strict=True)}


def _merged(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return axes on switches as one where the next lies right outside the one before."""
    found: list[Place] = []
    for place in sorted(places, key=lambda each: each.inner):
        last = found[-1] if found else None
        if last is not None and not (last.pieces or place.pieces) and last.inner * last.size == place.inner:
            found[-1] = Place("joint", last.size * place.size, last.inner)
        else:
            found.append(replace(place, axis="joint") if not place.pieces else place)
    return tuple(found)


class UnitCosts:
    """What a cluster's networks take for one byte of V [s/B], each collective on each place computed once."""

    def __init__(self, cluster: Machine) -> None:
        self.cluster = cluster
        self._known: dict[tuple[str, tuple[Place, ...]], float | None] = {}

    def of(self, use: Use, places: Mapping[str, Place]) -> float | None:
        """Return the unit cost of a collective; 0 over one chip, None where the axes do not fill whole groups."""
        key = use.kind, _merged([places[axis] for axis in use.axes if places[axis].size != 1])
        if key not in self._known:
            self._known[key] = self._cost(*key)
        return self._known[key]

    def _cost(self, kind: str, places: tuple[Place, ...]) -> float | None:
        if not places:
            return 0.0
        try:
            return float(cost(kind, sp.S.One, tuple(self._laid(place) for place in places)).time)
        except MachineError:
            return None

    def _laid(self, place: Place) -> AxisOn:
        network = self.cluster.main_network
        if network is not None and network.kind == "torus":
            return _on_torus(place, network)
        mesh = {place.axis: sp.Integer(place.size), "inside": sp.Integer(place.inner)}  # the last one lies inside
        return laid(mesh, self.cluster, {}, numeric=True)[place.axis]


@lru_cache(maxsize=65536)
def split(sizes: Sizes, shape: Sizes) -> tuple[tuple[Piece, ...], ...] | None:
    """Return the pieces of each mesh axis, inner ones first: of whole axes if it can be, then with the most links.

    A part of an axis leaves the rest of it to others, who have to share its links. None if the sizes do not fit.
    """
    found: list[tuple[Piece, ...]] = []
    used = [1] * len(shape)
    for size in reversed(sizes):
        options = [
            tuple(Piece(n, part, shape[n], used[n]) for n, part in enumerate(parts) if part > 1)
            for parts in product(*(_divisors(whole // taken) for whole, taken in zip(shape, used, strict=True)))
            if prod(parts) == size
        ]
        if not options:
            return None
        best = max(options, key=lambda each: (-sum(p.size != p.whole for p in each), sum(p.links(True) for p in each)))
        found.append(best)
        for piece in best:
            used[piece.axis] *= piece.size
    return tuple(reversed(found))


def _on_torus(place: Place, network: Network) -> AxisOn:
    axis, size, pieces = place.axis, place.size, place.pieces
    rings = tuple(network.rings) or (True,) * len(network.pod)
    if all(piece.stride == 1 for piece in pieces):
        closed = tuple(rings[piece.axis] and piece.size == piece.whole for piece in pieces)
        shape = tuple(piece.size for piece in pieces)
        return axis_on(axis, size, network, shape=shape, rings=closed, numeric=True)
    links = sp.Add(*(piece.links(rings[piece.axis]) for piece in pieces))
    return axis_on(axis, size, network, links=links, closed=True, numeric=True)
