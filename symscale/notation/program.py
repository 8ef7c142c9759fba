"""The grammar of programs: one line of sharded notation to a syntax tree.

    In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]
    H[B_X, F_Y] = silu(x[B_X, D] * W_g[D, F_Y]) .* (x * W_u[D, F_Y]); grad W_g[D_X, F_Y]

LaTeX spellings of the same forms (`\\text{In}[B_X, D] \\cdot_D W_\\text{in}[D_X, F]`) are tokens of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symscale.array import Axes
from symscale.errors import NotationError
from symscale.frozen import dataclass
from symscale.notation.formula_lexer import FUNCTIONS
from symscale.notation.lalr import lalr

if TYPE_CHECKING:
    from lark import Lark

MAX_LENGTH = 500_000
MAX_DEPTH = 60

_GRAMMAR = r"""
start: _SEP? statement (_SEP statement)* _SEP?
statement: sum                 -> bare
         | sum ARROW array     -> arrow
         | array EQUALS sum    -> define
?sum: product (PLUS product)*
?product: atom (MUL atom)*
?atom: array
     | NAME "(" sum ")"        -> call
     | "(" sum ")"             -> group
array: NAME+ ("[" dims "]")? FLAG*
dims: (dim ("," dim)*)?
dim: NAME (EQUALS NAME)?
ARROW: "->" | "→" | "⟶" | /\\(to|rightarrow|longrightarrow)(?![A-Za-z])/
EQUALS: "=" | ":="
PLUS: "+"
MUL: /(\.\*|⊙|\\odot(?![A-Za-z])|\*|·|⋅|×|\\cdot(?![A-Za-z])|\\times(?![A-Za-z]))(_(@SUB@))?/
NAME: /(\\(@FONT@)\{[A-Za-z][^{}\n]*\}|[A-Za-z][A-Za-z0-9]*)(_(@SUB@))*/
FLAG: /\\?\{\s*[A-Za-z][^{}\n]*(\{[^{}\n]*\})?\s*\\?\}/
_SEP: /(;|\n|\r|\\\\)(\s|;|\\\\)*/
%ignore /[ \t\f]+|\\[,;:! ]|\\(left|right)(?![A-Za-z])|\$|~|&/
"""

_FONT = "text|mathrm|mathbf|mathit|mathsf|textbf|textrm|operatorname"
# A subscript: a command, braces with at most one command level inside, or letters and digits.
_SUB = r"\\(FONT)\{[^{}\n]*\}|\{([^{}\n]|\\(FONT)\{[^{}\n]*\})*\}|[A-Za-z0-9]+".replace("FONT", _FONT)


@dataclass(frozen=True)
class ArrayNode:
    """An array as written: the words before the bracket, its dimensions (None: no bracket), its flags.

    `renames` has (T, S) for a dimension `S=T`: the T of the expression under the name S.
    """

    words: tuple[str, ...]
    dims: tuple[tuple[str, Axes], ...] | None
    owes: Axes
    flags: frozenset[str]
    position: int
    renames: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The last word."""
        return self.words[-1]


@dataclass(frozen=True)
class CallNode:
    """`f(x)` or `sum_D(x)`: the function, the dimensions in its subscript, the argument."""

    function: str
    dims: tuple[str, ...]
    argument: Node
    position: int


@dataclass(frozen=True)
class ProductNode:
    """`lhs * rhs`; `mark` lists the contracted dimensions of `*_D`, None where unmarked."""

    lhs: Node
    rhs: Node
    elementwise: bool
    mark: tuple[str, ...] | None
    position: int


@dataclass(frozen=True)
class SumNode:
    """`lhs + rhs`."""

    lhs: Node
    rhs: Node
    position: int


Node = ArrayNode | CallNode | ProductNode | SumNode


@dataclass(frozen=True)
class Statement:
    """`target = value`; without a target a declaration of the array `value`."""

    value: Node
    target: ArrayNode | None


def parse_program(text: str, axes: Collection[str] = ()) -> tuple[Statement, ...]:
    """Return the statements of a program.

    `axes` names mesh axes of more than one letter, so that `tokens_{DP}` is one axis and not D and P.
    Raises NotationError with a caret.
    """
    _guard(text)
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

    try:
        tree = _parser().parse(text)
    except UnexpectedEOF as error:
        raise NotationError("The program ends too early.", text=text, position=len(text)) from error
    except UnexpectedToken as error:
        raise _unexpected(text, error) from None
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        raise NotationError(
            f"The character {text[at]!r} has no meaning here.",
            text=text,
            position=at,
            hint="Write arrays as name[dim, dim_AXES], products with *, and the result as -> Out[...].",
        ) from None
    except UnexpectedInput as error:
        raise NotationError("The program could not be read.", text=text, position=error.pos_in_stream) from None
    return _Reader(text, frozenset(axes)).statements(tree)


def _guard(text: str) -> None:
    if not text.strip():
        raise NotationError("The program is empty.", hint='Write one, such as "In[B_X, D] * W[D, F] -> Out[B_X, F]".')
    if len(text) > MAX_LENGTH:
        raise NotationError(
            f"The program has {len(text):,} characters; at most {MAX_LENGTH:,} are read.",
            hint="Split it into several programs.",
        )
    depth = 0
    pairs = {")": "(", "]": "["}
    opened: list[tuple[str, int]] = []
    for match in re.finditer(r"[()\[\]]", text):
        mark, at = match.group(), match.start()
        if mark in pairs:
            if not opened or opened[-1][0] != pairs[mark]:
                raise NotationError(
                    f"This {mark!r} closes nothing.", text=text, position=at, hint="Remove it, or open it."
                )
            opened.pop()
            continue
        opened.append((mark, at))
        depth = max(depth, len(opened))
        if depth > MAX_DEPTH:
            raise NotationError(
                f"More than {MAX_DEPTH} nested brackets.", text=text, position=at, hint="Name a part of it."
            )
    if opened:
        mark, at = opened[-1]
        raise NotationError(f"This {mark!r} is never closed.", text=text, position=at, hint="Close it.")


_EXPECTED = {
    "NAME": "a name",
    "LSQB": "'['",
    "RSQB": "']'",
    "LPAR": "'('",
    "RPAR": "')'",
    "MUL": "'*'",
    "PLUS": "'+'",
    "ARROW": "'->'",
    "EQUALS": "'='",
    "COMMA": "','",
    "FLAG": "'{U_X}'",
    "_SEP": "';'",
    "$END": "the end",
}


def _unexpected(text: str, error: Any) -> NotationError:
    at = error.pos_in_stream
    ended = error.token.type == "$END"
    wanted = sorted(_EXPECTED[name] for name in error.expected if name in _EXPECTED)
    found = "The program ends" if ended else f"Found {str(error.token).strip() or 'a new line'!r}"
    return NotationError(
        f"{found} where {' or '.join(wanted) if wanted else 'something else'} is needed.",
        text=text,
        position=len(text) if ended or at is None else at,
        hint="A statement reads: In[B_X, D] * W[D, F] -> Out[B_X, F].",
    )


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return lalr("program", _GRAMMAR.replace("@SUB@", _SUB).replace("@FONT@", _FONT))


_TEXT = re.compile(rf"\\(?:{_FONT})\{{([^{{}}]*)\}}")
# An underscore before capitals or braces starts axes (of a dimension) or dimensions (of a function).
_SUBSCRIPT = re.compile(r"(?P<head>.+)_(?P<last>\{[^{}]*\}|[A-Z]+)")
_REDUCTION = re.compile(r"(?P<head>sum|max|softmax)_(?P<last>.+)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ELEMENTWISE = (".*", "⊙", r"\odot")


@dataclass(frozen=True)
class _Reader:
    text: str
    known: frozenset[str]

    def statements(self, tree: Any) -> tuple[Statement, ...]:
        return tuple(self.statement(child) for child in tree.children)

    def statement(self, tree: Any) -> Statement:
        parts = [child for child in tree.children if hasattr(child, "data")]
        if tree.data == "bare":
            return Statement(self.node(parts[0]), None)
        value, target = parts if tree.data == "arrow" else reversed(parts)
        return Statement(self.node(value), self.array(target))

    def node(self, tree: Any) -> Node:
        if tree.data == "array":
            return self.array(tree)
        if tree.data == "group":
            return self.node(tree.children[0])
        if tree.data == "call":
            name, argument = tree.children
            function, dims = self.function(name)
            return CallNode(function, dims, self.node(argument), name.start_pos)
        left = self.node(tree.children[0])
        for sign, right in zip(tree.children[1::2], tree.children[2::2], strict=True):
            left = self.binary(left, sign, self.node(right))
        return left

    def binary(self, left: Node, sign: Any, right: Node) -> Node:
        if sign.type == "PLUS":
            return SumNode(left, right, sign.start_pos)
        mark = _plain(str(sign)).partition("_")[2]
        elementwise = str(sign).startswith(_ELEMENTWISE)
        return ProductNode(left, right, elementwise, self.marks(mark) or None, sign.start_pos)

    def function(self, token: Any) -> tuple[str, tuple[str, ...]]:
        """Split `layer_norm_D` into the function and its dimensions."""
        name = _plain(str(token))
        found = _REDUCTION.fullmatch(name) or _SUBSCRIPT.fullmatch(name)
        if found is None:
            return self.checked(name, token), ()
        return self.checked(found["head"], token), self.marks(found["last"])

    def marks(self, text: str) -> tuple[str, ...]:
        text = text.strip("{}")
        if "," in text:
            return tuple(part for part in text.split(",") if part)
        return tuple(text) if text.isalpha() and text.isupper() else ((text,) if text else ())

    def array(self, tree: Any) -> ArrayNode:
        words = [child for child in tree.children if getattr(child, "type", "") == "NAME"]
        dims = next((child for child in tree.children if hasattr(child, "data")), None)
        marks = [self.flag(child) for child in tree.children if getattr(child, "type", "") == "FLAG"]
        if len(words) > 3:
            raise NotationError(
                f"{len(words)} words stand before one array.",
                text=self.text,
                position=words[1].start_pos,
                hint="Products need a * between the arrays.",
            )
        return ArrayNode(
            tuple(self.checked(_plain(str(word)), word) for word in words),
            None if dims is None else tuple(self.dim(child.children[0]) for child in dims.children),
            tuple(axis for owes, _ in marks for axis in owes),
            frozenset(keep for _, keep in marks if keep),
            words[0].start_pos,
            () if dims is None else tuple(self.renamed(child) for child in dims.children if len(child.children) > 1),
        )

    def renamed(self, tree: Any) -> tuple[str, str]:
        new, _, old = tree.children
        return self.size(_plain(str(old)), old), self.dim(new)[0]

    def flag(self, token: Any) -> tuple[Axes, str]:
        """Return the axes a mark owes a sum over, or the word it says."""
        inside = _plain(str(token)).removeprefix("{").removesuffix("}")
        if inside in ("freed", "saved"):
            return (), inside
        if inside.startswith("U_"):
            axes = tuple(axis for part in inside.split(",U_") for axis in self.axes(part.removeprefix("U_")))
            if axes:
                return tuple(self.checked(axis, token) for axis in axes), ""
        raise NotationError(
            f"The mark {{{inside}}} is not known.",
            text=self.text,
            position=token.start_pos,
            hint="Use {U_X} (owes a sum over X), {saved} or {freed}.",
        )

    def dim(self, token: Any) -> tuple[str, Axes]:
        name = _plain(str(token))
        head, _, last = name.rpartition("_")
        if head and last in self.known:
            return self.size(head, token), (self.size(last, token),)
        found = _SUBSCRIPT.fullmatch(name)
        if found is None:
            return self.size(name, token), ()
        axes = self.axes(found["last"])
        for axis in axes:
            self.size(axis, token)
        return self.size(found["head"], token), axes

    def size(self, name: str, token: Any) -> str:
        """Return the name of a dimension or mesh axis, which formulas must be able to name too."""
        name = self.checked(name, token)
        lowered = name.lower()
        if lowered in FUNCTIONS or lowered.startswith("log_"):  # log_2 is the logarithm to base 2
            raise NotationError(
                f"{name!r} is a function in formulas, so it can name no dimension or mesh axis.",
                text=self.text,
                position=token.start_pos,
                hint=f"Rename it, for example to d_{lowered}.",
            )
        return name

    def checked(self, name: str, token: Any) -> str:
        """Return a name without its braces if it is made of letters, digits and underscores."""
        name = name.replace("{", "").replace("}", "")
        if _NAME.fullmatch(name) is None:
            raise NotationError(
                f"{name!r} is no name.",
                text=self.text,
                position=token.start_pos,
                hint="Names are letters, digits and underscores, and start with a letter.",
            )
        return name

    def axes(self, text: str) -> Axes:
        text = text.strip("{}")
        if "," in text:
            return tuple(part for part in text.split(",") if part)
        if text in self.known or not (text.isalpha() and text.isupper()):
            return (text,) if text else ()
        return tuple(text)


def _plain(text: str) -> str:
    """Return a name with LaTeX commands removed: `W_\\text{in}` is `W_in`, `I_{\\text{data}}` is `I_{data}`."""
    return (_TEXT.sub(r"\1", text).replace("\\", "") if "\\" in text else text).replace(" ", "")
