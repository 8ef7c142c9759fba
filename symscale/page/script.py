"""Expressions as JavaScript, by sympy's printer: calls of an arithmetic `a`, to count exactly or in floats.

sympy prints 4*B/C as `4*B/C`, which loses the digits of 459000000000000000001, and whether a number is exact. Here it
is `a.div(a.mul(a.n(4n),v[0]),v[1])`: `v` holds the values of the inputs, whole numbers are BigInts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from symscale.errors import SymscaleError

if TYPE_CHECKING:
    from sympy.printing.jscode import JavascriptCodePrinter


def javascript(expr: sp.Expr, places: Mapping[sp.Symbol, int]) -> str:
    """Return an expression in calls of the arithmetic `a`; a symbol is the value `v[place]`.

    Raises SymscaleError for a symbol without a place, and for a function that the arithmetic lacks.
    """
    return str(_printer(places)._print(expr))


def supported(expr: sp.Expr) -> bool:
    """Say whether the page's arithmetic has everything in a formula."""
    known = (sp.Add, sp.Mul, sp.Pow, sp.Max, sp.Min, sp.floor, sp.ceiling, sp.log, sp.exp, sp.Rational, sp.Float)
    atoms = (sp.Symbol, type(sp.E), type(sp.oo))
    return all(isinstance(each, (*known, *atoms)) for each in sp.preorder_traversal(expr))


def _printer(places: Mapping[sp.Symbol, int]) -> JavascriptCodePrinter:
    # sympy's printers are slow to import, and only pages need this one
    from sympy.printing.jscode import JavascriptCodePrinter

    class Printer(JavascriptCodePrinter):  # type: ignore[misc]
        def called(self, name: str, parts: Sequence[Any]) -> str:
            return f"a.{name}({','.join(map(self._print, parts))})"

        def _print_Symbol(self, expr: sp.Symbol) -> str:
            if expr not in places:
                raise SymscaleError(f"{expr} is no input of this page.")
            return f"v[{places[expr]}]"

        def _print_Integer(self, expr: sp.Integer) -> str:
            return f"a.n({expr.p}n)"

        _print_One = _print_Zero = _print_NegativeOne = _print_Integer

        def _print_Rational(self, expr: sp.Rational) -> str:
            return f"a.q({expr.p}n,{expr.q}n)"

        _print_Half = _print_Rational

        def _print_Float(self, expr: sp.Float) -> str:
            near = sp.Rational(expr)
            return f"a.near({near.p}n,{near.q}n)"

        def _print_Exp1(self, expr: sp.Expr) -> str:
            return "a.exp(a.n(1n))"

        def _print_Infinity(self, expr: sp.Expr) -> str:
            return "a.oo"

        def _print_Add(self, expr: sp.Add, order: str | None = None) -> str:
            return self.called("add", expr.args)

        def _print_Mul(self, expr: sp.Mul) -> str:
            # roots of one index are taken at once: sqrt(2)*sqrt(8) is 4, exactly
            above, below = [], []
            roots: dict[int, list[sp.Expr]] = {}
            for factor in expr.args:
                base, exponent = factor.as_base_exp()
                if exponent.is_Rational and not exponent.is_Integer:
                    roots.setdefault(exponent.q, []).append(sp.Pow(base, exponent.p, evaluate=False))
                elif exponent.is_number and exponent.is_negative:
                    below.append(factor.base if exponent == -1 else sp.Pow(base, -exponent, evaluate=False))
                elif factor.is_Rational and factor.q != 1:
                    above += [sp.Integer(factor.p)] * (factor.p != 1)
                    below.append(sp.Integer(factor.q))
                else:
                    above.append(factor)
            logs = [each for each in above if isinstance(each, sp.log)]
            bases = [each for each in below if isinstance(each, sp.log)]
            # log(2)/log(2) is 1, exactly
            pairs = list(zip(logs, bases, strict=False))
            above = [each for each in above if each not in logs[: len(pairs)]]
            below = [each for each in below if each not in bases[: len(pairs)]]
            above += [sp.log(one.args[0], other.args[0], evaluate=False) for one, other in pairs]
            parts = [*map(self._print, above), *(self.root(each, index) for index, each in roots.items())]
            top = "a.n(1n)" if not parts else parts[0] if len(parts) == 1 else f"a.mul({','.join(parts)})"
            if not below:
                return top
            return f"a.div({top},{self._print(below[0]) if len(below) == 1 else self.called('mul', below)})"

        def root(self, powers: Sequence[sp.Expr], index: int) -> str:
            under = self._print(powers[0]) if len(powers) == 1 else self.called("mul", powers)
            return f"a.root({under},{index}n)"

        def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
            base, exponent = expr.args
            if exponent.is_Integer:
                return self._print(base) if exponent == 1 else f"a.power({self._print(base)},{exponent.p}n)"
            if exponent.is_Rational:
                return self.root([sp.Pow(base, exponent.p, evaluate=False)], exponent.q)
            return self.called("raised", (base, exponent))

        def _print_Max(self, expr: sp.Max) -> str:
            return self.called("max", expr.args)

        def _print_Min(self, expr: sp.Min) -> str:
            return self.called("min", expr.args)

        def _print_floor(self, expr: sp.floor) -> str:
            return self.called("floor", expr.args)

        def _print_ceiling(self, expr: sp.ceiling) -> str:
            return self.called("ceil", expr.args)

        def _print_log(self, expr: sp.log) -> str:
            return self.called("log" if len(expr.args) == 1 else "logs", expr.args)

        def _print_exp(self, expr: sp.exp) -> str:
            return self.called("exp", expr.args)

        def _not_supported(self, expr: sp.Expr) -> str:
            raise SymscaleError(f"A page cannot count with {expr.func.__name__}.")

        emptyPrinter = _print_Function = _not_supported

    return Printer()
