"""Reading a TOML table strictly: each accessor names the file and the key when it finds something else."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from symscale.errors import MachineError
from symscale.frozen import dataclass
from symscale.machine.model import did_you_mean

# A spec sheet stays well inside; beyond it an exact integer would only eat memory.
MAX_EXPONENT = 60
MAX_DIGITS = 80
EXAMPLE = "See docs/machines.md for an example."


@dataclass(frozen=True)
class Place:
    """Where in which file a value stands, and the file's sources by short name."""

    file: str
    path: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    default_source: str = ""

    def at(self, key: str) -> Place:
        return Place(self.file, f"{self.path}.{key}" if self.path else key, self.sources, self.default_source)

    def error(self, found: str, needed: str) -> MachineError:
        where = f"{self.file}: {self.path}" if self.path else self.file
        return MachineError(f"{where}: {found}.", hint=needed)


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Parse TOML with exact decimals; a MachineError carries the line and a caret."""
    try:
        return tomllib.loads(text, parse_float=exact_decimal)
    except RecursionError as error:
        raise MachineError(f"{file}: not TOML: it is nested too deeply.", hint=EXAMPLE) from error
    except ValueError as error:  # TOMLDecodeError, and integers of thousands of digits
        raise MachineError(
            f"{file}: not TOML: {error}.", text=text, position=error_position(text, str(error)), hint=EXAMPLE
        ) from error


def error_position(text: str, message: str) -> int | None:
    """Return the place that a parser's message names; its end if it says the document ended."""
    if "end of document" in message:
        return len(text.rstrip())
    found = re.search(r"\(at line (\d+), column (\d+)\)", message)
    if found is None:
        return None
    before = text.splitlines(keepends=True)[: int(found[1]) - 1]
    return sum(map(len, before)) + int(found[2]) - 1


def exact_decimal(word: str) -> sp.Rational | float:
    """Return the exact value of a TOML float; inf, nan and absurd ones stay floats, refused later."""
    found = re.fullmatch(r"[+-]?\d[\d_.]*(?:[eE]([+-]?\d{1,4}))?", word)
    if found is None or len(word) > MAX_DIGITS or abs(int(found[1] or 0)) > MAX_EXPONENT:
        return float(word) if found is None else math.nan
    return sp.Rational(word.replace("_", ""))


def positive(value: object, place: Place) -> sp.Rational:
    """Return an exact positive number; MachineError for text, zero, negative, NaN and infinite ones."""
    if isinstance(value, float):
        raise place.error("not a finite number of a plausible size", "Needed: a positive number.")
    if isinstance(value, bool) or not isinstance(value, (int, sp.Rational)):
        raise place.error(f"{shown(value)} is not a number", "Needed: a positive number without quotes, e.g. 1.97e14.")
    number = sp.Rational(value)
    # Plain integers are compared: sympy's own comparison derives a dozen facts about each number first.
    if number.p <= 0:
        raise place.error(f"{value} is not positive", "Needed: a number above zero; leave the key out if it has none.")
    if number.p > 10**MAX_EXPONENT * number.q:
        raise place.error("the number is absurdly large", "Needed: a positive number of a plausible size.")
    return number


def known_keys(table: Iterable[str], allowed: Iterable[str], place: Place) -> None:
    """Raise MachineError for the first key that the schema does not have."""
    allowed = tuple(allowed)
    for key in table:
        if key not in allowed:
            hint = f"Known keys: {', '.join(allowed)}.{did_you_mean(key, allowed)}"
            raise place.error(f"unknown key {shown(key)}", hint)


def required(table: Mapping[str, Any], key: str, place: Place) -> object:
    """Return table[key]; MachineError if it is missing."""
    if key not in table:
        examples = {
            "value": "value = 1.97e14",
            "unit": 'unit = "B/s"',
            "direction": 'direction = "one_way" (or "both")',
            "kind": 'kind = "torus" (or "switch")',
            "bandwidth": 'bandwidth = { value = 9e10, unit = "B/s", direction = "one_way", source = "…" }',
        }
        raise place.error(f"{key} is missing", f"Needed: {examples.get(key, f'a key {key}')}.")
    return table[key]


def one_of(table: Mapping[str, Any], key: str, options: tuple[str, ...], place: Place) -> str:
    """Return table[key] if it is one of the options, else MachineError with the nearest spelling."""
    found = required(table, key, place)
    if found not in options:
        hint = f"Needed: {' or '.join(options)}.{did_you_mean(str(found), options)}"
        raise place.error(f"{key} is {shown(found)}", hint)
    return str(found)


def subtable(table: Mapping[str, Any], key: str, place: Place) -> Mapping[str, Any]:
    """Return a table inside a table, empty if absent."""
    return mapping(table.get(key, {}), place.at(key))


def mapping(value: object, place: Place) -> Mapping[str, Any]:
    """Return `value` if it is a table."""
    if not isinstance(value, Mapping):
        raise place.error(
            f"{shown(value)} is not a table", 'Needed: { value = 1.97e14, unit = "FLOP/s", source = "…" }.'
        )
    return value


def array(table: Mapping[str, Any], key: str, place: Place) -> list[object]:
    """Return a list, empty if absent."""
    found = table.get(key, [])
    if not isinstance(found, list):
        raise place.at(key).error(f"{shown(found)} is not a list", f"Needed: {key} = [ … ].")
    return found


def count(value: object, place: Place) -> int:
    """Return a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 10**9:
        raise place.error(f"{shown(value)} is not a count", "Needed: a positive whole number.")
    return value


def optional_count(table: Mapping[str, Any], key: str, place: Place) -> int | None:
    """Return a positive whole number, or None if absent."""
    return count(table[key], place.at(key)) if key in table else None


def string(value: object, place: Place) -> str:
    """Return `value` if it is a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise place.error(f"{shown(value)} is not a text", "Needed: a text in quotes.")
    return value


def optional_string(table: Mapping[str, Any], key: str, place: Place) -> str:
    """Return a text, empty if absent."""
    return string(table[key], place.at(key)) if key in table else ""


def strings(table: Mapping[str, Any], key: str, place: Place) -> tuple[str, ...]:
    """Return a tuple of texts."""
    return tuple(string(item, place.at(key)) for item in array(table, key, place))


def boolean(table: Mapping[str, Any], key: str, place: Place) -> bool:
    """Return true or false, false if absent."""
    found = table.get(key, False)
    if not isinstance(found, bool):
        raise place.at(key).error(f"{shown(found)} is neither true nor false", f"Needed: {key} = true.")
    return found


def shown(value: object) -> str:
    """Return what was found, short enough for an error."""
    text = repr(value) if not isinstance(value, (Mapping, list)) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:59] + "…"
