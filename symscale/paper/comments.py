"""Where a document may hold a marker: in comments of LaTeX, Markdown, HTML and Typst, but not in their listings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from symscale.errors import SymscaleError
from symscale.frozen import dataclass

#: The comments of a line: where each starts and stops, and what it says.
Comments: TypeAlias = Iterator[tuple[int, int, str]]


@dataclass(frozen=True)
class Syntax:
    """How the documents written in a dialect are read, line by line.

    `comments` yields those of a line of plain text, with a stop of -1 where one does not end in it; before a marker
    with a line of its own stands only what `margin` has. `after(state, line)` is the state after a line: "" in plain
    text, and inside what is printed as it is typed, or commented out, the words that end it.
    """

    dialect: str
    comments: Callable[[str], Comments]
    after: Callable[[str, str], str]
    margin: str
    start: str
    end: str


def syntax_of(file: Path) -> Syntax:
    """Return the syntax of a document by its suffix. Raises SymscaleError with the suffixes there are."""
    found = SUFFIXES.get(file.suffix.lower())
    if found is None:
        raise SymscaleError(
            f"{file}: a document that ends in {file.suffix or 'no suffix'!r} is of no kind that has blocks.",
            hint=f"Blocks are found in {', '.join(SUFFIXES)}.",
        )
    return found


# LaTeX: a comment line; environments that print, or drop, what they hold

_TEX_COMMENT = re.compile(r"([ \t]*)%+([^\r\n]*)")
_TEX_TYPED = (
    "verbatim|Verbatim|BVerbatim|LVerbatim|SaveVerbatim|VerbatimOut|spverbatim|alltt|lstlisting|minted|tcblisting"
    "|comment|filecontents"
)
_TEX_TOKEN = re.compile(
    r"\\(?:verb\*?|lstinline(?:\[[^\]]*\])?|mintinline(?:\[[^\]]*\])?\{\w*\})(?P<bar>[^\w\s*{])"
    rf"|\\begin\s*\{{(?P<name>(?:{_TEX_TYPED})\*?)\}}|\\.|%"
)


def _tex_comments(line: str) -> Comments:
    found = _TEX_COMMENT.match(line)
    if found is not None:
        yield found.end(1), found.end(), found[2]


def _tex_after(state: str, line: str) -> str:
    at = 0
    while True:
        if state:
            close = line.find(state, at)
            if close < 0:
                return state
            at, state = close + len(state), ""
        if "\\begin" not in line:
            return ""
        found = _TEX_TOKEN.search(line, at)
        if found is None or found[0] == "%":
            return ""
        at = found.end()
        if found["name"]:
            state = rf"\end{{{found['name']}}}"
        elif found["bar"]:
            close = line.find(found["bar"], at)
            at = len(line) if close < 0 else close + 1


# HTML: comments anywhere in a line; elements whose inside is text

_RAW = re.compile(r"<!--|<(script|style|textarea|title|xmp)\b", re.IGNORECASE)


def _html_comments(line: str) -> Comments:
    at = line.find("<!--")
    while at >= 0:
        close = line.find("-->", at + 4)
        if close < 0:
            yield at, -1, line[at + 4 :].rstrip("\r\n")
            return
        yield at, close + 3, line[at + 4 : close]
        at = line.find("<!--", close + 3)


def _html_after(state: str, line: str) -> str:
    at, lower = 0, ""
    while True:
        if state:
            lower = lower or line.lower()
            close = lower.find(state, at)
            if close < 0:
                return state
            at = close + len(state)
        found = _RAW.search(line, at)
        if found is None:
            return ""
        at, state = found.end(), f"</{found[1].lower()}" if found[1] else "-->"


# Markdown: HTML outside code spans and fenced blocks

_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}(?=[^`\r\n]*$)|~{3,})", re.MULTILINE)
_CLOSE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t\r\n]*$")
_SPAN = re.compile(r"`+|<!--")
_BLOCK = re.compile(r"[ \t>]*<(script|style|textarea|pre)\b", re.IGNORECASE)


def _markdown_comments(line: str) -> Comments:
    tokens = list(_SPAN.finditer(line))
    following: dict[str, int] = {}  # where the next run of as many backticks ends
    closes = [0] * len(tokens)
    for n in range(len(tokens) - 1, -1, -1):
        closes[n] = following.get(tokens[n][0], 0)
        following[tokens[n][0]] = tokens[n].end()
    at = 0
    for token, close in zip(tokens, closes, strict=True):
        if token.start() < at:
            continue
        if token[0] != "<!--":
            at = close or token.end()
            continue
        close = line.find("-->", token.end())
        if close < 0:
            yield token.start(), -1, line[token.end() :].rstrip("\r\n")
            return
        yield token.start(), close + 3, line[token.end() : close]
        at = close + 3


def _markdown_after(state: str, line: str) -> str:
    if state[:1] in ("`", "~"):
        found = _CLOSE.match(line)
        return "" if found is not None and found[1].startswith(state) else state
    if state:
        close = line.lower().find(state)
        return state if close < 0 else _left_open(line[close + len(state) :])
    if "`" in line or "~" in line:
        found = _FENCE.match(line)
        if found is not None:
            return found[1]
    if "<" not in line:
        return ""
    block = _BLOCK.match(line)
    if block is not None and f"</{block[1].lower()}" not in line.lower():
        return f"</{block[1].lower()}"
    return _left_open(line)


def _left_open(line: str) -> str:
    """Return what ends a comment that a line of Markdown leaves open."""
    return "-->" if any(stop < 0 for _, stop, _ in _markdown_comments(line)) else ""


# Typst: line and block comments, which nest, outside raw text

_TYPST_TOKEN = re.compile(r"\\.|\"(?:[^\"\\\r\n]|\\.)*\"|`+|/\*|\*/|(?<!:)//")
_TYPST_NESTED = re.compile(r"/\*|\*/")


def _typst_comments(line: str) -> Comments:
    at = 0
    while (found := _TYPST_TOKEN.search(line, at)) is not None:
        at = found.end()
        if found[0] == "//":
            if not line[: found.start()].strip():
                yield found.start(), len(line.rstrip("\r\n")), line[found.end() :].rstrip("\r\n")
            return
        if found[0] == "/*":
            close = line.find("*/", at)
            if close < 0:
                yield found.start(), -1, line[at:].rstrip("\r\n")
                return
            yield found.start(), close + 2, line[found.end() : close]
            at = close + 2
        elif found[0][0] == "`" and len(found[0]) != 2:
            close = line.find(found[0], at)
            at = len(line) if close < 0 else close + len(found[0])


def _typst_after(state: str, line: str) -> str:
    if not state and "`" not in line and "/*" not in line:
        return ""
    at, depth = 0, int(state[2:]) if state.startswith("*/") else 0
    while True:
        if state.startswith("`"):
            close = line.find(state, at)
            if close < 0:
                return state
            at, state = close + len(state), ""
        found = (_TYPST_NESTED if depth else _TYPST_TOKEN).search(line, at)
        if found is None or found[0] == "//":
            return f"*/{depth}" if depth else ""
        at = found.end()
        if found[0] in ("/*", "*/"):
            depth = max(depth + (1 if found[0] == "/*" else -1), 0)
        elif found[0][0] == "`" and len(found[0]) != 2:
            state = found[0]


LATEX = Syntax("latex", _tex_comments, _tex_after, " \t", "% symscale: training/fsdp claim", "% end symscale")
_HTML_MARKERS = "<!-- symscale: training/fsdp claim -->", "<!-- end symscale -->"
MARKDOWN = Syntax("markdown", _markdown_comments, _markdown_after, " \t>", *_HTML_MARKERS)
HTML = Syntax("html", _html_comments, _html_after, " \t", *_HTML_MARKERS)
TYPST = Syntax("typst", _typst_comments, _typst_after, " \t", "// symscale: training/fsdp claim", "// end symscale")

SUFFIXES = {
    ".tex": LATEX,
    ".ltx": LATEX,
    ".sty": LATEX,
    ".cls": LATEX,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".qmd": MARKDOWN,
    ".rmd": MARKDOWN,
    ".typ": TYPST,
    ".html": HTML,
    ".htm": HTML,
}
