"""Macros of derivations: names that stay, and files that compile wherever they are used."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from symscale.cli import run
from symscale.derivation.registry import ids
from symscale.errors import SymscaleError
from symscale.exercise.exercise import exercise
from symscale.notation.formula import parse_formula
from symscale.paper import macros as floor
from symscale.paper.bibliography import bibliography
from symscale.paper.macronames import tex_name, typst_name, words
from symscale.paper.macros import Macro, macros
from symscale.paper.packages import FORMATS, json_file, latex_package, typst_module
from symscale.paper.request import read_request

NAMES = {
    "training/fsdp claim": ("ssTrainingFsdpClaim", "training-fsdp-claim"),
    "training/fsdp value on=tpu-v5p": ("ssTrainingFsdpValueTpuVfiveP", "training-fsdp-value-tpu-v5p"),
    "training/fsdp claim form=dtype": ("ssTrainingFsdpClaimDtype", "training-fsdp-claim-dtype"),
    "training/zero-1 step 12": ("ssTrainingZeroOneStepOnetwo", "training-zero-1-step-12"),
    "pipeline/1f1b value T_comms": ("ssPipelineOneFoneBValueTComms", "pipeline-1f1b-value-T-comms"),
    "a/b value B/X digits=3": ("ssABValueBOverXDigitsThree", "a-b-value-B-over-X-digits-3"),
    "a/b value α unit=ms": ("ssABValueAlphaUnitMs", "a-b-value-alpha-unit-ms"),
    "a/b value X on=h100:1024 set=B=4096": (
        "ssABValueXHonezerozeroOnezerotwofourBFourzeroninesix",
        "a-b-value-X-h100-1024-B-4096",
    ),
}


@pytest.mark.parametrize("sentence", NAMES)
def test_names_are_the_words_of_a_request(sentence: str) -> None:
    asked = read_request(sentence)
    said = words(asked.id, asked.piece, asked.which, asked.options)
    assert (tex_name(said), typst_name(said)) == NAMES[sentence]


def test_no_two_claims_of_the_library_have_one_name() -> None:
    for name in (tex_name, typst_name):
        assert len({name(words(each, "claim", "", ())) for each in ids()}) == len(ids())


@pytest.fixture(scope="module")
def made() -> list[Macro]:
    return macros(["training/fsdp", "tp=training/tp claim", "training/dp value digits=2"], ["tpu-v5e"], Path(), 1)


def test_a_derivation_has_its_claim_its_steps_and_its_numbers(made: list[Macro]) -> None:
    found = {tex_name(each.words): each for each in made}
    assert found["ssTrainingFsdpClaim"].text == "B/X >= b*C/(2*W_ici) (X ≫ 1)"
    assert found["ssTrainingFsdpClaimDtype"].latex.startswith(r"\frac{B}{X} \ge \frac{C}{W_\text{ici}}")
    assert found["ssTrainingFsdpClaimNumberTpuVfiveE"].text == "B/X >= 2189 tokens per chip (X ≫ 1)"
    assert found["ssTrainingFsdpStepSix"].text == "B >= b*C*(X - 1)/(2*W_ici)"
    value = found["ssTrainingFsdpValue"]
    assert (value.value, value.unit, value.prose) == ("2550", "tokens per chip", "2550~tokens per chip")
    assert found["ssTrainingFsdpValueTpuVfiveE"].value == "19700/9"
    assert found["ssTp"].request == "training/tp claim"
    assert found["ssTrainingDpValueDigitsTwo"].text == "2550 tokens per chip"
    assert len(found) == len(made)


def test_values_are_those_of_the_derivation(made: list[Macro]) -> None:
    value = next(each for each in made if each.request == "training/fsdp value")
    _, number = next(exercise("training/fsdp").headline.numbers)
    assert parse_formula(value.value).expr == number


FAULTS = [
    (["training/fsdq"], [], "no derivation 'training/fsdq'"),
    (["training/fsdp"], ["gtx"], "gtx"),
    (["training/fsdp table"], [], "holds a claim, a step or a value, not a table"),
    (["a-b=training/fsdp claim", "aB=training/dp claim"], [], "would both be called ssAB"),
    (["training/fsdp value T_none"], [], "no quantity 'T_none'"),
]


@pytest.mark.parametrize(("asked", "chips", "words"), FAULTS)
def test_what_cannot_be_a_macro(asked: list[str], chips: list[str], words: str) -> None:
    with pytest.raises(SymscaleError) as found:
        macros(asked, chips, Path(), 1)
    assert words in str(found.value)


def test_settings_of_the_folder_hold(tmp_path: Path) -> None:
    (tmp_path / "symscale.toml").write_text('[style]\nrename = {W_ici = "\\\\mathcal{W}"}\nnumbers = "siunitx"\n')
    (claim, *_) = macros(["training/fsdp"], [], tmp_path, 1)
    assert claim.latex == r"\frac{B}{X} \ge \frac{bC}{2 \mathcal{W}} \quad (X \gg 1)"


def test_the_package_is_the_same_every_time(made: list[Macro]) -> None:
    shown = latex_package(made, "symscale-macros")
    assert shown == latex_package(made, "symscale-macros")
    assert "\\ProvidesPackage{symscale-macros}[2000/01/01 " in shown
    assert shown.endswith("\\endinput\n")


def test_json_has_its_schema(made: list[Macro]) -> None:
    found = json.loads(json_file(made, ""))
    assert found["schema"] == "symscale.macros/1.0"
    fields = set(next(iter(found["macros"].values())))
    docs = (Path(__file__).parent.parent / "docs" / "json.md").read_text(encoding="utf-8")
    described = docs.split("symscale.macros/1.0", 1)[1]
    assert all(f"`{each}`" in described for each in fields)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "symscale-macros.sty"
    call = ["macros", "training/fsdp", "-o", str(file)]
    assert run(["macros", "training/fsdp", "--list"]) == 0
    assert "\\ssTrainingFsdpClaim " in capsys.readouterr().out
    assert run([*call, "--check"]) == 1
    assert run(call) == 0
    stamp = file.stat().st_mtime_ns
    assert run(call) == run([*call, "--check"]) == 0
    assert file.stat().st_mtime_ns == stamp
    assert run(["macros", "training/fsdp", "-o", str(tmp_path / "a.pdf")]) == 2
    assert run(["macros", "training/fsdp", "--check"]) == 2
    assert run(["macros", "training/fsdp", "--format", "typ"]) == 0
    assert "#let training-fsdp-claim = [$" in capsys.readouterr().out


# ------------------------------------------------------------------ the bibliography


def test_the_bibliography_has_what_is_cited_and_symscale(capsys: pytest.CaptureFixture[str]) -> None:
    from pybtex.database import parse_string

    assert run(["bib", "training/fsdp", "pipeline/zb-h1"]) == 0
    found = parse_string(capsys.readouterr().out, "bibtex").entries
    assert list(found) == ["austin2025", "qi2023", "symscale"]
    cited = (Path(__file__).parent.parent / "CITATION.cff").read_text(encoding="utf-8")
    about = found["symscale"]
    assert about.fields["title"].split("}")[0].strip("{") in cited
    assert about.persons["author"][0].last_names[0].strip("{}") in cited
    version = next(line.split()[1] for line in cited.splitlines() if line.startswith("version:"))
    assert f"version {version}" in about.fields["note"]


OWN = """
from symscale import derivation

@derivation("mine/layer", title="Mine", source="A note [@note2026]")
def layer(d):
    d.times(d.program("x[B, D] * W[D, F] -> y[B, F]", passes=["forward"]))
"""


def test_derivations_of_a_document_bring_their_own_entries(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "layer.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "symscale.toml").write_text('derivations = ["mine"]\n', encoding="utf-8")
    with pytest.raises(SymscaleError, match="which no"):
        bibliography(["mine/layer"], tmp_path)
    (tmp_path / "mine" / "own.bib").write_text("@misc{note2026, title = {A note}, year = 2026}\n", encoding="utf-8")
    assert bibliography(["mine/layer"], tmp_path).startswith("@misc{note2026")
    assert macros(["mine/*"], [], tmp_path, 1)[0].words == ("mine", "layer", "claim")


# ------------------------------------------------------------------ compiled

BODY = r"""
\section{When \ssTrainingFsdpClaim{} and \ssTrainingFsdpValue}
Text \ssTrainingFsdpClaim, $a = \ssTrainingFsdpValueTpuVfiveE$, $\ssTp$, \textbf{\ssTrainingFsdpValue}.%
\footnote{A note: \ssTrainingFsdpClaim, \ssTrainingFsdpValue.}
\begin{figure}[t]\caption{A caption: \ssTrainingFsdpClaim, \ssTrainingFsdpValue.}\end{figure}
\begin{equation}\ssTrainingFsdpStepSix\end{equation}
"""
PAPERS = {
    "article": r"\documentclass{article}\usepackage{symscale-macros}\begin{document}\tableofcontents @\end{document}",
    "hyperref": r"\documentclass{article}\usepackage{symscale-macros}\usepackage{hyperref}\title{\ssTrainingFsdpValue}"
    r"\begin{document}\maketitle\tableofcontents\listoffigures @\end{document}",
    "two columns, siunitx": r"\documentclass[twocolumn]{article}\usepackage{siunitx}\usepackage{hyperref}"
    r"\usepackage{symscale-macros}\begin{document}@\end{document}",
    "physics": r"\documentclass{article}\usepackage{physics}\usepackage{siunitx}\usepackage{symscale-macros}"
    r"\begin{document}@\end{document}",
    "beamer": r"\documentclass{beamer}\usepackage{symscale-macros}\begin{document}\section{\ssTrainingFsdpClaim}"
    r"\begin{frame}{\ssTrainingFsdpValue: \ssTrainingFsdpClaim}\begin{itemize}\item<1-> $\ssTrainingFsdpValue$"
    r"\item<2-> \ssTrainingFsdpClaim\end{itemize}\end{frame}\end{document}",
}


@pytest.mark.verify
@pytest.mark.parametrize("name", PAPERS)
def test_the_package_compiles(made: list[Macro], name: str, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no pdflatex")
    (tmp_path / "symscale-macros.sty").write_text(latex_package(made, "symscale-macros"), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(PAPERS[name].replace("@", BODY), encoding="utf-8")
    for _ in range(2):
        call = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode("latin1")[-2000:]
    log = (tmp_path / "paper.log").read_text(encoding="latin1")
    assert "Token not allowed" not in log
    text = subprocess.run(["pdftotext", "paper.pdf", "-"], cwd=tmp_path, capture_output=True, check=False).stdout
    if text:
        assert text.decode().count("2550") >= (2 if name == "beamer" else 4)
        assert "tokensperchip" not in text.decode()


@pytest.mark.verify
def test_the_typst_module_compiles(made: list[Macro], tmp_path: Path) -> None:
    typst = pytest.importorskip("typst")
    (tmp_path / "symscale-macros.typ").write_text(typst_module(made, ""), encoding="utf-8")
    uses = "".join(f"= #ss.{typst_name(each.words)}\n$ #ss.{typst_name(each.words)} $\n" for each in made)
    (tmp_path / "paper.typ").write_text(f'#import "symscale-macros.typ" as ss\n{uses}', encoding="utf-8")
    assert typst.compile(str(tmp_path / "paper.typ"))[:4] == b"%PDF"


def test_every_format_is_of_the_command() -> None:
    assert sorted(FORMATS) == ["json", "sty", "typ"]
    assert floor.FORMS[0] == "general"
