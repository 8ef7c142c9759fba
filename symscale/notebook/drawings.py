"""Derivations with their plots inside: a notebook has no files beside it."""

from __future__ import annotations

import base64
from html import escape

from symscale.derivation.figure import Figure
from symscale.derivation.step import Derivation
from symscale.errors import MissingError

# As wide as the frame of a plot is drawn; narrower columns shrink it.
WIDTH = 560
HINT = "*`pip install 'symscale[plots]'` draws it here; `symscale plot -o figure.tex` needs nothing.*"


def embedded(derivation: Derivation, *, bare: bool = False) -> str:
    """Return a derivation as Markdown with its plots as data of images; `bare` leaves out title and source."""
    from symscale.report.document import NOT_HERE, markdown, steps_markdown

    shown = (steps_markdown if bare else markdown)(derivation, images={})
    pieces = shown.split(NOT_HERE)
    drawn = [drawn_here(each) for each in derivation.figures]
    return "".join(piece + mark for piece, mark in zip(pieces, [*drawn, ""], strict=True))


def drawn_here(figure: Figure) -> str:
    """Return a plot as an HTML image, or how to get one where matplotlib is missing.

    Readers of Markdown refuse data in its own images, and take them in those of HTML.
    """
    from symscale.report.drawing import svg
    from symscale.report.figures import alternative

    try:
        data = base64.b64encode(svg(figure).encode("utf-8")).decode("ascii")
    except MissingError:
        return HINT
    return f'<img width="{WIDTH}" alt="{escape(alternative(figure))}" src="data:image/svg+xml;base64,{data}">'


def described(figure: Figure) -> str:
    """Return a figure that cannot be drawn: what it shows, in words, and how to get it drawn."""
    from symscale.report.figures import alternative, description
    from symscale.report.prose import escape_markdown

    return f"**{escape_markdown(alternative(figure))}** {escape_markdown(description(figure))}\n\n{HINT}"
