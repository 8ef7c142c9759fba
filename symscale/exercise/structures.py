"""Meshes, collectives and words against what a derivation says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import sympy as sp

from symscale.array.program import Move
from symscale.errors import SymscaleError
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.judge import number
from symscale.exercise.reading import Number, Sent, Sizes, Word
from symscale.exercise.verdict import LEADING, RIGHT, WRONG, Verdict
from symscale.exercise.wording import compared
from symscale.notation.formula import parse_relation
from symscale.notation.numbers import format_number
from symscale.quantity import parse_quantity
from symscale.quantity.literal import NUMBER
from symscale.solve.relation import Case, Relation
from symscale.vocabulary import symbol

#: A mesh that loses at most this part against the best is right to leading order.
SMALL_LOSS = sp.Rational(1, 20)
HALF = sp.Rational(1, 2)
Transfer = tuple[str, tuple[str, ...], str]


def mesh(answer: Sizes, exercise: Exercise) -> Verdict:
    """Judge the sizes of mesh axes: against the best whole mesh, or axis by axis against what is stated."""
    there = set(exercise.layer.program.mesh) if exercise.layer is not None else set(answer.each)
    strange = sorted(answer.each.keys() - there - {each.what for each in exercise.asked})
    if strange:
        return Verdict(WRONG, f"There is no axis {strange[0]}.", exercise.headline)
    if len(answer.each) == 1:
        (axis, size), *_ = answer.each.items()
        answer = Sizes(whole_mesh(axis, size, exercise))
        best = exercise.headline.optimum
        if best is not None and best.integers and axis in there and str(best.variable) not in answer.each:
            return Verdict(WRONG, f"{size} does not divide the chips.", exercise.headline)
    for asked in exercise.asked:
        best = asked.optimum
        if best is not None and str(best.variable) in answer.each and best.integers:
            return _ranked(answer, asked)
    sizes = [Number(sp.Integer(size), HALF, sp.S.One, None, symbol(name)) for name, size in answer.each.items()]
    verdicts = [number(each, exercise) for each in sizes]
    wrong = [each for each in verdicts if not each.accepted]
    return wrong[0] if wrong else verdicts[0]


def whole_mesh(axis: str, size: int, exercise: Exercise) -> dict[str, int]:
    """Return the sizes of both mesh axes where one has this size; of that one alone if it does not tell the other."""
    best = exercise.headline.optimum
    axes = exercise.layer.program.mesh if exercise.layer is not None else {}
    if best is None or not best.integers or len(axes) != 2 or not {axis, str(best.variable)} <= set(axes):
        return {axis: size}
    chips = max(each for each, _, _ in best.integers)
    return {axis: size} if chips % size else {each: size if each == axis else chips // size for each in axes}


_QUANTITY = rf"{NUMBER}(?:\s*(?!\b(?:so|and|or|but|thus|hence|which|that|as)\b)[A-Za-zµ%$][\w/µ]*)?"
_COMPARED = re.compile(rf"(?<![\w.*/^+-])({_QUANTITY})\s*(<=|>=|<|>|≤|≥)\s*({_QUANTITY})(?!\s*[*/^+(])")
_BARE = re.compile(r"\(?\s*\d+(?:\s*(?:x|×|\\times|by|:|,)\s*\d+)+\s*\)?")


def with_axes(text: str, exercise: Exercise) -> str:
    """Return 16x4, 16:4 or (16, 4) as the sizes of the mesh axes in their order, where whole meshes are compared."""
    best = exercise.headline.optimum
    if best is None or not best.integers or exercise.layer is None or not _BARE.fullmatch(text.strip()):
        return text
    axes, sizes = list(exercise.layer.program.mesh), re.findall(r"\d+", text)
    return (
        ", ".join(f"{axis}={size}" for axis, size in zip(axes, sizes, strict=True)) if len(axes) == len(sizes) else text
    )


def _ranked(answer: Sizes, asked: Asked) -> Verdict:
    best = asked.optimum
    assert best is not None
    losses = {size: loss for size, _, loss in best.integers}
    chosen = answer.each[str(best.variable)]
    least = min(losses, key=lambda size: losses[size])
    chips = _chips(best.integers, answer)
    if chips and len(answer.each) > 1 and sp.prod(answer.each.values()) != chips:
        product = sp.prod(answer.each.values())
        return Verdict(WRONG, f"{' times '.join(answer.each)} is {product}, and there are {chips} chips.", asked)
    if chosen == least:
        return Verdict(RIGHT, "", asked)
    if chosen not in losses:
        return Verdict(WRONG, f"{chosen} does not divide the chips.", asked)
    more = (1 + losses[chosen]) / (1 + losses[least]) - 1
    kind = LEADING if more <= SMALL_LOSS else WRONG
    return Verdict(kind, f"It takes {format_number(100 * more, 3)} % longer than the best mesh.", asked)


def _chips(integers: tuple[tuple[int, sp.Expr, sp.Expr], ...], answer: Sizes) -> int:
    """Return the number of chips, which the largest size that divides them is, where axes share them."""
    return max(size for size, _, _ in integers) if len(answer.each) > 1 else 0


def collectives(answer: Sent, exercise: Exercise) -> Verdict:
    """Judge collectives: their kinds and axes, and their arrays where they are named, in any order."""
    passes = [each for each in exercise.asked if each.sent is not None]
    if exercise.headline.words and not passes:
        raise SymscaleError(f"{exercise.id} asks for {exercise.headline.what}, not for collectives.")
    if not passes:
        raise SymscaleError(f"{exercise.id} has no program, so nothing is sent.")
    both = Asked("collectives", sent=tuple(one for each in passes for one in each.sent or ()))
    headline = exercise.headline if exercise.headline.sent is not None else passes[0]
    given = tuple(_moved(each, exercise) for each in answer.each)
    for asked in (headline, both, *passes):
        if _alike(given, asked.sent or ()):
            if asked in (headline, both):
                bare = any(
                    not axes and wanted for (_, axes, _), (_, wanted, _) in zip(given, asked.sent or (), strict=False)
                )
                kind, said = (LEADING, "Name their mesh axes too.") if bare else (RIGHT, "")
                return Verdict(kind, said, asked)
            return Verdict(WRONG, f"These are those of the {asked.what.split()[-1]} pass.", asked)
    return Verdict(WRONG, _difference(answer.each, headline.sent or ()), headline)


def _moved(given: Transfer, exercise: Exercise) -> Transfer:
    """Return a collective of A as that of G where the program says A[I_X, J] -> G[I, J]."""
    kind, axes, array = given
    name = array.partition("[")[0].strip()
    operations = exercise.layer.program.operations if exercise.layer is not None else ()
    moved = {each.source: each.out for each in operations if isinstance(each, Move)}
    return kind, axes, moved.get(name, name)


def _alike(given: tuple[Transfer, ...], wanted: tuple[Transfer, ...]) -> bool:
    left = list(wanted)
    for one in given:
        match = next((other for other in left if _fits(one, other)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _fits(given: Transfer, wanted: Transfer) -> bool:
    kind, axes, array = given
    name = array.partition("[")[0].strip()
    return kind == wanted[0] and (not axes or set(axes) == set(wanted[1])) and (not name or name == wanted[2])


def _difference(given: tuple[Transfer, ...], wanted: tuple[Transfer, ...]) -> str:
    theirs, ours = Counter(kind for kind, _, _ in given), Counter(kind for kind, _, _ in wanted)
    parts = [*_said("missing", ours - theirs), *_said("too many", theirs - ours)]
    if theirs["AllReduce"] and not ours["AllReduce"] and ours["ReduceScatter"]:
        parts.append("an AllReduce is a ReduceScatter and an AllGather, and here the sum may stay scattered")
    return ("; ".join(parts) if parts else "The kinds are right, an axis or an array is not") + "."


def _said(word: str, kinds: Counter[str]) -> Iterator[str]:
    if kinds:
        yield f"{word}: " + ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in kinds.items())


def word(answer: Word, exercise: Exercise) -> Verdict:
    """Judge yes or no, always or never, and none where nothing is sent."""
    asked = exercise.headline
    if answer.word == "none" and any(each.sent is not None for each in exercise.asked):
        passes = asked if asked.sent is not None else next(each for each in exercise.asked if each.sent is not None)
        return Verdict(WRONG if passes.sent else RIGHT, "Something is sent." if passes.sent else "", passes)
    if asked.words in ("yes", "no") and answer.word in ("yes", "no"):
        if asked.words != answer.word:
            return Verdict(WRONG, "", asked)
        false = _false(answer.reason)
        return (
            Verdict(WRONG, f"The word is right, and its reason is not: {false}.", asked)
            if false
            else Verdict(RIGHT, "", asked)
        )
    if asked.crossover is not None and answer.word in ("always", "never"):
        return _decided(answer, asked)
    raise SymscaleError(f"{exercise.id} asks for {asked.what}, not for {answer.word!r}.")


def _false(reason: str) -> str:
    """Return the first comparison of two numbers in a reason that does not hold, "" where all of them do."""
    for found in _COMPARED.finditer(compared(reason)):
        try:
            left, right = (parse_quantity(side.strip()) for side in (found[1], found[3]))
        except SymscaleError:
            continue
        op = parse_relation(f"a {found[2]} b").op
        if left.unit.dimension == right.unit.dimension and not Relation(left.value, op, right.value).holds({}):
            return f"{found[1].strip()} is not {found[2]} {found[3].strip()}"
    return ""


def _decided(answer: Word, asked: Asked) -> Verdict:
    found = asked.crossover
    assert found is not None
    cases: tuple[Case, ...] = tuple(each.numeric for each in found.numbered) or found.headline.cases
    if all(case.always if answer.word == "always" else case.never for case in cases):
        return Verdict(RIGHT, "", asked)
    if any(case.always if answer.word == "always" else case.never for case in cases):
        return Verdict(LEADING, "It is so in one case of several.", asked)
    return Verdict(WRONG, f"It depends on {asked.what}.", asked)
