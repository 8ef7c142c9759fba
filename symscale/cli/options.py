"""Options that several commands share, and how their words become values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import sympy as sp

    from symscale.derivation.question import Question
    from symscale.machine import Machine

F = TypeVar("F", bound=Callable[..., Any])
NETWORKS = ("ici", "dcn", "nvlink", "ib", "pcie")


def chips(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a chip."""
    from symscale.machine import machines

    return [name for name in machines() if name.startswith(incomplete)]


def filled(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """Refuse an option that is given but empty, as an unset variable of a shell leaves it."""
    if value is not None and not value.strip():
        from symscale.errors import SymscaleError

        raise SymscaleError(f"{parameter.opts[0]} is empty.", hint="Leave it out, or give it a value.")
    if value is None and parameter.required:
        raise click.MissingParameter(ctx=context, param=parameter)
    return value or ""


def text_option(*names: str, metavar: str, help: str, **more: Any) -> Callable[[F], F]:
    """Return an option that holds a text: "" where it is not given, never a blank one."""
    return click.option(*names, default=None, metavar=metavar, help=help, callback=filled, **more)


ON = text_option("--on", "on", metavar="CHIP", shell_complete=chips, help="Put in a chip's numbers (see `machines`).")
MACHINE = text_option("--machine", "machine_file", metavar="FILE.toml", help="Your own chip.")
SET = click.option("--set", "sets", multiple=True, metavar="D=8192", help="Give a number, or link: F=4*D.")
LET = click.option("--let", "lets", multiple=True, metavar="T1=2*B*D*F/C", help="Name a formula for use in others.")
ASSUME = text_option("--assume", metavar="'B << D, F'", help="Limits of the approximate form.")
EXACT = click.option("--exact", is_flag=True, help="Stop at the exact form.")
FORMAT = click.option("--format", "style", default="text", show_default=True, help="text, md, latex or json.")
OUTPUT = text_option("--output", "-o", metavar="FILE", help="Write to a file, not to the terminal.")

PROGRAM = (
    text_option("--mesh", metavar="X=16,Y=4", help="Mesh sizes; without it they stay symbols."),
    text_option("--axes", metavar="X=3,P=dcn", help="Physical axes (M_X) or network of a mesh axis."),
    click.option("--dtype", default="bf16", show_default=True, help="Dtype of arrays that declare none."),
    click.option("--overlap", default="max", show_default=True, help="max, axes-serial or sum."),
    ON,
    MACHINE,
    SET,
    LET,
    click.option("--latency", is_flag=True, help="Count hops times T_hop as well as bytes over bandwidth."),
    click.option("--regather", is_flag=True, help="Free gathered activations and gather them again."),
)


def with_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options in the order given."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def question(program: str, **options: Any) -> Question:
    """Return the question that a program and the shared options ask."""
    from symscale.derivation.formulae import assignments, followed
    from symscale.derivation.question import Question
    from symscale.errors import SymscaleError

    lets = followed(assignments(options["lets"]))
    if options.get("minimize") and not options.get("subject_to"):
        raise SymscaleError(
            f"--minimize {options['minimize']} needs a constraint: without one the best axis is not bounded.",
            hint='Add --subject-to "X*Y = N", the mesh that a fixed number of chips allows.',
        )
    if options.get("assume") and not options.get("solve"):
        raise SymscaleError("--assume is a limit of an answer, and nothing is asked.", hint="Add --solve B.")
    return Question(
        program,
        solve=named(options.get("solve", ""), lets),
        on=chip(options["on"], options["machine_file"]),
        mesh=sizes(options["mesh"]),
        axes=placement(options["axes"]),
        dtype=options["dtype"],
        passes=options["passes"],
        overlap=options["overlap"],
        assume=options.get("assume", ""),
        exact=options.get("exact", False),
        minimize=options.get("minimize", ""),
        subject_to=options.get("subject_to", ""),
        values={name: value.subs(lets) for name, value in assignments(options["sets"]).items()},
        latency=options["latency"],
        regather=options["regather"],
    )


def named(text: str, lets: Mapping[sp.Symbol, sp.Expr]) -> str:
    """Return a formula with the names of --let replaced by what they stand for."""
    if not lets or not text:
        return text
    from symscale.notation.formula import parse_formula
    from symscale.notation.text import to_text

    return to_text(parse_formula(text).expr.subs(lets))


def chip(name: str, file: str) -> Machine | None:
    """Return the machine the options name, if any."""
    from symscale.errors import MachineError
    from symscale.machine import load_machine, machine

    if name and file:
        raise MachineError("Both --on and --machine are given.", hint="Use one of them.")
    return load_machine(file) if file else machine(name) if name else None


def sizes(text: str) -> dict[str, sp.Expr]:
    """Return the mesh sizes of `X=16,Y=4`: whole numbers, or formulas."""
    from symscale.derivation.sizes import LARGEST, finite
    from symscale.errors import NotationError
    from symscale.notation.formula import parse_assignments

    found = parse_assignments(text) if text else {}
    for name, size in found.items():
        finite(name, size)
        if size.is_number and not (size.is_Integer and 1 <= size <= LARGEST):
            shown = size if size.is_finite and abs(size) <= LARGEST else "that many"
            raise NotationError(f"The mesh axis {name} cannot have {shown} chips.", hint="Give a whole number from 1.")
    return found


def placement(text: str) -> dict[str, sp.Expr | str]:
    """Return where `X=3,P=dcn` lays mesh axes: on a number of physical axes, or on a network."""
    from symscale.errors import NotationError
    from symscale.notation.formula import parse_formula

    found: dict[str, sp.Expr | str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, where = (each.strip() for each in part.partition("="))
        if not equals or not where or not name:
            raise NotationError(
                f"{part!r} places no axis.", text=text, position=text.find(part), hint="Write X=3 or P=dcn."
            )
        if where.lower() in NETWORKS:
            found[name] = where.lower()
            continue
        links = parse_formula(where).expr
        named = all(str(each).startswith("M_") for each in links.free_symbols)
        if not named or (links.is_number and not (links.is_Integer and 1 <= links <= 100)):
            raise NotationError(
                f"The axis {name} cannot lie on {where[:40]!r}.",
                text=text,
                position=text.find(where, text.find(part)),
                hint=f"Give a number of physical axes from 1, a symbol M_{name}, or a network: {', '.join(NETWORKS)}.",
            )
        found[name] = links
    return found
