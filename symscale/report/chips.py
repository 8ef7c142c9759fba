"""Chips: their values as rows and as JSON, each with its unit as stated, direction and source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.machine import Fact, Machine, Network
from symscale.notation.numbers import format_number, format_quantity
from symscale.quantity import parse_unit

VERSION = "1.0"


HEADS = ("value", "number", "unit", "direction", "source")


def chip_rows(each: Machine) -> list[tuple[str, str, str, str, str]]:
    """Return every value of a chip as its source states it, below the heads `HEADS`."""
    rows = []
    for key, fact in each.facts:
        for place, stated in enumerate((fact, *fact.other)):
            where = " ".join(filter(None, (stated.direction.replace("_", " "), stated.per and f"per {stated.per}")))
            name = key if place == 0 else "  also stated"
            number = format_number(stated.value / parse_unit(stated.unit).factor, 6)
            rows.append((name, number, stated.unit, where, stated.source))
    return rows


def chip_notes(each: Machine) -> list[str]:
    """Return what a chip is also called, and its networks, a line each."""
    lines = [f"Also called {', '.join(each.aliases)}."] if each.aliases else []
    for network in each.networks:
        pod = f", pod {' × '.join(map(str, network.pod))}" if network.pod else ""
        domain = f", {network.domain} chips" if network.domain else ""
        lines.append(f"Network {network.name}: {network.kind}{pod}{domain}{_wrapping(network)}.")
        node = next((other.domain for other in each.networks if other.domain and other.kind == "switch"), None)
        if network.kind == "tree" and len(network.levels) == 1 and node and network.levels[0].size < node:
            size = network.levels[0].size
            lines.append(
                f"  A part of one node: {size} of the {node} chips behind its switch, which joins any of them."
            )
        lines += [
            f"  {level.name}: joins {level.size}, {format_quantity(level.bandwidth, 'B/s')} one way each"
            for level in network.levels
        ]
    return lines


def _wrapping(network: Network) -> str:
    """Say when the axes of a torus close into rings, or which of a slice's do."""
    if network.kind != "torus":
        return ""
    if network.rings:
        return ", " + ", ".join("ring" if ring else "line" for ring in network.rings)
    return f", wraps: {network.wrap.rule} {network.wrap.of}"


def chips_json(chips: Sequence[Machine]) -> str:
    """Return chips as JSON text in the schema `symscale.machines/1.0` of docs/json.md."""
    document = {"schema": f"symscale.machines/{VERSION}", "machines": [_chip(each) for each in chips]}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _chip(each: Machine) -> dict[str, Any]:
    return {
        "name": each.name,
        "title": each.title,
        "aliases": list(each.aliases),
        "chips_per_host": each.chips_per_host,
        "constants": {name: _exact(value) for name, value in each.constants().items()},
        "networks": [_network(network) for network in each.networks],
        "values": [{"key": key, **_fact(fact)} for key, fact in each.facts],
    }


def _network(network: Network) -> dict[str, Any]:
    torus = network.kind == "torus"
    return {
        "name": network.name,
        "kind": network.kind,
        "one_way": _exact(network.one_way),
        "hop_time": _exact(network.hop_time),
        "pod": list(network.pod),
        "wrap": {"rule": network.wrap.rule, "of": network.wrap.of} if torus else None,
        "rings": list(network.rings),
        "domain": network.domain,
        "levels": [
            {"name": level.name, "size": level.size, "bandwidth": _exact(level.bandwidth)} for level in network.levels
        ],
        "in_network_reduction": network.in_network_reduction,
    }


def _fact(fact: Fact) -> dict[str, Any]:
    found: dict[str, Any] = {"value": _exact(fact.value), "unit": fact.unit, "source": fact.source}
    if fact.direction:
        found |= {"direction": fact.direction, "per": fact.per}
    return {**found, "other": [_fact(other) for other in fact.other]}


def _exact(value: sp.Rational | None) -> int | str | None:
    """Return a whole number as one, another as the text of its fraction."""
    if value is None:
        return None
    return int(value) if value.is_Integer else str(value)
