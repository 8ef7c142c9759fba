"""Choice points: where a program can be made local in several ways, each with its price."""

from __future__ import annotations

import sympy as sp

from symscale.array import subscript
from symscale.derivation.layer import Layer
from symscale.derivation.recount import Repriced
from symscale.derivation.step import Prose, Step
from symscale.partition import Alternative, Choice, Collective
from symscale.solve.relation import Relation
from symscale.solve.terms import compare, signed_terms
from symscale.vocabulary import symbol


def described(each: Collective) -> str:
    """Return a collective as the notation has it: `AllGather_X: W[D_X, F] -> W[D, F]`."""
    return f"{each.kind}{subscript(each.axes)}: {each.value}{each.before} -> {each.value}{each.after}"


def choice_step(layer: Layer, choice: Choice) -> Step | None:
    """Return the step that shows a choice with all its prices; None where every way costs the same."""
    if len({way.bytes for way in choice.alternatives}) == 1:
        return None
    equations = tuple(Relation(symbol(f"V_way{n}"), "==", way.bytes) for n, way in enumerate(choice.alternatives, 1))
    lines: list[Prose] = [
        f"{n}{' (taken)' if n == choice.taken + 1 else ''}: {_moves(way)}"
        for n, way in enumerate(choice.alternatives, 1)
    ]
    taken = choice.alternatives[choice.taken]
    for n, way in enumerate(choice.alternatives, 1):
        cheaper = compare(signed_terms(sp.expand(way.bytes - taken.bytes)), "<")
        if isinstance(cheaper, Relation):
            lines.append((f"{n} would send less if ", cheaper, "."))
    count = len(choice.alternatives)
    reason = f"{choice.result} can be made local in {count} ways, priced by V on a long ring: {choice.reason}."
    proofs = (Repriced(layer, choice.alternatives),)
    return Step("count", f"A choice for {choice.result}", reason, equations, proofs, tuple(lines))


def _moves(way: Alternative) -> str:
    return "; ".join(described(each) for each in way.collectives) or "nothing is sent"
