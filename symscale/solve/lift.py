"""Relations with Max, Min, quotients, roots of sums, ceilings, powers a**n and logs as combinations of simple ones.

A Max is lifted by monotonicity: f(Max(a, b)) = Max(f(a), f(b)) where f increases, so that
f(Max(a, b)) > c is "f(a) > c or f(b) > c". Where the direction is unknown the regimes a > b, a <= b are split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import sympy as sp
from sympy.functions.elementary.miscellaneous import MinMaxBase

from symscale.errors import UndecidedError
from symscale.solve.collect import Powers, collect, times
from symscale.solve.inverse import by_inverse
from symscale.solve.pieces import Piece, always, both, either, given
from symscale.solve.relation import MASKS, MIRROR
from symscale.solve.roots import where
from symscale.solve.terms import compare, monomial, sign_of, signed_terms
from symscale.vocabulary import fresh


def pieces_of(lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Symbol) -> list[Piece]:
    """Return where `lhs op rhs` holds as disjoint pieces."""
    extremum = next(_extrema(lhs, rhs), None)
    if extremum is not None:
        return _lifted(lhs, op, rhs, extremum, unknown)
    if unknown not in lhs.free_symbols and unknown not in rhs.free_symbols:
        return _constant(lhs - rhs, op)
    found = by_inverse(lhs, op, rhs, unknown, pieces_of)
    if found is not None:
        return found
    left, right = _without_common_factors(lhs, rhs)
    factor = _common_difference(left, right, unknown)
    if factor is not None:
        return _by_sign_of(factor, left, op, right, unknown)
    root = next(_roots_of_sums(left, right, unknown), None)
    if root is not None:
        return _without_root(left, op, right, root, unknown)
    return _rational(left - right, op, unknown)


def all_of(answers: Sequence[list[Piece]]) -> list[Piece]:
    """Return the conjunction of several answers."""
    return reduce(both, answers)


def any_of(answers: Sequence[list[Piece]]) -> list[Piece]:
    """Return the disjunction of several answers."""
    return reduce(either, answers)


def _constant(difference: sp.Expr, op: str) -> list[Piece]:
    """Return where `difference op 0` holds without an unknown; at a pole it does not."""
    none = fresh("none")
    found = collect(difference, none)
    if any(sign_of(factor) != 1 for factor in found.below):
        return _rational(difference, op, none)
    return given(compare(signed_terms(sp.Add(*found.top.get(sp.S.Zero, ()))), op))


# ---------------------------------------------------------------- Max and Min


def _extrema(lhs: sp.Expr, rhs: sp.Expr) -> Iterator[MinMaxBase]:
    for side in (lhs, rhs):
        yield from (sorted(side.atoms(MinMaxBase), key=lambda node: -node.count_ops()) if side.has(MinMaxBase) else ())


def _lifted(lhs: sp.Expr, op: str, rhs: sp.Expr, node: MinMaxBase, unknown: sp.Symbol) -> list[Piece]:
    rising = _combine([_direction(lhs, node), _negative(_direction(rhs, node))])
    branches = [(_with(lhs, node, arg), _with(rhs, node, arg)) for arg in node.args]
    if rising is None:
        return _by_regime(branches, op, node, unknown)
    if op == "==":
        return both(pieces_of(lhs, ">=", rhs, unknown), pieces_of(lhs, "<=", rhs, unknown))
    answers = [pieces_of(left, op, right, unknown) for left, right in branches]
    wants_one = (
        (rising == 1) == (op in (">", ">=")) if isinstance(node, sp.Max) else (rising == 1) != (op in (">", ">="))
    )
    return any_of(answers) if wants_one else all_of(answers)


def _by_regime(
    branches: Sequence[tuple[sp.Expr, sp.Expr]], op: str, node: MinMaxBase, unknown: sp.Symbol
) -> list[Piece]:
    strict, loose = (">", ">=") if isinstance(node, sp.Max) else ("<", "<=")
    answers = []
    for position, (left, right) in enumerate(branches):
        mine = node.args[position]
        wins = [
            pieces_of(mine, strict if other < position else loose, arg, unknown)
            for other, arg in enumerate(node.args)
            if other != position
        ]
        answers.append(all_of([*wins, pieces_of(left, op, right, unknown)]))
    return any_of(answers)


def _with(expr: sp.Expr, node: sp.Expr, value: sp.Expr) -> sp.Expr:
    return expr.xreplace({node: value})


def _negative(direction: int | None) -> int | None:
    return None if direction is None else -direction


def _combine(directions: Sequence[int | None]) -> int | None:
    """0 is constant, 1 rising, -1 falling, None unknown."""
    kinds = set(directions) - {0}
    if not kinds:
        return 0
    return kinds.pop() if len(kinds) == 1 else None


def _direction(expr: sp.Expr, node: sp.Expr) -> int | None:
    """Return how `expr` changes as the value of `node` grows."""
    if expr == node:
        return 1
    if not expr.has(node):
        return 0
    if expr.is_Add or isinstance(expr, MinMaxBase | sp.ceiling | sp.floor | sp.log | sp.exp):
        return _combine([_direction(arg, node) for arg in expr.args])
    if expr.is_Mul:
        return _direction_of_product(expr, node)
    if expr.is_Pow and sign_of(expr.base) == 1 and expr.exp.is_number:
        inner = _direction(expr.base, node)
        return inner if expr.exp > 0 else _negative(inner)
    return None


def _direction_of_product(expr: sp.Expr, node: sp.Expr) -> int | None:
    signs = [sign_of(arg) for arg in expr.args]
    whole = sign_of(expr)
    found = []
    for arg, sign in zip(expr.args, signs, strict=True):
        inner = _direction(arg, node)
        if inner == 0:
            continue
        others = [s for other, s in zip(expr.args, signs, strict=True) if other is not arg]
        if inner is None or None in others:
            return None
        found.append(inner * sp.prod(others) if whole is None else inner * whole * int(sign or 1))
    return _combine(found)


# ---------------------------------------------------------------- quotients


def _rational(difference: sp.Expr, op: str, unknown: sp.Symbol) -> list[Piece]:
    found = collect(difference, unknown)
    doubtful = [found.factors[f] for f, power in found.below.items() if not _positive(found.factors[f])]
    if not doubtful:
        return where(found.top, op)
    below: Powers = {sp.S.Zero: [sp.S.One]}
    for factor, power in found.below.items():
        if not _positive(found.factors[factor]) and power % 2:
            below = times(below, found.factors[factor])
    answers = [
        both(where(below, ">"), where(found.top, op)),
        both(where(below, "<"), where(found.top, MIRROR[op])),
    ]
    return either(*answers)


def _positive(powers: Powers) -> bool:
    return all(sign_of(term) == 1 for terms in powers.values() for term in terms)


def _without_common_factors(lhs: sp.Expr, rhs: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Cancel what divides both sides and is positive: it would only raise the degree."""
    if (lhs.is_Add and rhs.is_Add) or 0 in (lhs, rhs):
        return lhs, rhs
    left, right = monomial(lhs), monomial(rhs)
    shared = [base for base in left.powers if base in right.powers and sign_of(base) == 1]
    for base in shared:
        low = min(left.powers[base], right.powers[base])
        for powers in (left.powers, right.powers):
            powers[base] -= low
            if not powers[base]:
                del powers[base]
    return (left.expr(), right.expr()) if shared else (lhs, rhs)


def _common_difference(lhs: sp.Expr, rhs: sp.Expr, unknown: sp.Symbol) -> sp.Pow | None:
    """Return a factor of both sides, with its power, that holds the unknown and may be of either sign."""
    if (lhs.is_Add and rhs.is_Add) or 0 in (lhs, rhs):
        return None
    left, right = monomial(lhs).powers, monomial(rhs).powers
    for base in left:
        if base.is_Add and base in right and unknown in base.free_symbols:
            power = min(left[base], right[base])
            if power.is_Integer:
                return sp.Pow(base, power, evaluate=False)
    return None


def _by_sign_of(factor: sp.Pow, lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Symbol) -> list[Piece]:
    """Cancel (X - 1)**power for X > 1 and for X < 1; at X = 1 both sides are 0, or neither has a value."""
    base, power = factor.base, factor.exp
    left, right = lhs / base**power, rhs / base**power
    turned = MIRROR[op] if power % 2 else op
    answers = [
        both(pieces_of(base, ">", sp.S.Zero, unknown), pieces_of(left, op, right, unknown)),
        both(pieces_of(base, "<", sp.S.Zero, unknown), pieces_of(left, turned, right, unknown)),
    ]
    if power > 0 and MASKS[op] & 2:
        answers.append(pieces_of(base, "==", sp.S.Zero, unknown))
    return any_of(answers)


# ---------------------------------------------------------------- roots of sums


def _roots_of_sums(lhs: sp.Expr, rhs: sp.Expr, unknown: sp.Symbol) -> Iterator[sp.Pow]:
    for side in (lhs, rhs):
        if not side.has(sp.Add):
            continue
        for power in side.atoms(sp.Pow):
            if power.exp.is_Rational and not power.exp.is_Integer and power.base != unknown and power.has(unknown):
                yield power


def _without_root(lhs: sp.Expr, op: str, rhs: sp.Expr, root: sp.Pow, unknown: sp.Symbol) -> list[Piece]:
    """Isolate `scale * base**(p/q)` against the rest and raise both sides to the power q."""
    mark = fresh("root")
    base, order = root.base, int(root.exp.q)
    if sign_of(base) != 1:
        raise UndecidedError(f"{base} stands under a root and may be negative")
    smallest = sp.Pow(base, sp.Rational(1, order))
    renamed = (lhs - rhs).replace(
        lambda e: e.is_Pow and e.base == base and e.exp.is_Rational and order % e.exp.q == 0,
        lambda e: sp.Pow(mark, e.exp * order),
    )
    powers = _cleared(renamed, mark, unknown)
    if not set(powers) <= {sp.S.Zero, sp.S.One} or order != 2:
        return _raised(powers, op, base, order, unknown)
    scale, rest = sp.Add(*powers.get(sp.S.One, ())), -sp.Add(*powers.get(sp.S.Zero, ()))
    if sign_of(scale) != 1 and sign_of(scale) != -1:
        raise UndecidedError(f"the sign of {scale}, the factor of {smallest}, is undecided")
    if sign_of(scale) == -1:
        scale, rest, op = -scale, -rest, MIRROR[op]
    squared = pieces_of(scale**2 * base, op, rest**2, unknown)
    if op in ("<", "<=", "=="):
        return both(pieces_of(rest, ">", sp.S.Zero, unknown), squared)
    return either(pieces_of(rest, "<=", sp.S.Zero, unknown), squared)


def _cleared(expr: sp.Expr, mark: sp.Symbol, unknown: sp.Symbol) -> Powers:
    found = collect(expr, mark)
    if any(sign_of(factor) != 1 for factor in found.below):
        raise UndecidedError(f"the sign of a denominator of {expr} is undecided")
    return found.top


def _raised(powers: Powers, op: str, base: sp.Expr, order: int, unknown: sp.Symbol) -> list[Piece]:
    if len(powers) != 2:
        raise UndecidedError(f"{base} stands under roots in {len(powers)} different powers")
    (high, top), (low, bottom) = sorted(powers.items(), reverse=True)
    left, right = sp.Add(*top), -sp.Add(*bottom)
    if sign_of(left) == -1:
        left, right, op = -left, -right, MIRROR[op]
    if sign_of(left) != 1 or sign_of(right) != 1:
        if sign_of(left) == 1 and sign_of(right) == -1:
            return always(bool(MASKS[op] & 4))
        raise UndecidedError(f"the sign of {right if sign_of(left) == 1 else left} beside a root is undecided")
    return pieces_of(left**order * base ** (high - low), op, right**order, unknown)
