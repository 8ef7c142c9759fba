"""Answer sheets: TOML files of answers to exercises."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from symscale.errors import SymscaleError
from symscale.exercise.desk import check
from symscale.exercise.exercise import Exercise
from symscale.exercise.table import rows
from symscale.exercise.vary import varied
from symscale.exercise.verdict import Verdict
from symscale.exercise.working import Working, is_chain, working
from symscale.frozen import dataclass
from symscale.textfile import read_text

KEYS = ("id", "answer", "what", "vary")
EXAMPLE = '[[answer]]\nid = "training/fsdp"\nanswer = "B/X > C/W"'
#: What stands between the lines of a working in one: 4BDF/(XC) > 4DF/W => B/X > C/W.
FOLLOWS = re.compile(r"(?<=[\w)}])\s*(?:=>|⇒|\\(?:Rightarrow|implies)\b)\s*(?=[^=<>]*[<>≤≥])(?<=[\w)} ])")
LARGEST, MOST_ANSWERS = 2_000_000, 10_000


@dataclass(frozen=True)
class Entry:
    """One answer of a sheet; `vary` is the seed of the variant that is answered."""

    id: str
    answer: str
    what: str = ""
    vary: int | None = None

    @property
    def label(self) -> str:
        """The exercise, with the part and the variant where they are named."""
        part = f" {self.what}" if self.what else ""
        return f"{self.id}{part}" + (f", variant {self.vary}" if self.vary is not None else "")


@dataclass(frozen=True)
class Judged:
    """An answer, and its verdict, with its working where it has several lines; or why it could not be judged."""

    entry: Entry
    verdict: Verdict | None = None
    working: Working | None = None
    fault: str = ""
    exercise: Exercise | None = None


def entries(path: Path) -> list[Entry]:
    """Return the answers of a sheet. Raises SymscaleError naming the file and what is wrong with it."""
    found = list(each_entry(path))
    for each in found:
        if isinstance(each, SymscaleError):
            raise each
    return [each for each in found if isinstance(each, Entry)]


def each_entry(path: Path) -> Iterator[Entry | SymscaleError]:
    """Yield the answers of a sheet, and for one that is none what is wrong with it.

    Raises SymscaleError for what is no sheet.
    """
    for number, row in enumerate(_rows(path), start=1):
        try:
            yield _entry(row, number, path)
        except SymscaleError as fault:
            yield fault


def _rows(path: Path) -> list[dict[str, object]]:
    try:
        if not path.is_file() and path.exists():
            raise SymscaleError(f"{path.name} is a {'folder' if path.is_dir() else 'device'}, and no sheet of answers.")
        content = tomllib.loads(read_text(path, most=LARGEST, hint="Name a sheet of answers, as long as answers are."))
    except RecursionError as error:
        raise SymscaleError(f"{path.name} is nested too deeply to be a sheet of answers.") from error
    except tomllib.TOMLDecodeError as error:
        raise SymscaleError(f"{path.name} is no TOML: {error}.", hint=f"Write\n{EXAMPLE}") from error
    found = content.get("answer")
    if not isinstance(found, list) or not found or not all(isinstance(each, dict) for each in found):
        raise SymscaleError(f"{path.name} has no answers.", hint=f"Write\n{EXAMPLE}")
    if len(found) > MOST_ANSWERS:
        raise SymscaleError(f"{path.name} has {len(found):,} answers; {MOST_ANSWERS:,} are the most.", hint="Split it.")
    return found


def _entry(row: dict[str, object], number: int, path: Path) -> Entry:
    unknown = sorted(row.keys() - set(KEYS))
    if unknown:
        raise SymscaleError(f"{path.name}, answer {number}: {unknown[0]!r} is no key.", hint=f"Use {', '.join(KEYS)}.")
    if not isinstance(row.get("id"), str) or "answer" not in row:
        raise SymscaleError(f"{path.name}, answer {number}: it needs an id and an answer.", hint=f"Write\n{EXAMPLE}")
    answer = row["answer"]
    word = {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)
    seed = row.get("vary")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise SymscaleError(f"{path.name}, answer {number}: vary is a whole number.", hint="Write vary = 7.")
    return Entry(str(row["id"]), word, str(row.get("what", "")), seed)


def judged(entry: Entry) -> Judged:
    """Judge one answer; several lines are a working. Raises SymscaleError where it cannot be read."""
    asked = varied(entry.id, entry.what, entry.vary)
    entry = replace(entry, answer=FOLLOWS.sub("\n", entry.answer))
    lines = len(entry.answer.strip().splitlines())
    if (lines > 1 and not rows(entry.answer)) or (lines == 1 and is_chain(entry.answer)):
        found = working(asked, entry.answer)
        return Judged(entry, found.verdict, found, exercise=asked)
    return Judged(entry, check(asked, entry.answer), exercise=asked)


def sheet(path: Path) -> Iterator[Judged]:
    """Yield the answers of a sheet, judged; one that cannot be read says why and stops nothing."""
    for each in entries(path):
        try:
            yield judged(each)
        except SymscaleError as error:
            yield Judged(each, fault=str(error))
