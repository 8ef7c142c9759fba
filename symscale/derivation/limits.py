"""Limits as people write and read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.derivation.proof import InLimit, known_dimensions
from symscale.derivation.shorter import shorter
from symscale.derivation.step import Prose, Step
from symscale.errors import NotationError, UnitError
from symscale.notation.formula import parse_limits
from symscale.notation.text import to_text
from symscale.quantity import dimension_of
from symscale.solve.growth import scales
from symscale.solve.limits import Approximation, Limit
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

HINT = "Write B << D, F or X >> 1."


def read_limits(text: str, aliases: Mapping[str, str] | None = None) -> list[Limit]:
    """Return the limits of a text such as "B << D, F; X >> 1".

    Raises NotationError for none, for a number other than 1 that is small, and for what is its own limit;
    UndecidedError for limits that contradict each other.
    """
    found = [Limit(each.small, tuple(each.large)) for each in parse_limits(text, aliases=aliases)]
    if not found:
        raise NotationError("There is no limit here.", text=text or " ", position=0, hint=HINT)
    for limit in found:
        for large in limit.large:
            _sensible(limit.small, large, text)
    scales(found)
    return found


def _sensible(small: sp.Expr, large: sp.Expr, text: str) -> None:
    """Raise NotationError where one side cannot be small beside the other."""
    said = readable(limit_text(Limit(small, (large,))))
    if large.is_number:
        why = f"In the limit {to_text(small)} ≪ {to_text(large)} the large side is a number, which cannot grow."
    elif small.is_number and small != 1:
        why = f"In the limit {said} the small side is a number other than 1."
    elif not (small / large).free_symbols:
        why = f"In the limit {said} something is small beside itself."
    else:
        return
    names = sorted(map(str, large.free_symbols)) or [to_text(large)]
    raise NotationError(why, text=text, position=max(text.rfind(names[0]), 0), hint=HINT)


def comparable(limit: Limit, counts: Collection[sp.Symbol]) -> None:
    """Raise UnitError where the two sides of a limit are in different units; `counts` are pure numbers."""
    for large in limit.large:
        known = known_dimensions(limit.small, large, counts=counts)
        one, other = (dimension_of(each, known, show=to_text) for each in (limit.small, large))
        if one != other:
            pairs = ((limit.small, one), (large, other))
            said = [f"{to_text(each)} is {f'in {unit}' if unit else 'a number'}" for each, unit in pairs]
            raise UnitError(
                f"The limit {readable(limit_text(limit))} compares different units: {' and '.join(said)}.",
                hint=f"Compare sizes with sizes and rates with rates: {HINT[0].lower()}{HINT[1:]}",
            )


def limit_text(limit: Limit) -> str:
    """Return `B << D, F`, or `X >> 1` where the small side is 1."""
    if limit.small == 1:
        return f"{', '.join(to_text(each) for each in limit.large)} >> 1"
    return f"{to_text(limit.small)} << {', '.join(to_text(each) for each in limit.large)}"


def readable(limit: str) -> str:
    """Return a limit with the signs of print: B ≪ D, F."""
    return limit.replace("<<", "≪").replace(">>", "≫")


def limit_words(limit: Limit) -> list[str | sp.Expr]:
    """Return `B ≪ D, F` as words with formulas."""
    return [limit.small, " ≪ ", *listed(limit.large)]


def listed(expressions: Iterable[sp.Expr]) -> list[str | sp.Expr]:
    """Return formulas with commas between them, as words."""
    return [part for each in expressions for part in (", ", each)][1:]


def instead(named: Sequence[Limit], usual: Sequence[Limit]) -> str:
    """Say which of the usual limits the named ones replace; "" where they keep all of them."""
    left = [each for each in usual if not any(_includes(other, each) for other in named)]
    return f", instead of the usual {', '.join(readable(limit_text(each)) for each in left)}," if left else ""


def _includes(one: Limit, other: Limit) -> bool:
    return one.small == other.small and set(other.large) <= set(one.large)


def without_effect(step: Step, limits: Sequence[Limit]) -> Step:
    """Return an exact step that says that the limits asked for drop nothing there."""
    named = ", ".join(readable(limit_text(each)) for each in limits)
    reason = (step.reason,) if isinstance(step.reason, str) else step.reason
    return replace(step, reason=(*reason, f" The limit {named} drops nothing here."))


def approximation(where: str, found: Sequence[Approximation], names: Sequence[str], beside: str = "") -> Step:
    """Return the step that puts both sides of a relation in their limits, and says what each drops."""
    dropped = listed(term for each in found for term in each.dropped)
    labels = [symbol("lhs"), symbol("rhs")]
    equations = tuple(Relation(label, "==", each.approximate) for label, each in zip(labels, found, strict=False))
    lines: tuple[Prose, ...] = tuple(
        (label, " is exactly ", shorter(each.ratio), " times this")
        for label, each in zip(labels, found, strict=False)
        if each.dropped
    )
    reason: Prose = (f"In the limit {', '.join(map(readable, names))}{beside} drop ", *dropped, ".")
    return Step("approximate", f"{where}in the limit", reason, equations, (InLimit(tuple(found)),), lines)
