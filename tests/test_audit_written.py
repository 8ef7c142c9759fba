"""Tagged claims as different authors write them: half are right, half subtly wrong, and each has its verdict."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from symscale.cli import run
from symscale.paper.audit.judged import audited
from symscale.paper.audit.shown import audit_text

SNIPPETS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "data" / "audit.toml").read_text(encoding="utf-8")
)["snippet"]
SHORT = {
    "right to leading order": "leading",
    "right number, wrong unit": "unit",
    "right under another convention": "convention",
}


def verdicts(folder: Path, snippet: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the text and the verdict of every claim of a snippet."""
    file = folder / f"written.{snippet['kind']}"
    file.write_text(snippet["text"], encoding="utf-8")
    found = audited(file).findings
    kinds = [each.verdict.kind if each.verdict is not None else "unread" for each in found]
    return [(each.text, SHORT.get(kind, kind)) for each, kind in zip(found, kinds, strict=True)]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[each["name"] for each in SNIPPETS])
def test_what_authors_write_has_its_verdict(tmp_path: Path, snippet: dict[str, Any]) -> None:
    found = verdicts(tmp_path, snippet)
    assert [kind for _, kind in found] == snippet["expected"], found


def test_the_snippets_are_many_and_as_often_wrong_as_right() -> None:
    kinds = [kind for each in SNIPPETS for kind in each["expected"]]
    assert len({each["name"] for each in SNIPPETS}) == len(SNIPPETS)
    assert len(kinds) >= 60
    assert abs(kinds.count("right") - (len(kinds) - kinds.count("right"))) < len(kinds) / 4


def test_the_command_says_what_it_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tex").write_text("\\[ B/X \\ge C/W \\]", encoding="utf-8")
    Path("b.tex").write_text("% audit: training/fsdp\n\\[ B/X \\ge C/W \\]", encoding="utf-8")
    assert run(["audit", "a.tex"]) == 0
    assert capsys.readouterr().out == "No tag names a derivation. 1 formula carries no tag (--untagged lists them).\n"
    assert run(["audit", "?.tex"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "a.tex: No tag names a derivation."
    assert run(["audit", "*.tex", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["without_tags"] == ["a.tex"]
    assert run(["audit", "*.md"]) == 2
    assert "No document is called *.md." in capsys.readouterr().err
    assert run(["audit", "b.tex", "none.tex"]) == 2
    assert "there is no such file" in capsys.readouterr().out
    assert run(["audit", "."]) == 2
    assert "is a folder" in capsys.readouterr().out


def test_the_right_answer_has_the_names_of_the_document(tmp_path: Path) -> None:
    toml = '[style.rename]\nW_ici = "\\\\beta"\nX = "p"\nP = "q"\n'
    (tmp_path / "symscale.toml").write_text(toml, encoding="utf-8")
    (tmp_path / "a.tex").write_text("% audit: training/fsdp\n\\[ B/p \\ge 2C/\\beta \\]", encoding="utf-8")
    shown = audit_text([audited(tmp_path / "a.tex")])
    answer = r"\frac{B}{p} \ge \frac{C}{\beta}"
    assert answer in shown
    assert r"for p \gg 1" in shown
    (tmp_path / "a.tex").write_text(f"% audit: training/fsdp\n\\[ {answer} \\]", encoding="utf-8")
    assert audited(tmp_path / "a.tex").code == 0
