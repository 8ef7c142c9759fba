"""The shape of an array in a module: dtype, dimensions, and how they lie in memory."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from types import MappingProxyType

import sympy as sp

from symscale.frozen import dataclass
from symscale.vocabulary import symbol

BITS = MappingProxyType(
    {
        "pred": 8,
        **{f"{kind}{bits}": bits for kind in ("s", "u") for bits in (1, 2, 4, 8, 16, 32, 64)},
        **{f"f{bits}": bits for bits in (16, 32, 64)},
        "bf16": 16,
        "c64": 64,
        "c128": 128,
        "f4e2m1fn": 4,
        **dict.fromkeys(("f8e3m4", "f8e4m3", "f8e4m3b11fnuz", "f8e4m3fn", "f8e4m3fnuz"), 8),
        **dict.fromkeys(("f8e5m2", "f8e5m2fnuz", "f8e8m0fnu"), 8),
        "token": 0,
        "opaque": 0,
    }
)
# The names under which a chip states its peak rates.
PEAK = MappingProxyType(
    {
        "bf16": "bf16",
        "f16": "fp16",
        "f32": "fp32",
        "f64": "fp64",
        "s8": "int8",
        "u8": "int8",
        "s4": "int4",
        "u4": "int4",
    }
)
MERGED = -1  # a tile's `*`: the dimension becomes one with the next more minor one

# S(n) of a layout: where an array lies on a TPU.
SPACES = MappingProxyType({0: "HBM", 1: "VMEM", 2: "semaphores", 3: "SMEM", 5: "host"})


@dataclass(frozen=True)
class Shape:
    """An array: its dtype, dimensions, their order in memory (minor to major), tiles and memory space.

    `bits` is the size of an element [bit], which a layout may state (`E(4)`).
    """

    dtype: str
    dims: tuple[int, ...]
    order: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...] = ()
    space: int = 0
    bits: int = 0

    @property
    def elements(self) -> int:
        """The number of elements, without padding."""
        return prod(self.dims)

    @property
    def bytes(self) -> int:
        """The bytes of the elements, without padding [B]."""
        return -(-self.elements * self.bits // 8)

    @property
    def physical(self) -> tuple[int, ...]:
        """The dimensions from the major to the minor one."""
        return tuple(self.dims[at] for at in reversed(self.order))

    @property
    def padded(self) -> tuple[int, ...]:
        """The dimensions, in the order of `dims`, padded to whole first tiles; as they are if that merges some."""
        found = list(self.dims)
        if self.tiles and MERGED in self.tiles[0]:
            return self.dims
        for at, tile in zip(self.order, reversed(self.tiles[0]) if self.tiles else (), strict=False):
            found[at] = -(-found[at] // tile) * tile
        return tuple(found)

    @property
    def held(self) -> int:
        """The bytes in memory, the padding of the tiles included [B]."""
        return -(-prod(size for size, _ in _tiled(self)) * self.bits // 8)

    @property
    def waste(self) -> sp.Rational:
        """The share of the bytes in memory that is padding."""
        return sp.S.Zero if self.held == 0 else 1 - sp.Rational(self.bytes, self.held)

    @property
    def where(self) -> str:
        """The memory that the array lies in."""
        return SPACES.get(self.space, f"memory space {self.space}")

    @property
    def peak(self) -> str:
        """The dtype by which a chip states the peak rate of its products."""
        return (
            "fp8" if self.dtype.startswith("f8") else "fp4" if self.dtype.startswith("f4") else PEAK.get(self.dtype, "")
        )

    @property
    def text(self) -> str:
        """The shape as a module writes it, without its layout."""
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


def address(shape: Shape) -> sp.Expr:
    """Return the place in memory of an element [elements], with one index i, j, k, … per dimension.

    Each tile turns an index x into floor(x/t) and x mod t; the places of all of them follow each other.
    """
    place, stride = sp.S.Zero, 1
    for size, index in reversed(_tiled(shape)):
        if size > 1:
            place += stride * index
        stride *= size
    return place


def indices(shape: Shape) -> tuple[sp.Symbol, ...]:
    """Return the symbols of the indices: i, j for a matrix, `i_0`, `i_1`, … for more than three dimensions."""
    count = len(shape.dims)
    return tuple(symbol("ijk"[n] if count <= 3 else f"i_{n}") for n in range(count))


def inside(shape: Shape) -> tuple[tuple[int, ...], ...]:
    """Return the elements of the first tile as they follow each other in memory, by their indices in the tile's order.

    A tile of more than 64 elements gives the first 64 only.
    """
    tile = shape.tiles[0] if shape.tiles and MERGED not in shape.tiles[0] else ()
    count = min(prod(tile), 64) if tile else 0
    whole = Shape(shape.dtype, tile, tuple(reversed(range(len(tile)))), shape.tiles, bits=shape.bits)
    place, names = address(whole), indices(whole)
    found = {}
    for number in range(prod(tile) if tile else 0):
        at, rest = [], number
        for size in reversed(tile):
            at.append(rest % size)
            rest //= size
        point = dict(zip(names, reversed(at), strict=True))
        found[int(place.xreplace({name: sp.Integer(value) for name, value in point.items()}))] = tuple(reversed(at))
    return tuple(found[n] for n in range(count))


# Many arrays of a module lie alike.
@lru_cache(maxsize=4096)
def _tiled(shape: Shape) -> tuple[tuple[int, sp.Expr], ...]:
    """Return (size, index) of the dimensions in memory, from the major to the minor one, after every tile."""
    names = indices(shape)
    lying = [(shape.dims[at], names[at]) for at in reversed(shape.order)]
    for tile in shape.tiles:
        lying = _cut(lying, tile)
    return tuple(lying)


def _cut(lying: list[tuple[int, sp.Expr]], tile: tuple[int, ...]) -> list[tuple[int, sp.Expr]]:
    """Cut the minor dimensions into tiles: those of the tiles come first, then those inside a tile."""
    lying = [(1, sp.S.Zero)] * (len(tile) - len(lying)) + lying
    outer, inner = lying[: len(lying) - len(tile)], lying[len(lying) - len(tile) :]
    sizes, found = [], []
    size, index = 1, sp.S.Zero
    for (each, name), width in zip(inner, tile, strict=True):
        size, index = size * each, index * each + name
        if width != MERGED:
            found.append((size, index))
            sizes.append(width)
            size, index = 1, sp.S.Zero
    across = [(-(-size // width), _floor(index, width)) for (size, index), width in zip(found, sizes, strict=True)]
    within = [(width, _modulo(index, width, size)) for (size, index), width in zip(found, sizes, strict=True)]
    return [*outer, *across, *within]


def _floor(index: sp.Expr, width: int) -> sp.Expr:
    return index if width == 1 else sp.floor(index / width)


def _modulo(index: sp.Expr, width: int, size: int) -> sp.Expr:
    return index if size <= width else sp.Mod(index, width)
