"""`symscale derive`: from a sharded program to its costs, crossovers and optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symscale.cli.options import ASSUME, EXACT, OUTPUT, PAGE, PROGRAM, question, text_option, with_options
from symscale.cli.output import OwnCommand, rendered, style_of, write

if TYPE_CHECKING:
    from symscale.derivation.question import Answered
    from symscale.derivation.stack import Table


@click.command(cls=OwnCommand)
@click.argument("program")
@with_options(
    text_option(
        "--solve", metavar="B", help="The unknown: a dimension B, an axis Y, a ratio B/X, a rate W_ici or C, N_chips."
    ),
    text_option("--minimize", metavar="X", help="Mesh axis to choose for the least communication."),
    text_option("--subject-to", metavar="X*Y=N", help="Constraint of the mesh."),
    ASSUME,
    EXACT,
    click.option("--passes", default="both", show_default=True, help="forward, backward, update or both."),
    *PROGRAM,
    text_option("--layers", metavar="L", help="Times of a stack of this many layers."),
    text_option(
        "--table", metavar="B=1k:1M:*2", help="Times and what binds, for start:stop:step, start:stop:*factor or a list."
    ),
    PAGE,
    OUTPUT,
)
def derive(program: str, style: str, output: str, layers: str, table: str, **options: Any) -> None:
    """Derive the collectives, costs, times and crossovers of a sharded PROGRAM.

    \b
    When does FSDP hide its gathers, and from how many tokens per chip on?
      symscale derive "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]" --solve B --on tpu-v5p
    Two chips, contraction split:
      symscale derive "A[I, J_X] * B[J_X, K] -> C[I, K]" --mesh X=2 --solve J --on tpu-v5e
    The best mesh of FSDP with tensor parallelism:
      symscale derive "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]" \\
        --axes X=M_X,Y=M_Y --minimize X --subject-to "X*Y = N" --solve B --passes forward
    What network does it need?
      symscale derive "In[B_X, D] * W[D_X, F] -> Out[B_X, F]" --solve W_ici --set B=64k --on tpu-v5e
    A table over the batch:
      symscale derive "x[B, D] * W[D, F] -> y[B, F]" --on tpu-v5e --set D=8192,F=4*D --table "B=1:4k:*2"
    """
    style = style_of(style, "html")
    if style == "html" and table:
        from symscale.errors import SymscaleError

        raise SymscaleError("A page has no table of --table.", hint="Leave it out: a page's inputs vary.")
    write(printed(*answer(program, layers, table, **options), style), output)


def answer(program: str, layers: str = "", table: str = "", **options: Any) -> tuple[Answered, Table | None]:
    """Return the answer to what the options of the command ask, and its table where one is asked for."""
    from symscale.derivation.question import derive as answer
    from symscale.derivation.stack import stacked, tabulated

    answered = answer(question(program, **options))
    found = tabulated(answered, table, layers) if table else None
    return (stacked(answered, layers) if layers else answered), found


def printed(answered: Answered, found: Table | None, style: str) -> str:
    """Return an answer and its table in a format of the command."""
    from symscale import report

    text = rendered(answered.derivation, style, lambda: report.json(answered, found))
    if found is not None and style != "json":
        from symscale.report.tables import table as tabular

        text = f"{text.rstrip()}\n\n{tabular(found, style)}"
    return text
