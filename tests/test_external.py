"""Published training runs and checkpoints beside what the engine derives; `data/` holds the rows with their sources."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import sympy as sp
from answers import DATA, Row, candidates, check, close, rows

from symscale.transformer import active_count, catalogue, model, parameter_count, read_config


@pytest.mark.parametrize("row", rows("runs"), ids=lambda row: row.id)
def test_runs(row: Row) -> None:
    check(row)


def test_most_published_figures_agree() -> None:
    found = rows("runs")
    assert sum(not row.why for row in found) >= 0.95 * len(found)


CHECKPOINTS: list[dict[str, Any]] = tomllib.loads((DATA / "checkpoints.toml").read_text(encoding="utf-8"))["row"]


@pytest.mark.parametrize("row", CHECKPOINTS, ids=lambda row: row["id"])
def test_parameters_of_checkpoints(row: dict[str, Any]) -> None:
    config = model(row["model"]) if "model" in row else read_config(row["config"], row["id"])
    count = {"all": parameter_count, "active": active_count}[row["count"]](config)
    found = sp.Integer(count + row.get("buffers", 0))
    assert close(found, row["printed"], row.get("within", "")), int(found)


# Hours of A100s as measured, which can only be more than 6 FLOPs per parameter and token at the full peak take.
MEASURED = [
    ("lb-llama1-gpuh-7B", "6738*10^6", "10^12", 82432),
    ("lb-llama1-gpuh-13B", "13016*10^6", "10^12", 135168),
    ("lb-llama1-gpuh-33B", "32529*10^6", "14*10^11", 530432),
    ("lb-llama1-gpuh-65B", "65286*10^6", "14*10^11", 1022362),
]


@pytest.mark.parametrize(("key", "parameters", "tokens", "measured"), MEASURED, ids=[row[0] for row in MEASURED])
def test_measured_hours_exceed_the_bound(key: str, parameters: str, tokens: str, measured: int) -> None:
    given = {"P": parameters, "tokens": tokens, "C": "312*10^12"}
    (least,) = [each for each in candidates(Row(key, "runs/hours", "hours", given=given)) if not each.free_symbols]
    assert 0.2 * measured < least < measured


def test_configs_agree_with_the_catalogue() -> None:
    for row in CHECKPOINTS:
        if "config" in row and row.get("same"):
            assert parameter_count(read_config(row["config"], row["id"])) == parameter_count(model(row["same"]))
            assert row["same"] in catalogue()
