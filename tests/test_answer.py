"""Answers and numbers: the Answer step, cases and times in numbers, units, and unknowns that cannot be asked for.

Numbers follow by hand from the spec sheets: TPU v5p has C = 459e12, W_hbm = 2.8e12, W_ici = 1.8e11 (both directions).
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest
import sympy as sp

from symscale.cli import main
from symscale.derivation import Question, derive, verify
from symscale.derivation.proof import Longest, Settled
from symscale.derivation.step import doubled
from symscale.errors import StepError, SymscaleError
from symscale.notation.formula import parse_assignments, parse_formula
from symscale.report import json as as_json
from symscale.report import latex, markdown, text
from symscale.vocabulary import symbol

FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
PODS = "In[B_{P,X}, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_{P,X}, D]"
DOT = "x[B, D] * x[B, D] -> y[B]"
ONE = "x[B, D] * W[D, F] -> y[B, F]"
ONE_SPLIT = "x[B_X, D] * W[D_X, F] -> y[B_X, F]"
TWO = "x[B_X, D] * W1[D, F_Y] * W2[F_Y, D] -> y[B_X, D]"


def ask(program: str, *, sizes: str = "", mesh: str = "", **options):
    return derive(
        Question(
            program,
            values=parse_assignments(sizes) if sizes else {},
            mesh=parse_assignments(mesh) if mesh else {},
            **{"passes": "forward", **options},
        )
    )


def steps_named(found, start: str):
    return [each for each in found.derivation.steps if each.title.startswith(start)]


def shown(found, start: str) -> str:
    """Return the steps whose title begins so, as text in one line."""
    last = replace(found.derivation, steps=tuple(steps_named(found, start)))
    return re.sub(r"\s+", " ", text(last))


# program, options, what the Answer says in this order
ANSWERS = [
    # the network condition lacks the unknown: HBM is the headline, and the network is said beside it
    (FSDP, {"solve": "D"}, ["against HBM", "D >= b*C/(2*W_hbm)",
                            "against ICI (for X ≫ 1) does not depend on D: it needs B/X >= b*C/(2*W_ici)."]),
    (FSDP, {"solve": "D", "on": "tpu-v5p"}, ["D >= 163.929 elements", "it needs B/X >= 2550."]),
    (PODS, {"solve": "D", "on": "tpu-v5p", "axes": {"P": "dcn"}, "passes": "both"},
     ["against HBM", "it needs B/(P*X) >= 2550.", "against DCN (for P, X ≫ 1) does not depend on D: it needs B/P >="]),
    # no communication at all
    (FSDP, {"solve": "B", "mesh": "X=1"}, ["against HBM", "B >= b*C/(2*W_hbm)"]),
    # whatever the unknown is
    (DOT, {"solve": "B"}, ["Nothing that binds depends on B.", "it needs D/(D + 1) >= b*C/(2*W_hbm)."]),
    (DOT, {"solve": "B", "on": "h100"}, ["Nothing that binds depends on B.", "does not depend on B: no B is enough."]),
    ("q[m, n] * q[m, n] -> y[m]", {"solve": "m", "on": "tpu-v5p"}, ["does not depend on m: no m is enough."]),
    # passes that bind together
    (TWO, {"solve": "Y", "passes": "both", "on": "tpu-v5p"},
     ["forward pass against ICI and backward pass against ICI", "If B/X >= 2550:", "Y <= 2*F*W_ici/(b*C)",
      "Y <= F/2550", "Forward pass against HBM: Y <=", "if B*D/(B + D*X) > 163.929; no Y is enough otherwise.",
      "If B/X < 2550: no Y is enough"]),
    (TWO, {"solve": "W_ici", "passes": "both"}, ["W_ici >= max(b*X*C/(2*B), b*Y*C/(2*F))"]),
    (TWO, {"solve": "W_ici", "passes": "both", "on": "tpu-v5p"}, ["W_ici >= max(4.59e14*X/B, 4.59e14*Y/F) B/s"]),
    (TWO, {"solve": "W_hbm", "on": "tpu-v5p"}, ["W_hbm >= 4.59e14*(B*D*Y + D*F*X + B*F)/(B*D*F) B/s"]),
    (PODS, {"solve": "B", "passes": "both", "on": "tpu-v5p", "axes": {"P": "dcn"}},
     ["for P, X ≫ 1;", "B/P >= max(2550*X, 73440)", "B/(P*X) >= 2550 tokens per chip.",
      "B/P >= 73,440 tokens per pod."]),
    # what another resource asks, and that it cannot be met
    (ONE_SPLIT, {"solve": "B/X", "on": "tpu-v5p", "sizes": "D=100,F=100"},
     ["; but forward pass against HBM nothing is enough.", "B/X >= 2550 tokens per chip",
      "Forward pass against HBM: no B/X is enough."]),
    # every case with its conditions
    (FSDP, {"solve": "B", "mesh": "X=1", "exact": True, "on": "tpu-v5e"},
     ["If D*F/(D + F) > 240.244:", "B >= b*D*F*C", "Answer, case 2", "Otherwise: If D*F/(D + F) <= 240.244:",
      "no B is enough"]),
    (MIXED, {"solve": "B", "on": "tpu-v5p", "axes": {"X": sp.Integer(2), "Y": sp.Integer(1)}},
     ["If F/Y >= 2550:", "B/X >= 1275 tokens per chip along X", "Otherwise: If F/Y < 2550:", "no B/X is enough"]),
    # numbers that refute the limit: D*F/(D + F) = 50 is below 163.9, and 200 at D = F = 400 is above
    (FSDP, {"solve": "B", "mesh": "X=1", "on": "tpu-v5p", "sizes": "D=100,F=100"},
     ["no B is enough", "The numbers are far from the limit B ≪ D, F: it gives B >= 163.929."]),
    (FSDP, {"solve": "B", "mesh": "X=1", "on": "tpu-v5p", "sizes": "D=400,F=400"},
     ["B >= 908.911 tokens", "The numbers are far from the limit B ≪ D, F: it gives B >= 163.929."]),
    (ONE, {"solve": "D", "on": "tpu-v5e", "sizes": "F=100"}, ["no D is enough", "far from the limit D ≪ B, F"]),
    (FSDP, {"solve": "X", "on": "tpu-v5p", "sizes": "B=100"}, ["X <= 1.03922 chips", "far from the limit X ≫ 1"]),
    # and numbers that do not
    (FSDP, {"solve": "B", "mesh": "X=1", "on": "tpu-v5p", "sizes": "D=8192,F=32768"},
     ["B >= 163.929 tokens", "Without the limit: B >= 168.134"]),
    (FSDP, {"solve": "D", "mesh": "X=16", "on": "tpu-v5p", "sizes": "B=1600"},
     ["no D is enough", "Forward pass against ICI does not depend on D: no D is enough."]),
    # an axis that is as long as the batch: a limit that drops the unknown is not taken
    (FSDP, {"solve": "B", "mesh": "X=B", "on": "tpu-v5p"}, ["B <= 1.00039 tokens", "powers of two: 1 "]),
    # whole meshes
    (TP, {"solve": "Y", "on": "tpu-v5p", "sizes": "F=28672"}, ["Y <= 11.2439 chips", "powers of two: 1, 2, 4, 8"]),
    (TP, {"solve": "Y", "on": "tpu-v5p", "sizes": "F=28672,N_chips=60"}, ["divisors of 60: 1, 2, 3, 4, 5, 6, 10"]),
    (MIXED, {"solve": "X", "subject_to": "X*Y = N", "overlap": "axes-serial", "on": "tpu-v5p",
             "axes": {"X": sp.Integer(2), "Y": sp.Integer(1)}, "sizes": "F=32000,B=48000,N_chips=64"},
     ["Without the limit: X >= 5.27942 and X <= 36.3676; whole X: 8, 16, 32.", "64: 8, 16 "]),
    # units of what is solved for
    (FSDP, {"solve": "b", "mesh": "X=16", "on": "tpu-v5p", "sizes": "B=8160"}, ["b <= 0.426667 B"]),
    (FSDP, {"solve": "W_ici", "mesh": "X=16", "on": "tpu-v5p", "sizes": "B=102000"}, ["W_ici >= 67.5 GB/s"]),
    (FSDP, {"solve": "B/N_chips", "on": "tpu-v5p"}, ["B/N_chips >= 2550 tokens per chip"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "options", "words"), ANSWERS)
def test_the_answer_says(program, options, words):
    found = ask(program, **options)
    said = shown(found, "Answer") + " "
    places = [said.find(each) for each in words]
    assert -1 not in places, said
    assert places == sorted(places), said
    for each in found.derivation.steps:
        assert verify(each, seed=3)
        for at in (n for n, equation in enumerate(each.equations) if equation.rhs != 0):
            with pytest.raises(StepError):
                verify(doubled(each, at), seed=3)


@pytest.mark.parametrize(
    ("program", "options", "resource", "unit"),
    [
        (FSDP, {"solve": "D"}, "hbm", "elements"),
        (FSDP, {"solve": "B"}, "ici", "tokens per chip"),
        (FSDP, {"solve": "B", "mesh": "X=1"}, "hbm", "tokens"),
        (FSDP, {"solve": "X"}, "ici", "chips"),
        (FSDP, {"solve": "b"}, "ici", "B"),
        (FSDP, {"solve": "C/W_ici"}, "ici", "FLOP/B"),
        (FSDP, {"solve": "N_chips"}, "ici", "chips"),
        (TP, {"solve": "F/Y"}, "ici", "elements per chip"),
        (MIXED, {"solve": "B", "axes": {"X": sp.Integer(2)}}, "ici", "tokens per chip along X"),
        (PODS, {"solve": "B", "axes": {"P": "dcn"}, "mesh": "X=1", "passes": "both"}, "dcn", "tokens per pod"),
        (PODS, {"solve": "P", "axes": {"P": "dcn"}, "mesh": "X=1", "passes": "both"}, "dcn", "pods"),
        (PODS, {"solve": "P", "axes": {"P": "ib"}, "mesh": "X=1", "passes": "both", "on": "h100"}, "ib", "nodes"),
        (DOT, {"solve": "B"}, "hbm", "tokens"),
        ("bf16 x[B, D] * int8 W[D, F] -> y[B, F]", {"solve": "b_W"}, "hbm", "B"),
        ("h[s, w] * U[w, f] -> o[s, f]", {"solve": "s"}, "hbm", "elements"),
    ],
)
def test_the_headline_is_one_whose_condition_has_the_unknown(program, options, resource, unit):
    document = json.loads(as_json(ask(program, **options)))
    headline = document["crossovers"][document["headline"]]
    assert (headline["resource"], headline["unit"]) == (resource, unit)
    assert any(step["title"] == "Answer" for step in document["steps"])


NETWORK = {"sizes": "B=16000,D=8192,F=32000", "mesh": "X=16,Y=4", "on": "tpu-v5p", "passes": "both"}
BINDS = [
    # T_math = 8*B*D*F/(64*C) >= 4*b*D*F*15/(64*W), so W >= 15*b*C/(2*B); forward asks for a tenth
    ({"solve": "W_ici"}, "W_ici", lambda: 7.5 * 2 * 459e12 / 16000),
    ({"solve": "C"}, "C", lambda: 16000 * 1.8e11 / (7.5 * 2)),
    ({"solve": "b"}, "b", lambda: 16000 * 1.8e11 / (7.5 * 459e12)),
    # one after the other: 2*b*B*D*3/64 is added to 4*b*D*F*15/64
    ({"solve": "W_ici", "overlap": "axes-serial"}, "W_ici",
     lambda: 2 * 459e12 * (2 * 3 / (8 * 32000) + 4 * 15 / (8 * 16000))),
]  # fmt: skip


@pytest.mark.parametrize(("options", "name", "number"), BINDS)
def test_the_strictest_condition_is_the_strictest_number(options, name, number):
    document = json.loads(as_json(ask(TWO, **NETWORK, **options)))
    headline = document["crossovers"][document["headline"]]
    assert (headline["pass"], headline["resource"], headline["unknown"]) == ("backward", "ici", name)
    assert float(parse_formula(headline["value"]).expr) == pytest.approx(number(), rel=1e-9)
    others = [
        float(parse_formula(each["value"]).expr)
        for each in document["crossovers"]
        if each["resource"] == "ici" and each["pass"] != "both"
    ]
    worst = max if headline["cases"][0]["intervals"][0]["hi"] is None else min
    assert worst(others) == pytest.approx(number(), rel=1e-9)


def random_sizes(names, rng):
    return {name: sp.Rational(rng.randint(1, 999), rng.choice([1, 10, 100])) + 2 for name in names}


@pytest.mark.parametrize("unknown", ["B", "X", "Y", "F", "W_ici", "C", "b"])
@pytest.mark.parametrize("exact", [True, False])
def test_a_condition_for_all_passes_holds_exactly_where_each_does(unknown, exact):
    found = ask(TWO, solve=unknown, passes="both", exact=exact)
    together = found.crossovers[found.headline].headline.solution
    assert (found.crossovers[found.headline].passes, found.crossovers[found.headline].resource) == ("all", "network")
    single = [each for each in found.crossovers if each.resource == "ici" and each.passes in ("forward", "backward")]
    names = set().union(*(each.headline.solution.relation.free_symbols for each in single))
    rng = random.Random(0)
    seen = set()
    for _ in range(40):
        point = random_sizes(sorted(names, key=str), rng)
        here = point[together.unknown]
        holds = together.contains(here, point)
        assert holds == all(each.headline.solution.relation.holds(point) for each in single)
        assert holds == together.relation.holds(point)
        seen.add(holds)
    assert seen == {True, False}


def test_a_condition_for_all_passes_in_json():
    document = json.loads(as_json(ask(TWO, solve="Y", passes="both", on="tpu-v5p")))
    headline = document["crossovers"][document["headline"]]
    assert (headline["pass"], headline["resource"], headline["form"]) == ("all", "network", "approx")
    assert headline["assumptions"] == ["X, Y >> 1"]
    assert headline["cases"][0]["when"] == ["B/X >= b*C/(2*W_ici)"]
    assert headline["cases"][0]["intervals"][0]["hi"] == "2*F*W_ici/(b*C)"
    assert headline["cases"][1]["intervals"] == []


def test_the_exact_answer_is_the_headline_where_numbers_refute_the_limit():
    document = json.loads(as_json(ask(ONE, solve="B", on="tpu-v5e", sizes="D=200,F=200")))
    headline = document["crossovers"][document["headline"]]
    assert (headline["form"], headline["assumptions"], headline["value"]) == ("exact", [], None)


@pytest.mark.parametrize(
    ("program", "options"),
    [
        (TWO, {"solve": "B", "on": "h100:1024", "mesh": "X=64,Y=16"}),
        (TWO, {"solve": "Y", "on": "h100:64", "mesh": "X=8"}),
    ],
)
def test_no_case_asks_for_what_cannot_be(program, options):
    found = ask(program, passes="both", **options)
    steps = [each for each in found.derivation.steps if each.kind == "evaluate" or each.title.startswith("Answer")]
    for step in steps:
        lows = {each.lhs: each.rhs for each in step.conditions if each.op in (">", ">=")}
        highs = {each.lhs: each.rhs for each in step.conditions if each.op in ("<", "<=")}
        for size in lows.keys() & highs.keys():
            assert lows[size] <= highs[size]


def test_what_is_solved_for_is_not_put_in():
    found = ask(TWO, solve="W_ici", on="tpu-v5p", sizes="B=16000,F=32000", mesh="X=16,Y=4")
    assert not any(line[0] == symbol("W_ici") for step in steps_named(found, "Forward pass against ICI on TPU v5p")
                   for line in step.lines)  # fmt: skip


SELF_ATTENTION = (
    "q[B, T, N, H] = x[B, T, D] * W_Q[D, N, H]; k[B, S=T, N, H] = x * W_K[D, N, H]; "
    "v[B, S=T, N, H] = x * W_V[D, N, H]; a[B, N, T, S] = q * k; o[B, T, N, H] = softmax_S(a) * v; "
    "o[B, T, N, H] * W_O[N, H, D] -> y[B, T, D]"
)
GROUPED = (
    "q[B_X, T, K, G, H] = x[B_X, T, D] * W_Q[D, K, G, H]; k[B_X, S=T, K, H] = x * W_K[D, K, H]; "
    "v[B_X, S=T, K, H] = x * W_V[D, K, H]; a[B_X, K, G, T, S] = q * k; "
    "o[B_X, T, K, G, H] = softmax_S(a) * v; o[B_X, T, K, G, H] * W_O[K, G, H, D] -> y[B_X, T, D]"
)


def test_the_distance_to_a_limit_can_be_read():
    found = ask(SELF_ATTENTION, solve="T")
    (step,) = [each for each in found.derivation.steps if each.title.endswith("how far off the limit is")]
    assert step.equations == ()
    assert verify(step)
    wrong = replace(step.proofs[0].solution, cases=step.proofs[0].solution.cases[:1])
    with pytest.raises(StepError):
        replace(step.proofs[0], solution=wrong).verify((), 0)


def test_common_factors_of_grouped_attention_cancel():
    said = str(ask(GROUPED, solve="T", passes="backward").derivation)
    assert "rhs is exactly 1 - 1/X times this" in said
    assert "T >= b*C*(X - 1)/(B*W_ici*(sqrt(2*b*G*C*(X - 1)/(B*D*W_ici*(G + 1)) + 1) + 1))" in said


def test_every_case_in_numbers_carries_its_conditions():
    found = ask(FSDP, solve="B", mesh="X=1", exact=True, on="tpu-v5e")
    first, second = steps_named(found, "Forward pass against HBM on TPU v5e")
    assert [len(each.conditions) for each in (first, second)] == [1, 1]
    assert float(first.conditions[0].rhs) == pytest.approx(240.244, abs=1e-3)
    assert (first.conditions[0].op, second.conditions[0].op) == (">", "<=")
    assert first.equations
    assert not second.equations


def test_no_whole_sizes_fit_where_nothing_is_enough():
    found = ask(FSDP, solve="B", mesh="X=B", on="tpu-v5p", exact=True)
    steps = [each for each in found.derivation.steps if each.kind == "evaluate"]
    never = [each for each in steps if ("no ", symbol("B")) == each.lines[0][:2]]
    assert never
    assert not any("powers of two" in str(line) for each in never for line in each.lines)


def test_a_case_left_out_or_changed_is_caught():
    found = ask(FSDP, solve="B", mesh="X=1", exact=True, on="tpu-v5e")
    step = steps_named(found, "Forward pass against HBM on TPU v5e")[0]
    proof = next(each for each in step.proofs if isinstance(each, Settled))
    proof.verify(step.equations, 0)
    enough, never = proof.left
    looser = replace(enough, when=(replace(enough.when[0], rhs=enough.when[0].rhs / 100),))
    for wrong in [(enough,), (never,), (replace(enough, intervals=()), never), (looser, never)]:
        with pytest.raises(StepError):
            replace(proof, left=wrong).verify(step.equations, 0)


# T_math = 4·B·D·F/(X·C), T_comms = 2·b·D·F·(15/16)/W_ici, T_hbm = b·(2·B·D/X + 2·D·F + 2·B·F/X)/W_hbm
SIZES = {"sizes": "B=48000,D=8192,F=32768", "mesh": "X=16", "on": "tpu-v5p"}


@pytest.mark.parametrize(
    ("options", "longest"), [(SIZES, "Compute"), (SIZES | {"sizes": "B=1600,D=8192,F=32768"}, "The network"),
                             ({"sizes": "B=16,D=8192,F=32768", "mesh": "X=1", "on": "tpu-v5p"}, "HBM")]
)  # fmt: skip
def test_times_in_numbers_where_everything_is_given(options, longest):
    found = ask(FSDP, **options)
    step = found.derivation.steps[-1]
    assert step.kind == "evaluate"
    sizes = {name: int(value) for name, value in parse_assignments(options["sizes"]).items()}
    batch, width, inner, chips = sizes["B"], sizes["D"], sizes["F"], int(options["mesh"][2:])
    wanted = {
        "T_math": 4 * batch * width * inner / chips / 459e12,
        "T_hbm": 4 * (batch * width / chips + width * inner + batch * inner / chips) / 2.8e12,
        "T_comms": 4 * width * inner * (chips - 1) / chips / 1.8e11,
    }
    wanted = {name: value for name, value in wanted.items() if value}
    assert {str(each.lhs): float(each.rhs) for each in step.equations} == pytest.approx(wanted, rel=1e-12)
    assert f"{longest} takes the longest" in str(step.lines)
    assert verify(step)
    proof = next(each for each in step.proofs if isinstance(each, Longest))
    shortest = min(wanted, key=wanted.__getitem__)
    word = {"T_math": "compute", "T_hbm": "HBM", "T_comms": "the network"}[shortest]
    with pytest.raises(StepError):
        replace(proof, longest=word).verify(step.equations, 0)


def test_times_are_shown_alike_in_every_format():
    found = ask(FSDP, **SIZES)
    assert "T_hbm = 559.022 µs" in text(found.derivation)
    assert r"T_\text{hbm} = 559.022\text{ }\mu\text{s}" in markdown(found.derivation)
    assert r"T_\text{hbm} &= 559.022\ \text{$\mu$s}" in latex(found.derivation)
    step = json.loads(as_json(found))["steps"][-1]
    stated = dict(each.split(" = ") for each in step["equation"])
    assert float(parse_formula(stated["T_hbm"]).expr) == pytest.approx(559.022e-6, rel=1e-6)
    assert step["units"] == ["s", "s", "s"]


@pytest.mark.parametrize("left_out", ["sizes", "mesh", "on"])
def test_no_half_numeric_times(left_out):
    options = {key: value for key, value in SIZES.items() if key != left_out}
    shown_times = [each for each in ask(FSDP, **options).derivation.steps if each.kind == "evaluate"]
    assert all(not each.rhs.free_symbols for step in shown_times for each in step.equations)
    assert not any("longest" in str(step.lines) for step in shown_times)


def test_a_stack_of_layers_in_numbers(capsys):
    with pytest.raises(SystemExit):
        main(["derive", FSDP, "--passes", "forward", "--on", "tpu-v5p", "--mesh", "X=16", "--layers", "32",
          "--set", "B=48000,D=8192,F=32768"])  # fmt: skip
    said = capsys.readouterr().out
    assert "T_math = 7.01792 ms" in said
    assert "times of 32 layers in numbers on TPU v5p" in said
    assert "T_math = 224.573 ms" in said


@pytest.mark.parametrize("unknown", ["2*B", "b*B", "B*X", "B**2", "1/B", "B/X**2", "B/2", "B+D", "2", "sqrt(B)"])
def test_only_symbols_and_ratios_are_solved_for(unknown):
    with pytest.raises(SymscaleError) as refused:
        ask(FSDP, solve=unknown, on="tpu-v5p")
    assert "neither a symbol nor a ratio" in refused.value.message
    assert "such as B/X" in refused.value.hint


@pytest.mark.parametrize(("unknown", "named"), [("B/D", "D"), ("B/(X*D)", "D"), ("B/F", "F")])
def test_a_ratio_that_leaves_its_own_symbol_on_the_right_is_refused(unknown, named):
    with pytest.raises(SymscaleError, match=f"{named} is left on the right side"):
        ask(FSDP, solve=unknown, on="tpu-v5p")


@pytest.mark.parametrize(
    ("unknown", "stated"), [("B/X", "b*C/(2*W_ici)"), ("B/b", "X*C/(2*W_ici)"), ("X/B", "2*W_ici/(b*C)")]
)
def test_a_ratio_that_decides(unknown, stated):
    found = ask(FSDP, solve=unknown)
    assert sp.cancel(found.crossovers[found.headline].threshold / parse_formula(stated).expr) == 1


def test_widths_have_their_unit():
    said = str(ask("bf16 x[B, D] * int8 W[D, F] -> y[B, F]", solve="B", on="tpu-v5p").derivation)
    assert re.search(r"b_W = 1 B\b", said)


@pytest.mark.parametrize(
    ("relation", "stated"),
    [
        ("log(x) + x >= c", "log(x) >= c - x has no closed form"),
        ("x >= c*log(x)", "c*log(x) <= x has no closed form"),
        ("a*log(x)**2 + x >= c", "log(x) does not stand alone in a*log(x)**2 + x >= c"),
    ],
)
def test_a_logarithm_without_a_closed_form_is_written_as_on_a_blackboard(relation, stated, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["solve", relation, "--for", "x"])
    assert stopped.value.code == 2
    assert stated in capsys.readouterr().err
