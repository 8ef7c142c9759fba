"""A document while it is worked on: locked against a second symscale, read, and replaced in one piece."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from symscale.errors import SymscaleError
from symscale.report.files import write_atomically
from symscale.textfile import decoded, read_bytes

#: So long another symscale may hold a document [s].
PATIENCE = 120.0
#: More than a document of text ever has [bytes].
LARGEST = 100_000_000


def real(file: Path) -> Path:
    """Return the file that a path leads to: links stay links. Raises SymscaleError if there is none."""
    try:
        target = file.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or "its links lead in a circle"
        raise SymscaleError(f"{file} cannot be read: {why}.", hint="Give a document that is there.") from error
    if target.is_dir():
        raise SymscaleError(f"{file} is a folder.", hint="Give files; a symscale.toml can list documents.")
    if not target.is_file():
        raise SymscaleError(f"{file} is no file.", hint="Give a document.")
    return target


def read(file: Path, most: int = LARGEST) -> tuple[bytes, str]:
    """Return what a document holds, and its text. Raises SymscaleError if it is too long, or not UTF-8."""
    data = read_bytes(file, most=most, hint="Split the document.")
    return data, decoded(data, file)


def replace(file: Path, before: bytes, text: str) -> None:
    """Put a text in the place of what a file holds. Raises SymscaleError if it is read-only, or holds that no more."""
    try:
        fixed = not file.stat().st_mode & 0o222 or not os.access(file, os.W_OK)
    except OSError as error:
        raise _gone(file) from error
    if fixed:
        raise SymscaleError(f"{file} is read-only.", hint="Make it writable: its blocks are stale.")
    write_atomically(file, text.encode("utf-8"), over=before)


def _gone(file: Path) -> SymscaleError:
    return SymscaleError(f"{file} was taken away meanwhile.", hint="Run the command again.")


@contextmanager
def locked(file: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold a file against other processes that ask so, where the system can. Raises SymscaleError after `patience`."""
    deadline = time.monotonic() + patience
    while (handle := _opened(file)) is not None:
        try:
            while not _taken(handle):
                if time.monotonic() > deadline:
                    raise SymscaleError(f"{file} is held by another symscale.", hint="Wait for it, or end it.")
                time.sleep(0.02)
            # whoever held it may have put another file in its place
            try:
                same = os.path.samestat(os.fstat(handle), os.stat(file))
            except OSError as error:
                raise _gone(file) from error
            if same:
                yield
                return
        finally:
            os.close(handle)
    yield


def _opened(file: Path) -> int | None:
    """Return a handle to lock, None on Windows: there a file that is open cannot be replaced."""
    if os.name == "nt":
        return None
    try:
        return os.open(file, os.O_RDONLY)
    except OSError as error:
        raise SymscaleError(f"{file} cannot be read: {error.strerror}.", hint="Give a file you may read.") from error


def _taken(handle: int) -> bool:
    """Take the lock of a file unless another has it; a file system without locks has them all free."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
