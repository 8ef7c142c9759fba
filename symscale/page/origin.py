"""Where the numbers of steps come from, a chip, a dtype or their author, and so what they are on another chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import lru_cache

import sympy as sp

from symscale.array.dtypes import ELEMENT_BYTES
from symscale.array.element import elements
from symscale.derivation.entered import Entered
from symscale.derivation.layer import Layer, lies_alike
from symscale.derivation.proof import Evaluated
from symscale.derivation.step import Derivation
from symscale.derivation.terms import IN_ANOTHER, ON_ANOTHER, figure_of, is_width, read
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.machine import Machine, chosen
from symscale.page.again import Again, Computed, computed, other_formulas


@dataclass(frozen=True)
class Origin:
    """What a number of a step is on other terms: another chip's `figure` of this name, or `refused` in these words.

    Where the dtype decides, `kind` is the one it has; the figure is the peak of that dtype, or "bytes" of an element.
    `anew` are the words by which another dtype is refused.
    """

    figure: str = ""
    kind: str = ""
    chip: Machine | None = None
    refused: str = ""
    anew: str = ""


STAYS = Origin()


@dataclass(frozen=True)
class Sources:
    """What has been put in before a step: chip and values, and the program whose mesh was laid last."""

    put: Entered | None
    laid: Entered | None
    computed: Computed = field(default_factory=lambda: Computed())
    others: tuple[str, str] = ("", "")

    def of(self, name: sp.Symbol, value: sp.Expr) -> Origin:
        """Return where the number of a symbol comes from."""
        layer = self.put.layer if self.put is not None else self.laid.layer if self.laid is not None else None
        chip = self.chip
        given = dict(self.put.values) if self.put is not None else {}
        if name.name in given and read(given[name.name]) == value and self.put is not None:
            kind = _kind(layer) if layer is not None and layer.follows else ""
            if is_width(name.name, value, kind):
                return Origin("bytes", kind)
            found = _figure(name.name, value, chosen(self.put.on), kind)
            on, anew = self.computed.words(name.name)
            return replace(found, refused=found.refused or on, anew=anew or found.anew) if not found.figure else found
        if layer is not None and name in layer.typed.numbers:
            return Origin("bytes", _kind(layer)) if layer.follows else STAYS
        if chip is None:
            return STAYS
        kinds = layer.kinds if layer is not None else ()
        if name.name == "C" and len(kinds) == 1 and dict(chip.peaks).get(kinds[0]) == value:
            return Origin(f"C_{kinds[0]}", kinds[0] if layer is not None and layer.follows else "", chip)
        return Origin(name.name, "", chip) if chip.figures.get(name.name) == value else STAYS

    @property
    def peaks(self) -> tuple[str, bool]:
        """The dtypes whose peaks a chip needs for the numbers of the step, and whether another dtype takes over."""
        layer = self.put.layer if self.put is not None else None
        if layer is None or self.chip is None:
            return "", False
        return " ".join(layer.kinds), layer.follows

    @property
    def chip(self) -> Machine | None:
        """The chip that numbers are taken from."""
        return self.put.chip if self.put is not None else self.laid.chip if self.laid is not None else None


def sources(derivation: Derivation, place: int, again: Again) -> Sources:
    """Return what an author has put in before the step of this place, and what of it is computed from figures."""
    before = [each for each in derivation.entered if each.at <= place]
    put = next((each for each in reversed(before) if not each.mesh), None)
    laid = next((each for each in reversed(before) if each.mesh), None)
    proofs = derivation.steps[place].proofs if place >= 0 else ()
    stated = [each.expressions for each in proofs if isinstance(each, Evaluated)]
    return Sources(put, laid, computed(put, derivation, again), other_formulas(stated, again))


@lru_cache(maxsize=4096)
def _figure(name: str, value: sp.Expr, own: Machine | None, kind: str) -> Origin:
    """Return where a number comes from that an author types, C beside a program in this dtype, "" if it has none."""
    try:
        figure, chip = figure_of(name, value, own)
    except SymscaleError as error:
        anew = error.message.replace(ON_ANOTHER, IN_ANOTHER) if kind and name == "C" else ""
        return Origin(refused=error.message, anew=anew)
    return Origin(figure, kind, chip) if kind and name == "C" and figure == f"C_{kind}" else Origin(figure)


# ------------------------------------------------------------------ dtypes


def _kind(layer: Layer) -> str:
    return layer.typed.dtype[layer.program.leaves[0]]


def dtypes(derivation: Derivation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the dtypes of the programs that declare none, and those that may stand in their place.

    There is none where another dtype would change formulas: in programs that mix several.
    """
    layers = [each.layer for each in derivation.entered if each.mesh and each.layer is not None]
    following = [each for each in layers if each.follows]
    if any(each.typed.mixed for each in following):
        return (), ()
    own = tuple(dict.fromkeys(map(_kind, following)))
    return own, tuple(each for each in ELEMENT_BYTES if all(_alone(layer, each) for layer in following)) if own else ()


def _alone(layer: Layer, dtype: str) -> bool:
    """Say whether every array has this dtype where it is that of those that declare none."""
    return set(elements(layer.program, dtype).dtype.values()) == {dtype}


# ------------------------------------------------------------------ chips


def otherwise(derivation: Derivation, chips: Sequence[Machine]) -> dict[str, str]:
    """Return the chips on which the programs lie on another network than on that of the author, and so what is said."""
    laid = [each for each in derivation.entered if each.mesh and each.on is not None and each.layer is not None]
    found: dict[str, str] = {}
    for chip in chips:
        for each in laid:
            words = _other_network(each.layer, chip) if each.layer is not None else ""
            if words:
                found[chip.title] = words
                break
    return found


def _other_network(layer: Layer, chip: Machine) -> str:
    try:
        alike = lies_alike(layer, chip)
    except SymscaleError as error:
        return error.message
    return "" if alike else f"On {chip.title} the mesh lies on another network, and the formulas are others"
