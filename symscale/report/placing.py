"""Where the words of a plot go: beside what they name, on nothing else. All lengths are in centimetres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symscale.frozen import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Point = tuple[float, float]
Line = Sequence[Point]
FINE = 0.05  # lines are seen as dots this close
GAP = 0.09  # between words and what they stand beside
CLEAR = 0.14  # between words and everything else
ALONE = 0.5  # between lines that are told apart at a glance


@dataclass(frozen=True)
class Box:
    """A rectangle of words by its centre and its size."""

    x: float
    y: float
    width: float
    height: float


class Page:
    """A frame that fills up: dots of lines with the number of their owner, and boxes of words."""

    def __init__(self, width: float, height: float) -> None:
        import numpy as np

        self.width, self.height = width, height
        self.dots: NDArray[np.float64] = np.empty((0, 2))
        self.owners: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.boxes: list[Box] = []
        self.price = 0.0

    def copy(self) -> Page:
        """Return a frame that is filled as much, to be filled further on its own."""
        other = Page(self.width, self.height)
        other.dots, other.owners, other.boxes, other.price = self.dots, self.owners, list(self.boxes), self.price
        return other

    def draw(self, line: Line, owner: int) -> None:
        """Add a line that words must not hide."""
        import numpy as np

        dots = spread(line)
        self.dots = np.concatenate([self.dots, dots])
        self.owners = np.concatenate([self.owners, np.full(len(dots), owner)])

    def place(
        self,
        candidates: NDArray[np.float64],
        size: Point,
        owner: int,
        *,
        room: float = GAP,
        tied: Point | None = None,
    ) -> Box:
        """Return the best of candidates (centre x, centre y, price) for words of a size, and keep its place.

        Other words are `room` away if that is possible; a line from the words to the point they are `tied` to crosses
        none. Candidates may name the place of a line that they stand for (columns 4 and 5).
        """
        import numpy as np

        price = candidates[:, 2] + self._outside(candidates, size) + self._on_words(candidates, size, GAP)
        price = price + self._on_words(candidates, size, room) / 400
        if tied is not None:
            price = price + self._crossed(candidates, size, tied)
        if candidates.shape[1] > 3:
            price = price + self._mistaken(candidates, size, owner)
        own, others = self.dots[self.owners == owner], self.dots[self.owners != owner]
        price = price + 40 * _hits(candidates, size, others, 0.02) + 4 * _hits(candidates, size, others, CLEAR)
        off = 1 - candidates[:, 5] if candidates.shape[1] > 5 else 1
        price = price + 40 * off * _hits(candidates, size, own, 0.02)
        self.price += float(price.min())
        best = candidates[int(np.argmin(price))]
        box = Box(float(best[0]), float(best[1]), *size)
        self.boxes.append(box)
        return box

    def _mistaken(self, candidates: NDArray[np.float64], size: Point, owner: int) -> NDArray[np.float64]:
        """Return a price for places near another line, or where it runs together with the words' own."""
        import numpy as np

        others = self.dots[(self.owners != owner) & (self.owners >= 0)][::3]
        own = self.dots[self.owners == owner][::3]
        if not len(others):
            return np.zeros(len(candidates))
        apart = np.hypot(*(candidates[:, None, axis] - others[None, :, axis - 3] for axis in (3, 4))).min(axis=1)
        nearer = _distance(candidates, size, others) < _distance(candidates, size, own) + 0.05
        result: NDArray[np.float64] = 25 * np.maximum(1 - apart / ALONE, 0) + 20 * nearer
        return result

    def _crossed(self, candidates: NDArray[np.float64], size: Point, tied: Point) -> NDArray[np.float64]:
        import numpy as np

        x = np.clip(tied[0], candidates[:, 0] - size[0] / 2, candidates[:, 0] + size[0] / 2)
        y = np.clip(tied[1], candidates[:, 1] - size[1] / 2, candidates[:, 1] + size[1] / 2)
        price = np.zeros(len(candidates))
        for part in np.linspace(0.05, 0.95, 13):
            on_x, on_y = tied[0] + part * (x - tied[0]), tied[1] + part * (y - tied[1])
            for box in self.boxes:
                price += 150 * ((abs(on_x - box.x) < box.width / 2) & (abs(on_y - box.y) < box.height / 2))
        return price

    def _outside(self, candidates: NDArray[np.float64], size: Point) -> NDArray[np.float64]:
        import numpy as np

        x, y = candidates[:, 0], candidates[:, 1]
        half, tall = size[0] / 2 + GAP, size[1] / 2 + GAP
        over = np.maximum(half - x, 0) + np.maximum(x + half - self.width, 0)
        over += np.maximum(tall - y, 0) + np.maximum(y + tall - self.height, 0)
        result: NDArray[np.float64] = np.where(over > 0, 3000 + 1000 * over, 0.0)
        return result

    def _on_words(self, candidates: NDArray[np.float64], size: Point, room: float) -> NDArray[np.float64]:
        import numpy as np

        price = np.zeros(len(candidates))
        for box in self.boxes:
            wide = (size[0] + box.width) / 2 + room - abs(candidates[:, 0] - box.x)
            tall = (size[1] + box.height) / 2 + 0.5 * room - abs(candidates[:, 1] - box.y)
            price += np.where((wide > 0) & (tall > 0), 2000 * (1 + np.maximum(np.minimum(wide, tall), 0)), 0)
        return price


def _hits(candidates: NDArray[np.float64], size: Point, dots: NDArray[np.float64], room: float) -> NDArray[Any]:
    """Return how many dots lie in each candidate's box, made larger by `room`."""
    import numpy as np

    if not len(dots):
        return np.zeros(len(candidates))
    across = np.abs(candidates[:, None, 0] - dots[None, :, 0]) < size[0] / 2 + room
    up = np.abs(candidates[:, None, 1] - dots[None, :, 1]) < size[1] / 2 + room
    found: NDArray[Any] = (across & up).sum(axis=1)
    return found


def _distance(candidates: NDArray[np.float64], size: Point, dots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each candidate's box is from the nearest dot."""
    import numpy as np

    across = np.maximum(np.abs(candidates[:, None, 0] - dots[None, :, 0]) - size[0] / 2, 0)
    up = np.maximum(np.abs(candidates[:, None, 1] - dots[None, :, 1]) - size[1] / 2, 0)
    found: NDArray[np.float64] = np.hypot(across, up).min(axis=1)
    return found


def spread(line: Line) -> NDArray[np.float64]:
    """Return dots along a line, close to one another."""
    import numpy as np

    points = np.asarray(line, dtype=float)
    steps = np.hypot(*np.diff(points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    count = max(2, int(along[-1] / FINE) + 1)
    places = np.linspace(0, along[-1], count)
    return np.stack([np.interp(places, along, points[:, axis]) for axis in (0, 1)], axis=1)


def beside_line(line: Line, size: Point, prefer: float) -> NDArray[np.float64]:
    """Return places above, below and, in need, on a line; those near the share `prefer` of its length are cheapest."""
    import numpy as np

    dots = spread(line)[::4]
    ahead = np.gradient(dots, axis=0) if len(dots) > 1 else np.array([[1.0, 0.0]] * len(dots))
    ahead /= np.maximum(np.hypot(ahead[:, 0], ahead[:, 1]), 1e-9)[:, None]
    normal = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    reach = abs(normal[:, 0]) * size[0] / 2 + abs(normal[:, 1]) * size[1] / 2
    far = abs(np.linspace(0, 1, len(dots)) - prefer) * 6
    found = []
    for side in (1, -1):
        for extra in (GAP, 0.25, 0.5):
            centre = dots + side * normal * (reach + extra)[:, None]
            found.append(np.column_stack([centre, far + 12 * (extra - GAP) + (0.4 if side < 0 else 0), dots, 0 * far]))
    found.append(np.column_stack([dots, far + 12, dots, 0 * far + 1]))
    return np.concatenate(found)


def around_point(point: Point, size: Point) -> NDArray[np.float64]:
    """Return places around a point, the close ones the cheapest, those right beside, above or below it first."""
    import numpy as np

    half, tall = size[0] / 2, size[1] / 2
    places = []
    for far in (0.14, 0.35, 0.7, 1.1, 1.6, 2.2, 3.0):
        for slide in np.linspace(-1, 1, 9):
            places += [(slide * (half + far), side * (tall + far)) for side in (1, -1)]
        places += [(side * (half + far), lift) for side in (1, -1) for lift in (0.0, 0.3, -0.3)]
    offsets = np.array(places)
    apart = np.hypot(np.maximum(abs(offsets[:, 0]) - half, 0), np.maximum(abs(offsets[:, 1]) - tall, 0))
    price = 9 * apart + 0.8 * abs(offsets[:, 0]) / (half + 0.1) + 0.2 * (offsets[:, 1] < 0)
    return np.column_stack([offsets + np.array(point), price])


def inside(polygons: Sequence[Line], size: Point, frame: Point) -> NDArray[np.float64]:
    """Return places whose box lies within polygons, the ones with the most room around them the cheapest."""
    import numpy as np

    across = np.linspace(0, frame[0], 57)
    up = np.linspace(0, frame[1], 41)
    centres = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    edges = np.concatenate([spread([*each, each[0]])[::2] for each in polygons])
    within = np.zeros(len(centres), dtype=bool)
    for each in polygons:
        within |= _contains(np.asarray(each, dtype=float), centres)
    centres = centres[within] if within.any() else centres
    apart = np.maximum(
        np.abs(centres[:, None, 0] - edges[None, :, 0]) - size[0] / 2,
        np.abs(centres[:, None, 1] - edges[None, :, 1]) - size[1] / 2,
    ).min(axis=1)
    return np.column_stack([centres, -12 * np.minimum(apart, 0.6) - apart + np.where(apart < 0, 500, 0)])


def _contains(polygon: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[Any]:
    """Return which points lie in a polygon, by the crossings of a ray."""
    import numpy as np

    x, y = points[:, 0], points[:, 1]
    found = np.zeros(len(points), dtype=bool)
    for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if y1 == y2:
            continue
        crosses = (y1 > y) != (y2 > y)
        found ^= crosses & (x < x1 + (y - y1) * (x2 - x1) / (y2 - y1))
    return found
