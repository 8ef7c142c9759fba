"""Which contraction a fusion can be whose computation is not given: the one that its shapes leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from symscale.hlo.contraction import Contraction, Row, contraction, order_of
from symscale.hlo.shape import Shape


def inferred(operands: Sequence[Shape], result: Shape) -> tuple[Contraction, Shape, Shape] | None:
    """Return the contraction of two of the operands that makes the result, and the two; None unless there is one only.

    A size that both have and the result lacks is summed; dimensions of size 1 say nothing.
    """
    arrays = [each for each in operands if each.elements > 1][:8]
    found = [(rows, left, right) for left, right in combinations(arrays, 2) if (rows := _rows(left, right, result))]
    if len(found) != 1:
        return None
    rows, left, right = found[0]
    return contraction(rows), left, right


def _rows(left: Shape, right: Shape, result: Shape) -> list[Row]:
    """Return the dimensions, each with its role and places; none where the sizes allow no or several products."""
    free = [[at for at, size in enumerate(shape.dims) if size > 1] for shape in (left, right, result)]
    dims = (left.dims, right.dims, result.dims)
    counts = [Counter(dims[side][at] for at in places) for side, places in enumerate(free)]
    rows: list[Row] = []
    for size in dict.fromkeys([*counts[0], *counts[1], *counts[2]]):
        shared = _shared(*(count[size] for count in counts))
        if shared is None:
            return []
        batch, summed = shared
        places = [iter([at for at in free[side] if dims[side][at] == size]) for side in range(3)]
        roles = ["batch"] * batch + ["summed"] * summed
        roles += ["left"] * (counts[0][size] - batch - summed) + ["right"] * (counts[1][size] - batch - summed)
        for role in roles:
            one = next(places[0]) if role != "right" else None
            other = next(places[1]) if role != "left" else None
            rows.append((role, size, (one, other, next(places[2]) if role != "summed" else None)))
    if not any(role == "summed" for role, _, _ in rows):
        return []
    return sorted(rows, key=order_of)


def _shared(left: int, right: int, result: int) -> tuple[int, int] | None:
    """Return how many dimensions of one size are batch and how many summed: b + 2c = left + right − result."""
    rest = left + right - result
    ways = [
        (rest - 2 * summed, summed)
        for summed in range(min(left, right) + 1)
        if 0 <= rest - 2 * summed <= min(left, right) - summed
    ]
    return ways[0] if len(ways) == 1 else None
