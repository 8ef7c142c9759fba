"""Slices of a pod: `tpu-v5e:4x4` names a chip and the sizes of the physical axes in use."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.machine.cluster import cluster
from symscale.machine.library import load_machine, machine
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
        # an axis that is not named has one chip, and so no whole cube
        cubes = len(self.shape) == network.axes and not any(size % network.wrap.of for size in self.shape)
        if network.wrap.rule == "multiple" and not cubes:
            return tuple(False for _ in single)
        return single


def chosen(on: str | Machine | None) -> Machine | None:
    """Return the machine that a name or a machine means; None stays None. Raises MachineError.

    `tpu-v5e:4x16` is the chip in a slice of that shape, `h100:1024` the chip in a cluster of that many.
    """
    if not isinstance(on, str):
        return on
    name, colon, sizes = on.partition(":")
    if ":" in sizes:
        raise MachineError(
            "A machine has one colon, before its sizes.",
            text=on,
            position=on.index(":", len(name) + 1),
            hint="Write the sizes with x: tpu-v5e:4x4, h100:1024, h100:4x32x8.",
        )
    return part_of(machine(name), on) if colon else machine(on)


def from_file(text: str) -> Machine:
    """Return the machine of a file, or a slice or cluster of it: `my.toml`, `my.toml:4x4`. Raises MachineError."""
    name, colon, sizes = text.rpartition(":")
    is_part = colon and name.lower().endswith(".toml") and set(sizes.lower()) <= set("0123456789x×")
    return part_of(load_machine(name), text) if is_part else load_machine(text)


def part_of(chip: Machine, text: str) -> Machine:
    """Return a slice of a torus or a cluster of a switched chip, of the sizes behind the last colon of `text`."""
    shape, start = sizes_of(text), text.rindex(":") + 1
    if chip.main_network is None or chip.main_network.kind != "torus":
        return cluster(chip, shape, text=text, position=start)
    check_shape(chip, shape, text, start)
    return sliced(Slice(chip, shape))


def sliced(part: Slice) -> Machine:
    """Return the chip with the slice's axes, and which of them close into rings, as its main network's."""
    main, *others = part.machine.networks
    network = replace(main, pod=part.shape, rings=part.wraps)
    shape = "x".join(map(str, part.shape))
    chip = part.machine
    return replace(chip, name=f"{chip.name}:{shape}", title=f"{chip.title}, {shape} slice", networks=(network, *others))


def sizes_of(text: str) -> tuple[int, ...]:
    """Return the sizes behind the colon of `h100:4x32x8`; MachineError with a caret where one is no size."""
    name, _, sizes = text.rpartition(":")
    start, shape = len(name) + 1, []
    for word in sizes.lower().replace("×", "x").split("x"):
        shape.append(axis_size(word, text, start))
        start += len(word) + 1
    return tuple(shape)


def parse_slice(text: str) -> Slice:
    """Read `tpu-v5e:4x4` (a bare name is one chip); MachineError with a caret if there is no such slice."""
    name, colon, _ = text.partition(":")
    chip = machine(name)
    if not colon:
        return Slice(chip, (1,))
    shape = sizes_of(text)
    check_shape(chip, shape, text, len(name) + 1)
    return Slice(chip, shape)


def axis_size(word: str, text: str, position: int) -> int:
    """Return one axis size of a slice."""
    if not (word.isascii() and word.isdigit()) or len(word) > 9 or int(word) == 0:
        raise MachineError(
            f"A slice is a chip and its axis sizes, and {word[:20]!r} is not one.",
            text=text,
            position=position,
            hint="Write it like tpu-v5e:4x4, tpu-v5p:4x4x8 or h100:1024.",
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
        ways = {"multiple": f"multiples of {network.wrap.of}, or 1, 2", "full": "divisors of the pod's, such as 4x8"}
        sizes = f" The axes of a slice are {ways[network.wrap.rule]}." if network.wrap.rule in ways else ""
        raise MachineError(
            f"{chip.title} has no such slice: {problem}.",
            text=text,
            position=position,
            hint=f"A pod of {chip.title} is {pod}, {prod(network.pod)} chips.{sizes}",
        )


def misfit(network: Network, shape: tuple[int, ...]) -> str:
    """Say why a slice does not fit a pod; empty if it does."""
    if len(shape) > network.axes:
        return f"{len(shape)} axes, and the chip has {network.axes}"
    if prod(shape) > prod(network.pod):
        return f"{prod(shape)} chips, more than a pod"
    # Chips built in cubes are joined by optical switches: a slice may be longer than the pod's own axis.
    if network.wrap.rule == "multiple":
        return _no_cubes(network, shape)
    if network.wrap.rule == "full":
        broken = next((size for size in shape if all(limit % size for limit in network.pod)), None)
        if broken is not None and all(size <= max(network.pod) for size in shape):
            return f"an axis of {broken}, which does not divide the pod's"
    for size, limit in zip(sorted(shape, reverse=True), sorted(network.pod, reverse=True), strict=False):
        if size > limit:
            return f"an axis of {size}, and the pod's is {limit}"
    return ""


def _no_cubes(network: Network, shape: tuple[int, ...]) -> str:
    """Say why a slice is neither whole cubes nor a part of one whose sizes divide the cube's; empty if it is."""
    cube = network.wrap.of
    odd = next((size for size in shape if size % cube and cube % size), None)
    if odd is None:
        return ""
    whole = "x".join([str(cube)] * network.axes)
    return f"an axis of {odd}, and slices are made of whole cubes of {whole}, or are parts of one"
