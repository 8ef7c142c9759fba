"""One sentence asks for one piece of a derivation: `training/fsdp value T_comms on=tpu-v5e digits=3 unit=ms`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from symscale.cost import OVERLAPS
from symscale.derivation.terms import Terms
from symscale.errors import NotationError, SymscaleError
from symscale.frozen import dataclass
from symscale.machine.model import did_you_mean
from symscale.notation.lalr import lalr

# What a piece may be followed by, and by which options.
_TERMS = ("on", "dtype", "overlap", "set")
_FORMULA = ("rename", "digits", "numbers", "width", "env", "numbered", "label")
_STEPS = (*_TERMS, "rename", "digits", "numbers", "width", "detail", "env", "numbered")
PIECES: dict[str, tuple[str, ...]] = {
    "claim": (*_TERMS, *_FORMULA, "form", "unit"),
    "step": (*_TERMS, *_FORMULA, "detail"),
    "value": (*_TERMS, "digits", "numbers", "unit", "env", "step"),
    "table": (*_TERMS, "rename", "digits", "width"),
    "figure": (*_TERMS, "rename", "width", "file"),
    "caption": (*_TERMS, "rename"),
    "derivation": _STEPS,
    "cite": (),
    "title": (),
    "source": (),
}
# Options that may be given more than once.
SEVERAL = ("set", "rename")
OPTIONS = tuple(dict.fromkeys(option for options in PIECES.values() for option in options))
# Which pieces say after their name which one is meant: a step, a quantity, a table or figure of several.
CHOSEN = ("step", "value", "table", "figure", "caption")
#: The forms of a claim: as solved, with the dtype's bytes, in numbers, or without a limit.
FORMS = ("general", "dtype", "number", "exact")
LONGEST = 2000
LABEL = "Write letters, digits and -_:./+, such as label=eq:fsdp."
EXAMPLE = "As in: training/fsdp step 3, training/fsdp value T_comms on=tpu-v5e digits=3 unit=ms."

_GRAMMAR = rf"""
start: (WORD | QUOTED)+ (KEY (WORD | QUOTED | LOOSE))*
KEY.3: /(?:{"|".join(OPTIONS)})=/
QUOTED.2: /"[^"\n]*"|'[^'\n]*'/
LOOSE.1: /[^\s"']+(?:"[^"\n]*"|'[^'\n]*')[^\s"']*/
WORD: /[^\s"']+/
%ignore /\s+/
"""


@dataclass(frozen=True)
class Request:
    """A piece of a derivation: `which` step, quantity, table or figure, and options by name; `str` gives the sentence.

    Raises SymscaleError for a piece or an option that is unknown or does not go with the piece.
    """

    id: str
    piece: str = "claim"
    which: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        there = PIECES.get(self.piece)
        if there is None:
            hint = f"Ask for {', '.join(PIECES)}.{did_you_mean(self.piece, PIECES)}"
            raise _unfit(f"A derivation has no piece {self.piece[:40]!r}.", self.piece, hint)
        if self.which and self.piece not in CHOSEN:
            raise _unfit(f"{self.piece} is followed by options only.", self.which, EXAMPLE)
        if self.piece == "step" and not self.which:
            raise _unfit("Which step?", self.piece, 'Name it: step 3, step solve, or step "The program".')
        for number, (key, value) in enumerate(self.options):
            _fits(self.piece, key, value)
            if key not in SEVERAL and key in dict(self.options[:number]):
                raise _unfit(f"{key}= is given twice.", f"{key}=", "Leave one of them out.")

    def option(self, key: str) -> str:
        """Return the value of an option, "" if it is not given."""
        return dict(self.options).get(key, "")

    @cached_property
    def terms(self) -> Terms:
        """What the derivation is written on. Raises NotationError for a value that is no formula."""
        from symscale.derivation.formulae import assignments

        given = assignments(tuple(value for key, value in self.options if key == "set"), counts=True)
        values = tuple(sorted((str(name), value) for name, value in given.items()))
        small = next((name for name, value in values if value.is_number and not value.is_positive), None)
        if small is not None:
            raise SymscaleError(f"{small} is not positive.", hint="Sizes and rates are more than nothing.")
        return Terms(self.option("overlap"), self.option("dtype"), self.option("on"), values)

    def __str__(self) -> str:
        words = [self.id, self.piece, *([quoted(self.which)] if self.which else [])]
        return " ".join([*words, *(f"{key}={quoted(value)}" for key, value in self.options)])


def _fits(piece: str, key: str, value: str) -> None:
    """Raise SymscaleError for an option that a piece does not take, or that cannot have this value."""
    there = PIECES[piece]
    if key not in there:
        has = f"It takes {', '.join(there)}.{did_you_mean(key, there)}" if there else "It takes none."
        raise _unfit(f"{piece} takes no option {key[:40]!r}.", f"{key}=", has)
    if not value.strip() or ("'" in value and '"' in value) or "\n" in value:
        raise _unfit(f"{key}= cannot be {value[:40]!r}.", f"{key}=", EXAMPLE)
    if key == "form" and value not in FORMS:
        hint = f"It has {', '.join(FORMS)}.{did_you_mean(value, FORMS)}"
        raise _unfit(f"A claim has no form {value[:40]!r}.", value, hint)
    if key == "overlap" and value not in OVERLAPS:
        raise _unfit(f"Unknown overlap {value[:40]!r}.", value, f"Use one of {', '.join(OVERLAPS)}.")
    if key == "label" and not is_label(value):
        raise _unfit(f"{value[:40]!r} is no name of a label.", value, LABEL)


def is_label(text: str) -> bool:
    """Return whether a text is the name of a label in every language of documents."""
    return re.fullmatch(r"[A-Za-z0-9_:.+/-]+", text) is not None


def _unfit(message: str, word: str, hint: str) -> SymscaleError:
    return NotationError(message, text=word, position=0, hint=hint)


def quoted(text: str) -> str:
    """Return a word of a request, in quotation marks where it needs them; of an option its value."""
    key, equals, value = text.partition("=")
    if equals and key in OPTIONS:
        return f"{key}={quoted(value)}"
    if re.fullmatch(r"[^\s\"'=]+(?:=[^\s\"']*)?", text):
        return text
    return f"'{text}'" if '"' in text else f'"{text}"'


def request(id: str, piece: str = "claim", which: object = "", options: Mapping[str, object] | None = None) -> Request:
    """Return a request from values of Python: lists are several values, True is yes. Raises SymscaleError."""
    found: list[tuple[str, str]] = []
    for key, value in (options or {}).items():
        several = value.items() if isinstance(value, Mapping) else [(None, value)]
        if isinstance(value, Sequence) and not isinstance(value, str):
            several = [(None, each) for each in value]
        found += [(key, _said(each) if name is None else f"{name}={_said(each)}") for name, each in several]
    return Request(str(id), piece, _said(which), tuple(found))


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@lru_cache(maxsize=4096)
def read_request(text: str) -> Request:
    """Return the request that a sentence makes. Raises NotationError with a caret."""
    from lark.exceptions import UnexpectedInput

    if len(text) > LONGEST:
        raise NotationError("A request is one short sentence.", text=text, position=LONGEST, hint=EXAMPLE)
    try:
        tree = lalr("request", _GRAMMAR).parse(text)
    except UnexpectedInput as error:
        at = error.pos_in_stream if error.pos_in_stream is not None and error.pos_in_stream >= 0 else len(text)
        raise NotationError(_why(text, at), text=text or " ", position=min(at, len(text)), hint=EXAMPLE) from error
    tokens = list(tree.scan_values(lambda token: True))
    first = next((n for n, each in enumerate(tokens) if each.type == "KEY"), len(tokens))
    words, options = tokens[:first], zip(tokens[first::2], tokens[first + 1 :: 2], strict=True)
    for word in words:
        key, equals, _ = str(word).partition("=")
        if equals and re.fullmatch(r"[A-Za-z_]+", key):
            hint = f"Options are {', '.join(OPTIONS)}.{did_you_mean(key, OPTIONS)}"
            raise NotationError(f"There is no option {key[:40]!r}.", text=text, position=word.start_pos, hint=hint)
    pairs = tuple((str(key).removesuffix("="), _unquoted(value)) for key, value in options)
    piece = str(words[1]) if len(words) > 1 else "claim"
    try:
        return Request(_unquoted(words[0]), piece, " ".join(map(_unquoted, words[2:])), pairs)
    except NotationError as error:
        at = max(text.find(error.text, len(words[0])), 0)
        raise NotationError(error.message, text=text, position=at, hint=error.hint) from error


def _why(text: str, at: int) -> str:
    if not text.strip():
        return "A request names a derivation."
    if at < len(text) and text[at] in "\"'":
        return "A quotation mark is not closed."
    if text.rstrip().endswith("=") or text[:at].endswith("="):
        return "A value is missing behind the equals sign."
    return "A request is an id, a piece and options."


def _unquoted(token: str) -> str:
    text = str(token)
    return text[1:-1] if text[:1] in ("'", '"') else re.sub(r"\"([^\"]*)\"|'([^']*)'", r"\1\2", text)
