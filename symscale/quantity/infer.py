"""Dimensions of expressions: checked exactly, and solved for the symbols whose unit nobody stated.

sympy's own check skips addends with free symbols; this one compares every addend and both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

import sympy as sp

from symscale.errors import UnitError
from symscale.frozen import dataclass
from symscale.quantity.dimension import PURE, Dimension
from symscale.quantity.unit import parse_unit
from symscale.vocabulary import TABLE

Show = Callable[[sp.Expr], str]
Equation = tuple[sp.Expr, sp.Expr]


@dataclass(frozen=True)
class _Form:
    """A known dimension times unknown ones, each to a power: the logarithm is linear."""

    known: Dimension = PURE
    unknown: tuple[tuple[str, Fraction], ...] = ()

    def times(self, other: _Form, power: Fraction = Fraction(1)) -> _Form:
        if not other.unknown:
            return _Form(self.known * other.known**power, self.unknown) if other.known else self
        powers = dict(self.unknown)
        for name, exponent in other.unknown:
            powers[name] = powers.get(name, Fraction(0)) + exponent * power
        return _Form(self.known * other.known**power, tuple((n, e) for n, e in powers.items() if e))


_ONE = _Form()


@lru_cache(maxsize=1)
def table_dimensions() -> dict[str, Dimension]:
    """Return the dimension of every symbol of the vocabulary."""
    return {name: parse_unit(entry.unit).dimension for name, entry in TABLE.items()}


def dimension_of(expr: sp.Expr, known: Mapping[str, Dimension], *, show: Show = str) -> Dimension:
    """Return the dimension of `expr`; names missing in `known` are pure numbers.

    Raises UnitError naming both addends if two of them differ, or the argument of a function that is not a
    pure number.
    """
    system = _System(known, show, strict=True)
    return system.form(expr).known


def check(lhs: sp.Expr, rhs: sp.Expr, known: Mapping[str, Dimension], *, show: Show = str) -> Dimension:
    """Return the common dimension of both sides; raises UnitError naming both sides if they differ."""
    system = _System(known, show, strict=True)
    system.require(system.form(lhs), system.form(rhs), lhs, rhs, "compare")
    return system.form(lhs).known


def infer(equations: Iterable[Equation], known: Mapping[str, Dimension], *, show: Show = str) -> dict[str, Dimension]:
    """Return the dimension of every symbol, solved from the equations; an ambiguous one is a pure number.

    `known` may fix any symbol (the vocabulary's are in `table_dimensions()`). Raises UnitError for equations
    that no choice of dimensions satisfies.
    """
    system = _System(known, show, strict=False)
    names: set[str] = set()
    for lhs, rhs in equations:
        system.require(system.form(lhs), system.form(rhs), lhs, rhs, "equate")
        names |= {s.name for s in lhs.free_symbols | rhs.free_symbols}
    return {name: system.solved(name) for name in sorted(names)}


class _System:
    """The known dimensions and the linear equations between unknown ones found so far."""

    def __init__(self, known: Mapping[str, Dimension], show: Show, *, strict: bool) -> None:
        self.known = known
        self.show = show
        self.strict = strict
        self.pivots: dict[str, _Form] = {}
        self.forms: dict[sp.Expr, _Form] = {}

    def form(self, expr: sp.Expr) -> _Form:
        found = self.forms.get(expr)
        if found is None:
            found = self.forms[expr] = self.derive(expr)
        return found

    def derive(self, expr: sp.Expr) -> _Form:
        if expr.is_Symbol:
            return self.named(expr.name)
        if expr.is_number:
            return _ONE
        if expr.is_Mul:
            return self.multiplied(expr)
        if expr.is_Pow:
            return self.power(expr)
        if expr.is_Add or isinstance(expr, sp.Max | sp.Min):
            return self.alike(expr)
        if isinstance(expr, sp.Piecewise):
            raise UnitError(f"`{self.text(expr)}` has no dimension of its own")
        for argument in expr.args:
            self.require(self.form(argument), _ONE, argument, expr, "function")
        return _ONE

    def named(self, name: str) -> _Form:
        if name in self.known:
            return _Form(self.known[name])
        return _ONE if self.strict else _Form(PURE, ((name, Fraction(1)),))

    def multiplied(self, expr: sp.Expr) -> _Form:
        form = _ONE
        for factor in expr.args:
            form = form.times(self.form(factor))
        return form

    def power(self, expr: sp.Expr) -> _Form:
        base, exponent = expr.args
        if exponent.is_Rational:
            return _ONE.times(self.form(base), Fraction(int(exponent.p), int(exponent.q)))
        for argument in (base, exponent):
            self.require(self.form(argument), _ONE, argument, expr, "function")
        return _ONE

    def alike(self, expr: sp.Expr) -> _Form:
        first, *rest = sorted(expr.args, key=lambda term: term.is_number)
        form = self.form(first)
        word = "add" if expr.is_Add else "compare"
        for term in rest:
            if not term.is_zero:
                self.require(form, self.form(term), first, term, word)
        return form

    def require(self, left: _Form, right: _Form, a: sp.Expr, b: sp.Expr, word: str) -> None:
        """Note that both forms are equal; raises UnitError if they cannot be."""
        if left == right:
            return
        difference = self.reduced(left.times(right, Fraction(-1)))
        if not difference.unknown:
            if difference.known:
                raise self.error(left, right, a, b, word)
            return
        name, exponent = difference.unknown[-1]
        rest = _Form(difference.known, difference.unknown[:-1])
        self.pivots[name] = _ONE.times(rest, -1 / exponent)

    def reduced(self, form: _Form) -> _Form:
        """Return the form with every solved symbol replaced."""
        while any(name in self.pivots for name, _ in form.unknown):
            result = _Form(form.known)
            for name, exponent in form.unknown:
                result = result.times(self.pivots.get(name, _Form(PURE, ((name, Fraction(1)),))), exponent)
            form = result
        return form

    def solved(self, name: str) -> Dimension:
        return self.reduced(self.named(name)).known

    def error(self, left: _Form, right: _Form, a: sp.Expr, b: sp.Expr, word: str) -> UnitError:
        one, other = self.reduced(left).known, self.reduced(right).known
        if word == "function":
            return UnitError(
                f"`{self.text(a)}` is {_kind(one)}, but `{self.text(b)}` needs a pure number there",
                hint="divide it by a quantity of the same dimension",
            )
        joint = "to" if word == "add" else "with"
        return UnitError(
            f"cannot {word} `{self.text(a)}` ({_kind(one)}) {joint} `{self.text(b)}` ({_kind(other)})",
            hint=f"their ratio is in {one / other}: a factor is missing or on the wrong side",
        )

    def text(self, expr: sp.Expr) -> str:
        shown = self.show(expr)
        return shown if len(shown) <= 60 else shown[:57] + "..."


def _kind(dimension: Dimension) -> str:
    return f"in {dimension}" if dimension else "a pure number"
