"""Printed answers as rows of data, and what the engine derives for each.

A row of `answers/*.toml` has the `id` of an entry, and either a `derivation` of the library with the `quantity` that
one of its equations states, or a `formula` in the symbols of a chip (`on`) and of a model (`model`). `given` puts
values in. `printed` is what the source says: a formula, a number, or yes or no; it holds to half a unit of its last
digit, or `within` a relative distance that its words allow. `ours` is the value where nothing is printed, or where
what is printed is something else; then `why` says how the two differ, and it has to. A `note` is for the reader. A
chapter's file lists its `entries` above the rows, so that none is left out.

A quantity may be a relation, such as "B >= 16", for a yes or a no; or say what the last program is compiled to:
`collectives` (of the forward pass; of another with `collectives backward` or `collectives both`), `products backward`,
the one `product dW_in`, or the text of the `program`. A formula may be several with ";" between them. `whole` takes the
floor, the ceiling or the next power of two of a number. A row that has `not_modelled` alone says why no derivation
answers the entry.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Any

import sympy as sp

from symscale.derivation import registry
from symscale.derivation.registry import blackboard
from symscale.errors import SymscaleError
from symscale.exercise.compiled import TEXTS
from symscale.frozen import dataclass
from symscale.machine import chosen
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.numbers import format_number
from symscale.notation.text import to_text
from symscale.solve.exact import value_at
from symscale.solve.relation import sign_of_number
from symscale.textfile import read_text
from symscale.transformer import model, values
from symscale.vocabulary import BY_NAME, symbol

FOLDER = "answers"


class AnswerError(SymscaleError):
    """A row says something else than the engine."""


@dataclass(frozen=True)
class Row:
    """One printed answer."""

    id: str
    derivation: str = ""
    quantity: str = ""
    formula: str = ""
    on: str = ""
    model: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    printed: str = ""
    within: str = ""
    ours: str = ""
    why: str = ""
    note: str = ""
    whole: str = ""
    not_modelled: str = ""


def files() -> tuple[Path, ...]:
    """Return the files of printed answers beside the derivations, in the order of the chapters."""
    found = [file for folder in registry.folders() for file in (folder / FOLDER).glob("*.toml")]
    return tuple(sorted(found, key=lambda file: (len(file.stem), file.stem)))


@cache
def content(name: str) -> Mapping[str, Any]:
    """Return a file of answers as it is. Raises SymscaleError naming the files there are."""
    for file in files():
        if file.stem == name:
            return tomllib.loads(read_text(file))
    there = ", ".join(file.stem for file in files())
    raise SymscaleError(f"There are no answers called {name[:40]!r}.", hint=f"There are {there}.")


@cache
def rows(name: str) -> tuple[Row, ...]:
    """Return the rows of a file."""
    return tuple(Row(**each) for each in content(name)["row"])


def entries(name: str) -> list[str]:
    """Return the ids that the source of a file has, as the file itself lists them: each needs a row."""
    found: list[str] = content(name)["entries"]
    return found


@lru_cache(maxsize=4096)
def read(text: str) -> sp.Expr:
    """Return the formula that a text writes."""
    return parse_formula(text).expr


def known(row: Row) -> dict[sp.Symbol, sp.Expr]:
    """Return the values of a row: its chip's, its model's, and those that are given, which come first."""
    found: dict[sp.Symbol, sp.Expr] = {}
    chip = chosen(row.on or None)
    if chip is not None:
        found |= {symbol(name): value for name, value in chip.figures.items()}
    if row.model:
        found |= values(model(row.model))
    return {**found, **{symbol(name): read(text) for name, text in row.given.items()}}


def candidates(row: Row) -> list[sp.Expr]:
    """Return what the engine says: the formula, or the right side of every equation that states the quantity.

    Values that are given have to go somewhere: numbers that a derivation put in itself do not count then.
    """
    if row.formula:
        return [read(row.formula).xreplace(known(row))]
    wanted, put = read(row.quantity), {symbol(name) for name in row.given}
    found = [
        each.rhs
        for step in blackboard(row.derivation).steps
        for each in step.equations
        if _alike(each.lhs, wanted) and (not put or each.rhs.free_symbols & put)
    ]
    if not found:
        raise AnswerError(f"{row.id}: {row.derivation} states no {row.quantity}.")
    return [each.xreplace(known(row)) for each in found]


def _alike(lhs: sp.Expr, wanted: sp.Expr) -> bool:
    return bool(lhs == wanted or (not (lhs.is_Symbol or wanted.is_Symbol) and sp.expand(lhs - wanted) == 0))


#: What `whole` does to a number.
ROUNDED: Mapping[str, Callable[[sp.Expr], sp.Expr]] = {
    "": lambda number: number,
    "floor": sp.floor,
    "ceiling": sp.ceiling,
    "power of two": lambda number: sp.Integer(2) ** sp.ceiling(sp.log(number, 2)),
}


def verdict(row: Row) -> str:
    """Say yes or no to a relation: a formula, or a quantity that every number stated for it decides alike."""
    lhs, op, rhs, _ = parse_relation(row.formula or row.quantity)
    right = rhs.xreplace(known(row))
    if row.formula:
        found = [lhs.xreplace(known(row))]
    else:
        found = [each for each in candidates(replace(row, quantity=str(lhs))) if each.is_number]
    said = {decided(each, op, right) for each in found}
    if len(said) != 1:
        raise AnswerError(f"{row.id}: {row.quantity or row.formula} is not decided for {found}.")
    return "yes" if said == {True} else "no"


def words(row: Row) -> str | None:
    """Return what a row derives as a text: of a compiled program, yes or no, or several values; None for one value."""
    kind, _, which = row.quantity.partition(" ")
    if kind in TEXTS:
        layer = blackboard(row.derivation).layer
        if layer is None:
            raise AnswerError(f"{row.id}: {row.derivation} has no program.")
        return TEXTS[kind](layer, which or "forward")
    if ";" in row.formula:
        return "; ".join(str(read(each).xreplace(known(row))) for each in row.formula.split(";"))
    return verdict(row) if {row.printed, row.ours} & {"yes", "no"} else None


@dataclass(frozen=True)
class Outcome:
    """What became of a row: `agrees`, `differs`, `open` (nothing is printed) or `not modelled`, and what is derived.

    `ratio` is printed over derived, where both are numbers.
    """

    row: Row
    status: str
    derived: str = ""
    ratio: float | None = None


def outcome(row: Row) -> Outcome:
    """Compare a row with what the engine derives, now. Raises AnswerError where the row says something else."""
    if row.not_modelled:
        if row != Row(row.id, not_modelled=row.not_modelled, note=row.note):
            raise AnswerError(f"{row.id}: nothing is derived for a row that is not modelled.")
        return Outcome(row, "not modelled")
    said = words(row)
    if said is not None:
        if said != (row.ours or row.printed) or (row.why and said == row.printed):
            raise AnswerError(f"{row.id}: {said} is derived, and the row has {row.ours or row.printed}.")
        return Outcome(row, _status(row), said)
    return _compared(row, [ROUNDED[row.whole](each) for each in candidates(row)])


def _compared(row: Row, found: Sequence[sp.Expr]) -> Outcome:
    if not (row.printed or row.ours):
        raise AnswerError(f"{row.id}: a row needs a value.")
    ours = [each for each in found if close(each, row.ours, "")] if row.ours else list(found)
    agrees = [each for each in found if row.printed and close(each, row.printed, row.within)]
    wrong = row.printed and (bool(agrees) is bool(row.why) or not (agrees or row.ours))
    if not ours or wrong:
        raise AnswerError(f"{row.id}: {found} is derived, and the row has {row.ours} for the printed {row.printed}.")
    value = (agrees or ours)[0]
    return Outcome(row, _status(row), _shown(value), _ratio(value, row))


def _status(row: Row) -> str:
    return "differs" if row.why else "agrees" if row.printed else "open"


def _shown(value: sp.Expr) -> str:
    return format_number(value, 6) if value.is_number and value.is_real else to_text(value)


def _ratio(value: sp.Expr, row: Row) -> float | None:
    stated = read(row.printed) if row.printed else sp.S.Zero
    return float(stated / value) if stated.is_number and value.is_number and 0 not in (value, stated) else None


def decided(lhs: sp.Expr, op: str, rhs: sp.Expr) -> bool:
    """Say whether a relation between numbers holds."""
    sign = sign_of_number(lhs, rhs)
    return {">=": sign >= 0, "<=": sign <= 0, ">": sign > 0, "<": sign < 0}[op]


def close(found: sp.Expr, text: str, within: str) -> bool:
    """Say whether a value is what a text prints: a number to its digits, a formula at exact points."""
    stated = read(text)
    if stated.is_number:
        if found.free_symbols:
            return False
        distance = sp.Rational(within) * abs(stated) if within else half_unit(text)
        return bool(abs(sp.N(found, 20) - stated) <= distance * (1 + sp.Rational(1, 10**9)))
    typed = {} if symbol("b") in stated.free_symbols else {symbol("b"): sp.Integer(2)}
    return same(found.xreplace(typed), stated)


def half_unit(text: str) -> sp.Expr:
    """Return half a unit of the last digit of a printed number; 1/2 or 16*2^20 are meant to one part in 10^9."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = mantissa.partition(".")[2]
    plain = mantissa.replace(".", "").isdigit() and (not exponent or exponent.lstrip("+-").isdigit())
    if not plain:
        return abs(read(text)) / 10**9
    return sp.Rational(1, 2) * sp.Integer(10) ** (int(exponent or 0) - len(digits))


def _points(found: sp.Expr, stated: sp.Expr) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """Yield exact points; of all sizes where formulas have branches, which small numbers may not take."""
    names = sorted(found.free_symbols | stated.free_symbols, key=BY_NAME)
    for seed in (3, 7, 11):
        yield {name: sp.Rational(seed + 5 * n, 1 + n) for n, name in enumerate(names)}
    if any(each.has(sp.Max, sp.Min, sp.floor, sp.ceiling) for each in (found, stated)):
        for seed in range(24):
            random = Random(seed)
            yield {name: sp.Integer(random.randint(1, 99)) * sp.Integer(10) ** random.randint(0, 12) for name in names}


def same(found: sp.Expr, stated: sp.Expr) -> bool:
    """Compare two formulas at exact points; at none of them may one be without a real value."""
    if found == stated:
        return True
    for point in _points(found, stated):
        values = [value_at(found, point), value_at(stated, point)]
        missing = [not each.is_number or each.has(sp.nan, sp.zoo, sp.oo, sp.I) for each in values]
        if any(missing) or sign_of_number(*values) != 0:
            return False
    return True
