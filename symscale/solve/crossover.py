"""Where one expression exceeds another: crossovers in one unknown, as cases."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symscale.errors import UndecidedError
from symscale.solve.lift import pieces_of
from symscale.solve.pieces import Piece, tidied
from symscale.solve.region import EVERYWHERE, Region
from symscale.solve.relation import MASKS, Case, Relation, Solution
from symscale.solve.terms import Monomial, common_factor, compare, monomial, sign_of, signed_terms
from symscale.vocabulary import expression, fresh


def crossover(lhs: sp.Expr, op: str, rhs: sp.Expr, unknown: sp.Expr, *, given: Sequence[Relation] = ()) -> Solution:
    """Return where `lhs op rhs` holds, as disjoint cases that cover all positive values of the other symbols.

    `2*B*D*F/C >= b*(B*D + D*F + B*F)/W` for B: `B >= b*C*D*F/(2*D*F*W - b*C*(D + F))` if
    `D*F/(D + F) > b*C/(2*W)`, never otherwise. `unknown` is a symbol, or a monomial such as B/X. `given` narrows the
    cases to where those relations hold; one in the unknown itself, `X >= 2`, tells signs but does not cut the
    intervals. Raises UndecidedError if a border has no closed form.
    """
    if op not in MASKS:
        raise UndecidedError(f"unknown relation {op!r}", hint="use one of <, <=, >, >=, ==")
    lhs, rhs = exact(lhs), exact(rhs)
    symbol, replaced = _target(expression(unknown))
    left, right = (lhs.xreplace(replaced), rhs.xreplace(replaced)) if replaced else (lhs, rhs)
    if any(symbol in relation.free_symbols for relation in given):
        left, right = _without_assumed_factors(left, right, given)
    pieces = pieces_of(left, op, right, symbol)
    pieces = tidied(narrowed(pieces, given) if given else pieces)
    cases = tuple(Case(conditions, piece.intervals) for piece in pieces for conditions in piece.region.relations())
    return Solution(Relation(lhs, op, rhs), unknown, cases, exact=True, assumptions=tuple(given))


def exact(expr: sp.Expr) -> sp.Expr:
    """Return the expression with decimal numbers as the rationals they print as."""
    expr = expression(expr)
    floats = expr.atoms(sp.Float)
    return expr.xreplace({number: sp.Rational(str(number)) for number in floats}) if floats else expr


def _target(unknown: sp.Expr) -> tuple[sp.Symbol, dict[sp.Expr, sp.Expr]]:
    if unknown.is_Symbol:
        return unknown, {}
    parts = monomial(unknown)
    names = [base for base in parts.powers if base.is_Symbol]
    if not names or len(names) != len(parts.powers):
        raise UndecidedError(f"{unknown} is not a symbol or a product of powers of symbols")
    lead = next((base for base in names if parts.powers[base] == 1), names[0])
    symbol = fresh("u")
    return symbol, {lead: (symbol * lead ** parts.powers[lead] / unknown) ** (1 / parts.powers[lead])}


def _without_assumed_factors(lhs: sp.Expr, rhs: sp.Expr, given: Sequence[Relation]) -> tuple[sp.Expr, sp.Expr]:
    """Divide both sides by what they share and the assumptions make positive, X - 1 for X >= 2."""
    sides = [[monomial(term) for term in signed_terms(side)] for side in (lhs, rhs)]
    shared = common_factor([*sides[0], *sides[1]]).powers if all(sides) else {}
    kept = {base: power for base, power in shared.items() if base.is_Add and _assumed_positive(base, given)}
    if not kept:
        return lhs, rhs
    divisor = Monomial(sp.S.One, kept)
    left, right = (sp.Add(*(term.over(divisor).expr() for term in side)) for side in sides)
    return left, right


def _assumed_positive(base: sp.Expr, given: Sequence[Relation]) -> bool:
    for relation in given:
        if relation.lhs.is_Symbol and relation.rhs.is_Rational and relation.op in (">", ">="):
            above = sign_of(sp.expand(base.xreplace({relation.lhs: relation.lhs + relation.rhs})))
            at = sign_of(base.xreplace({relation.lhs: relation.rhs}))
            if above == 1 and (at == 1 or relation.op == ">"):
                return True
    return False


def narrowed(pieces: Sequence[Piece], given: Sequence[Relation]) -> list[Piece]:
    """Return the pieces where the assumptions hold. Raises UndecidedError if those contradict each other."""
    assumed: Region = EVERYWHERE
    for relation in given:
        inside = assumed.meet(compare(signed_terms(relation.lhs - relation.rhs), relation.op))
        if inside is None:
            raise UndecidedError(f"the assumptions contradict each other at {relation}")
        assumed = inside
    return [Piece(_beyond(piece.region, assumed), piece.intervals) for piece in pieces if assumed.join(piece.region)]


def _beyond(region: Region, assumed: Region) -> Region:
    """Return the conditions of a region that the assumptions do not imply."""
    kept = []
    for lhs, rhs, mask in region.conditions:
        if any(assumed.meet_signs(lhs, rhs, bit) is not None for bit in (1, 2, 4) if not mask & bit):
            kept.append((lhs, rhs, mask))
    return Region(tuple(kept))
