"""Plain text: a derivation for a terminal."""

from __future__ import annotations

import re
import textwrap
from itertools import accumulate, pairwise

import sympy as sp

from symscale.derivation.step import Derivation, Prose, Step, checked
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.notation.text import relation_text, to_text
from symscale.report.measures import Measures
from symscale.report.rounding import rounded
from symscale.solve.relation import Relation

WIDTH = 96
EXACT = Measures(6)
_REASON = " " * 3
_EQUATION = " " * 5
# A line may break after a comma or before a sign; where there is neither, before a bracket of a product.
_BREAK = re.compile(r"(?<=,) | (?=[-+] )|(?<=.)(?=[*/](?:max|min|sqrt)?\()")
_GLUE = "\0"
_GROUP = re.compile(r"\[[^\[\]]*\]|\((?:[^()]|\([^()]*\))*[-+*/](?:[^()]|\([^()]*\))*\)")
_RELATION = re.compile(r"^.*? (?:=|<=|>=|<|>) ")


def text(derivation: Derivation) -> str:
    """Return a derivation as numbered steps of plain text, all of them checked. Raises StepError."""
    title = one_line(derivation.title)
    blocks = [f"{title}\n{'=' * min(len(title), WIDTH)}"]
    blocks += [step_text(number, step, derivation.order) for number, step in enumerate(checked(derivation), 1)]
    return "\n\n".join(blocks)


def step_text(number: int, step: Step, order: Order, measures: Measures | None = None) -> str:
    """Return one step: its number and title, its reason, its equations with what stands beside them.

    Numbers have the digits and units of `measures`, else six digits, in a table four.
    """
    lines = [f"{number}. {one_line(step.title)}", *_filled(words(step.reason, order), _REASON)]
    if step.conditions:
        shown = " and ".join(equation_text(each, order) for each in step.conditions)
        lines += _filled(f"If {shown}:", _REASON)
    if step.sheet is not None:
        # the layout of tables builds on what stands here, and few steps have one
        from symscale.report.sheets import sheet_table

        made = sheet_table(step, step.sheet, "text", order, WIDTH - len(_EQUATION), measures or Measures())
        mark = ["", *_filled(step.sheet.mark, _REASON)] if step.sheet.mark else []
        return "\n".join([*lines, "", *_indented(made.split("\n")), *mark])
    scaled, units = in_units(step, measures or Measures(order.digits))
    equations = [equation_text(each, order) for each in scaled]
    if step.kind == "count" and len(step.lines) == len(equations):
        return "\n".join([*lines, *_side_by_side([words(each, order) for each in step.lines], equations)])
    for each, unit in zip(equations, units, strict=True):
        lines += _indented(broken(f"{each} {unit}".rstrip(), WIDTH - len(_EQUATION)))
    if step.figure is not None:
        lines += _filled("`symscale plot` draws it into a file.", _REASON)
    for line in step.lines:
        shown = words(line, order)
        given = step.kind == "given"
        lines += _indented(folded(statements(shown))) if given else _filled(shown, _EQUATION)
    return "\n".join(lines)


def in_units(step: Step, measures: Measures = EXACT) -> tuple[list[Relation], list[str]]:
    """Return the equations of a step with numbers in the units they are shown with, and the units."""
    shown: list[Relation] = []
    words: list[str] = []
    for each, unit in zip(step.equations, step.units or ("",) * len(step.equations), strict=True):
        if each.rhs.is_number:
            value, unit = measures.shown(each.rhs, unit, to_text(each.lhs))
            each = Relation(each.lhs, each.op, value)
        shown.append(each)
        words.append(unit)
    return shown, words


def _filled(text: str, indent: str) -> list[str]:
    # only spaces break, and those inside the brackets of a formula or an array do not
    glued = _GROUP.sub(lambda found: found[0].replace(" ", _GLUE), text)
    lines = textwrap.wrap(
        glued, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    lines = [each.replace(_GLUE, " ") for each in lines]
    return [indent + part for each in lines for part in broken(each[len(indent) :], WIDTH - len(indent))]


def _indented(lines: list[str]) -> list[str]:
    return [_EQUATION + each for each in lines]


def _side_by_side(notes: list[str], equations: list[str]) -> list[str]:
    """Return each note with its equation beside it, or below it if one of the rows would be too long."""
    width = max(map(len, notes), default=0)
    if len(_EQUATION) + width + 3 + max(map(len, equations), default=0) <= WIDTH:
        return _indented([f"{note:<{width}}   {each}" for note, each in zip(notes, equations, strict=True)])
    pairs = zip(notes, equations, strict=True)
    rows = ((folded([note]), broken(each, WIDTH - len(_EQUATION) - 2)) for note, each in pairs)
    return _indented([line for note, below in rows for line in (*note, *(f"  {each}" for each in below))])


def statements(program: str) -> list[str]:
    """Return a program on one line, or each of its statements on a line of its own if that is too long."""
    if len(program) <= WIDTH - len(_EQUATION):
        return [program]
    return program.replace("; ", "\n").split("\n")


def folded(lines: list[str], width: int = WIDTH - len(_EQUATION)) -> list[str]:
    """Return lines of a program that fit, broken between arrays: the indices of an array stay together."""
    found = []
    for line in lines:
        glued = re.sub(r"\[[^\]]*\]", lambda match: match[0].replace(" ", _GLUE), line)
        found += textwrap.wrap(
            glued, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        ) or [""]
    return [each.replace(_GLUE, " ") for each in found]


def broken(formula: str, width: int) -> list[str]:
    """Return a formula on lines that fit, broken at its outermost signs, then at its outermost commas.

    An argument of a max stands below the first one, a term below the right side.
    """
    if len(formula) <= width:
        return [formula]
    pieces, column = _pieces(formula)
    if len(pieces) == 1:
        return [formula]
    column = column if column <= width // 2 else 4
    lines = broken(pieces[0], width)
    for piece in pieces[1:]:
        signed = piece.startswith(("+ ", "- "))
        if signed and len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
            continue
        lines += [" " * column + each for each in broken(piece, width - column)]
    return lines


def _pieces(formula: str) -> tuple[list[str], int]:
    """Return the formula cut at its outermost places to break, and the column where a further piece starts."""
    depths = list(accumulate((character == "(") - (character == ")") for character in formula))
    places = [(depths[max(each.end() - 1, 0)], each[0] == "", each.span()) for each in _BREAK.finditer(formula)]
    outermost = min((place[:2] for place in places), default=None)
    cuts = [span for depth, product, span in places if (depth, product) == outermost]
    edges = [(0, 0), *cuts, (len(formula), 0)]
    pieces = [formula[left:right] for (_, left), (right, _) in pairwise(edges)]
    head = _RELATION.match(formula)
    column = len(head[0]) if head is not None and "(" not in head[0] else 0
    if outermost is not None and outermost[0] > 0:
        start = cuts[0][0]
        column = next(at for at in range(start - 1, -1, -1) if formula[at] == "(" and depths[at] == outermost[0]) + 1
    return pieces, column


def equation_text(equation: Relation, order: Order) -> str:
    """Return an equation; a number on the right side is rounded for reading."""
    op = "=" if equation.op == "==" else equation.op
    if equation.rhs.is_number and not small(equation.rhs):
        return f"{to_text(equation.lhs, order)} {op} {format_number(equation.rhs, order.digits)}"
    return relation_text(rounded(equation.lhs, order.digits), op, rounded(equation.rhs, order.digits), order)


def exact_text(relation: Relation, order: Order | None = None) -> str:
    """Return a relation as exact text that reads back, as JSON has it."""
    return relation_text(relation.lhs, "=" if relation.op == "==" else relation.op, relation.rhs, order)


def words(prose: Prose, order: Order) -> str:
    """Return words with their formulas as text."""
    if isinstance(prose, str):
        return prose
    return "".join(_word(each, order) for each in prose)


def _word(each: str | sp.Expr | Relation, order: Order) -> str:
    if isinstance(each, str):
        return each
    return equation_text(each, order) if isinstance(each, Relation) else to_text(each, order)


def one_line(text: str) -> str:
    """Return text on one line: a title with a line break in it would end a heading early."""
    return " ".join(text.split())


def small(number: sp.Expr) -> bool:
    """Return whether a number is whole and short enough to need no separators: 2550, but 38,250."""
    return bool(number.is_Integer and abs(number) < 10**4)
