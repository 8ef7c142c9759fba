"""Verbs of the blackboard: pipelines, collectives in a loop with a product, sums, and where a quantity is least."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symscale.derivation.asking import Asking
from symscale.derivation.layer import Layer
from symscale.derivation.step import Step
from symscale.derivation.terms import Terms
from symscale.machine import Machine
from symscale.notation.formula import parse_formula
from symscale.notation.order import Order
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.collectives import Loop
    from symscale.derivation.least import Least
    from symscale.derivation.pipelined import Pipelined


class Scheduling(Asking):
    """The part of a blackboard that knows schedules."""

    steps: list[Step]
    order: Order
    layer: Layer | None
    terms: Terms

    def pipeline(self, name: str, show: str = "") -> Pipelined:
        """Return a pipeline schedule (gpipe, 1f1b, interleaved, zb-h1, zb-h2) in closed form, and write it down.

        `show` names what is written: rule, chains, step, held, hops (all of it if left out). Raises LayoutError.
        """
        # few derivations have a pipeline, and a command should not pay for what it does not use
        from symscale.derivation.pipelined import written

        return written(self, name, show)

    def looped(self, layer: Layer, axis: str, which: str = "forward", *, both_ways: bool = False) -> Loop:
        """Return a pass with its AllGather or ReduceScatter over an axis in a loop with its product, and write it down.

        A transfer goes one way around the ring, or in halves `both_ways`. Raises LayoutError where the pass has no
        such collective over the axis, or several.
        """
        from symscale.derivation.looping import looped

        found, step = looped(layer, axis, which, both_ways=both_ways)
        self.steps.append(step)
        return found

    def shards(self, layer: Layer, *names: str) -> dict[str, sp.Expr]:
        """Return the elements that one chip has of each array, and write down their shapes there.

        `D_x` is the length of D in x on a chip. Raises LayoutError for a name the program does not have.
        """
        from symscale.derivation.shards import shards

        found, step = shards(layer, names)
        self.steps.append(step)
        return found

    def tiled(self, math: sp.Expr, comms: sp.Expr, tiles: str | int) -> Loop:
        """Return arithmetic and communication [s] of a result cut into tiles, each sent while the next is computed."""
        from symscale.derivation.looping import tiled

        found, step = tiled(math, comms, parse_formula(str(tiles)).expr)
        self.steps.append(step)
        return found

    def added(self, name: str, term: str | sp.Expr, over: str, to: str | sp.Expr) -> sp.Expr:
        """Return the sum of a term over an index from 1 to `to`, a closed form, and write it down as `name`.

        Raises UndecidedError for terms that are neither polynomials of the index nor powers.
        """
        from symscale.derivation.adding import added_step

        texts = (parse_formula(each).expr if isinstance(each, str) else each for each in (term, to))
        found, step = added_step(name, next(texts), symbol(over), next(texts))
        self.steps.append(step)
        return found

    def least(
        self,
        name: str,
        objective: sp.Expr,
        over: str,
        *,
        on: str | Machine | None = None,
        values: Mapping[str, sp.Expr | str | int] | None = None,
        whole: Iterable[int] = (),
    ) -> Least:
        """Return where the quantity `name` is least over a symbol, and write it down.

        With numbers for everything else the candidates `whole` are ranked too. Raises UndecidedError where there is
        no minimum in closed form.
        """
        from symscale.derivation.evaluate import numbers
        from symscale.derivation.least import least

        return least(self, name, objective, over, numbers(self.layer, *self.put(on, values)), whole)
