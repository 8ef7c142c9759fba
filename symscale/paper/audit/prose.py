"""Numbers with their units in running text: "about 2550 tokens per chip"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symscale.errors import SymscaleError
from symscale.exercise.wording import compared
from symscale.paper.audit.statements import unit_of
from symscale.paper.audit.tidied import tidied
from symscale.quantity.literal import GROUPED, NUMBER
from symscale.quantity.unit import parse_quantity

#: Commands whose groups are no text.
_SILENT = re.compile(
    r"\\(?:(?:eq|page|auto|name|c|C|v)?ref|cite\w*|label|input|include\w*|bibliography\w*|begin|end|usepackage"
    r"|documentclass|[hv]space\*?|url|href|caption|section|subsection)\s*(?:\[[^\]\n]*\])*\s*\{[^{}\n]*\}"
)
_MEASURED = re.compile(
    r"\\(?:qty|SI)\s*(?:\[[^\]\n]*\])?\{[^{}\n]*\}\s*\{(?:[^{}\n]|\{[^{}\n]*\})*\}|\\num\s*(?:\[[^\]\n]*\])?\{[^{}\n]*\}"
    rf"|(?<![\w.,/\\{{}}^_:#-])(?:{GROUPED}|{NUMBER})(?:\s*(?:×|x|\\times)\s*10\s*\^\s*\{{?-?\d+\}}?)?"
)
_POWERS = re.compile(r"\s*(?:thousand|million|billion|trillion)\b", re.IGNORECASE)
_UNIT = re.compile(
    r"(?:\\[,;: ]|~|\s|\\thinspace)*(?:\\(?:text|mathrm|textrm)\s*\{\s*([^{}]*)\}|\\?(%)|([A-Za-zµ$].*))", re.DOTALL
)
#: What is said to be wrong, or is one end of a range, is no claim.
_DENIED = re.compile(
    r"(?:\bnot|\bminus|\bnever|\bbetween|\bfrom|\bbetween\s+[\d.,]+\s+and|(?<!\w)[-−])\s*$", re.IGNORECASE
)
#: The last words before a number, where they may compare it: fewer than 4000.
_LAST = re.compile(r"^.*?((?:[A-Za-z]+\s+){0,3}[A-Za-z]+\s*)$", re.DOTALL)
_SIGNED = re.compile(r".*?([<>]=?)\s*$", re.DOTALL)
#: So much of a text behind a number may be its unit.
_NEAR = 60


def numbers(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the numbers between two places of a text: where each stands, and what it says with its unit."""
    shown = _SILENT.sub(lambda found: " " * len(found[0]), text[start:end])
    for found in _MEASURED.finditer(shown):
        if found[0].startswith("\\"):
            yield start + found.start(), " ".join(re.sub(r"\\text|[{}]", "", tidied(found[0])).split())
            continue
        number = found[0].rstrip(".")
        end = found.start() + len(number)
        # a micro sign is a formula of its own
        behind = re.sub(r"\$\\mu\$", "µ", text[start + end : start + end + _NEAR])
        line = shown.rfind("\n", 0, found.start()) + 1
        if re.match(r"[.)]\s", behind) and not shown[line : found.start()].strip(" \t>"):
            continue  # it counts the items of a list
        said = _said(number, behind)
        before = shown[max(found.start() - _NEAR, 0) : found.start()].replace("~", " ")
        if said is not None and not _DENIED.search(before):
            sign = _SIGNED.match(compared(_LAST.sub(r"\1", before)))
            yield start + found.start(), f"{sign[1]} {said}" if sign else said


def _said(number: str, behind: str) -> str | None:
    """Return a number with what it is measured in, None for what only looks like a number: 3D, 2nd, 64-chip."""
    glued = re.match(r"[A-Za-zµ]+(?:/[A-Za-z]+)*", behind)
    if glued is not None:
        try:
            whole = number + glued[0]
            parse_quantity(whole)
        except SymscaleError:
            return None
        return f"{whole} {unit}" if (unit := unit_after(behind[glued.end() :])) and len(glued[0]) == 1 else whole
    if re.match(r"-[A-Za-z]|[.,]?\d", behind):
        return None
    power = _POWERS.match(behind)
    rest = behind[power.end() :] if power else behind
    unit = unit_after(rest)
    return f"{number}{power[0] if power else ''} {unit}".strip()


def unit_after(text: str) -> str:
    """Return the unit that stands behind a number in a text, "" if none does."""
    paragraph = re.split(r"\n\s*\n", text[:_NEAR])[0]
    found = _UNIT.match(paragraph)
    if found is None:
        return ""
    return "%" if found[2] else unit_of(" ".join((found[1] or found[3] or "").split()))
