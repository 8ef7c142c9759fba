"""Unit words, normalised once: `GB/s`, `Gbit/s`, `TFLOP/s`, `GiB`, `ms`, `B/s per chip`.

GB is 10**9 and GiB is 2**30 bytes; a bit is an eighth of a byte; direction is never part of a unit.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import sympy as sp

from symscale.errors import UnitError
from symscale.frozen import dataclass
from symscale.quantity.dimension import BYTE, DOLLAR, JOULE, PURE, SECOND, Dimension
from symscale.quantity.literal import GROUPED, NUMBER, number

_MAX_UNIT = 80


@dataclass(frozen=True)
class Unit:
    """A unit: `factor` base units (byte, second, dollar, joule, one), its dimension and its normal word."""

    factor: sp.Rational
    dimension: Dimension
    word: str


class Amount(NamedTuple):
    """A value in base units, and the unit it was written in."""

    value: sp.Rational
    unit: Unit


class _Base(NamedTuple):
    word: str
    dimension: Dimension
    factor: sp.Rational = sp.S.One
    prefixes: str = ""  # "up": k M G ...; "down": m µ n p; "bin": Ki Mi ...


_UP = {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DOWN = {"m": -3, "µ": -6, "μ": -6, "u": -6, "n": -9, "p": -12}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50}

_COUNTS = """
    token chip param query sequence step host pod axis GPU TPU device element layer head node link core slice
    expert cycle sample request MXU direction way hop parameter
""".split()  # noqa: SIM905 (a table of words reads better than a list of strings)
_PLURALS = {"query": "queries", "axis": "axes"}
_SHORT = {"parameter": "param"}


def _count_words() -> dict[str, _Base]:
    words = {}
    for name in _COUNTS:
        base = _Base(_SHORT.get(name, name), PURE, prefixes="up bin")
        words[name] = words[_PLURALS.get(name, name + "s")] = base
    return words


_BYTE = _Base("B", BYTE, prefixes="up bin")
_BIT = _Base("bit", BYTE, sp.Rational(1, 8), "up bin")
_SECOND = _Base("s", SECOND, prefixes="down")
_FLOP = _Base("FLOP", PURE, prefixes="up")
_OP = _Base("OP", PURE, prefixes="up")
_BASES: dict[str, _Base] = {
    "B": _BYTE, "byte": _BYTE, "bytes": _BYTE, "Byte": _BYTE, "Bytes": _BYTE,
    "bit": _BIT, "bits": _BIT, "b": _BIT,
    "s": _SECOND, "sec": _SECOND, "second": _SECOND, "seconds": _SECOND,
    "min": _Base("min", SECOND, sp.Integer(60)), "minute": _Base("min", SECOND, sp.Integer(60)),
    "minutes": _Base("min", SECOND, sp.Integer(60)),
    "h": _Base("h", SECOND, sp.Integer(3600)), "hour": _Base("h", SECOND, sp.Integer(3600)),
    "hours": _Base("h", SECOND, sp.Integer(3600)),
    "day": _Base("day", SECOND, sp.Integer(86400)), "days": _Base("day", SECOND, sp.Integer(86400)),
    "year": _Base("year", SECOND, sp.Integer(31536000)), "years": _Base("year", SECOND, sp.Integer(31536000)),
    "FLOP": _FLOP, "FLOPs": _FLOP, "flop": _FLOP, "flops": _FLOP, "F": _FLOP,
    "OP": _OP, "OPs": _OP, "op": _OP, "ops": _OP,
    "Hz": _Base("Hz", PURE / SECOND, prefixes="up"),
    "$": _Base("$", DOLLAR), "USD": _Base("$", DOLLAR), "dollar": _Base("$", DOLLAR),
    "dollars": _Base("$", DOLLAR),
    "J": _Base("J", JOULE, prefixes="up down"), "joule": _Base("J", JOULE), "joules": _Base("J", JOULE),
    "W": _Base("W", JOULE / SECOND, prefixes="up down"), "watt": _Base("W", JOULE / SECOND),
    "Wh": _Base("Wh", JOULE, sp.Integer(3600), "up"),
    "%": _Base("%", PURE, sp.Rational(1, 100)), "1": _Base("1", PURE),
    "times": _Base("times", PURE),
}  # fmt: skip
_BASES |= _count_words()

_FACTOR = re.compile(r"([A-Za-zµμ$%]+|1)(?:\^(-?\d))?")
_SPLIT = re.compile(r"\s*(/|·|\*|\bper\b|(?<=\S)\s+(?=\S))\s*")
_CONFUSED = {
    "FLOPS": "write FLOP for a count and FLOP/s for a rate",
    "KB": "write kB for 1000 bytes and KiB for 1024",
    "Kb": "write kbit for 1000 bits and Kibit for 1024",
    "mB": "write MB for 10^6 bytes",
    "MS": "write ms for milliseconds",
}
_HINT = (
    "known: B, bit, s, min, h, day, year, FLOP, OP, token, chip, param, $, J, W; "
    "with prefixes as in GB, GiB, Gbit/s, TFLOP/s, ms"
)


@lru_cache(maxsize=1024)
def parse_unit(word: str) -> Unit:
    """Return the unit of a word; `""` and `1` are the pure number.

    Raises UnitError for a word that is unknown or means two things (FLOPS, KB).
    """
    text = word.strip()
    if len(text) > _MAX_UNIT:
        raise UnitError("this unit is too long", text=text, position=_MAX_UNIT)
    text = re.sub(r"([kMGTP]?)(bps|Bps)\b", lambda m: m[1] + ("bit/s" if m[2] == "bps" else "B/s"), text)
    if not text:
        return Unit(sp.S.One, PURE, "")
    factor, dimension, words = sp.S.One, PURE, ""
    pieces = _SPLIT.split(text)
    for index, piece in enumerate(pieces[::2]):
        sign = pieces[2 * index - 1] if index else ""
        one, raised = _factor(piece, word)
        down = sign in ("/", "per")
        exponent = -raised if down else raised
        factor, dimension = factor * one.factor**exponent, dimension * one.dimension**exponent
        words += ("/" if down else "*" if index else "") + one.word + (f"^{raised}" if raised != 1 else "")
    return Unit(factor, dimension, "" if words == "1" else words)


def _factor(piece: str, whole: str) -> tuple[Unit, int]:
    match = _FACTOR.fullmatch(piece)
    if match is None:
        raise UnitError(f"`{piece or whole}` is not a unit", text=whole, position=max(whole.find(piece), 0), hint=_HINT)
    return _prefixed(match[1], whole), int(match[2] or 1)


def _prefixed(word: str, whole: str) -> Unit:
    if word in _CONFUSED or (word.endswith("FLOPS") and len(word) <= 6):
        raise UnitError(
            f"`{word}` means two things",
            text=whole,
            position=whole.find(word),
            hint=_CONFUSED.get(word, _CONFUSED["FLOPS"]),
        )
    if word in _BASES and word != "F":
        base = _BASES[word]
        return Unit(base.factor, base.dimension, base.word)
    for prefix, size in _scales():
        base_word = word.removeprefix(prefix)
        scaled = _BASES.get(base_word)
        if base_word != word and scaled is not None and _allows(scaled, prefix, base_word):
            shown = "µ" if prefix in ("μ", "u") else prefix
            return Unit(scaled.factor * size, scaled.dimension, shown + scaled.word)
    raise UnitError(f"`{word}` is not a unit", text=whole, position=max(whole.find(word), 0), hint=_HINT)


def unit_words() -> dict[str, tuple[Unit, str]]:
    """Return every word of a unit without a prefix, with the kinds of prefixes that it takes: "up", "down", "bin"."""
    return {word: (Unit(base.factor, base.dimension, base.word), base.prefixes) for word, base in _BASES.items()}


def prefix_words() -> dict[str, tuple[sp.Rational, str]]:
    """Return the factor and the kind of every prefix."""
    kinds = {**dict.fromkeys(_BINARY, "bin"), **dict.fromkeys(_UP, "up"), **dict.fromkeys(_DOWN, "down")}
    return {prefix: (size, kinds[prefix]) for prefix, size in _scales()}


def confused_words() -> dict[str, str]:
    """Return the words that mean two things, and what to write instead."""
    return dict(_CONFUSED)


@lru_cache(maxsize=1)
def _scales() -> tuple[tuple[str, sp.Rational], ...]:
    binary = [(prefix, sp.Integer(2) ** power) for prefix, power in _BINARY.items()]
    return (*binary, *((prefix, sp.Integer(10) ** power) for prefix, power in (_UP | _DOWN).items()))


def _allows(base: _Base, prefix: str, word: str) -> bool:
    kind = "bin" if prefix in _BINARY else "up" if prefix in _UP else "down"
    short = len(word) <= 5 or base.dimension == PURE
    return kind in base.prefixes.split() and short


_AMOUNT = rf"\s*([+-]?)\s*({GROUPED}|{NUMBER})\s*(?:(?:\\times|×|x|\*)\s*10\s*\^\s*\{{?(-?\d+)\}}?)?\s*(.*?)\s*"
_SCALED = re.compile(r"([KMGTP]i|[kMGTPE])(?:\s+(.*))?")


@lru_cache(maxsize=1024)
def parse_quantity(text: str) -> Amount:
    """Return the exact value in base units of `11.5 ms`, `16 GiB`, `400 Gbit/s`, `2.55k tokens`, `128k`.

    Raises UnitError for text that is not a number followed by a unit.
    """
    match = re.fullmatch(_AMOUNT, text) if len(text) <= 200 else None
    if match is None:
        raise UnitError(
            "a quantity is a number and a unit",
            text=text[:200],
            position=0,
            hint="as in 16 GiB, 400 Gbit/s or 11.5 ms",
        )
    value = number(match[2])
    if match[3]:
        value *= number(f"1e{match[3]}")
    value = -value if match[1] == "-" else value
    scale, word = _count_prefix(match[4])
    unit = parse_unit(word)
    return Amount(value * scale * unit.factor, unit)


def other_reading(text: str) -> Amount | None:
    """Return the capacity under the other meaning of its prefix: 128k as 128Ki, 16 GiB as 16 GB; else None.

    Rates (GB/s) have one meaning. Raises UnitError as `parse_quantity` does.
    """
    parse_quantity(text)
    match = re.fullmatch(r"(.*\d\s*)([kKMGTP])(i?)((?:B|bytes?|\s.*)?)\s*", text)
    if match is None or "/" in match[4] or " per " in match[4]:
        return None
    letter = match[2].upper() + "i" if not match[3] else "k" if match[2] == "K" else match[2]
    return parse_quantity(match[1] + letter + match[4])


def _count_prefix(rest: str) -> tuple[sp.Rational, str]:
    """Split `k tokens` into 1000 and `tokens`; a prefix alone scales a pure number."""
    match = _SCALED.fullmatch(rest)
    if match is None:
        return sp.S.One, rest
    scale = dict(_scales())[match[1]]
    return scale, match[2] or ""
