"""Figures as data: curves, marks and areas made of a derivation's own formulas, to be drawn by a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

import sympy as sp

from symscale.derivation.step import Prose
from symscale.frozen import dataclass
from symscale.notation.order import Order
from symscale.shown import Shown
from symscale.solve.relation import Case, Relation

FRAME = (11.0, 6.6)  # of a figure without its margins, in centimetres

Number: TypeAlias = sp.Expr | float
Values: TypeAlias = tuple[tuple[sp.Symbol, sp.Expr], ...]


@dataclass(frozen=True)
class Axis:
    """What an axis shows, from `low` to `high` in base units; its ticks are numbers of `scale`: 1/1000 for ms."""

    label: Prose
    low: sp.Expr
    high: sp.Expr
    log: bool = True
    scale: sp.Expr = sp.S.One


@dataclass(frozen=True)
class Curve:
    """The points (x, y) for a symbol `along` from `low` to `high`; `values` has a number for every other symbol.

    `colour` counts the colours, `dashed` is a part that cannot be reached, such as batches that do not fit.
    """

    label: Prose
    x: sp.Expr
    y: sp.Expr
    along: sp.Symbol
    low: sp.Expr
    high: sp.Expr
    values: Values
    colour: int = 0
    dashed: bool = False

    def at(self, value: Number) -> dict[sp.Symbol, Number]:
        """Return the number of every symbol at a value of `along`."""
        return {**dict(self.values), self.along: value}


@dataclass(frozen=True)
class Mark:
    """A point of curves (by their numbers) at a number of what they run along, with a label.

    `form` is the closed form of that number where a solver found it.
    """

    label: Prose
    on: tuple[int, ...]
    along: sp.Expr
    form: sp.Expr | None = None
    values: Values = ()


@dataclass(frozen=True)
class Condition:
    """A relation solved for what the vertical axis of a map shows: `cases` in closed form."""

    relation: Relation
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Area:
    """Where the conditions `inside` hold and those `outside` do not, by their numbers in the map."""

    label: Prose
    inside: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()


@dataclass(frozen=True)
class Map:
    """A plane of two variables in areas: `x` is a symbol, `y` a symbol or a product of powers, such as B/N_chips.

    `times` are what is compared where the areas say which of several is the largest.
    """

    x: sp.Symbol
    y: sp.Expr
    conditions: tuple[Condition, ...]
    areas: tuple[Area, ...]
    values: Values
    times: tuple[sp.Expr, ...] = ()

    @property
    def lead(self) -> sp.Symbol:
        """The symbol that moves when `y` does: B of B/N_chips."""
        above = self.y.as_numer_denom()[0]
        return min(above.free_symbols, key=str)

    @property
    def free(self) -> frozenset[sp.Symbol]:
        """The symbols of what is compared that have no number: the answer does not depend on them."""
        sides = [side for each in self.conditions for side in (each.relation.lhs, each.relation.rhs)]
        names = {name for form in (self.y, *sides, *self.times) for name in form.free_symbols}
        return frozenset(names - {self.x, self.lead} - dict(self.values).keys())

    def at(
        self, x: sp.Expr | float, y: sp.Expr | float, others: sp.Expr = sp.S.One
    ) -> dict[sp.Symbol, sp.Expr | float]:
        """Return the number of every symbol at a point of the plane; those that do not matter are taken as `others`."""
        point: dict[sp.Symbol, Number] = dict.fromkeys(self.free, others)
        point |= {**dict(self.values), self.x: x}
        rest = (self.y / self.lead).xreplace({name: value for name, value in point.items() if name != self.lead})
        return {**point, self.lead: y / rest}


@dataclass(frozen=True)
class Figure(Shown):
    """A plot: two axes, and curves with marks or a map; `setting` says which numbers it was drawn with.

    `order` is how the formulas among its words are printed, `frame` its width and height without margins [cm],
    before it is shown at a `scale`.
    """

    title: str
    caption: Prose
    setting: Prose
    x: Axis
    y: Axis
    curves: tuple[Curve, ...] = ()
    marks: tuple[Mark, ...] = ()
    map: Map | None = None
    order: Order = field(default_factory=Order)
    frame: tuple[float, float] = FRAME
    scale: float = 1.0


def used(known: Mapping[sp.Symbol, sp.Expr], *forms: sp.Expr) -> Values:
    """Return the numbers of the symbols in formulas, sorted by name."""
    names = {name for form in forms for name in form.free_symbols}
    return tuple((name, known[name]) for name in sorted(names & known.keys(), key=str))
