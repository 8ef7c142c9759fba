r"""Numbers at the moment they are printed: significant digits, SI prefixes, text, LaTeX or siunitx.

Nothing is ever shown as 0.000, and no exponent loses its sign: 1.86e-4 s is 186 µs.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Literal

import sympy as sp

from symscale.errors import NotationError
from symscale.frozen import dataclass

NumberStyle = Literal["text", "ascii", "latex", "siunitx"]

_UP = ("", "k", "M", "G", "T", "P", "E")
_DOWN = ("", "m", "µ", "n", "p")
# units that take prefixes, up and down; a rate takes that of its numerator
_PREFIXED = re.compile(r"(B|FLOP|OP|bit|J|W|Hz)(/s|/s/chip|/chip|/token)?|(s)")
_SINGULAR = frozenset({"token", "chip", "param", "axis", "query", "GPU", "host", "pod", "step", "layer", "day"})
_PLURALS = {"axis": "axes", "query": "queries"}


@dataclass(frozen=True)
class Decimal:
    """A number rounded to significant digits: sign * 0.digits * 10^exponent; `exact` if nothing was lost."""

    negative: bool
    digits: str
    exponent: int
    exact: bool


def decimal(value: sp.Expr | Fraction | float, digits: int = 4) -> Decimal:
    """Return `value` rounded half to even to `digits` significant digits, by exact arithmetic.

    Raises NotationError for an expression that still has symbols or is not a real number.
    """
    number, known = _fraction(value, digits)
    if number == 0:
        return Decimal(False, "0", 1, known)
    size = abs(number)
    exponent = len(str(size.numerator)) - len(str(size.denominator)) + 1
    while size < Fraction(10) ** (exponent - 1):
        exponent -= 1
    scaled = size * Fraction(10) ** (digits - exponent)
    whole = round(scaled)
    text = str(whole)
    if len(text) > digits:  # 99.995 rounds up to one more digit
        text, exponent = text[:digits], exponent + 1
    return Decimal(number < 0, text, exponent, known and whole == scaled)


def _fraction(value: sp.Expr | Fraction | float, digits: int) -> tuple[Fraction, bool]:
    if isinstance(value, Fraction | int):
        return Fraction(value), True
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotationError(f"`{value}` is not a real number")
        return Fraction(value), False
    if value.free_symbols:
        names = ", ".join(sorted(s.name for s in value.free_symbols))
        raise NotationError(f"a number was expected, but {names} has no value", hint="give it with --set")
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q)), True
    near = value.evalf(digits + 12)
    if not (near.is_Float and near.is_finite):
        raise NotationError(f"`{value}` is not a real number")
    exact = sp.Rational(near)
    return Fraction(int(exact.p), int(exact.q)), False


def format_number(value: sp.Expr | Fraction | float, digits: int = 4, style: NumberStyle = "text") -> str:
    r"""Return a number with `digits` significant digits: `240.2`, `28,672`, `1.97 × 10^14`, `0.011`.

    Whole numbers below a million are printed in full; `latex` gives `1.97 \times 10^{14}`, `siunitx`
    `\num{1.97e14}`, `ascii` `1.97e14`. Raises NotationError for an expression that still has symbols.
    """
    fraction, known = _fraction(value, digits)
    if known and fraction.denominator == 1 and abs(fraction) < 10**6:
        return _grouped(str(int(fraction)), style)
    rounded = decimal(value, digits)
    sign = "-" if rounded.negative else ""
    if -2 <= rounded.exponent <= 6:
        places = max(digits - rounded.exponent, 0)
        return _grouped(sign + _positional(decimal(value, max(digits, rounded.exponent)), places), style)
    mantissa = rounded.digits[0] + "." + rounded.digits[1:]
    mantissa = _trimmed(mantissa, rounded.exact)
    return _scientific(sign + mantissa, rounded.exponent - 1, style)


def _positional(rounded: Decimal, places: int) -> str:
    """Return the rounded number without an exponent and without its sign."""
    digits, point = rounded.digits, rounded.exponent
    if point <= 0:
        text = "0." + "0" * -point + digits
    else:
        digits = digits.ljust(point, "0")
        text = f"{digits[:point]}.{digits[point:]}"
    return _trimmed(text if places else text.split(".")[0], rounded.exact)


def _trimmed(text: str, exact: bool) -> str:
    """Drop zeros after the point only when the number is exact: 2.000 says four digits are known."""
    if exact and "." in text:
        text = text.rstrip("0")
    return text.rstrip(".")


def _scientific(mantissa: str, exponent: int, style: NumberStyle) -> str:
    if style == "siunitx":
        return rf"\num{{{mantissa}e{exponent}}}"
    if style == "ascii":
        return f"{mantissa}e{exponent}"
    power = f"10^{{{exponent}}}" if style == "latex" else f"10^{exponent}"
    sign = r"\times" if style == "latex" else "×"
    if mantissa in ("1", "-1"):
        return mantissa.replace("1", power)
    return f"{mantissa} {sign} {power}"


def _grouped(text: str, style: NumberStyle) -> str:
    if style == "siunitx":
        return rf"\num{{{text}}}"
    whole, point, rest = text.partition(".")
    # four digits stay together, as in formulas: 2550, 28,672
    whole = f"{int(whole):,}" if style != "ascii" and len(whole.lstrip("-")) > 4 else whole
    return whole.replace(",", "{,}" if style == "latex" else ",") + point + rest


def format_quantity(
    value: sp.Expr | Fraction | float, unit: str = "", digits: int = 4, style: NumberStyle = "text"
) -> str:
    r"""Return a value in base units with its unit and an SI prefix: `186.4 µs`, `45 kB`, `197 TFLOP/s`.

    Counts (`token`, `chip`) take no prefix and a plural: `2550 tokens`. `siunitx` gives `\qty{3.35}{TB/s}`.
    Raises NotationError for an expression that still has symbols.
    """
    if unit in ("", "1"):
        return format_number(value, digits, style)
    match = _PREFIXED.fullmatch(unit)
    fraction, known = _fraction(value, digits)
    prefix, scaled = _prefix(fraction, decimal(value, digits), bool(match and match[3])) if match else ("", fraction)
    shown = sp.Rational(scaled.numerator, scaled.denominator)
    number = format_number(shown if known else shown.evalf(digits + 12), digits, style)
    return with_unit(number, prefix + _plural(unit, fraction), style)


def format_percent(share: sp.Expr | Fraction | float, digits: int = 3, *, sign: bool = False) -> str:
    """Return a share of one in percent: `98.8 %`; with `sign` as a difference, `+0.517 %`."""
    shown = format_number(100 * share, digits)
    return f"{'+' if sign and not shown.startswith('-') else ''}{shown} %"


def displayed(value: sp.Expr, unit: str, digits: int = 6) -> tuple[sp.Expr, str]:
    """Return a number and its unit as `format_quantity` shows them: 1/5000 s as 200 µs."""
    if not _PREFIXED.fullmatch(unit):
        fraction, _ = _fraction(value, digits)
        return value, _plural(unit, fraction)
    fraction, _ = _fraction(value, digits)
    prefix, scaled = _prefix(fraction, decimal(value, digits), unit == "s")
    factor = sp.Rational(scaled.numerator, scaled.denominator) / sp.Rational(fraction.numerator, fraction.denominator)
    return value * factor if fraction else value, prefix + unit


def _prefix(value: Fraction, rounded: Decimal, second: bool) -> tuple[str, Fraction]:
    """Choose the prefix by the rounded value: 999.96 µs is 1 ms. Seconds go down only, the others up only."""
    if value == 0:
        return "", value
    step = (rounded.exponent - 1) // 3
    if not -len(_DOWN) <= step < len(_UP):  # beyond the prefixes: 3.645 × 10^25 FLOP
        return "", value
    if second:
        step = max(min(step, 0), 1 - len(_DOWN))
        return _DOWN[-step], value / Fraction(1000) ** step
    step = max(step, 0)
    return _UP[step], value / Fraction(1000) ** step


def _plural(unit: str, value: Fraction) -> str:
    head, slash, rest = unit.replace("$", "USD").partition("/")
    if head in _SINGULAR and value != 1:
        head = _PLURALS.get(head, head + "s")
    return head + slash + rest


def with_unit(number: str, unit: str, style: NumberStyle) -> str:
    r"""Return a number that is set in a style with its unit: `\qty{3.35}{TB/s}`."""
    if style == "siunitx" and " " in unit:  # words are no unit: tokens per chip
        return rf"{number}\,\text{{{unit}}}"
    if style == "siunitx":
        inside = number.removeprefix(r"\num{").removesuffix("}")
        unit = unit.replace("µ", r"\micro ").replace("%", r"\percent ")
        return rf"\qty{{{inside}}}{{{unit}}}"
    if style == "latex":
        word = unit.replace("%", r"\%")
        return rf"{number}\,\text{{{word}}}" if "µ" not in word else rf"{number}\,\mu\text{{{word.replace('µ', '')}}}"
    return f"{number} {unit}" if style == "text" else f"{number} {unit.replace('µ', 'u')}"
