"""The verb that writes a table on a blackboard, and how its rows and columns are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

import sympy as sp

from symscale.derivation.evaluate import numbers
from symscale.derivation.filling import Asked, Line, read, shown_unit, tabled
from symscale.derivation.scheduling import Scheduling
from symscale.derivation.sheet import Cell, Head
from symscale.errors import SymscaleError
from symscale.machine import Machine
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

# What a row says: a formula or a number for a symbol, words for a column of words, None for what nobody states.
Value: TypeAlias = str | int | sp.Expr | Relation | tuple[str | sp.Expr | Relation, ...] | None


class Tabling(Scheduling):
    """The part of a blackboard that writes tables."""

    def table(
        self,
        title: str,
        columns: Mapping[str, str | sp.Expr] | Sequence[str],
        *,
        over: Mapping[str, Sequence[str | int | sp.Expr]] | None = None,
        rows: Mapping[str, Mapping[str, Value]] | None = None,
        of: str = "",
        on: str | Machine | None = None,
        values: Mapping[str, sp.Expr | int] | None = None,
        units: Mapping[str, str] | None = None,
        expect: Mapping[str, Sequence[str | None]] | None = None,
        front: Mapping[str, str] | None = None,
        fits: str = "",
        formulas: bool = False,
        note: str = "",
    ) -> list[dict[str, sp.Expr]]:
        """Return the cells of a table by row, and write it down.

        `columns` has a formula for every quantity, or is a list of formulas that are their own heads; one without a
        formula ("") shows the words of its rows. There is a row for every value `over` symbols (every combination of
        several), for every one of the named `rows` with its own values (`of` is the head above the names; None is
        what nobody states), or for both. `expect` compares a column's cells, one by one, with what an author prints.
        `front` marks the rows that no other row beats, `{"T_step": "least", "rate": "most"}`, of those that meet the
        relation `fits`. With `formulas` cells may keep symbols.
        Raises SymscaleError for a table without rows, a column twice, or a symbol without a number; StepError for an
        expectation that is not met.
        """
        listed = _formulas(columns)
        heads, lines = _lines(listed, over or {}, rows or {}, of)
        chip, given = self.put(on, values)
        found, step = tabled(
            Asked(
                title,
                listed,
                lines,
                heads,
                given if formulas else numbers(self.layer, chip, given),
                units or {},
                (expect or {}) if self.terms.own else {},
                front or {},
                fits,
                formulas,
                note,
            )
        )
        self.steps.append(step)
        return found


def _formulas(columns: Mapping[str, str | sp.Expr] | Sequence[str]) -> Mapping[str, str | sp.Expr]:
    """Return the columns by name. Raises SymscaleError for one that is there twice."""
    if isinstance(columns, Mapping):
        return columns
    twice = next((each for each in columns if list(columns).count(each) > 1), None)
    if twice is not None:
        raise SymscaleError(f"The column {twice} is there twice.", hint="Leave one of them out.")
    return {each: each for each in columns}


def _lines(
    columns: Mapping[str, str | sp.Expr],
    over: Mapping[str, Sequence[str | int | sp.Expr]],
    rows: Mapping[str, Mapping[str, Value]],
    of: str,
) -> tuple[list[Head], list[Line]]:
    """Return the heads that stand in front, and a line for each combination of values and each named row."""
    twice = next((name for name in (*over, *((of,) if rows else ())) if name in columns), None)
    if twice is not None:
        raise SymscaleError(f"The column {twice} is there twice.", hint="Leave it out: it stands in front already.")
    inside = [each for own in (rows or {}).values() for name, each in own.items() if columns.get(name) != ""]
    idle = next((name for name in over if not _used(symbol(name), columns) and not _inside(symbol(name), inside)), None)
    if idle is not None:
        raise SymscaleError(f"No column depends on {idle}.", hint="Leave it out, or add a column that does.")
    heads = [*([Head(of)] if rows else []), *(Head(symbol(name), shown_unit(name, {})) for name in over)]
    named: Mapping[str, Mapping[str, Value]] = rows or {"": {}}
    lines = [
        _line((name,) if rows else (), own, dict(zip(over, map(read, point), strict=True)), columns)
        for name, own in named.items()
        for point in product(*over.values())
        if rows or over
    ]
    return heads, lines


def _used(name: sp.Symbol, columns: Mapping[str, str | sp.Expr]) -> bool:
    return any(each != "" and name in read(each).free_symbols for each in columns.values())


def _inside(name: sp.Symbol, values: Sequence[Value]) -> bool:
    return any(isinstance(each, sp.Expr) and name in each.free_symbols for each in values)


def _line(
    lead: tuple[Cell, ...],
    own: Mapping[str, Value],
    point: Mapping[str, sp.Expr],
    columns: Mapping[str, str | sp.Expr],
) -> Line:
    words = {name: each for name, each in own.items() if columns.get(name) == "" and each is not None}
    # what no column of this table asks for may serve another one
    given = {symbol(name): each for name, each in own.items() if _used(symbol(name), columns)}
    over = {symbol(name): value for name, value in point.items()}
    twice = next((name for name in given if name in over), None)
    if twice is not None:
        raise SymscaleError(f"{twice} has a value in a row and others over a range.", hint="Leave one of them out.")
    stated = {name: read(each).xreplace(over) for name, each in given.items() if isinstance(each, str | int | sp.Expr)}
    said = {name: each if isinstance(each, str | tuple) else (_formula(each),) for name, each in words.items()}
    return Line((*lead, *point.values()), {**stated, **over}, said, frozenset(given) - set(stated))


def _formula(value: int | sp.Expr | Relation) -> sp.Expr | Relation:
    return sp.Integer(value) if isinstance(value, int) else value
