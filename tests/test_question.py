"""The main job: programs of the issue's kinds, their collectives, crossovers and numbers on chips.

Numbers in these tables are the printed ones (source beside them), or follow from the spec sheet by hand.
"""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
import sympy as sp

from symscale.derivation import Question, derive, verify
from symscale.derivation.step import doubled
from symscale.errors import StepError, SymscaleError
from symscale.notation.formula import parse_assignments, parse_formula
from symscale.report import json as as_json
from symscale.solve.relation import Relation, sign_of_number

MLP = "In[{i}] * W_in[{a}] * W_out[{o}] -> Out[{r}]"
DP = "In[B_X, D] * W_in[D, F] * W_out[F, D] -> Out[B_X, D]"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
FSDP3 = "In[B_XYZ, D] * W_in[D_XYZ, F] * W_out[F, D_XYZ] -> Out[B_XYZ, D]"
TP = "In[B, D_Y] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D_Y]"
TP_FULL = "In[B, D] * W_in[D, F_Y] * W_out[F_Y, D] -> Out[B, D]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
PODS = "In[B_{P,X}, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_{P,X}, D]"


def ask(program: str, **options):
    sizes = options.pop("sizes", "")
    return derive(Question(program, values=parse_assignments(sizes) if sizes else {}, **options))


def equal(found: sp.Expr, stated: str) -> bool:
    """Compare two formulas at exact points."""
    other = parse_formula(stated).expr
    for seed in (3, 7, 11):
        names = sorted(found.free_symbols | other.free_symbols, key=str)
        point = {s: sp.Rational(seed + 5 * n, 1 + n) for n, s in enumerate(names)}
        if sign_of_number(found.xreplace(point), other.xreplace(point)) != 0:
            return False
    return True


# program, options, unknown, border in general form, number; sources: "How To Scale Your Model" chapters 1, 3, 5
THRESHOLDS = [
    ("x[B,D] * W[D,F] -> y[B,F]", {"on": "tpu-v5e"}, "B", "b*C/(2*W_hbm)", "240.24"),
    ("x[B,D] * W[D,F] -> y[B,F]", {"on": "tpu-v5e", "dtype": "int8"}, "B", "b*C/(2*W_hbm)", "240.24"),
    ("bf16 x[B,D] * int8 W[D,F] -> y[B,F]", {"on": "tpu-v5e"}, "B", "b_W*C/(2*W_hbm)", "120.12"),
    ("x[B,D] * W[D,F] -> y[B,F]", {"on": "h100"}, "B", "b*C/(2*W_hbm)", "295.22"),
    (FSDP, {"on": "tpu-v5p"}, "B/X", "b*C/(2*W_ici)", "2550"),
    (FSDP, {"on": "tpu-v5p", "axes": {"X": sp.Integer(3)}}, "B/X", "b*C/(6*W_ici)", "850"),
    (FSDP3, {"on": "tpu-v5p"}, "B/(X*Y*Z)", "b*C/(6*W_ici)", "850"),
    ("h[tokens_X, d_model] * U[d_model_X, ff] * V[ff, d_model_X] -> o[tokens_X, d_model]",
     {"on": "tpu-v5p"}, "tokens/X", "b*C/(2*W_ici)", "2550"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "options", "unknown", "border", "number"), THRESHOLDS)
def test_threshold(program, options, unknown, border, number):
    solve = unknown.split("/")[0]
    found = ask(program, solve=solve, passes="forward", **options)
    headline = found.crossovers[found.headline]
    assert headline.headline.unknown == parse_formula(unknown).expr
    assert equal(headline.threshold, border)
    assert float(headline.value) == pytest.approx(float(number), rel=2e-5)


def test_data_parallel_waits_for_its_gradients_only():
    found = ask(DP, solve="B", on="tpu-v5p")
    assert [each.passes for each in found.crossovers if each.resource == "ici"] == ["backward", "both"]
    backward, both = (each for each in found.crossovers if each.resource == "ici")
    assert equal(backward.threshold, "b*C/(2*W_ici)")
    assert backward.value == 2550
    assert both.value == 1700  # 2/3 of C/W: the sums over both passes


def test_two_chips_share_one_link():
    found = ask(
        "A[I, J_X] * B[J_X, K] -> C[I, K]",
        mesh={"X": sp.Integer(2)},
        solve="J",
        on="tpu-v5e",
        passes="forward",
    )
    headline = found.crossovers[found.headline]
    assert equal(headline.threshold, "b*C/W_link")
    assert float(headline.value) == pytest.approx(8755.56, abs=0.01)


def test_tensor_parallel_limit():
    found = ask(TP, solve="Y", on="tpu-v5p", passes="forward", sizes="F=28672")
    headline = found.crossovers[found.headline]
    case = headline.headline.cases[0]
    assert case.intervals[0].lo == 0
    assert equal(case.intervals[0].hi, "2*F*W_ici/(b*C)")
    assert 11 < headline.value < 12  # "11 to 12"-way for F = 28,672


MIX = {"axes": {"X": parse_formula("M_X").expr, "Y": parse_formula("M_Y").expr}, "passes": "forward"}
NUMBERS = "F=32768, B=48000, N_chips=64"


@pytest.mark.parametrize(
    ("overlap", "factor", "number", "loss", "both"),
    [("max", 1, 99.2, 16.8, max), ("axes-serial", 4, 396.9, 1.2, lambda a, b: a + b)],
)
def test_fsdp_with_tensor_parallelism(overlap, factor, number, loss, both):
    mesh = {"minimize": "X", "subject_to": "X*Y = N", "solve": "B", "overlap": overlap}
    found = ask(MIXED, **MIX, **mesh)
    assert equal(found.optimum.point, "sqrt(B*N_chips*M_X/(F*M_Y))")
    headline = found.crossovers[found.headline]
    assert headline.headline.unknown == parse_formula("B/N_chips").expr
    assert equal(headline.threshold, f"{factor}*(b*C/(2*W_ici))**2/(M_X*M_Y*F)")

    on_chip = ask(
        MIXED,
        axes={"X": sp.Integer(2), "Y": sp.Integer(1)},
        passes="forward",
        on="tpu-v5p",
        sizes=NUMBERS,
        **mesh,
    )
    assert float(on_chip.optimum.number) == pytest.approx(13.69, abs=0.01)
    assert float(on_chip.crossovers[on_chip.headline].value) == pytest.approx(number, abs=0.1)
    best, _, lost = on_chip.optimum.integers[0]
    assert best == 16
    assert float(100 * on_chip.optimum.in_limit[16]) == pytest.approx(loss, abs=0.06)
    # in units of b*D/(64*W_ici): (Y - 1) shards of 2*B, and (X - 1) of 2*F over two physical axes
    spent = [both(2 * 48000 * (64 / x - 1), 32768 * (x - 1)) for x in (16, *(1 + n / 1000 for n in range(63001)))]
    assert float(lost) == pytest.approx(spent[0] / min(spent) - 1, abs=2e-4)


@pytest.mark.parametrize(("overlap", "whole"), [("max", "8, 16, 32"), ("axes-serial", "8, 16")])
def test_feasible_meshes_at_a_batch(overlap, whole):
    found = ask(MIXED, axes={"X": sp.Integer(2), "Y": sp.Integer(1)}, passes="forward", on="tpu-v5p", sizes=NUMBERS,
                solve="X", subject_to="X*Y = N", overlap=overlap)  # fmt: skip
    lines = [line for step in found.derivation.steps for line in step.lines if "divisors of 64" in str(line)]
    assert lines[0][-1].endswith(whole)


def test_pods_over_the_data_centre_network():
    found = ask(PODS, solve="B", on="tpu-v5p", axes={"P": "dcn"})
    backward = next(each for each in found.crossovers if (each.passes, each.resource) == ("backward", "dcn"))
    assert backward.headline.unknown == parse_formula("B/P").expr
    assert equal(backward.threshold, "b*C/(2*W_dcn)")
    assert backward.value == 73440
    assert backward.headline.unit == "tokens per pod"


def kinds(found, which):
    return [
        (each.collective.kind, each.collective.axes, each.collective.value)
        for each in found.layer.costs[which].transfers
    ]


def test_collectives_of_the_strategies():
    fsdp = ask(FSDP)
    assert kinds(fsdp, "forward") == [("AllGather", ("X",), "W_in"), ("AllGather", ("X",), "W_out")]
    assert sorted(kinds(fsdp, "backward")) == [
        ("AllGather", ("X",), "W_in"),
        ("AllGather", ("X",), "W_out"),
        ("ReduceScatter", ("X",), "dW_in"),
        ("ReduceScatter", ("X",), "dW_out"),
    ]
    dp = ask(DP)
    assert kinds(dp, "forward") == []
    assert sorted(kinds(dp, "backward")) == [("AllReduce", ("X",), "dW_in"), ("AllReduce", ("X",), "dW_out")]
    tp = ask(TP)
    assert kinds(tp, "forward") == [("AllGather", ("Y",), "In"), ("ReduceScatter", ("Y",), "Out")]
    assert kinds(tp, "backward") == [("AllGather", ("Y",), "dOut"), ("ReduceScatter", ("Y",), "dIn")]
    whole = ask(TP_FULL)
    assert kinds(whole, "forward") == [("AllReduce", ("Y",), "Out")]
    assert kinds(whole, "backward") == [("AllReduce", ("Y",), "dIn")]


@pytest.mark.parametrize(
    ("declared", "backward", "update"),
    [
        (
            "state W_in[D_X, F]; state W_out[F, D_X]",
            [],
            ["AllGather", "AllGather", "ReduceScatter", "ReduceScatter"],
        ),
        (
            "grad W_in[D_X, F]; grad W_out[F, D_X]",
            ["ReduceScatter", "ReduceScatter"],
            ["AllGather", "AllGather"],
        ),
    ],
)
def test_zero_stages_move_the_same_bytes_as_data_parallelism(declared, backward, update):
    zero, plain = ask(f"{DP}; {declared}"), ask(DP)
    assert sorted(kind for kind, _, _ in kinds(zero, "backward")) == backward
    assert sorted(kind for kind, _, _ in kinds(zero, "update")) == update

    def moved(found):
        return sp.Add(*(cost.comm_bytes().get("X", 0) for cost in found.layer.costs.values()))

    assert sp.expand(moved(zero) - moved(plain)) == 0


def test_existence_condition_and_relative_error_of_the_roofline():
    found = ask("x[B,D] * W[D,F] -> y[B,F]", solve="B", passes="forward")
    exact, near = found.crossovers[0].answers
    enough, never = exact.cases
    assert enough.when[0].op == ">"
    assert equal(enough.when[0].lhs / enough.when[0].rhs, "2*D*F*W_hbm/((D+F)*b*C)")
    assert equal(enough.intervals[0].lo, "b*C*D*F/(2*D*F*W_hbm - b*C*(D+F))")
    assert never.intervals == ()
    assert near.assumptions == ("B << D, F",)
    ratio = next(e.rhs for s in found.derivation.steps for e in s.equations if str(e.lhs) == "ratio")
    assert equal(ratio, "1/(1 - b*C/(2*W_hbm)*(1/D + 1/F))")


@pytest.mark.parametrize(
    ("program", "intensity"),
    [
        ("x[B,D] * W[D,F] -> y[B,F]", "2*B*D*F/(b*(B*D + D*F + B*F))"),
        ("x[N] * y[N] -> z[]", "2*N/(b*(2*N + 1))"),
        ("x[B,D] * W[B,D,F] -> y[B,F]", "2*D*F/(b*(D + D*F + F))"),
    ],
)
def test_arithmetic_intensity(program, intensity):
    found = ask(program, passes="forward")
    stated = next(e.rhs for s in found.derivation.steps for e in s.equations if str(e.lhs) == "intensity")
    assert equal(stated, intensity)


@pytest.mark.parametrize("program", [DP, FSDP, TP, MIXED, PODS, "x[B,D] * W[D,F] -> y[B,F]"])
def test_every_step_is_checked_and_every_mutant_is_caught(program):
    found = ask(program, solve="B", on="tpu-v5p", axes={"P": "dcn"} if program == PODS else {})
    for step in found.derivation.steps:
        assert verify(step, seed=5)
        for at in range(len(step.equations)):
            with pytest.raises(StepError):
                verify(doubled(step, at), seed=5)


@pytest.mark.parametrize("options", [{}, {"on": "tpu-v5p"}, {"mesh": {"X": sp.Integer(16)}, "on": "tpu-v5p"}])
def test_json_is_versioned_and_reads_back(options):
    document = json.loads(as_json(ask(FSDP, solve="B", **options)))
    assert document["schema"] == "symscale.derive/1.1"
    headline = document["crossovers"][document["headline"]]
    assert headline["form"] == ("exact" if "mesh" in options else "approx")
    for each in document["passes"].values():
        for text in (
            each["flops"],
            each["hbm_bytes"],
            *each["comm_bytes"].values(),
            *each["times"]["axes"].values(),
        ):
            parse_formula(text)
        for collective in each["collectives"]:
            assert collective["kind"] in ("AllGather", "ReduceScatter")
            parse_formula(collective["bytes"])
    for each in document["crossovers"]:
        for text in (each["lhs"], each["rhs"], each["unknown"]):
            parse_formula(text)
        for case in each["cases"]:
            for interval in case["intervals"]:
                parse_formula(interval["lo"])
    if options.get("on") and "mesh" not in options:
        assert Fraction(headline["value"]) == 2550
        assert headline["unit"] == "tokens per chip"


def test_own_letters_ranks_and_three_axes():
    program = """
        h[tokens_{data,seq}, width_{tp}] -> x[tokens_{data,seq}, width_{tp}]
        u[tokens_{data,seq}, ff_{tp}] = silu(x * W_g[width_{data}, ff_{tp}]) .* (x * W_u[width_{data}, ff_{tp}])
        y[tokens_{data,seq}, width_{tp}] = x + u * W_d[ff_{tp}, width_{data}]
    """
    found = ask(program, solve="tokens", on="tpu-v5p")
    gathered = [value for kind, axes, value in kinds(found, "forward") if kind == "AllGather" and axes == ("data",)]
    assert gathered == ["W_g", "W_u", "W_d"]
    assert found.headline is not None
    assert all(verify(step) for step in found.derivation.steps)


def test_attention_as_einsums():
    program = """
        Q[B_X, T, K_Y, G, H] * K[B_X, S, K_Y, H] -> A[B_X, T, S, K_Y, G]
        P = softmax_S(A); P * V[B_X, S, K_Y, H] -> O[B_X, T, K_Y, G, H]
    """
    found = ask(program, solve="T")
    flops = found.layer.costs["forward"].total_flops
    assert equal(flops, "4*B*T*S*K*G*H/(X*Y)")
    assert equal(found.layer.costs["backward"].total_flops, "8*B*T*S*K*G*H/(X*Y)")
    assert kinds(found, "forward") == kinds(found, "backward") == []


def test_solving_for_hardware():
    found = ask(FSDP, solve="W_ici", on="tpu-v5p", passes="forward")
    headline = found.crossovers[found.headline]
    assert equal(headline.threshold, "b*C*X/(2*B)")


@pytest.mark.parametrize("options", [{"passes": "sideways"}, {"overlap": "never"}, {"solve": "Q"}])
def test_refusals_name_the_options(options):
    with pytest.raises(SymscaleError) as caught:
        ask(FSDP, **options)
    assert caught.value.hint


def test_relation_keeps_its_strictness():
    assert Relation(sp.Integer(1), ">=", sp.Integer(1)).holds({})
    assert not Relation(sp.Integer(1), ">", sp.Integer(1)).holds({})


def test_choice_points_price_both_ways():
    found = ask("A[I, J_X] * B[J, K] -> C[I, K]", passes="forward")
    step = next(each for each in found.derivation.steps if each.title == "A choice for C")
    gather, reduce = step.equations
    assert equal(gather.rhs, "b*I*J")
    assert equal(reduce.rhs, "2*b*I*K")
    condition = next(part for part in step.lines[-1] if isinstance(part, Relation))
    assert equal(condition.lhs / condition.rhs, "J/(2*K)")
    small = ask("A[I, J_X] * B[J, K] -> C[I, K]", passes="forward", sizes="I=1000, J=8000, K=1000")
    assert kinds(small, "forward") == [("AllReduce", ("X",), "C")]


def test_uneven_sizes_are_padded_and_said():
    options = {"mesh": {"X": sp.Integer(3)}, "passes": "forward", "sizes": "B=1000"}
    found = ask("x[B_X, D] * W[D, F] -> y[B_X, F]", **options)
    assert "B = 1000 over 3 chips is padded to 1002, 334 on a chip" in found.derivation.steps[0].reason
    assert equal(found.layer.costs["forward"].total_flops, "668*D*F")
    assert all(verify(step) for step in found.derivation.steps)


@pytest.mark.parametrize(
    ("program", "unknown", "limits"),
    [
        ("x[B, D] * W[D, F] -> y[B, F]", "B", ("B << D, F",)),
        ("In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]", "B", ("B/X << D, F",)),
        ("In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]", "D", ("D << B/X, F",)),
        ("x[B_X, D] * W[D, F_Y] -> y[B_X, F_Y]", "B", ("B/X << D, F/Y",)),
        ("Q[B, T, K, G, H] * K[B, S, K, H] -> A[B, T, S, K, G]", "T", ("T*G << H, S",)),
    ],
)
def test_the_default_limit_against_hbm_asks_no_more_than_it_needs(program, unknown, limits):
    found = ask(program, solve=unknown, passes="forward")
    memory = next(each for each in found.crossovers if each.resource == "hbm")
    assert memory.headline.assumptions == limits
