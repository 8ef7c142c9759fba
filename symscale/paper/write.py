"""A piece of a derivation in the language of a document: the one way in which everything is written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from math import isfinite

from symscale.derivation.step import Prose, Step
from symscale.errors import SymscaleError
from symscale.frozen import dataclass
from symscale.machine.model import did_you_mean
from symscale.notation.formula import parse_formula, parse_relation
from symscale.notation.order import Order
from symscale.notation.text import to_text
from symscale.paper.drawings import check_file
from symscale.paper.language import Dialect
from symscale.paper.maths import TEXT, Row
from symscale.paper.pieces import Formula, Found, Keys, Line, Number, Steps, Words, find, lines_of
from symscale.paper.request import Request
from symscale.paper.restyled import figure_in, sheet_in
from symscale.paper.settings import Settings
from symscale.paper.style import Style, distinct
from symscale.report.plain import one_line, small, statements
from symscale.solve.relation import Relation
from symscale.vocabulary import expression


@dataclass(frozen=True)
class _Context:
    """What a piece is written with."""

    dialect: Dialect
    style: Style
    order: Order
    request: Request

    @property
    def broken(self) -> bool:
        """Whether a formula may stand on several lines."""
        return self.style.env not in ("inline", "math")

    def said(self, prose: Prose) -> str:
        """Return words with the document's formulas among them."""
        return self.dialect.said(prose, self.order)


def write(request: Request, dialect: Dialect, settings: Settings) -> str:
    """Return what a request asks for in the language of a document, every step behind it checked.

    The folders of `settings` are looked into while `settings.used()` is open. Raises SymscaleError for what is not
    there, for a rename that makes two symbols look the same, and for a unit that does not fit; StepError if a check
    fails.
    """
    return typeset(find(request), request, dialect, settings)


def typeset(found: Found, request: Request, dialect: Dialect, settings: Settings) -> str:
    """Return what has been found for a request, or for one with other options of style, in a dialect.

    Raises SymscaleError for a rename that makes two symbols look the same, and for a unit that does not fit.
    """
    style = settings.style.changed(request.options)
    if found.names:
        settings.check(found.names)
    if style.renames and found.names:
        _known(request, found.names, dialect)
        distinct(found.names, style.order(found.order))
    return _written(found.piece, _Context(dialect, style, style.order(found.order), request))


def formula(text: str, dialect: Dialect, style: Style) -> str:
    """Return a formula or a relation of our own grammar as the document writes formulas. Raises NotationError."""
    asked = Request("formula", "claim")
    if re.search(r"[<>=]", text):
        lhs, op, rhs, order = parse_relation(text)
        line = Line(Relation(lhs, op, rhs))
    else:
        found = parse_formula(text)
        line, order = Line((found.expr,)), found.order
    inline_style = replace(style, env=style.env or "inline")
    context = _Context(dialect, inline_style, style.order(order), asked)
    return dialect.formula(_rows(line, context), inline_style)


def number(value: float, unit: str, dialect: Dialect, style: Style) -> str:
    """Return a number of a document's own with its unit, as the document writes numbers. Raises SymscaleError."""
    known = isinstance(value, int | Fraction) and not isinstance(value, bool)
    if not known and not (isinstance(value, float) and isfinite(value)):
        raise SymscaleError(
            f"{str(value)[:40]!r} is no number.", hint="Write 2550|number, or fsdp.value.number|number."
        )
    return dialect.number(expression(value), unit, style)


def _known(request: Request, names: Collection[str], dialect: Dialect) -> None:
    """Raise SymscaleError where a request renames a symbol that its derivation does not have, or in plain text."""
    for key, value in request.options:
        if key == "rename" and dialect.maths is TEXT:
            hint = "Leave it out, or write latex, md, typst or html."
            raise SymscaleError("In plain text symbols have their own names.", hint=hint)
        name = value.partition("=")[0].strip()
        if key == "rename" and name not in names:
            hint = f"It has {', '.join(sorted(names)[:40])}.{did_you_mean(name, names)}"
            raise SymscaleError(f"{request.id} has no symbol {name[:40]} to rename.", hint=hint)


@singledispatch
def _written(piece: object, context: _Context) -> str:
    raise TypeError(f"{piece!r} is no piece of a derivation")


@_written.register
def _(piece: Formula, context: _Context) -> str:
    rows = [row for each in piece.lines for row in _rows(each, context)]
    return context.dialect.formula(rows, context.style, context.request.option("label"))


@_written.register
def _(piece: Number, context: _Context) -> str:
    value, unit = context.style.measures.shown(piece.value, piece.unit, piece.name)
    return context.dialect.number(value, unit, context.style)


@_written.register
def _(piece: Words, context: _Context) -> str:
    return context.said(piece.prose)


@_written.register
def _(piece: Keys, context: _Context) -> str:
    return context.dialect.cite(piece.keys)


@_written.register
def _(piece: Steps, context: _Context) -> str:
    dialect, compact = context.dialect, context.style.detail == "compact"
    bare = context.request.piece in ("table", "figure")
    blocks: list[str] = []
    for number, step in zip(piece.numbers, piece.steps, strict=True):
        if bare:
            blocks += _shown(step, context)
            continue
        if compact and not (step.equations or step.figure is not None):
            continue
        whole = "" if compact else dialect.step(number, step, context.order, context.style)
        if whole:
            blocks.append(whole)
            continue
        place = f"{number}. " if len(piece.steps) > 1 else ""
        title = dialect.strong(context.said(f"{place}{one_line(step.title)}."))
        reason = "" if compact else context.said(step.reason)
        head = dialect.head(f"{title} {reason}".strip())
        blocks.append(dialect.below.join([head, *_body(step, context, compact)]))
    return "\n\n".join(blocks)


def _shown(step: Step, context: _Context) -> Iterator[str]:
    """Yield the figure and the table of a step."""
    dialect, order = context.dialect, context.order
    if step.figure is not None:
        file = context.request.option("file")
        drawn = figure_in(step.figure, order, context.style.width)
        yield dialect.figure(drawn, order, context.style, check_file(file) if file else "")
    if step.sheet is not None:
        yield dialect.table(step, sheet_in(step.sheet, order), order, context.style)


def _body(step: Step, context: _Context, compact: bool) -> Iterator[str]:
    """Yield the blocks of a step below its title."""
    dialect = context.dialect
    yield from map(dialect.apart, _shown(step, context))
    if step.sheet is not None and step.sheet.mark and not compact:
        yield dialect.paragraph(context.said(step.sheet.mark))
    plain = [each for each in step.lines if isinstance(each, str)]
    beside = step.kind == "count" and len(plain) == len(step.equations)
    if step.equations and step.sheet is None:
        lines = lines_of(step)
        if beside and not compact:
            shown = [
                f"{dialect.text(said)}: {dialect.form.formula(_row(line, context, False).whole)}"
                for said, line in zip(plain, lines, strict=True)
            ]
            yield dialect.items(shown)
            return
        rows = [row for line in lines for row in _rows(line, context)]
        yield dialect.display(rows, context.style) if context.broken else dialect.formula(rows, context.style)
    if compact:
        return
    if step.kind == "given" and plain:
        yield dialect.code([part for each in plain for part in statements(each)])
    elif step.lines:
        yield dialect.items([context.said(each) for each in step.lines])


# ------------------------------------------------------------------ formulas


def _rows(line: Line, context: _Context) -> list[Row]:
    """Return a line of a formula; what it holds under stands on lines of its own where there is no room."""
    row, maths = _row(line, context, context.broken), context.dialect.maths
    held = maths.held(line.when, line.limits, context.order)
    if not held:
        return [row]
    tail, room = maths.behind(maths.joined(held)), maths.room(context.style.width.letters)
    if not context.broken or maths.width(f"{row.whole} {tail}") <= room:
        return [replace(row, tail=tail)]
    lines = [[held[0]]]
    for each in held[1:]:
        if maths.width(maths.joined([*lines[-1], each])) <= room:
            lines[-1].append(each)
        else:
            lines.append([each])
    return [row, *(Row("", "", maths.joined(each), goes_on=True) for each in lines)]


def _row(line: Line, context: _Context, broken: bool) -> Row:
    said, order, style, maths = line.said, context.order, context.style, context.dialect.maths
    if not isinstance(said, Relation):
        return Row("", "", maths.words(said, order))
    name = to_text(said.lhs)
    if said.rhs.is_number and (line.unit or style.measures.unit_of(name) or not small(said.rhs)):
        value, unit = style.measures.shown(said.rhs, line.unit, name)
        number = maths.number(value, unit, style.measures.digits, style.numbers)
        return Row(maths.formula(said.lhs, order), maths.signs[said.op], number)
    return maths.sides(said, order, style.width.letters) if broken else maths.in_line(said, order)
