"""What readers asked about the book's answers (A), what worked solutions (B) and calculators (C) got wrong, decided.

A01, A19, A20, A28, B01 and A11 are in `test_solve_crossover.py`, A05, A07, A08 and A33 in `test_collectives.py`, B03 in
`test_quantity.py`, B07 in `test_numbers.py`, B26 in `test_machine.py`, B27 in `test_parallelism.py`.

C01, C02, C04, C06, C08, C09, C18, C28, C32, C35 and C36 are in `test_models_costs.py`, C20, C22, C25 and C32 in
`test_training_memory.py`, C24, C29 and C31 in `test_collectives.py`, C34 is here.
"""

from __future__ import annotations

import pytest
import sympy as sp
from answers import Row, check, read, rows, same, written

from symscale.array import ELEMENT_BYTES
from symscale.derivation import Builder
from symscale.derivation.limits import read_limits
from symscale.machine import machine
from symscale.notation.numbers import format_quantity
from symscale.quantity import parse_quantity
from symscale.solve import approximate, crossover
from symscale.transformer import active_forms, model, parameter_count, read_config, values
from symscale.transformer.serving_prefill import evicted_per_step, finished_per_second
from symscale.vocabulary import symbol

V5E, V5P, H100 = machine("tpu-v5e"), machine("tpu-v5p"), machine("h100")


@pytest.mark.parametrize("row", rows("disputes"), ids=lambda row: row.id)
def test_disputes(row: Row) -> None:
    check(row)


def test_A04_the_network_takes_the_longest() -> None:
    names = ("hosts-load", "corner-gathers", "corner-multiplies")
    times = {name: written(f"tpus/{name}").steps[-1].equations[-1].rhs for name in names}
    times["HBM"] = read("2^34") / V5E.constants()["W_hbm"]
    assert max(times, key=lambda name: times[name]) == "corner-gathers"


def test_A09_kilobytes_are_of_two_kinds() -> None:
    whole = parse_quantity("512 KiB").value
    assert whole == parse_quantity("524.288 kB").value == 524_288
    assert parse_quantity("524 KiB").value != whole
    assert format_quantity(whole, "B", 6) == "524.288 kB"


def test_A22_more_batch_means_more_data_parallelism() -> None:
    best = next(e.rhs for step in written("training/mixed").steps for e in step.equations if e.lhs == symbol("X"))
    for name, grows in (("B", True), ("F", False)):
        assert (best.subs(symbol(name), 4 * symbol(name)) / best == 2) is grows


def test_A35_what_a_layer_of_experts_sends_each_way() -> None:
    tokens, width, experts = read("128/8"), 7168, 64
    d = Builder("experts")
    volume = experts * 2 * tokens * width
    one_way = d.collective("AllToAll", volume, {"Z": experts}, axes={"Z": "ici"}, copies=8).received
    assert one_way == 1_806_336
    assert 2 * one_way == 3_612_672
    # the reader's formula leaves out the part that stays, and the way back
    assert one_way / (8 * 2 * tokens * width) == 1 - sp.Rational(1, experts)


def test_A36_matrix_units_are_32_times_as_fast() -> None:
    cores = {symbol(name): value for name, value in V5P.cores.items()}
    vector = read("N_core*N_lane*f_clock").xreplace(cores)
    assert f"{float(V5P.peak('bf16') / vector):.1f}" == "32.0"


# entry, dtypes of tokens and weights, peak, critical batch; the rule of weight bits over token bits gives 480 in int8
PAIRS = [
    ("bf16/bf16", "bf16", "bf16", "240.24"),
    ("int8 weights", "bf16", "int8", "120.12"),
    ("int8/int8", "int8", "int8", "240.24"),
    ("int4 weights", "bf16", "int4", "60.06"),
]


@pytest.mark.parametrize(("key", "tokens", "weights", "batch"), PAIRS, ids=[row[0] for row in PAIRS])
def test_A38_critical_batches_by_dtype(key: str, tokens: str, weights: str, batch: str) -> None:
    d = Builder(key)
    layer = d.program(f"{tokens} x[B, D] * {weights} W[D, F] -> y[B, F]", passes=["forward"])
    t = d.times(layer)
    d.crossover(t.math, ">=", t.hbm, "B", resource="hbm", passes="forward")
    found = d.evaluate(on=V5E).value
    assert found is not None
    assert f"{float(found):.2f}" == batch
    by_bits = V5E.peak(tokens) / V5E.constants()["W_hbm"] * ELEMENT_BYTES[weights] / ELEMENT_BYTES[tokens]
    assert (f"{float(by_bits):.2f}" == batch) is (key != "int8/int8")


def test_B02_which_rewriting_keeps_a_time() -> None:
    exact, printed = read("B*F*(2*D - 1)"), read("2*B*D*F")
    assert same(approximate(exact, read_limits("D >> 1")).approximate, printed)
    rewritten, times = read("B*F*(D - 1)/(2*10^14)"), exact / read("394*10^12")
    long = [approximate(each, read_limits("D >> 1")).approximate for each in (rewritten, times)]
    assert long[0] / long[1] == sp.Rational(985, 1000)
    assert (rewritten / times).subs(symbol("D"), 1) == 0


def test_B05_copied_constants_are_off_by_more_than_a_percent() -> None:
    sparse, width = H100.peak("bf16", sparse=True), H100.constants()["W_hbm"]
    intensity = sparse / 2 / width
    assert f"{float(intensity):.1f}" == "295.4"
    for peak, shown in (("1919*10^12/2", "286.4"), ("10^15", "298.5")):
        copied = read(peak) / width
        assert f"{float(copied):.1f}" == shown
        assert abs(copied / intensity - 1) > sp.Rational(1, 100)
    assert abs(H100.peak("bf16") / width / intensity - 1) < sp.Rational(1, 1000)


INVENTED = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "vocab_size": 32128,
    "num_hidden_layers": 64,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "intermediate_size": 16384,
    "num_local_experts": 16,
    "num_experts_per_tok": 2,
    "tie_word_embeddings": True,
}


def test_B18_a_forward_pass_takes_two_per_active_parameter() -> None:
    config = read_config(INVENTED, "invented")
    met = {part: form.xreplace(values(config)) for part, form in active_forms(config).items()}
    # the router and the norms are left out of the question
    active = sum(number for part, number in met.items() if part not in ("router", "norms"))
    assert active == 31_270_109_184
    assert f"{float(2 * active):.4g}" == "6.254e+10"
    without = active - read("4096*32128")
    assert f"{float(6 * without):.5g}" == "1.8683e+11"  # the solver's: training, and no logits


def test_B21_tokens_that_leave_the_cache_in_a_step() -> None:
    point = {symbol("B"): 32, symbol("T_prompt"): 8192, symbol("T_gen"): 4096}
    assert evicted_per_step().subs(point) == 96
    each_step = finished_per_second() * symbol("T_step")
    assert each_step.subs(point) == sp.Rational("0.0078125")


def test_B25_a_step_of_15_milliseconds_on_64_chips() -> None:
    d = Builder("405B")
    layer = d.program(
        "bf16 In[B, D_Y] * int8 W_in[D, F_Y] * int8 W_out[F_Y, D] -> Out[B, D_Y]",
        dtype="bf16",
        passes=["forward"],
    )
    t = d.times(layer)
    loads = approximate(t.hbm, read_limits("B*Y << F; B << D")).approximate
    sends = approximate(t.comms, read_limits("Y >> 1")).approximate
    known = {**dict(layer.typed.numbers), symbol("Y"): sp.Integer(64), symbol("F"): sp.Integer(53248)}
    known |= {symbol(name): V5E.constants()[name] for name in ("W_hbm", "W_ici")}
    (batches,) = crossover(sends.xreplace(known), "<=", loads.xreplace(known), symbol("B")).cases
    batch = sp.floor(batches.intervals[0].hi)
    assert batch == 45  # 52 with a W_hbm/W_ici of 8 instead of 9.1
    held = read("(405*10^9 + B*258048*S)/(64*W_hbm)").xreplace({**known, symbol("B"): batch})
    (lengths,) = crossover(held, "<=", read("15/1000"), symbol("S")).cases
    assert sp.floor(lengths.intervals[0].hi) == 32_913


def test_B31_a_layer_of_tensor_parallelism() -> None:
    # 16 million tokens on 512 GPUs, 8 of them share a batch; D = 8192, F = 28672
    sizes = {"B": 16 * 10**6 // 64, "D": 8192, "F": 28672, "C": 989 * 10**12}
    gated = "x[B, D] * W_1[D, F_Y] -> g[B, F_Y]; x * W_2[D, F_Y] -> u[B, F_Y]; g .* u -> h[B, F_Y]; "
    d = Builder("layer")
    layer = d.program(f"{gated} h * W_3[F_Y, D] -> y[B, D]", mesh={"Y": 8}, passes=["forward", "backward"])
    known = {symbol(name): sp.Integer(value) for name, value in sizes.items()}
    spent = d.times(layer, "both").math.xreplace(known)
    assert f"{float(spent) * 1e3:.1f}" == "133.6"
    assert f"{float(spent / 3) * 1e3:.2f}" == "44.53"
    displayed = read("6*31250*8192*3584/(989*10^12*8)")
    assert f"{float(displayed) * 1e3:.4f}" == "0.6958"  # shown as 7 ms, and F and the tokens are divided by 8 too often
    summed = d.collective("AllReduce", "M_array", {"Y": "Y"}, axes={"Y": "ici"}).limit
    moved = {symbol("M_array"): 32768 * 8192 * 2, symbol("W_ici"): 450 * 10**9}
    assert f"{float(summed.subs(moved)) * 1e3:.3f}" == "2.386"


def test_B32_gradients_of_a_whole_model() -> None:
    gradients = 2 * parameter_count(model("llama3-8b"))
    assert f"{gradients / 1e9:.2f}" == "16.06"
    d = Builder("gradients")
    summed = d.collective("AllReduce", "M_array", {"X": "X"}).limit
    spent = summed.subs({symbol("M_array"): gradients, symbol("W_ici"): 50 * 10**9})
    assert f"{float(spent):.3f}" == "0.642"
    config = model("llama3-8b")
    assert config.mlp is not None
    two_matrices = 2 * 2 * config.L * config.D * config.mlp.F
    assert f"{two_matrices / 1e9:.1f}" == "7.5"  # without the gates, attention and the tables


@pytest.mark.parametrize(
    ("moved", "most"), [(sp.Rational(4, 5), sp.Rational(5, 4)), (sp.Rational(1, 5), sp.Integer(5))]
)
def test_C34_infinitely_fast_arithmetic_leaves_the_data_movement(moved: sp.Rational, most: sp.Rational) -> None:
    """A share x moves data, and 1 - x is arithmetic that gets s times as fast: below 1/x, so 5 needs 20 %, not 80 %."""
    spent = moved + (1 - moved) / symbol("s")

    def speeds(gain: sp.Rational) -> list[sp.Expr]:
        found = crossover(spent, "<=", 1 / gain, symbol("s"))
        return [each.lo for case in found.cases for each in case.intervals]

    assert speeds(sp.Rational(99, 100) * most) == [99 * (most - 1)]
    assert speeds(most) == []
