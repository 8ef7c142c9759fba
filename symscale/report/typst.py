r"""Typst maths: the LaTeX that our own printer makes, and that of a symbol's name, in the words of Typst."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from symscale.errors import NotationError
from symscale.notation.formula_lexer import GREEK
from symscale.notation.order import Order
from symscale.report.column import Cell, Column
from symscale.report.prose import Form, set_cell, with_signs

_TOKEN = re.compile(
    r"(?P<text>\\(?:text|mathrm|textrm|operatorname)\s*\{(?P<words>(?:[^{}\\]|\\.)*)\})"
    r"|(?P<environment>\\(?:begin|end)\{\w+\*?\})"
    r"|(?P<number>\d+(?:\{,\}\d{3})*(?:\.\d+)?)"
    r"|(?P<command>\\(?:[A-Za-z]+|.))"
    r"|(?P<space>\s+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_SIGNS = {
    "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "ll": "<<", "gg": ">>", "ne": "!=", "approx": "approx",
    "cdot": "dot.op", "times": "times", "pm": "plus.minus", "infty": "infinity", "in": "in", "to": "->",
    "rightarrow": "->", "max": "max", "min": "min", "log": "log", "exp": "exp", "ln": "ln", "quad": "quad",
    "qquad": "wide", ",": "thin", ":": "med", ";": "thick", " ": "thick", "%": "%", "_": "\\_", "&": "\\&", "#": "\\#",
    "$": "\\$", "ell": "ell", "star": "star.op", "ast": "*", "prime": "'", "dagger": "dagger", "circ": "compose",
    "dots": "dots", "ldots": "dots", "cdots": "dots.c", "partial": "partial", "nabla": "nabla", "vert": "|",
    "epsilon": "epsilon.alt", "varepsilon": "epsilon", "phi": "phi.alt", "varphi": "phi", "vartheta": "theta.alt",
    "varrho": "rho.alt", "varsigma": "sigma.alt", "varpi": "pi.alt", "hbar": "planck.reduce", "{": "{", "}": "}",
    "displaystyle": "", "thinspace": "thin",
}  # fmt: skip
_SIGNS = {**{name: name for name in GREEK}, **{name.capitalize(): name.capitalize() for name in GREEK}, **_SIGNS}
_AROUND = {
    "sqrt": "sqrt({})", "mathcal": "cal({})", "mathscr": "scr({})", "mathbb": "bb({})", "mathfrak": "frak({})",
    "mathbf": "bold(upright({}))", "boldsymbol": "bold({})", "bm": "bold({})", "mathit": "italic({})",
    "mathsf": "sans({})", "mathtt": "mono({})", "tilde": "tilde({})", "widetilde": "tilde({})", "hat": "hat({})",
    "widehat": "hat({})", "bar": "macron({})", "overline": "overline({})", "underline": "underline({})",
    "vec": "arrow({})", "dot": "dot({})", "ddot": "dot.double({})", "mathring": "circle({})",
}  # fmt: skip
_BRACKETS = {"lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "langle": "⟨", "rangle": "⟩", ".": ""}
#: Characters that mean something in Typst's maths, where LaTeX means the character.
_LITERAL = {"/": "\\/", '"': '\\"', "#": "\\#", "$": "\\$", "@": "\\@", "`": "\\`", "~": "space.nobreak"}


@lru_cache(maxsize=8192)
def typst(latex: str) -> str:
    r"""Return a formula in Typst's maths, without its dollar signs. Raises NotationError for what is not known.

    \frac{b C}{2 W_\text{ici}} is frac(b C, 2 W_"ici").
    """
    return _Reader(latex).all()


def typst_string(words: str) -> str:
    """Return words as a string of Typst."""
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Reader:
    """A formula being read: what is left of its tokens."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = [each for each in _TOKEN.finditer(latex) if each.lastgroup != "space"]
        self.at = 0

    def all(self) -> str:
        shown = _joined(self.row(""))
        if self.at < len(self.tokens):
            raise self.wrong("nothing opens what closes here")
        return shown

    def wrong(self, why: str) -> NotationError:
        token = self.tokens[min(self.at, len(self.tokens) - 1)] if self.tokens else None
        position = token.start() if token is not None else 0
        return NotationError(f"This formula cannot be set in Typst: {why}.", text=self.latex or " ", position=position)

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def row(self, end: str) -> Iterator[str]:
        """Yield what stands up to the end of a group."""
        while self.at < len(self.tokens) and self.peek() != end:
            if self.peek() in ("}", r"\right") or (self.peek().startswith(r"\end") and end != self.peek()):
                return
            if self.peek() == r"\displaystyle":
                self.at += 1
                yield f"display({_argument(_joined(self.row(end)))})"
                return
            yield self.scripted()

    def scripted(self) -> str:
        """Return one thing with its indices."""
        group = self.peek() == "{"
        base = self.one()
        found: dict[str, str] = {}
        while self.peek() in ("^", "_"):
            sign = self.peek()
            self.at += 1
            if sign in found:
                raise self.wrong("it has two indices in one place")
            found[sign] = self.one()
        if found and group and len(base) > 1:
            places = "".join(f", {'t' if sign == '^' else 'b'}: {_argument(each)}" for sign, each in found.items())
            return f"attach({_argument(base)}{places})"
        return base + "".join(f"{sign}{_index(each)}" for sign, each in found.items())

    def one(self) -> str:
        """Return the next thing: a letter, a number, words, a group, or a command with what it takes."""
        if self.at >= len(self.tokens):
            raise self.wrong("something is missing at its end")
        token = self.tokens[self.at]
        kind, text = token.lastgroup, token[0]
        if text == "{":
            return self.group()
        if kind == "environment":
            return self.lines()
        if kind == "command":
            return self.command(text[1:])
        if text in ("^", "_", "&", "}"):
            raise self.wrong(f"{text} has no place here")
        self.at += 1
        if token["words"] is not None:
            return typst_string(re.sub(r"\\([_%&#$ ])", r"\1", token["words"]))
        if kind == "number" and "{,}" in text:
            return typst_string(text.replace("{,}", ","))
        return _LITERAL.get(text, text)

    def group(self) -> str:
        self.at += 1
        inside = _joined(self.row("}"))
        if self.peek() != "}":
            raise self.wrong("a brace is open")
        self.at += 1
        return inside

    def command(self, name: str) -> str:
        if name == "left":
            return self.bracketed()
        if name == "frac":
            self.at += 1
            above, below = self.one(), self.one()
            return f"frac({_argument(above)}, {_argument(below)})"
        if name in _AROUND:
            self.at += 1
            return _AROUND[name].format(_argument(self.one()))
        if name in _BRACKETS or name in _SIGNS:
            self.at += 1
            return _BRACKETS.get(name, _SIGNS.get(name, ""))
        raise self.wrong(f"\\{name} is not known there")

    def bracketed(self) -> str:
        r"""Return what stands between \left and \right, in brackets that grow with it."""
        self.at += 1
        opening = self.bracket()
        inside = _joined(self.row(r"\right"))
        if self.peek() != r"\right":
            raise self.wrong(r"a \left has no \right")
        self.at += 1
        closing = self.bracket()
        if (opening, closing) == ("(", ")"):
            return f"({inside})"
        return f"lr({opening} {_argument(inside)} {closing})"

    def bracket(self) -> str:
        word = self.peek()
        self.at += 1
        found = _BRACKETS.get(word.removeprefix("\\"), word if word in "()[]|/" else None)
        if found is None:
            raise self.wrong("a bracket is missing")
        return "\\" + found if found in ("[", "]") else found

    def lines(self) -> str:
        r"""Return the lines of an aligned, which stand flush left."""
        begin = self.peek()
        if begin != r"\begin{aligned}":
            raise self.wrong(f"{begin} is not known there")
        self.at += 1
        rows: list[list[str]] = [[]]
        while self.peek() != r"\end{aligned}":
            if self.at >= len(self.tokens):
                raise self.wrong("an aligned is open")
            if self.peek() == "\\\\":
                rows.append([])
                self.at += 1
            elif self.peek() == "&" and not rows[-1]:
                self.at += 1
            else:
                rows[-1].append(self.scripted())
        self.at += 1
        shown = "; ".join(f"display({_argument(_joined(row))})" for row in rows)
        return f"mat(delim: #none, align: #left, row-gap: #0.6em, {shown})"


def _joined(parts: Iterator[str] | list[str]) -> str:
    # a sign that begins a line stands apart from its term, as one between terms does
    return re.sub(r"^quad (?=[-+] )", 'quad "" ', " ".join(filter(None, parts)))


def _index(inside: str) -> str:
    """Return an index: one letter, number or word as it is, else in brackets, which do not show."""
    return inside if re.fullmatch(r'\w|\d+|"[^"\\]*"|\*|\'', inside) else f"({inside})"


def _argument(inside: str) -> str:
    """Return what can be an argument of a function: commas outside of brackets are signs there."""
    depth, found, quoted, before = 0, [], False, ""
    for each in inside:
        if each == '"' and before != "\\":
            quoted = not quoted
        if not quoted:
            depth += (each in "([{") - (each in ")]}") if before != "\\" else 0
            if each in ",;" and depth == 0 and before != "\\":
                found.append("\\")
        found.append(each)
        before = each
    return "".join(found)


_MARKUP = re.compile(r"([\\#$*_`<>@~\[\]=+/'\"-])")


def escape_typst(text: str) -> str:
    """Return text in which no character is Typst markup; arrows and comparisons are set as such."""
    return _MARKUP.sub(r"\\\1", re.sub(r"\s", " ", with_signs(text)))


TYPST = Form("typst", escape_typst, lambda latex: f"${typst(latex)}$")


def typst_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], order: Order) -> str:
    """Return a table with plain rules, numbers flush right."""
    lines = [", ".join(f"[{set_cell(cell, order, TYPST)}]" for cell in row) for row in rows]
    heads = ", ".join(f"[{set_cell(each.label, order, TYPST)}]" for each in columns)
    sides = " ".join("right + horizon," if each.right else "left + horizon," for each in columns)
    body = [f"  table.header({heads}),", "  table.hline(stroke: 0.5pt),", *(f"  {line}," for line in lines)]
    return "\n".join(
        [
            "#table(",
            f"  columns: {len(columns)}, align: ({sides}), stroke: none,",
            "  table.hline(),",
            *body,
            "  table.hline(),",
            ")",
        ]
    )
