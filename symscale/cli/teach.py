"""`symscale exercises`, `exercise`, `quiz` and `grade`: questions for readers, their sheets and their grades."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symscale.cli.check import STYLE, VARY, WHAT
from symscale.cli.library import known
from symscale.cli.options import OUTPUT, text_option, with_options
from symscale.cli.output import OwnCommand, rendered, write

if TYPE_CHECKING:
    from symscale.exercise.question import Question

CHAPTER = text_option("--chapter", metavar="5", help="A chapter of the book only, or a topic: training.")
FORMAT = click.option("--format", "style", type=click.Choice(["text", "md", "latex"]), default="text")


@click.command(cls=OwnCommand)
@with_options(CHAPTER, STYLE, OUTPUT)
def exercises(chapter: str, style: str, output: str) -> None:
    """List what can be answered: the id, the kind of answer, and the question.

    Exercises are the derivations of the library, and the questions of the book among its printed answers.

    \b
    symscale exercises --chapter 9
    """
    from symscale.exercise.pool import questions
    from symscale.report.teaching import listing

    lines = listing(questions(chapter), style)
    if output:
        write("\n".join(lines), output)
        return
    for line in lines:  # as they are made: the whole library takes a while
        click.echo(line)


@click.command(cls=OwnCommand)
@click.argument("id", shell_complete=known)
@with_options(
    WHAT,
    VARY,
    click.option("--hint", type=int, metavar="N", help="The N-th hint; only the last one is the answer."),
    click.option("--answer", is_flag=True, help="Show the right answer too."),
    click.option("--solution", is_flag=True, help="The whole derivation, every step checked."),
    click.option("--format", "style", type=click.Choice(["text", "json", "md", "latex"]), default="text"),
    OUTPUT,
)
def exercise(
    id: str, what: str, vary: int | None, hint: int | None, answer: bool, solution: bool, style: str, output: str
) -> None:
    """Ask the exercise ID: the program, what is given, what is to be found and in which form.

    A variant has other numbers, drawn by its seed. Markdown and LaTeX are for --solution.

    \b
    symscale exercise training/tp
    symscale exercise training/tp --hint 1
    symscale exercise training/tp --vary 7 --answer
    symscale exercise training/fsdp --solution --format latex
    """
    from symscale.errors import SymscaleError

    if sum((hint is not None, answer, solution)) > 1:
        raise SymscaleError("--hint, --answer and --solution are given together.", hint="Use one of them.")
    if style in ("md", "latex") and not solution:
        raise SymscaleError(
            f"--format {style} is for --solution.", hint="`symscale quiz` sets questions in Markdown and LaTeX."
        )
    write((_solved if solution else _asked)(id, what, vary, hint, answer, style), output)


def _solved(id: str, what: str, vary: int | None, hint: int | None, answer: bool, style: str) -> str:
    from symscale import report
    from symscale.exercise.solution import solution
    from symscale.exercise.vary import varied

    found = solution(varied(id, what, vary), vary)
    return rendered(found, style, lambda: report.steps_json(found))


def _asked(id: str, what: str, vary: int | None, hint: int | None, answer: bool, style: str) -> str:
    from symscale.exercise import hints
    from symscale.exercise.key import answers
    from symscale.exercise.pool import parts
    from symscale.exercise.question import question
    from symscale.exercise.vary import varied
    from symscale.report import teaching

    if hint is not None:
        one = varied(id, what, vary)
        found, count = hints.hint(one, hint)
        shown = teaching.hint_json if style == "json" else teaching.hint_text
        return shown(found, hint, count, question(one, vary).order)
    asked: list[Question] = [question(varied(id, what, vary), vary)] if what else list(parts(id, vary))
    right = [answers(varied(id, each.what, vary)) for each in asked] if answer else []
    return (teaching.question_json if style == "json" else teaching.question_text)(asked, answer=right)


@click.command(cls=OwnCommand)
@with_options(
    CHAPTER,
    click.option("--count", type=int, default=8, show_default=True, help="How many questions."),
    click.option("--seed", type=int, default=1, show_default=True, help="Another seed draws other questions."),
    click.option("--vary", is_flag=True, help="Draw their numbers by the seed too."),
    FORMAT,
    OUTPUT,
    text_option("--key", metavar="FILE", help="Write the key to a file of its own, not behind the questions."),
    text_option("--sheet", metavar="FILE.toml", help="Write an empty answer sheet for students to fill in."),
)
def quiz(chapter: str, count: int, seed: int, vary: bool, style: str, output: str, key: str, sheet: str) -> None:
    """Draw a quiz: questions of mixed kinds that stand on their own, and their key.

    The same seed draws the same quiz. A filled-in sheet is judged by `check --file`, a folder of them by `grade`.

    \b
    symscale quiz --chapter 1 --count 3 --seed 1
    symscale quiz --chapter 1 --count 2 --seed 2 --vary --format latex
    """
    from symscale.errors import SymscaleError
    from symscale.exercise.quiz import quiz as drawn
    from symscale.report.files import writable
    from symscale.report.quiz import quiz_text
    from symscale.report.quiz import sheet as sheet_text

    if seed < 0:
        raise SymscaleError("A seed is a whole number from 0.", hint="Write --seed 7.")
    if sheet and Path(sheet).suffix != ".toml":
        raise SymscaleError(
            f"An answer sheet is TOML, and {sheet} is named otherwise.", hint="Write --sheet sheet.toml."
        )
    named = [each for each in (output, key, sheet) if each]
    if len({str(Path(each).resolve()) for each in named}) < len(named):
        raise SymscaleError("Two of -o, --key and --sheet name one file.", hint="Give each a file of its own.")
    found = drawn(chapter, count, seed, vary=vary)
    texts = [(quiz_text(found, style, key=not key), output)]
    texts += [(quiz_text(found, style, questions=False), key)] if key else []
    texts += [(sheet_text(found), sheet)] if sheet else []
    for _, file in texts:
        if file:
            writable(file)
    for text, file in texts:
        write(text, file)


@click.command(cls=OwnCommand)
@click.argument("folder")
@with_options(
    text_option(
        "--against", metavar="SHEET.toml", help="The sheet that was handed out: its exercises count, no others."
    ),
    OUTPUT,
)
def grade(folder: str, against: str, output: str) -> int:
    """Grade FOLDER, which has an answer sheet NAME.toml of each student, as CSV.

    A line for each answer, and one with the points of each student. A sheet or an answer that cannot be read says why,
    and stops nothing; then the exit code is 1.

    \b
    symscale grade answers/ --against sheet.toml -o grades.csv
    """
    from symscale.exercise.grade import UNJUDGED, graded
    from symscale.report.grades import grades_csv

    students = list(graded(Path(folder), Path(against) if against else None))
    write(grades_csv(students), output)
    faulty = [each.name for each in students if each.fault or any(one.verdict == UNJUDGED for one in each.graded)]
    if faulty:
        shown = ", ".join(name if name.isprintable() else repr(name) for name in faulty[:5])
        more = f" and {len(faulty) - 5} more" if len(faulty) > 5 else ""
        click.echo(f"symscale: not everything could be judged of {shown}{more}; the CSV says why.", err=True)
    return int(bool(faulty))
