"""From a derivation to the terminal or a file, in the format asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from symscale.derivation.step import Derivation
    from symscale.paper.settings import Settings

STYLES = ("text", "md", "latex", "json")


def style_of(word: str, *more: str) -> str:
    """Return a known format, one of the usual or of `more`. Raises SymscaleError before any work is done."""
    if word not in (*STYLES, *more):
        from symscale.errors import SymscaleError

        raise SymscaleError(f"Unknown format {word[:40]!r}.", hint=f"Use one of {', '.join((*STYLES, *more))}.")
    return word


@contextmanager
def own_files() -> Iterator[Settings]:
    """Know the derivations and chips that a symscale.toml of this folder, or of one above it, names."""
    from pathlib import Path

    from symscale.paper.settings import read_settings

    settings = read_settings(Path())
    with settings.used():
        yield settings


@contextmanager
def own_names() -> Iterator[None]:
    """Do the same where there is such a file; without one nothing is imported for it."""
    from pathlib import Path

    from symscale.paper.nearest import find

    if find(Path()) is None:
        yield
        return
    with own_files():
        yield


class OwnCommand(click.Command):
    """A command that knows the derivations and chips that a symscale.toml of this folder, or one above, names."""

    def invoke(self, ctx: click.Context) -> Any:
        with own_names():
            return super().invoke(ctx)


def completed(names: Callable[[], Iterable[str]], incomplete: str) -> list[str]:
    """Return the names that begin so, those of this folder too; none where its files are faulty."""
    from symscale.errors import SymscaleError

    with suppress(SymscaleError), own_names():
        return [each for each in names() if each.startswith(incomplete)]
    return []


def rendered(derivation: Derivation, style: str, as_json: Callable[[], str]) -> str:
    """Return a derivation as text, Markdown, LaTeX or a page; `as_json` makes the JSON of what was asked."""
    if style == "html":
        from symscale.page.page import html

        return html(derivation)
    from symscale import report

    table: dict[str, Callable[[Any], str]] = {"text": report.text, "md": report.markdown, "latex": report.latex}
    return as_json() if style == "json" else table[style](derivation)


def write(text: str, output: str) -> None:
    """Print a text, or write it to a file in one piece."""
    text = text.rstrip("\n")
    if not output:
        click.echo(text)
        return
    from symscale.report.files import write_atomically

    write_atomically(output, text + "\n")
