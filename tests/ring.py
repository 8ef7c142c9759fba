"""Chips in a ring with arrays of their own, a clock and links: the judge of products in a loop with a collective.

A chip multiplies what it has, one product after the other; a link carries one array after the other, each way. Values,
transfers, bytes and the time of the last result come out of running it. No formula of the package is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Piece:
    """An array on a chip, and when it is there."""

    value: Array
    at: Fraction = Fraction(0)


@dataclass
class Ring:
    """`chips` in a ring: FLOP/s of a chip, bytes/s of a link one way, seconds of a hop; what was sent, until when."""

    chips: int
    peak: Fraction
    link: Fraction
    hop: Fraction = Fraction(0)
    width: int = 2
    permutes: int = 0
    received: int = 0
    free: dict[int, Fraction] = field(default_factory=dict)
    wires: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    end: Fraction = Fraction(0)

    def permute(self, pieces: list[Piece], step: int) -> list[Piece]:
        """Send every chip's piece to its neighbour, +1 or −1."""
        self.permutes += 1
        arrived = {}
        for chip, piece in enumerate(pieces):
            start = max(piece.at, self.wires.get((chip, step), Fraction(0)))
            size = piece.value.size * self.width
            self.received += size
            self.wires[chip, step] = start + size / self.link
            done = start + size / self.link + self.hop
            arrived[(chip + step) % self.chips] = Piece(piece.value, done)
            self.end = max(self.end, done)
        return [arrived[chip] for chip in range(self.chips)]

    def multiply(self, chip: int, left: Piece, right: Piece) -> Piece:
        """Multiply two matrices on a chip, as soon as both are there and the chip has nothing else to do."""
        (m, k), n = left.value.shape, right.value.shape[1]
        start = max(left.at, right.at, self.free.get(chip, Fraction(0)))
        done = start + Fraction(2 * m * k * n) / self.peak
        self.free[chip] = done
        self.end = max(self.end, done)
        return Piece(left.value @ right.value, done)


def add(left: Piece | None, right: Piece) -> Piece:
    return right if left is None else Piece(left.value + right.value, max(left.at, right.at))


def spans(length: int, chips: int, ways: tuple[int, ...]) -> list[list[slice]]:
    """Return for each way around the part of every chip's shard that goes this way."""
    shard, part = length // chips, length // chips // len(ways)
    starts = [[chip * shard + way * part for chip in range(chips)] for way in range(len(ways))]
    return [[slice(start, start + part) for start in row] for row in starts]


def gather_product(ring: Ring, a: Array, w: Array, ways: tuple[int, ...] = (1,)) -> list[Array]:
    """A[B, D_Y] * W[D, F_Y] -> Out[B, F_Y]: multiply by the shard a chip has while the next one comes."""
    parts = spans(a.shape[1], ring.chips, ways)
    columns = np.split(w, ring.chips, axis=1)
    held = [[Piece(a[:, each]) for each in row] for row in parts]
    out: list[Piece | None] = [None] * ring.chips
    for step in range(ring.chips):
        coming = (
            [ring.permute(pieces, way) for pieces, way in zip(held, ways, strict=True)] if step + 1 < ring.chips else []
        )
        for chip in range(ring.chips):
            for row, pieces, way in zip(parts, held, ways, strict=True):
                mine = row[(chip - way * step) % ring.chips]
                out[chip] = add(out[chip], ring.multiply(chip, pieces[chip], Piece(columns[chip][mine])))
        held = coming
    return [piece.value for piece in out if piece is not None]


def product_scatter(ring: Ring, a: Array, w: Array, ways: tuple[int, ...] = (1,)) -> list[Array]:
    """Tmp[B, F_Y] * W[F_Y, D] -> Out[B, D_Y]: a partial sum travels on while the next chip computes its part."""
    parts = spans(w.shape[1], ring.chips, ways)
    left, right = np.split(a, ring.chips, axis=1), np.split(w, ring.chips, axis=0)
    sums: list[list[Piece]] = []
    for step in range(ring.chips):
        # nothing to send yet in the first step
        moved = [ring.permute(pieces, way) for pieces, way in zip(sums, ways, strict=False)]
        sums = []
        for which, (row, way) in enumerate(zip(parts, ways, strict=True)):
            # after the steps that are left the sum is at home
            homes = [row[(chip + way * (ring.chips - 1 - step)) % ring.chips] for chip in range(ring.chips)]
            made = [
                ring.multiply(chip, Piece(left[chip]), Piece(right[chip][:, homes[chip]])) for chip in range(ring.chips)
            ]
            sums.append([add(moved[which][chip] if moved else None, made[chip]) for chip in range(ring.chips)])
    return [np.concatenate([pieces[chip].value for pieces in sums], axis=1) for chip in range(ring.chips)]


def gradient_gather(ring: Ring, a: Array, g: Array, ways: tuple[int, ...] = (1,)) -> list[Array]:
    """A[B, D_Y] * dOut[B, F_Y] -> dW[D, F_Y]: each shard of A gives the rows of dW that are its own."""
    parts = spans(a.shape[1], ring.chips, ways)
    columns = np.split(g, ring.chips, axis=1)
    held = [[Piece(a[:, each].T) for each in row] for row in parts]
    out = [np.zeros((a.shape[1], columns[0].shape[1])) for _ in range(ring.chips)]
    for step in range(ring.chips):
        coming = (
            [ring.permute(pieces, way) for pieces, way in zip(held, ways, strict=True)] if step + 1 < ring.chips else []
        )
        for chip in range(ring.chips):
            for row, pieces, way in zip(parts, held, ways, strict=True):
                rows = row[(chip - way * step) % ring.chips]
                out[chip][rows] = ring.multiply(chip, pieces[chip], Piece(columns[chip])).value
        held = coming
    return out


def gather_then_product(ring: Ring, a: Array, w: Array) -> list[Array]:
    """A[B, D_Y] * W[D, F_Y] -> Out[B, F_Y]: everything is there, from both sides, before a chip multiplies."""
    ways = (1, -1)
    parts, columns = spans(a.shape[1], ring.chips, ways), np.split(w, ring.chips, axis=1)
    held = [[Piece(a[:, each]) for each in row] for row in parts]
    for _ in range(ring.chips - 1):
        held = [ring.permute(pieces, way) for pieces, way in zip(held, ways, strict=True)]
    there = max(piece.at for pieces in held for piece in pieces)
    return [ring.multiply(chip, Piece(a, there), Piece(columns[chip])).value for chip in range(ring.chips)]
