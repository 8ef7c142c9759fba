"""References: the BibTeX entries that derivations cite, from the .bib files beside them, as Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from symscale.derivation.registry import folders
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.report.prose import escape_latex, escape_markdown
from symscale.textfile import read_text

#: Of a bibliography.
MOST_BYTES = 20_000_000


@dataclass(frozen=True)
class Reference:
    """An entry of a bibliography: its key, and how it is printed."""

    key: str
    markdown: str
    latex: str


References: TypeAlias = Mapping[str, Reference]


def references(cited: Iterable[tuple[str, Sequence[str]]]) -> References:
    """Return the references of derivations, given as pairs of id and keys, by key in the order of first citation.

    Raises SymscaleError naming the keys there are for one that no .bib file has, and for a file that is no BibTeX.
    """
    return {key: _reference(key, found) for key, found in cited_entries(cited).items()}


def cited_entries(cited: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Any]:
    """Return the BibTeX entries of derivations, given as pairs of id and keys, in the order of first citation.

    Raises SymscaleError naming the keys there are for one that no .bib file has.
    """
    keys: dict[str, str] = {}
    for name, found in cited:
        for key in found:
            keys.setdefault(key, name)
    known = entries() if keys else {}
    for key, name in keys.items():
        if key not in known:
            raise SymscaleError(
                f"{name} cites {key[:60]!r}, which no .bib file beside the derivations has.",
                hint=f"There are {', '.join(sorted(known))}." if known else "Put a file references.bib beside them.",
            )
    return {key: known[key] for key in keys}


def entries() -> Mapping[str, Any]:
    """Return every entry of the .bib files in the folders of derivations by its key.

    Raises SymscaleError if a file cannot be read, or two files say different things under one key.
    """
    found: dict[str, Any] = {}
    where: dict[str, Path] = {}
    for file in (file for folder in folders() for file in sorted(folder.rglob("*.bib"))):
        for key, entry in _read(file).items():
            if key in found and found[key] != entry:
                raise SymscaleError(
                    f"{where[key]} and {file} say different things of {key[:60]!r}.",
                    hint="Give one of the two entries another key.",
                )
            found[key], where[key] = entry, file
    return found


def _read(file: Path) -> dict[str, Any]:
    from pybtex.database import parse_string
    from pybtex.exceptions import PybtexError

    text = read_text(file, most=MOST_BYTES, hint="Split the bibliography.")
    try:
        return dict(parse_string(text, "bibtex").entries.items())
    except PybtexError as error:
        message = " ".join(str(error).split())
        raise SymscaleError(f"{file}: {message}.", hint="Correct the BibTeX entry.") from error


def _reference(key: str, entry: Any) -> Reference:
    from pybtex.exceptions import PybtexError
    from pybtex.style.formatting.unsrt import Style

    style = Style()
    if not hasattr(style, f"get_{entry.type}_template"):
        entry.type = "misc"  # as BibTeX does with a type that a style does not know
    try:
        text = next(style.format_entries([entry])).text
    except PybtexError as error:
        raise SymscaleError(
            f"The BibTeX entry {key[:60]!r}: {error}.",
            hint=r"Give the fields its kind needs; @misc needs none. A percent sign is \%, and braces come in pairs.",
        ) from error
    return Reference(key, text.render(_MARKDOWN).strip(), text.render(_LATEX).strip())


@dataclass(frozen=True)
class _Marks:
    """What a formatted reference is printed with: pybtex calls these methods for the pieces of its text."""

    format_str: Callable[[str], str]
    emphasis: str
    link: str
    address: Callable[[str], str]
    symbols: Mapping[str, str]
    RenderType = str

    def format_tag(self, name: str, text: str) -> str:
        return self.emphasis.format(text) if name == "em" and text else text

    def format_href(self, url: str, text: str, external: bool = False) -> str:
        return self.link.format(self.address(url), text)

    @staticmethod
    def format_protected(text: str) -> str:
        return text

    @staticmethod
    def render_sequence(pieces: Sequence[str]) -> str:
        return "".join(pieces)


def _address(url: str) -> str:
    """Return an address without a character that closes a link."""
    return quote(url, safe="%/:=&?~#+!,;@")


_MARKDOWN = _Marks(escape_markdown, "*{}*", "[{1}]({0})", _address, {"ndash": "–", "newblock": " ", "nbsp": "\u00a0"})
_LATEX = _Marks(
    escape_latex,
    r"\emph{{{}}}",
    r"\href{{{}}}{{{}}}",
    lambda url: _address(url).replace("%", r"\%").replace("#", r"\#").replace("&", r"\&"),
    {"ndash": "--", "newblock": " ", "nbsp": "~"},
)
