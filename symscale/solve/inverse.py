"""Ceilings, floors, powers a**n and logs of the unknown, undone by their inverse functions.

The function value is solved for first, as an unknown of its own; each end of the intervals found is then carried
back through the inverse: ceiling(r) <= q is r <= floor(q), a**n > q is n > log(q)/log(a), log(r) > q is r > exp(q).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import sympy as sp

from symscale.errors import UndecidedError
from symscale.notation.text import relation_text, to_text
from symscale.solve.collect import collect
from symscale.solve.pieces import Piece, always, both, either
from symscale.solve.region import EVERYWHERE, Region
from symscale.solve.relation import ALWAYS, MASKS, MIRROR, Interval, sign_of_number
from symscale.solve.terms import compare, sign_of, signed_terms
from symscale.vocabulary import fresh

Solver: TypeAlias = Callable[[sp.Expr, str, sp.Expr, sp.Symbol], list[Piece]]


def by_inverse(lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Symbol, solver: Solver) -> list[Piece] | None:
    """Return where the relation holds if the unknown stands in such a function, else None.

    Raises UndecidedError if the unknown stands inside such a function and outside it, unless monotony decides.
    """
    steps = _holding(lhs, rhs, unknown, (sp.ceiling, sp.floor))
    if steps:
        return _through_step(lhs, op, rhs, unknown, max(steps, key=sp.Expr.count_ops), solver)
    logs = _holding(lhs, rhs, unknown, (sp.log,))
    if logs:
        return _through_log(lhs, op, rhs, unknown, logs, solver)
    powers = [p for p in _holding(lhs, rhs, unknown, (sp.Pow, sp.exp)) if unknown in p.as_base_exp()[1].free_symbols]
    return _through_power(lhs, op, rhs, unknown, powers, solver) if powers else None


def _holding(lhs: sp.Expr, rhs: sp.Expr, unknown: sp.Symbol, kinds: tuple[type[sp.Expr], ...]) -> list[sp.Expr]:
    found = [
        node for side in (lhs, rhs) if side.has(*kinds) for node in side.atoms(*kinds) if unknown in node.free_symbols
    ]
    return sorted(dict.fromkeys(found), key=str)


def _marked(lhs: sp.Expr, rhs: sp.Expr, unknown: sp.Symbol, values: dict[sp.Expr, sp.Expr]) -> tuple[sp.Expr, sp.Expr]:
    left, right = lhs.xreplace(values), rhs.xreplace(values)
    if unknown in left.free_symbols or unknown in right.free_symbols:
        inner = ", ".join(map(str, values))
        raise UndecidedError(f"{unknown} stands both inside and outside {inner}: no closed form")
    return left, right


def _within(region: Region, pieces: Sequence[Piece]) -> list[Piece]:
    return [Piece(inside, p.intervals) for p in pieces if (inside := region.join(p.region)) is not None]


# ---------------------------------------------------------------- ceiling and floor


def _through_step(
    lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Symbol, node: sp.Expr, solver: Solver
) -> list[Piece]:
    mark = fresh("step")
    is_ceiling = isinstance(node, sp.ceiling)
    # both marks count 1, 2, 3, …: the ceiling itself, and the floor plus one
    left, right = _marked(lhs, rhs, unknown, {node: mark if is_ceiling else mark - 1})
    result: list[Piece] = []
    for piece in solver(left, op, right, mark):
        found = always(False)
        for interval in piece.intervals:
            found = either(found, _carried_back(interval, node.args[0], is_ceiling, unknown, solver))
        result += _within(piece.region, found)
    return result


def _carried_back(
    interval: Interval, inner: sp.Expr, is_ceiling: bool, unknown: sp.Symbol, solver: Solver
) -> list[Piece]:
    lo, hi = interval.lo, interval.hi
    found = always(True)
    if lo != 0:
        step = sp.floor(lo) if interval.lo_open else sp.ceiling(lo) - 1
        found = both(found, solver(inner, ">" if is_ceiling else ">=", step, unknown))
    if hi is not sp.oo:
        step = sp.ceiling(hi) - 1 if interval.hi_open else sp.floor(hi)
        found = both(found, solver(inner, "<=" if is_ceiling else "<", step, unknown))
    return found


# ---------------------------------------------------------------- powers a**n


def _through_power(
    lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Symbol, nodes: Sequence[sp.Expr], solver: Solver
) -> list[Piece]:
    mark = fresh("power")
    base, exponent = nodes[0].as_base_exp()
    rate = exponent.coeff(unknown, 1)
    values = {node: _in_terms_of(node, base, rate, mark, unknown) for node in nodes}
    left, right = _marked(lhs, rhs, unknown, values)
    pieces = solver(left, op, right, mark)
    result: list[Piece] = []
    for relation in (">", "<"):
        inside = EVERYWHERE.meet(compare(signed_terms(base - 1), relation))
        if inside is not None:
            grows = (relation == ">") == (sign_of(rate) == 1)
            result += _within(inside, _logarithms(pieces, base, rate, grows=grows))
    return result + _at_base_one(left, op, right, mark, base, solver)


def _in_terms_of(node: sp.Expr, base: sp.Expr, rate: sp.Expr, mark: sp.Symbol, unknown: sp.Symbol) -> sp.Expr:
    own, exponent = node.as_base_exp()
    slope, rest = exponent.coeff(unknown, 1), exponent.coeff(unknown, 0)
    factor = slope / rate
    if own != base or not factor.is_Rational or sign_of(rate) not in (1, -1) or exponent != slope * unknown + rest:
        raise UndecidedError(f"{node} is not a power of {base}**({rate}*{unknown}), so there is no closed form")
    return mark**factor * base**rest


def _logarithms(pieces: Sequence[Piece], base: sp.Expr, rate: sp.Expr, *, grows: bool) -> list[Piece]:
    reach = Interval(sp.S.One, True, sp.oo, True) if grows else Interval(sp.S.Zero, True, sp.S.One, True)

    def back(value: sp.Expr) -> sp.Expr:
        if value == 1:
            return sp.S.Zero
        return sp.oo if value in (0, sp.oo) else sp.log(value) / (rate * sp.log(base))

    def carried(i: Interval) -> Interval:
        ends = (i.lo, i.lo_open, i.hi, i.hi_open) if grows else (i.hi, i.hi_open, i.lo, i.lo_open)
        lo, hi = back(ends[0]), back(ends[2])
        return ALWAYS if lo == 0 and hi is sp.oo else Interval(lo, ends[1] and lo != 0, hi, ends[3])

    limited = both(pieces, [Piece(EVERYWHERE, (reach,))])
    return [Piece(piece.region, tuple(map(carried, piece.intervals))) for piece in limited]


def _at_base_one(left: sp.Expr, op: str, right: sp.Expr, mark: sp.Symbol, base: sp.Expr, solver: Solver) -> list[Piece]:
    inside = EVERYWHERE.meet(compare(signed_terms(base - 1), "=="))
    if inside is None:
        return []
    return _within(inside, solver(left.xreplace({mark: sp.S.One}), op, right.xreplace({mark: sp.S.One}), mark))


# ---------------------------------------------------------------- logs


def _through_log(
    lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Symbol, nodes: Sequence[sp.Expr], solver: Solver
) -> list[Piece]:
    mark = fresh("log")
    if len(nodes) > 1:
        raise UndecidedError(f"{unknown} stands in {len(nodes)} different logarithms")
    node = nodes[0]
    found = collect((lhs - rhs).xreplace({node: mark}), mark)
    if not set(found.top) <= {sp.S.Zero, sp.S.One} or found.below:
        raise UndecidedError(f"{to_text(node)} does not stand alone in {relation_text(lhs, op, rhs)}")
    scale, rest = sp.Add(*found.top.get(sp.S.One, ())), sp.Add(*found.top.get(sp.S.Zero, ()))
    if unknown in scale.free_symbols or unknown in rest.free_symbols:
        return _by_extremum(scale, node.args[0], rest, op, unknown)
    sign = sign_of(scale)
    if sign not in (1, -1):
        raise UndecidedError(f"the sign of {to_text(scale)}, the factor of {to_text(node)}, is undecided")
    return solver(node.args[0], op if sign == 1 else MIRROR[op], _exponential(-rest / scale), unknown)


def _exponential(power: sp.Expr) -> sp.Expr:
    """Return e**power, as 2**q where the power is q*log(2)."""
    for factor in sp.Mul.make_args(power):
        if isinstance(factor, sp.log) and factor.args[0].is_Rational:
            return sp.Pow(factor.args[0], power / factor)
    return sp.exp(power)


def _by_extremum(scale: sp.Expr, inner: sp.Expr, rest: sp.Expr, op: str, unknown: sp.Symbol) -> list[Piece]:
    """Decide `scale*log(k*u**m) + a*u**p + d` where its one extremum lies on the side it opens to."""
    within, beside = collect(inner, unknown).top, collect(rest, unknown).top
    outer = [power for power in beside if power != 0]
    if unknown in scale.free_symbols or len(within) != 1 or len(outer) != 1:
        raise UndecidedError(f"{unknown} stands inside and outside a logarithm: no closed form")
    ((power, factor),) = within.items()
    slope, degree = sp.Add(*beside[outer[0]]), outer[0]
    place = -scale * power / (degree * slope)  # u**degree at the extremum
    if sign_of(place) == 1 and sign_of(slope) is not None:
        least = scale * sp.log(sp.Add(*factor) * place ** (power / degree)) + slope * place
        least += sp.Add(*beside.get(sp.S.Zero, ()))
        sign = sign_of_number(least) if not least.free_symbols else None
        if sign is not None and sign == sign_of(slope):
            return always(bool(MASKS[op] & 1 << (sign + 1)))
    sides = (scale * sp.log(inner), op, -rest) if sign_of(scale) != -1 else (-scale * sp.log(inner), MIRROR[op], rest)
    raise UndecidedError(
        f"{relation_text(*sides)} has no closed form: {unknown} stands inside and outside the logarithm",
        hint="drop a term by an assumption",
    )
