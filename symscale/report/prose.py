"""Words and formulas for Markdown and LaTeX: what is escaped, and formulas in running text or on their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import sympy as sp

from symscale.derivation.step import Prose
from symscale.frozen import dataclass
from symscale.notation.latex import relation_latex, to_latex
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.report.plain import one_line, small
from symscale.report.rounding import rounded
from symscale.report.wide import LINE, wide_latex, width
from symscale.solve.relation import Relation


@dataclass(frozen=True)
class Form:
    """How words are written in a format: `escape` makes text of them, `formula` sets LaTeX maths among them."""

    name: str
    escape: Callable[[str], str]
    formula: Callable[[str], str]


def inline(prose: Prose, order: Order, form: Form) -> str:
    """Return words with their formulas among them."""
    if isinstance(prose, str):
        return powers(prose, form)
    return "".join(_word(each, order, form) for each in prose)


def powers(words: str, form: Form) -> str:
    """Return words with their powers of ten set as such: 10^12 is a number."""
    parts = re.split(r"\b((?:\d[\d.,]* × )?10\^-?\d+)", words)
    return "".join(form.formula(_power_latex(each)) if n % 2 else form.escape(each) for n, each in enumerate(parts))


def _power_latex(number: str) -> str:
    return re.sub(r"10\^(-?\d+)", r"10^{\1}", number).replace("×", r"\times")


def _word(each: str | sp.Expr | Relation, order: Order, form: Form) -> str:
    if isinstance(each, str):
        return powers(each, form)
    shown = relation_inline(each, order) if isinstance(each, Relation) else to_latex(each, order)
    # fractions within fractions become too small to read
    shown = rf"\displaystyle {shown}" if _nested(shown) else shown
    return form.formula(shown)


def set_cell(cell: Prose | sp.Expr | Relation, order: Order, form: Form) -> str:
    """Return a cell of a table: a formula with its long numbers rounded, a relation, or words with such among them."""
    if isinstance(cell, sp.Basic):
        return form.formula(to_latex(rounded(cell, order.digits), order))
    return inline(cell if isinstance(cell, tuple | str) else (cell,), order, form)


def _nested(latex: str) -> bool:
    """Return whether a fraction stands inside a fraction or a root."""
    before = [latex[: found.start()] for found in re.finditer(r"\\frac", latex)]
    return any(each.count("{") > each.count("}") for each in before)


def equation_latex(equation: Relation, order: Order, mark: str = "") -> str:
    """Return an equation in LaTeX, with an alignment mark before its sign; long numbers on the right are rounded."""
    left, sign, right = sides(equation, order)
    return f"{left} {mark}{sign} {right}"


@lru_cache(maxsize=1024)
def sides(equation: Relation, order: Order, room: int = LINE) -> tuple[str, str, str]:
    """Return an equation's left side, sign and right side, broken to lines of `room` characters where it can be."""
    left = to_latex(rounded(equation.lhs, order.digits), order)
    if equation.rhs.is_number and not small(equation.rhs):
        right = format_number(equation.rhs, order.digits, style="latex")
    else:
        right = wide_latex(rounded(equation.rhs, order.digits), order, room - width(left))
    return left, SIGNS[equation.op], right


def relation_inline(relation: Relation, order: Order) -> str:
    """Return a relation for running text, on one line; long numbers on the right are rounded."""
    if relation.rhs.is_number and not small(relation.rhs):
        return equation_latex(relation, order)
    return relation_latex(rounded(relation.lhs, order.digits), relation.op, rounded(relation.rhs, order.digits), order)


SIGNS = {"=": "=", "==": "=", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "<<": r"\ll", ">>": r"\gg"}


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {each: "\\" + each for each in "&%$#_{}"}
_TEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # other signs in OT1 fonts
_TEX |= {"-": "-{}", "`": "`{}", "'": "'{}", '"': r"\textquotedbl{}", "?": "?{}", "!": "!{}"}  # no ligatures
_TEX |= {"→": r"$\rightarrow$", "≥": r"$\ge$", "≤": r"$\le$", "≫": r"$\gg$", "≪": r"$\ll$", "×": r"$\times$"}
_TEX |= {"−": "$-$", "µ": r"$\mu$", "μ": r"$\mu$", "·": r"$\cdot$", "…": r"\dots{}", "–": "--", "√": r"$\surd$"}
_POWER = re.compile(r"([\d.,]+) \$\\times\$ 10\\textasciicircum\{\}((?:-\{\})?\d+)")
_SEQUENCES = {"->": "→", ">=": "≥", "<=": "≤", ">>": "≫", "<<": "≪"}
_MARKDOWN = re.compile(r"([\\`*\[\]<#|~$&]|(?<![^\W_])_|_(?![^\W_])|^>)")


def with_signs(text: str) -> str:
    """Return text with arrows and comparisons as signs of their own, inside which no line can end."""
    for plain, sign in _SEQUENCES.items():
        text = text.replace(plain, sign)
    return text


def escape_latex(text: str) -> str:
    """Return text in which no character is a LaTeX command; arrows and comparisons are set as such."""
    made = "".join(_tex(each) for each in re.sub(r"\s", " ", with_signs(text)))
    return _POWER.sub(_power, made)


def _power(found: re.Match[str]) -> str:
    """Return 4.89 × 10^-6, escaped, as a formula."""
    return rf"${found[1]} \times 10^{{{found[2].replace('{}', '')}}}$"


def _tex(character: str) -> str:
    if character in _TEX:
        return _TEX[character]
    # the fonts have Latin letters; anything else is named rather than lost
    return character if " " <= character <= "ž" and character.isprintable() else f"(U+{ord(character):04X})"


def escape_markdown(text: str) -> str:
    """Return text in which no character is Markdown or HTML markup; `W_in` needs no escape."""
    return _MARKDOWN.sub(r"\\\1", re.sub(r"\s", " ", text))


def markdown_math(latex: str) -> str:
    r"""Return a formula for Markdown, whose readers eat backslashes before punctuation: no `\,`, `\\` or `|`."""
    for short, word in ((r"\\", r"\cr"), (r"\,", r"\thinspace"), (r"\%", r"\text{percent}"), ("|", r"\vert ")):
        latex = latex.replace(short, word)
    return latex


LATEX = Form("latex", escape_latex, lambda latex: f"${latex}$")
MARKDOWN = Form("md", escape_markdown, lambda latex: f"${markdown_math(latex)}$")


def code_span(text: str) -> str:
    """Return text as a code span of Markdown, inside a table too."""
    text = one_line(text)
    marks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return marks + pad + text.replace("|", r"\|") + pad + marks


def fence(lines: list[str]) -> str:
    """Return a fence that no line of a code block can close."""
    return "`" * max(3, 1 + max((len(each) for line in lines for each in re.findall("`+", line)), default=0))
