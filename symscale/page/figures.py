"""Figures of a page: maps of regimes and curves, drawn again by the page when an input changes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import sympy as sp

from symscale.derivation.figure import Curve, Figure, Mark, Values
from symscale.derivation.step import Derivation
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.page.ledger import Ledger, exact
from symscale.page.live import drawn_with
from symscale.page.maps import Compared, regimes
from symscale.page.script import supported
from symscale.page.words import words
from symscale.report.plain import words as said

# The sizes along which a map is most telling, if they are there.
ACROSS = ("X", "N_chips", "S", "T", "F", "D")


def longest_time(derivation: Derivation, found: Compared, ledger: Ledger) -> dict[str, Any] | None:
    """Return the map of which time of a pass is the longest, over what its derivation solves for and another size."""
    plane = regimes(derivation, found)
    if plane is None:
        return None
    sides = [side for each in plane.conditions for side in (each.relation.lhs, each.relation.rhs)]
    sizes = {name for each in sides for name in each.free_symbols} - {plane.unknown}
    across = [each.symbol for each in ledger.inputs if each.symbol in sizes and not each.on_chip and each.unit == ""]
    across.sort(key=lambda each: ACROSS.index(each.name) if each.name in ACROSS else len(ACROSS))
    if not across or not ledger.counts(*sides):
        return None
    labels = list(found.times)
    pairs = list(combinations(range(len(labels)), 2))
    areas = []
    for place, label in enumerate(labels):
        inside = [n for n, (one, _) in enumerate(pairs) if one == place]
        areas.append((label, inside, [n for n, (_, other) in enumerate(pairs) if other == place]))
    return {
        "id": ledger.map(plane.unknown, across, plane.conditions, areas, ()),
        "title": "What takes the longest",
        "axes": [{"name": each.name, "place": ledger.places[each]} for each in across],
        "y": to_text(plane.unknown, derivation.order),
        "areas": labels,
    }


def drawn_map(figure: Figure, order: Order, ledger: Ledger) -> dict[str, Any] | None:
    """Return the map of a figure, if it is one."""
    plane = figure.map
    if plane is None:
        return None
    sides = [plane.y]
    for case in (case for each in plane.conditions for case in each.cases):
        sides += [side for each in case.when for side in (each.lhs, each.rhs)]
        sides += [end for each in case.intervals for end in (each.lo, each.hi)]
    if not ledger.counts(*sides):
        return None
    areas = [(said(each.label, order), each.inside, each.outside) for each in plane.areas]
    span = [figure.x.low, figure.x.high, figure.y.low, figure.y.high]
    return {
        "id": ledger.map(plane.y, [plane.x], plane.conditions, areas, plane.values, span),
        "title": figure.title,
        "axes": [{"name": plane.x.name, "place": ledger.places[plane.x]}],
        "y": to_text(plane.y, order),
        "areas": [words(each.label, order) for each in plane.areas],
    }


def drawn_curves(figure: Figure, order: Order, ledger: Ledger) -> dict[str, Any] | None:
    """Return the curves of a figure, and its marks on them."""
    forms = [form for each in figure.curves for form in (each.x, each.y)]
    if not figure.curves or not all(map(supported, forms)):
        return None
    common = dict(drawn_with(figure))
    lines = [each for each in figure.curves if each.along in each.x.free_symbols | each.y.free_symbols]
    fields = {
        "at": ledger.values(tuple(common.items())),
        "needs": ledger.needs([name for name in common if name in ledger.places]),
        "curves": f"[{','.join(_curve(each, figure, common, ledger) for each in figure.curves)}]",
        "marks": f"[{','.join(_mark(each, figure, common, ledger) for each in figure.marks)}]",
        "span": str([float(end * axis.scale) for axis in (figure.x, figure.y) for end in (axis.low, axis.high)]),
        "log": f"[{int(figure.x.log)},{int(figure.y.log)}]",
    }
    return {
        "id": ledger.curves(fields),
        "title": figure.title,
        "x": said(figure.x.label, order),
        "y": said(figure.y.label, order),
        "labels": [{"colour": each.colour, "text": words(each.label, order)} for each in lines if each.label],
        "marks": [words(each.label, order) for each in figure.marks],
    }


def _own(values: Values, common: Mapping[sp.Symbol, sp.Expr], ledger: Ledger) -> dict[sp.Symbol, sp.Expr]:
    """Return the numbers that a reader does not change."""
    return {name: value for name, value in values if name not in common or name not in ledger.places}


def _curve(each: Curve, figure: Figure, common: Mapping[sp.Symbol, sp.Expr], ledger: Ledger) -> str:
    """Return a curve as a script: its formulas with its own numbers in them, over what comes behind the inputs."""
    own = {name: value for name, value in _own(each.values, common, ledger).items() if name != each.along}
    places = {**ledger.places, each.along: len(ledger.places)}
    scaled = (each.x * figure.x.scale, each.y * figure.y.scale)
    x, y = (ledger.function(form.xreplace(own), places) for form in scaled)
    ends = f"low:toFloat({exact(each.low)}),high:toFloat({exact(each.high)})"
    moves = int(each.along in each.x.free_symbols | each.y.free_symbols)
    return f"{{x:{x},y:{y},{ends},colour:{each.colour},dashed:{int(each.dashed)},moves:{moves}}}"


def _mark(each: Mark, figure: Figure, common: Mapping[sp.Symbol, sp.Expr], ledger: Ledger) -> str:
    """Return a mark as a script: the curve it lies on, and where along it, in closed form where that is known."""
    form = each.along if each.form is None else each.form.xreplace(_own(each.values, common, ledger))
    if not ledger.counts(form):
        form = each.along
    return f"[{each.on[-1]},{ledger.function(form)}]"
