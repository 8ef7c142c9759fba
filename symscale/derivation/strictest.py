"""The strictest condition: the crossover of one pass that implies those of all others, or all that bind together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import sympy as sp

from symscale.derivation.crossover import Answer, Crossover, headline_ratio
from symscale.derivation.evaluate import evaluate, left_of, numbers, without
from symscale.derivation.layer import Layer
from symscale.derivation.limits import limit_text, read_limits
from symscale.derivation.units import unit_of
from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.quantity.extrema import divided, maximum
from symscale.solve import alike, conjunction
from symscale.solve.limits import Limit
from symscale.solve.relation import Case, Relation, Solution

TOGETHER = ("all", "network")


@dataclass(frozen=True)
class Strictest:
    """What has to hold: crossovers that bind, none of which follows from the others, and their conjunction.

    `together` is the only crossover that binds, or one for all of them: pass `all`, resource `network` (`hbm`); None
    if it falls into too many cases.
    """

    together: Crossover | None
    parts: tuple[Crossover, ...]


def of_resource(crossovers: Sequence[Crossover], *, network: bool) -> list[Crossover]:
    """Return the crossovers of single passes on the networks, or against HBM; sums over passes if there are no others.

    A condition that holds for every pass holds for their sum.
    """
    pool = [each for each in crossovers if (each.resource != "hbm") == network]
    return [each for each in pool if each.passes != "both"] or pool


def strictest(
    pool: Sequence[Crossover], layer: Layer, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]
) -> Strictest:
    """Return which of several crossovers bind, by the numbers if there are any, and their conjunction."""
    known = known_values(pool, layer, chip, given)
    parts = tuple(binding(pool, known))
    if len(parts) == 1:
        return Strictest(parts[0], parts)
    try:
        together = _together(parts, layer, known)
    except UndecidedError:
        return Strictest(None, parts)
    return Strictest(evaluate(together, layer, chip, given)[0] if known else together, parts)


def known_values(
    pool: Sequence[Crossover], layer: Layer, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]
) -> dict[sp.Symbol, sp.Expr]:
    """Return the numbers that crossovers were evaluated with; none without a chip or sizes."""
    unknown = pool[0].headline.solution.unknown
    return without(numbers(layer, chip, given), unknown) if chip is not None or given else {}


def binding(pool: Sequence[Crossover], known: Mapping[sp.Symbol, sp.Expr]) -> list[Crossover]:
    """Return the crossovers without those that follow from the others, of equal ones the first."""
    cases = [_cases(each.headline, known) for each in pool]
    given = _assumed([each.headline for each in pool])
    kept = list(range(len(pool)))
    try:
        whole = conjunction(cases, given)
        for at in reversed(range(len(pool))):
            rest = [each for each in kept if each != at]
            if rest and alike(conjunction([cases[each] for each in rest], given), whole):
                kept = rest
    except UndecidedError:
        pass  # too many cases to tell: all of them are kept
    return [pool[at] for at in kept]


def _cases(answer: Answer, known: Mapping[sp.Symbol, sp.Expr]) -> tuple[Case, ...]:
    """Return the cases of an answer in the unknown as asked, with the numbers put in."""
    plain = replace(answer, unknown=answer.solution.unknown, cases=answer.solution.cases)
    return tuple(each.numeric for each in left_of(plain, known)) if known else plain.cases


def _assumed(answers: Sequence[Answer]) -> tuple[Relation, ...]:
    found = [each for answer in answers for each in answer.solution.assumptions if isinstance(each, Relation)]
    return tuple(dict.fromkeys(found))


def _together(parts: Sequence[Crossover], layer: Layer, known: Mapping[sp.Symbol, sp.Expr]) -> Crossover:
    """Return the conjunction of several crossovers as one. Raises UndecidedError for too many cases."""
    near = [each.headline for each in parts]
    exact = [each.exact for each in parts]
    answers = [_conjunction(near, layer, known)]
    if answers[0].form == "approx" and None not in exact:
        # where the exact cases are too many, the limit stands alone
        with suppress(UndecidedError):
            answers.insert(0, _conjunction([each for each in exact if each is not None], layer, known))
    resource = "hbm" if all(each.resource == "hbm" for each in parts) else TOGETHER[1]
    relation = _all_hold([each.relation for each in parts])
    return Crossover(TOGETHER[0], resource, relation, tuple(answers))


def _conjunction(answers: Sequence[Answer], layer: Layer, known: Mapping[sp.Symbol, sp.Expr]) -> Answer:
    relation, unknown = _all_hold([each.solution.relation for each in answers]), answers[0].solution.unknown
    given = _assumed(answers)
    try:
        cases = conjunction([each.solution.cases for each in answers], given)
    except UndecidedError:
        if not known:
            raise
        relation = relation.subs(known)
        cases = conjunction([_cases(each, known) for each in answers], given)
    solution = Solution(relation, unknown, cases, assumptions=given)
    ratio, scaled = headline_ratio(solution, unknown, layer.mesh_symbols)
    limits = _all_limits([each.assumptions for each in answers])
    form = "approx" if limits else "exact"
    return Answer(form, solution, ratio, scaled, unit_of(ratio, layer), limits)


def _all_limits(assumptions: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the limits of several answers, of the same small side only one: X, Y >> 1 for X >> 1 and Y >> 1."""
    larges: dict[sp.Expr, dict[sp.Expr, None]] = {}
    for each in (limit for texts in assumptions for text in texts for limit in read_limits(text)):
        larges.setdefault(each.small, {}).update(dict.fromkeys(each.large))
    return tuple(limit_text(Limit(small, tuple(sorted(large, key=str)))) for small, large in larges.items())


def _all_hold(relations: Sequence[Relation]) -> Relation:
    """Return relations T_i >= t_i between positive times as one: 1 >= max(t_i/T_i)."""
    return Relation(sp.S.One, ">=", maximum(*(divided(each.rhs, each.lhs) for each in relations)))
