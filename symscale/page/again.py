"""Derivations written again on other terms: which of their numbers and formulas are computed from a chip or a dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from symscale.derivation.entered import Entered
from symscale.derivation.proof import Evaluated
from symscale.derivation.step import Derivation
from symscale.derivation.terms import Terms
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.machine import machine, machines

# A derivation is written again on this many chips that it can be written on, and in this many dtypes.
CHIPS, DTYPES = 2, 1


@dataclass(frozen=True)
class Again:
    """A derivation as it is on some other chips, and in another dtype."""

    chips: tuple[Derivation, ...] = ()
    dtypes: tuple[Derivation, ...] = ()


def written_again(derivation: Derivation, dtypes: Sequence[str]) -> Again:
    """Return a derivation on other terms, where it knows how to be written again."""
    named = {each.chip.name for each in derivation.entered if each.chip is not None}
    # whose figures differ in everything stand first
    order = sorted(machines(), key=lambda each: (each in named, not _alike(each, named)))
    others = [each for each in dtypes if each != "bf16"]
    return Again(
        tuple(_first(derivation, [Terms(on=each) for each in order if each not in named], CHIPS)),
        tuple(_first(derivation, [Terms(dtype=each) for each in reversed(others)], DTYPES)),
    )


def _alike(name: str, named: set[str]) -> bool:
    """Say whether a chip has the networks of one that is named, so that a derivation can be written on it."""
    networks = [{each.name for each in machine(one).networks} for one in named & set(machines())]
    return {each.name for each in machine(name).networks} in networks


def _first(derivation: Derivation, terms: Sequence[Terms], count: int) -> Iterator[Derivation]:
    for each in terms if derivation.again is not None else ():
        if count == 0:
            return
        try:
            found = derivation.again(each) if derivation.again is not None else None
        except SymscaleError:
            continue
        if found is not None:
            count -= 1
            yield found


@dataclass(frozen=True)
class Computed:
    """The names whose numbers an author computes from figures of a chip, and those from a dtype."""

    chips: frozenset[str] = frozenset()
    dtypes: frozenset[str] = frozenset()

    def words(self, name: str) -> tuple[str, str]:
        """Return why a number is none on another chip, and why in another dtype."""
        return (
            f"{name} is computed from figures of the derivation’s own chip" if name in self.chips else "",
            f"{name} is computed in the derivation’s own dtype" if name in self.dtypes else "",
        )


def computed(put: Entered | None, derivation: Derivation, again: Again) -> Computed:
    """Return which numbers that an author puts in are others where the derivation is written again."""
    if put is None:
        return Computed()
    place = derivation.entered.index(put)
    return Computed(_changed(put, place, again.chips), _changed(put, place, again.dtypes))


def _changed(put: Entered, place: int, others: Sequence[Derivation]) -> frozenset[str]:
    found: set[str] = set()
    for each in others:
        there = dict(each.entered[place].values) if place < len(each.entered) else {}
        found |= {name for name, value in put.values if name not in there or there[name] != value}
    return frozenset(found)


def other_formulas(stated: Sequence[tuple[sp.Expr, ...]], again: Again) -> tuple[str, str]:
    """Return why the formulas of a step are others on another chip, and why in another dtype."""
    on, anew = (any(not set(stated) <= _expressions(each) for each in others) for others in (again.chips, again.dtypes))
    return (
        "the formula is another on another chip" if on else "",
        "the formula is another in another dtype" if anew else "",
    )


def _expressions(derivation: Derivation) -> set[tuple[sp.Expr, ...]]:
    proofs = [proof for step in derivation.steps for proof in step.proofs]
    return {each.expressions for each in proofs if isinstance(each, Evaluated)}
