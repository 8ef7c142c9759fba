"""Markdown and LaTeX: a derivation through the templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp

from symscale.derivation.step import Derivation, Prose, Step
from symscale.notation.latex import relation_latex, to_latex
from symscale.notation.numbers import format_number
from symscale.notation.order import Order
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
    escape = escape_markdown if template.endswith(".md.jinja") else escape_latex
    shown = [_view(each, escape) for each in derivations]
    rendered = _environment().get_template(template).render(derivations=shown, title=title)
    return re.sub(r"\n{3,}", "\n\n", rendered).strip() + "\n"


def _words(prose: Prose, order: Order, escape: Callable[[str], str]) -> str:
    """Return words with their formulas between dollar signs."""
    if isinstance(prose, str):
        return escape(prose)
    return "".join(_word(each, order, escape) for each in prose)


def _word(each: str | sp.Expr | Relation, order: Order, escape: Callable[[str], str]) -> str:
    if isinstance(each, str):
        return escape(each)
    return f"${equation_latex(each, order) if isinstance(each, Relation) else to_latex(each, order)}$"


def _view(derivation: Derivation, escape: Callable[[str], str]) -> dict[str, Any]:
    return {
        "title": derivation.title,
        "source": derivation.source,
        "steps": [_step(each, derivation.order, escape) for each in derivation.steps],
    }


def _step(step: Step, order: Order, escape: Callable[[str], str]) -> dict[str, Any]:
    equations = [equation_latex(each, order) for each in step.equations]
    notes = _plain(step.lines) if step.kind == "count" and len(step.lines) == len(equations) else ()
    return {
        "kind": step.kind,
        "title": step.title,
        "reason": _words(step.reason, order, escape),
        "conditions": [relation_latex(each.lhs, each.op, each.rhs, order) for each in step.conditions],
        "equations": equations,
        "notes": list(notes),
        "lines": [] if notes or step.kind == "given" else [_words(each, order, escape) for each in step.lines],
        "code": _plain(step.lines) if step.kind == "given" else (),
        "units": list(step.units),
    }


def equation_latex(equation: Relation, order: Order) -> str:
    """Return an equation in LaTeX with an alignment mark; long numbers on the right are rounded."""
    op = "=" if equation.op == "==" else equation.op
    if equation.rhs.is_number and not (equation.rhs.is_Integer and abs(equation.rhs) < 10**6):
        sign = {"=": "=", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge"}[op]
        return f"{to_latex(equation.lhs, order)} {sign} {format_number(equation.rhs, 6, style='latex')}"
    return relation_latex(equation.lhs, op, equation.rhs, order)


def _plain(lines: tuple[Prose, ...]) -> tuple[str, ...]:
    return tuple(each for each in lines if isinstance(each, str))


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {each: "\\" + each for each in "&%$#_{}"}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def escape_latex(text: str) -> str:
    """Return text in which no character is a LaTeX command."""
    escaped = "".join(_TEX.get(each, each) for each in text)
    table = {
        "->": r"$\rightarrow$",
        ">=": r"$\ge$",
        "<=": r"$\le$",
        "≫": r"$\gg$",
        "×": r"$\times$",
        "≪": r"$\ll$",
    }
    for plain, command in table.items():
        escaped = escaped.replace(plain, command)
    return escaped.replace(">>", r"$\gg$").replace("<<", r"$\ll$")


def escape_markdown(text: str) -> str:
    """Return text in which no character is Markdown markup."""
    return _MARKDOWN.sub(r"\\\1", text)


def template_folder() -> Path:
    """Return the folder of the templates: inside an installed package, or the checkout's own."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_templates"
    return inside if inside.is_dir() else package.parent / "templates"


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
    environment.filters["tex"] = escape_latex
    environment.filters["md"] = escape_markdown
    return environment
