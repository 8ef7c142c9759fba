"""How fast an expression grows or shrinks as the limits are approached, as a tropical quotient.

B << D says no more than B/D -> 0: because B shrinks or because D grows, at whatever rate. Each of these is a
*way*, with an epsilon of its own. A monomial is of the order prod(epsilon_i ** v_i) over all ways; a sum of
positive terms is of the order min over its terms, a quotient of the difference of the orders. So an order is
min(above) - min(below) over two sets of vectors v. A quotient tends to 0 if no way makes it grow, and if every
way of at least one limit makes it shrink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import sympy as sp

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve.limits import Limit
from symscale.vocabulary import expression

Vector: TypeAlias = tuple[int | Fraction, ...]
Positions: TypeAlias = frozenset[int]


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

    def only(self, positions: Positions) -> Growth:
        """Return the order as if the other epsilons did not move."""
        above, below = (
            frozenset(tuple(v if i in positions else 0 for i, v in enumerate(each)) for each in side)
            for side in (self.above, self.below)
        )
        return Growth(above, below)

    def exceeded_by(self, other: Growth, limits: Sequence[Positions]) -> bool:
        """Return whether the quotient of this to the other tends to 0, however the limits are approached."""
        mine, others = _sums(self.above, other.below), _sums(self.below, other.above)
        return all(any(_vanishes(each, rival, limits) for rival in others) for each in mine)


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


def _vanishes(small: Vector, large: Vector, limits: Sequence[Positions]) -> bool:
    """Tell whether one monomial vanishes beside another: no way against it, all ways of some limit for it."""
    if not _is_below(large, small):
        return False
    return any(all(small[way] > large[way] for way in ways) for ways in limits)


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
    """For each symbol that moves its power of the epsilon of every way; `limits` holds the ways of each limit.

    `shrinking` are the ways of limits such as x << y, not of X >> 1; `size` is the number of all ways.
    """

    vectors: Mapping[sp.Symbol, Vector]
    limits: tuple[Positions, ...]
    shrinking: Positions
    size: int

    @property
    def long(self) -> frozenset[sp.Symbol]:
        """The symbols that X >> 1 makes long."""
        return frozenset(
            name
            for name, vector in self.vectors.items()
            if any(power < 0 for way, power in enumerate(vector) if way not in self.shrinking)
        )

    @property
    def constant(self) -> Growth:
        """The order of what does not move."""
        return of_vector((0,) * self.size)

    def vanishes(self, small: Growth, large: Growth) -> bool:
        """Return whether what is of the first order vanishes beside what is of the second."""
        return small.exceeded_by(large, self.limits)

    def shrinks(self, small: Growth, large: Growth) -> bool:
        """Return the same as if only limits such as x << y were approached."""
        return small.only(self.shrinking).exceeded_by(large.only(self.shrinking), self.limits)


@dataclass(frozen=True)
class _Pair:
    """x << y: the symbols that can shrink and those that can grow to bring it about; `long` for X >> 1."""

    shrink: tuple[sp.Symbol, ...]
    grow: tuple[sp.Symbol, ...]
    long: bool = False


def scales(limits: Sequence[Limit]) -> Scales:
    """Return how every symbol moves in each way to approach the limits: x << y by a small x or by a large y.

    In chains what is smaller stays so: of B << D, D << F a D that shrinks takes B along, and one that grows F.
    Raises UndecidedError if the limits contradict each other.
    """
    pairs = list(_pairs(limits))
    _consistent(pairs, limits)
    ways = [
        (position, _taken_along(name, turn, pairs), turn)
        for position, pair in enumerate(pairs)
        for names, turn in ((pair.shrink, 1), (pair.grow, -1))
        for name in names
    ]
    names = {name for _, moved, _ in ways for name in moved}
    vectors = {name: tuple(turn if name in moved else 0 for _, moved, turn in ways) for name in names}
    grouped = [frozenset(way for way, (at, _, _) in enumerate(ways) if at == each) for each in range(len(pairs))]
    shrinking = frozenset(way for way, (at, _, _) in enumerate(ways) if not pairs[at].long)
    return Scales(vectors, tuple(grouped), shrinking, len(ways))


def _taken_along(name: sp.Symbol, turn: int, pairs: Sequence[_Pair]) -> set[sp.Symbol]:
    """Return what has to move with a symbol: all below one that shrinks, all above one that grows."""
    found = {name}
    for _ in pairs:
        for pair in pairs:
            here, there = (pair.grow, pair.shrink) if turn > 0 else (pair.shrink, pair.grow)
            if found & set(here):
                found.update(there[:1])
    return found


def _consistent(pairs: Sequence[_Pair], limits: Sequence[Limit]) -> None:
    """Raise UndecidedError where something is smaller than itself."""
    for pair in pairs:
        for name in pair.shrink:
            if any(name in _taken_along(each, -1, pairs) for each in pair.grow):
                raise UndecidedError(f"the limits {'; '.join(map(str, limits))} contradict each other")


def _pairs(limits: Sequence[Limit]) -> Iterable[_Pair]:
    for limit in limits:
        small, large = expression(limit.small), [expression(each) for each in limit.large]
        if not large:
            raise UndecidedError("a limit needs a large side", hint="write B << D or X >> 1")
        for each in large:
            grow, below = _movers(each)
            if small.is_number:
                yield _Pair((), _some(grow, each), long=True)
                continue
            shrink, under = _movers(small)
            common = {*shrink, *under} & {*grow, *below}
            moving = _some(tuple(s for s in (*shrink, *below) if s not in common), small)
            yield _Pair(moving, tuple(s for s in (*grow, *under) if s not in common))


def _some(names: tuple[sp.Symbol, ...], side: sp.Expr) -> tuple[sp.Symbol, ...]:
    if not names:
        raise UndecidedError(f"no symbol of {side} can move alone", hint="name a symbol, as in B << D or X >> 1")
    return names


def _movers(side: sp.Expr) -> tuple[tuple[sp.Symbol, ...], tuple[sp.Symbol, ...]]:
    """Return the symbols above and below the line of a monomial, in alphabetical order; a sum has none."""
    above: list[sp.Symbol] = []
    below: list[sp.Symbol] = []
    for factor in sp.Mul.make_args(side):
        base, power = factor.as_base_exp()
        if base.is_Symbol and power.is_Rational:
            (above if power > 0 else below).append(base)
    return tuple(sorted(above, key=str)), tuple(sorted(below, key=str))
