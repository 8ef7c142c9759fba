"""A page of the docs, the commands it prints as examples, and what a command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from symscale.cli import run

DOCS = Path(__file__).resolve().parent.parent / "docs"


def page(name: str) -> str:
    """Return the text of a page of the docs."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def examples(text: str, command: str = "") -> list[list[str]]:
    """Return the arguments of the lines of a page's shell blocks, or of those that call one command."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith(f"symscale {command}" if command else "")]


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Run a command and return what it prints."""
    assert run(list(arguments)) == code
    return capsys.readouterr().out
