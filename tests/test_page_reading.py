"""The fields of a page read what the reader of answers reads, and refuse what it refuses, by node."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
import sympy as sp
from pagescripts import scripted

from symscale.errors import SymscaleError
from symscale.exercise.reading import Number, read_answer
from symscale.notation.formula import parse_assignments, parse_formula
from symscale.quantity.unit import parse_unit

pytestmark = pytest.mark.verify

# What is typed, the unit of its field, and the number in base units; "" where there is none.
TYPED = """
4096 || 4096
28,672 || 28672
28 672 || 28672
2 000 000 tokens || 2000000
28_672 || 28672
28{,}672 || 28672
1,000.5 || 2001/2
2.55k || 2550
4Ki || 4096
1.5 M || 1500000
2^10 || 1024
2**10 || 1024
10³ || 1000
2^-3 || 1/8
1.97e14 | FLOP/s | 197000000000000
8 × 10^11 | B/s | 800000000000
8 x 10^11 || 800000000000
6.02\\times 10^{23} || 602000000000000000000000
3*128 || 384
1/2 || 1/2
(2+3)*4 || 20
sqrt(16) || 4
max(3, 4) || 4
40% || 2/5
8.5 billion params || 8500000000
about 4 || 4
16 GiB | B | 17179869184
2^34 B | B | 17179869184
16 * 2^30 bytes | B | 17179869184
459 TFLOP/s | FLOP/s | 459000000000000
180 GB/s per chip | B/s | 180000000000
100 Gbps | B/s | 12500000000
3 µs | s | 3/1000000
311 milliseconds | s | 311/1000
459 TFLOP/s / 180 GB/s | FLOP/B | 2550
28 67 ||
28,67 ||
1,2,3 ||
1_00 ||
2 3 ||
1e ||
-4 ||
0 ||
1/0 ||
x ||
4*D ||
5 GB ||
5 GB | s |
3 apples | FLOP/s |
4096 parsecs ||
1e9999 ||
2^9999 ||
<b> ||
constructor(3) ||
""".strip().splitlines()
ROWS = [tuple(part.strip() for part in line.split("|")) for line in TYPED]

# A random text is a few of these, with signs between them; or characters in any order.
NUMBERS = """4096;28,672;28 672;28_672;2.55;1.97e14;8 × 10^11;8*10^3;2^12;2**10;10³;.5;5.;1E+3;0;61{,}000;12,34;2^0.5"""
UNITS = """;;;k;M;Ki; k; tokens; GiB; GB/s; TFLOP/s; ms; µs;%;B; FLOPS; KB; Gbit/s; per chip; tokens/chip; parsecs"""
SIGNS = """ * ;*;/; / ; × ;·;+; - ; ;^;**;; ÷ ;, """
BEFORE = """;;;;-;+;~;about ;$;(;sqrt(;max(;\\frac{;= ;>"""
BEHIND = """;;;;;);$;};.;!;{2};, 2)"""
ALPHABET = "0123456789.,_ eE+-*/^()kMGiBs%×{}"
OF_FIELDS = ("", "tokens", "B", "s", "B/s", "FLOP/s", "FLOP/B")


def one(rng: random.Random, of: str) -> str:
    return rng.choice(of.split(";"))


def wanted(text: str, unit: str) -> sp.Expr | None:
    """Return what the reader of answers makes of a text for a field, which takes a positive number of its unit."""
    try:
        found = read_answer(text)
    except SymscaleError:
        return None
    if not isinstance(found, Number) or found.named is not None:
        return None
    other = found.unit.dimension if found.unit is not None else None
    if other and other != parse_unit(unit).dimension:
        return None
    return found.value if found.value.is_real and found.value > 0 else None


def texts(rng: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        parts = [one(rng, NUMBERS) + one(rng, UNITS) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        yield one(rng, BEFORE) + one(rng, SIGNS).join(parts) + one(rng, BEHIND)
    for _ in range(count // 2):
        yield "".join(rng.choice(ALPHABET) for _ in range(rng.randint(1, 9)))


def shown(cases: list[tuple[str, str]]) -> list[list[str]]:
    """Return the number of each field, exactly and as a float, or what is said beside it."""
    script = "[`${r.value.p}/${r.value.q}`, String(toFloat(r.value))]"
    found: list[list[str]] = scripted(
        f"{json.dumps(cases)}.map(([t, u]) => readNumber(t, u)).map((r) => (r.value ? {script} : [r.fault]))"
    )
    return found


def test_what_is_typed() -> None:
    found = shown([(text, unit) for text, unit, _ in ROWS])
    for (text, unit, number), (said, *_) in zip(ROWS, found, strict=True):
        other = wanted(text, unit)
        if number:
            assert other == parse_formula(number).expr, text
            assert sp.Rational(said) == other, (text, said)
        else:
            assert other is None, text
            assert said.endswith("."), (text, said)


def test_fields_and_answers_are_read_alike() -> None:
    rng = random.Random(7)
    cases = [(text, rng.choice(OF_FIELDS)) for text in texts(rng, 1200)]
    accepted = 0
    for (text, unit), said in zip(cases, shown(cases), strict=True):
        number = wanted(text, unit)
        case = (text, unit, number, said)
        if number is None or len(said) == 1:
            # a name that cancels is a number for Python, and none for a field
            assert number is None or "is no number" in said[0], case
            assert len(said) == 1, case
            continue
        accepted += 1
        if number.is_Rational:
            assert sp.Rational(said[0]) == number, case
        else:
            assert abs(float(said[1]) / float(number) - 1) < 1e-12, case
    assert accepted > 60


def test_the_command_line_reads_them_too() -> None:
    for text in ("4096", "28,672", "28 672", "28_672", "4Ki", "2^12", "1e6", "1.5M", "3*128", "1/2", "4096 tokens"):
        assert parse_assignments(f"B={text}")["B"] == wanted(text, ""), text
