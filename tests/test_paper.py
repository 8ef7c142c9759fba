"""Pieces of derivations in documents: requests, styles, settings, and what is written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from symscale.cli import run
from symscale.errors import SymscaleError
from symscale.notation.order import Order
from symscale.paper.dialect import DIALECTS, LATEX, MARKDOWN
from symscale.paper.request import Request, read_request, request
from symscale.paper.settings import Settings, read_settings
from symscale.paper.words import renamed
from symscale.paper.write import write
from symscale.report.ties import TIE, tied
from symscale.vocabulary import symbol

PLAIN = Settings()

SENTENCES = {
    "training/fsdp": "training/fsdp claim",
    "training/fsdp step 3": None,
    'training/fsdp step "The program" detail=full': None,
    "training/fsdp value T_comms on=tpu-v5e digits=3 unit=ms set=B=4096,D=8192": None,
    "training/fsdp value B/X set=k=8 set='F = 4*D'": 'training/fsdp value B/X set=k=8 set="F = 4*D"',
    r"training/fsdp claim rename=B=\mathcal{B} rename=W_ici=\beta label=eq:x": None,
    'training/fsdp  claim\trename=B="\\mathcal{B}"': r"training/fsdp claim rename=B=\mathcal{B}",
}


@pytest.mark.parametrize("text", SENTENCES)
def test_a_request_is_a_sentence(text: str) -> None:
    found = read_request(text)
    assert str(found) == (SENTENCES[text] or text)
    assert read_request(str(found)) == found


# the words of each message, and the word below whose first letter the caret stands
WRONG = [
    ("", "names a derivation", ""),
    ("training/fsdp clam", "Did you mean claim", "clam"),
    ("training/fsdp claim digit=3", "Did you mean digits", "digit=3"),
    ("training/fsdp claim form=typed", "Did you mean dtype", "typed"),
    ("training/fsdp claim on=", "value is missing", ""),
    ('training/fsdp step "The program', "not closed", '"The'),
    ("training/fsdp step", "Which step", "step"),
    ("training/fsdp cite on=tpu-v5p", "It takes none", "on="),
    ("training/fsdp claim three", "options only", "three"),
    ("training/fsdp claim on=a on=b", "twice", "on=a"),
]


@pytest.mark.parametrize(("text", "words", "at"), WRONG)
def test_a_wrong_request_is_shown_where(text: str, words: str, at: str) -> None:
    with pytest.raises(SymscaleError) as caught:
        read_request(text)
    assert words in str(caught.value)
    if at:
        assert caught.value.position == text.index(at)


WRITTEN = {
    "training/fsdp": (
        "\\begin{equation*}\n\\frac{B}{X} \\ge \\frac{bC}{2W_\\text{ici}} \\quad (X \\gg 1)\n\\end{equation*}"
    ),
    "training/fsdp claim form=dtype env=math": r"\frac{B}{X} \ge \frac{C}{W_\text{ici}} \quad (X \gg 1)",
    "training/fsdp claim form=exact env=inline": r"$B \ge \frac{bC(X - 1)}{2W_\text{ici}}$",
    "training/fsdp claim form=number env=math numbers=siunitx": (
        r"\frac{B}{X} \ge \num{2550}\,\text{tokens per chip} \quad (X \gg 1)"
    ),
    r"training/fsdp claim label=eq:a rename=W_ici=\beta": (
        "\\begin{equation}\\label{eq:a}\n\\frac{B}{X} \\ge \\frac{bC}{2 \\beta} \\quad (X \\gg 1)\n\\end{equation}"
    ),
    "training/fsdp value": "2550~tokens per chip",
    "training/fsdp value on=tpu-v5e": "2189~tokens per chip",
    "training/fsdp value numbers=siunitx": r"\num{2550}~tokens per chip",
    # 2*b*D*F*(X - 1)/(X*W_ici) = 2*2*8192*28672*15/(16*180e9) s
    "training/fsdp value T_comms set=D=8192,F=28672,X=16 digits=3": "4.89~ms",
    "training/fsdp value T_comms set=D=8192,F=28672,X=16 unit=s env=math": r"0.004893\,\text{s}",
    "training/fsdp value step=evaluate": "2550~tokens per chip",
    "training/fsdp step -1 env=math": r"\frac{B}{X} \ge 2550\,\text{tokens per chip}",
    "training/fsdp title": "When does FSDP hide its gathers?{}",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_written(text: str) -> None:
    assert write(read_request(text), LATEX, PLAIN) == WRITTEN[text]


def test_markdown_has_no_backslash_before_a_sign() -> None:
    shown = write(read_request("training/fsdp step times"), MARKDOWN, PLAIN)
    assert shown.startswith("$$\n\\begin{aligned}\n")
    assert "\\\\" not in shown
    assert write(read_request("training/fsdp value"), MARKDOWN, PLAIN) == "2550 tokens per chip"


UNFIT = [
    ("training/fsdq claim", "training/fsdp"),
    ("training/fsdp step 99", "11 steps"),
    ("training/fsdp step solve", "6 (Forward pass against ICI: the exact answer); 8 ("),
    ("training/fsdp step Forwards", "has no step"),
    ("training/fsdp value T_coms", "Did you mean T_comms"),
    ("training/fsdp value T_comms", "Give them: set=D=…,F=…,X=…"),
    ("training/fsdp value set=Q=3", "has no symbol Q"),
    ("training/fsdp value unit=ms", "none in ms"),
    ("training/fsdp value on=tpu-v9", "No chip is called"),
    ("training/fsdp table", "has no table"),
    ("training/fsdp claim rename=B=D", "would both be written D"),
    (r"training/fsdp claim rename=W_icy=\beta", "Did you mean W_ici"),
    (r"training/fsdp claim rename=B={D}", "would both be written"),
    (r"training/fsdp claim rename=B=\write18{ls}", "does not belong"),
    (r"training/fsdp claim rename=B=\input{x}", "does not belong"),
    (r"training/fsdp claim rename=B=\mathcal{B", "a brace is open"),
    (r"training/fsdp claim rename=B=^^5cinput", "does not belong"),
    (r"training/fsdp claim rename=B=a+b", "makes it a formula"),
    (r"training/fsdp claim rename=B=\verbatiminput{x}", "does not belong"),
    (r"training/fsdp claim rename=B=\lstinputlisting{x}", "with an argument does not belong"),
    (r"training/fsdp claim rename=B=\mymacro{x}", "with an argument does not belong"),
    (r"training/fsdp claim rename=B=\mymacro[x]", "with an argument does not belong"),
    (r"training/fsdp claim rename=B=\href{javascript:x}{B}", "does not belong"),
    (r"training/fsdp claim rename=B=\endinput", "does not belong"),
    (r"training/fsdp claim rename=B=\batchmode", "does not belong"),
    (r"training/fsdp claim rename=B=\everymath{x}", "does not belong"),
    (r"training/fsdp claim rename=B=\pdfobj{x}", "does not belong"),
    (r"training/fsdp claim rename=B=\@@input", "does not belong"),
    (r"training/fsdp claim rename=B=\char92", "does not belong"),
    (r"training/fsdp claim rename=B=\begingroup", "does not belong"),
    (r"training/fsdp claim rename=B=B_{<script>}", "does not belong"),
    (r"training/fsdp claim rename=B=B_{-->}", "does not belong"),
    ("training/fsdp claim digits=0", "no number of digits"),
    ("training/fsdp claim env=alin", "Did you mean align"),
]


@pytest.mark.parametrize(("text", "words"), UNFIT)
def test_what_cannot_be_written_says_why(text: str, words: str) -> None:
    with pytest.raises(SymscaleError) as caught:
        write(read_request(text), LATEX, PLAIN)
    assert words in str(caught.value)


def test_two_symbols_may_change_places() -> None:
    shown = write(read_request("training/fsdp claim rename=B=X rename=X=B env=math form=exact"), LATEX, PLAIN)
    assert shown == r"X \ge \frac{bC(B - 1)}{2W_\text{ici}}"


RENAMED = {
    "for X ≫ 1": [symbol("X"), "for ", " ≫ 1"],
    "spanning M_X physical axes": ["spanning M_X physical axes"],
    "Put in b = 2 B. With F = 4 D, B = S": ["Put in b = 2 B. With F = 4 D, ", symbol("B"), " = S"],
    "X: a ring; Out[B, X_D] of B_X": ["X: a ring; Out[B, X_D] of B_X"],
    "X X, (X)": [symbol("X"), " ", symbol("X"), ", (", symbol("X"), ")"],
}


@pytest.mark.parametrize("text", RENAMED)
def test_symbols_are_renamed_in_words(text: str) -> None:
    found = renamed(text, Order(written=(("X", r"\chi"), ("B", r"\mathcal{B}"), ("I", "i"))))
    assert sorted(map(str, found)) == sorted(map(str, RENAMED[text]))
    assert renamed(text, Order()) == text


def test_requests_from_values_of_python() -> None:
    found = request("training/fsdp", "value", "T_comms", {"set": {"D": 8192, "F": 28672}, "digits": 3})
    assert found == read_request("training/fsdp value T_comms set=D=8192 set=F=28672 digits=3")
    assert request("training/fsdp", "step", 3).which == "3"
    with pytest.raises(SymscaleError, match="no piece"):
        Request("training/fsdp", "clam")


OWN = """
from symscale import derivation

@derivation("mine/answer", title="A \\\\write18{title} & more")
def answer(d):
    d.number("T_own", d.read("M_array/W_ici"), on="my-chip", values={"M_array": 4 * 10**9})
"""
CHIP = """
title = "My chip"
source = "measured"
[peak]
bf16 = { value = 1e15, unit = "FLOP/s" }
[network.ici]
kind = "torus"
bandwidth = { value = 1e11, unit = "B/s", direction = "one_way", per = "link" }
pod = [4, 4]
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "my-chip.toml").write_text(CHIP, encoding="utf-8")
    (tmp_path / "chapter").mkdir()
    text = 'derivations = ["mine"]\nmachines = ["my-chip.toml"]\n[style]\ndigits = 3\nnumbered = true\nlabel = "eq:"\n'
    text += "[style.rename]\nM_array = '\\mathcal{V}'\n[style.unit]\nT_own = \"ms\"\n"
    (tmp_path / "symscale.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_document_has_derivations_chips_and_a_style_of_its_own(document: Path) -> None:
    settings = read_settings(document / "chapter")
    assert settings.folder == document.resolve()
    with settings.used():
        assert write(read_request("mine/answer value"), LATEX, settings) == "20~ms"
        assert write(read_request("mine/answer title"), LATEX, settings) == (
            r"A \textbackslash{}write18\{title\} \& more"
        )
        shown = write(read_request("mine/answer claim label=own"), LATEX, settings)
        assert shown == (
            "\\begin{equation}\\label{eq:own}\nT_\\text{own} = \\frac{\\mathcal{V}}{W_\\text{ici}}\n\\end{equation}"
        )
    with pytest.raises(SymscaleError, match="no derivation"):
        write(read_request("mine/answer value"), LATEX, settings)


BROKEN = [
    ("styel = 1", "Did you mean style"),
    ("[style]\ndigit = 3", "Did you mean digits"),
    ("[style]\ndigits = 0", "style.digits"),
    ('[style]\nenv = "alin"', "Did you mean align"),
    ("[style.rename]\nB = '\\write18{x}'", "style.rename"),
    ('[style.unit]\nT_comms = "parsec"', "not a unit"),
    ("[style", "not TOML"),
    ('derivations = ["nowhere"]', "there is no folder"),
    ('machines = "x"', "it is no list"),
    ("[style]\nrename = 3", "no table"),
]


@pytest.mark.parametrize(("text", "words"), BROKEN)
def test_broken_settings_name_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "symscale.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SymscaleError) as caught:
        read_settings(tmp_path)
    assert words in str(caught.value)
    assert "symscale.toml" in str(caught.value)


TIED = [
    ("In the limit X ≫ 1 drop", "In the limit X_≫_1 drop"),
    ("Put in b = 2 B.", "Put in b_=_2_B."),
    ("the relative error is ratio − 1.", "the relative error is ratio_−_1."),
    ("a = b = c", "a_=_b_=_c"),
    ("F = 32,768 with 99 tokens", "F_=_32,768 with 99 tokens"),
    ("A contraction takes 2 × the product", "A contraction takes 2 × the product"),
    ("aVeryLongName = anotherVeryLongName", "aVeryLongName = anotherVeryLongName"),
    ("= 3", "= 3"),
]


@pytest.mark.parametrize(("words", "shown"), TIED)
def test_no_line_ends_inside_a_short_relation(words: str, shown: str) -> None:
    assert tied(words) == shown.replace("_", TIE)


def test_ties_take_linear_time() -> None:
    begun = time.perf_counter()
    tied("a = b " * 50_000)
    assert time.perf_counter() - begun < 5


def test_ties_are_those_of_the_language() -> None:
    asked = read_request("training/fsdp step -2 detail=full")
    said = {name: write(asked, each, PLAIN) for name, each in DIALECTS.items()}
    assert "Put in b~=~2~B." in said["latex"]
    assert r"Put in b~\=~2~B." in said["typst"]
    assert "Put in b&nbsp;=&nbsp;2&nbsp;B." in said["html"]
    assert "Put in b = 2 B." in said["markdown"]


def test_the_code_of_a_program_is_a_paragraph_of_its_own() -> None:
    shown = write(read_request("training/fsdp step 1 detail=full"), LATEX, PLAIN)
    assert "assumed).\n{\\par\\smallskip\\small" in shown


@pytest.mark.parametrize("env", ["align", "gather"])
def test_an_equation_of_several_lines_has_one_number(env: str) -> None:
    asked = f"training/mixed-mesh claim env={env} numbered=yes width=34"
    lines = write(read_request(asked), LATEX, PLAIN).splitlines()[1:-1]
    assert len(lines) > 1
    assert [each.endswith(r"\nonumber \\") for each in lines] == [True] * (len(lines) - 1) + [False]
    steps = write(read_request(f"training/fsdp step times env={env} numbered=yes"), LATEX, PLAIN)
    assert "nonumber" not in steps  # each is an equation


def test_every_dialect_writes_every_kind_of_piece() -> None:
    for dialect in DIALECTS.values():
        for piece in ("claim", "value", "derivation", "derivation detail=compact", "title", "source", "step 1"):
            assert write(read_request(f"training/fsdp {piece}"), dialect, PLAIN)


def test_show_prints_a_piece_and_renames_a_derivation(
    capsys: pytest.CaptureFixture[str], monkeypatch, tmp_path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["show", "training/fsdp", "claim", "form=exact", "env=math", "--format", "latex"]) == 0
    assert capsys.readouterr().out == "B \\ge \\frac{bC(X - 1)}{2W_\\text{ici}}\n"
    assert run(["show", "training/fsdp", "step", "In bf16: x", "--format", "typst"]) == 2
    capsys.readouterr()
    assert run(["show", "training/fsdp", "--format", "latex", "--rename", r"X=\chi", "--rename", r"W_ici=\beta"]) == 0
    shown = capsys.readouterr().out
    assert r"In the limit $\chi$ $\gg$ 1 drop $-\frac{2bDF}{\chi \beta}$" in shown
    assert "W_\\text{ici}" not in shown
    assert run(["show", "training/fsdp", "--format", "latex", "--rename", "B=D"]) == 2
    assert "would both be written" in capsys.readouterr().err
    assert run(["show", "training/fsdp", "--rename", r"B=\beta"]) == 2


def test_a_number_on_another_chip_has_that_chips_figures_alone() -> None:
    from symscale.paper.request import read_request
    from symscale.paper.values import number

    # by hand: 459e12 over 2.8e12 for the values that an author reads from another chip
    assert float(number(read_request("roofline/machine-intensity value on=tpu-v5p"))[0]) == pytest.approx(
        163.93, abs=0.01
    )
    for sentence in ("tpus/specs value C on=tpu-v5p", "gpus/specs value on=h100", "gpus/dp-h800 value on=b200"):
        with pytest.raises(SymscaleError):
            number(read_request(sentence))
    # 990 TFLOP/s is H100's by another source, and 1024 of a B200 are as many: 7/8 of 2250e12 over 900e9
    assert float(number(read_request("gpus/dp value on=b200"))[0]) == pytest.approx(2250e12 / 400e9, rel=1e-3)
    with pytest.raises(SymscaleError, match="no such cluster"):
        number(read_request("gpus/dp value on=a100"))
    assert number(read_request("gpus/dp-curve value"))[0] == 1925  # X = 1024 nodes: the case of many
    assert number(read_request("training/mixed-mesh value"))[0] == 16
    with pytest.raises(SymscaleError, match="both sides"):
        number(read_request("training/mixed-feasible value"))
    with pytest.raises(SymscaleError, match="positive"):
        number(read_request("training/fsdp value T_comms set=D=-1,F=28672,X=2"))
    assert number(read_request("llama3/time value"))[1] == "years"
    assert number(read_request("runs/mfu value"))[1] == ""
