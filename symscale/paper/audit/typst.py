"""Typst's maths in LaTeX: fractions, indices, calls, and what a document defines by `#let`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from symscale.errors import NotationError
from symscale.frozen import dataclass
from symscale.notation.formula_lexer import GREEK, MAX_DEPTH

_SIGNS = {">=": r"\ge ", "<=": r"\le ", ">>": r"\gg ", "<<": r"\ll ", "gt.double": r"\gg ", "lt.double": r"\ll "}
_SIGNS |= {"gt.eq": r"\ge ", "lt.eq": r"\le ", "gt.eq.slant": r"\ge ", "lt.eq.slant": r"\le ", "gt": ">", "lt": "<"}
_SIGNS |= {"gt.tilde": r"\gtrsim ", "lt.tilde": r"\lesssim ", "approx": r"\approx ", "eq": "=", "equiv": r"\equiv "}
_SIGNS |= {
    "dot": r"\cdot ",
    "dot.op": r"\cdot ",
    "dot.c": r"\cdot ",
    "times": r"\times ",
    "ast": r"\ast ",
    "div": r"\div ",
}
_SIGNS |= {"quad": r"\quad ", "wide": r"\qquad ", "thin": r"\,", "med": r"\:", "thick": r"\;", "space": r"\ "}
_SIGNS |= {
    "arrow.r.double": r"\implies ",
    "=>": r"\implies ",
    "!=": r"\ne ",
    ":=": "=",
    "->": r"\to ",
    "~~": r"\approx ",
}
_SIGNS |= {"infinity": r"\infty ", "oo": r"\infty ", "plus.minus": r"\pm ", "prop": r"\propto ", "prime": "'"}
_SIGNS |= {"plus": "+", "minus": "-", "star.op": r"\star ", "dagger": r"\dagger ", "dots": r"\dots "}
_SIGNS |= {"epsilon.alt": r"\epsilon ", "epsilon": r"\varepsilon ", "phi.alt": r"\phi ", "phi": r"\varphi "}
_SIGNS |= {"theta.alt": r"\vartheta ", "percent": r"\%", "union": r"\cup ", "in": r"\in "}
_WRAPPED = {
    "cal": "mathcal",
    "scr": "mathscr",
    "bb": "mathbb",
    "frak": "mathfrak",
    "bold": "mathbf",
    "cancel": "cancel",
}
_WRAPPED |= {"hat": "hat", "tilde": "tilde", "macron": "bar", "overline": "overline", "arrow": "vec", "dot": "dot"}
_WRAPPED |= {"dot.double": "ddot", "underline": "underline", "sqrt": "sqrt", "upright": "mathrm", "op": "mathrm"}
_WRAPPED |= {"italic": "mathit", "sans": "mathsf", "mono": "mathtt", "circle": "mathring"}
#: What sets its first argument, and says nothing else of it.
_SHOWS = (
    "lr",
    "display",
    "inline",
    "script",
    "sscript",
    "limits",
    "scripts",
    "underbrace",
    "overbrace",
    "stretch",
    "class",
)
_AROUND = {"ceil": (r"\lceil ", r" \rceil "), "floor": (r"\lfloor ", r" \rfloor ")}
_APPLIED = ("max", "min", "log", "ln", "exp")
_PAIRS = {"(": ")", "[": "]", "{": "}", "⌈": "⌉", "⌊": "⌋"}
_OPENS = {"(": "(", "[": "[", "{": r"\{", "⌈": r"\lceil ", "⌊": r"\lfloor "}
_CLOSES = {"(": ")", "[": "]", "{": r"\}", "⌈": r" \rceil ", "⌊": r" \rfloor "}
_TOKEN = re.compile(
    r'"(?P<words>(?:[^"\\]|\\.)*)"|(?P<sign>>=|<=|>>|<<|!=|=>|:=|->|~~)|(?P<code>#[A-Za-z][\w-]*)'
    r"|(?P<name>[A-Za-z]+(?:\.[a-z]+)*)|(?P<number>\d+(?:\.\d+)?)|(?P<escaped>\\\S)|(?P<gap>\s+)|(?P<other>.)",
    re.DOTALL,
)
_NAMED = re.compile(r"\s*[a-z][a-z-]*\s*:(?!=)")
_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_LET = re.compile(
    r"^[ \t]*#let[ \t]+(?P<name>[A-Za-z][\w-]*)(?:\((?P<takes>[\w\s,-]*)\))?[ \t]*=[ \t]*\$(?P<body>[^$]*)\$", re.M
)
MOST_CALLS, DEEPEST = 500, 10


@dataclass(frozen=True)
class Let:
    """What a document defines: `#let per(a, b) = $a/b$`."""

    takes: tuple[str, ...]
    body: str


def lets(text: str) -> dict[str, Let]:
    """Return the formulas that a text of Typst defines."""
    found = {}
    for each in _LET.finditer(text):
        takes = tuple(name.strip() for name in (each["takes"] or "").split(",") if name.strip())
        found[each["name"]] = Let(takes, each["body"])
    return found


def as_latex(text: str, defined: Mapping[str, Let] | None = None) -> str:
    r"""Return a formula of Typst in LaTeX: `frac(B, X) >= (b C)/(2 W_"ici")` is `\frac{B}{X} \ge …`.

    Raises NotationError for names and code that are not known, and brackets that do not pair.
    """
    return _Reader(text, defined or {}, {}, [0]).whole()


class _Reader:
    """One pass over a formula; `given` are the arguments of the definition that it is, `calls` counts those put in."""

    def __init__(
        self, text: str, defined: Mapping[str, Let], given: Mapping[str, str], calls: list[int], level: int = 0
    ) -> None:
        self.text, self.defined, self.given, self.calls = text, defined, given, calls
        self.tokens = list(_TOKEN.finditer(text))
        self.at = self.depth = 0
        self.level = level

    def wrong(self, why: str, hint: str = "") -> NotationError:
        at = self.tokens[min(self.at, len(self.tokens)) - 1].start() if self.tokens and self.at else 0
        return NotationError(why, text=self.text or " ", position=at, hint=hint)

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def whole(self) -> str:
        return self.sequence("")

    def sequence(self, ends: str) -> str:
        """Return what stands up to one of the signs that end it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong(f"Brackets are nested more than {MAX_DEPTH} deep.")
        pieces: list[str] = []
        while self.at < len(self.tokens) and not (ends and self.peek() in ends):
            pieces.append(self.over())
        self.depth -= 1
        return "".join(pieces)

    def over(self) -> str:
        """Return a thing, or a fraction of two, from left to right."""
        above, bare = self.scripted()
        while self.follows("/"):
            _, inside = self.scripted()
            above = bare = rf"\frac{{{bare}}}{{{inside}}}"
        return above

    def follows(self, sign: str) -> bool:
        """Step over a sign if it comes next, behind room or not."""
        at = self.at + (self.at < len(self.tokens) and self.tokens[self.at]["gap"] is not None)
        found = at < len(self.tokens) and self.tokens[at][0] == sign
        if found:
            self.at = at + 1
            while sign == "/" and self.at < len(self.tokens) and self.tokens[self.at]["gap"] is not None:
                self.at += 1
        return found

    def scripted(self) -> tuple[str, str]:
        """Return a thing with its indices, and as it stands in a fraction: without the brackets around it."""
        shown, bare = self.one(False)
        scripts = ""
        while self.peek() in ("_", "^"):
            sign = self.peek()
            self.at += 1
            scripts += f"{sign}{{{self.one(True)[1].strip()}}}"
        return (f"{shown.rstrip()}{scripts} ", f"{shown.rstrip()}{scripts}") if scripts else (shown, bare)

    def one(self, index: bool) -> tuple[str, str]:
        """Return the next thing, and without its round brackets."""
        if self.at >= len(self.tokens):
            raise self.wrong("Something is missing at the end.")
        token = self.tokens[self.at]
        self.at += 1
        if token["words"] is not None:
            words = token["words"].replace("\\", "")
            if _DIGITS.fullmatch(words):
                return (shown := words.replace(",", "{,}")), shown
            return (shown := rf"\text{{{words}}}" if words else " "), shown
        if token["name"] or token["code"]:
            shown = self.named(token[0], index)
            return shown, shown
        if token[0] in _PAIRS:
            inside = self.sequence(_PAIRS[token[0]])
            if not self.peek():
                raise self.wrong(f"{token[0]} is never closed.", f"Close it with {_PAIRS[token[0]]}.")
            self.at += 1
            return f"{_OPENS[token[0]]}{inside}{_CLOSES[token[0]]}", inside if token[0] == "(" else f"({inside})"
        if token["escaped"]:
            return (shown := {"\\%": r"\%", "\\/": "/"}.get(token[0], token[0][1:])), shown
        shown = _SIGNS[token[0]] if token["sign"] else " " if token["gap"] else token[0]
        return shown, shown

    def named(self, name: str, index: bool) -> str:
        """Return what a name stands for: a letter, a sign, a call, or what the document or an argument gives it."""
        code, name = name.startswith("#"), name.removeprefix("#")
        called = self.peek() == "("
        if name in self.given:
            return f" {self.given[name]} "
        if name in self.defined:
            return self.put(self.defined[name], called)
        if called and (shown := self.call(name)) is not None:
            return shown
        if code:
            raise self.wrong(f"#{name} is not read.", "Write the formula without code.")
        if name in _APPLIED:
            return rf"\{name}"
        if name in _SIGNS:
            return _SIGNS[name]
        if name in GREEK or name.removesuffix(".alt") in GREEK:
            return rf"\{name.removesuffix('.alt')} "
        if len(name) > 1:
            raise self.wrong(
                f"Typst has no {name}.", f'Write "{name}" for a name, or letters with blanks between them.'
            )
        if called and index:
            raise self.wrong(
                f"It is not clear whether the brackets belong to the index {name}.", "Put a blank before them."
            )
        return f"{name}{self.one(False)[0]}" if called else f" {name} "

    def put(self, let: Let, called: bool) -> str:
        self.calls[0] += 1
        if self.calls[0] > MOST_CALLS or self.level > DEEPEST:
            raise self.wrong("What this document defines goes in circles.")
        given = [each for each in self.arguments() if not _NAMED.match(each)] if let.takes and called else []
        if len(given) != len(let.takes):
            raise self.wrong(f"This takes {len(let.takes)} arguments.")
        return _Reader(
            let.body, self.defined, dict(zip(let.takes, given, strict=True)), self.calls, self.level + 1
        ).whole()

    def call(self, name: str) -> str | None:
        """Return what a call of Typst's own sets, None for a name that is none."""
        if name in ("mat", "cases"):
            return self.rows(name)
        if name not in ("frac", "root", "attach", *_SHOWS, *_AROUND, *_WRAPPED):
            return None
        options = dict[str, str]()
        given = list(self.arguments(options))
        if not given or (name in ("frac", "root") and len(given) != 2):
            raise self.wrong(f"{name} lacks an argument.")
        first = given[0].strip()
        if name == "frac":
            return rf"\frac{{{first}}}{{{given[1].strip()}}}"
        if name == "root":
            return rf"\sqrt[{first}]{{{given[1].strip()}}}"
        if name == "attach":
            places = {"t": "^", "tr": "^", "b": "_", "br": "_"}
            return first + "".join(f"{places.get(key, '?')}{{{said.strip()}}}" for key, said in options.items())
        if name in _AROUND:
            return f"{_AROUND[name][0]}{first}{_AROUND[name][1]}"
        if name in _SHOWS:
            return f" {given[-1 if name == 'class' else 0]} "
        if name == "bold":
            first = re.sub(r"^\\mathrm\{(.*)\}$", r"\1", first)
        text = re.fullmatch(r"\\text\{[^{}]*\}", first)
        return (
            first if text and name in ("upright", "op", "italic", "sans", "mono") else rf"\{_WRAPPED[name]}{{{first}}}"
        )

    def arguments(self, options: dict[str, str] | None = None) -> Iterator[str]:
        """Yield the arguments of a call; those with a name, as `size: #150%`, go into the options."""
        self.at += 1
        while True:
            named = _NAMED.match(self.text, self.tokens[self.at].start()) if self.at < len(self.tokens) else None
            if named is not None:
                while self.at < len(self.tokens) and self.tokens[self.at].start() < named.end():
                    self.at += 1
                if options is not None:
                    options[named[0].strip(" \n:")] = self.option()
            else:
                said = self.sequence(",;)")
                if said.strip():
                    yield said
            if not self.peek():
                raise self.wrong("A call is never closed.", "Close it with ).")
            self.at += 1
            if self.tokens[self.at - 1][0] == ")":
                return

    def option(self) -> str:
        """Return the value of a named argument: a formula, or code as it is written."""
        start = self.at
        while self.at < len(self.tokens) and self.tokens[self.at]["gap"] is not None:
            self.at += 1
        if not self.peek().startswith("#"):
            return self.sequence(",;)")
        while self.peek() and self.peek() not in ",;)":
            self.at += 1
        return "".join(each[0] for each in self.tokens[start : self.at]).strip()

    def rows(self, name: str) -> str:
        r"""Return cases, or the lines of a sum that is broken: a column without brackets."""
        options = dict[str, str]()
        start = self.at
        given = list(self.arguments(options))
        if name == "cases":
            return r"\begin{cases}" + r" \\ ".join(given) + r"\end{cases}"
        depth = commas = 0
        for each in self.tokens[start : self.at]:
            depth += (each[0] in "([{") - (each[0] in ")]}")
            commas += depth == 1 and each[0] == ","
        if options.get("delim") != "#none" or commas > len(options):
            raise self.wrong("A matrix is no formula of numbers.")
        return " ".join(given)
