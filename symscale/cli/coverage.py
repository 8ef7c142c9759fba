"""`symscale coverage`: the printed answers of the book beside what the library derives."""

from __future__ import annotations

import click

from symscale.cli.options import FORMAT, OUTPUT, text_option, with_options
from symscale.cli.output import style_of, write


@click.command()
@with_options(
    text_option("--chapter", metavar="5", help="Only this chapter, or another file of answers by its name."),
    click.option("--errata", is_flag=True, help="List the entries that differ, with the reason."),
    FORMAT,
    OUTPUT,
)
def coverage(chapter: str, errata: bool, style: str, output: str) -> None:
    """Derive every printed answer of the book again, and count what agrees, differs, is open or is not modelled.

    \b
    symscale coverage
    symscale coverage --chapter 5 --errata
    symscale coverage --chapter 12 --format json
    """
    style = style_of(style)
    from symscale.exercise.coverage import chapters
    from symscale.report import errata as report

    name = f"chapter{chapter}" if chapter.isdecimal() else chapter
    found = list(chapters([name] if name else ()))
    if style == "json":
        write(report.coverage_json(found), output)
        return
    parts = [report.coverage(found, style), *([report.errata(found, style)] if errata else [])]
    write("\n\n".join(each for each in parts if each), output)
