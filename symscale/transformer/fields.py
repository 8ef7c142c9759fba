"""Reading one field of a config strictly: a size is a whole number, a flag true or false, and nothing is converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symscale.errors import ModelError
from symscale.frozen import dataclass
from symscale.machine.model import did_you_mean
from symscale.transformer.config import CHUNKED, FULL, SLIDING

LARGEST = 10**9
TYPES = {"full_attention": FULL, "sliding_attention": SLIDING, "chunked_attention": CHUNKED}


@dataclass(frozen=True)
class Place:
    """Which field of which file is being read."""

    file: str
    field: str

    def error(self, found: str, needed: str) -> ModelError:
        """Return an error that names the file and the field."""
        return ModelError(f"{self.file}: {self.field} {found}.", hint=needed)

    def wrong(self, value: object, needed: str) -> ModelError:
        """Return an error that a value is not of the kind that is needed."""
        return self.error(f"is {shown(value)}, which is {kind_of(value)}", needed)


def size(value: object, place: Place) -> int:
    """Return a positive whole number. Raises ModelError for anything else, true, "4096" and 4096.0 included."""
    number = _whole(value, place)
    if number < 1:
        raise place.error(f"is {number}", "Give a positive whole number.")
    return number


def optional(value: object, place: Place) -> int | None:
    """Return a positive whole number, or None for null."""
    return None if value is None else size(value, place)


def extent(value: object, place: Place) -> int:
    """Return a whole number from 0; null is 0."""
    number = 0 if value is None else _whole(value, place)
    if number < 0:
        raise place.error(f"is {number}", "Give a whole number from 0, or null.")
    return number


def _whole(value: object, place: Place) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise place.error(
            f"is {shown(value)}, which is {kind_of(value)}", "Give a whole number, without quotes or point."
        )
    if abs(value) > LARGEST:
        raise place.error("is absurdly large", f"Give a number of at most {LARGEST:,}.")
    return value


def flag(value: object, place: Place) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise place.wrong(value, "Give true or false.")
    return value


def text(value: object, place: Place) -> str:
    """Return a word."""
    if not isinstance(value, str):
        raise place.wrong(value, "Give a word in quotes.")
    return value


def layers(value: object, place: Place) -> tuple[int, ...] | None:
    """Return layer numbers, from 0."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise place.error(
            f"is {shown(value)}, which is {kind_of(value)}", "Give a list of layer numbers, such as [0, 1]."
        )
    return tuple(extent(each, place) for each in value)


def types(value: object, place: Place) -> tuple[str, ...] | None:
    """Return the attention kind of every layer."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise place.wrong(value, f"Give a list of {', '.join(TYPES)}.")
    for each in value:
        if not isinstance(each, str) or each not in TYPES:
            near = did_you_mean(each, TYPES) if isinstance(each, str) else ""
            raise place.error(f"has {shown(each)}", f"Known kinds of attention: {', '.join(TYPES)}.{near}")
    return tuple(TYPES[each] for each in value)


READERS: Mapping[str, Callable[[object, Place], Any]] = {
    "size": size,
    "optional": optional,
    "extent": extent,
    "flag": flag,
    "text": text,
    "layers": layers,
    "types": types,
}


def one_of(value: str, options: tuple[str, ...], place: Place) -> str:
    """Return `value` if it is one of the options. Raises ModelError with the nearest spelling."""
    if value not in options:
        raise place.error(f"is {shown(value)}", f"Use one of {', '.join(options)}.{did_you_mean(value, options)}")
    return value


def kind_of(value: object) -> str:
    """Return what a JSON value is, in words."""
    words = {bool: "true or false", str: "a text", float: "not whole", list: "a list", dict: "an object"}
    return "nothing" if value is None else words.get(type(value), "a number")


def shown(value: object) -> str:
    """Return a JSON value as the file has it, short enough for an error."""
    if isinstance(value, list | dict):
        return "[…]" if isinstance(value, list) else "{…}"
    word = {True: "true", False: "false", None: "null"}.get(value) if isinstance(value, bool | None) else None
    found = word or (f'"{value}"' if isinstance(value, str) else str(value))
    return found if len(found) <= 60 else found[:59] + "…"
