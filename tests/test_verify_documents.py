"""The example documents against the programs that set them: pdfLaTeX, Typst and KaTeX (`make verify`)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pages import DOCS
from test_katex import SCRIPT, node

from symscale.cli import run
from symscale.derivation.registry import ids
from symscale.errors import SymscaleError
from symscale.paper.dialect import DIALECTS, LATEX
from symscale.paper.request import read_request
from symscale.paper.settings import Settings
from symscale.paper.write import write

pytestmark = pytest.mark.verify
EXAMPLES = DOCS / "examples" / "paper"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example templates with their settings, in a folder to write to."""
    return Path(shutil.copytree(EXAMPLES, tmp_path / "paper"))


def rendered(folder: Path, name: str) -> Path:
    assert run(["render", str(folder / f"{name}.j2"), "-o", str(folder / name)]) == 0
    return folder / name


def latex(file: Path, times: int = 2) -> str:
    """Return what pdfLaTeX says of a document, which it sets twice for its references."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed, so it did not set the document")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", file.name]
    for _ in range(times):
        done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", ["article.tex", "twocolumn.tex", "slides.tex"])
def test_latex_sets_the_example(folder: Path, name: str) -> None:
    said = latex(rendered(folder, name))
    assert "undefined" not in said
    assert not re.findall(r"Overfull \\hbox \((?:[2-9]|\d\d+)[\d.]*pt", said)


def test_typst_sets_the_example(folder: Path) -> None:
    compiler = pytest.importorskip("typst", reason="typst is not installed, so it did not set the document")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed, so there is no plot to set")
    compiler.compile(str(rendered(folder, "paper.typ")), output=str(folder / "paper.pdf"))
    assert (folder / "paper.pdf").stat().st_size > 10_000


def test_katex_reads_the_example(folder: Path) -> None:
    import json

    pytest.importorskip("matplotlib", reason="matplotlib is not installed, so there is no plot to draw")
    if node("require('katex')", "").returncode:
        pytest.skip("katex is not installed, so it did not check the formulas: npm install katex, and set NODE_PATH")
    text = rendered(folder, "notes.md").read_text(encoding="utf-8")
    formulas = [(found, True) for found in re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)]
    text = re.sub(r"(`+)[^`].*?\1|\$\$.+?\$\$|\\\$", "", text, flags=re.DOTALL)
    formulas += [(found, False) for found in re.findall(r"\$([^$]+)\$", text)]
    assert len(formulas) > 20
    assert json.loads(node(SCRIPT, json.dumps(formulas)).stdout) == []


def claims(dialect: str) -> list[str]:
    """Return the claim of every derivation, in every form it has."""
    found = []
    for name in ids():
        for form in ("general", "dtype", "number", "exact"):
            try:
                found.append(write(read_request(f"{name} claim form={form}"), DIALECTS[dialect], Settings()))
            except SymscaleError:  # there is no number, or no closed form
                continue
    return found


def test_latex_and_typst_set_every_claim_of_the_library(tmp_path: Path) -> None:
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    (tmp_path / "all.tex").write_text(head + "\n\n".join(claims("latex")) + "\n\\end{document}\n", encoding="utf-8")
    latex(tmp_path / "all.tex")
    compiler = pytest.importorskip("typst", reason="typst is not installed, so it did not set the claims")
    (tmp_path / "all.typ").write_text("\n\n".join(claims("typst")), encoding="utf-8")
    compiler.compile(str(tmp_path / "all.typ"), output=str(tmp_path / "all.pdf"))


def test_what_values_say_cannot_reach_the_shell(tmp_path: Path) -> None:
    """A title with a command in it is set as text."""
    (tmp_path / "mine").mkdir()
    body = '@derivation("mine/evil", title=r"\\immediate\\write18{touch evil} & 100% #1 $x$ \\input{x}")\n'
    body += 'def evil(d):\n    d.number("x", d.read("y"), values={"y": 2})\n'
    (tmp_path / "mine" / "evil.py").write_text(f"from symscale import derivation\n\n\n{body}", encoding="utf-8")
    settings = Settings(tmp_path, (tmp_path / "mine",))
    with settings.used():
        text = write(read_request("mine/evil title"), LATEX, settings)
    document = f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\begin{{document}}\n{text}\n\\end{{document}}\n"
    (tmp_path / "evil.tex").write_text(document, encoding="utf-8")
    latex(tmp_path / "evil.tex")
    assert not (tmp_path / "evil").exists()
