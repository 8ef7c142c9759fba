"""Text of a module, read from left to right: names, shapes, layouts, and what stands between brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from symscale.errors import NotationError
from symscale.hlo.module import Tree
from symscale.hlo.shape import BITS, MERGED, Shape
from symscale.machine.model import did_you_mean

LARGEST = 2**53  # elements of an array: no memory has more
MOST_DIMS = 32
_NAME = re.compile(r"%?([\w.\-]+)")
_DTYPE = re.compile(r"[a-z]\w*")
_DIMS = re.compile(r"\[\s*((?:<=)?[\d?]+(?:\s*,\s*(?:<=)?[\d?]+)*)?\s*\]")
_ORDER = re.compile(r"\{\s*((?:\d+\s*(?:,\s*\d+\s*)*)?)(?::([^{}]*(?:\{[^{}]*\}[^{}]*)*))?\}")
_PART = re.compile(r"([A-Z#*])?\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_BRACKET = re.compile(r'[()\[\]{}"]')
_SPACE = re.compile(r"(?:\s|//[^\n]*)*")
_CLOSES = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Scanner:
    """A text and how far it is read."""

    text: str
    at: int = 0

    def fail(self, message: str, hint: str, at: int | None = None) -> NotationError:
        """Return an error with a caret at a place of the text."""
        return NotationError(message, text=self.text, position=self.at if at is None else at, hint=hint)

    def space(self) -> None:
        """Skip blanks, ends of lines and comments."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self, word: str) -> bool:
        """Read a word if it comes next."""
        self.space()
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def need(self, word: str, after: str) -> None:
        """Read a word that has to come next. Raises NotationError."""
        if not self.take(word):
            raise self.fail(
                f"{word!r} was expected after {after}, and {self.next!r} was found.",
                "A line reads: %name = bf16[8,128]{1,0} dot(%x, %W), lhs_contracting_dims={1}, ….",
            )

    @property
    def next(self) -> str:
        """What comes next, for an error."""
        rest = self.text[self.at : self.at + 20].split("\n")[0].strip()
        return rest or "the end of the line"

    def name(self, what: str) -> str:
        """Read a name, without its %. Raises NotationError."""
        self.space()
        found = _NAME.match(self.text, self.at)
        if found is None:
            raise self.fail(f"{what} was expected, and {self.next!r} was found.", "Names read like %fusion.3 or dot.1.")
        self.at = found.end()
        return found[1]

    def closing(self, start: int) -> int:
        """Return where the bracket at `start` closes; quoted text counts for nothing. Raises NotationError."""
        open_, at = [start], start + 1
        while open_:
            found = _BRACKET.search(self.text, at)
            if found is None:
                raise self.fail(
                    f"{self.text[open_[-1]]!r} is never closed.", "Close it, or paste the whole line.", open_[-1]
                )
            at = found.end()
            if found[0] == '"':
                at = self.quoted(found.start())
            elif found[0] in _CLOSES:
                open_.append(found.start())
                if len(open_) > 200:
                    raise self.fail("Brackets are nested more than 200 deep.", "No module is.", found.start())
            elif found[0] != _CLOSES[self.text[open_[-1]]]:
                opener = self.text[open_[-1]]
                raise self.fail(
                    f"{found[0]!r} stands where {_CLOSES[opener]!r} closes {opener!r}.", "Mend it.", found.start()
                )
            else:
                open_.pop()
        return at - 1

    def quoted(self, start: int) -> int:
        """Return the place behind a text in quotes. Raises NotationError."""
        found = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL).match(self.text, start)
        if found is None:
            raise self.fail("'\"' is never closed.", "Close the quotes.", start)
        return found.end()

    def shape(self) -> Tree:
        """Read a shape: an array, or a tuple of shapes. Raises NotationError."""
        self.space()
        if not self.take("("):
            return self.array()
        start, parts = self.at - 1, list[Tree]()
        end = self.closing(start)
        while not self.take(")"):
            parts.append(self.shape())
            if not self.take(",") and not self.text.startswith(")", self.at):
                raise self.fail(f"',' or ')' was expected in a tuple, and {self.next!r} was found.", "(f32[2], s32[])")
        self.at = end + 1
        return tuple(parts)

    def array(self) -> Shape:
        """Read the shape of an array with its layout. Raises NotationError."""
        start = self.at
        found = _DTYPE.match(self.text, self.at)
        if found is None:
            raise self.fail(f"A shape was expected, and {self.next!r} was found.", "Shapes read like bf16[8,128]{1,0}.")
        if found[0] not in BITS:
            raise self.fail(
                f"Unknown dtype {found[0][:20]!r}.", f"HLO has {', '.join(BITS)}.{did_you_mean(found[0], BITS)}"
            )
        self.at = found.end()
        dims = self.dims(found[0])
        order, tiles, space, bits = self.layout(dims)
        shape = Shape(found[0], dims, order, tiles, space, bits or BITS[found[0]])
        if shape.elements > LARGEST:
            raise self.fail("This array has more elements than any memory.", "At most 2^53.", start)
        return shape

    def dims(self, dtype: str) -> tuple[int, ...]:
        """Read `[8,128]`; a bound such as `<=8` counts as the size. Raises NotationError."""
        if not self.text.startswith("[", self.at) and BITS[dtype] == 0:
            return ()
        found = _DIMS.match(self.text, self.at)
        if found is None or "?" in found[0] or len(found[0]) > 600:
            raise self.fail(
                f"Sizes in brackets were expected after {dtype}, and {self.next!r} was found.",
                "Write whole numbers: bf16[8,128], or f32[] for a scalar.",
            )
        self.at = found.end()
        words = [each.strip().removeprefix("<=") for each in (found[1] or "").split(",")] if found[1] else []
        if len(words) > MOST_DIMS or any(len(each) > 18 for each in words):
            raise self.fail("These are no sizes of an array.", "At most 32 dimensions of 18 digits.", found.start())
        return tuple(map(int, words))

    def layout(self, dims: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...], int, int]:
        """Read `{1,0:T(8,128)(2,1)S(1)}`: order, tiles, memory space, bits of an element. Raises NotationError."""
        usual = tuple(reversed(range(len(dims))))
        if not self.text.startswith("{", self.at):
            return usual, (), 0, 0
        start, end = self.at, self.closing(self.at)
        found = _ORDER.fullmatch(self.text, start, end + 1)
        order = tuple(int(each) for each in found[1].split(",") if each.strip()) if found else ()
        if found is None or sorted(order) != sorted(usual):
            said = ",".join(map(str, usual))
            raise self.fail(
                f"The layout does not order {len(dims)} dimensions.",
                f"It names each once, from minor to major: {{{said}}} where the last one is contiguous.",
                start,
            )
        self.at = end + 1
        return order, *self.parts(found[2] or "", found.start(2))

    def parts(self, text: str, start: int) -> tuple[tuple[tuple[int, ...], ...], int, int]:
        """Read what follows the order in a layout: tiles T(…)(…), space S(n), bits E(n); other parts are skipped."""
        tiles, space, bits, kind, at = [], 0, 0, "", 0
        while at < len(text):
            found = _PART.match(text, at)
            if found is None:
                raise self.fail(
                    "This part of a layout is not known.", "Parts read T(8,128)(2,1), S(1), E(4).", start + at
                )
            kind = found[1] or kind
            if kind == "T":
                tiles.append(self.tile(found[2], start + found.start(2)))
            elif kind in "SE" and found[2].isdigit() and len(found[2]) < 4:
                space, bits = (int(found[2]), bits) if kind == "S" else (space, int(found[2]))
            at = found.end()
        return tuple(tiles), space, bits

    def tile(self, text: str, at: int) -> tuple[int, ...]:
        """Read `8,128` of a tile; `*` merges a dimension with the next. Raises NotationError."""
        words = [each.strip() for each in text.split(",")]
        if not all(each == "*" or (each.isdigit() and 0 < len(each) < 10 and int(each)) for each in words):
            raise self.fail(f"({text[:20]}) is no tile.", "Sizes from 1, as in T(8,128).", at)
        found = tuple(MERGED if each == "*" else int(each) for each in words)
        if found[-1] == MERGED:
            raise self.fail(f"({text[:20]}) ends in *.", "The innermost size of a tile is a number.", at)
        return found
