"""Quizzes: questions of a chapter that stand on their own, of mixed kinds, drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from symscale.errors import SymscaleError
from symscale.exercise.desk import check
from symscale.exercise.exercise import Exercise, exercise, find
from symscale.exercise.key import written
from symscale.exercise.kinds import COLLECTIVES, CONDITION, FORMULA, MESH, NOTATION, NUMBER, YES_OR_NO
from symscale.exercise.pool import listed
from symscale.exercise.question import Question, question
from symscale.exercise.vary import can_vary, variant
from symscale.frozen import dataclass

#: In which order kinds take turns.
TURNS = (CONDITION, NUMBER, COLLECTIVES, MESH, NUMBER, FORMULA, CONDITION, YES_OR_NO, NUMBER, NOTATION)
MOST = 100


@dataclass(frozen=True)
class Item:
    """A question of a quiz, and the exercise that has its answer."""

    question: Question
    exercise: Exercise


@dataclass(frozen=True)
class Quiz:
    """Questions with their answers, and what they were drawn by."""

    chapter: str
    seed: int
    items: tuple[Item, ...]


def quiz(chapter: str = "", count: int = 8, seed: int = 1, *, vary: bool = False) -> Quiz:
    """Return a quiz of `count` questions; with `vary` their numbers are drawn by the seed as well.

    Raises SymscaleError for a chapter without that many, or a count that no sheet has.
    """
    if not 1 <= count <= MOST:
        raise SymscaleError(f"A quiz of {count} questions is none.", hint=f"Ask for 1 to {MOST}.")
    rng = random.Random(f"{chapter} {seed}")
    every = listed(chapter)
    rng.shuffle(every)
    # one question of a derivation, however many entries of the book it answers
    options: dict[str, list[Item]] = {}
    for each in every:
        if len(options) < 6 * count:
            row = find(each)
            options.setdefault((row.derivation if row else "") or each, []).extend(_whole(each))
    chosen = list(_drawn([group for group in options.values() if group], count, rng))
    if len(chosen) < count:
        raise SymscaleError(
            f"There are {len(chosen)} questions of chapter {chapter} that stand on their own, and {count} are wanted.",
            hint=f"Ask for --count {len(chosen)}, or leave --chapter out.",
        )
    return Quiz(chapter, seed, tuple(_varied(each, seed) for each in chosen) if vary else tuple(chosen))


def _whole(id: str) -> Iterator[Item]:
    """Yield the questions about an exercise that need nothing besides; those of its author first."""
    first = exercise(id)
    asks = [each for each in first.asked if each.ask is not None] or list(first.asked)
    for each in asks:
        one = first.asking(each)
        found = question(one)
        if found.whole:
            yield Item(found, one)


def _drawn(options: Sequence[Sequence[Item]], count: int, rng: random.Random) -> Iterator[Item]:
    """Yield items of one kind after the other, each of another derivation, while there are any."""
    left = list(options)
    found, idle = 0, 0
    for kind in cycle(TURNS):
        if found == count or idle > len(TURNS) or not left:
            return
        fitting = [(each, [one for one in each if one.question.kind == kind]) for each in left]
        # where a formula is given there is less to find
        fitting.sort(key=lambda pair: not any(not one.question.ready for one in pair[1]))
        idle += 1
        for group, items in fitting:
            one = rng.choice([each for each in items if not each.question.ready] or items) if items else None
            if one is not None and _answerable(one):
                left.remove(group)
                found, idle = found + 1, 0
                yield one
                break


def _answerable(item: Item) -> bool:
    """Say whether the desk accepts the right answer, as somebody would write it."""
    try:
        return check(item.exercise, written(item.exercise)).accepted
    except SymscaleError:
        return False


def _varied(item: Item, seed: int) -> Item:
    """Return the variant of a question, or the question as it is where it has none."""
    if not can_vary(item.exercise):
        return item
    try:
        terms = variant(item.exercise.id, seed)
    except SymscaleError:
        return item
    one = exercise(item.exercise.id, item.question.what, terms)
    found = question(one, seed)
    made = Item(found, one)
    return made if found.whole and found.kind == item.question.kind and _answerable(made) else item
