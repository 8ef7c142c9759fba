"""What the instructions of a module do: products, collectives, and the arrays that they read and write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from symscale.collectives import Kind
from symscale.errors import NotationError
from symscale.frozen import dataclass
from symscale.hlo.attributes import trips_of
from symscale.hlo.collective import Sent, sent_by
from symscale.hlo.contraction import Contraction, convolution, dot
from symscale.hlo.inferred import inferred
from symscale.hlo.module import Computation, Instruction, Module, leaves
from symscale.hlo.opcodes import COLLECTIVES, FREE, collective_of
from symscale.hlo.shape import Shape

MOST_DEPTH = 50
MOST_OPS = 200_000
GUESSED = "The computation is not given: the product is the one that the shapes leave."
UNKNOWN = "The computation is not given: its FLOPs are not counted."
CUSTOM = "What a custom call computes is not known: its FLOPs are not counted."
RAGGED = "The FLOPs of this product are not counted."
ONCE = "How often a loop runs is not written: its body counts once."
BRANCHES = "Of a conditional every branch counts."


@dataclass(frozen=True)
class Product:
    """A contraction and the dtypes of its operands."""

    contraction: Contraction
    left: Shape
    right: Shape


@dataclass(frozen=True)
class Work:
    """What one instruction does, `times` times: its products, the arrays it reads and writes, what it sends.

    `shapes` are those of its operands; `reads` and `writes` what it moves of them. `notes` say what is not known.
    """

    instruction: Instruction
    times: int
    shapes: tuple[Shape, ...]
    reads: tuple[Shape, ...]
    writes: tuple[Shape, ...]
    products: tuple[Product, ...] = ()
    sent: Sent | None = None
    notes: tuple[str, ...] = ()

    @property
    def flops(self) -> int:
        """The FLOPs of its products, once."""
        return sum(each.contraction.flops for each in self.products)

    @property
    def bytes(self) -> int:
        """The bytes of the arrays that it reads and writes, without padding [B]."""
        return sum(each.bytes for each in (*self.reads, *self.writes))


def work_of(module: Module, mesh: Mapping[str, int] | None = None) -> tuple[Work, ...]:
    """Return what the instructions of the entry do, those of loops and calls in their place.

    `mesh` names the axes of the devices, the last one the fastest. Raises NotationError, LayoutError.
    """
    return tuple(_walk(module, module.main, 1, (), mesh or {}, count()))


def _walk(
    module: Module,
    where: Computation,
    times: int,
    path: tuple[str, ...],
    mesh: Mapping[str, int],
    counter: Iterator[int],
) -> Iterator[Work]:
    path = _entered(where, path)
    for each in where.instructions.values():
        _counted(counter)
        if each.op in FREE or each.op.endswith(("-done", "-update")):
            continue
        inner = [module.computations[name] for name in each.called if name in module.computations]
        if each.op in ("while", "call", "conditional", "async-start") and inner:
            trips, notes = 1, list[str]()
            if each.op == "while":
                known = trips_of(each)
                trips, notes = (1, [ONCE]) if known is None else (known, [])
            elif each.op == "conditional":
                notes = [BRANCHES]
            for body in inner:
                for work in _walk(module, body, times * trips, path, mesh, counter):
                    yield replace(work, notes=tuple(dict.fromkeys([*work.notes, *notes])))
            continue
        yield _work(module, where, each, times, mesh)


def _work(module: Module, where: Computation, each: Instruction, times: int, mesh: Mapping[str, int]) -> Work:
    shapes = _shapes(module, where, each)
    inside = list(_inside(module, where, each, (), count()))
    kind, source = _collective(module, each, inside)
    products = tuple(_product(module, place, line) for place, line in inside if line.op in ("dot", "convolution"))
    notes = [RAGGED for _, line in inside if line.op in ("ragged-dot", "scaled-dot")]
    notes += [CUSTOM for _, line in inside if line.op == "custom-call"]
    lacks = each.op == "fusion" and not any(name in module.computations for name in each.called)
    if lacks and kind is None:
        guess = inferred(shapes, each.results[0]) if len(each.results) == 1 else None
        products = (Product(*guess),) if guess else ()
        notes.append(GUESSED if guess else UNKNOWN)
    sent = None
    if kind is not None:
        known = _shapes(module, *source) if source[1] is not each else shapes
        sent = sent_by(module.text, source[1], kind, known, module.devices, mesh)
    reads, writes = _moved(module, each, shapes)
    return Work(each, times, shapes, reads, writes, products, sent, tuple(dict.fromkeys(notes)))


def _shapes(module: Module, where: Computation, each: Instruction) -> tuple[Shape, ...]:
    """Return the arrays of the operands. Those of a line alone may be unknown, where nothing hangs on them."""
    if each.op in ("dot", "convolution") or len(module.computations) > 1:
        return tuple(shape for tree in module.inputs(where, each) for shape in leaves(tree))
    found = []
    for operand in each.operands:
        tree = (
            operand.shape if operand.shape is not None else getattr(where.instructions.get(operand.name), "shape", ())
        )
        found += list(leaves(tree))
    return tuple(found)


def _entered(where: Computation, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the way to a computation. Raises NotationError where it has been on the way before, or is too long."""
    if where.name in path or len(path) > MOST_DEPTH:
        raise NotationError(f"The computation {where.name[:40]} calls itself.", hint="Each may call only earlier ones.")
    return (*path, where.name)


def _counted(counter: Iterator[int]) -> None:
    if next(counter) > MOST_OPS:
        raise NotationError(f"The module runs more than {MOST_OPS:,} operations.", hint="Give a part of it.")


def _inside(
    module: Module, where: Computation, each: Instruction, path: tuple[str, ...], counter: Iterator[int]
) -> Iterator[tuple[Computation, Instruction]]:
    """Yield an instruction, and those that a fusion runs, with the computation that each is in."""
    _counted(counter)
    if each.op != "fusion":
        yield where, each
        return
    for name in each.called:
        if name in module.computations:
            body = module.computations[name]
            way = _entered(body, path)
            for line in body.instructions.values():
                yield from _inside(module, body, line, way, counter)


def _collective(
    module: Module, each: Instruction, inside: Sequence[tuple[Computation, Instruction]]
) -> tuple[Kind | None, tuple[Computation, Instruction]]:
    """Return the collective that an instruction is or runs, and where it is written."""
    for where, line in inside:
        kind = collective_of(line.op)
        if kind is not None:
            # a TPU writes a scatter as a fusion of that name, with an AllReduce and a slice inside
            scattered = kind is Kind.AllReduce and any(
                "all-reduce-scatter" in name for name in (each.name, *each.called)
            )
            if scattered:
                return Kind.ReduceScatter, (module.main, _lent(each, line))
            return kind, (where, line)
    if each.op in ("fusion", "async-start"):
        for name in (*each.called, each.name):
            stem = max((op for op in COLLECTIVES if name.startswith(op)), key=len, default="")
            if stem:
                return COLLECTIVES[stem], (module.main, each)
    return None, (module.main, each)


def _lent(each: Instruction, line: Instruction) -> Instruction:
    """Return a fusion with the attributes of the collective inside it."""
    return replace(each, attributes={**each.attributes, **line.attributes}, places={**each.places, **line.places})


def _product(module: Module, where: Computation, line: Instruction) -> Product:
    arrays = tuple(shape for tree in module.inputs(where, line) for shape in leaves(tree))
    if len(arrays) != 2 or len(line.results) != 1:
        raise NotationError(
            f"A {line.op} multiplies two arrays into one, and {len(arrays)} are given.",
            text=module.text,
            position=line.at,
            hint="Write the shapes of both and of the result.",
        )
    read = dot if line.op == "dot" else convolution
    return Product(read(module.text, line, *arrays), *arrays)


def _moved(module: Module, each: Instruction, shapes: tuple[Shape, ...]) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Return what is read and written: of an array that is only sliced, or updated in place, that part alone."""
    if each.op in ("dynamic-slice", "slice", "gather"):
        return (*each.results, *shapes[1:]), each.results
    if each.op in ("dynamic-update-slice", "scatter"):
        return shapes[1:], shapes[1:2]
    if each.op in ("copy-start", "collective-permute-start", "all-gather-start") and isinstance(each.shape, tuple):
        at = 0 if each.op == "copy-start" else 1
        return shapes, tuple(leaves(each.shape[at])) if len(each.shape) > at else ()
    body = next((module.computations[name] for name in each.called if name in module.computations), None)
    if each.op == "fusion" and body is not None:
        return _fused(body, shapes, each.results)
    return shapes, each.results


def _fused(
    body: Computation, shapes: tuple[Shape, ...], results: tuple[Shape, ...]
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Return what a fusion reads of its operands and writes of its results."""
    lines = body.instructions.values()
    numbers = {
        each.name: int(each.inside) for each in lines if each.op == "parameter" and each.inside.strip().isdigit()
    }
    reads = list[Shape]()
    for name, at in numbers.items():
        users = [each for each in lines if any(operand.name == name for operand in each.operands)]
        sliced = [each for each in users if each.op in ("dynamic-slice", "slice") and each.operands[0].name == name]
        updated = [each for each in users if each.op == "dynamic-update-slice" and each.operands[0].name == name]
        if users and len(sliced) + len(updated) == len(users):
            reads += [shape for each in sliced for shape in each.results]
        elif at < len(shapes):
            reads.append(shapes[at])
    root = body.root
    if root.op == "dynamic-update-slice" and len(root.operands) > 1 and root.operands[1].name in body.instructions:
        return tuple(reads), tuple(leaves(body.instructions[root.operands[1].name].shape))
    return tuple(reads), results
