"""What a reader of a page may type: every symbol that a derivation counts with, and where its number comes from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

import sympy as sp

from symscale.derivation.filling import shown_unit
from symscale.derivation.step import Derivation
from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.machine import Machine, chosen, known_machines, machine
from symscale.page.live import drawn_with, evaluated, lives
from symscale.vocabulary import entry

# What a reader starts from where a derivation gives no number: a model of the size of LLaMA 3 70B on a few pods.
# A page calls these examples.
EXAMPLES: Mapping[str, int] = {
    "B": 2**20, "D": 8192, "F": 28_672, "T": 8192, "S": 8192, "L": 80, "H": 128, "K": 8, "G": 8, "V": 128_256, "E": 64,
    "k": 8, "N_heads": 64, "N_chips": 1024, "X": 256, "Y": 4, "Z": 4, "M_X": 1, "M_Y": 1, "M_Z": 1, "b": 2, "I": 8192,
    "J": 8192, "M": 4096, "N": 4096, "O": 4096, "Q": 64, "R": 16, "m": 16, "n": 8, "p": 8, "v": 2, "s": 4,
    "P": 70 * 10**9, "t_F": 1, "t_B": 1, "t_W": 1, "M_array": 2**30, "W_node": 4 * 10**11, "b_w": 2, "b_kv": 2,
    "b_x": 2, "b_W": 2,
}  # fmt: skip
# The chips of a derivation that names none, the first that has all it needs; and the dtype of the peak.
USUAL_CHIPS, USUAL_KIND = ("tpu-v5e", "h100"), "bf16"
# The numbers by which a chip is known.
RATES = ("C", "W_hbm", "M_hbm", "W_ici", "W_link", "W_nvlink")


@dataclass(frozen=True)
class Input:
    """A symbol with a number: `own` are those that the derivation gives it (several, where steps differ).

    `start` is what formulas without a number of their own begin with; it is an example where `own` is empty and no
    chip gives it. A `width` is the bytes of an element, in the dtype of the program.
    """

    symbol: sp.Symbol
    own: tuple[sp.Expr, ...]
    start: sp.Expr | None
    unit: str
    meaning: str
    on_chip: bool
    width: bool = False

    @property
    def example(self) -> bool:
        """Whether the number is not the derivation's, nor a chip's."""
        return not self.own and not self.on_chip and self.start is not None


@dataclass(frozen=True)
class Setting:
    """The chip of a derivation, whether it names it itself, and the dtype whose peak is C."""

    chip: Machine
    own: bool
    kind: str


def setting_of(derivation: Derivation, used: frozenset[sp.Symbol]) -> Setting:
    """Return the chip that a derivation takes numbers from: the first it names, or the one whose numbers it gives.

    Where there is none, the usual one that has the most of what the derivation uses.
    """
    found = [each for step in derivation.steps for each in evaluated(step)]
    kinds = [each.kind for each in found if each.kind]
    used_here = {each.chip.name: each.chip for each in derivation.entered if each.chip is not None}
    named = [chip for each in found if (chip := used_here.get(each.on) or _known(each.on)) is not None]
    kind = kinds[0] if kinds else USUAL_KIND
    if named:
        return Setting(named[0], True, kind)
    own = {name.name: values for name, values in own_numbers(derivation).items() if name.name in RATES}
    given = [each for each in chips() if own and _gives(each, own)]
    if given:
        said = " ".join([derivation.title, *(each.title for each in derivation.steps)])
        chip = max(given, key=lambda each: each.title in said)
        peaks = [name for name, value in chip.peaks if value in own.get("C", ())]
        return Setting(chip, True, peaks[0] if peaks else kind)
    names = {each.name for each in used}
    usual = [machine(name) for name in USUAL_CHIPS]
    return Setting(max(usual, key=lambda each: len(names & with_peak(each, kind).keys())), False, kind)


def _gives(chip: Machine, own: Mapping[str, Collection[sp.Expr]]) -> bool:
    """Say whether a chip has all the rates that a derivation gives, C as the peak of some dtype."""
    peaks = [value for _, value in chip.peaks]
    figures = chip.figures
    return all(set(values) & set(peaks if name == "C" else [figures.get(name)]) for name, values in own.items())


def own_numbers(derivation: Derivation) -> dict[sp.Symbol, tuple[sp.Expr, ...]]:
    """Return the numbers that the steps of a derivation put in for each symbol."""
    own: dict[sp.Symbol, dict[sp.Expr, None]] = {}
    for step in derivation.steps:
        put = [pair for live in lives(step) if live is not None for pair in live.own]
        put += drawn_with(step.figure) if step.figure is not None else ()
        for name, value in put:
            if value.is_number:
                own.setdefault(name, {})[value] = None
    return {name: tuple(values) for name, values in own.items()}


def _known(name: str) -> Machine | None:
    """Return a chip by name; None for one from a reader's own file, whose numbers are in the steps alone."""
    try:
        return chosen(name or None)
    except MachineError:
        return None


def chips() -> tuple[Machine, ...]:
    """Return the chips that come with symscale, and those of a reader's own files."""
    return tuple(machine(name) for name in known_machines())


def figure_names() -> frozenset[str]:
    """Return the names of all numbers that chips have."""
    return _names(chips())


@lru_cache(maxsize=4)
def _names(chips: tuple[Machine, ...]) -> frozenset[str]:
    return frozenset(name for each in chips for name in each.figures)


def inputs_of(derivation: Derivation, used: frozenset[sp.Symbol], setting: Setting) -> tuple[Input, ...]:
    """Return the inputs of a derivation for the symbols that its live formulas use: then a chip's rates."""
    own = own_numbers(derivation)
    figures = with_peak(setting.chip, setting.kind)
    order = {name: place for place, name in enumerate(derivation.order.symbols)}
    names = sorted(used, key=lambda each: (order.get(each.name, len(order)), each.name))
    layers = [each.layer for each in derivation.entered if each.layer is not None]
    widths = frozenset(name for each in layers for name in each.typed.numbers)
    made = [_input(name, own.get(name, ()), figures, widths) for name in names]
    return tuple(sorted(made, key=lambda each: each.on_chip))


def _input(
    name: sp.Symbol, own: tuple[sp.Expr, ...], figures: Mapping[str, sp.Rational], widths: frozenset[sp.Symbol]
) -> Input:
    row = entry(name.name) or entry(_family(name.name))
    figure = figures.get(name.name)
    # a number of the same name that the derivation gives itself is not the chip's
    on_chip = name.name in figure_names() and (not own or figure in own)
    example = EXAMPLES.get(name.name)
    start = own[0] if own else figure if on_chip else None if example is None else sp.Integer(example)
    unit = row.unit if row is not None else shown_unit(name.name, {})
    return Input(name, own, start, unit, row.meaning if row is not None else "", on_chip, name in widths)


def _family(name: str) -> str:
    """Return the symbol whose unit another has: C of C_int8, W of W_row, b of b_In."""
    stem = name.partition("_")[0]
    return stem if stem in ("C", "W", "b") else ""


def with_peak(chip: Machine, kind: str) -> dict[str, sp.Rational]:
    """Return every number of a chip by its name in formulas; C is the peak of a dtype, where the chip has one."""
    found = {name: value for name, value in chip.figures.items() if name != "C"}
    peak = dict(chip.peaks).get(kind)
    return found if peak is None else {**found, "C": peak}
