"""A product and its collective as one loop: the step that says how long it takes, walked chip by chip."""

from __future__ import annotations

import random
from fractions import Fraction

import sympy as sp

from symscale.collectives import AxisOn, Loop, ring_loop, tile_loop
from symscale.cost import Transfer, peak_symbol, times
from symscale.derivation.layer import Layer
from symscale.derivation.proof import Dimensioned, Equal, differ, fail
from symscale.derivation.recount import count, integer_point
from symscale.derivation.step import Step
from symscale.errors import LayoutError
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

NAMES = ("n_steps", "T_chunk", "T_send", "T_loop")


@dataclass(frozen=True)
class Walked:
    """A loop: at random sizes, what the chips of a ring do one after the other, counted and timed.

    `number` is that of the transfer among those of the pass.
    """

    layer: Layer
    which: str
    number: int
    axis: AxisOn
    both_ways: bool
    name: str = "walked chip by chip at random sizes"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the ring does something else."""
        rng = random.Random(seed)
        for _ in range(3):
            point = integer_point(self.layer, rng)
            for wanted, equation in zip(self._walk(point, rng), equations, strict=True):
                if differ(value_at(equation.rhs, point), wanted):
                    fail("A walk around the ring differs", equation)

    def _walk(self, point: dict[sp.Symbol, sp.Expr], rng: random.Random) -> tuple[sp.Expr, ...]:
        """Put rates into the point, and return transfers, seconds of a chunk, of a transfer and of the loop."""
        rate, peak, hop = (sp.Rational(rng.randint(1, 99), rng.randint(1, 9)) for _ in range(3))
        point |= {self.axis.one_way: rate, symbol("T_hop"): hop}
        point |= {peak_symbol(kind, self.layer.kinds): peak for kind in self.layer.kinds}
        both = self.axis.kind == "torus" and self.axis.bandwidth != self.axis.one_way
        point |= {self.axis.bandwidth: 2 * rate} if both else {}
        chips = int(value_at(self.axis.size, point))
        volume, work = (
            Fraction(count(self.layer, self.which, what, point)) for what in (f"volume:{self.number}", "flops")
        )
        shard = sp.Rational(volume.numerator, volume.denominator) / chips
        lanes = 2 if self.both_ways and both and self.axis.closed else 1
        far = 1 if self.axis.closed or not both else chips - 1
        sent = shard / lanes / (rate * value_at(self.axis.links, point)) if chips > 1 else sp.S.Zero
        sent += far * hop if self.axis.hop is not None else 0
        chunk = sp.Rational(work.numerator, work.denominator) / peak / chips
        transfers, end = walk(chips, chunk, sent, summing=self._kind == "ReduceScatter")
        return sp.Integer(transfers), chunk, sent, end

    @property
    def _kind(self) -> str:
        return self.layer.costs[self.which].transfers[self.number].collective.kind


def walk(chips: int, chunk: sp.Expr, sent: sp.Expr, *, summing: bool) -> tuple[int, sp.Expr]:
    """Send shards (or partial sums) around a ring; return the transfers until every chip has all, and when it ends."""
    inside = [{chip} for chip in range(chips)]  # shards a chip has, or chips that its partial sum has met
    here, busy, transfers = [sp.S.Zero] * chips, [chunk] * chips, 0
    while any(len(met) < chips for met in inside):
        transfers += 1
        left = [max(a, b) for a, b in zip(here, busy, strict=True)] if summing else here
        here = [left[chip - 1] + sent for chip in range(chips)]
        inside = [
            (inside[chip - 1] | {chip}) if summing else (inside[chip] | inside[chip - 1]) for chip in range(chips)
        ]
        busy = [chunk + (since if summing else max(since, came)) for since, came in zip(busy, here, strict=True)]
    return transfers, max(*here, *busy)


def looped(layer: Layer, axis: str, which: str, *, both_ways: bool) -> tuple[Loop, Step]:
    """Return the one AllGather or ReduceScatter of a pass over an axis as a loop with the pass's arithmetic.

    Raises LayoutError where the pass has none over this axis alone, or several.
    """
    number, transfer = _alone(layer, axis, which)
    on = layer.axes[axis]
    math = times([layer.costs[which]], layer.kinds, layer.axes).math
    found = ring_loop(transfer.collective.kind, transfer.volume, on, math, both_ways=both_ways)
    proof = Walked(layer, which, number, on, both_ways)
    way = "halves of a shard both ways around the ring" if both_ways else "one way around the ring"
    summing = transfer.collective.kind == "ReduceScatter"
    what = "a partial sum goes to the next chip" if summing else "a shard goes to the next chip"
    said = f"In every step {what} ({way}) while the products of another chunk run; one chunk has nothing beside it."
    return found, _step(found, f"{transfer.collective.kind} over {axis} in a loop with the product", said, proof)


def _step(found: Loop, title: str, said: str, proof: Walked) -> Step:
    values = (found.transfers, found.work, found.sent, found.time)
    equations = tuple(Relation(symbol(name), "==", value) for name, value in zip(NAMES, values, strict=True))
    seconds = tuple((each.lhs, each.rhs) for each in equations[1:])
    units = Dimensioned(seconds, unit="s", counts=proof.layer.counted)
    return Step("count", title, said, equations, (proof, units))


def _alone(layer: Layer, axis: str, which: str) -> tuple[int, Transfer]:
    over = [(n, each) for n, each in enumerate(layer.costs[which].transfers) if axis in each.collective.axes]
    if len(over) == 1 and over[0][1].collective.axes == (axis,) and layer.costs[which].total_flops != 0:
        return over[0]
    listed = ", ".join(str(each.collective.kind) for _, each in over) or "none"
    raise LayoutError(
        f"A loop runs one collective over {axis} beside a product; the {which} pass has: {listed}.",
        hint="Write one product and its AllGather or ReduceScatter over this axis alone.",
    )


def tiled(math: sp.Expr, comms: sp.Expr, tiles: sp.Expr) -> tuple[Loop, Step]:
    """Return arithmetic whose result is cut into tiles, each sent while the next is computed, and the step."""
    found = tile_loop(math, comms, tiles)
    # what is not hidden: the shorter of the two, of one tile
    other = sp.Max(math, comms, evaluate=False) + sp.Min(math, comms, evaluate=False) / tiles
    said = f"The result is cut into {to_text(tiles)} tiles; while one is sent, the next is computed."
    equation = Relation(symbol("T_loop"), "==", found.time)
    return found, Step("count", "The collective tile by tile", said, (equation,), (Equal((other,)),))
