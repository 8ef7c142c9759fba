"""`symscale hlo`: its formats, the examples of its page, and what it says to wrong words."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path

import pytest
from pages import examples, page, said
from test_hlo import FUSED

from symscale.cli import main
from symscale.errors import SymscaleError
from symscale.hlo import read_hlo
from symscale.report.hlo import hlo_report, profile

PAGE = page("hlo")
EXAMPLES = examples(PAGE, "hlo")
DOT = "%y = bf16[8,64] dot(bf16[8,128] %x, bf16[128,64] %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
SUM = "%r = bf16[8,64] all-reduce(bf16[8,64] %x), replica_groups={{0,1,2,3},{4,5,6,7}}"

TURNED = SUM.replace("{{0,1,2,3},{4,5,6,7}}", "[4,4]<=[4,4]T(1,0)")
MOVED = "%p = f32[8] collective-permute(f32[8] %x), source_target_pairs={{0,16}}"


@pytest.mark.parametrize("arguments", EXAMPLES, ids=lambda each: each[1][:40])
def test_every_example_of_the_page_runs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, *arguments).strip()


def test_the_numbers_of_the_page_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    assert shown[1] == said(capsys, *EXAMPLES[0])


def test_a_file_and_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module.txt"
    path.write_text(FUSED, encoding="utf-8")
    options = ("--on", "tpu-v5p", "--mesh", "X=4,Y=2", "--measured", "1us")
    text = said(capsys, "hlo", str(path), *options)
    for word in ("two on TPU v5p", "total", "of the roofline", "MFU", "Sharded arrays", "bf16[32,32]", "X, -"):
        assert word in text
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FUSED.encode())))
    assert said(capsys, "hlo", "-", *options) == text


def test_rows_that_are_left_out_are_in_the_total(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\n".join(f"%y.{n} = bf16[8,{64 * n}] copy(bf16[8,{64 * n}] %x)" for n in range(1, 6))
    text = said(capsys, "hlo", lines, "--on", "tpu-v5e", "--rows", "2")
    assert "y.5" in text
    assert "y.1 " not in text
    assert "3 operations that take less" in text
    total = json.loads(said(capsys, "hlo", lines, "--on", "tpu-v5e", "--format", "json"))["seconds"]
    assert total == pytest.approx(2 * 2 * 8 * 64 * 15 / 8.2e11)


def test_json_has_what_the_text_has(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "hlo", DOT, "--on", "tpu-v5e", "--measured", "10us", "--format", "json"))
    (made,) = found["operations"]
    assert made["contractions"][0]["program"] == "A[I, J] * B[J, K] -> C[I, K]"
    assert made["contractions"][0]["flops"] == 2 * 8 * 128 * 64 == found["flops"]
    assert found["of_roofline"] == pytest.approx(found["seconds"] / 10e-6)
    assert found["mfu"] == pytest.approx(2 * 8 * 128 * 64 / 1.97e14 / 10e-6)
    (sent,) = json.loads(said(capsys, "hlo", SUM, "--mesh", "X=2,Y=4", "--format", "json"))["operations"]
    assert sent["collective"] == {"kind": "AllReduce", "bytes": 1024, "chips": 4, "axes": ["Y"], "apart": 1}


def test_faster_than_the_roofline_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "faster than the bound" in said(capsys, "hlo", DOT, "--on", "tpu-v5e", "--measured", "1ns")


@pytest.mark.parametrize("style", ["text", "md", "latex"])
def test_every_format_has_the_answer(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "hlo", DOT, "--on", "tpu-v5e", "--measured", "1us", "--format", style)
    for word in ("FLOPs", "roofline", "HBM binds", "MFU", "131.1 kFLOP"):
        assert word in text


def hlo(text: str, *options: str) -> list[str]:
    return ["hlo", text, *options]


# arguments, words of the message, whether a caret stands under the offending character
WRONG = [
    (hlo("hello world"), "no line of HLO|'hello world'|%name = bf16", True),
    (hlo(""), "There is no HLO|op line", False),
    (hlo("no-such-file.txt"), "no line of HLO, and no file|or - for a pipe", False),
    (hlo("\x00\x01 = "), "no line of HLO|%name", True),
    (hlo("%x = bf17[2] add(%a, %b)"), "Unknown dtype 'bf17'|Did you mean bf16", True),
    (hlo("%x = bf16[2] addd(%a, %b)"), "Unknown operation 'addd'|Did you mean add", True),
    (hlo("%x = bf16[2] add(%a, %b"), "'(' is never closed|whole line", True),
    (hlo("%x = bf16[2]{0 add(%a, %b)"), "never closed", True),
    (hlo("%x = bf16[2]{0} add(%a, %b), k={1}}"), "'}' closes nothing|Remove it", True),
    (hlo("%x = bf16[2,3]{0} add(%a, %b)"), "does not order 2 dimensions|{1,0}", True),
    (hlo("%x = bf16[8]{0:T(0)} add(%a, %b)"), "(0) is no tile|T(8,128)", True),
    (hlo("%x = bf16[8]{0:Q7} add(%a, %b)"), "part of a layout", True),
    (hlo("%x = bf16[-8] add(%a, %b)"), "Sizes in brackets|bf16[8,128]", True),
    (hlo("%x = bf16[" + "9" * 5000 + "] add(%a, %b)"), "Sizes in brackets", True),
    (hlo("%x = bf16[999999999,999999999] add(%a, %b)"), "more elements than any memory", True),
    (hlo("%x = bf16[8 add(%a, %b)"), "Sizes in brackets|f32[]", True),
    (hlo("%x = bf16[8] add(%a, %b) kind=k"), "follows the instruction|commas", True),
    (hlo("%x = bf16[8] add(%a, %b), 7"), "An attribute was expected|key=value", True),
    (hlo('%x = bf16[8] add(%a, %b), metadata={op_name="x}'), "never closed", True),
    (hlo("%x = bf16[8] add(bf16[8] %a bf16[8] %b)"), "',' was expected", True),
    (hlo("%x = bf16[8] dot(%a, %b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"), "shape of a|module", True),
    (hlo("%x = bf16[8] dot(bf16[8] %a), lhs_contracting_dims={0}"), "multiplies two arrays|shapes of both", True),
    (hlo(DOT.replace("lhs_contracting_dims={1}", "lhs_contracting_dims={7}")), "do not fit|one size", True),
    (hlo(DOT.replace("lhs_contracting_dims={1}", "lhs_contracting_dims=1")), "braces: {0,1}", True),
    (hlo(DOT.replace("bf16[8,64]", "bf16[8,63]")), "is no bf16[8,63]|batch dimensions", True),
    (hlo("%c = f32[8,16] convolution(f32[8,32] %a, f32[16,32] %b)"), "no dim_labels|bf_io->bf", True),
    (
        hlo("%c = f32[8,16] convolution(f32[8,32] %a, f32[16,31] %b), dim_labels=bf_oi->bf"),
        "do not fit dim_labels",
        True,
    ),
    (
        hlo("%c = f32[8,16] convolution(f32[8,32] %a, f32[16,32] %b), dim_labels=bf_xx->bf"),
        "label no convolution",
        True,
    ),
    (hlo("ENTRY %m (x: f32[2]) -> f32[2] {\n %x = f32[2] parameter(0)\n"), "never closed|its '}'", True),
    (hlo("ENTRY %m (x: f32[2]) -> f32[2] {\n}"), "no instruction|Give its lines", True),
    (hlo("%x = f32[2] parameter(0)\n}"), "closes no computation", True),
    (hlo("HloModule m, num_partitions=8"), "no computation|ENTRY", True),
    (hlo("%x = f32[2] parameter(0)\n%x = f32[2] parameter(1)"), "made twice", True),
    (hlo("func.func @main(%a: tensor<8xf32>) { stablehlo.add }"), "StableHLO|as_text()", False),
    (hlo(SUM.replace("{{0,1,2,3},{4,5,6,7}}", "{{0,1},{1,2}}")), "share a device|Each device is in one", True),
    (hlo(SUM.replace("{{0,1,2,3},{4,5,6,7}}", "[3,4]<=[8]")), "no shape of 8 devices", True),
    (hlo(SUM.replace("{{0,1,2,3},{4,5,6,7}}", "[2,4]<=[99999,99999]")), "are no groups", True),
    (hlo(SUM.replace("{{0,1,2,3},{4,5,6,7}}", "spam")), "are not read|{{0,1},{2,3}}", True),
    (hlo(SUM.partition(", replica")[0]), "groups of r are not written|--mesh X=8", True),
    (hlo(SUM, "--mesh", "X=3,Y=2"), "along no axes of the mesh X=3, Y=2|order of device numbers", True),
    (hlo("%g = f32[24] all-gather(f32[8] %x), replica_groups={{0,1}}"), "2 devices|times larger", True),
    (
        hlo("%p = f32[8,4] parameter(0), sharding={devices=[2]<=[2]}\n%y = f32[8,4] copy(%p)"),
        "splits 1 dim|has 2",
        True,
    ),
    (hlo(DOT, "--on", "tpu-v5e", "--measured", "3.2"), "no time|3.2ms", False),
    (hlo(DOT, "--on", "tpu-v5e", "--measured", "3.2GB"), "GB is no time|3.2ms", False),
    (hlo(DOT, "--on", "tpu-v5e", "--measured", "3.2 parsec"), "not a unit|ms", True),
    (hlo(DOT, "--on", "tpu-v5e", "--measured", "fast"), "a number and a unit", True),
    (hlo(DOT, "--on", "tpu-v5e", "--measured", "0ms"), "nothing takes no time|above 0", False),
    (hlo(DOT, "--on", "tpu-v5e", "--measured", "-3ms"), "nothing takes no time|above 0", False),
    (hlo(DOT, "--measured", "3ms"), "needs a chip|--on tpu-v5e", False),
    (hlo(DOT, "--on", "tpu-v99"), "tpu-v99", False),
    (hlo(DOT, "--rows", "0"), "--rows|positive whole number", False),
    (hlo(DOT, "--format", "pdf"), "Unknown format 'pdf'|json", False),
    (hlo(SUM, "--on", "tpu-v5e:4x4", "--mesh", "X=2,Y=4"), "does not fit|whole axes", False),
    (hlo(TURNED, "--on", "h100"), "A domain of nvlink|8 chips|16 devices|--on h100:16", False),
    (hlo(TURNED.replace("[4,4]<=[4,4]T(1,0)", "[1,4096]<=[4096]"), "--on", "tpu-v5e"), "has 256 chips|4,096", False),
    (hlo(TURNED.replace("[4,4]<=[4,4]", "[16,16]<=[16,16]"), "--on", "h100:16"), "256 chips on a tree of 16", False),
    (hlo(TURNED.replace("[4,4]<=[4,4]", "[16,16]<=[16,16]"), "--on", "v5e:4x4"), "does not fit", False),
    (hlo(TURNED, "--on", "h100", "--mesh", "Y=4,X=4"), "8 chips|16 devices|--on h100:16", False),
    (hlo(TURNED, "--on", "tpu-v5e", "--axes", "Z=9"), "axis Z is placed|--mesh Z=4", False),
    (hlo(TURNED, "--on", "tpu-v5e", "--mesh", "X=4,Y=4", "--axes", "Z=9"), "axis Z is placed|It has X, Y", False),
    (hlo(TURNED, "--on", "tpu-v5e", "--axes", "X=9"), "9 physical axes|has 2", False),
    (hlo(SUM.replace("{{0,1,2,3},{4,5,6,7}}", "{{0,1,2,4}}"), "--on", "h100:16"), "{0,1,2,4}|no rows of a mesh", False),
    (hlo(MOVED, "--on", "tpu-v5e:4x4"), "device 16|has 16, from 0", False),
    (hlo(MOVED, "--on", "tpu-v5e:4x4", "--mesh", "X=4,Y=4"), "device 16|the mesh has 16", False),
    (hlo(DOT, "--mesh", "X=B"), "X is no number|X=8", False),
    (hlo("(" * 100_000), "no line of HLO, and no file", False),
    (hlo("%x = " + "(" * 100_000), "200 deep|No module is", True),
]


@pytest.mark.parametrize(("arguments", "words", "caret"), WRONG, ids=[" ".join(row[0])[:60] for row in WRONG])
def test_wrong_words(arguments: list[str], words: str, caret: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    found = capsys.readouterr()
    assert stopped.value.code == 2
    assert not found.out
    assert "fault of symscale" not in found.err
    assert all(word in found.err for word in words.split("|")), found.err
    assert any(line.strip() == "^" for line in found.err.splitlines()) == caret, found.err
    assert len(found.err) < 1200


def test_computations_that_call_themselves_end(capsys: pytest.CaptureFixture[str]) -> None:
    loop = "%f (a: f32[2]) -> f32[2] {\n %a = f32[2] parameter(0)\n ROOT %b = f32[2] fusion(%a), calls=%f\n}\n"
    entry = "ENTRY %m (a: f32[2]) -> f32[2] {\n %a = f32[2] parameter(0)\n ROOT %b = f32[2] OP(%a), calls=%f\n}"
    for op in ("fusion", "call"):
        with pytest.raises(SystemExit):
            main(hlo(loop.replace("fusion", op) + entry.replace("OP", op)))
        assert "f calls itself" in capsys.readouterr().err
    doubled = "".join(
        f"%f{n} (a: f32[2]) -> f32[2] {{\n %a = f32[2] parameter(0)\n"
        f" %b = f32[2] fusion(%a), calls=%f{n - 1}\n ROOT %c = f32[2] fusion(%a), calls=%f{n - 1}\n}}\n"
        for n in range(1, 40)
    )
    first = "%f0 (a: f32[2]) -> f32[2] {\n ROOT %a = f32[2] parameter(0)\n}\n"
    with pytest.raises(SystemExit):
        main(hlo(first + doubled + entry.replace("OP", "fusion").replace("%f\n", "%f39\n")))
    assert "more than 200,000 operations" in capsys.readouterr().err


def test_a_module_has_a_bound_however_it_overlaps(capsys: pytest.CaptureFixture[str]) -> None:
    wide = "%d = bf16[8192,8192] fusion(bf16[8192,4096] %x, bf16[4096,8192] %y), calls=%c"
    lines = "\n".join([wide, SUM.replace("8,64", "8192,64"), "%c = bf16[8192,64] copy(bf16[8192,64] %r)"])
    options = ("--on", "tpu-v5e", "--format", "json")
    found = json.loads(said(capsys, "hlo", lines, *options))
    parts = [each["seconds"] for each in found["operations"]]
    assert found["seconds"] == pytest.approx(sum(max(each.values()) for each in parts))
    assert found["seconds_overlapped"] == pytest.approx(parts[0]["compute"])
    between = (found["seconds"] + found["seconds_overlapped"]) / 2
    text = said(capsys, "hlo", lines, "--on", "tpu-v5e", "--measured", f"{1e6 * between:.3f} us")
    assert "faster than the bound" not in text
    assert "with all overlapped" in text


FORMS = [FUSED, DOT, SUM, *(" ".join(each[1:2]) for each in EXAMPLES)]
PIECES = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    "0",
    "99999999",
    "%",
    '"',
    "\n",
    "*",
    ":",
    "S(1)",
    "f32",
    "/*",
    "<=",
    "é",
]


def test_damaged_text_is_read_or_refused() -> None:
    dice = random.Random(9)
    refused = 0
    for _ in range(1500):
        text = dice.choice(FORMS)
        for _ in range(dice.randint(1, 3)):
            start, length = dice.randrange(len(text)), dice.randint(0, 8)
            text = text[:start] + dice.choice(["", *PIECES]) + text[start + length :]
        try:
            hlo_report(profile(read_hlo(text), {"X": 4, "Y": 2}, None, None, 5), "md")
        except SymscaleError:
            refused += 1
    assert 100 < refused < 1500


def test_a_huge_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "huge.txt"
    path.write_text("x" * 20_000_001, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(hlo(str(path)))
    assert "longer than 20 MB" in capsys.readouterr().err
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SystemExit):
        main(hlo(str(path)))
    assert "UTF-16 text, not UTF-8" in capsys.readouterr().err
