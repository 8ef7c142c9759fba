"""Latency against throughput over the batch: a row for each, and which of them no other one beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.frozen import dataclass
from symscale.transformer.inference import B, Held
from symscale.transformer.inference_time import StepTime, binding

#: More rows than this are no table.
MOST_ROWS = 1000


@dataclass(frozen=True)
class Row:
    """A batch: its step and the parts of it [s], tokens per second of all chips, bytes per chip [B], what binds.

    `best` says that no other row that fits is both as fast and as productive.
    """

    batch: int
    step: sp.Rational
    weights: sp.Rational
    attention: sp.Rational
    network: sp.Rational
    throughput: sp.Rational
    memory: sp.Rational
    fits: bool
    bound: str
    best: bool = False


def rows(
    time: StepTime,
    held: Held,
    batches: Sequence[int],
    chips: int,
    capacity: sp.Rational,
    known: Mapping[sp.Symbol, sp.Expr],
) -> tuple[Row, ...]:
    """Return a row per batch, the best marked; `known` has every number but the batch."""
    timed, kept = time.put(known), (held.weights + B * held.cache).xreplace(dict(known)) / chips
    return marked([_row(timed, kept, batch, capacity) for batch in batches])


def _row(time: StepTime, kept: sp.Expr, batch: int, capacity: sp.Rational) -> Row:
    here = time.put({B: sp.Integer(batch)})
    memory = kept.xreplace({B: sp.Integer(batch)})
    step = here.total
    return Row(
        batch,
        step,
        here.weights,
        here.attention,
        here.network,
        batch / step,
        memory,
        bool(memory <= capacity),
        binding(here),
    )


def marked(found: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows with those marked that are on the Pareto front of latency and throughput, of all that fit.

    By latency, a row is on it if it yields more than every faster one.
    """
    best: set[int] = set()
    most = sp.S.Zero
    for row in sorted((each for each in found if each.fits), key=lambda each: (each.step, -each.throughput)):
        if row.throughput > most:
            most = row.throughput
            best.add(row.batch)
    return tuple(replace(each, best=each.batch in best) for each in found)


def usual_batches(largest: int, critical: int) -> tuple[int, ...]:
    """Return the powers of two up to the largest batch that fits, that batch, and the first compute-bound one."""
    powers = [1 << n for n in range(max(largest, 1).bit_length())]
    return tuple(sorted({each for each in (*powers, largest, critical) if 1 <= each <= largest}))
