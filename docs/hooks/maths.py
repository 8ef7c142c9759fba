"""Formulas between dollar signs as MathML, which browsers set themselves: no script, no fonts from elsewhere.

Short code gets a class of its own, so that no line breaks behind the hyphens of an option.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import Any

from symscale.report.mathml import mathml

# What pymdownx.arithmatex leaves of a formula.
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
# A formula in a line that may be wider than a phone: it scrolls there.
WIDE = 60
_SHORT = re.compile(r"<code>([^<\n]{1,30})</code>")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    return _SHORT.sub(r'<code class="short">\1</code>', _FORMULA.sub(_set, html))


def _set(found: re.Match[str]) -> str:
    tag, opened, latex = found.groups()
    latex, display = unescape(latex).strip(), opened == "["
    kind = "formula wide" if len(latex) > WIDE and not display else "formula"
    return f'<{tag} class="{kind}" data-search-exclude>{formula(latex, display)}</{tag}>'


@cache
def formula(latex: str, display: bool) -> str:
    return mathml(latex, display)
