"""MathML in LaTeX, as pages have it: fractions, roots, indices, signs, words, and columns of relations."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from symscale.errors import NotationError
from symscale.notation.formula_lexer import MAX_DEPTH

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_SIGNS = {"≤": r"\le ", "≥": r"\ge ", "⩽": r"\le ", "⩾": r"\ge ", "≪": r"\ll ", "≫": r"\gg ", "≈": r"\approx "}
_SIGNS |= {
    "−": "-",
    "·": r"\cdot ",
    "⋅": r"\cdot ",
    "×": r"\times ",
    "⌈": r"\lceil ",
    "⌉": r"\rceil ",
    "⌊": r"\lfloor ",
}
_SIGNS |= {"⌋": r"\rfloor ", "{": r"\{", "}": r"\}", "%": r"\%", "∞": r"\infty ", "≠": r"\ne ", "±": r"\pm ", "/": "/"}
#: Operators that are not seen: function application, and what is between factors, arguments and terms.
_UNSEEN = str.maketrans(dict.fromkeys("\u2061\u2062\u2063\u2064", " "))
_APPLIED = ("max", "min", "log", "ln", "exp")
_ROWS = frozenset(("math", "mrow", "mstyle", "mpadded", "merror", "menclose"))
_UNSAFE = re.compile(r"[{}\\$]")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w+;")
_RELATION = re.compile(r"[=<>]|\\[lg]e(?![a-z])")
_VARIANTS = {"script": "mathcal", "double-struck": "mathbb", "fraktur": "mathfrak", "bold": "mathbf"}
_BOTH: dict[str, tuple[str, ...]] = {"mfrac": (r"\frac{", "}{", "}"), "msub": ("", "_{", "}"), "msup": ("", "^{", "}")}
_BOTH |= {"msubsup": ("", "_{", "}^{", "}"), "mroot": (r"\sqrt[", "]{", "}")}


def mathml_latex(text: str) -> str:
    """Return an element `<math>` as LaTeX, rows of a table as its rows.

    TeX that it carries itself is taken. Raises NotationError for what is no MathML, and for elements that are not read.
    """
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        tree = fromstring(_ENTITY.sub(lambda found: html.unescape(found[0]), text))
    except (ParseError, ValueError) as error:
        raise NotationError(f"This MathML is broken: {error}.", hint="Close every element.") from error
    return _element(tree, 0)


def _element(element: Element, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise NotationError(f"This MathML is nested more than {MAX_DEPTH} deep.")
    name = element.tag.rpartition("}")[2]
    said = " ".join((element.text or "").translate(_UNSEEN).split())
    parts = [_element(each, depth + 1) for each in element] if name not in ("semantics", "mtable") else []
    if name in _ROWS:
        return "".join(parts)
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return _token(name, said if name != "mtext" else (element.text or "").replace("\u00a0", " "), element)
    if name == "mspace":
        return r"\quad " if element.get("width", "").startswith(("1em", "2em")) else " "
    if name in _BOTH and len(parts) == len(_BOTH[name]) - 1:
        parts = parts[::-1] if name == "mroot" else parts
        return "".join(sign + part for sign, part in zip(_BOTH[name], [*parts, ""], strict=True))
    if name == "msqrt":
        return rf"\sqrt{{{''.join(parts)}}}"
    if name == "mtable":
        lines = [" & ".join(_element(cell, depth + 2) for cell in row) for row in element]
        # a column of relations, or one formula that is broken into lines
        return (r" \\ " if all(map(_RELATION.search, lines)) else " ").join(lines).replace("&", " ")
    if name == "mtd":
        return "".join(parts)
    if name in ("mover", "munder") and len(parts) == 2 and element[0].tag.endswith(("munder", "mover")):
        return parts[0]
    if name == "semantics":
        return _annotated(element, depth)
    raise NotationError(f"<{name}> is not read.", hint="Write the formula without it.")


def _annotated(element: Element, depth: int) -> str:
    for each in element:
        if each.tag.rpartition("}")[2] == "annotation" and "tex" in each.get("encoding", "").lower():
            return each.text or ""
    return _element(element[0], depth + 1) if len(element) else ""


def _token(name: str, said: str, element: Element) -> str:
    if name == "mn":
        return said.replace(",", "{,}").replace("\u2009", "").replace("\u00a0", "")
    if name in ("mtext", "ms"):
        return f"\\text{{{_UNSAFE.sub('', said)}}}" if said.strip() else " "
    if name == "mo":
        return _SIGNS.get(said, rf"\{said}" if said in _APPLIED else said)
    if said in _APPLIED:
        return rf"\{said} "
    font = _VARIANTS.get(element.get("mathvariant", ""))
    if len(said) > 1 and not font:
        return f"\\text{{{_UNSAFE.sub('', said)}}}"
    return rf"\{font}{{{said}}}" if font else f" {said} "
