"""`symscale render`: a template becomes a document, filled in by a process that cannot take more than it is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from symscale.errors import StepError, SymscaleError
from symscale.frozen import dataclass
from symscale.paper.held import read, real
from symscale.report.files import write_atomically

#: What every document that is rendered says in a comment.
MADE_BY = "Made by symscale render from"

#: Seconds for all of a document, its derivations included.
PATIENCE = 600.0
_PACKAGE = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Rendered:
    """A document as its template has it: its text, where it belongs, and the drawings beside it that are stale."""

    text: str
    file: Path | None
    stale: tuple[Path, ...] = ()

    @property
    def current(self) -> bool:
        """Whether the file holds the text already, and every drawing shows what it should."""
        if self.file is None or self.stale or not self.file.is_file():
            return False
        return self.file.read_bytes() == self.text.encode("utf-8")


def render(template: Path, output: Path | None = None, *, dialect: str = "", check: bool = False) -> Rendered:
    """Return the document of a template; figures that go into files are drawn beside `output`, unless `check` is set.

    The template's ends of lines are kept. Raises SymscaleError naming the template's file and line, and StepError where
    a check of a derivation fails.
    """
    target = real(template)
    typed = read(target)[1]
    folder = output.parent if output is not None else None
    if output is not None and output.exists():
        _apart(output, target)
    asked = {"template": str(target), "name": template.name, "dialect": dialect}
    found = _filled({**asked, "folder": str(folder or ""), "check": check})
    if output is not None and output.exists():
        for each in map(Path, found["made of"]):
            _apart(output, each)
    text: str = found["text"]
    if "\r\n" in typed:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return Rendered(text, output, tuple(map(Path, found["stale"])))


def save(rendered: Rendered, *, force: bool = False) -> None:
    """Write a document in one piece; one that was written by hand only by `force`.

    Raises SymscaleError if its file is read-only, a folder, by hand, or cannot be written.
    """
    file = rendered.file
    if file is None:
        return
    if file.is_dir():
        raise SymscaleError(f"{file} is a folder.", hint="Name the file to write.")
    if file.exists() and (not file.stat().st_mode & 0o222 or not os.access(file, os.W_OK)):
        raise SymscaleError(f"{file} is read-only.", hint="Make it writable, or name another file.")
    if file.exists() and not force and MADE_BY not in read(file)[1]:
        hint = "Name another file, or overwrite it with --force."
        raise SymscaleError(f"{file} was not made by symscale render.", hint=hint)
    write_atomically(file, rendered.text)


def difference(rendered: Rendered) -> str:
    """Return what would change in the document's file, as a unified diff."""
    from difflib import unified_diff

    file = rendered.file
    before = read(file)[1] if file is not None and file.is_file() else ""
    name = str(file)
    lines = unified_diff(before.splitlines(True), rendered.text.splitlines(True), name, f"{name} (rendered)", n=2)
    shown = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return shown + "".join(f"stale: {each}\n" for each in rendered.stale)


def _apart(output: Path, template: Path) -> None:
    if output.exists() and os.path.samefile(output, template):
        raise SymscaleError(f"{output} is a template itself.", hint="Name another file: -o paper.tex.")


def _filled(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what is answered to what is asked. Raises SymscaleError."""
    said = in_a_process(asked)
    if "error" in said:
        kind = StepError if said["error"] == "StepError" else SymscaleError
        raise kind(said["message"], text=said["line"], position=said["at"], hint=said["hint"])
    return said


def in_a_process(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a process of its own. Raises SymscaleError if it does not finish."""
    # -P: no file of the document's folder is taken for a module of Python's
    paths = [str(_PACKAGE), *(each for each in sys.path if each)]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "symscale.paper.fill"],
            input=json.dumps(asked).encode(),
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            timeout=PATIENCE,
            check=False,
        )
        said: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise _unfinished(asked["name"], f"it took more than {PATIENCE / 60:.0f} minutes") from error
    except ValueError as error:
        raise _unfinished(asked["name"], "it took more memory or time than there is") from error
    return said


def _unfinished(name: str, why: str) -> SymscaleError:
    return SymscaleError(f"{name} was not finished: {why}.", hint="Let its loops end earlier, or ask for less.")
