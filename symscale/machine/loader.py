"""A chip's TOML file -> Machine, exactly, with errors that name the file, the table and the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import sympy as sp

from symscale.errors import MachineError, UnitError
from symscale.machine.model import BANDWIDTH, Fact, Level, Machine, Network, Wrap
from symscale.machine.reading import (
    Place,
    array,
    boolean,
    count,
    known_keys,
    mapping,
    one_of,
    optional_count,
    optional_string,
    parse_toml,
    positive,
    required,
    string,
    strings,
    subtable,
)
from symscale.quantity.unit import parse_unit
from symscale.textfile import read_text

DTYPES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "int4")
KINDS = ("torus", "switch")
DIRECTIONS = ("one_way", "both")
SCOPES = ("link", "chip")
RULES = ("full", "multiple", "always", "never")
HEAD = ("name", "title", "aliases", "source", "chips_per_host")
TOP = (*HEAD, "sources", "peak", "peak_sparse", "core", "hbm", "network", "price")
NETWORK_KEYS = ("kind", "bandwidth", "hop_time", "pod", "wrap", "domain", "levels", "in_network_reduction")
# What a chip is made of: SMs of a GPU or TensorCores of a TPU, and what each of them has.
CORE = {
    "count": "core",
    "clock": "Hz",
    "lanes": "1",
    "matrix_units": "1",
    "matrix_flops": "FLOP",
    "registers": "B",
    "scratchpad": "B",
    "scratchpad_bandwidth": "B/s",
    "cache": "B",
}
VALUE_KEYS = ("value", "unit", "source", "other", "direction", "per")


def load(path: Path) -> Machine:
    """Read one chip's file; MachineError if it does not validate."""
    text = read_text(path, hint="Give a TOML file as docs/machines.md describes it.", error=MachineError)
    return build_machine(parse_toml(text, str(path)), path)


def build_machine(table: Mapping[str, Any], path: Path) -> Machine:
    """Build a Machine from a parsed file; MachineError for anything missing, misspelt or of a wrong unit."""
    root = Place(str(path))
    known_keys(table, TOP, root)
    sources = tuple(
        (key, string(text, root.at(f"sources.{key}"))) for key, text in subtable(table, "sources", root).items()
    )
    root = Place(str(path), "", sources, optional_string(table, "source", root))
    facts = list(peak_facts(table, "peak", root)) + list(peak_facts(table, "peak_sparse", root))
    if not any(key.startswith("peak.") for key, _ in facts):
        raise root.error(
            "there is no [peak] table", 'Needed: at least one, e.g. bf16 = { value = 1e15, unit = "FLOP/s" }.'
        )
    facts += plain_facts(table, "core", CORE, root)
    facts += plain_facts(table, "hbm", {"bandwidth": "B/s", "capacity": "B"}, root)
    facts += plain_facts(table, "price", {"hour": "USD/s"}, root)
    networks, network_facts = build_networks(subtable(table, "network", root), root.at("network"))
    values = {key: fact.value for key, fact in facts}
    name = optional_string(table, "name", root) or path.stem
    return Machine(
        name=name,
        title=optional_string(table, "title", root) or name,
        peaks=tuple((key[5:], value) for key, value in values.items() if key.startswith("peak.")),
        sparse_peaks=tuple((key[12:], value) for key, value in values.items() if key.startswith("peak_sparse.")),
        core=tuple((key[5:], value) for key, value in values.items() if key.startswith("core.")),
        hbm_bandwidth=values.get("hbm.bandwidth"),
        hbm_capacity=values.get("hbm.capacity"),
        networks=networks,
        chips_per_host=optional_count(table, "chips_per_host", root),
        price=values.get("price.hour"),
        aliases=strings(table, "aliases", root),
        facts=(*facts, *network_facts),
    )


def peak_facts(table: Mapping[str, Any], kind: str, root: Place) -> Iterable[tuple[str, Fact]]:
    """Yield the peak rates of one table, keyed `peak.bf16`."""
    rows = subtable(table, kind, root)
    known_keys(rows, DTYPES, root.at(kind))
    return [(f"{kind}.{dtype}", fact(row, "FLOP/s", root.at(f"{kind}.{dtype}"))) for dtype, row in rows.items()]


def plain_facts(table: Mapping[str, Any], name: str, units: Mapping[str, str], root: Place) -> list[tuple[str, Fact]]:
    """Return the values of a table whose keys each have one unit."""
    rows = subtable(table, name, root)
    known_keys(rows, units, root.at(name))
    return [(f"{name}.{key}", fact(row, units[key], root.at(f"{name}.{key}"))) for key, row in rows.items()]


def build_networks(tables: Mapping[str, Any], place: Place) -> tuple[tuple[Network, ...], tuple[tuple[str, Fact], ...]]:
    """Return the networks and the facts they rest on."""
    known_keys(tables, BANDWIDTH, place)
    pairs = [build_network(name, subtable(tables, name, place), place.at(name)) for name in tables]
    return tuple(pair[0] for pair in pairs), tuple(row for pair in pairs for row in pair[1])


def build_network(name: str, table: Mapping[str, Any], place: Place) -> tuple[Network, list[tuple[str, Fact]]]:
    """Return one network and its facts, its bandwidth turned into one direction of one link (or egress)."""
    known_keys(table, NETWORK_KEYS, place)
    kind = one_of(table, "kind", KINDS, place)
    pod = tuple(count(size, place.at("pod")) for size in array(table, "pod", place))
    bandwidth = fact(required(table, "bandwidth", place), "B/s", place.at("bandwidth"), bandwidth=True)
    facts = [(f"{place.path}.bandwidth", bandwidth)]
    if "hop_time" in table:
        facts.append((f"{place.path}.hop_time", fact(table["hop_time"], "s", place.at("hop_time"))))
    if kind == "torus" and bandwidth.per == "chip" and not pod:
        raise place.error("a bandwidth per chip of a torus without its axes", 'Needed: pod = [16, 16] or per = "link".')
    levels = [build_level(row, place.at("levels")) for row in array(table, "levels", place)]
    facts += [(f"{place.path}.{level.name}.bandwidth", stated) for level, stated in levels]
    network = Network(
        name=name,
        kind=kind,
        one_way=one_way(bandwidth, kind, len(pod) or 1),
        hop_time=dict(facts)[f"{place.path}.hop_time"].value if "hop_time" in table else None,
        pod=pod,
        wrap=build_wrap(subtable(table, "wrap", place), place.at("wrap")),
        domain=optional_count(table, "domain", place),
        levels=tuple(level for level, _ in levels),
        in_network_reduction=boolean(table, "in_network_reduction", place),
    )
    return network, facts


def one_way(bandwidth: Fact, kind: str, axes: int) -> sp.Rational:
    """Return one direction of one link (torus) or one chip's egress (switch) [B/s].

    `both` counts both directions; `per = "chip"` counts all 2·axes links of a torus's chip. A vendor's
    8e11 B/s "bidirectional per chip" on two axes is 8e11/2/(2·2) = 2e11 per link.
    """
    value = bandwidth.value / (2 if bandwidth.direction == "both" else 1)
    return value / (2 * axes) if kind == "torus" and bandwidth.per == "chip" else value


def build_wrap(table: Mapping[str, Any], place: Place) -> Wrap:
    """Return the wrap rule; a torus that states none always wraps."""
    if not table:
        return Wrap()
    known_keys(table, ("rule", "of", "source"), place)
    rule = one_of(table, "rule", RULES, place)
    if rule in ("always", "never"):
        return Wrap(rule)
    return Wrap(rule, count(required(table, "of", place), place.at("of")))


def build_level(row: object, place: Place) -> tuple[Level, Fact]:
    """Return one level of a fat tree, and the fact that its bandwidth rests on."""
    table = mapping(row, place)
    known_keys(table, ("name", "size", "bandwidth"), place)
    value = fact(required(table, "bandwidth", place), "B/s", place.at("bandwidth"), bandwidth=True)
    size = count(required(table, "size", place), place.at("size"))
    return Level(string(required(table, "name", place), place.at("name")), size, one_way(value, "switch", 1)), value


def fact(row: object, unit: str, place: Place, *, bandwidth: bool = False) -> Fact:
    """Return one value in base units, its unit checked against the needed one."""
    table = mapping(row, place)
    known_keys(table, VALUE_KEYS if bandwidth else VALUE_KEYS[:4], place)
    word = string(required(table, "unit", place), place.at("unit"))
    source = optional_string(table, "source", place) or place.default_source
    if not source:
        raise place.error("no source", 'Needed: source = "…" here, or one for the whole file at its top.')
    return Fact(
        value=positive(required(table, "value", place), place.at("value")) * factor(word, unit, place.at("unit")),
        unit=word,
        source=dict(place.sources).get(source, source),
        direction=one_of(table, "direction", DIRECTIONS, place) if bandwidth else "",
        per=one_of({"per": "link", **table}, "per", SCOPES, place) if bandwidth else "",
        other=tuple(other_fact(row, table, unit, place.at("other")) for row in array(table, "other", place)),
    )


def other_fact(row: object, main: Mapping[str, Any], unit: str, place: Place) -> Fact:
    """Return another stated value; unit, direction and scope are the main one's unless given."""
    inherited = {key: main[key] for key in ("unit", "direction", "per") if key in main}
    return fact({**inherited, **mapping(row, place)}, unit, place, bandwidth="direction" in main)


def factor(word: str, needed: str, place: Place) -> sp.Rational:
    """Return how many base units one `word` is; MachineError if its dimension is not that of `needed`."""
    try:
        unit = parse_unit(word)
    except UnitError as error:
        raise place.error(f"unknown unit {word!r}", f"Needed: a unit such as {needed}. {error.hint}".strip()) from error
    if unit.dimension != parse_unit(needed).dimension:
        raise place.error(f"{word!r} is not the right kind of unit", f"Needed: a unit such as {needed}.")
    return unit.factor
