"""Grading: a folder of answer sheets, one of each student; a bad sheet or answer says why and stops nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from symscale.errors import SymscaleError
from symscale.exercise.sheet import Entry, Judged, each_entry, entries, judged
from symscale.frozen import dataclass

SUFFIX = ".toml"
#: Files beside the sheets that are none of a student's: the grades themselves.
OTHERS = (".csv",)
UNANSWERED = "not answered"
UNJUDGED = "not judged"


@dataclass(frozen=True)
class Graded:
    """An answer as it is graded: `verdict` is the kind of a verdict, or that there is none, and `message` says why.

    An answer that is out of place, a second one or one that nobody asked for, does not count.
    """

    id: str
    answer: str
    what: str
    vary: int | None
    verdict: str
    accepted: bool = False
    diagnosis: tuple[str, ...] = ()
    message: str = ""
    counts: bool = True


@dataclass(frozen=True)
class Student:
    """A student by the name of the sheet, the graded answers, and what is wrong with a sheet that cannot be read."""

    name: str
    graded: tuple[Graded, ...] = ()
    fault: str = ""

    @property
    def points(self) -> int:
        """How many answers are accepted."""
        return sum(each.accepted for each in self.graded)

    @property
    def of(self) -> int:
        """How many answers count: those handed out, or those given, and none that is out of place."""
        return sum(each.counts for each in self.graded)


def graded(folder: Path, against: Path | None = None) -> Iterator[Student]:
    """Yield the students of a folder by name; `against` is the sheet that was handed out, whose answers all count.

    Raises SymscaleError for what is no folder, or has no sheets, and for a sheet handed out that cannot be read.
    """
    wanted = entries(against) if against is not None else None
    try:
        found = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    except OSError as error:
        raise SymscaleError(
            f"{folder} cannot be read as a folder: {error.strerror}.", hint="Name a folder of answer sheets."
        ) from error
    sheets = [each for each in found if each.suffix.lower() not in OTHERS]
    if not sheets:
        raise SymscaleError(f"{folder} has no answer sheets.", hint=f"Put one file NAME{SUFFIX} of each student there.")
    return (_student(each, wanted) for each in sheets)


def _student(path: Path, wanted: list[Entry] | None) -> Student:
    # a name may have bytes that are no letters
    named = path.stem if path.suffix.lower() == SUFFIX else path.name
    name = named.encode("utf-8", "replace").decode("utf-8")
    try:
        if path.suffix.lower() != SUFFIX and path.is_file():
            raise SymscaleError(f"{path.name} does not end in {SUFFIX}.")
        return Student(name, tuple(_graded(list(each_entry(path)), wanted)))
    except SymscaleError as error:
        return Student(name, tuple(_unanswered(each) for each in wanted or ()), error.told)


def _graded(given: list[Entry | SymscaleError], wanted: list[Entry] | None) -> Iterator[Graded]:
    """Yield the graded answers: those of the sheet handed out in its order, and each exercise once."""
    seen: set[tuple[str, str, int | None]] = set()
    found: dict[tuple[str, str, int | None], Graded] = {}
    extra: list[Graded] = []
    asked = None if wanted is None else {_key(each) for each in wanted}
    for each in given:
        if isinstance(each, SymscaleError):
            extra.append(_refused(Entry("", ""), each.told, counts=wanted is None))
            continue
        if _key(each) in seen:
            extra.append(_refused(each, "This exercise is answered twice; the first answer counts.", counts=False))
        elif asked is not None and _key(each) not in asked:
            extra.append(_refused(each, "The sheet that was handed out does not ask for this.", counts=False))
        else:
            found[_key(each)] = _one(each)
        seen.add(_key(each))
    if wanted is None:
        yield from found.values()
    for each in wanted or ():
        yield found.get(_key(each), _unanswered(each))
    yield from extra


def _key(entry: Entry) -> tuple[str, str, int | None]:
    return entry.id, entry.what.replace(" ", ""), entry.vary


def _one(entry: Entry) -> Graded:
    if not entry.answer.strip():
        return _unanswered(entry)
    found = _judged(entry)
    if found.verdict is None:
        return _refused(entry, found.fault)
    verdict = found.verdict
    return Graded(
        entry.id,
        entry.answer,
        entry.what,
        entry.vary,
        verdict.kind,
        verdict.accepted,
        verdict.diagnosis,
        _plain(verdict.said),
    )


@lru_cache(maxsize=4096)
def _judged(entry: Entry) -> Judged:
    """Judge an answer; many students give the same. What goes wrong is said of this answer alone."""
    try:
        return judged(entry)
    except SymscaleError as error:
        return Judged(entry, fault=error.told)
    except Exception as error:  # one answer must not cost the others their grades
        return Judged(entry, fault=f"This answer could not be judged ({type(error).__name__}).")


def _unanswered(entry: Entry) -> Graded:
    return Graded(entry.id, "", entry.what, entry.vary, UNANSWERED)


def _refused(entry: Entry, why: str, *, counts: bool = True) -> Graded:
    return Graded(entry.id, entry.answer, entry.what, entry.vary, UNJUDGED, message=why, counts=counts)


def _plain(text: str) -> str:
    return " ".join(text.split())
