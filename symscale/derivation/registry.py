"""The library of derivations: files of `derivations/` folders, each with functions marked `@derivation`."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import lru_cache, partial
from pathlib import Path

from symscale.derivation.builder import Builder
from symscale.derivation.citation import split
from symscale.derivation.step import Derivation
from symscale.derivation.terms import OWN, Terms
from symscale.errors import StepError, SymscaleError
from symscale.frozen import dataclass
from symscale.textfile import read_text

OTHERS = "Take other values, or another chip of the same kind."
FOLDERS_VARIABLE = "SYMSCALE_DERIVATIONS"


@dataclass(frozen=True)
class Entry:
    """A registered derivation: its id, title, source, the function that writes it down, and the keys it cites."""

    id: str
    title: str
    source: str
    write: Callable[[Builder], object]
    cites: tuple[str, ...] = ()


_registry: dict[str, Entry] = {}


def derivation(
    id: str, *, title: str, source: str = ""
) -> Callable[[Callable[[Builder], object]], Callable[[Builder], object]]:
    """Register a function `f(d)` as the derivation `id`; `[@key]` in its source cites an entry of a .bib file.

    Raises SymscaleError if the id is taken.
    """
    words, cites = split(source)

    def register(write: Callable[[Builder], object]) -> Callable[[Builder], object]:
        if id in _registry and _registry[id].write.__code__ != write.__code__:
            raise SymscaleError(f"Two derivations are called {id!r}.", hint="Give each an id of its own.")
        _registry[id] = Entry(id, title, words, write, cites)
        return write

    return register


def folders() -> tuple[Path, ...]:
    """Return the folders that hold derivations: the library's, those in SYMSCALE_DERIVATIONS, and those `also` adds.

    A folder that is named twice, in whichever spelling, is one folder.
    """
    package = Path(__file__).resolve().parent.parent
    inside, beside = package / "_derivations", package.parent / "derivations"
    own = [Path(each) for each in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if each]
    found: dict[Path, Path] = {}
    for each in (inside if inside.is_dir() else beside, *own, *_added):
        found.setdefault(each.resolve(), each)
    return tuple(found.values())


_added: list[Path] = []


@contextmanager
def also(more: Sequence[Path]) -> Iterator[None]:
    """Look for derivations in other folders too, such as those of a document."""
    known = {each.resolve() for each in folders()}
    new = [each for each in more if each.resolve() not in known]
    if not new:
        yield
        return
    _added.extend(new)
    _forget()
    try:
        yield
    finally:
        for name, file in _files().items():
            if any(each in file.parents for each in new):
                _registry.pop(name, None)
        del _added[-len(new) :]
        _forget()


def _forget() -> None:
    _files.cache_clear()
    blackboard.cache_clear()


_ID = re.compile(r"""@derivation\(\s*["']([^"']+)["']""")


@lru_cache(maxsize=1)
def _files() -> dict[str, Path]:
    """Return the file of every id, found without running any of them."""
    found: dict[str, Path] = {}
    for folder in folders():
        if not folder.is_dir():
            raise SymscaleError(f"There is no folder {folder}.", hint=f"Correct {FOLDERS_VARIABLE}, or make it.")
        for file in sorted(folder.rglob("*.py"), key=_numerical):
            for match in _ID.finditer(read_text(file, hint="Correct the folder of derivations.")):
                if match.group(1) in found and found[match.group(1)] != file:
                    raise SymscaleError(f"Two files define {match.group(1)!r}: {found[match.group(1)]} and {file}.")
                found[match.group(1)] = file
    return found


def _numerical(file: Path) -> list[tuple[str, int]]:
    """Return the sort key of a file in which chapter 10 comes after chapter 9."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D+)(\d*)", file.as_posix())]


def files() -> dict[Path, tuple[str, ...]]:
    """Return the ids of the library by the file that defines them."""
    found: dict[Path, list[str]] = {}
    for each, file in _files().items():
        found.setdefault(file, []).append(each)
    return {file: tuple(names) for file, names in found.items()}


def ids() -> tuple[str, ...]:
    """Return every id of the library, in the order of the files."""
    return tuple(_files())


_DRAWS = re.compile(r"\.(?:plot|roofline|regime_map|condition_map|pareto)\(")


def drawing() -> tuple[str, ...]:
    """Return the ids whose functions draw a figure, found without running any of them."""
    found = []
    for file in files():
        parts = _ID.split(read_text(file, hint="Correct the folder of derivations."))
        found += [name for name, body in zip(parts[1::2], parts[2::2], strict=True) if _DRAWS.search(body)]
    return tuple(found)


def entries() -> Iterator[Entry]:
    """Yield every registered derivation."""
    for each in ids():
        yield entry(each)


def entry(id: str) -> Entry:
    """Return a registered derivation. Raises SymscaleError with the closest ids."""
    files = _files()
    if id not in files:
        from difflib import get_close_matches

        close = get_close_matches(id, files, n=3, cutoff=0.3)
        raise SymscaleError(
            f"There is no derivation {id[:60]!r}.",
            hint=f"Did you mean {', '.join(close)}?" if close else "`symscale list` shows all of them.",
        )
    if id not in _registry:
        _run(files[id])
    return _registry[id]


def _run(file: Path) -> None:
    name = "symscale_derivations_" + re.sub(r"\W", "_", str(file))
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise SymscaleError(f"{file} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except SymscaleError:
        raise
    except (Exception, SystemExit) as error:
        message = f"{_place(error, str(file))}: {type(error).__name__}: {error}"
        raise SymscaleError(message, hint="Correct the derivation's file.") from error


def _place(error: BaseException, file: str) -> str:
    """Return the line of a derivation file in which an error came up."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}, line {lines[-1]}" if lines else file


@lru_cache(maxsize=512)
def blackboard(id: str, terms: Terms = OWN) -> Builder:
    """Return the blackboard with a registered derivation written on it, its steps not yet checked.

    On other terms than its own it is written again with another overlap, dtype, chip or other values. Whatever fails
    while its function runs is a SymscaleError that names the line.
    """
    found = entry(id)
    d = Builder(found.title, found.source, terms)
    d.again = partial(_again, id)
    try:
        with redirect_stdout(sys.stderr):  # what an author prints is no part of a document
            found.write(d)
        if terms.dtype and not d.follows:
            raise SymscaleError("it has no program whose arrays take its dtype.")
    except (Exception, SystemExit) as error:
        raise _unwritten(found, d, terms, error) from error
    if not d.steps:
        raise SymscaleError(
            f"{id} has no steps.", hint="Write what it derives: d.program(…), d.times(…), d.crossover(…)."
        )
    return d


def _again(id: str, terms: Terms) -> Derivation:
    """Return a registered derivation as it is on other terms."""
    return blackboard(id, terms).derivation


def _unwritten(found: Entry, d: Builder, terms: Terms, error: BaseException) -> SymscaleError:
    """Return what is said where a derivation cannot be written: its own fault, or that of the terms it is put on."""
    if not terms.own:
        # on terms of its own nothing is missing, so what Python says of it is of no use to who put others
        last = f"after step {len(d.steps)} ({d.steps[-1].title})" if d.steps else "at its first step"
        what = error.message if isinstance(error, SymscaleError) else f"{last} there is no result to go on with."
        if isinstance(error, KeyError):
            what = f"there is no {error.args[0]}."
        return SymscaleError(f"{found.id} cannot be written {terms}: {what}", hint=OTHERS)
    what = error.message if isinstance(error, SymscaleError) else f"{type(error).__name__}: {error}"
    place = f"{_place(error, found.write.__code__.co_filename)} ({found.id})"
    if isinstance(error, SymscaleError):
        return type(error)(f"{place}: {what}", text=error.text, position=error.position, hint=error.hint)
    return SymscaleError(f"{place}: {what}", hint="Correct the derivation's file.")


def proven(id: str, terms: Terms = OWN) -> Builder:
    """Return a blackboard all of whose steps are checked.

    Raises StepError if one fails, SymscaleError if it fails on other terms only.
    """
    d = blackboard(id, terms)
    for number, step in enumerate(d.steps, 1):
        try:
            _ = step.checks
        except StepError as error:
            if terms.own:
                raise
            message = f"Step {number} of {id} ({step.title}) does not hold {terms}: {error.message}"
            raise SymscaleError(message, hint=error.hint or OTHERS) from error
    return d


def written(id: str) -> Derivation:
    """Derive a registered derivation, live, and check every step. Raises StepError if one fails."""
    return proven(id).derivation
