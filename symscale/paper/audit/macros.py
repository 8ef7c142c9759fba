r"""Macros of a document: how they are defined, with arguments and without, and put back into its formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from symscale.errors import NotationError
from symscale.frozen import dataclass
from symscale.paper.audit.braces import argument, bracketed, group

#: No formula that is meant to be read grows beyond this.
LONGEST = 20_000
DEEPEST = 30
_NEW = r"(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand)"
_DEFINES = re.compile(
    rf"\\(?:(?P<new>{_NEW})|(?P<operator>DeclareMathOperator)|(?P<unit>DeclareSIUnit)"
    r"|(?P<pair>DeclarePairedDelimiter)|(?P<parsed>(?:New|Renew|Provide|Declare)(?:Expandable)?DocumentCommand))"
    r"(?![A-Za-z])\*?\s*(?:\[[^\]\n]*\])?\s*\{?\s*(?P<name>\\(?:[A-Za-z@]+|.))\s*\}?"
    r"|\\[egx]?def(?![A-Za-z])\s*(?P<def>\\(?:[A-Za-z@]+|.))"
    r"|\\let(?![A-Za-z])\s*(?P<let>\\(?:[A-Za-z@]+|.))\s*=?\s*(?P<as>\\(?:[A-Za-z@]+|.))"
)
_COMMAND = re.compile(r"\\(?:[A-Za-z@]+|.)", re.DOTALL)
_PLACE = re.compile(r"#([1-9])")
_COUNT = re.compile(r"\s*\[\s*([0-9])\s*\]")
_ROOM = re.compile(r"\s*")
_CHOOSES = re.compile(r"\\If(?:NoValue|Value|Boolean)(?:TF|T|F)(?![A-Za-z])")
_NO_VALUE = "-NoValue-"


@dataclass(frozen=True)
class Parameter:
    """One argument of a macro: `m` in braces, `o` in brackets with a default, `s` a star, or up to a delimiter."""

    kind: str = "m"
    default: str = _NO_VALUE


@dataclass(frozen=True)
class Macro:
    """What a macro stands for and takes; `lead` stands before its arguments, `fault` says why it is not read."""

    body: str
    takes: tuple[Parameter, ...] = ()
    lead: str = ""
    fault: str = ""


def definitions(text: str) -> dict[str, Macro]:
    r"""Return the macros that a text defines: `\per` of `\newcommand{\per}[2]{\frac{#1}{#2}}`.

    The last one counts, behind `\begin{document}` only where it means the same: what it stands for depends on the
    place else.
    """
    found: dict[str, Macro] = {}
    begins = text.find(r"\begin{document}")
    for match in _DEFINES.finditer(text):
        name = match["name"] or match["def"] or match["let"]
        macro = _defined(match, text)
        if macro is None or (match[0].startswith(r"\provide") and name in found):
            continue
        if 0 <= begins < match.start() and found.get(name, macro) != macro:
            macro = Macro(
                "", fault=f"{name} is defined again within the text: what it stands for depends on the place."
            )
        found[name] = macro
    return found


def _defined(match: re.Match[str], text: str) -> Macro | None:
    """Return what a definition gives, None for one that is none. Macros of a kind that is not read say so."""
    try:
        if match["let"]:
            return Macro(match["as"])
        if match["def"]:
            return _plain(text, match.end())
        takes: tuple[Parameter, ...] = ()
        at = match.end()
        if match["parsed"]:
            spec, at = argument(text, at)
            read = list(_parsed(spec))
            if None in read:
                return Macro("", fault=f"{match['name']} takes arguments that are not read: {spec.strip()[:40]}.")
            takes = tuple(each for each in read if each is not None)
        elif match["new"]:
            takes, at = _counted(text, at)
        if text[_past(text, at) : _past(text, at) + 1] not in ("{", "\\"):
            return None
        body, at = argument(text, at)
        if match["pair"]:
            right, _ = argument(text, at)
            return Macro(rf"\left{body} #3 \right{right}", (Parameter("s"), Parameter("o", ""), Parameter()))
    except NotationError:
        return None
    return Macro(rf"\operatorname{{{body}}}" if match["operator"] else body, takes)


def _counted(text: str, at: int) -> tuple[tuple[Parameter, ...], int]:
    """Return what `[2][default]` says a macro takes, and where that ends."""
    count = _COUNT.match(text, at)
    if count is None:
        return (), at
    first = bracketed(text, count.end())
    takes = tuple(Parameter() for _ in range(int(count[1])))
    if first is None:
        return takes, count.end()
    return (Parameter("o", first[0]), *takes[1:]), first[1]


def _plain(text: str, at: int) -> Macro | None:
    r"""Return what `\def` gives, from behind its name on: arguments that end where a delimiter stands too."""
    opens = text.find("{", at)
    if opens < 0 or opens - at > 200:
        return None
    lead, *parts = re.split(r"#[1-9]", text[at:opens])
    body, _ = group(text, opens)
    return Macro(body, tuple(Parameter(f"until {each}" if each else "m") for each in parts), lead.strip())


def _parsed(spec: str) -> Iterator[Parameter | None]:
    """Yield what a specification of xparse says a macro takes, None for a kind that is not read."""
    at = 0
    while at < len(spec):
        letter = spec[at]
        at += 1
        if letter.isspace() or letter in "+!":
            continue
        if letter == "O":
            default, at = argument(spec, at)
            yield Parameter("o", default)
        else:
            yield {"m": Parameter(), "o": Parameter("o"), "s": Parameter("s")}.get(letter)


def expanded(text: str, macros: Mapping[str, Macro]) -> str:
    """Return a formula with its macros put in.

    Raises NotationError for those that go in circles, grow too long, lack an argument, or are of a kind not read.
    """
    for _ in range(DEEPEST):
        used = {each for each in _COMMAND.findall(text) if each in macros}
        if not used:
            return text
        text = _once(text, macros)
        if len(text) > LONGEST:
            raise NotationError(f"{min(used)} grows a formula beyond {LONGEST:,} letters.", hint="Define it shorter.")
    raise NotationError(f"{min(used)} is defined by itself.", hint="Macros that go in circles have no end.")


def _once(text: str, macros: Mapping[str, Macro]) -> str:
    """Return a text with its outermost macros put in."""
    pieces: list[str] = []
    at = 0
    for found in _COMMAND.finditer(text):
        macro = macros.get(found[0])
        if macro is None or found.start() < at:
            continue
        body, end = _put(found, macro, text)
        pieces += [text[at : found.start()], body]
        at = end
    return "".join([*pieces, text[at:]])


def _put(found: re.Match[str], macro: Macro, text: str) -> tuple[str, int]:
    """Return what a macro stands for at a place, and where its arguments end."""
    if macro.fault:
        raise NotationError(macro.fault, text=text, position=found.start(), hint="Write out what it stands for here.")
    end = found.end()
    if macro.lead:
        end = _past(text, end)
        if not text.startswith(macro.lead, end):
            raise NotationError(f"{found[0]} is followed by {macro.lead}.", text=text, position=found.start())
        end += len(macro.lead)
    given: list[str] = []
    for each in macro.takes:
        said, end = _taken(each, text, end, found)
        given.append(said)
    body = _chosen(
        _PLACE.sub(lambda place: given[int(place[1]) - 1] if int(place[1]) <= len(given) else "", macro.body)
    )
    # a command ends where no letter follows
    return (f"{body} " if body[-1:].isalpha() or not body else body), end


def _taken(wanted: Parameter, text: str, at: int, found: re.Match[str]) -> tuple[str, int]:
    """Return one argument of a macro that stands at a place, and where it ends."""
    if wanted.kind == "s":
        star = text[_past(text, at) : _past(text, at) + 1] == "*"
        return ("TRUE", _past(text, at) + 1) if star else ("FALSE", at)
    if wanted.kind == "o":
        return bracketed(text, at) or (wanted.default, at)
    until = wanted.kind.removeprefix("until ")
    if until != wanted.kind:
        end = text.find(until.strip() or until, at)
        if end >= 0:
            return text[at:end], end + len(until.strip() or until)
    elif text[_past(text, at) :]:
        return argument(text, at)
    raise NotationError(f"{found[0]} lacks an argument.", text=text, position=found.start(), hint="Write it in braces.")


def _chosen(body: str) -> str:
    r"""Return what `\IfNoValueTF{…}{…}{…}` and `\IfBooleanTF` of xparse choose."""
    while (found := _CHOOSES.search(body)) is not None:
        asked, at = argument(body, found.end())
        yes = asked == "TRUE" if "Boolean" in found[0] else (asked == _NO_VALUE) == ("NoValue" in found[0])
        branches = {"T": "", "F": ""}
        for each in re.sub(r".*?(TF|T|F)$", r"\1", found[0]):
            branches[each], at = argument(body, at)
        body = body[: found.start()] + branches["T" if yes else "F"] + body[at:]
    return body


def _past(text: str, at: int) -> int:
    """Return where the room ends that begins at a place."""
    room = _ROOM.match(text, at)
    return room.end() if room else at
