"""The command line: commands, nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import sympy as sp

    from symscale.machine import Machine

F = TypeVar("F", bound=Callable[..., Any])
OK, WRONG, USAGE = 0, 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="symscale")
def cli() -> None:
    """Derive closed forms of LLM scaling maths from one line of sharded notation.

    \b
    symscale derive "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]" --solve B --on tpu-v5p
    symscale solve "2*B*D*F/C >= b*(B*D + D*F + B*F)/W_hbm" --for B
    symscale machines
    symscale list
    """


_PROGRAM_OPTIONS = (
    click.option("--mesh", default="", metavar="X=16,Y=4", help="Mesh sizes; without it they stay symbols."),
    click.option("--axes", default="", metavar="X=3,P=dcn", help="Physical axes (M_X) or network of a mesh axis."),
    click.option("--dtype", default="bf16", show_default=True, help="Dtype of arrays that declare none."),
    click.option("--passes", default="both", show_default=True, help="forward, backward or both."),
    click.option("--overlap", default="max", show_default=True, help="max, axes-serial or sum."),
    click.option("--on", "on", default="", metavar="CHIP", help="Put in a chip's numbers (see `machines`)."),
    click.option("--machine", "machine_file", default="", metavar="FILE.toml", help="Your own chip."),
    click.option("--set", "sets", multiple=True, metavar="D=8192", help="Give a size, or link: F=4*D."),
    click.option("--latency", is_flag=True, help="Count hops times T_hop as well as bytes over bandwidth."),
    click.option("--regather", is_flag=True, help="Free gathered activations and gather them again."),
)


def program_options(command: F) -> F:
    """Add the options that say how a program lies on a machine."""
    for option in reversed(_PROGRAM_OPTIONS):
        command = option(command)
    return command


@cli.command()
@click.argument("program")
@program_options
@click.option("--solve", default="", metavar="B", help="Unknown of the crossover: B, Y, B/X, W_ici, C …")
@click.option("--minimize", default="", metavar="X", help="Mesh axis to choose for the least communication.")
@click.option("--subject-to", default="", metavar="X*Y=N", help="Constraint of the mesh.")
@click.option("--assume", default="", metavar="B << D, F", help="Limits of the approximate form.")
@click.option("--exact", is_flag=True, help="Stop at the exact form.")
@click.option("--format", "style", default="text", show_default=True, help="text, md, latex or json.")
@click.option("--output", "-o", default="", metavar="FILE", help="Write to a file instead of the terminal.")
def derive(program: str, style: str, output: str, **options: Any) -> None:
    """Derive the collectives, costs, times and crossovers of a sharded PROGRAM.

    \b
    symscale derive "A[I, J_X] * B[J_X, K] -> C[I, K]" --mesh X=2 --solve J --on tpu-v5e
    symscale derive "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]" \\
        --axes X=M_X,Y=M_Y --minimize X --subject-to "X*Y = N" --solve B --passes forward
    """
    from symscale.derivation.question import derive as answer

    rendered = _rendered(style)
    write(rendered(answer(_question(program, **options))), output)


def _question(program: str, **options: Any) -> Any:
    from symscale.derivation.question import Question
    from symscale.notation.formula import parse_assignments

    return Question(
        program,
        solve=options.get("solve", ""),
        on=chip(options["on"], options["machine_file"]),
        mesh=_sizes(options["mesh"]),
        axes=_placement(options["axes"]),
        dtype=options["dtype"],
        passes=options["passes"],
        overlap=options["overlap"],
        assume=options.get("assume", ""),
        exact=options.get("exact", False),
        minimize=options.get("minimize", ""),
        subject_to=options.get("subject_to", ""),
        values={k: v for each in options["sets"] for k, v in parse_assignments(each).items()},
        latency=options["latency"],
        regather=options["regather"],
    )


def chip(name: str, file: str) -> Machine | None:
    """Return the machine the options name, if any."""
    from symscale.errors import MachineError
    from symscale.machine import load_machine, machine

    if name and file:
        raise MachineError("Both --on and --machine are given.", hint="Use one of them.")
    return load_machine(file) if file else machine(name) if name else None


def _sizes(text: str) -> dict[str, sp.Expr]:
    from symscale.errors import NotationError
    from symscale.notation.formula import parse_assignments

    found = parse_assignments(text) if text else {}
    for name, size in found.items():
        if size.is_number and not (size.is_Integer and size >= 1):
            raise NotationError(f"The mesh axis {name} cannot have {size} chips.", hint="Give a whole number from 1.")
    return found


def _placement(text: str) -> dict[str, sp.Expr | str]:
    from symscale.errors import NotationError
    from symscale.notation.formula import parse_formula

    found: dict[str, sp.Expr | str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, where = (each.strip() for each in part.partition("="))
        if not equals or not where:
            raise NotationError(f"{part!r} places no axis.", text=text, position=text.find(part), hint="Write X=3 or P=dcn.")
        if where.lower() in ("ici", "dcn", "nvlink", "ib", "pcie"):
            found[name] = where.lower()
            continue
        links = parse_formula(where).expr
        if links.is_number and not (links.is_Integer and links >= 1):
            raise NotationError(f"The axis {name} cannot span {where} physical axes.", hint="Give a whole number from 1.")
        found[name] = links
    return found


def _rendered(style: str) -> Callable[[Any], str]:
    from symscale import report
    from symscale.errors import SymscaleError

    table: dict[str, Callable[[Any], str]] = {
        "text": lambda found: report.text(found.derivation),
        "md": lambda found: report.markdown(found.derivation),
        "latex": lambda found: report.latex(found.derivation),
        "json": report.json,
    }
    if style not in table:
        raise SymscaleError(f"Unknown format {style!r}.", hint=f"Use one of {', '.join(table)}.")
    return table[style]


def write(text: str, output: str) -> None:
    """Print a text, or write it to a file in one piece."""
    if not output:
        click.echo(text)
        return
    from symscale.report.files import write_atomically

    write_atomically(output, text + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; every error is one paragraph on stderr and exit code 2."""
    from symscale.errors import SymscaleError

    try:
        code = cli.main(args=arguments, prog_name="symscale", standalone_mode=False)
    except SymscaleError as error:
        click.echo(f"symscale: {error}", err=True)
        code = USAGE
    except click.ClickException as error:
        error.show()
        code = USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("symscale: interrupted.", err=True)
        code = USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OK
    except RecursionError:
        click.echo("symscale: the input is nested too deeply to read. Name parts of it.", err=True)
        code = USAGE
    sys.exit(code if isinstance(code, int) else OK)


if __name__ == "__main__":
    main()
