"""`symscale plot`: a figure of the library as SVG, PDF, PNG or TikZ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symscale.cli.library import known
from symscale.cli.options import ON, OUTPUT, SET, with_options
from symscale.cli.output import OwnCommand, write

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sympy as sp

    from symscale.derivation.figure import Figure

KINDS = (".svg", ".pdf", ".png", ".tex")


@click.command(cls=OwnCommand)
@click.argument("id", shell_complete=known)
@click.option("--number", type=click.IntRange(min=1), default=1, help="Which of several figures, from 1.")
@with_options(OUTPUT, ON, SET)
def plot(id: str, number: int, output: str, on: str, sets: tuple[str, ...]) -> None:
    """Draw the figure of ID, a derivation of the library, every step checked; without -o its TikZ is printed.

    With --on or --set the derivation is written again, on another chip or with other numbers where its author gives
    some.

    \b
    symscale plot training/regimes -o regimes.svg
    symscale plot roofline/chip -o roofline.tex
    symscale plot training/over-batch --on tpu-v6e --set F=65536 -o batch.pdf
    """
    suffix = suffix_of(output)
    from symscale.derivation.formulae import assignments
    from symscale.derivation.registry import blackboard, proven
    from symscale.derivation.terms import Terms
    from symscale.errors import SymscaleError

    given = assignments(sets, counts=True)
    sized(given)
    terms = Terms(on=on, values=tuple(given.items()))
    derivation = blackboard(id, terms).derivation
    figure = chosen(id, derivation.figures, number)
    moved(figure, given)
    if not terms.own and figure == chosen(id, blackboard(id).derivation.figures, number):
        raise SymscaleError(f"The figure of {id} has nothing to do with {on or 'these values'}.", hint="Leave it out.")
    proven(id, terms)
    if suffix in (".svg", ".tex", ""):
        from symscale import report

        write(report.svg(figure) if suffix == ".svg" else report.tikz(figure), output)
        return
    from symscale.report.drawing import image
    from symscale.report.files import write_atomically

    write_atomically(output, image(figure, suffix[1:]))


def suffix_of(output: str) -> str:
    """Return the suffix of a file that a figure can be written to. Raises SymscaleError before any work is done."""
    from pathlib import Path

    suffix = Path(output).suffix.lower()
    if output and suffix not in KINDS:
        from symscale.errors import SymscaleError

        found = f"ends in {suffix[:20]}" if suffix else "has no suffix"
        raise SymscaleError(
            f"{output[:60]} {found}, which is no kind of figure.", hint=f"Use one of {', '.join(KINDS)}."
        )
    return suffix


def chosen(id: str, figures: tuple[Figure, ...], number: int) -> Figure:
    """Return one of a derivation's figures. Raises SymscaleError with the ids that have one."""
    from symscale.errors import SymscaleError

    if not figures:
        from symscale.derivation.registry import drawing

        raise SymscaleError(
            f"{id} draws no figure.", hint=f"These do: {', '.join(drawing())}. `symscale show {id}` prints it."
        )
    if number > len(figures):
        have = "one figure" if len(figures) == 1 else f"{len(figures)} figures"
        way = "Leave --number out." if len(figures) == 1 else f"Give --number 1 to {len(figures)}."
        raise SymscaleError(f"{id} has {have}, no number {number}.", hint=way)
    return figures[number - 1]


def sized(given: Mapping[str, sp.Expr]) -> None:
    """Refuse what is no size: formulas, infinity, zero and less. Raises SymscaleError."""
    from symscale.errors import SymscaleError

    for name, value in given.items():
        if not (value.is_Rational and value > 0 and value < 10**300):
            raise SymscaleError(
                f"{name} = {str(value)[:20]} is no size.", hint=f"Give a positive number, as in --set {name}=8192."
            )


def moved(figure: Figure, given: Mapping[str, sp.Expr]) -> None:
    """Refuse a number of --set that the figure was not drawn with. Raises SymscaleError."""
    values = [each.values for each in figure.curves] + ([figure.map.values] if figure.map is not None else [])
    drawn = {(str(name), value) for each in values for name, value in each}
    strange = sorted(name for name, value in given.items() if (name, value) not in drawn)
    if strange:
        from symscale.errors import SymscaleError

        own = sorted(str(each) for each in figure.setting if getattr(each, "is_Symbol", False))
        raise SymscaleError(
            f"The figure takes no number for {strange[0]}.",
            hint=f"It is drawn with {', '.join(own)}." if own else "It takes those of its chip: give another by --on.",
        )
