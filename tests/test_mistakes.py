"""Mistakes that people made in public, `data/mistakes.toml`: each is found, and nothing is claimed of the others."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from test_pairs import Pair, fits, found

from symscale.exercise.inverse import arithmetic

MISTAKES = tomllib.loads((Path(__file__).parent / "data" / "mistakes.toml").read_text(encoding="utf-8"))["mistake"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: str(each["about"]))
def test_a_mistake_of_a_reader_is_called_what_it_is(mistake: dict[str, object]) -> None:
    pairs = [Pair(*each) for each in mistake.get("answers", [])]
    verdicts = [(pair, *found(str(mistake["exercise"]), pair.answer)) for pair in pairs]
    assert [each for each in verdicts if not fits(*each)] == []


@pytest.mark.parametrize("line", [tuple(each) for one in MISTAKES for each in one.get("lines", [])], ids=str)
def test_a_line_of_arithmetic_is_explained_or_is_not(line: tuple[str, str]) -> None:
    text, words = line
    explained = [str(each) or "as it is" for each in arithmetic(text)[1]]
    assert words in explained[0] if words else not explained
