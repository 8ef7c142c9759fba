"""Macros of derivations: their claims, the formulas of their steps and their numbers, each under a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from symscale.derivation.registry import blackboard, entry, ids
from symscale.errors import StepError, SymscaleError
from symscale.exercise.exercise import exercise
from symscale.frozen import dataclass
from symscale.notation.text import to_text
from symscale.paper.dialect import LATEX, MARKDOWN, TEXT, TYPST, Dialect
from symscale.paper.macronames import distinct, tex_name, typst_name, words
from symscale.paper.pieces import Formula, Number, find
from symscale.paper.request import FORMS, Request, read_request
from symscale.paper.settings import Settings, read_settings
from symscale.paper.write import typeset
from symscale.solve.relation import Relation

_NAMED = re.compile(r"([A-Za-z][\w-]*)=(.*/.*)", re.DOTALL)
_PIECES = ("claim", "step", "value")


@dataclass(frozen=True)
class Macro:
    """A formula or a number of a derivation: the words of its name, and how it is written.

    `latex` is for maths; of a number there are `prose` for text and `siunitx` for maths too, and its `value`, exact and
    in base units of `unit`.
    """

    request: str
    words: tuple[str, ...]
    latex: str
    prose: str
    siunitx: str
    typst: str
    markdown: str
    text: str
    value: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Ask:
    """What macros are made of: a derivation with chips to put it on, or one request, with a name if it has one."""

    id: str
    chips: tuple[str, ...]
    folder: Path
    request: Request | None = None
    name: str = ""


def macros(asked: Sequence[str], chips: Sequence[str], folder: Path, workers: int) -> list[Macro]:
    """Return the macros of derivations: ids, patterns such as `training/*`, or requests, `name=` before one.

    `chips` adds the numbers on them. Documents in `folder` say by their `symscale.toml` how everything is written.
    Raises SymscaleError for what is not there, and for two macros of one name.
    """
    from symscale.report.pool import mapped

    with read_settings(folder).used():
        wanted = list(dict.fromkeys(ask for each in asked for ask in _asks(each, tuple(chips), folder)))
    made = [
        macro for found in mapped(_made, wanted, workers if len(wanted) > 24 else 1, lambda _: 1) for macro in found
    ]
    found = list(dict.fromkeys(made))
    for chip in chips:
        if not any(f"on={chip}" in each.request.split() for each in found):
            raise SymscaleError(f"None of these has a number on {chip}.", hint="Leave the chip out, or take another.")
    for name in (tex_name, typst_name):
        seen: dict[str, str] = {}
        for each in found:
            distinct(seen, name(each.words), each.request)
            seen[name(each.words)] = each.request
    return found


def _asks(text: str, chips: tuple[str, ...], folder: Path) -> Iterator[Ask]:
    named = _NAMED.fullmatch(text)
    name, sentence = (named[1], named[2]) if named else ("", text)
    if named or " " in sentence.strip():
        request = read_request(sentence)
        if request.piece not in _PIECES:
            raise SymscaleError(
                f"A macro holds a claim, a step or a value, not a {request.piece}.",
                hint="A block in the document, or a template, has room for it.",
            )
        yield Ask(request.id, (), folder, request, name)
        return
    yield from (Ask(each, chips, folder) for each in matching(sentence))


def matching(pattern: str) -> tuple[str, ...]:
    """Return the ids that a pattern such as `training/*` names. Raises SymscaleError with the closest ids."""
    return tuple(each for each in ids() if fnmatchcase(each, pattern)) or (entry(pattern).id,)


def _made(ask: Ask) -> list[Macro]:
    settings = read_settings(ask.folder)
    with settings.used():
        if ask.request is not None:
            return [_macro(ask.request, settings, ask.name)]
        return _of(ask, settings)


def _of(ask: Ask, settings: Settings) -> list[Macro]:
    """Return the macros of a derivation, those that it has."""
    found = {"": _macro(Request(ask.id, "claim"), settings)}
    for each in _offered(ask):
        try:
            made = _macro(each, settings)
        except SymscaleError as error:
            if isinstance(error, StepError) and not each.option("on"):
                raise
            continue  # a form that the claim has not, a quantity without a number, a chip that it does not hold on
        if each.option("form") == "number" and not _in_numbers(each):
            continue
        # a form of the claim that is the claim
        if each.piece != "claim" or made.latex not in {other.latex for other in found.values()}:
            found[made.request] = made
    return list(found.values())


def _offered(ask: Ask) -> Iterator[Request]:
    """Yield the requests that a derivation may have an answer to, beside its claim."""
    one = exercise(ask.id)
    quantities = ["", *(each.what for each in one.asked[1:])]
    yield from (Request(ask.id, "claim", "", (("form", form),)) for form in FORMS[1:])
    for number, step in enumerate(blackboard(ask.id).steps, 1):
        if step.equations and step.sheet is None and step.figure is None:
            yield Request(ask.id, "step", str(number))
    yield from (Request(ask.id, "value", each) for each in quantities)
    for chip in ask.chips:
        yield Request(ask.id, "claim", "", (("form", "number"), ("on", chip)))
        yield from (Request(ask.id, "value", each, (("on", chip),)) for each in quantities)


def _in_numbers(request: Request) -> bool:
    piece = find(request).piece
    said = [each.said for each in piece.lines] if isinstance(piece, Formula) else []
    return all(isinstance(each, Relation) and each.rhs.is_number for each in said)


def _macro(request: Request, settings: Settings, name: str = "") -> Macro:
    """Return a request as a macro. Raises SymscaleError for what is not there."""
    found = find(request)
    piece = found.piece
    said = words(name, "", "", ()) if name else words(request.id, request.piece, request.which, request.options)

    def written(dialect: Dialect, **options: str) -> str:
        return typeset(found, _with(request, options), dialect, settings)

    if isinstance(piece, Number):
        return Macro(
            str(request),
            said,
            written(LATEX, env="math", numbers="plain"),
            written(LATEX, numbers="plain"),
            written(LATEX, env="math", numbers="siunitx"),
            written(TYPST),
            written(MARKDOWN),
            written(TEXT),
            to_text(piece.value),
            piece.unit,
        )
    assert isinstance(piece, Formula)
    return Macro(
        str(request),
        said,
        written(LATEX, env="math", numbers="plain"),
        "",
        "",
        written(TYPST, env="inline"),
        written(MARKDOWN, env="inline"),
        written(TEXT, env="inline"),
    )


def _with(request: Request, options: dict[str, str]) -> Request:
    """Return a request with options in the place of its own."""
    kept = tuple(each for each in request.options if each[0] not in options and each[0] != "label")
    return replace(request, options=(*kept, *options.items()))
