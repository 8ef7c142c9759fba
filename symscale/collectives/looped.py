"""A collective taken apart into transfers, each beside a chunk of the arithmetic that it feeds or ends.

In a ring of n chips an AllGather is n − 1 transfers of a shard to the next chip: a chip multiplies by the shard it has
while the next one comes. A ReduceScatter is the same backwards: a partial sum travels on while the next chip computes
what it adds. n chunks of arithmetic and n − 1 transfers take work + (n − 1)·max(work, sent). Cut into m tiles, a result
leaves tile by tile: m transfers, work + (m − 1)·max(work, sent) + sent.
"""

from __future__ import annotations

import sympy as sp

from symscale.collectives.cost import cost
from symscale.collectives.model import AxisOn, Kind, exact
from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.quantity.extrema import maximum

LOOPED = (Kind.AllGather, Kind.ReduceScatter)


@dataclass(frozen=True)
class Loop:
    """Chunks of arithmetic of `work` seconds each, and transfers of `sent` seconds each between or after them."""

    chunks: sp.Expr
    transfers: sp.Expr
    work: sp.Expr
    sent: sp.Expr

    @property
    def time(self) -> sp.Expr:
        """The time from the first chunk to the end [s]."""
        n, beside = self.chunks, self.chunks - 1
        # whole times inside the maximum: 1/n stands before it, where limits of a long axis see it
        both = maximum(n * self.work, n * self.sent)
        return self.work + beside / n * both + (self.transfers - beside) * self.sent


def ring_loop(kind: Kind | str, volume: sp.Expr, axis: AxisOn, math: sp.Expr, *, both_ways: bool = False) -> Loop:
    """Return an AllGather or a ReduceScatter of V bytes as the loop of a ring, beside `math` seconds of arithmetic.

    A transfer of V/n bytes takes V/(n·W_link); `both_ways` sends halves in opposite directions, V/(n·W_ici) on a ring
    of a torus (a line or a switch gains nothing). With the axis's hop time a transfer takes that much longer.
    MachineError for other collectives, and on a fat tree.
    """
    kind = Kind(kind)
    if kind not in LOOPED:
        raise MachineError(
            f"{kind} is no loop of transfers between neighbours.",
            hint="Take an AllReduce as a ReduceScatter and an AllGather, or cut its result into tiles.",
        )
    if axis.kind == "tree":
        raise MachineError(
            f"A loop needs a ring of equal links, and {axis.name} lies on a fat tree.",
            hint="Lay the axis on a torus, or on the switch of one node such as nvlink.",
        )
    n = axis.size
    halves = both_ways and axis.kind == "torus" and axis.closed
    piece = volume / n
    sent = piece / (axis.links * axis.bandwidth) if halves else cost(Kind.Permute, piece, (axis,)).time
    if axis.hop is not None:
        # what leaves the end of a line for its other end passes all its links
        sent += axis.hop * (1 if axis.closed or axis.kind != "torus" else n - 1)
    return Loop(n, n - 1, math / n, sent)


def tile_loop(math: sp.Expr, comms: sp.Expr, tiles: int | sp.Expr) -> Loop:
    """Return arithmetic whose result is cut into tiles, each sent while the next one is computed."""
    m = exact(tiles)
    return Loop(m, m, math / m, comms / m)
