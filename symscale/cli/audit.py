"""`symscale audit`: formulas and numbers that documents state by hand, checked."""

from __future__ import annotations

from glob import glob
from pathlib import Path

import click

from symscale.cli.options import OUTPUT, with_options
from symscale.cli.output import write
from symscale.errors import SymscaleError


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@with_options(
    click.option(
        "--rename", "renames", multiple=True, metavar=r"W_ici=\beta", help="How the document writes a symbol."
    ),
    click.option("--untagged", is_flag=True, help="List the formulas without a tag too."),
    click.option("--format", "style", type=click.Choice(["text", "json", "github"]), default="text", show_default=True),
    OUTPUT,
)
def audit(files: tuple[str, ...], renames: tuple[str, ...], untagged: bool, style: str, output: str) -> int:
    """Check the formulas and numbers in documents that carry a tag: LaTeX, Markdown, Typst, notebooks.

    A tag is a comment with a derivation's id, directly before a display, on a row of it, or beside a formula or a
    number in running text. Documents are only read. Exit code 0: all right, also to leading order; 1: something is
    not right; 2: something cannot be read.

    \b
    % audit: training/fsdp                       LaTeX, also \\audit{training/fsdp}
    <!-- audit: training/fsdp value T_comms -->  Markdown, cells of notebooks
    % audit: training/fsdp on=tpu-v5e            on another chip
    % audit: training/fsdp step 3                an equation of one step

    \b
    symscale audit paper.tex
    symscale audit notes/*.md notebook.ipynb --format json
    symscale audit paper.tex --rename W_ici='\\beta' --untagged
    """
    from symscale.paper.audit.judged import audited
    from symscale.paper.audit.shown import audit_github, audit_json, audit_text

    reports = [audited(file, renames) for each in files for file in _named(each)]
    shown = {"text": audit_text, "json": audit_json, "github": audit_github}[style]
    write(shown(reports, untagged=untagged), output)
    return max(report.code for report in reports)


def _named(pattern: str) -> list[Path]:
    """Return the files of a pattern that the shell left as it is, in their order. Raises SymscaleError for none."""
    if Path(pattern).exists() or not any(each in pattern for each in "*?["):
        return [Path(pattern)]
    found = sorted(map(Path, glob(pattern, recursive=True)))
    if not found:
        raise SymscaleError(f"No document is called {pattern[:80]}.", hint="Give documents that are there.")
    return found
