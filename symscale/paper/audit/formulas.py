"""Where a document has formulas: displays and those in running text, of LaTeX and of Markdown."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from symscale.frozen import dataclass
from symscale.paper.comments import LATEX, MARKDOWN, TYPST, Syntax

ENVIRONMENTS = (
    "equation|align|gather|multline|flalign|alignat|eqnarray|displaymath|math|dmath|dgroup|IEEEeqnarray|empheq"
)
_OPENS = re.compile(
    rf"\\begin\s*\{{(?P<env>(?:{ENVIRONMENTS})\*?)\}}|\\\[|\\\(|\$\$?|\\.|(?P<math><math\b[^<>]*>)", re.DOTALL
)
#: Markdown takes brackets with backslashes for brackets; a line that has nothing else opens a display.
_LONE = re.compile(r"[ \t>]*\\\[[ \t]*\r?\n")
_PARAGRAPH = re.compile(r"\n[ \t>]*\r?\n")


@dataclass(frozen=True)
class Formula:
    """A formula from `start` to `end` of a text; its maths stands between `first` and `last`, or is MathML."""

    start: int
    end: int
    first: int
    last: int
    display: bool
    mathml: bool = False


@dataclass(frozen=True)
class Unclosed:
    """A formula that begins and never ends, with what would end it."""

    start: int
    close: str


def formulas(text: str, syntax: Syntax) -> Iterator[Formula | Unclosed]:
    """Yield the formulas of a blanked text in their order. Takes linear time."""
    if syntax is TYPST:
        yield from _typst(text)
        return
    missing: set[str] = set()
    paragraphs = [each.start() for each in _PARAGRAPH.finditer(text)]
    at = 0
    while (found := _OPENS.search(text, at)) is not None:
        at = found.end()
        mark = found[0]
        if found["math"]:
            close = "</math>"
            if syntax is LATEX:
                continue
        elif found["env"]:
            close = rf"\end{{{found['env']}}}"
        elif mark in (r"\[", r"\("):
            if syntax is MARKDOWN and not (mark == r"\[" and _alone(text, found)):
                continue
            close = {r"\[": r"\]", r"\(": r"\)"}[mark]
        elif mark[0] == "$":
            close = mark
        else:
            continue
        end = -1 if close in missing else _end(text, at, close, syntax, paragraphs)
        if end < 0 and mark == "$":
            continue
        if end < 0:
            missing.add(close)
            yield Unclosed(found.start(), close)
            continue
        whole = end + len(close)
        displayed = 'display="block"' in mark if found["math"] else mark not in ("$", r"\(")
        yield Formula(found.start(), whole, at, end, displayed, bool(found["math"]))
        at = whole


def _alone(text: str, found: re.Match[str]) -> bool:
    start = text.rfind("\n", 0, found.start()) + 1
    return _LONE.match(text, start) is not None


def _end(text: str, at: int, close: str, syntax: Syntax, paragraphs: Sequence[int]) -> int:
    """Return where a formula ends, -1 if it does not; one between dollar signs ends in its paragraph."""
    if close != "$":
        return text.find(close, at)
    n = bisect_left(paragraphs, at)
    limit = paragraphs[n] if n < len(paragraphs) else len(text)
    found = re.compile(r"(?:\\.|[^$\\])*", re.DOTALL).match(text, at, limit)
    end = found.end() if found else limit
    if end >= limit:
        return -1
    if syntax is LATEX:
        return end
    # pandoc's rule, so that prices are none: no blank inside the signs, no digit behind them
    tight = not text[at : at + 1].isspace() and not text[end - 1].isspace() and not text[end + 1 : end + 2].isdigit()
    return end if tight and end > at else -1


def _typst(text: str) -> Iterator[Formula | Unclosed]:
    at = 0
    while (found := re.compile(r"\\.|\$", re.DOTALL).search(text, at)) is not None:
        at = found.end()
        if found[0] != "$":
            continue
        body = re.compile(r'(?:\\.|"[^"\n]*"|[^$\\"])*', re.DOTALL).match(text, at)
        end = body.end() if body else len(text)
        if end >= len(text) or text[end] != "$":
            yield Unclosed(found.start(), "$")
            return
        inside = text[at:end]
        yield Formula(found.start(), end + 1, at, end, inside[:1].isspace() and inside[-1:].isspace())
        at = end + 1
