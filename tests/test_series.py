"""Sums and areas, against sympy's own."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.errors import UndecidedError
from symscale.quantity.series import area, total
from symscale.vocabulary import symbol

i, n, a, B, x = map(symbol, ["i", "n", "a", "B", "x"])


@pytest.mark.parametrize("term", [i, sp.S.One, 3 * i**2 - a * i + 7, i**5 + B, (n - i) * i, sp.S.Zero])
def test_sums_of_polynomials(term):
    assert sp.expand(total(term, i, n) - sp.summation(term, (i, 1, n))) == 0
    assert total(term, i, n).subs(n, 6) == sp.expand(sum(term.subs(n, 6).subs(i, k) for k in range(1, 7)))


@pytest.mark.parametrize("base", [a, 1 - a, a / B])
def test_sums_of_powers(base):
    for last in (1, 2, 5):
        assert sp.cancel(total(base**i, i, n).subs(n, last) - sum(base**k for k in range(1, last + 1))) == 0


@pytest.mark.parametrize("density", [x, x * B * x ** (B - 1) / n**B, 3 * x**2 - a, a * sp.sqrt(x), sp.S.One])
def test_areas(density):
    wanted = sp.integrate(density, (x, 0, n))
    assert sp.simplify(area(density, x, n) - wanted) == 0


def test_other_terms_are_refused():
    for term in (1 / i, sp.log(i), i * a**i):
        with pytest.raises(UndecidedError, match="no closed form"):
            total(term, i, n)
    for density in (1 / (1 + x), sp.exp(x)):
        with pytest.raises(UndecidedError, match="no closed form"):
            area(density, x, n)
