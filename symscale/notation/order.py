"""The order in which factors and terms are printed: the user's own, else that of the symbol table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise

from symscale.frozen import dataclass
from symscale.vocabulary import TABLE

Key = tuple[int, int, int, str]

_RANK = {name: rank for rank, name in enumerate(TABLE)}


@dataclass(frozen=True)
class Order:
    r"""A preferred order: `symbols` of factors, `terms` of each sum by their sets of symbols.

    `sums` says before which factor a sum was written: (N+K) before H in 12BTD(N+K)H. `written` are symbols with the
    LaTeX they are written as in place of the table's: ("W_ici", r"\beta"). Long numbers in formulas are rounded to
    `digits` significant digits.
    """

    symbols: tuple[str, ...] = ()
    terms: tuple[tuple[frozenset[str], ...], ...] = ()
    sums: tuple[tuple[frozenset[str], str], ...] = ()
    written: tuple[tuple[str, str], ...] = ()
    digits: int = 6


def merge(*orders: Order) -> Order:
    """Return one order in which earlier orders win."""
    return Order(
        tuple(dict.fromkeys(name for order in orders for name in order.symbols)),
        tuple(dict.fromkeys(term for order in orders for term in order.terms)),
        tuple(dict.fromkeys(pair for order in orders for pair in order.sums)),
        tuple({name: latex for order in reversed(orders) for name, latex in order.written}.items()),
        min((order.digits for order in orders), default=6),
    )


def arranged(names: Iterable[str], products: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the names so that every product keeps its order: B*F + D*F gives B, D, F.

    Names that no product relates stand as they first appear.
    """
    place = {name: rank for rank, name in enumerate(dict.fromkeys(names))}
    after: dict[str, set[str]] = {name: set() for name in place}
    waiting = dict.fromkeys(place, 0)
    for left, right in (pair for names in products for pair in pairwise(names)):
        if right not in after[left] and left != right:
            after[left].add(right)
            waiting[right] += 1
    free = [rank for name, rank in place.items() if not waiting[name]]
    listed, found = list(place), []
    while free:
        found.append(listed[heappop(free)])
        for name in after[found[-1]]:
            waiting[name] -= 1
            if not waiting[name]:
                heappush(free, place[name])
    # B*D + D*B contradicts itself: what is left stands as it first appeared
    return tuple(dict.fromkeys([*found, *place]))


def factor_key(name: str, order: Order) -> Key:
    """Return the sort key of a symbol as a factor.

    The order's own symbols come first; then bytes per element, dimensions, names of the user's own, bytes, and rates:
    2*b*D*F/W, b*C/(2*W).
    """
    rank = _positions(order.symbols).get(name)
    return _default_key(name) if rank is None else (0, 0, rank, name)


@lru_cache(maxsize=256)
def _positions(symbols: tuple[str, ...]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(symbols)}


@lru_cache(maxsize=256)
def term_positions(terms: tuple[frozenset[str], ...]) -> dict[frozenset[str], list[int]]:
    """Return the places of each set of symbols in a sum that was written in this order."""
    places: dict[frozenset[str], list[int]] = {}
    for rank, names in enumerate(terms):
        places.setdefault(names, []).append(rank)
    return places


@lru_cache(maxsize=65536)
def _default_key(name: str) -> Key:
    if name == "b" or name.startswith("b_"):
        return (0, 1, 0, name)
    known = TABLE.get(name)
    if known is None:
        return (1, 1, int("_" in name), name)
    group = 0 if known.unit == "" else 2 if known.unit == "B" else 3
    return (1, group, _RANK[name], name)
