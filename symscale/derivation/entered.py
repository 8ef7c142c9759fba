"""What an author puts into the steps of a derivation: chips, values, and programs laid on a mesh."""

from __future__ import annotations

import sympy as sp

from symscale.derivation.layer import Layer
from symscale.frozen import dataclass
from symscale.machine import Machine


@dataclass(frozen=True)
class Entered:
    """What goes into the steps after the first `at`: a chip as it is named and as it is used, and values.

    `mesh` says that the values are sizes of a mesh, on which `layer` is laid; else `layer` is the program whose bytes
    and dtypes are put in with the values.
    """

    at: int
    on: str | Machine | None
    chip: Machine | None
    values: tuple[tuple[str, str | int | sp.Expr], ...]
    mesh: bool = False
    layer: Layer | None = None
