"""Markdown and LaTeX: a derivation through the templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp

from symscale.derivation.step import Derivation, Prose, Step, checked
from symscale.notation.latex import relation_latex, to_latex
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
from symscale.report.plain import in_units, one_line, small, statements
from symscale.report.rounding import rounded
from symscale.report.wide import LINE, wide_latex, width
from symscale.solve.relation import Relation

if TYPE_CHECKING:
    from jinja2 import Environment


def markdown(*derivations: Derivation, title: str = "") -> str:
    """Return derivations as Markdown; formulas stand in $$ blocks, which GitHub and KaTeX read."""
    return _render("report.md.jinja", derivations, title)


def latex(*derivations: Derivation, title: str = "", document: bool = False) -> str:
    """Return derivations as LaTeX: sections with align environments, or a whole document around them."""
    return _render("document.tex.jinja" if document else "fragment.tex.jinja", derivations, title)


def _render(template: str, derivations: tuple[Derivation, ...], title: str) -> str:
    as_markdown = template.endswith(".md.jinja")
    escape = escape_markdown if as_markdown else escape_latex
    shown = [_view(each, escape) for each in derivations]
    # one derivation on its own needs no heading below its title
    headed = bool(title) or len(shown) > 1 or template == "fragment.tex.jinja"
    rendered = _environment().get_template(template).render(derivations=shown, title=title, headed=headed)
    return re.sub(r"\n{3,}", "\n\n", rendered).strip() + "\n"


def _words(prose: Prose, order: Order, escape: Callable[[str], str]) -> str:
    """Return words with their formulas between dollar signs."""
    if isinstance(prose, str):
        return escape(prose)
    return "".join(_word(each, order, escape) for each in prose)


def _word(each: str | sp.Expr | Relation, order: Order, escape: Callable[[str], str]) -> str:
    if isinstance(each, str):
        return escape(each)
    shown = relation_inline(each, order) if isinstance(each, Relation) else to_latex(each, order)
    # fractions within fractions become too small to read
    shown = rf"\displaystyle {shown}" if _nested(shown) else shown
    return f"${markdown_math(shown) if escape is escape_markdown else shown}$"


def _nested(latex: str) -> bool:
    """Return whether a fraction stands inside a fraction or a root."""
    before = [latex[: found.start()] for found in re.finditer(r"\\frac", latex)]
    return any(each.count("{") > each.count("}") for each in before)


def _view(derivation: Derivation, escape: Callable[[str], str]) -> dict[str, Any]:
    return {
        "title": derivation.title,
        "source": derivation.source,
        "steps": [_step(each, derivation.order, escape) for each in checked(derivation)],
    }


def _step(step: Step, order: Order, escape: Callable[[str], str]) -> dict[str, Any]:
    scaled, units = in_units(step)
    equations = [equation_latex(each, order) for each in scaled]
    notes = _plain(step.lines) if step.kind == "count" and len(step.lines) == len(equations) else ()
    return {
        "kind": step.kind,
        "title": step.title,
        "reason": _words(step.reason, order, escape),
        "conditions": [equation_latex(each, order) for each in step.conditions],
        "equations": equations,
        "aligned": [equation_latex(each, order, mark="&") for each in scaled],
        "notes": list(notes),
        "lines": [] if notes or step.kind == "given" else [_words(each, order, escape) for each in step.lines],
        "code": [line for each in _plain(step.lines) for line in statements(each)] if step.kind == "given" else [],
        "size": _size([] if notes else equations),
        "units": units,
    }


def _size(equations: list[str]) -> str:
    """Return the LaTeX size in which formulas that cannot be broken fit the page."""
    widest = max((width(each) for each in equations if "aligned" not in each), default=0)
    return next((size for most, size in _SIZES if widest <= most), r"\tiny")


_SIZES = ((75, ""), (110, r"\small"), (140, r"\footnotesize"))


def equation_latex(equation: Relation, order: Order, mark: str = "") -> str:
    """Return an equation in LaTeX, with an alignment mark before its sign; long numbers on the right are rounded."""
    sign = _SIGNS[equation.op]
    left = to_latex(rounded(equation.lhs), order)
    if equation.rhs.is_number and not small(equation.rhs):
        return f"{left} {mark}{sign} {format_number(equation.rhs, 6, style='latex')}"
    return f"{left} {mark}{sign} {wide_latex(rounded(equation.rhs), order, LINE - width(left))}"


def relation_inline(relation: Relation, order: Order) -> str:
    """Return a relation for running text, on one line; long numbers on the right are rounded."""
    if relation.rhs.is_number and not small(relation.rhs):
        return equation_latex(relation, order)
    return relation_latex(rounded(relation.lhs), relation.op, rounded(relation.rhs), order)


_SIGNS = {"=": "=", "==": "=", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "<<": r"\ll", ">>": r"\gg"}


def _plain(lines: tuple[Prose, ...]) -> tuple[str, ...]:
    return tuple(each for each in lines if isinstance(each, str))


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {each: "\\" + each for each in "&%$#_{}"}
_TEX |= {"-": "-{}", "`": "`{}", "'": "'{}", '"': r"\textquotedbl{}", "?": "?{}", "!": "!{}"}  # no ligatures
_TEX |= {"→": r"$\rightarrow$", "≥": r"$\ge$", "≤": r"$\le$", "≫": r"$\gg$", "≪": r"$\ll$", "×": r"$\times$"}
_TEX |= {"−": "$-$", "µ": r"$\mu$", "μ": r"$\mu$", "·": r"$\cdot$", "…": r"\dots{}", "–": "--", "√": r"$\surd$"}
_SEQUENCES = {"->": "→", ">=": "≥", "<=": "≤", ">>": "≫", "<<": "≪"}
_MARKDOWN = re.compile(r"([\\`*\[\]<#|~$&]|(?<![^\W_])_|_(?![^\W_])|^>)")


def escape_latex(text: str) -> str:
    """Return text in which no character is a LaTeX command; arrows and comparisons are set as such."""
    for plain, sign in _SEQUENCES.items():
        text = text.replace(plain, sign)
    return "".join(_tex(each) for each in re.sub(r"\s", " ", text))


def _tex(character: str) -> str:
    if character in _TEX:
        return _TEX[character]
    # the fonts have Latin letters; anything else is named rather than lost
    return character if " " <= character <= "ÿ" and character.isprintable() else f"(U+{ord(character):04X})"


def escape_markdown(text: str) -> str:
    """Return text in which no character is Markdown or HTML markup; `W_in` needs no escape."""
    return _MARKDOWN.sub(r"\\\1", re.sub(r"\s", " ", text))


def markdown_math(latex: str) -> str:
    r"""Return a formula for Markdown, whose readers eat backslashes before punctuation: no `\,`, `\\` or `|`."""
    for short, word in ((r"\\", r"\cr"), (r"\,", r"\thinspace"), (r"\%", r"\text{percent}"), ("|", r"\vert ")):
        latex = latex.replace(short, word)
    return latex


def code_span(text: str) -> str:
    """Return text as a code span of Markdown, inside a table too."""
    text = one_line(text)
    marks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return marks + pad + text.replace("|", r"\|") + pad + marks


def fence(lines: list[str]) -> str:
    """Return a fence that no line of a code block can close."""
    return "`" * max(3, 1 + max((len(each) for line in lines for each in re.findall("`+", line)), default=0))


def template_folder() -> Path:
    """Return the folder of the templates: inside an installed package, or the checkout's own."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_templates"
    return inside if inside.is_dir() else package.parent / "templates"


def _unit(text: str) -> str:
    r"""Return a unit for the inside of a \text of a formula, which holds no formula of its own."""
    word = escape_latex(one_line(text).replace("$", "USD").replace("%", "percent"))
    return word.replace(r"$\mu$", r"}\mu\text{")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(template_folder()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    environment.filters["tex"] = lambda text: escape_latex(one_line(text))
    environment.filters["md"] = lambda text: escape_markdown(one_line(text))
    environment.filters["math"] = markdown_math
    environment.filters["unit"] = _unit
    environment.filters["code"] = code_span
    environment.filters["fence"] = fence
    return environment
