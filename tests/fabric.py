"""A fat tree, message by message: the judge of the closed forms for clusters.

A message goes from one chip to another. Inside a node it takes the sender's and the receiver's own ports; beyond, the
uplinks of every group it leaves and of every group it enters. A port carries a fixed number of pieces per step, each
way; a chip passes on only what it has. Nothing here knows a formula: it counts steps, and pieces per port.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import prod

Port = tuple[int, int, str]
Piece = Hashable


@dataclass(frozen=True)
class Message:
    """One piece from one chip to another; it waits until its sender holds everything in `after`."""

    source: int
    target: int
    piece: Piece
    after: frozenset[Piece] = frozenset()


@dataclass(frozen=True)
class Fabric:
    """The levels of a tree, from the chips up: (children joined, pieces per step of one child)."""

    levels: tuple[tuple[int, int], ...]

    @property
    def chips(self) -> int:
        return prod(size for size, _ in self.levels)

    def group(self, level: int, chip: int) -> int:
        return chip // prod(size for size, _ in self.levels[:level])

    def ports(self, source: int, target: int) -> list[Port]:
        if self.group(1, source) == self.group(1, target):
            return [(0, source, "out"), (0, target, "in")]
        found: list[Port] = []
        for level in range(1, len(self.levels)):
            a, b = self.group(level, source), self.group(level, target)
            if a != b:
                found += [(level, a, "out"), (level, b, "in")]
        return found

    def speed(self, port: Port) -> int:
        return self.levels[port[0]][1]


@dataclass(frozen=True)
class Run:
    """Steps taken, pieces per port, and what each chip holds in the end."""

    steps: int
    load: Counter[Port]
    held: dict[int, set[Piece]]

    def busiest(self, fabric: Fabric) -> Fraction:
        """The steps that the busiest port needs for its pieces alone."""
        return max(Fraction(count, fabric.speed(port)) for port, count in self.load.items())


def run(
    fabric: Fabric,
    messages: Iterable[Message],
    held: dict[int, set[Piece]],
    urgency: Callable[[Message], Hashable] = lambda message: 0,
) -> Run:
    """Send all messages, the most urgent first; every step fills the ports as far as it can."""
    waiting = sorted(messages, key=urgency)  # type: ignore[arg-type]
    load: Counter[Port] = Counter()
    steps = 0
    while waiting:
        used: Counter[Port] = Counter()
        left, arrived = [], []
        for each in waiting:
            ports = fabric.ports(each.source, each.target)
            ready = (each.after or frozenset([each.piece])) <= held[each.source]
            if ready and all(used[port] < fabric.speed(port) for port in ports):
                used.update(ports)
                arrived.append(each)
            else:
                left.append(each)
        assert arrived, "no message can go"
        for each in arrived:
            held[each.target].add(each.piece)
        load.update(used)
        waiting, steps = left, steps + 1
    return Run(steps, load, held)


def gather(fabric: Fabric, pieces: int) -> Run:
    """AllGather: every shard goes round the nodes on its own rail, and each chip passes on inside what it has."""
    node = fabric.levels[0][0]
    nodes = fabric.chips // node
    messages = []
    for owner in range(fabric.chips):
        for number in range(pieces):
            piece, (home, rail) = (owner, number), divmod(owner, node)
            for step in range(nodes):
                here = (home + step) % nodes * node + rail
                if step < nodes - 1:
                    messages.append(Message(here, (home + step + 1) % nodes * node + rail, piece))
                messages += [Message(here, here - rail + other, piece) for other in range(node) if other != rail]
    held = {chip: {(chip, number) for number in range(pieces)} for chip in range(fabric.chips)}
    # the ring first, and of what is passed on inside a node a different chip each time
    return run(fabric, messages, held, lambda m: (m.source % node != m.target % node, (m.target - m.source) % node))


def exchange(fabric: Fabric, pieces: int) -> Run:
    """AllToAll: a chunk for every other chip, straight to it."""
    n = fabric.chips
    messages = [
        Message(a, (a + step) % n, (a, (a + step) % n, number))
        for step in range(1, n)
        for a in range(n)
        for number in range(pieces)
    ]
    held: dict[int, set[Piece]] = defaultdict(set)
    for each in messages:
        held[each.source].add(each.piece)
    return run(fabric, messages, held)


def routed(fabric: Fabric, copies: int, level: int) -> Counter[Port]:
    """Tokens with `copies` experts in different groups of a level, each group first in turn: the load of its ports."""
    groups = fabric.chips // prod(size for size, _ in fabric.levels[:level])
    load: Counter[Port] = Counter()
    for chip in range(fabric.chips):
        home = fabric.group(level, chip)
        for token in range(groups):
            for target in {(home + token + n) % groups for n in range(copies)} - {home}:
                load.update([(level, home, "out"), (level, target, "in")])
    return load


def two_trees(chips: int, pieces: int) -> Run:
    """AllReduce up and down two binary trees through one switch; a leaf of the one is an inner node of the other."""
    messages: list[Message] = []
    held: dict[int, set[Piece]] = {chip: set() for chip in range(chips)}
    for half in (0, 1):
        order = ordered(chips, half)
        for number in range(pieces):
            for at, chip in enumerate(order):
                below = [order[child] for child in (2 * at + 1, 2 * at + 2) if child < chips]
                parts = frozenset(("up", half, number, child) for child in below)
                if at:
                    parent = order[(at - 1) // 2]
                    messages.append(Message(chip, parent, ("up", half, number, chip), parts or frozenset([("own",)])))
                whole = frozenset([("down", half, number, chip)]) if at else parts
                messages += [Message(chip, child, ("down", half, number, child), whole) for child in below]
    for chip in range(chips):
        held[chip].add(("own",))
    fabric = Fabric(((chips, 1),))
    return run(fabric, messages, held, lambda m: m.piece[2])  # type: ignore[index]


def ordered(chips: int, half: int) -> list[int]:
    """The chips of one tree, level by level: inner nodes are the even ones in one tree, the odd ones in the other."""
    first = [chip for chip in range(chips) if chip % 2 == half]
    return first + [chip for chip in range(chips) if chip % 2 != half]
