"""A relation of the user's own: named formulas, units, the crossover, numbers on a chip."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.array import ELEMENT_BYTES
from symscale.array import dtype as canonical
from symscale.derivation.builder import Builder
from symscale.derivation.crossover import Crossover
from symscale.derivation.proof import Equal
from symscale.derivation.sizes import positive, settled
from symscale.derivation.step import Derivation, Step
from symscale.errors import SymscaleError, UnitError
from symscale.frozen import dataclass
from symscale.machine import Machine
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.text import relation_text, to_text
from symscale.quantity import PURE, Dimension, check, infer, parse_unit, table_dimensions
from symscale.shown import Printed
from symscale.solve.relation import Relation
from symscale.vocabulary import entry, symbol

# Letters of the vocabulary that formulas of collectives use for something else: its unit, and what it is.
OTHER_MEANING = {"V": ("B", "the whole array of a collective"), "T": ("s", "a time")}

PLAIN_BYTES = "No bytes per element are named, so numbers of elements stand for bytes: this is the dtype form."


@dataclass(frozen=True)
class Asked:
    """A relation between formulas and what it is solved for; `lets` names parts of it.

    `values` are numbers and links, `units` the dimensions of the user's own symbols.
    """

    relation: str
    unknown: str
    lets: Mapping[str, sp.Expr]
    values: Mapping[str, sp.Expr]
    units: Mapping[str, Dimension]
    assume: str = ""
    exact: bool = False
    on: Machine | None = None
    dtype: str = ""


@dataclass(frozen=True)
class Found(Printed):
    """The derivation of a relation's answer, and the answer."""

    derivation: Derivation
    crossover: Crossover


def solve_relation(asked: Asked) -> Found:
    """Solve a relation between formulas. Raises NotationError, UnitError, UndecidedError, SymscaleError."""
    lhs, op, rhs, order = parse_relation(asked.relation)
    lets = followed(asked.lets)
    numbers, links = settled(asked.values)
    _used(lets, lhs.free_symbols | rhs.free_symbols, asked)
    d = Builder(f"Where {to_text(lhs, order)} {op} {to_text(rhs, order)}")
    d.order = order
    _given(d, lets)
    known = {**lets, **{symbol(name): value for name, value in links.items()}}
    sides = Relation(lhs.subs(known).subs(known), "==" if op == "=" else op, rhs.subs(known).subs(known))
    unknown = _unknown(asked.unknown, sides, {symbol(word) for word in re.findall(r"[A-Za-z_]\w*", asked.relation)})
    for name in (each for each in numbers if symbol(each) in unknown.as_numer_denom()[0].free_symbols):
        raise SymscaleError(
            f"{name} is given as {to_text(numbers[name])}, and is to be solved for too.",
            hint="Leave one of them out.",
        )
    values = {**chip_numbers(asked, sides), **numbers}
    _names(values, numbers, sides, lets)
    _units(asked.units, sides)
    note = dimensions(sides, asked.units)
    if note:
        d.remark(note)
    found = d.crossover(sides.lhs, sides.op, sides.rhs, unknown, limits=asked.assume or None, exact=not asked.assume)
    d.crossovers[-1] = found = _measured(found, sides, asked.units, note)
    values.pop(str(unknown), None)
    if asked.on is not None or values:
        found = d.evaluate(found, on=asked.on, values=values)
    return Found(replace(d.derivation, order=order), found)


def _measured(found: Crossover, sides: Relation, units: Mapping[str, Dimension], note: str) -> Crossover:
    """Return an answer with the unit that the relation gives its unknown, where the vocabulary has none for it."""
    if found.unit or not found.headline.unknown.is_Symbol or note == PLAIN_BYTES:
        return found
    names = {str(each) for each in sides.free_symbols}
    other = {name for name in OTHER_MEANING if note and name in names}
    known = {name: each for name, each in {**table_dimensions(), **units}.items() if name in names - other}
    try:
        inferred = infer([(sides.lhs, sides.rhs)], known, show=to_text)
    except UnitError:
        return found
    dimension = {**known, **inferred}.get(str(found.headline.unknown), PURE)
    unit = str(dimension) if dimension != PURE else ""
    return replace(found, answers=tuple(replace(each, unit=unit) for each in found.answers))


def followed(lets: Mapping[str, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """Return named formulas with the names inside them replaced. Raises SymscaleError for a circle."""
    for name, value in lets.items():
        if value.is_number:
            positive(name, value)
    _, links = settled({name: value for name, value in lets.items() if not value.is_number})
    plain = {symbol(name): value for name, value in lets.items() if value.is_number}
    return {symbol(name): links.get(name, value).xreplace(plain) for name, value in lets.items()}


def _used(lets: Mapping[sp.Symbol, sp.Expr], names: set[sp.Symbol], asked: Asked) -> None:
    """Refuse a name that no formula uses. Raises SymscaleError."""
    others = {each for value in (*asked.lets.values(), *asked.values.values()) for each in value.free_symbols}
    idle = [str(name) for name in lets if name not in names | others]
    if idle:
        raise SymscaleError(
            f"--let names {idle[0][:60]}, and no other formula uses it.",
            hint=f"Leave it out, or give a number by --set {idle[0][:60]}=….",
        )


def _given(d: Builder, lets: Mapping[sp.Symbol, sp.Expr]) -> None:
    if lets:
        equations = tuple(Relation(name, "==", value) for name, value in lets.items())
        d.add(Step("given", "The formulas", "As given.", equations, (Equal(tuple(lets.values())),)))


def _unknown(text: str, sides: Relation, written: set[sp.Symbol]) -> sp.Expr:
    unknown = parse_formula(text).expr
    missing = sorted(str(each) for each in unknown.free_symbols - sides.free_symbols)
    if missing and unknown.free_symbols <= written:
        left = relation_text(sides.lhs, sides.op, sides.rhs)
        raise SymscaleError(
            f"{missing[0]} cancels: the relation says {left}.",
            text=text,
            position=max(text.find(missing[0]), 0),
            hint="Write a relation that depends on it.",
        )
    if missing or not unknown.free_symbols:
        have = ", ".join(sorted(map(str, sides.free_symbols)))
        raise SymscaleError(
            f"{missing[0] if missing else text} does not occur in the relation.",
            text=text,
            position=max(text.find(missing[0]), 0) if missing else 0,
            hint=f"Solve for one of {have}." if have else "Write a relation with symbols, such as 2*B*D*F/C >= T.",
        )
    return unknown


def _names(
    values: Mapping[str, sp.Expr],
    numbers: Mapping[str, sp.Expr],
    sides: Relation,
    lets: Mapping[sp.Symbol, sp.Expr],
) -> None:
    have = {str(each) for each in sides.free_symbols}
    for name in numbers:
        if name not in have:
            raise SymscaleError(
                f"{name[:60]} does not occur in the relation.",
                hint=f"It has {', '.join(sorted(have)) or 'no symbols'}.",
            )


def _units(units: Mapping[str, Dimension], sides: Relation) -> None:
    have = {str(each) for each in sides.free_symbols}
    for name in units:
        if name not in have:
            raise SymscaleError(
                f"{name[:60]} does not occur in the relation, so it needs no unit.",
                hint=f"It has {', '.join(sorted(have)) or 'no symbols'}.",
            )


def chip_numbers(asked: Asked, sides: Relation) -> dict[str, sp.Expr]:
    """Return what a chip and a dtype say of the symbols of a relation: C, b, bandwidths."""
    if asked.on is None and not asked.dtype:
        return {}
    kind = canonical(asked.dtype or "bf16")
    found: dict[str, sp.Expr] = {"b": ELEMENT_BYTES[kind]}
    if asked.on is not None:
        if symbol("W") in sides.free_symbols and "W" not in asked.values:
            bands = ", ".join(name for name in asked.on.constants(None) if name.startswith("W_"))
            raise SymscaleError(f"W is any of {bands} on {asked.on.title}.", hint="Write the one that is meant.")
        found |= asked.on.constants(None)
        if symbol("C") in sides.free_symbols:
            found["C"] = asked.on.peak(kind)
    have = {str(each) for each in sides.free_symbols}
    return {name: value for name, value in found.items() if name in have}


def dimensions(sides: Relation, units: Mapping[str, Dimension]) -> str:
    """Check the units of both sides; return a note where bytes per element are read as plain numbers.

    Raises UnitError naming the two sides, or the two addends, that differ.
    """
    known = {**table_dimensions(), **units}
    names = {str(each) for each in sides.free_symbols}
    show = to_text
    try:
        known |= infer([(sides.lhs, sides.rhs)], {k: v for k, v in known.items() if k in names}, show=show)
        check(sides.lhs, sides.rhs, known, show=show)
    except UnitError:
        other = _other_meaning(sides, known, names)
        if other:
            return other
        if any(each == "b" or each.startswith("b_") for each in names):
            raise
        plain = {name: _without_bytes(each) for name, each in known.items() if name in names}
        try:
            check(sides.lhs, sides.rhs, {**plain, **infer([(sides.lhs, sides.rhs)], plain, show=show)}, show=show)
        except UnitError:
            pass
        else:
            return PLAIN_BYTES
        raise
    return ""


def _other_meaning(sides: Relation, known: Mapping[str, Dimension], names: set[str]) -> str:
    """Return a note where the units agree if V is the bytes of a collective, or T a time; "" where they do not."""
    read = [name for name in OTHER_MEANING if name in names]
    left = {name: each for name, each in known.items() if name in names and name not in read}
    try:
        found = infer([(sides.lhs, sides.rhs)], left, show=to_text)
        check(sides.lhs, sides.rhs, {**left, **found}, show=to_text)
    except UnitError:
        return ""
    changed = [name for name in read if found.get(name) == parse_unit(OTHER_MEANING[name][0]).dimension]
    if changed != [name for name in read if found.get(name, PURE) != PURE]:
        return ""
    return " ".join(f"{name} is {OTHER_MEANING[name][1]} here, in {OTHER_MEANING[name][0]}." for name in changed)


def _without_bytes(each: Dimension) -> Dimension:
    return replace(each, byte=type(each.byte)(0))


def assignments(lines: Iterator[str] | tuple[str, ...], *, counts: bool = False) -> dict[str, sp.Expr]:
    """Return what several `D=8192, F=4*D` assign; with `counts`, names without a unit of their own take pure numbers.

    Raises NotationError, and SymscaleError for a name given twice.
    """
    from symscale.notation.formula import parse_assignments

    found: dict[str, sp.Expr] = {}
    for line in lines:
        if not line.strip():
            raise SymscaleError("An assignment is empty.", hint="Write D=8192, or F=4*D.")
        for name, value in parse_assignments(line, counts=counts).items():
            if name in found:
                raise SymscaleError(f"{name} is given twice.", hint="Leave one of them out.")
            found[name] = value
    return found


def given_units(lines: Sequence[str]) -> dict[str, Dimension]:
    """Return the dimensions that several `W_x=B/s` give.

    Raises SymscaleError for an empty one, a second one, and one that the vocabulary contradicts.
    """
    found: dict[str, Dimension] = {}
    for line in lines:
        name, equals, word = (each.strip() for each in line.partition("="))
        if not equals or not name or not word:
            raise SymscaleError(f"{line[:40]!r} gives no unit.", hint="Write --unit W_pcie=B/s.")
        if name in found:
            raise SymscaleError(f"{name} is given a unit twice.", hint="Leave one of them out.")
        found[name] = parse_unit(word).dimension
        row = entry(name)
        if row is not None and row.unit and found[name] != table_dimensions()[name]:
            raise SymscaleError(
                f"{name} is the {row.meaning}, in {row.unit}, not in {word}.",
                hint="Write another name for a symbol of your own.",
            )
    return found
