r"""Macros of a document without arguments, put back into its formulas; and renamed symbols, read backwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from symscale.errors import NotationError
from symscale.paper.audit.braces import group

#: No formula that is meant to be read grows beyond this.
LONGEST = 20_000
DEEPEST = 30
_DEFINES = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{?\s*(\\[A-Za-z]+)\s*\}?"
    r"|\\def\s*(\\[A-Za-z]+)|\\(?:New|Renew|Provide|Declare)DocumentCommand\s*\{?\s*(\\[A-Za-z]+)\s*\}?\s*(?=\{\s*\})"
)
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)


def definitions(text: str) -> dict[str, str]:
    r"""Return the macros that a text defines without arguments: `\Wici` is `W_\text{ici}`; the last one counts."""
    found: dict[str, str] = {}
    for match in _DEFINES.finditer(text):
        name = match[1] or match[2] or match[3]
        at = match.end()
        if match[3]:
            at = group(text, at)[1]
        opens = re.compile(r"\s*").match(text, at)
        at = opens.end() if opens else at
        if text[at : at + 1] != "{":
            continue  # it takes arguments
        try:
            body, _ = group(text, at)
        except NotationError:
            continue
        found[name] = rf"\operatorname{{{body}}}" if match[0].startswith(r"\DeclareMathOperator") else body
    return found


def expanded(text: str, macros: Mapping[str, str]) -> str:
    """Return a formula with its macros put in. Raises NotationError for those that go in circles, or grow too long."""
    for _ in range(DEEPEST):
        used = {each for each in _COMMAND.findall(text) if each in macros}
        if not used:
            return text
        text = _COMMAND.sub(lambda found: _put(found[0], macros), text)
        if len(text) > LONGEST:
            raise NotationError(f"{min(used)} grows a formula beyond {LONGEST:,} letters.", hint="Define it shorter.")
    raise NotationError(f"{min(used)} is defined by itself.", hint="Macros that go in circles have no end.")


def _put(name: str, macros: Mapping[str, str]) -> str:
    body = macros.get(name)
    # a command ends where no letter follows
    return name if body is None else f"{body} " if body[-1:].isalpha() or not body else body


def original(text: str, renames: Iterable[tuple[str, str]]) -> str:
    r"""Return a formula with the symbols that a style renames under their own names: `\beta` as `W_{ici}`."""
    wanted = {tuple(_tokens(latex)): name for name, latex in renames}
    if not wanted:
        return text
    longest = max(map(len, wanted))
    tokens = [(each.group(), each.start()) for each in _TOKEN.finditer(text)]
    pieces: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at][0] in ("_", "^") or tokens[at][0] in _TYPED:
            step = _whole(tokens, at)
            pieces += [each for each, _ in tokens[at : at + step]]
            at += step
            continue
        size, name = _match(tokens, at, wanted, longest)
        if name and (at + size == len(tokens) or tokens[at + size][0] != "_"):
            pieces.append(_own(name))
            at += size
            continue
        pieces.append(tokens[at][0])
        at += 1
    return "".join(pieces)


_TYPED = (r"\text", r"\mathrm", r"\textrm", r"\operatorname")


def _tokens(latex: str) -> list[str]:
    return [each for each in _TOKEN.findall(latex) if not each.isspace()]


def _match(
    tokens: list[tuple[str, int]], at: int, wanted: Mapping[tuple[str, ...], str], longest: int
) -> tuple[int, str]:
    """Return how many tokens from a place on are a renamed symbol, and its own name; the longest counts."""
    said: list[str] = []
    best = (0, "")
    for step, (each, _) in enumerate(tokens[at:], 1):
        if each.isspace():
            continue
        said.append(each)
        if len(said) > longest:
            break
        if tuple(said) in wanted:
            best = (step, wanted[tuple(said)])
    return best


def _whole(tokens: list[tuple[str, int]], at: int) -> int:
    """Return how many tokens an index, or words, take with their braces."""
    step = 1
    while at + step < len(tokens) and tokens[at + step][0].isspace():
        step += 1
    if at + step >= len(tokens):
        return step
    if tokens[at + step][0] in _TYPED:
        step += 1
    if at + step >= len(tokens) or tokens[at + step][0] != "{":
        return min(step + 1, len(tokens) - at) if tokens[at][0] in ("_",) else 1
    if tokens[at][0] == "^":
        return 1  # an exponent is a formula of its own
    depth = 0
    for n in range(at + step, len(tokens)):
        depth += (tokens[n][0] == "{") - (tokens[n][0] == "}")
        if not depth:
            return n - at + 1
    return len(tokens) - at


def _own(name: str) -> str:
    stem, _, index = name.partition("_")
    stem = stem if len(stem) == 1 else rf"\text{{{stem}}}"
    return rf" {stem}_{{{index}}} " if index else f" {stem} "
