"""The desk: an answer comes in, a verdict goes out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import NoReturn

import sympy as sp

from symscale.errors import SymscaleError, UndecidedError
from symscale.exercise.conditions import relations
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.judge import formula, number
from symscale.exercise.names import aliases, known, multiplied, named
from symscale.exercise.reading import Answer, Formula, Number, Relations, Sent, Sizes, Word, read_answer
from symscale.exercise.structures import collectives, mesh, with_axes, word
from symscale.exercise.table import rows, table
from symscale.exercise.verdict import CONVENTION, RIGHT, WRONG, Verdict
from symscale.exercise.wording import KILO

#: Signs that the notation of programs has in two spellings.
SPELLED = {"·": "*", "→": "->", "\\cdot": "*", "\\to": "->", "\\rightarrow": "->"}


MULTIPLE = re.compile(r"(.*=\s*)?(\d+)(\s*)([A-Za-z])")


def check(exercise: Exercise, text: str, defined: Collection[sp.Symbol] = ()) -> Verdict:
    """Judge an answer to an exercise; `defined` are symbols of its own.

    Raises SymscaleError where it cannot be read, or answers something else.
    """
    asked = exercise.headline
    if asked.words not in ("", "yes", "no"):
        return _as_text(text, asked)
    several = rows(text)
    if several:
        return table(several, exercise)
    # what is counted may stand behind its number: 64 rows
    counted = re.compile(rf"(?<=\d)\s+{re.escape(asked.what)}\s*$")
    plain, names = with_axes(multiplied(counted.sub("", text), exercise), exercise), aliases(exercise)
    answer = read_answer(plain, names, about=_unknown(asked))
    try:
        verdict = _judged(known(answer, exercise, defined), exercise)
    except SymscaleError as refused:
        return _of_letters(plain, answer, exercise) or _raised(refused)
    except (TypeError, ValueError, ArithmeticError) as fault:
        # roots of what is negative, and numbers of hundreds of digits, are beyond the algebra underneath
        raise UndecidedError(f"{text[:60]!r} could not be decided.", hint="Write it in a simpler form.") from fault
    binary = KILO.sub("KiB", text)
    if verdict.kind == WRONG and binary != text:
        kibi = check(exercise, binary, defined)
        said = "It is right with KB read as KiB."
        return replace(kibi, kind=CONVENTION, said=said, diagnosis=("KB read as KiB",)) if kibi.accepted else verdict
    letter = MULTIPLE.fullmatch(plain.strip())
    if not verdict.accepted and letter and letter[4] in named(exercise):
        # 6P is no number of peta, nor are 2 s seconds where stage s is asked about
        product = f"{letter[1] or ''}{letter[2]}*{letter[4]}"
        multiple = _judged(known(read_answer(product, names), exercise, defined), exercise)
        if multiple.accepted or (letter[4].isupper() and not letter[3]):
            return multiple
    if verdict.accepted or not isinstance(answer, Formula | Relations):
        return verdict
    again = _of_letters(plain, answer, exercise)
    return again if again is not None and again.accepted else verdict


def _unknown(asked: Asked) -> sp.Expr | None:
    """Return what "> 2550" is said of."""
    if asked.crossover is not None:
        return asked.crossover.headline.unknown
    return asked.settings[0].of_what if asked.settings else None


def _raised(error: SymscaleError) -> NoReturn:
    raise error


def _of_letters(text: str, first: Answer, exercise: Exercise) -> Verdict | None:
    """Judge a text once more with letters side by side as a product: BW is B*W then; None where it says no other."""
    names = {name: meant for name, meant in aliases(exercise).items() if name not in ("BW", "bw")}
    try:
        answer = read_answer(text, names, letters=True, about=_unknown(exercise.headline))
        return None if answer == first else _judged(known(answer, exercise), exercise)
    except SymscaleError:
        return None


def _judged(answer: Answer, exercise: Exercise) -> Verdict:
    match answer:
        case Number():
            size = _size(answer, exercise)
            return number(answer, exercise) if size is None else mesh(size, exercise)
        case Formula():
            return formula(answer, exercise)
        case Sent():
            return collectives(answer, exercise)
        case Sizes():
            return mesh(answer, exercise)
        case Word():
            return word(answer, exercise)
        case Relations():
            return relations(answer, exercise)


def _size(answer: Number, exercise: Exercise) -> Sizes | None:
    """Return the mesh that one whole size answers, of either axis, where whole meshes are compared."""
    best, value = exercise.headline.optimum, answer.value
    if best is None or not best.integers or not value.is_Integer:
        return None
    if value < 1:
        raise SymscaleError("A mesh axis has one chip at least.", hint="Write whole sizes from 1, as in X=16, Y=4.")
    axis = str(best.variable if answer.named is None else answer.named)
    axes = {str(best.variable), *(exercise.layer.program.mesh if exercise.layer is not None else ())}
    return Sizes({axis: int(value)}) if axis in axes else None


def _as_text(text: str, asked: Asked) -> Verdict:
    """Judge what is asked for in the words of a compiled program, blanks aside."""
    for sign, meant in SPELLED.items():
        text = text.replace(sign, meant)
    plain, wanted = ("".join(each.split()) for each in (text, asked.words))
    return Verdict(RIGHT if plain == wanted else WRONG, "", asked)
