"""A page on another chip or in another dtype, in Chromium, against the derivation written again on those terms."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium, opened

from symscale.derivation.registry import blackboard
from symscale.derivation.step import Derivation
from symscale.derivation.terms import Terms
from symscale.errors import SymscaleError
from symscale.notation.numbers import format_quantity
from symscale.page.inputs import chips
from symscale.page.page import html
from symscale.page.steps import ledger_of, steps_of

pytestmark = pytest.mark.verify

# A program without a chip, with one of the author's, and mixed; figures typed by hand, of a chip and of none; numbers
# computed from a chip's; a cluster; no program.
NAMES = ("training/fsdp", "sharding/two-chips", "inference/step", "serving/critical-batch", "gpus/dp", "training/run")
NAMES += ("gpus/ep-reach", "jax/gather-first", "roofline/times", "training/mixed", "inference/int8", "runs/mfu")
REFUSED = (" has no ", "needs ", "a figure of no chip", "not on ", "is computed", "the formula is another")
# What Python says of such a figure, a chip or a dtype stands in the page in the same words.
SAID = ("a figure of no chip", " has no peak for ")
SHOWN = """
const board = BOARDS[0];
chooseDtype(board, arguments[1]);
choose(board, arguments[0]);
refresh(board);
return Object.fromEntries(board.numbers.map((_, n) => byId(`${board.key}-n${n}`)).filter(Boolean).map((each) => {
  const unit = each.nextElementSibling;
  const beside = unit && unit.classList.contains("unit") && !each.closest("td") ? unit.textContent : "";
  return [each.id, `${each.dataset.text} ${beside}`.trim()];
}));
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from chromium(tmp_path_factory.mktemp("profile"))


def numbers(derivation: Derivation) -> dict[str, tuple[int, int]]:
    """Return where a page shows the numbers that a derivation has put in: by element, step and equation."""
    found = {}
    for n, made in enumerate(steps_of(derivation, ledger_of("d0", derivation))):
        for k, row in enumerate(made["rows"] if derivation.steps[n].kind == "evaluate" else ()):
            if row["number"] and row["left"]:
                found[row["number"]] = (n, k)
    return found


def again(name: str, chip: str, dtype: str) -> Derivation | str:
    """Return a derivation on other terms, or why there is none."""
    try:
        return blackboard(name, Terms(on=chip, dtype=dtype)).derivation
    except SymscaleError as error:
        return error.message


@pytest.mark.parametrize("name", NAMES)
def test_another_chip_and_dtype_are_those_of_on_and_dtype(driver: Any, tmp_path: Path, name: str) -> None:
    derivation = blackboard(name).derivation
    places = numbers(derivation)
    dtypes = ledger_of("d0", derivation).dtypes
    file = tmp_path / "page.html"
    file.write_text(html(derivation), encoding="utf-8")
    opened(driver, file)
    rng = random.Random(name)
    cases = [(chip, "") for chip in chips()] + [(None, dtype) for dtype in dtypes]
    cases += [(rng.choice(chips()), rng.choice(dtypes)) for _ in range(12) if dtypes]
    seen: Counter[str] = Counter()
    for chip, dtype in cases:
        shown = driver.execute_script(SHOWN, chip.title if chip else "", dtype)
        wanted = again(name, chip.name if chip else "", dtype)
        said = [each for each in shown.values() if any(word in each for word in REFUSED)]
        if isinstance(wanted, str):
            words = wanted.partition(": ")[2].rstrip(".")
            assert said or not any(word in words for word in SAID), (chip, dtype, wanted)
            seen["refused by both"] += bool(said)
        elif len(wanted.steps) == len(derivation.steps):
            for place, (n, k) in places.items():
                seen[agreed(shown[place], wanted, n, k)] += 1
    assert seen["equal"] > 2 or seen["refused by both"] > 2, seen


def agreed(text: str, wanted: Derivation, n: int, k: int) -> str:
    """Compare a number of the page with that of a step; say whether they are equal, or the page has none."""
    if any(word in text for word in REFUSED):
        return "refused"
    step = wanted.steps[n]
    number = step.equations[k].rhs
    assert number.is_number, (text, step.title, number)
    unit = step.units[k] if step.units else ""
    assert text.lstrip("<>≤≥= ") == format_quantity(number, unit, 6), (text, step.title)
    return "equal"


def test_a_figure_of_no_chip_is_refused_in_the_same_words(driver: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(html(blackboard("runs/mfu").derivation), encoding="utf-8")
    opened(driver, file)
    shown = driver.execute_script(SHOWN, "TPU v5e", "")
    words = again("runs/mfu", "tpu-v5e", "")
    for each in (text for text in shown.values() if "figure of no chip" in text):
        assert isinstance(words, str)
        assert each.rstrip(".") in words


def test_a_dtype_that_the_chip_lacks_is_said(driver: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(html(blackboard("training/fsdp").derivation), encoding="utf-8")
    opened(driver, file)
    shown = driver.execute_script(SHOWN, "", "fp4")
    assert "TPU v5p has no peak for 'fp4'" in shown.values()
    assert driver.execute_script("return BOARDS[0].root.classList.contains('typed-anew')")
    shown = driver.execute_script(SHOWN, "NVIDIA H100 SXM", "fp8")
    assert "NVIDIA H100 SXM has no W_ici" in shown.values()


def test_a_mesh_that_lies_otherwise_is_said_once(driver: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(html(blackboard("gpus/zero-3").derivation), encoding="utf-8")
    opened(driver, file)
    assert "not on TPU v5e" in driver.execute_script(SHOWN, "TPU v5e", "").values()
    said = driver.execute_script("return document.querySelector('.summary').textContent")
    assert "network" in said or "chips" in said, said
