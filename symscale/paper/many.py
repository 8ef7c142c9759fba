"""Many pieces at once: each derivation is written once, and several processes share them where that is worth it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from symscale.errors import SymscaleError
from symscale.frozen import dataclass

if TYPE_CHECKING:
    from symscale.paper.settings import Settings

#: So many derivations are written in the time that another process takes to start.
FEW = 32
#: So many derivations a process takes at once.
BATCH = 6
_TERMS = ("on=", "dtype=", "overlap=", "set=")


@dataclass(frozen=True)
class Wish:
    """A sentence that asks for a piece, the dialect and folder of the document it stands in; `inline` within a line."""

    sentence: str
    dialect: str
    folder: Path
    inline: bool = False

    @property
    def derivation(self) -> tuple[str, ...]:
        """The words on which it depends what is derived: the rest says what of it is shown, and how."""
        first, *others = self.sentence.split()
        return (str(self.folder), first, *sorted(each for each in others if each.startswith(_TERMS)))


#: What is written of a wish, or why it cannot be.
Granted: TypeAlias = Mapping[Wish, str | SymscaleError]


def granted(wishes: Iterable[Wish], workers: int) -> Granted:
    """Return what is written of each wish, or the error that says why it cannot be."""
    from symscale.report.pool import mapped

    asked = sorted(dict.fromkeys(wishes), key=lambda each: each.derivation)
    derivations = [tuple(group) for _, group in groupby(asked, lambda each: each.derivation)]
    batches = [sum(derivations[at : at + BATCH], ()) for at in range(0, len(derivations), BATCH)]
    done = mapped(_batch, batches, workers if len(derivations) > FEW else 1, len)
    return dict(zip(asked, (each for batch in done for each in batch), strict=True))


def _batch(wishes: Sequence[Wish]) -> list[str | SymscaleError]:
    from symscale.paper.settings import read_settings

    found: list[str | SymscaleError] = []
    for folder, group in groupby(wishes, lambda each: each.folder):
        settings = read_settings(folder)
        with settings.used():
            found += [_written(each, settings) for each in group]
    return found


def _written(wish: Wish, settings: Settings) -> str | SymscaleError:
    from symscale.paper.dialect import dialect_of
    from symscale.paper.request import PIECES, read_request
    from symscale.paper.write import write

    try:
        request = read_request(wish.sentence)
        if wish.inline and "env" in PIECES[request.piece] and not request.option("env"):
            request = replace(request, options=(*request.options, ("env", "inline")))
        return write(request, dialect_of("", wish.dialect), settings)
    except SymscaleError as error:
        return error
