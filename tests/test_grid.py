"""Evaluation over grids against exact evaluation point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.errors import SymscaleError
from symscale.notation.formula import parse_formula
from symscale.quantity.grid import CHUNK, evaluate
from symscale.vocabulary import symbol

FORMULAS = [
    "max(4*B*D*F/(X*C), 2*b*D*F*(X - 1)/(X*W))",
    "ceiling(B/X)*D + floor(B*X)/3 - min(B, X, 7)",
    "sqrt(B*F/X) + B**2*X**3 + B**(2/3)",
    "log(B, 2)/X + log(X + 1)",
    "B*D + D*F + B*F",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_agrees_with_exact_evaluation(text):
    expr = parse_formula(text).expr
    rng = np.random.default_rng(1)
    values = {str(s): rng.integers(1, 50, 40) for s in expr.free_symbols}
    found = evaluate(expr, values)
    for at in range(40):
        exact = expr.subs({symbol(name): int(column[at]) for name, column in values.items()})
        assert found[at] == pytest.approx(float(exact), rel=1e-12)


def test_d21_whole_numbers_do_not_overflow():
    expr = parse_formula("6*P*T").expr
    params, tokens = np.array([405_000_000_000]), np.array([15_000_000_000_000])
    assert evaluate(expr, {"P": params, "T": tokens})[0] == pytest.approx(3.645e25)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5))
def test_chunks_join_without_a_seam(a, b, c):
    expr = parse_formula("X*Y/(Z + X) + max(X, Y)").expr
    x = np.linspace(1, 2, a * CHUNK // 3 + 1)
    y = np.linspace(3, 4, b)[:, None]
    z = np.full((c, 1, 1), 2.0)
    found = evaluate(expr, {"X": x, "Y": y, "Z": z})
    assert found.shape == (c, b, x.size)
    assert np.allclose(found, x * y / (z + x) + np.maximum(x, y), rtol=1e-14)


def test_missing_values_and_shapes_are_named():
    expr = parse_formula("X + Y").expr
    with pytest.raises(SymscaleError, match="Y has no value"):
        evaluate(expr, {"X": 1.0})
    with pytest.raises(SymscaleError, match="do not broadcast"):
        evaluate(expr, {"X": np.ones(3), "Y": np.ones(4)})
