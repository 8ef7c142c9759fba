"""The best mesh: which passes, in which limits, inside which bounds; whole meshes by the exact form."""

from __future__ import annotations

import json

import pytest
import sympy as sp

from symscale import Question, derive, parse_assignments, parse_formula, report
from symscale.errors import SymscaleError

MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
THREE = "In[B_X, D_Y] * W_in[D_X, F_Z] * W_out[F_Z, D_X] -> Out[B_X, D_Y]"


def ask(program: str, sizes: str = "", axes: str = "", **options: object):
    return derive(Question(program, values=parse_assignments(sizes), axes=parse_assignments(axes), **options))  # type: ignore[arg-type]


def best(**options: object):
    return ask(MIXED, minimize="X", subject_to="X*Y = 64", on="tpu-v5p", axes="X=2,Y=1", **options)  # type: ignore[arg-type]


def test_a_mesh_has_at_least_one_chip_on_each_axis() -> None:
    """F = 32768, B = 100: the formula says X = 0.625; by the exact form X = 1 costs the least of the whole meshes."""
    found = best(sizes="F=32768,B=100", passes="forward").optimum
    assert found.number == sp.Rational(5, 8)
    exact = {x: max(2 * 100 * (64 // x - 1), 32768 * (x - 1)) for x in sp.divisors(64)}
    ranked = [at for at, _, _ in found.integers]
    assert ranked == sorted(exact, key=exact.__getitem__)
    numbers = {parse_formula("B").expr: sp.Integer(100), parse_formula("F").expr: sp.Integer(32768)}
    assert not all(each.holds(numbers) for each in found.when)
    words = str(best(sizes="F=32768,B=100", passes="forward"))
    assert "X = 0.625 is no mesh: it is less than one chip." in words


def test_conditions_keep_the_best_size_inside_the_mesh() -> None:
    found = ask(MIXED, minimize="X", subject_to="X*Y = N", passes="forward").optimum
    for sizes in ("B=7,F=3,N_chips=4", "B=1,F=300,N_chips=4", "B=900,F=3,N_chips=4"):
        point = {parse_formula(name).expr: value for name, value in parse_assignments(sizes).items()}
        inside = 1 <= found.point.xreplace(point) <= 4
        assert all(each.holds(point) for each in found.when) == bool(inside)


def test_both_passes_are_minimised_together() -> None:
    found = ask(MIXED, minimize="X", subject_to="X*Y = N", solve="B")
    assert found.optimum.passes == "both"
    at = found.optimum.point.xreplace({parse_formula("N_chips").expr: sp.Integer(64)})
    # forward: 2 shards of B*D against 2 of D*F; backward: 2 against 4, so 4*B/X = 6*F*X/N at the best X
    assert sp.simplify(at**2 - parse_formula("64*4*B/(6*F)").expr) == 0
    headline = found.crossovers[found.headline]
    assert headline.passes == "both"
    assert headline.headline.form == "approx"
    assert headline.headline.assumptions[0] == "X, Y >> 1"
    assert len(headline.headline.assumptions) == 1 + len(found.optimum.when)
    document = json.loads(report.json(found))["optimum"]
    assert (document["passes"], document["assumptions"]) == ("both", ["X, Y >> 1"])
    assert len(document["when"]) == 2
    assert not any("the exact answer" in step.title.lower() for step in found.derivation.steps)


def test_without_a_closed_form_whole_meshes_are_compared() -> None:
    sizes = {"B": 65536, "D": 8192, "F": 32768}
    asked = {"minimize": "X", "subject_to": "X*Y = 64", "on": "h100:64", "passes": "forward"}
    found = ask(MIXED, sizes=",".join(f"{k}={v}" for k, v in sizes.items()), **asked)  # type: ignore[arg-type]
    spent = found.times["forward"].comms
    numbers = {"b": 2, "W_nvlink": 450 * 10**9, "W_node": 400 * 10**9, **sizes}
    known = {parse_formula(name).expr: sp.Integer(value) for name, value in numbers.items()}
    times = {
        x: spent.xreplace({**known, parse_formula("X").expr: x, parse_formula("Y").expr: sp.Integer(64) / x})
        for x in map(sp.Integer, sp.divisors(64))
    }
    assert times[found.optimum.point] == min(times.values())
    with pytest.raises(SymscaleError, match="no number for B, D, F"):
        ask(MIXED, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("program", "options", "words"),
    [
        (THREE, {"minimize": "X", "subject_to": "X*Y*Z = N"}, r"--mesh Z=4"),
        (THREE, {"minimize": "X", "subject_to": "X*Y*Z = N", "on": "tpu-v5p"}, r"--mesh Z=4"),
    ],
)
def test_more_axes_are_refused_with_a_way_out(program: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(SymscaleError) as caught:
        ask(program, **options)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "Max(" not in str(caught.value)


def test_a_linked_axis_is_long_itself() -> None:
    """With Y = 64/X the limit X >> 1 alone would leave less than nothing of Y - 1."""
    asked = {"solve": "X", "passes": "forward", "on": "tpu-v5p", "axes": "X=2,Y=1", "sizes": "B=48000,F=32768"}
    linked = ask(MIXED, mesh=parse_assignments("Y=64/X", counts=True), **asked)  # type: ignore[arg-type]
    eliminated = ask(MIXED, subject_to="X*Y = 64", **asked)  # type: ignore[arg-type]
    for one, other in zip(linked.crossovers[:1], eliminated.crossovers[:1], strict=True):
        assert [each.cases for each in one.answers] == [each.cases for each in other.answers]
    assert "-b*B*D" not in str(linked).partition("the answer for")[2]
    assert all(step.checks for step in linked.derivation.steps)
