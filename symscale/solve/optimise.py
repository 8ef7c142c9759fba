"""Optima in one variable: geometric programs with a closed form, and the best integers beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from symscale.errors import UndecidedError
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class Optimum:
    """The point of least value, that value, whether it is exact, and the method that found it."""

    point: Mapping[sp.Symbol, sp.Expr]
    value: sp.Expr
    exact: bool
    method: str


def minimise(
    objective: sp.Expr, variables: Sequence[sp.Symbol], subject_to: Relation | None = None
) -> Optimum:
    """Return the minimum over one variable of a sum of a rising and a falling monomial, or of their maximum.

    a*x^p + c/x^q is least at x = (q*c/(p*a))^(1/(p+q)) by the weighted AM-GM inequality; Max(a*x^p, c/x^q) where both
    are equal. A monomial constraint such as X*Y == N eliminates the second variable. Raises UndecidedError otherwise.
    """
    variable = variables[0]
    if subject_to is not None:
        objective = objective.xreplace(eliminated(subject_to, variables[1:]))
    common, parts = _factored(objective)
    rising, falling = _split(parts, variable, objective)
    (a, p), (c, q) = rising, falling
    if isinstance(objective, sp.Max) or common is not None:
        point = _root(c / a, p + q)
        value = a * point**p if common is None else common * a * point**p
        method = "where the rising and the falling time are equal"
    else:
        point = _root(q * c / (p * a), p + q)
        value = (p + q) / q * a * point**p
        method = "AM-GM: the derivative of the sum vanishes"
    return Optimum({variable: point}, _root_of_product(value), True, method)


def eliminated(constraint: Relation, variables: Sequence[sp.Symbol]) -> dict[sp.Symbol, sp.Expr]:
    """Return a monomial equation solved for the first of `variables` that it holds."""
    for variable in variables:
        for side, other in ((constraint.lhs, constraint.rhs), (constraint.rhs, constraint.lhs)):
            rest = side / variable
            if variable in side.free_symbols and variable not in rest.free_symbols:
                return {variable: other / rest}
    raise UndecidedError(f"The constraint {constraint} fixes none of {', '.join(map(str, variables))}.")


def _factored(objective: sp.Expr) -> tuple[sp.Expr | None, tuple[sp.Expr, ...]]:
    if isinstance(objective, sp.Max):
        return None, tuple(objective.args)
    tops = [arg for arg in objective.args if isinstance(arg, sp.Max)] if objective.is_Mul else []
    if tops:
        return objective / tops[0], tuple(tops[0].args)
    return None, sp.Add.make_args(objective)


def _split(
    parts: Sequence[sp.Expr], variable: sp.Symbol, objective: sp.Expr
) -> tuple[tuple[sp.Expr, sp.Expr], tuple[sp.Expr, sp.Expr]]:
    powers: dict[sp.Expr, list[sp.Expr]] = {}
    for part in parts:
        coefficient, dependent = part.as_independent(variable, as_Add=False)
        base, exponent = dependent.as_base_exp()
        if base != variable or exponent == 0 or not exponent.is_Rational:
            raise UndecidedError(
                f"{objective} has no minimum in closed form over {variable}.",
                hint="It needs one term that rises with the variable and one that falls.",
            )
        powers.setdefault(exponent, []).append(coefficient)
    if len(powers) != 2 or len({power > 0 for power in powers}) != 2:
        raise UndecidedError(
            f"{objective} only {'rises' if min(powers) > 0 else 'falls'} with {variable}, or has more than two powers of it.",
            hint="It needs one term that rises with the variable and one that falls.",
        )
    combine = sp.Max if isinstance(objective, sp.Max) else sp.Add
    up, down = max(powers), min(powers)
    return (combine(*powers[up]), up), (combine(*powers[down]), -down)


def _root(base: sp.Expr, order: sp.Expr) -> sp.Expr:
    return sp.Pow(base, 1 / order)


def _root_of_product(value: sp.Expr) -> sp.Expr:
    """Return a product with its square roots joined into one."""
    square = sp.Mul(*(factor**2 for factor in sp.Mul.make_args(value)))
    return sp.sqrt(square) if not square.has(sp.Add) else value


def best_integers(
    objective: sp.Expr,
    variable: sp.Symbol,
    *,
    divides: int | None = None,
    candidates: Sequence[int] = (),
) -> list[tuple[int, sp.Expr, sp.Expr]]:
    """Return whole values of the variable with their value and their loss against the real optimum, best first.

    Candidates are the divisors of `divides`, or those given; the loss is value/optimum − 1.
    """
    options = list(candidates) or [int(each) for each in sp.divisors(divides or 1)]
    best = minimise(objective, (variable,)).value
    found = [(each, objective.xreplace({variable: sp.Integer(each)})) for each in options]
    found.sort(key=lambda pair: float(pair[1]))
    return [(each, value, value / best - 1) for each, value in found]


