"""Pages with live inputs: size, time to make, time until every number is there, and from an input to the repaint.

python benchmarks/page.py [chapter ...]

Chromium opens each chapter's page from its file. For every derivation of it fields are changed, and two times are
taken: that on the clock, from the event to the end of the second animation frame behind it, when numbers, bars and
drawings are on the screen; and that of the page's main thread, which other work on the machine does not lengthen. The
aims are a page of less than 1.5 MB, and 100 ms of the thread for the slowest input of all.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium import webdriver

from symscale.derivation.registry import blackboard
from symscale.page.page import html
from symscale.report.contents import Chapter, wanted

SIZE_AIM, REPAINT_AIM = 1.5e6, 100.0
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
SHOWN = """
const board = BOARDS[arguments[0]], done = arguments[1];
board.root.scrollIntoView({ behavior: "instant" });
requestAnimationFrame(() => requestAnimationFrame(() => done(Math.min(board.inputs.length, 3))));
"""
CHANGED = """
const [number, place, done] = arguments;
const element = field(BOARDS[number], place), begun = performance.now();
element.value = "4096";
element.dispatchEvent(new Event("input", { bubbles: true }));
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
"""


def thread_time(driver: Any) -> float:
    """Return the time that the page's main thread has worked [s]."""
    found = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


def changes(driver: Any) -> list[tuple[float, float]]:
    """Return the times of changed inputs on the thread and on the clock [ms]."""
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    found = []
    for number in range(driver.execute_script("return BOARDS.length")):
        for place in range(driver.execute_async_script(SHOWN, number)):
            before = thread_time(driver)
            clock = driver.execute_async_script(CHANGED, number, place)
            found.append((1000 * (thread_time(driver) - before), clock))
    return sorted(found)


def measured(driver: Any, chapter: Chapter, folder: Path) -> tuple[float, float]:
    """Print one line for a chapter, and return its size and its slowest repaint [ms]."""
    begun = time.perf_counter()
    text = html(*(blackboard(each).derivation for each in chapter.ids), title=chapter.title)
    made = time.perf_counter() - begun
    file = folder / f"{chapter.name}.html"
    file.write_text(text, encoding="utf-8")
    begun = time.perf_counter()
    driver.get(file.as_uri())
    while not driver.execute_script("return document.documentElement.classList.contains('ready')"):
        time.sleep(0.02)
    ready = time.perf_counter() - begun
    times = changes(driver)
    (middle, _), (slowest, clock) = times[len(times) // 2], times[-1]
    size = len(text.encode())
    print(
        f"{chapter.name:22} {len(chapter.ids):3} derivations  {size / 1e6:5.2f} MB  made {made:5.1f} s  "
        f"ready {ready:4.1f} s  "
        f"repaint {middle:3.0f} ms, slowest {slowest:3.0f} ms ({clock:.0f} ms on the clock) of {len(times)}",
        flush=True,
    )
    return size, slowest


def main() -> int:
    options = webdriver.ChromeOptions()
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1200,900"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        driver.set_script_timeout(300)
        try:
            found = [measured(driver, each, Path(profile)) for each in wanted(tuple(sys.argv[1:]))]
        finally:
            driver.quit()
    return int(any(size > SIZE_AIM or slowest > REPAINT_AIM for size, slowest in found))


if __name__ == "__main__":
    sys.exit(main())
