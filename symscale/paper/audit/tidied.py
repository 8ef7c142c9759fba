r"""A row of a document's maths in what our grammar reads: no labels, and numbers of siunitx with units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from symscale.errors import NotationError
from symscale.paper.audit.braces import group

_DROPPED = re.compile(
    r"\\(?:label|tag\*?|[hv]space\*?|[hv]?phantom|footnote(?:mark|text)?|cite[tp]?|(?:eq|c)?ref|color|vadjust|index)(?=\s*\{)"
)
_KEPT = re.compile(
    r"\\(?:boxed|fbox|underline|ensuremath|mathord|mathrel|mathop|mathbin|mathopen|mathclose|mathinner|mbox(?=\s*\{\$))(?=\s*\{)"
)
_COLOURED = re.compile(r"\\(?:textcolor|colorbox)(?:\[\w*\])?(?=\s*\{)")
_BRACED = re.compile(r"\\(?:under|over)brace(?=\s*\{)")
_QUANTITY = re.compile(r"\\(qty|SI|num|unit|si)\s*(?:\[[^\]]*\])?(?=\s*\{)")
_WORDLESS = re.compile(
    r"\\(?:nonumber|notag|displaystyle|textstyle|limits|nolimits|allowbreak|hfill|hfil|noindent|relax|negthinspace)(?![A-Za-z])|&|\{\}"
)
_MICRO = re.compile(r"\\mu\s*\\(?:text|mathrm|textrm)\s*\{\s*([A-Za-z]+(?:/[a-z]+)?)\s*\}")
_SPACES = re.compile(r"\\(?:thinspace|medspace|thickspace|enspace|nobreakspace|space|hskip)(?![A-Za-z])")
_GROUPED = re.compile(r"(?<=\d)\\thinspace(?=\s*\d{3}(?!\d))")
_INDEX = re.compile(r"_\s*(?:\\text\s*)?\{(?:[^{}]|\{[^{}]*\})*\}")
#: Lines of a formula in braces; a product that would read as two million millions.
_INNER_LINE = re.compile(r"\\\\(?:\[[^\]]*\])?|\\cr(?![A-Za-z])")
_PREFIX_LIKE = re.compile(
    r"(?<![\w.])(\d+)(?:\s*(?![hs])([A-Za-jl-z])|([hs]))(?=\s*(?:$|[=<>&]|\\(?:q?quad|text|l|g|[,; ])))"
)
_NESTED = re.compile(
    r"\\(?:begin|end)\s*\{(?:aligned|split|gathered|alignedat|multlined|subequations)\}(?:\s*\{\d+\}|\[[tbc]\])?"
)
_ROW_TOKEN = re.compile(
    r"\\begin|\\end|\\(?:left|right)(?![A-Za-z])|\\\\(?:\*|\[[^\]\n]*\])?|\\cr(?![A-Za-z])|\\.|[{}]", re.DOTALL
)
_SAME = re.compile(
    r"\\(?:approx|simeq|sim|cong|equiv|coloneqq|triangleq|doteq|coloneq)(?![A-Za-z])|≈|≃|∼|:=|≡|\\stackrel\{[^{}]*\}\{=\}"
)
_ABOVE = re.compile(r"\\(?:gtrsim|gtrapprox|geqq|eqslantgtr)(?![A-Za-z])|≳")
_BELOW = re.compile(r"\\(?:lesssim|lessapprox|leqq|eqslantless)(?![A-Za-z])|≲")
_GOES_ON = re.compile(
    r"(?:\\?q?quad(?![A-Za-z])|\\[,;:! ]|~|\s)*(?:[-+*/]|\\(?:cdot|times)(?![A-Za-z])"
    r"|(?:\\(?:text|mbox|mathrm)\s*\{|\")\s*(?:if|for|when|where|provided|as long as|and)\b"
    r"|(?:\\left)?\([^()]*(?:\\(?:ll|gg)(?![A-Za-z])|<<|>>)[^()]*\)\s*$)"
)
_PREFIXES = {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E", "milli": "m", "micro": "µ"}
_PREFIXES |= {"nano": "n", "pico": "p", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi"}
_UNITS = {"second": "s", "byte": "B", "bit": "bit", "hour": "h", "minute": "min", "day": "day", "percent": "%"}
_UNITS |= {"joule": "J", "watt": "W", "hertz": "Hz", "flop": "FLOP", "flops": "FLOP", "token": "tokens", "chip": "chip"}
_UNIT_WORD = re.compile(r"\\([A-Za-z]+)|([^\\]+)")


def rows(body: str) -> Iterator[tuple[int, str]]:
    r"""Yield the rows of a formula, cut at its `\\`, each with the place where it begins."""
    body = _NESTED.sub(lambda found: " " * len(found[0]), body)
    start, depth, inner = 0, 0, 0
    for found in _ROW_TOKEN.finditer(body):
        token = found[0]
        depth += (token == "{") - (token == "}")
        inner += (token in (r"\begin", r"\left")) - (token in (r"\end", r"\right"))
        if (token[:2] == "\\\\" or token == r"\cr") and depth <= 0 and inner <= 0:
            yield start, body[start : found.start()]
            start = found.end()
    yield start, body[start:]


def goes_on(row: str) -> bool:
    """Return whether a row goes on with the row before: with its sum or product, or with what it holds under."""
    return _GOES_ON.match(plain(row)) is not None


def plain(row: str) -> str:
    """Return a row without what only places it."""
    return _WORDLESS.sub(" ", row).strip()


def shown_row(row: str) -> str:
    """Return a row as it is to be shown: without label, number and alignment."""
    return re.sub(r"\\(?:label|tag\*?)\s*\{[^{}]*\}", "", plain(row))


def tidied(row: str) -> str:
    """Return a row without labels, colours and alignment, its signs and numbers as our grammar has them.

    Raises NotationError for braces that do not pair.
    """
    _paired(row)
    text = _each(row, _DROPPED, lambda body, after: (" ", after))
    text = _each(text, _COLOURED, lambda body, after: ("", after))
    for _ in range(3):
        text = _each(text, _KEPT, lambda body, after: (body, after))
        text = _each(text, _BRACED, _without_note)
    text = _MICRO.sub(r"\\text{ µ\1}", measured(text))
    text = _GROUPED.sub("", _INDEX.sub(lambda found: found[0].replace(",", " "), text))
    text = _SPACES.sub(" ", _INNER_LINE.sub(" ", _WORDLESS.sub(" ", text)))
    for pattern, sign in ((_SAME, "="), (_ABOVE, r"\\ge "), (_BELOW, r"\\le ")):
        text = pattern.sub(sign, text)
    text = _PREFIX_LIKE.sub(r"\1 \\cdot \2\3", re.sub(r"\s+", " ", text).strip())
    return re.sub(r"(?:\\[,;:! ]|\s|~)*[.,;](?:\\[,;:! ]|\s)*$", "", text)


def measured(row: str) -> str:
    r"""Return a row with numbers of siunitx as they are printed: `\qty{2550}{tokens}` is `2550 \text{ tokens}`."""
    return _each(row, _QUANTITY, None)


Change = Callable[[str, str], tuple[str, str]]


def _each(text: str, command: re.Pattern[str], change: Change | None) -> str:
    """Return a text with every command and its groups replaced by what is made of them."""
    pieces: list[str] = []
    at = 0
    while (found := command.search(text, at)) is not None:
        body, end = group(text, found.end())
        pieces.append(text[at : found.start()])
        if change is None:
            second = ""
            if found[1] in ("qty", "SI") and re.match(r"\s*\{", text[end:]):
                second, end = group(text, end)
            pieces.append(_quantity(found[1], body, second))
            at = end
        else:
            said, rest = change(body, text[end:])
            pieces.append(said)
            at = len(text) - len(rest)
    return "".join([*pieces, text[at:]])


def _without_note(body: str, after: str) -> tuple[str, str]:
    """Return what stands above a brace, and the text without the note below it."""
    note = re.match(r"\s*[_^]\s*(?=\{)", after)
    return body, after[group(after, note.end())[1] :] if note else after


def _quantity(command: str, first: str, second: str) -> str:
    r"""Return what `\qty{2550}{tokens}` prints, in our own words."""
    if command in ("unit", "si"):
        return rf"\text{{ {unit_words(first)}}}"
    number = re.sub(r"\s*x\s*10\^", "e", re.sub(r"\s*[x×]\s*10\s*\^\s*", "e", first.strip()))
    number = re.sub(r"(?<=\d)[ ~](?=\d{3})", "", number)
    return rf"{number} \text{{ {unit_words(second)}}}" if second.strip() else number


def unit_words(text: str) -> str:
    r"""Return a unit of siunitx in ours: `\giga\byte\per\second` is GB/s, `\text{tokens per chip}` its words."""
    text = re.sub(r"\\(?:text|mathrm|textrm)\s*\{([^{}]*)\}", r"\1", text)
    said, prefix, below = "", "", False
    for command, word in _UNIT_WORD.findall(text):
        if command == "per":
            below = True
        elif command in _PREFIXES:
            prefix = _PREFIXES[command]
        else:
            unit = prefix + (_UNITS.get(command, command) if command else word.replace("~", " ").lstrip())
            unit = unit if command or prefix else word.replace("~", " ")
            said += f"{'/' if below and command else ''}{unit}"
            prefix, below = "", False
    return " ".join(said.split())


def _paired(text: str) -> None:
    """Raise NotationError where a brace closes that none opened, or one stays open."""
    depth = 0
    for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth < 0:
            raise NotationError(
                "A brace closes that none opened.", text=text, position=found.start(), hint="Leave it out."
            )
    if depth:
        group(text, 0)
