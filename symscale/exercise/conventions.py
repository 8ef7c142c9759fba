"""Conventions and slips: other ways to come to a number, each as a formula and values of its own.

A number that is not what a derivation says may be right under another convention (one direction of a link, GB for GiB,
a multiply-add as one FLOP), or follow from a slip (every shard counted, a value rounded first, a term left out). Each
of these is a function from what the derivation computes to what would be computed instead; a search puts them to the
formula and keeps what gives the number. So nothing is claimed that has not been computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import sympy as sp

from symscale.derivation.proof import known_dimensions
from symscale.errors import UnitError
from symscale.exercise.setting import Setting
from symscale.frozen import dataclass
from symscale.machine import machine, machines
from symscale.notation.numbers import format_number
from symscale.notation.text import to_text
from symscale.quantity import dimension_of, parse_unit
from symscale.solve.exact import value_at
from symscale.vocabulary import symbol


@dataclass(frozen=True)
class Reading:
    """A setting under another convention, what that is, in words that follow "right with", and whose it is."""

    words: str
    setting: Setting
    about: tuple[sp.Symbol, ...] = ()


Q = sp.Rational
TWO, HALF = sp.Integer(2), Q(1, 2)
#: Bandwidths that count both directions, and those that count one.
BOTH, ONE = ("W_ici",), ("W_link", "W_nvlink", "W_node", "W_leaf", "W_pcie", "W_dcn", "W_ib")
WIDTHS = {"fp32": sp.Integer(4), "bf16": TWO, "int8": sp.S.One, "int4": HALF}
MANY = {"L": "layer", "N_chips": "chip", "N_core": "core"}
BINARY = {"TiB": "TB", "GiB": "GB", "MiB": "MB", "KiB": "kB"}
BYTE, SECOND = parse_unit("B").dimension, parse_unit("s").dimension
#: A sum of more terms is not taken apart.
MOST_TERMS = 8


def directions(found: Setting) -> Iterator[Reading]:
    """One direction of a link, or both; several axes of a torus."""
    for name in _named(found, *BOTH):
        yield Reading(f"one direction of each link ({name}/2)", _times(found, name, HALF), (name,))
        for axes in (2, 3):
            yield Reading(f"{axes} physical axes ({axes}*{name})", _times(found, name, sp.Integer(axes)), (name,))
        if any(each.p % 3 == 0 or each.q % 3 == 0 for each in found.expr.atoms(sp.Rational)):
            yield Reading(f"one of three physical axes ({name}/3)", _times(found, name, Q(1, 3)), (name,))
    for name in _named(found, *ONE):
        yield Reading(f"both directions of each link (2*{name})", _times(found, name, TWO), (name,))


def widths(found: Setting) -> Iterator[Reading]:
    """Another number of bytes per element, in one array or in all; 1 is elements for bytes too."""
    names = sorted((each for each in found.expr.free_symbols if each.name.partition("_")[0] == "b"), key=str)
    for group in [[each] for each in names] + ([names] if len(names) > 1 else []):
        what = "every array" if len(group) > 1 else "the arrays" if group[0].name == "b" else to_text(group[0])
        for word, width in WIDTHS.items():
            if any(found.values.get(name) != width for name in group):
                yield Reading(f"{what} in {word}", found.put(dict.fromkeys(group, width)), tuple(group))


def units(found: Setting) -> Iterator[Reading]:
    """A binary prefix read as a decimal one where a number of bytes is whole in it, and the other way round."""
    moved = bytes_of(found)
    if moved is None or not moved.is_number:
        return
    for power, (binary, plain) in zip((4, 3, 2, 1), BINARY.items(), strict=True):
        # sixteenths, for what is a part of an array
        if (16 * moved / 1024**power).is_Integer:
            yield Reading(f"{binary} read as {plain}", found.scaled(Q(1000, 1024) ** power))
        if (16 * moved / 1000**power).is_Integer:
            yield Reading(f"{plain} read as {binary}", found.scaled(Q(1024, 1000) ** power))


def bits(found: Setting) -> Iterator[Reading]:
    """Bits for bytes."""
    moved = bytes_of(found)
    if moved is not None and moved.is_number:
        yield Reading("bits for bytes", found.scaled(sp.Integer(8)))


def bytes_of(found: Setting) -> sp.Expr | None:
    """Return the bytes that a setting is about: its value, or what the one bandwidth in it moves in its time."""
    if found.name.partition("_")[0] in ("bytes", "V", "M"):
        return found.value
    try:
        dimension = dimension_of(found.expr, known_dimensions(found.expr))
    except UnitError:
        return None
    if dimension == BYTE:
        return found.value
    rates = [value for name, value in found.used.items() if name.name.startswith("W_")]
    return found.value * rates[0] if dimension == SECOND and len(rates) == 1 else None


def multiply_adds(found: Setting) -> Iterator[Reading]:
    """A multiply-add as one FLOP; elementwise operations are none."""
    if found.name.startswith("FLOPs") and found.name != "FLOPs_vector":
        yield Reading("a multiply-add as one FLOP", found.scaled(HALF))
    else:
        for name in _named(found, "C"):
            yield Reading("a multiply-add as one FLOP", _times(found, name, TWO), (symbol("FLOPs"),))


def shards(found: Setting) -> Iterator[Reading]:
    """Every shard counted, X - 1 read as X."""
    for total in _sums(found):
        axis = next(iter(total.free_symbols), None)
        if axis is not None and total == axis - 1:
            words = f"every shard counted, {axis} for {axis} - 1"
            yield Reading(words, found.of(found.expr.xreplace({total: axis})), (axis,))


def latency(found: Setting) -> Iterator[Reading]:
    """No latency of hops."""
    for name in _named(found, "T_hop"):
        yield Reading("no latency of hops", found.put({name: sp.S.Zero}), (name,))


def overlaps(found: Setting) -> Iterator[Reading]:
    """Sums for maxima, and maxima for sums of times."""
    if found.expr.has(sp.Max):
        yield Reading("a sum in place of a maximum", found.of(found.expr.replace(sp.Max, sp.Add)))
    if found.expr.is_Add and found.name.startswith("T_"):
        yield Reading("a maximum in place of the sum", found.of(sp.Max(*found.expr.args, evaluate=False)))


def heads(found: Setting) -> Iterator[Reading]:
    """Query heads for heads of keys and values, and the other way round."""
    for one, other in (("K", "N_heads"), ("N_heads", "K")):
        for name in _named(found, one):
            yield Reading(f"{other} heads for {one}", found.of(found.expr.xreplace({name: symbol(other)})), (name,))


def masks(found: Setting) -> Iterator[Reading]:
    """Half the keys, which a causal mask leaves; or all of them."""
    for name in _named(found, "S"):
        yield Reading("half the keys, as a causal mask leaves them", _times(found, name, HALF), (name,))
        yield Reading("twice the keys, without a causal mask", _times(found, name, TWO), (name,))


def gates(found: Setting) -> Iterator[Reading]:
    """An MLP of two matrices for one of three with its gate, and the other way round."""
    both = {symbol("D"), symbol("F")}
    terms = [each for each in found.expr.atoms(sp.Mul) if both <= each.free_symbols and each.args[0].is_Integer]
    for had, has, words in ((3, 2, "an MLP of two matrices, without its gate"), (2, 3, "an MLP of three, with a gate")):
        other = {each: each * Q(has, had) for each in terms if each.args[0] % had == 0}
        if other:
            yield Reading(words, found.of(found.expr.xreplace(other)))


def totals(found: Setting) -> Iterator[Reading]:
    """One of many: a layer, a chip, a core; or all of them."""
    for name, word in MANY.items():
        count = found.values.get(symbol(name), sp.S.One)
        if _named(found, name):
            yield Reading(f"one {word} ({name} = 1)", found.put({symbol(name): sp.S.One}), (symbol(name),))
        elif count != 1:
            yield Reading(f"the total of all {count} {word}s", found.scaled(count))
            yield Reading(f"the share of one of {count} {word}s", found.scaled(1 / count))


def passes(found: Setting) -> Iterator[Reading]:
    """The forward pass alone, the backward pass alone, or both: of FLOPs, and of the time they take."""
    if found.name.startswith("FLOPs") or (found.name.startswith("T_") and _named(found, "C")):
        yield Reading("the forward pass alone, a third of the work", found.scaled(Q(1, 3)))
        yield Reading("the backward pass alone, two thirds of the work", found.scaled(Q(2, 3)))
        yield Reading("the backward pass as well, three times the work", found.scaled(sp.Integer(3)))


def peaks(found: Setting) -> Iterator[Reading]:
    """The peak of another dtype, or of sparse matrices."""
    for name in _named(found, "C"):
        yield Reading("twice the peak, that of int8 or of structured sparsity", _times(found, name, TWO), (name,))
        yield Reading("half the peak", _times(found, name, HALF), (name,))


def rounded(found: Setting) -> Iterator[Reading]:
    """Values rounded before they are put in."""
    for digits in (3, 2, 1):
        near = {name: _rounded(value, digits) for name, value in found.used.items() if value.is_Rational}
        changed = {name: value for name, value in near.items() if value != found.values[name]}
        for name, value in changed.items():
            yield Reading(f"{to_text(name)} rounded to {format_number(value)}", found.put({name: value}), (name,))
        if len(changed) > 1:
            word = "digit" if digits == 1 else "digits"
            yield Reading(f"every value rounded to {digits} {word}", found.put(changed))


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
    for total in _sums(found):
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
        if own.keys() <= there.keys() and any(there[name] != own[name] for name in own):
            yield Reading(f"the figures of {each}", found.put({name: there[name] for name in own}))


@cache
def figures(chip: str) -> dict[sp.Symbol, sp.Expr]:
    """Return the figures of a chip by symbol, its peak in bf16 where it has one."""
    found = machine(chip)
    dtype = "bf16" if "bf16" in dict(found.peaks) else None
    return {symbol(name): value for name, value in found.constants(dtype).items()}


def upside_down(found: Setting) -> Iterator[Reading]:
    """One over the answer."""
    yield Reading("one over it", found.of(1 / found.expr))


Readings = tuple[Callable[[Setting], Iterator[Reading]], ...]
#: Other ways to count, the most usual first. Two of them may come together.
CONVENTIONS: Readings = (
    directions,
    widths,
    units,
    bits,
    multiply_adds,
    shards,
    latency,
    overlaps,
    heads,
    masks,
    gates,
    totals,
    passes,
)
#: What else may go another way, one at a time.
SLIPS: Readings = (peaks, rounded, intermediate, left_out, chips, upside_down)
#: Those under which an answer is as good: only the units, the limit or the rounding are others.
HARMLESS: Readings = (units, shards, latency, overlaps, rounded, intermediate)
#: Those that come near to almost any number when they may be coarse.
ROUNDINGS: Readings = (rounded, intermediate)


def _named(found: Setting, *names: str) -> list[sp.Symbol]:
    return [symbol(name) for name in names if symbol(name) in found.expr.free_symbols]


def _times(found: Setting, name: sp.Symbol, factor: sp.Expr) -> Setting:
    return found.of(found.expr.xreplace({name: factor * name}))


def _sums(found: Setting) -> list[sp.Expr]:
    return sorted(found.expr.atoms(sp.Add), key=to_text)


def _rounded(value: sp.Expr, digits: int) -> sp.Expr:
    return Q(f"{float(value):.{digits - 1}e}")


def _cut(value: sp.Expr, digits: int) -> sp.Expr:
    unit = Q(10) ** (int(f"{float(value):e}".partition("e")[2]) - digits + 1)
    return sp.floor(value / unit) * unit
