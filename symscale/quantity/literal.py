"""Number literals, read exactly: a decimal is a rational number and never a float."""

from __future__ import annotations

import re
from functools import lru_cache
from math import gcd

import sympy as sp

from symscale.errors import NotationError

MAX_DIGITS = 4200  # Python itself refuses to convert more than 4300
MAX_EXPONENT = 4200

# digit groups: 28,672 (the caller decides whether a comma may group), 28 672, 61{,}000 and 28\,672 (LaTeX), 1_000_000
SPACE = "[ \u00a0\u2009\u202f]"
DIGITS = r"(?:\d{1,3}(?:\{,\}\d{3})+(?!\d)|\d{1,3}(?:\\,\d{3})+(?!\d)|\d+(?:_\d{3})+(?!\d)|\d+)"
NUMBER = rf"(?:{DIGITS}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
GROUPED = rf"[1-9]\d{{0,2}}(?:(?:,\d{{3}})+|(?:{SPACE}\d{{3}})+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d])"

_SEPARATORS = re.compile(rf"\{{,\}}|\\,|[,_]|{SPACE}")
_PLAIN = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?")


@lru_cache(maxsize=4096)
def number(literal: str) -> sp.Rational:
    """Return the exact value of a number literal: `1.97E+14` is the integer 197 * 10**12.

    Raises NotationError for more than 4200 digits or an exponent beyond 4200.
    """
    plain = _SEPARATORS.sub("", literal)
    match = _PLAIN.fullmatch(plain)
    if match is None or not (match[1] or match[2]):
        raise NotationError(f"`{literal[:40]}` is not a number")
    if len(match[1]) + len(match[2]) > MAX_DIGITS or len(match[3] or "") > 6:
        raise NotationError(f"a number has at most {MAX_DIGITS} digits", hint="write it with an exponent: 1.97e14")
    exponent = int(match[3] or 0)
    if abs(exponent) > MAX_EXPONENT:
        raise NotationError(f"the exponent {exponent} of a number is beyond {MAX_EXPONENT}")
    return _scaled(int(match[1] + match[2]), exponent - len(match[2]))


def _scaled(digits: int, exponent: int) -> sp.Rational:
    if exponent >= 0:
        return sp.Integer(digits * 10**exponent)
    divisor = gcd(digits, 10**-exponent)
    return sp.Rational(digits // divisor, 10**-exponent // divisor)
