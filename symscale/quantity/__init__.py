"""Expressions and units: exact numbers, unit words, dimensions solved from equations."""

from symscale.quantity.dimension import BYTE, DOLLAR, JOULE, PURE, SECOND, Dimension
from symscale.quantity.extrema import maximum, minimum
from symscale.quantity.infer import check, dimension_of, infer, table_dimensions
from symscale.quantity.unit import Amount, Unit, other_reading, parse_quantity, parse_unit

__all__ = [
    "BYTE",
    "DOLLAR",
    "JOULE",
    "PURE",
    "SECOND",
    "Amount",
    "Dimension",
    "Unit",
    "check",
    "dimension_of",
    "infer",
    "maximum",
    "minimum",
    "other_reading",
    "parse_quantity",
    "parse_unit",
    "table_dimensions",
]
