"""`symscale hlo`: what an operation of a compiled module is, and how far a measurement is from its roofline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from symscale.cli.options import FORMAT, MACHINE, ON, OUTPUT, text_option, with_options
from symscale.cli.output import OwnCommand, style_of, write

if TYPE_CHECKING:
    import sympy as sp

MOST_DEVICES = 1_000_000


@click.command(cls=OwnCommand)
@click.argument("hlo")
@with_options(
    ON,
    MACHINE,
    text_option("--measured", metavar="3.2ms", help="The time that a profile shows."),
    text_option("--mesh", metavar="X=4,Y=2", help="The mesh of the devices, the last axis the fastest."),
    text_option("--axes", metavar="X=2", help="Physical axes, or the network, of a mesh axis."),
    click.option("--latency", is_flag=True, help="Count hops times T_hop as well as bytes over bandwidth."),
    text_option("--rows", metavar="30", help="Operations that are shown, those that take the longest."),
    FORMAT,
    OUTPUT,
)
def hlo(
    hlo: str,
    on: str,
    machine_file: str,
    measured: str,
    mesh: str,
    axes: str,
    latency: bool,
    rows: str,
    style: str,
    output: str,
) -> None:
    """Say what HLO, an op line or a file of a compiled module (- reads it from a pipe), does and how long it takes.

    \b
    symscale hlo "%f = bf16[8,1024,16384] fusion(bf16[8,1024,8192] %x, bf16[8192,16384] %w), calls=%c" --on tpu-v5e
    symscale hlo "%r = bf16[8,8192] all-reduce(bf16[8,8192] %x), replica_groups=[1,16]<=[16]" --on v5e --measured 40us
    symscale hlo "%g = f32[8,8] all-gather(f32[2,8] %x), replica_groups=[2,4]<=[4,2]T(1,0)" --mesh X=4,Y=2
    """
    from symscale.cli.model import count
    from symscale.cli.options import chip, placement
    from symscale.errors import SymscaleError
    from symscale.hlo import Setting, read_hlo
    from symscale.report.hlo import hlo_report, profile
    from symscale.report.hlo_json import hlo_json

    style = style_of(style)
    spent = seconds(measured)
    sizes = mesh_of(mesh)
    machine = chip(on, machine_file)
    if machine is None and (measured or axes or latency):
        option = "--measured" if measured else "--axes" if axes else "--latency"
        raise SymscaleError(f"{option} needs a chip to compare with.", hint="Add --on tpu-v5e.")
    setting = None if machine is None else Setting(machine, sizes, placement(axes), latency)
    found = profile(read_hlo(text_of(hlo)), sizes, setting, spent, count("--rows", rows) or 30)
    write(hlo_json(found) if style == "json" else hlo_report(found, style), output)


def text_of(word: str) -> str:
    """Return the HLO that a word is, or that the file it names holds. Raises SymscaleError."""
    import sys
    from pathlib import Path

    from symscale.errors import SymscaleError
    from symscale.hlo.reader import MAX_LENGTH
    from symscale.textfile import decoded, read_text

    if word == "-":
        return decoded(sys.stdin.buffer.read(MAX_LENGTH + 1), "standard input")
    if "=" in word or "\n" in word or "{" in word or " " in word.strip() or not word.strip():
        return word
    hint = "Give a line such as '%y = bf16[8,64] dot(bf16[8,128] %x, …)', a file, or - for a pipe."
    if not os.path.exists(word):
        raise SymscaleError(f"{word[:60]!r} is no line of HLO, and no file that is there.", hint=hint)
    return read_text(Path(word), most=MAX_LENGTH, hint=hint)


def seconds(word: str) -> sp.Expr | None:
    """Return the time that a word gives, as in 3.2ms; None for "". Raises SymscaleError unless it is above 0."""
    from symscale.errors import SymscaleError, UnitError
    from symscale.quantity import parse_quantity
    from symscale.quantity.dimension import SECOND

    if not word:
        return None
    amount = parse_quantity(word)
    if amount.unit.dimension != SECOND:
        said = f"{amount.unit.word} is no time" if amount.unit.word else "a number alone is no time"
        raise UnitError(
            f"--measured is {word[:40]!r}, and {said}.", hint="Give a time with its unit: 3.2ms, 95 us, 0.1 s."
        )
    if amount.value <= 0:
        raise SymscaleError(f"--measured is {word[:40]!r}: nothing takes no time.", hint="Give a time above 0.")
    return amount.value


def mesh_of(text: str) -> dict[str, int]:
    """Return the sizes of mesh axes in numbers. Raises SymscaleError."""
    from math import prod

    from symscale.cli.options import sizes
    from symscale.errors import SymscaleError

    found = sizes(text)
    for name, size in found.items():
        if not size.is_Integer:
            raise SymscaleError(f"The mesh axis {name} is no number.", hint=f"Devices are counted: {name}=8.")
    numbers = {name: int(size) for name, size in found.items()}
    if prod(numbers.values()) > MOST_DEVICES:
        raise SymscaleError(
            f"A mesh of more than {MOST_DEVICES:,} devices is not read.", hint="Give the mesh of a slice."
        )
    return numbers
