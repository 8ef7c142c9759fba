r"""Symbols that a document writes otherwise, read backwards: `\beta` as `W_{ici}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_TYPED = (r"\text", r"\mathrm", r"\textrm", r"\operatorname")


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
