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
from symscale.exercise.wording import cleaned, compared
from symscale.frozen import dataclass
from symscale.notation.formula import parse_formula, parse_relation
from symscale.quantity import PURE, Amount, Unit, dimension_of, parse_quantity, parse_unit
from symscale.quantity.literal import NUMBER
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol


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
    """Relations that all have to hold; `number` is the one number of a single one, as it is written."""

    each: tuple[Relation, ...]
    number: Number | None = None


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


@dataclass(frozen=True)
class Spelling:
    """What names stand for, whether letters side by side are a product, and what "> 2550" is said of."""

    aliases: Mapping[str, str] | None = None
    letters: bool = False
    about: sp.Expr | None = None


Answer: TypeAlias = Number | Formula | Relations | Sent | Sizes | Word

#: A longer answer is none.
LONGEST = 2000
#: An answer of more relations is none.
MOST_RELATIONS = 20
WORDS = {"yes": "yes", "y": "yes", "true": "yes", "no": "no", "n": "no", "false": "no"}
WORDS |= {"always": "always", "never": "never", "none": "none", "nothing": "none"}
_WORD = re.compile(r"(\w+)\b[\s.,;:!–-]*(.*)", re.DOTALL)
_OTHER = re.compile(r"(?:and|or)\s+(?:yes|no)\b.*", re.IGNORECASE | re.DOTALL)
_ABOUT = re.compile(r"(?:≈|~|\\approx|\\sim|about|approximately|around|roughly|circa|ca\.?)\s*", re.IGNORECASE)
_KINDS = {"allgather": "AllGather", "ag": "AllGather", "reducescatter": "ReduceScatter", "rs": "ReduceScatter"}
_KINDS |= {"allreduce": "AllReduce", "ar": "AllReduce", "alltoall": "AllToAll", "a2a": "AllToAll"}
_KINDS |= {"permute": "Permute", "collectivepermute": "Permute", "ppermute": "Permute"}
_KIND = r"all[-_ ]?(?:gather|reduce|to[-_ ]?all)|reduce[-_ ]?scatter|(?:collective[-_ ]?|p)?permute|AG|RS|AR|A2A"
_AXES = rf"\w+(?:\s*,\s*(?!(?:{_KIND}|then|and)\b)\w+)*"
_OVER_AXES = rf"(?:over|along|on)\s+({_AXES})"
_COLLECTIVE = re.compile(
    rf"\s*({_KIND})\s*(?:_?\s*(\{{[\w, ]+\}}|(?-i:[A-Z]+(?:,[A-Z]+)*))(?![\w\[])|{_OVER_AXES})?"
    rf"\s*(?:\(\s*([^()]*?)\s*\)|(?:of\s+)?(?!over\b|and\b|then\b)(\w+\[[^\]]*\](?:\{{[^}}]*\}})?|\w+)?)\s*(?:{_OVER_AXES})?",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\s*([A-Za-z]\w*)\s*(?:=|:)\s*(-?\d[\d,_]*(?:\s*(?:\^|\*\*?)\s*\d+)*)\s*")
_NEXT_SIZE = re.compile(r"[,;]\s*(?=[A-Za-z])|\s+and\s+|×|\s+x\s+|\s+(?=[A-Z]\s*=)")
_SIDES = re.compile(
    r"(<<|>>|<=|>=|=<|=>|==|[≪≫≤≥⩽⩾]|\\(?:ll|gg|leqslant|geqslant|leq?|geq?)(?![A-Za-z])|\\lt|\\gt|<|>|=)"
)
_AND = re.compile(r"\s+and\s+|\s*;\s*|\s*,\s*(?=[A-Za-z\\][^,]*[<>=≤≥])|\\text\{ and \}|\s*∧\s*|\s*&&?\s*")
_LIKE_A_NUMBER = re.compile(r"[+-]?[\d.,_]+\s*[A-Za-zµμ$%][\w/ $%µμ]*")
_COUNTED = re.compile(
    r"\s+(?:token|chip|element|layer|byte|second|FLOP|sequence|param)s?"
    r"(?:\s*(?:per|/)\s*(?:chip|device|accelerator|[gt]pu|layer|sequence|step))?$",
    re.IGNORECASE,
)
_PROSE = re.compile(r"(?<![\\_{\w])(?!(?:sqrt|max|min|log|exp|ceil|floor|alpha|beta)\b)[a-z]{2,}(?![\w}])")
_ARITHMETIC = re.compile(r"((?:[\d\s.,^*/+(){}×·-]|(?<=\d)e(?=[\d+-]))*[\d)}])\s*([A-Za-zµ%$][\w/ µ%$]*)")
_OVER = re.compile(r"[\s)][/÷*×·]\s+(?=\(?\d)")
_AMOUNT = re.compile(rf"(?<![\w.^]){NUMBER}(?:\s+[A-Za-zµ%$]\w*|[A-Za-zµ]{{2,}})(?:/[A-Za-z]\w*)?(?![\w(])")
# 2 B may be twice a batch; 2 GB, and what is per second, are amounts
_AMOUNTS_ALONE = re.compile(r"\d\s*(?:[A-Za-zµ]\w*/s\b|[kMGTPmµun]i?[A-Za-z]\w*)")
_FRACTION = re.compile(r"(\w/\w+)\s+(?=\()")
_UPRIGHT = re.compile(r"\\(?:text|mathrm|operatorname)\{([^{}]*)\}")
_NOTHING = re.compile(r"no (?:communication|collectives?)|nothing is (?:sent|communicated)", re.IGNORECASE)
_DIGITS = re.compile(r"[+-]?(\d[\d,_ ]*(?:\{,\}\d+)*\.?\d*|\.\d+)")


def read_answer(
    text: str, aliases: Mapping[str, str] | None = None, *, letters: bool = False, about: sp.Expr | None = None
) -> Answer:
    """Return what a text answers; with `letters`, those side by side are a product; "> 2550" is said `about` something.

    Raises NotationError, with the place, where it is none of the kinds there are.
    """
    if len(text) > LONGEST:
        raise SymscaleError(f"An answer has {LONGEST:,} characters at most, and this has {len(text):,}.")
    plain = cleaned(text)
    if not plain:
        raise NotationError("there is no answer", text=text, position=0, hint="write C/W, 11.5 ms, B > 2550, yes …")
    signed = compared(plain)
    # no fewer than 2550 is no `no`
    said = None if signed[0] in "<>" else _word(plain)
    return said or _sent(plain) or _mesh(plain) or _stated(signed, Spelling(aliases, letters, about))


def _mesh(text: str) -> Sizes | None:
    """Return the mesh that a text such as "X=16, Y=4" writes, None where it is none, or one size alone."""
    parts = [_SIZE.fullmatch(part) for part in _NEXT_SIZE.split(text)]
    if len(parts) < 2 or not all(parts):
        return None
    sizes = [(part[1], _size(part[2], text)) for part in parts if part]
    if len(dict(sizes)) < len(sizes):
        raise NotationError("an axis has two sizes", text=text, position=0, hint="write each axis once: X=16, Y=4")
    return Sizes(dict(sizes))


def _size(written: str, text: str) -> int:
    size = parse_formula(re.sub(r"[,_]", "", written)).expr
    if size < 1:
        raise NotationError("a mesh axis has one chip at least", text=text, position=text.find(written))
    return int(size)


def _word(text: str) -> Word | None:
    if _NOTHING.fullmatch(text):
        return Word("none")
    match = _WORD.fullmatch(text)
    word = WORDS.get(match[1].lower()) if match else None
    # `N = 5`, `Y` and `y/2` are no words, and `no yes` is no answer
    if match is None or word is None or (len(match[1]) == 1 and (match[2] or match[1].isupper())):
        return None
    said = {WORDS.get(each.lower()) for each in re.findall(r"[A-Za-z]{2,}", match[2])}
    if match[2][:1] in tuple("=<>≤≥*/^") or _OTHER.fullmatch(match[2]) or {"yes", "no"} <= {word, *said}:
        return None
    return Word(word, match[2])


def _sent(text: str) -> Sent | None:
    found, at = [], 0
    text = _UPRIGHT.sub(r"\1", text)
    while at < len(text):
        match = _COLLECTIVE.match(text, at)
        if match is None or match.end() == at:
            return None
        found.append(_collective(match))
        at = match.end()
        rest = re.match(r"(?:[,;+]|->|→)?\s*(?:and\b|then\b)?\s*", text[at:])
        at += rest.end() if rest else 0
    return Sent(tuple(found)) if found else None


def _collective(match: re.Match[str]) -> tuple[str, tuple[str, ...], str]:
    kind = _KINDS[re.sub(r"[-_ ]", "", match[1]).lower()]
    written = match[2] or match[3] or match[6] or ""
    names = re.findall(r"\w+", written)
    axes = list(names[0]) if len(names) == 1 and names[0].isupper() else names
    return kind, tuple(axes), (match[4] or match[5] or "").strip()


def _stated(text: str, spelling: Spelling) -> Answer:
    """Return the number, the formula or the relations of a text."""
    relations: list[Relation] = []
    clauses = _clauses(text)
    for clause in clauses:
        pieces = _SIDES.split(clause)
        if len(pieces) == 1:
            if relations or len(clauses) > 1:
                raise NotationError("a relation needs a sign", text=text, position=text.find(clause))
            return _value(clause, text, spelling)
        for (left, sign), (right, _) in pairwise(zip(pieces[::2], [*pieces[1::2], ""], strict=True)):
            relations.append(_relation(left, sign, right, text, spelling))
            if len(relations) > MOST_RELATIONS:
                raise NotationError("these are too many relations", text=text, position=0, hint="write what matters")
    if len(relations) == 1 and relations[0].op == "==":
        return _equation(text, spelling)
    return Relations(tuple(relations), _alone(text, spelling) if len(relations) == 1 else None)


def _alone(text: str, spelling: Spelling) -> Number | None:
    """Return the number on one side of a relation."""
    sides = [each for each in _SIDES.split(text)[::2] if each.strip()]
    found = [_value(each, text, spelling) for each in sides]
    return next((each for each in found if isinstance(each, Number)), None)


def _clauses(text: str) -> list[str]:
    """Return the relations of a text: a comma between brackets separates arguments."""
    found, last = [], 0
    for match in _AND.finditer(text):
        inside = text[last : match.start()]
        if all(inside.count(left) == inside.count(right) for left, right in ("()", "[]", "{}")):
            found.append(inside)
            last = match.end()
    return [*found, text[last:]]


def _equation(text: str, spelling: Spelling) -> Answer:
    """Return what B/X = 2550 or T = b*V/W says, named; the side without a digit or a sign of a formula is the name."""
    left, _, right = _SIDES.split(text)
    name, value = (
        parse_formula(left, implicit=spelling.letters, aliases=spelling.aliases).expr,
        _value(right, text, spelling),
    )
    return replace(value, named=name)


def _relation(left: str, sign: str, right: str, text: str, spelling: Spelling) -> Relation:
    if sign in ("<<", ">>", "≪", "≫", "\\ll", "\\gg"):
        hint = "write > or >=, and the border"
        raise NotationError("how much is much is not said", text=text, position=text.find(sign), hint=hint)
    op = parse_relation(f"a {sign} b").op if sign not in ("=<", "=>") else {"=<": "<=", "=>": ">="}[sign]
    whole = left.strip() or spelling.about is None
    sides = [_side(left, text, spelling) if whole else spelling.about, _side(right, text, spelling)]
    return Relation(sides[0], "==" if op == "=" else op, sides[1])


def _side(part: str, text: str, spelling: Spelling) -> sp.Expr:
    found = _value(part, text, spelling)
    return found.value if isinstance(found, Number) else found.expr


def _value(part: str, text: str, spelling: Spelling) -> Number | Formula:
    """Return a number with its unit, or a formula; of two faults that of what it looks like is reported."""
    plain = part.strip()
    about = _ABOUT.match(plain)
    plain = plain[about.end() :] if about else plain
    if not plain:
        raise NotationError("a side of this is empty", text=text, position=max(text.find(part), 0))
    try:
        amount = parse_quantity(plain)
    except SymscaleError as unread:
        measured = _measured(plain)
        if measured is not None:
            return measured
        return _formula(_COUNTED.sub("", plain), spelling, unread if _LIKE_A_NUMBER.fullmatch(plain) else None)
    half, digit = _precision(plain, amount.value)
    return Number(amount.value, half, digit, amount.unit if amount.unit.word else None)


def _rate(plain: str) -> Number | None:
    """Return what products and quotients of quantities write: 459 TFLOP/s / 180 GB/s; None where it is none."""
    amounts: dict[sp.Symbol, Amount] = {}

    def named(match: re.Match[str]) -> str:
        amounts[symbol(f"q_{len(amounts) + 1}")] = parse_quantity(match[0])
        return f"(q_{len(amounts)})"

    try:
        expr = parse_formula(_AMOUNT.sub(named, plain)).expr
        value = expr.xreplace({name: each.value for name, each in amounts.items()})
        dimension = dimension_of(expr, {str(name): each.unit.dimension for name, each in amounts.items()})
    except SymscaleError:
        return None
    if not (value.is_number and value.is_real and value.is_finite):
        return None
    # FLOPs per byte count tokens, in the dtype that is meant
    unit = None if dimension in (PURE, PURE / parse_unit("B").dimension) else Unit(sp.S.One, dimension, str(dimension))
    return Number(value, abs(value) / 10**9, sp.S.Zero, unit)


def _measured(plain: str) -> Number | None:
    """Return what arithmetic with a unit behind it writes: 2^34 B, 16 * 2^30 bytes; None where it is none."""
    found = _rate(plain) if _OVER.search(plain) or _AMOUNTS_ALONE.search(plain) else None
    if found is not None:
        return found
    match = _ARITHMETIC.fullmatch(plain)
    try:
        unit = parse_unit(match[2]) if match else None
        value = parse_formula(match[1]).expr if match and unit is not None and unit.word else None
    except SymscaleError:
        return None
    if unit is None or value is None or not value.is_number:
        return None
    return Number(value * unit.factor, abs(value * unit.factor) / 10**9, sp.S.Zero, unit)


def _formula(plain: str, spelling: Spelling, unread: SymscaleError | None) -> Number | Formula:
    try:
        found = parse_formula(plain, implicit=spelling.letters, aliases=spelling.aliases).expr
    except NotationError as fault:
        if _PROSE.search(plain):
            raise (unread or fault) from None
        # C/W (X-1)/X is a product of fractions
        plain = _FRACTION.sub(r"\1*", plain)
        try:
            found = parse_formula(plain, implicit=True, aliases=spelling.aliases).expr
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
