"""Any way to write a right relation is right, and no relation with another threshold is."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.errors import SymscaleError
from symscale.exercise.desk import check
from symscale.exercise.exercise import exercise
from symscale.exercise.verdict import LEADING, RIGHT
from symscale.notation.formula import parse_formula
from symscale.notation.latex import to_latex
from symscale.notation.text import to_text

# an exercise, the two sides of its answer, its sign, and a number that it asks for
ANSWERS = [
    ("training/fsdp", "B/X", "C/W_ici", ">=", "2550"),
    ("training/tp", "Y", "F*W_ici/C", "<=", "11.2439"),
    ("training/mixed", "B/N_chips", "C^2/(F*M_X*M_Y*W_ici^2)", ">=", "99.2203"),
    ("roofline/matmul", "B", "C/W_hbm", ">=", "240.244"),
    ("jax/moe-jit", "S", "D*F*E/(D + F)", "<=", ""),
    ("context/gather", "T/X", "C/(G*W_ici)", ">=", "318.75"),
    ("gpus/dp-node", "B/X", "C/W_nvlink", ">=", "2200"),
    ("memory/offload", "B", "C/(3*W_pcie)", ">=", "9562.5"),
    ("transformer/attention-share", "T", "8*D", ">=", "36864"),
    ("pipeline/hop", "p", "2*F*L*W_link/C", "<=", "899.514"),
]
MIRROR = {">=": "<=", "<=": ">="}
FACTORS = st.fractions(Fraction(1, 20), 20, max_denominator=30).filter(lambda each: abs(each - 1) > Fraction(1, 10))


def monomial(id: str, exponents: list[int], coefficient: Fraction) -> sp.Expr:
    """Return a positive monomial in symbols of an exercise."""
    sides = next(each[1:3] for each in ANSWERS if each[0] == id)
    names = sorted({name for each in sides for name in parse_formula(each).expr.free_symbols}, key=str)
    factor = sp.Rational(coefficient.numerator, coefficient.denominator)
    return sp.Mul(factor, *(name**power for name, power in zip(names, exponents, strict=False)))


@pytest.mark.parametrize(("id", "left", "right", "sign"), [each[:4] for each in ANSWERS])
@settings(derandomize=True, max_examples=12, deadline=None)
@given(
    exponents=st.lists(st.integers(-2, 2), min_size=6, max_size=6),
    coefficient=st.fractions(Fraction(1, 9), 9, max_denominator=9).filter(bool),
    swapped=st.booleans(),
    latex=st.booleans(),
    strict=st.booleans(),
)
def test_a_right_relation_stays_right(
    id: str,
    left: str,
    right: str,
    sign: str,
    exponents: list[int],
    coefficient: Fraction,
    swapped: bool,
    latex: bool,
    strict: bool,
) -> None:
    times = monomial(id, exponents, coefficient)
    sides = [parse_formula(each).expr * times for each in (left, right)]
    sides, sign = (sides[::-1], MIRROR[sign]) if swapped else (sides, sign)
    shown = [to_latex(each) if latex else to_text(each) for each in sides]
    text = f"{shown[0]} {sign[0] if strict else sign} {shown[1]}"
    assert check(exercise(id), text).kind == RIGHT, text


@pytest.mark.parametrize(("id", "left", "right", "sign", "value"), ANSWERS)
@settings(derandomize=True, max_examples=12, deadline=None)
@given(factor=FACTORS, power=st.sampled_from([-1, 1, 2]), number=st.booleans())
def test_another_threshold_is_never_right(
    id: str, left: str, right: str, sign: str, value: str, factor: Fraction, power: int, number: bool
) -> None:
    if number and value:
        text = f"{float(Fraction(value) * factor):.6g}"
    else:
        text = f"{left} {sign} ({factor.numerator}/{factor.denominator})*({right})^{power}"
    try:
        kind = check(exercise(id), text).kind
    except SymscaleError:
        return
    # 1 + F*W/C ways are exactly busy, so a number for tensor parallelism may be larger by one
    assert kind not in (RIGHT, LEADING) or (id == "training/tp" and abs(float(text) - 12.2439) < 0.7), text
