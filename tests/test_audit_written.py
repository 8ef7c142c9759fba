"""Tagged claims as different authors write them: half are right, half subtly wrong, and each has its verdict."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from symscale.paper.audit.judged import audited

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
