"""Which symbols there are for a style to name: those of the symbol table, of chips, and of derivations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from symscale.derivation.builder import Builder
from symscale.derivation.registry import blackboard, files, folders
from symscale.errors import SettingsError, SymscaleError
from symscale.machine import machine, machines
from symscale.machine.model import did_you_mean
from symscale.notation.formula import parse_formula
from symscale.textfile import read_text
from symscale.vocabulary import TABLE


@lru_cache(maxsize=512)
def names_of(d: Builder) -> frozenset[str]:
    """Return the names of all symbols on a blackboard: in its equations, conditions and figures."""
    said = [each for step in d.steps for each in (*step.equations, *step.conditions)]
    found = {name for each in said for name in each.free_symbols}
    for figure in (step.figure for step in d.steps if step.figure is not None):
        found |= {name for each in figure.curves for form in (each.x, each.y) for name in form.free_symbols}
        if figure.map is not None:
            found |= {figure.map.x, *figure.map.y.free_symbols, *(name for name, _ in figure.map.values)}
    return frozenset(map(str, found))


def check_known(said: Iterable[str], here: Iterable[str], place: str) -> None:
    """Raise SettingsError for a name of a style that is no symbol of anything that documents of a folder can ask for.

    A settings file serves several derivations, so a name is unknown only if it is no symbol of the table, of a chip,
    of the derivation asked (`here`), or of any other of the registry. `place` is where the style is said.
    """
    for each in said:
        for name in sorted(map(str, parse_formula(each).expr.free_symbols)):
            if name not in here and not _known(name, tuple(files()), folders()):
                others = {each for d in _boards(tuple(files())) for each in names_of(d)}
                close = did_you_mean(name, sorted(others | set(TABLE) | _of_chips()))
                raise SettingsError(
                    f"{place}: no derivation and no chip has a symbol {name[:40]}.",
                    hint=f"Names are as formulas have them, such as W_ici.{close}",
                )


@lru_cache(maxsize=256)
def _known(name: str, sources: tuple[Path, ...], places: tuple[Path, ...]) -> bool:
    """Return whether a name is a symbol; the derivations whose files speak of its parts are looked at first."""
    if name in TABLE or name in _of_chips():
        return True
    parts = set(name.split("_"))

    def strange(file: Path) -> tuple[bool, int]:
        return name not in _words(file), len(parts - _words(file))

    return any(name in names_of(d) for d in _boards(tuple(sorted(sources, key=strange))))


@lru_cache(maxsize=256)
def _words(file: Path) -> frozenset[str]:
    text = read_text(file)
    return frozenset([*re.findall(r"\w+", text), *re.findall(r"[^\W_]+", text)])


def _of_chips() -> frozenset[str]:
    return frozenset(name for chip in machines() for name in machine(chip).figures)


def _boards(sources: tuple[Path, ...]) -> Iterator[Builder]:
    """Yield the derivations of files that can be written."""
    there = files()
    for name in (each for file in sources for each in there[file]):
        try:
            yield blackboard(name)
        except SymscaleError:
            continue
