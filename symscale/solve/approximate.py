"""Leading terms in named limits such as B << D, F and X >> 1, what was dropped and how far off that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from fractions import Fraction

import sympy as sp
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve.growth import Growth, Scales, of_product, of_sum, of_vector, scales
from symscale.solve.limits import Approximation, Limit
from symscale.solve.relation import Relation
from symscale.solve.terms import sign_of
from symscale.vocabulary import expression


@dataclass(frozen=True)
class Leading:
    """The leading part of an expression, its order (None: not known), what went, and exact / leading."""

    expr: sp.Expr
    growth: Growth | None
    dropped: tuple[sp.Expr, ...] = ()
    ratio: sp.Expr = field(default=sp.S.One)


def approximate(expr: sp.Expr, limits: Iterable[Limit]) -> Approximation:
    """Return the leading terms of an expression in the limits.

    `2*B*D*F/(b*(B*D + B*F + D*F))` for `B << D, F`: `2*B/b`, dropped `B*D` and `B*F`, exact / approximate
    1/(1 + B/D + B/F). A term goes if its quotient to another tends to 0, at whatever rates the limits are
    approached. `X >> 1` says that X - 1 is about X, not that X hops take longer than a transfer: it drops a
    term only beside the same term times powers of long sizes. Raises UndecidedError if nothing can be
    dropped, if the leading terms may cancel, or if what is left is negative where the expression need not be.
    """
    named = tuple(limits)
    found = _approximated(expression(expr), named, scales(named))
    if not found.dropped:
        raise _nothing(str(expr), named)
    return found


def approximate_relation(
    relation: Relation, limits: Iterable[Limit]
) -> tuple[Relation, tuple[Approximation, Approximation]]:
    """Return a relation with both sides replaced by their leading terms, and the two approximations.

    Raises UndecidedError if nothing can be dropped on either side.
    """
    named = tuple(limits)
    moving = scales(named)
    left, right = (_approximated(expression(side), named, moving) for side in (relation.lhs, relation.rhs))
    if not left.dropped and not right.dropped:
        raise _nothing(str(relation), named)
    return Relation(left.approximate, relation.op, right.approximate), (left, right)


def _approximated(expr: sp.Expr, limits: tuple[Limit, ...], moving: Scales) -> Approximation:
    found = leading(expr, moving)
    _positive(expr, found.expr, limits)
    dropped = tuple(dict.fromkeys(found.dropped))
    return Approximation(expr, found.expr, dropped, limits, found.ratio, _distance(found.ratio))


def _positive(expr: sp.Expr, near: sp.Expr, limits: Sequence[Limit]) -> None:
    """Refuse a limit that leaves less than nothing of a difference: X >> 1 makes -1 of 64/X - 1."""
    parts = near.args if isinstance(near, MinMaxBase) else (near,)
    gone = next((part for part in parts if sign_of(part) == -1), None)
    if gone is not None and sign_of(expr) != -1:
        raise UndecidedError(
            f"in the limit {'; '.join(map(str, limits))} only {gone} is left of a difference, which is below zero",
            hint="name a limit in which the difference stays positive, or ask for the exact form",
        )


def _distance(ratio: sp.Expr) -> sp.Expr:
    """Return ratio - 1, over one denominator where the ratio is 1/(1 + small)."""
    if ratio.is_Pow and ratio.exp == -1 and ratio.base.is_Add and len(ratio.base.args) < 8:
        return -sp.together((ratio.base - 1) * ratio)
    return ratio - 1


def _nothing(text: str, limits: Sequence[Limit]) -> UndecidedError:
    return UndecidedError(
        f"in the limit {'; '.join(map(str, limits))} no term of {text} is small beside another",
        hint="name other limits, or ask for the exact form",
    )


def leading(expr: sp.Expr, moving: Scales) -> Leading:
    """Return the leading part of an expression as its symbols move."""
    if expr.is_Symbol:
        vector = moving.vectors.get(expr)
        return Leading(expr, moving.constant if vector is None else of_vector(vector))
    if not any(symbol in moving.vectors for symbol in expr.free_symbols):
        return Leading(expr, moving.constant)
    if expr.is_Mul:
        return _product(expr, moving)
    if expr.is_Pow:
        return _power(expr, moving)
    if expr.is_Add:
        return _sum(expr, moving)
    if isinstance(expr, MinMaxBase):
        return _extremum(expr, moving)
    if isinstance(expr, sp.floor | sp.ceiling):
        return _rounded(expr, moving)
    if isinstance(expr, sp.log):
        return _logarithm(expr, moving)
    return Leading(expr, None)


def _product(expr: sp.Expr, moving: Scales) -> Leading:
    parts = [leading(factor, moving) for factor in expr.args]
    known = [part.growth for part in parts if part.growth is not None]
    growth = of_product(known) if len(known) == len(parts) else None
    if not any(part.dropped for part in parts):
        return Leading(expr, growth)
    dropped: list[sp.Expr] = []
    for factor, part in zip(expr.args, parts, strict=True):
        if part.dropped:
            # a term of a sum goes with its cofactor: -1 in b*(X - 1)/W is the term -b/W
            cofactor = sp.S.One if factor.is_Pow or isinstance(factor, sp.log) else expr / factor
            dropped += [term * cofactor for term in part.dropped]
    whole, ratio = sp.Mul(*(part.expr for part in parts)), sp.Mul(*(part.ratio for part in parts))
    return Leading(whole, growth, tuple(dropped), ratio)


def _power(expr: sp.Expr, moving: Scales) -> Leading:
    base, exponent = expr.as_base_exp()
    if not exponent.is_Rational:
        return Leading(expr, None)
    inner = leading(base, moving)
    size = int(exponent) if exponent.is_Integer else Fraction(int(exponent.p), int(exponent.q))
    growth = None if inner.growth is None else inner.growth.power(size)
    if not inner.dropped:
        return Leading(expr, growth)
    return Leading(sp.Pow(inner.expr, exponent), growth, inner.dropped, sp.Pow(inner.ratio, exponent))


def _sum(expr: sp.Expr, moving: Scales) -> Leading:
    parts = [leading(term, moving) for term in expr.args]
    keeps = _survivors(parts, moving)
    stays = [part for part, keep in zip(parts, keeps, strict=True) if keep]
    orders = {part.growth for part in stays}
    if _may_cancel(stays, moving):
        return _over_one_denominator(expr, moving)
    goes = [term for term, keep in zip(expr.args, keeps, strict=True) if not keep]
    growth = None if None in orders else of_sum(each for each in orders if each is not None)
    dropped = (*goes, *(term for part in stays for term in part.dropped))
    if not dropped:
        return Leading(expr, growth)
    whole = sp.Add(*(part.expr for part in stays))
    return Leading(whole, growth, dropped, _ratio_of_sums(whole, stays, goes))


def _survivors(parts: Sequence[Leading], moving: Scales) -> list[bool]:
    """Tell for each part whether it stays; in groups of one order, for sums may have thousands of terms."""
    groups: dict[Growth | None, list[Leading]] = {}
    for part in parts:
        groups.setdefault(part.growth, []).append(part)
    orders = [each for each in groups if each is not None]
    gone, doubtful = set(), {}
    for order in orders:
        larger = [other for other in orders if moving.vanishes(order, other)]
        if any(moving.shrinks(order, other) for other in larger):
            gone.add(order)
        elif larger:
            doubtful[order] = {_cofactor(part.expr, moving) for other in larger for part in groups[other]}
    return [
        part.growth not in gone
        and (part.growth not in doubtful or _cofactor(part.expr, moving) not in doubtful[part.growth])
        for part in parts
    ]


def _cofactor(term: sp.Expr, moving: Scales) -> sp.Expr:
    """Return a term without numbers and long sizes."""
    return sp.Mul(*(factor for factor in sp.Mul.make_args(term) if not factor.free_symbols <= moving.long))


def _may_cancel(stays: Sequence[Leading], moving: Scales) -> bool:
    """Tell whether the leading parts may be as small as what was dropped."""
    if len(stays) == 1 or {sign_of(part.expr) for part in stays} in ({1}, {-1}):
        return False
    orders = {part.growth for part in stays}
    known = [order for order in orders if order is not None]
    top = {order for order in orders if order is None or not any(moving.vanishes(order, each) for each in known)}
    return len(top) > 1 or _vanishes([part.expr for part in stays if part.growth in top])


def _vanishes(terms: Sequence[sp.Expr]) -> bool:
    """Tell whether a sum is 0 whatever its symbols are, by its value at one odd point."""
    symbols = sorted(set().union(*(term.free_symbols for term in terms)), key=str)
    point = {each: sp.Rational(sp.prime(n + 5), 7) for n, each in enumerate(symbols)}
    values = [term.xreplace(point).evalf(40) for term in terms]
    return bool(abs(sp.Add(*values)) < sp.Float(10) ** -30 * max(map(abs, values)))


def _ratio_of_sums(whole: sp.Expr, stays: Sequence[Leading], goes: Sequence[sp.Expr]) -> sp.Expr:
    if whole.is_Add:
        return sp.Add(*(part.expr * part.ratio for part in stays), *goes) / whole
    return sp.Add(*(part.expr * part.ratio / whole for part in stays), *(term / whole for term in goes))


def _over_one_denominator(expr: sp.Expr, moving: Scales) -> Leading:
    """Leading parts that cancel, as in X/(X - 1) - 1, say nothing: expand until only monomials are left."""
    above, below = sp.fraction(sp.together(expr))
    above = sp.expand(above)
    if not above.is_Add:
        return leading(above / below, moving)
    parts = [Leading(term, leading(term, moving).growth) for term in above.args]
    keeps = _survivors(parts, moving)
    stays = [part for part, keep in zip(parts, keeps, strict=True) if keep]
    orders = {part.growth for part in stays}
    if len(orders) > 1 or None in orders or any(part.expr.has(sp.Add) for part in parts):
        names = ", ".join(str(part.expr) for part in stays)
        raise UndecidedError(f"the limits do not say which of {names} is the largest, and they may cancel")
    whole = sp.Add(*(part.expr for part in stays))
    bottom = leading(below, moving)
    growth = _quotient(stays[0].growth, bottom.growth)
    goes = [part.expr for part, keep in zip(parts, keeps, strict=True) if not keep]
    if not goes and not bottom.dropped:
        return Leading(expr, growth)
    dropped = (*(term / below for term in goes), *bottom.dropped)
    return Leading(whole / bottom.expr, growth, dropped, _ratio_of_sums(whole, stays, goes) / bottom.ratio)


def _quotient(above: Growth | None, below: Growth | None) -> Growth | None:
    return None if above is None or below is None else of_product([above, below.power(-1)])


def _extremum(expr: sp.Expr, moving: Scales) -> Leading:
    """Max of a and b is of the order of a + b, and an argument that vanishes beside another never wins."""
    parts = [leading(arg, moving) for arg in expr.args]
    growths = [part.growth for part in parts if part.growth is not None]
    if len(growths) < len(parts) or {sign_of(part.expr) for part in parts} != {1}:
        return _rebuilt(expr, parts, [], None)
    turn = 1 if isinstance(expr, sp.Max) else -1
    # the least argument of a Min is the largest of the reciprocals
    orders = [growth.power(turn) for growth in growths]
    compared = [Leading(part.expr**turn, order) for part, order in zip(parts, orders, strict=True)]
    keeps = _survivors(compared, moving)
    goes = [arg for arg, keep in zip(expr.args, keeps, strict=True) if not keep]
    stays = [part for part, keep in zip(parts, keeps, strict=True) if keep]
    if turn == -1 and goes and len(stays) == 1 and not stays[0].expr.free_symbols:
        # the large argument of a Min is no term that vanishes: what goes is the rest that the small one leaves
        goes = [expr - stays[0].expr]
    return _rebuilt(expr, stays, goes, of_sum(orders).power(turn))


def _rebuilt(expr: MinMaxBase, stays: Sequence[Leading], goes: Sequence[sp.Expr], growth: Growth | None) -> Leading:
    dropped = (*goes, *(term for part in stays for term in part.dropped))
    if not dropped:
        return Leading(expr, growth)
    left = [part.expr for part in stays]
    whole = left[0] if len(left) == 1 else type(expr)(*left, evaluate=False)
    return Leading(whole, growth, dropped, expr / whole)


def _rounded(expr: sp.Expr, moving: Scales) -> Leading:
    """floor and ceiling of what grows are their argument; of anything else they stay."""
    inner = leading(expr.args[0], moving)
    if inner.growth is None or not moving.vanishes(moving.constant, inner.growth):
        return Leading(expr, None)
    return Leading(inner.expr, inner.growth, (expr - inner.expr,), expr / inner.expr)


def _logarithm(expr: sp.Expr, moving: Scales) -> Leading:
    """The log of what grows is that of its leading part; it grows slower than any power of the one limit."""
    inner = leading(expr.args[0], moving)
    if inner.growth is None or not moving.vanishes(moving.constant, inner.growth):
        return Leading(expr, None)
    growth = moving.constant if moving.size == 1 else None
    if not inner.dropped:
        return Leading(expr, growth)
    whole = sp.log(inner.expr)
    return Leading(whole, growth, inner.dropped, expr / whole)
