"""The names in an answer: usual ones for those of the derivation, products written without a sign, and unknown ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

import sympy as sp

from symscale.errors import SymscaleError
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.reading import Answer, Formula, Relations
from symscale.notation.formula import parse_relation
from symscale.solve.relation import Relation
from symscale.vocabulary import entry, symbol

#: What people write for the names of the table; of several the first that the exercise has.
USUAL = {
    "d_model": ("D",),
    "d_ff": ("F",),
    "N": ("N_chips", "N_heads"),
    "n_chips": ("N_chips",),
    "n_heads": ("N_heads",),
}
#: Names of bandwidth, where there is one.
RATES = ("W", "BW", "bw", "beta")
_RELATION = re.compile(r"[<>≤≥⩽⩾]|\\[lg](?:eq?|t|eqslant)(?![A-Za-z])")
_FACTOR = re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)([A-Z])(?!\w)")
#: Stems of names that any derivation may speak of: bytes per element, peaks, rates, memories and times.
FAMILIES = ("b", "C", "W", "M", "T")


def aliases(exercise: Exercise) -> dict[str, str]:
    """Return what is meant by the usual names that a derivation has no symbols for: W is its one bandwidth."""
    names, wanted = _names(exercise.asked), _names(exercise.asked[:1])
    found = {}
    for word, meant in USUAL.items():
        there = [one for one in meant if one in wanted] or [one for one in meant if one in names]
        if word not in names and there:
            found[word] = there[0]
    rates = sorted(name for name in wanted if name.startswith("W_")) or sorted(
        name for name in names if name.startswith("W_")
    )
    if "W" not in names and len(rates) == 1:
        found |= dict.fromkeys(RATES, rates[0])
    # T = 10.4 ms is said of the one time that is asked for
    if "T" not in names and exercise.headline.what.startswith("T_"):
        found["T"] = exercise.headline.what
    return found | {f"W_{name[2:].upper()}": name for name in names if name.startswith("W_")}


def multiplied(text: str, exercise: Exercise) -> str:
    """Return a relation with 9B as 9*B where the exercise has a B: 9 bytes are written with a blank there."""
    names = _names(exercise.asked) | {"W"}
    if not _RELATION.search(text):
        return text
    return _FACTOR.sub(lambda found: f"{found[1]}*{found[2]}" if found[2] in names else found[0], text)


def named(exercise: Exercise) -> set[str]:
    """Return the names of the symbols that an exercise speaks of, wherever its derivation states what is asked for."""
    elsewhere = {
        name.name
        for each in exercise.asked
        for one in each.elsewhere
        for name in one.expr.free_symbols | one.of_what.free_symbols
    }
    return _names(exercise.asked) | elsewhere


def _names(asked: Collection[Asked]) -> set[str]:
    return {name.name for each in asked for name in _symbols(each)}


def _symbols(asked: Asked) -> Iterator[sp.Symbol]:
    for one in asked.settings:
        yield from one.expr.free_symbols | one.of_what.free_symbols
    if asked.words in ("yes", "no"):
        lhs, _, rhs, _ = parse_relation(asked.what)
        yield from lhs.free_symbols | rhs.free_symbols
    if asked.crossover is not None:
        for case in asked.crossover.headline.cases:
            yield from {name for each in case.when for name in each.free_symbols}
        yield from asked.crossover.relation.free_symbols | asked.crossover.headline.unknown.free_symbols
    if asked.optimum is not None:
        yield from asked.optimum.variable.free_symbols


def bounded(answer: Answer, exercise: Exercise) -> None:
    """Refuse what cannot be computed: symbols in exponents where the exercise has none, powers of powers of them.

    Raises SymscaleError.
    """
    for found in (one for side in _sides(answer) for one in _exponents(side)):
        own = {
            name
            for each in exercise.asked
            for one in each.settings
            for up in _exponents(one.expr)
            for name in up.free_symbols
        }
        if list(_exponents(found)) or not found.free_symbols <= own:
            name = min(map(str, found.free_symbols))
            raise SymscaleError(f"{name} stands in an exponent, and {exercise.id} has no such power.")


def _exponents(expr: sp.Expr) -> Iterator[sp.Expr]:
    """Yield the exponents that have symbols."""
    for each in expr.atoms(sp.Pow, sp.exp):
        exponent = each.as_base_exp()[1] if each.is_Pow else each.args[0]
        if exponent.free_symbols:
            yield exponent


def known(answer: Answer, exercise: Exercise, more: Collection[sp.Symbol] = ()) -> Answer:
    """Return an answer, in its own rates, if it speaks of symbols that there are; `more` are some besides.

    Raises SymscaleError naming a symbol that neither the exercise nor the table of symbols has.
    """
    bounded(answer, exercise)
    put = [pair for each in exercise.asked for one in each.settings for pair in one.values.items()]
    given = {name.name for key, value in put for name in {key, *value.free_symbols}}
    names = named(exercise) | given | {each.name for each in more}
    for each in sorted({name for side in _sides(answer) for name in side.free_symbols}, key=str):
        if each.name not in names and entry(each.name) is None and each.name.partition("_")[0] not in FAMILIES:
            there = ", ".join(sorted(names)[:12])
            raise SymscaleError(f"{each.name[:40]} is no symbol of {exercise.id}.", hint=f"It has {there}.")
    return _in_its_rates(_in_its_rates(answer, _names(exercise.asked)), _asked_for(answer, exercise))


def _asked_for(answer: Answer, exercise: Exercise) -> set[str]:
    """Return the names in what is asked for first; none where an answer says that it is about something else."""
    return set() if isinstance(answer, Formula) and answer.named is not None else _names(exercise.asked[:1])


def _in_its_rates(answer: Answer, names: Collection[str]) -> Answer:
    """Return an answer with W_ici/2 for W_link, or 2*W_link for W_ici, where the exercise has the other alone."""
    link, both = symbol("W_link"), symbol("W_ici")
    put = {link: both / 2} if both.name in names else {both: 2 * link}
    if {link.name, both.name} <= set(names) or not {link.name, both.name} & set(names):
        return answer
    match answer:
        case Formula():
            return replace(answer, expr=answer.expr.xreplace(put))
        case Relations():
            each = tuple(Relation(one.lhs.xreplace(put), one.op, one.rhs.xreplace(put)) for one in answer.each)
            return replace(answer, each=each)
    return answer


def _sides(answer: Answer) -> list[sp.Expr]:
    match answer:
        case Formula():
            return [answer.expr]
        case Relations():
            return [side for each in answer.each for side in (each.lhs, each.rhs)]
    return []
