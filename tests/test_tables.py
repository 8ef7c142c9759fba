"""Tables on a blackboard: cells against exact evaluation, what is refused, mutants, and how they are printed."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import page

from symscale.derivation import Builder, verify
from symscale.derivation.registry import blackboard, ids
from symscale.derivation.step import doubled
from symscale.errors import StepError, SymscaleError
from symscale.notation.formula import parse_formula
from symscale.report import latex, markdown, steps_json, text
from symscale.report.grid import Column, comma_separated, grid, table
from symscale.report.plain import WIDTH
from symscale.vocabulary import symbol

B = symbol("B")
STEP = {"T_step": "(B*M_cache + M_weights)/(N_chips*W_hbm)", "rate": "B*N_chips*W_hbm/(B*M_cache + M_weights)"}
GIVEN = {"M_cache": 670 * 10**7, "M_weights": 26 * 10**9, "N_chips": 8}


def board() -> Builder:
    return Builder("A table", "a test")


def served(**options):
    d = board()
    options = {"over": {"B": (1, 8, 64)}, "on": "tpu-v5e", "values": GIVEN, **options}
    return d, d.table("Steps", options.pop("columns", STEP), **options)


# ------------------------------------------------------------------ cells


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6, unique=True), st.integers(1, 999), st.integers(1, 999))
def test_cells_are_exact(batches, above, below):
    d = board()
    share = sp.Rational(above, below)
    found = d.table("t", {"y": "B*q/3 + max(B, q)", "z": "B^2/q"}, over={"B": batches}, values={"q": share})
    assert [row["y"] for row in found] == [sp.Integer(n) * share / 3 + max(sp.Integer(n), share) for n in batches]
    assert [row["z"] for row in found] == [sp.Integer(n) ** 2 / share for n in batches]
    (step,) = d.steps
    assert [each.rhs for each in step.equations] == [row[name] for row in found for name in ("y", "z")]
    assert verify(step)


def test_numbers_of_the_chip_and_of_rows_go_in():
    d, found = served(rows={"one": {"N_chips": 1}, "two": {"N_chips": 2}}, values={**GIVEN, "N_chips": 3})
    assert len(found) == 6
    assert found[0]["T_step"] == sp.Rational(67 * 10**8 + 26 * 10**9, 82 * 10**10)
    assert found[0]["T_step"] == 2 * found[3]["T_step"]
    assert d.steps[0].sheet.rows[0][:2] == ("one", sp.Integer(1))


def test_values_of_rows_may_depend_on_a_range():
    found = board().table("t", {"y": "form"}, rows={"a": {"form": 2 * B}, "b": {"form": B**2}}, over={"B": (3, 5)})
    assert [each["y"] for each in found] == [6, 10, 9, 25]


def test_formulas_keep_their_symbols():
    d = board()
    found = d.table(
        "t",
        {"how": "", "T": "T_way"},
        rows={"a": {"how": "once", "T_way": "2*b*D/W"}, "b": {"how": (B, " times"), "T_way": 3}},
        formulas=True,
    )
    assert found[0]["T"] == parse_formula("2*b*D/W").expr
    assert verify(d.steps[0])


def test_what_nobody_states_is_left_open():
    d = board()
    rows = {"old": {"C": 10, "C_fp8": None}, "new": {"C": 20, "C_fp8": 40}}
    found = d.table("t", ["C", "C_fp8/C"], rows=rows, of="chip", expect={"C_fp8/C": (None, "2.0")})
    assert list(found[0]) == ["C"]
    assert "–" in text(d.derivation)
    with pytest.raises(StepError, match="no C_fp8/C where 2 is expected"):
        d.table("t", ["C", "C_fp8/C"], rows=rows, expect={"C_fp8/C": ("2", None)})


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"y": "B*q"}, {"over": {"B": (1, 2)}}, "y needs a number for q"),
        ({"y": "B*q"}, {"rows": {"first": {"B": 1}}}, "for q in the row first"),
        (["B", "B"], {"rows": {"first": {"B": 1}}}, "column B is there twice"),
        ({"B": "2*B"}, {"over": {"B": (1, 2)}}, "column B is there twice"),
        ({"y": "2*B"}, {}, "has no rows"),
        ({"y": "2*B"}, {"over": {"B": ()}}, "has no rows"),
        ({"y": ""}, {"rows": {"first": {"y": "words"}}}, "has words alone"),
        ({"y": "2*B"}, {"rows": {"first": {"B": 1}}, "over": {"B": (1, 2)}}, "B has a value in a row"),
        ({"y": "2*B"}, {"over": {"B": (1,), "D": (1,)}}, "No column depends on D"),
        ({"y": "2*B"}, {"over": {"B": (1, 2)}, "expect": {"y": ("2",)}}, "1 cells of y are expected"),
        ({"y": "2*B"}, {"over": {"B": (1, 2)}, "front": {"y": "fewest"}}, "cannot have 'fewest'"),
        ({"y": "2*B"}, {"over": {"B": (1, 2)}, "fits": "y <= M_hbm"}, "needs a number for M_hbm"),
    ],
)
def test_a_table_that_cannot_be_filled_is_refused(columns, options, words):
    with pytest.raises(SymscaleError, match=re.escape(words)):
        board().table("t", columns, **options)


@pytest.mark.parametrize(("expected", "holds"), [("4.985e-3", True), ("4.98e-3", True), ("9.97e-3", False)])
def test_expectations_are_compared(expected, holds):
    def filled():
        return served(expect={"T_step": (expected, None, None)})

    if holds:
        filled()
    else:
        with pytest.raises(StepError, match="is expected"):
            filled()


TABLES = [(name, n) for name in ids() for n, step in enumerate(blackboard(name).steps) if step.kind == "table"]


@pytest.mark.parametrize(("name", "at"), TABLES)
def test_every_cell_of_the_library_is_proved(name, at):
    step = blackboard(name).steps[at]
    assert verify(step, seed=3)
    for place, equation in enumerate(step.equations):
        if equation.rhs != 0:
            with pytest.raises(StepError):
                verify(doubled(step, place), seed=3)


def test_cells_stand_where_the_sheet_says():
    for name, at in TABLES:
        step = blackboard(name).steps[at]
        places = [cell for row in step.sheet.rows for cell in row if isinstance(cell, int)]
        assert sorted(places) == list(range(len(step.equations)))
        assert {len(row) for row in step.sheet.rows} == {len(step.sheet.columns)}


def test_a_cell_too_many_is_no_proof():
    d, _ = served()
    step = d.steps[0]
    with pytest.raises(StepError, match="more cells than it proves"):
        verify(replace(step, equations=step.equations[:-1]))


# ------------------------------------------------------------------ marks


def test_the_front_against_every_pair():
    columns = {"x": "x", "y": "y"}
    points = [(1, 5), (2, 4), (2, 6), (3, 6), (3, 7), (1, 5), (4, 1)]
    rows = {f"row {n}": {"x": x, "y": y} for n, (x, y) in enumerate(points)}
    d = board()
    d.table("t", columns, rows=rows, front={"x": "least", "y": "most"})
    marks = [row[-1] for row in d.steps[0].sheet.rows]
    beaten = [any(a <= x and b >= y and (a, b) != (x, y) for a, b in points) for x, y in points]
    assert marks == ["" if each else "*" for each in beaten]


def test_rows_that_do_not_fit_are_not_on_the_front():
    d, _ = served(
        columns={**STEP, "M_held": "B*M_cache + M_weights"},
        fits="M_held <= N_chips*M_hbm",
        front={"T_step": "least", "rate": "most"},
    )
    assert [row[-1] for row in d.steps[0].sheet.rows] == ["*", "*", "does not fit"]


# ------------------------------------------------------------------ print


def test_every_format_has_every_cell():
    d, _ = served(units={"rate": "token/s"})
    for shown in (text(d.derivation), markdown(d.derivation), latex(d.derivation)):
        for word in ("ms", "tokens/s", "4.985", "12.13", "69.33", "200.6", "923.1"):
            assert word in shown
    assert r"\begin{tabular}{rrr}" in latex(d.derivation)
    assert r"| $B$ | $T_\text{step}$ \[ms\] | $\text{rate}$ \[tokens/s\] |" in markdown(d.derivation)


def test_json_is_exact():
    d, found = served()
    (step,) = json.loads(steps_json(d.derivation))["steps"]
    assert [each["name"] for each in step["table"]["columns"]] == ["B", "T_step", "rate"]
    assert [each["unit"] for each in step["table"]["columns"]] == ["", "s", ""]
    for row, cells in zip(step["table"]["rows"], found, strict=True):
        assert [parse_formula(each).expr for each in row[1:]] == [cells["T_step"], cells["rate"]]
    d.remark("Nothing.")
    assert json.loads(steps_json(d.derivation))["steps"][1]["table"] is None


def test_the_page_of_the_docs_is_what_is_printed():
    (code,) = re.findall(r"```python\n(.*?)```", page("tables"), re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", page("tables"), re.DOTALL)
    printed = []
    exec(code, {"print": printed.append})
    assert str(printed[0]) == shown.rstrip()


NASTY = r"a & b | c_1 \input{x} $y$ <b> `z` # 5%"


def test_words_are_escaped():
    d = board()
    d.table(NASTY, {"what": "", "y": "y"}, rows={NASTY: {"what": NASTY, "y": 1}}, of="row & | _")
    typeset, marked = latex(d.derivation), markdown(d.derivation)
    assert r"\input" not in typeset
    (body,) = [line for line in typeset.splitlines() if line.endswith(r"\tabularnewline") and line.startswith("a ")]
    assert len(re.findall(r"(?<!\\)&", body)) == 2
    (line,) = [each for each in marked.splitlines() if each.startswith("| a ")]
    assert len(re.findall(r"(?<!\\)\|", line)) == 4
    assert "<b>" not in marked.replace(r"\<b>", "")


def test_wide_tables_fit():
    long = "a word " * 12
    written = "B*D*F*(X - {0})/(W_ici*(X + {0})) + 12*D*H*K*L + B*D*F*H*K*L*(X + {0})/(M_X*W_hbm)"
    forms = [parse_formula(written.format(n)).expr for n in (3, 4)]
    columns = [Column("name"), Column(symbol("T_step"), unit="s"), Column("how"), Column("n", right=True)]
    rows = [("one", form, long, str(n)) for n, form in enumerate(forms)]
    shown = table(columns, rows, "text")
    assert all(len(line) <= WIDTH for line in shown.splitlines())
    assert shown.count("T_step [s]: B*D*F*") == 2  # a formula that is too long stands below its row
    assert "p{" in table(columns, [(*row[:2], 3 * long, row[3]) for row in rows], "latex")
    narrow = table(columns, rows, "text", room=60)
    assert all(len(line) <= 60 for line in narrow.splitlines())


def test_a_grid_in_every_format():
    columns = (Column("part"), Column("bytes", right=True))
    rows = [("weights", "2.5 × 10^-9"), ("a|b", "1")]
    assert grid("Parts", columns, rows, "text").splitlines()[:4] == [
        "Parts",
        "-----",
        "part           bytes",
        "weights  2.5 × 10^-9",
    ]
    assert r"a\|b" in grid("Parts", columns, rows, "md")
    assert r"$2.5 \times 10^{-9}$" in grid("Parts", columns, rows, "latex", notes=["50 %"])


def test_csv_words():
    rows = [{"n": 1, "fits": True, "name": "a, b"}]
    assert comma_separated(rows, list(rows[0])) == 'n,fits,name\n1,true,"a, b"'
