"""Every command once in each of its ways, and every example that the help and the docs print."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from pages import said

import symscale
from symscale.cli import cli, run
from symscale.cli.output import OwnCommand
from symscale.derivation import registry
from symscale.notation.formula import parse_formula, parse_relation

ROOT = Path(__file__).resolve().parent.parent
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
ONE = "x[B, D] * W[D, F] -> y[B, F]"
SMALL = """
from symscale import derivation

@derivation("own/roofline", title="A roofline of my own", source="nobody")
def roofline(d):
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", passes=("forward",))
    t = d.times(layer, "forward")
    d.crossover(t.math, ">=", t.hbm, "B", resource="hbm")
    d.evaluate(on="tpu-v5e", expect="240")
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library with one derivation of the user's own beside symscale's."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "own.py").write_text(SMALL, encoding="utf-8")
    monkeypatch.setattr(registry, "folders", lambda: (folder,))
    registry._files.cache_clear()
    yield folder
    registry._files.cache_clear()


def examples(text: str) -> list[list[str]]:
    """Return the commands of a help text or a page, with continued lines joined."""
    joined = text.replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in re.findall(r"^\s*(symscale (?!COMMAND).*)$", joined, re.MULTILINE)]


PAGE = "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("cli.md", "checking.md"))
BLOCKS = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
HELPED = [each for command in (cli, *cli.commands.values()) for each in examples(command.help or "")]
NEEDS_LIBRARY = ("show", "report", "list", "plot")  # test_plots.py runs those of plot
NEEDS_DOCUMENTS = ("audit", "render", "sync")  # test_docs.py runs those of the pages on documents
ELSEWHERE = {*NEEDS_LIBRARY, *NEEDS_DOCUMENTS}
RUNS = [each for each in (*examples(BLOCKS), *HELPED) if each[0] not in ELSEWHERE and ">" not in each]
# answers that are wrong, and lines that nothing explains, have exit code 1
WRONG = {"5100 tokens"}
RUNS = [each for each in RUNS if "answers.toml" not in each and each[0] != "grade"]
RUNS = [each for each in RUNS if ">>" not in each and "my.toml" not in each]


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_every_printed_example_runs(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    assert said(capsys, *arguments, code=int(not WRONG.isdisjoint(arguments))).strip()


def test_there_are_examples_for_every_command():
    assert {each[0] for each in HELPED} >= set(cli.commands)
    assert len(RUNS) > 12


def test_derive_answers_the_main_question(capsys):
    text = said(capsys, "derive", FSDP, "--solve", "B", "--on", "tpu-v5p")
    assert "B/X >= C/W_ici" in text
    assert "B/X >= 2550 tokens per chip" in text


@pytest.mark.parametrize(
    ("style", "mark"), [("text", "B >= C/W_hbm"), ("md", "$$"), ("latex", r"\frac"), ("json", '"schema"')]
)
def test_formats_on_the_terminal_and_in_a_file(style, mark, capsys, tmp_path):
    arguments = ["derive", ONE, "--solve", "B", "--passes", "forward", "--format", style]
    text = said(capsys, *arguments)
    assert mark in text
    file = tmp_path / "out"
    assert said(capsys, *arguments, "-o", str(file)) == ""
    assert file.read_text(encoding="utf-8") == text
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


# unknown, options, what the last step states: hardware follows from B/X >= b*C/(2*W) by hand
HARDWARE = [
    ("W_ici", ["--mesh", "X=16", "--set", "B=64k"], "W_ici >= 46.1719 GB/s"),  # 15*C/B, C = 1.97e14
    ("C", ["--mesh", "X=16", "--set", "B=64k"], "C <= 384 TFLOP/s"),  # B*W/15
    ("N_chips", ["--set", "B=64k"], "N_chips <= 29.2386 chips"),  # B*W/C
    ("X", ["--set", "B=64k"], "X <= 29.2386 chips"),
    ("W", ["--mesh", "X=16", "--set", "B=64k"], "W_ici >= 46.1719 GB/s"),
]


@pytest.mark.parametrize(("unknown", "options", "stated"), HARDWARE)
def test_what_hardware_is_needed(unknown, options, stated, capsys):
    program = "In[B_X, D] * W[D_X, F] -> Out[B_X, F]"
    arguments = ["derive", program, "--solve", unknown, "--on", "tpu-v5e", "--passes", "forward", *options]
    assert stated in said(capsys, *arguments).split("Answer")[-1]


def test_links_and_names(capsys):
    direct = said(capsys, "derive", ONE, "--passes", "forward", "--set", "F=4*D")
    assert "FLOPs = 8*B*D**2" in direct
    assert said(capsys, "derive", ONE, "--passes", "forward", "--set", "F=r*D", "--let", "r=4") == direct
    chained = said(capsys, "derive", ONE, "--passes", "forward", "--set", "F=4*D", "--set", "D=128*H")
    assert "FLOPs = 131072*B*H**2" in chained


def test_a_stack_of_layers_takes_as_many_times_longer(capsys):
    text = said(capsys, "derive", ONE, "--passes", "forward", "--layers", "32", "--solve", "B")
    assert "times of 32 layers" in text
    assert "T_math = 64*B*D*F/C" in text
    assert text.index("32 layers") < text.index("Answer")
    assert "T_math = 2*B*D*F*L/C" in said(capsys, "derive", ONE, "--passes", "forward", "--layers", "L")


def test_table(capsys):
    options = ["--on", "tpu-v5e", "--set", "D=8192,F=4*D", "--passes", "forward", "--table", "B=64:512:*2"]
    text = said(capsys, "derive", ONE, *options)
    rows = [line.split() for line in text.splitlines() if re.match(r"\s*\d+ ", line)]
    assert [row[0] for row in rows] == ["64", "128", "256", "512"]
    assert [row[-1] for row in rows] == ["HBM", "HBM", "compute", "compute"]  # 197e12/820e9 = 240
    assert rows[0][1:3] == ["174.4", "µs"]  # 2*64*8192*32768/197e12
    data = json.loads(said(capsys, "derive", ONE, *options, "--format", "json", "--layers", "10"))["table"]
    assert data["unknown"] == "B"
    first = data["passes"]["forward"][0]
    assert first["math"] == pytest.approx(10 * 2 * 64 * 8192 * 32768 / 197e12)
    assert first["hbm"] == pytest.approx(10 * 2 * (64 * 8192 + 8192 * 32768 + 64 * 32768) / 820e9)
    assert first["comms"] == 0
    for style, mark in (("md", "|--:|"), ("latex", r"\begin{tabular}")):
        assert mark in said(capsys, "derive", ONE, *options, "--format", style)


def test_table_names_the_network(capsys):
    text = said(
        capsys, "derive", FSDP, "--on", "tpu-v5p", "--mesh", "X=16", "--set", "D=8192,F=32768", "--passes", "forward",
        "--table", "B=32k,64k",
    )  # fmt: skip
    assert [line.split()[-1] for line in text.splitlines()[-2:]] == ["network", "compute"]  # 15/16 * 16 * 2550 = 38250


def test_solve_prints_cases_limit_and_number(capsys):
    relation = "2*B*D*F/C >= b*(B*D + D*F + B*F)/W_hbm"
    text = said(capsys, "solve", relation, "--for", "B", "--on", "tpu-v5e", "--assume", "B << D, F")
    assert "no B is enough" in text
    assert "B >= 240.244 tokens" in text
    document = json.loads(said(capsys, "solve", relation, "--for", "B", "--format", "json"))
    assert document["schema"].startswith("symscale.derivation/")
    found = document["crossovers"][0]
    assert [len(each["intervals"]) for each in found["cases"]] == [1, 0]
    for each in (found["lhs"], found["rhs"], found["cases"][0]["intervals"][0]["lo"]):
        parse_formula(each)
    for step in document["steps"]:
        assert step["checks"]
        assert all(parse_relation(each) for each in step["equation"])


def test_solve_with_names_and_the_dtype_form(capsys):
    text = said(
        capsys, "solve", "T1 > T2", "--for", "B", "--let", "T1=2*B*D*F/C", "--let", "T2=2*D*F/W_ici", "--on", "tpu-v5e"
    )
    assert "this is the dtype form" in " ".join(text.split())
    assert "B > 2188.89" in text  # 197e12/90e9, strict as asked


def test_solve_keeps_equations_and_links(capsys):
    assert "x = 3" in said(capsys, "solve", "2*x = 6", "--for", "x")
    assert "x >= 2*a" in said(capsys, "solve", "x >= y", "--for", "x", "--set", "y=2*a")
    assert "x >= 10" in said(capsys, "solve", "x >= y", "--for", "x", "--set", "y=2*a,a=5")


def test_unit_of_an_own_symbol(capsys):
    assert "V >= " in said(capsys, "solve", "V/W_x >= T_hop", "--for", "V", "--unit", "V=B", "--unit", "W_x=B/s")
    assert run(["solve", "V/W_x >= T_hop", "--for", "V", "--unit", "V=B", "--unit", "W_x=B"]) == 2
    assert "`T_hop` (in s)" in capsys.readouterr().err


GATHER = "A[I, J_X] -> G[I, J]; G * B[J, K] -> C[I, K]"
REDUCE = "A[I, J_X] * B[J_X, K] -> C[I, K]"


def test_compare_gather_with_reduce(capsys):
    text = said(capsys, "compare", GATHER, REDUCE, "--solve", "J")
    # gathering sends J/(2K) of what the AllReduce sends, and computes X times as much
    assert "J <= 2*K" in text or "min(b*C/W_ici, 2*K)" in text or "min(2*K, b*C/W_ici)" in text
    assert "there the first program is at least as fast" in text
    assert "case 2" not in text  # X*C against W_ici decides nothing, though the solver splits there
    numbers = ["--on", "tpu-v5e", "--set", "I=512,J=8192,K=4096", "--mesh", "X=4"]
    text = said(capsys, "compare", GATHER, REDUCE, *numbers)
    # 2*512*8192*4096/197e12 against 2*(3/4)*2*512*4096*2/90e9 (a line of 4 is bound by its link)
    assert "The second program is 1.248 times as fast as the first." in text
    assert "The first program is 1.248 times as fast as the second." in said(
        capsys, "compare", REDUCE, GATHER, *numbers
    )
    assert "Both programs take the same time." in said(capsys, "compare", GATHER, GATHER, *numbers)


def test_compare_one_axis_with_two(capsys):
    one, two = "In[B_Z, D] * W[D_Z, F] -> Out[B_Z, F]", "In[B_X, D_Y] * W[D_X, F_Y] -> Out[B_X, F_Y]"
    document = json.loads(said(capsys, "compare", one, two, "--mesh", "Z=X*Y", "--format", "json"))
    exact, near = document["crossovers"]
    assert (exact["form"], near["form"]) == ("exact", "approx")
    assert near["assumptions"] == ["X, Y >> 1"]
    lo = parse_formula(near["cases"][0]["intervals"][0]["lo"]).expr
    assert lo == parse_formula("min(F*X, b*C*X*Y/(2*W_ici))").expr
    assert all(step["checks"] for step in document["steps"])


def test_library_is_listed_shown_and_rendered(library, capsys, tmp_path):
    assert "own/roofline  A roofline of my own  (nobody)" in said(capsys, "list")
    assert "240.244" in said(capsys, "show", "own/roofline")
    assert r"\frac" in said(capsys, "show", "own/roofline", "--format", "latex")
    assert json.loads(said(capsys, "show", "own/roofline", "--format", "json"))["title"] == "A roofline of my own"
    target = str(tmp_path / "reports")
    assert "stale" in said(capsys, "report", target, "--check", code=1)
    assert not Path(target).exists()
    assert "written" in said(capsys, "report", target)
    assert said(capsys, "report", target, "--check") == "Every report is current.\n"


def test_ctrl_c_in_a_report_leaves_whole_files(library, capsys, tmp_path, monkeypatch):
    import os

    true_replace, done = os.replace, []

    def replace(*paths):
        if done:
            raise KeyboardInterrupt
        done.append(paths)
        true_replace(*paths)

    monkeypatch.setattr(os, "replace", replace)
    target = tmp_path / "reports"
    assert run(["report", str(target)]) == 2
    assert "interrupted" in capsys.readouterr().err
    left = list(target.iterdir())
    assert len(left) == 1
    assert left[0].read_text(encoding="utf-8").strip()


def test_machines(capsys):
    text = said(capsys, "machines")
    assert len([line for line in text.splitlines() if line.startswith("tpu")]) >= 5
    text = said(capsys, "machines", "v5p")
    assert re.search(r"network\.ici\.bandwidth\s+9 × 10\^10\s+B/s\s+one way per link\s+How To Scale", text)
    assert re.search(r"hbm\.capacity\s+96\s+GB", text)  # as the source states it, not in bytes
    assert re.search(r"also stated\s+50\s+Gbit/s", text)


#: Commands that know the files of a document, or none: the others know those of the folder they run in.
NOT_OF_THE_FOLDER = {"audit", "bib", "completion", "coverage", "macros", "render", "report", "sync"}


def test_commands_know_the_derivations_and_chips_of_their_folder(capsys, tmp_path, monkeypatch):
    assert {name for name, each in cli.commands.items() if not isinstance(each, OwnCommand)} == NOT_OF_THE_FOLDER
    (tmp_path / "mine").mkdir()
    (tmp_path / "deep").mkdir()
    (tmp_path / "symscale.toml").write_text('derivations = ["mine"]\nmachines = ["chip.toml"]\n')
    (tmp_path / "chip.toml").write_text(OWN_CHIP)
    (tmp_path / "mine" / "own.py").write_text(OWN_DERIVATION)
    for folder in (tmp_path, tmp_path / "deep"):
        monkeypatch.chdir(folder)
        assert "own/matmul" in said(capsys, "list")
        assert "my-chip" in said(capsys, "machines")
        assert "B >= 250 tokens" in said(
            capsys, "derive", ONE, "--solve", "B", "--on", "my-chip", "--passes", "forward"
        )
        assert said(capsys, "check", "own/matmul", "250 tokens").startswith("Right.")
        assert "on My chip" in said(capsys, "exercise", "own/matmul")
        assert "own/matmul" in said(capsys, "exercises", "--chapter", "own")
        assert "b*C/(2*W_hbm)" in said(capsys, "show", "own/matmul")
        complete = ShellComplete(cli, {}, "symscale", "_SYMSCALE_COMPLETE")
        assert [each.value for each in complete.get_completions(["check"], "own")] == ["own/matmul"]
        assert [each.value for each in complete.get_completions(["derive", "--on"], "my")] == ["my-chip"]
    (tmp_path / "symscale.toml").write_text("machine = 1")
    assert run(["list"]) == 2
    assert "Did you mean machines?" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path.parent)
    assert "own/matmul" not in said(capsys, "list")


OWN_CHIP = """
name = "my-chip"
title = "My chip"
source = "a test"
[peak]
bf16 = { value = 500, unit = "TFLOP/s" }
[hbm]
bandwidth = { value = 2, unit = "TB/s" }
"""
OWN_DERIVATION = """
from symscale import derivation

@derivation("own/matmul", title="A product of my own")
def matmul(d):
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", passes=["forward"])
    t = d.times(layer)
    d.crossover(t.math, ">=", t.hbm, "B", passes="forward", resource="hbm")
    d.evaluate(on="my-chip", expect="250")
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell, capsys):
    assert "_SYMSCALE_COMPLETE" in said(capsys, "completion", shell)


def test_completion_knows_chips_and_ids(library):
    complete = ShellComplete(cli, {}, "symscale", "_SYMSCALE_COMPLETE")
    assert "tpu-v5p" in [each.value for each in complete.get_completions(["derive", "--on"], "tpu-v5")]
    assert [each.value for each in complete.get_completions(["show"], "own")] == ["own/roofline"]


def test_public_names_exist_and_importing_them_costs_nothing():
    for name in symscale.__all__:
        assert getattr(symscale, name) is not None
    assert {"derive", "Question", "Builder", "derivation", "crossover", "machine"} <= set(dir(symscale))
    assert symscale.machine("v5p").name == "tpu-v5p"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = symscale.nothing


COLD = """
import sys
import symscale
assert "sympy" not in sys.modules
from symscale.cli import run
assert "sympy" not in sys.modules
assert run({arguments!r}) == 0
loaded = [each for each in ("numpy", "jinja2", "pybtex", "matplotlib", "IPython", "tomllib") if each in sys.modules]
assert loaded == {loaded!r}, loaded
"""


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["derive", FSDP, "--solve", "B"], []),
        (["derive", FSDP, "--solve", "B", "--on", "tpu-v5p"], ["tomllib"]),
        (["solve", "2*x >= y", "--for", "x"], []),
        (["derive", ONE, "--format", "json"], []),
    ],
)
def test_a_cold_command_loads_only_what_it_uses(arguments, loaded):
    code = COLD.format(arguments=arguments, loaded=loaded)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", list(cli.commands))
def test_examples_of_the_help_stand_on_lines_of_their_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run([name, "--help"])
    shown = capsys.readouterr().out
    assert "\\b " not in shown
    assert [line for line in shown.splitlines() if line.count(f"symscale {name} ") > 1] == []
