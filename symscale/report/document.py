"""Markdown and LaTeX: a derivation through the templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symscale.derivation.sheet import Sheet
from symscale.derivation.step import Derivation, Prose, Step, checked
from symscale.notation.order import Order
from symscale.report.plain import in_units, one_line, statements
from symscale.report.prose import (
    LATEX,
    MARKDOWN,
    Form,
    code_span,
    equation_latex,
    escape_latex,
    escape_markdown,
    fence,
    inline,
    markdown_math,
    powers,
    sides,
)
from symscale.report.sheets import sheet_table
from symscale.report.wide import width

NOT_HERE = "*`symscale plot` draws it into a file.*"

if TYPE_CHECKING:
    from jinja2 import Environment

    from symscale.derivation.figure import Figure


def markdown(*derivations: Derivation, title: str = "", images: Mapping[Figure, str] | None = None) -> str:
    """Return derivations as Markdown; formulas stand in $$ blocks, which GitHub and KaTeX read.

    `images` are the files that figures are drawn in; a figure without one is its caption alone.
    """
    return _render("report.md.jinja", derivations, title, images)


def latex(*derivations: Derivation, title: str = "", document: bool = False) -> str:
    """Return derivations as LaTeX: sections with align environments, or a whole document around them."""
    return _render("document.tex.jinja" if document else "fragment.tex.jinja", derivations, title)


def steps_markdown(derivation: Derivation, images: Mapping[Figure, str] | None = None) -> str:
    """Return the steps of a derivation as Markdown, without its title and source; `images` are files of its figures."""
    return _render("report.md.jinja", (derivation,), "", images, bare=True)


def steps_latex(derivation: Derivation) -> str:
    """Return the steps of a derivation as LaTeX, without its title and source."""
    return _render("fragment.tex.jinja", (derivation,), "", bare=True)


def _render(
    template: str,
    derivations: tuple[Derivation, ...],
    title: str,
    images: Mapping[Figure, str] | None = None,
    *,
    bare: bool = False,
) -> str:
    form = MARKDOWN if template.endswith(".md.jinja") else LATEX
    shown = [_view(each, form, images or {}) for each in derivations]
    # one derivation on its own needs no heading below its title
    headed = bool(title) or len(shown) > 1 or template == "fragment.tex.jinja"
    return filled(template, derivations=shown, title=title, headed=headed, bare=bare)


def filled(template: str, **values: Any) -> str:
    """Return a template with its values, and no two empty lines in a row."""
    rendered = environment().get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", rendered).strip() + "\n"


def _view(derivation: Derivation, form: Form, images: Mapping[Figure, str]) -> dict[str, Any]:
    return {
        "title": derivation.title,
        "source": derivation.source,
        "steps": [
            _step(each, derivation.order, form) | {"figure": _figure(each.figure, form, images)}
            for each in checked(derivation)
        ],
    }


def _figure(figure: Figure | None, form: Form, images: Mapping[Figure, str]) -> str:
    """Return a figure as TikZ, or as the image of Markdown, or where to find it."""
    if figure is None:
        return ""
    if form is LATEX:
        from symscale.report.pgf import tikz

        return tikz(figure)
    from symscale.report.figures import alternative

    return f"![{escape_markdown(alternative(figure))}]({images[figure]})" if figure in images else NOT_HERE


def _step(step: Step, order: Order, form: Form) -> dict[str, Any]:
    scaled, units = in_units(step) if step.sheet is None else ([], [])
    parts = [sides(each, order) for each in scaled]
    equations = [f"{left} {sign} {right}" for left, sign, right in parts]
    notes = _plain(step.lines) if step.kind == "count" and len(step.lines) == len(equations) else ()
    return {
        "kind": step.kind,
        "title": step.title,
        "reason": inline(step.reason, order, form),
        "conditions": [equation_latex(each, order) for each in step.conditions],
        "equations": equations,
        "aligned": [f"{left} &{sign} {right}" for left, sign, right in parts],
        "notes": list(notes),
        "lines": [] if notes or step.kind == "given" else [inline(each, order, form) for each in step.lines],
        "code": [line for each in _plain(step.lines) for line in statements(each)] if step.kind == "given" else [],
        "size": _size([] if notes else equations),
        "units": units,
        "table": "" if step.sheet is None else _table(step, step.sheet, order, form),
        "mark": "" if step.sheet is None else form.escape(step.sheet.mark),
    }


def _table(step: Step, sheet: Sheet, order: Order, form: Form) -> str:
    return sheet_table(step, sheet, "md" if form is MARKDOWN else "latex", order)


def _size(equations: list[str]) -> str:
    """Return the LaTeX size in which formulas that cannot be broken fit the page."""
    widest = max((width(each) for each in equations if "aligned" not in each), default=0)
    return next((size for most, size in _SIZES if widest <= most), r"\tiny")


_SIZES = ((75, ""), (110, r"\small"), (140, r"\footnotesize"))


def _plain(lines: tuple[Prose, ...]) -> tuple[str, ...]:
    return tuple(each for each in lines if isinstance(each, str))


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
def environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from symscale.report.narrow import breakable_latex, heading_latex

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
    environment.filters["heading"] = heading_latex
    environment.filters["breakable"] = breakable_latex
    environment.filters["numbers"] = lambda text: powers(one_line(text), LATEX)
    environment.filters["anchor"] = lambda text: re.sub(r"[^\w/.-]", "-", text)
    environment.filters["fence"] = fence
    return environment
