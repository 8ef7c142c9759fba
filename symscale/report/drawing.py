"""Figures as SVG, PDF and PNG, drawn by matplotlib from the layout."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

from symscale.derivation.figure import Figure
from symscale.derivation.step import Prose
from symscale.errors import MissingError, SymscaleError
from symscale.notation.order import Order
from symscale.report.figures import description, digest, stamp
from symscale.report.lines import MARGINS
from symscale.report.picture import Picture, formula, nearest, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCH = 2.54
DASHES: dict[str, Any] = {
    "solid": "solid",
    "dashed": (0, (5, 2)),
    "dashdot": (0, (6, 2, 1.2, 2)),
    "dotted": (0, (1.2, 1.6)),
    "longdash": (0, (10, 3)),
    "dense": (0, (2.5, 1.2)),
}
SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "path",
    "svg.hashsalt": "symscale",
    "path.simplify": False,
    "axes.linewidth": 0.7,
    "pdf.fonttype": 42,
}


def svg(figure: Figure) -> str:
    """Return a figure as SVG with a title, a description and the digest of its data. Raises MissingError."""
    drawn = _saved(figure, "svg").decode("utf-8")
    body = _shown_at(figure.scale, drawn[drawn.index("<svg") :])
    body = re.sub(r"<svg ", '<svg role="img" aria-labelledby="title desc" ', body, count=1)
    at = body.index(">") + 1
    named = (
        f'\n <title id="title">{escape(figure.title)}</title>\n <desc id="desc">{escape(description(figure))}</desc>'
    )
    # what the library calls itself differs between its versions
    body = re.sub(r"\n <metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    at = body.index(">") + 1
    lines = (line.rstrip() for line in f"{body[:at]}{named}{body[at:]}".splitlines())
    body = "\n".join(lines) + "\n"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {digest(figure)} {stamp(body)} -->\n{body}'


def _shown_at(scale: float, body: str) -> str:
    """Return an SVG that is shown larger or smaller than it was drawn."""
    if scale == 1.0:
        return body
    size = re.compile(r' (width|height)="([\d.]+)pt"')
    return size.sub(lambda found: f' {found[1]}="{scale * float(found[2]):.6f}pt"', body, count=2)


def image(figure: Figure, kind: str) -> bytes:
    """Return a figure as `pdf` or `png`. Raises MissingError if matplotlib is missing."""
    return _saved(figure, kind)


def _saved(figure: Figure, kind: str) -> bytes:
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise MissingError(
            "Drawing a figure needs matplotlib, which is not installed.",
            hint="Install it with `pip install 'symscale[plots]'`; the .tex of a figure needs none.",
        ) from error
    left, below, right, above = MARGINS
    wide, high = figure.frame
    size = (left + wide + right, below + high + above)
    with matplotlib.rc_context(SETTINGS):
        canvas = Canvas(figsize=(size[0] / INCH, size[1] / INCH), facecolor="white")
        FigureCanvasAgg(canvas)
        axes = canvas.add_axes((left / size[0], below / size[1], wide / size[0], high / size[1]))
        _draw(picture(figure), axes)
        out = io.BytesIO()
        metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
        try:
            canvas.savefig(out, format=kind, metadata=metadata, dpi=200)
        except ValueError as error:
            if not figure.order.written:
                raise
            said = ", ".join(latex for _, latex in figure.order.written)
            raise SymscaleError(
                f"A drawing cannot have one of these symbols, which matplotlib does not know: {said}.",
                hint=r"Take letters, Greek, accents, or alphabets such as \mathcal{B}.",
            ) from error
    return out.getvalue()


def _draw(shown: Picture, axes: Axes) -> None:
    wide, high = shown.figure.frame
    axes.set_axis_off()
    axes.set_xlim(0, wide)
    axes.set_ylim(0, high)
    for polygon, tint in shown.fills:
        axes.fill(*zip(*polygon, strict=True), color=f"#{tint}", linewidth=0.3, zorder=0.5)
    _ticks(axes, shown)
    for stroke in shown.strokes:
        thick = 1.1 if stroke.thin or shown.fills else 1.7
        axes.plot(
            *zip(*stroke.line, strict=True),
            color=f"#{stroke.colour}",
            linestyle=DASHES[stroke.dash],
            linewidth=thick,
            solid_capstyle="butt",
            dash_capstyle="butt",
            zorder=2,
        )
    for word in shown.words:
        if word.leader is not None:
            ends = [word.leader, nearest(word.leader, word.box)]
            axes.plot(*zip(*ends, strict=True), color="#777777", linewidth=0.6, zorder=1.8)
    for (x, y), colour in shown.dots:
        axes.plot(
            [x], [y], "o", color=f"#{colour}", markersize=5, markeredgecolor="white", markeredgewidth=0.8, zorder=3
        )
    backing = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8} if not shown.fills else None
    for word in shown.words:
        place = (word.box.x, word.box.y)
        axes.text(
            *place,
            mathtext(word.prose, shown.figure.order),
            ha="center",
            va="center",
            color=f"#{word.colour}",
            weight="bold" if word.bold else "normal",
            bbox=backing,
            zorder=4,
        )


def _ticks(axes: Axes, shown: Picture) -> None:
    """Draw frame, grid, ticks and their words as a few collections: matplotlib's own are hundreds of objects."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    wide, high = shown.figure.frame
    across = [(each.at, 0.13 if each.label else 0.07) for each in shown.x_ticks]
    up = [(each.at, 0.13 if each.label else 0.07) for each in shown.y_ticks]
    marks = [line for x, long in across for line in ([(x, 0), (x, long)], [(x, high), (x, high - long)])]
    marks += [line for y, long in up for line in ([(0, y), (long, y)], [(wide, y), (wide - long, y)])]
    grid = [[(each.at, 0), (each.at, high)] for each in shown.x_ticks if each.label]
    grid += [[(0, each.at), (wide, each.at)] for each in shown.y_ticks if each.label]
    if not shown.fills:
        axes.add_collection(LineCollection(grid, colors="#DDDDDD", linewidths=0.5, zorder=0.4))
    axes.add_collection(LineCollection(marks, colors="#222222", linewidths=0.6, zorder=2.5))
    axes.add_patch(
        Rectangle((0, 0), wide, high, fill=False, edgecolor="#222222", linewidth=0.8, zorder=2.6, clip_on=False)
    )
    for each in shown.x_ticks:
        if each.label:
            axes.text(each.at, -0.12, _tick(each.label), ha="center", va="top")
    for each in shown.y_ticks:
        if each.label:
            axes.text(-0.12, each.at, _tick(each.label), ha="right", va="center")
    axes.text(wide / 2, -0.62, mathtext(shown.figure.x.label, shown.figure.order), ha="center", va="top")
    axes.text(
        -MARGINS[0] + 0.1,
        high / 2,
        mathtext(shown.figure.y.label, shown.figure.order),
        ha="left",
        va="center",
        rotation=90,
    )


def _tick(label: str) -> str:
    return label if label.replace(".", "").isdigit() else f"${_mathtext(label)}$"


_POWER = re.compile(r"(\S+) × 10\^(-?\d+)")


def mathtext(prose: Prose, order: Order) -> str:
    """Return words for matplotlib, which sets formulas between dollar signs."""
    parts = (prose,) if isinstance(prose, str) else prose
    return "".join(
        _escaped(each) if isinstance(each, str) else f"${_mathtext(formula(each, order))}$" for each in parts
    )


def _escaped(text: str) -> str:
    """Return words without markup, numbers such as 2.5 × 10^6 set as formulas."""
    return _POWER.sub(r"$\1 \\times 10^{\2}$", text.replace("\\", r"\\").replace("$", r"\$"))


_SPELLED = {
    r"\displaystyle ": "",
    r"\text{": r"\mathrm{",
    r"\le ": r"\leq ",
    r"\ge ": r"\geq ",
    r"\left": "",
    r"\right": "",
}


def _mathtext(latex: str) -> str:
    """Return LaTeX in the part of it that matplotlib reads."""
    for theirs, ours in _SPELLED.items():
        latex = latex.replace(theirs, ours)
    return latex
