"""Sizes a user gives: numbers and links such as F = 4*D, checked before and against a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import sympy as sp

from symscale.derivation.limits import comparable
from symscale.derivation.names import clear, dimension_of
from symscale.errors import LayoutError, SymscaleError
from symscale.notation.text import to_text
from symscale.vocabulary import TABLE, entry, symbol

if TYPE_CHECKING:
    from symscale.derivation.layer import Layer
    from symscale.solve.limits import Limit

# Beyond these no quantity of the field lies, and exact arithmetic stays quick.
LARGEST = sp.Integer(10) ** 40
SMALLEST = 1 / LARGEST
NOT_NUMBERS = ("nan", "inf", "infinity", "oo")


def settled(values: Mapping[str, sp.Expr]) -> tuple[dict[str, sp.Expr], dict[str, sp.Expr]]:
    """Return what is given as a number, and what is linked to other sizes, with links put into links.

    Raises SymscaleError for a value that is not positive, not finite or beyond all sense, and for a circle.
    """
    numbers: dict[str, sp.Expr] = {}
    links: dict[str, sp.Expr] = {}
    for name, value in values.items():
        if value.is_number:
            numbers[name] = positive(name, value)
            continue
        links[name] = finite(name, value)
    return numbers, {name: _followed(name, links) for name in links}


def finite(name: str, value: sp.Expr) -> sp.Expr:
    """Return a formula without the words for what is no number (nan, inf). Raises SymscaleError."""
    if any(str(each).lower() in NOT_NUMBERS for each in value.free_symbols):
        raise SymscaleError(f"{name} = {to_text(value)} is no number.", hint="Give a positive number.")
    return value


def positive(name: str, value: sp.Expr) -> sp.Expr:
    """Return a number that is positive, real and of a size that occurs. Raises SymscaleError."""
    if not (value.is_real and value.is_finite):
        raise SymscaleError(f"{name} = {value} is no real number.", hint="Give a positive number.")
    if not value.is_positive:
        raise SymscaleError(f"{name} = {to_text(value)} is not positive.", hint="Sizes and rates are above zero.")
    if not bool(value >= SMALLEST) or not bool(value <= LARGEST):
        raise SymscaleError(
            f"{name} is beyond all sizes that occur.", hint="Give a value between 1e-40 and 1e40, such as D=8192."
        )
    return value


def _followed(name: str, links: Mapping[str, sp.Expr]) -> sp.Expr:
    """Return a link in terms of symbols that are not linked themselves."""
    value = links[name]
    for _ in range(len(links)):
        if symbol(name) in value.free_symbols:
            circle = ", ".join(f"{each} = {to_text(links[each])}" for each in links)
            raise SymscaleError(f"{name} is given in terms of itself: {circle}.", hint="Leave one of these out.")
        inner = {symbol(each): links[each] for each in links if symbol(each) in value.free_symbols}
        if not inner:
            return value
        value = value.xreplace(inner)
    raise SymscaleError(f"The links of {name} go round in a circle.", hint="Leave one of them out.")


def assumed(limits: Sequence[Limit], layer: Layer, text: str = "") -> None:
    """Refuse limits of sizes that a program does not have, of two meanings, or between bytes and seconds.

    Raises LayoutError, UnitError.
    """
    have = {str(each) for each in layer.counted}
    for limit in limits:
        for each in (limit.small, *limit.large):
            clear(each.free_symbols, layer, text)
            for name in sorted(map(str, each.free_symbols)):
                if name not in have | _rates(layer):
                    raise LayoutError(
                        f"The limit speaks of {name[:60]}, which is no open size of the program.",
                        hint=f"Sizes still open: {', '.join(sorted(have)) or 'none'}.",
                    )
        comparable(limit, layer.counted)


def by_dimension(linked: Mapping[str, sp.Expr], layer: Layer) -> dict[str, sp.Expr]:
    """Return links by the names of the program's dimensions: C_dim, as the dimension C is written, is C.

    Raises LayoutError for a name with two meanings, on either side.
    """
    for name, value in linked.items():
        said = f"{name} = {to_text(value)}"
        clear([symbol(name), *value.free_symbols], layer, said)
        for other in sorted(map(str, value.free_symbols)):
            _linkable(other, said, layer)
    return {dimension_of(name, layer): value for name, value in linked.items()}


def _linkable(name: str, said: str, layer: Layer) -> None:
    """Refuse a rate in a link, and a size of the program written in the other case."""
    row = entry(name)
    if row is not None and row.unit:
        raise LayoutError(
            f"{name} is the {row.meaning}, which is no size.",
            text=said,
            position=said.rindex(name),
            hint="A size is linked to other sizes, as in F=4*D.",
        )
    sizes = {*layer.program.sizes, *layer.program.mesh}
    other = name.swapcase()
    if name not in sizes and other in sizes:
        raise LayoutError(
            f"{name} does not occur in the program.", text=said, position=said.rindex(name), hint=f"It has {other}."
        )


def placed(
    numbers: Mapping[str, sp.Expr],
    links: Mapping[str, sp.Expr],
    layer: Layer,
    aliases: Mapping[str, str],
) -> dict[sp.Symbol, sp.Expr]:
    """Return the numbers by the program's own symbols, and numbers of linked sizes that the links settle.

    Raises LayoutError for a name that neither the program nor the machine has, a size that is not whole, and
    an axis longer than the dimension it splits.
    """
    found: dict[sp.Symbol, sp.Expr] = {}
    for name in (*numbers, *links):
        own = own_symbol(name, layer, aliases)
        if name in numbers:
            if own in counts(layer) and not numbers[name].is_Integer:
                raise LayoutError(f"{name} = {to_text(numbers[name])} is not whole.", hint="Sizes are whole numbers.")
            found[own] = numbers[name]
        elif dimension_of(name, layer) not in layer.program.sizes:
            raise LayoutError(
                f"{name} is no dimension, so it cannot be linked to others.", hint=f"Give a number: {name}=…"
            )
    fitting(layer, found)
    return found


def own_symbol(name: str, layer: Layer, aliases: Mapping[str, str]) -> sp.Symbol:
    """Return the symbol that a name means beside a program. Raises LayoutError naming what there is."""
    program = layer.program
    clear([symbol(name)], layer)
    if name in program.mesh and program.mesh[name].is_number:
        raise LayoutError(f"The axis {name} has a size already.", hint="Give it by --mesh or by --set, not by both.")
    dim = dimension_of(name, layer)
    if dim in program.sizes or name in program.mesh:
        size = program.sizes.get(dim, program.mesh.get(name))
        return size if size is not None and size.is_Symbol else symbol(name)
    wanted = aliases.get(name, name)
    if wanted in _rates(layer):
        return symbol(wanted)
    inside = {str(each) for size in (*program.sizes.values(), *program.mesh.values()) for each in size.free_symbols}
    if wanted in inside:
        return symbol(wanted)
    raise LayoutError(
        f"{name[:60]} does not occur in the program.",
        hint=f"The program has {', '.join((*program.sizes, *program.mesh))}; a machine has C, W_hbm, W_ici and so on.",
    )


def _rates(layer: Layer) -> set[str]:
    """Return the names that are no sizes: the machine's, bytes per element, physical axes, the number of chips."""
    # W is a short name where one bandwidth is in play, and alpha of a quotient: neither is in a formula
    machine = {name for name, row in TABLE.items() if row.unit not in ("", "B", "s", "FLOP/B") and name != "W"}
    widths = {str(each) for each in layer.typed.size.values()}
    links = {str(each) for axis in layer.axes.values() for each in axis.links.free_symbols}
    peaks = {f"C_{kind}" for kind in layer.kinds}
    return machine | widths | links | peaks | {"T_hop", "N_chips", "b"}


def counts(layer: Layer) -> set[sp.Symbol]:
    """Return the symbols that stand for whole numbers: sizes, mesh axes, chips."""
    links = {each for axis in layer.axes.values() for each in axis.links.free_symbols}
    return {*layer.program.sizes.values(), *layer.program.mesh.values(), *links, symbol("N_chips")}


def fitting(layer: Layer, numbers: Mapping[sp.Symbol, sp.Expr]) -> None:
    """Raise LayoutError where numbers show a dimension split over more chips than it has elements."""
    known = dict(numbers)
    for name, dim, axes in _splits(layer):
        whole, parts = layer.program.sizes[dim].xreplace(known), _parts(layer, axes).xreplace(known)
        if whole.is_number and parts.is_number and bool(parts > whole):
            over = axes[0] if len(axes) == 1 else "{" + ",".join(axes) + "}"
            raise LayoutError(
                f"{dim}_{over} of {name} splits {to_text(whole)} elements over {to_text(parts)} chips.",
                hint=f"Leave {dim} whole over {over}, so that {parts / whole} chips hold copies (replication), "
                f"use a mesh axis of at most {to_text(whole)} chips, or make {dim} larger.",
            )


def uneven(layer: Layer, numbers: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    """Return the numbers of dimensions that their mesh axes do not divide: padded, they enter the counts."""
    known = {symbol(name): value for name, value in numbers.items()}
    found: dict[str, sp.Expr] = {}
    for _, dim, axes in _splits(layer):
        whole, parts = layer.program.sizes[dim].xreplace(known), _parts(layer, axes).xreplace(known)
        if whole.is_Integer and parts.is_Integer and whole % parts != 0 and parts <= whole:
            found[dim] = whole
    return found


def padding(layer: Layer) -> list[str]:
    """Say which dimensions are padded, and to what."""
    found: dict[str, str] = {}
    for _, dim, axes in _splits(layer):
        whole, parts = layer.program.sizes[dim], _parts(layer, axes)
        if whole.is_Integer and parts.is_Integer and whole % parts != 0:
            each = sp.ceiling(whole / parts)
            found[dim] = f"{dim} = {whole} over {parts} chips is padded to {each * parts}, {each} on a chip."
    return list(found.values())


def _splits(layer: Layer) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return every split of a declared layout: the array, its dimension, the axes."""
    values = layer.program.values.items()
    return [(n, dim, axes) for n, v in values if v.layout is not None for dim, axes in v.layout.items() if axes]


def _parts(layer: Layer, axes: Sequence[str]) -> sp.Expr:
    return sp.Mul(*(layer.program.mesh[axis] for axis in axes))
