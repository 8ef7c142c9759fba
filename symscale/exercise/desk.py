"""The desk: an answer comes in, a verdict goes out."""

from __future__ import annotations

from symscale.exercise.conditions import relations
from symscale.exercise.exercise import Asked, Exercise
from symscale.exercise.judge import formula, number
from symscale.exercise.reading import Answer, Formula, Number, Relations, Sent, Sizes, Word, read_answer
from symscale.exercise.structures import collectives, mesh, word
from symscale.exercise.verdict import RIGHT, WRONG, Verdict

#: What people write for the names of the table.
USUAL = {"d_model": "D", "d_ff": "F", "N": "N_chips", "n_chips": "N_chips", "BW": "W", "bw": "W"}


def check(exercise: Exercise, text: str) -> Verdict:
    """Judge an answer to an exercise. Raises SymscaleError where it cannot be read, or answers something else."""
    asked = exercise.headline
    if asked.words not in ("", "yes", "no"):
        return _as_text(text, asked)
    return _judged(read_answer(text, aliases(exercise)), exercise)


def _judged(answer: Answer, exercise: Exercise) -> Verdict:
    match answer:
        case Number():
            found, size = number(answer, exercise), _size(answer, exercise.headline)
            return found if found.accepted or size is None else mesh(size, exercise)
        case Formula():
            return formula(answer, exercise)
        case Sent():
            return collectives(answer, exercise)
        case Sizes():
            return mesh(answer, exercise)
        case Word():
            return word(answer, exercise)
        case Relations():
            sizes = _sizes(answer)
            return relations(answer, exercise) if sizes is None else mesh(sizes, exercise)


def _sizes(answer: Relations) -> Sizes | None:
    """Return the mesh that equations such as X = 16, Y = 4 write."""
    whole = all(each.op == "==" and each.lhs.is_Symbol and each.rhs.is_Integer for each in answer.each)
    return Sizes({str(each.lhs): int(each.rhs) for each in answer.each}) if whole else None


def _size(answer: Number, asked: Asked) -> Sizes | None:
    """Return the size of the axis that a whole number answers, where whole meshes are compared."""
    best = asked.optimum
    if best is None or not best.integers or not answer.value.is_Integer or answer.named not in (None, best.variable):
        return None
    return Sizes({str(best.variable): int(answer.value)})


def _as_text(text: str, asked: Asked) -> Verdict:
    """Judge what is asked for in the words of a compiled program, blanks aside."""
    plain, wanted = ("".join(each.split()) for each in (text, asked.words))
    return Verdict(RIGHT if plain == wanted else WRONG, "", asked)


def aliases(exercise: Exercise) -> dict[str, str]:
    """Return what is meant by the usual names that a derivation has no symbols for: W is its one bandwidth."""
    names = {name.name for each in exercise.asked for one in each.settings for name in one.expr.free_symbols}
    wanted = {name.name for one in exercise.headline.settings for name in one.expr.free_symbols}
    found = {word: name for word, name in USUAL.items() if word not in names and name in names}
    rates = sorted(name for name in wanted if name.startswith("W_"))
    if "W" not in names and len(rates) == 1:
        found |= dict.fromkeys(("W", "BW", "bw", "beta"), rates[0])
    return found
