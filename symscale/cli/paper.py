"""`symscale sync`: derivations in documents that people write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

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
    if check and outcome.stale:
        click.echo(unified(outcome.old, outcome.new, str(file)), nl=False)
        complain(f"{file}: {len(outcome.stale)} of {counted(blocks)} stale.")
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
