"""The values a program has so far, and what an array written in it means: a new leaf, a known value, or one moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from symscale.array import Layout, Move, Operation, Rename, Value, canonical_dtype, validate
from symscale.errors import LayoutError
from symscale.frozen import dataclass
from symscale.notation import implicit
from symscale.notation.program import ArrayNode

DECLARATIONS = ("grad", "state", "const", "weight", "activation")


@dataclass(frozen=True)
class Words:
    """The words in front of a bracket: `const int8 W`."""

    declaration: str
    dtype: str | None
    name: str


class Scope:
    """The values and operations read so far; every statement adds to them."""

    def __init__(self, text: str, taken: frozenset[str]) -> None:
        self.text = text
        self.taken = taken  # the names the user gives: those made up here keep clear of them
        self.values: dict[str, Value] = {}
        self.operations: list[Operation] = []
        self.current: dict[str, str] = {}  # a name as written -> the value it means now
        self.leaves: dict[str, int] = {}  # a leaf -> where it is written first
        self.axes: dict[str, int] = {}  # a mesh axis -> where it is written first
        self.roles: dict[str, str] = {}  # a leaf -> its declared role
        self.again: dict[str, str] = {}
        self._moved: dict[tuple[str, Layout], str] = {}
        self._count: Counter[str] = Counter()

    def array(self, node: ArrayNode) -> str:
        """Return the value that an array in an expression means: a new leaf, a known one, or one moved."""
        words = self.words(node, "")
        if words.declaration in ("grad", "state"):
            raise self.wrong(
                f"{words.declaration} is a statement of its own.",
                node.position,
                f"Write it after this one: ; {words.declaration} {words.name}[...]",
            )
        if node.renames:
            (old, new), *_ = node.renames
            raise self.wrong(
                f"{new}={old} gives a dimension another name, and {words.name} is no result here.",
                node.position,
                f"Write it in the result of a statement: {words.name}[..., {new}={old}] = ...",
            )
        layout = self.layout(node, words.name)
        found = self.known(node, words, layout) if words.name in self.current else self.leaf(node, words, layout)
        if words.declaration:
            self.role(node, words.declaration, found)
        return found

    def leaf(self, node: ArrayNode, words: Words, layout: Layout | None) -> str:
        """Note a new leaf."""
        name = words.name
        if layout is None:
            raise self.wrong(
                f"{name} is used before its dimensions are known.", node.position, f"Write them: {name}[B, D]."
            )
        self.values[name] = Value(name, layout.dims, layout, words.dtype, "weight", self.keep(node))
        self.current[name] = name
        self.leaves[name] = node.position
        return name

    def known(self, node: ArrayNode, words: Words, layout: Layout | None) -> str:
        """Return a known value in the layout that this use states."""
        value = self.values[self.current[words.name]]
        if words.dtype not in (None, value.dtype):
            if value.dtype is not None:
                raise self.wrong(
                    f"{words.name} is {value.dtype}, here it is {words.dtype}.", node.position, "Write it once."
                )
            value = replace(value, dtype=words.dtype)
        if layout is not None:
            self.same_dims(node, words.name, layout.dims)
            # a result without a layout has the first one that is stated for it
            value = replace(value, layout=value.layout or layout)
        if node.flags:
            value = replace(value, keep=self.keep(node))
        self.values[value.name] = value
        if layout is None or value.layout is None or alike(layout, value.layout):
            return value.name
        return self.move(value, layout)

    def move(self, value: Value, layout: Layout) -> str:
        """Return `value` in another layout: one move, however often it is used there."""
        layout = Layout(value.dims, tuple(layout.of(dim) for dim in value.dims), layout.owes)
        key = (value.name, layout)
        if key not in self._moved:
            self._moved[key] = self.make(Move(self.hidden(), value.name), value.dims, layout)
        return self._moved[key]

    def rename(self, target: ArrayNode, name: str, made: str) -> str:
        """Return a value with the dimensions that a result gives other names, `K[S=T, H] = ...`."""
        dims = self.values[made].dims
        for old, new in target.renames:
            if old not in dims or new in dims:
                there = f"has no {old}" if old not in dims else f"has {new} already"
                raise self.wrong(
                    f"{name} calls {old} by the name {new}, but the expression {there}: it has {listed(dims)}.",
                    target.position,
                    "Write new=old for a dimension of the expression, such as K[B, S=T, H].",
                )
            self.again[new] = self.again.get(old, old)
        names = dict(target.renames)
        return self.make(Rename(self.hidden(), made, target.renames), tuple(names.get(dim, dim) for dim in dims), None)

    def same_dims(self, node: ArrayNode, name: str, dims: tuple[str, ...]) -> None:
        """Raise if an array has other dimensions than it had before."""
        known = self.values[self.current[name]].dims
        if set(known) != set(dims):
            raise self.wrong(
                f"{name} has the dimensions {listed(known)}, here it has {listed(dims)}.",
                node.position,
                "One name is one array: rename one of them.",
            )

    def words(self, node: ArrayNode, default: str) -> Words:
        """Return the declaration, the dtype and the name of an array; `default` names an anonymous one."""
        *front, name = node.words
        declaration = front.pop(0) if front and front[0] in DECLARATIONS else ""
        kind = canonical_dtype(front[0]) if len(front) == 1 else None
        if front and kind is None:
            raise self.wrong(
                f"{front[0]!r} is no dtype and no declaration.",
                node.position,
                f"Use a dtype such as bf16 or int8, or one of {', '.join(DECLARATIONS)}; products need a *.",
            )
        alone = None if front or node.dims is None else canonical_dtype(name)
        if alone is not None:
            return Words(declaration, alone, default or self.anonymous())
        return Words(declaration, kind, name)

    def layout(self, node: ArrayNode, name: str) -> Layout | None:
        """Return the layout written in brackets, or None."""
        if node.dims is None:
            if node.owes:
                raise self.wrong(f"{name} owes a sum here, and so needs its dimensions.", node.position)
            return None
        layout = Layout(tuple(d for d, _ in node.dims), tuple(a for _, a in node.dims)).owing(node.owes)
        if len(set(layout.owes)) < len(layout.owes):
            raise self.wrong(f"{name}{layout} owes a sum twice over one axis.", node.position, "Write it once.")
        try:
            validate(layout, name)
        except LayoutError as error:
            raise self.wrong(error.message, node.position, error.hint) from None
        for axis in implicit.axes_of((layout,)):
            self.axes.setdefault(axis, node.position)
        return layout

    def keep(self, node: ArrayNode) -> bool | None:
        """Return True for `{saved}`, False for `{freed}`."""
        if len(node.flags) > 1:
            raise self.wrong(f"{node.name} cannot be both saved and freed.", node.position, "Keep one of the marks.")
        return "saved" in node.flags if node.flags else None

    def role(self, node: ArrayNode, word: str, name: str) -> None:
        """Note what a declaration says about a leaf."""
        if name not in self.leaves:
            raise self.wrong(
                f"{word} {name} speaks of a result; {word} declares an input.", node.position, f"Remove {word}."
            )
        if word == "const":
            self.values[name] = replace(self.values[name], const=True)
        else:
            self.roles[name] = word

    def make(self, operation: Operation, dims: Iterable[str], layout: Layout | None = None) -> str:
        """Append an operation and return the name of its result."""
        self.operations.append(operation)
        self.values[operation.out] = Value(operation.out, tuple(dims), layout)
        return operation.out

    def hidden(self) -> str:
        """Return a name for an intermediate until all names are known."""
        self._count[implicit.HIDDEN] += 1
        return f"{implicit.HIDDEN}{self._count[implicit.HIDDEN]}"

    def anonymous(self) -> str:
        """Return A1, A2, …"""
        self._count["A"] += 1
        name = f"A{self._count['A']}"
        return self.anonymous() if name in self.taken else name

    def free(self, name: str) -> str:
        """Return `name`, or name_2, name_3, … where it already means another value."""
        if name not in self.values:
            return name
        number = self._count[f"{name}_"] or 1
        while True:
            number += 1
            found = f"{name}_{number}"
            if found not in self.values and found not in self.taken:
                self._count[f"{name}_"] = number
                return found

    def wrong(self, message: str, position: int, hint: str = "") -> LayoutError:
        """Return an error with a caret."""
        return LayoutError(message, text=self.text, position=position, hint=hint)


def alike(one: Layout, two: Layout) -> bool:
    """Tell whether two layouts of the same dimensions differ in the order of the dimensions only."""
    return one.owes == two.owes and dict(one.items()) == dict(two.items())


def listed(dims: Iterable[str]) -> str:
    """Return dimensions as an array shows them."""
    return "[" + ", ".join(dims) + "]"
