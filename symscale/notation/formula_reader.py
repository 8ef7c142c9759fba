"""The grammar of formulas, and the walk from its parse tree to an expression."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import sympy as sp

from symscale.errors import NotationError
from symscale.notation import arithmetic
from symscale.notation.arithmetic import Part
from symscale.notation.formula_lexer import Tok
from symscale.notation.lalr import lalr
from symscale.notation.order import Order, arranged
from symscale.quantity.literal import number
from symscale.vocabulary import symbol

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

_TERMINALS = (
    "NUMBER NAME FUNC PLUS MINUS TIMES DIVIDE JUXT POW PERCENT LPAR RPAR LBRACE RBRACE COMMA "
    "FRAC ROOT NTHROOT LCEIL RCEIL LFLOOR RFLOOR"
)
GRAMMAR = """
?start: sum
?sum: product ((PLUS | MINUS) product)*
?product: unary ((TIMES | DIVIDE | JUXT) unary)*
?unary: MINUS unary -> negative
    | PLUS unary -> positive
    | power
?power: postfix
    | postfix POW unary -> power
?postfix: atom
    | atom PERCENT -> percent
?atom: NUMBER -> number
    | NAME -> name
    | LPAR sum RPAR -> group
    | group
    | FUNC LPAR sum (COMMA sum)* RPAR -> call
    | FUNC LBRACE sum RBRACE -> call
    | FRAC group group -> fraction
    | ROOT atom -> root
    | NTHROOT group -> root
    | LCEIL sum RCEIL -> ceil
    | LFLOOR sum RFLOOR -> floor
group: LBRACE sum RBRACE
""" + "".join(f"%declare {name}\n" for name in _TERMINALS.split())


class _Leaf(NamedTuple):
    """A token that no parser has seen."""

    value: str
    start_pos: int

    def __str__(self) -> str:
        return self.value


_HINTS = {
    "COMMA": "a comma separates arguments, as in max(a, b), or groups three digits, as in 28,672",
    "SEMI": "one formula at a time",
    "RPAR": "the brackets are empty, or an operator has no right side",
}


class Reader:
    """One text being read, with the order of terms noted on the way."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.terms: list[tuple[frozenset[str], ...]] = []
        self.sums: list[tuple[frozenset[str], str]] = []
        self.products: list[list[str]] = []

    def read(self, found: list[Tok], end: int) -> sp.Expr:
        """Return the expression that these tokens write."""
        if len(found) == 1 and found[0].kind in ("NUMBER", "NAME"):  # most settings; spares the grammar
            rule, leaf = found[0].kind.lower(), found[0]
            return self.whole(self.part(rule, [_Leaf(leaf.value, leaf.position)]))
        tree = self.tree(found, end)
        done: dict[int, Part] = {}
        # children come before parents, and no recursion: a deep formula must not exhaust the stack
        for node in tree.iter_subtrees():
            children = [done.pop(id(child)) if isinstance(child, type(tree)) else child for child in node.children]
            done[id(node)] = self.part(node.data, children)
        return self.whole(done[id(tree)])

    def tree(self, found: list[Tok], end: int) -> Tree[Token]:
        from lark import Token, UnexpectedToken

        parser = _parser().parse_interactive()
        try:
            for kind, value, position in found:
                parser.feed_token(Token(kind, value, position))
            return cast("Tree[Token]", parser.feed_token(Token("$END", "", end)))
        except UnexpectedToken as error:
            raise self.unexpected(error.token.type, error.token.value, error.token.start_pos) from None

    def unexpected(self, kind: str, value: str, position: int) -> NotationError:
        if kind == "$END":
            message = "a number or a name was expected here" if self.text.strip() else "the formula is empty"
            hint = "a formula looks like 2*B*D*F/C or max(a, b)"
        else:
            message, hint = f"`{value.strip() or 'a new line'}` was not expected here", _HINTS.get(kind, "")
        return NotationError(message, text=self.text or " ", position=position, hint=hint)

    def part(self, rule: str, children: list[Any]) -> Part:
        try:
            return _ACTIONS[rule](self, children)
        except RecursionError:
            raise NotationError("this is nested too deep", text=self.text, position=_position(children)) from None
        except NotationError as error:
            position = error.position if error.position is not None else _position(children)
            raise NotationError(error.message, text=self.text, position=position, hint=error.hint) from None

    def whole(self, part: Part) -> sp.Expr:
        try:
            return arithmetic.collapse(part)
        except NotationError as error:
            raise NotationError(error.message, text=self.text, position=part.position) from None

    def order(self, found: list[Tok]) -> Order:
        """Return the order of factors and terms of everything read so far."""
        names = arranged((token.value for token in found if token.kind == "NAME"), self.products)
        return Order(names, tuple(dict.fromkeys(self.terms)), tuple(dict.fromkeys(self.sums)))

    # the rules of the grammar

    def sum(self, children: list[Any]) -> Part:
        parts: list[Part] = []
        sign = "PLUS"
        for child in children:
            if isinstance(child, Part):
                parts.append(arithmetic.negative(child) if sign == "MINUS" else child)
            else:
                sign = child.type
        self.terms.append(tuple(_names(part) for part in parts))
        return arithmetic.total(parts)

    def product(self, children: list[Any]) -> Part:
        parts = [children[0]]
        before = "TIMES"
        for sign, part in zip(children[1::2], children[2::2], strict=True):
            kind = sign.type
            if kind == "JUXT" and before == "DIVIDE":
                raise NotationError(
                    "it is not clear how far this denominator reaches",
                    position=parts[-1].position,
                    hint="write a/(b*c) or a/b*c",
                )
            self.note_sum(parts[-1], part)
            parts.append(arithmetic.inverse(part) if kind == "DIVIDE" else part)
            before = "DIVIDE" if kind == "DIVIDE" or (kind == "JUXT" and before == "DIVIDE") else "TIMES"
        part = arithmetic.product(parts)
        self.note_factors(part)
        return part

    def note_factors(self, part: Part) -> None:
        above: list[str] = []
        below: list[str] = []
        for factor in part.factors:
            base, exponent = factor.as_base_exp()
            if base.is_Symbol and exponent.is_Integer:  # roots stand last wherever they were written
                (below if exponent.is_negative else above).append(base.name)
        self.products += [above, below]

    def note_sum(self, left: Part, right: Part) -> None:
        last, first = left.factors[-1], right.factors[0]
        if last.is_Add and first.is_Symbol:
            self.sums.append((frozenset(s.name for s in last.free_symbols), first.name))


def _position(children: list[Any]) -> int:
    first = children[0]
    return first.position if isinstance(first, Part) else int(first.start_pos)


def _names(part: Part) -> frozenset[str]:
    return frozenset(s.name for factor in part.factors for s in factor.free_symbols)


def _parts(children: list[Any]) -> list[Part]:
    return [child for child in children if isinstance(child, Part)]


def _leaf(expr: sp.Expr, children: list[Any]) -> Part:
    return Part((expr,), _position(children))


def _root(children: list[Any]) -> Part:
    sign, (inside,) = children[0], _parts(children)
    degree = int(sign) if sign.type == "NTHROOT" else 2
    if degree == 0:
        raise NotationError("there is no zeroth root")
    return arithmetic.power(inside, Part((sp.Rational(1, degree),), _position(children)))


def _call(reader: Reader, children: list[Any]) -> Part:
    if str(children[0]) in ("max", "min"):
        reader.terms.append(tuple(_names(part) for part in _parts(children)))
    return arithmetic.call(str(children[0]), _parts(children), _position(children))


_ACTIONS: dict[str, Callable[[Reader, list[Any]], Part]] = {
    "sum": Reader.sum,
    "product": Reader.product,
    "negative": lambda _, children: arithmetic.negative(_parts(children)[0])._replace(position=_position(children)),
    "positive": lambda _, children: _parts(children)[0],
    "power": lambda _, children: arithmetic.power(*_parts(children)),
    "percent": lambda _, children: arithmetic.product([*_parts(children), _leaf(sp.Rational(1, 100), children)]),
    "number": lambda _, children: _leaf(number(str(children[0])), children),
    "name": lambda _, children: _leaf(symbol(str(children[0])), children),
    "group": lambda _, children: _parts(children)[0],
    "call": _call,
    "fraction": lambda _, children: arithmetic.product([_parts(children)[0], arithmetic.inverse(_parts(children)[1])]),
    "root": lambda _, children: _root(children),
    "ceil": lambda _, children: arithmetic.call("ceil", _parts(children), _position(children)),
    "floor": lambda _, children: arithmetic.call("floor", _parts(children), _position(children)),
}


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return lalr("formula", GRAMMAR)
