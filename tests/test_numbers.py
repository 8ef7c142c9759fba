"""Numbers as they are shown to people: significant digits, prefixes, never 0.000, no lost sign."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import pytest
import sympy as sp
from hypothesis import given, settings

from symscale.errors import NotationError
from symscale.notation.numbers import decimal, displayed, format_number, format_quantity
from symscale.quantity import parse_quantity
from symscale.vocabulary import symbol

R = sp.Rational

NUMBERS = {
    "0": "0",
    "28672": "28,672",
    "131072": "131,072",
    "999999": "999,999",
    "1.97e14": "1.97 × 10^14",
    "8.2e11": "8.2 × 10^11",
    "240.2439024": "240.2",
    "0.011": "0.011",
    "1.8e-4": "1.8 × 10^-4",
    "8755.5555": "8756",
    "73440.3": "73,440",
    "999999.7": "1.000 × 10^6",
    "99.9951": "100.0",
    "2.00004": "2.000",
    "-0.5": "-0.5",
    "-1e-20": "-10^-20",
    "0.00999951": "0.01000",
}


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers(value: str) -> None:
    assert format_number(R(value)) == NUMBERS[value]


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("text", "1.97 × 10^14"),
        ("ascii", "1.97e14"),
        ("latex", r"1.97 \times 10^{14}"),
        ("siunitx", r"\num{1.97e14}"),
    ],
)
def test_D15_styles(style: str, shown: str) -> None:
    assert format_number(sp.Integer(197 * 10**12), style=style) == shown  # type: ignore[arg-type]


QUANTITIES_D22 = {
    ("1.864e-4", "s"): "186.4 µs",
    ("2.84e-9", "s"): "2.84 ns",
    ("1.1e-2", ""): "0.011",
    ("1.23e-2", "1/s"): "0.0123 1/s",
    ("1e-4", ""): "10^-4",
    ("45000", "B"): "45 kB",
    ("1.97e14", "FLOP/s"): "197 TFLOP/s",
    ("3.35e12", "B/s"): "3.35 TB/s",
    ("2550", "token"): "2550 tokens",
    ("1", "token"): "1 token",
    ("850", "token/chip"): "850 tokens/chip",
    ("0.99996e-3", "s"): "1.000 ms",
    ("0", "s"): "0 s",
    ("1e-13", "s"): "0.1 ps",
    ("3.645e25", "FLOP"): "3.645 × 10^25 FLOP",
    ("240.2439", "FLOP/B"): "240.2 FLOP/B",
}


@pytest.mark.parametrize(("value", "unit"), QUANTITIES_D22)
def test_D22_no_exponent_is_lost(value: str, unit: str) -> None:
    assert format_quantity(R(value), unit) == QUANTITIES_D22[value, unit]


def test_D25_siunitx_quantity() -> None:
    assert format_quantity(R("3.35e12"), "B/s", style="siunitx") == r"\qty{3.35}{TB/s}"
    assert format_quantity(R("1.864e-4"), "s", style="siunitx") == r"\qty{186.4}{\micro s}"


def test_latex_and_ascii_units() -> None:
    assert format_quantity(R("1.864e-4"), "s", style="latex") == r"186.4\,\mu\text{s}"
    assert format_quantity(R("1.864e-4"), "s", style="ascii") == "186.4 us"
    assert format_quantity(R(45000), "B", style="latex") == r"45\,\text{kB}"


def test_B07_a_latency_bound_gather_in_microseconds() -> None:
    # 256 bytes over 9e10 B/s after two hops of a microsecond: 2 + 0.002844 µs
    assert format_quantity(R(256) / R("9e10"), "s") == "2.844 ns"
    assert format_quantity(2 * R("1e-6") + R(256) / R("9e10"), "s", 7) == "2.002844 µs"


def test_D26_five_tebibytes_over_ten_gigabits() -> None:
    seconds = parse_quantity("5 TiB").value / parse_quantity("10 Gbit/s").value
    assert format_quantity(seconds, "s") == "4398 s"
    assert format_number(seconds, 6) == "4398.05"


def test_irrational_numbers() -> None:
    assert format_number(sp.sqrt(2)) == "1.414"
    assert format_number(sp.log(10) * 10**12) == "2.303 × 10^12"


def test_a_symbol_is_no_number() -> None:
    with pytest.raises(NotationError, match="D has no value"):
        format_number(2 * symbol("D"))
    with pytest.raises(NotationError, match="not a real number"):
        format_number(sp.zoo)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.fractions(), st.integers(1, 9), st.integers(-30, 30))
def test_a_shown_number_is_within_half_a_digit(value: Fraction, digits: int, scale: int) -> None:
    value *= Fraction(10) ** scale
    shown = Fraction(format_number(value, digits, "ascii"))
    assert abs(shown - value) <= abs(value) * Fraction(1, 2) / 10 ** (digits - 1)
    assert (shown == 0) == (value == 0)
    rounded = decimal(value, digits)
    assert value == 0 or len(rounded.digits) == digits


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        ("1/5000", "s", (200, "µs")),
        ("45000", "B", (45, "kB")),
        ("180e9", "B/s", (180, "GB/s")),
        ("2550", "tokens per chip", (2550, "tokens per chip")),
        ("1/2", "B", (R("1/2"), "B")),
    ],
)
def test_a_number_and_its_unit_are_scaled_together(value: str, unit: str, shown: tuple[object, str]) -> None:
    assert displayed(R(value), unit) == shown
