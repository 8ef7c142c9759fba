"""Approximations in a named limit: the leading terms, what was dropped, and the exact relative error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.errors import UndecidedError
from symscale.solve.relation import Relation
from symscale.solve.terms import sign_of

Orders = tuple[sp.Rational, ...]


@dataclass(frozen=True)
class Limit:
    """`small << large[0], large[1], …`; `X >> 1` is Limit(1, (X,)).

    A symbol that is small is replaced by eps*small; otherwise each large symbol by large/eps; eps -> 0, all else fixed.
    """

    small: sp.Expr
    large: tuple[sp.Expr, ...]

    def __str__(self) -> str:
        if self.small == 1:
            return f"{', '.join(map(str, self.large))} >> 1"
        return f"{self.small} << {', '.join(map(str, self.large))}"


@dataclass(frozen=True)
class Approximation:
    """`exact` in the given limits: `approx`, the `dropped` terms, and `ratio` = exact/approx, which tends to 1.

    For a relation the ratio is that of lhs/rhs; `relative_error` is ratio - 1.
    """

    exact: sp.Expr | Relation
    approx: sp.Expr | Relation
    dropped: tuple[sp.Expr, ...]
    limits: tuple[Limit, ...]
    ratio: sp.Expr
    relative_error: sp.Expr


@dataclass(frozen=True)
class _Leading:
    approx: sp.Expr
    orders: Orders
    ratio: sp.Expr
    dropped: tuple[sp.Expr, ...] = ()


def approximate(exact: sp.Expr | Relation, limits: Iterable[Limit]) -> Approximation:
    """Return the leading terms of an expression, or of both sides of a relation, as eps -> 0 in every limit.

    B*D + D*F + B*F for B << D, F: D*F, dropped B*D and B*F, relative error B/F + B/D.
    Raises UndecidedError if nothing is dropped, or if terms remain that the limits do not compare.
    """
    named = tuple(limits)
    scales = _scales(named)
    if isinstance(exact, Relation):
        left, right = _leading(exact.lhs, scales), _leading(exact.rhs, scales)
        approx: sp.Expr | Relation = Relation(left.approx, exact.op, right.approx)
        ratio, dropped = left.ratio / right.ratio, (*left.dropped, *right.dropped)
    else:
        found = _leading(exact, scales)
        approx, ratio, dropped = found.approx, found.ratio, found.dropped
    if not dropped:
        shown = "; ".join(map(str, named))
        raise UndecidedError(
            f"the limit {shown} drops nothing in {exact}", hint="name a limit in which one of its terms is small"
        )
    return Approximation(exact, approx, tuple(dict.fromkeys(dropped)), named, ratio, ratio - 1)


def _scales(limits: Sequence[Limit]) -> dict[sp.Symbol, Orders]:
    """Return the power of each limit's eps that a symbol carries."""
    scales: dict[sp.Symbol, list[sp.Rational]] = {}
    for position, limit in enumerate(limits):
        small = sp.sympify(limit.small)
        moved = {small: sp.S.One} if small.is_Symbol else {name: sp.S.NegativeOne for name in limit.large}
        for name, power in moved.items():
            if not name.is_Symbol:
                raise UndecidedError(f"the limit {limit} names no symbol that could become small or large")
            scales.setdefault(name, [sp.S.Zero] * len(limits))[position] += power
    return {name: tuple(orders) for name, orders in scales.items()} or {sp.Dummy(): ()}


def _leading(expr: sp.Expr, scales: dict[sp.Symbol, Orders]) -> _Leading:
    if not any(name in scales for name in expr.free_symbols):
        return _Leading(expr, _zero(scales), sp.S.One)
    if expr.is_Symbol:
        return _Leading(expr, scales[expr], sp.S.One)
    if expr.is_Add:
        return _of_sum(expr, scales)
    if expr.is_Mul:
        return _of_product(expr, scales)
    if expr.is_Pow and expr.exp.is_Rational:
        base = _leading(expr.base, scales)
        orders = tuple(order * expr.exp for order in base.orders)
        return _Leading(base.approx**expr.exp, orders, base.ratio**expr.exp, base.dropped)
    if isinstance(expr, MinMaxBase):
        return _of_extremum(expr, scales)
    if isinstance(expr, sp.floor | sp.ceiling):
        return _of_step(expr, scales)
    raise UndecidedError(f"{expr} is no power of eps in this limit", hint="keep its symbols out of the limit")


def _zero(scales: dict[sp.Symbol, Orders]) -> Orders:
    return (sp.S.Zero,) * len(next(iter(scales.values())))


def _of_sum(expr: sp.Expr, scales: dict[sp.Symbol, Orders]) -> _Leading:
    parts = [_leading(term, scales) for term in expr.args]
    kept, dropped = _split(expr.args, parts, expr, largest=True)
    approx = sp.Add(*(part.approx for part in kept))
    if approx == 0:
        raise UndecidedError(f"the leading terms of {expr} cancel, so its leading order is undecided")
    inner = tuple(term for part in kept for term in part.dropped)
    if not dropped and not inner:
        return _Leading(expr, kept[0].orders, sp.S.One)
    ratio = sp.Add(*(term / approx for term in expr.args)) if not approx.is_Add else expr / approx
    return _Leading(approx, kept[0].orders, ratio, (*dropped, *inner))


def _split(
    args: Sequence[sp.Expr], parts: Sequence[_Leading], whole: sp.Expr, *, largest: bool
) -> tuple[list[_Leading], tuple[sp.Expr, ...]]:
    """Separate the terms of leading order from the rest; a smaller power of eps is a larger term."""
    vectors = {part.orders for part in parts}
    best = [v for v in vectors if all(_at_most(v, w) if largest else _at_most(w, v) for w in vectors)]
    if not best:
        loose = [arg for arg, part in zip(args, parts, strict=True) if _is_extreme(part.orders, vectors, largest)]
        raise UndecidedError(
            f"the limits do not compare {' and '.join(map(str, loose))} in {whole}",
            hint="name one limit that orders them, or drop one of the limits",
        )
    kept = [part for part in parts if part.orders == best[0]]
    return kept, tuple(arg for arg, part in zip(args, parts, strict=True) if part.orders != best[0])


def _at_most(first: Orders, second: Orders) -> bool:
    return all(a <= b for a, b in zip(first, second, strict=True))


def _is_extreme(vector: Orders, vectors: set[Orders], largest: bool) -> bool:
    others = [other for other in vectors if other != vector]
    return not any(_at_most(o, vector) if largest else _at_most(vector, o) for o in others)


def _of_product(expr: sp.Expr, scales: dict[sp.Symbol, Orders]) -> _Leading:
    parts = [_leading(factor, scales) for factor in expr.args]
    orders = tuple(sum(values, sp.S.Zero) for values in zip(*(part.orders for part in parts), strict=True))
    return _Leading(
        sp.Mul(*(part.approx for part in parts)),
        orders,
        sp.Mul(*(part.ratio for part in parts)),
        tuple(term for part in parts for term in part.dropped),
    )


def _of_extremum(expr: sp.Expr, scales: dict[sp.Symbol, Orders]) -> _Leading:
    parts = [_leading(arg, scales) for arg in expr.args]
    kept, dropped = _split(expr.args, parts, expr, largest=isinstance(expr, sp.Max))
    values = list(dict.fromkeys(part.approx for part in kept))
    approx = values[0] if len(values) == 1 else expr.func(*values, evaluate=False)
    inner = tuple(term for part in kept for term in part.dropped)
    return _Leading(approx, kept[0].orders, expr / approx, (*dropped, *inner))


def _of_step(expr: sp.Expr, scales: dict[sp.Symbol, Orders]) -> _Leading:
    inner = _leading(expr.args[0], scales)
    if all(order <= 0 for order in inner.orders) and any(order < 0 for order in inner.orders):
        # a large argument: the rounding, at most one, is what is dropped
        return _Leading(inner.approx, inner.orders, expr / inner.approx, (*inner.dropped, expr - expr.args[0]))
    if all(order == 0 for order in inner.orders):
        approx = expr.func(inner.approx)
        return _Leading(approx, inner.orders, expr / approx, inner.dropped)
    if isinstance(expr, sp.ceiling) and sign_of(expr.args[0]) == 1 and all(order >= 0 for order in inner.orders):
        return _Leading(sp.S.One, _zero(scales), expr, (expr.args[0],))
    raise UndecidedError(f"{expr} has no leading term in this limit: it becomes 0")
