"""Slips: what else may go another way than a derivation has it, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import sympy as sp

from symscale.exercise.conventions import (
    HALF,
    MOST_TERMS,
    TWO,
    Q,
    Reading,
    Readings,
    latency,
    named,
    overlaps,
    shards,
    shares,
    sums,
    times,
    units,
    unsharded,
)
from symscale.exercise.setting import Setting
from symscale.machine import machine, machines
from symscale.notation.numbers import format_number
from symscale.notation.text import to_text
from symscale.solve.exact import value_at
from symscale.vocabulary import entry, symbol

#: What may be taken for another where no values are given.
RATES = ("C", "W_hbm", "W_ici", "W_link", "W_nvlink", "W_pcie", "W_dcn")
#: Of more symbols no two are exchanged.
MOST_SYMBOLS = 8


def peaks(found: Setting) -> Iterator[Reading]:
    """The peak of another dtype, or of sparse matrices."""
    for name in named(found, "C"):
        yield Reading("twice the peak, that of int8 or of structured sparsity", times(found, name, TWO), (name,))
        yield Reading("half the peak", times(found, name, HALF), (name,))


def rounded(found: Setting) -> Iterator[Reading]:
    """Values rounded before they are put in."""
    for digits in (3, 2, 1):
        word = "digit" if digits == 1 else "digits"
        near = {name: _rounded(value, digits) for name, value in found.used.items() if value.is_Rational}
        changed = {name: value for name, value in near.items() if value != found.values[name]}
        for name, value in changed.items():
            yield Reading(f"{to_text(name)} rounded to {format_number(value)}", found.put({name: value}), (name,))
        rates = {name: value for name, value in changed.items() if name.name.partition("_")[0] in ("C", "W")}
        if len(rates) > 1:
            yield Reading(f"peak and bandwidth rounded to {digits} {word}", found.put(rates))
        if len(changed) > max(len(rates), 1):
            yield Reading(f"every value rounded to {digits} {word}", found.put(changed))
        if digits > 1:
            yield from _multiplied_out(found, digits, word)


def _multiplied_out(found: Setting, digits: int, word: str) -> Iterator[Reading]:
    """Products of sizes rounded on the way: 2*D*F taken as 1.3e8."""
    rates = {name for name in found.used if name.name.partition("_")[0] in ("C", "W", "T")}
    sizes = {name: value for name, value in found.used.items() if name not in rates and value.is_Integer}
    expr = found.expr.xreplace(sizes)
    near = {each: _rounded(each, digits) for each in expr.atoms(sp.Integer) if abs(each) >= 100}
    if rates and any(each != value for each, value in near.items()):
        yield Reading(f"products of sizes rounded to {digits} {word}", found.of(expr.xreplace(near)))


def intermediate(found: Setting) -> Iterator[Reading]:
    """A quantity on the way to the answer rounded, or cut off, before it is used."""
    for name, part in found.parts.items():
        if name == found.name or not part.free_symbols or part == found.expr:
            continue
        value = value_at(part, found.values)
        for rest in (found.expr / part, found.expr * part):
            if value.is_Rational and len(rest.free_symbols) < len(found.expr.free_symbols):
                for digits in (3, 2, 1):
                    for near in {_rounded(value, digits), _cut(value, digits)} - {value}:
                        factor = near / value if rest == found.expr / part else value / near
                        yield Reading(f"{name} taken as {format_number(near)}", found.scaled(factor))


def left_out(found: Setting) -> Iterator[Reading]:
    """One term of a sum left out."""
    for total in sums(found):
        if len(total.args) <= MOST_TERMS and not any(term.is_number for term in total.args):
            for term in total.args:
                if not term.could_extract_minus_sign():
                    yield Reading(f"{to_text(term)} left out", found.of(found.expr.xreplace({total: total - term})))


def chips(found: Setting) -> Iterator[Reading]:
    """The figures of another chip."""
    own = {name: value for name, value in found.used.items() if name.name.partition("_")[0] in ("C", "W", "M", "T")}
    own = {name: value for name, value in own.items() if any(name in figures(each) for each in machines())}
    for each in machines() if own else ():
        there = figures(each)
        other = {name for name in own if there.get(name) != own[name]}
        # the chip itself, at another of its peaks
        itself = other == {symbol("C")} and len(own) > 1
        if own.keys() <= there.keys() and other:
            words = f"the peak of {each} in bf16" if itself else f"the figures of {each}"
            yield Reading(words, found.put({name: there[name] for name in own}))


@cache
def figures(chip: str) -> dict[sp.Symbol, sp.Expr]:
    """Return the figures of a chip by symbol, its peak in bf16 where it has one."""
    found = machine(chip)
    dtype = "bf16" if "bf16" in dict(found.peaks) else None
    return {symbol(name): value for name, value in found.constants(dtype).items()}


def upside_down(found: Setting) -> Iterator[Reading]:
    """One over the answer."""
    yield Reading("one over it", found.of(1 / found.expr))


def twice(found: Setting) -> Iterator[Reading]:
    """One term of a sum counted twice."""
    for total in sums(found):
        if len(total.args) <= MOST_TERMS and not any(term.is_number for term in total.args):
            for term in total.args:
                yield Reading(f"{to_text(term)} counted twice", found.of(found.expr.xreplace({total: total + term})))


def in_brackets(found: Setting) -> Iterator[Reading]:
    """A term multiplied by what multiplies the others: V inside the brackets of a layer."""
    for total in sums(found):
        terms = total.args if len(total.args) <= MOST_TERMS else ()
        for name in sorted(total.free_symbols, key=str):
            without = [term for term in terms if name not in term.free_symbols]
            if len(without) == 1 and len(terms) > 1:
                other = found.expr.xreplace({total: total + without[0] * (name - 1)})
                yield Reading(f"{to_text(without[0])} times {to_text(name)} as well", found.of(other), (name,))


def swapped(found: Setting) -> Iterator[Reading]:
    """Two symbols of one kind exchanged: F/B for B/F."""
    names = sorted(found.expr.free_symbols, key=str)
    for one, other in combinations(names, 2) if len(names) <= MOST_SYMBOLS else ():
        if _unit(one) is not None and _unit(one) == _unit(other):
            expr = found.expr.xreplace({one: other, other: one})
            if expr != found.expr:
                yield Reading(f"{to_text(one)} and {to_text(other)} exchanged", found.of(expr), (one, other))


def other_rates(found: Setting) -> Iterator[Reading]:
    """A peak for a bandwidth, a bandwidth for the peak, or one bandwidth for another."""
    there = [name for name in found.values if _is_rate(name)] or [symbol(name) for name in RATES]
    for name in sorted((each for each in found.expr.free_symbols if _is_rate(each)), key=str):
        for other in sorted(there, key=str):
            value = found.values.get(other)
            if other not in found.expr.free_symbols and (value is None or value != found.values.get(name)):
                yield Reading(f"{other} for {name}", found.of(found.expr.xreplace({name: other})), (name,))


def tens(found: Setting) -> Iterator[Reading]:
    """A power of ten lost or gained."""
    for power in (1, 2, 3):
        for factor, word in ((Q(10) ** power, "large"), (Q(10) ** -power, "small")):
            yield Reading(f"a power of ten wrong, {10**power:,} times too {word}", found.scaled(factor))


def _is_rate(name: sp.Symbol) -> bool:
    return bool(name.name == "C" or name.name.startswith("W_"))


def _unit(name: sp.Symbol) -> str | None:
    """Return the unit by which two symbols are of one kind, None for those of the tool's own."""
    row = entry(name.name)
    return row.unit if row is not None else ("" if len(name.name) == 1 else None)


#: What is tried alone. The last ones come near to many numbers.
SLIPS: Readings = (
    peaks,
    unsharded,
    rounded,
    intermediate,
    left_out,
    chips,
    upside_down,
    twice,
    in_brackets,
    other_rates,
    swapped,
    tens,
)
#: Those under which an answer is as good: only the units, the limit, the rounding or what it is a share of are others.
HARMLESS: Readings = (units, shards, latency, overlaps, shares, rounded, intermediate)
#: Those that come near to almost any number when they may be coarse.
COARSE: Readings = (rounded, intermediate)
#: Those that are many: a number of one or two digits is not told by them.
MANY_READINGS: Readings = (twice, in_brackets, other_rates, swapped)
#: Those that an author does not make in print.
OF_READERS: Readings = (*MANY_READINGS, unsharded, tens)


def _rounded(value: sp.Expr, digits: int) -> sp.Expr:
    return Q(f"{float(value):.{digits - 1}e}")


def _cut(value: sp.Expr, digits: int) -> sp.Expr:
    unit = Q(10) ** (int(f"{float(value):e}".partition("e")[2]) - digits + 1)
    return sp.floor(value / unit) * unit
