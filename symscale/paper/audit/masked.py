"""A document's text with everything blanked that is not printed as text or maths, and the tags found on the way.

The blanked text is as long as the document's, so that a place in one is the same place in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symscale.frozen import dataclass
from symscale.paper.audit.delimiters import FENCE, with_dollars, with_letters
from symscale.paper.comments import HTML, LATEX, MARKDOWN, TYPST, Syntax
from symscale.paper.markers import lines

_SAID = re.compile(r"[ \t]*audit:[ \t]*(.*?)[ \t]*", re.DOTALL)
_PERCENT = re.compile(r"(?<!\\)(?:\\\\)*(%+)")
_MACRO = re.compile(r"\\audit[ \t]*\{([^{}\r\n]*)\}")
_VERB = re.compile(r"\\(?:verb\*?|lstinline|mintinline\{\w*\})([^\w\s*{\[])(.*?)\1")
_TYPST = re.compile(r"\\.|\"(?:[^\"\\\r\n]|\\.)*\"|`+[^`]*`+|/\*.*?\*/|(?<!:)(?P<comment>//)")
#: What TeX never comes to: behind a condition that is false, and behind the document's end.
_NEVER = re.compile(
    r"\\(?:(?P<opens>iffalse|iftrue|if[A-Za-z]*)|(?P<else>else)|(?P<closes>fi))(?![A-Za-z])|\\end\{document\}"
)
_TICKS = re.compile(r"`+|\n[ \t]*\r?\n")
#: Text that is struck out is not said.
_STRUCK = {
    LATEX: re.compile(r"\\(?:sout|xout|st|hcancel)\s*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"),
    MARKDOWN: re.compile(
        r"(?<!~)~~(?![\s~])[^~\n]*~~(?!~)|<(?P<html>del|s|strike)\b[^<>]*>(?:(?!\n\s*\n)[^<])*</(?P=html)>",
        re.IGNORECASE,
    ),
    HTML: re.compile(r"<(?P<html>del|s|strike)\b[^<>]*>(?:(?!\n\s*\n)[^<])*</(?P=html)>", re.IGNORECASE),
    TYPST: re.compile(r"#strike\[[^\[\]]*\]"),
}
#: What ends a line, a cell of a table or a sentence behind a tag.
_LAST = re.compile(r"(?:[.,;:)!?*_]|</\w+>|\s)*(?:$|\||&|\\\\|</?t[dhr]\b)")
_OPENS = re.compile(r"<!--|/\*|\\begin\s*\{|`{3,}|~{3,}|<(?:script|style|textarea|pre)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Tag:
    """A comment or macro that names a derivation in its sentence, which begins at `at`.

    `alone` means that its line holds nothing else, `trailing` that it ends one; `ended` that its comment does.
    """

    start: int
    end: int
    sentence: str
    at: int
    alone: bool
    trailing: bool
    ended: bool = True


@dataclass(frozen=True)
class Masked:
    """The blanked text, as long as the text itself, and the tags in their order."""

    text: str
    tags: tuple[Tag, ...]


def masked(text: str, syntax: Syntax) -> Masked:
    """Return a text without comments, listings and code, and its tags. Takes linear time."""
    pieces: list[str] = []
    tags: list[Tag] = []
    state, offset, maths = "", 0, False
    for line in lines(text):
        before, state = state, syntax.after(state, line)
        fenced = FENCE.match(line) if syntax is MARKDOWN and (maths or not before) else None
        if fenced and (maths != bool(fenced["maths"])) and bool(state) != maths:
            pieces.append(f"$${_blank(line[2:])}")  # a display of GitHub
            maths = not maths
        elif before:
            pieces.append(line if maths else _blank(line))
        else:
            shown = line
            for start, stop, said in _comments(line, syntax):
                found = _SAID.fullmatch(said)
                if found is not None:
                    tags.append(_tag(line, offset, start, stop, found[1], line.index(said, start) + found.start(1)))
                end = stop if stop >= 0 else len(line)
                shown = shown[:start] + _blank(shown[start:end]) + shown[end:]
            macros = _MACRO.finditer(shown)
            tags += [_tag(line, offset, *each.span(), each[1].strip(), each.start(1)) for each in macros]
            shown = _MACRO.sub(lambda found: _blank(found[0]), shown)
            pieces.append(_until_it_opens(shown) if state else shown)
        offset += len(line)
    whole = "".join(pieces)
    if syntax is LATEX:
        whole = _VERB.sub(lambda found: _blank(found[0]), whole)
        for start, stop in _never(whole):
            whole = whole[:start] + _blank(whole[start:stop]) + whole[stop:]
            tags = [each for each in tags if not start <= each.start < stop]
    elif syntax is MARKDOWN:
        whole = _without_code(with_dollars(whole))
    if syntax in (MARKDOWN, HTML):
        whole = with_letters(whole)
    whole = _STRUCK[syntax].sub(lambda found: _blank(found[0]), whole)
    return Masked(whole, tuple(sorted(tags, key=lambda each: each.start)))


def _never(text: str) -> list[tuple[int, int]]:
    r"""Return the parts of a text of LaTeX that are never set: `\iffalse … \fi`, and what follows its end."""
    found: list[tuple[int, int]] = []
    depth, start = 0, -1
    for each in _NEVER.finditer(text):
        if each["opens"]:
            start = each.start() if start < 0 and each["opens"] == "iffalse" else start
            depth += start >= 0
        elif start >= 0 and ((each["else"] and depth == 1) or each["closes"]):
            depth -= bool(each["closes"]) or depth
            if not depth:
                found.append((start, each.end()))
                start = -1
        elif start < 0 and each[0].startswith(r"\end"):
            return [*found, (each.end(), len(text))]
    return found


def _comments(line: str, syntax: Syntax) -> Iterator[tuple[int, int, str]]:
    """Yield the comments of a line, those of LaTeX that end one with text too."""
    if syntax is TYPST:
        yield from syntax.comments(line)
        ends = next((each for each in _TYPST.finditer(line) if each["comment"]), None) if "//" in line else None
        if ends is not None and line[: ends.start()].strip():
            yield ends.start(), len(line.rstrip("\r\n")), line[ends.end() :].rstrip("\r\n")
        return
    if syntax is not LATEX:
        yield from syntax.comments(line)
        return
    found = _PERCENT.search(_VERB.sub(lambda verb: "x" * len(verb[0]), line)) if "%" in line else None
    if found is not None:
        yield found.start(1), len(line.rstrip("\r\n")), line[found.end(1) :].rstrip("\r\n")


def _tag(line: str, offset: int, start: int, stop: int, sentence: str, at: int) -> Tag:
    end = stop if stop >= 0 else len(line)
    before, after = line[:start].strip(" \t>"), line[end:].strip()
    place = (offset + start, offset + end, sentence, offset + at)
    last = bool(before) and _LAST.match(after) is not None
    return Tag(*place, alone=not before and not after, trailing=last, ended=stop >= 0)


def _until_it_opens(line: str) -> str:
    """Return a line up to where a listing or a comment opens that goes on in the next line."""
    opens = list(_OPENS.finditer(line))
    return line[: opens[-1].start()] + _blank(line[opens[-1].start() :]) if opens else line


def _without_code(text: str) -> str:
    """Return Markdown with its code spans blanked: from a run of backticks to the next as long, in one paragraph."""
    runs = list(_TICKS.finditer(text))
    following: dict[str, int] = {}
    closes = [0] * len(runs)
    for n in range(len(runs) - 1, -1, -1):
        if runs[n][0][0] != "`":
            following = {}
            continue
        closes[n] = following.get(runs[n][0], 0)
        following[runs[n][0]] = runs[n].end()
    pieces, at = [], 0
    for run, close in zip(runs, closes, strict=True):
        if close and run.start() >= at:
            pieces += [text[at : run.start()], _blank(text[run.start() : close])]
            at = close
    return "".join([*pieces, text[at:]])


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)
