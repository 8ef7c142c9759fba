"""Verbs of the blackboard for teaching: what a reader is asked, and which chip and values an author puts in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import sympy as sp

from symscale.derivation.crossover import Crossover
from symscale.derivation.entered import Entered
from symscale.derivation.layer import Layer
from symscale.derivation.minimum import Optimised
from symscale.derivation.step import Step
from symscale.derivation.terms import Kinds, Terms
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.machine import Machine

#: What a question may be about: a crossover, an optimum, a program (its collectives), a formula, or a name.
About: TypeAlias = Crossover | Optimised | Layer | sp.Expr | str
#: What a variant may put in: whole numbers or numbers (a, b) from a to b, or one of a list; () keeps what there is.
Range: TypeAlias = Sequence[int | str]


@dataclass(frozen=True)
class Ask:
    """A question to a reader, what it is about, hints, and how far its numbers may be varied (False: not at all)."""

    question: str
    about: About
    hints: tuple[str, ...] = ()
    vary: tuple[tuple[str, tuple[int | str, ...], bool], ...] | None = ()


class Asking:
    """The part of a blackboard that turns a derivation into an exercise."""

    steps: list[Step]
    terms: Terms
    asks: list[Ask]
    entered: list[Entered]
    layer: Layer | None
    kinds: Kinds

    def ask(
        self,
        question: str,
        about: About,
        *,
        hints: Sequence[str] = (),
        vary: Mapping[str, Range] | bool = True,
    ) -> None:
        """Ask a reader for what has been derived: a crossover, an optimum, a program's collectives, or a quantity.

        Where the question has {D}, {chip} or {dtype} in it, what is put in for them stands there. `hints` are given
        one by one. `vary` limits what a variant puts in: {"D": (1024, 16384)} a range, {"on": ["tpu-v5e", "tpu-v5p"]}
        one of these, {"F": ()} nothing else; False allows no variants.
        Raises SymscaleError for a question without words.
        """
        if not question.strip():
            raise SymscaleError("A question needs words.", hint='Write d.ask("How large must the batch be?", batch).')
        limits = vary.items() if isinstance(vary, Mapping) else ()
        kept = tuple((name, tuple(each), isinstance(each, tuple)) for name, each in limits)
        self.asks.append(Ask(" ".join(question.split()), about, tuple(hints), None if vary is False else kept))

    def put(
        self, on: str | Machine | None, values: Mapping[str, str | int | sp.Expr] | None
    ) -> tuple[Machine | None, dict[sp.Symbol, sp.Expr]]:
        """Return the chip and the values that a verb is given, on the terms of the derivation, and note them."""
        chip = self.terms.chip(on)
        self.entered.append(Entered(len(self.steps), on, chip, tuple((values or {}).items()), layer=self.layer))
        return chip, {**self.terms.given(values, on, self.kinds), **self.terms.figures(chip, self.layer)}

    def lay_out(
        self, on: str | Machine | None, mesh: Mapping[str, int | sp.Expr] | None
    ) -> tuple[Machine | None, dict[str, sp.Expr]]:
        """Return the chip and the mesh of a program, on the terms of the derivation, and note them."""
        chip = self.terms.chip(on)
        self.entered.append(Entered(len(self.steps), on, chip, tuple((mesh or {}).items()), mesh=True))
        return chip, {str(name): size for name, size in self.terms.given(mesh).items()}
