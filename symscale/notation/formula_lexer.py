r"""Formula text -> tokens: plain text, unicode and the LaTeX that people paste (`W_\text{ici}`, `61{,}000`).

The lexer keeps brackets balanced, reads digit groups by where they stand, and puts a JUXT token between two
factors that stand side by side (or refuses them, unless implicit products were asked for).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from symscale.errors import NotationError
from symscale.quantity.literal import GROUPED, NUMBER
from symscale.vocabulary import TABLE

MAX_LENGTH = 100_000
MAX_DEPTH = 50
MAX_NAME = 80

FUNCTIONS = {
    "max": "max",
    "min": "min",
    "ceil": "ceil",
    "ceiling": "ceil",
    "floor": "floor",
    "sqrt": "sqrt",
    "log": "log",
    "ln": "log",
    "log2": "log2",
    "log10": "log10",
    "exp": "exp",
}
FUNCTION_LIST = "max, min, ceil, floor, sqrt, log, log2, ln, exp"


class Tok(NamedTuple):
    """One token: its kind (a terminal of the grammar), its text in canonical form, and where it starts."""

    kind: str
    value: str
    position: int


_SIGNS = {
    "**": "POW", "^": "POW", "*": "TIMES", "·": "TIMES", "×": "TIMES", "⋅": "TIMES", "∙": "TIMES",
    "/": "DIVIDE", "÷": "DIVIDE", "+": "PLUS", "-": "MINUS", "−": "MINUS", "–": "MINUS", "%": "PERCENT",
    "(": "LPAR", ")": "RPAR", "{": "LBRACE", "}": "RBRACE", "\\{": "LPAR", "\\}": "RPAR", "\\%": "PERCENT",
    "⌈": "LCEIL", "⌉": "RCEIL", "⌊": "LFLOOR", "⌋": "RFLOOR", "√": "ROOT",
    ",": "COMMA", ";": "SEMI", "\n": "SEMI",
    "<": "<", ">": ">", "<=": "<=", ">=": ">=", "=<": "<=", "=>": ">=", "≤": "<=", "≥": ">=",
    "⩽": "<=", "⩾": ">=",
    "=": "=", "==": "=", "<<": "<<", ">>": ">>", "≪": "<<", "≫": ">>",
}  # fmt: skip
_COMMANDS = {
    "cdot": "TIMES", "times": "TIMES", "ast": "TIMES", "div": "DIVIDE",
    "frac": "FRAC", "dfrac": "FRAC", "tfrac": "FRAC",
    "sqrt": "ROOT", "lceil": "LCEIL", "rceil": "RCEIL", "lfloor": "LFLOOR", "rfloor": "RFLOOR",
    "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "lt": "<", "gt": ">",
    "ll": "<<", "gg": ">>", "lbrace": "LPAR", "rbrace": "RPAR",
}  # fmt: skip
RELATIONS = frozenset({"<", ">", "<=", ">=", "="})
LIMITS = frozenset({"<<", ">>"})
_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon
    phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
    varepsilon vartheta varphi ell
"""
GREEK = frozenset(_GREEK_NAMES.split())
GREEK_LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _GREEK_NAMES.split(), strict=False)) | {
    "µ": "mu",
    "ϵ": "epsilon",
    "ϕ": "phi",
}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

_OPENING = {"LPAR": "RPAR", "LBRACE": "RBRACE", "LCEIL": "RCEIL", "LFLOOR": "RFLOOR"}
_CLOSING = frozenset(_OPENING.values())
_ENDS_OPERAND = frozenset({"NUMBER", "NAME", "PERCENT"}) | _CLOSING
_STARTS_OPERAND = frozenset({"NUMBER", "NAME", "FUNC", "ROOT", "NTHROOT", "FRAC"}) | frozenset(_OPENING)

_TEXT = r"\\(?:text|mathrm|textrm|mathsf|mathit|textit|mathbf|operatorname)\s*\{([^{}]*)\}"
_GREEK_LETTERS = "".join(GREEK_LETTERS)
_SKIP = re.compile(
    r"(?:[ \t\r\f\v\u00a0\u2009\u202f]+|\\[,;:!> ]|~"
    r"|\\(?:left|right|middle|[bB]igg?[lrm]?|q?quad|displaystyle)(?![A-Za-z]))+"
)
_NUMBER = re.compile(NUMBER)
_GROUPED = re.compile(GROUPED)
_BASE = re.compile(rf"{_TEXT}|\\([A-Za-z]+)|([A-Za-z][A-Za-z0-9]*)|([{_GREEK_LETTERS}])")
_SUBSCRIPT = re.compile(
    rf"_\s*(?:{_TEXT}|\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}}|\\([A-Za-z]+)|([A-Za-z0-9]+)|([{_GREEK_LETTERS}]))"
)
_SIGN = re.compile("|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True)))
_NTHROOT = re.compile(r"\\sqrt\s*\[\s*(\d{1,3})\s*\]")
_SUPERSCRIPT = re.compile("(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_SPLITTABLE = re.compile(r"(?:[A-Z]\d*|[a-z]\d*(?![a-z]))+")
_LETTER = re.compile(r"[A-Za-z]\d*")
_WORD_INSIDE = re.compile(rf"{_TEXT}|\\([A-Za-z]+)|([A-Za-z0-9]+)|([{_GREEK_LETTERS}])|[\s,_]+|\\[_,;! ]")
_OPENS_ARGUMENTS = re.compile(r"\s*(?:\\left\s*|\\[bB]igg?l?\s*)?(?:\\?\{|\()")


def check_length(text: str) -> None:
    """Raise NotationError for a text of 100,000 characters or more, before anything looks at it."""
    if len(text) >= MAX_LENGTH:
        raise NotationError(
            f"the text has {len(text):,} characters; the limit is {MAX_LENGTH:,}",
            hint="split it into statements",
        )


def tokens(
    text: str,
    *,
    start: int = 0,
    stop: int | None = None,
    implicit: bool = False,
    listing: bool = False,
    aliases: Mapping[str, str] | None = None,
) -> list[Tok]:
    """Return the tokens of `text[start:stop]`; `listing` says that commas separate even outside a function.

    Raises NotationError at the first character that no token starts with.
    """
    check_length(text)
    lexer = _Lexer(text, implicit, listing, aliases or {})
    lexer.run(start, len(text) if stop is None else stop)
    return lexer.found


class _Lexer:
    """The state of one pass over one text: position, tokens so far and open brackets."""

    def __init__(self, text: str, implicit: bool, listing: bool, aliases: Mapping[str, str]) -> None:
        self.text = text
        self.implicit = implicit
        self.listing = listing
        self.aliases = aliases
        self.found: list[Tok] = []
        self.open: list[tuple[str, int, str]] = []  # kind, position, role: "", "args", "numerator"
        self.after_numerator = False

    def fail(self, message: str, position: int, hint: str = "") -> NoReturn:
        raise NotationError(message, text=self.text, position=position, hint=hint)

    def run(self, position: int, stop: int) -> None:
        while True:
            skipped = _SKIP.match(self.text, position, stop)
            position = skipped.end() if skipped else position
            if position >= stop:
                break
            position = self.step(position, stop)
        if self.open:
            kind, where, _ = self.open[-1]
            self.fail(f"this bracket is never closed with `{_shown(_OPENING[kind])}`", where)

    def step(self, position: int, stop: int) -> int:
        """Read one token at `position` and return where the next begins."""
        char = self.text[position]
        if char == "\n" and (self.open or not self.listing):
            return position + 1
        if char.isdecimal() or char == ".":
            return self.number(position, stop)
        if char == "_":
            self.fail("a name starts with a letter", position)
        if match := _NTHROOT.match(self.text, position, stop):
            self.put("NTHROOT", match[1], position)
            return match.end()
        if match := _SUPERSCRIPT.match(self.text, position, stop):
            return self.superscript(match)
        if match := _SIGN.match(self.text, position, stop):
            return self.sign(match)
        if match := _BASE.match(self.text, position, stop):
            return self.name(match, stop)
        return self.unknown(char, position)

    def unknown(self, char: str, position: int) -> NoReturn:
        hints = {
            "[": "a formula groups with ( ); arrays belong to a program: In[B, D] * W[D, F] -> Out[B, F]",
            "!": "there is no factorial and no `!=` in a formula",
            "\\": r"known: \frac \sqrt \cdot \times \max \min \log \lceil \lfloor \text{...} and Greek",
        }
        self.fail(f"`{char}` has no meaning in a formula", position, hints.get(char, ""))

    # numbers

    def number(self, position: int, stop: int) -> int:
        match = _NUMBER.match(self.text, position, stop)
        if match is None:
            self.fail("a number or a name was expected here", position)
        grouped = _GROUPED.match(self.text, position, stop)
        if grouped and grouped.end() > match.end():
            match = grouped
            self.check_group(match)
        elif re.compile(r",\d").match(self.text, match.end(), stop) and not self.commas_separate():
            self.fail(
                "a comma inside a number groups three digits, as in 28,672",
                match.end(),
                "a decimal point is written `.`",
            )
        self.put("NUMBER", match[0], position)
        return match.end()

    def commas_separate(self) -> bool:
        return self.open[-1][2] == "args" if self.open else self.listing

    def check_group(self, match: re.Match[str]) -> None:
        if "," in match[0] and self.commas_separate():
            plain, spaced = match[0].replace(",", ""), match[0].replace(",", ", ")
            self.fail(
                f"`{match[0]}` may be one number or several in a list",
                match.start(),
                f"write {plain} for the number, or {spaced} with spaces for the list",
            )

    def superscript(self, match: re.Match[str]) -> int:
        self.put("POW", "^", match.start())
        if match[1]:
            self.put("MINUS", "-", match.start())
        self.put("NUMBER", match[2].translate(_SUPERSCRIPTS), match.start(2))
        return match.end()

    # signs and brackets

    def sign(self, match: re.Match[str]) -> int:
        kind, position = _SIGNS[match[0]], match.start()
        if match[0] == "/" and self.text.startswith("//", position):
            self.fail("`//` is not an operator here", position, "write floor(a/b)")
        self.put(kind, match[0], position)
        return match.end()

    def put(self, kind: str, value: str, position: int) -> None:
        """Append a token, keeping brackets balanced and side-by-side factors explicit."""
        before = self.found[-1] if self.found else None
        if self.after_numerator:
            self.after_numerator = False
            if kind != "LBRACE":
                self.fail(r"\frac needs a second {...} here", position)
        elif before is not None and before.kind == "FRAC" and kind != "LBRACE":
            self.fail(r"\frac needs {...}{...} here", position)
        elif before is not None and before.kind in _ENDS_OPERAND and kind in _STARTS_OPERAND:
            self.juxtapose(before, kind, value, position)
        if kind in _OPENING:
            self.open_bracket(kind, position, before.kind if before else "")
        elif kind in _CLOSING:
            self.close_bracket(kind, position)
        self.found.append(Tok(kind, value, position))

    def open_bracket(self, kind: str, position: int, before: str) -> None:
        if len(self.open) >= MAX_DEPTH:
            self.fail(f"brackets are nested more than {MAX_DEPTH} deep", position)
        role = "args" if before == "FUNC" else "numerator" if before == "FRAC" else ""
        self.open.append((kind, position, role))

    def close_bracket(self, kind: str, position: int) -> None:
        if not self.open:
            self.fail("this closing bracket was never opened", position)
        opened, where, role = self.open.pop()
        if _OPENING[opened] != kind:
            self.fail(f"`{self.text[position]}` does not close the `{self.text[where]}` before it", position)
        self.after_numerator = role == "numerator"

    def juxtapose(self, before: Tok, kind: str, value: str, position: int) -> None:
        if self.implicit and not (before.kind == "NUMBER" == kind):
            self.found.append(Tok("JUXT", "", position))
            return
        if before.kind == "NAME" and kind == "LPAR":
            self.fail(
                f"`{before.value}` is not a function",
                before.position,
                f"functions: {FUNCTION_LIST}; a product is written {before.value}*(...)",
            )
        self.fail("two factors stand side by side without an operator", position, _product_hint(before, kind, value))

    # names

    def name(self, match: re.Match[str], stop: int) -> int:
        text_word, command, word, letter = match.groups()
        if command is not None and command not in GREEK:
            return self.command(command, match, stop)
        if text_word is not None and _NUMBER.fullmatch(text_word.strip()):
            self.put("NUMBER", text_word.strip(), match.start())
            return match.end()
        if letter is not None:
            word = GREEK_LETTERS[letter]
        elif text_word is not None:
            word = "_".join(self.words(text_word, match.start()))
        base = command or word or ""
        if not base:
            self.fail(r"\text{} is empty", match.start())
        parts, end = self.subscripts(match.end(), stop)
        return self.finish(base, parts, match.start(), end, split=match[3] is not None)

    def command(self, command: str, match: re.Match[str], stop: int) -> int:
        if command in _COMMANDS:
            self.put(_COMMANDS[command], match[0], match.start())
            return match.end()
        if command in FUNCTIONS:
            parts, end = self.subscripts(match.end(), stop)
            return self.function(command, parts, match.start(), end)
        return self.unknown("\\", match.start())

    def subscripts(self, position: int, stop: int) -> tuple[list[str], int]:
        parts: list[str] = []
        while position < stop and self.text[position] == "_":
            match = _SUBSCRIPT.match(self.text, position, stop)
            if match is None:
                self.fail("a subscript was expected after `_`", position)
            parts += self.words(match[0][1:], position)
            position = match.end()
        return parts, position

    def words(self, inside: str, position: int) -> list[str]:
        r"""Return the words of a subscript: `\text{comms, math}` is comms and math."""
        inside = inside.strip()
        if inside.startswith("{") and inside.endswith("}"):
            inside = inside[1:-1]
        found: list[str] = []
        at = 0
        while at < len(inside):
            match = _WORD_INSIDE.match(inside, at)
            if match is None or (match[2] is not None and match[2] not in GREEK):
                self.fail(f"`{inside[at]}` cannot be part of a name or subscript", position)
            if match[1] is not None:
                found += self.words(match[1], position)
            elif match[2] or match[3] or match[4]:
                found.append(match[2] or match[3] or GREEK_LETTERS[match[4]])
            at = match.end()
        if not found:
            self.fail("this subscript is empty", position)
        return found

    def finish(self, base: str, parts: list[str], position: int, end: int, split: bool) -> int:
        # Ln with no argument is a product where letters side by side are one: L and n
        applied = base.islower() or not (split and self.implicit) or _OPENS_ARGUMENTS.match(self.text, end)
        if base.lower() in FUNCTIONS and (not parts or base.lower() == "log") and applied:
            return self.function(base.lower(), parts, position, end)
        names = self.split(base, position) if split and self.implicit else [base]
        for name in names[:-1]:
            self.put_name(name, [], position)
            position += len(name)
        self.put_name(names[-1], parts, position)
        return end

    def function(self, name: str, parts: list[str], position: int, end: int) -> int:
        name = "".join([name, *parts])
        if name not in FUNCTIONS:
            self.fail(f"`{name}` is not a function", position, f"functions: {FUNCTION_LIST}; log(x, base)")
        if not _OPENS_ARGUMENTS.match(self.text, end):
            self.fail(f"the argument of `{name}` must stand in parentheses", position, f"write {name}(...)")
        self.put("FUNC", FUNCTIONS[name], position)
        return end

    def split(self, run: str, position: int) -> list[str]:
        """Return the factors of a run of letters: `BDF` is three, a lower-case word is one."""
        if run in TABLE or run in self.aliases or run in GREEK or (run.islower() and run.isalpha()):
            return [run]
        if not _SPLITTABLE.fullmatch(run):
            self.fail(
                f"`{run}` may be one name or a product",
                position,
                rf"write \text{{{run}}} for one name, or put * between the factors",
            )
        return _LETTER.findall(run)

    def put_name(self, base: str, parts: list[str], position: int) -> None:
        name = "_".join([base, *parts])
        if len(name) > MAX_NAME:
            self.fail(f"a name has at most {MAX_NAME} characters", position)
        self.put("NAME", self.aliases.get(name, name), position)


def _product_hint(before: Tok, kind: str, value: str) -> str:
    if before.kind == "NUMBER" and kind == "NAME":
        letters = "*".join(_LETTER.findall(value)) if value.isalnum() else value
        other = f", or {before.value}*{value} if {value} is one name" if letters != value else ""
        return f"write {before.value}*{letters}{other}"
    if kind in ("NUMBER", "NAME") and before.kind in ("NUMBER", "NAME"):
        return f"write {before.value}*{value}"
    return "write * between them"


def _shown(kind: str) -> str:
    return {"RPAR": ")", "RBRACE": "}", "RCEIL": "⌉", "RFLOOR": "⌋"}[kind]
