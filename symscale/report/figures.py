"""What every format needs of a figure: its data as text, the digest of that, and its words."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from symscale.derivation.figure import FRAME, Axis, Curve, Figure, Map, Values
from symscale.derivation.step import Derivation, Prose
from symscale.notation.order import Order
from symscale.notation.text import relation_text, to_text
from symscale.report.files import folder, write_atomically
from symscale.report.plain import words
from symscale.solve.relation import Case

# Raise it when the same data is to be drawn in another way: reports then draw every figure again.
LOOK = 1


def files(derivation: Derivation, stem: str) -> dict[Figure, str]:
    """Return the names of the files of a derivation's figures: `stem.svg`, then `stem-2.svg`."""
    found = enumerate(derivation.figures, 1)
    return {each: f"{stem}.svg" if number == 1 else f"{stem}-{number}.svg" for number, each in found}


def drawn(file: Path, figure: Figure, *, check: bool = False) -> bool:
    """Draw a figure unless its file shows these data already, and say whether it does not; with `check` draw nothing.

    The digest in the file is compared, not the drawing, which differs between versions of matplotlib. Raises
    SymscaleError if matplotlib is missing, or the file cannot be written.
    """
    if shows(file, figure):
        return False
    if not check:
        from symscale.report.drawing import svg

        source = svg(figure)
        folder(file.parent)
        write_atomically(file, source)
    return True


def shows(file: Path, figure: Figure) -> bool:
    """Return whether a file is a drawing of these data, and as it was drawn."""
    return file.is_file() and _marks(file) == digest(figure)


def untouched(file: Path) -> bool:
    """Return whether a file is a drawing of symscale's, as it was drawn."""
    return bool(_marks(file))


def _marks(file: Path) -> str:
    """Return the digest of the data that a drawing shows, "" for one that is not as symscale drew it."""
    head, _, body = file.read_text(encoding="utf-8", errors="replace").partition("-->\n")
    marks = head.rpartition("<!-- ")[2].removesuffix(" ")
    data, _, drawing = marks.rpartition(" ")
    return data if drawing == stamp(body) else ""


def stamp(body: str) -> str:
    """Return what tells whether a drawing has been changed since."""
    return f"drawing:{hashlib.sha256(body.encode()).hexdigest()[:16]}"


def plain_words(prose: Prose) -> str:
    """Return words with formulas as text."""
    return words(prose, Order())


def alternative(figure: Figure) -> str:
    """Return what a figure shows, for readers who cannot see it: its title, axes and what is drawn."""
    names = [plain_words(each.label) for each in (figure.map.areas if figure.map is not None else figure.curves)]
    shown = "; ".join(dict.fromkeys(each for each in names if each))
    return f"{figure.title}. {plain_words(figure.y.label)} over {plain_words(figure.x.label)}: {shown}."


def caption(figure: Figure) -> Prose:
    """Return the caption of a figure with the numbers it was drawn with, as words with formulas."""
    parts = [(each,) if isinstance(each, str) else each for each in (figure.caption, figure.setting) if each]
    return tuple(part for each in parts for part in (" ", *each))[1:]


def description(figure: Figure) -> str:
    """Return the caption of a figure with the numbers it was drawn with, as text."""
    return f"{plain_words(figure.caption)} {plain_words(figure.setting)}".strip()


def figure_data(figure: Figure) -> dict[str, Any]:
    """Return a figure as data for JSON: formulas and exact numbers are text of our own grammar."""
    return {
        "title": figure.title,
        "caption": plain_words(figure.caption),
        "setting": plain_words(figure.setting),
        "x": _axis(figure.x),
        "y": _axis(figure.y),
        "curves": [_curve(each) for each in figure.curves],
        "marks": [
            {
                "label": plain_words(each.label),
                "on": list(each.on),
                "at": to_text(each.along),
                "form": None if each.form is None else to_text(each.form),
            }
            for each in figure.marks
        ],
        "map": None if figure.map is None else _map(figure.map),
    }


def digest(figure: Figure) -> str:
    """Return what identifies the data of a figure and how it is drawn: `symscale figure 1 sha256:…`."""
    words = {"words": figure.order.written} if figure.order.written else {}
    frame = {"frame": [*figure.frame, figure.scale]} if (*figure.frame, figure.scale) != (*FRAME, 1.0) else {}
    data = json.dumps(figure_data(figure) | words | frame, ensure_ascii=False, sort_keys=True)
    return f"symscale figure {LOOK} sha256:{hashlib.sha256(data.encode()).hexdigest()}"


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "label": plain_words(axis.label),
        "from": to_text(axis.low),
        "to": to_text(axis.high),
        "log": axis.log,
        "scale": to_text(axis.scale),
    }


def _values(values: Values) -> dict[str, str]:
    return {str(name): to_text(value) for name, value in values}


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "label": plain_words(curve.label),
        "x": to_text(curve.x),
        "y": to_text(curve.y),
        "along": str(curve.along),
        "from": to_text(curve.low),
        "to": to_text(curve.high),
        "values": _values(curve.values),
        "colour": curve.colour,
        "dashed": curve.dashed,
    }


def _map(plane: Map) -> dict[str, Any]:
    return {
        "x": str(plane.x),
        "y": to_text(plane.y),
        "values": _values(plane.values),
        "conditions": [
            {
                "relation": relation_text(each.relation.lhs, each.relation.op, each.relation.rhs),
                "cases": [_case(case) for case in each.cases],
            }
            for each in plane.conditions
        ],
        "areas": [
            {"label": plain_words(each.label), "inside": list(each.inside), "outside": list(each.outside)}
            for each in plane.areas
        ],
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "when": [relation_text(each.lhs, "=" if each.op == "==" else each.op, each.rhs) for each in case.when],
        "intervals": [[to_text(each.lo), to_text(each.hi)] for each in case.intervals],
    }
