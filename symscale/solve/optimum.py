"""The smallest value of a posynomial, or of a Max of monomials, under a monomial constraint: a geometric program."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve.collect import collect
from symscale.solve.pieces import extremum
from symscale.solve.relation import Relation
from symscale.solve.roots import where
from symscale.solve.terms import Monomial, monomial, sign_of, signed_terms

Point = dict[sp.Symbol, sp.Expr]
Powers = dict[sp.Expr, sp.Rational]

_ALONE = "along some direction no term rises, or none falls"


@dataclass(frozen=True)
class Optimum:
    """The place and the value of a minimum; unless `exact`, no value is below value*(1 - gap)."""

    point: Point
    value: sp.Expr
    exact: bool
    method: str
    condition: tuple[Relation, ...] = ()
    gap: sp.Expr = sp.S.Zero


def minimise(objective: sp.Expr, variables: Sequence[sp.Symbol], subject_to: Relation | None = None) -> Optimum:
    """Return the minimum of `objective` over positive variables, under a monomial equality such as `X*Y == N`.

    Closed form: a posynomial with one term more than free variables (the terms then have fixed shares of the
    minimum), any posynomial in one variable whose derivative has a closed root, and Max of monomials in one
    variable (a rising and a falling one are equal there), or one more than variables (all are equal).
    Otherwise by iteration in log space, where the problem is convex, if the other symbols have numbers.
    Raises UndecidedError if there is no minimum or none of this applies.
    """
    names = list(variables)
    removed: Point = {}
    if subject_to is not None:
        removed = _eliminated(subject_to, names)
        names = [name for name in names if name not in removed]
        objective = objective.subs(removed)
    found = _free_minimum(objective, names)
    point = dict(found.point)
    for name, expr in removed.items():
        point[name] = expr.subs(found.point)
    ordered = {name: point[name] for name in variables}
    return Optimum(ordered, found.value, found.exact, found.method, found.condition, found.gap)


def _eliminated(constraint: Relation, names: Sequence[sp.Symbol]) -> Point:
    if constraint.op != "==":
        raise UndecidedError(f"{constraint} is not an equality", hint="write the constraint as X*Y == N")
    ratio = monomial(constraint.lhs / constraint.rhs)
    present = [name for name in names if name in ratio.powers]
    if not present or any(set(names) & base.free_symbols for base in ratio.powers if not base.is_Symbol):
        raise UndecidedError(f"{constraint} is not a product of powers of {', '.join(map(str, names))}")
    last = present[-1]
    power = ratio.powers.pop(last)
    return {last: _powered(Monomial(ratio.coefficient, ratio.powers), -1 / power)}


def _powered(value: Monomial, exponent: sp.Rational) -> sp.Expr:
    factors = [sp.Pow(base, power * exponent) for base, power in value.powers.items()]
    return sp.Mul(sp.Pow(value.coefficient, exponent), *factors)


def _free_minimum(objective: sp.Expr, names: Sequence[sp.Symbol]) -> Optimum:
    if not names:
        return Optimum({}, objective, True, "fixed by the constraint")
    if not objective.free_symbols & set(names):
        raise UndecidedError(f"{objective} does not depend on {', '.join(map(str, names))}")
    scale, inner = _without_constant_factor(objective, names)
    constant, moving = _without_constant_terms(inner, names)
    if isinstance(moving, sp.Max) and not any(arg.is_Add or arg.has(sp.Max, sp.Min) for arg in moving.args):
        found = _of_max(moving, names)
    elif moving.has(sp.Max, sp.Min):
        found = _by_bisection(moving, names)
    else:
        found = _of_posynomial(moving, names)
    value = scale * (constant + found.value)
    return Optimum(found.point, value, found.exact, found.method, found.condition, found.gap)


def _by_bisection(expr: sp.Expr, names: Sequence[sp.Symbol]) -> Optimum:
    if len(names) != 1:
        raise UndecidedError(f"the minimum of {expr} over {len(names)} variables has no closed form here")
    from symscale.solve.iterate import convex_minimum

    place, gap = convex_minimum(expr, names[0])
    point = {names[0]: place}
    return Optimum(point, _to_digits(expr, point), False, "bisection in log space, where it is convex", (), gap)


def _to_digits(expr: sp.Expr, point: Point) -> sp.Rational:
    return sp.Rational(str(expr.xreplace(point).evalf(30)))


def _without_constant_factor(expr: sp.Expr, names: Sequence[sp.Symbol]) -> tuple[sp.Expr, sp.Expr]:
    fixed, moving = expr.as_independent(*names, as_Add=False)
    if sign_of(fixed) != 1:
        raise UndecidedError(f"{expr} has no minimum here: its factor {fixed} is not known to be positive")
    if moving.is_Mul and moving.has(sp.Max):
        inside = [arg for arg in moving.args if isinstance(arg, sp.Max)]
        rest = moving / inside[0]
        if len(inside) == 1 and not rest.has(sp.Max, sp.Min):
            return fixed, sp.Max(*(rest * arg for arg in inside[0].args), evaluate=False)
    return fixed, moving


def _without_constant_terms(expr: sp.Expr, names: Sequence[sp.Symbol]) -> tuple[sp.Expr, sp.Expr]:
    if isinstance(expr, sp.Max) or not expr.is_Add:
        return sp.S.Zero, expr
    fixed, moving = expr.as_independent(*names, as_Add=True)
    if moving.is_Mul:
        factor, inner = moving.as_independent(*names, as_Add=False)
        if isinstance(inner, sp.Max):
            return fixed, sp.Max(*(factor * arg for arg in inner.args), evaluate=False)
    return fixed, moving


# ---------------------------------------------------------------- Max of monomials


def _of_max(node: sp.Expr, names: Sequence[sp.Symbol]) -> Optimum:
    terms = [monomial(arg) for arg in node.args]
    for arg, part in zip(node.args, terms, strict=True):
        if any(base.free_symbols & set(names) and base not in names for base in part.powers):
            raise UndecidedError(f"{arg} is not a monomial in {', '.join(map(str, names))}")
    moving = [part for part in terms if any(name in part.powers for name in names)]
    level = [part.expr() for part in terms if part not in moving]
    if len(names) == 1:
        places, values = _of_pairs(node, moving, names[0])
    else:
        if len(moving) != len(names) + 1:
            raise UndecidedError(f"which arguments of {node} bind at the minimum is undecided here")
        rows = [[part.powers.get(name, sp.S.Zero) for name in names] for part in moving]
        equal = _by_shares(moving, rows, names, [sp.S.One] * len(moving))
        places, values = [equal.point], [equal.value]
    # what does not move only sets a floor: where all others are below it any place will do, also theirs
    found = extremum(sp.Max, values)
    place = (
        places[0] if len(places) == 1 else next((p for p, v in zip(places, values, strict=True) if v == found), None)
    )
    if place is None:
        raise UndecidedError(
            f"which arguments of {node} bind at the minimum depends on the other symbols", hint="give numbers"
        )
    value = extremum(sp.Max, [found, *level])
    return Optimum(place, value, True, "the rising and the falling arguments are equal")


def _of_pairs(node: sp.Expr, moving: Sequence[Monomial], name: sp.Symbol) -> tuple[list[Point], list[sp.Expr]]:
    """Return the minimum of each rising with each falling argument.

    The largest of them is the minimum of the whole, for every argument is convex in log space.
    """
    rising: list[tuple[Monomial, sp.Rational]] = []
    falling: list[tuple[Monomial, sp.Rational]] = []
    for part in moving:
        power = part.powers[name]
        rest = Monomial(part.coefficient, {base: p for base, p in part.powers.items() if base != name})
        (rising if power > 0 else falling).append((rest, power))
    if not rising or not falling:
        raise UndecidedError(f"{node} has no minimum: it only {'falls' if falling else 'rises'} with {name}")
    pairs = [_equalised(up, down) for up in rising for down in falling]
    return [{name: place} for place, _ in pairs], [value for _, value in pairs]


def _equalised(up: tuple[Monomial, sp.Rational], down: tuple[Monomial, sp.Rational]) -> tuple[sp.Expr, sp.Expr]:
    (a, p), (b, q) = up, down
    place = _powered(b.over(a), 1 / (p - q))
    return place, a.expr() * place**p


# ---------------------------------------------------------------- posynomials


def _of_posynomial(expr: sp.Expr, names: Sequence[sp.Symbol]) -> Optimum:
    terms = _monomials(expr, names)
    rows = [[part.powers.get(name, sp.S.Zero) for name in names] for part in terms]
    if len(terms) == len(names) + 1:
        return _by_shares(terms, rows, names)
    if len(terms) <= len(names):
        raise UndecidedError(f"{expr} has no minimum over {', '.join(map(str, names))}: {_ALONE}")
    if len(names) == 1:
        return _by_derivative(terms, rows, names[0])
    from symscale.solve.iterate import numeric_minimum

    place, gap = numeric_minimum([part.expr() for part in terms], rows, names)
    return Optimum(place, _to_digits(expr, place), False, "iteration in log space, where it is convex", (), gap)


def _monomials(expr: sp.Expr, names: Sequence[sp.Symbol]) -> list[Monomial]:
    found = collect(sp.expand(expr) if expr.is_Mul or expr.is_Pow else expr, names[0])
    if found.below:
        raise UndecidedError(f"{expr} is not a sum of monomials in {', '.join(map(str, names))}")
    whole = sp.Add(*(term * names[0] ** power for power, terms in found.top.items() for term in terms))
    grouped: dict[sp.Expr, list[sp.Expr]] = {}
    for term in signed_terms(whole):
        fixed, moving = term.as_independent(*names, as_Add=False)
        grouped.setdefault(moving, []).append(fixed)
    parts = []
    for moving, fixed in grouped.items():
        factor = sp.Add(*fixed)
        if sign_of(factor) != 1 or any(not b.is_Symbol for b in monomial(moving).powers):
            raise UndecidedError(f"{factor * moving} is not a positive monomial, so the minimum is undecided")
        base = monomial(factor)
        parts.append(Monomial(base.coefficient, {**base.powers, **monomial(moving).powers}))
    return parts


def _by_shares(
    terms: Sequence[Monomial],
    rows: Sequence[Sequence[sp.Rational]],
    names: Sequence[sp.Symbol],
    weights: Sequence[sp.Expr] = (),
) -> Optimum:
    """Solve by the inequality of arithmetic and geometric means: each term has a fixed share of the minimum.

    With all weights 1 it is the Max of the terms instead of their sum that is least: there they are equal.
    """
    matrix = sp.Matrix([*sp.Matrix(rows).T.tolist(), [1] * len(terms)])
    if matrix.rank() < len(terms):
        raise UndecidedError("the terms do not depend on the variables independently: the minimum is not one point")
    shares = list(matrix.LUsolve(sp.Matrix([0] * len(names) + [1])))
    if any(share <= 0 for share in shares):
        raise UndecidedError(f"there is no minimum over {', '.join(map(str, names))}: {_ALONE}")
    weights = weights or shares
    bare = [Monomial(t.coefficient, {b: p for b, p in t.powers.items() if b not in names}) for t in terms]
    value = _weighted(bare, shares, weights)
    # rows * log(point) = log(weight * value / coefficient); all but one of these equations suffice
    inverse = sp.Matrix(rows[: len(names)]).inv()
    targets = [_target(bare[i], weights[i], value) for i in range(len(names))]
    point = {
        name: sp.Mul(*(_powered(target, inverse[row, i]) for i, target in enumerate(targets)))
        for row, name in enumerate(names)
    }
    method = "arithmetic and geometric mean: each term has a fixed share"
    return Optimum(point, value.expr(), True, method)


def _weighted(bare: Sequence[Monomial], shares: Sequence[sp.Rational], weights: Sequence[sp.Expr]) -> Monomial:
    """Return prod((coefficient / weight) ** share), with numbers as bases of their own."""
    powers: Powers = {}
    for part, share, weight in zip(bare, shares, weights, strict=True):
        _multiply(powers, part, share)
        _multiply(powers, Monomial(weight, {}), -share)
    return Monomial(sp.S.One, powers)


def _target(part: Monomial, weight: sp.Expr, value: Monomial) -> Monomial:
    powers = dict(value.powers)
    _multiply(powers, Monomial(weight, {}), sp.S.One)
    _multiply(powers, part, sp.S.NegativeOne)
    return Monomial(sp.S.One, powers)


def _multiply(powers: Powers, value: Monomial, exponent: sp.Rational) -> None:
    numbers = {sp.Integer(value.coefficient.p): exponent, sp.Integer(value.coefficient.q): -exponent}
    for base, power in [*numbers.items(), *((b, p * exponent) for b, p in value.powers.items())]:
        if base == 1:
            continue
        powers[base] = powers.get(base, sp.S.Zero) + power
        if not powers[base]:
            del powers[base]


def _by_derivative(terms: Sequence[Monomial], rows: Sequence[Sequence[sp.Rational]], name: sp.Symbol) -> Optimum:
    """Find the one zero of the derivative: in log space the sum is convex, so it is the minimum."""
    slopes: dict[sp.Rational, list[sp.Expr]] = {}
    for part, (power,) in zip(terms, rows, strict=True):
        fixed = Monomial(part.coefficient * power, {b: p for b, p in part.powers.items() if b != name}).expr()
        slopes.setdefault(power, []).append(fixed)
    pieces = where(slopes, "==")
    if len(pieces) != 1 or len(pieces[0].intervals) != 1:
        raise UndecidedError(f"there is no minimum over {name}: the sum only rises or only falls")
    place = pieces[0].intervals[0].lo
    value = sp.Add(*(part.expr() for part in terms)).subs(name, place)
    return Optimum({name: place}, value, True, "the one zero of the derivative")
