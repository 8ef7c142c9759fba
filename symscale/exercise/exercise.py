"""Exercises: what a derivation, or an entry of a book, asks for, and how the engine comes to the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

import sympy as sp

from symscale.derivation.asking import Ask
from symscale.derivation.builder import Builder
from symscale.derivation.crossover import Crossover
from symscale.derivation.layer import Layer
from symscale.derivation.minimum import Optimised
from symscale.derivation.registry import blackboard, ids
from symscale.derivation.terms import OWN, Terms
from symscale.errors import SymscaleError
from symscale.exercise.answers import ROUNDED, Row, close, files, known, read, rows, words
from symscale.exercise.compiled import BOTH
from symscale.exercise.setting import Setting, everything, stated
from symscale.exercise.statements import of_a_condition, of_a_quantity
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.solve.exact import value_at


@dataclass(frozen=True)
class Asked:
    """One thing that is asked for: a quantity, with every form in which the derivation states it, the last first.

    `elsewhere` is what the derivation calls by the same name for other values, another pass or another question.
    A condition has its crossover as well, the size of a mesh axis its optimum, and where the answer is words, such as
    yes or the collectives of a pass, these. `ask` is the question in the author's words, where there is one.
    """

    what: str
    settings: tuple[Setting, ...] = ()
    crossover: Crossover | None = None
    optimum: Optimised | None = None
    words: str = ""
    sent: tuple[tuple[str, tuple[str, ...], str], ...] | None = None
    ask: Ask | None = None
    elsewhere: tuple[Setting, ...] = ()

    @property
    def values(self) -> dict[sp.Symbol, sp.Expr]:
        """The values of symbols in any of its settings."""
        return {name: value for one in self.settings for name, value in one.values.items()}

    @property
    def numbers(self) -> Iterator[tuple[Setting, sp.Expr]]:
        """The settings that have a number, and the number."""
        for each in self.settings:
            value = _constant(each.value)
            if value.is_number and value.is_real:
                yield each, value


def _constant(value: sp.Expr) -> sp.Expr:
    """Return a value whose symbols cancel, in maxima too, as what it is: the same at any two points."""
    names = sorted(value.free_symbols, key=str)
    points = [
        {name: sp.Rational(first + step * at, 2) for at, name in enumerate(names)} for first, step in ((5, 2), (9, 7))
    ]
    found = [value_at(value, point) for point in points]
    return found[0] if found[0] == found[1] and found[0].is_number else value


@dataclass(frozen=True)
class Exercise:
    """A question with its answers: what is asked for first, and what else its derivation states on its terms.

    An entry of a book has its row of data as well.
    """

    id: str
    title: str
    source: str
    derivation: str
    asked: tuple[Asked, ...]
    layer: Layer | None = None
    terms: Terms = OWN
    row: Row | None = None

    @property
    def widths(self) -> dict[sp.Symbol, sp.Expr]:
        """The bytes per element in the dtypes of the program."""
        return dict(self.layer.typed.numbers) if self.layer is not None else {}

    @property
    def headline(self) -> Asked:
        """What is asked for."""
        return self.asked[0]

    @property
    def general(self) -> Exercise:
        """The exercise without the derivation's numbers, of which any case may be asked."""
        bare = [replace(each, settings=tuple(one.without_values for one in each.settings)) for each in self.asked]
        return replace(self, asked=tuple(bare))

    def asking(self, asked: Asked) -> Exercise:
        """Return the exercise with something else that it states asked for first."""
        return replace(self, asked=(asked, *(each for each in self.asked if each is not asked)))


def exercise(id: str, what: str = "", terms: Terms = OWN) -> Exercise:
    """Return the exercise of a derivation or of an entry of a book; `what` names the quantity that is asked for.

    On other `terms` than its own it has other numbers. Raises SymscaleError with the closest ids, or the quantities
    there are.
    """
    row = find(id)
    found = _of_row(row, terms) if row is not None else _of_derivation(id, terms)
    if not what:
        return found
    chosen = [each for each in found.asked if each.what.replace(" ", "") == what.replace(" ", "")]
    if not chosen:
        there = ", ".join(each.what for each in found.asked)
        raise SymscaleError(f"{id} does not ask for {what[:40]!r}.", hint=f"It has {there}.")
    return found.asking(chosen[0])


def find(id: str) -> Row | None:
    """Return the row of an entry of a book, None for what is none. Raises SymscaleError for one that asks nothing."""
    if id in ids():
        return None
    for file in files():
        # entries of a chapter begin with its number, and files are named by it
        for row in rows(file.stem) if id.startswith("ch" + file.stem.removeprefix("chapter") + ".") else ():
            if row.id == id:
                if row.not_modelled:
                    raise SymscaleError(f"{id} has no answer that a derivation could state: {row.not_modelled}.")
                return row
    return None


def _of_derivation(id: str, terms: Terms) -> Exercise:
    return _read_off(id, blackboard(id, terms))


@lru_cache(maxsize=64)
def _read_off(id: str, d: Builder) -> Exercise:
    """Return what a blackboard asks and states; the same board is read once."""
    asked = list(_all_of(id, d))
    first = [_asked_by(each, id, d, asked) for each in d.asks]
    names = [each.what for each in first]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise SymscaleError(f"{id} asks for {twice} twice.", hint="Ask about something else, or name it otherwise.")
    others = [each for each in asked if each.what not in names]
    return Exercise(id, d.title, d.source, id, (*first, *others), d.layer, d.terms)


def _asked_by(ask: Ask, id: str, d: Builder, there: list[Asked]) -> Asked:
    """Return what an author's question asks for. Raises SymscaleError where the derivation does not state it."""
    about = ask.about
    if isinstance(about, Crossover):
        relation = about.relation
        # once it is evaluated a crossover has its number, and the board has that one
        found = next(each for each in d.crossovers if each.relation == relation)
        about = found.headline.unknown
        return replace(_condition(found, list(everything(id, terms=d.terms)), d), ask=ask)
    if isinstance(about, Layer):
        about = f"collectives {next(iter(about.costs))}"
    if isinstance(about, Optimised):
        about = about.variable
    named = about if isinstance(about, str) else to_text(about)
    for each in there:
        stated = [one.expr for one in each.settings] if not isinstance(about, str) else []
        if each.what.replace(" ", "") == named.replace(" ", "") or about in stated:
            return replace(each, ask=ask)
    raise SymscaleError(
        f"{id} asks about {named[:60]}, which it does not state.",
        hint=f"It states {', '.join(each.what for each in there)}.",
    )


def _all_of(id: str, d: Builder) -> Iterator[Asked]:
    """Yield what a derivation states: the last crossover first, then its optima, its quantities and its collectives."""
    found = list(everything(id, terms=d.terms))
    seen: set[str] = set()
    for crossover in reversed(d.crossovers):
        unknown = crossover.headline.unknown
        if to_text(unknown) not in seen:
            seen.add(to_text(unknown))
            yield _condition(crossover, found, d)
    for best in reversed(d.optima):
        if str(best.variable) not in seen:
            seen.add(str(best.variable))
            yield replace(_quantity(best.variable, found, d), optimum=best)
    for each in reversed(found):
        if each.name not in seen and each.sign == "==" and each.of_what.free_symbols:
            seen.add(each.name)
            yield _quantity(each.of_what, found, d)
    if d.layer is not None:
        for name in d.layer.costs:
            yield Asked(f"collectives {name}", sent=_sent(d.layer, name))


def _sent(layer: Layer, name: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    found = [each.collective for each in layer.costs[name].transfers]
    return tuple((each.kind, each.axes, each.value) for each in found)


def _condition(crossover: Crossover, found: list[Setting], d: Builder) -> Asked:
    unknown = crossover.headline.unknown
    there = _about(unknown, found)
    kept = of_a_condition(there, crossover, _widths(d))
    return Asked(to_text(unknown), kept, crossover, elsewhere=_others(there, kept))


def _quantity(what: sp.Expr, found: list[Setting], d: Builder) -> Asked:
    there = _about(what, found)
    kept = of_a_quantity(there, d.steps, _widths(d))
    return Asked(to_text(what), kept, elsewhere=_others(there, kept))


def _about(what: sp.Expr, found: list[Setting]) -> tuple[Setting, ...]:
    return tuple(each for each in reversed(found) if each.of_what == what)


def _others(there: tuple[Setting, ...], kept: tuple[Setting, ...]) -> tuple[Setting, ...]:
    return tuple(each for each in there if each not in kept)


def _widths(d: Builder) -> Mapping[sp.Symbol, sp.Expr]:
    return dict(d.layer.typed.numbers) if d.layer is not None else {}


def _of_row(row: Row, terms: Terms) -> Exercise:
    title = row.note or f"The answer of {row.id}"
    row = on_terms(row, terms)
    layer = blackboard(row.derivation, terms).layer if row.derivation else None
    which, _, passes = row.quantity.partition(" ")
    if which == "collectives" and layer is not None:
        sent = tuple(one for each in _passes(passes) for one in _sent(layer, each))
        return Exercise(row.id, title, "", row.derivation, (Asked(row.quantity, sent=sent),), layer, terms, row)
    said = words(row)
    if said is not None:
        # a pass that sends nothing says so in no words
        asked = (Asked(row.quantity or row.formula, words=said, sent=None if said else ()),)
        return Exercise(row.id, title, "", row.derivation, asked, layer, terms, row)
    put: Mapping[sp.Symbol, sp.Expr] = known(row)
    settings: tuple[Setting, ...]
    if row.formula:
        settings = (Setting(ROUNDED[row.whole](read(row.formula)), put),)
    else:
        found = [_whole(each, row) for each in stated(row.derivation, read(row.quantity), put, terms)]
        there = _meant_first(tuple(reversed(found)), row)
        d = blackboard(row.derivation, terms)
        settings = of_a_quantity(there, d.steps, _widths(d))
        asked = (Asked(row.quantity, settings, _crossover(row, settings, d), elsewhere=_others(there, settings)),)
        return Exercise(row.id, title, "", row.derivation, asked, layer, terms, row)
    return Exercise(row.id, title, "", row.derivation, (Asked("answer", settings),), layer, terms, row)


def on_terms(row: Row, terms: Terms) -> Row:
    """Return a row with other values of what it gives, on another chip where it names one."""
    put = {name: to_text(value) for name, value in terms.values}
    given = {name: put.get(name, value) for name, value in row.given.items()}
    return replace(row, given=given, on=terms.on if row.on and terms.on else row.on)


def _meant_first(there: tuple[Setting, ...], row: Row) -> tuple[Setting, ...]:
    """Return the statements of a row's quantity, that which the row is about before the others."""
    value = row.ours or row.printed
    meant = next((each for each in there if value and close(each.value, value, "" if row.ours else row.within)), None)
    return there if meant is None else (meant, *(each for each in there if each is not meant))


def _crossover(row: Row, settings: tuple[Setting, ...], d: Builder) -> Crossover | None:
    """Return the condition on what a row asks for, without the derivation's numbers where the row has its own."""
    wanted = read(row.quantity)
    found = [each for each in d.crossovers if each.headline.unknown == wanted]
    if not found:
        return None
    meant = next((each for each in reversed(found) if of_a_condition(settings, each, _widths(d))), found[-1])
    return replace(meant, numbered=()) if row.given or row.on or row.model or row.whole else meant


def _passes(words: str) -> tuple[str, ...]:
    return BOTH if words == "both" else (words or "forward",)


def _whole(found: Setting, row: Row) -> Setting:
    return found.of(ROUNDED[row.whole](found.expr)) if row.whole else found
