"""Every piece of every derivation in every language, set by pdfLaTeX and Typst, read by KaTeX and as XML (`verify`)."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from test_katex import SCRIPT, node
from test_verify_documents import latex

from symscale.derivation.registry import blackboard, entry, ids
from symscale.errors import SymscaleError
from symscale.exercise.exercise import exercise
from symscale.paper.dialect import DIALECTS, TEXT
from symscale.paper.request import FORMS, PIECES, Request, read_request
from symscale.paper.settings import Settings
from symscale.paper.style import Style
from symscale.paper.write import write

pytestmark = pytest.mark.verify
LANGUAGES = {**DIALECTS, "text": TEXT}
STYLED = Settings(style=Style(digits=3, numbers="siunitx"))


def sentences(name: str) -> Iterator[str]:
    """Yield a request for every piece that a derivation may have."""
    steps = blackboard(name).steps
    yield from (f"{name} claim form={form}" for form in FORMS)
    yield from (f"{name} claim form={form} env=inline" for form in FORMS)
    yield from (f"{name} step {number} width=34" for number in range(1, len(steps) + 1))
    yield from (f"{name} derivation {detail}" for detail in ("detail=full", "detail=compact"))
    for what in ("table", "figure", "caption"):
        have = sum((each.sheet if what == "table" else each.figure) is not None for each in steps)
        yield from (f"{name} {what} {number}" for number in range(1, have + 1))
    yield from (f"{name} {what}" for what in ("title", "source", "value"))
    if entry(name).cites:
        yield f"{name} cite"


@cache
def pieces(dialect: str) -> dict[str, str]:
    """Return every piece of the library in a language, by its request; numbers of every quantity too."""
    found = {}
    for name in ids():
        asked = [read_request(each) for each in sentences(name)]
        asked += [Request(name, "value", each.what) for each in exercise(name).asked]
        for each in asked:
            try:
                found[str(each)] = write(each, LANGUAGES[dialect], STYLED)
            except SymscaleError:
                # what has no number, or no closed form, has none in any language
                if each.piece not in ("claim", "value"):
                    raise
    return found


def test_every_kind_of_piece_is_tried() -> None:
    asked = {read_request(each).piece for name in ids() for each in sentences(name)}
    assert asked == set(PIECES)


def test_pdflatex_sets_every_piece(tmp_path: Path) -> None:
    every = pieces("latex")
    assert len(every) > 5000
    packages = "\\usepackage{amsmath,pgfplots,siunitx}\n\\pgfplotsset{compat=1.16}\n\\DeclareSIUnit\\tokens{tokens}\n"
    body = "\n\n".join(f"%% {name}\n{text}" for name, text in every.items())
    document = f"\\documentclass{{article}}\n{packages}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (tmp_path / "all.tex").write_text(document, encoding="utf-8")
    latex(tmp_path / "all.tex", times=1)


def test_typst_sets_every_piece(tmp_path: Path) -> None:
    compiler = pytest.importorskip("typst", reason="typst is not installed, so it did not set the pieces")
    every = {name: text for name, text in pieces("typst").items() if " cite" not in name}
    (tmp_path / "all.typ").write_text("\n\n".join(every.values()), encoding="utf-8")
    compiler.compile(str(tmp_path / "all.typ"), output=str(tmp_path / "all.pdf"))


def test_katex_reads_every_formula() -> None:
    if node("require('katex')", "").returncode:
        pytest.skip("katex is not installed, so it did not check the formulas: npm install katex, and set NODE_PATH")
    formulas: dict[tuple[str, bool], str] = {}
    for name, text in pieces("markdown").items():
        shown = re.sub(r"(`+)[^`].*?\1|\\\$", "", text, flags=re.DOTALL)
        formulas |= {(found, True): name for found in re.findall(r"\$\$(.+?)\$\$", shown, re.DOTALL)}
        shown = re.sub(r"\$\$.+?\$\$", "", shown, flags=re.DOTALL)
        formulas |= {(found, False): name for found in re.findall(r"\$([^$]+)\$", shown)}
        assert shown.count("$") % 2 == 0, name
    assert len(formulas) > 3000
    checked = node(SCRIPT, json.dumps(list(formulas)))
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout) == []


def test_html_is_well_formed() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed, so there is no plot to draw")
    for name, text in pieces("html").items():
        whole = ET.fromstring(f"<div>{text.replace('&nbsp;', ' ')}</div>")
        marked = [each.get("id") for each in whole.iter() if each.get("id") in ("title", "desc")]
        assert not marked, name
        assert whole.find(".//merror") is None, name


def test_plain_text_has_no_markup() -> None:
    for name, text in pieces("text").items():
        assert not re.search(r"\\[a-zA-Z]|\$\$|&nbsp;|</", text), name
