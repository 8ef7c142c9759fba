"""Notebooks: every public result in the forms that Jupyter shows, a derivation and its plots in one piece."""

from __future__ import annotations

from symscale.errors import SymscaleError
from symscale.shown import Shown

__all__ = ["latex", "markdown", "plain", "svg"]


def markdown(value: Shown) -> str | None:
    """Return a result as Markdown, None where it is a formula or a drawing; a check that fails is said in its place."""
    from symscale.notebook.forms import markdown as form

    try:
        return form(value)
    except SymscaleError as error:
        return refused(error)


def latex(value: Shown) -> str | None:
    """Return a formula between dollar signs, None for what is none."""
    from symscale.notebook.forms import latex as form

    return form(value)


def svg(value: Shown) -> str | None:
    """Return a figure as SVG, None for what is none, or where matplotlib is missing."""
    from symscale.notebook.forms import svg as form

    return form(value)


def plain(value: Shown) -> str:
    """Return a result as text, for a terminal and for front ends without Markdown."""
    from symscale.notebook.forms import plain as form

    return form(value)


def refused(error: SymscaleError) -> str:
    """Return an error as Markdown: its message word by word, with its caret in place."""
    from symscale.report.prose import fence

    said = str(error)
    marks = fence(said.split("\n"))
    return f"{marks}text\n{said}\n{marks}"
