"""Optima: the mesh that minimises the communication, and what the batch must be there."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

import sympy as sp

from symscale.cost import Times
from symscale.derivation.crossover import pass_name
from symscale.derivation.evaluate import numbers
from symscale.derivation.layer import Layer
from symscale.derivation.limits import limit_text, listed, readable
from symscale.derivation.mesh import apart, chips, constraint, read
from symscale.derivation.points import random_point
from symscale.derivation.proof import Equal, Evaluated, InLimit, Minimal, float_value
from symscale.derivation.step import Proof, Prose, Step
from symscale.derivation.whole import Cheapest, least_of_all, ranked_meshes, relative, whole_meshes
from symscale.errors import StepError, SymscaleError, UndecidedError
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.notation.numbers import format_number
from symscale.notation.text import relation_text, to_text
from symscale.solve import approximate, minimise
from symscale.solve.exact import value_at
from symscale.solve.limits import Limit
from symscale.solve.optimum import Optimum
from symscale.solve.region import relate
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.derivation.builder import Builder


@dataclass(frozen=True)
class Optimised:
    """The best value of a mesh axis, the time there, and with numbers the best integers and their losses.

    `when` are the conditions under which `point` is a mesh at all, 1 <= X <= N; `limits` were taken on the way to it,
    and `in_limit` are the losses of whole meshes by the form in these limits.
    """

    variable: sp.Symbol
    point: sp.Expr
    value: sp.Expr
    number: sp.Expr | None
    integers: tuple[tuple[int, sp.Expr, sp.Expr], ...]
    passes: str = ""
    limits: tuple[str, ...] = ()
    when: tuple[Relation, ...] = ()
    in_limit: Mapping[int, sp.Expr] = field(default_factory=dict)

    @property
    def whole(self) -> int:
        """The whole size that loses least, of those that were compared: there have to be some."""
        return min(self.integers, key=lambda each: each[2])[0]


@dataclass(frozen=True)
class Within:
    """Conditions: at random points they hold where, and only where, the best size lies between two others."""

    point: sp.Expr
    low: sp.Expr
    high: sp.Expr
    conditions: tuple[Relation, ...]
    name: str = "the conditions say that the best mesh has at least one chip on each axis"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the two differ."""
        rng = random.Random(seed)
        inside = (Relation(self.low, "<=", self.point), Relation(self.point, "<=", self.high))
        symbols = {s for each in (*inside, *self.conditions) for s in each.free_symbols}
        for _ in range(8):
            point = random_point(symbols, rng)
            if all(each.holds(point) for each in inside) != all(each.holds(point) for each in self.conditions):
                raise StepError("The conditions of an optimum do not keep it inside the mesh.")


def optimise(
    d: Builder,
    layer: Layer,
    found: Mapping[str, Times],
    over: str,
    *,
    subject_to: str,
    solve: str,
    numeric: Mapping[sp.Symbol, sp.Expr],
    chip: Machine | None,
) -> Optimised:
    """Minimise the communication over a mesh axis, of all passes asked for together, then solve at the optimum.

    Raises SymscaleError, UndecidedError where nothing is to be minimised or no closed form is known.
    """
    variable = _axis(layer, over)
    if variable in numeric:
        raise SymscaleError(
            f"{variable} is given as {numeric[variable]}, and is to be chosen too.", hint="Leave one of them out."
        )
    name, times = _sending(found)
    rule = constraint(subject_to, layer, variable, numeric)
    (sent,), links = apart((times.comms,), layer)
    rule = {**links, **rule}
    exact = sent.xreplace(rule)
    _matters(exact, variable, layer, rule, subject_to)
    known = {**numbers(layer, chip, {}), **numeric, **chips(rule, layer, numeric)}
    before = len(d.steps)
    near, limits = _for_long_axes(d, layer, name, sent, links)
    objective = _on_fixed_chips(d, near, rule)
    span = _chips_of(rule, variable)
    try:
        best = minimise(objective, (variable,), None)
    except UndecidedError:
        del d.steps[before:]
        return _by_trial(d, layer, variable, exact, known, rule, name)
    when = _inside(best.point[variable], span)
    _best(d, objective, variable, best, name, when, span)
    if solve:
        _at_the_best(d, layer, times.math.xreplace(rule), best.value, solve, name, limits, when)
    made = Optimised(variable, best.point[variable], best.value, None, (), name, limits, when)
    return _numbers(d, made, exact, objective, known, rule)


def _sending(found: Mapping[str, Times]) -> tuple[str, Times]:
    """Return both passes together if both are asked for, else the first that sends anything. Raises SymscaleError."""
    sending = {name: each for name, each in found.items() if each.comms != 0}
    if not sending:
        raise SymscaleError(
            "No pass sends anything, so no mesh sends the least.", hint="Minimise another program, or pass."
        )
    name = "both" if "both" in sending else next(iter(sending))
    return name, sending[name]


def _matters(
    exact: sp.Expr, variable: sp.Symbol, layer: Layer, rule: Mapping[sp.Symbol, sp.Expr], subject_to: str
) -> None:
    """Refuse an axis that the communication does not depend on. Raises SymscaleError."""
    if variable in exact.free_symbols:
        return
    others = [size for size in layer.mesh_symbols if size != variable and size in exact.free_symbols]
    put = "".join(f" with {axis} = {to_text(size)}" for axis, size in rule.items())
    way = f"minimise over {' or '.join(map(str, others))}" if others else "minimise over another axis"
    one = (
        " without this constraint"
        if not rule
        else f", or trade {variable} for one axis alone: {_pair(layer, variable)}"
    )
    raise SymscaleError(
        f"The communication does not depend on {variable}{put}.",
        text=subject_to,
        position=0 if subject_to else None,
        hint=f"Give every axis but two a size (--mesh), {way}{one if rule else ''}.",
    )


def _pair(layer: Layer, variable: sp.Symbol) -> str:
    other = next((size for size in layer.mesh_symbols if size != variable), variable)
    return f'--subject-to "{variable}*{other} = N"'


def _axis(layer: Layer, over: str) -> sp.Symbol:
    variable = read(over, layer)
    if variable not in layer.mesh_symbols:
        raise SymscaleError(
            f"{over} is no mesh axis of the program that is still a symbol.",
            hint=f"Minimise over one of {', '.join(str(each) for each in layer.mesh_symbols) or '(none)'}.",
        )
    return variable


def _for_long_axes(
    d: Builder, layer: Layer, name: str, sent: sp.Expr, links: Mapping[sp.Symbol, sp.Expr]
) -> tuple[sp.Expr, tuple[str, ...]]:
    """Return the communication for long axes and the limits taken, none where they drop nothing."""
    axes = tuple(s for s in (*layer.mesh_symbols, *links) if s in sent.free_symbols)
    limit = Limit(sp.S.One, axes)
    try:
        near = approximate(sent, [limit])
    except UndecidedError:
        return sent, ()
    d.add(
        Step(
            "approximate",
            f"{pass_name(name)}: communication for long axes",
            (f"In the limit {readable(limit_text(limit))} drop ", *listed(near.dropped), "."),
            (Relation(symbol("T_comms"), "==", near.approximate),),
            (InLimit((near,)),),
        )
    )
    return near.approximate, (limit_text(limit),)


def _on_fixed_chips(d: Builder, near: sp.Expr, rule: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    if not rule:
        return near
    objective = near.xreplace(dict(rule))
    axis, other = next(iter(rule.items()))
    d.add(
        Step(
            "substitute",
            "On a fixed number of chips",
            ("Put ", Relation(axis, "==", other), "."),
            (Relation(symbol("T_comms"), "==", objective),),
            (Equal((near.subs(rule),)),),
        )
    )
    return objective


def _chips_of(rule: Mapping[sp.Symbol, sp.Expr], variable: sp.Symbol) -> sp.Expr | None:
    """Return the chips that the variable and the eliminated axis share, N of X*Y = N, if there are any."""
    shared = [size * variable for size in rule.values() if variable in size.free_symbols]
    return shared[0] if len(shared) == 1 and variable not in shared[0].free_symbols else None


def _inside(point: sp.Expr, span: sp.Expr | None) -> tuple[Relation, ...]:
    """Return the conditions under which 1 <= X <= N for the best X, left out where they hold for all sizes."""
    sides = [relate(point, sp.S.One, ">="), True if span is None else relate(point, span, "<=")]
    return tuple(each for each in sides if isinstance(each, Relation))


def _best(
    d: Builder,
    objective: sp.Expr,
    variable: sp.Symbol,
    best: Optimum,
    name: str,
    when: tuple[Relation, ...],
    span: sp.Expr | None,
) -> None:
    """Write down the best value of the variable and the time there."""
    point = best.point[variable]
    beyond: tuple[Prose, ...] = ()
    proofs: tuple[Proof, ...] = (Minimal(objective, variable),)
    if when:
        proofs = (*proofs, Within(point, sp.S.One, sp.oo if span is None else span, when))
        beyond = (("Otherwise an edge is best: ", variable, " = 1 where the formula gives less"),)
        if span is not None:
            beyond = ((*beyond[0], ", ", variable, " = ", span, " where it gives more."),)
        else:
            beyond = ((*beyond[0], "."),)
    whose = f" of {pass_name(name).lower()}" + (", which take turns" if name == "both" else "")
    d.add(
        Step(
            "optimise",
            f"The best {variable}",
            (f"Minimise the communication{whose}, over ", variable, f": {best.method}."),
            (Relation(variable, "==", point),),
            proofs,
            beyond,
            when,
        )
    )
    d.add(
        Step(
            "substitute",
            f"Communication at the best {variable}",
            "Put it in.",
            (Relation(symbol("T_comms"), "==", best.value),),
            (Equal((objective.xreplace({variable: point}),)),),
            (),
            when,
        )
    )


def _at_the_best(
    d: Builder,
    layer: Layer,
    work: sp.Expr,
    value: sp.Expr,
    solve: str,
    name: str,
    limits: tuple[str, ...],
    when: tuple[Relation, ...],
) -> None:
    """Solve at the optimum; the answer is no more exact than the optimum is, and holds where that is a mesh."""
    at = len(d.steps)
    d.crossover(work, ">=", value, read(solve, layer), exact=True, passes=name, resource="network")
    if not limits:
        return
    shown = ", ".join(map(readable, limits))
    d.steps[at:] = [
        replace(each, title=each.title.replace("the exact answer", f"the answer for {shown}")) for each in d.steps[at:]
    ]
    found = d.crossovers[-1]
    assumed = (*limits, *(relation_text(each.lhs, each.op, each.rhs, d.order) for each in when))
    answers = tuple(replace(each, form="approx", assumptions=assumed) for each in found.answers)
    d.crossovers[-1] = replace(found, answers=answers)


def _by_trial(
    d: Builder,
    layer: Layer,
    variable: sp.Symbol,
    exact: sp.Expr,
    known: Mapping[sp.Symbol, sp.Expr],
    rule: Mapping[sp.Symbol, sp.Expr],
    name: str,
) -> Optimised:
    """Return the best whole mesh where no optimum has a closed form and everything has a number."""
    span = _span(rule, variable, known)
    there = relative(exact, variable).xreplace(dict(known))
    missing = sorted(map(str, there.free_symbols - {variable}))
    if missing or span is None:
        what = ", ".join(missing) or "the number of chips"
        others = [str(size) for size in layer.mesh_symbols if size != variable and size in there.free_symbols]
        first = f"Give every axis but two a size (--mesh {others[0]}=4), or numbers" if others else "Give numbers"
        raise SymscaleError(
            f"The best {variable} has no closed form here, and there is no number for {what}.",
            hint=f'{first} (--set) and the number of chips (--subject-to "{variable}*… = 64"): '
            "then all whole meshes are compared.",
        )
    times = whole_meshes(there, variable, span)
    best = min(times, key=lambda each: float(each[1]))[0]
    point = sp.Integer(best)
    ranked, lines = ranked_meshes(times, variable, min(float(time) for _, time in times), "the best")
    value = exact.xreplace({**known, variable: point})
    d.add(
        Step(
            "optimise",
            f"The best {variable}",
            f"{pass_name(name)}: the exact communication at every divisor of {span}.",
            (Relation(variable, "==", point),),
            (Cheapest(there, variable, span),),
            lines,
        )
    )
    return Optimised(variable, point, value, point, ranked, name)


def _numbers(
    d: Builder,
    made: Optimised,
    exact: sp.Expr,
    limit: sp.Expr,
    known: dict[sp.Symbol, sp.Expr],
    rule: Mapping[sp.Symbol, sp.Expr],
) -> Optimised:
    """Return the optimum with its number, and the whole meshes compared by the exact form, edges included.

    The loss in the limit in which the optimum was found is said beside it, where both axes are longer than one chip.
    """
    variable, point = made.variable, made.point
    number = point.xreplace(known)
    if number.free_symbols:
        return made
    there = value_at(relative(exact, variable), known)
    span = _span(rule, variable, known)
    integers: tuple[tuple[int, sp.Expr, sp.Expr], ...] = ()
    lines: tuple[Prose, ...] = ()
    beside: dict[int, sp.Expr] = {}
    reason = "Put in the numbers."
    if not there.free_symbols - {variable} and span is not None:
        reason = (
            f"Put in the numbers; of the whole meshes the divisors of {span} are compared, by the exact form, with "
            f"the best real {variable} from 1 to {span}."
        )
        beside = _in_the_limit(made, value_at(limit, known), number, span)
        least = least_of_all(there, variable, span)
        integers, lines = ranked_meshes(whole_meshes(there, variable, span), variable, least, "the optimum", beside)
        if not 1 <= number <= span:
            beyond = "less than one chip" if number < 1 else f"more than the {span} chips"
            said: Prose = (variable, f" = {format_number(number, 4)} is no mesh: it is {beyond}.")
            lines = (said, *lines)
    d.add(
        Step(
            "evaluate",
            f"The best {variable} in numbers",
            reason,
            (Relation(variable, "==", number),),
            (Evaluated((point,), tuple(known.items())),),
            lines,
        )
    )
    return replace(made, number=number, integers=integers, in_limit=beside)


def _in_the_limit(made: Optimised, limit: sp.Expr, number: sp.Expr, span: int) -> dict[int, sp.Expr]:
    """Return the loss of each whole mesh by the form that gave the optimum; none at the edges."""
    variable = made.variable
    there = relative(limit, variable)
    if not made.limits or not 1 <= number <= span or there.free_symbols - {variable}:
        return {}
    least = float_value(there, {variable: number})
    inside = (n for n in sp.divisors(span) if 1 < n < span)
    return {n: sp.Rational(float_value(there, {variable: sp.Integer(n)}) / least - 1) for n in inside}


def _span(rule: Mapping[sp.Symbol, sp.Expr], variable: sp.Symbol, known: Mapping[sp.Symbol, sp.Expr]) -> int | None:
    """Return the chips that the variable and the eliminated axis share, if their number is known.

    Raises SymscaleError where it is not whole.
    """
    shared = _chips_of(rule, variable)
    shared = None if shared is None else shared.xreplace(dict(known))
    if shared is None or not shared.is_number:
        return None
    if not shared.is_Integer:
        raise SymscaleError(
            f"The mesh would have {to_text(shared)} chips on {variable} and {next(iter(rule))} together.",
            hint="Give a number of chips that the other axes divide.",
        )
    return int(shared)
