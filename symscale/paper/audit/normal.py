r"""LaTeX as authors write it, in the few forms that our grammar reads: `\frac12` is `\frac{1}{2}`.

What shows the same is written the same: fractions, fonts, indices, sizes of brackets, room. Braces that group nothing
that is seen are left out, so that a sum in them is no factor: `{a+b}c` is set as a + bc.
"""

from __future__ import annotations

import re
import unicodedata

from symscale.errors import NotationError
from symscale.notation.formula_lexer import GREEK, GREEK_LETTERS, MAX_DEPTH
from symscale.paper.audit.braces import argument, bracketed, group

_TOKEN = re.compile(r"\\(?:[A-Za-z@]+|.)|\s+|[A-Za-z]|\d+(?:\.\d+)?|.", re.DOTALL)


def _commands(names: str) -> frozenset[str]:
    return frozenset(f"\\{each}" for each in names.split())


_FRACTIONS = _commands("frac dfrac tfrac cfrac nicefrac sfrac flatfrac xfrac")
_WORDS = _commands(
    """
    text textrm textsf texttt textbf textit textsc textup textnormal mathrm mathsf mathtt mathit mathnormal mbox hbox
    operatorname
    """
)
_UPRIGHT = (r"\mathrm", r"\mathsf", r"\mathtt", r"\mathit", r"\mathnormal", r"\operatorname")
_OLD = _commands("rm sf tt it bf mit")
_LETTERS = {rf"\{each}": rf"\{each}" for each in ("mathcal", "mathscr", "mathfrak", "mathbb", "mathbf")}
_LETTERS |= {r"\boldsymbol": r"\mathbf", r"\bm": r"\mathbf", r"\pmb": r"\mathbf", r"\cal": r"\mathcal"}
_ACCENTS = _commands("tilde widetilde hat widehat bar overline vec dot ddot check breve")
_SIZES = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)")
_ROOM = re.compile(r"\\(?:[,;:!> ]|thinspace|medspace|thickspace|enspace|nobreakspace|space|mathstrut|strut)")
_APPLIED = (r"\log", r"\ln", r"\exp", r"\lg")
#: Commands that take nothing: braces behind them group.
_ALONE = frozenset(rf"\{each}" for each in GREEK) | _commands(
    r"""
    cdot times ast div le leq leqslant ge geq geqslant lt gt ll gg approx simeq sim equiv quad qquad displaystyle
    textstyle lceil rceil lfloor rfloor lbrace rbrace infty { }
    """
)
_LOOSE = re.compile(r"[-+=<>≤≥/]|\\(?:[lg]eq?|[lg]t|leqslant|geqslant|approx|pm)(?![A-Za-z])")
_NAMED = re.compile(r"[\s,;]|\\[,;: _]|[A-Za-z0-9]|\{\}")
_STRUCK = _commands("cancel bcancel xcancel sout")
_GROUPED = re.compile(
    r"(?<![\d.])\d{1,3}(?:(?:\\[,;: ]|\\thinspace(?![A-Za-z])|~|[\u00a0\u2009\u202f])\s*\d{3})+(?![\d])"
)
_FONTS = {"DOUBLE-STRUCK": "mathbb", "SCRIPT": "mathcal", "FRAKTUR": "mathfrak", "BLACK-LETTER": "mathfrak"}
_FONTS |= {"MATHEMATICAL BOLD": "mathbf"}
_SIGNS = str.maketrans({"∕": "/", "⁄": "/", "∗": "*", "∙": "·", "′": "'", "≈": "≈"})


def normal(latex: str) -> str:
    """Return LaTeX's maths in the forms that are read. Raises NotationError for what has no end or no argument."""
    text = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), latex.translate(_SIGNS))
    return _Reader(text, 0).whole()


class _Reader:
    """One group of a formula, read from its start to its end."""

    def __init__(self, text: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise NotationError(f"Braces are nested more than {MAX_DEPTH} deep.", text=text, position=0)
        self.text, self.depth, self.at = text, depth, 0
        self.pieces: list[str] = []
        self.above: str | None = None

    def whole(self) -> str:
        while self.at < len(self.text):
            self.pieces.append(self.one())
        shown = "".join(self.pieces)
        return shown if self.above is None else rf"\frac{{{self.above}}}{{{shown}}}"

    def inside(self, text: str) -> str:
        return _Reader(text, self.depth + 1).whole()

    def argument(self) -> str:
        """Return what the command before takes, in the forms that are read."""
        said, self.at = self.taken()
        return self.inside(said)

    def taken(self) -> tuple[str, int]:
        r"""Return what follows as it is written, and where it ends; `\text` and the like take what is behind them."""
        said, end = argument(self.text, self.at)
        if said in _WORDS | _FRACTIONS or said in _LETTERS:
            for _ in range(2 if said in _FRACTIONS else 1):
                more, end = argument(self.text, end)
                said += f"{{{more}}}"
        return said, end

    def one(self) -> str:
        """Return the next thing."""
        found = _TOKEN.match(self.text, self.at)
        assert found is not None
        token, self.at = found[0], found.end()
        if token == "{":
            self.at = found.start()
            body, self.at = group(self.text, self.at)
            return self.grouped(body)
        if token in ("^", "_"):
            return self.scripts(token)
        if token == "[":
            return self.bracket(found.start())
        if token == r"\\":
            self.skip_brackets()
            return r"\\ "
        if token[0] == "\\":
            return self.command(token)
        return token if token.isascii() else _letter(token)

    def grouped(self, body: str) -> str:
        if body.strip() in (",", "."):
            return f"{{{body.strip()}}}"  # 61{,}000
        if not body.strip():
            return " "
        if any(body.lstrip().startswith(each) for each in _OLD):
            found = _TOKEN.match(body.lstrip())
            assert found is not None
            return self.fonted(found[0], body.lstrip()[found.end() :])
        shown = self.inside(body)
        raised = self.text[self.at :].lstrip()[:1] in ("^", "_")
        return f"{{{shown}}}" if not _LOOSE.search(_outermost(shown)) or (raised and not shown) else f" {shown} "

    def command(self, token: str) -> str:
        if token == r"\over":
            if self.above is not None:
                raise NotationError(r"\over stands twice in a group.", text=self.text, position=self.at)
            self.above, self.pieces = "".join(self.pieces), []
            return ""
        if token in _FRACTIONS:
            self.skip_brackets()
            return rf"\frac{{{self.argument()}}}{{{self.argument()}}}"
        if token == r"\sqrt":
            degree = bracketed(self.text, self.at)
            self.at = degree[1] if degree else self.at
            return rf"\sqrt{f'[{degree[0]}]' if degree else ''}{{{self.argument()}}}"
        if token in _OLD:
            rest, self.at = self.text[self.at :], len(self.text)
            return self.fonted(token, rest)
        if token in _WORDS:
            return self.words(token)
        if token in _LETTERS:
            return rf"{_LETTERS[token]}{{{self.argument().strip()}}}"
        if token in _ACCENTS:
            return rf"{token}{{{self.argument()}}}"
        return self.other(token)

    def other(self, token: str) -> str:
        if _SIZES.fullmatch(token):
            return self.delimiter()
        if _ROOM.fullmatch(token):
            return " "
        if token in _STRUCK or token == r"\cancelto":
            return self.struck(token)
        if token in _APPLIED:
            return token + self.applied()
        follows = self.text[self.at :].lstrip()[:1]
        if token.isalpha() or token[1:].isalpha():
            if token in _ALONE or follows != "{":
                return f"{token} "
            body, self.at = group(self.text, self.at)
            return rf"{token}{{{self.inside(body)}}}"
        return token

    def words(self, token: str) -> str:
        if self.text[self.at :].lstrip()[:1] == "*":
            self.at = self.text.index("*", self.at) + 1
        body, self.at = argument(self.text, self.at)
        # what is set upright may be maths: T_{math}
        maths = token in _UPRIGHT and not re.fullmatch(r"[A-Za-z0-9 ,./-]*", body)
        return self.inside(body) if maths else rf"\text{{{body}}}" if body else " "

    def fonted(self, font: str, rest: str) -> str:
        r"""Return the rest of a group behind `\rm` and the like."""
        rest = rest.strip()
        return rf"\text{{{rest}}}" if re.fullmatch(r"[A-Za-z][A-Za-z ,]*", rest) else self.inside(rest)

    def scripts(self, sign: str) -> str:
        """Return an index and an exponent, the index first."""
        while self.pieces and not self.pieces[-1].strip():
            self.pieces.pop()
        self.pieces[-1:] = [each.rstrip() for each in self.pieces[-1:]]
        said = {sign: self.script(sign)}
        follows = self.text[self.at :].lstrip()[:1]
        if follows in ("^", "_") and follows != sign:
            self.at = self.text.index(follows, self.at) + 1
            said[follows] = self.script(follows)
        return said.get("_", "") + said.get("^", "")

    def script(self, sign: str) -> str:
        body, self.at = self.taken()
        if sign == "^":
            return f"^{{{self.inside(body)}}}"
        plain = re.sub(
            r"\\(?:text|math)[a-z]+\s*\{([^{}]*)\}|\\(?:text|operatorname|mbox)\s*\{([^{}]*)\}", r"\1\2", body
        )
        plain = re.sub(
            r"\{\s*\\(?:rm|sf|tt|it|bf)(?![A-Za-z])([^{}]*)\}|\\(?:rm|sf|tt|it|bf)(?![A-Za-z])", r"\1", plain
        )
        if "".join(_NAMED.findall(plain)) == plain:
            words = re.sub(r"\\[,;: ]|[,;]|{}", " ", plain).split()
            return f"_{{{' '.join(words)}}}"
        return f"_{{{self.inside(body)}}}"

    def delimiter(self) -> str:
        r"""Return what `\left` and the like make larger: a bracket, or nothing for a full stop."""
        found = _TOKEN.match(self.text, self.at + len(self.text[self.at :]) - len(self.text[self.at :].lstrip()))
        if found is None or found[0] in ".(){}/" or found[0][0] == "\\":
            self.at = found.end() if found is not None and found[0] == "." else self.at
            return " "
        self.at = found.end()
        return {"[": "(", "]": ")", "<": "⟨", ">": "⟩"}.get(found[0], found[0])

    def bracket(self, start: int) -> str:
        """Return square brackets as round ones where they group, and not behind a name: G[I, J]."""
        before = self.text[start - 1 : start]
        inside = bracketed(self.text, start)
        if before.isalnum() or before == "}" or inside is None or "," in inside[0]:
            return "["
        self.at = inside[1]
        return f"({self.inside(inside[0])})"

    def struck(self, token: str) -> str:
        r"""Return 1 for a factor that is struck out, the value that `\cancelto` gives; a struck term is not read."""
        before, start = "".join(self.pieces).rstrip()[-1:], self.at
        value = self.argument()
        if token == r"\cancelto":
            self.argument()
            return f"{{{value}}}"
        after = self.text[self.at :].lstrip()[:1]
        alone = before in "+-=(" and after in "+-=)"
        if alone and (before in ("+", "-") or after in ("+", "-")):
            hint = "State the formula without it."
            raise NotationError("A term is struck out here.", text=self.text, position=start, hint=hint)
        return "{1}"

    def applied(self) -> str:
        """Return what a function takes that stands without brackets, where that is one thing: log X."""
        base = ""
        while self.text[self.at :].lstrip()[:1] == "_":
            self.at = self.text.index("_", self.at) + 1
            base += self.script("_")
        rest = self.text[self.at :]
        found = re.match(
            r"\s*(?:[A-Za-z]|\d+|\\[A-Za-z]+)(?:\s*_\s*(?:\{[^{}]*\}|\\?\w+(?:\{\w*\})?))?(?=\s*(?:$|[-+=<>),;}]|\\[lg]eq?\b))",
            rest,
        )
        if found is None:
            return base or " "
        self.at += found.end()
        return f"{base}({self.inside(found[0])})"

    def skip_brackets(self) -> None:
        found = bracketed(self.text, self.at)
        self.at = found[1] if found else self.at


def _letter(token: str) -> str:
    r"""Return a letter of Unicode as LaTeX has it: `β` is `\beta`, `ℬ` is `\mathcal{B}`; other signs as they are."""
    if token in GREEK_LETTERS:
        return rf"\{GREEK_LETTERS[token]} "
    name, plain = unicodedata.name(token, ""), unicodedata.normalize("NFKC", token)
    font = next((font for word, font in _FONTS.items() if word in name), "")
    if plain in GREEK_LETTERS or (plain != token and plain.isascii() and plain.isalpha()):
        shown = rf"\{GREEK_LETTERS[plain]}" if plain in GREEK_LETTERS else plain
        return rf"\{font}{{{shown}}}" if font else f"{shown} "
    return token


def _outermost(text: str) -> str:
    """Return what stands outside of all braces and brackets."""
    depth, kept = 0, []
    for each in re.findall(r"\\.|[^\\]", text, re.DOTALL):
        depth += (each in "{(") - (each in "})")
        kept.append(each if not depth else " ")
    return "".join(kept)
