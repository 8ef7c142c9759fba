"""Drawings beside documents: a figure asked for with `file=` is drawn into that file, and again when it changes."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from symscale.errors import SymscaleError
from symscale.paper.pieces import Steps, find
from symscale.paper.request import Request
from symscale.paper.restyled import figure_in
from symscale.paper.settings import Settings
from symscale.report.figures import drawn, untouched

SUFFIX = ".svg"


def check_file(name: str) -> str:
    """Return the name of a drawing beside a document. Raises SymscaleError for another place or kind of file."""
    path = PurePosixPath(name)
    if (
        path.is_absolute()
        or ".." in path.parts
        or "\\" in name
        or path.suffix != SUFFIX
        or set(name) & set("\"'<>()[]{}|#%")
    ):
        raise SymscaleError(f"A figure cannot be drawn into {name[:60]!r}.", hint=f"Write file=plots/name{SUFFIX}.")
    return name


def draw(request: Request, settings: Settings, folder: Path, *, check: bool = False) -> Path | None:
    """Draw the figure that a request puts into a file, below the folder of its document.

    Returns the file if it was stale, None if it shows the figure already, or none is asked for; with `check` nothing is
    drawn. Raises SymscaleError if matplotlib is missing, the file is somebody else's, or it cannot be written.
    """
    name = request.option("file")
    if not name:
        return None
    style = settings.style.changed(request.options)
    found = find(request)
    if not isinstance(found.piece, Steps) or found.piece.steps[0].figure is None:
        return None
    figure = figure_in(found.piece.steps[0].figure, style.order(found.order), style.width)
    file = folder / check_file(name)
    if file.exists() and not untouched(file):
        hint = "Name another file, or take that one away."
        raise SymscaleError(f"{file} is not as symscale drew it, and is left as it is.", hint=hint)
    return file if drawn(file, figure, check=check) else None
