"""Reports: derivations as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symscale.derivation.crossover import Crossover
    from symscale.derivation.figure import Figure
    from symscale.derivation.question import Answered
    from symscale.derivation.stack import Table
    from symscale.derivation.step import Derivation


def text(derivation: Derivation) -> str:
    """Return a derivation as plain text."""
    from symscale.report.plain import text as plain

    return plain(derivation)


def markdown(derivation: Derivation, images: Mapping[Figure, str] | None = None) -> str:
    """Return a derivation as Markdown with $…$ formulas; `images` are the files of its figures."""
    from symscale.report.document import markdown as render

    return render(derivation, images=images)


def latex(derivation: Derivation, *, document: bool = False) -> str:
    """Return a derivation as LaTeX: a fragment to paste, or a complete document."""
    from symscale.report.document import latex as render

    return render(derivation, document=document)


def svg(figure: Figure) -> str:
    """Return a figure as SVG, drawn by matplotlib. Raises SymscaleError if that is not installed."""
    from symscale.report.drawing import svg as draw

    return draw(figure)


def tikz(figure: Figure) -> str:
    r"""Return a figure as a tikzpicture, which needs `\usepackage{pgfplots}`."""
    from symscale.report.pgf import tikz as draw

    return draw(figure)


def json(answered: Answered, table: Table | None = None) -> str:
    """Return an answer as JSON (schema: docs/json.md), with the table of `derive --table` if there is one."""
    from symscale.report.schema import json as render

    return render(answered, table)


def steps_json(derivation: Derivation, crossovers: Sequence[Crossover] = ()) -> str:
    """Return any derivation as JSON: its title, steps and crossovers (schema: docs/json.md)."""
    from symscale.report.schema import steps_json as render

    return render(derivation, crossovers)
