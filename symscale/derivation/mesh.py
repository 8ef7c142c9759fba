"""The mesh as a user speaks of it: short names, and constraints that eliminate an axis."""

from __future__ import annotations

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.errors import SymscaleError
from symscale.notation.formula import parse_relation
from symscale.vocabulary import symbol


def aliases(layer: Layer) -> dict[str, str]:
    """Return the names a user may write for canonical ones: N for the chips, W for the one bandwidth in play."""
    found = {}
    if "N" not in layer.program.sizes:
        found["N"] = "N_chips"
    bands = {str(s) for axis in layer.axes.values() for s in axis.bandwidth.free_symbols} or {"W_hbm"}
    if len(bands) == 1 and "W" not in layer.program.sizes:
        found["W"] = bands.pop()
    return found


def constraint(text: str, layer: Layer, keep: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """Return the mesh axis that a constraint such as X*Y = N eliminates, as a substitution.

    Without one, N_chips as the unknown (`keep`) stands for the one open axis.
    """
    if not text:
        return all_chips(layer) if keep == symbol("N_chips") else {}
    lhs, op, rhs, _ = parse_relation(text, aliases=aliases(layer))
    if op not in ("=", "=="):
        raise SymscaleError(f"The constraint {text!r} is not an equation.", hint='Write it as "X*Y = N".')
    for candidate in (lhs, rhs):
        for axis in layer.mesh_symbols:
            if axis in candidate.free_symbols and axis != keep and axis not in (candidate / axis).free_symbols:
                other = rhs if candidate is lhs else lhs
                return {axis: other / (candidate / axis)}
    raise SymscaleError(
        f"The constraint {text!r} fixes no mesh axis of the program.",
        hint=f"Use the axes {', '.join(str(each) for each in layer.mesh_symbols) or '(none)'}.",
    )


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
    return {open_axes[0]: symbol("N_chips") / others}
