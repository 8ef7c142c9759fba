"""Citations in the source of a derivation: `GShard [@lepikhin2020]`, keys of BibTeX entries as pandoc writes them."""

from __future__ import annotations

import re

from symscale.errors import SymscaleError

_CITED = re.compile(r"\s*\[@([^\[\]]*)\]")
_KEY = re.compile(r"[^\s@;,{}\[\]]+")


def split(source: str) -> tuple[str, tuple[str, ...]]:
    """Return the words of a source and the keys it cites: `Qi et al. [@qi2023; @qi2024]` cites two.

    Raises SymscaleError for brackets that hold no key.
    """
    keys = [key.strip().removeprefix("@") for found in _CITED.findall(source) for key in found.split(";")]
    for each in keys:
        if not _KEY.fullmatch(each):
            raise SymscaleError(
                f"{source[:80]!r} cites {each[:40]!r}, which is no key of a BibTeX entry.",
                hint="Write [@key], or [@one; @another].",
            )
    return _CITED.sub("", source).strip(), tuple(dict.fromkeys(keys))
