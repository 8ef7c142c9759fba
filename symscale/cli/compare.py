"""`symscale compare`: which of two programs is faster, and where."""

from __future__ import annotations

from typing import Any

import click

from symscale.cli.options import ASSUME, OUTPUT, PAGE, PROGRAM, question, text_option, with_options
from symscale.cli.output import OwnCommand, rendered, style_of, write


@click.command(cls=OwnCommand)
@click.argument("first")
@click.argument("second")
@with_options(
    text_option("--solve", metavar="B", help="Unknown of the border; the first dimension if not given."),
    click.option("--passes", default="forward", show_default=True, help="forward, backward or both."),
    ASSUME,
    *PROGRAM,
    PAGE,
    OUTPUT,
)
def compare(first: str, second: str, style: str, output: str, **options: Any) -> None:
    """Compare the time of two programs, the larger of arithmetic and communication (see --overlap).

    \b
    Gather first, or reduce afterwards?
      symscale compare "A[I, J_X] -> G[I, J]; G * B[J, K] -> C[I, K]" \\
        "A[I, J_X] * B[J_X, K] -> C[I, K]" --solve J --on tpu-v5e
    One axis for the same number of chips, or two?
      symscale compare "In[B_Z, D] * W[D_Z, F] -> Out[B_Z, F]" \\
        "In[B_X, D_Y] * W[D_X, F_Y] -> Out[B_X, F_Y]" --mesh "Z=X*Y"
    """
    style = style_of(style, "html")
    asked = question(first, **options)
    from symscale.derivation.comparison import compare as compared

    found = compared(asked, second)
    from symscale import report

    write(rendered(found.derivation, style, lambda: report.steps_json(found.derivation, found.crossovers)), output)
