"""Notebooks: what every public result shows, the magics, and a whole notebook run by a real kernel (`make verify`)."""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import symscale
from symscale.cli.magics import MagicError, derived
from symscale.derivation.registry import blackboard
from symscale.derivation.step import Derivation, Step, doubled
from symscale.errors import MissingError
from symscale.shown import Shown

EXAMPLE = Path(__file__).resolve().parent.parent / "docs" / "examples" / "fsdp.ipynb"
FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
SMALL = "x[B, D] * W[D, F] -> y[B, F]"


class Shell:
    """What the magics need of IPython."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def push(self, names: dict[str, Any]) -> None:
        self.names |= names


class Printer:
    def __init__(self) -> None:
        self.said = ""

    def text(self, said: str) -> None:
        self.said += said


def plain(value: Shown) -> str:
    printer = Printer()
    value._repr_pretty_(printer, False)
    return printer.said


@cache
def answer() -> Any:
    return symscale.derive(symscale.Question(FSDP, solve="B", on="tpu-v5p", passes="forward"))


def results() -> dict[str, Shown]:
    board = symscale.Builder("A board")
    board.program(FSDP)
    sizes = symscale.parse_assignments("D=8192,F=4*D")
    batch, bound = symscale.parse_formula("B").expr, symscale.parse_formula("(B + D)/W_hbm").expr
    solution = symscale.crossover(symscale.parse_formula("2*B*D/C").expr, ">=", bound, batch)
    asked = symscale.Asked("2*B*D/C >= b*D/W_hbm", "B", {}, {}, {})
    on_a_chip = symscale.derive(symscale.Question(SMALL, on="tpu-v5e", values=sizes))
    compared = symscale.compare(
        symscale.Question("A[I, J_X] * B[J, K] -> C[I, K]", solve="J"), "A[I, J] * B[J, K] -> C[I, K]"
    )
    return {
        "answer": answer(),
        "derivation": answer().derivation,
        "step": answer().derivation.steps[0],
        "crossover": answer().crossovers[answer().headline],
        "layer": answer().layer,
        "program": answer().layer.program,
        "times": answer().times["forward"],
        "board": board,
        "compared": compared,
        "solved": symscale.solve_relation(asked),
        "table": symscale.tabulated(on_a_chip, "B=1:64:*4"),
        "chip": symscale.machine("tpu-v5p"),
        "cluster": symscale.machine("h100:1024"),
        "training": symscale.training(board, "llama3-8b"),
        "inference": symscale.inference(board, "llama3-8b"),
        "solution": solution,
        "case": solution.cases[0],
        "interval": solution.cases[0].intervals[0],
        "relation": solution.relation,
        "limit": symscale.Limit(batch, (symscale.symbol("D"),)),
        "figure": symscale.written("training/regimes").figures[0],
    }


# what each shows, and words that stand in it and in its text
SHOWN = {
    "answer": ("markdown", r"\frac{B}{X} \ge \frac{bC}{2W_\text{ici}}", "B/X >= b*C/(2*W_ici)"),
    "derivation": ("markdown", "AllGather_X", "AllGather_X"),
    "step": ("markdown", "**The program.**", "The program"),
    "crossover": ("markdown", "2550 tokens per chip", "2550 tokens per chip"),
    "layer": ("markdown", r"\text{FLOPs} = \frac{4BDF}{X}", "FLOPs = 4*B*D*F/X"),
    "program": ("markdown", f"```text\n{FSDP}\n```", FSDP),
    "times": ("latex", r"T_\text{math} &= \frac{4BDF}{XC}", "T_math = 4*B*D*F/(X*C)"),
    "board": ("markdown", FSDP, FSDP),
    "compared": ("markdown", "First program", "First program"),
    "solved": ("markdown", r"\frac{Cb}{2W_\text{hbm}}", "C*b/(2*W_hbm)"),
    "table": ("markdown", "| 4 | 10.90 µs |", "10.90 µs"),
    "chip": ("markdown", r"$4.59 \times 10^{14}$", "4.59 × 10^14"),
    "cluster": ("markdown", "Network nvlink", "Network nvlink"),
    "training": ("markdown", "| MLP | $3DFL$ |", "3*D*F*L"),
    "inference": ("markdown", "FLOPs of attention", "FLOPs of attention"),
    "solution": ("latex", r"\emptyset & D \le \frac{C}{2W_\text{hbm}}", "never"),
    "case": ("latex", r"\text{if } D > ", "D > "),
    "interval": ("latex", r"\infty\right)", "oo"),
    "relation": ("latex", r"\frac{2BD}{C} \ge", ">="),
    "limit": ("latex", r"B \ll D", "B << D"),
    "figure": ("svg", "<svg ", "communication-bound"),
}


@cache
def every() -> dict[str, Shown]:
    return results()


@pytest.mark.parametrize("name", SHOWN)
def test_a_result_shows_itself_in_one_form_and_as_text(name: str) -> None:
    if name == "figure":
        pytest.importorskip("matplotlib", reason="plots need the extra `plots`")
    value, (form, inside, text) = every()[name], SHOWN[name]
    forms = {"markdown": value._repr_markdown_(), "latex": value._repr_latex_(), "svg": value._repr_svg_()}
    assert {each for each, said in forms.items() if said is not None} == {form}
    assert inside in (forms[form] or "")
    assert text in plain(value)


def test_a_public_result_shows_itself() -> None:
    shown = {type(each).__name__ for each in every().values()}
    values = {name for name in symscale.__all__ if isinstance(getattr(symscale, name), type)}
    others = {"Asked", "Question", "SymscaleError", "Layout"}  # what is asked, and what is refused
    assert values - others - {"Answered", "Compared"} <= shown | {"Step"}


def test_a_plot_stands_in_its_derivation() -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra `plots`")
    shown = symscale.written("training/regimes")._repr_markdown_()
    found = re.search(r'<img width="\d+" alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)">', shown or "")
    assert found is not None
    assert "communication-bound" in found[1]
    root = ElementTree.fromstring(base64.b64decode(found[2]))
    assert root.tag.endswith("svg")


def test_without_matplotlib_a_plot_is_its_words_and_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(figure: object) -> str:
        raise MissingError("Drawing a figure needs matplotlib, which is not installed.")

    monkeypatch.setattr("symscale.report.drawing.svg", missing)
    derivation = symscale.written("training/regimes")
    (figure,) = derivation.figures
    assert figure._repr_svg_() is None
    for shown in (figure._repr_markdown_() or "", derivation._repr_markdown_() or ""):
        assert "pip install 'symscale[plots]'" in shown
        assert "<img" not in shown


def test_a_step_whose_check_fails_is_not_shown() -> None:
    derivation = symscale.written("training/fsdp")
    at = next(n for n, each in enumerate(derivation.steps) if each.equations)
    wrong = Derivation("", (doubled(derivation.steps[at], 0),))
    assert (wrong._repr_markdown_() or "").startswith("```text\n")
    step: Step = wrong.steps[0]
    assert "```text" in (step._repr_markdown_() or "")


@pytest.mark.parametrize("id", ["training/fsdp", "training/regimes", "collectives/summary"])
def test_a_board_shows_what_is_written_so_far(id: str) -> None:
    assert blackboard(id)._repr_markdown_() == symscale.written(id)._repr_markdown_()


def test_the_cell_is_the_program_and_the_arrow_names_the_answer() -> None:
    shell = Shell()
    found = derived(shell, "--solve B --on tpu-v5p --passes forward -> answer", f"\n{FSDP}\n")
    assert found is shell.names["answer"]
    assert found is not None
    assert found._repr_markdown_() == answer()._repr_markdown_()


def test_several_lines_are_several_statements() -> None:
    found = derived(Shell(), "--passes forward", "h[B, F] = x[B, D_Y] * W[D, F_Y]\ny[B, D] = h * V[F, D]\n")
    one = symscale.derive(symscale.Question("h[B, F] = x[B, D_Y] * W[D, F_Y]; y[B, D] = h * V[F, D]", passes="forward"))
    assert found is not None
    assert found._repr_markdown_() == one._repr_markdown_()


def test_a_line_has_its_program_in_quotes() -> None:
    shell = Shell()
    found = derived(shell, f'"{FSDP}" --solve B --on tpu-v5p --passes forward')
    assert found is not None
    assert found._repr_markdown_() == answer()._repr_markdown_()
    assert shell.names == {}


def test_a_table_is_a_second_part() -> None:
    shell = Shell()
    derived(shell, '--on tpu-v5e --set D=8192,F=4*D --passes forward --table "B=1:64:*4" -> small, table', SMALL)
    assert [type(each).__name__ for each in shell.names.values()] == ["Answered", "Table"]
    both = derived(shell, '--on tpu-v5e --set D=8192,F=4*D --passes forward --table "B=1:64:*4" -> both', SMALL)
    assert both is shell.names["both"]
    assert both is not None
    shown = both._repr_markdown_() or ""
    assert shown.index("The program") < shown.index("| 4 | 10.90 µs |")


def test_a_format_prints_the_source(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert derived(Shell(), "--passes forward --format latex", SMALL) is None
    assert r"\begin{align*}" in capsys.readouterr().out
    file = tmp_path / "fsdp.tex"
    assert derived(Shell(), f"--passes forward --format latex -o '{file}'", SMALL) is None
    assert r"\begin{align*}" in file.read_text(encoding="utf-8")
    assert derived(Shell(), "--help") is None
    assert "--solve" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("--solve Q", FSDP, "symscale: Q does not occur in the program.\n    Q\n    ^\n"),
        ("--solve B", "In[B_X, D] * W[D_X, F", "This '[' is never closed.\n    In[B_X, D] * W[D_X, F\n             "),
        ("--solve B", "A[I, J] * B[J, K] -> C[I, K]\nC ** D", "    C ** D\n       ^"),
        ("--slove B", FSDP, "No such option '--slove'."),
        ("--solve B extra", FSDP, "extra"),
        ("--solve", FSDP, "--solve"),
        ('--solve "B', FSDP, "This quote has no end."),
        ("-> 3x", FSDP, "'3x' is no name of a variable."),
        ("->", FSDP, "The arrow names no variable."),
        ("-> a, b", FSDP, "There are 2 names, and the answer has 1 part."),
        (SMALL, None, "a program on the line stands in quotes"),
        ("", "  \n", "The cell has no program."),
        ("--on tpu-v9", FSDP, "tpu-v9"),
        ("--format pdf", FSDP, "Unknown format 'pdf'."),
        ("", f"{'(' * 5000}x", ""),
        ("--solve B", "A[I]{__import__('os').getcwd()}", "^"),
    ],
)
def test_a_wrong_cell_is_one_message(line: str, cell: str | None, said: str) -> None:
    shell = Shell()
    with pytest.raises(MagicError) as refused:
        derived(shell, line, cell)
    shown = "\n".join(refused.value._render_traceback_())
    assert said in shown
    assert shown.startswith("symscale: ")
    assert "Traceback" not in shown
    assert shell.names == {}


def test_the_package_is_an_extension() -> None:
    assert callable(symscale.load_ipython_extension)


def run(source: list[str], **options: Any) -> Any:
    """Run cells by a real kernel and return the notebook."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in source])
    return nbclient.NotebookClient(book, timeout=120, kernel_name="python3", **options).execute()


def kinds(cell: Any) -> list[set[str]]:
    return [set(each.get("data", {})) for each in cell.outputs]


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_example_runs_and_shows_what_it_says() -> None:
    cells = json.loads(EXAMPLE.read_text(encoding="utf-8"))["cells"]
    assert not any(each.get("outputs") for each in cells), "the example is kept without outputs"
    sources = ["".join(each["source"]) for each in cells if each["cell_type"] == "code"]
    by_source = {each.source: each for each in run(sources).cells}
    shown = {each: kinds(by_source[each]) for each in sources}
    formula = {"text/latex", "text/plain"}
    for each, found in shown.items():
        if each.startswith("%load_ext"):
            assert found == []
        elif "print(" in each:
            assert by_source[each].outputs[0]["text"] == "C*b/(2*W_ici) = 2550.0 tokens per chip\n"
        elif each.startswith("answer.times") or "crossover(" in each:
            assert found == [formula], each
        else:
            assert found == [{"text/markdown", "text/plain"}], each
    plotted = next(each for each in sources if "training/regimes" in each)
    assert "data:image/svg+xml;base64," in by_source[plotted].outputs[0]["data"]["text/markdown"]
    katex([each for cell in by_source.values() for each in cell.outputs if "data" in each])


def katex(outputs: list[Any]) -> None:
    """Let KaTeX read every formula of outputs, where node has it."""
    from test_katex import SCRIPT, node

    if node("require('katex')", "").returncode:
        pytest.skip("katex is not installed, so it did not check the formulas: npm install katex, and set NODE_PATH")
    formulas = []
    for each in outputs:
        shown = each["data"].get("text/markdown", each["data"].get("text/latex", ""))
        shown = re.sub(r"(`+)[^`].*?\1|\\\$|<img[^>]*>", "", shown, flags=re.DOTALL)
        formulas += [(found, True) for found in re.findall(r"\$\$(.+?)\$\$", shown, re.DOTALL)]
        formulas += [
            (found, False) for found in re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.+?\$\$", "", shown, flags=re.DOTALL))
        ]
    assert len(formulas) > 50
    checked = node(SCRIPT, json.dumps(formulas))
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout) == []


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_error_of_a_cell_is_one_message_and_braces_are_not_run_as_python() -> None:
    cells = [
        "%load_ext symscale\nsaved = 'wrong'",
        f"%%derive --solve Q\n{FSDP}",
        f"%%derive --solve B -> answer\n{FSDP}",
        "x = %derive --solve",
        '%derive "x[B, D] * W[D, F_Y] -> h[B, F_Y]{saved}" --passes forward',
    ]
    _, wrong, right, again, kept = run(cells, allow_errors=True).cells
    (error,) = wrong.outputs
    assert (error["output_type"], error["ename"]) == ("error", "MagicError")
    assert error["traceback"][0].startswith("symscale: Q does not occur in the program.\n    Q\n    ^\n")
    assert len(error["traceback"]) == 1
    assert kinds(right) == [{"text/markdown", "text/plain"}]
    assert again.outputs[0]["ename"] == "MagicError"
    assert "{saved}" in kept.outputs[0]["data"]["text/markdown"]


@pytest.mark.verify
def test_the_engine_needs_no_ipython() -> None:
    import subprocess
    import sys

    script = (
        "import symscale, sys; symscale.written('training/regimes')._repr_markdown_(); print('IPython' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout == "False\n"
