"""What an error advises works: the machine it names is accepted, and the option it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from symscale.cli import run
from symscale.machine import machine
from symscale.machine.shapes import smallest

STEP = "--tokens-per-batch 64Ki --seq 1024 --top 1"

# a command that is refused, and the advice it is given
ADVICE = [
    ("serve deepseek-v3 --on h100", r"--on (h100:24)"),
    ("serve deepseek-v3 --on h100:16", r"--on (h100:24)"),
    ("serve llama3-70b --on tpu-v5e:4x2", r"--on (tpu-v5e:4x4)"),
    ("serve llama3-70b --on tpu-v5p", r"--on (\S+?)[,.]"),
    ("serve llama3-70b --on tpu-v3", r"--on (\S+?)[,.]"),
    (f"plan gpt2 --on h100 {STEP}", r"--on (\S+?)\."),
    (f"plan gpt2 --on tpu-v5e {STEP}", r"--on (\S+?)\."),
    (f"plan gpt2 --on gb200 {STEP}", r"--on (\S+?)\."),
]


def refused(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(command.split()) == 2
    found = capsys.readouterr()
    assert "fault of symscale" not in found.err
    return found.err


@pytest.mark.parametrize(("command", "advice"), ADVICE)
def test_a_machine_that_is_advised_is_accepted(command: str, advice: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = re.search(advice, refused(command, capsys))
    assert named is not None
    assert run(re.sub(r"--on \S+", f"--on {named[1]}", command).split()) == 0, capsys.readouterr().err


@pytest.mark.parametrize("chip", ["rtx-4080", "h100", "tpu-v5e"])
def test_a_plan_for_one_chip_is_a_way_out(chip: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--chips 1" in refused(f"plan gpt2 --on {chip} {STEP}", capsys)
    assert run(f"plan gpt2 --on {chip} --chips 1 {STEP}".split()) == 0


def test_no_cluster_is_advised_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("serve llama3-70b --on rtx-4080", f"plan gpt2 --on rtx-4080 {STEP}"):
        err = refused(command, capsys)
        assert "rtx-4080:" not in err
        assert "chips or more" not in err


@pytest.mark.parametrize(
    ("name", "chips", "found"),
    [
        ("h100", 17, "h100:24"),
        ("h100", 8, "h100:8"),
        ("tpu-v5e", 9, "tpu-v5e:4x4"),
        ("tpu-v5e", 257, ""),
        ("rtx-4080", 2, ""),
    ],
)
def test_the_smallest_cluster_of_so_many_chips(name: str, chips: int, found: str) -> None:
    assert smallest(machine(name), chips) == found


def test_a_field_that_is_lacking_has_the_name_it_has_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my.toml"
    head = 'name = "my"\ntitle = "Mine"\n'
    peak = '[peak]\nbf16 = { value = 1e14, unit = "FLOP/s", source = "own" }\n'
    file.write_text(head + peak, encoding="utf-8")
    step = "--tokens-per-batch 64Ki --seq 1024"
    for command in ("memory gpt2 --mesh data=1", "plan gpt2 --chips 1"):
        assert "State capacity in its file, section [hbm]" in refused(f"{command} {step} --machine {file}", capsys)


def test_a_mesh_beyond_a_pod_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    step = "--tokens-per-batch 4Mi --seq 4096 --on tpu-v5e"
    assert run(f"memory llama3-8b --mesh fsdp=256 {step}".split()) == 0
    assert "several such parts" not in capsys.readouterr().out
    assert run(f"memory llama3-8b --mesh fsdp=512 {step}".split()) == 0
    assert "joins 256 chips: 512 are several such parts" in re.sub(r"\s+", " ", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (f"plan gpt2 --on h100:8 {STEP.replace('1024', '4096')}", "1,024 positions"),
        ("memory gpt2 --mesh data=2 --tokens-per-batch 8Ki --seq 4096", "1,024 positions"),
        ("serve opt-125m --context 2049 --on h100", "2,048 positions"),
        ("serve llama3-8b --on h100 --context 8192 --draft gpt2 --accept 0.8", "gpt2 has learned 1,024 positions"),
        ("serve llama3-8b --on h100 --experts expected", "no routed experts"),
        ("memory gpt2 --mesh data=2 --tokens-per-batch 8Ki --seq 1024 --no-sequence", "no such axis"),
        (f"plan gpt2 --on h100:8 {STEP.replace('1024', '1e30')}", "up to 1,000,000,000,000,000,000"),
    ],
)
def test_what_no_model_or_option_has_is_refused(command: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in refused(command, capsys)


@pytest.mark.parametrize(
    ("relation", "unknown", "answer"),
    [
        ("X*T_hop/2 >= V/W_ici", "V", "V <= 45000*X B"),
        ("X*T_hop/2 >= Q/W_ici", "Q", "Q <= 45000*X B"),
        ("T_hop >= 4*V/W_ici", "V", "V <= 22.5 kB"),
    ],
)
def test_an_answer_has_the_unit_of_its_relation(
    relation: str, unknown: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", relation, "--for", unknown, "--on", "tpu-v5e"]) == 0
    assert answer in capsys.readouterr().out
