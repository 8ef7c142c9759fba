"""Numbers: a crossover on a named machine, at given sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import sympy as sp

from symscale.derivation.crossover import (
    Answer,
    Crossover,
    Numbered,
    border,
    bounds,
    case_words,
    pass_name,
    resource_name,
    with_value,
)
from symscale.derivation.layer import Layer
from symscale.derivation.limits import readable
from symscale.derivation.measured import unit_of
from symscale.derivation.proof import Evaluated, Settled
from symscale.derivation.shorter import factored
from symscale.derivation.step import Prose, Step
from symscale.derivation.units import unit_beside
from symscale.errors import SymscaleError
from symscale.machine import Machine
from symscale.notation.numbers import format_number, format_quantity
from symscale.solve import compatible, crossover
from symscale.solve.relation import MIRROR, Case, Interval, Relation
from symscale.vocabulary import entry, symbol


def numbers(layer: Layer | None, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """Return the value of every symbol that is known: the machine's constants, bytes per element, given sizes."""
    known: dict[sp.Symbol, sp.Expr] = {}
    kinds = layer.kinds if layer is not None else ()
    if chip is not None:
        constants = chip.constants(kinds[0] if len(kinds) == 1 else None)
        known |= {symbol(name): value for name, value in constants.items()}
        if len(kinds) > 1:
            known |= {symbol(f"C_{kind}"): chip.peak(kind) for kind in kinds}
    if layer is not None:
        known |= layer.typed.numbers
    return {**known, **given}


def taken_from(layer: Layer | None, chip: Machine | None) -> tuple[str, str]:
    """Return the name of the chip that numbers are of, and the dtype whose peak is C; both may be empty."""
    kinds = layer.kinds if layer is not None else ()
    return (chip.name if chip is not None else "", kinds[0] if len(kinds) == 1 else "")


def evaluate(
    found: Crossover, layer: Layer | None, chip: Machine | None, given: Mapping[sp.Symbol, sp.Expr]
) -> tuple[Crossover, list[Step]]:
    """Return the crossover with its number, and a step for every case that the numbers leave.

    Symbols without a number stay; the conditions of a case are shown with the numbers in them. Where the numbers
    refute a limit, the exact answer becomes the headline.
    """
    known = without(numbers(layer, chip, given), found.headline.unknown)
    found = _leading(found, known)
    answer = found.headline
    left = [replace(n, notes=_whole(answer.unknown, n.numeric, layer, known)) for n in left_of(answer, known)]
    left = [replace(n, notes=(*n.notes, *_physical(answer.unknown, n.numeric, chip))) for n in left]
    exact = _exact(found, known)
    first: Prose = ()
    if exact is not None and left and [exact] != [each.numeric for each in left]:
        first = _without_limit(found, exact, left[0].numeric, layer, known)
    elif answer.form == "exact" and found.answers[0] is not answer:
        first = _refuted(found.answers[0], known)
    if first:
        left[:1] = [replace(n, notes=(first, *n.notes)) for n in left[:1]]
    edge = border([each.case for each in left])
    value = None if edge is None else edge.xreplace(known)
    if value is not None and value.free_symbols:
        value = None
    on = chip.title if chip is not None else ""
    return with_value(found, value, on, tuple(left)), _steps(found, left, layer, known, chip)


def _steps(
    found: Crossover,
    left: Sequence[Numbered],
    layer: Layer | None,
    known: Mapping[sp.Symbol, sp.Expr],
    chip: Machine | None,
) -> list[Step]:
    on = chip.title if chip is not None else ""
    title = f"{pass_name(found.passes)} against {resource_name(found.resource)}" if found.passes else "In numbers"
    title += f" on {on}" if on else " in numbers" if found.passes else ""
    proofs = settled_by(found, layer, left, known)
    steps: list[Step] = []
    said: set[sp.Symbol] = set()
    for number, each in enumerate(left):
        formulas = bounds(found.headline.unknown, each.case)
        equations = tuple(Relation(e.lhs, e.op, factored(e.rhs.xreplace(known))) for e in formulas)
        parts = [e.rhs for e in formulas] or [side for e in each.case.when for side in (e.lhs, e.rhs)]
        names = {s for part in parts for s in part.free_symbols if s in known}
        words = () if equations else (case_words(found.headline.unknown, each.numeric),)
        values = tuple((s, f" = {quantity(s, known[s], layer)}") for s in sorted(names - said, key=str))
        said |= names
        steps.append(
            Step(
                "evaluate",
                title if number == 0 else f"{title}, case {number + 1}",
                "Put in the numbers." if number == 0 else "Otherwise:",
                equations,
                (Evaluated(tuple(e.rhs for e in formulas), tuple(known.items()), *taken_from(layer, chip)), *proofs),
                (*words, *values, *each.notes),
                each.numeric.when,
                tuple(unit_beside(e.rhs, found.unit) for e in equations),
            )
        )
    return steps


def settled_by(
    found: Crossover, layer: Layer | None, left: Sequence[Numbered], known: Mapping[sp.Symbol, sp.Expr]
) -> list[Settled]:
    """Return the proofs that the numbers leave these cases of a headline, and those of the exact answer beside it."""
    cases = [(found.headline, tuple(each.numeric for each in left))]
    others = (found.exact,) if _exact(found, known) is not None else ()
    if found.answers[0].form == "approx" and found.headline.form == "exact":
        others = (found.answers[0],)
    cases += [(each, tuple(one.numeric for one in left_of(each, known))) for each in others if each is not None]
    return [Settled(answer.cases, numeric, tuple(known.items()), long_axes(layer)) for answer, numeric in cases]


def _exact(found: Crossover, known: Mapping[sp.Symbol, sp.Expr]) -> Case | None:
    """Return the exact answer in numbers beside one in a limit, where the numbers settle it."""
    exact = found.exact
    # an exact answer has all symbols of that in the limit, and often many more cases to settle
    if exact is None or exact is found.headline or _number(found.headline, known) is None:
        return None
    return _number(exact, known)


def _number(answer: Answer, known: Mapping[sp.Symbol, sp.Expr]) -> Case | None:
    """Return the only case that the numbers leave, if all of its ends are numbers."""
    left = left_of(answer, known)
    ends = [end for each in left for one in each.numeric.intervals for end in (one.lo, one.hi)]
    return left[0].numeric if len(left) == 1 and not any(end.free_symbols for end in ends) else None


def _leading(found: Crossover, known: Mapping[sp.Symbol, sp.Expr]) -> Crossover:
    """Return the crossover with its exact answer as the headline where the numbers refute the limit.

    They do if the exact answer is all or nothing and the other is not, or a border is off by more than a factor 2.
    """
    exact, near = _exact(found, known), _number(found.headline, known)
    if exact is None or near is None or found.exact is None:
        return found
    scale = (found.headline.unknown / found.exact.unknown).xreplace(dict(known))
    if scale.is_number and _close(exact, near, scale):
        return found
    return replace(found, answers=(*(each for each in found.answers if each is not found.exact), found.exact))


def _close(exact: Case, near: Case, scale: sp.Expr) -> bool:
    """Say whether the intervals are as many, and each end at most a factor 2 off; `scale` turns the exact ends."""
    if len(exact.intervals) != len(near.intervals):
        return False
    ends = [[end for each in case.intervals for end in (each.lo, each.hi)] for case in (exact, near)]
    for true, other in zip(*ends, strict=True):
        if true == 0 or true == sp.oo or other == 0 or other == sp.oo:
            if true != other:
                return False
        elif not sp.Rational(1, 2) <= true * scale / other <= 2:
            return False
    return True


def _refuted(near: Answer, known: Mapping[sp.Symbol, sp.Expr]) -> Prose:
    """Say what the answer in a limit is that the numbers refute."""
    case = _number(near, known)
    limits = ", ".join(map(readable, near.assumptions))
    if case is None:
        return ()
    return (f"The numbers are far from the limit {limits}: it gives ", *case_words(near.unknown, case), ".")


def without(known: Mapping[sp.Symbol, sp.Expr], unknown: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """Return the numbers of all symbols but that of the unknown (B of B/X), which is what is asked."""
    return {name: value for name, value in known.items() if name not in unknown.as_numer_denom()[0].free_symbols}


def _without_limit(
    found: Crossover, exact: Case, near: Case, layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr]
) -> Prose:
    """Return the exact answer in words, and which whole sizes fit it if they are not those that fit in the limit."""
    unknown = found.exact.unknown if found.exact is not None else found.headline.unknown
    whole, _ = _fitting(unknown, exact, layer, known)
    differs = whole != _fitting(unknown, near, layer, known)[0]
    more: Prose = ("; whole ", unknown, f": {', '.join(map(str, whole)) or 'none'}.") if differs else (".",)
    return ("Without the limit: ", *case_words(unknown, exact), *more)


def long_axes(layer: Layer | None) -> frozenset[sp.Symbol]:
    """Return the mesh axes that are symbols: of two chips or more, where an answer's cases cover everything."""
    return frozenset(layer.mesh_symbols) if layer is not None else frozenset()


def left_of(answer: Answer, known: Mapping[sp.Symbol, sp.Expr]) -> tuple[Numbered, ...]:
    """Return the cases that the numbers do not refute; one case without conditions where all of them agree."""
    return _left(answer.cases, tuple(known.items()))


@lru_cache(maxsize=64)
def _left(cases: tuple[Case, ...], numbers: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> tuple[Numbered, ...]:
    known = dict(numbers)
    kept: list[tuple[Case, Case]] = []
    for case in cases:
        conditions = [each.subs(known) for each in case.when]
        verdicts = [decided(each) for each in conditions]
        if False in verdicts:
            continue
        open_ones = compatible(
            [_numeric(each) for each, verdict in zip(conditions, verdicts, strict=True) if verdict is None]
        )
        if open_ones is None:
            continue
        kept.append((case, Case(open_ones, tuple(_put_in(each, known) for each in case.intervals))))
    if len({numeric.intervals for _, numeric in kept}) == 1:
        kept = [(case, Case((), numeric.intervals)) for case, numeric in kept]
    found: dict[Case, Numbered] = {}
    for case, numeric in kept:
        found.setdefault(numeric, Numbered(case, numeric))
    return tuple(found.values())


def _put_in(interval: Interval, known: Mapping[sp.Symbol, sp.Expr]) -> Interval:
    lo, hi = (factored(end.xreplace(known)) for end in (interval.lo, interval.hi))
    return replace(interval, lo=lo, hi=hi)


def decided(condition: Relation) -> bool | None:
    """Return whether a condition holds for all sizes (True) or for none (False); None if it depends on them."""
    names = sorted(condition.free_symbols, key=str)
    if not names:
        return condition.holds({})
    try:
        cases = crossover(condition.lhs, condition.op, condition.rhs, names[0]).cases
    except SymscaleError:
        return None
    if all(case.always for case in cases):
        return True
    return False if all(case.never for case in cases) else None


def _numeric(condition: Relation) -> Relation:
    """Return a condition with its number on the right, at least 1 where both sides may be turned over."""
    lhs, rhs, op = factored(condition.lhs), factored(condition.rhs), condition.op
    if not lhs.free_symbols:
        lhs, rhs, op = rhs, lhs, MIRROR[op]
    factor, lhs = lhs.as_coeff_Mul()
    rhs = sp.expand_mul(rhs / factor)
    op = MIRROR[op] if factor.is_negative else op
    if rhs.is_number and 0 < rhs < 1 and lhs.is_positive:
        lhs, rhs, op = 1 / lhs, 1 / rhs, MIRROR[op]
    return Relation(lhs, op, rhs)


def quantity(name: sp.Symbol, value: sp.Expr, *layers: Layer | None) -> str:
    """Return a number with the unit of its symbol: bytes for the width of an array, FLOP/s for the peak of a dtype."""
    unit = unit_of(name, value)
    for layer in (each for each in layers if each is not None):
        if name in layer.typed.numbers:
            unit = "B"
        elif name in {symbol(f"C_{kind}") for kind in layer.kinds}:
            unit = "FLOP/s"
    return format_quantity(value, unit, 6) if unit else format_number(value, 6)


def _whole(unknown: sp.Expr, case: Case, layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr]) -> tuple[Prose, ...]:
    """Return in words the whole sizes of a mesh axis that meet the numbers."""
    fitting, among = _fitting(unknown, case, layer, known)
    return (("Whole ", unknown, f" among the {among}: {', '.join(map(str, fitting)) or 'none'}"),) if among else ()


def _physical(unknown: sp.Expr, case: Case, chip: Machine | None) -> tuple[Prose, ...]:
    """Say how many physical axes a chip has where fewer than these are no answer to a number of them."""
    main = chip.main_network if chip is not None else None
    if main is None or not main.pod or not str(unknown).startswith("M_") or entry(str(unknown)) is not None:
        return ()
    lows = [each.lo for each in case.intervals]
    if not lows or any(low.free_symbols or low <= main.axes for low in lows):
        return ()
    title = chip.title if chip is not None else ""
    return ((f"{title} has {main.axes} physical axes, so no ", unknown, " is enough there."),)


def _fitting(
    unknown: sp.Expr, case: Case, layer: Layer | None, known: Mapping[sp.Symbol, sp.Expr]
) -> tuple[list[int], str]:
    """Return the whole sizes of a mesh axis in a case, among the divisors of N if it is known, else powers of two.

    Nothing where no bound is a number.
    """
    ends = [end for each in case.intervals for end in (each.lo, each.hi)]
    if layer is None or unknown not in layer.mesh_symbols or case.never or case.always:
        return [], ""
    if any(end.free_symbols for end in ends):
        return [], ""
    chips = known.get(symbol("N_chips"))
    top = int(chips) if chips is not None else 2**16
    options = sp.divisors(top) if chips is not None else [2**n for n in range(17)]
    # a linked axis, Y = 64/X, has to be whole too
    linked = [size for size in layer.program.mesh.values() if size.free_symbols == {unknown}]
    options = [n for n in options if all(size.xreplace({unknown: sp.Integer(n)}).is_Integer for size in linked)]
    fitting = [n for n in options if any(each.contains(sp.Integer(n), {}) for each in case.intervals)]
    return fitting, f"divisors of {top}" if chips is not None else "powers of two"
