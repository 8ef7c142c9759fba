r"""What a formula of a document states: its rows, cut where one statement ends and the next begins.

`a \ge b = c` states that a is at least b, and at least c; what stands behind `\text{if}`, and a limit in brackets, is
what a statement holds under.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from symscale.errors import NotationError, SymscaleError
from symscale.frozen import dataclass
from symscale.paper.audit.braces import group
from symscale.paper.audit.cases import by_cases
from symscale.paper.audit.tidied import tidied
from symscale.quantity.unit import parse_unit

#: Signs as the grammar has them.
_SIGN = re.compile(r"\\(?:leqslant|geqslant|leq|geq|le|ge|lt|gt)(?![A-Za-z])|<=|>=|[<>=≤≥]")
_LIMIT = re.compile(r"\\(?:ll|gg)(?![A-Za-z])|<<|>>|≪|≫")
_CONDITION = re.compile(
    r"(?:,|\()?\s*(?:if|for|when|whenever|where|provided|given|assuming|unless|as long as|in the limit)\b",
    re.IGNORECASE,
)
_ALL_WORDS = re.compile(
    r"(?:and|or|but|otherwise|so|hence|thus|with|in|on|at|per|as|is|which|the|a|an)\b", re.IGNORECASE
)
_TOKEN = re.compile(
    r"(?P<words>\\(?:text|textrm|mathrm|textit|mbox|intertext|shortintertext)\s*\{)"
    r"|(?P<gap>\\q?quad(?![A-Za-z])|\\(?:implies|iff|[rR]ightarrow|[lL]eft[rR]ightarrow|Leftrightarrow|therefore)(?![A-Za-z]))"
    r"|(?P<command>\\(?:[A-Za-z]+|.))|(?P<number>\d{1,3}(?:,\d{3})+(?!\d))|(?P<other>.)",
    re.DOTALL,
)
#: Words by which a formula may be said not to hold.
_DENIED = re.compile(
    r"\b(?:is|are|was|holds?|be)\s+(?:never|false|wrong|untrue|incorrect|violated)\b|\bfalse\b|\b(?:unless|except)\b"
    r"|\bnot\s+(?:true|so|the case|hold|right|correct)\b|n['’]t\s+hold\b|\b(?:if|when)\s+not\b|^\W*(?:not|never)\b",
    re.IGNORECASE,
)
#: A limit as an arrow: X to infinity is X far above 1.
_ARROW = re.compile(r"\\(?:to|rightarrow|longrightarrow)(?![A-Za-z])\s*(?:\+\s*)?(\\infty(?![A-Za-z])|0(?!\.?\d))")
_WORDS_STATE = re.compile(
    r"(?P<every>every .+ is enough)|(?P<no>no .+ is enough)|(?P<nothing>nothing is sent)"
    r"|(?:All(?:Gather|Reduce|ToAll)|ReduceScatter|Permute)_\{?\w+\}?\(.*"
)
_MEANT = {"every": "always", "no": "never", "nothing": "none"}
_ROOM = re.compile(r"^(?:\\[ ,;:!]|~|\s)+|(?<!\\)(?:\\[ ,;:!]|~|\s)+$")
_NUMBER_ENDS = re.compile(r"(?:\d|\d\s*\}|\.)\s*(?:\\[ ,;:]|~|\s)*$")


@dataclass(frozen=True)
class Statement:
    """A statement as our grammar reads it, and the conditions behind it; an equation has `name` and `value` too."""

    said: str
    when: tuple[str, ...] = ()
    name: str = ""
    value: str = ""


def statements(row: str, before: str = "") -> tuple[list[Statement], str]:
    """Return what a row states, and its first side; a row that begins with a sign goes on with the side `before`.

    Raises SymscaleError for braces that do not pair.
    """
    found: list[Statement] = []
    if (cases := by_cases(row)) != [row]:
        for case in cases:
            stated, first = statements(case, before)
            found += stated
        return found, first
    first = before
    pieces = _pieces(_ARROW.sub(lambda found: rf"\{'ll' if found[1] == '0' else 'gg'} 1", tidied(row)))
    if said := _in_words(pieces):
        return [Statement(*said)], before
    for claim, when in _claims(pieces):
        sides, signs = _split(claim)
        if signs and not sides[0]:
            sides[0] = first
        first = sides[0] if signs else first
        found += _chain(sides, signs, tuple(when))
    return found, first


def _split(claim: str) -> tuple[list[str], list[str]]:
    """Return the sides of a claim, and its outermost signs: one in an index, as in a sum, is none of its own."""
    depth, at, sides, signs = 0, 0, [], []
    for found in re.finditer(rf"(?P<sign>{_SIGN.pattern})|\\.|[{{}}]", claim, re.DOTALL):
        depth += (found[0] == "{") - (found[0] == "}")
        if found["sign"] and depth <= 0:
            sides.append(claim[at : found.start()].strip())
            signs.append(found[0])
            at = found.end()
    return [*sides, claim[at:].strip()], signs


def _chain(sides: Sequence[str], signs: Sequence[str], when: tuple[str, ...]) -> Iterator[Statement]:
    """Yield what a chain of signs states about its first side."""
    if not signs:
        if sides[0]:
            yield Statement(sides[0], when)
        return
    if any(each != "=" for each in signs[1:]) and signs[0] != "=":
        whole = sides[0] + "".join(f" {sign} {side}" for sign, side in zip(signs, sides[1:], strict=True))
        yield Statement(whole, when)
        return
    sign = signs[0]
    for each, side in zip(signs, sides[1:], strict=True):
        sign = each if each != "=" else sign
        equation = sign == "="
        if equation and not sides[0]:
            yield Statement(side, when)  # about a number: \\approx 2550
            continue
        said = f"{sides[0]} {sign} {side}".strip()
        yield Statement(said, when, sides[0], side) if equation else Statement(said, when)


def _in_words(pieces: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, ...]] | None:
    r"""Return what words state, and under which conditions: `\text{every }B\text{ is enough}` is always."""
    held = [kind == "words" and bool(_CONDITION.match(text)) for kind, text in pieces]
    until = held.index(True) if True in held else len(pieces)
    parts = [text for kind, text in pieces[:until] if kind != "gap" or text == ","]
    said = " ".join(" ".join(parts).replace("\\_", "_").split())
    found = _WORDS_STATE.fullmatch(said)
    if found is None:
        return None
    _, when = next(_claims([("maths", "x"), *pieces[until:]]))
    return next((meant for name, meant in _MEANT.items() if found[name]), said), tuple(when)


def _claims(pieces: Sequence[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each claim of a row with its conditions."""
    claim, when = "", list[str]()
    conditional, fresh = False, True  # inside of what a claim holds under; whether a new part of it begins
    for kind, text in pieces:
        if kind == "words":
            if _DENIED.search(text):
                raise NotationError(
                    f"`{text.strip()}` may say that the formula does not hold.",
                    hint="State what holds, and if it does.",
                )
            if _CONDITION.match(text) and claim:
                conditional = True
                when += re.findall(r"\$([^$]+)\$", text)
            elif re.match(r"\W*(?:otherwise|else)\b", text):
                conditional = False
            elif not conditional and (unit := _unit(claim, text)):
                claim = f"{claim} {unit}"
        if kind != "maths":
            fresh = True
            continue
        text, limit = _limit_behind(text, bool(claim))
        if text and claim and (conditional or (_LIMIT.search(text) and not _SIGN.search(text))):
            if when and not (fresh and (_SIGN.search(text) or _LIMIT.search(text))):
                when[-1] += f", {text}"
            else:
                when.append(text)
        elif text and claim and (_ends(claim) or _begins(text)):
            claim = f"{claim} {text}"
        elif text and when and not _SIGN.search(text):
            when[-1] += f", {text}"
        elif text:
            if claim:
                yield claim, when
            claim, when = text, []
        when += [limit] if limit else []
        fresh = fresh and not text
    if claim:
        yield claim, when


def _limit_behind(text: str, goes_on: bool) -> tuple[str, str]:
    """Return a formula without the limit or condition in brackets behind it, and that; alone if it `goes_on`."""
    whole = _trimmed(text)
    opens = whole.rfind("(")
    inside = whole[opens + 1 : -1]
    if not whole.endswith(")") or opens < 0 or ")" in inside:
        return whole, ""
    # in brackets an equation or an inequality is no factor
    if not (
        _LIMIT.search(inside) or (_SIGN.search(inside) and (_SIGN.search(whole[:opens]) or (goes_on and not opens)))
    ):
        return whole, ""
    before = re.sub(r"\\(?:left|[bB]igg?l?)$", "", whole[:opens])
    return _trimmed(before), _trimmed(re.sub(r"\\(?:right|[bB]igg?r?)$", "", inside))


def _trimmed(text: str) -> str:
    """Return a formula without the room around it."""
    return _ROOM.sub("", text)


def _ends(claim: str) -> bool:
    return bool(re.search(rf"(?:{_SIGN.pattern}|[-+*/]|\\cdot|\\times)\s*$", claim))


def _begins(text: str) -> bool:
    return bool(re.match(rf"\s*(?:{_SIGN.pattern}|[-+*/]|\\cdot|\\times)", text))


def _unit(claim: str, text: str) -> str:
    """Return the unit that words behind a number begin with, "" if they are none."""
    return unit_of(text) if _NUMBER_ENDS.search(claim) else ""


#: Words for a chip, with which a number is one of a chip.
CHIPS = ("chip", "TPU", "GPU", "device", "accelerator")


def unit_of(words: str) -> str:
    """Return the longest unit that words begin with: "tokens per chip" of "tokens per chip on TPU v5p"."""
    parts = re.findall(r"\s*\S+", words.replace("~", " ").replace("\\ ", " "))[:6]
    for size in range(len(parts), 0, -1):
        said = "".join(parts[:size]).strip().rstrip(".,;:)")
        try:
            if parse_unit(said).word:
                # of what it is one, where that is no unit: tokens per pod
                per = re.match(r"\s+per\s+(\w+(?:[-^]\w+)*)", "".join(parts[size:]))
                return f"{said} per {per[1]}" if per and per[1] not in CHIPS else said
        except SymscaleError:
            continue
    return ""


def _pieces(row: str) -> list[tuple[str, str]]:
    """Return a row cut at its outermost commas, gaps and words: pairs of what each is, and its text."""
    found: list[tuple[str, str]] = []
    current, depth, at = "", 0, 0
    while at < len(row):
        token = _TOKEN.match(row, at)
        assert token is not None
        at = token.end()
        text = token[0]
        if token["words"] and not depth:
            body, at = group(row, token.end() - 1)
            if _is_name(current, body, row[at:]):
                current += _named(current, row[token.start() : at])
                continue
            found += [("maths", current), ("words", body)]
            current = ""
            continue
        if not depth and (token["gap"] or text in (",", ";")):
            found += [("maths", current), ("gap", text)]
            current = ""
            continue
        depth = max(depth + (1 if token["words"] else _deeper(text)), 0)
        current += _named(current, text) if token["words"] else text
    return _lists([*found, ("maths", current)])


def _lists(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pieces with lists of symbols that are large together in one: X, Y and more are far above 1."""
    joined: list[tuple[str, str]] = []
    for kind, text in reversed(pieces):
        listed = kind == "maths" and text.strip() and not _SIGN.search(text) and not _LIMIT.search(text)
        last = joined[-2][1] if len(joined) > 1 and joined[-1] == ("gap", ",") else ""
        if listed and _LIMIT.search(last) and not _SIGN.search(last):
            joined[-2:] = [("maths", f"{text}, {last}")]
        else:
            joined.append((kind, text))
    return joined[::-1]


def _deeper(token: str) -> int:
    opens = token in ("(", "[", "{", r"\{", r"\lceil", r"\lfloor")
    return opens - (token in (")", "]", "}", r"\}", r"\rceil", r"\rfloor"))


def _named(before: str, text: str) -> str:
    r"""Return a name with a command that says so: behind a number \text would be its unit."""
    return text if before.rstrip()[-1:] in ("_", "^") else re.sub(r"^\\[a-z]+", r"\\mathit", text)


def _is_name(before: str, body: str, after: str) -> bool:
    r"""Return whether \text{…} is a name of a formula, as FLOPs or the index of T, and not words beside it."""
    if before.rstrip()[-1:] in ("_", "^") or after.lstrip()[:1] in ("_", "^"):
        return True
    word = body.strip()
    if word != body or not re.fullmatch(r"\w+", word) or _CONDITION.match(word) or _ALL_WORDS.fullmatch(word):
        return False
    return not (_NUMBER_ENDS.search(before) and unit_of(word))
