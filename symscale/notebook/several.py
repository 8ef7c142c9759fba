"""Several results, shown one below the other."""

from __future__ import annotations

from collections.abc import Iterator

from symscale.frozen import dataclass
from symscale.shown import Printed, Shown


@dataclass(frozen=True)
class Several(Printed):
    """Results that belong together: `answer, table = …` takes them apart."""

    parts: tuple[Shown, ...]

    def __iter__(self) -> Iterator[Shown]:
        return iter(self.parts)
