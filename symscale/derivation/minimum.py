"""Optima: the mesh that minimises the communication, and what the batch must be there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from symscale.cost import Times
from symscale.derivation.evaluate import numbers
from symscale.derivation.layer import Layer
from symscale.derivation.limits import limit_text, listed, readable
from symscale.derivation.mesh import chips, constraint, read
from symscale.derivation.proof import Equal, Evaluated, InLimit, Minimal
from symscale.derivation.step import Prose, Step
from symscale.errors import SymscaleError
from symscale.machine import Machine
from symscale.notation.numbers import format_number
from symscale.notation.text import to_text
from symscale.solve import approximate, best_integers, minimise
from symscale.solve.limits import Limit
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.derivation.builder import Builder


@dataclass(frozen=True)
class Optimised:
    """The best value of a mesh axis, the time there, and with numbers the best integers and their losses."""

    variable: sp.Symbol
    point: sp.Expr
    value: sp.Expr
    number: sp.Expr | None
    integers: tuple[tuple[int, sp.Expr, sp.Expr], ...]


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
    """Minimise the communication of the first pass that sends anything over a mesh axis, then solve at the optimum."""
    variable = _axis(layer, over)
    if variable in numeric:
        raise SymscaleError(
            f"{variable} is given as {numeric[variable]}, and is to be chosen too.", hint="Leave one of them out."
        )
    sending = [(name, each) for name, each in found.items() if each.comms != 0]
    if not sending:
        raise SymscaleError(
            "No pass sends anything, so no mesh sends the least.", hint="Minimise another program, or pass."
        )
    name, times = sending[0]
    near = _for_long_axes(d, layer, name, times)
    rule = constraint(subject_to, layer, variable, numeric)
    objective = _on_fixed_chips(d, near, rule)
    point, value = _best(d, objective, variable)
    if solve:
        unknown = read(solve, layer)
        math = times.math.xreplace(rule)
        d.crossover(math, ">=", value, unknown, exact=True, passes=name, resource="network")
    known = {**numbers(layer, chip, {}), **numeric, **chips(rule, layer, numeric)}
    return _numbers(d, variable, point, value, objective, known, rule)


def _axis(layer: Layer, over: str) -> sp.Symbol:
    variable = read(over, layer)
    if variable not in layer.mesh_symbols:
        raise SymscaleError(
            f"{over} is no mesh axis of the program that is still a symbol.",
            hint=f"Minimise over one of {', '.join(str(each) for each in layer.mesh_symbols) or '(none)'}.",
        )
    return variable


def _for_long_axes(d: Builder, layer: Layer, name: str, times: Times) -> sp.Expr:
    limit = Limit(sp.S.One, tuple(s for s in layer.mesh_symbols if s in times.comms.free_symbols))
    near = approximate(times.comms, [limit])
    d.add(
        Step(
            "approximate",
            f"{name.capitalize()} pass: communication for long axes",
            (f"In the limit {readable(limit_text(limit))} drop ", *listed(near.dropped), "."),
            (Relation(symbol("T_comms"), "==", near.approximate),),
            (InLimit((near,)),),
        )
    )
    return near.approximate


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


def _best(d: Builder, objective: sp.Expr, variable: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """Return the best value of the variable and the time there, each with its step."""
    best = minimise(objective, (variable,), None)
    point = best.point[variable]
    d.add(
        Step(
            "optimise",
            f"The best {variable}",
            ("Minimise the communication over ", variable, f": {best.method}."),
            (Relation(variable, "==", point),),
            (Minimal(objective, variable),),
        )
    )
    d.add(
        Step(
            "substitute",
            f"Communication at the best {variable}",
            "Put it in.",
            (Relation(symbol("T_comms"), "==", best.value),),
            (Equal((objective.xreplace({variable: point}),)),),
        )
    )
    return point, best.value


def _numbers(
    d: Builder,
    variable: sp.Symbol,
    point: sp.Expr,
    value: sp.Expr,
    objective: sp.Expr,
    known: dict[sp.Symbol, sp.Expr],
    rule: Mapping[sp.Symbol, sp.Expr],
) -> Optimised:
    number = point.xreplace(known)
    if number.free_symbols:
        return Optimised(variable, point, value, None, ())
    there = _without_common_factors(objective, variable).xreplace(known)
    span = _span(rule, variable, known)
    integers: tuple[tuple[int, sp.Expr, sp.Expr], ...] = ()
    lines: tuple[Prose, ...] = ()
    reason = "Put in the numbers."
    if not there.free_symbols - {variable} and span is not None:
        reason = f"Put in the numbers; of the whole meshes the divisors of {span} are compared with the real optimum."
        ranked = best_integers(there, variable, candidates=sp.divisors(span))
        integers = tuple((at[variable], time, loss) for at, time, loss in ranked)
        lines = tuple(
            (variable, f" = {at}: {format_number(100 * loss, 3)} % above the optimum") for at, _, loss in integers[:3]
        )
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
    return Optimised(variable, point, value, number, integers)


def _span(rule: Mapping[sp.Symbol, sp.Expr], variable: sp.Symbol, known: Mapping[sp.Symbol, sp.Expr]) -> int | None:
    """Return the chips that the variable and the eliminated axis share, if their number is known.

    Raises SymscaleError where it is not whole.
    """
    shared = [(size * variable).xreplace(dict(known)) for size in rule.values()]
    if not shared or not shared[0].is_number:
        return None
    if not shared[0].is_Integer:
        raise SymscaleError(
            f"The mesh would have {to_text(shared[0])} chips on {variable} and {next(iter(rule))} together.",
            hint="Give a number of chips that the other axes divide.",
        )
    return int(shared[0])


def _without_common_factors(objective: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """Return the objective divided by what all its terms share: the loss of a mesh does not depend on it."""
    parts = [part.as_powers_dict() for part in _parts(objective)]
    shared = [
        name
        for name in objective.free_symbols - {variable}
        if len({powers.get(name, 0) for powers in parts}) == 1 and parts
    ]
    factor = sp.Mul(*(name ** parts[0].get(name, 0) for name in shared))
    if isinstance(objective, sp.Max):
        return sp.Max(*(part / factor for part in objective.args))
    return sp.expand(objective / factor)


def _parts(objective: sp.Expr) -> tuple[sp.Expr, ...]:
    return tuple(objective.args) if isinstance(objective, sp.Max | sp.Add) else (objective,)
