"""Optima: closed forms of geometric programs, certified iteration, and whole numbers with their losses."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symscale.errors import UndecidedError
from symscale.solve import Relation, best_integers, crossover, integers_in, minimise
from symscale.vocabulary import symbol

B, D, F, X, Y, Z, N, C, W = map(symbol, ["B", "D", "F", "X", "Y", "Z", "N_chips", "C", "W_ici"])
a, b, c, M_X, M_Y = map(symbol, ["a", "b", "c", "M_X", "M_Y"])
CHIPS = Relation(X * Y, "==", N)
# FSDP over X and tensor parallelism over Y on N chips: bytes of the activations and of the weights
ACTIVATIONS, WEIGHTS = B * D / (X * M_Y), D * F / (Y * M_X)
V5P = {B: 48000, F: 32768, N: 64, M_X: 2, M_Y: 1, D: 1}


def largest(*args):
    return sp.Max(*args, evaluate=False)


@pytest.mark.parametrize("objective", [ACTIVATIONS + WEIGHTS, largest(ACTIVATIONS, WEIGHTS)])
def test_the_best_mesh_for_fsdp_and_tensor_parallelism(objective):
    """X_opt = sqrt(B*N*M_X/(F*M_Y)), whether the two axes communicate at once or in turn: 13.7 on v5p."""
    found = minimise(objective, (X, Y), CHIPS)
    assert found.exact
    assert sp.powsimp(found.point[X] / sp.sqrt(B * N * M_X / (F * M_Y))) == 1
    assert sp.powsimp(found.point[X] * found.point[Y] / N) == 1
    assert found.point[X].subs(V5P).evalf(4) == pytest.approx(13.69, abs=0.01)
    terms = 2 if objective.is_Add else 1
    assert sp.powsimp(found.value / (terms * D * sp.sqrt(B * F / (N * M_X * M_Y)))) == 1


@pytest.mark.parametrize(
    ("objective", "loss"), [(largest(ACTIVATIONS, WEIGHTS), 0.1685), (ACTIVATIONS + WEIGHTS, 0.01215)]
)
def test_16_by_4_is_the_best_whole_mesh_with_its_loss(objective, loss):
    numbers = objective.subs(V5P)
    best, second, *_ = best_integers(numbers, (X, Y), Relation(X * Y, "==", sp.Integer(64)))
    assert best[0] == {X: 16, Y: 4}
    assert float(best[2]) == pytest.approx(loss, rel=1e-3)
    assert second[0] == {X: 8, Y: 8}


def test_the_batch_bound_at_the_optimum_under_both_overlaps():
    """B/N > 4*alpha**2/(M_X*M_Y*F) if the axes take turns, alpha**2/(M_X*M_Y*F) if they overlap; b = 2 bytes."""
    math = 4 * B * D * F / (N * C)
    for objective, factor in ((ACTIVATIONS + WEIGHTS, 4), (largest(ACTIVATIONS, WEIGHTS), 1)):
        spent = minimise(4 * objective / W, (X, Y), CHIPS).value
        solution = crossover(math, ">", spent, B / N)
        ((interval,),) = [case.intervals for case in solution.cases]
        assert sp.powsimp(interval.lo / (factor * (C / W) ** 2 / (M_X * M_Y * F))) == 1
        assert interval.lo_open
        assert interval.hi is sp.oo


CLOSED = [
    (a * X + b / X, (X,), {X: sp.sqrt(b / a)}, 2 * sp.sqrt(a * b)),
    (a * X + b / X + c, (X,), {X: sp.sqrt(b / a)}, 2 * sp.sqrt(a * b) + c),
    (W * (a * X + b / X), (X,), {X: sp.sqrt(b / a)}, 2 * W * sp.sqrt(a * b)),
    (a * X**2 + b / X, (X,), {X: (b / (2 * a)) ** sp.Rational(1, 3)}, None),
    (X + Y + c / (X * Y), (X, Y), {X: c ** sp.Rational(1, 3), Y: c ** sp.Rational(1, 3)}, 3 * c ** sp.Rational(1, 3)),
    (largest(a * X, b / X), (X,), {X: sp.sqrt(b / a)}, sp.sqrt(a * b)),
    (largest(a * X, b / X, c), (X,), {X: sp.sqrt(b / a)}, largest(c, sp.sqrt(a * b))),
    (D * largest(a * X, b / X), (X,), {X: sp.sqrt(b / a)}, D * sp.sqrt(a * b)),
    (largest(2 * X, 3 / (X * Y), Y), (X, Y), {X: 6 ** sp.Rational(1, 3) / 2, Y: 6 ** sp.Rational(1, 3)}, None),
    (largest(a * X, 2 * a * X, b / X), (X,), {X: sp.sqrt(b / (2 * a))}, sp.sqrt(2 * a * b)),
]


@pytest.mark.parametrize(("objective", "variables", "point", "value"), CLOSED, ids=lambda each: str(each)[:30])
def test_closed_forms(objective, variables, point, value):
    found = minimise(objective, variables)
    assert found.exact
    for name, place in point.items():
        assert sp.powsimp(found.point[name] / place, force=True) == 1
    numbers = {name: sp.Rational(n + 2, 3) for n, name in enumerate((a, b, c, D, W))}
    at = objective.subs({**numbers, **{k: v.subs(numbers) for k, v in found.point.items()}})
    assert abs((at - found.value.subs(numbers)).evalf(30)) < 1e-25
    assert value is None or abs((found.value - value).subs(numbers).evalf(30)) < 1e-25


def test_three_axes_share_the_chips():
    for combine in (sp.Add, largest):
        found = minimise(combine(a / X, b / Y, c / Z), (X, Y, Z), Relation(X * Y * Z, "==", N))
        assert sp.powsimp(found.point[X] ** 3 * b * c / (N * a**2)) == 1
        assert sp.powsimp(sp.Mul(*found.point.values()) / N) == 1


def test_more_terms_in_one_variable_by_the_derivative():
    found = minimise(2 * X**2 + 3 * X + 5 / X, (X,))
    assert found.exact
    assert abs((4 * found.point[X] + 3 - 5 / found.point[X] ** 2).evalf(30)) < 1e-25
    assert float(found.value) == pytest.approx(float(2 * found.point[X] ** 2 + 3 * found.point[X] + 5 / found.point[X]))


@pytest.mark.parametrize(
    ("objective", "variables", "constraint", "words"),
    [
        (a / X, (X,), None, "no minimum"),
        (largest(a / X, b / X**2), (X,), None, "only falls with X"),
        (largest(a * X, b * X**2), (X,), None, "only rises with X"),
        (B * D, (X,), None, "does not depend on X"),
        (a / X - X, (X,), None, "not a positive monomial"),
        (X + Y, (X, Y), None, "no minimum"),
        (a * X**2 + b * X + c / X, (X,), None, "no closed form"),
        (a * X + Y + b / X + c / Y + X * Y, (X, Y), None, "give numbers for a, b, c"),
        (largest(a * X, b / X, c / X**2), (X,), None, "depends on the other symbols"),
        (largest(a * X + 1, b / X), (X,), None, "give numbers for a, b"),
        (X + Y, (X, Y), Relation(X * Y, ">", N), "not an equality"),
        (X + Y, (X, Y), Relation(X + Y, "==", N), "not a product of powers"),
        (X + Y + 1 / X, (X, Y), Relation(a, "==", N), "not a product of powers"),
        (X + 2 * Y + X * Y + X**2 * Y, (X, Y), None, "no minimum"),
    ],
    ids=lambda each: str(each)[:25],
)
def test_what_has_no_minimum_or_no_closed_form_is_refused(objective, variables, constraint, words):
    with pytest.raises(UndecidedError) as caught:
        minimise(objective, variables, constraint)
    assert words in str(caught.value)


# ---------------------------------------------------------------- random programs

powers = st.sampled_from([-2, -1, sp.Rational(-1, 2), 0, sp.S.Half, 1, 2])
numbers = st.integers(1, 60)
places = st.lists(st.fractions(min_value="1/9", max_value=9), min_size=2, max_size=2)


@st.composite
def posynomials(draw, names, most):
    count = draw(st.integers(len(names) + 1, most))
    return [draw(numbers) * sp.Mul(*(name ** draw(powers) for name in names)) for _ in range(count)]


def _is_least(objective, found, names, moves):
    for move in moves:
        factors = [sp.Rational(part.numerator, part.denominator) for part in move]
        other = {name: found.point[name] * factor for name, factor in zip(names, factors, strict=False)}
        assert objective.xreplace(other).evalf(30) >= (found.value * (1 - found.gap)).evalf(30) * (
            1 - sp.Float(1e-27, 30)
        )


@settings(derandomize=True, deadline=None, max_examples=40)
@given(posynomials((X,), 4), st.sampled_from([sp.Add, largest]), st.lists(places, min_size=4, max_size=4))
def test_no_other_place_is_better_in_one_variable(terms, combine, moves):
    objective = combine(*dict.fromkeys(terms))
    try:
        found = minimise(objective, (X,))
    except UndecidedError:
        slopes = {sp.sign(sp.degree(term**2 * X**8, X) - 8) for term in terms}
        assert not {1, -1} <= slopes
        return
    assert abs((objective.xreplace(found.point) / found.value - 1).evalf(30)) < 1e-20
    _is_least(objective, found, (X,), moves)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(posynomials((X, Y), 5), st.lists(places, min_size=4, max_size=4))
def test_no_other_place_is_better_in_two_variables(terms, moves):
    objective = sp.Add(*terms)
    try:
        found = minimise(objective, (X, Y))
    except UndecidedError:
        return
    assert found.gap < sp.Rational(1, 10**20)
    assert abs((objective.xreplace(found.point) / found.value - 1).evalf(30)) < 1e-20
    _is_least(objective, found, (X, Y), moves)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(posynomials((X,), 3), posynomials((X,), 3), posynomials((X,), 2), st.lists(places, min_size=4, max_size=4))
def test_no_other_place_is_better_for_a_max_of_sums(first, second, third, moves):
    objective = largest(sp.Add(*first), sp.Add(*second)) + sp.Add(*third)
    try:
        found = minimise(objective, (X,))
    except UndecidedError:
        return
    _is_least(objective, found, (X,), moves)


# ---------------------------------------------------------------- whole numbers


def test_whole_numbers_in_an_answer():
    """Case D02: powers of two that divide 4096 between 755.56 and 2352.94."""
    from symscale.solve import Interval

    interval = Interval(sp.Rational("755.56"), True, sp.Rational("2352.94"), True)
    assert integers_in(interval, divides=4096, powers_of_two=True) == [1024, 2048]
    assert integers_in(interval, divides=4096) == [1024, 2048]
    assert len(integers_in(interval)) == 2352 - 755


def test_borders_count_only_where_they_are_closed():
    solution = crossover(X, ">=", 3 * a, X)
    assert integers_in(solution, {a: 2}, divides=24) == [6, 8, 12, 24]
    assert integers_in(crossover(X, ">", 3 * a, X), {a: 2}, divides=24) == [8, 12, 24]


@pytest.mark.parametrize(
    ("options", "words"),
    [({}, "infinitely many"), ({"values": {}}, "no number for a")],
)
def test_endless_and_open_answers_are_refused(options, words):
    with pytest.raises(UndecidedError, match=words):
        integers_in(crossover(X, ">=", 3 * a, X), **{"values": {a: 2}, **options})


def test_whole_meshes_of_three_axes():
    ranked = best_integers(8 / X + 4 / Y + 2 / Z, (X, Y, Z), Relation(X * Y * Z, "==", sp.Integer(64)))
    assert len(ranked) == 28
    assert ranked[0][0] == {X: 8, Y: 4, Z: 2}
    assert ranked[0][2] == 0
    assert all(row[2] >= 0 for row in ranked)


def test_candidates_of_ones_own():
    ranked = best_integers(6 * X + 100 / X, X, candidates=[1, 4, 8])
    assert [point[X] for point, _, _ in ranked] == [4, 8, 1]
    assert ranked[0][1] == 49


def test_integers_need_numbers_and_a_total():
    with pytest.raises(UndecidedError, match="no number for a"):
        best_integers(a * X + 1 / X, X, candidates=[1, 2])
    with pytest.raises(UndecidedError, match="divisors of what"):
        best_integers(X + 1 / X, X)
    with pytest.raises(UndecidedError, match="need a constraint"):
        best_integers(X + Y + 1 / (X * Y), (X, Y), candidates=[1, 2])
