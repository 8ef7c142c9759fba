"""Derivations rendered one by one, each in its own file's turn: what a process of `symscale report` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from symscale.derivation.figure import Figure
from symscale.derivation.registry import entry, files, written
from symscale.exercise import answers
from symscale.exercise.answers import Outcome, Row, outcome
from symscale.exercise.coverage import Chapter as Answers
from symscale.exercise.explain import right_if
from symscale.frozen import dataclass
from symscale.report.contents import Chapter
from symscale.report.document import steps_latex, steps_markdown
from symscale.report.figures import files as files_of
from symscale.report.figures import shows
from symscale.report.pool import mapped
from symscale.report.reads import watched
from symscale.report.symbols import Used, used


@dataclass(frozen=True)
class Piece:
    """A derivation with its steps in Markdown and in LaTeX, the keys it cites and the symbols it uses."""

    id: str
    title: str
    source: str
    cites: tuple[str, ...]
    markdown: str
    latex: str
    symbols: tuple[Used, ...]
    images: tuple[str, ...]


@dataclass(frozen=True)
class Rendered:
    """All that reports are made of: pieces by id, printed answers by file, and the files that were read.

    `conventions` are those under which the printed answers that differ are right, by the text of their rows; `drawings`
    the sources of figures by file, None where the file shows the figure already.
    """

    pieces: dict[str, Piece]
    answers: tuple[Answers, ...]
    conventions: dict[str, tuple[str, ...]]
    drawings: dict[str, str | None]
    read: frozenset[str]

    def right(self, row: Row) -> tuple[str, ...]:
        """Return the conventions under which a printed answer is right."""
        return self.conventions[repr(row)]


Place: TypeAlias = tuple[str, int]
IMAGES = "figures"  # the folder of drawings, in that of the reports


@dataclass(frozen=True)
class _Task:
    """The ids of one file, and the printed answers that its derivations are compared with, each with its place."""

    ids: tuple[str, ...]
    rows: tuple[tuple[Place, Row], ...]
    folder: Path | None
    draw: bool


@dataclass(frozen=True)
class _Part:
    """What a task made."""

    pieces: tuple[Piece, ...]
    outcomes: tuple[tuple[Place, Outcome], ...]
    conventions: tuple[tuple[str, tuple[str, ...]], ...]
    drawings: tuple[tuple[str, str | None], ...]
    read: frozenset[str]


def piece(id: str) -> Piece:
    """Derive an entry of the library live, with every step checked, and render it. Raises StepError if one fails."""
    found, derivation = entry(id), written(id)
    images = images_of(id)
    return Piece(
        id,
        found.title,
        found.source,
        found.cites,
        steps_markdown(derivation, images),
        steps_latex(derivation),
        used(derivation),
        tuple(images.values()),
    )


def images_of(id: str) -> dict[Figure, str]:
    """Return the files of a derivation's figures beside the reports."""
    return files_of(written(id), f"{IMAGES}/{id.replace('/', '-')}")


def render(
    chapters: Iterable[Chapter], *, compare: bool, workers: int, folder: Path | None = None, draw: bool = False
) -> Rendered:
    """Return the pieces of chapters and, with `compare`, every printed answer beside what is derived for it.

    With `draw` the figures that the files in `folder` do not show are drawn; without, they are said to be missing.
    """
    rows = {file.stem: answers.rows(file.stem) for file in answers.files()} if compare else {}
    placed = [((name, n), row) for name, found in rows.items() for n, row in enumerate(found)]
    tasks = list(_tasks([section.ids for each in chapters for section in each.sections], placed))
    tasks = [replace(each, folder=folder, draw=draw) for each in tasks]
    done = mapped(_run, tasks, workers, _size)
    drawings = {name: source for part in done for name, source in part.drawings}
    pieces = {each.id: each for part in done for each in part.pieces}
    outcomes = {place: each for part in done for place, each in part.outcomes}
    conventions = {row: names for part in done for row, names in part.conventions}
    compared = tuple(Answers(name, tuple(outcomes[name, n] for n in range(len(rows[name])))) for name in rows)
    return Rendered(pieces, compared, conventions, drawings, frozenset().union(*(part.read for part in done)))


def _tasks(groups: Sequence[tuple[str, ...]], placed: Iterable[tuple[Place, Row]]) -> Iterable[_Task]:
    """Yield a task for every file; an answer goes where its derivation is written, or to a task of its own."""
    home = {name: ids for ids in files().values() for name in ids}
    by_file: dict[tuple[str, ...], list[tuple[Place, Row]]] = {ids: [] for ids in groups}
    for place, row in placed:
        by_file.setdefault(home.get(row.derivation, ()), []).append((place, row))
    for ids, found in by_file.items():
        yield _Task(ids if ids in groups else (), tuple(found), None, False)


def _size(task: _Task) -> int:
    return 4 * len(task.ids) + len(task.rows)


def _run(task: _Task) -> _Part:
    with watched() as read:
        pieces = tuple(piece(each) for each in task.ids)
        outcomes = tuple((place, outcome(row)) for place, row in task.rows)
        differing = [each.row for _, each in outcomes if each.status == "differs"]
        conventions = tuple((repr(row), right_if(row)) for row in differing)
        drawings = tuple(_drawings(task))
    return _Part(pieces, outcomes, conventions, drawings, frozenset(read))


def _drawings(task: _Task) -> Iterator[tuple[str, str | None]]:
    """Yield the files of figures with their sources; None where a file shows its figure, "" where nothing is drawn."""
    for name, figure in ((name, figure) for id_ in task.ids for figure, name in images_of(id_).items()):
        if task.folder is None or shows(task.folder / name, figure):
            yield name, None
        elif task.draw:
            from symscale.report.drawing import svg

            yield name, svg(figure)
        else:
            yield name, ""
