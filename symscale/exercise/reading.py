"""What somebody answers, read: a number, a formula, a relation, collectives, a mesh or a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias

import sympy as sp

from symscale.errors import NotationError, SymscaleError
from symscale.frozen import dataclass
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.formula_lexer import check_length
from symscale.quantity.unit import Unit, parse_quantity
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class Number:
    """A number in base units, and its unit, or None where it has none.

    `half` is how far it may be from what it is rounded from, `digit` a unit of its last digit as it is written, and
    `named` what it is said to be the value of, as in T_comms = 11.5 ms.
    """

    value: sp.Expr
    half: sp.Expr
    digit: sp.Expr
    unit: Unit | None = None
    named: sp.Expr | None = None


@dataclass(frozen=True)
class Formula:
    """A formula, and what it is said to equal."""

    expr: sp.Expr
    named: sp.Expr | None = None


@dataclass(frozen=True)
class Relations:
    """Relations that all have to hold."""

    each: tuple[Relation, ...]


@dataclass(frozen=True)
class Sent:
    """Collectives: the kind, the mesh axes, and the array with its layout where one is named."""

    each: tuple[tuple[str, tuple[str, ...], str], ...]


@dataclass(frozen=True)
class Sizes:
    """A mesh: the size of each axis."""

    each: Mapping[str, int]


@dataclass(frozen=True)
class Word:
    """Yes, no, always or never; what is said besides is kept, and not judged."""

    word: str
    reason: str = ""


Answer: TypeAlias = Number | Formula | Relations | Sent | Sizes | Word

WORDS = {"yes": "yes", "y": "yes", "true": "yes", "no": "no", "n": "no", "false": "no"}
WORDS |= {"always": "always", "never": "never", "none": "none", "nothing": "none"}
_WORD = re.compile(r"(\w+)\b[\s.,;:!–-]*(.*)", re.DOTALL)
_ABOUT = re.compile(r"(?:≈|~|\\approx|\\sim|about|approximately|around|roughly|circa|ca\.?)\s*", re.IGNORECASE)
_KINDS = {"allgather": "AllGather", "ag": "AllGather", "reducescatter": "ReduceScatter", "rs": "ReduceScatter"}
_KINDS |= {"allreduce": "AllReduce", "ar": "AllReduce", "alltoall": "AllToAll", "a2a": "AllToAll"}
_KINDS |= {"permute": "Permute", "collectivepermute": "Permute", "ppermute": "Permute"}
_KIND = r"all[-_ ]?(?:gather|reduce|to[-_ ]?all)|reduce[-_ ]?scatter|(?:collective[-_ ]?|p)?permute|AG|RS|AR|A2A"
_COLLECTIVE = re.compile(
    rf"\s*({_KIND})\s*(?:_?\s*(\{{[\w, ]+\}}|(?-i:[A-Z]+))(?![\w\[])|(?:over|along|on)\s+(\w+(?:\s*,\s*\w+)*))?"
    r"\s*(?:\(\s*([^()]*?)\s*\)|(?:of\s+)?(\w+\[[^\]]*\](?:\{[^}]*\})?|\w+)?)\s*",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\s*([A-Za-z]\w*)\s*(?:=|:)\s*(\d[\d,_]*)\s*")
_SIDES = re.compile(r"(<=|>=|=<|=>|==|≤|≥|\\leq?(?![a-z])|\\geq?(?![a-z])|\\lt|\\gt|<|>|=)")
_AND = re.compile(r"\s+and\s+|\s*;\s*|\s*,\s*(?=[A-Za-z\\][^,]*[<>=≤≥])|\\text\{ and \}|\s*∧\s*|\s*&&?\s*")
_LIKE_A_NUMBER = re.compile(r"[+-]?[\d.,_]+\s*[A-Za-zµμ$%][\w/ $%µμ]*")
_COUNTED = re.compile(r"\s+(?:token|chip|element|layer|byte|second|FLOP|sequence|param)s?(?:\s*(?:per|/)\s*[a-z]+)?$")
_PROSE = re.compile(r"(?<![\\_{\w])(?!(?:sqrt|max|min|log|exp|ceil|floor|alpha|beta)\b)[a-z]{2,}(?![\w}])")
_DIGITS = re.compile(r"[+-]?(\d[\d,_ ]*(?:\{,\}\d+)*\.?\d*|\.\d+)")


def read_answer(text: str, aliases: Mapping[str, str] | None = None) -> Answer:
    """Return what a text answers. Raises NotationError, with the place, where it is none of the kinds there are."""
    check_length(text)
    plain = _cleaned(text)
    if not plain:
        raise NotationError("there is no answer", text=text, position=0, hint="write C/W, 11.5 ms, B > 2550, yes …")
    return _word(plain) or _sent(plain) or _stated(plain, aliases)


def read_sizes(text: str) -> Sizes | None:
    """Return the mesh that a text such as "X=16, Y=4" or "16 x 4" with axes writes, None where it is none."""
    parts = [
        _SIZE.fullmatch(part)
        for part in re.split(r"[,;]\s*(?=[A-Za-z])|\s+and\s+|×|\s+x\s+|\s+(?=[A-Z]\s*=)", text.strip())
    ]
    if not parts or not all(parts):
        return None
    return Sizes({part[1]: int(re.sub(r"[,_]", "", part[2])) for part in parts if part})


def _cleaned(text: str) -> str:
    """Return the text without dollar signs around it, a full stop behind it, or more than one kind of blank."""
    plain = " ".join(text.split())
    for left, right in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("`", "`")):
        if plain.startswith(left) and plain.endswith(right) and len(plain) > len(left) + len(right):
            plain = plain[len(left) : -len(right)].strip()
    return plain[:-1].rstrip() if plain.endswith(".") else plain


def _word(text: str) -> Word | None:
    match = _WORD.fullmatch(text)
    word = WORDS.get(match[1].lower()) if match else None
    # `N = 5` and `y/2` are no words
    if match is None or word is None or (len(match[1]) == 1 and match[2]) or match[2][:1] in tuple("=<>≤≥*/^"):
        return None
    return Word(word, match[2])


def _sent(text: str) -> Sent | None:
    found, at = [], 0
    while at < len(text):
        match = _COLLECTIVE.match(text, at)
        if match is None or match.end() == at:
            return None
        found.append(_collective(match))
        at = match.end()
        rest = re.match(r"(?:[,;+]|->|→|and\b|then\b)?\s*", text[at:])
        at += rest.end() if rest else 0
    return Sent(tuple(found)) if found else None


def _collective(match: re.Match[str]) -> tuple[str, tuple[str, ...], str]:
    kind = _KINDS[re.sub(r"[-_ ]", "", match[1]).lower()]
    written = match[2] or match[3] or ""
    names = re.findall(r"\w+", written)
    axes = list(names[0]) if len(names) == 1 and names[0].isupper() else names
    return kind, tuple(axes), (match[4] or match[5] or "").strip()


def _stated(text: str, aliases: Mapping[str, str] | None) -> Answer:
    """Return the number, the formula or the relations of a text."""
    relations: list[Relation] = []
    for clause in _AND.split(text):
        pieces = _SIDES.split(clause)
        if len(pieces) == 1:
            if relations or len(_AND.split(text)) > 1:
                raise NotationError("a relation needs a sign", text=text, position=text.find(clause))
            return _value(clause, text, aliases)
        for (left, sign), (right, _) in pairwise(zip(pieces[::2], [*pieces[1::2], ""], strict=True)):
            relations.append(_relation(left, sign, right, text, aliases))
    if len(relations) == 1 and relations[0].op == "==":
        return _equation(text, aliases)
    return Relations(tuple(relations))


def _equation(text: str, aliases: Mapping[str, str] | None) -> Answer:
    """Return what B/X = 2550 or T = b*V/W says, named; the side without a digit or a sign of a formula is the name."""
    left, _, right = _SIDES.split(text)
    name, value = parse_formula(left, aliases=aliases).expr, _value(right, text, aliases)
    return replace(value, named=name)


def _relation(left: str, sign: str, right: str, text: str, aliases: Mapping[str, str] | None) -> Relation:
    op = parse_relation(f"a {sign} b").op if sign not in ("=<", "=>") else {"=<": "<=", "=>": ">="}[sign]
    sides = [_side(each, text, aliases) for each in (left, right)]
    return Relation(sides[0], "==" if op == "=" else op, sides[1])


def _side(part: str, text: str, aliases: Mapping[str, str] | None) -> sp.Expr:
    found = _value(part, text, aliases)
    return found.value if isinstance(found, Number) else found.expr


def _value(part: str, text: str, aliases: Mapping[str, str] | None) -> Number | Formula:
    """Return a number with its unit, or a formula; of two faults that of what it looks like is reported."""
    plain = part.strip()
    about = _ABOUT.match(plain)
    plain = plain[about.end() :] if about else plain
    if not plain:
        raise NotationError("a side of this is empty", text=text, position=max(text.find(part), 0))
    try:
        amount = parse_quantity(plain)
    except SymscaleError as unread:
        return _formula(_COUNTED.sub("", plain), aliases, unread if _LIKE_A_NUMBER.fullmatch(plain) else None)
    half, digit = _precision(plain, amount.value)
    return Number(amount.value, half, digit, amount.unit if amount.unit.word else None)


def _formula(plain: str, aliases: Mapping[str, str] | None, unread: SymscaleError | None) -> Number | Formula:
    try:
        found = parse_formula(plain, aliases=aliases).expr
    except NotationError as fault:
        if _PROSE.search(plain):
            raise (unread or fault) from None
        try:
            found = parse_formula(plain, implicit=True, aliases=aliases).expr
        except NotationError:
            raise (unread or fault) from None
    return Number(found, abs(found) / 10**9, sp.S.Zero) if found.is_number else Formula(found)


def _precision(plain: str, value: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return half a unit of the last digit, and that unit; zeros that end a whole number may be none, to 2.5 %."""
    match = _DIGITS.match(plain)
    digits = re.sub(r"[,_ {}+-]", "", match[0]) if match else ""
    shown = Decimal(digits or "0")
    if not shown or not value:
        return sp.S.Zero, sp.S.Zero
    unit = abs(value) / sp.Rational(str(shown))
    written = unit * sp.Rational(10) ** -len(digits.partition(".")[2])
    rounded = unit * sp.Rational(10) ** int(shown.normalize().as_tuple().exponent) / 2
    return max(written / 2, min(rounded, abs(value) / 40)), written
