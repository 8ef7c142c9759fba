"""The library as pages: one for each chapter and an index, or one for chosen derivations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from symscale.derivation import registry
from symscale.derivation.registry import blackboard
from symscale.frozen import dataclass
from symscale.machine import library
from symscale.page.page import html, index
from symscale.report.contents import Chapter, wanted
from symscale.report.files import folder as folder_made
from symscale.report.files import write_atomically
from symscale.report.pool import mapped


def chosen_page(ids: Sequence[str]) -> str:
    """Return one page with the derivations of these ids, in their order. Raises SymscaleError."""
    found = [blackboard(each).derivation for each in ids]
    return html(*found, title=found[0].title if len(found) == 1 else "Derivations")


@dataclass(frozen=True)
class Own:
    """Files of chips and folders of derivations that are known besides those that come with symscale."""

    machines: tuple[Path, ...] = ()
    derivations: tuple[Path, ...] = ()


NONE = Own()


def write_pages(folder: str | Path, *, check: bool, only: tuple[str, ...], workers: int, own: Own = NONE) -> list[Path]:
    """Write a page for every chapter and an index, and return the files that changed; with `check` nothing is written.

    `only` names chapters, or ids in them: their pages alone are made.
    """
    target = Path(folder)
    chapters = wanted(only)
    pages = mapped(partial(_page, own), chapters, workers, lambda each: len(each.ids))
    made = {f"{each.name}.html": page for each, page in zip(chapters, pages, strict=True)}
    if not only:
        made["index.html"] = index([(each.name, each.title, len(each.ids)) for each in chapters])
    changed = [name for name, page in made.items() if _text(target / name) != page]
    for name in () if check else changed:
        folder_made(target)
        write_atomically(target / name, made[name])
    return [target / name for name in changed]


def _page(own: Own, chapter: Chapter) -> str:
    # a process of its own knows of no other files yet
    with library.also(own.machines), registry.also(own.derivations):
        return html(*(blackboard(each).derivation for each in chapter.ids), title=chapter.title)


def _text(file: Path) -> str:
    """Return what a file holds, or nothing."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
