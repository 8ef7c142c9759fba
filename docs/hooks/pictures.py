"""The gallery: every plot and every report, found in reports/ as `symscale report` made them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

REPORTS = Path(__file__).resolve().parents[2] / "reports"
CHAPTERS = "ch*.md", "[!cbeR]*.md"


def pictures() -> str:
    """Return the plots, each with its caption and the command that draws it."""
    return f'<div class="gallery">\n{"".join(_pictures())}</div>'


def _pictures() -> Iterator[str]:
    places = {name: path.stem for path in chapters() for name in _ids(path)}
    drawn = {name.replace("/", "-"): name for name in places}
    for path in sorted(REPORTS.glob("figures/*.svg"), key=lambda path: _ordered(path, list(drawn))):
        text = path.read_text(encoding="utf-8")
        title, words = (re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", text, re.DOTALL)[1] for tag in ("title", "desc"))
        name = drawn[path.stem]
        yield (
            f'<figure><a href="reports/{places[name]}.html#{name}">'
            f'<img src="reports/figures/{path.name}" alt="{title}" loading="lazy"></a>'
            f"<figcaption><strong>{title}.</strong> {words}"
            f"<code>symscale plot {name} -o {path.name}</code></figcaption></figure>\n"
        )


def reports() -> str:
    """Return the chapters of the library with their sections."""
    return "\n".join(_chapter(path) for path in chapters())


def _chapter(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    title = re.search(r"^# (.*)$", text, re.MULTILINE)[1]
    sections = [unescape(each) for each in re.findall(r"^- \[(.*?)\]\(#section-", text, re.MULTILINE)]
    about = f": {'; '.join(sections)}" if sections else ""
    return f"- [{title}](reports/{path.name}){about} ({len(_ids(path))} derivations)"


def chapters() -> list[Path]:
    """Return the reports of chapters, in the order of the book."""
    found = {path for glob in CHAPTERS for path in REPORTS.glob(glob)}
    return sorted(
        found, key=lambda path: (not path.stem.startswith("ch"), int(re.sub(r"\D", "", path.stem) or 0), path)
    )


def _ids(path: Path) -> list[str]:
    return re.findall(r'^<a id="([\w-]+/[\w-]+)"></a>$', path.read_text(encoding="utf-8"), re.MULTILINE)


def _ordered(path: Path, names: list[str]) -> int:
    return names.index(path.stem)
