"""What belongs to the repository: sources, and nothing that was built, downloaded or is large."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILT = {".whl", ".gz", ".zip", ".so", ".pyc", ".aux", ".log", ".pdf", ".egg"}
LARGEST = 1_500_000


def test_nothing_built_or_large_is_kept() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    files = [ROOT / each for each in names.split("\0") if each]
    assert [each.name for each in files if each.suffix in BUILT] == []
    assert [each.name for each in files if each.is_file() and each.stat().st_size > LARGEST] == []
