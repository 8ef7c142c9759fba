"""Pages of the site that lie outside docs/: the reports, the changelog, the rules for contributors.

On GitHub a page of docs/ links to them as `../reports/errata.md`; in the site they lie beside it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "reports/*.md", "reports/figures/*.svg")
# The book's front page and its README say how the folder is made; the site's gallery does that.
LEFT_OUT = {"reports/README.md", "reports/book.md"}

_UP = re.compile(r"(\]\()\.\./(?=(\.\./)*(reports/|CHANGELOG|CONTRIBUTING))")
_DOWN = re.compile(r"(\]\()docs/")


def on_files(files: Files, config: Any) -> Files:
    for glob in OUTSIDE:
        for path in sorted(ROOT.glob(glob)):
            name = path.relative_to(ROOT).as_posix()
            if name not in LEFT_OUT:
                files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links out of docs/, and links of the pages from outside into it."""
    if page.file.src_uri.startswith("reports/"):
        page.meta["search"] = {"boost": 0.1}  # a page about a thing comes before its derivations
    if page.file.src_uri in ("CHANGELOG.md", "CONTRIBUTING.md"):
        return _DOWN.sub(r"\1", markdown)
    return _UP.sub(r"\1", markdown)
