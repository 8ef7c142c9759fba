"""Maps and bars of a page in Chromium against Python, and how they look in forced colours and on paper."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from browser import chromium, opened

from symscale.derivation.regions import direct
from symscale.derivation.registry import blackboard
from symscale.page.maps import compared
from symscale.page.page import html
from symscale.page.steps import ledger_of
from symscale.report.plain import words

pytestmark = pytest.mark.verify

POINTS = 70


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from chromium(tmp_path_factory.mktemp("profile"))


def written(folder: Path, name: str) -> Path:
    file = folder / "page.html"
    file.write_text(html(blackboard(name).derivation), encoding="utf-8")
    return file


PUT = """
const board = BOARDS[0], map = board.maps[arguments[2]];
type(board, map.x[0], String(arguments[0]));
type(board, map.lead, String(arguments[1]));
board.near = true;
refresh(board);
return byId(`${board.key}-m${arguments[2]}`).dataset.area;
"""


@pytest.mark.parametrize("name", ["serving/regimes", "training/resources", "training/regimes"])
def test_the_map_of_a_derivation_has_its_areas(driver: Any, tmp_path: Path, name: str) -> None:
    """At random points a map names the area that holds there, which Python decides without the solver."""
    derivation = blackboard(name).derivation
    figure = next(each for each in derivation.figures if each.map is not None)
    plane = figure.map
    ledger = ledger_of("d0", derivation)
    opened(driver, written(tmp_path, name))
    number = driver.execute_script("return BOARDS[0].maps.findIndex((each) => each.span.length)")
    values = {each.symbol: each.start for each in ledger.inputs if each.start is not None} | dict(plane.values)
    rng = random.Random(name)
    for _ in range(POINTS):
        x = sp.Integer(2) ** rng.randint(0, 16)
        lead = sp.Integer(3) * 2 ** rng.randint(0, 24)
        wanted = direct(plane, x, plane.y.xreplace({**values, plane.x: x, plane.lead: lead}))
        found = driver.execute_script(PUT, int(x), int(lead), number)
        if wanted is not None:
            assert found == words(plane.areas[wanted].label, derivation.order)


@pytest.mark.parametrize("name", ["training/fsdp", "training/mixed", "gpus/zero-3"])
def test_the_map_of_times_names_the_longest(driver: Any, tmp_path: Path, name: str) -> None:
    """At random points map and bars name the time that is the longest in Python."""
    derivation = blackboard(name).derivation
    times = next(found.times for step in derivation.steps if (found := compared(step)) is not None)
    ledger = ledger_of("d0", derivation)
    opened(driver, written(tmp_path, name))
    x, lead = driver.execute_script("const map = BOARDS[0].maps[0]; return [map.x[0], map.lead]")
    starts = [each.start for each in ledger.inputs]
    rng = random.Random(7)
    for _ in range(POINTS):
        typed = {x: sp.Integer(2) ** rng.randint(1, 12), lead: sp.Integer(3) * 2 ** rng.randint(0, 22)}
        point = {each.symbol: typed.get(n, starts[n]) for n, each in enumerate(ledger.inputs)}
        spent = {label: expr.xreplace(point) for label, expr in times.items()}
        longest = [label for label, value in spent.items() if value == max(spent.values())]
        area = driver.execute_script(PUT, int(typed[x]), int(typed[lead]), 0)
        binds = driver.execute_script("return document.querySelector('.binds').textContent")
        assert longest == [area] or len(longest) > 1
        assert binds.startswith(f"{' and '.join(longest)} bind")


def test_bars_and_areas_are_seen_in_forced_colours_and_on_paper(driver: Any, tmp_path: Path) -> None:
    opened(driver, written(tmp_path, "training/mixed"))
    ground = "const style = (each) => getComputedStyle(document.querySelector(each)); "
    for media, feature in (("", "forced-colors"), ("print", "prefers-reduced-motion")):
        features = [{"name": feature, "value": "active" if media == "" else "reduce"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        bar, paper = driver.execute_script(
            ground + "return ['.bars .fill', 'body'].map((each) => style(each).backgroundColor)"
        )
        assert bar != paper
        if media == "print":
            assert driver.execute_script(ground + "return style('.fill').printColorAdjust") == "exact"
            assert driver.execute_script(ground + "return style('.fill').transitionDuration") == "0s"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
