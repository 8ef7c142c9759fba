"""Whether two answers are the same, and whether an answer is right, judged at exact random points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise
from random import Random

import sympy as sp

from symscale.errors import StepError, UndecidedError
from symscale.solve.relation import Case, Point, Relation, Solution, sign_of_number

Sample = dict[sp.Symbol, sp.Rational]
#: So many points of all sizes are tried to find some of a case.
TRIES = 40
#: At so many points at least two answers have to be defined, and have a border, to be compared.
FEWEST = 5
#: So many points of all sizes are always tried: a branch of a minimum may not be taken at small numbers.
SEVERAL = 16
#: So many points of all sizes are tried until there are as many.
MOST_POINTS = 600


def verify(solution: Solution, samples: int = 40, seed: int = 0) -> None:
    """Compare an answer with its relation at exact random points, on both sides of each border and on it.

    Raises StepError if the cases overlap or leave a gap, or if a value is wrongly in or out.
    """
    random = Random(seed)
    names = _other_symbols(solution)
    about_unknown = [each for each in _assumed(solution) if not each.free_symbols <= set(names)]
    for _ in range(samples):
        values = _point(random, names, solution)
        case = _only_case(solution, values)
        for value in _probes(case, values, random):
            if any(holds_at(each, solution.unknown, value, values) is False for each in about_unknown):
                continue
            expected = holds_at(solution.relation, solution.unknown, value, values)
            found = solution.contains(value, values)
            if expected is not None and found != expected:
                where = ", ".join(f"{name}={number}" for name, number in values.items())
                raise StepError(
                    f"{solution.relation} is {expected} at {solution.unknown} = {value}, but the answer says {found}",
                    hint=f"at {where}",
                )


def same(first: Solution, second: Solution, samples: int = 60, seed: int = 0) -> bool:
    """Return whether two answers describe the same set, over all positive values of the other symbols.

    Equal cases are the same at once; otherwise exact random points and all borders of both answers decide, where both
    are defined. Raises UndecidedError where they hardly ever are.
    """
    if first.unknown != second.unknown:
        return False
    if set(first.cases) == set(second.cases):
        return True
    random = Random(seed)
    names = sorted(set(_other_symbols(first)) | set(_other_symbols(second)), key=str)
    relevant = [*_guides(first), *_guides(second)]
    compared = telling = 0
    near = (_near(random, names, relevant) for _ in range(samples))
    cases = [*first.cases, *second.cases]
    bounded = any(end not in (0, sp.oo) for case in cases for each in case.intervals for end in (each.lo, each.hi))
    wide = _of_all_sizes(names, random)
    for values in chain(near, _in_each_case(cases, names, random), islice(wide, SEVERAL), wide):
        if compared >= samples + SEVERAL and telling >= (FEWEST if bounded else 0):
            break
        try:
            one, other = _case_at(first, values), _case_at(second, values)
            probes = [*_probes(one, values, random), *_probes(other, values, random)]
            if any(_inside(one, value, values) != _inside(other, value, values) for value in probes):
                return False
        except UndecidedError:
            continue  # a border is not real here, or is nothing over nothing
        compared += 1
        telling += bool(_ends(one, values) or _ends(other, values))
    if compared < FEWEST or (bounded and telling < FEWEST):
        raise UndecidedError("there are too few points at which both answers are defined and have a border")
    return True


def holds_at(relation: Relation, unknown: sp.Expr, value: sp.Expr, values: Point) -> bool | None:
    """Return whether the relation holds with the unknown at `value`; None where a side is not defined."""
    point = dict(values)
    if unknown.is_Symbol:
        point[unknown] = value
    else:
        lead = _lead(unknown)
        power = unknown.as_powers_dict()[lead]
        rest = (unknown / lead**power).xreplace(values)
        point[lead] = (value / rest) ** (1 / power)
    if any(_too_large(power, point) for side in (relation.lhs, relation.rhs) for power in side.atoms(sp.Pow)):
        return None
    lhs, rhs = relation.lhs.xreplace(point), relation.rhs.xreplace(point)
    if lhs.has(sp.zoo, sp.nan, sp.I) or rhs.has(sp.zoo, sp.nan, sp.I):
        return None
    return Relation(lhs, relation.op, rhs).holds({})


def _too_large(power: sp.Pow, point: Point) -> bool:
    """Whether a power of a symbol has an exponent whose exact value would have far too many digits."""
    if not power.exp.free_symbols:
        return False
    exponent = power.exp.xreplace(point)
    return bool(exponent.is_Rational and (abs(exponent.p) > 5000 or exponent.q > 100))


def _lead(unknown: sp.Expr) -> sp.Symbol:
    powers = unknown.as_powers_dict()
    return next((base for base, power in powers.items() if power == 1 and base.is_Symbol), next(iter(powers)))


def _other_symbols(solution: Solution) -> list[sp.Symbol]:
    lead = solution.unknown if solution.unknown.is_Symbol else _lead(solution.unknown)
    found = set(solution.relation.free_symbols) | set(solution.unknown.free_symbols)
    for case in solution.cases:
        for condition in case.when:
            found |= condition.free_symbols
        for interval in case.intervals:
            found |= interval.lo.free_symbols | interval.hi.free_symbols
    return sorted(found - {lead}, key=str)


def _point(random: Random, names: Sequence[sp.Symbol], solution: Solution) -> Sample:
    assumed = [relation for relation in _assumed(solution) if relation.free_symbols <= set(names)]
    for _ in range(200):
        values = _near(random, names, _guides(solution))
        if all(relation.holds(values) for relation in assumed):
            return values
    raise UndecidedError("no sample point satisfies the assumptions: " + "; ".join(map(str, assumed)))


def _assumed(solution: Solution) -> list[Relation]:
    return [relation for relation in solution.assumptions if isinstance(relation, Relation)]


def _guides(solution: Solution) -> list[Relation]:
    return [condition for case in solution.cases for condition in case.when]


def _near(random: Random, names: Sequence[sp.Symbol], guides: Sequence[Relation]) -> Sample:
    """Return a random point; often one moved onto, or close to, the border of one of the conditions."""
    wide = random.random() < 0.5
    values = {name: _number(random, wide) for name in names}
    if guides and random.random() < 0.7:
        guide = random.choice(list(guides))
        moved = _onto(guide, values, random)
        if moved is not None:
            return moved
    return values


def _in_each_case(cases: Sequence[Case], names: Sequence[sp.Symbol], random: Random) -> Iterator[Sample]:
    """Yield points of each case that has conditions, of all sizes: small numbers may all lie outside D > 240."""
    for case in (each for each in cases if each.when):
        found = 0
        for _ in range(TRIES):
            values = _of_any_size(names, random)
            if case.applies(values):
                yield values
                found += 1
            if found == 3:
                break


def _of_all_sizes(names: Sequence[sp.Symbol], random: Random) -> Iterator[Sample]:
    """Yield points of all sizes: borders that are negative at small numbers say nothing there."""
    return (_of_any_size(names, random) for _ in range(MOST_POINTS))


def _of_any_size(names: Sequence[sp.Symbol], random: Random) -> Sample:
    return {name: _number(random, True) * sp.Integer(10) ** random.randint(-12, 12) for name in names}


def _number(random: Random, wide: bool) -> sp.Rational:
    if wide:
        return sp.Rational(random.randint(1, 99), random.randint(1, 99)) * sp.Integer(10) ** random.randint(-2, 2)
    return sp.Rational(random.randint(1, 12), random.randint(1, 4))


def _onto(guide: Relation, values: Sample, random: Random) -> Sample | None:
    # only a symbol that occurs once and linearly can be put on the border exactly
    for name in random.sample(sorted(guide.free_symbols, key=str), len(guide.free_symbols)):
        others = {key: value for key, value in values.items() if key != name}
        ratio = (guide.lhs / guide.rhs).xreplace(others) if guide.rhs != 0 else sp.S.Zero
        power = ratio.as_powers_dict().get(name)
        if power is None or not (ratio / name**power).is_Rational or (ratio / name**power) <= 0:
            continue
        border = (ratio / name**power) ** (-1 / power)
        if border.is_Rational and border > 0:
            shift = random.choice((sp.S.One, sp.Rational(101, 100), sp.Rational(99, 100)))
            return {**values, name: border * shift}
    return None


def _only_case(solution: Solution, values: Point) -> Case:
    applying = [case for case in solution.cases if case.applies(values)]
    if len(applying) != 1:
        fault = "no case covers" if not applying else f"{len(applying)} cases overlap at"
        where = ", ".join(f"{name}={number}" for name, number in values.items())
        raise StepError(f"the answer to {solution.relation} is not one: {fault} {where}")
    return applying[0]


def _case_at(solution: Solution, values: Point) -> Case:
    return next((case for case in solution.cases if case.applies(values)), Case((), ()))


def _inside(case: Case, value: sp.Expr, values: Point) -> bool:
    return any(interval.contains(value, values) for interval in case.intervals)


def _probes(case: Case, values: Point, random: Random) -> list[sp.Expr]:
    """Return values of the unknown: each border, both sides of it, and one anywhere."""
    ends = _ends(case, values)
    probes: list[sp.Expr] = [_number(random, True)]
    rational = [_rational(end) for end in ends]
    for end, near in zip(ends, rational, strict=True):
        probes += [end, near * sp.Rational(99, 100), near * sp.Rational(101, 100), near / 7, near * 7]
    probes += [(low + high) / 2 for low, high in pairwise(rational)]
    return [probe for probe in probes if sign_of_number(probe) > 0]


def _ends(case: Case, values: Point) -> list[sp.Expr]:
    found: dict[sp.Expr, None] = {}
    for interval in case.intervals:
        for end in (interval.lo, interval.hi):
            number = end.xreplace(values)
            if number.has(sp.I, sp.nan, sp.zoo) or number.is_extended_real is False:
                raise UndecidedError(f"{end} is not real at a point")
            # a border like exp(-10**6) has too many digits to step beside
            if number.is_finite is not False and 0 < float(number.evalf()) < float("inf"):
                found[number] = None
    return sorted(found, key=lambda number: float(number.evalf()))


def _rational(number: sp.Expr) -> sp.Rational:
    return number if number.is_Rational else sp.Rational(str(number.evalf(20)))
