"""Names with two meanings: a dimension C beside the peak rate C. What they are called, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.errors import LayoutError
from symscale.notation.implicit import meaning


def clear(symbols: Iterable[sp.Symbol], layer: Layer, text: str = "") -> None:
    """Raise LayoutError, naming both, if one of the symbols is a size of the program and something else too."""
    program = layer.program
    for name in sorted(map(str, symbols)):
        other = meaning(name, program.values) if name in program.sizes or name in program.mesh else ""
        if not other:
            continue
        kind, suffix = ("dimension", "dim") if name in program.sizes else ("mesh axis", "axis")
        raise LayoutError(
            f"{name} is a {kind} of the program, and {other}.",
            text=text,
            position=max(text.find(name), 0) if text else None,
            hint=f"Write {layer.other_names.get(name, f'{name}_{suffix}')} for the {kind}; "
            f"to speak of the other, rename the {kind} in the program.",
        )


def dimension_of(name: str, layer: Layer) -> str:
    """Return the dimension that a name such as C_dim is written for (C), or the name as it is."""
    program, base = layer.program, name.removesuffix("_dim")
    written = base != name and base in program.sizes and name not in program.sizes
    return base if written and meaning(base, program.values) else name


def renamed(layer: Layer) -> list[str]:
    """Say which sizes are written by another name, and why."""
    return [
        f"The {'dimension' if name in layer.program.sizes else 'mesh axis'} {name} is written {own} here, "
        f"because {name} is {meaning(name, layer.program.values)}."
        for name, own in layer.other_names.items()
    ]
