"""How long a step of inference takes at least, and the batches at which what binds it changes: solved, not stated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.quantity import maximum
from symscale.solve import Solution, crossover
from symscale.solve.relation import sign_of_number
from symscale.transformer.inference import B, Held, Load
from symscale.vocabulary import fresh, symbol

N_CHIPS, C, W_HBM, M_HBM = (symbol(name) for name in ("N_chips", "C", "W_hbm", "M_hbm"))


@dataclass(frozen=True)
class StepTime:
    """Lower bounds of the parts of a step [s].

    The weights' products take their arithmetic or the reading of the weights, attention its own or the reading of the
    cache, one after the other; the network may overlap with both.
    """

    weight_math: sp.Expr
    weight_read: sp.Expr
    score_math: sp.Expr
    cache_read: sp.Expr
    network: sp.Expr = sp.S.Zero

    @property
    def weights(self) -> sp.Expr:
        """The part of the weights: max(FLOPs/C, bytes/W_hbm) [s]."""
        return maximum(self.weight_math, self.weight_read)

    @property
    def attention(self) -> sp.Expr:
        """The part of attention: max(FLOPs/C, cache/W_hbm) [s]; where the cache always binds, that alone."""
        return maximum(*(each for each in (self.score_math, self.cache_read) if each != 0))

    @property
    def total(self) -> sp.Expr:
        """The step: weights, then attention, or the network if that takes longer [s]."""
        on_chip = self.weights + self.attention
        return on_chip if self.network == 0 else maximum(on_chip, self.network)

    def put(self, known: Mapping[sp.Symbol, sp.Expr]) -> StepTime:
        """Return the times with symbols replaced."""
        parts = (self.weight_math, self.weight_read, self.score_math, self.cache_read, self.network)
        return StepTime(*(each.xreplace(dict(known)) for each in parts))


def step_time(load: Load, network: sp.Expr = sp.S.Zero) -> StepTime:
    """Return the time of a step whose load is spread evenly over N_chips chips [s].

    FLOPs/(N_chips·C) and bytes/(N_chips·W_hbm); a collective's time does not shrink like that, so `network` is given.
    """
    math, read = N_CHIPS * C, N_CHIPS * W_HBM
    return StepTime(
        load.weight_flops / math, load.weight_bytes / read, load.score_flops / math, load.cache_bytes / read, network
    )


def compute_bound(load: Load) -> Solution:
    """Return from which batch B on the weights' arithmetic takes longer than reading them: b_w·C/(2·W_hbm), if dense.

    Raises UndecidedError where the bytes grow with the batch, as those of the experts that are expected do.
    """
    return crossover(load.weight_flops / C, ">=", load.weight_bytes / W_HBM, B)


def fitting(held: Held) -> Solution:
    """Return which batches B fit: weights + B·cache <= N_chips·M_hbm. Working memory is not counted."""
    return crossover(held.weights + B * held.cache, "<=", N_CHIPS * M_HBM, B)


def longest(held: Held, length: sp.Symbol) -> Solution:
    """Return up to which context B sequences fit."""
    return crossover(held.weights + B * held.cache, "<=", N_CHIPS * M_HBM, length)


def latency_floor(time: StepTime) -> sp.Expr:
    """Return what a step takes at least, however small the batch [s]: the parts that do not shrink with it."""
    return _added(time.total, lambda part: part.subs(B, 0))


def throughput(time: StepTime) -> sp.Expr:
    """Return tokens per second of all chips, B/T."""
    return B / time.total


def throughput_limit(time: StepTime) -> sp.Expr:
    """Return the tokens per second that no batch exceeds: B/T for B → ∞ [1/s].

    Parts that do not grow with the batch vanish beside those that do: 1/T(1/x)·1/x at x = 0.
    """
    inverse = fresh("x")
    each = _added(time.total, lambda part: sp.cancel(inverse * part.subs(B, 1 / inverse)).subs(inverse, 0))
    if each == 0:
        raise UndecidedError("nothing in this step grows with the batch, so its throughput has no limit")
    return 1 / each


def _added(expr: sp.Expr, change: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    """Return a sum of terms and maxima with every term changed."""
    if isinstance(expr, sp.Add):
        return sp.Add(*(_added(each, change) for each in expr.args))
    if isinstance(expr, sp.Max):
        return maximum(*(_added(each, change) for each in expr.args))
    return change(expr)


#: The parts of a step, by the resource that binds it.
RESOURCES = ("weights: compute", "weights: HBM", "attention: compute", "cache: HBM", "network")


def binding(time: StepTime) -> str:
    """Return which part of a step in numbers takes the longest, and on which resource.

    At a tie compute is named, for there the larger batch gains nothing more.
    """
    weights, attention = _larger(time.weight_math, time.weight_read), _larger(time.score_math, time.cache_read)
    if sign_of_number(time.network, weights + attention) > 0:
        return RESOURCES[4]
    if sign_of_number(weights, attention) >= 0:
        return RESOURCES[0] if weights == time.weight_math else RESOURCES[1]
    return RESOURCES[2] if attention == time.score_math else RESOURCES[3]


def _larger(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    return first if sign_of_number(first, second) >= 0 else second
