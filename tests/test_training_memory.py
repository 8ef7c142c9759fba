"""Memory in training in closed form: published formulas, cases that calculators got wrong, what fits, offload."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy as sp

from symscale.errors import ModelError
from symscale.transformer import catalogue, model, parameter_count, read_config, values
from symscale.transformer import pipeline as schedules
from symscale.transformer.accumulation import T_GATHER, T_WORK, best, fewest, time_of
from symscale.transformer.config import Config, validate
from symscale.transformer.fit import (
    Job,
    checked,
    fewest_chips,
    fewest_microbatches,
    largest_batch,
    largest_length,
    largest_of_family,
    largest_parameters,
    least_chips,
)
from symscale.transformer.footprint import POLICIES, footprint
from symscale.transformer.memory import ends_in_flight, in_flight, memory_forms, states
from symscale.transformer.offload import activations_bandwidth, moved, optimizer_hides
from symscale.transformer.parts import FIRST, LAST
from symscale.transformer.pipeline import MICROBATCHES, STAGES
from symscale.transformer.setting import OPTIMIZERS, Setting
from symscale.transformer.strategy import AXES, Strategy, size
from symscale.transformer.sublayers import sublayers
from symscale.vocabulary import symbol

B, T, S, D, F, L, N, K, H, V, E, k, b, m, p = map(
    symbol, ("B", "T", "S", "D", "F", "L", "N_heads", "K", "H", "V", "E", "k", "b", "m", "N_pipe")
)
t = size("tensor")
PLAIN = Setting(0, 0)
GPT = validate(replace(model("gpt3-175b"), dropout=True))


def per_layer(remat: str = "none", *, sequence: bool = False, config: Config = GPT) -> sp.Expr:
    """Return the activations of a layer for one microbatch on one stage, over s·b·h, F = 4h, a·H = h, 16 bits."""
    setting = replace(PLAIN, remat=remat, sequence=sequence)
    form = memory_forms(config, setting)["activations"]
    alone = {size(axis): sp.S.One for axis in (*AXES, "pipe") if axis != "tensor"} | {m: sp.S.One}
    layer = sp.expand(form.xreplace(alone).doit()).coeff(L)
    return sp.expand(sp.cancel(layer.subs({F: 4 * D, H: D / N, K: N, b: 2}) / (B * D)))


a, s, h = N, T, D


@pytest.mark.parametrize(
    ("remat", "sequence", "wanted"),
    [
        # Korthikanti et al. 2022, table 2
        ("none", False, 10 + 24 / t + 5 * a * s / (h * t)),
        ("none", True, 34 / t + 5 * a * s / (h * t)),
        ("selective", False, 10 + 24 / t),
        ("selective", True, 34 / t),
        ("full", False, sp.Integer(2)),
        ("full", True, 2 / t),
        # the inputs of both sublayers
        ("block", False, sp.Integer(4)),
        # both inputs, q, k, v, attention's result, the first product of the MLP; no norm's output, GELU or masks
        ("products", True, (4 + 6 + 2 + 8) / t),
    ],
)
def test_activations_of_a_layer(remat: str, sequence: bool, wanted: sp.Expr) -> None:
    found = per_layer(remat, sequence=sequence)
    assert sp.expand(found - wanted) == 0, found


def test_without_parallelism_a_layer_keeps_34_and_5as_over_h() -> None:
    assert sp.expand(per_layer().subs(t, 1) - 34 - 5 * a * s / h) == 0


def test_the_terms_of_a_layer_sum_to_34() -> None:
    """C22. s = 2048, b = 1, h = 12288, a = 96; norms count 2·s·b·h each, 4 for both of a layer."""
    numbers = {T: 2048, D: 12288, N: 96, t: 1}
    assert per_layer().subs(numbers) * 2048 * 12288 == 2868903936
    attention, mlp = sublayers(GPT)[:2]
    kept = [footprint(each, Strategy(()), remat="block").kept.subs(b, 2) for each in (attention, mlp)]
    assert sum(kept) == 4 * B * D


def test_masks_of_dropout_are_a_byte_each() -> None:
    masks = sp.expand(per_layer() - per_layer(config=model("gpt3-175b"))).subs(t, 1)
    # two of s·b·h, one of the scores, and the scores after dropout
    assert sp.expand(masks - 2 - 3 * a * s / h) == 0


def test_dropout_with_experts_is_refused() -> None:
    with pytest.raises(ModelError, match="experts"):
        validate(replace(model("mixtral-8x7b"), dropout=True))


def test_the_ends_keep_what_the_paper_counts() -> None:
    """Section 4.3 with p = 1: 4·s·b·h for the last norm and the unembedding's input, 4·s·b·v for fp32 logits."""
    forms = memory_forms(GPT, replace(PLAIN, sequence=True))
    ends = forms["activations"].xreplace({L: sp.S.Zero}) * m
    split = sp.Mul(*(size(axis) for axis in AXES if axis != "expert"))
    assert sp.expand((ends * split).subs(b, 2) - 4 * B * D) == 0
    # logits and their gradients
    assert sp.expand(forms["logits"] * m * split - 2 * 4 * B * V) == 0


# --- pipelines


@pytest.mark.parametrize("v", [2, 3, 4])
def test_interleaving_holds_1_plus_p_minus_1_over_pv(v: int) -> None:
    found = in_flight(replace(PLAIN, schedule="interleaved", chunks=v))
    many = found.xreplace({MICROBATCHES: 100 * p})
    for stages in (2, 8, 35):
        assert many.subs(p, stages) == stages * (1 + sp.Rational(stages - 1, stages * v))


@pytest.mark.parametrize(("chunks", "count", "wanted"), [(2, 64, 46), (1, 64, 32), (2, 4, 16), (1, 4, 16)])
def test_the_first_stage_holds_no_more_microbatches_than_there_are(chunks: int, count: int, wanted: int) -> None:
    """C25. p = 8 stages of 4 blocks, in units of a block. A public formula has min(m, p)·(1 + (p − 1)/(p·v)) instead.

    With m = 4 that is 23 blocks, where 4 microbatches fill no more than 4·4: the increase by chunks comes from
    microbatches that are not there. What is computed again is one block's, not that of all microbatches.
    """
    schedule = "interleaved" if chunks > 1 else "1f1b"
    held = in_flight(replace(PLAIN, schedule=schedule, chunks=chunks)).subs({p: 8, m: count})
    assert 4 * held == wanted
    working = memory_forms(GPT, replace(PLAIN, remat="block", schedule=schedule, chunks=chunks))["working set"]
    assert not working.has(p)
    assert not working.has(L)


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "zb-h1", "zb-h2", "interleaved"])
def test_microbatches_in_flight_are_those_of_the_schedule(name: str) -> None:
    chunks = 2 if name == "interleaved" else 1
    first, last = (in_flight(replace(PLAIN, schedule=name, chunks=chunks), end) for end in (FIRST, LAST))
    for stages, count in product((2, 4), (4, 8)):
        plan = schedules.schedule(name, stages, count, chunks)
        held = [schedules.in_flight(plan, stage) for stage in range(stages)]
        assert [form.subs({p: stages, m: count}) for form in (first, last)] == [held[0], held[-1]]
        assert max(held) == held[0], "no stage between the ends holds more"


def test_the_unembedding_is_held_once_where_1f1b_turns() -> None:
    assert ends_in_flight(PLAIN) == 1
    assert ends_in_flight(replace(PLAIN, schedule="interleaved", chunks=2)) == 1
    assert ends_in_flight(replace(PLAIN, schedule="gpipe")) == m
    last = schedules.schedule("interleaved", 4, 8, 2).orders[-1]
    ends = [each.kind for each in last if each.chunk == 7]
    assert max(sum({"F": 1, "B": 0, "W": -1}[kind] for kind in ends[:at]) for at in range(len(ends))) == 1


# --- states


@pytest.mark.parametrize(("zero", "wanted"), [(0, (16, 0)), (1, (4, 12)), (2, (2, 14)), (3, (0, 16))])
def test_zero_splits_states_over_replicas(zero: int, wanted: tuple[int, int]) -> None:
    """Rajbhandari et al. 2020, figure 1: 16·P, 4·P + 12·P/N, 2·P + 14·P/N, 16·P/N."""
    P, copies = symbol("P"), size("data")
    found = sp.Add(*states(P, copies, replace(PLAIN, zero=zero)).values()).subs(b, 2)
    assert sp.expand(found - P * (wanted[0] + wanted[1] / copies)) == 0
    room = symbol("M_hbm")
    others = {size(axis): 1 for axis in ("fsdp", "tensor", "pipe", "context")}
    (case,) = largest_parameters(replace(PLAIN, zero=zero)).cases
    assert sp.cancel(case.intervals[0].hi.subs({**others, b: 2}) - room / (wanted[0] + wanted[1] / copies)) == 0


def test_states_need_16_bytes_a_parameter_over_all_chips() -> None:
    (case,) = least_chips(PLAIN).cases
    assert sp.expand(case.intervals[0].lo.subs(b, 2) - 16 * symbol("P") / symbol("M_hbm")) == 0
    (case,) = least_chips(replace(PLAIN, offloaded=("gradients", "optimizer"))).cases
    assert case.intervals[0].lo.subs(b, 2) == 2 * symbol("P") / symbol("M_hbm")


def test_gradients_in_fp32_make_18_bytes() -> None:
    found = states(sp.S.One, sp.S.One, replace(PLAIN, gradients="fp32"))
    assert sp.Add(*found.values()).subs(b, 2) == 18


@pytest.mark.parametrize("name", list(catalogue()))
def test_on_one_chip_the_states_are_those_of_all_parameters(name: str) -> None:
    config = model(name)
    forms = memory_forms(config, replace(PLAIN, optimizer="adam-8bit"))
    one = {size(axis): sp.S.One for axis in (*AXES, "pipe")} | values(config) | {b: sp.Integer(2)}
    held = {part: forms[part].xreplace(one) for part in ("weights", "gradients", "optimizer")}
    count = parameter_count(config)
    assert held == {"weights": 2 * count, "gradients": 2 * count, "optimizer": OPTIMIZERS["adam-8bit"] * count}


def test_norms_are_whole_on_every_chip_of_tensor_parallelism() -> None:
    """C20. Attention and a norm over 8 chips, h = 8192: a norm divided as well is 12·2·h·(1 − 1/8) too little."""
    config = model("gpt3-175b")
    attention = sublayers(config)[0]
    own = footprint(attention, Strategy(("tensor",))).parameters
    matrices = 2 * D * H * K + 2 * D * N * H + 2 * H * K + N * H
    norm = own - matrices / t
    assert sp.expand(norm - 3 * D) == 0  # gain and bias of the norm, and the bias of the output
    gain_and_bias = 2 * D
    assert (12 * (gain_and_bias - gain_and_bias / t)).subs({D: 8192, t: 8}) == 172032


def test_experts_split_their_weights_and_not_their_tokens() -> None:
    """C32. k·s·b·h/tp elements reach the experts of a rank, however long `expert` is if its tokens grow with it."""
    config = model("deepseek-v3")
    experts = next(each for each in sublayers(config) if each.name == "experts")
    kept = footprint(experts, Strategy(("expert", "tensor")), remat="block").kept
    tokens = kept.coeff(D) / b
    one_rank = symbol("B_rank")
    per_rank = sp.cancel(tokens.subs(B, one_rank * size("expert")))
    assert sp.expand(per_rank - k * one_rank / t) == 0
    for ep in (1, 64):
        point = {one_rank: 4096, k: 8, t: 1, size("expert"): ep}
        assert (per_rank * D).subs({**point, D: 7168}) == 234881024


def test_zero_3_and_fsdp_are_one_thing() -> None:
    """Weights over `data` by ZeRO-3 lie and are gathered as those over `fsdp`, but for vectors, which fsdp copies."""
    config = model("llama3-8b")
    forms = memory_forms(config, replace(PLAIN, zero=3))
    known = {**values(config), b: 2, B: 8192, T: 8192, m: 1} | {size(a): 1 for a in (*AXES, "pipe")}
    split = {axis: {**known, size(axis): 8} for axis in ("data", "fsdp")}
    for part in ("weights", "gradients", "optimizer", "gathered weights"):
        over = {axis: float(forms[part].subs(point)) for axis, point in split.items()}
        assert over["data"] == pytest.approx(over["fsdp"], rel=2e-3)


# --- policies


@pytest.mark.parametrize("name", ["llama3-8b", "gemma2-9b", "mixtral-8x7b", "deepseek-v3", "gpt2", "gpt-oss-20b"])
def test_policies_keep_less_and_less(name: str) -> None:
    config = model(name)
    point = {**values(config), b: 2, B: 8192, T: 4096, m: 1} | {size(axis): 1 for axis in (*AXES, "pipe")}
    order = ("none", "selective", "products", "block", "full")
    assert set(order) == set(POLICIES)
    kept = [float(memory_forms(config, replace(PLAIN, remat=each))["activations"].subs(point)) for each in order]
    assert kept == sorted(kept, reverse=True)
    assert len(set(kept)) == len(kept)


@pytest.mark.parametrize("name", ["llama3-8b", "mixtral-8x7b", "deepseek-v3", "phi-2"])
def test_full_keeps_the_input_of_each_layer_and_of_the_end(name: str) -> None:
    config = model(name)
    form = memory_forms(config, replace(PLAIN, remat="full"))["activations"]
    one = {size(axis): sp.S.One for axis in (*AXES, "pipe")} | {m: sp.S.One}
    assert sp.expand(form.xreplace(one).doit() - b * B * D * (L + 1)) == 0


def test_full_runs_attention_again_for_the_input_of_the_rest() -> None:
    attention, mlp = sublayers(model("llama3-8b"))[:2]
    for each, more in ((attention, 2 * B * D * N * H), (mlp, sp.S.Zero)):
        block, full = (footprint(each, Strategy(()), remat=remat).flops["again"] for remat in ("block", "full"))
        assert sp.expand(full - block - more) == 0


def test_what_is_computed_again_lies_beside_what_is_kept() -> None:
    """Kept and made again are what selective checkpointing keeps: of a sublayer, or of a layer under `full`."""
    attention, mlp = (footprint(each, Strategy(()), remat="selective").kept for each in sublayers(GPT)[:2])
    forms = {each: memory_forms(GPT, replace(PLAIN, remat=each))["working set"] for each in ("block", "full")}
    one = {size(axis): 1 for axis in (*AXES, "pipe")} | {m: 1, D: 1024, F: 4096, N: 8, K: 8, H: 128, b: 2}
    numbers = {each: form.subs(one).subs(B, 1).subs(T, 1) for each, form in forms.items()}
    own = [each.subs(one).subs({B: 1, S: T}).subs(T, 1) for each in (attention, mlp)]
    assert numbers["block"] == max(each - 2048 for each in own)
    assert numbers["full"] == sum(own) - 2048


# --- what fits


def job(**changes: Any) -> Job:
    setting = {"tokens": 2**20, "length": 8192, **changes.pop("setting", {})}
    found = Job(model("llama3-8b"), Setting(**setting), {"fsdp": 8}, 1, sp.Integer(80 * 10**9))
    return replace(found, **changes)


@pytest.mark.parametrize("remat", ["none", "selective", "products", "full"])
@pytest.mark.parametrize(("mesh", "many"), [({"fsdp": 8}, 1), ({"fsdp": 4, "pipe": 2, "tensor": 2}, 4)])
def test_one_more_does_not_fit(remat: str, mesh: dict[str, int], many: int) -> None:
    asked = job(mesh=mesh, microbatches=many, setting={"remat": remat, "length": 2048})
    unit = asked.replicas * many * 2048
    border, whole = largest_batch(asked)
    assert border is not None

    def fits(tokens: int) -> bool:
        return bool(replace(asked, setting=replace(asked.setting, tokens=tokens)).total <= 80 * 10**9)

    assert whole % unit == 0
    assert whole == 0 or fits(whole)
    assert not fits(whole + unit)
    _, length = largest_length(asked)
    sequences = asked.setting.tokens // 2048
    tried = [
        replace(asked, setting=replace(asked.setting, length=each, tokens=each * sequences)).total <= 80 * 10**9
        for each in (length, length + mesh.get("tensor", 1))
        if each
    ]
    assert tried[-1] == sp.false
    assert length == 0 or tried[0] == sp.true


def test_fewest_microbatches_and_chips_are_the_first_that_fit() -> None:
    asked = job(setting={"remat": "none", "length": 2048})
    count = fewest_microbatches(asked)
    assert count > 1
    assert replace(asked, microbatches=count).total <= 80 * 10**9 < replace(asked, microbatches=count // 2).total
    axis, length, chips = fewest_chips(replace(asked, microbatches=4))
    assert axis == "fsdp"
    assert chips == length
    both = [replace(asked, microbatches=4, mesh={"fsdp": each}).total for each in (length, length // 2)]
    assert both[0] <= 80 * 10**9 < both[1]


def test_nothing_fits_into_too_little() -> None:
    asked = job(room=sp.Integer(10**8))
    assert largest_batch(asked) == (None, 0)
    assert fewest_microbatches(asked) == 0
    assert fewest_chips(asked)[1:] == (0, 0)
    assert largest_of_family(asked) is None


def test_the_largest_of_a_family_keeps_its_shape_and_fits() -> None:
    asked = job(setting={"remat": "full", "tokens": 2**17})
    found = largest_of_family(asked)
    assert found is not None
    assert found.bytes <= 80 * 10**9
    own = values(asked.config)
    assert found.sizes["D"] * int(own[N]) == found.sizes["N_heads"] * int(own[D])
    fields = {"model_type": "llama", "hidden_size": found.sizes["D"], "num_hidden_layers": found.sizes["L"]}
    fields |= {"intermediate_size": found.sizes["F"], "num_attention_heads": found.sizes["N_heads"]}
    fields |= {"num_key_value_heads": found.sizes["K"], "vocab_size": asked.config.V}
    made = read_config(fields, "made")
    assert parameter_count(made) == found.parameters
    assert replace(asked, config=made).total == found.bytes


@pytest.mark.parametrize("mesh", [{"fsdp": 8, "tensor": 2}, {"fsdp": 16, "pipe": 4}, {"tensor": 8}])
def test_the_largest_of_a_family_divides_into_its_mesh(mesh: dict[str, int]) -> None:
    asked = job(setting={"remat": "full", "tokens": 2**19}, mesh=mesh, microbatches=4)
    found = largest_of_family(asked)
    assert found is not None
    assert found.sizes["D"] % mesh.get("fsdp", 1) == 0
    assert found.sizes["L"] % mesh.get("pipe", 1) == 0
    for name in ("K", "F", "N_heads"):
        assert found.sizes[name] % mesh.get("tensor", 1) == 0


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "zb-h1", "zb-h2"])
def test_without_a_pipeline_one_microbatch_is_in_flight(schedule: str) -> None:
    held = [job(microbatches=many, setting={"schedule": schedule}).numbers["activations"] for many in (1, 2, 4)]
    assert held == [held[0], held[0] / 2, held[0] / 4]


@pytest.mark.parametrize(("name", "seq"), [("llama3-8b", 8192), ("llama3-8b", 1024), ("gemma-2b", 512)])
@pytest.mark.parametrize("stages", [2, 5, 6])
@pytest.mark.parametrize("many", [1, 8])
def test_the_most_is_that_of_one_stage(name: str, seq: int, stages: int, many: int) -> None:
    """First: a table and min(m, p) microbatches of ceil(L/p) layers. Last: a table, one microbatch of them, logits."""
    config = model(name)
    asked = Job(config, Setting(64 * seq, seq), {"pipe": stages}, many, sp.Integer(80 * 10**9))
    own = {each: value for each, value in asked.point.items() if each != L}
    one = memory_forms(config, replace(asked.setting, tokens=0, length=0))
    parts = {part: sp.expand(form.xreplace(own)) for part, form in one.items()}
    layers = -(-config.L // stages)
    table, norm = config.V * config.D, config.D
    bytes_each = 2 + 2 + 12
    states = sum(parts[part].coeff(L) for part in ("weights", "gradients", "optimizer")) * layers
    kept, end = parts["activations"].coeff(L) * layers, parts["activations"].coeff(L, 0)
    rest = parts["working set"] + parts["gathered weights"]
    first = states + bytes_each * table + kept * min(many, stages) + rest
    last = states + bytes_each * (table + norm) + kept + end + rest + parts["logits"]
    assert asked.held(FIRST) == first
    assert asked.held(LAST) == last
    assert asked.total == max(first, last)
    assert sp.Add(*asked.numbers.values()) == asked.total


def test_seven_layers_and_one_table() -> None:
    """llama3-8b over 5 stages: 7·218,112,000 + 128,256·4,096 parameters of two bytes on the first."""
    asked = job(mesh={"pipe": 5}, setting={"tokens": 2**16}, microbatches=8)
    assert asked.busiest == FIRST
    assert asked.numbers["weights"] == 2 * (7 * 218_112_000 + 128_256 * 4_096)
    assert asked.forms["weights"].has(sp.ceiling(L / p))
    assert asked.numbers == {part: form.xreplace(asked.point) for part, form in asked.forms.items()}


def test_layers_that_stages_do_not_divide_count_for_the_busiest_stage() -> None:
    asked = job(mesh={"pipe": 3}, setting={"remat": "full"}, microbatches=3)
    whole = asked.numbers["weights"]
    config = asked.config
    more = replace(config, kinds=config.kinds[:1] * 33, routed=config.routed[:1] * 33, owns_kv=config.owns_kv[:1] * 33)
    assert whole == replace(asked, config=more).numbers["weights"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mesh": {"tensor": 3}}, "tensor has 3"),
        ({"mesh": {"fsdp": 3}}, "D = 4,096"),
        ({"mesh": {"expert": 2}}, "the 1 experts"),
        ({"mesh": {"pipe": 64}}, "64 stages"),
        ({"mesh": {"context": 3}}, "context x tensor"),
        ({"mesh": {"data": 3}}, "do not divide into"),
        ({"microbatches": 5}, "5 microbatches"),
        ({"setting": {"length": 1000}}, "not whole sequences"),
    ],
)
def test_what_does_not_divide_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words) as found:
        checked(job(**changes))
    assert found.value.hint


def test_what_fits_needs_a_memory_size() -> None:
    with pytest.raises(ModelError, match="memory size"):
        fewest_microbatches(job(room=None))


# --- offload and accumulation


def border(solution: Any) -> sp.Expr:
    (case,) = solution.cases
    return case.intervals[0].lo


def test_the_optimizer_on_the_host_hides_from_a_sixth_of_the_intensity_on() -> None:
    C, W = symbol("C"), symbol("W_pcie")
    ones = {size("context"): 1}
    assert sp.cancel(border(optimizer_hides(PLAIN)).subs(ones) - b * C / (6 * W)) == 0
    # without ZeRO every replica moves the whole state, for its own tokens
    whole = border(optimizer_hides(replace(PLAIN, zero=0))).subs(ones)
    assert sp.cancel(whole - size("data") * b * C / (6 * W)) == 0
    assert sp.cancel(border(optimizer_hides(PLAIN, on_host=False)).subs(ones) - 2 * C / W) == 0
    shared = border(optimizer_hides(PLAIN, shared=True)).subs(ones)
    assert sp.cancel(shared - b * C * symbol("N_host") / (6 * symbol("W_host"))) == 0


def test_the_busier_direction_counts() -> None:
    assert moved(replace(PLAIN, gradients="fp32")).subs(b, 2) == 4
    assert moved(PLAIN).subs(b, 2) == 2


def test_inputs_of_layers_hide_from_a_width_on() -> None:
    """b·D bytes a layer and token leave while 24·D² FLOPs run, beside the scores: W >= b·C/(24·D)."""
    setting = replace(PLAIN, remat="full", causal=False, tokens=2048, length=2048)
    found = activations_bandwidth(Job(model("gpt3-175b"), setting, {}))
    bare = found.subs({F: 4 * D, H: D / N, K: N}).subs({T: 0, S: 0})
    assert sp.cancel(bare - b * symbol("C") / (24 * D)) == 0


def test_accumulation_in_closed_form() -> None:
    kept, rest, room = map(symbol, ("M_kept", "M_rest", "M_hbm"))
    assert fewest().cases[0].intervals[0].lo == kept / (room - rest)
    found = best().point[MICROBATCHES]
    assert sp.simplify(found**2 - (STAGES - 1) * T_WORK / T_GATHER) == 0
    numbers = {STAGES: 5, T_WORK: 400, T_GATHER: 1}
    times = {count: time_of().subs({**numbers, MICROBATCHES: count}) for count in range(1, 200)}
    assert min(times, key=times.__getitem__) == found.subs(numbers) == 40
    assert Fraction(str(best().value.subs(numbers))) == times[40]


def test_every_model_has_its_memory() -> None:
    """The forms exist for every architecture, and every symbol in them has a number."""
    for name in catalogue():
        config = model(name)
        asked = Job(config, Setting(2**14, 2048, remat="full"), {"fsdp": 8})
        assert asked.total.is_number, name
        assert asked.total > 0
