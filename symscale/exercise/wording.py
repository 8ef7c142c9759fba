"""How answers are written besides their mathematics: dollar signs, numbers and units in words, LaTeX around units."""

from __future__ import annotations

import re

_JOINING = r"so|hence|thus|then|therefore|and|but|with|where|i\.e\.|=>|⇒|→|->|\\(?:Rightarrow|therefore)|\d+[.)]"
#: Words that join lines of a working, and what numbers them.
JOINED = re.compile(rf"^(?:(?:{_JOINING})[\s:,]+)+", re.IGNORECASE)
_PREFIXES = {"nano": "n", "micro": "µ", "milli": "m", "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P"}
_PREFIXES |= {"kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti"}
_BASES = {"second": "s", "byte": "B", "bit": "bit", "flop": "FLOP", "watt": "W", "joule": "J"}
_SPELLED = re.compile(rf"(?<=[\d ])({'|'.join(_PREFIXES)})({'|'.join(_BASES)})s?\b", re.IGNORECASE)
_POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "quadrillion": 15}
#: A number word; and B for billions, where what is counted stands behind it.
_NAMED = re.compile(rf"(?<![\w.])(\d[\d,_]*(?:\.\d+)?)\s*({'|'.join(_POWERS)})\b", re.IGNORECASE)
_BILLIONS = re.compile(r"(?<![\w.])(\d[\d,_]*(?:\.\d+)?)\s*B(?=\s+(?:param|token|FLOP))")
_BOXED = re.compile(r"(?<=[\d.}])(?:\\[,; ]|~|\s)*\\(?:text|mathrm|rm|textrm|operatorname)\s*\{\s*([^{}]*?)\s*\}")
_MICRO = re.compile(r"(?<=\d)\s*(?:\\[,; ])?\s*\\mu\s*(?:\\(?:text|mathrm|rm)\s*\{\s*(s|m)\s*\}|(s|m)\b)")
_SPACES = re.compile(r"(?<=\d)\s*\\[,; ]\s*(?=[A-Za-zµ])")
#: Signs in words, the longer ones first; "is" and "must be" in front of them say nothing more.
_COMPARED = {
    ">=": r"\\gtrsim|≳|at least|no (?:less|fewer|smaller) than|not (?:less|fewer|smaller) than|(?:from )?upwards? of",
    "<=": r"\\lesssim|≲|at most|up to|no (?:more|greater|larger) than|not (?:more|greater|larger) than",
    ">": r"(?:more|greater|larger|bigger|longer) than|above|exceed(?:s|ing)?",
    "<": r"(?:less|fewer|smaller|shorter) than|below",
}
_SIGNS = [
    (re.compile(rf"(?<!\w)(?:(?:is|are|has to be|must be|should be|must|should)\s+)?(?:{words})(?![\w}}])", re.I), sign)
    for sign, words in _COMPARED.items()
]
#: What says that an answer follows.
THE_ANSWER = re.compile(r"^(?:the )?answer(?: is\b|:|\s*=)\s*", re.IGNORECASE)
KILO = re.compile(r"(?<=[\d ])KB\b")
#: Raised digits behind a number: 10⁻² is 10^-2.
_RAISED = re.compile("(?<=[0-9])(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
#: A power of ten with another sign for times: 10.4·10^-3 has three digits, as 10.4 × 10^-3.
_TENS = re.compile(
    r"(?<![\w.^*/·×])(\d[\d,_]*(?:\.\d+)?)\s*(?:[*·⋅]|\\cdot)\s*10\s*(?:\^|\*\*)\s*\{?(-?\d+)\}?(?![\d.^*])"
)
#: A sign between two sides: T = 10 ms and T ≈ 10 ms are the same answer.
_NEARLY = re.compile(r"(?<=[\w)}\]])\s*(?:≈|≃|≅|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])|(?<=\s)~(?=\s))\s*(?=\S)")
_TIMES = re.compile(r"(?<=\d)\s*[x×]$")
_AROUND = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("`", "`"))


def cleaned(text: str) -> str:
    """Return the text in one line, its numbers and units in signs, without what stands around a formula.

    Dollar signs, "hence", a full stop and double blanks go; "8.5 billion" is 8.5e9, "311 milliseconds" and
    "311 \\text{ ms}" are 311 ms, and "2x" is 2.
    """
    plain = " ".join(text.replace("\N{FRACTION SLASH}", "/").split())
    for left, right in _AROUND:
        if plain.startswith(left) and plain.endswith(right) and len(plain) > len(left) + len(right):
            plain = plain[len(left) : -len(right)].strip()
    plain = THE_ANSWER.sub("", plain[:-1].rstrip() if plain.endswith(".") else plain)
    plain = JOINED.sub("", plain)
    plain = _RAISED.sub(lambda found: f"^{'-' * len(found[1])}{found[2].translate(_LOWERED)}", KILO.sub("kB", plain))
    plain = _TENS.sub(r"\1 × 10^\2", plain)
    plain = _BOXED.sub(r" \1", _MICRO.sub(lambda found: f" µ{found[1] or found[2]}", plain))
    plain = _NAMED.sub(lambda found: f"{found[1]}e{_POWERS[found[2].lower()]}", _SPACES.sub(" ", plain))
    plain = _SPELLED.sub(lambda found: _PREFIXES[found[1].lower()] + _BASES[found[2].lower()], plain)
    return _TIMES.sub("", _BILLIONS.sub(r"\1e9", plain))


def compared(text: str) -> str:
    """Return a text with the signs that its words mean: "at least 2550 tokens" is >= 2550 tokens."""
    text = _NEARLY.sub(" = ", text)
    for words, sign in _SIGNS:
        text = words.sub(f" {sign} ", text).strip()
    return text
