"""`symscale machines`: the chips, their numbers and where these come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symscale.cli.options import OUTPUT, chips, text_option, with_options
from symscale.cli.output import OwnCommand, write

if TYPE_CHECKING:
    from symscale.machine import Machine


@click.command(cls=OwnCommand)
@click.argument("name", default="", shell_complete=chips)
@with_options(
    text_option("--machine", "machine_file", metavar="FILE.toml", help="Check and show your own chip."),
    click.option("--format", "style", default="text", show_default=True, help="text or json."),
    OUTPUT,
)
def machines(name: str, machine_file: str, style: str, output: str) -> None:
    """List the chips, or show all values of one, each with unit, direction and source.

    \b
    symscale machines
    symscale machines tpu-v5p
    symscale machines h100:1024
    symscale machines --format json
    symscale machines --machine my.toml
    """
    from symscale.cli.options import chip

    if style not in ("text", "json"):
        from symscale.errors import SymscaleError

        raise SymscaleError(f"Unknown format {style[:40]!r}.", hint="Chips are printed as text or json.")
    found = chip(name, machine_file)
    if style == "json":
        from symscale.machine import known_machines, machine
        from symscale.report.chips import chips_json

        write(chips_json([found] if found is not None else [machine(each) for each in known_machines()]), output)
        return
    write("\n".join(all_chips() if found is None else one_chip(found)), output)


def all_chips() -> list[str]:
    """Return a line per chip: peak, HBM, the network between neighbours."""
    from symscale.machine import known_machines, machine
    from symscale.notation.numbers import format_quantity
    from symscale.report.grid import Column, aligned

    heads = ("chip", "bf16 peak", "HBM", "bandwidth", "network", "one way", "aliases")
    columns = [Column(head, head in ("bf16 peak", "HBM", "bandwidth", "one way")) for head in heads]
    rows = []
    for name in known_machines():
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
    return [*aligned(columns, rows), "", "Peaks are dense. `symscale machines NAME` shows every value with its source."]


def one_chip(each: Machine) -> list[str]:
    """Return every value of a chip as its source states it."""
    from symscale.report.chips import HEADS, chip_notes, chip_rows
    from symscale.report.grid import Column, aligned

    columns = [Column(head, head == "number") for head in HEADS]
    return [f"{each.title} ({each.name})", *chip_notes(each), "", *aligned(columns, chip_rows(each))]
