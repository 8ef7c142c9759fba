"""How an array of a module is split over the devices: parts per dimension, and copies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from symscale.frozen import dataclass
from symscale.hlo.attributes import grid_of, wrong
from symscale.hlo.collective import along
from symscale.hlo.module import Instruction

_IOTA = re.compile(r"<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_DEVICES = re.compile(r"\{devices=\[([\d,]+)\]([^}]*)(?:\{([^}]*)\}\s*)?(?:metadata=.*)?\}", re.DOTALL)


@dataclass(frozen=True)
class Sharding:
    """Parts of each dimension, how many devices hold each part, and the mesh axes that split each dimension."""

    parts: tuple[int, ...]
    copies: int
    axes: tuple[tuple[str, ...], ...] = ()

    def whole(self, dims: tuple[int, ...]) -> tuple[int, ...]:
        """Return the sizes of the array of which every device holds a part of these sizes."""
        return tuple(size * part for size, part in zip(dims, self.parts, strict=True))


def sharding_of(text: str, each: Instruction, mesh: Mapping[str, int]) -> Sharding | None:
    """Return the sharding of an instruction's one result; None where it has none, or one that is not split.

    `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`: four parts of the first dimension, two copies. In a compiled
    module the shapes are those of a part. Raises NotationError.
    """
    said = each.attributes.get("sharding", "")
    found = _DEVICES.fullmatch(said)
    if found is None or len(each.results) != 1:
        return None
    parts = [int(word) for word in found[1].split(",") if 0 < len(word) < 9]
    rank = len(each.results[0].dims)
    rest = found[2]
    others = 1 if "last_tile_dim_replicate" in rest else rest.count("last_tile_dims") * len((found[3] or "").split(","))
    if len(parts) - others != rank or not all(parts):
        message = f"The sharding splits {len(parts) - others} dimensions, and the array has {rank}."
        raise wrong(text, each, "sharding", message, "It has a number of parts for each, as in {devices=[4,1]<=[4]}.")
    devices = _devices(text, each, rest, prod(parts))
    axes = tuple(along(_rows(devices, parts, at), mesh, whole=True) for at in range(rank))
    return Sharding(tuple(parts[:rank]), prod(parts[rank:]), axes)


def _devices(text: str, each: Instruction, said: str, count: int) -> list[int]:
    """Return the devices that hold the parts, in the order of the parts: an iota, or a list."""
    iota = _IOTA.search(said)
    if iota:
        return grid_of(text, each, iota[1], iota[2])
    listed = re.match(r"[\d,]+", said)
    found = [int(word) for word in listed[0].split(",") if 0 < len(word) < 9] if listed else []
    return found or list(range(count))


def _rows(devices: list[int], parts: list[int], at: int) -> tuple[tuple[int, ...], ...]:
    """Return the groups of devices that hold the parts of one dimension, all else the same; none if it is whole."""
    if parts[at] == 1 or len(devices) != prod(parts):
        return ()
    inner = prod(parts[at + 1 :])
    starts = [n for n in range(len(devices)) if n // inner % parts[at] == 0]
    return tuple(tuple(devices[start + n * inner] for n in range(parts[at])) for start in starts)
