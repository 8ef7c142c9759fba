"""The page about exercises: its example is an exercise, and its commands run in their order."""

from __future__ import annotations

import re
import shutil

import pytest
from pages import examples, page, said

from symscale.derivation import registry
from symscale.exercise.exercise import exercise
from symscale.exercise.hints import hints
from symscale.exercise.vary import varied

PAGE = page("exercises")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with the page's exercise, named as a user names it, which is the current one too."""
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "own.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv(registry.FOLDERS_VARIABLE, str(folder))
    monkeypatch.chdir(tmp_path)
    registry._files.cache_clear()
    yield code
    registry._files.cache_clear()


def test_an_exercise_takes_fifteen_lines(own: str) -> None:
    assert len([line for line in own.splitlines() if line.strip()]) <= 15
    one = exercise("own/narrow")
    assert [each.last for each in hints(one)] == [False, False, True]
    ranges = {"D": range(1024, 16385), "F": {8192}}
    drawn = [varied("own/narrow", "", seed) for seed in range(12)]
    values = [dict(next(each.headline.numbers)[0].used) for each in drawn]
    for name, allowed in ranges.items():
        assert all(int(each[registry.Builder.symbol(name)]) in allowed for each in values)
    assert {each.terms.on for each in drawn} <= {"", "tpu-v6e"}
    assert {each.terms.dtype for each in drawn} == {"", "bf16"}


def test_the_commands_of_the_page_run(own: str, tmp_path, capsys) -> None:
    for arguments in examples(PAGE):
        if arguments[0] == "grade":
            (tmp_path / "answers").mkdir()
            shutil.copy(tmp_path / "sheet.toml", tmp_path / "answers" / "ada.toml")
        printed = said(capsys, *arguments)
        assert printed.strip() or "-o" in arguments
    assert "ada,total,,,,,,0,4,," in (tmp_path / "grades.csv").read_text(encoding="utf-8")
    assert (tmp_path / "key.md").is_file()
