"""How fast an expression grows or shrinks as the limits are approached, as a tropical quotient.

Each limit i has an epsilon_i -> 0, all independent. A monomial is of the order prod(epsilon_i ** v_i); a sum
of positive terms is of the order min over its terms, a quotient of the difference of the orders. So an order
is min(above) - min(below) over two sets of vectors v.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import sympy as sp

from symscale.errors import UndecidedError
from symscale.solve.limits import Limit
from symscale.vocabulary import expression

Vector: TypeAlias = tuple[int | Fraction, ...]


@dataclass(frozen=True)
class Growth:
    """The order min(above) - min(below) of an expression, in powers of the epsilons."""

    above: frozenset[Vector]
    below: frozenset[Vector]

    def power(self, exponent: int | Fraction) -> Growth:
        """Return the order of the expression raised to a power."""
        size = exponent if exponent >= 0 else -exponent
        above, below = (_scaled(side, size) for side in (self.above, self.below))
        return _quotient(above, below) if exponent >= 0 else _quotient(below, above)

    def only(self, positions: frozenset[int]) -> Growth:
        """Return the order as if the other epsilons did not move."""
        above, below = (
            frozenset(tuple(v if i in positions else 0 for i, v in enumerate(each)) for each in side)
            for side in (self.above, self.below)
        )
        return Growth(above, below)

    def exceeded_by(self, other: Growth) -> bool:
        """Return whether the quotient of this to the other tends to 0 at whatever rates the epsilons do."""
        return _all_below(_sums(self.above, other.below), _sums(self.below, other.above))


def _quotient(above: frozenset[Vector], below: frozenset[Vector]) -> Growth:
    """Return the order with a single vector below taken to the top, so that equal orders are equal."""
    if len(below) > 1:
        return Growth(above, below)
    (shift,) = below
    if not any(shift):
        return Growth(above, below)
    moved = frozenset(tuple(a - s for a, s in zip(vector, shift, strict=True)) for vector in above)
    return Growth(moved, frozenset([(0,) * len(shift)]))


def _scaled(vectors: frozenset[Vector], factor: int | Fraction) -> frozenset[Vector]:
    return frozenset(tuple(factor * each for each in vector) for vector in vectors)


def _all_below(mine: Iterable[Vector], others: frozenset[Vector]) -> bool:
    return all(any(_is_below(other, each) for other in others) for each in mine)


def _sums(first: frozenset[Vector], second: frozenset[Vector]) -> frozenset[Vector]:
    return _lowest({tuple(a + b for a, b in zip(v, w, strict=True)) for v in first for w in second})


def _lowest(vectors: set[Vector]) -> frozenset[Vector]:
    if len(vectors) == 1:
        return frozenset(vectors)
    return frozenset(v for v in vectors if not any(_is_below(w, v) for w in vectors))


def _is_below(first: Vector, second: Vector) -> bool:
    return first != second and all(a <= b for a, b in zip(first, second, strict=True))


def of_vector(vector: Vector) -> Growth:
    """Return the order of a monomial."""
    return Growth(frozenset([vector]), frozenset([(0,) * len(vector)]))


def of_product(growths: Sequence[Growth]) -> Growth:
    """Return the order of a product."""
    return reduce(lambda a, b: _quotient(_sums(a.above, b.above), _sums(a.below, b.below)), growths)


def of_sum(growths: Iterable[Growth]) -> Growth:
    """Return the order of a sum of positive terms, which is that of their Max too."""
    return reduce(_of_two, growths)


def _of_two(first: Growth, second: Growth) -> Growth:
    if first == second:
        return first
    if first.below == second.below:
        return Growth(_lowest(set(first.above | second.above)), first.below)
    above = _sums(first.above, second.below) | _sums(second.above, first.below)
    return _quotient(_lowest(set(above)), _sums(first.below, second.below))


@dataclass(frozen=True)
class Scales:
    """For each symbol that moves its power of every epsilon; `shrinking` are the epsilons of x << y."""

    vectors: Mapping[sp.Symbol, Vector]
    size: int
    shrinking: frozenset[int]

    @property
    def long(self) -> frozenset[sp.Symbol]:
        """The symbols that only grow."""
        return frozenset(symbol for symbol, vector in self.vectors.items() if max(vector) <= 0)

    @property
    def constant(self) -> Growth:
        """The order of what does not move."""
        return of_vector((0,) * self.size)


def scales(limits: Sequence[Limit]) -> Scales:
    """Return how every symbol moves: x << y makes x shrink, all else fixed; X >> 1 makes X grow.

    In chains what is smaller keeps its distance: B << D, D << F makes B shrink faster than D; X >> 1, X << F
    makes F grow faster than X; of X >> 1, B << X no more follows than that B/X shrinks.
    Raises UndecidedError if the limits contradict each other.
    """
    pairs = list(_pairs(limits))
    grown = _grown(pairs)
    moved: dict[sp.Symbol, Vector] = {}
    for _ in range(len(pairs) + 1):
        before, moved = moved, _moved_once(pairs, grown, moved)
        if moved == before:
            shrinking = frozenset(i for i, pair in enumerate(pairs) if pair.small is not None)
            return Scales(moved, len(pairs), shrinking)
    raise UndecidedError(f"the limits {'; '.join(map(str, limits))} contradict each other")


@dataclass(frozen=True)
class _Pair:
    """The symbol of the small side, None for 1, and the symbols of the large side."""

    small: sp.Symbol | None
    large: tuple[sp.Symbol, ...]


def _grown(pairs: Sequence[_Pair]) -> set[sp.Symbol]:
    found: set[sp.Symbol] = set()
    for _ in pairs:
        for pair in pairs:
            if pair.small is None or pair.small in found:
                found.update(pair.large)
    return found


def _moved_once(
    pairs: Sequence[_Pair], grown: set[sp.Symbol], before: Mapping[sp.Symbol, Vector]
) -> dict[sp.Symbol, Vector]:
    """What is larger than something that grows has to move; else it is the small side that does."""
    zero = (0,) * len(pairs)
    moved: dict[sp.Symbol, Vector] = {}
    for position, pair in enumerate(pairs):
        unit = tuple(int(position == i) for i in range(len(pairs)))
        if pair.small is None or pair.small in grown:
            start = zero if pair.small is None else before.get(pair.small, zero)
            wanted = tuple(s - u for s, u in zip(start, unit, strict=True))
            for each in pair.large:
                moved[each] = tuple(map(min, moved.get(each, wanted), wanted))
            continue
        for end in [before.get(each, zero) for each in pair.large] or [zero]:
            wanted = tuple(e + u for e, u in zip(end, unit, strict=True))
            moved[pair.small] = tuple(map(max, moved.get(pair.small, wanted), wanted))
    return moved


def _pairs(limits: Sequence[Limit]) -> Iterable[_Pair]:
    for limit in limits:
        small, large = expression(limit.small), [expression(each) for each in limit.large]
        if not large:
            raise UndecidedError("a limit needs a large side", hint="write B << D or X >> 1")
        if small.is_number:
            for each in large:
                yield _Pair(None, (_mover(each, set()),))
        else:
            others = {symbol for each in large for symbol in each.free_symbols}
            yield _Pair(_mover(small, others), tuple(each for each in large if each.is_Symbol))


def _mover(side: sp.Expr, others: set[sp.Symbol]) -> sp.Symbol:
    """Return the symbol that moves: the side itself, or the first factor of its numerator."""
    if side.is_Symbol:
        return side
    factors = sp.Mul.make_args(side)
    names = sorted((each for each in factors if each.is_Symbol and each not in others), key=str)
    if not names:
        raise UndecidedError(f"no symbol of {side} can move alone", hint="name a symbol, as in B << D or X >> 1")
    return names[0]
