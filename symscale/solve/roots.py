"""The sign of a polynomial in one positive unknown whose coefficients are sums of monomials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import gcd, lcm

import sympy as sp

from symscale.errors import UndecidedError
from symscale.frozen import dataclass
from symscale.solve.collect import Powers
from symscale.solve.pieces import Piece, always
from symscale.solve.region import EVERYWHERE, Region
from symscale.solve.relation import ALWAYS, MASKS, Interval, sign_of_number
from symscale.solve.terms import compare, compare_sides, sign_of, signed_terms, tidy
from symscale.vocabulary import fresh, symbol

_HIGHEST_DEGREE = 60  # isolating the roots of such a polynomial takes a third of a second


@dataclass(frozen=True)
class Coefficient:
    """One coefficient: its terms after addition, and its sign if that is known."""

    terms: tuple[sp.Expr, ...]
    sign: int | None

    def size(self) -> sp.Expr:
        """Return the absolute value, given that the sign is known."""
        return tidy(self.terms) if self.sign == 1 else tidy([-term for term in self.terms])


Polynomial = dict[int, Coefficient]


def where(powers: Powers, op: str) -> list[Piece]:
    """Return where `sum(coefficient * unknown**power) op 0` holds for a positive unknown.

    Degree 1 and 2 (in a power of the unknown) in closed form with the conditions under which the roots exist;
    higher degrees by the count of sign changes, and by exact root isolation if the coefficients are numbers.
    Raises UndecidedError if a root exists that has no closed form.
    """
    polynomial, step = _reduced(powers)
    pieces = _solve(polynomial, op, EVERYWHERE)
    if step == 1:
        return pieces
    return [Piece(piece.region, tuple(_rescaled(i, step) for i in piece.intervals)) for piece in pieces]


def _reduced(powers: Powers) -> tuple[Polynomial, sp.Rational]:
    """Divide by the lowest power and make the powers whole numbers without a common divisor."""
    found = {power: coefficient(terms) for power, terms in powers.items()}
    found = {power: c for power, c in found.items() if c.sign != 0}
    if len(found) < 2:
        return dict(zip((0,), found.values(), strict=False)), sp.S.One
    lowest = min(found)
    shifts = [power - lowest for power in found if power != lowest]
    step = sp.Rational(gcd(*(int(s.p) for s in shifts)), lcm(*(int(s.q) for s in shifts)))
    return {int((power - lowest) / step): c for power, c in found.items()}, step


def coefficient(terms: Sequence[sp.Expr]) -> Coefficient:
    """Return the sum of terms with its sign; like terms are added, products of sums are not expanded."""
    total = terms[0] if len(terms) == 1 else sp.Add(*terms)
    parts = signed_terms(total)
    signs = {sign_of(part) for part in parts}
    if not parts:
        return Coefficient((), 0)
    if len(parts) > 1 and len(parts) < 20 and not total.free_symbols:
        return Coefficient((total,), sign_of_number(total))
    return Coefficient(parts, signs.pop() if len(signs) == 1 else sign_of(total))


def _rescaled(interval: Interval, step: sp.Rational) -> Interval:
    def root(value: sp.Expr) -> sp.Expr:
        return value if value in (0, sp.oo) else _power(value, 1 / step)

    if interval == ALWAYS:
        return interval
    return Interval(root(interval.lo), interval.lo_open, root(interval.hi), interval.hi_open)


def _power(value: sp.Expr, exponent: sp.Rational) -> sp.Expr:
    if isinstance(value, sp.Max | sp.Min):
        return value.func(*(_power(arg, exponent) for arg in value.args), evaluate=False)
    if value.is_Mul:
        return sp.Mul(*(sp.Pow(factor, exponent) for factor in value.args))
    return sp.Pow(value, exponent)


def _solve(polynomial: Polynomial, op: str, region: Region) -> list[Piece]:
    if not polynomial:
        return [Piece(region, always(MASKS[op] & 2 > 0)[0].intervals)]
    ends = (max(polynomial), min(polynomial))
    for power in ends:
        if polynomial[power].sign is None:
            return _by_sign(polynomial, power, op, region)
    if ends[0] == ends[1]:
        truth = MASKS[op] & 1 << (int(polynomial[ends[0]].sign or 0) + 1)
        return [Piece(region, (ALWAYS,) if truth else ())]
    lowest = ends[1]
    shifted = {power - lowest: c for power, c in polynomial.items()}
    return _with_known_ends(shifted, op, region)


def _with_known_ends(polynomial: Polynomial, op: str, region: Region) -> list[Piece]:
    step = gcd(*polynomial)
    if step > 1:
        smaller = {power // step: c for power, c in polynomial.items()}
        pieces = _with_known_ends(smaller, op, region)
        root = sp.Integer(step)
        return [Piece(p.region, tuple(_rescaled(i, root) for i in p.intervals)) for p in pieces]
    degree = max(polynomial)
    if degree == 1:
        return [Piece(region, _linear(polynomial, op))]
    if degree == 2:
        return _quadratic(polynomial, op, region)
    return _higher(polynomial, op, region)


def _by_sign(polynomial: Polynomial, power: int, op: str, region: Region) -> list[Piece]:
    """Distinguish the cases of a coefficient whose sign depends on the other symbols."""
    terms = polynomial[power].terms
    rest = {p: c for p, c in polynomial.items() if p != power}
    pieces: list[Piece] = []
    for relation, sign in ((">", 1), ("==", 0), ("<", -1)):
        condition = compare(terms, relation)
        inside = region.meet(condition)
        if inside is not None:
            known = rest if sign == 0 else {**rest, power: Coefficient(terms, sign)}
            pieces += _solve(known, op, inside)
    return pieces


# ---------------------------------------------------------------- sets from roots


def _between(roots: Sequence[sp.Expr], signs: Sequence[int], op: str) -> tuple[Interval, ...]:
    """Return where the sign is allowed: signs[i] is the sign between roots[i - 1] and roots[i]."""
    mask = MASKS[op]
    if not roots:
        return (ALWAYS,) if mask & 1 << (signs[0] + 1) else ()
    if mask == 2:
        return tuple(Interval(root, False, root, False) for root in roots)
    closed = bool(mask & 2)
    ends = [sp.S.Zero, *roots, sp.oo]
    found: list[Interval] = []
    for (lo, hi), sign in zip(pairwise(ends), signs, strict=True):
        if mask & 1 << (sign + 1):
            lo_open = lo != 0 and not closed
            if found and closed and found[-1].hi == lo:
                last = found.pop()
                lo, lo_open = last.lo, last.lo_open
            found.append(Interval(lo, lo_open, hi, hi is sp.oo or not closed))
    if closed:
        found += _lone_points(roots, found)
    return tuple(ALWAYS if i.lo == 0 and i.hi is sp.oo else i for i in found)


def _lone_points(roots: Sequence[sp.Expr], found: Sequence[Interval]) -> list[Interval]:
    ends = {end for interval in found for end in (interval.lo, interval.hi)}
    covered = [root for root in roots if root in ends]
    inner = any(interval.lo == 0 and interval.hi is sp.oo for interval in found)
    return [] if inner else [Interval(r, False, r, False) for r in roots if r not in covered and not _inside(r, found)]


def _inside(root: sp.Expr, found: Sequence[Interval]) -> bool:
    return any(i.lo.is_number and i.hi.is_number and i.contains(root, {}) for i in found if root.is_number)


def _linear(polynomial: Polynomial, op: str) -> tuple[Interval, ...]:
    top, constant = polynomial[1], polynomial[0]
    if top.sign == constant.sign:
        return _between((), (int(top.sign or 0),), op)
    return _between((_ratio(constant.size(), top.size()),), (int(constant.sign or 0), int(top.sign or 0)), op)


def _ratio(above: sp.Expr, below: sp.Expr) -> sp.Expr:
    return above / below


def _quadratic(polynomial: Polynomial, op: str, region: Region) -> list[Piece]:
    top, middle, constant = polynomial[2], polynomial.get(1), polynomial[0]
    sign = int(top.sign or 0)
    if constant.sign != sign:
        return [Piece(region, _between((_single_root(top, middle, constant),), (-sign, sign), op))]
    if middle is None or middle.sign == sign:
        return [Piece(region, _between((), (sign,), op))]
    if middle.sign is None:
        return _by_sign(polynomial, 1, op, region)
    return _two_roots(top, middle, constant, op, region)


def _single_root(top: Coefficient, middle: Coefficient | None, constant: Coefficient) -> sp.Expr:
    a, c = top.size(), constant.size()
    if middle is None:
        return _power(c / a, sp.S.Half)
    if middle.sign is None:
        b = tidy(middle.terms if top.sign == 1 else [-term for term in middle.terms])
        return 2 * c / (b + sp.sqrt(b**2 + 4 * a * c))
    b = middle.size()
    root = sp.sqrt(1 + 4 * a * c / b**2)
    # each form adds two positive numbers, so that no digits cancel
    return b / (2 * a) * (1 + root) if middle.sign != top.sign else 2 * c / b / (1 + root)


def _two_roots(top: Coefficient, middle: Coefficient, constant: Coefficient, op: str, region: Region) -> list[Piece]:
    sign = int(top.sign or 0)
    a, b, c = top.size(), middle.size(), constant.size()
    low, high = _pair(a, b, c)
    pieces = []
    for relation, roots, signs in (
        (">", (low, high), (sign, -sign, sign)),
        ("==", (b / (2 * a),), (sign, sign)),
        ("<", (), (sign,)),
    ):
        inside = region.meet(compare_sides([b**2], relation, [4 * a * c]))
        if inside is not None:
            pieces.append(Piece(inside, _between(roots, signs, op)))
    return _joined_at_double_root(pieces, region.meet(compare_sides([b**2], ">=", [4 * a * c])))


def _joined_at_double_root(pieces: list[Piece], inside: Region | None) -> list[Piece]:
    """Drop the case of the double root where the general form, with its two equal roots, says the same."""
    if inside is None or len(pieces) != 3:
        return pieces
    general, double, none = pieces
    if len(general.intervals) == 2 or (double.intervals and double.intervals[0].is_point):
        return [Piece(inside, general.intervals), none]
    return pieces


def _pair(a: sp.Expr, b: sp.Expr, c: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    root = sp.sqrt(1 - 4 * a * c / b**2)
    return 2 * c / b / (1 + root), b / (2 * a) * (1 + root)


# ---------------------------------------------------------------- higher degree


def _higher(polynomial: Polynomial, op: str, region: Region) -> list[Piece]:
    if not any(term.free_symbols for c in polynomial.values() for term in c.terms):
        return [Piece(region, _isolated(polynomial, op))]
    signs = [polynomial[power].sign for power in sorted(polynomial)]
    if None not in signs and len(set(signs)) == 1:
        return [Piece(region, _between((), (int(signs[0] or 0),), op))]
    if None in signs and len({s for s in signs if s is not None}) == 1:
        unclear = next(power for power in sorted(polynomial) if polynomial[power].sign is None)
        return _by_sign(polynomial, unclear, op, region)
    raise UndecidedError(
        f"a root of {_shown(polynomial)}, with u for the unknown or a power of it, has no closed form: "
        f"degree {max(polynomial)}, {_changes(signs)} sign change(s)",
        hint="give numbers for the other symbols (--set or --on a chip), or drop a term by an assumption",
    )


def _changes(signs: Sequence[int | None]) -> int:
    known = [s for s in signs if s]
    return sum(1 for a, b in pairwise(known) if a != b)


def _shown(polynomial: Polynomial) -> str:
    unknown = symbol("u")
    text = str(sp.Add(*(tidy(c.terms) * unknown**power for power, c in polynomial.items())))
    return text if len(text) < 200 else text[:200] + "…"


def _isolated(polynomial: Polynomial, op: str) -> tuple[Interval, ...]:
    if max(polynomial) > _HIGHEST_DEGREE:
        raise UndecidedError(f"degree {max(polynomial)} in the unknown is too high: at most {_HIGHEST_DEGREE}")
    unknown = fresh("u")
    whole = sp.Add(*(sp.Add(*c.terms) * unknown**power for power, c in polynomial.items()))
    poly = sp.Poly(whole, unknown, extension=True)
    if not (poly.domain.is_ZZ or poly.domain.is_QQ):
        raise UndecidedError(f"the coefficients of {whole} are not rational")
    roots = [root for root in dict.fromkeys(sp.real_roots(poly)) if sign_of_number(root) > 0]
    probe: Callable[[sp.Rational], int] = lambda value: sign_of_number(poly.eval(value))  # noqa: E731
    points = _probes(roots)
    return _between(roots, [probe(point) for point in points], op)


def _probes(roots: Sequence[sp.Expr]) -> list[sp.Rational]:
    """Return a rational number below, between and above the roots."""
    if not roots:
        return [sp.S.One]
    near = [_rational(root) for root in roots]
    inner = [(low + high) / 2 for low, high in pairwise(near)]
    return [near[0] / 2, *inner, near[-1] * 2]


def _rational(root: sp.Expr) -> sp.Rational:
    return sp.Rational(str(root.evalf(40)))
