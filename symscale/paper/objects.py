"""What a template sees of derivations: names of pieces that become text of the document's language where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from symscale.errors import SymscaleError
from symscale.machine.model import did_you_mean
from symscale.paper.request import PIECES, Request, request

#: What writes a request in the document's language.
Writer: TypeAlias = Callable[[Request], str]
#: What gives the number of a request for a value.
Counter: TypeAlias = Callable[[Request], float | int]


class Piece:
    """A piece of a derivation: its text where it is printed; called, it is the one meant, or has other options.

    `fsdp.step(3)`, `fsdp.value("T_comms", digits=3, unit="ms")`, `fsdp.claim(label="fsdp")`.
    """

    def __init__(self, asked: Request, write: Writer, count: Counter) -> None:
        self._asked, self._write, self._count = asked, write, count

    def __call__(self, which: object = "", **options: object) -> Piece:
        asked = self._asked
        chosen = str(which) if which != "" else asked.which
        more = request(asked.id, asked.piece, chosen or _any(asked.piece), options).options
        kept = tuple(each for each in asked.options if each[0] not in dict(more))
        return Piece(Request(asked.id, asked.piece, chosen or _any(asked.piece), kept + more), self._write, self._count)

    @property
    def number(self) -> float | int:
        """The number of a value, in base units: bytes, seconds."""
        return self._count(self._asked)

    def __str__(self) -> str:
        return self._write(self._asked)

    def __html__(self) -> str:
        return str(self)

    def _missing(self, name: str) -> SymscaleError:
        """Return what is said where a template asks for something else of a piece."""
        hint = f"It has number, and options in brackets: {self._asked.piece}(digits=3)."
        return SymscaleError(f"{self._asked.piece} of {self._asked.id} has no {name[:40]!r}.", hint=hint)


def _any(piece: str) -> str:
    """Return the step that is meant where none is named: there has to be one."""
    return "1" if piece == "step" else ""


class Shown(Piece):
    """One step of a derivation, with its number, kind and title."""

    def __init__(self, asked: Request, write: Writer, count: Counter, kind: str, title: str) -> None:
        super().__init__(asked, write, count)
        self.at, self.kind, self.title = int(asked.which), kind, title


class Derived:
    """A derivation of the library: `symscale("training/fsdp")`."""

    def __init__(self, name: str, write: Writer, count: Counter) -> None:
        self.id = name
        self._write, self._count = write, count

    @property
    def steps(self) -> Iterator[Shown]:
        """Every step, with its number `at`, `kind` and `title`."""
        from symscale.derivation.registry import blackboard

        for number, step in enumerate(blackboard(self.id).steps, 1):
            yield Shown(Request(self.id, "step", str(number)), self._write, self._count, step.kind, step.title)

    def __getattr__(self, name: str) -> Piece:
        if name not in PIECES:
            raise AttributeError(name)
        return Piece(Request(self.id, name, _any(name)), self._write, self._count)

    def _missing(self, name: str) -> SymscaleError:
        """Return what is said where a template asks for a piece that there is not."""
        there = (*PIECES, "steps", "id")
        hint = f"It has {', '.join(there)}.{did_you_mean(name, there)}"
        return SymscaleError(f"A derivation has no {name[:40]!r}.", hint=hint)

    def __str__(self) -> str:
        raise SymscaleError(f"Which piece of {self.id}?", hint=f"Name one: {', '.join(f'.{each}' for each in PIECES)}.")
