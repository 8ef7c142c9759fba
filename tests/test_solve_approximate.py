"""Approximations: leading terms, what is dropped, and a ratio that tends to 1."""

from __future__ import annotations

import gc
import time

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.errors import UndecidedError
from symscale.solve import Limit, Relation, approximate, approximate_relation
from symscale.vocabulary import symbol

B, D, F, X, Y, C, W, b, V, T_hop = map(symbol, ["B", "D", "F", "X", "Y", "C", "W", "b", "V", "T_hop"])
ONE = sp.S.One
SMALL_B = Limit(B, (D, F))
LONG_X = Limit(ONE, (X,))
LONG_XY = Limit(ONE, (X, Y))


TABLE = [
    # the matmul roofline of the book: B << D, F
    (
        2 * B * D * F / (b * (B * D + B * F + D * F)),
        [SMALL_B],
        2 * B / b,
        {B * D, B * F},
        1 / (1 + B / D + B / F),
    ),
    (
        b * (B * D + B * F + D * F) / W,
        [SMALL_B],
        b * D * F / W,
        {b * B * D / W, b * B * F / W},
        1 + B / D + B / F,
    ),
    # gathers over long axes
    (2 * b * D * F * (X - 1) / (X * W), [LONG_X], 2 * b * D * F / W, {-2 * b * D * F / (X * W)}, 1 - 1 / X),
    ((X - 1) / X + (Y - 1) / Y, [LONG_X], 1 + (Y - 1) / Y, {-1 / X}, None),
    (
        (X - 1) * (Y - 1) / (X * Y),
        [LONG_XY],
        ONE,
        {-((Y - 1) / (X * Y)), -((X - 1) / (X * Y))},
        (1 - 1 / X) * (1 - 1 / Y),
    ),
    # chains keep their order
    (B + D + F, [Limit(B, (D,)), Limit(D, (F,))], F, {B, D}, 1 + B / F + D / F),
    (1 + X + F, [LONG_X, Limit(X, (F,))], F, {ONE, X}, 1 + 1 / F + X / F),
    (B + 1 + X * F, [LONG_X, Limit(B, (X, F))], 1 + X * F, {B}, None),
    (B + X, [Limit(B, (X,)), LONG_X], X, {B}, 1 + B / X),
    (C / W + D, [Limit(C / W, (D,))], D, {C / W}, 1 + C / (W * D)),
    # roots and powers of sums
    (sp.sqrt(B + D) / (X + 1) ** 2, [Limit(B, (D,)), LONG_X], sp.sqrt(D) / X**2, {B, ONE}, None),
    (1 / (1 / (B * C) + 1 / (D * W)), [Limit(B, (D,))], B * C, {1 / (D * W)}, 1 / (1 + B * C / (D * W))),
    # Max: an argument that vanishes beside another never wins
    (sp.Max(B * D, D * F, evaluate=False), [SMALL_B], D * F, {B * D}, None),
    (sp.Min(B * D, D * F, evaluate=False), [SMALL_B], B * D, {D * F}, None),
    (sp.Max(X - 1, 1, evaluate=False), [LONG_X], X, {-ONE, ONE}, None),
    # terms that cancel leave the next ones
    (X / (X - 1) - 1, [LONG_X], 1 / X, {-ONE}, 1 / (1 - 1 / X)),
    (X + sp.log(X, 2), [LONG_X], X, {sp.log(X, 2)}, 1 + sp.log(X, 2) / X),
    (sp.log(X - 1) * V, [LONG_X], V * sp.log(X), {-ONE}, None),
]


@pytest.mark.parametrize(("expr", "limits", "near", "dropped", "ratio"), TABLE, ids=range(len(TABLE)))
def test_leading_terms_dropped_terms_and_ratio(expr, limits, near, dropped, ratio):
    found = approximate(expr, limits)
    assert found.exact == expr
    assert found.approximate == near
    assert set(found.dropped) == dropped
    assert ratio is None or sp.cancel(found.ratio - ratio) == 0
    assert found.limits == tuple(limits)


def test_an_all_to_all_over_a_long_ring_takes_a_quarter_of_the_array():
    found = approximate(V * sp.floor(X / 2) * sp.ceiling(X / 2) / (X**2 * W), [LONG_X])
    assert found.approximate == V / (4 * W)
    # over 7 chips: floor and ceiling of 7/2 are 3 and 4
    assert [each.subs(X, 7) for each in found.dropped] == [V * 3 / (98 * W), -V * 4 / (98 * W)]
    assert found.ratio.subs(X, 7) == sp.Rational(48, 49)
    assert found.error.subs(X, 7) == sp.Rational(-1, 49)


def test_a_long_axis_is_not_longer_than_a_transfer():
    """X >> 1 says that X - 1 is about X; whether X hops take longer than V/W is another question."""
    found = approximate(sp.Max(V * (X - 1) / (X * W), X * T_hop / 2), [LONG_X])
    assert found.approximate == sp.Max(V / W, X * T_hop / 2)
    serial = approximate(V * (X - 1) / (X * W) + X * T_hop / 2, [LONG_X])
    assert serial.approximate == V / W + X * T_hop / 2
    assert approximate(B * D * (X - 1) + D * F, [LONG_X]).approximate == B * D * X + D * F


def test_two_axes_keep_both_of_their_times():
    """FSDP over X and tensor parallelism over Y: neither time vanishes beside the other."""
    expr = b * B * D * (Y - 1) / (X * Y * W) + b * D * F * (X - 1) / (X * Y * W)
    found = approximate(expr, [LONG_XY])
    assert found.approximate == b * B * D / (X * W) + b * D * F / (Y * W)
    assert set(found.dropped) == {-b * B * D / (X * Y * W), -b * D * F / (X * Y * W)}


def test_the_error_is_the_distance_of_the_ratio_from_one():
    found = approximate(2 * B * D * F / (b * (B * D + B * F + D * F)), [SMALL_B])
    assert found.error == -B * (D + F) / (B * D + B * F + D * F)


def test_a_relation_is_approximated_on_both_sides_before_it_is_solved():
    question = Relation(4 * B * D * F / (X * C), ">=", 2 * b * D * F * (X - 1) / (X * W))
    near, (left, right) = approximate_relation(question, [LONG_X])
    assert near == Relation(4 * B * D * F / (X * C), ">=", 2 * b * D * F / W)
    assert left.dropped == ()
    assert left.ratio == 1
    assert right.dropped == (-2 * b * D * F / (X * W),)


@pytest.mark.parametrize(
    ("expr", "limits", "words"),
    [
        (B * D + B * F, [SMALL_B], "no term of B*D + B*F is small"),
        (B * X + D, [Limit(B, (D,)), LONG_X], "no term of B*X + D is small"),
        # B << X holds for a long X while B stays what it is
        (B * F + D, [LONG_X, Limit(B, (X,))], "is small beside another"),
        (B + D + F, [Limit(B, (D,)), Limit(D, (F,)), Limit(F, (B,))], "contradict each other"),
        (X + D, [LONG_X, Limit(X, (D,)), Limit(D, (X,))], "contradict each other"),
        (B * X - D - B, [Limit(B, (D,)), LONG_X], "which of"),
        (B + D, [Limit(B, (D,)), Limit(D, (B,))], "contradict each other"),
        (B + D, [Limit(B, ())], "needs a large side"),
        (B + D, [Limit(D + F, (B,))], "no symbol of D + F can move alone"),
        (sp.ceiling(B / 128) + B, [Limit(B, (D,))], "is small beside another"),
    ],
)
def test_what_the_limits_do_not_decide_is_refused(expr, limits, words):
    with pytest.raises(UndecidedError) as caught:
        approximate(expr, limits)
    assert words in str(caught.value)


def test_a_relation_without_small_terms_is_refused():
    with pytest.raises(UndecidedError, match="B << D, F"):
        approximate_relation(Relation(B * D, ">", B * F), [SMALL_B])


# ---------------------------------------------------------------- random expressions

SYMBOLS = (B, D, F, X, Y, C)
LIMITS = (
    [SMALL_B],
    [LONG_X],
    [LONG_XY],
    [Limit(B, (D,)), LONG_X],
    [Limit(B, (D,)), Limit(D, (F,))],
    [LONG_X, Limit(B, (X, F))],
)


@st.composite
def monomials(draw):
    factors = draw(st.lists(st.sampled_from(SYMBOLS), min_size=1, max_size=3))
    powers = draw(st.lists(st.sampled_from([-1, 1, 2]), min_size=3, max_size=3))
    return draw(st.integers(1, 9)) * sp.Mul(*(s**p for s, p in zip(factors, powers, strict=False)))


@st.composite
def expressions(draw):
    """Quotients and roots of posynomials, times (X - 1)/X, in a Max."""

    def total():
        return sp.Add(*draw(st.lists(monomials(), min_size=1, max_size=4)))

    expr = total() / total()
    kind = draw(st.sampled_from(["plain", "root", "ring", "sum", "max"]))
    if kind == "root":
        return sp.sqrt(expr)
    if kind == "ring":
        return expr * (X - 1) / X
    if kind == "sum":
        return expr + total() * (X - 1) / X
    if kind == "max":
        return sp.Max(expr, total(), evaluate=False)
    return expr


def _approached(limits, rates, size, by_growing):
    """Return a point near the limit, got to by small left sides or by large right ones; each limit has its own rate."""
    point = {name: sp.Rational(3 + 2 * n, 7 - n) for n, name in enumerate(SYMBOLS)}
    for limit, rate in zip(limits, rates, strict=False):
        tiny = sp.Rational(1, size**rate)
        if limit.small == 1:
            point.update({each: point[each] / tiny for each in limit.large})
    for limit, rate in list(zip(limits, rates, strict=False))[:: 1 if by_growing else -1]:
        tiny = sp.Rational(1, size**rate)
        if limit.small != 1 and by_growing:
            point.update({each: max(point[each], point[limit.small] / tiny) for each in limit.large})
        elif limit.small != 1:
            point[limit.small] = min([point[each] for each in limit.large] + [sp.S.One]) * tiny
    return point


@settings(derandomize=True, deadline=None, max_examples=150)
@given(expressions(), st.sampled_from(LIMITS), st.lists(st.integers(1, 3), min_size=2, max_size=2), st.booleans())
def test_the_ratio_is_exact_over_approximate_and_tends_to_one(expr, limits, rates, by_growing):
    try:
        found = approximate(expr, limits)
    except UndecidedError:
        return
    distances = []
    for size in (10**4, 10**8):
        point = _approached(limits, rates, size, by_growing)
        exact, near = found.exact.xreplace(point), found.approximate.xreplace(point)
        assert abs((found.ratio.xreplace(point) * near / exact - 1).evalf(30)) < 1e-25
        distances.append(abs((exact / near - 1).evalf(30)))
        assert abs((found.error.xreplace(point) - (exact / near - 1)).evalf(30)) < 1e-20
    assert distances[1] < 1e-2
    assert distances[1] <= distances[0]


# B << D, F by rates of B, D and F: small B, large D and F, or both, however fast
RATES = [(a, c, d) for a in (0, 1, 5) for c in (0, 1, 5) for d in (0, 1, 5) if a + c and a + d]


def _vanishes_beside(term, other):
    ratio = sp.cancel(term / other).as_powers_dict()
    return all(ratio.get(B, 0) * a - ratio.get(D, 0) * c - ratio.get(F, 0) * d > 0 for a, c, d in RATES)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(monomials(), min_size=2, max_size=6))
def test_a_term_goes_exactly_if_it_vanishes_however_the_limit_is_approached(terms):
    expr = sp.Add(*terms)
    terms = sp.Add.make_args(expr)
    wanted = sp.Add(*(each for each in terms if not any(_vanishes_beside(each, other) for other in terms)))
    try:
        assert approximate(expr, [SMALL_B]).approximate == wanted
    except UndecidedError:
        assert wanted == expr


@pytest.mark.parametrize(
    ("expr", "limits", "near"),
    [
        # D << F says nothing of B, so D*F stays beside B*F
        (B * D + D * F + B * F, [Limit(D, (F,))], D * F + B * F),
        (B * D + D * F + B * F, [Limit(B, (D,))], B * D + D * F),
        (B * D / X + D * F + B * F / X, [Limit(B / X, (D, F))], D * F),
        (B * D / X + D * F + B * F / X, [Limit(D, (F, B / X))], B * F / X),
        (B * D + C * F, [Limit(B * D, (F,))], C * F),
        (B * C + D * F, [Limit(B * D, (F,))], None),
        (B * D + F, [Limit(B * D, (F,))], F),
        (1 / B + 1 / B**2 + 1 / D, [SMALL_B], 1 / B + 1 / B**2),
    ],
)
def test_only_what_the_limit_itself_makes_small_is_dropped(expr, limits, near):
    if near is None:
        with pytest.raises(UndecidedError, match="is small beside another"):
            approximate(expr, limits)
    else:
        assert approximate(expr, limits).approximate == near


def test_thousands_of_terms_take_linear_time():
    names = [symbol(f"n{i}") for i in range(4000)]
    spent = {}
    for count in (400, 4000):
        expr = sp.Add(*(B * each for each in names[:count]), *(D * each for each in names[:count]))
        gc.collect()  # not in the middle of either
        gc.disable()
        start = time.process_time()
        found = approximate(expr, [Limit(B, (D,))])
        spent[count] = time.process_time() - start
        gc.enable()
        assert len(found.dropped) == count
    assert spent[4000] < 40 * spent[400]  # ten times as many; squares would be a hundred times
