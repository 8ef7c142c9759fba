"""Where the settings of a document are: cheap to ask, for most documents have none."""

from __future__ import annotations

import os
from pathlib import Path

FILE = "symscale.toml"


def find(folder: Path) -> Path | None:
    """Return the `symscale.toml` of a folder, or of the nearest above it up to the root of a repository."""
    for each in (folder.resolve(), *folder.resolve().parents):
        if os.path.lexists(each / FILE):  # one that cannot be read is said, not passed over
            return each / FILE
        if (each / ".git").exists():
            return None
    return None
