"""What a number of a derivation is the value of: a formula and the values that are put into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

import sympy as sp

from symscale.derivation.filling import Cells
from symscale.derivation.measured import dimension, unit_for
from symscale.derivation.proof import Evaluated
from symscale.derivation.registry import blackboard
from symscale.derivation.step import Step
from symscale.derivation.terms import OWN, Terms
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.quantity import Dimension
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation
from symscale.vocabulary import BY_NAME


@dataclass(frozen=True)
class Setting:
    """A formula, values for some of its symbols, the name and unit of what it says, and quantities before it.

    `at` is the number of the step of a derivation that states it, from 1, and `sign` what stands between.
    """

    expr: sp.Expr
    values: Mapping[sp.Symbol, sp.Expr]
    of_what: sp.Expr = sp.S.One
    parts: Mapping[str, sp.Expr] = field(default_factory=dict)
    unit: str = ""
    at: int = 0
    sign: str = "=="

    @property
    def name(self) -> str:
        """The name of what it says, such as T_comms or B/X."""
        return to_text(self.of_what)

    @property
    def value(self) -> sp.Expr:
        """The formula with the values in it."""
        return value_at(self.expr, self.values)

    @property
    def dimension(self) -> Dimension | None:
        """The dimension of what it says, None where nothing tells it."""
        return dimension(self.of_what, self.expr, self.unit)

    @property
    def measured_in(self) -> str:
        """The unit that its number is shown in, "" where it counts or nothing tells it."""
        return unit_for(self.of_what, self.expr, self.used.values(), self.unit)

    @property
    def asked_in(self) -> str:
        """The unit in which a question wants its number, and a key has it: FLOPs are counted, and named."""
        unit = self.measured_in
        return {"1/B": "FLOP/B", "1/s": "FLOP/s", "1": ""}.get(unit, unit)

    @property
    def used(self) -> dict[sp.Symbol, sp.Expr]:
        """The values of symbols that the formula has."""
        return {name: self.values[name] for name in sorted(self.expr.free_symbols & self.values.keys(), key=BY_NAME)}

    @property
    def without_values(self) -> Setting:
        """The setting as a formula alone."""
        return replace(self, values={}, parts={})

    def of(self, expr: sp.Expr) -> Setting:
        """Return the setting with another formula."""
        return replace(self, expr=expr)

    def put(self, values: Mapping[sp.Symbol, sp.Expr]) -> Setting:
        """Return the setting with other values for symbols."""
        return replace(self, values={**self.values, **values})

    def scaled(self, factor: sp.Expr) -> Setting:
        """Return the setting with its result times a factor."""
        return self.of(self.expr * factor)


def stated(id: str, quantity: sp.Expr, more: Mapping[sp.Symbol, sp.Expr], terms: Terms = OWN) -> Iterator[Setting]:
    """Yield how every equation of a derivation that states the quantity comes to its right side.

    A number is that of the formula it was put into, with the values that went in; `more` are values besides.
    """
    return (each for each in everything(id, more, terms) if sp.expand(each.of_what - quantity) == 0)


def everything(id: str, more: Mapping[sp.Symbol, sp.Expr] | None = None, terms: Terms = OWN) -> Iterator[Setting]:
    """Yield how every equation of a derivation comes to its right side, in the order of the steps."""
    parts: dict[str, sp.Expr] = {}
    for number, step in enumerate(blackboard(id, terms).steps, start=1):
        for equation in step.equations:
            found = behind(step, equation, more or {})
            yield replace(found, parts=dict(parts), at=number)
            parts[found.name] = found.expr


def behind(step: Step, equation: Relation, more: Mapping[sp.Symbol, sp.Expr]) -> Setting:
    """Return the formula and the values behind the right side of one of a step's equations."""
    at = step.equations.index(equation)
    unit = step.units[at] if step.units else ""
    found = Setting(equation.rhs, more, equation.lhs, unit=unit, sign=equation.op)
    for proof in step.proofs:
        if isinstance(proof, Evaluated):
            return replace(found, expr=proof.expressions[at], values={**dict(proof.values), **more})
        if isinstance(proof, Cells):
            expr, values = proof.parts[at]
            return replace(found, expr=expr, values={**dict(values), **more})
    return found
