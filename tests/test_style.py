"""The style of a document holds everywhere: digits, units and names of symbols; plain text; values that cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

from symscale.cli import run
from symscale.derivation.registry import blackboard
from symscale.errors import SymscaleError
from symscale.paper.dialect import DIALECTS, LATEX, MARKDOWN, TEXT
from symscale.paper.macros import macros
from symscale.paper.request import read_request
from symscale.paper.settings import Settings, read_settings
from symscale.paper.style import Style
from symscale.paper.write import write
from symscale.report import text
from symscale.report.measures import Measures

LAYER = "set=D=8192,F=28672,X=16"


def styled(folder: Path, words: str) -> Settings:
    (folder / "symscale.toml").write_text(f"[style]\n{words}\n", encoding="utf-8")
    return read_settings(folder)


# A request, the style, and what must and must not be written; 4.8933 ms is 2*2*8192*28672*15/(16*180e9) s.
HELD = [
    (f"training/fsdp value T_comms {LAYER}", "digits = 3", "4.89 ms", "4.893"),
    (f"training/fsdp value T_comms {LAYER}", 'unit = {T_comms = "us"}', "4893 us", "ms"),
    (f"training/fsdp value T_comms {LAYER} unit=s", 'unit = {T_comms = "us"}', "0.004893 s", "us"),
    (f"training/fsdp value T_comms {LAYER} digits=2", "digits = 3", "4.9 ms", "4.89"),
    ("gpus/levels table", 'unit = {W_level = "GB/s"}', "W_level [GB/s]", "TB/s"),
    ("inference/llama2-13b table", "digits = 2", "8.5 × 10^9", "8.49"),
    ("inference/llama2-13b table digits=2", 'unit = {M_part = "MB"}', "M_part [MB]", "GB"),
    ("tpus/corner-to-corner step -1", 'unit = {T_comms = "ms"}', "T_comms = 0.1924 ms", "µs"),
    ("tpus/corner-to-corner step -1 detail=full", 'unit = {T_comms = "ms"}', "T_comms = 0.192414 ms", "192.4"),
    ("tpus/corner-to-corner step 7 digits=2", 'unit = {T_first = "ns"}', "T_first = 6000 ns", "10^"),
    ("tpus/corner-to-corner derivation", 'digits = 2\nunit = {W_corner = "MB/s"}', "W_corner = 90,000 MB/s", "90 GB/s"),
]


@pytest.mark.parametrize(("asked", "words", "there", "absent"), HELD)
def test_digits_and_units_hold_everywhere(tmp_path: Path, asked: str, words: str, there: str, absent: str) -> None:
    shown = write(read_request(asked), TEXT, styled(tmp_path, words))
    assert there in shown
    assert absent not in shown


def test_macros_have_the_digits_and_units_of_a_style(tmp_path: Path) -> None:
    styled(tmp_path, 'digits = 3\nunit = {T_comms = "s"}')
    asked = [f"one=training/fsdp value T_comms {LAYER}", f"two=training/fsdp claim form=number on=tpu-v5e {LAYER}"]
    one, two = macros(asked, [], tmp_path, 1)
    assert (one.text, one.prose, one.markdown) == ("0.00489 s", "0.00489~s", "0.00489 s")
    assert one.latex == r"0.00489\,\text{s}"
    assert one.siunitx == r"\qty{0.00489}{s}"
    assert two.text == "B/X >= 2189 tokens per chip (X ≫ 1)"
    assert r"2189\,\text{tokens per chip}" in two.latex


def test_long_numbers_inside_formulas_have_the_digits() -> None:
    asked = "training/mixed-feasible claim form=number"
    plain = write(read_request(asked), TEXT, Settings())
    short = write(read_request(f"{asked} digits=2"), TEXT, Settings())
    assert plain != short
    assert len(short) < len(plain)


def test_a_unit_is_of_the_dimension_of_its_quantity() -> None:
    measures = Measures(4, (("share", ""), ("T_a", "ms")))
    assert measures.shown(sp.Rational(1, 1000), "s", "T_a") == (1, "ms")
    assert Measures(unit="h").shown(sp.Integer(7200), "s") == (2, "h")
    assert measures.shown(sp.Integer(5000), "B", "M") == (5, "kB")
    with pytest.raises(SymscaleError, match="T_a in B is none in ms"):
        measures.shown(sp.Integer(1), "B", "T_a")


def test_symbols_are_renamed_in_all_words_of_a_plot() -> None:
    style = Style().changed([("rename", r"N_chips=\nu"), ("rename", r"B=\mathcal{B}"), ("rename", r"F=\phi")])
    settings = replace(Settings(), style=style)
    for dialect in DIALECTS.values():
        shown = write(read_request("training/regimes figure"), dialect, settings)
        assert r"N_\text{chips}" not in shown
        assert r"N\_\text" not in shown
    latex = write(read_request("training/regimes figure"), LATEX, settings)
    assert r"xlabel={width of the MLP, $\phi$}, ylabel={tokens per chip, $\mathcal{B}/\nu$}" in latex


UNKNOWN = [
    ("rename", r"W_icy = '\beta'", "no symbol", "W_ici"),
    ("unit", "T_coms = 'ms'", "no symbol", "T_comms"),
]


def test_a_name_that_is_no_symbol_of_anything_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from symscale.paper import known

    # the whole library would take long; what is looked at is what there is
    monkeypatch.setattr(known, "_boards", lambda sources: iter([blackboard("training/fsdp")]))
    for key, words, _, close in UNKNOWN:
        (tmp_path / "symscale.toml").write_text(f"[style.{key}]\n{words}\n", encoding="utf-8")
        with pytest.raises(SymscaleError) as caught:
            write(read_request("training/dp claim"), TEXT, read_settings(tmp_path))
        assert f"symscale.toml: style.{key}: no derivation and no chip has a symbol" in str(caught.value)
        assert f"Did you mean {close}" in str(caught.value)


@pytest.mark.parametrize("name", ["W_ici", "N_pod", "V_1", "T_loop"])
def test_a_name_may_be_one_of_another_derivation(tmp_path: Path, name: str) -> None:
    """Of the symbol table, of a chip, of the derivation asked, of pipelines."""
    settings = styled(tmp_path, f"rename = {{{name} = 'q'}}")
    assert write(read_request("training/fsdp claim"), TEXT, settings)


def test_a_unit_may_be_of_a_ratio_and_is_read_as_a_formula(tmp_path: Path) -> None:
    assert write(read_request("training/fsdp value"), TEXT, styled(tmp_path, 'unit = {"B/X" = "1"}')) == "2550 1"
    with pytest.raises(SymscaleError, match=r"style\.unit"):
        styled(tmp_path, 'unit = {"B/X (" = "1"}')


# ------------------------------------------------------------------ plain text


def test_a_piece_in_plain_text_is_what_a_terminal_shows(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["show", "training/fsdp", "claim"]) == 0
    assert capsys.readouterr().out == "B/X >= b*C/(2*W_ici) (X ≫ 1)\n"
    assert run(["show", "training/fsdp", "derivation"]) == 0
    assert capsys.readouterr().out.strip() in text(blackboard("training/fsdp").derivation)
    assert run(["show", "training/fsdp", "claim", "--rename", r"B=\beta"]) == 2
    assert run(["show", "training/fsdp", "claim", "--format", "json"]) == 2
    assert "symscale macros" in capsys.readouterr().err
    assert run(["show", "training/fsdp", "--format", "typst"]) == 0
    assert "$ frac(B, X) >= frac(b C, 2 W_" in capsys.readouterr().out


def test_a_large_number_in_plain_text_has_no_markup() -> None:
    assert write(read_request("roofline/tokens value B"), TEXT, Settings()) == "2.097 × 10^6"


def test_what_a_formula_holds_under_is_broken_for_a_column() -> None:
    shown = write(read_request("training/mixed-backward claim width=31"), LATEX, Settings())
    assert "\n& \\text{if } BN_" in shown
    assert "\n& \\text{and } FN_" in shown
    assert "\n& (X, Y \\gg 1)\n" in shown
    wide = write(read_request("training/mixed-backward claim env=inline"), LATEX, Settings())
    assert r"\quad \text{if } BN_" in wide
    assert r" \text{ and } FN_" in wide


@pytest.mark.parametrize(
    "piece", ["claim", "step 6", "step 3 detail=full", "value", "derivation detail=compact", "cite"]
)
def test_plain_text_has_no_markup(piece: str) -> None:
    shown = write(read_request(f"training/fsdp {piece}"), TEXT, Settings())
    assert not set(shown) & set("\\$`{}")


def test_siunitx_is_for_latex_alone() -> None:
    settings = replace(Settings(), style=Style(numbers="siunitx"))
    asked = read_request("training/fsdp claim form=number")
    assert r"\num{2550}" in write(asked, LATEX, settings)
    assert r"\num" not in write(asked, MARKDOWN, settings)


# ------------------------------------------------------------------ values for which there is no answer

IMPOSSIBLE = [
    ("gpus/dp-curve claim set=X=4", "with X = 4: uplinks of the nodes is 0 where B = 100,000"),
    ("collectives/latency-curve figure set=X=1", "is 0 where M_array = 1000"),
    ("serving/pareto figure set=S=10^30", "No curve of the plot has a point"),
    ("gpus/sharded-inside claim on=tpu-v5e", "on tpu-v5e: after step 2 (AllGather over X) there is no result"),
    ("training/llama2-13b-mesh claim on=h100", "there is no result to go on with"),
    ("roofline/growth claim set=F=1", "there is no result to go on with"),
    ("tpus/corner-to-corner claim on=h100", "Step 2 of tpus/corner-to-corner (Remark) does not hold on h100"),
]


@pytest.mark.parametrize(("asked", "words"), IMPOSSIBLE)
def test_what_cannot_be_is_said_without_python(asked: str, words: str) -> None:
    with pytest.raises(SymscaleError) as caught:
        write(read_request(asked), TEXT, Settings())
    assert words in str(caught.value)
    assert "Error" not in str(caught.value)


def test_a_curve_that_leaves_the_axis_is_drawn_as_far_as_it_goes() -> None:
    assert "tikzpicture" in write(read_request("training/hiding figure set=Y=1/3"), LATEX, Settings())


def test_a_name_of_the_settings_that_is_no_symbol_is_said_once(tmp_path, capsys, monkeypatch) -> None:
    from symscale.paper import known

    monkeypatch.setattr(known, "_boards", lambda sources: iter([blackboard("training/fsdp")]))
    blocks = "".join(f"% symscale: training/{each} claim\n% end symscale\n" for each in ("fsdp", "dp", "tp"))
    (tmp_path / "paper.tex").write_text(blocks, encoding="utf-8")
    (tmp_path / "symscale.toml").write_text("[style.rename]\nW_icy = 'q'\n", encoding="utf-8")
    assert run(["sync", str(tmp_path / "paper.tex")]) == 2
    assert capsys.readouterr().err.count("W_icy") == 1
    assert (tmp_path / "paper.tex").read_text(encoding="utf-8") == blocks
