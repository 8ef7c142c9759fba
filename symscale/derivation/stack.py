"""A stack of equal layers, and tables of times over a range of values."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from symscale.cost import Times
from symscale.derivation.crossover import pass_name
from symscale.derivation.evaluate import numbers
from symscale.derivation.mesh import aliases
from symscale.derivation.proof import Equal, float_value
from symscale.derivation.question import Answered
from symscale.derivation.sizes import LARGEST, counts, finite, fitting, own_symbol, placed, positive, settled
from symscale.derivation.spent import in_numbers
from symscale.derivation.step import Step
from symscale.errors import LayoutError, SymscaleError
from symscale.frozen import dataclass
from symscale.machine import chosen
from symscale.notation.formula import parse_formula, parse_range
from symscale.notation.implicit import meaning
from symscale.notation.text import to_text
from symscale.shown import Printed
from symscale.solve.relation import Relation
from symscale.vocabulary import entry, symbol

MOST_ROWS = 1000
# Two times closer than this are one time: floats print the table, and a border is where both sides are equal.
TIE = 1 + 1e-12


def layers_of(text: str) -> sp.Expr:
    """Return a number of layers: a whole number, or a symbol such as L. Raises SymscaleError."""
    if not text:
        return sp.S.One
    count = finite("layers", parse_formula(text).expr)
    if (count.is_number and not (count.is_Integer and 1 <= count <= LARGEST)) or count.is_positive is False:
        raise SymscaleError(f"There cannot be {text[:40]} layers.", hint="Give a whole number from 1, or a symbol.")
    rate = next((each for each in map(str, count.free_symbols) if (row := entry(each)) is not None and row.unit), "")
    if rate:
        raise SymscaleError(
            f"{rate} is {meaning(rate, ())}, which cannot count layers.",
            hint="Give a whole number from 1, or a symbol such as L.",
        )
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
    stack = [_stack(name, each, count, text) for name, each in answered.times.items()]
    if answered.headline is None and answered.optimum is None:
        chip, known = chosen(answered.question.on), _known(answered)
        stack += [step for name, each in answered.times.items() for step in in_numbers(name, each, known, chip, count)]
    steps[at:at] = stack
    return replace(answered, derivation=replace(answered.derivation, steps=tuple(steps)))


def _known(answered: Answered) -> dict[sp.Symbol, sp.Expr]:
    """Return every number that a question gives: the machine's constants, widths, sizes."""
    layer, question = answered.layer, answered.question
    given, linked = settled(question.values)
    return numbers(layer, chosen(question.on), placed(given, linked, layer, aliases(layer)))


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
class Table(Printed):
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
    layer = answered.layer
    unknown = own_symbol(name, layer, aliases(layer))
    known = _known(answered)
    if _given_already(unknown, answered):
        raise SymscaleError(
            f"{name} has a number already, and the table gives it others.", hint=f"Leave {name} out of --set."
        )
    known.pop(unknown, None)
    points = parse_range(values, name)
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


def _given_already(unknown: sp.Symbol, answered: Answered) -> bool:
    """Return whether --set gives a number or a link for what the table varies."""
    layer = answered.layer
    return any(own_symbol(name, layer, aliases(layer)) == unknown for name in answered.question.values)


def _complete(answered: Answered, unknown: sp.Symbol, known: dict[sp.Symbol, sp.Expr], layers: sp.Expr) -> None:
    times = [part for each in answered.times.values() for part in (each.math, each.hbm, each.comms)]
    need = {name for part in (*times, layers) for name in part.free_symbols}
    missing = sorted(map(str, need - set(known) - {unknown}))
    if missing:
        sizes = {str(each) for each in answered.layer.counted}
        rates = [each for each in missing if each not in sizes]
        machine_names = [each for each in rates if each.startswith(("C", "W_")) or each == "T_hop"]
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
