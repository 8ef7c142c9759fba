"""What symscale writes into documents, an audit reads back as right: in every language, renamed or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from symscale.derivation.registry import blackboard, ids
from symscale.paper.audit.judged import audited
from symscale.paper.dialect import HTML, LATEX, MARKDOWN, TYPST, Dialect
from symscale.paper.request import read_request
from symscale.paper.settings import Settings
from symscale.paper.style import Style
from symscale.paper.write import write

RENAMES = (
    ("B", r"\mathcal{B}"),
    ("W_ici", r"\beta_{\text{link}}"),
    ("W_hbm", r"\beta_{\mathrm{mem}}"),
    ("C", r"\Pi"),
    ("D", r"d_{\text{model}}"),
    ("F", r"d_\text{ff}"),
    ("X", r"n_{\text{dp}}"),
    ("T_math", r"t^{*}_{\text{comp}}"),
    ("b", r"\omega"),
)
WRITTEN = {
    "latex": (LATEX, "paper.tex", "% audit: {}"),
    "markdown": (MARKDOWN, "paper.md", "<!-- audit: {} -->"),
    "typst": (TYPST, "paper.typ", "// audit: {}"),
    "html": (HTML, "paper.html", "<!-- audit: {} -->"),
}


def sentences(of: Sequence[str], steps: bool) -> Iterator[str]:
    """Yield requests for the claims of derivations, or for their steps that are formulas."""
    for each in of:
        if not steps:
            yield f"{each} claim"
            continue
        for number, step in enumerate(blackboard(each).steps, 1):
            if step.equations and step.sheet is None and step.figure is None:
                yield f"{each} step {number}"


def not_right(folder: Path, language: str, of: Sequence[str], *, steps: bool, style: Style) -> list[tuple[str, str]]:
    """Return what is written of derivations, and is not read back as right."""
    dialect, name, comment = WRITTEN[language]
    asked = list(sentences(of, steps))
    pieces = [f"{comment.format(each)}\n{written(each, dialect, style)}" for each in asked]
    (folder / name).write_text("\n\n".join(pieces), encoding="utf-8")
    report = audited(folder / name, [f"{symbol}={latex}" for symbol, latex in style.renames])
    assert {each.tag for each in report.findings} == set(asked)
    assert report.untagged == ()
    return [(each.tag, each.text) for each in report.findings if not each.accepted]


def written(sentence: str, dialect: Dialect, style: Style) -> str:
    return write(read_request(sentence), dialect, Settings(style=style))


CASES = [
    ("latex", False, Style(renames=RENAMES)),
    ("latex", True, Style(env="gather", digits=8)),
    ("latex", True, Style(renames=RENAMES, numbers="siunitx").changed([("width", "40")])),
    ("markdown", True, Style(renames=RENAMES)),
    ("typst", False, Style().changed([("width", "40")])),
    ("typst", True, Style(renames=RENAMES)),
    ("html", False, Style(renames=RENAMES)),
    ("html", True, Style()),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_sample_of_the_library_is_read_back(tmp_path: Path, case: int) -> None:
    language, steps, style = CASES[case]
    assert not_right(tmp_path, language, ids()[case::61], steps=steps, style=style) == []


def test_a_case_that_the_numbers_are_not_in_is_read_back(tmp_path: Path) -> None:
    """With a = 0.8 the cases of a > 1 do not apply, and are said with their conditions all the same."""
    assert not_right(tmp_path, "latex", ["inference/speculation"], steps=False, style=Style()) == []


@pytest.mark.verify
@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_whole_library_is_read_back(tmp_path: Path, case: int) -> None:
    language, steps, style = CASES[case]
    assert not_right(tmp_path, language, ids(), steps=steps, style=style) == []
