"""Figures of curves: over one variable, rooflines, latency against throughput."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import sympy as sp

from symscale.cost import peak_symbol
from symscale.derivation.crossover import Answer, Crossover, border
from symscale.derivation.evaluate import left_of, quantity
from symscale.derivation.figure import Axis, Curve, Figure, Map, Mark, Values, used
from symscale.derivation.layer import Layer
from symscale.derivation.proof import float_value
from symscale.derivation.shorter import longer_than
from symscale.derivation.step import Proof, Prose, Step
from symscale.derivation.terms import read
from symscale.derivation.traced import Drawn
from symscale.derivation.units import unit_beside
from symscale.errors import StepError, SymscaleError
from symscale.machine import Machine
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.numbers import format_number, format_quantity
from symscale.notation.text import relation_text
from symscale.quantity import maximum
from symscale.solve import crossover
from symscale.solve.relation import Relation
from symscale.vocabulary import entry, symbol

if TYPE_CHECKING:
    from symscale.derivation.plotting import Given, Known, Plotting, Span

# Curves that meet at a mark do so to this relative distance, in floats.
NEAR = 1e-9
MOST_MARKED = 44  # characters of a formula beside a mark
ROUND = (sp.Integer(1), sp.Rational(3, 2), *map(sp.Integer, (2, 3, 4, 5, 7, 10)))
MEASURES = ("B", "B/s", "FLOP/s", "s")


def over_one(
    d: Plotting,
    curves: Mapping[str, sp.Expr | tuple[sp.Expr, Given]],
    over: str,
    span: Span,
    title: str,
    caption: str,
    labels: tuple[str, str],
    height: Span | None,
    marks: Sequence[Crossover | tuple[Crossover, str]],
    found: Known,
) -> Figure:
    """Return the figure of formulas over one variable, and write it down."""
    chip, known, own = found
    along = symbol(over)
    low, high = ends(span)
    made = []
    for place, (label, given) in enumerate(curves.items()):
        form, values = given if isinstance(given, tuple) else (given, {})
        here = {**known, **d.terms.given(values, kinds=d.kinds)}
        made.append(Curve(prose(label), along, form, along, low, high, used(here, form), place))
    axis = Axis(prose(labels[0]) if labels[0] else named(along), low, high)
    vertical = Axis(prose(labels[1]), *(ends(height) if height else decades(made)))
    places = {label: place for place, label in enumerate(curves)}
    drawn: list[Mark] = []
    for each in marks:
        said = {mark.form for mark in drawn}
        if isinstance(each, tuple):
            drawn.append(on_curve(each[0], made[places[each[1]]], places[each[1]], d.layer, said))
        else:
            drawn.append(at_crossover(each, made, along, known, d.layer, said))
    setting = settings(chip, d.layer, {name: known[name] for name in own}, made)
    return write(d, Figure(title, prose(caption), setting, axis, vertical, tuple(made), tuple(drawn)))


def roofline(
    d: Plotting,
    programs: Mapping[str, tuple[Layer, Given]],
    chip: Machine | None,
    dtypes: Sequence[str],
    span: Span,
    title: str,
    caption: str,
    values: Given | None,
) -> Figure:
    """Return the figure of what a chip attains over the intensity, with programs on it, and write it down."""
    if chip is None:
        raise SymscaleError("A roofline needs a chip.", hint='Name one: on="tpu-v5e".')
    over = symbol("I_op")
    math_time, hbm_time = symbol("FLOPs") / symbol("C"), symbol("FLOPs") / (over * symbol("W_hbm"))
    # FLOPs per second, for one FLOP
    attained = 1 / maximum(*(each.xreplace({symbol("FLOPs"): sp.S.One}) for each in (math_time, hbm_time)))
    bend = border(crossover(math_time, ">=", hbm_time, over).cases)
    if bend is None:
        raise StepError("The roofline has no bend.")
    constants = {symbol(name): value for name, value in chip.constants().items()} | d.terms.given(values, kinds=d.kinds)
    low, high = ends(span)
    curves: list[Curve] = []
    marks: list[Mark] = []
    for place, kind in enumerate(dtypes):
        here = {**constants, symbol("C"): chip.peak(kind)}
        curves.append(Curve((kind,), over, attained, over, low, high, used(here, attained), place))
        where = bend.xreplace(here)
        said = (Relation(over, "==", bend), f" = {format_number(where, 4)}")
        marks.append(Mark(said, (place,), where, bend, used(here, bend)))
    for label, (layer, sizes) in programs.items():
        marks.append(_program(d, label, layer, sizes, chip, dtypes, curves))
    axis = Axis(("intensity [FLOP/B]",), low, high)
    vertical = Axis(("attained [FLOP/s]",), *decades(curves[: len(dtypes)]))
    setting = settings(chip, None, d.terms.given(values, kinds=d.kinds), curves)
    figure = Figure(title, prose(caption), setting, axis, vertical, tuple(curves), tuple(marks))
    return write(d, figure, [Relation(over, "==", bend)], [Relation(math_time, ">=", hbm_time)])


def _program(
    d: Plotting, label: str, layer: Layer, sizes: Given, chip: Machine, dtypes: Sequence[str], curves: list[Curve]
) -> Mark:
    """Return the mark of a program's forward pass on the roof of its dtype: its own FLOPs, bytes and times."""
    if len(layer.kinds) != 1 or layer.kinds[0] not in dtypes:
        raise SymscaleError(f"{label} computes in {', '.join(layer.kinds)}, which the roofline does not show.")
    roof = dtypes.index(layer.kinds[0])
    _, known, _ = d.known(chip, sizes, layer)
    cost = layer.costs["forward"]
    spent = maximum(cost.total_flops / peak_symbol(layer.kinds[0], layer.kinds), cost.hbm_bytes / symbol("W_hbm"))
    intensity = (cost.total_flops / cost.hbm_bytes).xreplace(known)
    own = curves[roof]
    # the program's own curve is the one point it takes: its times must put it on the roof
    place = Curve((label,), intensity, cost.total_flops / spent, own.along, own.low, own.high, used(known, spent), -1)
    curves.append(place)
    return Mark(prose(label), (roof, len(curves) - 1), intensity)


def pareto(
    d: Plotting,
    forms: tuple[sp.Expr, sp.Expr],
    models: Mapping[str, Given],
    batches: Sequence[int],
    limit: tuple[Crossover | None, bool],
    along: str,
    title: str,
    caption: str,
    labels: tuple[str, str],
    found: Known,
) -> Figure:
    """Return the figure of throughput against latency along the batch, and write it down."""
    chip, known, own = found
    batch, (fits, beyond) = symbol(along), limit
    curves: list[Curve] = []
    marks: list[Mark] = []
    for colour, (label, given) in enumerate(models.items()):
        here = {**known, **d.terms.given(given, kinds=d.kinds)}
        most = None if fits is None else _border(fits.exact or fits.headline, here, batch)
        low, high = sp.Integer(min(batches)), sp.Integer(max(batches))
        parts = [(low, high, False)]
        if most is not None and most[1] < high:
            parts = [(low, most[1], False)] * bool(most[1] > low) + [(max(most[1], low), high, True)] * beyond
        for start, end, dashed in parts:
            text: Prose = prose(label) if (start, dashed) == (parts[0][0], parts[0][2]) else ""
            curve = Curve(text, *forms, batch, start, end, used(here, *forms), colour, dashed)
            curves.append(curve)
            inside = [each for each in map(sp.Integer, batches) if start <= each <= end]
            marks += [Mark((batch, f" = {each}"), (len(curves) - 1,), each) for each in inside]
            if most is not None and not dashed and end == most[1]:
                words: Prose = (Relation(batch, "<=", sp.floor(most[1])), " fits")
                marks.append(Mark(words, (len(curves) - 1,), most[1], most[0], used(here, most[0])))
    x, y = (decades(curves, of) for of in ("x", "y"))
    setting = settings(chip, d.layer, {name: known[name] for name in own}, curves)
    axes = (Axis(prose(labels[0]), *x), Axis(prose(labels[1]), *y))
    return write(d, Figure(title, prose(caption), setting, *axes, tuple(curves), tuple(marks)))


def write(d: Plotting, figure: Figure, borders: Sequence[Relation] = (), sides: Sequence[Relation] = ()) -> Figure:
    """Append the step of a figure and return the figure."""
    proofs: tuple[Proof, ...] = (Drawn(figure, tuple(sides)),)
    caption = (figure.caption,) if isinstance(figure.caption, str) else figure.caption
    setting = (figure.setting,) if isinstance(figure.setting, str) else figure.setting
    reason = (*caption, *((" ", *setting) if setting else ()))
    d.steps.append(Step("plot", figure.title, reason, tuple(borders), proofs, figure=figure))
    return figure


def at_crossover(
    found: Crossover,
    curves: Sequence[Curve],
    along: sp.Symbol,
    known: Mapping[sp.Symbol, sp.Expr],
    layer: Layer | None,
    said: set[sp.Expr | None],
) -> Mark:
    """Return the mark of a crossover on the curves that meet there, with its closed form (once) and its number."""
    answer = found.exact or found.headline
    form, where = _border(answer, known, along)
    point = {**known, along: where}
    missing = sorted(map(str, found.relation.lhs.free_symbols - point.keys()))
    if missing:
        raise StepError(f"A mark needs a number for {', '.join(missing)}.")
    height = float_value(found.relation.lhs, point)
    on = [n for n, each in enumerate(curves) if abs(float_value(each.y, each.at(where)) / height - 1) < NEAR]
    if len(on) < 2:
        raise StepError(f"The crossover at {along} = {format_number(where, 6)} is on no two curves of the plot.")
    return _marked(answer, form, where, tuple(on), used(known, form), layer, said)


def on_curve(found: Crossover, curve: Curve, number: int, layer: Layer | None, said: set[sp.Expr | None]) -> Mark:
    """Return the mark of a crossover on one curve, with the numbers of that curve."""
    answer = found.exact or found.headline
    known = dict(curve.values)
    form, where = _border(answer, known, curve.along)
    return _marked(answer, form, where, (number,), used(known, form), layer, said)


def _marked(
    answer: Answer,
    form: sp.Expr,
    where: sp.Expr,
    on: tuple[int, ...],
    values: Values,
    layer: Layer | None,
    said: set[sp.Expr | None],
) -> Mark:
    """Return a mark with the closed form in the dtypes of the program, if that is short, and its number."""
    along = answer.solution.unknown
    shown = form.xreplace(dict(layer.typed.numbers) if layer is not None else {})
    unit = unit_beside(where, answer.unit)
    value = format_quantity(where, unit, 4) if unit in MEASURES else format_number(where, 4)
    if form in said or longer_than(shown, MOST_MARKED):
        return Mark((along, f" = {value}"), on, where, form, values)
    return Mark((Relation(along, "==", shown), f" = {value}"), on, where, form, values)


def _border(answer: Answer, known: Mapping[sp.Symbol, sp.Expr], along: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """Return the one border of an answer in closed form, for the symbol itself, and its number. Raises StepError."""
    without = {name: value for name, value in known.items() if name != along}
    left = left_of(answer, without)
    edge = border([each.case for each in left]) if len(left) == 1 else None
    if edge is None:
        raise StepError(f"The answer for {answer.unknown} is no single border with these numbers.")
    form = edge * along / answer.unknown
    where = form.xreplace(without)
    if where.free_symbols:
        raise StepError(f"The border needs a number for {', '.join(sorted(map(str, where.free_symbols)))}.")
    return form, where


# ------------------------------------------------------------------ words and axes


def prose(text: str) -> Prose:
    """Return words with the formulas that stand between dollar signs: "above $B/X = C/W_ici$"."""
    parts = re.split(r"\$([^$]+)\$", text)
    return tuple(_formula(each) if place % 2 else each for place, each in enumerate(parts) if each)


def _formula(text: str) -> sp.Expr | Relation:
    if not any(sign in text for sign in ("=", "<", ">")):
        return parse_formula(text).expr
    found = parse_relation(text)
    return Relation(found.lhs, "==" if found.op == "=" else found.op, found.rhs)


def named(name: sp.Expr) -> Prose:
    """Return a symbol with its meaning."""
    row = entry(str(name))
    return (
        (name,) if row is None else (f"{row.meaning}, ", name) if "," not in row.meaning else (name, f": {row.meaning}")
    )


def settings(
    chip: Machine | None,
    layer: Layer | None,
    own: Mapping[sp.Symbol, sp.Expr],
    curves: Sequence[Curve],
    plane: Map | None = None,
) -> Prose:
    """Return with which machine, dtype and numbers a figure is drawn."""
    drawn = {name for each in curves for name, _ in each.values}
    drawn |= {name for name, _ in plane.values} if plane is not None else set()
    words: list[str | sp.Expr | Relation] = []
    for name in sorted(own.keys() & drawn, key=str):
        words += [", " if words else "", name, " = ", _said(name, own[name], layer)]
    title = chip.title if chip is not None else ""
    kinds = f" in {', '.join(layer.kinds)}" if layer is not None and layer.kinds and chip is not None else ""
    lead = f"On {title}{kinds}" if title else "Drawn"
    if not title and not words:
        return ()
    return (lead, *([" with ", *words] if words else []), ".")


def _said(name: sp.Symbol, value: sp.Expr, layer: Layer | None) -> str | sp.Expr:
    """Return a number with its unit, or as a formula where it has none: 7·10^10 with its power raised."""
    shown = quantity(name, value, layer)
    return value if value.is_Integer and "10^" in shown else shown


def ends(span: Span) -> tuple[sp.Expr, sp.Expr]:
    """Return both ends of a range as exact numbers. Raises SymscaleError for an empty one."""
    low, high = map(read, span)
    if not 0 < low < high:
        raise SymscaleError(
            f"From {low} to {high} is no range of a plot.", hint="Give a smaller positive number first."
        )
    return low, high


def decades(curves: Iterable[Curve], of: str = "y") -> tuple[sp.Expr, sp.Expr]:
    """Return round ends of a logarithmic axis on which curves lie: up to 10 times a power of ten.

    Raises SymscaleError where a curve is not positive, or there is none.
    """
    found: list[float] = []
    for each in curves:
        form = each.x if of == "x" else each.y
        for step in range(9):
            at = float(each.low) * float(each.high / each.low) ** (step / 8)
            value = float_value(form, each.at(at))
            if not 0 < value < math.inf:
                label = _text(each.label)
                number = format_number(value) if math.isfinite(value) else "no number"
                raise SymscaleError(
                    f"{label} is {number} where {each.along} = {format_number(at)}, which a plot has no place for.",
                    hint="A plot shows positive numbers.",
                )
            found.append(value)
    if not found:
        raise SymscaleError("No curve of the plot has a point.", hint="Nothing is possible with these values.")
    return _round(min(found) * 0.55, up=False), _round(max(found) * 1.7, up=True)


def _text(words: Prose) -> str:
    """Return words with their formulas as text."""
    parts = (words,) if isinstance(words, str) else words
    return "".join(
        relation_text(each.lhs, "=" if each.op == "==" else each.op, each.rhs)
        if isinstance(each, Relation)
        else str(each)
        for each in parts
    )


def _round(value: float, *, up: bool) -> sp.Expr:
    power = math.floor(math.log10(value))
    steps = [each * sp.Integer(10) ** power for each in ROUND]
    return (
        next(each for each in steps if each >= value) if up else next(each for each in reversed(steps) if each <= value)
    )
