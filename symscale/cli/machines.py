"""`symscale machines`: the chips, their numbers and where these come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from symscale.cli.options import chips, text_option

if TYPE_CHECKING:
    from symscale.machine import Machine


@click.command()
@click.argument("name", default="", shell_complete=chips)
@text_option("--machine", "machine_file", metavar="FILE.toml", help="Check and show your own chip.")
def machines(name: str, machine_file: str) -> None:
    """List the chips, or show all values of one, each with unit, direction and source.

    \b
    symscale machines
    symscale machines tpu-v5p
    symscale machines --machine my.toml
    """
    from symscale.cli.options import chip

    found = chip(name, machine_file)
    click.echo("\n".join(all_chips() if found is None else one_chip(found)))


def all_chips() -> list[str]:
    """Return a line per chip: peak, HBM, the network between neighbours."""
    from symscale.machine import machine
    from symscale.machine import machines as names
    from symscale.notation.numbers import format_quantity

    rows = [("chip", "bf16 peak", "HBM", "bandwidth", "network", "one way", "aliases")]
    for name in names():
        each = machine(name)
        main = each.main_network
        peaks = dict(each.peaks)
        rows.append(
            (
                name,
                format_quantity(peaks["bf16"], "FLOP/s") if "bf16" in peaks else "-",
                format_quantity(each.hbm_capacity, "B") if each.hbm_capacity is not None else "-",
                format_quantity(each.hbm_bandwidth, "B/s") if each.hbm_bandwidth is not None else "-",
                main.name if main is not None else "-",
                format_quantity(main.one_way, "B/s") if main is not None and main.one_way is not None else "-",
                ", ".join(each.aliases),
            )
        )
    return [*aligned(rows), "", "Peaks are dense. `symscale machines NAME` shows every value with its source."]


def one_chip(each: Machine) -> list[str]:
    """Return every value of a chip as its source states it."""
    from symscale.notation.numbers import format_number
    from symscale.quantity import parse_unit

    lines = [f"{each.title} ({each.name})"]
    if each.aliases:
        lines.append(f"Also called {', '.join(each.aliases)}.")
    for network in each.networks:
        pod = f", pod {' × '.join(map(str, network.pod))}" if network.pod else ""
        domain = f", {network.domain} chips" if network.domain else ""
        wrap = f", wraps: {network.wrap.rule} {network.wrap.of}" if network.kind == "torus" else ""
        lines.append(f"Network {network.name}: {network.kind}{pod}{domain}{wrap}.")
    rows = [("value", "number", "unit", "direction", "source")]
    for key, fact in each.facts:
        for place, stated in enumerate((fact, *fact.other)):
            where = " ".join(filter(None, (stated.direction.replace("_", " "), stated.per and f"per {stated.per}")))
            name = key if place == 0 else "  also stated"
            number = format_number(stated.value / parse_unit(stated.unit).factor, 6)
            rows.append((name, number, stated.unit, where, stated.source))
    return [*lines, "", *aligned(rows)]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with their columns under one another."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
