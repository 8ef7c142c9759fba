"""Chapter 3 of "How To Scale Your Model": what it prints beside what the engine derives, layouts, values on chips."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from answers import Row, check, rows
from mesh import Mesh

from symscale.array.element import local_size
from symscale.derivation import Builder
from symscale.derivation.layer import Layer
from symscale.errors import LayoutError
from symscale.notation.elaborate import elaborate
from symscale.partition import Buffer, partition


@pytest.mark.parametrize("row", rows("chapter3"), ids=lambda row: row.id)
def test_answers(row: Row) -> None:
    check(row)


def test_few_entries_are_not_modelled() -> None:
    found = rows("chapter1") + rows("chapter3")
    assert sum(bool(row.not_modelled) for row in found) < 0.05 * len(found)


def forward(program: str) -> Layer:
    return Builder("chapter 3").program(program, passes=["forward"])


def collectives(program: str) -> list[str]:
    moves = [each.collective for each in forward(program).costs["forward"].transfers]
    return [f"{each.kind} {','.join(each.axes)}" for each in moves]


SHAPES = [
    ("ch3.example.local-shape", "A[I_X, J_Y]", (4, 128), {"X": 2, "Y": 2}, (2, 64)),
    ("ch3.popquiz1.local-rows", "A[I_XY, J]", (1024, 4096), {"X": 8, "Y": 2}, (64, 4096)),
    ("ch3.code.local-a", "A[I_X, J_Y]", (8, 2048), {"X": 4, "Y": 2}, (2, 1024)),
    ("ch3.code.local-b", "A[I, J_Y]", (2048, 8192), {"Y": 2}, (2048, 4096)),
]


@pytest.mark.parametrize(("key", "array", "whole", "mesh", "local"), SHAPES, ids=[row[0] for row in SHAPES])
def test_local_shapes(
    key: str, array: str, whole: tuple[int, int], mesh: dict[str, int], local: tuple[int, int]
) -> None:
    sizes = dict(zip("IJ", map(sp.Integer, whole), strict=True))
    program = elaborate(f"{array} -> G[I, J]", mesh={axis: sp.Integer(n) for axis, n in mesh.items()}, sizes=sizes)
    layout = program.values["A"].layout
    assert layout is not None
    assert tuple(local_size(dim, layout, program) for dim in "IJ") == local


def test_an_axis_splits_one_dimension() -> None:
    # ch3.claim.forbidden-sharding, ch3.case4.invalid
    for program in ("A[I_X, J_X] -> G[I, J]", "A[I_X, J] * B[J, K_X] -> C[I_X, K_X]"):
        with pytest.raises(LayoutError, match="X"):
            forward(program)


# entry, program, collectives; in case 1 the layout of the result follows, and another one costs something
MOVES = [
    ("ch3.case1.1", "A[I, J] * B[J, K] -> C[I, K]", []),
    ("ch3.case1.2", "A[I_X, J] * B[J, K] -> C[I_X, K]", []),
    ("ch3.case1.2", "A[I_X, J] * B[J, K] -> C[I, K]", ["AllGather X"]),
    ("ch3.case1.3", "A[I, J] * B[J, K_Y] -> C[I, K_Y]", []),
    ("ch3.case1.3", "A[I, J] * B[J, K_Y] -> C[I, K]", ["AllGather Y"]),
    ("ch3.case1.4", "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]", []),
    ("ch3.case1.4", "A[I_X, J] * B[J, K_Y] -> C[I, K]", ["AllGather X,Y"]),
    ("ch3.case2.rule", "A[I, J_X] * B[J, K] -> C[I, K]", ["AllGather X"]),
    ("ch3.case2.partial-gather", "A[I_YX, J] -> G[I_Y, J]", ["AllGather X"]),
    # where X is the major axis the blocks have to change places too
    ("ch3.case2.partial-gather", "A[I_XY, J] -> G[I_Y, J]", ["Permute X,Y", "AllGather X"]),
    ("ch3.case3.rule", "A[I, J_X] * B[J_X, K] -> C[I, K]", ["AllReduce X"]),
    ("ch3.formula.allreduce-signature", "A[I_X, J]{U_Y} -> R[I_X, J]", ["AllReduce Y"]),
    ("ch3.formula.rs-deferred", "A[I, J_X] * B[J_X, K] -> C[I, K_X]", ["ReduceScatter X"]),
    ("ch3.q6.c.comms", "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]", []),
    ("ch3.q9.1", "A[N, M_X] * B[M_X, K] -> O[N, K]", ["AllReduce X"]),
    ("ch3.q9.2", "A[N, M_X] * B[M_X, K] -> O[N_X, K]", ["ReduceScatter X"]),
]


@pytest.mark.parametrize(("key", "program", "kinds"), MOVES, ids=[f"{row[0]}: {row[1]}" for row in MOVES])
def test_collectives_of_the_cases(key: str, program: str, kinds: list[str]) -> None:
    assert collectives(program) == kinds


def on_chips(text: str, axis: int, dims: dict[str, int], **arrays: np.ndarray) -> Mesh:
    """Run a program over an axis X on simulated chips, which checks its values, with the arrays put in."""
    sizes = {dim: sp.Integer(size) for dim, size in dims.items()}
    program = elaborate(text, mesh={"X": sp.Integer(axis)}, sizes=sizes)
    mesh = Mesh(program, partition(program, backward=False))
    numbers = mesh.numbers
    given = iter(arrays.values())
    mesh.numbers = lambda wanted: next(given, numbers(wanted))  # type: ignore[method-assign]
    mesh.run()
    return mesh


def stacked(mesh: Mesh, buffer: Buffer) -> np.ndarray:
    """Return what the chips hold of an array, one after the other."""
    return np.concatenate([mesh.held[buffer][chip] for chip in mesh.chips])


def start(mesh: Mesh, name: str) -> Buffer:
    """Return an array of the program as it is declared."""
    layout = mesh.program.values[name].layout
    assert layout is not None
    return Buffer(name, layout)


def test_partial_products_are_blocks_that_add_up() -> None:
    # ch3.formula.block-matmul, ch3.formula.outer-product-sum: with a chip for every j, an outer product each
    a, b = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5) - 7
    for chips in (2, 4):
        mesh = on_chips("A[I, J_X] * B[J_X, K] -> C[I, K]", chips, {"I": 3, "J": 4, "K": 5}, a=a, b=b)
        owed = next(each for each in mesh.held if each.value == "C" and each.layout.owes)
        parts = [mesh.held[owed][chip] for chip in mesh.chips]
        blocks = np.split(np.arange(4), chips)
        for part, block in zip(parts, blocks, strict=True):
            assert np.array_equal(part, sum(np.outer(a[:, j], b[j]) for j in block))
        assert np.array_equal(sum(parts), a @ b)


def test_collectives_are_kronecker_products() -> None:
    # ch3.formula.*-kron with p = 2 chips and u = (1, 1): a gather copies the shards of all, a reduction adds
    u, one = np.ones((2, 1)), np.eye(1)
    mesh = on_chips("A[I_X] -> G[I]", 2, {"I": 2}, a=np.array([8.0, 9.0]))
    shards, copies = stacked(mesh, start(mesh, "A")), stacked(mesh, mesh.plan.results["G"])
    assert np.array_equal(copies, np.kron(u, np.eye(2)) @ shards)
    mesh = on_chips("A[I]{U_X} -> R[I]", 2, {"I": 1}, a=np.array([17.0]))
    addends, sums = stacked(mesh, start(mesh, "A")), stacked(mesh, mesh.plan.results["R"])
    assert np.array_equal(np.kron(u.T, one) @ addends, [17.0])
    # what every chip then has is the broadcast of the sum: (17, 17), as (7) becomes (7, 7)
    assert np.array_equal(sums, np.kron(u, one) @ np.kron(u.T, one) @ addends)
