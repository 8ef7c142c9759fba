"""Chips as JSON: every value in base units, with its unit as stated, direction and source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.machine import Fact, Machine, Network

VERSION = "1.0"


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
