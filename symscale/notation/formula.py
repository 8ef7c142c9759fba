"""Formulas: text -> sympy, through our own grammar and never through eval.

Every identifier is a positive symbol (`E`, `I`, `N`, `S`, `beta`, `lambda` too), every number is exact, and
every input is bounded in length, depth, digits and exponents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

import sympy as sp

from symscale.errors import NotationError, SymscaleError
from symscale.frozen import dataclass
from symscale.notation.formula_lexer import LIMITS, RELATIONS, Tok, check_length, tokens
from symscale.notation.formula_reader import Reader
from symscale.notation.order import Order
from symscale.quantity.literal import GROUPED, NUMBER
from symscale.quantity.unit import parse_quantity, parse_unit
from symscale.vocabulary import entry

_MAX_RANGE = 10_000
_MAX_BITS = 2_000


@dataclass(frozen=True)
class Formula:
    """An expression and the order of factors and terms it was written in."""

    expr: sp.Expr
    order: Order


class Relation(NamedTuple):
    """`lhs op rhs` with op one of `<`, `<=`, `>`, `>=`, `=`."""

    lhs: sp.Expr
    op: str
    rhs: sp.Expr
    order: Order


class Limit(NamedTuple):
    """`small` is negligible against each of `large`: `B << D, F`."""

    small: sp.Expr
    large: tuple[sp.Expr, ...]


def parse_formula(text: str, *, implicit: bool = False, aliases: Mapping[str, str] | None = None) -> Formula:
    r"""Return the expression that `text` writes, and its order.

    `2*B*D*F/C`, `max(a, b)`, `\frac{C}{W_\text{ici}}`, `28,672`, `2^10`, `40%`; `2BDF` with `implicit`.
    `aliases` maps a written name to the canonical one. Raises NotationError with the place and a way out.
    """
    found = tokens(text, implicit=implicit, aliases=aliases)
    for token in found:
        if token.kind in RELATIONS or token.kind in LIMITS:
            raise NotationError("a formula was expected, not a relation", text=text, position=token.position)
    reader = Reader(text)
    return Formula(reader.read(found, len(text)), reader.order(found))


def parse_relation(text: str, *, implicit: bool = False, aliases: Mapping[str, str] | None = None) -> Relation:
    r"""Return both sides of `T_math >= T_comms` and the sign between them (`\geq`, `≥`, `==` are read too).

    Raises NotationError if there is no sign or more than one.
    """
    found = tokens(text, implicit=implicit, aliases=aliases)
    signs = [index for index, token in enumerate(found) if token.kind in RELATIONS]
    if not signs:
        raise NotationError(
            "a relation needs a sign",
            text=text,
            position=len(text),
            hint="one of < <= > >= =, as in T_math >= T_comms",
        )
    if len(signs) > 1:
        position = found[signs[1]].position
        raise NotationError(
            "a relation has one sign, not a chain", text=text, position=position, hint="write two relations"
        )
    middle, reader = signs[0], Reader(text)
    left = reader.read(found[:middle], found[middle].position)
    right = reader.read(found[middle + 1 :], len(text))
    return Relation(left, found[middle].kind, right, reader.order(found))


def parse_limits(text: str, *, aliases: Mapping[str, str] | None = None) -> list[Limit]:
    r"""Return the limits of `B << D, F; X >> 1`; `≪` and `\ll` are read too.

    Raises NotationError for a statement without exactly one `<<` or `>>`.
    """
    found = tokens(text, listing=True, aliases=aliases)
    return [limit for part in _split(found, "SEMI") if part for limit in _limits(part, text)]


def _limits(part: list[Tok], text: str) -> Iterator[Limit]:
    signs = [index for index, token in enumerate(part) if token.kind in LIMITS]
    if len(signs) != 1:
        place = part[signs[1]].position if signs else part[0].position
        message = "a limit has one sign, not a chain" if signs else "a limit needs a sign << or >>"
        raise NotationError(message, text=text, position=place, hint="write B << D, F; X >> 1")
    middle = signs[0]
    end = part[-1].position + len(part[-1].value)
    left = _members(part[:middle], text, part[middle].position)
    right = _members(part[middle + 1 :], text, end)
    small, large = (left, right) if part[middle].kind == "<<" else (right, left)
    for expr in small:
        yield Limit(expr, tuple(large))


def _members(part: list[Tok], text: str, end: int) -> list[sp.Expr]:
    return [Reader(text).read(member, end) for member in _split(part, "COMMA")]


def _split(found: list[Tok], kind: str) -> list[list[Tok]]:
    """Split a list of tokens at every `kind` outside brackets."""
    parts: list[list[Tok]] = [[]]
    depth = 0
    for token in found:
        depth += token.kind in ("LPAR", "LBRACE") or -(token.kind in ("RPAR", "RBRACE"))
        if token.kind == kind and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


# patterns compiled where used: most commands assign nothing
_ASSIGNED = r"(?:^|[,;\n])\s*([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)\s*=(?!=)"
_AMOUNT = rf"\s*[+-]?(?:{GROUPED}|{NUMBER})\s*[A-Za-zµμ$].*"


def parse_assignments(
    text: str, *, aliases: Mapping[str, str] | None = None, counts: bool = False
) -> dict[str, sp.Expr]:
    """Return what `D=8192, F=4*D, W_ici=180 GB/s, T=128k` assigns, in base units (byte, second).

    k is 1000 and Ki is 1024; with `counts`, a name that has no unit in the vocabulary takes none. Raises
    NotationError for a name assigned twice, a value that is no formula, and a unit that the name does not have.
    """
    check_length(text)
    marks = list(re.finditer(_ASSIGNED, text))
    lead = text[: marks[0].start()] if marks else text
    if lead.strip():
        raise NotationError("an assignment was expected here", text=text, position=0, hint="as in D=8192, F=4*D")
    values: dict[str, sp.Expr] = {}
    for mark, following in zip_longest(marks, marks[1:]):
        name = (aliases or {}).get(mark[1], mark[1])
        if name in values:
            raise NotationError(f"`{name}` is assigned twice", text=text, position=mark.start(1))
        stop = following.start() if following else len(text.rstrip(" \t\n,;"))
        values[name] = _value(text, mark.end(), stop, aliases, name, counts)
    return values


def _value(text: str, start: int, stop: int, aliases: Mapping[str, str] | None, name: str, counts: bool) -> sp.Expr:
    if re.compile(_AMOUNT).fullmatch(text, start, stop):
        return _amount(text, start, stop, name, counts)
    found = tokens(text, start=start, stop=stop, aliases=aliases)
    return Reader(text).read(found, stop)


def _amount(text: str, start: int, stop: int, name: str = "", counts: bool = False) -> sp.Rational:
    """Return `128k` or `180 GB/s`; errors point into the whole text."""
    position = start + len(text[start:stop]) - len(text[start:stop].lstrip())
    try:
        found = parse_quantity(text[start:stop])
    except SymscaleError as error:
        hint = "; ".join(filter(None, [error.hint, "a product is written with *"]))
        raise NotationError(error.message, text=text, position=position, hint=hint) from None
    row = entry(name)
    unit = row.unit if row is not None else ""
    counted = counts and name.partition("_")[0] not in ("b", "C", "W")
    if found.unit.dimension and (unit or counted) and found.unit.dimension != parse_unit(unit).dimension:
        wanted = f"is in {unit}" if unit else "is a pure number"
        message, hint = f"{name} {wanted}, and this is in {found.unit.word}", "write a number, or one with that unit"
        raise NotationError(message, text=text, position=position, hint=hint)
    return found.value


def parse_range(text: str, name: str = "") -> tuple[sp.Rational, ...]:
    """Return the values of `1k:1M:*2` (geometric), `8:64:8` (arithmetic, both ends included) or `1k, 2k, 8k`.

    `name` is what takes the values: they have its unit, or none. Raises NotationError for more than 10,000 values, a
    step that never arrives, and another unit.
    """
    check_length(text)
    if ":" not in text:
        pieces = list(re.finditer(r"[^,;]+", text))
        if not pieces:
            raise NotationError("a range is empty", text=text or " ", position=0, hint="as in 1k:1M:*2")
        return tuple(_amount(text, piece.start(), piece.end(), name, bool(name)) for piece in pieces)
    pieces = list(re.finditer(r"[^:]+", text))
    if len(pieces) not in (2, 3) or len(pieces) != text.count(":") + 1:
        raise NotationError("a range is start:stop:step", text=text, position=text.index(":"), hint="as in 1k:1M:*2")
    first, last = (_amount(text, piece.start(), piece.end(), name, bool(name)) for piece in pieces[:2])
    return _steps(text, first, last, pieces[2] if len(pieces) == 3 else None)


def _steps(text: str, first: sp.Rational, last: sp.Rational, piece: re.Match[str] | None) -> tuple[sp.Rational, ...]:
    sign = re.compile(r"\s*(\*?)\s*").match(text, piece.start()) if piece else None
    step = _amount(text, sign.end(), piece.end()) if piece and sign else sp.S.One
    geometric = bool(sign and sign[1])
    position = piece.start() if piece else 0
    if first > last or step <= int(geometric) or (geometric and first <= 0):
        hint = "start <= stop; a step is positive, a factor (*2) above one"
        raise NotationError("this range never arrives", text=text, position=position, hint=hint)
    values: list[sp.Rational] = []
    value = first
    while value <= last:
        values.append(value)
        # an odd factor has ever more digits, and so many of them that no table shows them
        if len(values) > _MAX_RANGE or value.q.bit_length() > _MAX_BITS:
            hint = "widen the step, or take a simpler factor such as *2"
            raise NotationError(f"a range has at most {_MAX_RANGE:,} values", text=text, position=position, hint=hint)
        value = value * step if geometric else value + step
    return tuple(values)
