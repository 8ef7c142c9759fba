"""Arithmetic of formulas being read: exact, bounded, and faithful to how they were written.

A product is kept as its factors until it is used, so that 1/(2*(a + b)) is not multiplied out to
1/(2*a + 2*b), and every result is refused before it grows beyond what a person could have meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import sympy as sp

from symscale.errors import NotationError
from symscale.quantity.extrema import maximum, minimum

MAX_BITS = 13_900  # just under 4,200 digits
MAX_ROOT_BITS = 1_000
MAX_POWER = 1000
MAX_FACTORS = 200
MAX_HEIGHT = 25  # of nested powers and functions; sympy's own questions about signs grow with it


class Part(NamedTuple):
    """A value being read: its factors, where it starts, and how deep powers and functions nest in it."""

    factors: tuple[sp.Expr, ...]
    position: int
    height: int = 0


def collapse(part: Part) -> sp.Expr:
    """Return the product of the factors."""
    if len(part.factors) == 1:
        return part.factors[0]
    if sum(map(_bits, part.factors)) > MAX_BITS:
        raise NotationError("this number is too large", position=part.position)
    if len(part.factors) > MAX_FACTORS and sum(map(_composite, part.factors)) > MAX_FACTORS:
        raise NotationError(f"a product has at most {MAX_FACTORS} roots and sums", position=part.position)
    result = sp.Mul(*part.factors)
    if len(part.factors) > MAX_POWER:
        _check_powers([result], part.position)
    return result


def _composite(factor: sp.Expr) -> bool:
    """Tell whether sympy compares this factor with every other one of a product."""
    base, exponent = factor.as_base_exp()
    return not (base.is_Atom and exponent.is_Integer)


def product(parts: Sequence[Part]) -> Part:
    """Return the parts multiplied."""
    factors = tuple(factor for part in parts for factor in part.factors)
    return Part(factors, parts[0].position, max(part.height for part in parts))


def negative(part: Part) -> Part:
    """Return minus the part."""
    first, *rest = part.factors
    if first.is_Rational:
        return part._replace(factors=(-first, *rest))
    return part._replace(factors=(sp.S.NegativeOne, *part.factors))


def inverse(part: Part) -> Part:
    """Return one over the part; raises NotationError for zero."""
    if any(factor.is_zero for factor in part.factors):
        raise NotationError("this divides by zero", position=part.position)
    return part._replace(factors=tuple(factor**-1 for factor in part.factors))


def total(parts: Sequence[Part]) -> Part:
    """Return the parts added."""
    if len(parts) == 1:
        return parts[0]
    terms = [collapse(part) for part in parts]
    if sum(q.bit_length() for q in {term.as_coeff_Mul()[0].q for term in terms}) > MAX_BITS:
        raise NotationError("the fractions of this sum are too many", position=parts[0].position)
    result = sp.Add(*terms)
    if max(_bits(term.as_coeff_Mul()[0]) for term in sp.Add.make_args(result)) > MAX_BITS:
        raise NotationError("this number is too large", position=parts[0].position)
    return Part((result,), parts[0].position, max(part.height for part in parts))


def power(base: Part, exponent: Part) -> Part:
    """Return base^exponent; raises NotationError beyond exponent 1000 and for roots of negative numbers."""
    raised = collapse(exponent)
    if raised.is_number and _magnitude(raised) > MAX_POWER:
        raise NotationError(f"an exponent is at most {MAX_POWER}", position=exponent.position)
    for factor in base.factors:
        _check_base(factor, raised, base.position)
    if raised.is_Integer:
        factors = [factor**raised for factor in base.factors]
    else:
        # (x*y)^r = x^r*y^r holds for positive factors only
        rest = [factor for factor in base.factors if not factor.is_positive]
        factors = [factor**raised for factor in base.factors if factor.is_positive]
        factors += [_real(sp.Mul(*rest) ** raised, base.position)] if rest else []
    _check_powers(factors, base.position)
    return _taller(Part(tuple(factors), base.position, max(base.height, exponent.height)))


def call(name: str, arguments: Sequence[Part], position: int) -> Part:
    """Return the function `name` applied; raises NotationError for a wrong number of arguments."""
    height = max(part.height for part in arguments)
    if name in ("max", "min"):
        extremum = maximum if name == "max" else minimum
        return _taller(Part((extremum(*map(collapse, arguments)),), position, height))
    if len(arguments) > (2 if name == "log" else 1):
        raise NotationError(f"`{name}` takes one argument", position=arguments[1].position)
    if name == "sqrt":
        return power(arguments[0], Part((sp.S.Half,), position))._replace(position=position)
    return _taller(Part((_FUNCTIONS[name](*arguments),), position, height))


def _taller(part: Part) -> Part:
    if part.height >= MAX_HEIGHT:
        raise NotationError(f"powers and functions are nested more than {MAX_HEIGHT} deep", position=part.position)
    return part._replace(height=part.height + 1)


def _bits(factor: sp.Expr) -> int:
    return max(factor.p.bit_length(), factor.q.bit_length()) if factor.is_Rational else 0


def _magnitude(constant: sp.Expr) -> sp.Expr:
    return abs(constant if constant.is_Rational else constant.evalf(5))


def _check_base(factor: sp.Expr, raised: sp.Expr, position: int) -> None:
    if not factor.is_Rational:
        return
    if factor.is_zero and not raised.is_positive:
        raise NotationError("zero has no such power", position=position)
    # a root makes sympy look for small prime factors
    limit = MAX_BITS if raised.is_Integer else MAX_ROOT_BITS
    if raised.is_Rational and _bits(factor) * max(abs(raised), 1) > limit:
        raise NotationError(
            "this power is too large a number", position=position, hint="write it as 10^n with n <= 1000"
        )


def _check_powers(factors: Iterable[sp.Expr], position: int) -> None:
    """Refuse a power that grew by merging, as in ((x^1000)^1000)."""
    for factor in factors:
        for piece in sp.Mul.make_args(factor):
            raised = piece.exp if isinstance(piece, sp.Pow | sp.exp) else sp.S.Zero
            if raised.is_number and _magnitude(raised) > MAX_POWER:
                raise NotationError(f"an exponent is at most {MAX_POWER}", position=position)


def _real(result: sp.Expr, position: int) -> sp.Expr:
    if result.has(sp.I, sp.zoo, sp.nan, sp.oo):
        raise NotationError(
            "this is not a real number",
            position=position,
            hint="roots and logarithms need positive arguments",
        )
    return result


def _log(argument: Part, base: Part | None = None) -> sp.Expr:
    inside = collapse(argument)
    below = collapse(base) if base else sp.E
    if inside.is_nonpositive or below.is_nonpositive or below == 1:
        raise NotationError("this logarithm does not exist", position=argument.position)
    return _real(sp.log(inside) if base is None else sp.log(inside, below), argument.position)


def _exp(argument: Part) -> sp.Expr:
    inside = collapse(argument)
    if inside.is_number and _magnitude(inside) > MAX_POWER:
        raise NotationError(f"an exponent is at most {MAX_POWER}", position=argument.position)
    return sp.exp(inside)


def _whole(kind: type[sp.Expr], argument: Part) -> sp.Expr:
    inside = collapse(argument)
    if inside.is_number and not inside.is_Rational and _magnitude(inside) > sp.Integer(10) ** 400:
        raise NotationError("this number is too large", position=argument.position)
    return kind(inside)


_FUNCTIONS: dict[str, Callable[..., sp.Expr]] = {
    "log": _log,
    "log2": lambda argument: _log(argument, Part((sp.Integer(2),), argument.position)),
    "log10": lambda argument: _log(argument, Part((sp.Integer(10),), argument.position)),
    "exp": _exp,
    "ceil": lambda argument: _whole(sp.ceiling, argument),
    "floor": lambda argument: _whole(sp.floor, argument),
}
