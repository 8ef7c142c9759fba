"""The scripts of a page run by node, without a browser: what they count, read and print, as JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from symscale.page.reading import reading_script
from symscale.report.document import template_folder

SCRIPTS = ("arithmetic", "numbers", "reading", "formula")


def scripted(script: str) -> Any:
    """Return what a script prints as JSON, behind the page's arithmetic, numbers and reading."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed, so the scripts of pages did not run")
    folder = template_folder() / "page"
    sources = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    text = "\n".join([reading_script(), *sources, f"console.log(JSON.stringify({script}))"])
    done = subprocess.run([program, "-"], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
