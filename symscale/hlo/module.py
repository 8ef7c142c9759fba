"""A module as data: computations of instructions, each with its shape, operation, operands and attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from symscale.errors import NotationError
from symscale.frozen import dataclass
from symscale.hlo.shape import Shape

Tree = Shape | tuple["Tree", ...]


@dataclass(frozen=True)
class Operand:
    """What an instruction reads: a name, and its shape where the line writes it."""

    name: str
    shape: Tree | None
    at: int


@dataclass(frozen=True)
class Instruction:
    """One line of a module; `at` and the places of its attributes are positions in the text."""

    name: str
    shape: Tree
    op: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, str]
    inside: str
    at: int
    places: Mapping[str, int] = field(default_factory=dict)
    root: bool = False

    @property
    def results(self) -> tuple[Shape, ...]:
        """The arrays that it makes, those of a tuple in their order."""
        return tuple(leaves(self.shape))

    @property
    def called(self) -> tuple[str, ...]:
        """The computations that it runs: a fusion's, a call's, the body and condition of a loop, branches."""
        keys = ("calls", "to_apply", "body", "condition", "true_computation", "false_computation")
        found = [self.attributes[key].lstrip("%") for key in keys if key in self.attributes]
        branches = self.attributes.get("branch_computations", "").strip("{}")
        return (*found, *(each.strip().lstrip("%") for each in branches.split(",") if each.strip()))


@dataclass(frozen=True)
class Computation:
    """A named list of instructions, in the order of the text."""

    name: str
    instructions: Mapping[str, Instruction]

    @property
    def root(self) -> Instruction:
        """The instruction whose value is the computation's: the one marked ROOT, else the last."""
        listed = list(self.instructions.values())
        return next((each for each in listed if each.root), listed[-1])


@dataclass(frozen=True)
class Module:
    """Computations by name, which one is run, and how many devices run it (0: not said)."""

    name: str
    computations: Mapping[str, Computation]
    entry: str
    devices: int
    text: str

    @property
    def main(self) -> Computation:
        """The computation that is run."""
        return self.computations[self.entry]

    def inputs(self, where: Computation, each: Instruction) -> tuple[Tree, ...]:
        """Return the shapes of the operands, written in the line or found by name. Raises NotationError."""
        return tuple(self._shape(where, operand) for operand in each.operands)

    def _shape(self, where: Computation, operand: Operand) -> Tree:
        if operand.shape is not None:
            return operand.shape
        if operand.name in where.instructions:
            return where.instructions[operand.name].shape
        raise NotationError(
            f"The shape of {operand.name[:60]} is written nowhere.",
            text=self.text,
            position=operand.at,
            hint="Give the whole module, or write the shape before the name: dot(bf16[8,128]{1,0} %x, …).",
        )


def leaves(shape: Tree) -> Iterator[Shape]:
    """Yield the arrays of a shape: itself, or those of a tuple."""
    if isinstance(shape, Shape):
        yield shape
        return
    for part in shape:
        yield from leaves(part)
