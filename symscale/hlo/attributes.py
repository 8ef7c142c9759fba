"""Attributes of instructions as values: lists of dimensions, windows, labels, groups of devices, pairs, loops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import gcd, prod

from symscale.errors import NotationError
from symscale.frozen import dataclass
from symscale.hlo.module import Instruction

MOST_DEVICES = 1_000_000
MOST_TAPS = 1_000_000
_LIST = re.compile(r"\{\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)?\s*\}")
_LABELS = re.compile(r"([bf0-9]+)_([io0-9]+)->([bf0-9]+)")
_FIELD = re.compile(r"([a-z_]+)=(\S+)")
_LISTED = re.compile(r"\{\s*(\{[\d,\s]*\}(?:\s*,\s*\{[\d,\s]*\})*)?\s*\}")
_GRID = r"\[([\d,]+)\](?:T\(([\d,]+)\))?"
_IOTA = re.compile(rf"\[([\d,]+)\]<={_GRID}")
_MESH = re.compile(r"mesh\[([^\]]*)\]")
_AXIS = re.compile(r"'([^']+)'(?::\((\d+)\)(\d+))?")
_TRIPS = re.compile(r'"known_trip_count":\s*\{\s*"n":\s*"?(\d{1,15})"?')
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Window:
    """How a window moves along one spatial dimension."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    lhs_dilate: int = 1
    rhs_dilate: int = 1

    def taps(self, length: int, results: int) -> int:
        """Return how many elements of an input of this length the window takes, over all of its results."""
        count = 0
        for tap in range(self.size):
            # result r reads the dilated input at r·stride + tap·rhs_dilate − low, where that holds an element
            shift = tap * self.rhs_dilate - self.low
            count += _hits(shift, self.stride, results, self.lhs_dilate, length)
        return count


def _hits(shift: int, stride: int, results: int, dilate: int, length: int) -> int:
    """Return how many r below `results` make shift + r·stride a multiple of `dilate` inside the dilated input."""
    common = gcd(stride, dilate)
    if shift % common:
        return 0
    period = dilate // common
    some = -shift // common * pow(stride // common, -1, period) % period
    first = max(0, -(shift // stride))  # the first r with shift + r·stride >= 0
    last = min(results - 1, ((length - 1) * dilate - shift) // stride)
    first += (some - first) % period
    return 0 if last < first else (last - first) // period + 1


def numbers_of(text: str, each: Instruction, key: str) -> tuple[int, ...]:
    """Return the numbers of `key={0,1}`, none where it is not given. Raises NotationError."""
    said = each.attributes.get(key)
    found = _LIST.fullmatch(said) if said is not None else None
    if said is not None and found is None:
        raise wrong(text, each, key, f"{key} is {said[:30]!r}.", "Give dimensions in braces: {0,1}.")
    return tuple(int(word) for word in (found[1] or "").split(",") if word.strip()) if found else ()


def count_of(text: str, each: Instruction, key: str) -> int:
    """Return the number of `key=4`, 1 where it is not given. Raises NotationError."""
    said = each.attributes.get(key, "1")
    if not (said.isdigit() and len(said) < 10 and int(said)):
        raise wrong(text, each, key, f"{key} is {said[:30]!r}.", "Give a whole number from 1.")
    return int(said)


def labels_of(text: str, each: Instruction) -> tuple[str, str, str]:
    """Return the labels of the input, the kernel and the result: bf_io->bf. Raises NotationError."""
    said = each.attributes.get("dim_labels", "")
    found = _LABELS.fullmatch(said)
    if found is None or not _labelled(*found.groups()):
        raise wrong(
            text,
            each,
            "dim_labels",
            f"dim_labels {said[:30]!r} label no convolution." if said else "The convolution has no dim_labels.",
            "They read bf_io->bf, with 0, 1, … for spatial dimensions.",
        )
    return found[1], found[2], found[3]


def _labelled(left: str, right: str, out: str) -> bool:
    spatial = {each for each in left if each.isdigit()}
    sets = ((left, {"b", "f"}), (right, {"i", "o"}), (out, {"b", "f"}))
    in_order = spatial == {str(n) for n in range(len(spatial))}
    return in_order and all(sorted(word) == sorted(need | spatial) for word, need in sets)


def window_of(text: str, each: Instruction, kernel: Sequence[int]) -> list[Window]:
    """Return the window along each spatial dimension; `kernel` has the sizes of the kernel. Raises NotationError."""
    said = each.attributes.get("window", "{}").strip("{}")
    fields = dict(_FIELD.findall(said))
    count = len(kernel)
    columns: dict[str, list[str]] = {}
    for key in ("size", "stride", "pad", "lhs_dilate", "rhs_dilate"):
        words = fields[key].split("x") if key in fields else []
        if words and len(words) != count:
            raise wrong(text, each, "window", f"The window has {len(words)} {key}s for {count} dimensions.", "3x3, …")
        columns[key] = words
    try:
        found = [_window(columns, at) for at in range(count)]
    except ValueError:
        raise wrong(text, each, "window", f"The window {said[:40]!r} is not read.", "size=3x3 pad=1_1x1_1") from None
    if any(one.size != size for one, size in zip(found, _sizes(columns, kernel), strict=True)):
        raise wrong(text, each, "window", "The window has another size than the kernel.", "Their sizes are equal.")
    if any(one.size > MOST_TAPS for one in found):
        raise wrong(text, each, "window", f"The window is longer than {MOST_TAPS:,}.", "No convolution's is.")
    return found


def _sizes(columns: dict[str, list[str]], kernel: Sequence[int]) -> Sequence[int]:
    return kernel if columns["size"] else [1] * len(kernel)


def _window(columns: dict[str, list[str]], at: int) -> Window:
    def number(key: str) -> int:
        word = columns[key][at] if columns[key] else "1"
        if not (word.isdigit() and 0 < int(word) < 10**9):
            raise ValueError(word)
        return int(word)

    low, _, high = (columns["pad"][at] if columns["pad"] else "0_0").partition("_")
    return Window(number("size"), number("stride"), int(low), int(high), number("lhs_dilate"), number("rhs_dilate"))


def groups_of(text: str, each: Instruction, devices: int) -> Groups:
    """Return the groups of devices of a collective, none where the line does not say. Raises NotationError.

    Groups are listed (`{{0,1},{2,3}}`), an iota (`[8,2]<=[2,8]T(1,0)`: rows of the numbers from 0), or axes of a mesh.
    `{}` is one group of all devices.
    """
    key = "replica_groups"
    said = each.attributes.get(key)
    if said is None:
        return ()
    if said in ("{}", "{{}}"):
        return (tuple(range(devices)),) if devices else ()
    if listed := _LISTED.fullmatch(said):
        rows = re.findall(r"\{([\d,\s]*)\}", listed[1] or "")
        groups = tuple(tuple(int(word) for word in row.split(",") if word.strip()) for row in rows)
    elif iota := _IOTA.fullmatch(said):
        height, width = _sized(text, each, iota[1], 2)
        grid = grid_of(text, each, iota[2], iota[3])
        if len(grid) != height * width:
            raise wrong(text, each, key, f"[{iota[1]}] is no shape of {len(grid)} devices.", "As in [4,2]<=[8].")
        groups = tuple(tuple(grid[n * width : (n + 1) * width]) for n in range(height))
    elif mesh := _MESH.match(said):
        groups = _named(text, each, mesh[1], said[mesh.end() :] + each.attributes.get("device_ids", ""))
    else:
        raise wrong(text, each, key, f"The groups {said[:30]!r} are not read.", "{{0,1},{2,3}} or [2,2]<=[4].")
    flat = [device for group in groups for device in group]
    if len({*flat}) != len(flat) or len({len(group) for group in groups}) != 1:
        raise wrong(text, each, key, "The groups are not of one size, or share a device.", "Each device is in one.")
    return groups


def _sized(text: str, each: Instruction, words: str, count: int) -> list[int]:
    found = [int(word) for word in words.split(",") if 0 < len(word) < 9]
    if len(found) != (count or len(found)) or not 0 < prod(found) <= MOST_DEVICES:
        raise wrong(text, each, "replica_groups", f"[{words[:30]}] are no groups.", "As in [4,2]<=[8].")
    return found


def grid_of(text: str, each: Instruction, words: str, order: str | None) -> list[int]:
    """Return the numbers from 0 in a shape, transposed: [4,2]T(1,0). Raises NotationError."""
    shape = _sized(text, each, words, 0)
    axes = [int(word) for word in order.split(",") if 0 < len(word) < 9] if order else list(range(len(shape)))
    if sorted(axes) != list(range(len(shape))):
        raise wrong(text, each, "replica_groups", f"T({order}) orders no {len(shape)} axes.", "As in [4,2]T(1,0).")
    return [
        sum(at * stride for at, stride in zip(place, _strides(shape, axes), strict=True))
        for place in _walk(shape, axes)
    ]


def _strides(shape: Sequence[int], axes: Sequence[int]) -> list[int]:
    whole = [prod(shape[at + 1 :]) for at in range(len(shape))]
    return [whole[axis] for axis in axes]


def _walk(shape: Sequence[int], axes: Sequence[int]) -> list[tuple[int, ...]]:
    from itertools import product

    return list(product(*(range(shape[axis]) for axis in axes)))


def _named(text: str, each: Instruction, mesh: str, rest: str) -> Groups:
    """Read mesh['a'=4,'b'=2] {'b', 'a':(1)2}: whole axes of a mesh, or a part `(pre)size` of one."""
    sizes = [(name, int(size)) for name, size in re.findall(r"'([^']+)'=(\d{1,8})", mesh)]
    braces = re.search(r"\{([^}]*)\}", rest)
    used = {name: (int(pre or 1), int(part or 0)) for name, pre, part in _AXIS.findall(braces[1] if braces else "")}
    shape: list[int] = []
    picked: list[int] = []
    for name, size in sizes:
        pre, part = used.get(name, (1, size))
        part = part or size
        if pre * part == 0 or size % (pre * part):
            raise wrong(text, each, "replica_groups", f"{pre} x {part} is no part of {name}={size}.", "Divide it.")
        if name in used:
            picked.append(len(shape) + 1)
        shape += [pre, part, size // (pre * part)]
    if not picked or not {*used} <= {name for name, _ in sizes}:
        raise wrong(text, each, "replica_groups", "The groups name no axis of their mesh.", "mesh['a'=4] {'a'}")
    order = [at for at in range(len(shape)) if at not in picked] + picked
    numbers = grid_of(text, each, ",".join(map(str, shape)), ",".join(map(str, order)))
    ids = re.search(rf"\({_GRID}\)", rest)
    devices = grid_of(text, each, ids[1], ids[2]) if ids else list(range(len(numbers)))
    if len(devices) != len(numbers):
        raise wrong(text, each, "replica_groups", "device_ids are not as many as the mesh has.", "One per place.")
    width = prod(shape[at] for at in picked)
    return tuple(tuple(devices[number] for number in numbers[at : at + width]) for at in range(0, len(numbers), width))


def pairs_of(text: str, each: Instruction) -> tuple[tuple[int, int], ...]:
    """Return (source, target) of every send of a permute. Raises NotationError."""
    said = each.attributes.get("source_target_pairs", "")
    pairs = re.findall(r"\{\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\}", said)
    if said and not pairs and said != "{}":
        raise wrong(text, each, "source_target_pairs", f"{said[:30]!r} are no pairs.", "As in {{0,1},{1,0}}.")
    return tuple((int(source), int(target)) for source, target in pairs)


def trips_of(each: Instruction) -> int | None:
    """Return how often a loop runs, where the compiler says so."""
    found = _TRIPS.search(each.attributes.get("backend_config", ""))
    return int(found[1]) if found else None


def wrong(text: str, each: Instruction, key: str, message: str, hint: str) -> NotationError:
    """Return an error with a caret at an attribute, or at the line that lacks it."""
    return NotationError(message, text=text, position=each.places.get(key, each.at), hint=hint)
