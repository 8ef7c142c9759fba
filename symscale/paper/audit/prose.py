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
#: Words that scale a number, those without a meaning for the desk too, which refuses them: 2 dozen tokens.
_POWERS = re.compile(
    r"\s*(?:(?i:thousand|million|billion|trillion|dozen|hundred)\b|(?i:kilo|mega|giga|tera)(?=(?:token|param|chip)s?\b)"
    r"|[kMGTP]i?(?=\s+(?!per\b)[a-z]{3}))"
)
#: How many times something is: 2.6 times slower, 2.6×, a 3-fold batch.
_TIMES = re.compile(r"\s*(?:times\b|(?:[×x]|\\times(?![A-Za-z])|\$\\times\$)(?!\s*[\d$])(?![A-Za-z])|-?fold\b)")
#: Arithmetic that a number begins: 5100/2, 2550 × 10, 50².
_OPERAND = rf"(?:{_SPACED}|{GROUPED}|{NUMBER})"
_ARITHMETIC = re.compile(
    rf"(?:\s*(?P<sign>[×+/]|(?<=\s)\*(?=\s)|\\times(?![A-Za-z])|\\cdot(?![A-Za-z])|\$\\times\$)\s*{_OPERAND}"
    r"|\s*(?:\^\s*\{?-?\d+\}?|[²³⁰¹⁴-⁹⁻]+|<sup>[^<>\n]*</sup>|\\textsuperscript\{-?\d+\}|\$\^\{?-?\d+\}?\$))+"
)
#: A number beside another, of which neither is the value: 2550–5100, 8 or 16, 2550 ± 100.
_BESIDE = r"(?:±|\+/-|\$?\\pm\$?(?![A-Za-z])|--?>?(?!-)|–|→|\bor\b|\bto\b)"
_VAGUE = re.compile(rf"\s*(?:{_BESIDE}\s*|,\s+)(?=\d)")
_SECOND = re.compile(rf"(?:\bfrom\s+[\d.,]*\d\s*to|(?P<either>\d\s*{_BESIDE}))\s*$")
#: Words before a number that make another of it.
_FACTOR = re.compile(
    r"(?:\b(?:half|twice|thrice|double|triple|quadruple|(?:third|quarter|fifth|tenth|percent|multiple)s?\s+of)(?:\s+of)?"
    r"|%\s+of|\btimes|×)\s*$",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n[ \t>]*\r?\n|\$")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_UNIT = re.compile(
    r"(?:\\[,;: ]|~|\s|\\thinspace)*(?:\\(?:text|mathrm|textrm)\s*\{\s*([^{}]*)\}|\\?(%)|([A-Za-zµ$].*))", re.DOTALL
)
#: What is said to be wrong, or is one end of a range, is no claim.
_DENIED = re.compile(
    r"(?:\bnot|\bminus|\bnever|\bbetween|\bfrom|\bbetween\s+[\d.,]+\s+and|(?<!\w)[-−])\s*$", re.IGNORECASE
)
#: A sentence that denies what follows within a few words: it does not need 4000, it never needs more than 4000.
_NEGATED = re.compile(
    r"(?:\b(?:not|never|cannot|neither|nor)|n['’]t)\b(?:\s+(?!(?:unless|until|but|only)\b)[A-Za-z'’<>=]+){0,3}\s*$",
    re.IGNORECASE,
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


def numbers(text: str, start: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Yield the numbers between two places of a text: where each stands, what it says with its unit, and why that
    is no claim, "" if it is one.
    """
    lead = max(start - _NEAR, 0)
    lead += max((each.end() for each in _PARAGRAPH.finditer(text[lead:start])), default=0)
    shown = _SILENT.sub(lambda found: " " * len(found[0]), text[lead:end])
    at = start - lead
    while (found := _MEASURED.search(shown, at)) is not None:
        at = found.end()
        before = _bare(shown[max(found.start() - _NEAR, 0) : found.start()])
        if found[0].startswith("\\"):
            said = " ".join(re.sub(r"\\text|[{}]", "", tidied(found[0])).split())
            if not denied(before):
                yield (
                    lead + found.start(),
                    f"{_compared(before, shown[at:])} {said}".strip(),
                    _more(before, shown[at:], said),
                )
            continue
        number = found[0].rstrip(".")
        at = found.start() + len(number)
        line = shown.rfind("\n", 0, found.start()) + 1
        if re.match(r"[.)]\s", shown[at:]) and not shown[line : found.start()].strip(" \t>"):
            continue  # it counts the items of a list
        number = _without_room(number)
        worked = _ARITHMETIC.match(text, lead + at, end)
        if worked is not None:
            at = worked.end() - lead
            number = _signs(f"{number}{worked[0]}")
        # a micro sign is a formula of its own
        behind = re.sub(r"\$\\mu\$", "µ", text[lead + at : lead + at + _NEAR])
        said_so = _said(number, behind)
        if said_so is None or denied(before):
            continue
        if worked is not None and worked["sign"] not in (None, "/") and said_so == number:
            continue  # 4 × 4, and no more
        sign = _compared(before, behind)
        yield lead + found.start(), f"{sign} {said_so}".strip(), _more(before, behind, said_so)


def denied(before: str) -> bool:
    """Return whether the last words before a number say that it is not so, or that it is an end of a range."""
    said = compared(_bare(before))  # not fewer than is at least
    return any(each.search(said) for each in (_DENIED, _NEGATED))


def disclaimed(before: str) -> bool:
    """Return whether the last words before a formula say that it is not so."""
    return re.search(r"\b(?:not|never|no longer)(?:\s+(?:true|so|the case))?(?:\s+that)?\s*$", before, re.I) is not None


def around(before: str, behind: str, said: str) -> tuple[str, str]:
    """Return the sign that the words around a number in dollar signs mean, and why it is no claim, "" for none."""
    plain = _bare(before)
    return _compared(plain, behind), "It is denied." if denied(plain) else _more(plain, behind, said)


def _bare(text: str) -> str:
    """Return words without what only makes them bold or slanted."""
    return re.sub(r"\\(?:emph|text\w\w)\s*\{|[{}*_]", " ", text.replace("~", " "))


def _more(before: str, behind: str, said: str) -> str:
    """Return why a number is not what a text claims: it is half of that, or one end of a range; "" if it is."""
    factor, second, vague = _FACTOR.search(before), _SECOND.search(before), _VAGUE.match(behind)
    if factor is not None:
        return f"{' '.join(factor[0].split())} {said} is more than a number with its unit."
    if vague is not None or (second is not None and second["either"]):
        return f"{said} is one number of two, and not the value."
    return ""


def _without_room(number: str) -> str:
    return re.sub(r"(?<=\d)(?:\\[,;: ]|\\thinspace|~|[ \u00a0\u2009\u202f])(?=\d{3})", "", number)


def _signs(text: str) -> str:
    """Return arithmetic of a text as the desk reads it: signs and powers, without rooms between digits."""
    text = re.sub(r"<sup>\s*(.*?)\s*</sup>|\$\^\{?(-?\d+)\}?\$", lambda found: f"^({found[1] or found[2]})", text)
    text = re.sub(r"\\textsuperscript\{(-?\d+)\}", r"^(\1)", text)
    text = re.sub(r"\$?\\(?:times|cdot)\$?", "×", text)
    text = re.sub(r"[²³⁰¹⁴-⁹⁻]+", lambda found: f"^({found[0].translate(_RAISED)})", text)
    return " ".join(_without_room(text).replace("×", " * ").split())


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
    if _TIMES.match(behind):
        return f"{number} times"
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
