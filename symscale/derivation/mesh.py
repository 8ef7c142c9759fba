"""The mesh as a user speaks of it: short names, and constraints that eliminate an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.derivation.names import clear
from symscale.derivation.sizes import LARGEST, NOT_NUMBERS
from symscale.errors import SymscaleError
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.text import to_text
from symscale.vocabulary import entry, symbol

CHIPS = symbol("N_chips")
Known = Mapping[sp.Symbol, sp.Expr]


def aliases(layer: Layer) -> dict[str, str]:
    """Return the names a user may write for canonical ones: N for the chips, W for the one bandwidth in play."""
    found = {}
    taken = {*layer.program.sizes, *layer.program.mesh}
    if "N" not in taken:
        found["N"] = "N_chips"
    bands = {str(s) for axis in layer.axes.values() for s in axis.bandwidth.free_symbols} or {"W_hbm"}
    if len(bands) == 1 and "W" not in taken:
        found["W"] = bands.pop()
    return found


def read(text: str, layer: Layer) -> sp.Expr:
    """Return a formula in a program's symbols. Raises NotationError, and LayoutError for a name with two meanings."""
    found = parse_formula(text, aliases=aliases(layer)).expr
    clear(found.free_symbols, layer, text)
    return found


def constraint(text: str, layer: Layer, keep: sp.Expr, known: Known | None = None) -> dict[sp.Symbol, sp.Expr]:
    """Return the mesh axis that a constraint such as X*Y = N eliminates, as a substitution.

    Axes with a number (`known`) stay as they are. Without a constraint, N_chips as the unknown (`keep`) stands for
    the one open axis. Raises SymscaleError for a constraint that fixes no axis, or that no number of chips meets.
    """
    if not text:
        return all_chips(layer) if keep == CHIPS else {}
    lhs, op, rhs, _ = parse_relation(text, aliases=aliases(layer))
    clear(lhs.free_symbols | rhs.free_symbols, layer, text)
    if op not in ("=", "=="):
        raise SymscaleError(f"The constraint {text!r} is not an equation.", hint='Write it as "X*Y = N".')
    _counting((lhs, rhs), layer, text)
    given = {each: number for each, number in (known or {}).items() if each in layer.mesh_symbols and each != keep}
    given |= {symbol(axis): size for axis, size in layer.program.mesh.items() if not size.is_Symbol}
    sides = [side.xreplace(given) for side in (lhs, rhs)]
    if sides[0].is_number and sides[1].is_number and given:
        return _settled(sides, text)
    for one, other in (sides, sides[::-1]):
        for axis in layer.mesh_symbols:
            if axis != keep and axis in one.free_symbols and axis not in (one / axis).free_symbols | other.free_symbols:
                _axes_only(one, layer, text)
                return {axis: _whole(other / (one / axis), layer, text, known or {})}
    besides = f" besides {keep}" if keep in layer.mesh_symbols else ""
    raise SymscaleError(
        f"The constraint {text!r} fixes no mesh axis of the program{besides}.",
        hint=f"Set a product of the axes {', '.join(map(str, layer.mesh_symbols)) or '(none)'} equal to a number.",
    )


def apart(expressions: Sequence[sp.Expr], layer: Layer) -> tuple[list[sp.Expr], dict[sp.Symbol, sp.Expr]]:
    """Return expressions with linked axes as axes of their own where they send, and the links as a substitution.

    With Y = 64/X the factor 64/X - 1 is Y - 1: of two long axes neither is 1, though X >> 1 alone makes Y short.
    """
    taken = layer.counted | {symbol(name) for name in layer.program.sizes}
    links = {
        symbol(axis): size
        for axis, size in layer.program.mesh.items()
        if size.as_numer_denom()[1].free_symbols and symbol(axis) not in taken
    }
    own = {size - 1: name - 1 for name, size in links.items()}
    found = [each.xreplace(own) for each in expressions]
    used = {name for each in found for name in each.free_symbols}
    return found, {name: size for name, size in links.items() if name in used}


def _counting(sides: tuple[sp.Expr, sp.Expr], layer: Layer, text: str) -> None:
    """Refuse what counts no chips: rates, nan, and N where it is a dimension of the program."""
    for name in sorted({str(each) for side in sides for each in side.free_symbols}):
        row = entry(name)
        if name in layer.program.sizes and name == "N":
            what = "a dimension of the program, and elsewhere the number of chips"
            raise _refused(text, f"N is {what}.", "Write N_chips for the number of chips.", text.find("N"))
        if (row is not None and row.unit) or name.lower() in NOT_NUMBERS:
            what = f"the {row.meaning}" if row is not None else "no number"
            raise _refused(text, f"{name} is {what}, not a number of chips.", "", text.find(name))


def _axes_only(side: sp.Expr, layer: Layer, text: str) -> None:
    """Refuse a name beside mesh axes that is none, such as a misspelt one."""
    strange = min((str(each) for each in side.free_symbols - layer.counted - {CHIPS}), default="")
    if strange:
        hint = f"The program's mesh axes are {', '.join(layer.program.mesh)}."
        raise _refused(text, f"{strange} is no mesh axis.", hint, text.find(strange))


def _refused(text: str, why: str, hint: str, position: int) -> SymscaleError:
    hint = hint or 'Give a positive whole number of chips or a symbol: "X*Y = 64", "X*Y = N".'
    return SymscaleError(f"The constraint cannot hold: {why}", text=text, position=max(position, 0), hint=hint)


def _settled(sides: list[sp.Expr], text: str) -> dict[sp.Symbol, sp.Expr]:
    """Return nothing to eliminate where the numbers meet the constraint already. Raises SymscaleError."""
    if sides[0] == sides[1]:
        return {}
    wrong = f"with the mesh given it says {to_text(sides[0])} = {to_text(sides[1])}."
    raise _refused(text, wrong, "Leave one of the numbers out.", 0)


def _whole(size: sp.Expr, layer: Layer, text: str, known: Known) -> sp.Expr:
    """Return what an axis is put to if it can be a whole number of chips. Raises SymscaleError."""
    # with one chip on every other axis, this one has all of them
    alone = size.xreplace(dict.fromkeys(layer.mesh_symbols, sp.S.One)).xreplace(dict(known))
    grows = set(layer.mesh_symbols) & size.as_numer_denom()[0].free_symbols
    if not alone.is_number:
        return size
    sane = alone.is_finite and abs(alone) <= LARGEST
    if not (sane and alone.is_positive and (alone.is_Integer or grows)):
        shown = to_text(alone) if sane else "that many"
        place = text.find("=") + 1
        raise _refused(text, f"there cannot be {shown} chips.", "", place + text.startswith(" ", place))
    return size


def chips(rule: Known, layer: Layer, known: Known) -> dict[sp.Symbol, sp.Expr]:
    """Return the number of chips that a constraint and the numbers given settle, as N_chips. Raises SymscaleError."""
    total = sp.Mul(*layer.program.mesh.values()).xreplace(dict(rule)).xreplace(dict(known))
    if not rule or not total.is_Integer:
        return {}
    if known.get(CHIPS, total) != total:
        raise SymscaleError(
            f"The constraint makes a mesh of {total} chips, and N_chips is given as {known[CHIPS]}.",
            hint="Leave one of them out.",
        )
    return {CHIPS: total}


def all_chips(layer: Layer) -> dict[sp.Symbol, sp.Expr]:
    """Return the one open mesh axis in terms of the number of chips: X = N_chips/(the other axes).

    Raises SymscaleError if no axis is open, or several are.
    """
    open_axes = layer.mesh_symbols
    if len(open_axes) != 1:
        raise SymscaleError(
            f"The number of chips fixes no mesh: {', '.join(map(str, open_axes)) or 'no axis'} is open.",
            hint=f'Add --subject-to "{"*".join(map(str, open_axes))} = N".' if open_axes else "Leave a mesh size out.",
        )
    others = sp.Mul(*(size for size in layer.program.mesh.values() if size != open_axes[0]))
    return {open_axes[0]: CHIPS / others}
