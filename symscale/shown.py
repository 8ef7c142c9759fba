"""Results show themselves, in a terminal and in a notebook, through the floor above, which they ask for only then."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Shown:
    """A result that a notebook shows as what it is: Markdown, a formula, a drawing, or lines of text.

    A front end asks for each form by its method, and gets None where a result has no such form.
    """

    def __init_subclass__(cls) -> None:
        # IPython takes the first class that has either this or a __repr__ of its own, as a dataclass has
        cls._repr_pretty_ = Shown._repr_pretty_  # type: ignore[method-assign]

    def _repr_markdown_(self) -> str | None:
        return _form("markdown", self)

    def _repr_latex_(self) -> str | None:
        return _form("latex", self)

    def _repr_svg_(self) -> str | None:
        return _form("svg", self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(_form("plain", self))


class Printed(Shown):
    """A result whose text is its derivation, or its table."""

    def __str__(self) -> str:
        return _form("plain", self) or ""


def _form(name: str, value: Shown) -> str | None:
    # by name: an import statement would make one circle of all floors for a type checker
    found: str | None = getattr(import_module("symscale.notebook"), name)(value)
    return found
