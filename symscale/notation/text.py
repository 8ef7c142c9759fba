"""Expressions -> text of our own grammar: what is printed is read back as the same expression."""

from __future__ import annotations

import re
from collections.abc import Mapping

import sympy as sp

from symscale.frozen import dataclass
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.notation.shape import Factor, LogBase, Root, fraction, signed_sum, terms

_DEFAULT = Order()
_NAMES = {
    sp.Max: "max",
    sp.Min: "min",
    sp.ceiling: "ceiling",
    sp.floor: "floor",
    sp.log: "log",
    sp.exp: "exp",
}


def to_text(expr: sp.Expr, order: Order | None = None, names: Mapping[str, str] | None = None) -> str:
    """Return the expression in our own grammar: `2*B*D*F/C`, `sqrt(B*N/F)`, `max(a, b)`.

    `names` writes a symbol as something else, such as its value: `2*8192*D*F/1.97e14`.

    `parse_formula(to_text(e)).expr == e` for sums, products, powers, Max, Min, ceiling, floor, log, exp.
    """
    return _Printer(order or _DEFAULT, names or {}).sum(expr)


def relation_text(lhs: sp.Expr, op: str, rhs: sp.Expr, order: Order | None = None) -> str:
    """Return `lhs op rhs` in our own grammar."""
    return f"{to_text(lhs, order)} {op} {to_text(rhs, order)}"


def integer_text(value: int) -> str:
    """Return a whole number, a long round one with an exponent: 1.97e14."""
    split = round_parts(value)
    return str(value) if split is None else f"{split[0]}e{split[1]}"


def round_parts(value: int) -> tuple[str, int] | None:
    """Return mantissa and exponent of a round number (10^5 or more, at most six digits), else None."""
    digits = str(abs(value))
    kept = digits.rstrip("0")
    if len(digits) < 6 or len(kept) > 6 or len(digits) - len(kept) < 3:
        return None
    mantissa = kept if len(kept) == 1 else f"{kept[0]}.{kept[1:]}"
    return ("-" if value < 0 else "") + mantissa, len(digits) - 1


@dataclass(frozen=True)
class _Printer:
    order: Order
    names: Mapping[str, str]

    def name(self, name: str) -> str:
        written = self.names.get(name, name)
        return written if re.fullmatch(r"[\w.]+", written) else f"({written})"

    def sum(self, expr: sp.Expr) -> str:
        if not expr.is_Add:
            return self.product(expr)
        return signed_sum(self.product(term) for term in terms(expr, self.order))

    def product(self, expr: sp.Expr) -> str:
        if expr.is_Symbol:
            return self.name(expr.name)
        if expr.is_Integer:
            return integer_text(int(expr))
        if not (expr.is_Mul or expr.is_Pow or expr.is_Rational):
            return self.atom(expr)
        shape = fraction(expr, self.order)
        above = [self.atom(factor) for factor in shape.above]
        below = [self.atom(factor) for factor in shape.below]
        sign = "-" if shape.negative else ""
        return sign + _over(shape.p, shape.q, above, below)

    def atom(self, factor: Factor) -> str:
        """Return a factor, in brackets if it would fall apart inside a product or as the base of a power."""
        if isinstance(factor, Root):
            if len(factor.above) == 1 and not factor.below and factor.p == factor.q == 1:
                return f"sqrt({self.sum(factor.above[0])})"
            sides = [[self.atom(base) for base in side] for side in (factor.above, factor.below)]
            return f"sqrt({_over(factor.p, factor.q, *sides)})"
        if isinstance(factor, LogBase):
            return f"log({self.sum(factor.argument)}, {self.sum(factor.base)})"
        if factor.is_Symbol:
            return self.name(factor.name)
        if factor.is_Integer and factor >= 0:
            return integer_text(int(factor))
        if factor is sp.E:
            return "exp(1)"
        if factor.is_Pow and not isinstance(factor, sp.exp):
            return self.power(factor)
        name = _NAMES.get(factor.func)
        if name is not None:
            return f"{name}({', '.join(self.sum(argument) for argument in self.arguments(factor))})"
        if factor.is_Add or factor.is_Mul or factor.is_Rational:
            return f"({self.sum(factor)})"
        if factor.is_Float:
            return format_number(sp.Rational(str(factor)), 6, "ascii")
        return str(factor)

    def arguments(self, factor: sp.Expr) -> list[sp.Expr]:
        if isinstance(factor, sp.Max | sp.Min):
            return terms(factor, self.order)
        return list(factor.args)

    def power(self, factor: sp.Expr) -> str:
        base, exponent = factor.args
        if exponent == sp.S.Half:
            return f"sqrt({self.sum(base)})"
        if exponent.as_coeff_Mul()[0].is_negative:
            return f"({self.product(factor)})"
        below = f"({self.atom(base)})" if base.is_Pow else self.atom(base)
        raised = self.sum(exponent)
        bare = exponent.is_Symbol or exponent.is_Integer
        return f"{below}**{raised}" if bare else f"{below}**({raised})"


def _over(p: int, q: int, above: list[str], below: list[str]) -> str:
    top = ([integer_text(p)] if p != 1 or not above else []) + above
    bottom = ([integer_text(q)] if q != 1 else []) + below
    if not bottom:
        return "*".join(top)
    under = bottom[0] if len(bottom) == 1 else f"({'*'.join(bottom)})"
    return f"{'*'.join(top)}/{under}"
