"""What is read while reports are rendered: a derivation may load a chip's file, or a module, from any folder."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import source_from_cache

_open: list[set[str]] = []


@contextmanager
def watched() -> Iterator[set[str]]:
    """Collect the files that are opened for reading inside the block, but for those of Python and its packages."""
    _listen()
    found: set[str] = set()
    _open.append(found)
    try:
        yield found
    finally:
        _open.remove(found)


@lru_cache(maxsize=1)
def _listen() -> None:
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[object, ...]) -> None:
    """Note a file that is opened. Python calls this for every such event, and an error would refuse to open it."""
    if not _open or event != "open" or not isinstance(arguments[0], str | os.PathLike):
        return
    flags = arguments[2] if isinstance(arguments[2], int) else 0
    if flags & (os.O_WRONLY | os.O_RDWR):
        return
    with suppress(OSError):  # the folder that a relative path starts from may be gone
        path = os.path.abspath(os.fspath(arguments[0]))
        if isinstance(path, str) and not path.startswith(_installed()):
            for each in _open:
                each.add(_source(path))


def _source(path: str) -> str:
    """Return the module that a file of bytecode was compiled from, or the path as it is."""
    try:
        return source_from_cache(path) if path.endswith(".pyc") else path
    except ValueError:
        return path


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    """Return where Python and its packages lie, which a manifest knows by their versions, and what is no file."""
    return (*{path + os.sep for path in sysconfig.get_paths().values()}, "/proc/", "/dev/", "/sys/")
