"""Chromium without a window, for what only a browser can judge; tests skip where it is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--window-size=1200,900",
)
READY = "return document.documentElement.classList.contains('ready')"


def chromium(profile: Path) -> Iterator[Any]:
    """Yield a driver of a Chromium with a profile of its own, and end both."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed, so no browser judged")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("Chromium with chromedriver is not installed, so no browser judged")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield made
    finally:
        made.quit()


def opened(driver: Any, file: Path) -> None:
    """Open a page from a file and wait until its numbers are there."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get(file.as_uri())
    WebDriverWait(driver, 60).until(lambda each: each.execute_script(READY))


def resized(driver: Any, width: int) -> None:
    """Make the page as wide as a phone or a desk."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def axe() -> str:
    """Return the script of axe-core, which judges accessibility; skip where npm has not installed it."""
    folders = [*os.environ.get("NODE_PATH", "").split(os.pathsep), "node_modules"]
    found = [Path(each) / "axe-core" / "axe.min.js" for each in folders if each]
    file = next((each for each in found if each.is_file()), None)
    if file is None:
        pytest.skip("axe-core is not installed: npm install axe-core, and set NODE_PATH")
    return file.read_text(encoding="utf-8")
