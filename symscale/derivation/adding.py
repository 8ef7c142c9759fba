"""A sum over an index as a step: its closed form, and the same added up term by term."""

from __future__ import annotations

import random

import sympy as sp

from symscale.derivation.points import random_point
from symscale.derivation.proof import differ, fail
from symscale.derivation.step import Prose, Step
from symscale.frozen import dataclass
from symscale.quantity.series import total
from symscale.solve.relation import Relation
from symscale.vocabulary import fresh, symbol

TERMS = (1, 2, 5)


@dataclass(frozen=True)
class AddedUp:
    """A closed form with `last` terms equals the sum of that many terms, one by one."""

    term: sp.Expr
    index: sp.Symbol
    last: sp.Symbol
    closed: sp.Expr
    limit: sp.Expr
    name: str = "added up term by term"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where the two differ, or where another number of terms was put in."""
        rng = random.Random(seed)
        for equation in equations:
            point = random_point((self.term.free_symbols | equation.rhs.free_symbols) - {self.index}, rng)
            if differ(equation.rhs.xreplace(point), self.closed.xreplace({self.last: self.limit}).xreplace(point)):
                fail("Not the sum that was added up", equation)
            for count in TERMS:
                terms = [self.term.xreplace({self.index: sp.Integer(each)}) for each in range(1, count + 1)]
                here = self.closed.xreplace({self.last: sp.Integer(count)})
                if differ(here.xreplace(point), sp.Add(*terms).xreplace(point)):
                    fail(f"Not the sum of {count} terms", equation)


def added_step(name: str, term: sp.Expr, index: sp.Symbol, last: sp.Expr) -> tuple[sp.Expr, Step]:
    """Return the sum of a term over index = 1 … last, and the step that says so. Raises UndecidedError."""
    count = fresh("n")
    closed = total(term, index, count)
    found = sp.factor(closed.xreplace({count: last}))
    said: Prose = ("Added up: ", term, " for ", index, " from 1 to ", last, ".")
    proof = AddedUp(term, index, count, closed, last)
    return found, Step("count", "A sum", said, (Relation(symbol(name), "==", found),), (proof,))
