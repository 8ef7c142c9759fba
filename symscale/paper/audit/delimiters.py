r"""How Markdown and HTML set formulas apart besides dollar signs, each in dollar signs of the same length.

GitHub takes a fence called `math` and `` $`…`$ ``, MathJax `\\(…\\)` and `\\[…\\]`; letters have names, `&le;`.
"""

from __future__ import annotations

import html
import re

#: The fences of a display: what opens it says so, what closes it says nothing.
FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?P<maths>math)?[ \t]*\r?\n?$")
_PLACED = re.compile(
    r"(?P<ticks>\$`(?P<in_ticks>[^`\n]+)`\$)|\\\\\[(?P<display>(?:(?!\n[ \t]*\n).){1,4000}?)\\\\\]"
    r"|\\\\\((?P<escaped>(?:(?!\n[ \t]*\n).){1,2000}?)\\\\\)"
    r"|(?<!\\)\\\((?P<inline>(?:(?!\n[ \t]*\n).){1,2000}?)(?<!\\)\\\)",
    re.DOTALL,
)
_MATHS = re.compile(r"[\\^_=<>≤≥]")
_LETTER = re.compile(r"&(?:[A-Za-z]{2,12}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")


def with_dollars(text: str) -> str:
    """Return Markdown with its formulas between dollar signs, as long as it was."""
    return _PLACED.sub(_placed, text) if "\\" in text or "$`" in text else text


def _placed(found: re.Match[str]) -> str:
    if found["inline"] is not None and not _MATHS.search(found["inline"]):
        return found[0]  # brackets with a stroke before them
    body = next(each for each in found.group("in_ticks", "display", "escaped", "inline") if each is not None)
    sign = "$$" if found["display"] is not None else "$"
    if not body.strip():
        return found[0]
    room = (len(found[0]) - len(body)) // 2
    # next to what they enclose, as Pandoc wants them, and every line where it was
    shown = [*(" " * room), *body, *(" " * room)]
    for at in (room + len(body) - len(body.lstrip()) - len(sign), room + len(body.rstrip())):
        shown[at : at + len(sign)] = sign
    return "".join(shown)


def with_letters(text: str) -> str:
    """Return a text with the letters and signs that it names: `&le;` as ≤, and room for the rest of the name."""
    return _LETTER.sub(lambda found: _letter(found[0]), text) if "&" in text else text


def _letter(name: str) -> str:
    letter = html.unescape(name)
    return letter.ljust(len(name)) if len(letter) == 1 else name
