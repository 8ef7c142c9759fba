"""Slices of a pod: `tpu-v5e:4x4` names a chip and the sizes of the physical axes in use."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from symscale.errors import MachineError
from symscale.machine.library import machine
from symscale.machine.model import Machine, Network, wraps


@dataclass(frozen=True)
class Slice:
    """Some chips of one machine: `shape` holds the size of each physical axis."""

    machine: Machine
    shape: tuple[int, ...]

    @property
    def chips(self) -> int:
        """The number of chips."""
        return prod(self.shape)

    @property
    def wraps(self) -> tuple[bool, ...]:
        """Which axes close into a ring; chips built in cubes need a slice of whole cubes."""
        network = self.machine.main_network
        if network is None or network.kind != "torus":
            return tuple(True for _ in self.shape)
        single = tuple(wraps(network, size) for size in self.shape)
        if network.wrap.rule == "multiple" and any(size % network.wrap.of for size in self.shape):
            return tuple(False for _ in single)
        return single


def parse_slice(text: str) -> Slice:
    """Read `tpu-v5e:4x4` (a bare name is one chip); MachineError with a caret if there is no such slice."""
    name, colon, sizes = text.partition(":")
    chip = machine(name)
    if not colon:
        return Slice(chip, (1,))
    start, shape = len(name) + 1, []
    for word in sizes.lower().replace("×", "x").split("x"):
        shape.append(axis_size(word, text, start))
        start += len(word) + 1
    check_shape(chip, tuple(shape), text, len(name) + 1)
    return Slice(chip, tuple(shape))


def axis_size(word: str, text: str, position: int) -> int:
    """Return one axis size of a slice."""
    if not (word.isascii() and word.isdigit()) or len(word) > 9 or int(word) == 0:
        raise MachineError(
            f"A slice is a chip and its axis sizes, and {word[:20]!r} is not one.",
            text=text,
            position=position,
            hint="Write it like tpu-v5e:4x4 or tpu-v5p:4x4x8.",
        )
    return int(word)


def check_shape(chip: Machine, shape: tuple[int, ...], text: str, position: int) -> None:
    """Raise MachineError if the slice has more axes, longer axes or more chips than a pod."""
    network = chip.main_network
    if network is None or not network.pod:
        return
    problem = misfit(network, shape)
    if problem:
        pod = "x".join(map(str, network.pod))
        raise MachineError(
            f"{chip.title} has no such slice: {problem}.",
            text=text,
            position=position,
            hint=f"A pod of {chip.title} is {pod}, {prod(network.pod)} chips.",
        )


def misfit(network: Network, shape: tuple[int, ...]) -> str:
    """Say why a slice does not fit a pod; empty if it does."""
    if len(shape) > network.axes:
        return f"{len(shape)} axes, and the chip has {network.axes}"
    if prod(shape) > prod(network.pod):
        return f"{prod(shape)} chips, more than a pod"
    # Chips built in cubes are joined by optical switches: a slice may be longer than the pod's own axis.
    if network.wrap.rule != "multiple":
        for size, limit in zip(sorted(shape, reverse=True), sorted(network.pod, reverse=True), strict=False):
            if size > limit:
                return f"an axis of {size}, and the pod's is {limit}"
    return ""
