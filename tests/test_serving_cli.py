"""`symscale serve`: its formats, the examples of its page, and what it says to wrong words."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from pages import examples, page, said

from symscale.cli import run
from symscale.notation.formula import parse_formula
from symscale.transformer.serving_table import MOST_ROWS

PAGE = page("serving")
EXAMPLES = examples(PAGE)
PLAIN = ("serve", "llama2-13b", "--on", "tpu-v5e:4x4")
FULL = (*PLAIN, "--prompt", "4096", "--generate", "256", "--draft", "0.1", "--accept", "0.8", "--page", "16")


@pytest.mark.parametrize("arguments", EXAMPLES, ids=" ".join)
def test_every_example_of_the_page_runs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, *arguments).strip()


def test_the_numbers_of_the_page_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert shown
    text = said(capsys, *EXAMPLES[0])
    for block in shown:
        assert block.rstrip() in text


@pytest.mark.parametrize("style", ["text", "md", "latex", "json"])
def test_every_format_has_every_part(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *FULL, "--format", style)
    for part in ("Memory", "A decode step", "How large a slice pays", "Prefill", "Speculative decoding", "Pages of 16"):
        assert part in text
    assert "nan" not in text.lower().replace("nano", "")
    assert "inf" not in re.findall(r"\b\w+\b", text)


def test_markdown_rows_have_as_many_cells_as_their_head(capsys: pytest.CaptureFixture[str]) -> None:
    for table in re.findall(r"(?:^\|.*\|$\n?)+", said(capsys, *FULL, "--format", "md"), re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
        assert len(counts) == 1


def test_json_says_what_the_table_says(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, *FULL, "--format", "json"))
    assert found["schema"] == "symscale.serve/1.0"
    assert (found["chips"], found["largest_batch"], found["fits"]) == (16, 34, True)
    rows = list(csv.DictReader(io.StringIO(said(capsys, *PLAIN, "--csv"))))
    assert [int(row["batch"]) for row in rows] == [row["batch"] for row in found["rows"]]
    for row, other in zip(rows, found["rows"], strict=True):
        assert float(row["step_s"]) == pytest.approx(other["step_s"])
        assert (row["pareto"] == "true") is other["pareto"]
    for section in found["sections"]:
        for line in section["rows"]:
            parse_formula(line["form"])


def test_a_batch_that_does_not_fit_is_said_in_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *PLAIN, "--batch", "32,64")
    assert re.search(r"^\s*64 .*does not fit$", text, re.MULTILINE)
    assert "Of the batches 1 cannot be held: at most 34 sequences fit." in " ".join(text.split())
    found = json.loads(said(capsys, *PLAIN, "--batch", "32,64", "--format", "json"))
    assert [row["fits"] for row in found["rows"]] == [True, False]


def test_a_draft_may_be_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(
        capsys, "serve", "llama3-70b", "--on", "h100:8", "--draft", "llama3-8b", "--accept", "0.8", "--batch", "1"
    )
    assert re.search(r"B = 1, [1-9]\d* drafted", text)


def test_lengths_in_thousands_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert "8192 is" not in said(capsys, *PLAIN)
    assert "8,000" in said(capsys, *PLAIN, "--context", "8k")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("serve", "nothing-such", "--on", "tpu-v5e:4x4"), "No model is called"),
        (("serve", "llama2-13b"), "where the model is served"),
        (("serve", "llama2-13b", "--on", "h100", "--machine", "my.toml"), "Both"),
        (("serve", "llama2-13b", "--machine", "nowhere.toml"), "nowhere.toml"),
        (("serve", "llama2-13b", "--on", "tpu-v5e:4x40"), "no such slice"),
        (("serve", "llama2-13b", "--on", "tpu-v5:4x4"), "No chip is called"),
        (("serve", "llama2-13b", "--on", "h100:9"), "no such cluster"),
        (("serve", "llama3-405b", "--on", "tpu-v5e:2x2"), "it does not fit"),
        ((*PLAIN, "--batch", "0"), "no number of sequences"),
        ((*PLAIN, "--batch", "-4"), "no number of sequences"),
        ((*PLAIN, "--batch", "1.5"), "no number of sequences"),
        ((*PLAIN, "--batch", "1e40"), "no number of sequences"),
        ((*PLAIN, "--batch", "nan"), "nan"),
        ((*PLAIN, "--batch", "inf"), "inf"),
        ((*PLAIN, "--batch", "8:4:*2"), "never arrives"),
        ((*PLAIN, "--batch", "1:8:*1"), "never arrives"),
        ((*PLAIN, "--batch", f"1:{MOST_ROWS + 1}:1"), "rows"),
        ((*PLAIN, "--batch", "5000"), "at most 34"),
        ((*PLAIN, "--batch", ""), "--batch is empty"),
        ((*PLAIN, "--context", "0"), "--context"),
        ((*PLAIN, "--context", "nan"), "--context"),
        ((*PLAIN, "--context", "1e30"), "--context"),
        ((*PLAIN, "--context", "1e9"), "does not fit"),
        ((*PLAIN, "--prompt", "-1"), "--prompt"),
        ((*PLAIN, "--prompt", "9000"), "--context 9000"),
        ((*PLAIN, "--generate", "10"), "--prompt"),
        ((*PLAIN, "--weights", "int3"), "Unknown dtype"),
        ((*PLAIN, "--cache", "int3"), "Unknown dtype"),
        ((*PLAIN, "--compute", "fp64"), "no peak"),
        ((*PLAIN, "--experts", "some"), "Unknown choice"),
        ((*PLAIN, "--accept", "0.5"), "--draft"),
        ((*PLAIN, "--draft", "0.5"), "--accept"),
        ((*PLAIN, "--draft", "0.1", "--accept", "1"), "between 0 and 1"),
        ((*PLAIN, "--draft", "0.1", "--accept", "nan"), "nan"),
        ((*PLAIN, "--draft", "-1", "--accept", "0.5"), "--draft"),
        ((*PLAIN, "--draft", "0", "--accept", "0.5"), "--draft"),
        ((*PLAIN, "--draft", "nothing-such", "--accept", "0.5"), "No model is called"),
        ((*PLAIN, "--page", "0"), "--page"),
        ((*PLAIN, "--format", "xml"), "Unknown format"),
        ((*PLAIN, "--csv", "--format", "json"), "both given"),
    ],
    ids=lambda each: " ".join(each[3:]) if isinstance(each, tuple) else "",
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
