"""The limits that are taken unless others are named: long mesh axes, and against HBM a small unknown."""

from __future__ import annotations

from collections.abc import Callable, Collection

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.solve.limits import Limit
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

# Limits for more terms than these would name dozens of sizes, and no reader could tell whether they hold.
MOST_TERMS = 40


def usual_limits(relation: Relation, unknown: sp.Expr, layer: Layer | None, resource: str) -> list[Limit]:
    """A mesh axis that stays a symbol is long; against HBM the terms with more of the unknown are small."""
    if layer is None:
        return []
    if resource == "hbm":
        return _small(relation.rhs, unknown, layer) if unknown in layer.program.sizes.values() else []
    linked = [symbol(axis) for axis, size in layer.program.mesh.items() if size.free_symbols and not size.is_Symbol]
    axes = [size for size in (*layer.mesh_symbols, *linked) if size in relation.rhs.free_symbols]
    return [Limit(sp.S.One, tuple(axes))] if axes else []


def _small(spent: sp.Expr, unknown: sp.Expr, layer: Layer) -> list[Limit]:
    """Return the weakest limits in which only the terms with the least of the unknown are left: B/X << D, F."""
    terms = sp.Add.make_args(sp.expand(spent))
    if len(terms) > MOST_TERMS:
        return []
    powers = {term: term.as_coeff_exponent(unknown)[1] for term in terms}
    if any((term / unknown**power).has(unknown) for term, power in powers.items()):
        return []
    least = min(powers.values())
    stays = [term for term in terms if powers[term] == least]
    found: dict[sp.Expr, list[sp.Expr]] = {}
    for term in (each for each in terms if powers[each] > least):
        small, large = min((_sides(term / other, layer) for other in stays), key=lambda sides: sp.count_ops(sides))
        # a size that is a number cannot be large
        if large.free_symbols:
            found.setdefault(small, []).append(large)
    return [Limit(small, tuple(sorted(_least(large), key=_place(layer)))) for small, large in found.items()]


def _least(sides: Collection[sp.Expr]) -> set[sp.Expr]:
    """Return the sides without multiples of others: what is small beside D is small beside D*F."""
    return {
        each for each in sides if not any(other != each and (each / other).as_numer_denom()[1] == 1 for other in sides)
    }


def _sides(ratio: sp.Expr, layer: Layer) -> tuple[sp.Expr, sp.Expr]:
    """Write ratio << 1 with sizes over mesh axes on both sides: B/(X·F) << 1 as B/X << F."""
    above, below = ratio.as_numer_denom()
    axes = frozenset(layer.mesh_symbols)
    plain = [_sizes(each, layer, axes, inside=False) for each in (above, below)]
    split = [_sizes(each, layer, axes, inside=True) for each in (above, below)]
    return plain[0] / split[1], plain[1] / split[0]


def _sizes(product: sp.Expr, layer: Layer, axes: frozenset[sp.Symbol], *, inside: bool) -> sp.Expr:
    """Return the factors that are sizes, mesh axes if `inside`: numbers and bytes per element are of no order."""
    factors = [each for each in sp.Mul.make_args(product) if each.free_symbols - set(layer.typed.numbers)]
    return sp.Mul(*(each for each in factors if (each.free_symbols <= axes) == inside))


def _place(layer: Layer) -> Callable[[sp.Expr], int]:
    """Return the key that sorts sizes as the program names them."""
    order = [str(size) for size in layer.program.sizes.values()]
    return lambda size: min((order.index(name) for name in map(str, size.free_symbols) if name in order), default=0)
