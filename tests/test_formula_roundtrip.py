"""What is printed is read back as the same expression, in text and in LaTeX; random text never crashes."""

from __future__ import annotations

import time
from contextlib import suppress

import hypothesis.strategies as st
import pytest
import sympy as sp
from hypothesis import given, settings

from symscale.errors import SymscaleError
from symscale.notation.formula import (
    parse_assignments,
    parse_formula,
    parse_limits,
    parse_range,
    parse_relation,
)
from symscale.notation.latex import to_latex
from symscale.notation.text import relation_text, to_text
from symscale.quantity import maximum, minimum, parse_quantity, parse_unit
from symscale.vocabulary import symbol

STEADY = settings(derandomize=True, deadline=None, max_examples=150)
NAMES = [
    "s",
    "t",
    "k",
    "B",
    "D",
    "F",
    "X",
    "Y",
    "C",
    "W_ici",
    "W_hbm",
    "M_X",
    "N",
    "E",
    "I",
    "S",
    "b",
    "alpha",
    "beta",
    "T_hop",
    "lambda",
]
symbols = st.sampled_from(NAMES).map(symbol)
rationals = st.builds(sp.Rational, st.integers(1, 50), st.integers(1, 12))
powers = st.sampled_from(
    [sp.Rational(p, q) for p, q in [(1, 1), (2, 1), (-1, 1), (-2, 1), (1, 2), (-1, 2), (3, 2), (1, 3), (-2, 3)]]
)
monomials = st.builds(
    lambda c, factors: sp.Mul(c, *(s**e for s, e in factors)),
    rationals,
    st.lists(st.tuples(symbols, powers), max_size=5),
)
posynomials = st.lists(monomials, min_size=1, max_size=4).map(lambda parts: sp.Add(*parts))
whole_powers = st.sampled_from([-2, -1, 1, 1, 2])
polynomials = st.lists(
    st.builds(
        lambda c, factors: sp.Mul(c, *(s**e for s, e in factors)),
        rationals,
        st.lists(st.tuples(symbols, whole_powers), max_size=4),
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: sp.Add(*parts))


def _deeper(inner: st.SearchStrategy[sp.Expr]) -> st.SearchStrategy[sp.Expr]:
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, b: a / b if b != 0 else a, inner, inner),
        st.builds(lambda a, e: a**e if a.is_positive else a, inner, powers),
        st.builds(maximum, inner, inner),
        st.builds(minimum, inner, inner),
        st.builds(sp.ceiling, inner),
        st.builds(sp.floor, inner),
        st.builds(lambda a: sp.log(a) if a.is_positive else a, inner),
        st.builds(lambda a: sp.log(a, 2) if a.is_positive else a, inner),
        st.builds(lambda s, a: sp.Integer(2) ** s * a, symbols, inner),
    )


expressions = st.recursive(monomials | posynomials, _deeper, max_leaves=6)


@STEADY
@given(posynomials)
def test_posynomials_round_trip(expr: sp.Expr) -> None:
    assert parse_formula(to_text(expr)).expr == expr


@STEADY
@given(expressions)
def test_expressions_round_trip(expr: sp.Expr) -> None:
    assert parse_formula(to_text(expr)).expr == expr


@STEADY
@given(expressions)
def test_order_changes_the_print_and_not_the_value(expr: sp.Expr) -> None:
    formula = parse_formula(to_text(expr))
    assert parse_formula(to_text(formula.expr, formula.order)).expr == expr


@STEADY
@given(polynomials)
def test_a_text_read_in_its_own_order_prints_as_it_was(expr: sp.Expr) -> None:
    text = to_text(expr)
    formula = parse_formula(text)
    assert to_text(formula.expr, formula.order) == text


@STEADY
@given(posynomials, posynomials)
def test_latex_of_ratios_is_read_back(above: sp.Expr, below: sp.Expr) -> None:
    expr = above / below
    assert parse_formula(to_latex(expr), implicit=True).expr == expr


@STEADY
@given(posynomials, st.sampled_from(["<", "<=", ">", ">=", "="]), posynomials)
def test_relations_round_trip(lhs: sp.Expr, op: str, rhs: sp.Expr) -> None:
    assert parse_relation(relation_text(lhs, op, rhs))[:3] == (lhs, op, rhs)


PIECES = st.sampled_from(
    [
        *"+-*/^(){}[],;.%!=<>_\\'\"$ \n½²√⌈⌉αé٣0BEI",
        *[
            "**",
            "9",
            "1e",
            "10",
            "1e999",
            "28,672",
            "max(",
            "min(",
            "log(",
            "sqrt",
            "exp(",
            "ceil(",
            "floor(",
        ],
        *["W_ici", "1/0", "\\frac{", "\\text{", "\\sqrt", "\\left"],
    ]
)
garbage = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=25).map("".join))


@pytest.mark.parametrize(
    "reader",
    [
        parse_formula,
        lambda text: parse_formula(text, implicit=True),
        parse_relation,
        parse_limits,
        parse_assignments,
        parse_range,
        parse_quantity,
        parse_unit,
    ],
    ids=["formula", "implicit", "relation", "limits", "assignments", "range", "quantity", "unit"],
)
def test_random_text_gives_a_value_or_one_kind_of_error(reader) -> None:  # type: ignore[no-untyped-def]
    @settings(derandomize=True, deadline=None, max_examples=200)
    @given(garbage)
    def check(text: str) -> None:
        start = time.process_time()
        with suppress(SymscaleError):
            reader(text)
        assert time.process_time() - start < 2

    check()


@STEADY
@given(st.lists(PIECES, max_size=25).map("".join))
def test_what_random_text_means_round_trips(text: str) -> None:
    try:
        expr = parse_formula(text).expr
    except SymscaleError:
        return
    assert parse_formula(to_text(expr)).expr == expr
    to_latex(expr)
