"""The main job: from one line of notation and a question to a derivation with its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial

import sympy as sp

from symscale.cost import OVERLAPS, Times
from symscale.derivation.builder import PASSES, Builder
from symscale.derivation.crossover import Crossover, border, depends, pass_name, resource_name
from symscale.derivation.evaluate import numbers
from symscale.derivation.layer import Layer
from symscale.derivation.limits import read_limits, without_effect
from symscale.derivation.mesh import aliases, chips, constraint, read
from symscale.derivation.minimum import Optimised, optimise
from symscale.derivation.sizes import assumed, by_dimension, placed, settled, uneven
from symscale.derivation.spent import in_numbers
from symscale.derivation.step import Derivation
from symscale.derivation.strictest import of_resource
from symscale.errors import LayoutError, SymscaleError
from symscale.frozen import dataclass
from symscale.machine import Machine, chosen
from symscale.notation.formula import parse_formula
from symscale.notation.text import to_text
from symscale.shown import Printed
from symscale.solve.limits import Limit
from symscale.vocabulary import symbol


@dataclass(frozen=True)
class Question:
    """What a user asks of a program; every field is an option of `symscale derive`."""

    program: str
    solve: str = ""
    on: str | Machine | None = None
    mesh: Mapping[str, sp.Expr] = field(default_factory=dict)
    axes: Mapping[str, sp.Expr | str] = field(default_factory=dict)
    dtype: str = "bf16"
    passes: str = "both"
    overlap: str = "max"
    assume: str = ""
    exact: bool = False
    minimize: str = ""
    subject_to: str = ""
    values: Mapping[str, sp.Expr] = field(default_factory=dict)
    latency: bool = False
    regather: bool = False
    in_network: bool = False


@dataclass(frozen=True)
class Answered(Printed):
    """A question's derivation and everything found on the way."""

    question: Question
    derivation: Derivation
    layer: Layer
    times: Mapping[str, Times]
    crossovers: tuple[Crossover, ...]
    headline: int | None
    optimum: Optimised | None


def planned(
    d: Builder,
    question: Question,
    chip: Machine | None,
    given: Mapping[str, sp.Expr],
    sizes: Mapping[str, sp.Expr],
) -> Layer:
    """Write a question's program on a board; `given` are numbers that decide choices, `sizes` replace dimensions."""
    return d.program(
        question.program,
        dtype=question.dtype,
        on=chip,
        mesh=question.mesh,
        axes=question.axes,
        sizes=sizes,
        values={symbol(k): v for k, v in given.items()},
        passes=PASSES[question.passes],
        latency=question.latency,
        regather=question.regather,
        in_network=question.in_network,
    )


def derive(question: Question) -> Answered:
    """Answer a question. Raises SymscaleError with a caret and a way out where it cannot be answered."""
    checked_options(question)
    chip = chosen(question.on)
    given, linked = settled(question.values)
    d = Builder("Derivation")
    layer = planned(d, question, chip, given, linked)
    named = by_dimension(linked, layer)
    if named != linked:
        d = Builder("Derivation")
        layer = planned(d, question, chip, given, named)
    asked = {s.name for s in parse_formula(question.solve).expr.free_symbols} if question.solve else set()
    padded = uneven(layer, {name: value for name, value in given.items() if name not in asked})
    if padded:
        d = Builder("Derivation")
        gone = {str(layer.program.sizes[dim]) for dim in padded}
        layer = planned(d, question, chip, given, {**named, **padded})
        given = {name: value for name, value in given.items() if name not in gone}
    _known(question, layer)
    numeric = placed(given, linked, layer, aliases(layer))
    if chip is not None or numeric:
        numeric |= chips(constraint(question.subject_to, layer, sp.S.Zero, numeric), layer, numeric)
    shown = [name for name in PASSES[question.passes] if layer.plan.passes[name]]
    for name in shown:
        d.counts(layer, name)
    found: dict[str, Times] = {}
    for name in shown:
        found[name] = d.times(layer, name, overlap=question.overlap, latency=question.latency)
    if question.passes == "both" and len(shown) > 1:
        found["both"] = d.times(layer, "both", overlap=question.overlap, latency=question.latency)
    optimum = None
    if question.minimize:
        optimum = optimise(
            d,
            layer,
            found,
            question.minimize,
            subject_to=question.subject_to,
            solve=question.solve,
            numeric=numeric,
            chip=chip,
        )
    if question.solve and optimum is None:
        _crossovers(d, layer, found, question, chip, numeric)
    if question.solve and optimum is not None and (chip is not None or numeric):
        d.evaluate(on=chip, values={str(k): v for k, v in numeric.items()})
    headline = None
    if d.crossovers:
        headline = d.conclude(on=chip, values={str(k): v for k, v in numeric.items()})
    elif not question.minimize:
        known = numbers(layer, chip, numeric)
        d.steps += [step for name, spent in found.items() for step in in_numbers(name, spent, known, chip)]
    return Answered(question, d.derivation, layer, found, tuple(d.crossovers), headline, optimum)


def checked_options(question: Question) -> None:
    """Refuse words that are no option. Raises SymscaleError naming those that are."""
    if question.passes not in PASSES:
        raise SymscaleError(f"Unknown passes {question.passes!r}.", hint=f"Use one of {', '.join(PASSES)}.")
    if question.overlap not in OVERLAPS:
        raise SymscaleError(f"Unknown overlap {question.overlap!r}.", hint=f"Use one of {', '.join(OVERLAPS)}.")
    alone = question.solve and not question.minimize  # a mesh may be the best at one batch, and be asked for another
    asked = parse_formula(question.solve).expr.as_numer_denom()[0].free_symbols if alone else set()
    for name in (each for each in question.values if symbol(each) in asked):
        raise SymscaleError(
            f"{name} is given as {to_text(question.values[name])}, and is to be solved for too.",
            hint=f"Leave out --set {name}=… or solve for something else.",
        )


def _known(question: Question, layer: Layer) -> None:
    """Refuse a letter the derivation does not have."""
    if not question.solve:
        return
    unknown = read(question.solve, layer)
    have = {*layer.program.sizes.values(), *layer.program.mesh.values()}
    symbols = {s for size in have for s in size.free_symbols} | MACHINE | set(layer.typed.size.values())
    symbols |= {s for axis in layer.axes.values() for s in axis.links.free_symbols} | {symbol("N_chips")}
    if not _is_ratio(unknown):
        raise LayoutError(
            f"{question.solve[:60]} is neither a symbol nor a ratio of two.",
            text=question.solve,
            position=0,
            hint="--solve takes a symbol or a ratio such as B/X.",
        )
    strange = sorted(str(s) for s in unknown.free_symbols - symbols)
    if strange or not unknown.free_symbols:
        raise LayoutError(
            f"{strange[0] if strange else question.solve} does not occur in the program.",
            text=question.solve,
            position=0,
            hint=f"Solve for one of {', '.join(sorted(str(s) for s in symbols - MACHINE))}, or a machine constant.",
        )


def _is_ratio(unknown: sp.Expr) -> bool:
    """Return whether an unknown is a symbol, or a symbol over others: B, B/X, B/(X*Y)."""
    above, below = unknown.as_numer_denom()
    return bool(above.is_Symbol and all(each.is_Symbol or each == 1 for each in sp.Mul.make_args(below)))


def _about_ratio(found: Crossover, unknown: sp.Expr, layer: Layer) -> None:
    """Refuse a ratio that is not what decides: B/D where a bound on B stands, so that D is left on the right side.

    A mesh axis may be left in a term beside it: B/X >= (X - 1)/X*C/W. Raises LayoutError.
    """
    edge = border(found.headline.cases)
    _, below = unknown.as_numer_denom()
    for name in sorted(below.free_symbols & edge.free_symbols, key=str) if edge is not None else ():
        if name not in layer.mesh_symbols or name not in sp.cancel(edge * name).free_symbols:
            raise LayoutError(
                f"{unknown} does not decide by itself: {name} is left on the right side of the answer "
                f"({pass_name(found.passes).lower()} against {resource_name(found.resource)}).",
                hint=f"Solve for {unknown.as_numer_denom()[0]}, or a ratio to a mesh axis such as B/X.",
            )


MACHINE = frozenset(
    symbol(name)
    for name in ("C", "W_hbm", "W_ici", "W_link", "W_dcn", "W_nvlink", "W_ib", "W_node", "W_leaf", "W_pcie", "T_hop")
)


def resources(times: Times) -> list[tuple[str, sp.Expr]]:
    """Return what a pass has to hide: the network if there is any, and HBM."""
    return [(name, spent) for name, spent in (*times.networks.items(), ("hbm", times.hbm)) if spent != 0]


def _crossovers(
    d: Builder,
    layer: Layer,
    found: Mapping[str, Times],
    question: Question,
    chip: Machine | None,
    numeric: Mapping[sp.Symbol, sp.Expr],
) -> None:
    unknown = read(question.solve, layer)
    limits: Sequence[Limit] | None = None
    if question.assume:
        limits = read_limits(question.assume, aliases(layer))
        assumed(limits, layer, question.assume)
    by_chips = not question.subject_to and symbol("N_chips") in unknown.free_symbols
    kept = symbol("N_chips") if by_chips else unknown
    eliminated = constraint(question.subject_to, layer, kept, numeric)
    for name, times in found.items():
        if times.math == 0 or name == "update":
            continue
        for resource, spent in resources(times):
            lhs, rhs = times.math, spent
            present = {name for side in (lhs, rhs) for name in side.subs(eliminated).free_symbols}
            # a rate that a pass does not use, or the chips of a pass that needs one only, is not what is asked
            if (unknown.free_symbols & {*MACHINE, symbol("N_chips")}) - present:
                continue
            ask = partial(d.crossover, lhs, ">=", rhs, unknown, passes=name, resource=resource, rule=eliminated)
            try:
                ask(limits=limits, exact=question.exact)
            except SymscaleError:
                # the limits the user names may touch one resource only; the other keeps its exact form
                if limits is None:
                    raise
                at = len(d.steps)
                ask(exact=True)
                d.steps[at] = without_effect(d.steps[at], limits)
            if chip is not None or numeric:
                d.evaluate(on=chip, values={str(k): v for k, v in numeric.items()})
    if not unknown.is_Symbol:
        networks = of_resource(d.crossovers, network=True)
        for each in networks if any(depends(one.headline.cases) for one in networks) else d.crossovers:
            _about_ratio(each, unknown, layer)
    if not d.crossovers:
        raise LayoutError(
            f"{question.solve} decides nothing: no pass has arithmetic and a transfer that depend on it.",
            hint="Solve for a size, or for the rate of a network that the program uses (T_hop: with --latency).",
        )
