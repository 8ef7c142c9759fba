"""`symscale sync`, `macros` and `bib`: derivations in documents that people write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symscale.cli.options import OUTPUT
from symscale.cli.options import chips as chips_known

if TYPE_CHECKING:
    from symscale.paper.sync import Outcome

CURRENT, STALE, FAULTY = 0, 1, 2
WAYS = "--force overwrites it; to keep the edit, take the two markers out."


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; print a diff and exit 1 if a block is stale.")
@click.option("--force", is_flag=True, help="Overwrite blocks that were edited by hand, too.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes that derive at once; as many as cores.")
def sync(files: tuple[Path, ...], check: bool, force: bool, workers: int | None) -> int:
    """Refresh the blocks of FILES (LaTeX, Markdown, Typst, HTML); without FILES, of `documents` in symscale.toml.

    A block is what stands between `% symscale: training/fsdp claim` and `% end symscale`, or the same in comments of
    another language. Everything else in a file stays as it is.

    \b
    symscale sync paper.tex
    symscale sync --check paper.tex notes.md
    symscale sync
    """
    from symscale.paper.sync import documents, writer
    from symscale.paper.sync import sync as refreshed
    from symscale.report.pool import cores

    chosen = documents(files)
    write = writer(chosen, workers or cores())
    codes = [told(each, check, force) for each in refreshed(chosen, write, check=check, force=force)]
    return max(codes, default=CURRENT)


def told(outcome: Outcome, check: bool, force: bool) -> int:
    """Say what became of a document, and return the exit code that it asks for."""
    from symscale.cli import complain
    from symscale.paper.difference import unified

    file, blocks = outcome.file, len(outcome.old.blocks)
    if outcome.faults:
        for each in outcome.faults:
            complain(str(each))
        complain(f"{file} is left as it is.")
        return FAULTY
    left = () if force and not check else outcome.edited
    for block in left:
        complain(f"{file}:{block.start.number}: This block was edited by hand.\n{WAYS}")
    for drawing in outcome.drawings:
        click.echo(f"{drawing}: {'stale' if check else 'drawn'}", err=check)
    if check and outcome.stale:
        click.echo(unified(outcome.old, outcome.new, str(file)), nl=False)
        complain(f"{file}: {len(outcome.stale)} of {counted(blocks)} stale.")
        return STALE
    if check and outcome.drawings:
        return STALE
    if left:
        complain(f"{file} is left as it is.")
        return STALE
    changed = f"{len(outcome.stale)} of {counted(blocks)} refreshed" if outcome.stale else f"{counted(blocks)}, current"
    click.echo(f"{file}: {changed}")
    return CURRENT


def counted(blocks: int) -> str:
    """Return a number of blocks in words."""
    return "1 block" if blocks == 1 else f"{blocks or 'no'} blocks"


@click.command()
@click.argument("asked", nargs=-1, required=True, metavar="IDS...")
@click.option(
    "--on", "chips", multiple=True, metavar="CHIP", help="The numbers on this chip, too.", shell_complete=chips_known
)
@click.option("--format", "style", default="", metavar="FORMAT", help="sty, typ or json; else by the suffix of -o.")
@OUTPUT
@click.option("--list", "listed", is_flag=True, help="List the names and what they give; write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; print a diff and exit 1 if the file is stale.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes that derive at once; as many as cores.")
def macros(
    asked: tuple[str, ...],
    chips: tuple[str, ...],
    style: str,
    output: str,
    listed: bool,
    check: bool,
    workers: int | None,
) -> int:
    """Write a macro for every formula and number of IDS: a LaTeX package, a Typst module, or JSON.

    An id may be a pattern, such as 'training/*', or a whole request, with a name of your own before it.

    \b
    symscale macros training/fsdp training/dp --on tpu-v5e -o symscale-macros.sty
    symscale macros 'training/tp*' --list
    symscale macros "fast=training/fsdp value on=tpu-v5e digits=2" -o symscale-macros.typ
    """
    from symscale.paper.macros import macros as made
    from symscale.paper.packages import FORMATS, STEM, format_of, listing
    from symscale.report.pool import cores

    kind = format_of(output, style)
    folder = Path(output).parent if output else Path()
    found = made(asked, chips, folder, workers or cores())
    if listed:
        click.echo(listing(found, kind))
        return CURRENT
    return kept(FORMATS[kind](found, Path(output).stem if output else STEM), output, check)


@click.command()
@click.argument("asked", nargs=-1, required=True, metavar="IDS...")
@OUTPUT
@click.option("--check", is_flag=True, help="Write nothing; print a diff and exit 1 if the file is stale.")
def bib(asked: tuple[str, ...], output: str, check: bool) -> int:
    """Print the BibTeX entries that IDS cite, and one for symscale itself.

    \b
    symscale bib training/fsdp pipeline/gpipe
    symscale bib '*' -o symscale.bib
    """
    from symscale.paper.bibliography import bibliography

    return kept(bibliography(asked, Path(output).parent if output else Path()), output, check)


def kept(text: str, output: str, check: bool) -> int:
    """Print a text, or write it to a file that has another one, or compare it with that; return the exit code."""
    from difflib import unified_diff

    from symscale.cli import complain
    from symscale.errors import SymscaleError
    from symscale.report.files import write_atomically

    if not output:
        if check:
            raise SymscaleError("There is no file to check.", hint="Name it: -o FILE.")
        click.echo(text, nl=False)
        return CURRENT
    file = Path(output)
    try:
        there = file.read_bytes()
    except OSError:
        there = b""
    if there == text.encode():
        click.echo(f"{file}: current")
        return CURRENT
    if check:
        old = there.decode("utf-8", "replace").splitlines(keepends=True)
        click.echo("".join(unified_diff(old, text.splitlines(keepends=True), output, f"{output} (new)")), nl=False)
        complain(f"{file} is stale.")
        return STALE
    write_atomically(file, text)
    click.echo(f"{file}: written")
    return CURRENT
