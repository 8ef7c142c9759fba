r"""Macros as files: a LaTeX package, a Typst module, JSON. The same macros give the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from symscale.errors import SymscaleError
from symscale.paper.macronames import tex_name, typst_name
from symscale.paper.macros import Macro

SCHEMA = "symscale.macros/1.0"
#: LaTeX wants a date of a package; one of the day would make a new file every day.
DATE = "2000/01/01"
STEM = "symscale-macros"

_HEAD = r"""% Written by `symscale macros`; an edit is lost when it is written again.
\NeedsTeXFormat{LaTeX2e}
\ProvidesPackage{@NAME@}[@DATE@ formulas and numbers derived by symscale]
\RequirePackage{amsmath}
% A number is set by siunitx where that is loaded; physics has another \qty.
\providecommand*\symscale@number[3]{\relax\ifmmode#2\else#3\fi}
% The second argument is for bookmarks, which hyperref makes.
\AtBeginDocument{%
  \providecommand\texorpdfstring[2]{#1}%
  \@ifpackageloaded{siunitx}{\@ifpackageloaded{physics}{}{%
    \@ifundefined{qty}{}{\renewcommand*\symscale@number[3]{\ensuremath{#1}}}}}{}}
"""
_FOOT = "\\endinput\n"
_BOOKMARK = str.maketrans(
    {each: "\\" + each for each in "&%$#_{}"}
    | {"≪": "<<", "≫": ">>", "×": "x", "−": "-"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def latex_package(macros: Sequence[Macro], stem: str) -> str:
    """Return a LaTeX package: a robust command for each macro, for text and maths, titles and captions."""
    shown = []
    for each in macros:
        body = rf"\ensuremath{{{each.latex}}}"
        if each.siunitx:
            body = rf"\symscale@number{{{each.siunitx}}}{{{each.latex}}}{{{each.prose}}}"
        command = rf"\DeclareRobustCommand\{tex_name(each.words)}"
        shown.append(f"% {each.request}\n{command}{{\\texorpdfstring{{{body}}}{{{each.text.translate(_BOOKMARK)}}}}}\n")
    return _HEAD.replace("@NAME@", stem).replace("@DATE@", DATE) + "".join(shown) + _FOOT


def typst_module(macros: Sequence[Macro], stem: str) -> str:
    """Return a Typst module: a variable with content for each macro, for text and maths."""
    head = "// Written by `symscale macros`; an edit is lost when it is written again.\n"
    return head + "".join(f"// {each.request}\n#let {typst_name(each.words)} = [{each.typst}]\n" for each in macros)


def json_file(macros: Sequence[Macro], stem: str) -> str:
    """Return JSON, whose schema docs/json.md describes."""
    shown = {
        typst_name(each.words): {
            "request": each.request,
            "command": f"\\{tex_name(each.words)}",
            "latex": each.latex,
            "prose": each.prose or None,
            "siunitx": each.siunitx or None,
            "typst": each.typst,
            "markdown": each.markdown,
            "text": each.text,
            "value": each.value or None,
            "unit": each.unit if each.value else None,
        }
        for each in macros
    }
    return json.dumps({"schema": SCHEMA, "macros": shown}, indent=1, ensure_ascii=False) + "\n"


FORMATS: dict[str, Callable[[Sequence[Macro], str], str]] = {
    "sty": latex_package,
    "typ": typst_module,
    "json": json_file,
}


def format_of(output: str, style: str) -> str:
    """Return the format asked for by name, or by the suffix of a file.

    Raises SymscaleError for another, and for a package that LaTeX cannot load by its name.
    """
    found = style or Path(output).suffix.lower().removeprefix(".") or "sty"
    if found not in FORMATS:
        raise SymscaleError(
            f"Macros are not written as {found[:20]!r}.", hint=f"Use one of {', '.join(FORMATS)}: -o {STEM}.sty."
        )
    stem = Path(output).stem
    if found == "sty" and stem and not re.fullmatch(r"[A-Za-z0-9_.+-]+", stem):
        raise SymscaleError(
            f"LaTeX loads no package of the name {stem[:40]!r}.", hint=f"Take letters, digits and -_.+: -o {STEM}.sty."
        )
    return found


def listing(macros: Sequence[Macro], style: str) -> str:
    """Return the names of macros, what is asked for by each, and what it gives."""
    names = [f"\\{tex_name(each.words)}" if style == "sty" else typst_name(each.words) for each in macros]
    first = max(map(len, names), default=0)
    second = max((len(each.request) for each in macros), default=0)
    rows = zip(names, macros, strict=True)
    return "\n".join(f"{name:<{first}}  {each.request:<{second}}  {each.text}" for name, each in rows)
