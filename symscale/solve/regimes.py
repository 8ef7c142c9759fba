"""Which term of a sum, or which argument of a Max, is the largest, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import sympy as sp
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve.lift import pieces_of
from symscale.solve.region import EVERYWHERE, Region, lean
from symscale.solve.relation import ALWAYS, OPERATORS, Relation
from symscale.solve.terms import Monomial, common_factor, compare, monomial, sign_of, signed_terms
from symscale.vocabulary import fresh


@dataclass(frozen=True)
class Regime:
    """`term` is the largest where all `conditions` hold; the whole lies between term and factor*term there."""

    term: sp.Expr
    conditions: tuple[Relation, ...]
    factor: int = 1


def regimes(expr: sp.Expr) -> tuple[Regime, ...]:
    """Return where each argument of a Max is the largest, as closed-form conditions without redundant ones.

    The regimes cover all positive values and meet only on their borders. Max may carry a factor, or stand in a sum.
    """
    alternatives = _alternatives(expr)
    if len(alternatives) < 2:
        raise UndecidedError(f"{expr} holds no Max, so it has no regimes")
    return _largest(alternatives, 1)


def dominant(expr: sp.Expr) -> tuple[Regime, ...]:
    """Return where each term of a sum of k positive terms is the largest; the sum is at most k times it."""
    terms = signed_terms(sp.expand_mul(expr))
    if any(sign_of(term) != 1 for term in terms):
        raise UndecidedError(f"{expr} has a term that is not positive, so no term bounds it")
    return _largest(terms, len(terms))


def _largest(terms: Sequence[sp.Expr], factor: int) -> tuple[Regime, ...]:
    found = []
    for term in terms:
        interior: Region | None = EVERYWHERE
        closed: Region | None = EVERYWHERE
        for other in terms:
            if other is not term:
                interior, closed = _met(interior, term, ">", other), _met(closed, term, ">=", other)
            if interior is None or closed is None:
                break
        if interior is not None and closed is not None:
            conditions = lean(closed).conditions
            found.append(Regime(term, tuple(Relation(a, OPERATORS[mask], b) for a, b, mask in conditions), factor))
    return tuple(found)


def _met(region: Region | None, term: sp.Expr, op: str, other: sp.Expr) -> Region | None:
    return None if region is None else region.meet(compare(signed_terms(term - other), op))


def _alternatives(expr: sp.Expr) -> tuple[sp.Expr, ...]:
    if isinstance(expr, sp.Max):
        return tuple(inner for arg in expr.args for inner in _alternatives(arg))
    if not expr.has(sp.Max):
        return (expr,)
    if expr.is_Add or (expr.is_Mul and all(sign_of(arg) == 1 for arg in expr.args)):
        choices = [_alternatives(arg) for arg in expr.args]
        return tuple(dict.fromkeys(expr.func(*chosen) for chosen in product(*choices)))
    raise UndecidedError(f"{expr} is not a Max, nor a sum or product with Max of positive parts")


# ---------------------------------------------------------------- Max without dominated arguments


def simplify_max(expr: sp.Expr, at_least_one: Iterable[sp.Symbol] = ()) -> sp.Expr:
    """Return the expression with common factors taken out of each Max and Min, and arguments that never win
    dropped.

    Max(n, log(n, 2)) is n; Max((X - 1)/X, 1) is 1; Max(c*a, c*b) is c*Max(a, b). Symbols named in `at_least_one`
    are taken to be >= 1, all others > 0.
    """
    nodes = sorted(expr.atoms(MinMaxBase), key=lambda node: node.count_ops())
    if not nodes:
        return expr
    names = tuple(at_least_one)
    return expr.xreplace({nodes[0]: _simplified(nodes[0], names)}) if len(nodes) == 1 else _each(expr, nodes, names)


def _each(expr: sp.Expr, nodes: Sequence[MinMaxBase], names: tuple[sp.Symbol, ...]) -> sp.Expr:
    done: dict[sp.Expr, sp.Expr] = {}
    for node in nodes:
        args = [arg.xreplace(done) for arg in node.args]
        done[node] = _simplified(node.func(*args, evaluate=False), names)
    return expr.xreplace(dict(reversed(done.items())))


def _simplified(node: sp.Expr, names: tuple[sp.Symbol, ...]) -> sp.Expr:
    if not isinstance(node, MinMaxBase):
        return node
    kept: list[sp.Expr] = []
    wins = ">=" if isinstance(node, sp.Max) else "<="
    for arg in node.args:
        if any(_always(other, wins, arg, names) for other in kept):
            continue
        kept = [other for other in kept if not _always(arg, wins, other, names)]
        kept.append(arg)
    return largest(*kept) if wins == ">=" else smallest(*kept)


def _always(left: sp.Expr, op: str, right: sp.Expr, names: tuple[sp.Symbol, ...]) -> bool:
    if names and _always(left, op, right, ()):
        return True
    moved = {name: name + 1 for name in names}
    left, right = left.xreplace(moved), right.xreplace(moved)
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    try:
        pieces = pieces_of(left, op, right, symbols[0] if symbols else fresh("none"))
    except UndecidedError:
        return False
    return all(piece.intervals == (ALWAYS,) for piece in pieces)


def largest(*args: sp.Expr) -> sp.Expr:
    """Return the Max of positive expressions with their common factor taken out; no comparison is tried."""
    return _factored(sp.Max, args)


def smallest(*args: sp.Expr) -> sp.Expr:
    """Return the Min of positive expressions with their common factor taken out; no comparison is tried."""
    return _factored(sp.Min, args)


def _factored(kind: type[MinMaxBase], args: Sequence[sp.Expr]) -> sp.Expr:
    found = list(dict.fromkeys(args))
    if len(found) == 1:
        return found[0]
    parts = [monomial(arg) for arg in found]
    if any(sign_of(arg) != 1 for arg in found):
        return kind(*found, evaluate=False)
    shared = _shared(parts)
    return shared.expr() * kind(*(part.over(shared).expr() for part in parts), evaluate=False)


def _shared(parts: Sequence[Monomial]) -> Monomial:
    # 8*D*F*Max(B/(X*C), 1/W), not 8*D*F/(C*W*X)*Max(B*W, C*X): only what every argument shows goes outside
    whole = common_factor(parts)
    powers = {}
    for base in parts[0].powers:
        found = [part.powers.get(base, sp.S.Zero) for part in parts]
        if all(power > 0 for power in found):
            powers[base] = min(found)
        elif all(power < 0 for power in found):
            powers[base] = max(found)
    return Monomial(whole.coefficient, powers)
