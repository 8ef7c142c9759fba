"""The comparison of rows with the engine: every row fails when what it states is changed, and says what it needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from answers import Row, check, rows

FILES = ("chapter4", "chapter5", "chapter6", "runs")
OTHER = {"yes": "no", "no": "yes"}


@pytest.mark.parametrize("name", FILES)
def test_ids_occur_once_and_reasons_have_values(name: str) -> None:
    found = rows(name)
    assert len({row.id for row in found}) == len(found)
    assert all(bool(row.why) is bool(row.printed and row.ours) for row in found)
    assert all(bool(row.formula) is not bool(row.derivation) for row in found)


@pytest.mark.parametrize("row", [row for name in FILES for row in rows(name)], ids=lambda row: row.id)
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
