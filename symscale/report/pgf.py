"""Figures as TikZ: a pgfplots axis with the coordinates of the layout, for LaTeX to set its own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from symscale.derivation.columns import value_of
from symscale.derivation.figure import Axis, Figure
from symscale.derivation.step import Prose
from symscale.notation.order import Order
from symscale.report.document import environment
from symscale.report.figures import digest
from symscale.report.lines import Point
from symscale.report.picture import Picture, Tick, formula, nearest, picture
from symscale.report.prose import escape_latex

STYLES = {
    "solid": "solid",
    "dashed": "dash pattern=on 5pt off 2pt",
    "dashdot": "dash pattern=on 6pt off 2pt on 1.2pt off 2pt",
    "dotted": "dash pattern=on 1.2pt off 1.6pt",
    "longdash": "dash pattern=on 10pt off 3pt",
    "dense": "dash pattern=on 2.5pt off 1.2pt",
}


def tikz(figure: Figure) -> str:
    r"""Return a figure as a tikzpicture, which needs `\usepackage{pgfplots}`."""
    shown = picture(figure)
    names = [colour for _, colour in shown.fills] + [each.colour for each in shown.strokes]
    names += [each.colour for each in shown.words] + [colour for _, colour in shown.dots]
    colours = list(dict.fromkeys(names))

    def index(colour: str) -> int:
        return colours.index(colour) + 1

    return (
        environment()
        .get_template("figure.tex.jinja")
        .render(
            digest=digest(figure),
            colours=colours,
            width=f"{figure.frame[0]:.5g}",
            height=f"{figure.frame[1]:.5g}",
            x=_axis(figure.x, shown.x_ticks, figure.order),
            y=_axis(figure.y, shown.y_ticks, figure.order),
            fills=[{"points": _nodes(figure, line), "colour": index(colour)} for line, colour in shown.fills],
            strokes=[
                {
                    "points": _points(figure, each.line),
                    "colour": index(each.colour),
                    "style": f"{STYLES[each.dash]}, {'semithick' if each.thin or shown.fills else 'very thick'}",
                }
                for each in shown.strokes
            ],
            leaders=_leaders(figure, shown),
            dots=[{"point": _nodes(figure, [point])[0], "colour": index(colour)} for point, colour in shown.dots],
            words=[
                {
                    "point": _nodes(figure, [(each.box.x, each.box.y)])[0],
                    "colour": index(each.colour),
                    "text": (r"\bfseries " if each.bold else "") + latex_words(each.prose, figure.order),
                }
                for each in shown.words
            ],
            grid="axis on top" if shown.fills else "grid=major, major grid style={gray!35, very thin}",
            backing="" if shown.fills else ", fill=white, fill opacity=0.85, text opacity=1",
        )
    )


def _leaders(figure: Figure, shown: Picture) -> list[dict[str, str]]:
    ends = [(each.leader, nearest(each.leader, each.box)) for each in shown.words if each.leader is not None]
    return [dict(zip(("start", "end"), _nodes(figure, pair), strict=True)) for pair in ends]


def _axis(axis: Axis, ticks: Sequence[Tick], order: Order) -> dict[str, Any]:
    large = [each for each in ticks if each.label]
    return {
        "mode": "log" if axis.log else "normal",
        "low": f"{float(axis.low):.6g}",
        "high": f"{float(axis.high):.6g}",
        "label": latex_words(axis.label, order),
        "ticks": ", ".join(f"{each.value:.6g}" for each in large),
        "labels": ", ".join(f"${{{each.label}}}$" for each in large),
        "small": ", ".join(f"{each.value:.6g}" for each in ticks if not each.label),
    }


def _points(figure: Figure, line: Sequence[Point]) -> list[str]:
    wide, high = figure.frame
    return [f"({value_of(figure.x, x / wide):.5g}, {value_of(figure.y, y / high):.5g})" for x, y in line]


def _nodes(figure: Figure, line: Sequence[Point]) -> list[str]:
    return [each.replace("(", "(axis cs: ", 1) for each in _points(figure, line)]


def latex_words(prose: Prose, order: Order) -> str:
    """Return words of a plot in LaTeX."""
    parts = (prose,) if isinstance(prose, str) else prose
    return "".join(_escaped(each) if isinstance(each, str) else f"${formula(each, order)}$" for each in parts)


def _escaped(text: str) -> str:
    """Return words with numbers such as 2.5 × 10^6 set as formulas."""
    return re.sub(r"(\S+) \$\\times\$ 10\\textasciicircum\{\}(-?\d+)", r"$\1 \\times 10^{\2}$", escape_latex(text))
