"""Plans of a training step: sublayers, meshes and times against counts made in another way."""

from __future__ import annotations

import csv
import io
import json
import math
from itertools import product

import pytest
import sympy as sp
from pages import said

from symscale import parse_formula, parse_relation
from symscale.array.element import elements
from symscale.cli import run
from symscale.cost import tally
from symscale.machine.shapes import sized
from symscale.machine.slices import chosen
from symscale.partition import partition
from symscale.transformer import catalogue, model, parameter_count
from symscale.transformer.block import active_parameters
from symscale.transformer.blocks import blocks, values
from symscale.transformer.conditions import conditions
from symscale.transformer.fit import Job
from symscale.transformer.flops import flops_forms, training_forms
from symscale.transformer.footprint import footprint
from symscale.transformer.meshes import ORDER, UnitCosts, limits, meshes, microbatches, placed, split
from symscale.transformer.plan import plan
from symscale.transformer.step import Setting, step_form
from symscale.transformer.strategy import AXES, Strategy, sharded, size
from symscale.transformer.sublayers import sublayers
from symscale.vocabulary import symbol

B, T, S = symbol("B"), symbol("T"), symbol("S")
FULL = [name for name in catalogue() if set(model(name).kinds) == {"full"}]
PLAIN = [name for name in FULL if name not in ("falcon-40b",)]


def whole(config, amount):
    """Sum something over the sublayers of an unsharded model, in numbers."""
    known = {**values(config), B: sp.Integer(8192), T: sp.Integer(2048), S: sp.Integer(2048)}
    return sum((each.count * amount(each)).xreplace(known).xreplace(known) for each in sublayers(config))


@pytest.mark.parametrize("name", FULL)
def test_sublayers_do_the_work_of_their_blocks(name):
    config = model(name)
    known = {**values(config), B: sp.Integer(8192), T: sp.Integer(2048)}

    def work(each, which):
        typed = elements(each.program)
        return tally(partition(each.program, typed=typed), which, typed, {}).total_flops

    for which in ("forward", "backward"):
        wanted = sum(form.xreplace(known) for form in flops_forms(config, which, causal=False).values())
        assert whole(config, lambda each, which=which: work(each, which)) == wanted


@pytest.mark.parametrize("name", ["llama3-70b", "gpt2", "gemma2-9b", "deepseek-v3", "mixtral-8x7b", "gpt-neox-20b"])
def test_sublayers_hold_the_parameters_of_the_model(name):
    config = model(name)
    alone = Strategy(())
    found = whole(config, lambda each: footprint(each, alone).parameters)
    assert found == parameter_count(config)


def test_every_collective_of_a_plan_has_axes_of_the_mesh_and_all_layouts_are_legal():
    config = model("deepseek-v3")
    for each in sublayers(config):
        made = sharded(each.program, Strategy())
        for value in made.values.values():
            if value.layout is not None:
                used = [axis for axes in value.layout.axes for axis in axes]
                assert len(used) == len(set(used))
                assert set(used) <= set(AXES)
        assert set(made.mesh) == set(AXES)


def test_the_collectives_of_fsdp_with_tensor_parallelism_are_megatrons():
    """Gather and scatter the stream over tensor, gather weights over fsdp twice and scatter their gradients once."""
    config = model("llama3-8b")
    mlp = next(each for each in sublayers(config) if each.name == "MLP")
    found = footprint(mlp, Strategy(("fsdp", "tensor")))
    kinds = {name: sorted((u.kind, u.axes, u.of) for u in each) for name, each in found.volumes.items()}
    assert kinds["forward"] == [
        ("AllGather", ("fsdp",), "weight"),
        ("AllGather", ("tensor",), "activation"),
        ("ReduceScatter", ("tensor",), "activation"),
    ]
    assert ("ReduceScatter", ("fsdp",), "gradient") in kinds["backward"]
    weights = 3 * symbol("b") * symbol("D") * symbol("F") / size("tensor")
    gathered = next(v for u, v in found.volumes["forward"].items() if u.of == "weight")
    assert sp.expand(gathered - weights) == 0


def test_meshes_are_all_that_divide_the_model():
    config = model("mixtral-8x7b")
    limit = limits(config, 64 * 4096, 4096)
    found = set(meshes(32, limit))
    options = [sp.divisors(32)] * len(ORDER)
    wanted = set()
    for sizes in product(*options):
        pipe, data, fsdp, expert, context, tensor = sizes
        fits = (
            math.prod(sizes) == 32
            and 8 % tensor == 0
            and 14336 % tensor == 0
            and 8 % expert == 0
            and 4096 % (context * tensor) == 0
            and 64 % (data * fsdp * expert) == 0
            and 4096 % fsdp == 0
            and pipe <= 32
        )
        if fits:
            wanted.add(sizes)
    assert {mesh for mesh in found if 64 % (mesh[2] * mesh[3]) == 0} == wanted


def test_microbatches_divide_the_sequences():
    assert microbatches(12) == [1, 2, 4, 12]
    assert microbatches(1) == [1]


@pytest.mark.parametrize(
    ("sizes", "shape", "wanted"),
    [
        # tensor 16 takes a whole axis, fsdp the two others
        ((1, 1, 256, 1, 1, 16), (16, 16, 16), [(2, 16), (1, 16)]),
        # tensor 8 is a line in an axis of 16, and fsdp has to stride over it
        ((1, 1, 32, 1, 1, 8), (16, 16), None),
    ],
)
def test_axes_on_a_torus_take_whole_physical_axes_where_they_can(sizes, shape, wanted):
    pieces = split(sizes, shape)
    assert all(math.prod(piece.size for piece in each) == n for each, n in zip(pieces, sizes, strict=True))
    if wanted is not None:
        fsdp, tensor = pieces[2], pieces[5]
        assert [(len(fsdp), fsdp[0].size), (len(tensor), tensor[0].size)] == wanted
        assert all(piece.stride == 1 for piece in (*fsdp, *tensor))
    else:
        assert any(piece.stride == 8 for piece in pieces[2])


def test_unit_costs_are_those_of_the_network():
    """A ring of 16 on v5p: (X − 1)/(X·W); a node of 8 H100: the same with its egress; AllReduce twice."""
    form = step_form(model("llama3-8b"), Setting(1 << 20, 4096))
    uses = {(use.kind, use.axes): use for use in form.units.values()}
    torus, node = chosen("tpu-v5p:16x16x16"), chosen("h100:8")
    places = placed((1, 1, 1, 1, 1, 16), torus)
    w_ici = float(torus.constants()["W_ici"])
    assert UnitCosts(torus).of(uses["AllGather", ("tensor",)], places) == pytest.approx(15 / 16 / w_ici)
    places = placed((1, 1, 8, 1, 1, 1), node)
    egress = float(node.main_network.levels[0].bandwidth)
    assert UnitCosts(node).of(uses["AllGather", ("fsdp",)], places) == pytest.approx(7 / 8 / egress)
    places = placed((1, 8, 1, 1, 1, 1), node)
    assert UnitCosts(node).of(uses["AllReduce", ("context", "data")], places) == pytest.approx(2 * 7 / 8 / egress)


def only(found, **sizes):
    """Return the row with these sizes and the fewest microbatches."""
    rows = [each for each in found.best if all(each.sizes[axis] == n for axis, n in sizes.items())]
    return min(rows, key=lambda each: each.microbatches)


def test_data_parallelism_of_a_small_model_by_hand():
    """gpt2 on 8 H100: FLOPs over 8 chips at peak, gradients reduced once, 16 bytes of state a parameter."""
    config, cluster = model("gpt2"), chosen("h100:8")
    setting = Setting(64 * 1024, 1024, remat="none", causal=False)
    found = plan(config, setting, cluster, 8, top=1000)
    row = only(found, data=8)
    d, f, layers, v, n = 768, 3072, 12, 50257, 64 * 1024
    matrices = layers * (4 * d * d + 2 * d * f)
    flops = 6 * n * (matrices + v * d) + 12 * n * layers * d * 1024
    assert row.times["compute"] == pytest.approx(flops / 8 / float(cluster.peak("bf16")), rel=1e-9)
    assert row.seconds >= row.times["compute"]
    # vectors, and the table that the head shares, make the rest
    reduced = 2 * (matrices + v * d)
    assert row.times["data"] == pytest.approx(2 * 7 / 8 * reduced / 450e9, rel=0.01)
    assert row.times["fsdp"] == pytest.approx(row.times["data"], rel=0.01) or row.times["fsdp"] < row.times["data"]
    counted = matrices + v * d + 1024 * d
    assert row.memory["weights"] == pytest.approx(2 * counted, rel=0.01)
    assert row.memory["optimizer"] == pytest.approx(12 * counted / 8, rel=0.01)
    assert row.bubble == 0


def test_a_pipeline_waits_for_its_bubble_and_holds_what_is_in_flight():
    found = plan(model("gpt2-xl"), Setting(64 * 1024, 1024), chosen("h100:8"), 8, top=100_000)
    rows = {each.microbatches: each for each in found.best if each.sizes["pipe"] == 8}
    assert set(rows) >= {8, 16, 32, 64}
    for count, row in rows.items():
        assert row.bubble == pytest.approx(7 / (count + 7))
        assert row.seconds == pytest.approx(max(row.times["compute"], 0) * (1 + 7 / count), rel=0.5)
    assert rows[64].memory["activations"] == pytest.approx(rows[32].memory["activations"] / 2)


def test_the_best_is_the_fastest_of_all_that_fit():
    config, setting = model("llama3-8b"), Setting(256 * 4096, 4096)
    found = plan(config, setting, chosen("h100:16"), 16, top=100_000)
    assert found.fitting == len(found.best) <= found.compared
    assert all(each.bytes <= 80e9 and each.chips == 16 for each in found.best)
    assert found.best[0].seconds == min(each.seconds for each in found.best)
    assert all(each.exposed >= each.seconds * (1 - 1e-9) for each in found.best)
    assert all(0 < each.mfu <= 1 for each in found.best)


def collectives(row, form):
    """Return the time of every collective of a row, over both passes [s]."""
    return sum(float(time.xreplace(row.point)) for each in form.shares.values() for time in each.values())


@pytest.mark.parametrize("overlap", ["axes-serial", "sum"])
def test_a_joint_collective_counts_once_where_collectives_take_turns(overlap):
    """Gradients over data 4 and context 2 are reduced once: 2·7/8 of their bytes, and K and V are gathered beside."""
    config = model("llama3-8b")
    setting = Setting(32 * 4096, 4096, optimizer="adam-8bit", remat="full", overlap=overlap)
    found = plan(config, setting, chosen("h100:8"), 8, top=10_000)
    row, form = only(found, data=4, context=2), found.forms["K"]
    joint = sum(
        float(time.xreplace(row.point))
        for each in form.shares.values()
        for use, time in each.items()
        if {"data", "context"} <= set(use.axes)
    )
    # the table of the look-up is not reduced in this count
    matrices = config.L * (2 * 4096 * 128 * (32 + 8) + 3 * 4096 * 14336) + 128256 * 4096
    assert joint == pytest.approx(2 * 7 / 8 * 2 * matrices / 450e9, rel=0.01)
    assert row.times["data"] + row.times["context"] >= 2 * joint
    busy = row.times["compute"] + collectives(row, form)
    assert row.exposed <= busy * (1 + 1e-9)
    assert row.exposed >= collectives(row, form)
    if overlap == "sum":
        assert row.seconds == row.exposed


def test_nothing_hidden_adds_each_collective_once():
    """The sum of arithmetic and collectives, each of them once, and no axis of one chip is charged."""
    found = plan(model("gpt2-xl"), Setting(2**17, 1024), chosen("h100:8"), 8, top=10_000)
    row = only(found, data=4, context=2)
    assert row.binds == "compute"
    assert row.exposed == pytest.approx(row.times["compute"] + collectives(row, found.forms["K"]), rel=1e-9)
    for each in found.best:
        idle = [axis for axis in each.times if each.sizes.get(axis) == 1]
        assert all(each.times[axis] == 0 for axis in idle), each.sizes


def test_what_is_computed_again_hides_networks_too():
    """The border of the backward pass is smaller by the FLOPs that checkpointing adds to its arithmetic."""
    borders, work = {}, {}
    for remat in ("none", "full"):
        config, setting = model("gpt2-xl"), Setting(2**16, 1024, remat=remat)
        row = only(plan(config, setting, chosen("h100:8"), 8, top=10_000), data=8)
        form = step_form(config, setting, open_batch=True)
        made = next(each for each in conditions(form, row, setting.tokens) if each.name == "backward")
        borders[remat] = made.threshold
        work[remat] = float(form.times["backward"]["compute"].xreplace({**row.point, B: sp.Integer(setting.tokens)}))
    assert work["full"] > 1.3 * work["none"]
    assert borders["none"] / borders["full"] == pytest.approx(work["full"] / work["none"], rel=1e-6)


@pytest.mark.parametrize("name", ["llama2-13b", "deepseek-v3", "gemma2-9b"])
def test_selective_checkpointing_is_one_thing(name):
    """The FLOPs of a step with `selective` are those of `symscale model --remat selective`."""
    config = model(name)
    form = step_form(config, Setting(2**16, 4096))
    one = {size(axis): sp.S.One for axis in (*AXES, "pipe")} | {symbol("uneven"): sp.S.One}
    spent = sum(each["compute"] for each in form.times.values()).xreplace(one) * symbol("C")
    known = {**values(config), B: sp.Integer(2**16), T: sp.Integer(4096)}
    forms = training_forms(config, remat="selective")
    assert sp.simplify(spent) == sum(each.xreplace(known) for each in forms.values())


def test_a_row_holds_what_the_stage_with_the_most_holds():
    """As `symscale memory` counts it, with and without a pipeline, under a schedule that holds all microbatches."""
    config = model("gpt2-xl")
    for schedule in ("1f1b", "gpipe"):
        setting = Setting(64 * 1024, 1024, schedule=schedule)
        found = plan(config, setting, chosen("h100:8"), 8, top=100_000)
        rows = [each for each in found.best if each.microbatches in (1, 8)][::7]
        assert {each.sizes["pipe"] > 1 for each in rows} == {True, False}
        for each in rows:
            job = Job(config, setting, each.sizes, each.microbatches)
            assert each.stage == job.busiest
            assert each.bytes == pytest.approx(float(job.total), rel=1e-9)


def test_heads_are_replicated_only_where_they_cannot_be_split():
    found = plan(model("gemma-2b"), Setting(64 * 4096, 4096), chosen("h100:8"), 8, top=10_000)
    assert {each.heads for each in found.best if each.sizes["tensor"] > 1} == {"G"}
    found = plan(model("llama3-8b"), Setting(64 * 4096, 4096), chosen("h100:8"), 8, top=10_000)
    assert {each.heads for each in found.best} == {"K"}


def test_active_parameters_bound_the_work():
    config = model("mixtral-8x7b")
    setting = Setting(128 * 4096, 4096, causal=False)
    form = step_form(config, setting)
    known = values(config)
    active = sum((each.count * active_parameters(each)).xreplace(known) for each in blocks(config))
    looked_up = 32000 * 4096
    scores = 12 * 32 * 4096 * 4096
    assert float(form.flops) == pytest.approx(128 * 4096 * (6 * float(active - looked_up) + scores), rel=1e-3)


@pytest.mark.parametrize(("name", "chips", "shape"), [("tpu-v5p", 512, (8, 8, 8)), ("tpu-v5e", 64, (8, 8))])
def test_a_number_of_chips_is_the_most_cubic_slice(name, chips, shape):
    assert tuple(sorted(sized(chosen(name), chips).main_network.pod)) == shape


ASK = ["plan", "llama2-7b", "--on", "h100:16", "--tokens-per-batch", "256Ki", "--seq", "4096", "--top", "2"]


def test_json_and_csv_have_the_same_meshes(capsys):
    made = json.loads(said(capsys, *ASK, "--json"))
    rows = list(csv.DictReader(io.StringIO(said(capsys, *ASK, "--csv"))))
    assert made["schema"] == "symscale.plan/1.0"
    assert [int(row["tensor"]) for row in rows] == [each["tensor"] for each in made["meshes"]]
    assert float(rows[0]["step_seconds"]) == made["meshes"][0]["step_seconds"]
    for heads in made["step_time"]:
        parse_formula(made["step_time"][heads])
    for each in made["conditions"]:
        if each["condition"] is not None:
            parse_relation(each["condition"])


def test_a_run_has_days_chip_hours_and_a_price(capsys):
    made = json.loads(said(capsys, *ASK, "--json", "--tokens", "2e12"))
    best, totals = made["meshes"][0], made["training"]
    steps = math.ceil(2e12 / (256 * 1024))
    assert totals["steps"] == pytest.approx(steps)
    assert totals["days"] == pytest.approx(steps * best["step_seconds"] / 86400)
    assert totals["chip hours"] == pytest.approx(steps * best["step_seconds"] * 16 / 3600)


def test_a_run_has_whole_steps(capsys):
    totals = json.loads(said(capsys, *ASK, "--json", "--tokens", "5"))["training"]
    assert totals["steps"] == 1


NOTHING = ["plan", "llama3-405b", "--on", "h100:8", "--tokens-per-batch", "1Mi", "--seq", "4096"]


def test_where_nothing_fits_there_is_a_way_out(capsys):
    shown = " ".join(said(capsys, *NOTHING).split())
    for word in ("more chips", "--remat full", "--optimizer adam-8bit"):
        assert word in shown
    least = " ".join(said(capsys, *NOTHING, "--remat", "full", "--optimizer", "sgd").split())
    assert "more chips" in least
    assert "--remat full" not in least
    assert "--optimizer" not in least


def test_csv_has_a_header_where_nothing_fits(capsys):
    some, none = (list(csv.reader(io.StringIO(said(capsys, *words, "--csv")))) for words in (ASK, NOTHING))
    assert none == [some[0]]


def test_words_of_a_plan(capsys):
    one = " ".join(said(capsys, "plan", "gpt2", "--on", "h100:1", "--tokens-per-batch", "8Ki", "--seq", "1024").split())
    assert one.startswith("gpt2 on 1 chip of NVIDIA H100 SXM: ")
    assert "bubble of 1F1B" in one
    assert "copies" not in one
    many = " ".join(said(capsys, *ASK, "--schedule", "gpipe").split())
    assert many.startswith("llama2-7b on 16 chips of NVIDIA H100 SXM: ")
    assert "bubble of GPipe" in many
    routed = ["plan", "mixtral-8x7b", "--on", "h100:64", "--tokens-per-batch", "1Mi", "--seq", "4096", "--top", "1"]
    assert "min(k, expert)" in said(capsys, *routed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "llama2-7b", "--tokens-per-batch", "1Mi", "--seq", "4096"], "needs a machine"),
        (["plan", "llama2-7b", "--on", "h100", "--tokens-per-batch", "1Mi", "--seq", "4096"], "is one chip"),
        (["plan", "llama2-7b", "--on", "h100:16", "--seq", "4096"], "needs --tokens-per-batch"),
        (["plan", "llama2-7b", "--on", "h100:16", "--tokens-per-batch", "1Mi"], "needs --seq"),
        (["plan", "llama2-7b", "--on", "h100:16", "--tokens-per-batch", "5000", "--seq", "4096"], "whole sequences"),
        (
            ["plan", "llama2-7b", "--on", "h100:16", "--chips", "8", "--tokens-per-batch", "1Mi", "--seq", "4096"],
            "16 ch",
        ),
        (["plan", "nonsense", "--on", "h100:16", "--tokens-per-batch", "1Mi", "--seq", "4096"], "No model is called"),
        (["plan", "llama2-7b", "--on", "h100:37", "--tokens-per-batch", "4096", "--seq", "4096"], "37 chips"),
        (["plan", "llama2-7b", "--on", "tpu-v5p", "--chips", "7919", "--tokens-per-batch", "1Mi", "--seq", "4096"], ""),
        ([*ASK, "--remat", "some"], "--remat"),
        ([*ASK, "--optimizer", "guess"], "--optimizer"),
        ([*ASK, "--overlap", "all"], "--overlap"),
        ([*ASK, "--schedule", "zb"], "--schedule"),
        ([*ASK, "--dtype", "fp7"], "fp7"),
        ([*ASK, "--reserve", "1.5"], "--reserve"),
        ([*ASK, "--top", "-3"], "--top"),
        ([*ASK, "--tokens", "nan"], "--tokens"),
        ([*ASK, "--format", "pdf"], "Unknown format"),
        (["plan", "llama3-405b", "--on", "h100:8", "--tokens-per-batch", "1Mi", "--seq", "4096"], None),
    ],
)
def test_wrong_input_is_one_paragraph(words, message, capsys):
    code = run(words)
    shown = capsys.readouterr()
    if message is None:  # nothing fits: an answer, not an error
        assert code == 0
        assert "None fits" in shown.out
        return
    assert code == 2
    assert shown.out == ""
    assert message in shown.err
    assert "fault of symscale" not in shown.err
