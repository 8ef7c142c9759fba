"""One self-contained page: derivations with live inputs, no network, no library, one script that its hash allows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from symscale.derivation.step import Derivation
from symscale.errors import SymscaleError
from symscale.page.inputs import Input, chips, with_peak
from symscale.page.ledger import Ledger, chips_script
from symscale.page.reading import reading_script
from symscale.page.steps import ledger_of, steps_of
from symscale.page.words import formula
from symscale.report.document import template_folder
from symscale.report.plain import one_line

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("arithmetic", "numbers", "reading", "formula", "live", "plane", "curves", "panel")


def html(*derivations: Derivation, title: str = "") -> str:
    """Return derivations as one HTML page that works from a file: what a reader types is put into every number.

    Raises StepError where a step's check fails.
    """
    if not derivations:
        raise SymscaleError("There is nothing to show.", hint="Give a derivation.")
    shown, ledgers = [], []
    for number, each in enumerate(derivations):
        ledger = ledger_of(f"d{number}", each)
        steps = steps_of(each, ledger)
        shown.append(_view(each, ledger, steps))
        ledgers.append(ledger)
    script = "\n".join([reading_script(), *_sources(), _data(ledgers), "start();"])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            derivations=shown,
            title=one_line(title) or shown[0]["title"],
            style=_style(),
            script=Markup(script),
            hash=f"sha256-{digest}",
            version=version("symscale"),
        )
    )


def index(chapters: Sequence[tuple[str, str, int]]) -> str:
    """Return the page that leads to others, (file name, title, number of derivations)."""
    page = _environment().get_template("index.html.jinja")
    return page.render(chapters=chapters, style=_style(), version=version("symscale"))


def _style() -> Markup:
    return Markup((template_folder() / "page" / "page.css").read_text(encoding="utf-8"))


def _sources() -> list[str]:
    folder = template_folder() / "page"
    return [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]


def _data(ledgers: list[Ledger]) -> str:
    """Return the numbers of the chips and of every derivation as a script."""
    known = dict.fromkeys([*chips(), *(chip for each in ledgers for chip in each.chips)])
    figures = {each.title: {f"C_{kind}": value for kind, value in each.peaks} | with_peak(each, "") for each in known}
    return "\n".join(
        [chips_script([each.title for each in chips()], figures), *(each.script for each in ledgers if each.live)]
    )


def _view(derivation: Derivation, ledger: Ledger, steps: list[dict[str, Any]]) -> dict[str, Any]:
    fields = [f"{ledger.key}-i{place}" for place in range(len(ledger.inputs))]
    fields = ([f"{ledger.key}-dtype"] if ledger.dtypes else []) + fields
    return {
        "key": ledger.key,
        "title": one_line(derivation.title),
        "source": one_line(derivation.source),
        "steps": steps,
        "panel": ledger.live,
        "chip": ledger.setting.chip.title,
        "own_chip": ledger.setting.own,
        "own_dtypes": ", ".join(ledger.own_dtypes),
        "dtypes": ledger.dtypes,
        "inputs": [_field(place, each, derivation) for place, each in enumerate(ledger.inputs)],
        "fields": " ".join([f"{ledger.key}-chip", *fields]),
    }


def _field(place: int, each: Input, derivation: Derivation) -> dict[str, Any]:
    return {
        "place": place,
        "name": str(each.symbol),
        "symbol": formula(each.symbol, derivation.order),
        "meaning": each.meaning,
        "example": each.example,
    }


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(template_folder() / "page"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
