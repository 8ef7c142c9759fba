"""Slips: what else may go another way than a derivation has it, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations

import sympy as sp

from symscale.exercise.conventions import (
    BINARY,
    HALF,
    MOST_TERMS,
    TWO,
    Q,
    Reading,
    Readings,
    bytes_of,
    latency,
    named,
    overlaps,
    proportions,
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
RATES = ("C", "W", "W_hbm", "W_ici", "W_link", "W_nvlink", "W_pcie", "W_dcn")
#: A smaller size is no power of two for convenience.
SMALLEST = 100
#: Query heads for each head of keys and values, as models have them.
GROUPS = (1, 2, 4, 5, 6, 7, 8, 12, 16)
#: Of more symbols no two are exchanged.
MOST_SYMBOLS = 8


def peaks(found: Setting) -> Iterator[Reading]:
    """The peak of another dtype, or of sparse matrices."""
    for name in named(found, "C"):
        yield Reading("twice the peak, that of int8 or of structured sparsity", times(found, name, TWO), (name,))
        yield Reading("half the peak", times(found, name, HALF), (name,))
        for each in _home(found.used):
            for dtype, value in machine(each).sparse_peaks:
                if value not in (found.values[name], 2 * found.values[name]):
                    yield Reading(f"the peak of structured sparsity in {dtype}", found.put({name: value}), (name,))


def grouped(found: Setting) -> Iterator[Reading]:
    """Other numbers of query heads to a head of keys and values."""
    for name in named(found, "G"):
        for heads in GROUPS:
            if found.values.get(name, heads) != heads:
                words = f"{heads} query heads for each head of keys and values"
                yield Reading(words, found.put({name: sp.Integer(heads)}), (name,))
        if found.values.get(name) == 1:
            yield Reading(
                "many query heads for each head of keys and values",
                found.of(sp.limit(found.expr, name, sp.oo)),
                (name,),
            )


def over_hops(found: Setting) -> Iterator[Reading]:
    """The whole array sent once more over every hop, in place of a latency of hops that is added."""
    hop = symbol("T_hop")
    hops = found.expr.coeff(hop) if found.expr.is_Add else sp.S.Zero
    if hops.is_Integer and hops > 1:
        yield Reading(
            f"all of it sent {hops} times, once for each hop", found.of(hops * found.expr.subs(hop, 0)), (hop,)
        )


def powers(found: Setting) -> Iterator[Reading]:
    """A size taken as the power of two that is nearest."""
    for name, value in found.used.items():
        if value.is_Integer and value >= SMALLEST and not _is_rate(name):
            near = min((2**power for power in range(6, 40)), key=lambda each: abs(each - value))
            if near != value:
                words = f"{to_text(name)} taken as {format_number(sp.Integer(near))}, a power of two"
                yield Reading(words, found.put({name: sp.Integer(near)}), (name,))


def ports(found: Setting) -> Iterator[Reading]:
    """Half the ports of a switch, as where the others face up: at the top all face down."""
    if found.name == "W_level":
        yield Reading("half the ports of each switch", found.scaled(HALF))


def called(found: Setting) -> Iterator[Reading]:
    """A number of kB called KiB, as whole numbers of KiB tempt to do."""
    moved = bytes_of(found)
    for power, (binary, plain) in zip((4, 3, 2, 1), BINARY.items(), strict=True):
        if moved is not None and moved.is_number and (16 * moved / 1024**power).is_Integer:
            yield Reading(f"{plain} written as {binary}", found.scaled(Q(1024, 1000) ** power))


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
    """One term of a sum left out, or two that are small beside the rest."""
    for total in sums(found):
        if len(total.args) <= MOST_TERMS and not any(term.is_number for term in total.args):
            for term in total.args:
                yield Reading(f"{to_text(_plain(term))} left out", found.of(found.expr.xreplace({total: total - term})))
            for term in total.args if len(total.args) > 2 else ():
                yield Reading(
                    f"{to_text(term)} alone, without the rest of the sum", found.of(found.expr.xreplace({total: term}))
                )
            for one, other in combinations(total.args, 2) if len(total.args) > 2 else ():
                words = f"{to_text(_plain(one))} and {to_text(_plain(other))} left out"
                yield Reading(words, found.of(found.expr.xreplace({total: total - one - other})))


def chips(found: Setting) -> Iterator[Reading]:
    """The figures of another chip with a network of the same kind."""
    return _of_chips(found, alike=True)


def other_chips(found: Setting) -> Iterator[Reading]:
    """The figures of a chip of another kind."""
    return _of_chips(found, alike=False)


def _of_chips(found: Setting, *, alike: bool) -> Iterator[Reading]:
    own = {name: value for name, value in found.used.items() if name.name.partition("_")[0] in ("C", "W", "M", "T")}
    own = {name: value for name, value in own.items() if any(name in figures(each) for each in machines())}
    home = {network(each) for each in _home(own)}
    for each in machines() if own else ():
        there = figures(each)
        other = {name for name in own if there.get(name) != own[name]}
        # the chip itself, at another of its peaks
        itself = other == {symbol("C")} and len(own) > 1
        if own.keys() <= there.keys() and other and alike == (not home or network(each) in home):
            words = f"the peak of {each} in bf16" if itself else f"the figures of {each}"
            yield Reading(words, found.put({name: there[name] for name in own}))


def _home(values: Mapping[sp.Symbol, sp.Expr]) -> list[str]:
    """Return the chips that have these peaks and bandwidths, the peak in any dtype."""
    rates = {name: value for name, value in values.items() if _is_rate(name)}
    return [each for each in machines() if rates and all(_has(each, name, value) for name, value in rates.items())]


def _has(chip: str, name: sp.Symbol, value: sp.Expr) -> bool:
    peaks = dict(machine(chip).peaks).values() if name == symbol("C") else ()
    return value in peaks or figures(chip).get(name) == value


def network(chip: str) -> str:
    """Return the name of the network that joins a chip to its neighbours."""
    return next((each.name for each in machine(chip).networks), "")


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


def _plain(term: sp.Expr) -> sp.Expr:
    """Return a term without its minus sign."""
    return -term if term.could_extract_minus_sign() else term


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
    grouped,
    over_hops,
    called,
    ports,
    powers,
    upside_down,
    twice,
    in_brackets,
    other_rates,
    swapped,
    tens,
)
#: Those under which an answer is as good: only the units, the limit, the rounding or what it is a share of are others.
HARMLESS: Readings = (units, shards, latency, overlaps, proportions, shares, rounded, intermediate)
#: Those that come near to almost any number when they may be coarse.
COARSE: Readings = (rounded, intermediate)
#: Those that are many: a number of one or two digits is not told by them.
MANY_READINGS: Readings = (called, powers, twice, in_brackets, other_rates, swapped)
#: Those that are tried where no other explains a number.
LATER: Readings = (other_chips,)
#: Those that come together with a convention in a formula.
TOGETHER: Readings = (left_out, other_rates)
#: Those that an author does not make in print.
OF_READERS: Readings = (*MANY_READINGS, unsharded, tens)


def _rounded(value: sp.Expr, digits: int) -> sp.Expr:
    return Q(f"{float(value):.{digits - 1}e}")


def _cut(value: sp.Expr, digits: int) -> sp.Expr:
    unit = Q(10) ** (int(f"{float(value):e}".partition("e")[2]) - digits + 1)
    return sp.floor(value / unit) * unit
