"""Typst's maths in LaTeX, as far as formulas of a derivation go: fractions, roots, indices and signs."""

from __future__ import annotations

import re

_SIGNS = {">=": r"\ge ", "<=": r"\le ", ">>": r"\gg ", "<<": r"\ll ", "gt.double": r"\gg ", "lt.double": r"\ll "}
_SIGNS |= {"gt.eq": r"\ge ", "lt.eq": r"\le ", "gt.tilde": r"\ge ", "lt.tilde": r"\le ", "approx": r"\approx "}
_SIGNS |= {"dot": r"\cdot ", "dot.op": r"\cdot ", "times": r"\times ", "quad": r"\quad ", "wide": r"\qquad "}
_SIGNS |= {"arrow.r.double": r"\implies ", "thin": r"\,", "space": r"\ "}
_TOKEN = re.compile(
    r'"(?P<words>[^"\n]*)"|(?P<sign>>=|<=|>>|<<)|(?P<name>[A-Za-z]+(?:\.[a-z]+)*)|(?P<number>\d[\d.]*)|(?P<other>.)',
    re.DOTALL,
)
_GREEK = re.compile("alpha|beta|gamma|delta|epsilon|eta|theta|kappa|lambda|mu|nu|rho|sigma|tau|phi|chi|psi|omega")
_FUNCTIONS = ("max", "min", "log", "ln", "exp")


def as_latex(text: str) -> str:
    r"""Return a formula of Typst in LaTeX: `frac(B, X) >= (b C)/(2 W_"ici")` is `\frac{B}{X} \ge …`."""
    return _Reader(text).whole()


class _Reader:
    """One pass over a formula."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_TOKEN.finditer(text))
        self.at = 0

    def whole(self) -> str:
        pieces: list[str] = []
        while self.at < len(self.tokens):
            pieces.append(self.one())
        return "".join(pieces)

    def one(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        if token["words"] is not None:
            return rf"\text{{{token['words']}}}"
        if token["sign"]:
            return _SIGNS[token["sign"]]
        if token["number"]:
            return token[0]
        name = token["name"]
        if name is None:
            return token[0]
        if name in ("frac", "sqrt", "upright", "italic", "bold", "cal") and self.follows("("):
            return self.call(name)
        if name in _SIGNS:
            return _SIGNS[name]
        if _GREEK.fullmatch(name) or name in _FUNCTIONS:
            return rf"\{name} "
        return name if len(name) == 1 else rf"\text{{{name}}}"

    def follows(self, sign: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at][0] == sign

    def call(self, name: str) -> str:
        self.at += 1
        arguments = [""]
        depth = 0
        while self.at < len(self.tokens):
            sign = self.tokens[self.at][0]
            if sign == ")" and not depth:
                self.at += 1
                break
            if sign == "," and not depth:
                arguments.append("")
                self.at += 1
                continue
            depth += (sign == "(") - (sign == ")")
            arguments[-1] += self.one()
        inside = "".join(f"{{{each.strip()}}}" for each in arguments)
        return rf"\{name}{inside}" if name in ("frac", "sqrt") else ",".join(arguments)
