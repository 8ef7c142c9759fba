"""Dimensions: exponents of byte, second, dollar and joule. Counts (FLOPs, tokens, chips) are pure numbers."""

from __future__ import annotations

from fractions import Fraction

from symscale.frozen import dataclass

_WORDS = ("B", "s", "$", "J")


@dataclass(frozen=True)
class Dimension:
    """byte^a * second^b * dollar^c * joule^d with rational exponents."""

    byte: Fraction = Fraction(0)
    second: Fraction = Fraction(0)
    dollar: Fraction = Fraction(0)
    joule: Fraction = Fraction(0)

    def __mul__(self, other: Dimension) -> Dimension:
        if not other:
            return self
        return Dimension(
            self.byte + other.byte,
            self.second + other.second,
            self.dollar + other.dollar,
            self.joule + other.joule,
        )

    def __truediv__(self, other: Dimension) -> Dimension:
        return self * other**-1

    def __pow__(self, exponent: Fraction | int) -> Dimension:
        if exponent == 1 or not self:
            return self
        return Dimension(self.byte * exponent, self.second * exponent, self.dollar * exponent, self.joule * exponent)

    def __bool__(self) -> bool:
        return bool(self.byte or self.second or self.dollar or self.joule)

    def __str__(self) -> str:
        exponents = (self.byte, self.second, self.dollar, self.joule)
        pairs = list(zip(_WORDS, exponents, strict=True))
        above = "*".join(_raised(word, e) for word, e in pairs if e > 0)
        below = [_raised(word, -e) for word, e in pairs if e < 0]
        if not above and not below:
            return "1"
        under = f"({'*'.join(below)})" if len(below) > 1 else "".join(below)
        return f"{above or '1'}/{under}" if below else above


def _raised(word: str, exponent: Fraction) -> str:
    if exponent == 1:
        return word
    return f"{word}^{exponent}" if exponent.denominator == 1 else f"{word}^({exponent})"


PURE = Dimension()
BYTE = Dimension(byte=Fraction(1))
SECOND = Dimension(second=Fraction(1))
DOLLAR = Dimension(dollar=Fraction(1))
JOULE = Dimension(joule=Fraction(1))
