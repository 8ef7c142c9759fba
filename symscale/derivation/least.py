"""The least value of a quantity over one variable, as steps, and the best whole numbers beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symscale.derivation.proof import Equal, Evaluated, Minimal
from symscale.derivation.step import Prose, Step
from symscale.frozen import dataclass
from symscale.notation.numbers import format_number
from symscale.solve import best_integers, minimise
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from symscale.derivation.scheduling import Scheduling


@dataclass(frozen=True)
class Least:
    """Where a quantity is least, its value there, and with numbers the whole candidates and their losses."""

    variable: sp.Symbol
    point: sp.Expr
    value: sp.Expr
    number: sp.Expr | None = None
    integers: tuple[tuple[int, sp.Expr], ...] = ()


def least(
    d: Scheduling,
    name: str,
    objective: sp.Expr,
    over: str,
    known: Mapping[sp.Symbol, sp.Expr],
    whole: Iterable[int] = (),
) -> Least:
    """Minimise a posynomial over one variable and write it down; with numbers rank the `whole` candidates too.

    Raises UndecidedError where there is no minimum in closed form.
    """
    variable = symbol(over)
    best = minimise(objective, (variable,), None)
    point = best.point[variable]
    d.steps.append(
        Step(
            "optimise",
            f"The best {variable}",
            ("Minimise over ", variable, f": {best.method}."),
            (Relation(variable, "==", point),),
            (Minimal(objective, variable),),
        )
    )
    d.steps.append(
        Step(
            "substitute",
            f"At the best {variable}",
            "Put it in.",
            (Relation(symbol(name), "==", best.value),),
            (Equal((objective.xreplace({variable: point}),)),),
        )
    )
    number, at = point.xreplace(dict(known)), objective.xreplace(dict(known))
    if number.free_symbols:
        return Least(variable, point, best.value)
    ranked = () if at.free_symbols - {variable} else tuple(best_integers(at, variable, candidates=whole))
    integers = tuple((point[variable], loss) for point, _, loss in ranked)
    lines: tuple[Prose, ...] = tuple(
        (variable, f" = {size}: {format_number(100 * loss, 3)} % above the optimum") for size, loss in integers[:3]
    )
    reason = "Put in the numbers" + ("; whole numbers are compared with the real optimum." if lines else ".")
    proof = Evaluated((point,), tuple(known.items()))
    title = f"The best {variable} in numbers"
    d.steps.append(Step("evaluate", title, reason, (Relation(variable, "==", number),), (proof,), lines))
    return Least(variable, point, best.value, number, integers)
