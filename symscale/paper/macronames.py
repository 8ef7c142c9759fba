r"""Names of macros: the words of a request, `\ssTrainingFsdpValueTpuVfiveP`, `training-fsdp-value-tpu-v5p`.

TeX has letters only, so digits are spelled, one by one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from symscale.errors import SymscaleError

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SIGNS = {"/": " over ", "*": " times ", "+": " plus ", "^": " to "}
_RUN = re.compile(r"[A-Za-z]+|\d")
#: Options that are named by their value alone; of others the name comes first.
_PLAIN = ("on", "dtype", "overlap", "form", "set", "step")


def words(id: str, piece: str, which: str, options: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the words of a request: of its id, its piece, what of it, and its options."""
    quantity = re.sub(r"[/*+^]", lambda sign: _SIGNS[sign[0]], which)
    said = [id, piece, quantity, *(value if key in _PLAIN else f"{key} {value}" for key, value in options)]
    return tuple(word for each in said for word in _split(each))


def _split(text: str) -> Iterator[str]:
    """Yield the words of a text; a Greek letter is one, by its name."""
    for each in re.findall(r"[^\W_]+", text):
        for part in re.findall(r"[a-zA-Z0-9]+|[^a-zA-Z0-9]", each):
            yield part if part.isascii() else unicodedata.name(part, "letter").split()[-1].lower()


def tex_name(said: Iterable[str], prefix: str = "ss") -> str:
    r"""Return the name of a TeX macro without its backslash: `v5p` becomes `VfiveP`."""
    return prefix + "".join(_capital(run) for word in said for run in _runs(word))


def _runs(word: str) -> Iterator[str]:
    """Yield the letters and digits of a word, each digit spelled; one after a letter goes on with its word."""
    letters = ""
    for run in _RUN.findall(word):
        if run.isdigit():
            letters += _DIGITS[int(run)]
        elif letters:
            yield letters
            letters = run
        else:
            letters = run
    yield letters


def _capital(run: str) -> str:
    return run[:1].upper() + run[1:]


def typst_name(said: Iterable[str], prefix: str = "") -> str:
    """Return the name of a Typst variable: the words with hyphens between them."""
    return prefix + "-".join(said)


def distinct(names: Mapping[str, str], name: str, request: str) -> None:
    """Refuse a name that another request has. Raises SymscaleError."""
    if name in names:
        raise SymscaleError(
            f"{names[name]!r} and {request!r} would both be called {name}.",
            hint=f"Name one of them yourself: 'my-name={request}'.",
        )
