"""Conventions and slips: other ways to come to a number, each as a formula and values of its own.

A number that is not what a derivation says may be right under another convention (one direction of a link, GB for GiB,
a multiply-add as one FLOP), or follow from a slip (every shard counted, a value rounded first, a term left out). Each
of these is a function from what the derivation computes to what would be computed instead; a search puts them to the
formula and keeps what gives the number. So nothing is claimed that has not been computed again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import sympy as sp

from symscale.derivation.proof import known_dimensions
from symscale.errors import UnitError
from symscale.exercise.setting import Setting
from symscale.frozen import dataclass
from symscale.notation.formula import parse_formula
from symscale.notation.text import to_text
from symscale.quantity import dimension_of, parse_unit
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
MANY = {"L": "layer", "N_chips": "chip", "N_core": "core", "tokens": "token", "B": "token"}
BINARY = {"TiB": "TB", "GiB": "GB", "MiB": "MB", "KiB": "kB"}
BYTE, SECOND = parse_unit("B").dimension, parse_unit("s").dimension
SHARE = re.compile(r"bubble|share|fraction|idle|overhead", re.IGNORECASE)
#: The fewest shards that are seen in a fraction: 1/2 may be anything.
FEWEST = 4
#: What is usual in a transformer: of what, and what that is.
USUAL = (("F", "4*D"), ("N_heads", "D/H"))
#: A sum of more terms is not taken apart.
MOST_TERMS = 8


def directions(found: Setting) -> Iterator[Reading]:
    """One direction of a link, or both; several axes of a torus."""
    for name in named(found, *BOTH):
        yield Reading(f"one direction of each link ({name}/2)", times(found, name, HALF), (name,))
        for axes in (2, 3):
            yield Reading(f"{axes} physical axes ({axes}*{name})", times(found, name, sp.Integer(axes)), (name,))
        if any(each.p % 3 == 0 or each.q % 3 == 0 for each in found.expr.atoms(sp.Rational)):
            yield Reading(f"one of three physical axes ({name}/3)", times(found, name, Q(1, 3)), (name,))
    for name in named(found, *ONE):
        yield Reading(f"both directions of each link (2*{name})", times(found, name, TWO), (name,))


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
        # sixteenths, for what is a part of an array; a round number of one kind is none of the other
        whole = [(16 * moved / base**power).is_Integer for base in (1024, 1000)]
        if whole[0] and not whole[1]:
            yield Reading(f"{binary} read as {plain}", found.scaled(Q(1000, 1024) ** power))
        if whole[1] and not whole[0]:
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
        for name in named(found, "C"):
            yield Reading("a multiply-add as one FLOP", times(found, name, TWO), (symbol("FLOPs"),))


def shards(found: Setting) -> Iterator[Reading]:
    """Every shard counted, X - 1 read as X; 3/4 of a whole as all of it."""
    for total in sums(found):
        axis = next(iter(total.free_symbols), None)
        if axis is not None and total == axis - 1:
            words = f"every shard counted, {axis} for {axis} - 1"
            yield Reading(words, found.of(found.expr.xreplace({total: axis})), (axis,))
    for part in sorted(each for each in found.expr.atoms(Q) if each.q - each.p == 1 and each.q >= FEWEST):
        words = f"every shard counted, {part.q} for {part.q} - 1"
        yield Reading(words, found.of(found.expr.xreplace({part: sp.S.One})))


def latency(found: Setting) -> Iterator[Reading]:
    """No latency of hops."""
    for name in named(found, "T_hop"):
        yield Reading("no latency of hops", found.put({name: sp.S.Zero}), (name,))


def overlaps(found: Setting) -> Iterator[Reading]:
    """Sums for maxima, and maxima for sums of times."""
    if found.expr.has(sp.Max):
        yield Reading("a sum in place of a maximum", found.of(found.expr.replace(sp.Max, sp.Add)))
    if found.expr.is_Add and found.name.startswith("T_"):
        yield Reading("a maximum in place of the sum", found.of(sp.Max(*found.expr.args, evaluate=False)))


def branches(found: Setting) -> Iterator[Reading]:
    """One of several quantities alone, where the larger or the smaller counts."""
    for extreme in sorted(found.expr.atoms(sp.Max, sp.Min), key=to_text):
        kind = "larger" if isinstance(extreme, sp.Max) else "smaller"
        for each in extreme.args:
            words = f"{to_text(each)} alone, and not the {kind} of several"
            yield Reading(words, found.of(found.expr.xreplace({extreme: each})))


def heads(found: Setting) -> Iterator[Reading]:
    """Query heads for heads of keys and values, and the other way round."""
    for one, other in (("K", "N_heads"), ("N_heads", "K")):
        for name in named(found, one):
            yield Reading(f"{other} heads for {one}", found.of(found.expr.xreplace({name: symbol(other)})), (name,))


def proportions(found: Setting) -> Iterator[Reading]:
    """The usual proportions of a transformer in a formula, F = 4 D."""
    for name, usual in USUAL:
        if named(found, name) and symbol(name) not in found.values:
            meant = parse_formula(usual).expr
            yield Reading(f"{name} = {usual}", found.of(found.expr.xreplace({symbol(name): meant})), (symbol(name),))


def masks(found: Setting) -> Iterator[Reading]:
    """Half the keys, which a causal mask leaves; or all of them."""
    for name in named(found, "S"):
        yield Reading("half the keys, as a causal mask leaves them", times(found, name, HALF), (name,))
        yield Reading("twice the keys, without a causal mask", times(found, name, TWO), (name,))


def gates(found: Setting) -> Iterator[Reading]:
    """An MLP of two matrices for one of three with its gate, and the other way round."""
    both = {symbol("D"), symbol("F")}
    # of counts: what is sent is 3 D F for other reasons
    if found.name.partition("_")[0] not in ("P", "FLOPs", "M", "bytes", "T") or found.name == "T_comms":
        return
    terms = [each for each in found.expr.atoms(sp.Mul) if both <= each.free_symbols and each.args[0].is_Integer]
    for had, has, words in ((3, 2, "an MLP of two matrices, without its gate"), (2, 3, "an MLP of three, with a gate")):
        other = {each: each * Q(has, had) for each in terms if each.args[0] % had == 0}
        if other:
            yield Reading(words, found.of(found.expr.xreplace(other)))


def totals(found: Setting) -> Iterator[Reading]:
    """One of many: a layer, a chip, a core; or all of them."""
    for name, word in MANY.items():
        count = found.values.get(symbol(name), sp.S.One)
        if named(found, name):
            yield Reading(f"one {word} ({name} = 1)", found.put({symbol(name): sp.S.One}), (symbol(name),))
        elif count != 1:
            yield Reading(f"the total of all {count} {word}s", found.scaled(count))
            yield Reading(f"the share of one of {count} {word}s", found.scaled(1 / count))


def shares(found: Setting) -> Iterator[Reading]:
    """A part of the whole, or its ratio to the rest: p - 1 of m + p - 1, or of m."""
    if SHARE.search(found.name) and found.value.is_number and found.value > 0:
        yield Reading("the ratio to the whole, x/(1 + x)", found.of(found.expr / (1 + found.expr)))
        if found.value < 1:
            yield Reading("the ratio to the rest, x/(1 - x)", found.of(found.expr / (1 - found.expr)))


def unsharded(found: Setting) -> Iterator[Reading]:
    """A whole array for the part of a chip: one mesh axis forgotten, or all of them."""
    axes = [each for each in named(found, "X", "Y", "Z") if found.values.get(each) != 1]
    for group in [[each] for each in axes] + ([axes] if len(axes) > 1 else []):
        words = " and ".join(map(str, group))
        yield Reading(f"arrays not split over {words}", found.put(dict.fromkeys(group, sp.S.One)), tuple(group))


def passes(found: Setting) -> Iterator[Reading]:
    """The forward pass alone, the backward pass alone, or both: of FLOPs, and of the time they take."""
    if found.name.startswith("FLOPs") or (found.name.startswith("T_") and named(found, "C")):
        yield Reading("the forward pass alone, a third of the work", found.scaled(Q(1, 3)))
        yield Reading("the backward pass alone, two thirds of the work", found.scaled(Q(2, 3)))
        yield Reading("the backward pass as well, three times the work", found.scaled(sp.Integer(3)))


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
    branches,
    heads,
    proportions,
    masks,
    gates,
    totals,
    passes,
    shares,
)


def named(found: Setting, *names: str) -> list[sp.Symbol]:
    """Return the symbols of some names that a formula has."""
    return [symbol(name) for name in names if symbol(name) in found.expr.free_symbols]


def times(found: Setting, name: sp.Symbol, factor: sp.Expr) -> Setting:
    """Return a setting with a symbol a number of times as large."""
    return found.of(found.expr.xreplace({name: factor * name}))


def sums(found: Setting) -> list[sp.Expr]:
    """Return the sums of a formula."""
    return sorted(found.expr.atoms(sp.Add), key=to_text)
