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
NETWORKS = ("ici", "dcn", "nvlink", "ib", "pcie", "tree", "node", "leaf", "spine", "core")


def chips(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a chip."""
    from symscale.cli.output import completed
    from symscale.machine import known_machines

    return completed(known_machines, incomplete)


def filled(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str:
    """Refuse an option that is given twice, or empty, as an unset variable of a shell leaves it."""
    from symscale.errors import SymscaleError

    if len(values) > 1:
        said = " and ".join(repr(each[:40]) for each in values[:2])
        raise SymscaleError(
            f"{parameter.opts[0]} is given {len(values)} times: {said}.",
            hint=f"Give it once{', with commas between its parts' if ',' in str(parameter.metavar) else ''}.",
        )
    if values and not values[0].strip():
        raise SymscaleError(f"{parameter.opts[0]} is empty.", hint="Leave it out, or give it a value.")
    if not values and parameter.required:
        raise click.MissingParameter(ctx=context, param=parameter)
    return values[0] if values else ""


def text_option(*names: str, metavar: str, help: str, **more: Any) -> Callable[[F], F]:
    """Return an option that holds a text: "" where it is not given, never a blank one."""
    return click.option(*names, multiple=True, metavar=metavar, help=help, callback=filled, **more)


ON = text_option("--on", "on", metavar="CHIP", shell_complete=chips, help="A chip, slice v5e:4x16, cluster h100:1024.")
MACHINE = text_option("--machine", "machine_file", metavar="FILE.toml", help="Your own chip.")
SET = click.option(
    "--set", "sets", multiple=True, metavar="D=8192", help="Give a number, or link: F=4*D; k, M, Ki and units are read."
)
LET = click.option("--let", "lets", multiple=True, metavar="T1=2*B*D*F/C", help="Name a formula for use in others.")
ASSUME = text_option(
    "--assume", metavar="'B << D, F'", help="Limits of the approximate form, instead of the usual (mesh axes are long)."
)
EXACT = click.option("--exact", is_flag=True, help="Stop at the exact form.")
FORMAT = click.option("--format", "style", default="text", show_default=True, help="text, md, latex or json.")
PAGE = click.option("--format", "style", default="text", show_default=True, help="text, md, latex, json or html.")
OUTPUT = text_option("--output", "-o", metavar="FILE", help="Write to a file, not to the terminal.")

PROGRAM = (
    text_option(
        "--mesh", metavar="X=16,Y=4", help="Sizes of mesh axes, symbols without it; Z=X*Y links one to others."
    ),
    text_option("--axes", metavar="X=3,P=dcn", help="Physical axes of a mesh axis (3, or M_X), or its network."),
    click.option("--dtype", default="bf16", show_default=True, help="Dtype of arrays that declare none."),
    click.option(
        "--overlap",
        default="max",
        show_default=True,
        help="max (all overlap), axes-serial (mesh axes take turns) or sum (nothing overlaps).",
    ),
    ON,
    MACHINE,
    SET,
    LET,
    click.option("--latency", is_flag=True, help="Count hops times T_hop as well as bytes over bandwidth."),
    click.option("--in-network", is_flag=True, help="Switches add up the sums of AllReduces (SHARP)."),
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
    if options.get("subject_to") and not (options.get("solve") or options.get("minimize")):
        raise SymscaleError("--subject-to constrains an answer, and nothing is asked.", hint="Add --solve B.")
    _used(lets, options)
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
        values={name: value.subs(lets) for name, value in assignments(options["sets"], counts=True).items()},
        latency=options["latency"],
        regather=options["regather"],
        in_network=options["in_network"],
    )


def _used(lets: Mapping[sp.Symbol, sp.Expr], options: Mapping[str, Any]) -> None:
    """Refuse a name of --let that no other formula uses, such as that of a size."""
    from symscale.errors import SymscaleError

    for name in map(str, lets):
        others = [each.partition("=")[2] for each in (*options["sets"], *options["lets"])]
        if not any(name in each for each in (*others, options.get("solve", ""))):
            raise SymscaleError(
                f"--let names {name}, and neither --set nor --solve uses it.",
                hint=f"Leave it out, or give a size of the program by --set {name}=….",
            )


def named(text: str, lets: Mapping[sp.Symbol, sp.Expr]) -> str:
    """Return a formula with the names of --let replaced by what they stand for."""
    if not lets or not text:
        return text
    from symscale.errors import SymscaleError
    from symscale.notation.formula import parse_formula
    from symscale.notation.text import to_text

    found = parse_formula(text).expr.subs(lets)
    if found.is_number:
        given = ", ".join(f"{name} = {to_text(value)}" for name, value in lets.items())
        raise SymscaleError(
            f"--solve {text[:40]} asks for what --let gives as a number: {given}.", hint="Leave one of them out."
        )
    return to_text(found)


def chip(name: str, file: str) -> Machine | None:
    """Return the machine the options name, if any."""
    from symscale.errors import MachineError
    from symscale.machine import chosen, from_file

    if name and file:
        raise MachineError("Both --on and --machine are given.", hint="Use one of them.")
    return from_file(file) if file else chosen(name or None)


def sizes(text: str) -> dict[str, sp.Expr]:
    """Return the mesh sizes of `X=16,Y=4`: whole numbers, or formulas."""
    from symscale.derivation.sizes import LARGEST, finite
    from symscale.errors import NotationError
    from symscale.notation.formula import parse_assignments

    found = parse_assignments(text, counts=True) if text else {}
    for name, size in found.items():
        finite(name, size)
        if size.is_number and not (size.is_Integer and 1 <= size <= LARGEST):
            shown = size if size.is_finite and abs(size) <= LARGEST else "that many"
            raise NotationError(f"The mesh axis {name} cannot have {shown} chips.", hint="Give a whole number from 1.")
    return found


def placement(text: str) -> dict[str, sp.Expr | str]:
    """Return where `X=3,P=dcn` lays mesh axes: on a number of physical axes, or on a network."""
    if not text:
        return {}
    import re

    from symscale.errors import NotationError

    found: dict[str, sp.Expr | str] = {}
    for match in re.finditer(r"[^,;]+", text):
        part, at = match.group(), match.start()
        name, equals, where = (each.strip() for each in part.partition("="))
        at += len(part) - len(part.lstrip())
        if not equals or not where or not name:
            raise NotationError(f"{part.strip()!r} places no axis.", text=text, position=at, hint="Write X=3 or P=dcn.")
        if name in found:
            raise NotationError(f"The axis {name} is placed twice.", text=text, position=at, hint="Leave one out.")
        found[name] = _place(name, where, text, text.index(where, text.index("=", at)))
    if not found:
        raise NotationError("--axes places no axis.", text=text, position=0, hint="Write X=3 or P=dcn.")
    return found


def _place(name: str, where: str, text: str, at: int) -> sp.Expr | str:
    """Return the network of a mesh axis, or the number of physical axes it spans: a whole number or a symbol M_X."""
    from symscale.errors import NotationError, SymscaleError
    from symscale.notation.formula import parse_formula
    from symscale.vocabulary import TABLE

    if where.lower() in NETWORKS:
        return where.lower()
    try:
        links = parse_formula(where).expr
    except SymscaleError:
        links = None
    if links is not None and links.is_Symbol and str(links).startswith("M_") and str(links) not in TABLE:
        return links
    if links is not None and links.is_Integer and 1 <= links <= 100:
        return links
    raise NotationError(
        f"The axis {name} cannot lie on {where[:40]!r}.",
        text=text,
        position=at,
        hint=f"Give a number of physical axes from 1, a symbol M_{name}, or a network: {', '.join(NETWORKS)}.",
    )
