"""Element types: bytes per element and which of two is the wider."""

from __future__ import annotations

from types import MappingProxyType

import sympy as sp

from symscale.errors import LayoutError

ELEMENT_BYTES = MappingProxyType(
    {
        "fp64": sp.Integer(8),
        "fp32": sp.Integer(4),
        "int32": sp.Integer(4),
        "bf16": sp.Integer(2),
        "fp16": sp.Integer(2),
        "fp8": sp.Integer(1),
        "int8": sp.Integer(1),
        "fp4": sp.Rational(1, 2),
        "int4": sp.Rational(1, 2),
    }
)

_SPELLINGS = MappingProxyType(
    {
        "float64": "fp64",
        "f64": "fp64",
        "float32": "fp32",
        "f32": "fp32",
        "i32": "int32",
        "s32": "int32",
        "bfloat16": "bf16",
        "float16": "fp16",
        "f16": "fp16",
        "float8": "fp8",
        "f8": "fp8",
        "i8": "int8",
        "s8": "int8",
        "i4": "int4",
        "s4": "int4",
    }
)


def canonical_dtype(word: str) -> str | None:
    """Return the canonical name of a dtype word in any usual spelling, or None."""
    lowered = word.lower()
    lowered = _SPELLINGS.get(lowered, lowered)
    return lowered if lowered in ELEMENT_BYTES else None


def dtype(word: str) -> str:
    """Return the canonical name of a dtype word. Raises LayoutError with the options."""
    found = canonical_dtype(word)
    if found is None:
        raise LayoutError(f"Unknown dtype {word!r}.", hint=f"Use one of {', '.join(ELEMENT_BYTES)}.")
    return found


def wider(first: str | None, second: str | None) -> str | None:
    """Return the dtype with more bytes per element; on a tie the first; None if either is open."""
    if first is None or second is None:
        return first if first == second else None
    return first if ELEMENT_BYTES[first] >= ELEMENT_BYTES[second] else second
