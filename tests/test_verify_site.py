"""The docs site in Chromium, from file:// and under a path: no network, no complaint, a search that finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from browser import READY, axe, chromium

pytestmark = pytest.mark.verify

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "index.html",
    "tutorial.html",
    "how-to/course.html",
    "reference/python.html",
    "reference/chips.html",
    "explanation/bounds.html",
    "gallery.html",
    "reports/ch5.html",
)
# What axe finds in the text of a page, by rule and the first places; the theme makes code reachable by keyboard, where
# there is a pointer.
FAULTS = """
const done = arguments[arguments.length - 1];
const theirs = (rule, node) => rule === 'scrollable-region-focusable' && node.html.startsWith('<code');
axe.run(document.querySelector('article'), {runOnly: ['wcag2a', 'wcag2aa']}).then(found => done(
  found.violations.flatMap(({id, nodes}) => nodes.filter(node => !theirs(id, node)).map(node => [id, node.html]))));
"""
DESKTOP, PHONE = (1280, 900), (360, 740)


class Served(SimpleHTTPRequestHandler):
    """Files of a folder, and the site's own page for what is not there, as hosts of pages serve it."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = (Path(self.directory) / "symscale" / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadingHTTPServer]:
    folder = tmp_path_factory.mktemp("server")
    made = ThreadingHTTPServer(("127.0.0.1", 0), partial(Served, directory=str(folder)))
    Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def address(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}/symscale/"


@pytest.fixture(scope="module")
def site(server: ThreadingHTTPServer) -> Path:
    pytest.importorskip("material", reason="mkdocs-material is not installed, so the site was not built")
    folder = Path(server.RequestHandlerClass.keywords["directory"]) / "symscale"  # type: ignore[attr-defined]
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SITE_URL": address(server)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from chromium(tmp_path_factory.mktemp("profile"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_are_quiet_and_fit(site: Path, browser: Any, size: tuple[int, int], scheme: str) -> None:
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for page in PAGES:
        browser.get((site / page).as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width, page
        shown = browser.execute_script("return document.body.getAttribute('data-md-color-scheme')")
        assert shown == {"light": "default", "dark": "slate"}[scheme], page
        assert not [each["message"] for each in browser.get_log("browser")], page
        assert not list(asked(browser)), page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_it(site: Path, browser: Any, scheme: str) -> None:
    script = axe()
    browser.set_script_timeout(120)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for page in (each for each in PAGES if not each.startswith("reports/")):  # their thousands of formulas take minutes
        browser.get((site / page).as_uri())
        browser.execute_script(script)
        assert browser.execute_async_script(FAULTS) == [], page


def test_the_search_finds_from_a_file(site: Path, browser: Any) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    metrics = {"width": DESKTOP[0], "height": DESKTOP[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get((site / "index.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, "input.md-search__input").send_keys("stragglers")
    results = "article.md-search-result__article h1, article.md-search-result__article h2"
    WebDriverWait(browser, 20).until(lambda page: page.find_elements(By.CSS_SELECTOR, results))
    found = [each.get_attribute("textContent") for each in browser.find_elements(By.CSS_SELECTOR, results)]
    assert "What the model leaves out" in found
    assert not list(asked(browser))


@pytest.mark.parametrize("page", ["how-to/chip.html", "nowhere/at/all.html"])
def test_a_site_under_a_path(site: Path, server: ThreadingHTTPServer, browser: Any, page: str) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(address(server) + page)
    assert (browser.title == "symscale") == page.startswith("nowhere")
    links = browser.execute_script("return [...document.querySelectorAll('article a, nav a')].map((each) => each.href)")
    assert all(each.startswith(address(server)) for each in links if "127.0.0.1" in each)
    broken = "[...document.images].filter((each) => each.complete && !each.naturalWidth).length"
    assert browser.execute_script(f"return {broken}") == 0
    browser.find_element(By.CSS_SELECTOR, "input.md-search__input").send_keys("stragglers")
    found = "article.md-search-result__article"
    WebDriverWait(browser, 20).until(lambda each: each.find_elements(By.CSS_SELECTOR, found))
    browser.get(address(server) + "live/training-fsdp.html")
    WebDriverWait(browser, 20).until(lambda each: each.execute_script(READY))
    assert browser.execute_script("return byId('d0-n15').textContent") == "2550"


def asked(browser: Any) -> Iterator[str]:
    """Yield what a page asked of anything but the disk."""
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = message["params"]["request"]["url"]
            if not address.startswith(("file:", "data:", "blob:", "about:", "chrome:")):
                yield address
