"""Tables filled: every cell is its column's formula at the values of its row; proofs, expectations, marks."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

import sympy as sp

from symscale.derivation.points import random_point
from symscale.derivation.proof import ATTEMPTS, fail, float_value
from symscale.derivation.sheet import Cell, Head, Sheet
from symscale.derivation.step import Prose, Step
from symscale.derivation.units import unit_of
from symscale.derivation.verbs import expected_formula, expected_number
from symscale.errors import StepError, SymscaleError
from symscale.frozen import dataclass
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.numbers import format_quantity
from symscale.notation.text import to_text
from symscale.solve.relation import MASKS, Relation, sign_of_number
from symscale.vocabulary import entry, symbol

Point: TypeAlias = Mapping[sp.Symbol, sp.Expr]
UNSTATED = "–"
# What the first letter of a quantity's name says, where lower-case letters follow.
STEMS = {"T": "s", "M": "B", "W": "B/s", "C": "FLOP/s", "V": "B", "bytes": "B", "FLOPs": "FLOP"}
BETTER = {"least": -1, "most": 1}


@dataclass(frozen=True)
class Cells:
    """Cells of a table: each right side is its column's formula at the row's values, computed again in floats.

    `parts` has the formula and the values of each equation; where symbols are left, random points decide.
    """

    parts: tuple[tuple[sp.Expr, tuple[tuple[sp.Symbol, sp.Expr], ...]], ...]
    name: str = "every cell evaluated again in another arithmetic"

    def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
        """Raise StepError where a cell differs."""
        rng = random.Random(seed)
        if len(equations) != len(self.parts):
            raise StepError("A table states more cells than it proves.")
        for equation, (formula, values) in zip(equations, self.parts, strict=True):
            found, wanted = self._both(equation.rhs, formula, dict(values), rng)
            if abs(found - wanted) > 1e-9 * max(abs(found), abs(wanted)):
                fail("The cell is not the value of its formula", equation)

    @staticmethod
    def _both(cell: sp.Expr, formula: sp.Expr, values: Point, rng: random.Random) -> tuple[float, float]:
        inside = {name for value in values.values() for name in value.free_symbols}
        free = (cell.free_symbols | inside | formula.free_symbols) - set(values)
        found = None
        for _ in range(ATTEMPTS if free else 1):
            point = dict(random_point(free, rng)) if free else {}
            known = {name: sp.Float(float_value(value, point), 17) for name, value in values.items()}
            both = float_value(cell, point), float_value(formula, {**point, **known})
            if all(not math.isnan(each) for each in both):
                found = both
                # a floor may be zero there, and twice as much would be too
                if any(both):
                    return both
        if found is not None:
            return found
        raise StepError(f"Too few random points have a real value of {to_text(cell)} to check it.")


@dataclass(frozen=True)
class Line:
    """A row: what stands in front, the values it gives to symbols, its words by column, and what nobody states."""

    lead: tuple[Cell, ...]
    point: Point
    words: Mapping[str, Prose]
    unstated: frozenset[sp.Symbol] = frozenset()


@dataclass(frozen=True)
class Asked:
    """A table as an author writes it; see `Tabling.table`."""

    title: str
    columns: Mapping[str, str | sp.Expr]
    lines: Sequence[Line]
    heads: Sequence[Head]
    known: Point
    units: Mapping[str, str] = field(default_factory=dict)
    expect: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    front: Mapping[str, str] = field(default_factory=dict)
    fits: str = ""
    formulas: bool = False
    note: str = ""


def tabled(asked: Asked) -> tuple[list[dict[str, sp.Expr]], Step]:
    """Return the cells by row, and the step with the table. Raises SymscaleError, StepError."""
    if not asked.lines:
        raise SymscaleError(f"The table {asked.title[:60]!r} has no rows.", hint="Give values over a symbol, or rows.")
    computed = {name: read(each) for name, each in asked.columns.items() if each != ""}
    if not computed:
        raise SymscaleError(f"The table {asked.title[:60]!r} has words alone.", hint="Give a column a formula.")
    equations: list[Relation] = []
    parts = []
    found, rows = [], []
    for line in asked.lines:
        cells, row = {}, list(line.lead)
        for name in asked.columns:
            if name not in computed:
                row.append(line.words.get(name, ""))
                continue
            if computed[name].free_symbols & line.unstated:
                row.append(UNSTATED)
                continue
            cells[name] = _cell(name, computed[name], line, asked)
            row.append(len(equations))
            equations.append(Relation(head_of(name), "==", cells[name]))
            used = {**asked.known, **{each: value.xreplace(dict(asked.known)) for each, value in line.point.items()}}
            parts.append((computed[name], tuple((each, used[each]) for each in _needed(computed[name], used))))
        found.append(cells)
        rows.append(row)
    _expected(asked.expect, found)
    own = [Head(head_of(n), shown_unit(n, asked.units)) if n in computed else Head(n) for n in asked.columns]
    heads = [*asked.heads, *own]
    mark = _marked(asked, found, rows)
    if mark:
        heads.append(Head(""))
    sheet = Sheet(tuple(heads), tuple(map(tuple, rows)), mark)
    units = tuple(shown_unit(to_text(each.lhs), asked.units) for each in equations)
    step = Step(
        "table", asked.title, _reason(asked, computed), tuple(equations), (Cells(tuple(parts)),), (), (), units, sheet
    )
    return found, step


def _reason(asked: Asked, computed: Mapping[str, sp.Expr]) -> Prose:
    """Return what the author says of the table, and the values that all rows share."""
    varied = {name for line in asked.lines for name in (*line.point, *line.unstated)}
    forms = [*computed.values(), *(value for line in asked.lines for value in line.point.values())]
    names = {name for each in forms for name in each.free_symbols}
    shared = sorted((names & set(asked.known)) - varied, key=str)
    pairs: list[str | sp.Expr | Relation] = []
    for name in shared:
        value, unit = asked.known[name], shown_unit(str(name), asked.units)
        shown = format_quantity(value, unit, 6) if value.is_number else to_text(value)
        pairs += [", ", name, f" = {shown}"]
    said = f"{asked.note} " if asked.note else ""
    return (f"{said}Put in ", *pairs[1:], ".") if pairs else said.rstrip() or "Formulas of this derivation."


def _needed(formula: sp.Expr, used: Point) -> list[sp.Symbol]:
    return sorted(formula.free_symbols & set(used), key=str)


def _cell(name: str, formula: sp.Expr, line: Line, asked: Asked) -> sp.Expr:
    value = formula.xreplace(dict(line.point)).xreplace(dict(asked.known))
    left = sorted(map(str, value.free_symbols))
    if left and not asked.formulas:
        where = f" in the row {line.lead[0]}" if line.lead and isinstance(line.lead[0], str) else ""
        raise SymscaleError(
            f"{name} needs a number for {', '.join(left)}{where}.",
            hint="Give it in values, in the row, or over a range; a table of formulas says formulas=True.",
        )
    if value.is_number and not (value.is_real and value.is_finite):
        at = ", ".join(f"{each} = {to_text(number)}" for each, number in line.point.items())
        raise SymscaleError(f"{name} has no value where {at or 'the values are these'}.", hint="Leave this row out.")
    return value


def _expected(expect: Mapping[str, Sequence[str | None]], found: Sequence[Mapping[str, sp.Expr]]) -> None:
    """Compare cells with what an author prints. Raises StepError, and SymscaleError for another number of rows."""
    for name, texts in expect.items():
        if len(texts) != len(found):
            raise SymscaleError(
                f"{len(texts)} cells of {name} are expected, and the table has {len(found)} rows.",
                hint="Write None for a row that nothing is expected of.",
            )
        for text, row in zip(texts, found, strict=True):
            if text is None:
                continue
            if name not in row:
                raise StepError(f"The table has no {name} where {text} is expected.")
            exactly = bool(row[name].free_symbols) or read(text) == 0
            check: Callable[[sp.Expr, str], None] = expected_formula if exactly else expected_number
            check(row[name], text)


def _marked(asked: Asked, found: Sequence[Mapping[str, sp.Expr]], rows: Sequence[list[Cell]]) -> str:
    """Add marks to the rows of a table that has a front or a condition, and return what they mean."""
    if not (asked.front or asked.fits):
        return ""
    able = [_fits(asked, line, cells) for line, cells in zip(asked.lines, found, strict=True)]
    missing = [name for name in asked.front if name not in asked.columns]
    if missing:
        raise SymscaleError(f"The table has no column {missing[0]}.", hint=f"It has {', '.join(asked.columns)}.")
    best = set(_front(asked.front, found, able)) if asked.front else set()
    for n, row in enumerate(rows):
        row.append("*" if n in best else "" if able[n] else "does not fit")
    if not asked.front:
        return ""
    least = " and ".join(f"{way} {name}" for name, way in asked.front.items())
    fit = " that fits" if asked.fits else ""
    return f"A * marks the Pareto front of {least}: no other row{fit} is as good in all of it and better in some."


def _fits(asked: Asked, line: Line, cells: Mapping[str, sp.Expr]) -> bool:
    if not asked.fits:
        return True
    lhs, op, rhs, _ = parse_relation(asked.fits)
    point = {**asked.known, **line.point, **{symbol(name): each for name, each in cells.items()}}
    left, right = lhs.xreplace(dict(point)), rhs.xreplace(dict(point))
    if left.free_symbols | right.free_symbols:
        names = ", ".join(sorted(map(str, left.free_symbols | right.free_symbols)))
        raise SymscaleError(f"Whether a row fits needs a number for {names}.", hint="Give it in values.")
    return bool(MASKS["==" if op == "=" else op] & 1 << (sign_of_number(left, right) + 1))


def _front(wanted: Mapping[str, str], found: Sequence[Mapping[str, sp.Expr]], able: Sequence[bool]) -> Iterator[int]:
    """Yield the rows that no other row beats. Raises SymscaleError for another word than least or most."""
    for way in wanted.values():
        if way not in BETTER:
            raise SymscaleError(f"A front cannot have {way[:40]!r} of a column.", hint="Write least or most.")
    rows = [n for n, fit in enumerate(able) if fit and all(name in found[n] for name in wanted)]
    for n in rows:
        if not any(_beats(found[other], found[n], wanted) for other in rows):
            yield n


def _beats(one: Mapping[str, sp.Expr], other: Mapping[str, sp.Expr], wanted: Mapping[str, str]) -> bool:
    signs = [BETTER[way] * sign_of_number(one[name], other[name]) for name, way in wanted.items()]
    return min(signs) >= 0 and max(signs) > 0


def read(value: str | int | sp.Expr) -> sp.Expr:
    if isinstance(value, str):
        return parse_formula(value).expr
    return sp.Integer(value) if isinstance(value, int) else value


def head_of(name: str) -> sp.Expr:
    return parse_formula(name).expr


def shown_unit(name: str, units: Mapping[str, str]) -> str:
    """Return the unit of a quantity: as given, as the vocabulary has it, or by its first letter: T_load is a time."""
    row = entry(name)
    stem, _, rest = name.partition("_")
    usual = STEMS.get(stem, "") if rest and not rest[0].isupper() else ""
    return units.get(name) or (row.unit if row is not None else usual or unit_of(head_of(name), None))
