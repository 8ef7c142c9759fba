"""Files are written in one piece or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from symscale.errors import SymscaleError


def folder(path: str | Path) -> Path:
    """Return a folder, made if there is none. Raises SymscaleError if that fails."""
    target = Path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SymscaleError(
            f"The folder {target} cannot be made: {error.strerror}.",
            hint="Give a folder you may write to.",
        ) from error
    return target


def writable(path: str | Path) -> None:
    """Say before any work whether a file can be written, where several belong together. Raises SymscaleError."""
    target = Path(path)
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        why = "it is a folder" if target.is_dir() else "its folder is not there, or takes no files"
        raise SymscaleError(f"{target} cannot be written: {why}.", hint="Give a file in a folder you may write to.")


def write_atomically(path: str | Path, text: str | bytes, over: bytes | None = None) -> None:
    """Write text or bytes to `path` by way of a temporary file beside it. Raises SymscaleError if that fails.

    `over` is what somebody else's file has to hold still: it keeps its permissions and owner, and is on the disk before
    it takes the other's place.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8") if isinstance(text, str) else text)
                if over is not None:
                    file.flush()
                    os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            if over is not None:
                _like(target, temporary)
                if target.read_bytes() != over:
                    raise SymscaleError(
                        f"{target} was changed by another program meanwhile, and is left as that has it.",
                        hint="Run the command again.",
                    )
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise SymscaleError(
            f"{target} cannot be written: {error.strerror or error}.",
            hint="Give a file in a folder you may write to.",
        ) from error


def _like(target: Path, temporary: str) -> None:
    """Give a file the permissions, owner and attributes of the one whose place it takes."""
    owner = target.stat()
    with suppress(OSError):  # only root gives files away
        os.chown(temporary, owner.st_uid, owner.st_gid)
    shutil.copystat(target, temporary)
    os.utime(temporary)
