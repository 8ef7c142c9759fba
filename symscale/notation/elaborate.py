"""From syntax to program: which dimensions contract, what an array's role is, and what stays implicit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import sympy as sp

from symscale.array import (
    Add,
    Axes,
    Einsum,
    Layout,
    Map,
    Move,
    Operation,
    Program,
    Reduce,
    Value,
    canonical_dtype,
    validate,
)
from symscale.errors import LayoutError, NotationError
from symscale.notation.program import (
    ArrayNode,
    CallNode,
    Node,
    ProductNode,
    Statement,
    SumNode,
    parse_program,
)
from symscale.vocabulary import symbol

DECLARATIONS = ("grad", "state", "const", "weight", "activation")
# Names of the machine's symbols: a dimension or axis of that name gets a symbol of its own.
RESERVED = frozenset(("C", "W", "b", "alpha"))


def elaborate(
    text: str, *, mesh: Mapping[str, sp.Expr] | None = None, sizes: Mapping[str, sp.Expr] | None = None
) -> Program:
    """Return the program that a text denotes.

    `mesh` gives sizes of mesh axes, `sizes` of dimensions; the others are symbols of their names. In a statement with
    one `*` and a declared result, a shared dimension contracts iff the result lacks it; in a chain an unmarked `*`
    contracts the one dimension it shares with the value to its left. Raises NotationError, LayoutError with a caret.
    """
    return _Reading(text, dict(mesh or {}), dict(sizes or {})).program()


class _Reading:
    def __init__(self, text: str, mesh: dict[str, sp.Expr], sizes: dict[str, sp.Expr]) -> None:
        self.text = text
        self.given_mesh = mesh
        self.given_sizes = sizes
        self.values: dict[str, Value] = {}
        self.current: dict[str, str] = {}
        self.leaves: list[str] = []
        self.operations: list[Operation] = []
        self.grads: dict[str, Layout] = {}
        self.states: dict[str, Layout] = {}
        self.roles: dict[str, str] = {}
        self.consts: set[str] = set()
        self.unnamed = 0
        self.anonymous = 0
        self.chain = False
        self.target_dims: frozenset[str] | None = None
        self.reduced: frozenset[str] = frozenset()

    def program(self) -> Program:
        for statement in parse_program(self.text, self.given_mesh):
            self.statement(statement)
        if not self.operations:
            raise LayoutError(
                "The program computes nothing.",
                hint='Write a product or a new layout, such as "A[I_X] -> B[I]".',
            )
        self._names()
        used = {name for operation in self.operations for name in operation.inputs}
        made = [operation.out for operation in self.operations]
        mesh, sizes = self._sizes()
        return Program(
            self.text,
            self._typed(),
            tuple(self.operations),
            tuple(self.leaves),
            tuple(name for name in made if name not in used),
            sizes,
            mesh,
            self.grads,
            self.states,
        )

    # statements

    def statement(self, each: Statement) -> None:
        if each.target is None:
            self.declare(each.value)
            return
        target = each.target
        words = self.words(target, "Out")
        if target.words[0] in DECLARATIONS and len(target.words) == 2:
            raise self.wrong(f"{target.words[0]} declares an array; it cannot be assigned to.", target.position)
        self.chain = _stars(each.value) > 1
        self.target_dims = None if target.dims is None else frozenset(dim for dim, _ in target.dims)
        first = len(self.operations)
        made = self.node(each.value)
        self.finish(target, words, made, first)

    def finish(self, target: ArrayNode, words: tuple[str | None, str], made: str, first: int) -> None:
        """Give the last result the target's name, layout and dtype."""
        dtype, name = words
        dims = self.values[made].dims
        layout = self.layout(target, name) if target.dims is not None else None
        if layout is not None and set(layout.dims) != set(dims):
            self.mismatch(target, name, layout.dims, dims)
        fresh = self.free_name(name)
        if len(self.operations) == first:
            self.operations.append(Move(fresh, made))
        else:
            self.operations[-1] = replace(self.operations[-1], out=fresh)
            del self.values[made]
        final = layout.dims if layout is not None else dims
        keep = True if "saved" in target.flags else False if "freed" in target.flags else None
        self.values[fresh] = Value(fresh, final, layout, dtype, keep=keep)
        self.current[name] = fresh
        if layout is not None:
            self.hint(first, layout)

    def hint(self, first: int, layout: Layout) -> None:
        """Tell the chain's intermediates how the result wants the dimensions that reach it."""
        wanted = {dim: axes for dim, axes in layout.items() if axes}
        reach: dict[str, frozenset[str]] = {self.operations[-1].out: frozenset(layout.dims)}
        for operation in reversed(self.operations[first:]):
            alive = reach.get(operation.out, frozenset())
            gone = _summed(operation)
            for name in operation.inputs:
                value = self.values[name]
                if name in self.leaves or value.layout is not None:
                    continue
                stays = (alive - gone) & frozenset(value.dims)
                reach[name] = stays
                self.values[name] = replace(
                    value, hint=tuple((d, wanted[d]) for d in value.dims if d in stays and d in wanted)
                )

    def mismatch(self, target: ArrayNode, name: str, wanted: tuple[str, ...], dims: tuple[str, ...]) -> None:
        missing = [dim for dim in wanted if dim not in dims]
        if missing:
            raise self.wrong(
                f"{name} has the dimension {missing[0]}, but the expression has {_listed(dims)}.",
                target.position,
                "Remove it, or bring it in by an operand.",
            )
        gone = [dim for dim in dims if dim not in wanted]
        raise self.wrong(
            f"The dimension {gone[0]} of the expression is missing in {name}, and no product contracts it.",
            target.position,
            f"Sum over it with sum_{gone[0]}(...), or keep it in {name}.",
        )

    def declare(self, node: Node) -> None:
        if not isinstance(node, ArrayNode):
            raise NotationError(
                "This expression has no result.",
                text=self.text,
                position=getattr(node, "position", 0),
                hint="End it with -> Out[dims].",
            )
        word = node.words[0] if len(node.words) == 2 else ""
        if word not in DECLARATIONS:
            self.array(node)
            return
        name = node.name
        if word in ("grad", "state"):
            if name not in self.current:
                raise self.wrong(f"{word} {name} speaks of an array that does not occur before.", node.position)
            layout = self.layout(node, f"{word} {name}")
            if set(layout.dims) != set(self.values[self.current[name]].dims):
                raise self.wrong(f"{word} {name}{layout} has other dimensions than {name}.", node.position)
            (self.grads if word == "grad" else self.states)[self.current[name]] = layout
            return
        found = self.array(replace(node, words=(name,)))
        if word == "const":
            self.consts.add(found)
        else:
            self.roles[found] = word

    # expressions: each returns the name of the value it makes

    def node(self, node: Node) -> str:
        if isinstance(node, ArrayNode):
            return self.array(node)
        if isinstance(node, CallNode):
            return self.call(node)
        if isinstance(node, SumNode):
            left, right = self.node(node.lhs), self.node(node.rhs)
            dims = _union(self.values[left].dims, self.values[right].dims)
            return self.make(Add(self.temporary(), left, right), dims)
        return self.product(node)

    def array(self, node: ArrayNode) -> str:
        dtype, name = self.words(node, "")
        if node.dims is None:
            if name in self.current:
                return self.current[name]
            raise self.wrong(
                f"{name} is used before its dimensions are known.",
                node.position,
                f"Write them: {name}[B, D].",
            )
        layout = self.layout(node, name)
        if name not in self.current:
            keep = True if "saved" in node.flags else False if "freed" in node.flags else None
            self.values[name] = Value(name, layout.dims, layout, dtype, "weight", keep)
            self.current[name] = name
            self.leaves.append(name)
            return name
        known = self.values[self.current[name]]
        if set(known.dims) != set(layout.dims):
            raise self.wrong(
                f"{name} has the dimensions {_listed(known.dims)}, here it has {_listed(layout.dims)}.",
                node.position,
                "One name is one array: rename one of them.",
            )
        if known.layout is None or known.layout == layout:
            return known.name
        moved = self.make(Move(self.temporary(), known.name), layout.dims)
        self.values[moved] = replace(self.values[moved], layout=layout)
        return moved

    def call(self, node: CallNode) -> str:
        outer = self.reduced
        if node.function in ("sum", "max"):
            if not node.dims:
                raise self.wrong(
                    f"{node.function} needs the dimension it reduces.",
                    node.position,
                    f"Write {node.function}_D(...).",
                )
            self.reduced = outer | frozenset(node.dims)
        source = self.node(node.argument)
        self.reduced = outer
        dims = self.values[source].dims
        missing = [dim for dim in node.dims if dim not in dims]
        if missing:
            raise self.wrong(
                f"{node.function} runs over {missing[0]}, but its argument has {_listed(dims)}.",
                node.position,
            )
        if node.function in ("sum", "max"):
            left = tuple(dim for dim in dims if dim not in node.dims)
            return self.make(Reduce(self.temporary(), node.function, source, node.dims), left)
        return self.make(Map(self.temporary(), node.function, source, node.dims), dims)

    def product(self, node: ProductNode) -> str:
        left, right = self.node(node.lhs), self.node(node.rhs)
        one, two = self.values[left].dims, self.values[right].dims
        if node.elementwise:
            return self.make(Einsum(self.temporary(), left, right, frozenset(), elementwise=True), _union(one, two))
        shared = frozenset(one) & frozenset(two)
        contracted = self.contracted(node, shared, one, two)
        dims = tuple(dim for dim in _union(one, two) if dim not in contracted)
        return self.make(Einsum(self.temporary(), left, right, contracted), dims)

    def contracted(
        self, node: ProductNode, shared: frozenset[str], one: tuple[str, ...], two: tuple[str, ...]
    ) -> frozenset[str]:
        if node.mark is not None:
            missing = [dim for dim in node.mark if dim not in shared]
            if missing:
                raise self.wrong(
                    f"The product contracts {missing[0]}, but the dimension is not in both operands: "
                    f"they have {_listed(one)} and {_listed(two)}.",
                    node.position,
                )
            return frozenset(node.mark)
        if not self.chain and self.target_dims is not None:
            return shared - self.target_dims - self.reduced
        if len(shared) == 1:
            return shared
        if not shared:
            raise self.wrong(
                f"The product contracts a dimension that is not there: its operands have {_listed(one)} and "
                f"{_listed(two)}, and share none.",
                node.position,
                "Give both the dimension to sum over, or name the outer product in a statement of its own.",
            )
        raise self.wrong(
            f"The operands share {_listed(sorted(shared))}; which of them contract?",
            node.position,
            f"Mark the product (*_{sorted(shared)[0]}), or name the result in a statement of its own.",
        )

    # names, layouts, sizes

    def words(self, node: ArrayNode, default: str) -> tuple[str | None, str]:
        """Return the dtype and the name of an array as written."""
        if len(node.words) == 2:
            kind = canonical_dtype(node.words[0])
            if kind is None:
                raise self.wrong(
                    f"{node.words[0]!r} is no dtype and no declaration.",
                    node.position,
                    f"Use a dtype such as bf16 or int8, or one of {', '.join(DECLARATIONS)}; products need a *.",
                )
            return kind, node.words[1]
        kind = canonical_dtype(node.name)
        if kind is None or node.dims is None:
            return None, node.name
        if default:
            return kind, default
        self.anonymous += 1
        return kind, f"A{self.anonymous}"

    def layout(self, node: ArrayNode, name: str) -> Layout:
        if node.dims is None:
            raise self.wrong(f"{name} needs its dimensions here.", node.position)
        layout = Layout(tuple(d for d, _ in node.dims), tuple(a for _, a in node.dims)).owing(node.owes)
        try:
            return validate(layout, name)
        except LayoutError as error:
            raise LayoutError(error.message, text=self.text, position=node.position, hint=error.hint) from None

    def temporary(self) -> str:
        self.unnamed += 1
        return f"·{self.unnamed}"

    def free_name(self, name: str) -> str:
        if name not in self.values:
            return name
        number = 2
        while f"{name}_{number}" in self.values:
            number += 1
        return f"{name}_{number}"

    def make(self, operation: Operation, dims: Iterable[str]) -> str:
        self.operations.append(operation)
        self.values[operation.out] = Value(operation.out, tuple(dims))
        return operation.out

    def _names(self) -> None:
        """Rename the intermediates: Tmp if there is one, else Tmp_1, Tmp_2, …"""
        hidden = [name for name in self.values if name.startswith("·")]
        if not hidden:
            return
        stem = "Tmp"
        while any(name == stem or name.startswith(f"{stem}_") for name in self.values):
            stem += "p"
        new = {name: stem if len(hidden) == 1 else f"{stem}_{n}" for n, name in enumerate(hidden, 1)}
        self.values = {new.get(k, k): replace(v, name=new.get(k, k)) for k, v in self.values.items()}
        self.operations = [_renamed(each, new) for each in self.operations]

    def _typed(self) -> dict[str, Value]:
        """Decide the roles of the leaves, in the order of appearance."""
        first = self.leaves[0]
        gone = {
            dim
            for operation in self.operations
            if isinstance(operation, Einsum) and first in operation.inputs
            for dim in operation.contracted
        }
        data = set(self.values[first].dims) - gone
        found = {}
        for name, value in self.values.items():
            role = value.role
            if name in self.leaves:
                follows = name == first or data.intersection(value.dims)
                role = self.roles.get(name, "activation" if follows else "weight")
            found[name] = replace(value, role=role, const=name in self.consts)
        return found

    def _sizes(self) -> tuple[dict[str, sp.Expr], dict[str, sp.Expr]]:
        layouts = [v.layout for v in self.values.values() if v.layout] + [
            *self.grads.values(),
            *self.states.values(),
        ]
        axes: Axes = tuple(
            dict.fromkeys(a for layout in layouts for a in (*(x for each in layout.axes for x in each), *layout.owes))
        )
        dims = dict.fromkeys(dim for value in self.values.values() for dim in value.dims)
        both = [axis for axis in axes if axis in dims]
        if both:
            raise LayoutError(
                f"{both[0]} is both a dimension and a mesh axis.",
                text=self.text,
                position=self.text.find(f"_{both[0]}"),
                hint="Rename one of them; a longer axis name stands in braces: D_{tp}.",
            )
        unused = [axis for axis in self.given_mesh if axis not in axes]
        if unused:
            raise LayoutError(
                f"The mesh has an axis {unused[0]}, but the program does not use it.",
                hint=f"The program uses {', '.join(axes) or 'no axis'}. Remove {unused[0]} from the mesh, or shard over it.",
            )
        mesh = {axis: self.given_mesh.get(axis, _symbol(axis, "axis")) for axis in axes}
        return mesh, {dim: self.given_sizes.get(dim, _symbol(dim, "dim")) for dim in dims}

    def wrong(self, message: str, position: int, hint: str = "") -> LayoutError:
        return LayoutError(message, text=self.text, position=position, hint=hint)


def _symbol(name: str, kind: str) -> sp.Symbol:
    taken = name in RESERVED or name.startswith(("b_", "W_", "T_", "M_"))
    return symbol(f"{name}_{kind}" if taken else name)


def _stars(node: Node) -> int:
    if isinstance(node, ProductNode):
        return (not node.elementwise) + _stars(node.lhs) + _stars(node.rhs)
    if isinstance(node, SumNode):
        return _stars(node.lhs) + _stars(node.rhs)
    return _stars(node.argument) if isinstance(node, CallNode) else 0


def _summed(operation: Operation) -> frozenset[str]:
    if isinstance(operation, Einsum):
        return operation.contracted
    return frozenset(operation.dims) if isinstance(operation, Reduce) else frozenset()


def _union(one: tuple[str, ...], two: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *two)))


def _listed(dims: Iterable[str]) -> str:
    return "[" + ", ".join(dims) + "]"


def _renamed(each: Operation, new: Mapping[str, str]) -> Operation:
    out = new.get(each.out, each.out)
    if isinstance(each, Einsum | Add):
        return replace(each, out=out, lhs=new.get(each.lhs, each.lhs), rhs=new.get(each.rhs, each.rhs))
    return replace(each, out=out, source=new.get(each.source, each.source))
