"""Two programs beside each other: which one is faster, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import sympy as sp

from symscale.cost import Times
from symscale.derivation.builder import PASSES, Builder
from symscale.derivation.crossover import Answer, Crossover, bounds
from symscale.derivation.evaluate import numbers, quantity
from symscale.derivation.layer import Layer
from symscale.derivation.limits import comparable, limit_text, listed, read_limits, readable
from symscale.derivation.mesh import aliases
from symscale.derivation.proof import Covers, Equal, Evaluated, InLimit, Solved, Substituted
from symscale.derivation.question import Question, checked_options, planned
from symscale.derivation.sizes import by_dimension, placed, settled
from symscale.derivation.step import Derivation, Prose, Step
from symscale.derivation.units import unit_of
from symscale.errors import LayoutError, SymscaleError
from symscale.frozen import dataclass
from symscale.machine import Machine, chosen
from symscale.notation.elaborate import elaborate
from symscale.notation.formula import parse_formula
from symscale.notation.numbers import format_number
from symscale.notation.order import merge
from symscale.shown import Printed
from symscale.solve import approximate_relation, crossover
from symscale.solve.limits import Limit
from symscale.solve.region import EVERYWHERE, Region, order
from symscale.solve.relation import ALWAYS, MASKS, Case, Relation, Solution
from symscale.solve.terms import compare as compare_terms
from symscale.solve.terms import signed_terms
from symscale.vocabulary import entry, fresh, symbol

NAMES = ("First program", "Second program")
TIMES = (symbol("T_1"), symbol("T_2"))
# An exact answer of more cases than this is left out where long mesh axes make it shorter.
MOST_CASES = 3
EQUAL = MASKS["=="]


@dataclass(frozen=True)
class Side:
    """One of two programs: its layer, the numbers given for it, its times."""

    layer: Layer
    known: dict[sp.Symbol, sp.Expr]
    times: Times


@dataclass(frozen=True)
class Compared(Printed):
    """Both programs, the derivation, and the border between them (none where numbers decide already)."""

    derivation: Derivation
    sides: tuple[Side, Side]
    crossovers: tuple[Crossover, ...]


def compare(question: Question, second: str) -> Compared:
    """Find where the question's program is at least as fast as a second one, under the same options.

    The time is `Times.total`: arithmetic and networks, overlapped as `question.overlap` says.
    Raises SymscaleError as `derive` does.
    """
    checked_options(question)
    chip = chosen(question.on)
    d = Builder("Which program is faster?")
    texts = (question.program, second)
    asked = _shared(question, texts)
    first, other = (_side(d, each, name, chip) for each, name in zip(asked, NAMES, strict=True))
    relation = Relation(first.times.total, "<=", other.times.total)
    known = {**first.known, **other.known}
    unknown = _unknown(question, first, relation, known)
    found: tuple[Crossover, ...] = ()
    if unknown is not None:
        plain = known if chip is not None or question.values else {}
        found = _border(d, relation, unknown, (first, other), question.assume, plain)
        mesh = frozenset(size for side in (first, other) for size in side.layer.mesh_symbols)
        d.steps += _answer(found, chip.title if chip is not None else "", mesh)
    _totals(d, (first, other), known)
    return Compared(d.derivation, (first, other), found)


def _shared(question: Question, texts: tuple[str, str]) -> list[Question]:
    """Return the question of each program, with those options only that speak of what it has."""
    asked = []
    seen: set[str] = set()
    for text in texts:
        named = {name: size for name, size in question.mesh.items() if len(name) > 1 and name in text}
        program = elaborate(text, mesh=named)
        have = {*program.mesh, *program.sizes}
        seen |= have
        mesh = {name: size for name, size in question.mesh.items() if name in program.mesh}
        axes = {name: where for name, where in question.axes.items() if name in program.mesh}
        values = {k: v for k, v in question.values.items() if k in have or not _is_size(k, question)}
        asked.append(replace(question, program=text, mesh=mesh, axes=axes, values=values))
    for name in (*question.mesh, *question.axes):
        if name not in seen:
            raise LayoutError(f"Neither program uses the axis {name}.", hint="Remove it from --mesh and --axes.")
    for name in question.values:
        if name not in seen and _is_size(name, question):
            raise LayoutError(f"{name[:60]} does not occur in either program.", hint=f"They have {_listed(seen)}.")
    return asked


def _is_size(name: str, question: Question) -> bool:
    """Say whether a name that is given a number is that of a size, not of a rate or of physical axes."""
    links = {str(s) for each in question.axes.values() if not isinstance(each, str) for s in each.free_symbols}
    machine_name = name in ("C", "W", "N", "N_chips", "T_hop", "b") or name.startswith(("W_", "C_", "b_"))
    return not machine_name and name not in links


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))


def _side(d: Builder, question: Question, name: str, chip: Machine | None) -> Side:
    given, linked = settled(question.values)
    start = len(d.steps)
    layer = planned(d, question, chip, given, linked)
    named = by_dimension(linked, layer)
    if named != linked:
        del d.steps[start:]
        layer = planned(d, question, chip, given, named)
    known = {**numbers(layer, chip, {}), **placed(given, linked, layer, aliases(layer))}
    for which in PASSES[question.passes]:
        if layer.plan.passes[which]:
            d.counts(layer, which)
    times = d.times(layer, question.passes, overlap=question.overlap, latency=question.latency)
    if times.total == 0:
        raise SymscaleError(f"The {name.lower()} takes no time: it computes nothing and sends nothing.",
                            hint="Compare programs with a product or a change of layout.")  # fmt: skip
    d.steps[start:] = [replace(step, title=f"{name}: {_lower(step.title)}") for step in d.steps[start:]]
    return Side(layer, known, times)


def _lower(title: str) -> str:
    return title[0].lower() + title[1:]


def _unknown(question: Question, first: Side, relation: Relation, known: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr | None:
    """Return what to solve for: the question's letter, else the first dimension that has no number."""
    if question.solve:
        unknown = parse_formula(question.solve, aliases=aliases(first.layer)).expr
        if unknown.free_symbols - relation.free_symbols or not unknown.free_symbols:
            raise LayoutError(
                f"{question.solve[:60]} does not occur in the times of the programs.",
                text=question.solve,
                position=0,
                hint=f"Solve for one of {_listed({str(s) for s in relation.free_symbols}) or '(none)'}.",
            )
        return unknown
    sizes = (*first.layer.program.sizes.values(), *first.layer.program.mesh.values())
    open_ones = [s for s in sizes if s.is_Symbol and s in relation.free_symbols and s not in known]
    return open_ones[0] if open_ones else None


def _border(
    d: Builder,
    relation: Relation,
    unknown: sp.Expr,
    sides: tuple[Side, Side],
    assume: str,
    known: Mapping[sp.Symbol, sp.Expr],
) -> tuple[Crossover, ...]:
    """Solve T_1 <= T_2 exactly, in the limit of long mesh axes, and with the numbers there are."""
    mesh = tuple(dict.fromkeys(size for side in sides for size in side.layer.mesh_symbols))
    d.order = merge(sides[0].layer.order, sides[1].layer.order)
    found: list[Crossover] = []
    unit = unit_of(unknown, sides[0].layer)
    solution = _solution(relation, unknown, mesh)
    limits = _limits(relation, mesh, assume)
    if assume:
        _speakable(limits, relation, sides)
    if len(solution.cases) <= MOST_CASES or not limits:
        d.steps += _cases("", relation, solution, unknown, frozenset(mesh))
        found.append(_found(relation, solution, unknown, unit))
    if limits:
        near, steps = _in_limits(relation, limits, bool(assume))
        d.steps += steps
        if near != relation:
            relation, solution = near, _solution(near, unknown, mesh)
            names = [readable(limit_text(each)) for each in limits]
            d.steps += _cases(f", for {', '.join(names)}", relation, solution, unknown, frozenset(mesh))
            found.append(_found(relation, solution, unknown, unit, tuple(map(limit_text, limits))))
    values = {name: v for name, v in known.items() if name in relation.free_symbols - unknown.free_symbols}
    if values:
        numeric = relation.subs(values)
        proof = Substituted((relation,), tuple(values.items()))
        layers = [side.layer for side in sides]
        lines: tuple[Prose, ...] = tuple((name, f" = {quantity(name, v, *layers)}") for name, v in values.items())
        d.add(Step("substitute", "In numbers", "Put in the numbers.", (numeric,), (proof,), lines))
        solution = _solution(numeric, unknown, mesh)
        d.steps += _cases(", in numbers", numeric, solution, unknown, frozenset(mesh), unit)
        found.append(replace(_found(numeric, solution, unknown, unit), on="numbers"))
    return tuple(found)


def _speakable(limits: Sequence[Limit], relation: Relation, sides: tuple[Side, Side]) -> None:
    """Refuse limits of what the times do not have, or between different units. Raises LayoutError, UnitError."""
    have = {str(each) for each in relation.free_symbols}
    for limit in limits:
        said = {str(name) for part in (limit.small, *limit.large) for name in part.free_symbols}
        strange = min(said - have, default="")
        if strange:
            raise LayoutError(
                f"The limit speaks of {strange[:60]}, which does not occur in the times.",
                hint=f"They have {_listed(have)}.",
            )
        comparable(limit, sides[0].layer.counted | sides[1].layer.counted)


def _solution(relation: Relation, unknown: sp.Expr, mesh: Sequence[sp.Symbol]) -> Solution:
    """Solve a relation; one chip on an axis sends nothing, so the interesting sizes are those above 1."""
    above_one = tuple(
        Relation(size, ">", sp.S.One) for size in mesh if size in relation.free_symbols - unknown.free_symbols
    )
    return joined(crossover(relation.lhs, relation.op, relation.rhs, unknown, given=above_one), above_one)


def joined(solution: Solution, given: Sequence[Relation] = ()) -> Solution:
    """Return the solution with one case for two that one condition tells apart, if one answer is right in both.

    `J <= min(a, c)` if p, and `J <= a` if not, are one answer if a <= c wherever p does not hold.
    """
    for first, second in permutations(solution.cases, 2):
        told = [each for each in first.when if each not in second.when]
        others = [each for each in second.when if each not in first.when]
        if len(told) != 1 or told[0].op == "==" or [told[0].negated()] != others:
            continue
        if _agree(first, second, given):
            one = Case(tuple(each for each in first.when if each not in told), first.intervals)
            kept = tuple(one if case is first else case for case in solution.cases if case is not second)
            return joined(replace(solution, cases=kept), given)
    return solution


def _agree(first: Case, second: Case, given: Sequence[Relation]) -> bool:
    """Say whether the intervals of the first case surely are those of the second wherever the second applies.

    Sizes above 1 are tried as they are, and as 1 + a positive symbol, which tells more where X - 1 is a factor.
    """
    further = {each.lhs: 1 + fresh("further") for each in given}
    return _same_in(first, second, given, {}) or _same_in(first, second, (), further)


def _same_in(first: Case, second: Case, given: Sequence[Relation], sizes: Mapping[sp.Expr, sp.Expr]) -> bool:
    region: Region | None = EVERYWHERE
    for each in (*given, *second.when):
        difference = sp.expand((each.lhs - each.rhs).xreplace(sizes))
        region = region.meet(compare_terms(signed_terms(difference), each.op)) if region is not None else None
    if region is None or len(first.intervals) != len(second.intervals):
        return False
    return all(
        (one.lo_open, one.hi_open) == (other.lo_open, other.hi_open)
        and order(region, one.lo.xreplace(sizes), other.lo.xreplace(sizes)) == EQUAL
        and order(region, one.hi.xreplace(sizes), other.hi.xreplace(sizes)) == EQUAL
        for one, other in zip(first.intervals, second.intervals, strict=True)
    )


def _limits(relation: Relation, mesh: Sequence[sp.Symbol], assume: str) -> list[Limit]:
    if assume:
        return read_limits(assume)
    long = tuple(size for size in mesh if size in relation.free_symbols)
    return [Limit(sp.S.One, long)] if long else []


def _in_limits(relation: Relation, limits: Sequence[Limit], named: bool) -> tuple[Relation, list[Step]]:
    """Return the relation in the limits, with the step that says what was dropped; unchanged if nothing was.

    Raises SymscaleError where nothing was dropped in limits that the user named.
    """
    try:
        near, found = approximate_relation(relation, limits)
    except SymscaleError:
        if named:
            raise
        return relation, []
    dropped = listed(term for each in found for term in each.dropped)
    names = ", ".join(readable(limit_text(each)) for each in limits)
    equations = tuple(Relation(name, "==", each.approximate) for name, each in zip(TIMES, found, strict=True))
    reason: Prose = (f"In the limit {names} drop ", *dropped, ".")
    return near, [Step("approximate", "Both times in the limit", reason, equations, (InLimit(tuple(found)),))]


def _found(
    relation: Relation, solution: Solution, unknown: sp.Expr, unit: str, limits: tuple[str, ...] = ()
) -> Crossover:
    answer = Answer("approx" if limits else "exact", solution, unknown, solution.cases, unit, limits)
    return Crossover("", "time", relation, (answer,))


def _cases(
    where: str,
    relation: Relation,
    solution: Solution,
    unknown: sp.Expr,
    long: frozenset[sp.Symbol],
    unit: str = "",
) -> list[Step]:
    steps = []
    for number, case in enumerate(solution.cases):
        equations = bounds(unknown, case)
        proofs: list[Solved | Covers] = [Covers(solution, long)] if number == 0 or not equations else []
        if equations:
            proofs.append(Solved(solution, unknown, case.when, long))
        title = f"Where the first program is at least as fast{where}" + (f", case {number + 1}" if number else "")
        reason: Prose = ("Solve T_1 <= T_2, ", relation, ", for ", unknown, ".") if number == 0 else "Otherwise:"
        units = tuple(_unit_beside(each.rhs, unit) for each in equations)
        steps.append(
            Step("solve", title, reason, equations, tuple(proofs), (verdict(unknown, case),), case.when, units)
        )
    return steps


def _answer(found: Sequence[Crossover], on: str, long: frozenset[sp.Symbol]) -> list[Step]:
    """Return the answer: the last border that was found, below the formula it is the number of if there is one."""
    last = found[-1]
    before = found[-2] if last.on and len(found) > 1 else None
    if before is not None and (len(before.headline.cases) > 1 or len(last.headline.cases) > 1):
        before = None
    limits = (before or last).headline.assumptions
    words = f", for {', '.join(map(readable, limits))}" if limits else ""
    words += (f", on {on}" if on else ", in numbers") if last.on else ""
    steps = []
    for number, case in enumerate(last.headline.cases):
        formulas = bounds(before.headline.unknown, before.headline.cases[0]) if before is not None else ()
        numeric = bounds(last.headline.unknown, case)
        equations = (*formulas, *(each for each in numeric if each not in formulas))
        units = ("",) * len(formulas)
        units += tuple(_unit_beside(each.rhs, last.unit) if last.on else "" for each in equations[len(formulas) :])
        proofs = [Covers(each.headline.solution, long) for each in (last, *((before,) if before is not None else ()))]
        again = Equal(tuple(each.rhs for each in equations))
        reason = f"Which program is faster{words}:" if number == 0 else "Otherwise:"
        title = "Answer" if number == 0 else f"Answer, case {number + 1}"
        lines = (verdict(last.headline.unknown, case),)
        steps.append(Step("remark", title, reason, equations, (again, *proofs), lines, case.when, units))
    return steps


def _unit_beside(value: sp.Expr, unit: str) -> str:
    """Return the unit of the unknown beside a number, or a form in sizes that has numbers for its rates."""
    rates = any(row is not None and row.unit for row in (entry(str(each)) for each in value.free_symbols))
    return "" if rates else unit


def verdict(unknown: sp.Expr, case: Case) -> Prose:
    """Say which program is faster where, for one case."""
    if not case.intervals:
        return ("the second program is faster for every ", unknown)
    if case.intervals == (ALWAYS,):
        return ("the first program is at least as fast for every ", unknown)
    if bounds(unknown, case):
        return "there the first program is at least as fast; elsewhere the second is faster"
    parts: list[str | sp.Expr | Relation] = ["the first program is at least as fast for "]
    for number, interval in enumerate(case.intervals):
        parts += [" or "] * (number > 0)
        for place, each in enumerate(bounds(unknown, Case((), (interval,)))):
            parts += [" and "] * (place > 0) + [each]
    return (*parts, ", the second elsewhere")


def _totals(d: Builder, sides: tuple[Side, Side], known: Mapping[sp.Symbol, sp.Expr]) -> None:
    """Write down both times in numbers, where every symbol has one."""
    formulas = [side.times.total for side in sides]
    if any(each.free_symbols - set(known) for each in formulas):
        return
    times = [each.xreplace(dict(known)) for each in formulas]
    ratio = times[1] / times[0]
    words = (
        "Both programs take the same time."
        if ratio == 1
        else f"The first program is {format_number(ratio, 4)} times as fast as the second."
        if ratio > 1
        else f"The second program is {format_number(1 / ratio, 4)} times as fast as the first."
    )
    equations = tuple(Relation(name, "==", value) for name, value in zip(TIMES, times, strict=True))
    proof = Evaluated(tuple(formulas), tuple(known.items()))
    d.add(Step("evaluate", "Both times in numbers", words, equations, (proof, Equal(tuple(times))), units=("s", "s")))
