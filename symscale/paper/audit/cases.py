r"""Claims by cases: `B \ge \begin{cases} a & \text{if } c \\ \infty & \text{otherwise} \end{cases}`, one row for each.

An equation whose value is chosen by which of two formulas is larger is one of their maximum, or their minimum.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import sympy as sp

from symscale.errors import NotationError
from symscale.notation.formula import parse_formula, parse_relation
from symscale.paper.audit.tidied import rows, tidied

_BEGINS = re.compile(r"\\begin\s*\{(?P<name>(?:cases|dcases|rcases|drcases|numcases|subnumcases)\*?)\}")
_OTHERWISE = re.compile(r"\s*\\text\s*\{[\s,]*(?:otherwise|else)\b[^{}]*\}\s*|\s*$", re.IGNORECASE)
_IF = re.compile(
    r"[\s,;]*(?:\\text\s*\{\s*,?\s*(?:if|when|for|where|whenever|provided(?: that)?)\s*\}|\\text\{\s*\})?",
    re.IGNORECASE,
)
_SIGNS = {"<": r"\ge", r"\lt": r"\ge", r"\le": ">", r"\leq": ">", "≤": ">", "<=": ">"}
_SIGNS |= {">": r"\le", r"\gt": r"\le", r"\ge": "<", r"\geq": "<", "≥": "<", ">=": "<"}
_SIGN = re.compile(r"\\(?:leqslant|geqslant|leq|geq|le|ge|lt|gt)(?![A-Za-z])|<=|>=|[<>≤≥]")
_NONE = re.compile(r"\s*\\infty\s*[.,]?\s*")
_ALL = re.compile(r"\s*0\s*[.,]?\s*")
_TOO_MANY = "These cases cannot be judged: they are no maximum and no minimum of two formulas."


def by_cases(row: str) -> list[str]:
    r"""Return a row by its cases, each with its condition behind `\text{if }`; a row without cases as it is.

    Raises NotationError for cases that never end, that more follows, and equations by cases that are no max or min.
    """
    found = _BEGINS.search(row)
    if found is None:
        return [row]
    close = rf"\end{{{found['name']}}}"
    end = row.find(close, found.end())
    if end < 0:
        raise NotationError(f"{close} is missing.", text=row, position=found.start(), hint="Close the cases.")
    if _BEGINS.search(row, found.end(), end) or re.sub(r"[\s.,;]|\\text\{[.,;\s]*\}", "", row[end + len(close) :]):
        raise NotationError("Only cases that end a formula are read.", text=row, position=found.start())
    before = re.sub(r"\\left\s*\\\{\s*$|\\\{\s*$", "", row[: found.start()]).strip()
    cells = [each.partition("&") for _, each in rows(row[found.end() : end]) if each.strip(" \\&")]
    branches = [(value.strip().rstrip(",;. "), _condition(said)) for value, _, said in cells]
    if before.endswith("="):
        return [f"{before} {_extreme(branches)}"]
    if len(branches) == 2 and not branches[1][1] and branches[0][1]:
        branches[1] = (branches[1][0], _complement(branches[0][1]))
    return [_stated(before, value, when) for value, when in branches]


def _condition(cell: str) -> str:
    """Return the condition of a case without its "if", "" for all others."""
    cell = cell.replace("&", " ").strip()
    return "" if _OTHERWISE.fullmatch(cell.rstrip(".,; ")) else _IF.sub("", cell, count=1).strip().rstrip(".,; ")


def _stated(before: str, value: str, when: str) -> str:
    """Return what one case states; beyond infinity is nothing, and above 0 everything."""
    upward = re.search(r"(?:\\geq?|\\geqslant|\\gt|>=?|≥)\s*$", before)
    downward = re.search(r"(?:\\leq?|\\leqslant|\\lt|<=?|≤)\s*$", before)
    if (upward or downward) and (_NONE.fullmatch(value) or _ALL.fullmatch(value)):
        enough = bool(upward) == bool(_ALL.fullmatch(value))
        said = rf"\text{{{'every' if enough else 'no'} x is enough}}"
    else:
        said = f"{before} {value}"
    return rf"{said} \quad \text{{if }} {when}" if when else said


def _complement(when: str) -> str:
    """Return the condition of all other values, "" where it is none of one sign."""
    signs = list(_SIGN.finditer(when))
    if len(signs) != 1:
        return ""
    sign = signs[0]
    return f"{when[: sign.start()]} {_SIGNS[sign[0].replace('qslant', '')]} {when[sign.end() :]}"


def _extreme(branches: Sequence[tuple[str, str]]) -> str:
    r"""Return `\max(a, b)` where the first of two formulas holds where it is the larger. Raises NotationError."""
    if len(branches) != 2 or not branches[0][1]:
        raise NotationError(_TOO_MANY, hint="State each case under its condition.")
    (first, when), (second, other) = branches
    values = [parse_formula(tidied(each), implicit=True).expr for each in (first, second)]
    ratio = _along(values[0] - values[1], when)
    if other and _along(values[1] - values[0], other) is not ratio:
        raise NotationError(_TOO_MANY, hint="State each case under its condition.")
    return rf"\{'max' if ratio else 'min'}({first}, {second})"


def _along(difference: sp.Expr, when: str) -> bool:
    """Say whether a difference is positive where a condition holds, or negative. Raises NotationError for neither."""
    said = parse_relation(tidied(when), implicit=True)
    sides = said.lhs - said.rhs if said.op in (">", ">=") else said.rhs - said.lhs
    quotient = sp.factor(sp.together(difference / sides)) if sides != 0 and said.op != "=" else sp.nan
    if quotient.is_positive or quotient.is_negative:
        return bool(quotient.is_positive)
    raise NotationError(_TOO_MANY, hint="State each case under its condition.")
