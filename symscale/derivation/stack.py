"""A stack of equal layers, and tables of times over a range of values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp

from symscale.cost import Times
from symscale.derivation.crossover import pass_name
from symscale.derivation.evaluate import numbers
from symscale.derivation.mesh import aliases
from symscale.derivation.proof import Equal, float_value
from symscale.derivation.question import Answered
from symscale.derivation.sizes import LARGEST, counts, fitting, own_symbol, placed, positive, settled
from symscale.derivation.step import Step
from symscale.errors import LayoutError, SymscaleError
from symscale.machine import chosen
from symscale.notation.formula import parse_formula, parse_range
from symscale.notation.text import to_text
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

MOST_ROWS = 1000
# Two times closer than this are one time: floats print the table, and a border is where both sides are equal.
TIE = 1 + 1e-12


def layers_of(text: str) -> sp.Expr:
    """Return a number of layers: a whole number, or a symbol such as L. Raises SymscaleError."""
    if not text:
        return sp.S.One
    count = parse_formula(text).expr
    if count.is_number and not (count.is_Integer and 1 <= count <= LARGEST):
        raise SymscaleError(f"There cannot be {text[:40]} layers.", hint="Give a whole number from 1, or a symbol.")
    return count


def stacked(answered: Answered, text: str) -> Answered:
    """Return the answer with the times of a stack of layers, each the program: T = layers · T of one layer."""
    count = layers_of(text)
    program = answered.layer.program
    clash = sorted(str(each) for each in count.free_symbols if str(each) in {*program.sizes, *program.mesh})
    if clash:
        raise LayoutError(
            f"{clash[0]} is a size of the program, so it cannot count layers too.", hint="Rename one of them."
        )
    steps = list(answered.derivation.steps)
    at = next((n for n, step in enumerate(steps) if step.title == "Answer"), len(steps))
    steps[at:at] = [_stack(name, each, count, text) for name, each in answered.times.items()]
    return replace(answered, derivation=replace(answered.derivation, steps=tuple(steps)))


def _stack(name: str, each: Times, count: sp.Expr, text: str) -> Step:
    parts = {"T_math": each.math, "T_hbm": each.hbm, "T_comms": each.comms, "T_total": each.total}
    shown = {key: spent for key, spent in parts.items() if spent != 0}
    equations = tuple(Relation(symbol(key), "==", sp.expand_mul(count * spent)) for key, spent in shown.items())
    return Step(
        "substitute",
        f"{pass_name(name)}: times of {text.strip()} layers",
        "Every layer takes the same time; both sides of a crossover scale alike, so thresholds stay as they are.",
        equations,
        (Equal(tuple(spent * count for spent in shown.values())),),
    )


@dataclass(frozen=True)
class Row:
    """The times of one pass at one value of the unknown [s], and what takes the longest."""

    value: sp.Rational
    math: float
    hbm: float
    comms: float
    bound: str


@dataclass(frozen=True)
class Table:
    """Rows over the values of one symbol, for each pass."""

    unknown: str
    rows: dict[str, tuple[Row, ...]]


def tabulated(answered: Answered, text: str, layers: str = "") -> Table:
    """Return the times over a range such as `B=1k:1M:*2`.

    Raises SymscaleError naming the symbols that have no number, and for more than 1,000 rows.
    """
    name, equals, values = (each.strip() for each in text.partition("="))
    if not equals or not name:
        raise SymscaleError(f"{text[:60]!r} is no range of values.", hint="Write --table B=1k:1M:*2.")
    layer, question = answered.layer, answered.question
    unknown = own_symbol(name, layer, aliases(layer))
    chip = chosen(question.on)
    given, linked = settled(question.values)
    known = {**numbers(layer, chip, placed(given, linked, layer, aliases(layer)))}
    known.pop(unknown, None)
    points = parse_range(values)
    if len(points) > MOST_ROWS:
        raise SymscaleError(
            f"The table would have {len(points):,} rows.", hint=f"At most {MOST_ROWS:,}: widen the step."
        )
    _complete(answered, unknown, known, layers_of(layers))
    for value in points:
        if positive(name, value) and unknown in counts(layer) and not value.is_Integer:
            raise LayoutError(f"{name} = {to_text(value)} is not whole.", hint="Sizes are whole numbers.")
        fitting(layer, {**known, unknown: value})
    rows = {}
    for which, each in answered.times.items():
        scaled = [spent * layers_of(layers) for spent in (each.math, each.hbm, each.comms)]
        rows[which] = tuple(_row(value, scaled, {**known, unknown: value}) for value in points)
    return Table(str(unknown), rows)


def _complete(answered: Answered, unknown: sp.Symbol, known: dict[sp.Symbol, sp.Expr], layers: sp.Expr) -> None:
    times = [part for each in answered.times.values() for part in (each.math, each.hbm, each.comms)]
    need = {name for part in (*times, layers) for name in part.free_symbols}
    missing = sorted(map(str, need - set(known) - {unknown}))
    if missing:
        machine_names = [each for each in missing if each.startswith(("C", "W_")) or each == "T_hop"]
        way = "Name a chip with --on" if machine_names else "Give it with --set or --mesh"
        both = " and the others with --set or --mesh" if 0 < len(machine_names) < len(missing) else ""
        raise SymscaleError(
            f"A table needs numbers, and {', '.join(missing)} {'have' if len(missing) > 1 else 'has'} none.",
            hint=f"{way}{both}, as in --on tpu-v5p --set D=8192,F=4*D --mesh X=16.",
        )


def _row(value: sp.Rational, parts: list[sp.Expr], point: dict[sp.Symbol, sp.Expr]) -> Row:
    math, hbm, comms = (float_value(part, point) for part in parts)
    bound = "compute" if math * TIE >= max(hbm, comms) else "network" if comms >= hbm else "HBM"
    return Row(value, math, hbm, comms, bound)
