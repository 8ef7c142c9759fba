"""`symscale render`: documents from templates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from symscale.cli.options import OUTPUT, text_option, with_options


@click.command()
@click.argument("template")
@with_options(
    OUTPUT,
    text_option("--dialect", metavar="NAME", help="latex, markdown, typst or html, where the name does not show it."),
    click.option("--check", is_flag=True, help="Write nothing; exit 1 with a diff if the document is stale."),
    click.option("--force", is_flag=True, help="Overwrite a document that was written by hand."),
)
def render(template: str, output: str, dialect: str, check: bool, force: bool) -> int:
    """Fill in TEMPLATE, a document with pieces of derivations in it: paper.tex.j2, notes.md.j2, .typ.j2, .html.j2.

    A symscale.toml in its folder names derivations and chips of your own, and a style.

    \b
    symscale render paper.tex.j2 -o paper.tex
    symscale render notes.md.j2 > notes.md
    symscale render paper.tex.j2 -o paper.tex --check
    """
    from symscale.errors import SymscaleError
    from symscale.paper.render import difference, save
    from symscale.paper.render import render as rendered

    out = None if output in ("", "-") else Path(output)
    if check and out is None:
        raise SymscaleError("--check compares with a file, and none is named.", hint="Add -o paper.tex.")
    found = rendered(Path(template), out, dialect=dialect, check=check)
    if check:
        if not found.current:
            click.echo(difference(found), nl=False)
        return int(not found.current)
    if out is None:
        click.echo(found.text, nl=False)
    else:
        save(found, force=force)
    return 0


def written_piece(words: Sequence[str], style: str, renames: Sequence[str]) -> str:
    """Return a piece of a derivation as a document of this folder has it, or as a terminal has it."""
    from symscale.errors import SymscaleError
    from symscale.paper.dialect import DIALECTS, TEXT
    from symscale.paper.request import quoted, read_request
    from symscale.paper.settings import read_settings
    from symscale.paper.write import write

    known = {"text": TEXT, "md": DIALECTS["markdown"], **DIALECTS}
    if style not in known:
        hint = "Use one of text, latex, md, typst, html."
        if style == "json":
            hint = f"`symscale show {words[0]} --format json` has the whole derivation, `symscale macros` its values."
        raise SymscaleError(f"A piece is not written as {style[:40]!r}.", hint=hint)
    dialect = known[style]
    settings = read_settings(Path())
    sentence = " ".join([*map(quoted, words), *(quoted(f"rename={each}") for each in renames)])
    with settings.used():
        return write(read_request(sentence), dialect, settings)
