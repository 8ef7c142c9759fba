"""What is given beside a program: names with two meanings, meshes of so many chips, placements, limits."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.derivation import Question, derive, verify
from symscale.derivation.comparison import compare
from symscale.derivation.layer import MOST_AXES
from symscale.derivation.stack import tabulated
from symscale.errors import LayoutError
from symscale.machine import machine, machines
from symscale.notation.elaborate import elaborate
from symscale.notation.formula import parse_assignments, parse_formula
from symscale.report import text as as_text
from symscale.vocabulary import TABLE, symbol

FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
ONE = "x[B, D] * W[D, F] -> y[B, F]"


def ask(program: str, *, sizes: str = "", **options):
    options.setdefault("passes", "forward")
    answer = derive(Question(program, values=parse_assignments(sizes) if sizes else {}, **options))
    for step in answer.derivation.steps:
        verify(step)
    return answer


# dimensions that formulas mean something else by, and those that look like it
WRITTEN = [
    *((name, f"{name}_dim") for name in ("C", "b", "W_hbm", "alpha", "N_chips", "FLOPs", "b_x", "C_int8")),
    *((name, name) for name in ("C_in", "W_heads", "T_q", "M_tok", "b_kv", "D", "S")),
]


@pytest.mark.parametrize(("name", "own"), WRITTEN)
def test_a_dimension_keeps_its_name_unless_formulas_mean_something_else(name, own):
    found = ask(f"x[B, {name}] * W[{name}, F] -> y[B, F]", solve=own, on="tpu-v5e")
    assert found.layer.program.sizes[name] == symbol(own)
    said = f"The dimension {name} is written {own} here, because {name} is "
    assert (said in str(found.derivation.steps[0].reason)) is (name != own)
    plain = ask("x[B, D] * W[D, F] -> y[B, F]", solve="D", on="tpu-v5e")
    swapped = [each.threshold.xreplace({symbol("D"): symbol(own)}) for each in plain.crossovers]
    assert [each.threshold for each in found.crossovers] == swapped


def test_every_rate_of_the_vocabulary_is_kept_apart():
    rates = [name for name, row in TABLE.items() if row.unit]
    program = elaborate(f"x[B, {', '.join(rates)}] -> y[B, {', '.join(rates)}]")
    assert {str(program.sizes[name]) for name in rates} == {f"{name}_dim" for name in rates}


def test_a_made_name_keeps_clear_of_the_user_s_own():
    program = elaborate("x[C, C_dim] * W[C_dim, F] -> y[C, F]")
    assert len(set(program.sizes.values())) == 3


def test_numbers_and_links_go_by_the_written_name():
    program = "x[B, C] * W[C, F] -> y[B, F]"
    linked = ask(program, solve="B", sizes="C_dim=4*F")
    assert linked.layer.program.sizes["C"] == 4 * symbol("F")
    numeric = ask(program, solve="B", sizes="C_dim=4096, F=8192", on="tpu-v5e", exact=True)
    same = ask(ONE, solve="B", sizes="D=4096, F=8192", on="tpu-v5e", exact=True)
    assert numeric.crossovers[0].value == same.crossovers[0].value
    rows = []
    for text, names in ((program, "C_dim=4*F, F=512"), (ONE, "D=4*F, F=512")):
        table = tabulated(ask(text, sizes=names, on="tpu-v5e"), "B=64:128:*2")
        rows.append([(row.math, row.hbm) for row in table.rows["forward"]])
    assert rows[0] == rows[1]
    padded = ask("x[B, C_X] * W[C_X, F] -> y[B, F]", solve="B", sizes="C_dim=4096", mesh={"X": sp.Integer(3)})
    assert "padded to 4098" in str(padded.derivation.steps[0].reason)


def test_compare_reads_the_written_name_too():
    one, two = "x[B, C] * W[C, F] -> y[B, F]", "x[B_X, C] * W[C, F] -> y[B_X, F]"
    found = compare(Question(one, solve="B", passes="forward", values=parse_assignments("C_dim=4*F")), two)
    assert [side.layer.program.sizes["C"] for side in found.sides] == [4 * symbol("F")] * 2


def test_an_axis_called_n_is_no_number_of_chips():
    found = ask("x[B_N, D] * W[D_N, F] -> y[B_N, F]", solve="N")
    assert found.crossovers[0].headline.unknown == symbol("N")


def test_linked_mesh_axes_are_put_into_each_other():
    program = elaborate(MIXED, mesh={"X": 2 * symbol("Y"), "Y": sp.Integer(4)})
    assert program.mesh == {"X": 8, "Y": 4}


@pytest.mark.parametrize("overlap", ["max", "axes-serial"])
def test_whole_meshes_are_compared_however_their_number_is_given(overlap):
    asked = {"minimize": "X", "solve": "B", "on": "tpu-v5p", "overlap": overlap}
    literal = ask(MIXED, subject_to="X*Y = 64", sizes="B=48000, F=32768", **asked)
    named = ask(MIXED, subject_to="X*Y = N", sizes="B=48000, F=32768, N_chips=64", **asked)
    assert len(literal.optimum.integers) == 7
    losses = [[(at, pytest.approx(loss)) for at, _, loss in each.optimum.integers] for each in (literal, named)]
    assert losses[0] == [(at, loss) for at, _, loss in named.optimum.integers]


def test_only_the_divisors_of_the_chips_left_over_are_compared():
    program = "In[B_XZ, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_XZ, D_Y]"
    found = ask(program, minimize="X", subject_to="X*Y*Z = 64", mesh={"Z": sp.Integer(2)}, on="tpu-v5p",
                sizes="B=48000, F=32768, D=8192")  # fmt: skip
    assert {at for at, _, _ in found.optimum.integers} == set(sp.divisors(32))


@pytest.mark.parametrize("number", ["X*Y = 64", "X*Y = N"])
def test_solving_for_an_axis_lists_the_divisors(number):
    sizes = "B=48000, F=32768, D=8192" + (", N_chips=64" if "N" in number else "")
    found = ask(MIXED, solve="X", subject_to=number, on="tpu-v5p", sizes=sizes)
    assert "divisors of 64" in as_text(found.derivation)


def test_an_axis_of_one_chip_takes_no_time():
    found = ask(MIXED, mesh={"Y": sp.Integer(1)})
    assert found.times["forward"].comms == ask(FSDP).times["forward"].comms


def test_a_size_with_a_number_is_no_limit():
    found = ask("x[B, D_X] * W[D_X, F] -> y[B, F]", solve="B", sizes="D=4096", mesh={"X": sp.Integer(3)})
    limits = {name for each in found.crossovers for name in each.headline.assumptions}
    assert limits == {"B << F"}


def test_an_axis_with_a_number_stays_out_of_a_constraint():
    by_mesh = ask(MIXED, solve="B", subject_to="X*Y = 64", mesh={"X": sp.Integer(4)}, exact=True)
    by_set = ask(MIXED, solve="B", subject_to="X*Y = 64", sizes="X=4", exact=True)
    plain = ask(MIXED, solve="B", mesh={"X": sp.Integer(4), "Y": sp.Integer(16)}, exact=True)
    assert by_mesh.crossovers[0].threshold == plain.crossovers[0].threshold
    assert by_set.crossovers[0].threshold.xreplace({symbol("X"): sp.Integer(4)}) == plain.crossovers[0].threshold


def test_more_physical_axes_than_a_torus_has_is_said_without_a_chip():
    three, six = ({"X": sp.Integer(n), "Y": sp.Integer(n)} for n in (1, 3))
    assert "physical axes of a torus" not in str(ask(MIXED, axes=three).derivation.steps[0].reason)
    said = str(ask(MIXED, axes=six).derivation.steps[0].reason)
    assert f"Together they take 6 physical axes of a torus; chips have at most {MOST_AXES}." in said


def test_no_torus_of_the_library_has_more_axes():
    assert max(len(network.pod) for name in machines() for network in machine(name).networks) == MOST_AXES


@pytest.mark.parametrize("chip", ["tpu-v5p", "tpu-v5e"])
def test_a_placement_is_refused_just_above_what_the_chip_has(chip):
    most = len(machine(chip).network("ici").pod)
    ask(FSDP, axes={"X": sp.Integer(most)}, on=chip)
    with pytest.raises(LayoutError, match=f"takes {most + 1} physical axes"):
        ask(FSDP, axes={"X": sp.Integer(most + 1)}, on=chip)
    # an axis of one chip takes none
    ask(MIXED, axes={"X": sp.Integer(most)}, mesh={"Y": sp.Integer(1)}, on=chip)


def approximation(found, resource):
    steps = [each for each in found.derivation.steps if each.kind == "approximate" and resource in each.title]
    return "".join(map(str, steps[0].reason))


def test_limits_that_stand_instead_of_the_usual_ones_say_so():
    assert "In the limit D ≪ F, instead of the usual B ≪ D, F, drop" in approximation(
        ask(ONE, solve="B", assume="D << F"), "HBM"
    )
    usual = ask(FSDP, solve="B")
    assert "instead" not in approximation(usual, "ICI")
    assert "instead" not in approximation(ask(FSDP, solve="B", assume="X >> 1"), "ICI")


def test_limits_without_effect_say_so():
    found = ask(FSDP, solve="B", assume="B << D")
    exact = next(each for each in found.derivation.steps if each.kind == "solve" and "ICI" in each.title)
    assert str(exact.reason[-1]) == " The limit B ≪ D drops nothing here."


def test_short_names_are_read_in_limits():
    limited = ask(FSDP, solve="B", subject_to="X = N", assume="N >> 1")
    assert limited.crossovers


def test_hops_of_a_long_ring_have_an_answer():
    found = ask(FSDP, solve="X", latency=True, sizes="B=65536, D=8192, F=32768, T_hop=1/1000000", on="tpu-v5p")
    ici = next(each for each in found.crossovers if each.resource == "ici")
    assert [each.form for each in ici.answers] == ["approx"]
    assert ici.headline.assumptions == ("X >> 1",)
    said = approximation(found, "ICI")
    assert "floor(X/2)" in said
    wanted = parse_formula("min(2*B*W_ici/(b*C), 2*sqrt(B*D*F/(C*T_hop)))").expr
    assert ici.threshold == wanted
    # the relation itself, with its floor, decides alike within two chips of the border
    point = {symbol(k): v for k, v in parse_assignments("B=65536,D=8192,F=32768,T_hop=1/1000000,b=2").items()}
    point |= {symbol(k): v for k, v in machine("tpu-v5p").constants("bf16").items() if k in ("C", "W_ici")}
    border = int(ici.value)
    assert ici.relation.holds({**point, symbol("X"): sp.Integer(border - 2)})
    assert not ici.relation.holds({**point, symbol("X"): sp.Integer(border + 3)})
