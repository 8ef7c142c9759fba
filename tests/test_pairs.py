"""Answers labelled by hand, `data/pairs.toml`: each gets the verdict it has to have. What is hostile ends soon."""

from __future__ import annotations

import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from symscale.errors import SymscaleError
from symscale.exercise.desk import check
from symscale.exercise.exercise import exercise
from symscale.exercise.sheet import Entry, judged
from symscale.exercise.verdict import CONVENTION, LEADING, RIGHT, UNIT, WRONG

REFUSED = "refused"
VERDICTS = {"right": RIGHT, "leading": LEADING, "unit": UNIT, "convention": CONVENTION, "wrong": WRONG}
KINDS = {*VERDICTS, "unexplained", "refused", "rejected"}


class Pair(NamedTuple):
    """An answer, what has to become of it, and words that are said."""

    answer: str
    kind: str
    words: str = ""


def pairs() -> dict[str, list[Pair]]:
    tables = tomllib.loads((Path(__file__).parent / "data" / "pairs.toml").read_text(encoding="utf-8"))
    return {
        key: [
            Pair(each, kind) if isinstance(each, str) else Pair(each[0], kind, each[1])
            for kind, answers in table.items()
            for each in answers
        ]
        for key, table in tables.items()
    }


PAIRS = pairs()


def found(key: str, answer: str) -> tuple[str, str, bool]:
    """Return the verdict on an answer, everything that is said, and whether a slip is claimed."""
    try:
        verdict = check(exercise(*key.split(" ", 1)), answer)
    except SymscaleError as error:
        return REFUSED, str(error), False
    return verdict.kind, " ".join([verdict.said, *verdict.diagnosis]), bool(verdict.diagnosis)


def fits(pair: Pair, kind: str, said: str, claimed: bool) -> bool:
    if pair.kind == "rejected":
        return kind not in (RIGHT, LEADING)
    if pair.kind == "unexplained":
        return kind == WRONG and not claimed
    return kind == VERDICTS.get(pair.kind, pair.kind) and pair.words in said


@pytest.mark.parametrize("key", PAIRS)
def test_answers_have_the_verdicts_they_were_labelled_with(key: str) -> None:
    verdicts = [(pair, *found(key, pair.answer)) for pair in PAIRS[key]]
    assert [each for each in verdicts if not fits(*each)] == []


def test_the_pairs_are_many_of_every_kind() -> None:
    kinds = Counter(pair.kind for each in PAIRS.values() for pair in each)
    assert kinds.keys() == KINDS
    assert kinds.total() >= 1500
    assert min(kinds.values()) >= 7
    assert len({key.partition(" ")[0] for key in PAIRS}) >= 60
    twice = {key: Counter(pair.answer for pair in each) for key, each in PAIRS.items()}
    assert {key: answer for key, each in twice.items() for answer, count in each.items() if count > 1} == {}


HOSTILE = [
    "1" * 10**6,
    "B" * 10**6,
    "(" * 10**5 + "B" + ")" * 10**5,
    "(" * 300 + "B" + ")" * 300,
    "-" * 50_000 + "1",
    "9**9**9**9",
    "2^(2^(2^(2^(2^2))))",
    "B^1000000 > C",
    "(B + C + D + F)^60 > W",
    "B/X > " + " + ".join(f"C^{n}/W" for n in range(400)),
    "B/X > " + "sqrt(" * 40 + "C" + ")" * 40,
    " and ".join(f"B/X > {n}*C/W" for n in range(1, 40)),
    "max(" * 40 + "B, C" + ")" * 40,
    "B/X > max(" + ", ".join(f"{n}*C/W" for n in range(200)) + ")",
    "B" + "/X" * 5000 + " > C",
    "=" * 10_000,
    "<" * 10_000,
    "B/X " + "> C/W " * 2000,
    "AllGather_X(W_in), " * 5000,
    "AllGather_" + "X" * 100_000,
    "X=1, " * 20_000 + "X=1",
    "yes " * 100_000,
    "1e99999999",
    "1" + "0" * 5000 + " tokens",
    "0." + "3" * 5000,
    "1/3" * 3000,
    "\\frac{" * 2000 + "B" + "}" * 2000,
    "\\frac{1}{" * 45 + "B" + "}" * 45 + " > C",
    "\x00\x01\x1b[31m",
    "\u202e\u2066B/X",
    "🙂" * 10_000,
    "2550 " + "tokens " * 5000,
    "2550 " + "per chip " * 3000,
    "x" * 79 + " > C",
    "log(" * 40 + "B" + ")" * 40 + " > 1",
    "exp(exp(exp(exp(B)))) > C",
    "factorial(10**9)",
    "2^C",
    "B/X > B^C",
    "exp(exp(B))",
    "sqrt(B)^C",
    "2^(2^B)",
    "D^(F^L)",
    "T = 2^C\nT > 1",
    "C^C > B\nB/X > C/W_ici",
    "(B + 1)^999 > C",
    "((B + C)*(D + F)*(B + D)*(C + F))^20 > W",
    "B/X > 1/(C - C)",
    "B!!!!",
    "B/X > 10^100000",
    "ceil(" * 40 + "B/3" + ")" * 40 + " > C",
    "B=1: 4 ms; " * 20_000,
    "\n".join(["B = B"] * 200),
    "  \n" * 50_000,
]


@pytest.mark.parametrize("id", ["training/fsdp", "training/mixed-mesh", "ch5.q3.3.step-time"])
def test_hostile_answers_end_soon_and_are_not_accepted(id: str) -> None:
    asked = exercise(id)
    slow = {}
    for text in HOSTILE:
        began = time.process_time()
        try:
            accepted = judged(Entry(id, text)).verdict.accepted  # type: ignore[union-attr]
        except SymscaleError:
            accepted = False
        spent = time.process_time() - began
        if spent > 2 or accepted:
            slow[text[:40]] = (accepted, spent)
    assert slow == {}, asked.id
