"""The comparison of rows with the engine: every row fails when what it states is changed, and says what it needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from answers import Row, check, entries, rows

from symscale.exercise.answers import files

FILES = (
    "chapter1",
    "chapter2",
    "chapter3",
    "chapter4",
    "chapter5",
    "chapter6",
    "chapter7",
    "chapter8",
    "chapter10",
    "chapter12",
    "disputes",
    "runs",
)
# chapter 11 has nothing to derive
CHAPTERS = tuple(f"chapter{number}" for number in (*range(1, 11), 12))
OTHER = {"yes": "no", "no": "yes", "0": "1"}


@pytest.mark.parametrize("name", FILES)
def test_ids_occur_once_and_reasons_have_values(name: str) -> None:
    found = rows(name)
    assert len({row.id for row in found}) == len(found)
    assert all(bool(row.why) is bool(row.printed and row.ours) for row in found)
    assert all([bool(row.formula), bool(row.derivation), bool(row.not_modelled)].count(True) == 1 for row in found)


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_entry_of_a_chapter_has_a_row(name: str) -> None:
    listed = entries(name)
    assert len(set(listed)) == len(listed) > 0
    assert {row.id for row in rows(name)} == set(listed)


def test_every_file_of_a_chapter_is_compared() -> None:
    assert {file.stem for file in files()} == set(CHAPTERS)


@pytest.mark.parametrize(
    "row", [row for name in FILES for row in rows(name) if not row.not_modelled], ids=lambda row: row.id
)
def test_another_value_fails(row: Row) -> None:
    field = "ours" if row.ours else "printed"
    text = getattr(row, field)
    # 7/5: no count of FLOPs or bytes beside the right one in a derivation is that much larger
    wrong = OTHER.get(text, f"7/5*({text})")
    with pytest.raises(AssertionError):
        check(replace(row, **{field: wrong}))


def test_a_reason_for_a_value_that_agrees_fails() -> None:
    row = Row("x", formula="2 + 2", printed="4", ours="4", why="it does not")
    with pytest.raises(AssertionError):
        check(row)
    check(replace(row, why="", ours=""))


def test_numbers_hold_to_their_last_digit() -> None:
    for formula, printed, holds in [
        ("1.49", "1.5", True),
        ("1.44", "1.5", False),
        ("4.34*10^8", "4.3e8", True),
        ("4.36*10^8", "4.3e8", False),
        ("435.4", "435", True),
        ("435.6", "435", False),
        ("1/3", "1/3", True),
        ("16*2^20 + 1", "16*2^20", False),
    ]:
        row = Row("x", formula=formula, printed=printed)
        if holds:
            check(row)
        else:
            with pytest.raises(AssertionError):
                check(row)


def test_a_row_is_derived_or_says_why_not() -> None:
    check(Row("x", not_modelled="a name"))
    for more in ({"printed": "4"}, {"formula": "2 + 2"}, {"why": "because"}):
        with pytest.raises(AssertionError):
            check(replace(Row("x", not_modelled="a name"), **more))


def test_whole_numbers() -> None:
    for formula, whole, printed in [
        ("7.08", "floor", "7"),
        ("84.9", "ceiling", "85"),
        ("85", "ceiling", "85"),
        ("35/4", "power of two", "16"),
        ("8", "power of two", "8"),
    ]:
        check(Row("x", formula=formula, whole=whole, printed=printed))
        with pytest.raises(AssertionError):
            check(Row("x", formula=formula, whole=whole, printed=f"{printed} + 1"))


def test_a_relation_is_decided_by_what_is_derived() -> None:
    row = Row("x", "inference/step", "B >= 16", given={"M_weights": "26", "M_cache": "6", "N_chips": "8"})
    for room, said in (("15", "no"), ("16", "yes")):
        check(replace(row, given={**row.given, "M_hbm": room}, printed=said))
    # 15.2 sequences fit and 3.9 outweigh the weights
    undecided = Row("x", "inference/llama2-13b", "B >= 10", printed="yes")
    with pytest.raises(AssertionError, match="is not decided for"):
        check(undecided)


def test_collectives_are_those_of_the_program_in_order() -> None:
    row = Row("x", "inference/cache-sharding", "collectives", printed="AllToAll Z, AllToAll Z, AllReduce Y,Z")
    check(row)
    with pytest.raises(AssertionError):
        check(replace(row, printed="AllReduce Y,Z, AllToAll Z, AllToAll Z"))
