"""`symscale.toml` of a document's folder: where its derivations and machines are, and its style."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.machine.model import did_you_mean
from symscale.machine.reading import error_position
from symscale.paper.nearest import FILE, find
from symscale.paper.request import LABEL, is_label
from symscale.paper.style import Style, renamed, with_units
from symscale.textfile import read_text

KEYS = ("digits", "detail", "env", "numbered", "numbers", "width", "label", "rename", "unit")
TABLES = {"rename": renamed, "unit": with_units}


@dataclass(frozen=True)
class Settings:
    """What a document is written with: folders of derivations, files of machines, and its style.

    `folder` is where `symscale.toml` is, else the document's own; `documents` are those it lists.
    """

    folder: Path = Path()
    derivations: tuple[Path, ...] = ()
    machines: tuple[Path, ...] = ()
    style: Style = field(default_factory=Style)
    documents: tuple[Path, ...] = ()

    @contextmanager
    def used(self) -> Iterator[None]:
        """Look for derivations and chips there too. Raises MachineError for a chip that does not validate."""
        from symscale.derivation import registry
        from symscale.machine import library

        with library.also(self.machines), registry.also(self.derivations):
            yield

    def check(self, here: Collection[str]) -> None:
        """Raise SettingsError for a name of the style that is no symbol: not one of `here`, and of nothing else."""
        from symscale.paper.known import check_known

        for key, pairs in (("rename", self.style.renames), ("unit", self.style.units)):
            check_known((name for name, _ in pairs), here, f"{self.folder / FILE}: style.{key}")


def read_settings(folder: Path) -> Settings:
    """Return the settings of a document's folder: of `symscale.toml` there, or in the nearest folder above.

    The search ends at the root of a repository. Raises SymscaleError naming the file and the key, with the closest
    right one, for what it does not know.
    """
    file = find(folder)
    if file is None:
        return Settings(folder)
    place = _Place(file)
    table = place.parsed()
    place.known(table, ("derivations", "machines", "style", "documents"))
    return Settings(
        file.parent,
        tuple(each for each in place.paths(table, "derivations") if place.folder("derivations", each)),
        tuple(chip for each in place.paths(table, "machines") for chip in place.chips(each)),
        _style(place, place.table(table, "style")),
        tuple(dict.fromkeys(file for each in place.texts(table, "documents") for file in place.matching(each))),
    )


def _style(place: _Place, table: Mapping[str, Any]) -> Style:
    place = _Place(place.file, "style")
    place.known(table, KEYS)
    style = Style(label=place.text("label", table.get("label", "")))
    if style.label and not is_label(style.label):
        raise place.error("label", f"{style.label[:40]!r} does not begin the name of a label", LABEL)
    for key in (each for each in KEYS if each in table and each != "label"):
        value = table[key]
        try:
            if key in TABLES:
                pairs = [(name, place.text(f"{key}.{name}", each)) for name, each in place.table(table, key).items()]
                style = TABLES[key](style, pairs)
            else:
                style = style.changed([(key, ("no", "yes")[value] if isinstance(value, bool) else str(value))])
        except SymscaleError as error:
            said = error.message.startswith(f"{place.file}: ")
            message = error.message if said else f"{place.file}: style.{key}: {error.message}"
            raise SymscaleError(message, text=error.text, position=error.position, hint=error.hint) from error
    return style


@dataclass(frozen=True)
class _Place:
    """Where in which file a value stands."""

    file: Path
    path: str = ""

    def error(self, key: str, found: str, hint: str) -> SymscaleError:
        where = ".".join(filter(None, (self.path, key)))
        return SymscaleError(f"{self.file}: {where}: {found}." if where else f"{self.file}: {found}.", hint=hint)

    def parsed(self) -> dict[str, Any]:
        if self.file.exists() and not self.file.is_file():
            raise SymscaleError(f"{self.file} is no file.", hint="It is a page of TOML; docs/papers.md describes it.")
        text = read_text(self.file, hint="It is a page of TOML; docs/papers.md describes it.")
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            at = error_position(text, str(error))
            message = f"{self.file}: not TOML: {error}."
            raise SymscaleError(message, text=text, position=at, hint="docs/papers.md describes the file.") from error

    def known(self, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        for key in table:
            if key not in keys:
                hint = f"The keys are {', '.join(keys)}.{did_you_mean(key, keys)}"
                raise self.error("", f"there is no key {key[:40]!r}{f' in [{self.path}]' if self.path else ''}", hint)

    def table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = table.get(key, {})
        if not isinstance(found, dict):
            raise self.error(
                key, "it is no table", f"Write [{'.'.join(filter(None, (self.path, key)))}] above its keys."
            )
        return found

    def text(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self.error(key, f"{str(value)[:40]} is no text", "Write it between quotation marks.")
        return value

    def texts(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        found = table.get(key, [])
        if not isinstance(found, list):
            raise self.error(key, "it is no list", f'Write {key} = ["{key}"].')
        return tuple(self.text(key, each) for each in found)

    def paths(self, table: Mapping[str, Any], key: str) -> tuple[Path, ...]:
        return tuple(self.file.parent / each for each in self.texts(table, key))

    def matching(self, pattern: str) -> tuple[Path, ...]:
        """Return the documents that a pattern such as chapters/*.tex names."""
        try:
            found = tuple(sorted(each for each in self.file.parent.glob(pattern) if each.is_file()))
        except (ValueError, NotImplementedError) as error:
            hint = "Paths are seen from the folder of this file: chapters/*.tex."
            raise self.error("documents", f"{pattern[:60]!r} is no pattern of paths", hint) from error
        if not found:
            raise self.error("documents", f"there is no file {pattern[:60]}", "Write paper.tex, or chapters/*.tex.")
        return found

    def folder(self, key: str, path: Path) -> bool:
        if not path.is_dir():
            what = "no folder and no file" if path.suffix.lower() == ".toml" else "no folder"
            raise self.error(key, f"there is {what} {path}", "Paths are seen from the folder of this file.")
        return True

    def chips(self, path: Path) -> tuple[Path, ...]:
        """Return the machine files of a folder, or the one file that is named."""
        if path.suffix.lower() == ".toml" and path.is_file():
            return (path,)
        self.folder("machines", path)
        return tuple(sorted(each for each in path.glob("*.toml") if each.name != FILE))
