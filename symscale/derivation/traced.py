"""The proof of a plot: what is drawn is what the formulas of the derivation give, at random points."""

from __future__ import annotations

import math
import random

import sympy as sp

from symscale.derivation.figure import Curve, Figure, Map
from symscale.derivation.proof import agree, fail, float_value
from symscale.derivation.regions import area_at, direct, pieces
from symscale.errors import StepError
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation

POINTS, NEAR = 12, 1e-9
CLOSE = sp.Rational(1, 1000)


@dataclass(frozen=True)
class Drawn:
    """A figure: marks lie on their curves, areas are what direct evaluation says, borders are where two sides meet.

    `borders` are the two sides that are equal on the border of each equation.
    """

    figure: Figure
    borders: tuple[Relation, ...] = ()
    name: str = "curves, marks and areas agree with direct evaluation at random points"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the drawing and the formulas differ."""
        rng = random.Random(seed)
        for curve in self.figure.curves:
            _evaluated(curve, rng)
        for mark in self.figure.marks:
            _on_curves(self.figure, mark.on, mark.along, to_text(mark.along.evalf(6)))
        if len(self.borders) != len(equations):
            raise StepError("A step states more borders than it proves.")
        plane = self.figure.map
        if plane is not None:
            _mapped(self.figure, plane, rng)
        for equation, sides in zip(equations, self.borders, strict=True):
            if plane is not None:
                _meets(plane, self.figure, equation, sides, rng)
                continue
            met = sides.subs({equation.lhs: equation.rhs})
            if not agree(met.lhs, met.rhs, rng):
                fail("The two sides do not meet here", equation)


def _evaluated(curve: Curve, rng: random.Random) -> None:
    """Raise StepError where floats and fractions differ along a curve, or a symbol has no number."""
    missing = sorted(map(str, (curve.x.free_symbols | curve.y.free_symbols) - curve.at(sp.S.One).keys()))
    if missing:
        raise StepError(f"A curve needs a number for {', '.join(missing)}.")
    for _ in range(2):
        point = curve.at(curve.low + (curve.high - curve.low) * sp.Rational(rng.randint(0, 1000), 1000))
        for form in (curve.x, curve.y):
            found, wanted = float_value(form, point), float(value_at(form, point))
            if not abs(found - wanted) <= NEAR * abs(wanted):
                raise StepError(f"The curve of {to_text(form)} is off: {found} where the value is {wanted}.")


def _on_curves(figure: Figure, on: tuple[int, ...], along: sp.Expr, said: str) -> None:
    places = []
    for number in on:
        curve = figure.curves[number]
        places.append([float(value_at(form, curve.at(along))) for form in (curve.x, curve.y)])
    first = places[0]
    for other in places[1:]:
        if any(abs(one - two) > NEAR * abs(one) for one, two in zip(first, other, strict=True)):
            raise StepError(f"The curves do not meet at the mark {said}.")


def _mapped(figure: Figure, plane: Map, rng: random.Random) -> None:
    """Raise StepError where areas and direct evaluation differ: anywhere, and close to the borders on both sides."""
    for number in range(POINTS):
        x, y = _between(figure.x.low, figure.x.high, rng), _between(figure.y.low, figure.y.high, rng)
        heights = [y]
        if number < POINTS // 3:
            ends = [end.value for area in plane.areas for piece in pieces(area, plane, float(x)) for end in piece]
            borders = [_exactly(each) for each in sorted({each for each in ends if 0 < each < math.inf})]
            heights += [each * side for each in borders for side in (1 - CLOSE, 1 + CLOSE)]
        for height in heights:
            wanted = direct(plane, x, height, sp.Integer(rng.randint(1, 99)))
            found = area_at(plane, float(x), float(height))
            if wanted is not None and found != [wanted]:
                raise StepError(f"The map has areas {found} at ({x}, {height}), where evaluation gives {wanted}.")


def _meets(plane: Map, figure: Figure, equation: Relation, sides: Relation, rng: random.Random) -> None:
    """Raise StepError unless both sides of a comparison are equal on the border that is stated."""
    for _ in range(3):
        if equation.lhs == plane.x:
            x = _exactly(float_value(equation.rhs, dict(plane.values)))
            y = _between(figure.y.low, figure.y.high, rng)
        else:
            x = _between(figure.x.low, figure.x.high, rng)
            y = _exactly(float_value(equation.rhs, {**dict(plane.values), plane.x: x}))
        point = plane.at(x, y, sp.Integer(rng.randint(1, 99)))
        left, right = float_value(sides.lhs, point), float_value(sides.rhs, point)
        if not abs(left - right) <= NEAR * abs(left):
            fail("The two sides do not meet on this border", equation)


def _between(low: sp.Expr, high: sp.Expr, rng: random.Random) -> sp.Rational:
    """Return a random exact number, evenly spread in logarithms."""
    ends = math.log(float(low)), math.log(float(high))
    return sp.Rational(f"{math.exp(rng.uniform(*ends)):.12g}")


def _exactly(value: float) -> sp.Rational:
    return sp.Rational(f"{value:.17g}")
