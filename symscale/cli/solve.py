"""`symscale solve`: where one formula exceeds another."""

from __future__ import annotations

import click

from symscale.cli.options import ASSUME, EXACT, LET, MACHINE, ON, OUTPUT, PAGE, SET, chip, text_option, with_options
from symscale.cli.output import OwnCommand, rendered, style_of, write


@click.command(cls=OwnCommand)
@click.argument("relation")
@with_options(
    text_option("--for", "unknown", required=True, metavar="B", help="What to solve for: a symbol, or B/X."),
    ASSUME,
    EXACT,
    SET,
    LET,
    click.option("--unit", "units", multiple=True, metavar="W_pcie=B/s", help="Unit of a symbol of your own."),
    click.option("--dtype", default="", metavar="bf16", help="Put in bytes per element b (bf16 on a chip)."),
    ON,
    MACHINE,
    PAGE,
    OUTPUT,
)
def solve(
    relation: str,
    unknown: str,
    assume: str,
    exact: bool,
    sets: tuple[str, ...],
    lets: tuple[str, ...],
    units: tuple[str, ...],
    dtype: str,
    on: str,
    machine_file: str,
    style: str,
    output: str,
) -> None:
    """Solve a RELATION between formulas, with the conditions under which the answer holds.

    \b
    The roofline of a matrix product:
      symscale solve "2*B*D*F/C >= b*(B*D + D*F + B*F)/W_hbm" --for B --on tpu-v5e --assume "B << D, F"
    With names for the two sides:
      symscale solve "T1 >= T2" --for B --let T1=2*B*D*F/C --let "T2=2*b*D*F/W_ici" --set D=8192
    """
    style = style_of(style, "html")
    from symscale.derivation.formulae import Asked, assignments, given_units, solve_relation

    dimensions = given_units(units)
    if exact:
        assume = ""
    found = solve_relation(
        Asked(
            relation,
            unknown,
            assignments(lets),
            assignments(sets),
            dimensions,
            assume=assume,
            on=chip(on, machine_file),
            dtype=dtype,
        )
    )
    from symscale import report

    write(rendered(found.derivation, style, lambda: report.steps_json(found.derivation, (found.crossover,))), output)
