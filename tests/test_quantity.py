"""Units and dimensions: one normaliser of unit words, and sums that must have one dimension."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
import sympy as sp

from symscale.errors import UnitError
from symscale.notation.formula import parse_formula, parse_relation
from symscale.quantity import (
    BYTE,
    PURE,
    SECOND,
    Dimension,
    check,
    dimension_of,
    infer,
    maximum,
    minimum,
    other_reading,
    parse_quantity,
    parse_unit,
    table_dimensions,
)
from symscale.vocabulary import TABLE, symbol

KNOWN = table_dimensions()

UNITS = {
    "GB/s": (10**9, BYTE / SECOND, "GB/s"),
    "GiB": (2**30, BYTE, "GiB"),
    "Gbit/s": (125 * 10**6, BYTE / SECOND, "Gbit/s"),
    "Gbps": (125 * 10**6, BYTE / SECOND, "Gbit/s"),
    "GBps": (10**9, BYTE / SECOND, "GB/s"),
    "bytes": (1, BYTE, "B"),
    "ms": (sp.Rational(1, 1000), SECOND, "ms"),
    "us": (sp.Rational(1, 10**6), SECOND, "µs"),
    "µs": (sp.Rational(1, 10**6), SECOND, "µs"),
    "hours": (3600, SECOND, "h"),
    "FLOPs/s": (1, SECOND**-1, "FLOP/s"),
    "TFLOP/s": (10**12, SECOND**-1, "TFLOP/s"),
    "FLOP/byte": (1, BYTE**-1, "FLOP/B"),
    "B/s per chip": (1, BYTE / SECOND, "B/s/chip"),
    "tokens": (1, PURE, "token"),
    "axes": (1, PURE, "axis"),
    "token/s/chip": (1, SECOND**-1, "token/s/chip"),
    "GPU hours": (3600, SECOND, "GPU*h"),
    "kWh": (3_600_000, Dimension(joule=Fraction(1)), "kWh"),
    "$/h": (sp.Rational(1, 3600), Dimension(dollar=Fraction(1)) / SECOND, "$/h"),
    "%": (sp.Rational(1, 100), PURE, "%"),
    "": (1, PURE, ""),
    "1": (1, PURE, ""),
}


@pytest.mark.parametrize("word", UNITS)
def test_unit_words(word: str) -> None:
    unit = parse_unit(word)
    assert (unit.factor, unit.dimension, unit.word) == UNITS[word]
    assert parse_unit(unit.word) == unit


def test_every_unit_of_the_vocabulary_is_known() -> None:
    assert set(KNOWN) == set(TABLE)
    assert KNOWN["C"] == SECOND**-1
    assert KNOWN["alpha"] == BYTE**-1


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("FLOPS", "means two things", "FLOP/s for a rate"),
        ("TFLOPS", "means two things", "FLOP/s for a rate"),
        ("KB", "means two things", "KiB for 1024"),
        ("mB", "means two things", "MB"),
        ("foo", "`foo` is not a unit", "known: B"),
        ("B//s", "is not a unit", "known: B"),
        ("GGB", "`GGB` is not a unit", "known: B"),
        ("x" * 200, "this unit is too long", ""),
    ],
)
def test_unit_words_refused(word: str, message: str, hint: str) -> None:
    with pytest.raises(UnitError, match=message) as caught:
        parse_unit(word)
    assert hint in caught.value.hint


QUANTITIES = {
    "11.5 ms": sp.Rational("0.0115"),
    "16 GiB": 2**34,
    "16 GB": 16 * 10**9,
    "2.55k tokens": 2550,
    "128k": 128_000,
    "128Ki": 131_072,
    "15T tokens": 15 * 10**12,
    "28,672": 28_672,
    "1.97e14 FLOP/s": 197 * 10**12,
    "1.97 × 10^14 FLOP/s": 197 * 10**12,
    "3.35 TB/s": 335 * 10**10,
    "45kB": 45_000,
    "-3 s": -3,
    "40%": sp.Rational(2, 5),
}


@pytest.mark.parametrize("text", QUANTITIES)
def test_quantities(text: str) -> None:
    assert parse_quantity(text).value == QUANTITIES[text]


@pytest.mark.parametrize("text", ["", "GB", "1 2", "one GB", "1" * 300, "3 foo"])
def test_quantities_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_quantity(text)


def test_D26_bits_and_bytes() -> None:
    assert parse_quantity("400 Gbit/s").value == parse_quantity("50 GB/s").value == 50 * 10**9
    seconds = parse_quantity("5 TiB").value / parse_quantity("10 Gbit/s").value
    assert float(seconds) == pytest.approx(4398.05, abs=0.01)


def test_D26_bytes_and_seconds_do_not_add() -> None:
    with pytest.raises(UnitError) as caught:
        dimension_of(parse_formula("M_hbm + T_hop").expr, KNOWN)
    for words in ("cannot add", "`M_hbm` (in B)", "`T_hop` (in s)"):
        assert words in caught.value.message


def test_B03_swapped_constants_are_refused() -> None:
    right = parse_relation("T_math = 2*B*D*F/C"), parse_relation("T_comms = b*(B*D + D*F + B*F)/W")
    for relation in right:
        assert check(relation.lhs, relation.rhs, KNOWN) == SECOND
    with pytest.raises(UnitError, match=r"`T_math` \(in s\) with `2\*B\*D\*F/W` \(in s/B\)"):
        check(symbol("T_math"), parse_formula("2*B*D*F/W").expr, KNOWN)
    with pytest.raises(UnitError, match=r"`T_comms` \(in s\) with `D\*F\*b/C` \(in B\*s\)"):
        check(symbol("T_comms"), parse_formula("b*D*F/C").expr, KNOWN)


def test_the_general_threshold_has_one_dimension() -> None:
    relation = parse_relation("B/X > b*C/(2*W_ici)")
    assert check(relation.lhs, relation.rhs, KNOWN) == PURE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max(T_hop, M_hbm)", "cannot compare"),
        ("max(T_hop, 1)", "pure number"),
        ("log(T_hop)", "`T_hop` is in s, but `log"),
        ("ceiling(M_hbm)", "needs a pure number"),
        ("2^T_hop", "needs a pure number"),
        ("T_hop^B", "needs a pure number"),
        ("T_hop + 1", "pure number"),
        ("sqrt(M_hbm*b) + T_hop", "cannot add"),
    ],
)
def test_dimensions_refused(text: str, message: str) -> None:
    with pytest.raises(UnitError, match="^.*" + message):
        dimension_of(parse_formula(text).expr, KNOWN)


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("sqrt(M_hbm*b)", BYTE),
        ("M_hbm^2/b", BYTE),
        ("max(T_hop*X, V*b/W)", SECOND),
        ("log(M_hbm/b)", PURE),
        ("2^B*T_hop", SECOND),
        ("M_hbm - b", BYTE),
        ("sqrt(M_hbm)", BYTE ** Fraction(1, 2)),
        ("ceiling(B/X)*T_hop", SECOND),
    ],
)
def test_dimensions(text: str, dimension: Dimension) -> None:
    assert dimension_of(parse_formula(text).expr, KNOWN) == dimension


def inferred(*relations: str) -> dict[str, Dimension]:
    return infer([parse_relation(text)[0::2][:2] for text in relations], KNOWN)


def test_unknown_units_are_solved_from_the_equations() -> None:
    found = inferred("T_math = b*D*F/W_mine")
    assert found["W_mine"] == BYTE / SECOND
    found = inferred("T_x = T_math", "T_x = V_x/W_ici")
    assert found["V_x"] == BYTE
    found = inferred("M_hbm = n^2*q", "q = b")
    assert (found["q"], found["n"]) == (BYTE, PURE)


def test_an_ambiguous_unit_is_a_pure_number() -> None:
    assert inferred("p*q = 2")["p"] == PURE


def test_equations_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(UnitError, match="cannot equate"):
        inferred("y = T_math", "y = M_hbm")


def test_sums_are_checked_in_linear_time() -> None:
    def seconds(n: int) -> float:
        expr = sp.Add(*(symbol("b") * symbol(f"p{i}") * symbol(f"q{i}") / symbol("W") for i in range(n)))
        start = time.process_time()
        assert dimension_of(expr, KNOWN) == SECOND
        return time.process_time() - start

    small = min(seconds(400) for _ in range(3))
    assert min(seconds(4000) for _ in range(3)) < 25 * small + 0.05


def test_a_late_wrong_addend_is_found() -> None:
    terms = [symbol("b") * symbol(f"p{i}") / symbol("W") for i in range(50)]
    with pytest.raises(UnitError):
        dimension_of(sp.Add(*terms, symbol("M_hbm")), KNOWN)


def test_the_words_of_a_dimension() -> None:
    assert str(BYTE / SECOND) == "B/s"
    assert str(SECOND / BYTE) == "s/B"
    assert str(PURE) == "1"
    assert str(PURE / (BYTE * SECOND)) == "1/(B*s)"
    assert str(BYTE ** Fraction(1, 2)) == "B^(1/2)"


def test_D06_many_arguments_of_max_are_quick() -> None:
    arguments = [symbol(f"a{i}") * symbol(f"c{i}") for i in range(200)]
    start = time.process_time()
    assert len(maximum(*arguments).args) == 200
    assert time.process_time() - start < 0.5


def test_extrema_agree_with_sympy() -> None:
    x, y = symbol("x"), symbol("y")
    for arguments in [
        (x, y),
        (x, x),
        (x, 2 * x),
        (x, 2 * x, y),
        (sp.Integer(1), sp.Integer(2)),
        (x, sp.Integer(0)),
    ]:
        assert maximum(*arguments) == sp.Max(*arguments)
        assert minimum(*arguments) == sp.Min(*arguments)
    assert maximum(sp.Max(x, y), x) == sp.Max(x, y)
    assert maximum(sp.sqrt(2), x, sp.Integer(1)) == sp.Max(sp.sqrt(2), x)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("128k", 131_072),
        ("128Ki", 128_000),
        ("16 GB", 2**34),
        ("16 GiB", 16 * 10**9),
        ("128k tokens", 131_072),
        ("3 TB/s", None),
        ("11.5 ms", None),
        ("4096", None),
    ],
)
def test_the_other_reading_of_a_capacity_word(text: str, other: int | None) -> None:
    found = other_reading(text)
    assert (found.value if found else None) == other
