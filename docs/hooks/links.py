"""Every link of the built site leads somewhere, and no page asks another machine for anything; else the build fails."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mkdocs.exceptions import PluginError

# What a browser loads by itself, by the attribute that names it.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# Relations of <link> that name a page and load nothing.
NAMED = {"canonical", "next", "prev", "alternate"}
# Formulas hold no links, and most of the tags.
_FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)


class Page(HTMLParser):
    """The links of one page, what it loads, and the anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(_FORMULA.sub("", text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        name = LOADED.get(tag)
        if name in given and given.get("rel") not in NAMED:
            self.loads.add(given[name])


def on_post_build(config: Any) -> None:
    root = Path(config.site_dir).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    wrong = [
        f"{path.relative_to(root)}: {fault}" for path, page in pages.items() for fault in faults(path, page, pages)
    ]
    if wrong:
        raise PluginError("\n".join(["Links of the built site that lead nowhere:", *sorted(wrong)]))


def faults(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    """Return the links of a page that lead nowhere, and what it would load from elsewhere."""
    found = [f"loads {each}" for each in page.loads if urlsplit(each).netloc]
    for each in page.links | page.loads:
        parts = urlsplit(each)
        if parts.scheme or parts.netloc or path.name == "404.html":
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            found.append(f"no file for {each}")
        elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
            found.append(f"no anchor for {each}")
    return found
