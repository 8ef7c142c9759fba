"""Display units of what is solved for: tokens per chip, elements, pods."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.vocabulary import entry, symbol


def unit_of(unknown: sp.Expr, layer: Layer | None) -> str:
    """Return the display unit of an unknown: what is counted, and per what."""
    above, below = unknown.as_numer_denom()
    rates = [row.unit if row is not None else "" for row in (entry(str(above)), entry(str(below)))]
    if rates == ["FLOP/s", "B/s"]:
        return "FLOP/B"
    if below == 1 and rates[0] and (layer is None or above not in layer.program.sizes.values()):
        return rates[0]
    count = _counted(above, layer)
    return f"{count} {_per(below, layer)}".strip() if below != 1 else count


def unit_beside(value: sp.Expr, unit: str) -> str:
    """Return the unit to print beside a value; beside a formula in sizes only one of measure: B, B/s, FLOP/s, s."""
    if not value.free_symbols:
        return unit
    measured = unit in ("B", "s", "B/s", "FLOP/s", "FLOP/B")
    rates = any(row is not None and row.unit for row in (entry(str(each)) for each in value.free_symbols))
    return unit if measured and not rates else ""


def _counted(size: sp.Expr, layer: Layer | None) -> str:
    """Return what a size counts: tokens, elements of an array, chips, physical axes; bytes for a width."""
    if size == symbol("N_chips"):
        return "chips"
    if layer is None or size in layer.program.sizes.values():
        return "tokens" if size == symbol("B") else "elements" if layer is not None else ""
    if size in layer.mesh_symbols:
        names = [name for name, each in layer.program.mesh.items() if each == size]
        return f"{_group(names, layer)}s" if len(layer.program.mesh) > 1 else "chips"
    if size in layer.typed.numbers:
        return "B"
    return "physical axes" if any(size == axis.links for axis in layer.axes.values()) else ""


def _per(below: sp.Expr, layer: Layer | None) -> str:
    """Return over what a ratio is taken: a chip, a pod, the chips along one axis of several."""
    if layer is None:
        return ""
    names = {size: name for name, size in layer.program.mesh.items()}
    over = sorted(names[each] for each in below.free_symbols if each in names)
    if below == symbol("N_chips") or (over and len(over) == len(layer.program.mesh)):
        return "per chip"
    if not over:
        return ""
    group = _group(over, layer)
    return f"per {group}" if group != "chip" else f"per chip along {'·'.join(over)}"


def _group(axes: Sequence[str], layer: Layer) -> str:
    """Return what one step along mesh axes of several leads to: another pod over DCN, another node over InfiniBand."""
    networks = {layer.axes[name].network for name in axes}
    return {"dcn": "pod", "ib": "node"}.get(networks.pop(), "chip") if len(networks) == 1 else "chip"
