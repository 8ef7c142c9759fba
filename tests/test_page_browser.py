"""Pages in a real Chromium: numbers against Python's for many inputs, keyboard, accessibility, and no network."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from browser import axe, chromium, opened, resized

from symscale.derivation.registry import blackboard, ids
from symscale.derivation.step import Derivation
from symscale.notation.numbers import format_quantity
from symscale.page.ledger import Ledger
from symscale.page.live import Live
from symscale.page.page import html
from symscale.page.steps import ledger_of, steps_of
from symscale.report.mathml import mathml
from symscale.report.prose import equation_latex
from symscale.report.sheets import in_one_unit
from symscale.solve.relation import Relation

pytestmark = pytest.mark.verify

SAMPLE = ("training/fsdp", "roofline/matmul", "training/mixed", "inference/slices", "pipeline/gpipe", "gpus/zero-3")
SAMPLE += ("gpus/dp-curve", "serving/pareto")
CHANGES = 24
TYPE = "const [key, place, text] = arguments; type(BOARDS.find((b) => b.key === key), place, text)"
NUMBERS = """
const board = BOARDS.find((each) => each.key === arguments[0]);
refresh(board);
return Object.fromEntries(board.numbers.map((_, n) => byId(`${board.key}-n${n}`)).filter(Boolean).map((each) => {
  const unit = each.nextElementSibling;
  const beside = unit && unit.classList.contains("unit") && !each.closest("td") ? unit.textContent : "";
  const row = each.closest(".row"), verdict = row && row.querySelector(".verdict");
  return [each.id, [each.dataset.text, beside, verdict ? verdict.dataset.text || "" : ""]];
}));
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from chromium(tmp_path_factory.mktemp("profile"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


class Recorded(Ledger):
    """A ledger that remembers what it wrote down."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.written: dict[str, tuple[Live, Any, Any]] = {}
        self.in_columns: dict[str, tuple[str, list[Any]]] = {}
        self.answers: dict[str, tuple[Any, ...]] = {}

    def number(self, live: Live, relation: Any = None, when: Any = ()) -> str:
        place = super().number(live, relation, when)
        self.written[place] = (live, relation, when)
        return place

    def column(self, unit: str, cells: Any) -> str:
        place = super().column(unit, cells)
        self.in_columns[place] = (unit, list(cells))
        return place

    def answer(self, *given: Any) -> str:
        place = super().answer(*given)
        self.answers[place] = given
        return place


def recorded(derivation: Derivation, key: str) -> Recorded:
    """Return what a page writes down of a derivation."""
    plain = ledger_of(key, derivation)
    made = Recorded(key, derivation, frozenset(plain.places))
    steps_of(derivation, made)
    return made


def written(folder: Path, *names: str) -> Path:
    file = folder / f"{'-'.join(names).replace('/', '_')}.html"
    if not file.exists():
        found = [blackboard(each).derivation for each in names]
        file.write_text(html(*found, title="Several" if len(found) > 1 else ""), encoding="utf-8")
    return file


def value(live: Live, ledger: Ledger, typed: dict[int, sp.Expr]) -> sp.Expr | None:
    """Return a number as Python has it at what is typed; None where a symbol has none."""
    own = dict(live.own)
    put = {}
    for name in live.expr.free_symbols:
        place = ledger.places[name]
        each = ledger.inputs[place]
        found = typed.get(place, own.get(name, each.start))
        if found is None:
            return None
        put[name] = found
    return live.expr.xreplace(put)


def compare(driver: Any, ledger: Recorded, typed: dict[int, sp.Expr]) -> int:
    """Compare every number that the page shows with Python's, and return how many there were."""
    shown = driver.execute_script(NUMBERS, ledger.key)
    in_cells = {each for _, cells in ledger.in_columns.values() for each in cells if isinstance(each, str)}
    count = 0
    for place, (live, relation, when) in ledger.written.items():
        if place in in_cells:
            continue
        found = value(live, ledger, typed)
        text, unit, verdict = shown[place]
        if found is None:
            assert "needs" in text or " has no " in text, (place, text)
        elif not found.is_real or not found.is_finite:
            assert text == "no real value here"
        elif text == "this case does not apply here":
            assert when
        else:
            wanted = format_quantity(found, live.unit, 6)
            bare = text if relation is None or text[0].isdigit() else text[2:]
            assert f"{bare.removeprefix('= ')} {unit}".strip() == wanted, (place, live.expr, typed)
            count += 1
            judged(relation, found, verdict, ledger, live, typed)
    for place, given in ledger.answers.items():
        count += answered(driver, place, given, ledger, typed)
    for unit, cells in ledger.in_columns.values():
        count += column(shown, ledger, unit, cells, typed)
    return count


def judged(relation: Any, border: sp.Expr, verdict: str, ledger: Any, live: Live, typed: Any) -> None:
    """Compare what the page says of a condition with what it is."""
    if relation is None or not ledger.counts(relation.lhs):
        return
    here = value(Live(relation.lhs, "", live.own), ledger, typed)
    if here is None:
        assert verdict == ""
    else:
        holds = Relation(here, relation.op, border).holds({})
        assert verdict.startswith("holds at" if holds else "does not hold at"), (relation, here, border, verdict)


def answered(driver: Any, place: str, given: Any, ledger: Any, typed: Any) -> int:
    """Compare an answer of several cases with the one that applies."""
    cases, own, unit = given
    shown = driver.execute_script("return byId(arguments[0]).dataset.text", place)
    sides = [side for each in cases for one in each.when for side in (one.lhs, one.rhs)]
    sides += [end for each in cases for one in each.intervals for end in (one.lo, one.hi)]
    names = {name for each in sides for name in each.free_symbols}
    point = {name: value(Live(name, "", own), ledger, typed) for name in names}
    if None in point.values():
        return 0
    case = next(each for each in cases if each.applies(point))
    wanted = []
    for each in case.intervals:
        low, high = each.lo.xreplace(point), each.hi.xreplace(point)
        parts = [f"{'>' if each.lo_open else '≥'} {format_quantity(low, unit, 6)}"] if low != 0 else []
        parts += [f"{'<' if each.hi_open else '≤'} {format_quantity(high, unit, 6)}"] if high != sp.oo else []
        wanted.append(" and ".join(parts) or "every value is enough")
    assert shown == (", or ".join(wanted) or "no value is enough")
    return 1


def column(shown: Any, ledger: Recorded, unit: str, cells: list[Any], typed: dict[int, sp.Expr]) -> int:
    lives = [value(ledger.written[each][0], ledger, typed) if isinstance(each, str) else each for each in cells]
    if any(each is None for each in lives):
        return 0
    _, wanted = in_one_unit(lives, unit)
    texts = [shown[each][0] if isinstance(each, str) else None for each in cells]
    assert [each for each in texts if each is not None] == [w for w, each in zip(wanted, texts, strict=True) if each]
    return len(cells)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_numbers_are_pythons_for_many_inputs(driver, folder, name) -> None:
    ledger = recorded(blackboard(name).derivation, "d0")
    opened(driver, written(folder, name))
    assert compare(driver, ledger, {}) > 0
    total = 0
    rng = random.Random(name)
    typed: dict[int, sp.Expr] = {}
    for _ in range(CHANGES):
        place = rng.randrange(len(ledger.inputs))
        whole = [sp.Integer(2) ** rng.randint(0, 20), sp.Integer(rng.randint(1, 10**6))]
        number = rng.choice([*whole, sp.Rational(rng.randint(1, 999), 8)])
        typed[place] = number
        driver.execute_script(TYPE, "d0", place, f"{number.p}/{number.q}" if number.q != 1 else str(number))
        total += compare(driver, ledger, typed)
    assert total > 100


def test_numbers_start_as_python_prints_them(driver, folder) -> None:
    """What the page counts is what was written into it, digit for digit."""
    text = html(*(blackboard(each).derivation for each in ids()[::12]), title="Library")
    file = folder / "library.html"
    file.write_text(text, encoding="utf-8")
    opened(driver, file)
    found = driver.execute_script(
        """
        const asked = new DOMParser().parseFromString(arguments[0], "text/html");
        const plain = (e) => e.textContent.replace(/\\s/g, "");
        return [...asked.querySelectorAll(".num[id], th .unit[id]")].filter((each) => each.textContent.trim())
          .map((each) => [each.id, plain(each), plain(byId(each.id))]);
        """,
        text,
    )
    assert len(found) > 100
    assert [each for each in found if each[1] != each[2]] == []
    assert driver.get_log("browser") == []


# ------------------------------------------------------------------ hands and eyes


def test_the_keyboard_is_enough(driver, folder) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    opened(driver, written(folder, "training/fsdp"))
    resized(driver, 1200)

    def press(*keys: str) -> str:
        driver.switch_to.active_element.send_keys(*keys)
        return str(driver.execute_script("return document.activeElement.id || document.activeElement.className"))

    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert driver.switch_to.active_element.text.startswith("Skip")
    assert press(Keys.TAB) == "theme"
    before = driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    press(Keys.ENTER)
    assert driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color") != before
    press(Keys.TAB)  # the summary of the panel
    assert press(Keys.TAB) == "d0-chip"
    press("NVIDIA H100")
    wait(driver, "return BOARDS[0].chosen.startsWith('NVIDIA H100')")
    place = blackboard_inputs("training/fsdp").index("B")
    for _ in range(place + 2):  # the dtype, and the fields before it
        press(Keys.TAB)
    assert press(Keys.SHIFT) == f"d0-i{place}"
    press(Keys.CONTROL + "a")
    press("64Ki")
    wait(driver, f"return BOARDS[0].typed.has({place})")
    assert driver.execute_script(f"return String(BOARDS[0].typed.get({place}).value.p)") == "65536"
    press(Keys.ARROW_UP)
    assert driver.execute_script(f"return byId('d0-i{place}').value") == "131,072"
    press(Keys.CONTROL + "a", Keys.BACKSPACE)
    assert not driver.execute_script("return BOARDS[0].typed.size")
    press(Keys.TAB)
    assert driver.execute_script(f"return byId('d0-i{place}').value") == "1,048,576"
    driver.find_element(By.CSS_SELECTOR, ".reset").send_keys(Keys.ENTER)
    wait(driver, "return !document.querySelector('.changed')")
    assert driver.execute_script("return document.querySelector('.value .num').textContent") == "2550"


def blackboard_inputs(name: str) -> list[str]:
    return [each.symbol.name for each in ledger_of("d0", blackboard(name).derivation).inputs]


def wait(driver: Any, script: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 10).until(lambda each: each.execute_script(script))


def test_what_is_no_number_is_said_beside_its_field(driver, folder) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    opened(driver, written(folder, "training/fsdp"))
    place = blackboard_inputs("training/fsdp").index("B")
    field = driver.find_element(By.ID, f"d0-i{place}")
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys("many")
    assert field.get_attribute("aria-invalid") == "true"
    fault = driver.find_element(By.ID, f"d0-e{place}")
    assert fault.is_displayed()
    assert "28,672" in fault.text
    said = "[...document.querySelectorAll('.now.lacking')].some((each) => each.textContent.includes('needs B'))"
    wait(driver, f"return {said}")
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys("4096")
    assert field.get_attribute("aria-invalid") is None


def test_a_chip_that_lacks_a_rate_says_so(driver, folder) -> None:
    opened(driver, written(folder, "training/fsdp"))
    driver.execute_script("choose(BOARDS[0], 'NVIDIA H100 SXM'); refresh(BOARDS[0])")
    assert driver.execute_script("return document.querySelector('.step .chip').textContent") == "NVIDIA H100 SXM"
    assert "NVIDIA H100 SXM has no W_ici" in driver.execute_script("return document.body.innerText")
    assert "NaN" not in driver.execute_script("return document.body.innerText")


def test_one_chip_for_all_derivations(driver, folder) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    opened(driver, written(folder, *SAMPLE))
    Select(driver.find_element(By.ID, "chips")).select_by_visible_text("TPU v3")
    wait(driver, "return BOARDS.every((each) => each.root.querySelector('.chips').value === 'TPU v3')")
    shown = "[...document.querySelectorAll('.step .chip')].map((each) => each.textContent)"
    wait(driver, f"return new Set({shown}).size === 1 && {shown}[0] === 'TPU v3'")


def test_nothing_is_asked_of_a_network_and_nothing_complains(driver, folder) -> None:
    file = written(folder, *SAMPLE)
    driver.get_log("performance")
    opened(driver, file)
    driver.execute_script("choose(BOARDS[0], 'TPU v5e')")
    sent = [json.loads(each["message"])["message"] for each in driver.get_log("performance")]
    asked = [each["params"]["request"]["url"] for each in sent if each["method"] == "Network.requestWillBeSent"]
    assert {each for each in asked if not each.startswith("file:")} == set()
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert driver.get_log("browser") == []


def test_what_a_user_writes_runs_no_script(driver, folder) -> None:
    found = blackboard("training/fsdp").derivation
    evil = "</script><img src=x onerror=\"document.title='broken'\"><svg onload=alert(1)>"
    step = replace(found.steps[-1], title=evil, reason=evil)
    file = folder / "evil.html"
    file.write_text(html(Derivation(evil, (*found.steps[:-1], step), found.order, evil)), encoding="utf-8")
    opened(driver, file)
    assert driver.title.startswith("</script>")
    assert driver.execute_script("return document.images.length") == 0


@pytest.mark.parametrize("width", [320, 390, 768, 1200])
def test_a_page_is_as_wide_as_its_window(driver, folder, width) -> None:
    opened(driver, written(folder, *SAMPLE, "training/resources", "serving/pareto"))
    resized(driver, width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    reached = driver.execute_script(
        "reachable(); return [...document.querySelectorAll('.wide')]"
        ".filter((e) => e.scrollWidth > e.clientWidth + 1 && e.tabIndex !== 0).length"
    )
    assert reached == 0
    resized(driver, 1200)


@pytest.mark.parametrize(("theme", "changed"), [("light", False), ("dark", True)])
def test_axe_finds_no_barrier(driver, folder, theme, changed) -> None:
    source = axe()
    names = ("training/fsdp", "training/mixed", "inference/slices", "serving/pareto", "memory/zero")
    opened(driver, written(folder, *names))
    driver.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    if changed:
        driver.execute_script("type(BOARDS[0], 1, 'x'); type(BOARDS[1], 1, '4096'); BOARDS.forEach(refresh)")
    driver.execute_script(source)
    found = driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    broken = [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found["violations"]]
    assert broken == []


def test_formulas_of_the_library_are_drawn(driver, folder) -> None:
    """A formula as MathML has a size, and none is an error."""
    latex = set()
    for name in ids()[::6]:
        derivation = blackboard(name).derivation
        for step in derivation.steps:
            latex |= {equation_latex(each, derivation.order) for each in (*step.equations, *step.conditions)}
    shown = [mathml(each, display=True) for each in sorted(latex)]
    assert not [each for each in shown if "\\" in each or "merror" in each]
    file = folder / "formulas.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body class=ready>{''.join(shown)}", encoding="utf-8")
    driver.get(file.as_uri())
    sizes = driver.execute_script(
        "return [...document.querySelectorAll('math')].map((e) => e.firstElementChild.getBoundingClientRect())"
        ".filter((r) => r.width < 4 || r.height < 4).length"
    )
    assert sizes == 0
    assert len(shown) > 300
