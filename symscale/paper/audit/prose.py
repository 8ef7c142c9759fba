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
    r"|</?[A-Za-z][\w:-]*(?:\s[^<>]*)?>|#[A-Za-z][\w.]*\([^()\n]*\)"
)
#: Digits in groups of three: 73 440, with room of any kind.
_SPACED = r"\d{1,3}(?:(?:\\[,;: ]|\\thinspace|~|[ \u00a0\u2009\u202f])\d{3})+(?![\d.])(?:\.\d+)?"
_MEASURED = re.compile(
    r"\\(?:qty|SI)\s*(?:\[[^\]\n]*\])?\{[^{}\n]*\}\s*\{(?:[^{}\n]|\{[^{}\n]*\})*\}|\\num\s*(?:\[[^\]\n]*\])?\{[^{}\n]*\}"
    rf"|(?<![\w.,/\\{{}}^_:#-])(?:{_SPACED}|{GROUPED}|{NUMBER})(?:\s*(?:×|x|\\times)\s*10\s*\^\s*\{{?-?\d+\}}?)?"
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
_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "⩽": "<=", "⩾": ">=", "≲": "<=", "≳": ">="})
#: The same behind it: 4000 or more, 2550 tokens at most; and the sign of what is compared with it: 2550 <= B/X.
_BEHIND = re.compile(
    r"[^\n.,;:()$<>=≤≥]{0,40}?(?:(?P<least>\bor (?:more|above|greater|larger|longer|higher)\b|\bat least\b"
    r"|\band (?:up|above|more)\b|\bupwards?\b)|(?P<most>\bor (?:less|fewer|below|smaller|shorter|lower)\b"
    r"|\bat (?:the )?most\b|\band (?:below|less)\b)|\s(?P<turned><=?|>=?|≤|≥|⩽|⩾)(?=\s))"
)
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
#: So much of a text behind a number may be its unit.
_NEAR = 60


def numbers(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the numbers between two places of a text: where each stands, and what it says with its unit."""
    shown = _SILENT.sub(lambda found: " " * len(found[0]), text[start:end])
    for found in _MEASURED.finditer(shown):
        if found[0].startswith("\\"):
            yield start + found.start(), " ".join(re.sub(r"\\text|[{}]", "", tidied(found[0])).split())
            continue
        number = re.sub(r"(?<=\d)(?:\\[,;: ]|\\thinspace|~|[ \u00a0\u2009\u202f])(?=\d{3})", "", found[0].rstrip("."))
        end = found.start() + len(found[0].rstrip("."))
        # a micro sign is a formula of its own
        behind = re.sub(r"\$\\mu\$", "µ", text[start + end : start + end + _NEAR])
        line = shown.rfind("\n", 0, found.start()) + 1
        if re.match(r"[.)]\s", behind) and not shown[line : found.start()].strip(" \t>"):
            continue  # it counts the items of a list
        said = _said(number, behind)
        before = shown[max(found.start() - _NEAR, 0) : found.start()].replace("~", " ")
        if said is not None and not _DENIED.search(before):
            sign = _compared(before, behind)
            yield start + found.start(), f"{sign} {said}".strip()


def _compared(before: str, behind: str) -> str:
    """Return the sign that the words before a number mean, or those behind it; "" for none."""
    found = _SIGNED.match(compared(_LAST.sub(r"\1", before.translate(_SIGNS))))
    if found is not None:
        return found[1]
    after = _BEHIND.match(re.split(r"\n\s*\n", behind)[0].replace("\n", " "))
    if after is None:
        return ""
    return _MIRROR[after["turned"].translate(_SIGNS)] if after["turned"] else ">=" if after["least"] else "<="


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
