"""The digits and the units that numbers are shown with: the one way from a value in base units to what is printed."""

from __future__ import annotations

import sympy as sp

from symscale.errors import UnitError
from symscale.frozen import dataclass
from symscale.notation.numbers import displayed
from symscale.quantity import parse_unit


@dataclass(frozen=True)
class Measures:
    """How numbers are shown: significant digits, the units of quantities by name, and `unit` for every one.

    A quantity without a unit of its own has that of its base with an SI prefix: 0.0002 s is 200 µs.
    """

    digits: int = 4
    units: tuple[tuple[str, str], ...] = ()
    unit: str = ""

    def unit_of(self, name: str) -> str:
        """Return the unit that a quantity is to have, "" where none is named."""
        return self.unit or dict(self.units).get(name, "")

    def shown(self, value: sp.Expr, unit: str, name: str = "") -> tuple[sp.Expr, str]:
        """Return a value in base units of `unit` as it is shown, and its unit. Raises UnitError if it is unfit."""
        wanted = self.unit_of(name)
        if wanted:
            return value * scale(unit, wanted, name), wanted
        return (value, "") if unit in ("", "1") else displayed(value, unit, self.digits)


def scale(unit: str, wanted: str, name: str = "") -> sp.Expr:
    """Return how many of the wanted unit one of `unit` is. Raises UnitError for another dimension."""
    target = parse_unit(wanted)
    try:
        own = parse_unit(unit)
    except UnitError:  # chips along X and the like are counts
        own = parse_unit("")
    if own.dimension != target.dimension:
        raise UnitError(
            f"{name or 'A number'} in {unit or 'no unit'} is none in {wanted}.",
            hint=f"Its own dimension is {own.dimension or '1'}.",
        )
    return own.factor / target.factor
