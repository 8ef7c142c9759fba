"""Derivations as data: an ordered list of steps, each with its equations, its reason and its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

import sympy as sp

from symscale.derivation.sheet import Sheet
from symscale.errors import StepError, SymscaleError
from symscale.frozen import dataclass
from symscale.notation.order import Order
from symscale.shown import Printed, Shown
from symscale.solve.relation import Relation

if TYPE_CHECKING:
    from symscale.derivation.entered import Entered
    from symscale.derivation.figure import Figure
    from symscale.derivation.terms import Terms

# Words with formulas among them, which each format prints in its own way.
Prose: TypeAlias = str | tuple[str | sp.Expr | Relation, ...]

KINDS = ("given", "count", "substitute", "approximate", "solve", "optimise", "evaluate", "table", "remark", "plot")


class Proof(Protocol):
    """What makes a step true; `verify` checks the step's equations by another way and raises StepError."""

    @property
    def name(self) -> str:
        """What is checked, in a few words."""

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError unless the equations hold."""


@dataclass(frozen=True)
class Step(Shown):
    """One step: its kind, a title, the reason in words, equations, lines of notation, and proofs.

    `conditions` are those under which the equations hold; `units` stand beside equations (one each, or none). In a
    table each equation is the cell where `sheet` has its place.
    """

    kind: str
    title: str
    reason: Prose
    equations: tuple[Relation, ...]
    proofs: tuple[Proof, ...]
    lines: tuple[Prose, ...] = ()
    conditions: tuple[Relation, ...] = ()
    units: tuple[str, ...] = ()
    sheet: Sheet | None = None
    figure: Figure | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title[:1].upper() + self.title[1:])

    @cached_property
    def checks(self) -> tuple[str, ...]:
        """What has been checked: the proofs, which run once, before the step is printed. Raises StepError."""
        return verify(self)


@dataclass(frozen=True)
class Derivation(Printed):
    """A chain of steps under a title, with the order its formulas are printed in.

    `entered` is what its author has put in; `again` writes it on other terms.
    """

    title: str
    steps: tuple[Step, ...]
    order: Order = field(default_factory=Order)
    source: str = ""
    entered: tuple[Entered, ...] = field(default=(), compare=False, repr=False)
    again: Callable[[Terms], Derivation] | None = field(default=None, compare=False, repr=False)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The plots among the steps."""
        return tuple(each.figure for each in self.steps if each.figure is not None)


# What keeps a check from being made, by what Python calls it.
_UNDONE: tuple[tuple[type[Exception], str], ...] = (
    (ZeroDivisionError, "something is divided by zero"),
    (ArithmeticError, "a number is too large"),
    (ValueError, "a root or a logarithm is of a number that has none"),
    (TypeError, "what it compares are not real numbers"),
)


def verify(step: Step, seed: int = 0) -> tuple[str, ...]:
    """Run every proof of a step and return what was checked. A step without a proof is a failure."""
    if not step.proofs:
        raise StepError(f"The step {step.title!r} has no check.")
    for proof in step.proofs:
        try:
            proof.verify(step.equations, seed)
        except SymscaleError:
            raise
        except (ArithmeticError, TypeError, ValueError) as error:
            why = next(said for kind, said in _UNDONE if isinstance(error, kind))
            raise StepError(f"The check of the step {step.title!r} cannot be made: {why}.") from error
    return tuple(proof.name for proof in step.proofs)


def checked(derivation: Derivation) -> tuple[Step, ...]:
    """Return the steps of a derivation once all their proofs have run. Raises StepError if one fails."""
    return tuple(step for step in derivation.steps if step.checks)


def doubled(step: Step, at: int) -> Step:
    """Return the step with the right side of one equation doubled: a mutant its proofs must catch."""
    wrong = replace(step.equations[at], rhs=2 * step.equations[at].rhs)
    return replace(step, equations=(*step.equations[:at], wrong, *step.equations[at + 1 :]))
