"""Chapter 8 of "How To Scale Your Model": what it prints beside what the engine derives."""

from __future__ import annotations

import pytest
from answers import Row, check, rows


@pytest.mark.parametrize("row", rows("chapter8"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)
