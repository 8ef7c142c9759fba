"""The symbols that derivations use: those of the vocabulary with their meaning, an author's own with a solved unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

import sympy as sp

from symscale.derivation.figure import Figure
from symscale.derivation.given import Legal
from symscale.derivation.layer import Layer
from symscale.derivation.step import Derivation, Step
from symscale.errors import UnitError
from symscale.frozen import dataclass
from symscale.notation.implicit import meaning
from symscale.notation.latex import symbol_latex
from symscale.quantity import PURE, Dimension, dimension_of, parse_unit, table_dimensions
from symscale.vocabulary import TABLE, symbol


@dataclass(frozen=True)
class Used:
    """A symbol in the formulas of a derivation: what it means there, and its unit; `own` if the table has it not."""

    name: str
    meaning: str
    unit: str
    own: bool


@dataclass(frozen=True)
class Row:
    """A line of a table of symbols; `ids` are the derivations whose author gave the symbol its meaning."""

    name: str
    latex: str
    meaning: str
    unit: str
    ids: tuple[str, ...]


def used(derivation: Derivation) -> tuple[Used, ...]:
    """Return every symbol that a formula of the derivation shows."""
    names = {each.name for expr in _shown(derivation.steps) for each in expr.free_symbols}
    layers = [proof.layer for step in derivation.steps for proof in step.proofs if isinstance(proof, Legal)]
    meanings = {name: _meaning(name, layers) for name in sorted(names) if name not in TABLE}
    units = _units(derivation.steps, {name: unit for name, (_, unit) in meanings.items()})
    return tuple(
        Used(name, TABLE[name].meaning, TABLE[name].unit or "1", False)
        if name in TABLE
        else Used(name, meanings[name][0], units[name], True)
        for name in sorted(names)
    )


def tables(found: Iterable[tuple[str, Iterable[Used]]]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Return the rows of the vocabulary, in its order, and of the authors' own symbols, by name.

    `found` pairs the id of a derivation with its symbols; different meanings or units of one name stand side by side.
    """
    gathered: dict[str, list[tuple[str, Used]]] = {}
    for origin, symbols in found:
        for each in symbols:
            gathered.setdefault(each.name, []).append((origin, each))
    rows = {name: _row(name, uses) for name, uses in gathered.items()}
    own = sorted((name for name, uses in gathered.items() if uses[0][1].own), key=_alphabetical)
    return tuple(rows[name] for name in TABLE if name in rows), tuple(rows[name] for name in own)


def _row(name: str, uses: list[tuple[str, Used]]) -> Row:
    meanings = dict.fromkeys(each.meaning for _, each in uses if each.meaning)
    units = dict.fromkeys(each.unit for _, each in uses)
    ids = tuple(dict.fromkeys(origin for origin, each in uses if not each.meaning))
    return Row(name, symbol_latex(name), "; ".join(meanings), " or ".join(units), ids)


def _alphabetical(name: str) -> list[tuple[str, int, str]]:
    return [
        (word.casefold(), int(number or 0), word) for word, number in re.findall(r"(\D+)(\d*)|^(?=\d)", name) if word
    ]


def _shown(value: object) -> Iterator[sp.Expr]:
    """Yield the expressions that a value holds, but for proofs: they are not printed."""
    if isinstance(value, sp.Basic):
        yield value
    elif isinstance(value, Figure):
        areas = value.map.areas if value.map is not None else ()
        labels = [each.label for each in (value.x, value.y)] + [each.label for each in value.curves]
        labels += [each.label for each in value.marks] + [each.label for each in areas]
        yield from _shown((value.caption, value.setting, labels))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _shown(each)
    elif is_dataclass(value):
        for each in fields(value):
            if not (isinstance(value, Step) and each.name == "proofs"):
                yield from _shown(getattr(value, each.name))


def _meaning(name: str, layers: Iterable[Layer]) -> tuple[str, str]:
    """Return what a program makes of a name, and its unit; "" for a name that only the author's formulas have."""
    for layer in layers:
        program = layer.program
        for sizes, kind in ((program.sizes, "dimension"), (program.mesh, "mesh axis")):
            for each, size in sizes.items():
                if size.is_Symbol and size.name == name:
                    return f"size of the {kind} {each}", "1"
        stem, _, rest = name.partition("_")
        if rest in program.mesh and stem in _ALONG:
            words, unit = _ALONG[stem]
            return words.format(rest), unit
        if stem == "V" and rest:
            return "bytes of the array of a collective, whole over its axes", "B"
        if symbol(name) in layer.typed.numbers:
            known = meaning(name, program.values) or f"bytes per element of what the program calls {rest}"
            return known.removeprefix("the "), "B"
    stem, below, _ = name.partition("_")
    return meaning(name, ()).removeprefix("the "), _LABELLED.get(name) or (_STEMS.get(stem, "") if below else "")


_ALONG = {
    "bytes": ("bytes that a chip receives over the mesh axis {}", "B"),
    "T": ("time of the communication over the mesh axis {}", "s"),
    "M": ("physical axes of the mesh axis {}", "1"),
}
# The units of the labels that every derivation has.
_LABELLED = {"FLOPs": "FLOP", "FLOPs_vector": "FLOP", "bytes_hbm": "B", "intensity": "FLOP/B", "ratio": "1"}

# With a subscript the letters of the vocabulary mean the same kind of thing: T_load is a time as T_math is.
_STEMS = {"b": "B", "M": "B", "bytes": "B", "T": "s", "W": "B/s", "C": "FLOP/s", "FLOPs": "FLOP", "intensity": "FLOP/B"}


def _units(steps: Sequence[Step], own: Mapping[str, str]) -> dict[str, str]:
    """Return the units of an author's own symbols: as a step or the program states them, else that of what they equal.

    Others are pure numbers: those that no equation defines, and what is made of them.
    """
    known = {**table_dimensions(), **{name: parse_unit(unit).dimension for name, unit in own.items() if unit}}
    found = {name: unit for name, unit in own.items() if unit}
    for step in steps:
        for each, unit in zip(step.equations, step.units or ("",) * len(step.equations), strict=True):
            name = str(each.lhs)
            if own.get(name) == "" and each.op in ("=", "=="):
                dimension = _dimension(unit) if unit else _solved(each.rhs, known)
                if name not in known or (dimension and not known[name]):
                    known[name] = dimension
                    found[name] = str(dimension)
    return {name: found.get(name) or "1" for name in own}


def _solved(expr: sp.Expr, known: Mapping[str, Dimension]) -> Dimension:
    if not {each.name for each in expr.free_symbols} <= known.keys():
        return PURE
    try:
        found = dimension_of(expr, known)
    except UnitError:
        return PURE  # numbers in place of bytes per element
    # bytes in B^2 or a rate in 1/s^2 are bytes and seconds that the author's numbers left out
    return found if all(abs(each) <= 1 for each in (found.byte, found.second)) else PURE


def _dimension(unit: str) -> Dimension:
    try:
        return parse_unit(unit).dimension
    except UnitError:
        return PURE  # "tokens per chip along X" counts
