"""Crossovers: from `T_a >= T_b` to the exact answer, the answer in a limit, and the dtype form, as steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.derivation.limits import approximation, instead, limit_text, limit_words, readable
from symscale.derivation.mesh import apart
from symscale.derivation.proof import Covers, Dimensioned, Solved, Substituted
from symscale.derivation.shorter import factored, longer_than, shorter
from symscale.derivation.step import Prose, Step
from symscale.derivation.units import unit_of
from symscale.derivation.usual import usual_limits
from symscale.errors import SymscaleError, UndecidedError
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.quantity.extrema import divided
from symscale.shown import Shown
from symscale.solve import approximate_relation, crossover
from symscale.solve.limits import Approximation, Limit
from symscale.solve.relation import Case, Interval, Relation, Solution
from symscale.vocabulary import TABLE, entry, symbol

ABOVE = {True: ">", False: ">="}
BELOW = {True: "<", False: "<="}
# A relation in limits, what each side dropped, and the limits.
_Near: TypeAlias = tuple[Relation, list[Approximation], Sequence[Limit]]
# A formula of more characters, two lines, is no help beside a simple one.
MOST_READ = 170


@dataclass(frozen=True)
class Answer:
    """One form of a crossover: exact or in a limit, with b as a symbol (`general`) and as a number (`typed`)."""

    form: str
    solution: Solution
    unknown: sp.Expr
    cases: tuple[Case, ...]
    unit: str
    assumptions: tuple[str, ...] = ()
    value: sp.Expr | None = None


@dataclass(frozen=True)
class Numbered:
    """A case that the numbers leave, as solved and with the numbers put in.

    `notes` say which whole values fit, and what the exact answer is beside one in a limit.
    """

    case: Case
    numeric: Case
    notes: tuple[Prose, ...] = ()


@dataclass(frozen=True)
class Crossover(Shown):
    """A solved question: which pass must hide which resource, and the answers found, the best known last.

    `numbered` are the cases of the headline that are left once numbers have been put in.
    """

    passes: str
    resource: str
    relation: Relation
    answers: tuple[Answer, ...]
    on: str = ""
    numbered: tuple[Numbered, ...] = ()

    @property
    def headline(self) -> Answer:
        """The answer in the book's form if there is one and no number refutes it, else the exact one."""
        return self.answers[-1]

    @property
    def exact(self) -> Answer | None:
        """The exact answer, if the relation has a closed form."""
        return next((each for each in self.answers if each.form == "exact"), None)

    @property
    def unit(self) -> str:
        """The display unit of the headline."""
        return self.headline.unit

    @property
    def value(self) -> sp.Expr | None:
        """The number of the headline, if it has been evaluated."""
        return self.headline.value

    @property
    def threshold(self) -> sp.Expr | None:
        """The one finite border of the headline's main case, or None if there is none or several."""
        return border(self.headline.cases)


def depends(cases: Sequence[Case]) -> bool:
    """Return whether what the cases say is about the unknown at all: under some condition not every value, nor none."""
    return any(not case.always and not case.never for case in cases)


def border(cases: Sequence[Case]) -> sp.Expr | None:
    """Return the one finite end of the only interval of the first case that has any."""
    for case in cases:
        if len(case.intervals) == 1:
            ends = [end for end in (case.intervals[0].lo, case.intervals[0].hi) if end not in (0, sp.oo)]
            if ends:
                return ends[0] if len(ends) == 1 else None
    return None


def cross(
    relation: Relation,
    unknown: sp.Expr,
    layer: Layer | None,
    *,
    limits: Sequence[Limit] | None,
    exact: bool,
    passes: str,
    resource: str,
    rule: Mapping[sp.Symbol, sp.Expr],
) -> tuple[Crossover, list[Step]]:
    """Return the answers to a relation and the steps that lead to them.

    `rule` eliminates a symbol, Y = N/X, as links of the mesh do; limits are taken before it, so that Y >> 1 is
    not lost.
    """
    asked, relation = relation, relation.subs(rule)
    if layer is not None:
        (left, right), links = apart((asked.lhs, asked.rhs), layer)
        asked, rule = Relation(left, asked.op, right), {**links, **rule}
    mesh = layer.mesh_symbols if layer is not None else ()
    # one chip on an axis sends nothing, so the interesting sizes are the whole numbers from 2
    where = f"{pass_name(passes)} against {resource_name(resource)}: " if passes else ""
    question = _Question(asked, relation, unknown, layer, rule, limits, where, resource, _two_or_more(relation, mesh))
    try:
        solution = _solved(relation, unknown, question.given)
    except UndecidedError as why:
        near = None if exact else question.in_limits()
        if near is None:
            raise
        answer, steps = _only_near(question, near, str(why.message))
        result = Crossover(passes, resource, relation, (answer,))
    else:
        answers, steps = _exactly(question, solution, as_ratio=exact)
        if not exact:
            found, more = _nearly(question, solution, answers[0])
            answers, steps = [*answers, *found], [*steps, *more]
        if layer is not None:
            units = Dimensioned(((relation.lhs, relation.rhs),), counts=layer.counted)
            steps[0] = replace(steps[0], proofs=(*steps[0].proofs, units))
        result = Crossover(passes, resource, relation, tuple(answers))
    return result, steps if layer is None else [*steps, *_dtype_form(where, result, layer)]


@dataclass(frozen=True)
class _Question:
    """A relation as `asked` and with the `rule` in it; what it is solved for, and what is `given` besides."""

    asked: Relation
    relation: Relation
    unknown: sp.Expr
    layer: Layer | None
    rule: Mapping[sp.Symbol, sp.Expr]
    limits: Sequence[Limit] | None
    where: str
    resource: str
    given: tuple[Relation, ...]

    @property
    def mesh(self) -> Sequence[sp.Symbol]:
        """The sizes of mesh axes that are symbols."""
        return self.layer.mesh_symbols if self.layer is not None else ()

    def in_limits(self) -> _Near | None:
        """Return the relation in the named limits, or the usual ones; None where these change nothing."""
        return _in_limits(self.asked, self.unknown, self.limits, self.layer, self.resource)


def _exactly(question: _Question, solution: Solution, *, as_ratio: bool) -> tuple[list[Answer], list[Step]]:
    """Return the exact answer and its steps; `as_ratio` shows it per chip where it is one."""
    unknown = question.unknown
    shown, cases = headline_ratio(solution, unknown, question.mesh) if as_ratio else (unknown, solution.cases)
    title = f"{question.where}the exact answer"
    steps = _solving(title, question.relation, solution, shown, cases, frozenset(question.mesh))
    return [Answer("exact", solution, shown, cases, unit_of(shown, question.layer))], steps


def _nearly(question: _Question, solution: Solution, exact: Answer) -> tuple[list[Answer], list[Step]]:
    """Return the answer in the limits and its steps, with its distance to the exact one; nothing where none fits."""
    near = question.in_limits()
    if near is None:
        return [], []
    relation, found, named = near
    simpler = _solved(relation.subs(question.rule), question.unknown, question.given)
    # a usual limit in which the unknown no longer counts would answer another question
    if question.limits is None and depends(solution.cases) and not depends(simpler.cases):
        return [], []
    answer, solving = _in_the_limit(question, near, simpler)
    usual = usual_limits(question.asked, question.unknown, question.layer, question.resource)
    first = approximation(question.where, found, answer.assumptions, instead(named, usual))
    far = _distance(question.where, exact, answer, named, question.unknown, frozenset(question.mesh))
    return [answer], [first, *solving, *far]


def _in_the_limit(question: _Question, near: _Near, simpler: Solution) -> tuple[Answer, list[Step]]:
    """Return the answer that a relation in its limits has, and the steps that solve it."""
    relation, _, named = near
    ratio, cases = headline_ratio(simpler, question.unknown, question.mesh)
    names = tuple(limit_text(each) for each in named)
    title = f"{question.where}the answer for {', '.join(map(readable, names))}"
    asked = relation.subs(question.rule)
    steps = _solving(title, asked, simpler, ratio, cases, frozenset(question.mesh))
    return Answer("approx", simpler, ratio, cases, unit_of(ratio, question.layer), names), steps


def _solved(relation: Relation, unknown: sp.Expr, given: Sequence[Relation]) -> Solution:
    """Return a relation's solution with what its borders have in common above and below the line divided out."""
    solution = crossover(relation.lhs, relation.op, relation.rhs, unknown, given=given)
    cases = []
    for case in solution.cases:
        intervals = tuple(replace(each, lo=shorter(each.lo), hi=shorter(each.hi)) for each in case.intervals)
        cases.append(Case(case.when, intervals))
    return replace(solution, cases=tuple(cases))


def _only_near(question: _Question, near: _Near, why: str) -> tuple[Answer, list[Step]]:
    """Return the answer in the limits, and its steps, where the exact relation has no closed form."""
    relation, found, _ = near
    simpler = _solved(relation.subs(question.rule), question.unknown, question.given)
    answer, steps = _in_the_limit(question, near, simpler)
    first = approximation(question.where, found, answer.assumptions)
    first = replace(first, reason=(*first.reason, f" The exact relation is not solved: {why}."))
    return answer, [first, *steps]


def _two_or_more(relation: Relation, mesh: Sequence[sp.Symbol]) -> tuple[Relation, ...]:
    """Return that every mesh axis has two chips or more, and what follows for the hops of a ring, ⌊X/2⌋."""
    given = [Relation(size, ">=", sp.Integer(2)) for size in mesh if size in relation.free_symbols]
    hops = [node for node in relation.rhs.atoms(sp.floor, sp.ceiling) if node.free_symbols <= set(mesh)]
    return (*given, *(Relation(node, ">=", sp.S.One) for node in sorted(hops, key=str)))


def pass_name(passes: str) -> str:
    """Return `Forward pass`, or `Both passes`."""
    return "Both passes" if passes == "both" else f"{passes.capitalize()} pass"


def resource_name(resource: str) -> str:
    """Return a resource as a reader knows it."""
    names = {"hbm": "HBM", "ici": "ICI", "dcn": "DCN", "nvlink": "NVLink", "ib": "InfiniBand", "pcie": "PCIe"}
    names |= {"tree": "the fat tree"}
    return names.get(resource, f"the {resource}")


def bounds(unknown: sp.Expr, case: Case) -> tuple[Relation, ...]:
    """Return the one interval of a case as relations; () for never, always and several intervals."""
    if len(case.intervals) != 1:
        return ()
    interval = case.intervals[0]
    found = []
    if interval.lo != 0:
        if interval.lo == interval.hi:
            return (Relation(unknown, "==", interval.lo),)
        found.append(Relation(unknown, ABOVE[interval.lo_open], interval.lo))
    if interval.hi != sp.oo:
        found.append(Relation(unknown, BELOW[interval.hi_open], interval.hi))
    return tuple(found)


def case_words(unknown: sp.Expr, case: Case) -> Prose:
    """Return a case in words: never, always, or its intervals."""
    if not case.intervals:
        return ("no ", unknown, " is enough")
    words: list[str | sp.Expr | Relation] = []
    for interval in case.intervals:
        shown = bounds(unknown, Case((), (interval,)))
        parts = [part for each in shown for part in (" and ", each)][1:] or ["every ", unknown, " is enough"]
        words += [" or ", *parts]
    return tuple(words[1:])


def _solving(
    title: str,
    question: Relation,
    solution: Solution,
    unknown: sp.Expr,
    cases: Sequence[Case],
    long: frozenset[sp.Symbol],
) -> list[Step]:
    """Return one step per case; the first also proves that the cases cover everything."""
    steps = []
    for number, case in enumerate(cases):
        equations = bounds(unknown, case)
        proofs: list[Solved | Covers] = [Covers(solution, long)] if number == 0 or not equations else []
        if equations:
            proofs.append(Solved(solution, unknown, case.when, long))
        name = title if number == 0 else f"{title}, case {number + 1}"
        lines = () if equations else (case_words(unknown, case),)
        reason: Prose = ("Solve ", question, " for ", solution.unknown, ".") if number == 0 else "Otherwise:"
        steps.append(Step("solve", name, reason, equations, tuple(proofs), lines, case.when))
    return steps


def _in_limits(
    relation: Relation, unknown: sp.Expr, limits: Sequence[Limit] | None, layer: Layer | None, resource: str
) -> _Near | None:
    """Return the relation in the named limits; None where the default limits change nothing."""
    named = list(limits) if limits is not None else usual_limits(relation, unknown, layer, resource)
    if not named:
        return None
    try:
        question, found = approximate_relation(relation, named)
    except SymscaleError:
        if limits is None:
            return None
        raise
    return question, list(found), named


_RATES = tuple(each for each in TABLE.values() if each.unit not in ("", "B"))


def headline_ratio(solution: Solution, unknown: sp.Expr, mesh: Sequence[sp.Symbol]) -> tuple[sp.Expr, tuple[Case, ...]]:
    """Return the unknown as a ratio if the border is (mesh sizes)·(something free of them): B/X for B >= X·C/W."""
    edge = border(solution.cases)
    if edge is None or not unknown.is_Symbol or unknown in mesh or entry(str(unknown)) in _RATES:
        return unknown, solution.cases
    counts = (*mesh, symbol("N_chips"))
    factor = sp.Mul(
        *(axis for axis in counts if axis in edge.free_symbols and axis not in divided(edge, axis).free_symbols)
    )
    # k <= Z says more than k/Z <= 1
    if factor in (1, edge):
        return unknown, solution.cases
    scaled = []
    for case in solution.cases:
        intervals = tuple(
            Interval(
                divided(each.lo, factor),
                each.lo_open,
                each.hi if each.hi == sp.oo else divided(each.hi, factor),
                each.hi_open,
            )
            for each in case.intervals
        )
        scaled.append(Case(case.when, intervals))
    return unknown / factor, tuple(scaled)


def _distance(
    where: str,
    exact: Answer,
    approximated: Answer,
    limits: Sequence[Limit],
    unknown: sp.Expr,
    long: frozenset[sp.Symbol],
) -> list[Step]:
    """Return the step that compares the two borders: their ratio tends to 1 where the limit says so itself.

    A ratio too long to be read is left out: the step before says by which ratio each side of the relation is off.
    """
    true, near = border(_far_along(exact.cases, limits)), border(approximated.cases)
    if true is None or near is None:
        return []
    near = near * (unknown / approximated.unknown)
    consistent = [Limit(each.small.subs(unknown, near), each.large) for each in limits if each.small.has(unknown)]
    ratio = _simple(true / near)
    lines: list[Prose] = [
        ("The limit is consistent with its own answer if ", *limit_words(each), ".")
        for each in consistent
        if not longer_than(each.small, MOST_READ)
    ]
    title = f"{where}how far off the limit is"
    if longer_than(ratio, MOST_READ):
        reason = "The exact border is too long to be compared at a glance; the limit has changed the sides as shown."
        covers = (Covers(exact.solution, long), Covers(approximated.solution, long))
        return [Step("remark", title, reason, (), covers, tuple(lines))] if lines else []
    equation = Relation(symbol("ratio"), "==", ratio)
    proof = Substituted((Relation(symbol("ratio"), "==", true / near),), ())
    reason = "The exact border is this many times the approximate one; the relative error is ratio − 1."
    return [Step("remark", title, reason, (equation,), (proof,), tuple(lines))]


def _far_along(cases: Sequence[Case], limits: Sequence[Limit]) -> list[Case]:
    """Return the cases that limits such as X >> 1 leave: those whose conditions very long sizes do not refute."""
    far = {size: sp.Integer(10) ** 15 for each in limits if each.small == 1 for size in each.large if size.is_Symbol}
    conditions = [[each.subs(far) for each in case.when if each.free_symbols <= set(far)] for case in cases]
    return [case for case, left in zip(cases, conditions, strict=True) if all(each.holds({}) for each in left)]


def _simple(ratio: sp.Expr) -> sp.Expr:
    """Return a ratio near 1 as 1/(1 − small) or 1 + small, whichever has one term less to divide by."""
    if len(ratio.free_symbols) > 12 or ratio.has(sp.Max, sp.Min, sp.floor, sp.ceiling):
        return ratio
    # with roots in it, a common denominator is longer
    if any(not power.exp.is_Integer for power in ratio.atoms(sp.Pow)):
        return shorter(ratio)
    above, below = sp.fraction(sp.cancel(ratio))
    if below.is_Add and not above.is_Add:
        return 1 / sp.expand(below / above)
    if not below.is_Add:
        return sp.expand(above / below)
    return min(
        (above / below, 1 / (1 - shorter(sp.cancel(1 - below / above))), 1 + shorter(sp.cancel(above / below - 1))),
        key=lambda form: len(to_text(form)),
    )


def _dtype_form(where: str, found: Crossover, layer: Layer) -> list[Step]:
    """Return the headline with the bytes per element put in as numbers: a step per case that has a border."""
    free, answer = found.headline.unknown.free_symbols, found.headline
    numbers = {width: number for width, number in layer.typed.numbers.items() if width not in free}
    bounded = [(case, each) for case in answer.cases if (each := bounds(answer.unknown, case))]
    if not any(set(numbers) & each.rhs.free_symbols for _, equations in bounded for each in equations):
        return []
    title = f"{where}in {', '.join(sorted({layer.typed.dtype[name] for name in layer.program.leaves}))}"
    reason = "Put in " + ", ".join(f"{key} = {to_text(value)} B" for key, value in numbers.items()) + "."
    steps: list[Step] = []
    for case, equations in bounded:
        name, said = (f"{title}, case {len(steps) + 1}", "Otherwise:") if steps else (title, reason)
        typed, when = ([_typed(each, numbers) for each in part] for part in (equations, case.when))
        proof = Substituted(equations, tuple(numbers.items()))
        steps.append(Step("substitute", name, said, tuple(typed), (proof,), (), tuple(when)))
    rest = [case for case in answer.cases if not bounds(answer.unknown, case)]
    lines = [_under(answer.unknown, c, [_typed(e, numbers) for e in c.when] if rest[1:] else ()) for c in rest]
    return [*steps[:-1], replace(steps[-1], lines=tuple(lines))]


def _typed(relation: Relation, numbers: Mapping[sp.Symbol, sp.Expr]) -> Relation:
    """Return a relation with the bytes per element put in."""
    return Relation(relation.lhs.xreplace(numbers), relation.op, factored(relation.rhs.xreplace(numbers)))


def _under(unknown: sp.Expr, case: Case, when: Sequence[Relation]) -> Prose:
    """Return a case without a border in words, under its conditions or else where none of the others holds."""
    conditions = [part for each in when for part in (" and ", each)]
    return (*case_words(unknown, case), *((" if ", *conditions[1:]) if conditions else (" otherwise",)))


def with_value(found: Crossover, value: sp.Expr | None, on: str, numbered: tuple[Numbered, ...] = ()) -> Crossover:
    """Return the crossover with its headline's number, and the cases that the numbers leave."""
    answers = (*found.answers[:-1], replace(found.answers[-1], value=value))
    return replace(found, answers=answers, on=on, numbered=numbered)
