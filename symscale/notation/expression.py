"""Expressions to operations: which dimensions of a product contract, and which dimensions a result has."""

from __future__ import annotations

from dataclasses import replace

from symscale.array import Add, Einsum, Map, Reduce
from symscale.frozen import dataclass
from symscale.notation.program import ArrayNode, CallNode, Node, ProductNode, SumNode
from symscale.notation.scope import Scope, listed

REDUCTIONS = ("sum", "max")
NO_DIMS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reader:
    """Reads the expression of one statement into `scope`.

    `chain` says that it has more than one `*`; `target` are the declared dimensions of the result, None if open;
    `reduced` the dimensions that enclosing reductions take, which no product inside contracts.
    """

    scope: Scope
    chain: bool
    target: frozenset[str] | None
    reduced: frozenset[str] = NO_DIMS

    def value(self, node: Node) -> str:
        """Return the name of the value that an expression makes."""
        spine: list[ProductNode | SumNode] = []
        while isinstance(node, ProductNode | SumNode):  # a long sum leans left: no recursion on it
            spine.append(node)
            node = node.lhs
        made = self.scope.array(node) if isinstance(node, ArrayNode) else self.call(node)
        for each in reversed(spine):
            right = self.value(each.rhs)
            made = self.sum(made, right) if isinstance(each, SumNode) else self.product(each, made, right)
        return made

    def call(self, node: CallNode) -> str:
        """Read `f(x)`, `softmax_S(x)` or `sum_D(x)`."""
        kind = node.function
        if kind not in REDUCTIONS:
            source = self.value(node.argument)
            along = self.among(node, node.dims, source)
            return self.scope.make(Map(self.scope.hidden(), kind, source, along), self.dims(source))
        if not node.dims:
            raise self.scope.wrong(
                f"{kind} needs the dimension it reduces.", node.position, f"Write it below: {kind}_D(...)."
            )
        names = {*node.dims, "".join(node.dims)}
        source = replace(self, reduced=self.reduced | names).value(node.argument)
        gone = self.among(node, node.dims, source)
        left = tuple(dim for dim in self.dims(source) if dim not in gone)
        return self.scope.make(Reduce(self.scope.hidden(), kind, source, gone), left)

    def among(self, node: CallNode, written: tuple[str, ...], source: str) -> tuple[str, ...]:
        """Return the dimensions below a function, which the argument must have."""
        dims = self.dims(source)
        found = _spelled(written, dims)
        missing = next((dim for dim in found if dim not in dims), None)
        if missing is not None:
            raise self.scope.wrong(
                f"{node.function} runs over {missing}, but its argument has {listed(dims)}.",
                node.position,
                f"Use a dimension of the argument, or write {node.function}_{{...}} for one of several letters.",
            )
        return found

    def sum(self, left: str, right: str) -> str:
        """Make `left + right`."""
        return self.scope.make(Add(self.scope.hidden(), left, right), _union(self.dims(left), self.dims(right)))

    def product(self, node: ProductNode, left: str, right: str) -> str:
        """Make `left * right` or `left .* right`."""
        one, two = self.dims(left), self.dims(right)
        if node.elementwise and node.mark is not None:
            raise self.scope.wrong(
                "An elementwise product contracts nothing.", node.position, f"Write *_{node.mark[0]}, or .* alone."
            )
        contracted = NO_DIMS if node.elementwise else self.contracted(node, one, two)
        dims = tuple(dim for dim in _union(one, two) if dim not in contracted)
        return self.scope.make(Einsum(self.scope.hidden(), left, right, contracted, node.elementwise), dims)

    def contracted(self, node: ProductNode, one: tuple[str, ...], two: tuple[str, ...]) -> frozenset[str]:
        """Return the dimensions that a product sums over."""
        shared = frozenset(one) & frozenset(two)
        if node.mark is not None:
            return self.marked(node, shared, one, two)
        if not self.chain and self.target is not None:
            return shared - self.target - self.reduced
        if len(shared) == 1:
            return shared
        if not shared:
            raise self.scope.wrong(
                f"The product contracts a dimension that is not there: its operands have {listed(one)} and "
                f"{listed(two)}, and share none.",
                node.position,
                "Give both the dimension to sum over, or name the outer product in a statement of its own.",
            )
        common = [dim for dim in one if dim in shared]
        raise self.scope.wrong(
            f"The operands share {listed(common)}; which of them contract?",
            node.position,
            f"Mark the product (*_{common[0]}), or name the result in a statement of its own.",
        )

    def marked(
        self, node: ProductNode, shared: frozenset[str], one: tuple[str, ...], two: tuple[str, ...]
    ) -> frozenset[str]:
        """Return the dimensions of `*_D`, which both operands must have."""
        found = _spelled(node.mark or (), shared)
        missing = next((dim for dim in found if dim not in shared), None)
        if missing is not None:
            raise self.scope.wrong(
                f"The product contracts {missing}, a dimension that is not there in both operands: "
                f"they have {listed(one)} and {listed(two)}.",
                node.position,
                f"Mark a dimension that both have{': ' + listed(sorted(shared)) if shared else ''}.",
            )
        return frozenset(found)

    def dims(self, name: str) -> tuple[str, ...]:
        """Return the dimensions of a value."""
        return self.scope.values[name].dims


def stars(node: Node) -> int:
    """Count the products of an expression that may contract."""
    found = 0
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, ProductNode | SumNode):
            found += isinstance(each, ProductNode) and not each.elementwise
            stack += (each.lhs, each.rhs)
        elif isinstance(each, CallNode):
            stack.append(each.argument)
    return found


def _spelled(written: tuple[str, ...], dims: frozenset[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Return the dimensions below a sign, once each; the capitals of one longer dimension (`sum_EX`) are that one."""
    whole = "".join(written)
    return (whole,) if whole in dims else tuple(dict.fromkeys(written))


def _union(one: tuple[str, ...], two: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *two)))
