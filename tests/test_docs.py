"""The docs: what their examples print, and that the site has every page and every public name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from console import told
from pages import DOCS

import symscale
from symscale.derivation import registry

ROOT = DOCS.parent
PAGES = sorted(
    path for path in DOCS.rglob("*.md") if re.search(r"```(console|pycon)", path.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_examples_print_what_the_page_shows(path: Path, tmp_path, monkeypatch) -> None:
    """`python tests/console.py PAGE` writes what is printed now into the page."""
    monkeypatch.setenv(registry.FOLDERS_VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    try:
        assert told(text) == text
    finally:
        registry._registry.clear()
        registry._forget()


def test_the_site_has_every_page() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    missing = [each for path in DOCS.rglob("*.md") if (each := path.relative_to(DOCS).as_posix()) not in nav]
    assert not missing, "mkdocs.yml has no place for them"


def test_the_reference_has_every_public_name() -> None:
    named = re.findall(r"^::: symscale\.(\w+)$", (DOCS / "reference" / "python.md").read_text(encoding="utf-8"), re.M)
    assert sorted(named) == sorted(symscale.__all__)


def test_docstrings_of_public_names_are_markdown() -> None:
    """Formulas stand in backticks: elsewhere `*` and `_` are markup."""
    wrong = {
        name: found
        for name, text in docstrings()
        if not text or (found := re.findall(r".*(?:[*<>≪^]|\w_\w).*", re.sub(r"`[^`]*`", "", text)))
    }
    assert not wrong


def docstrings() -> Iterator[tuple[str, str]]:
    for name in symscale.__all__:
        value = getattr(symscale, name)
        yield name, inspect.getdoc(value) or ""
        for owner in inspect.getmro(value) if inspect.isclass(value) else ():
            if owner.__module__.startswith("symscale."):
                for key, member in vars(owner).items():
                    if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                        yield f"{name}.{key}", inspect.getdoc(member) or ""
