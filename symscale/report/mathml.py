r"""MathML: the LaTeX that our own printer makes, for pages that need no script and no font of their own.

The library's tree is set as browsers draw it: `28{,}672` is one number, `\max` stands close to its bracket, a column of
aligned relations lies left. Nothing but MathML comes out, whatever comes in: a document's own symbols are typed LaTeX.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from symscale.errors import NotationError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_TAGS = """
    math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup mover munder munderover mtable mtr mtd mstyle
    mpadded mphantom
""".split()  # noqa: SIM905 (a table of words reads better than a list of strings)
_KEPT = "display displaystyle scriptlevel stretchy fence form width mathvariant accent style".split()  # noqa: SIM905
_APPLIED = frozenset(("max", "min", "log", "exp"))
_ESCAPED = re.compile(r"\\([%&#$_{}])")
# an alignment mark that no environment holds
_ENVIRONMENT = re.compile(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
_MARK = re.compile(r"(?<!\\)&|\\\\")
_WORDS = re.compile(r"\\(?:mathrm|operatorname|textrm)\{([^{}\\]*)\}")
_TEXT = re.compile(r"\\text\{[^{}]*\}")
# what an element of this name holds
_PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "mroot": 2, "mover": 2, "munder": 2, "msubsup": 3, "munderover": 3}


@lru_cache(maxsize=8192)
def mathml(latex: str, display: bool = False) -> str:
    r"""Return a formula as MathML, on a line of its own with `display`; relations may be aligned by `&` and `\\`.

    Raises NotationError for a command that has no MathML.
    """
    from xml.etree.ElementTree import tostring

    from latex2mathml.converter import convert_to_element

    text = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", _WORDS.sub(r"\\text{\1}", latex))
    if _MARK.search(_TEXT.sub("", _ENVIRONMENT.sub("", text))):
        text = rf"\begin{{split}}{text}\end{{split}}"
    try:
        tree = convert_to_element(text, display="block" if display else "inline")
    except Exception as error:  # the library has no family of its own
        raise NotationError("This formula cannot be set as MathML.", text=latex, position=0) from error
    del tree.attrib["xmlns"]
    if not display:
        del tree.attrib["display"]
    _tidied(tree, latex)
    return tostring(tree, encoding="unicode")


def _tidied(element: Element, latex: str) -> None:
    """Turn one element of the library's tree, and what it holds, into what is drawn. Raises NotationError."""
    if element.tag not in _TAGS:
        raise NotationError(f"`{element.tag}` is no part of a formula.", text=latex, position=0)
    if len(element) != _PARTS.get(element.tag, len(element)):
        raise NotationError("A part of this formula is missing.", text=latex, position=0)
    element.text = _plain(element, latex)
    if element.tag == "mtd":
        side = element.get("columnalign", "center")
        element.set("style", f"text-align:{side};padding:.2em 0")
    for name in [each for each in element.attrib if each not in _KEPT or (each == "style" and element.tag != "mtd")]:
        del element.attrib[name]
    if element.tag == "mo" and element.text == "/":  # close, as TeX sets it
        element.attrib |= {"lspace": "0", "rspace": "0"}
    for child in element:
        _tidied(child, latex)
    if element.tag in ("math", "mrow", "mtd", "msqrt"):
        element[:] = _spaced([_alone(each) for each in _numbers(list(element))])
    else:
        element[:] = [_alone(each) for each in element]


def _plain(element: Element, latex: str) -> str | None:
    """Return the words of an element; a command that the library does not know is left in them as it was."""
    if element.text is None:
        return None
    text = html.unescape(element.text)
    if element.tag == "mtext":
        text = _ESCAPED.sub(r"\1", text)
    unknown = re.search(r"\\[A-Za-z]+", text)
    if unknown is not None:
        where = max(latex.find(unknown[0]), 0)
        raise NotationError(f"{unknown[0]} has no MathML.", text=latex, position=where)
    return text


def _alone(element: Element) -> Element:
    """Return what a group holds where that is one element."""
    while element.tag == "mrow" and len(element) == 1:
        element = element[0]
    return element


def _numbers(row: list[Element]) -> list[Element]:
    """Return a row in which the groups of digits of 28{,}672 are one number."""
    found: list[Element] = []
    for each in row:
        if len(found) > 1 and _comma(found[-1]) and found[-2].tag == each.tag == "mn" and _three(each):
            found.pop()
            found[-1].text = f"{found[-1].text},{each.text}"
        else:
            found.append(each)
    return found


def _comma(group: Element) -> bool:
    """Say whether a group is {,}, which has no space behind it as the comma of a list has."""
    return group.tag == "mrow" and len(group) == 1 and group[0].text == ","


def _three(number: Element) -> bool:
    return len((number.text or "").split(".")[0]) == 3


def _spaced(row: list[Element]) -> list[Element]:
    """Return a row with names of functions set as TeX does: close to their bracket, a thin space behind a factor."""
    from xml.etree.ElementTree import Element

    found: list[Element] = []
    for each in row:
        if _name(each) in _APPLIED:
            head = each if each.text else each[0]
            head.tag, head.attrib = "mi", {}
            if found and found[-1].tag != "mspace" and (found[-1].tag != "mo" or found[-1].text == ")"):
                found.append(Element("mspace", width="0.167em"))
            found.append(each)
            applied = Element("mo")
            applied.text = "\N{FUNCTION APPLICATION}"
            found.append(applied)
        else:
            found.append(each)
    return found


def _name(element: Element) -> str:
    return (element[0].text if element.tag == "msub" else element.text) or ""
