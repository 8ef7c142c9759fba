"""`symscale check` and `symscale explain`: answers judged, and numbers explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symscale.cli.library import known
from symscale.cli.options import OUTPUT, text_option, with_options
from symscale.cli.output import OwnCommand, write

if TYPE_CHECKING:
    from symscale.exercise.sheet import Entry, Judged

VARY = click.option("--vary", type=int, metavar="SEED", help="The variant with the numbers that a seed draws.")
STYLE = click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
WHAT = text_option("--what", metavar="T_comms", help="The quantity that is answered, where an exercise has several.")


@click.command(cls=OwnCommand)
@click.argument("id", required=False, default="", shell_complete=known)
@click.argument("answer", required=False, default="")
@with_options(
    text_option("--file", "-f", "file", metavar="SHEET.toml", help="A whole sheet of answers."),
    WHAT,
    VARY,
    click.option("--show", is_flag=True, help="Show the right answer too."),
    click.option("--explain", is_flag=True, help="Name the step at which the paths part."),
    STYLE,
    OUTPUT,
)
def check(
    id: str,
    answer: str,
    file: str,
    what: str,
    vary: int | None,
    show: bool,
    explain: bool,
    style: str,
    output: str,
) -> int:
    """Judge ANSWER to the exercise ID: a derivation of the library, or an entry of the book.

    An answer is a formula, a relation, a number with its unit, collectives, a mesh, yes or no; several lines are a
    working. Exit code 0: right, also to leading order; 1: not right; 2: it cannot be read.

    \b
    symscale check training/fsdp "B/X > C/W"
    symscale check training/fsdp "5100 tokens" --explain
    symscale check training/mixed-mesh "X=16, Y=4"
    symscale check training/tp "Y <= F*W/C" --vary 7
    symscale check --file answers.toml --format json
    """
    from symscale.errors import SymscaleError
    from symscale.exercise.sheet import Entry, sheet
    from symscale.report import desk

    if bool(file) == bool(id):
        raise SymscaleError("Name an exercise and its answer, or a sheet with --file.")
    if id and not answer:
        raise SymscaleError(f"There is no answer to {id[:60]}.", hint=f'Write symscale check {id[:60]} "…".')
    if file and (what or vary is not None):
        raise SymscaleError("--what and --vary belong to one answer.", hint="A sheet has them beside each id.")
    found = list(sheet(Path(file))) if file else [_one(Entry(id, answer.replace("\\n", "\n"), what, vary), style)]
    if style == "json":
        write(desk.verdict_json(found, show=show), output)
    else:
        texts = [desk.verdict_text(each, show=show, explain=explain) for each in found]
        heads = [f"{each.entry.label}: " if file and each.verdict is not None else "" for each in found]
        write("\n".join(head + text for head, text in zip(heads, texts, strict=True)), output)
    if any(each.verdict is None for each in found):
        return 2
    return int(not all(each.verdict is not None and each.verdict.accepted for each in found))


def _one(entry: Entry, style: str) -> Judged:
    """Judge one answer; JSON has a row for one that cannot be read too, as a sheet has."""
    from symscale.errors import SymscaleError
    from symscale.exercise.sheet import Judged, judged

    try:
        return judged(entry)
    except SymscaleError as error:
        if style == "text":
            raise
        return Judged(entry, fault=str(error))


@click.command(cls=OwnCommand)
@click.argument("question", shell_complete=known)
@with_options(text_option("--value", metavar="99", help="The number that is to be explained."), WHAT, STYLE, OUTPUT)
def explain(question: str, value: str, what: str, style: str, output: str) -> int:
    """Find the convention or slip that gives a number: an exercise with --value, or a line of arithmetic.

    Everything that fits is listed, the simplest first. Exit code 1 if nothing does.

    \b
    symscale explain training/fsdp --value 5100
    symscale explain "28672*450e9/990e12 = 26.07"
    """
    from symscale.exercise.exercise import exercise
    from symscale.exercise.inverse import arithmetic, explanations
    from symscale.report import desk

    if value:
        asked = exercise(question, what)
        said, found = f"{asked.headline.what} = {value} in {asked.id}", explanations(asked, value)
    else:
        setting, found = arithmetic(question)
        said = f"{question.strip()}, read as {setting.name if setting.name != '1' else setting.expr}"
    write((desk.explanation_json if style == "json" else desk.explanation_text)(said, found), output)
    return int(not found)
