"""Verbs of the blackboard that draw: curves over a variable, rooflines, maps of regimes, latency against throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import sympy as sp

from symscale.derivation.crossover import Crossover
from symscale.derivation.evaluate import numbers
from symscale.derivation.figure import Figure
from symscale.derivation.layer import Layer
from symscale.derivation.tabling import Tabling
from symscale.derivation.terms import Terms, read
from symscale.errors import SymscaleError
from symscale.machine import Machine

Number: TypeAlias = str | int | sp.Expr
Given: TypeAlias = Mapping[str, Number]
Span: TypeAlias = tuple[Number, Number]


class Plotting(Tabling):
    """The part of a blackboard that draws; what it draws are formulas found before, and the solver's borders.

    Words may hold formulas between dollar signs: "above $C/W_hbm$". Numbers are those of the machine `on`, the
    widths of the last program's dtypes, and `values`.
    """

    terms: Terms

    def plot(
        self,
        curves: Mapping[str, str | sp.Expr | tuple[str | sp.Expr, Given]],
        over: str,
        span: Span,
        *,
        title: str,
        caption: str,
        y: str = "time [s]",
        x: str = "",
        height: Span | None = None,
        marks: Sequence[Crossover | tuple[Crossover, str]] = (),
        on: str | Machine | None = None,
        values: Given | None = None,
    ) -> Figure:
        """Draw formulas over one variable, both axes in powers of ten, and mark where crossovers lie on them.

        A curve may have values of its own. A crossover is marked where two curves meet, or on the one curve that is
        named beside it. Raises StepError if a curve lacks a number, or a mark is on no two curves.
        """
        from symscale.derivation.plots import over_one

        return over_one(self, _read(curves), over, span, title, caption, (x, y), height, marks, self.known(on, values))

    def roofline(
        self,
        programs: Mapping[str, tuple[Layer, Given]],
        *,
        on: str | Machine,
        title: str,
        caption: str,
        dtypes: Sequence[str] = ("bf16",),
        span: Span = (1, 10**4),
        values: Given | None = None,
    ) -> Figure:
        """Draw what a chip attains over the FLOPs per byte, for each dtype, with the forward passes of programs on it.

        `min(C, I·W_hbm)`, bent where the solver finds the crossover `I = C/W_hbm`.
        """
        from symscale.derivation.plots import roofline

        return roofline(self, programs, self.terms.chip(on), dtypes, span, title, caption, values)

    def regime_map(
        self,
        times: Mapping[str, str | sp.Expr],
        x: str,
        y: str,
        spans: tuple[Span, Span],
        *,
        title: str,
        caption: str,
        labels: tuple[str, str] = ("", ""),
        on: str | Machine | None = None,
        values: Given | None = None,
    ) -> Figure:
        """Draw which of several times is the largest over two variables; the borders are the solver's closed forms.

        `y` may be a ratio such as `B/N_chips`. Raises UndecidedError if a border has no closed form.
        """
        from symscale.derivation.maps import of_times

        return of_times(self, _alone(times), x, y, spans, title, caption, labels, self.known(on, values))

    def condition_map(
        self,
        conditions: Mapping[str, Crossover],
        otherwise: str,
        x: str,
        spans: tuple[Span, Span],
        *,
        title: str,
        caption: str,
        labels: tuple[str, str] = ("", ""),
        on: str | Machine | None = None,
        values: Given | None = None,
    ) -> Figure:
        """Draw where the first of several answers holds that does, over `x` and the unknown they were solved for.

        Raises SymscaleError if they were not solved for the same unknown.
        """
        from symscale.derivation.maps import of_conditions

        return of_conditions(self, conditions, otherwise, x, spans, title, caption, labels, self.known(on, values))

    def pareto(
        self,
        latency: str | sp.Expr,
        rate: str | sp.Expr,
        models: Mapping[str, Given],
        batches: Sequence[int],
        *,
        title: str,
        caption: str,
        fits: Crossover | None = None,
        beyond: bool = True,
        along: str = "B",
        x: str = "time of a step [s]",
        y: str = "tokens per second",
        on: str | Machine | None = None,
        values: Given | None = None,
    ) -> Figure:
        """Draw throughput against latency along the batch, marked at `batches`, for each set of values in `models`.

        A curve is dashed beyond the largest batch that `fits`, an answer solved for the batch, or ends there.
        """
        from symscale.derivation.plots import pareto

        known = self.known(on, values)
        return pareto(
            self, (read(latency), read(rate)), models, batches, (fits, beyond), along, title, caption, (x, y), known
        )

    def known(self, on: str | Machine | None, values: Given | None, layer: Layer | None = None) -> Known:
        """Return the machine, every number that a plot takes, and which of them the author gives."""
        chip, own = self.terms.chip(on), self.terms.given(values, on, self.kinds)
        return chip, numbers(layer or self.layer, chip, own), set(own)


Known: TypeAlias = tuple[Machine | None, dict[sp.Symbol, sp.Expr], set[sp.Symbol]]


def _read(
    curves: Mapping[str, str | sp.Expr | tuple[str | sp.Expr, Given]],
) -> dict[str, sp.Expr | tuple[sp.Expr, Given]]:
    """Return curves whose formulas are read, as the columns of a table are. Raises SymscaleError if there are none."""
    if not curves:
        raise SymscaleError("A plot needs a curve.", hint='Give formulas by name: {"arithmetic": t.math}.')
    return {name: (read(each[0]), each[1]) if isinstance(each, tuple) else read(each) for name, each in curves.items()}


def _alone(times: Mapping[str, str | sp.Expr]) -> dict[str, sp.Expr]:
    return {name: read(each) for name, each in times.items()}
