"""Regimes: which argument of a Max, or which term of a sum, is the largest, and where."""

from __future__ import annotations

import time
from itertools import product

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.errors import UndecidedError
from symscale.solve import dominant, largest, regimes, simplify_max, smallest
from symscale.vocabulary import symbol

B, D, F, X, Y, C, V, n = map(symbol, ["B", "D", "F", "X", "Y", "C", "V", "n"])
b, W_hbm, W_ici, T_hop = map(symbol, ["b", "W_hbm", "W_ici", "T_hop"])


def top(*args):
    return sp.Max(*args, evaluate=False)


def low(*args):
    return sp.Min(*args, evaluate=False)


def table(found):
    return {regime.term: {str(condition) for condition in regime.conditions} for regime in found}


def test_a_ring_switches_from_latency_to_bandwidth():
    """V = X*T_hop*W/2."""
    found = table(regimes(top(V / W_ici, X * T_hop / 2)))
    assert found == {
        V / W_ici: {"T_hop*W_ici*X <= 2*V"},
        X * T_hop / 2: {"T_hop*W_ici*X >= 2*V"},
    }


def test_what_stands_beside_the_max_does_not_enter_its_conditions():
    found = table(regimes(top(V / W_ici, X * T_hop / 2) + 2 * B * D * F / C))
    assert found[2 * B * D * F / C + V / W_ici] == {"T_hop*W_ici*X <= 2*V"}


def test_arithmetic_memory_and_network():
    found = table(regimes(top(2 * B * D * F / C, b * D * F / W_hbm, b * B * D / W_ici)))
    assert found[2 * B * D * F / C] == {"F >= C*b/(2*W_ici)", "B >= C*b/(2*W_hbm)"}
    assert found[b * D * F / W_hbm] == {"B/F <= W_ici/W_hbm", "B <= C*b/(2*W_hbm)"}


def test_redundant_conditions_and_empty_regimes_go():
    found = table(regimes(top(X, X**2, X**3)))
    assert found == {X: {"X <= 1"}, X**3: {"X >= 1"}}
    assert table(regimes(top(X, 2 * X))) == {2 * X: set()}
    # X**3 >= B and X >= 1 where B >= 1: the middle one never wins strictly
    assert set(table(regimes(top(B, B * X, B * X**2)))) == {B, B * X**2}


def test_a_condition_that_follows_from_the_others_goes():
    """B >= sqrt(D*F) follows from B >= D and B >= F; a middle term that never wins has no regime at all."""
    found = table(regimes(top(sp.sqrt(D * F), B, D, F)))
    assert found == {B: {"B >= D", "B >= F"}, D: {"B <= D", "D >= F"}, F: {"B <= F", "D <= F"}}


def test_nested_and_scaled_max():
    assert table(regimes(D * top(B, top(F, X)))) == {
        B * D: {"B >= F", "B >= X"},
        D * F: {"B <= F", "F >= X"},
        D * X: {"B <= X", "F <= X"},
    }


def test_the_dominant_term_bounds_the_sum_within_the_number_of_terms():
    found = dominant(b * (B * D + D * F + B * F) / W_hbm)
    assert {regime.factor for regime in found} == {3}
    assert table(found)[b * D * F / W_hbm] == {"B <= F", "B <= D"}
    assert [(r.term, r.conditions) for r in dominant(B * D)] == [(B * D, ())]


def test_no_regimes_without_a_max_or_with_negative_parts():
    with pytest.raises(UndecidedError, match="holds no Max"):
        regimes(B + D)
    with pytest.raises(UndecidedError, match="not positive"):
        dominant(B - D)
    with pytest.raises(UndecidedError, match="nor a sum or product"):
        regimes(1 / top(B, D))


SYMBOLS = (B, D, F)
monomial = st.tuples(st.integers(1, 4), *(st.integers(-2, 2) for _ in SYMBOLS)).map(
    lambda row: row[0] * sp.Mul(*(name**p for name, p in zip(SYMBOLS, row[1:], strict=True)))
)
coordinate = st.fractions(min_value="1/20", max_value=20).map(lambda f: sp.Rational(f.numerator, f.denominator))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.lists(monomial, min_size=2, max_size=5, unique=True),
    st.lists(st.tuples(*[coordinate] * 3), min_size=5, max_size=5),
)
def test_regimes_cover_everything_and_name_the_largest(terms, places):
    found = regimes(top(*terms))
    for place in places:
        point = dict(zip(SYMBOLS, place, strict=True))
        wins = [regime.term for regime in found if all(c.holds(point) for c in regime.conditions)]
        value = max(term.xreplace(point) for term in terms)
        assert wins
        assert {term.xreplace(point) for term in wins} == {value}


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(monomial, min_size=2, max_size=4, unique=True))
def test_every_condition_matters(terms):
    """Beyond any one condition, and inside the others, another term is larger."""
    for regime in regimes(top(*terms)):
        for dropped in regime.conditions:
            others = [c for c in regime.conditions if c is not dropped]
            grid = [sp.Rational(1, 50), sp.Rational(1, 7), sp.Rational(9, 10), sp.Rational(11, 10), 7, 50, 900]
            outside = (
                dict(zip(SYMBOLS, place, strict=True)) for place in product(map(sp.sympify, grid), repeat=len(SYMBOLS))
            )
            hit = next((p for p in outside if not dropped.holds(p) and all(c.holds(p) for c in others)), None)
            if hit is not None:
                assert regime.term.xreplace(hit) < max(term.xreplace(hit) for term in terms)


# ---------------------------------------------------------------- simpler Max


@pytest.mark.parametrize(
    ("expr", "at_least_one", "simpler"),
    [
        # case D05
        (top(n, sp.log(n, 2)), (n,), n),
        (top((X - 1) / X, 1), (X,), sp.S.One),
        (top(2 * B * D * F / C, B * D * F / C), (), 2 * B * D * F / C),
        (top(X, 1), (X,), X),
        (top(X, 1), (), top(X, 1)),
        (low(X, 1), (X,), sp.S.One),
        (top(X * Y, X, Y), (X, Y), X * Y),
        (top(B * D + D * F, B * D), (), B * D + D * F),
        (top(top(X, X + 1), low(X, 3)), (), X + 1),
        (B + top(2 * D * F / (Y * C), 2 * B * D / C, D * F / (Y * C)), (), B + 2 * D / C * top(F / Y, B)),
        (B + D, (), B + D),
    ],
    ids=lambda each: str(each)[:30],
)
def test_dominated_arguments_go(expr, at_least_one, simpler):
    assert simplify_max(expr, at_least_one) == simpler


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(monomial, min_size=2, max_size=4), st.sampled_from([top, low]), st.tuples(*[coordinate] * 3))
def test_simpler_has_the_same_value(terms, combine, place):
    expr = combine(*terms)
    point = {name: value + 1 for name, value in zip(SYMBOLS, place, strict=True)}
    for names in ((), SYMBOLS):
        assert simplify_max(expr, names).xreplace(point) == expr.xreplace(point).doit()


def test_a_common_factor_goes_outside():
    assert largest(B * D, B * F) == B * top(D, F)
    assert smallest(B * D, B * F) == B * low(D, F)
    assert largest(B * D) == B * D


def test_a_max_of_fifty_products_is_built_without_comparing_them():
    """Case D06: sympy's own Max of 50 symbols takes two seconds."""
    names = [(symbol(f"p{i}"), symbol(f"q{i}")) for i in range(50)]
    start = time.process_time()
    found = largest(*(p * q / C for p, q in names))
    assert time.process_time() - start < 0.5
    assert len(found.atoms(sp.Max)) == 1
    start = time.process_time()
    simplify_max(top(*(p * q / C for p, q in names[:12])))
    assert time.process_time() - start < 0.5
