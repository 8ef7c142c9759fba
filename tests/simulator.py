"""A network of links, step by step: the judge of the closed forms in symscale/collectives.

Every directed link carries at most one piece per step, and a chip can pass a piece on only in a step after it
has arrived (store and forward). A message is a tree: at each chip it reaches it goes on along that chip's
branches. AllGather is a tree from each shard's owner; ReduceScatter is the same tree run backwards, and a
partial sum that travels down a path towards its owner is a message that visits all its contributors; AllToAll
is a path per pair. Nothing here knows a formula: it counts steps, and pieces per link.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product

Chip = tuple[int, ...]
Link = tuple[Chip, Chip]


@dataclass(frozen=True)
class Mesh:
    """A torus of chips: the size of each axis, and whether it closes."""

    sizes: tuple[int, ...]
    wraps: tuple[bool, ...]

    @property
    def chips(self) -> list[Chip]:
        return list(product(*map(range, self.sizes)))

    def move(self, chip: Chip, axis: int, step: int) -> Chip | None:
        place = chip[axis] + step
        if not self.wraps[axis] and not 0 <= place < self.sizes[axis]:
            return None
        return (*chip[:axis], place % self.sizes[axis], *chip[axis + 1 :])


@dataclass(frozen=True)
class Tree:
    """A message: the links it takes from its root, as chip → next chips."""

    root: Chip
    branches: tuple[tuple[Chip, tuple[Chip, ...]], ...]


@dataclass(frozen=True)
class Run:
    """What happened: steps taken, pieces per link, chips that each message reached, longest path in hops."""

    steps: int
    load: Counter[Link]
    reached: list[set[Chip]]
    hops: int


def run(trees: list[Tree]) -> Run:
    """Send all messages; where several wait for a link, the one with the longest way to go is first."""
    branches = [dict(tree.branches) for tree in trees]
    heights = [_heights(tree.root, branch) for tree, branch in zip(trees, branches, strict=True)]
    reached = [{tree.root} for tree in trees]
    waiting: dict[Link, list[tuple[int, int, Chip]]] = defaultdict(list)
    load: Counter[Link] = Counter()

    def enqueue(number: int, chip: Chip) -> None:
        for after in branches[number].get(chip, ()):
            waiting[chip, after].append((-heights[number][after], number, after))

    for number, tree in enumerate(trees):
        enqueue(number, tree.root)
    steps = 0
    while any(waiting.values()):
        steps += 1
        arrived = []
        for link, queue in waiting.items():
            if queue:
                first = min(queue)
                queue.remove(first)
                load[link] += 1
                arrived.append(first[1:])
        for number, chip in arrived:
            assert chip not in reached[number]
            reached[number].add(chip)
            enqueue(number, chip)
    return Run(steps, load, reached, max((h[t.root] for h, t in zip(heights, trees, strict=True)), default=0))


def _heights(root: Chip, branches: dict[Chip, tuple[Chip, ...]]) -> dict[Chip, int]:
    order, heights = [root], {}
    for chip in order:
        order += branches.get(chip, ())
    for chip in reversed(order):
        heights[chip] = max((1 + heights[after] for after in branches.get(chip, ())), default=0)
    return heights


def reaches(size: int, closed: bool, two_way: bool, half: int, place: int) -> tuple[int, int]:
    """How far a shard travels (right, left) so that every other chip of the axis gets it once."""
    if not closed:
        return size - 1 - place, place
    if not two_way:
        return size - 1, 0
    # On an even ring the chip across gets one half of the shard from each side.
    return (size // 2, (size - 1) // 2) if half == 0 else ((size - 1) // 2, size // 2)


def spread(mesh: Mesh, root: Chip, order: Iterable[int], half: int, two_way: bool = True) -> Tree:
    """The tree that carries a shard from its owner to all chips, along the axes in the given order."""
    branches: dict[Chip, list[Chip]] = defaultdict(list)
    have = [root]
    for axis in order:
        for start in list(have):
            far = reaches(mesh.sizes[axis], mesh.wraps[axis], two_way, half, start[axis])
            for step, length in zip((1, -1), far, strict=True):
                chip = start
                for _ in range(length):
                    after = mesh.move(chip, axis, step)
                    assert after is not None
                    branches[chip].append(after)
                    have.append(after)
                    chip = after
    return Tree(root, tuple((chip, tuple(after)) for chip, after in branches.items()))


def gather(mesh: Mesh, two_way: bool = True, weights: tuple[int, ...] = ()) -> list[Tree]:
    """AllGather in two halves; over two axes, weights[i] pieces of each half start along axis i."""
    axes = range(len(mesh.sizes))
    weights = weights or (1,) * len(mesh.sizes)
    return [
        spread(mesh, chip, [*axes[first:], *axes[:first]], half, two_way)
        for chip in mesh.chips
        for half in (0, 1)
        for first in axes
        for _ in range(weights[first])
    ]


def scatter(mesh: Mesh, two_way: bool = True) -> list[Tree]:
    """ReduceScatter along one axis: partial sums start at the far ends and collect on their way."""
    trees = []
    for chip in mesh.chips:
        for half in (0, 1):
            for step, length in zip(
                (1, -1), reaches(mesh.sizes[0], mesh.wraps[0], two_way, half, chip[0]), strict=True
            ):
                path = list(_line(mesh, chip, 0, step, length))[::-1]
                if len(path) > 1:
                    trees.append(Tree(path[0], tuple((a, (b,)) for a, b in pairwise(path))))
    return trees


def _line(mesh: Mesh, start: Chip, axis: int, step: int, length: int) -> Iterator[Chip]:
    chip: Chip | None = start
    for _ in range(length + 1):
        assert chip is not None
        yield chip
        chip = mesh.move(chip, axis, step)


def exchange(mesh: Mesh, two_way: bool = True) -> list[Tree]:
    """AllToAll on shortest paths: half of each chunk takes the axes in order, half in reverse; ties split."""
    axes = range(len(mesh.sizes))
    trees = []
    for source, target in product(mesh.chips, repeat=2):
        if source != target:
            for half, order in product((0, 1), (list(axes), list(axes)[::-1])):
                trees.append(_path(mesh, source, target, order, half, two_way))
    return trees


def _path(mesh: Mesh, source: Chip, target: Chip, order: list[int], half: int, two_way: bool) -> Tree:
    path = [source]
    for axis in order:
        size, ahead = mesh.sizes[axis], target[axis] - source[axis]
        step, length = (1 if ahead > 0 else -1), abs(ahead)
        if mesh.wraps[axis]:
            right = ahead % size
            go_right = not two_way or right < size - right or (right == size - right and half == 0)
            step, length = (1, right) if go_right else (-1, size - right)
        path += list(_line(mesh, path[-1], axis, step, length))[1:]
    return Tree(source, tuple((a, (b,)) for a, b in pairwise(path)))
