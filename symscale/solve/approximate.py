"""Leading terms in named limits such as B << D, F and X >> 1, with what was dropped and how far off that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import sympy as sp
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.errors import UndecidedError
from symscale.solve.growth import Growth, Scales, of_product, of_sum, of_vector, scales
from symscale.solve.relation import Approximation, Limit, Relation
from symscale.solve.terms import sign_of


@dataclass(frozen=True)
class Leading:
    """The leading part of an expression, its order (None: not known), what went, and exact / leading."""

    expr: sp.Expr
    growth: Growth | None
    dropped: tuple[sp.Expr, ...] = ()
    ratio: sp.Expr = field(default=sp.S.One)


def approximate(expr: sp.Expr, limits: Iterable[Limit]) -> Approximation:
    """Return the leading terms of an expression in the limits.

    2*B*D*F/(b*(B*D + B*F + D*F)) for B << D, F: 2*B/b, dropped B*D and B*F, exact / approximate
    1/(1 + B/D + B/F). A term goes if its quotient to another tends to 0, at whatever rates the limits are
    approached. Raises UndecidedError if nothing can be dropped, or if the leading terms may cancel.
    """
    named = tuple(limits)
    found = _approximated(sp.sympify(expr), named, scales(named))
    if not found.dropped:
        raise _nothing(str(expr), named)
    return found


def approximate_relation(relation: Relation, limits: Iterable[Limit]) -> tuple[Relation, list[Approximation]]:
    """Return a relation with both sides replaced by their leading terms, and the two approximations.

    Raises UndecidedError if nothing can be dropped on either side.
    """
    named = tuple(limits)
    moving = scales(named)
    sides = [_approximated(sp.sympify(side), named, moving) for side in (relation.lhs, relation.rhs)]
    if not any(side.dropped for side in sides):
        raise _nothing(str(relation), named)
    return Relation(sides[0].approximate, relation.op, sides[1].approximate), sides


def _approximated(expr: sp.Expr, limits: tuple[Limit, ...], moving: Scales) -> Approximation:
    found = leading(expr, moving)
    return Approximation(expr, found.expr, tuple(dict.fromkeys(found.dropped)), limits, found.ratio)


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
    return Leading(expr, None)


def _product(expr: sp.Expr, moving: Scales) -> Leading:
    parts = [leading(factor, moving) for factor in expr.args]
    known = [part.growth for part in parts if part.growth is not None]
    growth = of_product(known) if len(known) == len(parts) else None
    if not any(part.dropped for part in parts):
        return Leading(expr, growth)
    dropped = [
        # a term of a sum goes with its cofactor: -1 in b*(X - 1)/W is the term -b/W
        term if factor.is_Pow else term * expr / factor
        for factor, part in zip(expr.args, parts, strict=True)
        for term in part.dropped
    ]
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
    kept = _undominated({part.growth for part in parts})
    stays = [part for part in parts if part.growth in kept]
    if _may_cancel(stays, kept):
        return _over_one_denominator(expr, moving)
    goes = [term for term, part in zip(expr.args, parts, strict=True) if part.growth not in kept]
    growth = None if None in kept else of_sum(each for each in kept if each is not None)
    dropped = (*goes, *(term for part in stays for term in part.dropped))
    if not dropped:
        return Leading(expr, growth)
    whole = sp.Add(*(part.expr for part in stays))
    return Leading(whole, growth, dropped, _ratio_of_sums(whole, stays, goes))


def _undominated(growths: set[Growth | None]) -> set[Growth | None]:
    known = [each for each in growths if each is not None]
    return {each for each in growths if each is None or not any(each.exceeded_by(other) for other in known)}


def _may_cancel(stays: Sequence[Leading], kept: set[Growth | None]) -> bool:
    if len(stays) == 1:
        return False
    signs = {sign_of(part.expr) for part in stays}
    if signs in ({1}, {-1}):
        return False
    return len(kept) > 1 or any(part.dropped for part in stays)


def _ratio_of_sums(whole: sp.Expr, stays: Sequence[Leading], goes: Sequence[sp.Expr]) -> sp.Expr:
    if whole.is_Add:
        return sp.Add(*(part.expr * part.ratio for part in stays), *goes) / whole
    return sp.Add(*(part.expr * part.ratio / whole for part in stays), *(term / whole for term in goes))


def _over_one_denominator(expr: sp.Expr, moving: Scales) -> Leading:
    """Leading parts that cancel, as in X/(X - 1) - 1, say nothing: expand until only monomials are left."""
    above, below = sp.fraction(sp.together(expr))
    above = sp.expand(above)
    if not above.is_Add:
        found = leading(above / below, moving)
    else:
        terms = [Leading(term, leading(term, moving).growth) for term in above.args]
        kept = _undominated({term.growth for term in terms})
        if len(kept) > 1 or None in kept or any(term.has(sp.Add) for term in above.args):
            names = ", ".join(str(term.expr) for term in terms if term.growth in kept)
            raise UndecidedError(f"the limits do not say which of {names} is the largest, and they may cancel")
        whole = sp.Add(*(term.expr for term in terms if term.growth in kept))
        goes = [term.expr for term in terms if term.growth not in kept]
        bottom = leading(below, moving)
        if not goes and not bottom.dropped:
            return Leading(expr, leading(whole / below, moving).growth)
        stays = [term for term in terms if term.growth in kept]
        ratio = _ratio_of_sums(whole, stays, goes) / bottom.ratio
        assert bottom.growth is not None
        (top,) = kept
        assert top is not None
        growth = of_product([top, bottom.growth.power(-1)])
        found = Leading(whole / bottom.expr, growth, (*(term / below for term in goes), *bottom.dropped), ratio)
    return found


def _extremum(expr: sp.Expr, moving: Scales) -> Leading:
    """Each argument to its leading part; an argument goes only where some x << y makes it lose.

    X >> 1 says that X - 1 is about X. It does not say that X hops take longer than the transfer.
    """
    parts = [leading(arg, moving) for arg in expr.args]
    known = [part.growth for part in parts if part.growth is not None]
    signs = {sign_of(part.expr) for part in parts}
    growth = None
    if len(known) == len(parts) and signs == {1}:
        inverse = 1 if isinstance(expr, sp.Max) else -1
        growth = of_sum(each.power(inverse) for each in known).power(inverse)
    return _rebuilt(expr, parts, growth)


def _rebuilt(expr: MinMaxBase, parts: Sequence[Leading], growth: Growth | None) -> Leading:
    dropped = tuple(term for part in parts for term in part.dropped)
    if not dropped:
        return Leading(expr, growth)
    whole = type(expr)(*(part.expr for part in parts), evaluate=False)
    return Leading(whole, growth, dropped, expr / whole)


def _rounded(expr: sp.Expr, moving: Scales) -> Leading:
    """floor and ceiling of what grows are their argument; of anything else they stay."""
    inner = leading(expr.args[0], moving)
    if inner.growth is None or not moving.constant.exceeded_by(inner.growth):
        return Leading(expr, None)
    return Leading(inner.expr, inner.growth, (expr - inner.expr,), expr / inner.expr)
