r"""The room that a piece has: letters of a line, a length, or a share of the line: 34, 8cm, 50%, 0.8\linewidth."""

from __future__ import annotations

import re

from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.report.wide import LINE

# The centimetres of a unit, and of a letter of ordinary size.
UNITS = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72.27}
LETTER = 428 * UNITS["pt"] / LINE
SHORTEST, LONGEST, FEWEST = 2.0, 100.0, 20
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]+)")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_SHARE = re.compile(r"([0-9]*\.?[0-9]+)? ?\\(linewidth|columnwidth|textwidth)")
HINT = r"Write a length, 8cm; a share of the line, 50% or 0.8\linewidth; or letters of a line, 34."


@dataclass(frozen=True)
class Width:
    r"""About how many `letters` a line has; a `length` in centimetres, or a `share` of a line that TeX calls `of`."""

    letters: int = LINE
    length: float = 0.0
    share: float = 0.0
    of: str = "linewidth"

    @property
    def said(self) -> bool:
        """Whether a piece is to be as wide as this, and not at most."""
        return bool(self.length or self.share)

    @property
    def centimetres(self) -> float:
        """How wide a piece is laid out; the line of a share is taken to be that of a page."""
        return self.length or self.letters * LETTER

    @property
    def latex(self) -> str:
        r"""The length in TeX: `8cm`, `0.8\linewidth`; of the letters of a page that of the line."""
        if self.share:
            return f"{self.share:.4g}\\{self.of}"
        return f"{self.centimetres:.4g}cm" if self.length or self.letters < LINE else r"\linewidth"

    @property
    def percent(self) -> str:
        """The share in percent, "" where there is none: other lengths are those of what is drawn."""
        return f"{100 * self.share:.4g}%" if self.share else ""


def read_width(text: str) -> Width:
    """Return the width that a text says. Raises SymscaleError."""
    said = text.strip()
    if said.isascii() and said.isdigit() and len(said) < 5 and int(said) >= FEWEST:
        return Width(int(said))
    percent, share, length = _PERCENT.fullmatch(said), _SHARE.fullmatch(said), _LENGTH.fullmatch(said)
    if percent or share:
        part = float(percent[1]) / 100 if percent else float(share[1] or 1) if share else 0.0
        if not 0.1 <= part <= 1:
            raise _wrong(text, "a piece has a tenth of a line at least, and the whole of it at most")
        return Width(round(part * LINE), share=part, of=share[2] if share else "linewidth")
    if length and length[2] in UNITS:
        found = float(length[1]) * UNITS[length[2]]
        if not SHORTEST <= found <= LONGEST:
            raise _wrong(text, f"a piece is from {SHORTEST:g} cm to {LONGEST:g} cm wide")
        return Width(max(round(found / LETTER), 1), length=found)
    if length:
        raise _wrong(text, f"{length[2]} is none of {', '.join(UNITS)}")
    raise _wrong(text, f"a line has {FEWEST} letters or more" if said.isdigit() else "")


def _wrong(text: str, why: str) -> SymscaleError:
    return SymscaleError(f"{text[:40]!r} is no width{f': {why}' if why else ''}.", hint=HINT)
