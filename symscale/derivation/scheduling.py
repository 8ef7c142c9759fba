"""Verbs of the blackboard that need no program: pipeline schedules, and where a quantity is least."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.derivation.step import Step
from symscale.machine import Machine, chosen
from symscale.notation.formula import parse_formula
from symscale.notation.order import Order
from symscale.vocabulary import expression, symbol

if TYPE_CHECKING:
    from symscale.derivation.least import Least
    from symscale.derivation.pipelined import Pipelined


class Scheduling:
    """The part of a blackboard that knows schedules."""

    steps: list[Step]
    order: Order
    layer: Layer | None

    def pipeline(self, name: str, show: str = "") -> Pipelined:
        """Return a pipeline schedule (gpipe, 1f1b, interleaved, zb-h1, zb-h2) in closed form, and write it down.

        `show` names what is written: rule, chains, step, held, hops (all of it if left out). Raises LayoutError.
        """
        # few derivations have a pipeline, and a command should not pay for what it does not use
        from symscale.derivation.pipelined import written

        return written(self, name, show)

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

        given = {
            symbol(key): parse_formula(value).expr if isinstance(value, str) else expression(value)
            for key, value in (values or {}).items()
        }
        return least(self, name, objective, over, numbers(self.layer, chosen(on), given), whole)
