"""Lines of a plot in centimetres: sampled where they bend, cut at the frame, and the polygons of a map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import sympy as sp

from symscale.derivation.columns import Column, columns, share, steps, upright, upright_border, value_of
from symscale.derivation.figure import FRAME, Curve, Figure, Map
from symscale.derivation.proof import float_value
from symscale.solve.relation import Relation

Point = tuple[float, float]
WIDTH, HEIGHT = FRAME
# Around the frame, in centimetres: left, below, right, above.
MARGINS = (1.7, 1.15, 0.4, 0.25)
FIRST, DEEPEST = 16, 10
FAR = 100.0  # beyond this a point is out of sight
STRAIGHT = 0.004  # a line this close to its chord is drawn as the chord


def place(figure: Figure, x: float, y: float) -> Point:
    """Return where a point lies in the frame; one that a logarithmic axis has no place for lies far below it."""
    wide, high = figure.frame
    return _in_sight(wide * share(figure.x, x)), _in_sight(high * share(figure.y, y))


def _in_sight(at: float) -> float:
    return max(min(at, FAR), -FAR) if not math.isnan(at) else -FAR


def curve_lines(figure: Figure, curve: Curve) -> list[list[Point]]:
    """Return a curve as lines inside the frame."""
    low, high = float(curve.low), float(curve.high)

    def at(part: float) -> Point:
        point = curve.at(low * (high / low) ** part)
        return place(figure, float_value(curve.x, point), float_value(curve.y, point))

    return framed(sampled(at), figure.frame)


def sampled(at: Callable[[float], Point]) -> list[Point]:
    """Return points of a curve over 0 to 1, close together where it bends, without those that chords pass through."""
    first = [(step / FIRST, at(step / FIRST)) for step in range(FIRST + 1)]
    found = [first[0][1]]
    for (start, left), (end, right) in pairwise(first):
        found += _finer(at, start, left, end, right, DEEPEST)
    return lean(found)


def _finer(
    at: Callable[[float], Point], start: float, left: Point, end: float, right: Point, depth: int
) -> list[Point]:
    middle = (start + end) / 2
    point = at(middle)
    if not depth or _off(point, left, right) < STRAIGHT / 4:
        return [right]
    return [*_finer(at, start, left, middle, point, depth - 1), *_finer(at, middle, point, end, right, depth - 1)]


def _off(point: Point, left: Point, right: Point) -> float:
    """Return how far a point is from the line through two others."""
    (x, y), (x1, y1), (x2, y2) = point, left, right
    length = math.hypot(x2 - x1, y2 - y1)
    if length < 1e-12:
        return math.hypot(x - x1, y - y1)
    return abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / length


def lean(points: Sequence[Point]) -> list[Point]:
    """Return a line without the points that lie on the chords of what is left."""
    if len(points) < 3:
        return list(points)
    far, distance = max(
        ((n, _off(points[n], points[0], points[-1])) for n in range(1, len(points) - 1)), key=lambda each: each[1]
    )
    if distance < STRAIGHT:
        return [points[0], points[-1]]
    return [*lean(points[: far + 1])[:-1], *lean(points[far:])]


def framed(points: Sequence[Point], frame: Point) -> list[list[Point]]:
    """Return the parts of a line that lie inside a frame."""
    found: list[list[Point]] = []
    for left, right in pairwise(points):
        cut = _cut(left, right, frame)
        if cut is None:
            continue
        if found and found[-1][-1] == cut[0]:
            found[-1].append(cut[1])
        else:
            found.append(list(cut))
    return found


def _cut(left: Point, right: Point, frame: Point) -> tuple[Point, Point] | None:
    start, end = 0.0, 1.0
    for axis, most in enumerate(frame):
        origin, step = left[axis], right[axis] - left[axis]
        if step == 0:
            if not 0 <= origin <= most:
                return None
            continue
        first, last = sorted((-origin / step, (most - origin) / step))
        start, end = max(start, first), min(end, last)
    if start >= end:
        return None
    ends = [(left[0] + at * (right[0] - left[0]), left[1] + at * (right[1] - left[1])) for at in (start, end)]
    return (left if start == 0 else ends[0], right if end == 1 else ends[1])


# ------------------------------------------------------------------ maps


@dataclass
class _Strip:
    """A polygon in the making: its lower and its upper line from left to right."""

    below: list[Point] = field(default_factory=list)
    above: list[Point] = field(default_factory=list)


def map_polygons(figure: Figure, plane: Map) -> list[list[list[Point]]]:
    """Return the polygons of each area, cut to the frame."""
    lines = columns(figure, plane)
    found: list[list[list[Point]]] = []
    for number in range(len(plane.areas)):
        strips: list[_Strip] = []
        growing: list[_Strip] = []
        for left, right in pairwise(lines):
            pieces = list(zip(left.areas[number], right.areas[number], strict=False))
            if left.shape != right.shape or len(left.areas[number]) != len(right.areas[number]):
                continue
            if len(growing) != len(pieces) or not _joined(figure, growing, left, number):
                growing = [_Strip() for _ in pieces]
                strips += growing
            for strip, ((low, high), _) in zip(growing, pieces, strict=True):
                for line, end in ((strip.below, low), (strip.above, high)):
                    line += _along(figure, plane, end.form, end.value, left, right)
        found.append([[*lean(each.below), *reversed(lean(each.above))] for each in strips])
    return found


def _joined(figure: Figure, growing: Sequence[_Strip], left: Column, number: int) -> bool:
    """Say whether strips end where the pieces of the next column begin."""
    for strip, (low, high) in zip(growing, left.areas[number], strict=True):
        ends = (place(figure, left.x, low.value), place(figure, left.x, high.value))
        for last, end in zip((strip.below[-1], strip.above[-1]), ends, strict=True):
            if math.hypot(last[0] - end[0], last[1] - end[1]) > 0.02:
                return False
    return True


def _along(figure: Figure, plane: Map, form: sp.Expr | None, value: float, left: Column, right: Column) -> list[Point]:
    """Return a border between two columns, a closed form or an edge of the frame."""
    wide, high = figure.frame
    points = []
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = left.at + part * (right.at - left.at)
        x = value_of(figure.x, at)
        height = value if form is None else float_value(form, {**dict(plane.values), plane.x: x})
        points.append((wide * at, min(max(high * share(figure.y, height), 0.0), high)))
    return points


def map_borders(figure: Figure, plane: Map) -> list[tuple[Relation, list[list[Point]]]]:
    """Return the lines of each border between areas with its equation in closed form, upright ones last."""
    lines = columns(figure, plane)
    found: dict[sp.Expr, list[list[Point]]] = {}
    for left, right in pairwise(lines):
        if left.shape != right.shape:
            continue
        forms = {end.form for area in left.areas for piece in area for end in piece if end.form is not None}
        for form in sorted(forms, key=str):
            line = _along(figure, plane, form, 0.0, left, right)
            drawn = found.setdefault(form, [])
            if drawn and math.hypot(drawn[-1][-1][0] - line[0][0], drawn[-1][-1][1] - line[0][1]) < 0.01:
                drawn[-1] += line[1:]
            else:
                drawn.append(line)
    borders = [(Relation(plane.y, "==", form), [lean(each) for each in drawn]) for form, drawn in found.items()]
    for left, right in upright(lines, figure):
        parts = steps(left, right, figure)
        x = figure.frame[0] * left.at
        # neighbouring parts are one line
        whole = [[(x, figure.frame[1] * part) for part in (parts[0][0], parts[-1][1])]]
        borders.append((upright_border(plane, left, right).equation, whole))
    return borders
