"""`symscale memory`: its formats, the examples of its page, and what it says to wrong words."""

from __future__ import annotations

import json
import re

import pytest
import sympy as sp
from pages import examples, page, said

from symscale.cli import run
from symscale.notation.formula import parse_formula
from symscale.transformer import model, values
from symscale.vocabulary import symbol

PAGE = page("training")
EXAMPLES = examples(PAGE, "memory")
BATCH = ("--tokens-per-batch", "1Mi", "--seq", "8192")
PLAIN = ("memory", "llama3-8b", "--mesh", "fsdp=8,tensor=2,data=4", *BATCH, "--microbatches", "4")


@pytest.mark.parametrize("arguments", EXAMPLES, ids=" ".join)
def test_every_example_of_the_page_runs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, *arguments).strip()


def test_the_numbers_of_the_page_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.search(r"```text\n(llama3-8b on .*?)```", PAGE, re.DOTALL)
    assert shown is not None
    assert shown[1].rstrip() in said(capsys, *EXAMPLES[0])


def test_closed_forms_have_the_values_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    stages = [(*PLAIN[:3], f"pipe={each}", *BATCH, "--microbatches", "4") for each in (2, 5, 9)]
    for arguments in ((*PLAIN, "--remat", "none"), (*PLAIN, "--remat", "full", "--zero", "3"), *stages):
        found = json.loads(said(capsys, *arguments, "--format", "json"))
        point = dict(values(model("llama3-8b")))
        numbers = {"B": 2**20, "T": 8192, "b": 2, "m": 4} | {f"N_{axis}": size for axis, size in found["mesh"].items()}
        point |= {symbol(name): sp.Integer(number) for name, number in numbers.items()}
        for part in found["parts"]:
            assert float(parse_formula(part["form"]).expr.subs(point)) == pytest.approx(part["bytes"]), part["part"]
        assert sum(part["bytes"] for part in found["parts"]) == pytest.approx(found["bytes"])
        assert (found["stage"] == "only") is ("pipe" not in found["mesh"])
        assert found["fits"] is None
        assert found["answers"] == []


@pytest.mark.parametrize("style", ["text", "md", "latex", "json"])
def test_every_format_has_every_part(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *PLAIN, "--on", "tpu-v5p", "--format", style)
    for word in ("weights", "gradients", "optimizer", "activations", "gathered weights", "logits"):
        assert word in text
    for word in ("largest batch", "longest sequence", "fewest microbatches", "fewest chips", "largest model"):
        assert word in text
    assert "updated on the host" in text
    assert "working set" not in text


def test_what_is_offloaded_is_not_on_the_chip(capsys: pytest.CaptureFixture[str]) -> None:
    both = [
        {each["part"] for each in json.loads(said(capsys, *PLAIN, *more, "--format", "json"))["parts"]}
        for more in ((), ("--offload", "optimizer,gradients"), ("--offload", "activations"))
    ]
    assert both[0] - both[1] == {"optimizer", "gradients"}
    assert both[0] ^ both[2] == {"activations", "working set"}


def test_a_part_that_stays_free_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    whole, less = (
        json.loads(said(capsys, *PLAIN, "--on", "h100", *more, "--format", "json"))["capacity"]
        for more in ((), ("--reserve", "10%"))
    )
    assert (whole, less) == (80e9, 72e9)


def test_a_chip_without_a_peak_for_the_dtype_still_has_memory(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *PLAIN, "--on", "tpu-v5p", "--dtype", "fp32")
    assert "largest batch" in text
    assert "PCIe" not in text


def test_a_cluster_as_large_as_the_mesh(capsys: pytest.CaptureFixture[str]) -> None:
    assert "fits into 80 GB" in said(capsys, *PLAIN, "--on", "h100:64")


def test_queries_are_split_where_key_heads_are_too_few(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "memory", "gemma-2b", "--mesh", "tensor=8", *BATCH, "--microbatches", "128")
    assert "gemma-2b on 8 chips (tensor 8)" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("memory", "llama9", *BATCH), "No model is called"),
        (("memory", "llama3-8b", "--seq", "8192"), "Memory needs --tokens-per-batch"),
        (("memory", "llama3-8b", "--tokens-per-batch", "1Mi"), "Memory needs --seq"),
        (("memory", "llama3-8b", "--tokens-per-batch", "1000", "--seq", "8192"), "not whole sequences"),
        (("memory", "llama3-8b", "--tokens-per-batch", "0", "--seq", "8192"), "--tokens-per-batch"),
        (("memory", "llama3-8b", "--tokens-per-batch", "nan", "--seq", "8192"), "nan"),
        (("memory", "llama3-8b", "--tokens-per-batch", "1e30", "--seq", "8192"), "--tokens-per-batch"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fspd=8"), "no mesh axis 'fspd'"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fsdp=0"), "fsdp"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fsdp=-8"), "fsdp"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fsdp=1.5"), "fsdp"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fsdp=X"), "fsdp is no number"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fsdp"), "fsdp"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fsdp=8,fsdp=4"), "fsdp"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "fsdp=3"), "does not divide D"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "tensor=3"), "does not divide the 8 key/value heads"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "tensor=64"), "Use a divisor"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "context=3"), "context x tensor"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "pipe=64"), "64 stages"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "expert=2"), "no experts"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "data=256"), "do not divide into"),
        (("memory", "llama3-8b", *BATCH, "--mesh", "data=1000,fsdp=1024,pipe=32"), "more than any cluster"),
        (("memory", "mixtral-8x7b", *BATCH, "--mesh", "expert=16"), "8 experts"),
        (("memory", "mixtral-8x7b", *BATCH, "--dropout"), "experts"),
        ((*PLAIN, "--microbatches", "4"), "given 2 times"),
        ((*PLAIN[:-1], "3"), "3 microbatches"),
        ((*PLAIN[:-1], "0"), "--microbatches"),
        ((*PLAIN[:-1], "-1"), "--microbatches"),
        ((*PLAIN, "--zero", "4"), "--zero '4' is unknown"),
        ((*PLAIN, "--remat", "half"), "--remat 'half' is unknown"),
        ((*PLAIN, "--optimizer", "adamw9"), "--optimizer 'adamw9' is unknown"),
        ((*PLAIN, "--schedule", "best"), "--schedule 'best' is unknown"),
        ((*PLAIN, "--schedule", "interleaved"), "--chunks 2"),
        ((*PLAIN, "--chunks", "2"), "--schedule interleaved"),
        ((*PLAIN, "--dtype", "int3"), "Unknown dtype"),
        ((*PLAIN, "--gradients", "int3"), "Unknown dtype"),
        ((*PLAIN, "--offload", "everything"), "no part of the memory"),
        ((*PLAIN, "--offload", "weights,weights"), "twice"),
        ((*PLAIN, "--offload", ""), "--offload is empty"),
        ((*PLAIN, "--on", "h1000"), "No chip is called"),
        ((*PLAIN, "--on", "h100:128"), "The mesh has 64 chips"),
        ((*PLAIN, "--reserve", "0.1"), "--reserve"),
        ((*PLAIN, "--on", "h100", "--reserve", "2"), "--reserve"),
        ((*PLAIN, "--on", "h100", "--machine", "x.toml"), "Both"),
        ((*PLAIN, "--format", "xml"), "Unknown format"),
        (
            ("memory", "llama3-8b", *BATCH, "--mesh", "pipe=4", "--schedule", "interleaved", "--chunks", "3"),
            "do not divide into 4 stages",
        ),
        (
            ("memory", "llama3-8b", *BATCH, "--mesh", "pipe=4", "--schedule", "interleaved", "--chunks", "2"),
            "no multiple of 4 stages",
        ),
    ],
    ids=lambda each: " ".join(each[1:]) if isinstance(each, tuple) else "",
)
def test_wrong_words_get_one_paragraph(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments]) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert words in shown.err
    assert "Traceback" not in shown.err
    assert "fault of symscale" not in shown.err
    assert len(shown.err.strip().splitlines()) > 1, "a way out"
