"""`symscale list`, `show` and `report`: the library of derivations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symscale.cli.options import OUTPUT, with_options
from symscale.cli.output import OwnCommand, completed, own_files, rendered, style_of, write

if TYPE_CHECKING:
    from pathlib import Path

    from symscale.derivation.figure import Figure
    from symscale.derivation.step import Derivation


def known(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the id of a derivation."""
    from symscale.derivation.registry import ids

    return completed(ids, incomplete)


@click.command("list", cls=OwnCommand)
def list_() -> None:
    """List the derivations of the library, and those of your own folders.

    SYMSCALE_DERIVATIONS names these, or a symscale.toml of this folder or one above it.

    \b
    symscale list
    """
    from symscale.derivation.registry import entries

    found = list(entries())
    width = max((len(each.id) for each in found), default=0)
    for each in found:
        source = f"  ({each.source})" if each.source else ""
        click.echo(f"{each.id:<{width}}  {each.title}{source}")
    if not found:
        click.echo("The library is empty: put files with @derivation into the folders of SYMSCALE_DERIVATIONS.")


@click.command(cls=OwnCommand, context_settings={"ignore_unknown_options": True})
@click.argument("id", shell_complete=known)
@click.argument("piece", nargs=-1)
@with_options(
    click.option(
        "--format", "style", default="text", show_default=True, help="text, md, latex, typst, html; json of all of ID."
    ),
    OUTPUT,
    click.option("--rename", "renames", multiple=True, metavar=r"B='\mathcal{B}'", help="Write a symbol otherwise."),
)
def show(id: str, piece: tuple[str, ...], style: str, output: str, renames: tuple[str, ...]) -> None:
    """Derive ID of the library, live and with every step checked, or one PIECE of it as documents have it.

    A piece is written as text, or in latex, md, typst or html, in the style that a symscale.toml of this folder sets.
    The derivations and chips that it names are known.

    \b
    symscale show roofline/matmul
    symscale show training/fsdp --format latex --rename B='\\mathcal{B}' -o fsdp.tex
    symscale show training/fsdp --format html -o fsdp.html
    symscale show training/fsdp value T_comms set=D=8192,F=28672,X=16 unit=ms
    symscale show training/fsdp claim form=exact --format latex
    """
    for word in piece:
        if word.startswith("-") and not word[1:].isdigit():  # step -1 is the last one
            raise click.NoSuchOption(word.partition("=")[0])
    if piece or style == "typst":
        from symscale.cli.render import written_piece

        write(written_piece((id, *(piece or ("derivation",))), style, renames), output)
        return
    style = style_of(style, "typst", "html")
    from symscale import report
    from symscale.derivation.registry import written

    derivation = written(id)
    if renames:
        derivation = renamed(derivation, renames, style)
    if style == "md" and output:
        write(report.markdown(derivation, images=beside(derivation, output)), output)
        return
    write(rendered(derivation, style, lambda: report.steps_json(derivation)), output)


def renamed(derivation: Derivation, renames: tuple[str, ...], style: str) -> Derivation:
    """Return a derivation whose formulas have other symbols. Raises SymscaleError where two would look the same."""
    from dataclasses import replace

    from symscale.errors import SymscaleError
    from symscale.paper.style import Style, distinct
    from symscale.paper.words import renamed as said

    if style not in ("latex", "md"):
        raise SymscaleError("--rename is for formulas in LaTeX.", hint="Add --format latex or md.")
    order = Style().changed(("rename", each) for each in renames).order(derivation.order)
    named = {str(name) for step in derivation.steps for each in step.equations for name in each.free_symbols}
    distinct(named, order)
    steps = (
        replace(each, reason=said(each.reason, order), lines=tuple(said(line, order) for line in each.lines))
        if each.kind not in ("given", "count")  # whose lines are notation
        else each
        for each in derivation.steps
    )
    return replace(derivation, steps=tuple(steps), order=order)


def beside(derivation: Derivation, output: str) -> dict[Figure, str]:
    """Draw the figures of a derivation beside a Markdown file and return their names; say so where that cannot be."""
    from pathlib import Path

    from symscale.errors import MissingError
    from symscale.report.figures import drawn, files

    file = Path(output)
    images = files(derivation, file.stem)
    try:
        for figure, name in images.items():
            drawn(file.parent / name, figure)
    except MissingError as error:
        click.echo(f"The figures are left out: {error}", err=True)
        return {}
    return images


@click.command()
@click.argument("names", nargs=-1, metavar="[FOLDER | IDS...]", shell_complete=known)
@click.option("--format", "style", default="files", show_default=True, help="files (Markdown and LaTeX) or html.")
@OUTPUT
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a report is not current.")
@click.option("--only", multiple=True, metavar="CHAPTER", help="This chapter alone, or the one that has this id.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes that render at once; as many as cores.")
def report(
    names: tuple[str, ...], style: str, output: str, check: bool, only: tuple[str, ...], workers: int | None
) -> int:
    """Render the whole library into FOLDER (reports/) as Markdown and LaTeX: every chapter, and the book.

    With --format html each chapter is a page whose numbers follow what a reader types, in the folder of -o (pages/);
    IDS alone make one page, in the file of -o. Chips that a symscale.toml of this folder names can be chosen there too.

    \b
    symscale report
    symscale report --check
    symscale report --only ch5 --only pipeline/gpipe
    symscale report --format html -o pages
    symscale report --format html training/fsdp training/mixed -o page.html
    """
    from symscale.report.pool import cores

    if style == "html":
        return _pages(names, output, check=check, only=only, workers=workers or cores())
    folder = _folder(names, style, output)
    from symscale.report.library import render_all

    changed = render_all(folder, check=check, only=only, workers=workers or cores())
    return _said(changed, check)


def _folder(names: tuple[str, ...], style: str, output: str) -> str:
    """Return the folder of Markdown and LaTeX. Raises SymscaleError for another format, or more than one name."""
    from symscale.errors import SymscaleError

    if style != "files":
        raise SymscaleError(f"Unknown format {style[:40]!r}.", hint="Use files (Markdown and LaTeX) or html.")
    if len(names) > 1 or output:
        raise SymscaleError(
            "Markdown and LaTeX of the library go to one folder.",
            hint="Name it alone: `symscale report FOLDER`; `--format html` takes ids and -o.",
        )
    return names[0] if names else "reports"


def _pages(names: tuple[str, ...], output: str, *, check: bool, only: tuple[str, ...], workers: int) -> int:
    """Write one page of chosen derivations, or a page of every chapter."""
    from symscale.page.library import Own, chosen_page, write_pages

    if names and (check or only):
        from symscale.errors import SymscaleError

        raise SymscaleError("A page of ids is made whole.", hint="Leave --check and --only out.")
    with own_files() as settings:
        if names:
            write(chosen_page(names), output)
            return 0
        own = Own(settings.machines, settings.derivations)
        return _said(write_pages(output or "pages", check=check, only=only, workers=workers, own=own), check)


def _said(changed: list[Path], check: bool) -> int:
    for file in changed:
        click.echo(f"{'stale' if check else 'written'}: {file}")
    if not changed:
        click.echo("Every report is current.")
    return int(check and bool(changed))
