"""Arrays, meshes and programs as frozen values."""

from symscale.array.dtypes import ELEMENT_BYTES, canonical_dtype, dtype, wider
from symscale.array.layout import Axes, Layout, common_prefix, subscript, validate
from symscale.array.program import Add, Einsum, Map, Move, Operation, Program, Reduce, Rename, Value

__all__ = [
    "ELEMENT_BYTES",
    "Add",
    "Axes",
    "Einsum",
    "Layout",
    "Map",
    "Move",
    "Operation",
    "Program",
    "Reduce",
    "Rename",
    "Value",
    "canonical_dtype",
    "common_prefix",
    "dtype",
    "subscript",
    "validate",
    "wider",
]
