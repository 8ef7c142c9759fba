"""A figure laid out in centimetres: lines, areas, dots, ticks and words in their places, for every kind of file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import sympy as sp

from symscale.derivation.columns import borders as borders_of
from symscale.derivation.columns import share
from symscale.derivation.figure import Axis, Figure, Map
from symscale.derivation.proof import float_value
from symscale.derivation.step import Prose
from symscale.frozen import dataclass
from symscale.notation.latex import to_latex
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.report.lines import HEIGHT, MARGINS, WIDTH, Point, curve_lines, map_borders, map_polygons, place
from symscale.report.placing import Box, Page, around_point, beside_line, inside
from symscale.report.prose import relation_inline
from symscale.report.wide import width
from symscale.solve.relation import Relation

# Okabe and Ito's colours, which differ for every kind of colour vision, dark enough for words; then dashes for grey.
COLOURS = ("0072B2", "C04A00", "00795A", "8A4B7D", "8C6D00", "333333")
TINTS = ("D3E5F1", "FBE3D0", "EFEFEF", "CFEBE0", "F1DDEC", "FBF3C9")
DASHES = ("solid", "dashed", "dashdot", "longdash", "dense", "solid")
# Widths of words in centimetres, as printed at nine points.
LETTER, LINE_HEIGHT, ROOT_HEIGHT = 0.176, 0.36, 0.5
AIRY = 0.7  # around the names of areas
DOT, MARK, LEADER, AREA = -1, -2, -3, -4  # owners of what is no line
NARROWEST, HIGHEST = 6.8, 5.6  # the narrowest frame, and how high a narrow one may be for its width
SMALLER = 1.25  # how much wider than it is shown a narrow figure is laid out
MOST_SAID = 7.0  # the widest label


@dataclass(frozen=True)
class Stroke:
    """A line; `dash` is a name of DASHES, `thin` one that cannot be reached."""

    line: tuple[Point, ...]
    colour: str
    dash: str
    thin: bool = False


@dataclass(frozen=True)
class Words:
    """Words by the centre of their box, with the point they are tied to by a thin line, if any."""

    prose: Prose
    box: Box
    colour: str
    leader: Point | None = None
    bold: bool = False


@dataclass(frozen=True)
class Tick:
    """A tick at a value of an axis, with its place in centimetres and its words in LaTeX, empty for a small one."""

    value: float
    at: float
    label: str


@dataclass(frozen=True)
class Picture:
    """Everything to draw in the frame of a figure, in centimetres."""

    figure: Figure
    fills: tuple[tuple[tuple[Point, ...], str], ...]
    strokes: tuple[Stroke, ...]
    dots: tuple[tuple[Point, str], ...]
    words: tuple[Words, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def fitted(figure: Figure, wide: float) -> Figure:
    """Return a figure that is shown so many centimetres wide with its margins, in a frame of its own.

    Words are smaller in a narrow figure, but no more than a fifth unless the widest of them would not fit; its frame is
    higher for its width than that of a wide one.
    """
    labels = [figure.x.label, *(each.label for each in figure.curves), *(each.label for each in figure.marks)]
    labels += [each.label for each in figure.map.areas] if figure.map is not None else []
    least = max(NARROWEST, *(1.05 * measured(each, figure.order)[0] for each in labels))
    beside = MARGINS[0] + MARGINS[2]
    across = max(max(wide, min(SMALLER * wide, WIDTH + beside)) - beside, least)
    high = max(across * HEIGHT / WIDTH, min(0.8 * across, HIGHEST))
    return replace(figure, frame=(across, high), scale=wide / (across + beside))


@lru_cache(maxsize=4)
def picture(figure: Figure) -> Picture:
    """Return a figure laid out."""
    wide, high = figure.frame
    page = Page(wide, high)
    drawn = _map(figure, figure.map, page) if figure.map is not None else _curves(figure, page)
    fills, strokes, dots, words = drawn
    return Picture(figure, fills, strokes, dots, words, ticks(figure.x, wide), ticks(figure.y, high))


Drawn = tuple[
    tuple[tuple[tuple[Point, ...], str], ...],
    tuple[Stroke, ...],
    tuple[tuple[Point, str], ...],
    tuple[Words, ...],
]


def _curves(figure: Figure, page: Page) -> Drawn:
    strokes: list[Stroke] = []
    lines: list[list[list[Point]]] = []
    for number, curve in enumerate(figure.curves):
        shown = [] if curve.colour < 0 else curve_lines(figure, curve)
        lines.append(shown)
        for line in shown:
            page.draw(line, number)
            dash = "dotted" if curve.dashed else DASHES[curve.colour % len(DASHES)]
            strokes.append(Stroke(tuple(line), COLOURS[curve.colour % len(COLOURS)], dash, curve.dashed))
    dots: list[tuple[Point, str]] = []
    for mark in figure.marks:
        first = figure.curves[mark.on[0]]
        at = first.at(mark.along)
        point = place(figure, float_value(first.x, at), float_value(first.y, at))
        several = len(mark.on) > 1 and figure.curves[mark.on[-1]].colour >= 0
        dots.append((point, COLOURS[-1] if several else COLOURS[first.colour % len(COLOURS)]))
        page.draw([point, (point[0] + 1e-6, point[1])], DOT)
    named = [(number, max(shown, key=_length)) for number, shown in enumerate(lines) if shown]
    named = [(number, line) for number, line in named if figure.curves[number].label]
    marked = [(mark.label, point, colour) for mark, (point, colour) in zip(figure.marks, dots, strict=True)]
    tries: list[tuple[float, int, list[Words]]] = []
    # what comes first gets the best place, so the cheapest of a few orders is taken
    for turns in ((named, marked), (marked, named), (marked[::-1], named), (named[::-1], marked[::-1])):
        trial = page.copy()
        words = [
            _beside(figure, trial, each) if len(each) == 2 else _around(trial, each, figure.order)
            for part in turns
            for each in part
        ]
        tries.append((trial.price, len(tries), words))
    return (), tuple(strokes), tuple(dots), tuple(min(tries)[2])


def _beside(figure: Figure, page: Page, named: tuple[int, Sequence[Point]]) -> Words:
    """Return the name of a curve in its place."""
    number, line = named
    curve = figure.curves[number]
    size = measured(curve.label, figure.order)
    box = page.place(beside_line(line, size, 0.8), size, number)
    return Words(curve.label, box, COLOURS[curve.colour % len(COLOURS)])


def _around(page: Page, marked: tuple[Prose, Point, str], order: Order) -> Words:
    """Return the words of a mark in their place."""
    label, point, colour = marked
    size = measured(label, order)
    box = page.place(around_point(point, size), size, MARK, tied=point)
    leader = _leader(point, box)
    if leader is not None:
        page.draw([leader, nearest(leader, box)], LEADER)
    return Words(label, box, colour, leader)


def _map(figure: Figure, plane: Map, page: Page) -> Drawn:
    polygons = map_polygons(figure, plane)
    fills = [(tuple(each), TINTS[n % len(TINTS)]) for n, parts in enumerate(polygons) for each in parts]
    borders = map_borders(figure, plane)
    strokes = [Stroke(tuple(line), COLOURS[-1], "solid") for _, drawn in borders for line in drawn]
    for number, (_, drawn) in enumerate(borders):
        for line in drawn:
            page.draw(line, number)
    words = []
    for number, (equation, drawn) in enumerate(borders):
        label: Prose = (equation, *_number(equation, plane))
        if measured(label, figure.order)[0] > min(MOST_SAID, figure.frame[0]):
            listed = [each.equation for each in borders_of(figure, plane)]
            label = f"({listed.index(equation) + 1})"  # in the list of equations below the map
        size = measured(label, figure.order)
        box = page.place(beside_line(max(drawn, key=_length), size, 0.5), size, number)
        words.append(Words(label, box, COLOURS[-1]))
    for area, parts in zip(plane.areas, polygons, strict=True):
        if parts:
            wide, tall = measured(area.label, figure.order)
            size = (1.1 * wide, tall)
            box = page.place(inside(parts, size, figure.frame), size, AREA, room=AIRY)
            words.append(Words(area.label, box, COLOURS[-1], bold=True))
    return tuple(fills), tuple(strokes), (), tuple(words)


def _number(equation: Relation, plane: Map) -> tuple[str, ...]:
    """Return the number of a border that is one number everywhere."""
    value = equation.rhs.xreplace(dict(plane.values))
    return () if value.free_symbols else (f" = {format_number(value, 4)}",)


def _leader(point: Point, box: Box) -> Point | None:
    """Return the point to tie words to, if they do not stand right beside it."""
    away = max(abs(point[0] - box.x) - box.width / 2, abs(point[1] - box.y) - box.height / 2)
    return point if away > 0.45 else None


def nearest(point: Point, box: Box) -> Point:
    """Return the point of a box that is nearest to another."""
    return (
        min(max(point[0], box.x - box.width / 2), box.x + box.width / 2),
        min(max(point[1], box.y - box.height / 2), box.y + box.height / 2),
    )


def _length(line: Sequence[Point]) -> float:
    return sum(math.hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(line))


def measured(prose: Prose, order: Order) -> Point:
    """Return about how wide and how tall words are set."""
    parts = (prose,) if isinstance(prose, str) else prose
    wide, tall = 0.0, LINE_HEIGHT
    for each in parts:
        if isinstance(each, str):
            wide += LETTER * 0.98 * len(each)
            continue
        shown = formula(each, order)
        wide += LETTER * width(shown)
        tall = max(tall, ROOT_HEIGHT if r"\sqrt" in shown else tall)
    return (wide + 0.06, tall)


def formula(each: sp.Expr | Relation, order: Order) -> str:
    """Return a formula of a plot in LaTeX, on one line: fractions in a label would be too small to read."""
    return slashed(relation_inline(each, order) if isinstance(each, Relation) else to_latex(each, order))


_INDEX = r"(?:[_^](?:\\text\{[^{}]*\}|\{[^{}]*\}|[A-Za-z0-9]))*"
_ATOM = re.compile(r"(?:\\[a-z]+|[A-Za-z]|[0-9.]+|\\text\{[^{}]*\})" + _INDEX)


def slashed(latex: str) -> str:
    r"""Return LaTeX with `\frac{a}{b c}` written as a/(b c)."""
    at = latex.find(r"\frac{")
    if at < 0:
        return latex
    above, rest = _braced(latex[at + len(r"\frac") :])
    below, rest = _braced(rest)
    above, below = slashed(above), slashed(below)
    if not _ATOM.fullmatch(below):
        below = f"({below})"
    if re.search(r"[-+]", re.sub(r"\([^()]*\)", "", above)):
        above = f"({above})"
    before = latex[:at]
    beside = bool(re.search(r"[A-Za-z0-9})]\s*$", before)) and not before.rstrip().endswith((r"\le", r"\ge", r"\left"))
    whole = f"({above}/{below})" if beside else f"{above}/{below}"
    # what follows would read as part of the denominator
    if re.match(r"\s*[A-Za-z0-9(\\]", rest) and not re.match(r"\s*\\(?:le|ge|right|cdot)\b", rest) and not beside:
        whole = f"({whole})"
    return before + whole + slashed(rest)


def _braced(text: str) -> tuple[str, str]:
    """Return what stands in the braces that a text begins with, and what comes after."""
    depth = 0
    for end, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if not depth:
            return text[1:end], text[end + 1 :]
    return text, ""


def ticks(axis: Axis, length: float) -> tuple[Tick, ...]:
    """Return the ticks of an axis: powers of ten, where there are few 2 and 5 between them, else round steps."""
    scale = float(axis.scale)
    low, high = float(axis.low) / scale, float(axis.high) / scale
    found = _logarithmic(low, high) if axis.log else _linear(low, high)
    return tuple(Tick(value * scale, length * share(axis, value * scale), label) for value, label in found)


def _logarithmic(low: float, high: float) -> list[tuple[float, str]]:
    spread = math.log10(high / low)
    shown = (1, 2, 5) if spread < 2.4 else (1,)
    every = 2 if spread > 9 else 1
    short = low >= 1e-3 and high < 10_000 and spread < 4.5
    found = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for digit in range(1, 10):
            value = sp.Integer(digit) * sp.Integer(10) ** power
            if not low * (1 - 1e-9) <= float(value) <= high * (1 + 1e-9):
                continue
            plain = short or power in (0, 1)
            label = format_number(value, 4, "latex") if plain else f"10^{{{power}}}"
            found.append(
                (float(value), label if digit in shown and power % every == 0 and (short or digit == 1) else "")
            )
    return found


def _linear(low: float, high: float) -> list[tuple[float, str]]:
    rough = (high - low) / 5
    power = sp.Integer(10) ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if float(power * each) >= rough)
    first = math.ceil(low / float(step) - 1e-9)
    values = [step * number for number in range(first, math.floor(high / float(step) + 1e-9) + 1)]
    return [(float(value), format_number(value, 6, "latex")) for value in values]
