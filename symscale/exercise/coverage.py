"""Coverage: how much of a source's answers the library derives, and where it says something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from symscale.exercise.answers import Outcome, files, outcome, rows
from symscale.frozen import dataclass

STATUSES = ("agrees", "differs", "open", "not modelled")


@dataclass(frozen=True)
class Chapter:
    """The outcomes of one file of answers."""

    name: str
    outcomes: tuple[Outcome, ...]

    def count(self, status: str) -> int:
        """Return how many rows have this status."""
        return Counter(each.status for each in self.outcomes)[status]

    @property
    def derived(self) -> int:
        """How many rows the engine answers."""
        return len(self.outcomes) - self.count("not modelled")


def chapters(names: Sequence[str] = ()) -> Iterator[Chapter]:
    """Yield the chapters, every row compared with what the engine derives now. Raises AnswerError."""
    for name in names or [file.stem for file in files()]:
        yield Chapter(name, tuple(outcome(row) for row in rows(name)))
