"""`symscale model`: its four formats, its examples, and what it says to wrong words."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest
from pages import examples, page

from symscale.cli import run
from symscale.notation.formula import parse_formula
from symscale.notation.latex import to_latex
from symscale.report.wide import width
from symscale.transformer import catalogue, model, parameter_count, values
from symscale.transformer.breakdown import Asked, breakdown
from symscale.vocabulary import symbol

ROOT = Path(__file__).resolve().parent.parent
PAGE = page("models")
EXAMPLES = examples(PAGE)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what `symscale model` prints to arguments that are well."""
    return pages.said(capsys, "model", *arguments)


@pytest.mark.parametrize("arguments", EXAMPLES, ids=" ".join)
def test_every_example_of_the_page_runs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, *arguments[1:]).strip()


def test_the_own_form_of_the_page_is_the_textbooks_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.json"
    file.write_text(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0], encoding="utf-8")
    assert "18,385,207,296 parameters" in said(capsys, str(file))


def test_the_list_has_every_model(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys)
    for name in catalogue():
        assert re.search(rf"^{re.escape(name)}  .* {parameter_count(model(name)):,}  ", text, re.MULTILINE)


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "llama3-70b", "--seq", "8192", "--batch", "4", "--tokens", "15e12")
    for line in (
        r"llama3-70b (llama): 70,553,706,496 parameters",
        r"MLP          3*D*F*L                56,371,445,760     79.9 %",
        r"scores       2*L*H*N_heads*(T + 1)  10.7387 GFLOP  7.17 %",
        r"full, per token      2*b*L*H*K     327.68 kB",
        "From sequences of 86,015 tokens on the scores cost as much as the feed-forward blocks.",
    ):
        assert line in text
    assert all(len(line) <= 120 for line in text.splitlines())


@pytest.mark.parametrize("name", ["gpt2", "deepseek-v3", "gemma2-9b", "gpt-oss-20b", "llama4-scout"])
def test_json_reads_back(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(said(capsys, name, "--seq", "1024", "--format", "json"))
    assert document["schema"] == "symscale.model/1.0"
    found = breakdown(model(name), Asked(seq=1024))
    for section, written in zip(found.sections, document["sections"], strict=True):
        for row, cells in zip(section.lines, written["rows"], strict=True):
            assert (parse_formula(cells["form"]).expr - row.form).expand() == 0, cells
            assert (parse_formula(cells["value"]).expr - row.value).expand() == 0, cells
    rows = {row["label"]: row for row in document["sections"][0]["rows"]}
    numbers = {symbol(key): value for key, value in document["sizes"].items()}
    assert int(rows["total"]["value"]) == parameter_count(model(name))
    assert parse_formula(rows["total"]["form"]).expr.subs(numbers) == parameter_count(model(name))
    assert numbers == values(model(name))


@pytest.mark.parametrize("name", ["gpt2", "deepseek-v3", "llama4-scout"])
def test_markdown_and_latex_have_the_same_rows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    marked, typeset = (said(capsys, name, "--format", style) for style in ("md", "latex"))
    rows = [line for line in marked.splitlines() if line.startswith("| ")]
    assert len([line for line in typeset.splitlines() if line.endswith(r"\tabularnewline")]) == len(rows)
    forms = [to_latex(row.form) for each in breakdown(model(name)).sections for row in each.lines if not row.plain]
    assert forms
    assert all(form in marked for form in forms)
    # a long one is set on several lines
    assert all(form in typeset for form in forms if width(form) < 40)
    assert typeset.count(r"\begin{tabular}") == typeset.count(r"\end{tabular}") == 5


def test_not_causal_doubles_the_scores(capsys: pytest.CaptureFixture[str]) -> None:
    assert "4*T*L*H*N_heads" in said(capsys, "gpt2", "--not-causal")
    assert "2*L*H*N_heads*(T + 1)" in said(capsys, "gpt2")


def test_thousands_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--seq 32k is 32,000; 32,768 is written 32Ki." in said(capsys, "llama3-8b", "--seq", "32k")
    assert "written" not in said(capsys, "llama3-8b", "--seq", "32Ki")


WRONG = [
    (["lama3-70b"], "No model is called 'lama3-70b'|Did you mean llama3-70b"),
    (["none/config.json"], "none/config.json cannot be read: No such file|config.json"),
    (["gpt2", "--seq", "0"], "--seq is '0'|positive whole number"),
    (["gpt2", "--seq", "-4"], "--seq is '-4'|positive whole number"),
    (["gpt2", "--seq", "1.5"], "--seq is '1.5'|positive whole number"),
    (["gpt2", "--seq", "1e30"], "--seq is '1e30'|positive whole number"),
    (["gpt2", "--seq", "1e30"], "up to 1,000,000,000,000,000,000"),
    (["gpt2", "--seq", "5000"], "gpt2 has learned 1,024 positions|5,000 tokens|--seq 1024"),
    (["opt-125m", "--seq", "2049"], "learned 2,048 positions|2,049 tokens"),
    (["gpt2", "--blocks", "--format", "json"], "printed as text only|--format json"),
    (["gpt2", "--blocks", "--seq", "100"], "no use for --seq"),
    (["--seq", "100"], "list of known models has no use for --seq"),
    (["--format", "json"], "printed as text only|Name a model"),
    (["--blocks"], "no use for --blocks|name a model"),
    (["gpt2", "--seq", "T"], "--seq is 'T'|positive whole number"),
    (["gpt2", "--seq", ""], "--seq is empty"),
    (["gpt2", "--batch", "4"], "A batch of sequences needs their length|--seq"),
    (["gpt2", "--dtype", "bf17"], "Unknown dtype 'bf17'|bf16"),
    (["gpt2", "--kv-dtype", "x"], "Unknown dtype 'x'"),
    (["gpt2", "--remat", "half"], "Unknown rematerialisation 'half'|none, selective, scores, full"),
    (["gpt2", "--format", "xml"], "Unknown format 'xml'|text, md, latex, json"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[" ".join(w[0]) for w in WRONG])
def test_wrong_words_are_answered(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["model", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("symscale: ")
    assert "fault of symscale" not in captured.err
    for word in words.split("|"):
        assert word in captured.err


def test_a_file_with_a_strange_name_does_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a|b_$\\input{x}<i>.json"
    file.write_text(json.dumps(catalogue()["gpt2"].fields), encoding="utf-8")
    assert r"\input{x}" not in said(capsys, str(file), "--format", "latex")
    assert not re.search(r"(?<!\\)<i>", said(capsys, str(file), "--format", "md"))


COLD = """
import sys
from symscale.cli import run
assert run(["model", "llama3-8b"]) == 0
loaded = [each for each in ("numpy", "jinja2", "matplotlib", "torch", "transformers") if each in sys.modules]
assert not loaded, loaded
"""


def test_a_cold_command_loads_only_what_it_uses() -> None:
    done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
