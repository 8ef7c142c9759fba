"""What a folder of reports was rendered from: while nothing of it changes, no report has to be rendered again.

The manifest lies in the folder as `.symscale.manifest`; deleting it is harmless. It holds digests of all that is read
(the engine, templates, folders of derivations, other files they read, versions of what renders) and of all that was
written.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from symscale.derivation.registry import folders
from symscale.errors import SymscaleError
from symscale.report.document import template_folder
from symscale.report.files import write_atomically

NAME = ".symscale.manifest"
RENDERERS = ("sympy", "jinja2", "numpy", "pybtex", "latexcodec")


def current(folder: Path, inputs: str) -> bool:
    """Return whether every report of a folder is what would be rendered now from these inputs."""
    try:
        stored = json.loads((folder / NAME).read_text(encoding="utf-8"))
        told, read, written = stored["inputs"], stored["read"].items(), stored["written"].items()
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False
    same = all(digest(Path(file)) == value for file, value in read)
    return bool(told == inputs and written and same and all(digest(folder / name) == value for name, value in written))


def keep(folder: Path, inputs: str, read: Iterable[str], written: Iterable[str]) -> None:
    """Write the manifest of reports that have been rendered; a folder that takes no file is left without one."""
    own = tuple(f"{root}/" for root in _roots())
    stored = {
        "inputs": inputs,
        "read": {file: digest(Path(file)) for file in sorted(read) if not file.startswith(own)},
        "written": {name: digest(folder / name) for name in written},
    }
    try:
        write_atomically(folder / NAME, json.dumps(stored, indent=1) + "\n")
    except SymscaleError:
        with suppress(OSError):
            (folder / NAME).unlink(missing_ok=True)


def inputs() -> str:
    """Return a digest of all that reports are rendered from, as far as it is known before."""
    versions = [platform.python_version(), *(f"{name} {version(name)}" for name in RENDERERS)]
    parts = [*versions, *(f"{file} {digest(file)}" for root in _roots() for file in _within(root))]
    return hashed("\n".join(parts))


def digest(file: Path) -> str:
    """Return the digest of a file, or "" if there is none."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def _roots() -> list[Path]:
    package = Path(__file__).resolve().parent.parent
    return [package, template_folder(), *(folder.resolve() for folder in folders())]


def _within(root: Path) -> Iterator[Path]:
    """Yield the files below a folder that may matter: all but bytecode and what is hidden."""
    for file in sorted(root.rglob("*")):
        hidden = any(part.startswith(".") or part == "__pycache__" for part in file.relative_to(root).parts)
        if file.is_file() and not hidden:
            yield file


def hashed(text: str) -> str:
    """Return the digest of a text, as it is written."""
    return hashlib.sha256(text.encode()).hexdigest()
