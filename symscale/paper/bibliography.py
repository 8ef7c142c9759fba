"""The BibTeX entries that derivations cite, and one for symscale."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from symscale.derivation.registry import entry
from symscale.paper.macros import matching
from symscale.paper.settings import read_settings
from symscale.report.references import cited_entries

KEY = "symscale"


def bibliography(asked: Sequence[str], folder: Path) -> str:
    """Return the entries that derivations cite, in the order of first citation; the last is that of symscale.

    The .bib files are those beside the derivations, and beside those of the documents in `folder`. Raises SymscaleError
    for an id that is not there, and for a key that no file has.
    """
    from pybtex.database import BibliographyData

    with read_settings(folder).used():
        names = dict.fromkeys(name for each in asked for name in matching(each))
        found = cited_entries((name, entry(name).cites) for name in names)
    return "\n".join(
        BibliographyData({key: each}).to_string("bibtex") for key, each in {**found, KEY: itself()}.items()
    )


def itself() -> Any:
    """Return the entry of symscale, from what the installed package says of itself; CITATION.cff says the same."""
    from pybtex.database import Entry, Person

    about = metadata("symscale")
    author = Person(last=f"{{{about['Author']}}}")
    fields = {
        "title": f"{{{about['Name']}}}: {about['Summary']}",
        "note": f"Python package, version {about['Version']}, licence {about['License-Expression']}",
    }
    return Entry("misc", fields, {"author": [author]})
