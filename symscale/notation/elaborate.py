"""From syntax to program: statements, declarations, and what is checked when all are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.array import Layout, Move, Program, Value
from symscale.errors import NotationError
from symscale.notation import implicit
from symscale.notation.expression import Reader, stars
from symscale.notation.program import ArrayNode, CallNode, Node, Statement, parse_program
from symscale.notation.scope import Scope, Words, alike, listed


def elaborate(
    text: str, *, mesh: Mapping[str, sp.Expr] | None = None, sizes: Mapping[str, sp.Expr] | None = None
) -> Program:
    """Return the program that a text denotes.

    `mesh` gives sizes of mesh axes, `sizes` of dimensions; the others are symbols of their names. In a statement with
    one `*` and a declared result, a shared dimension contracts iff the result lacks it; in a chain an unmarked `*`
    contracts the one dimension it shares with the value to its left. Raises NotationError, LayoutError with a caret.
    """
    statements = parse_program(text, mesh or {})
    reading = _Reading(Scope(text, frozenset(_names(statements))))
    for statement in statements:
        reading.statement(statement)
    return reading.program(mesh or {}, sizes or {})


class _Reading:
    """The statements read so far."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.grads: dict[str, Layout] = {}
        self.states: dict[str, Layout] = {}

    def statement(self, each: Statement) -> None:
        """Read one statement."""
        if each.target is None:
            self.declare(each.value)
            return
        scope, target = self.scope, each.target
        words = scope.words(target, "Out")
        if words.declaration:
            raise scope.wrong(
                f"{words.declaration} declares an array; it is not part of a result.",
                target.position,
                f"Write it as a statement of its own: ; {words.declaration} {words.name}[...]",
            )
        layout = scope.layout(target, words.name)
        first = len(scope.operations)
        old = {new: old for old, new in target.renames}
        dims = None if layout is None else frozenset(old.get(dim, dim) for dim in layout.dims)
        made = Reader(scope, stars(each.value) > 1, dims).value(each.value)
        if target.renames:
            made = scope.rename(target, words.name, made)
        self.fits(target, words.name, layout, made)
        self.finish(target, words, layout, made, isinstance(each.value, ArrayNode) and not target.renames)
        if layout is not None:
            _hint(scope, first, layout)

    def finish(self, target: ArrayNode, words: Words, layout: Layout | None, made: str, pure: bool) -> None:
        """Call the last result by the target's name, or move it there if the statement only moves an array."""
        scope, name = self.scope, self.scope.free(words.name)
        dims = scope.values[made].dims if layout is None else layout.dims
        if pure:
            scope.operations.append(Move(name, made))
        else:
            scope.operations[-1] = replace(scope.operations[-1], out=name)
            del scope.values[made]
        scope.values[name] = Value(name, dims, layout, words.dtype, keep=scope.keep(target))
        scope.current[words.name] = name

    def fits(self, target: ArrayNode, name: str, layout: Layout | None, made: str) -> None:
        """Raise if the target has other dimensions than the expression, or than it had before."""
        dims = self.scope.values[made].dims
        wanted = dims if layout is None else layout.dims
        missing = next((dim for dim in wanted if dim not in dims), None)
        if missing is not None:
            raise self.scope.wrong(
                f"{name} has the dimension {missing}, but the expression has {listed(dims)}.",
                target.position,
                "Remove it, or bring it in by an operand.",
            )
        gone = next((dim for dim in dims if dim not in wanted), None)
        if gone is not None:
            raise self.scope.wrong(
                f"The dimension {gone} of the expression is missing in {name}, and no product contracts it.",
                target.position,
                f"Sum over it with sum_{gone}(...), or keep it in {name}.",
            )
        if name in self.scope.current:
            self.scope.same_dims(target, name, wanted)

    def declare(self, node: Node) -> None:
        """Read a statement without a result: `W[D_X, F]`, `const In[B, D]`, `grad W[D_X, F]`."""
        scope = self.scope
        if not isinstance(node, ArrayNode):
            raise NotationError(
                "This expression has no result.",
                text=scope.text,
                position=node.position,
                hint="End it with its result: ... -> Out[B, D].",
            )
        words = scope.words(node, "")
        if words.declaration in ("grad", "state"):
            self.gradient(node, words)
            return
        known = scope.values.get(scope.current.get(words.name, ""))
        stated = scope.layout(node, words.name)
        if (
            known
            and known.layout
            and stated
            and set(stated.dims) == set(known.dims)
            and not alike(stated, known.layout)
        ):
            raise scope.wrong(
                f"{words.name} has the layout {known.layout}, and is declared again as {stated}.",
                node.position,
                f"Move it by a statement: {words.name} -> {words.name}{stated}.",
            )
        scope.array(node)

    def gradient(self, node: ArrayNode, words: Words) -> None:
        """Read `grad W[D_X, F]` or `state W[D_X, F]`."""
        scope, word, name = self.scope, words.declaration, words.name
        if name not in scope.current:
            raise scope.wrong(
                f"{word} {name} speaks of an array that does not occur before.",
                node.position,
                f"Write it after the first statement with {name}.",
            )
        layout = scope.layout(node, f"{word} {name}")
        if layout is None:
            raise scope.wrong(f"{word} {name} needs a layout.", node.position, f"Write it: {word} {name}[D_X, F].")
        if words.dtype is not None:
            raise scope.wrong(
                f"{word} {name} is declared with a dtype.", node.position, f"Remove it: it has the dtype of {name}."
            )
        scope.same_dims(node, name, layout.dims)
        (self.grads if word == "grad" else self.states)[scope.current[name]] = layout

    def program(self, mesh: Mapping[str, sp.Expr], sizes: Mapping[str, sp.Expr]) -> Program:
        """Return the program read."""
        scope = self.scope
        used = {name for operation in scope.operations for name in operation.inputs}
        self.complete(used)
        _roled(scope)
        layouts = [value.layout for value in scope.values.values() if value.layout is not None]
        axes = implicit.axes_of([*layouts, *self.grads.values(), *self.states.values()])
        names = implicit.visible(scope.values, scope.taken | scope.values.keys())
        return Program(
            scope.text,
            {names.get(k, k): replace(v, name=names.get(k, k)) for k, v in scope.values.items()},
            tuple(implicit.renamed(operation, names) for operation in scope.operations),
            tuple(scope.leaves),
            tuple(names.get(each.out, each.out) for each in scope.operations if each.out not in used),
            implicit.dim_sizes(_dims(scope), sizes, axes, scope.taken | scope.values.keys(), scope.again),
            implicit.mesh_sizes(axes, mesh, scope.taken | scope.values.keys()),
            self.grads,
            self.states,
        )

    def complete(self, used: set[str]) -> None:
        """Raise if nothing is computed, an array is declared for nothing, or a name is an axis and a dimension."""
        scope = self.scope
        if not scope.operations:
            raise scope.wrong(
                "The program computes nothing.", 0, 'Write a product or a new layout, such as "A[I_X] -> B[I]".'
            )
        idle = next((name for name in scope.leaves if name not in used), None)
        if idle is not None:
            raise scope.wrong(
                f"{idle} is declared and never used.", scope.leaves[idle], "Use it in a statement, or remove it."
            )
        dims = frozenset(_dims(scope))
        both = next((axis for axis in scope.axes if axis in dims), None)
        if both is not None:
            raise scope.wrong(
                f"{both} is both a dimension and a mesh axis.",
                scope.axes[both],
                "Rename one of them; a longer axis name stands in braces: D_{tp}.",
            )


def _hint(scope: Scope, first: int, layout: Layout) -> None:
    """Tell a chain's intermediates how the result wants the dimensions that reach it."""
    wanted = {dim: axes for dim, axes in layout.items() if axes}
    reach = {scope.operations[-1].out: frozenset(layout.dims)}
    for operation in reversed(scope.operations[first:]):
        alive = reach.get(operation.out, frozenset()) - implicit.summed(operation)
        for name in operation.inputs:
            value = scope.values[name]
            if name in scope.leaves or value.layout is not None:
                continue
            reach[name] = alive.intersection(value.dims)
            kept = tuple((dim, wanted[dim]) for dim in value.dims if dim in reach[name] and dim in wanted)
            scope.values[name] = replace(value, hint=kept)


def _roled(scope: Scope) -> None:
    """Give every leaf its role: as declared, or by the data dimensions of the first one used."""
    order = dict.fromkeys(n for operation in scope.operations for n in operation.inputs if n in scope.leaves)
    first = next((name for name in order if scope.roles.get(name) != "weight"), next(iter(order)))
    data = implicit.data_dims(scope.values[first], scope.operations)
    for name in scope.leaves:
        value = scope.values[name]
        found = scope.roles.get(name) or implicit.role(name, value, first, data)
        scope.values[name] = replace(value, role=found)


def _dims(scope: Scope) -> tuple[str, ...]:
    return tuple(dict.fromkeys(dim for value in scope.values.values() for dim in value.dims))


def _names(statements: Sequence[Statement]) -> Iterator[str]:
    """Yield the names of the arrays of a program."""
    stack: list[Node] = []
    for statement in statements:
        stack.append(statement.value)
        if statement.target is not None:
            yield statement.target.name
        while stack:
            each = stack.pop()
            if isinstance(each, ArrayNode):
                yield each.name
            elif isinstance(each, CallNode):
                stack.append(each.argument)
            else:
                stack += (each.lhs, each.rhs)
