"""Plots: what is drawn is what the formulas give, borders are the solver's, words stay inert; files, errors."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from pages import examples, said

from symscale.derivation import verify
from symscale.derivation.builder import Builder
from symscale.derivation.columns import borders, share, value_of
from symscale.derivation.figure import Area, Axis, Condition, Curve, Figure, Map, Mark
from symscale.derivation.plots import prose
from symscale.derivation.proof import float_value
from symscale.derivation.regions import area_at, direct
from symscale.derivation.registry import blackboard, drawing, ids
from symscale.derivation.step import Derivation, Step
from symscale.derivation.traced import Drawn
from symscale.errors import StepError, SymscaleError
from symscale.notation.formula import parse_formula, parse_relation
from symscale.report import latex, markdown, steps_json, svg, text, tikz
from symscale.report.figures import alternative, digest, drawn, files, stamp
from symscale.report.lines import HEIGHT, STRAIGHT, WIDTH, curve_lines, map_polygons
from symscale.report.picture import picture, slashed, ticks
from symscale.report.placing import _contains
from symscale.solve import crossover
from symscale.solve.exact import value_at
from symscale.solve.relation import Relation
from symscale.vocabulary import symbol

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "reports"
IDS = drawing()
MAPS = ("training/regimes", "training/resources", "serving/regimes")
EVIL = r"\input{x} $x$ 5% & #1 ~_{}^ <script>alert(1)</script> ![i](u) ]] --> 3 × 10^6 µ ✓"
EXAMPLES = [
    each for page in ("plots.md", "cli.md") for each in examples((ROOT / "docs" / page).read_text("utf-8"), "plot")
]


@cache
def figure_of(name: str) -> Figure:
    (found,) = blackboard(name).derivation.figures
    return found


def simple(label: str = "a", **changes: object) -> Figure:
    """Return a figure of one line, y = 2·x, with a mark on it."""
    x = symbol("x")
    axis = Axis(("x",), sp.Integer(1), sp.Integer(1000))
    line = Curve(label, x, 2 * x, x, sp.Integer(1), sp.Integer(1000), ())
    double = replace(line, y=sp.Integer(4) * x, label="b", colour=1)
    figure = Figure("Title", ("Caption",), (), axis, replace(axis, high=sp.Integer(5000)), (line, double))
    return replace(figure, **{"marks": (Mark(label, (0,), sp.Integer(10)),), **changes})


# ------------------------------------------------------------------ the data


def test_the_library_draws_every_kind_of_plot() -> None:
    assert len(IDS) >= 14
    assert {"roofline/chip", "training/over-batch", "training/regimes", "serving/pareto", "gpus/roofline"} <= set(IDS)
    assert set(IDS) <= set(ids())
    assert {each for each in IDS if figure_of(each).map is not None} == set(MAPS)


@pytest.mark.parametrize("name", IDS)
def test_curves_are_the_exact_values_of_their_formulas(name: str) -> None:
    figure = figure_of(name)
    for curve in figure.curves:
        for part in (sp.Rational(1, 7), sp.Rational(2, 3), sp.Rational(99, 100)):
            point = curve.at(curve.low + (curve.high - curve.low) * part)
            for form in (curve.x, curve.y):
                exact = value_at(form, point)
                assert not exact.free_symbols
                assert float_value(form, point) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("name", [each for each in IDS if each not in MAPS])
def test_lines_pass_through_the_values(name: str) -> None:
    """At every corner of a drawn line, and between them, the formula gives what is drawn."""
    figure = figure_of(name)
    for curve in (each for each in figure.curves if each.colour >= 0 and each.x == each.along):
        for line in curve_lines(figure, curve):
            middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in pairwise(line)]
            for x, y in [*line, *middles]:
                height = HEIGHT * share(figure.y, float_value(curve.y, curve.at(value_of(figure.x, x / WIDTH))))
                assert y == pytest.approx(height, abs=3 * STRAIGHT)


@pytest.mark.parametrize("name", IDS)
def test_marks_are_where_the_solver_says(name: str) -> None:
    for mark in figure_of(name).marks:
        if mark.form is not None:
            assert mark.form.xreplace(dict(mark.values)) == mark.along


@pytest.mark.parametrize("name", MAPS)
def test_areas_are_what_direct_evaluation_says(name: str) -> None:
    """At random points: the area by closed forms, the area drawn, and the longest time or the first condition."""
    figure = figure_of(name)
    plane, polygons = figure.map, map_polygons(figure, figure.map)
    rng = random.Random(name)
    compared = 0
    for _ in range(150):
        at = rng.uniform(0.01, 0.99), rng.uniform(0.01, 0.99)
        x, y = value_of(figure.x, at[0]), value_of(figure.y, at[1])
        wanted = direct(plane, sp.Rational(str(x)), sp.Rational(str(y)), sp.Integer(rng.randint(1, 9)))
        if wanted is None:
            continue
        assert area_at(plane, x, y) == [wanted]
        place = np.array([[at[0] * WIDTH, at[1] * HEIGHT]])
        near = min(abs(share(figure.y, y) - share(figure.y, each)) for each in heights(figure, x)) < 0.01
        found = [n for n, parts in enumerate(polygons) if any(_contains(np.array(each), place)[0] for each in parts)]
        assert near or found == [wanted]
        compared += 1
    assert compared > 100


def heights(figure: Figure, x: float) -> list[float]:
    """Return where borders cross a vertical line, and a place far away."""
    plane = figure.map
    forms = [each.equation.rhs for each in borders(figure, plane) if each.equation.lhs == plane.y]
    return [float_value(each, {**dict(plane.values), plane.x: x}) for each in forms] + [1e99]


@pytest.mark.parametrize("name", MAPS)
def test_borders_are_the_closed_forms_of_the_solver(name: str) -> None:
    step = next(each for each in blackboard(name).steps if each.figure is not None)
    plane = step.figure.map
    assert len(step.equations) >= 2
    ends = {
        end for each in plane.conditions for case in each.cases for one in case.intervals for end in (one.lo, one.hi)
    }
    for equation in step.equations:
        if equation.lhs == plane.y:
            assert equation.rhs in ends
    for number, condition in enumerate(plane.conditions):
        if plane.times:
            one, other = list(combinations(plane.times, 2))[number]
            assert condition.cases == crossover(one, ">=", other, plane.y).cases


def test_the_borders_of_chapter_5_are_those_of_its_derivations() -> None:
    step = next(each for each in blackboard("training/regimes").steps if each.figure is not None)
    stated = {("C/(3*W_ici)"), ("C**2/(2*F*W_ici**2)")}
    assert {each.rhs for each in step.equations} == {parse_formula(each).expr for each in stated}
    upright = next(each for each in blackboard("training/resources").steps if each.figure is not None)
    assert parse_relation("X = N_chips*C/(F*W_ici)").rhs in {each.rhs for each in upright.equations}


# ------------------------------------------------------------------ proofs catch what is wrong


@pytest.mark.parametrize("change", [
    {"marks": (Mark("off", (0, 1), sp.Integer(10)),)},
    {"curves": (replace(simple().curves[0], y=symbol("x") * symbol("q")),)},
])  # fmt: skip
def test_a_wrong_curve_or_mark_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(StepError):
        verify(Step("plot", "t", "", (), (Drawn(replace(simple(marks=()), **change)),)))
    assert verify(Step("plot", "t", "", (), (Drawn(simple()),)))


@pytest.mark.parametrize("name", MAPS)
def test_a_wrong_map_is_refused(name: str) -> None:
    figure = figure_of(name)
    plane = figure.map
    turned = replace(
        plane, areas=tuple(replace(each, inside=each.outside, outside=each.inside) for each in plane.areas)
    )
    moved = replace(plane, conditions=tuple(_doubled(each) for each in plane.conditions))
    for wrong in (turned, moved) if plane.times else (moved,):
        with pytest.raises(StepError):
            verify(Step("plot", "t", "", (), (Drawn(replace(figure, map=wrong)),)))


def _doubled(condition: Condition) -> Condition:
    def twice(end: sp.Expr) -> sp.Expr:
        return end if end in (0, sp.oo) else 2 * end

    cases = tuple(
        replace(case, intervals=tuple(replace(one, lo=twice(one.lo), hi=twice(one.hi)) for one in case.intervals))
        for case in condition.cases
    )
    return replace(condition, cases=cases)


def test_an_author_learns_what_is_missing() -> None:
    d = Builder("t")
    t = d.times(d.program("x[B, D] * W[D, F] -> y[B, F]", passes=("forward",)))
    words = {"title": "t", "caption": "c"}
    d.plot({"a": t.math}, "B", (1, 10), on="tpu-v5e", values={"D": 8, "F": 8}, **words)
    with pytest.raises(SymscaleError, match="no range of a plot"):
        d.plot({"a": t.math}, "B", (10, 1), on="tpu-v5e", values={"D": 8, "F": 8}, **words)
    bound = d.crossover(t.math, ">=", t.hbm, "B", exact=True)
    with pytest.raises(StepError, match="on no two curves"):
        d.plot({"a": t.math}, "B", (1, 10**4), marks=[bound], on="tpu-v5e", values={"D": 8192, "F": 8192}, **words)
    with pytest.raises(SymscaleError, match="needs a number for D"):
        d.regime_map({"a": t.math, "b": t.hbm}, "F", "B", ((1, 10), (1, 10)), on="tpu-v5e", **words)
    other = d.crossover(t.math, ">=", t.hbm, "F", exact=True)
    with pytest.raises(SymscaleError, match="shows one unknown"):
        d.condition_map({"a": bound, "b": other}, "c", "D", ((1, 10), (1, 10)), on="tpu-v5e", **words)


def test_a_border_with_two_heights_leaves_an_area_in_two_pieces() -> None:
    """Where a condition holds between two borders, the other area lies above and below."""
    x, y = symbol("x"), symbol("y")
    solution = crossover(x * y, ">=", y**2 + 1, y)
    plane = Map(x, y, (Condition(solution.relation, solution.cases),), (Area("in", (0,)), Area("out", (), (0,))), ())
    axis = Axis((x,), sp.Integer(1), sp.Integer(100))
    figure = Figure("t", "c", (), axis, Axis((y,), sp.Rational(1, 100), sp.Integer(1000)), map=plane)
    inside, outside = map_polygons(figure, plane)
    assert len(inside) == 1
    assert len(outside) >= 2
    assert [area_at(plane, 10.0, each) for each in (0.05, 1.0, 50.0)] == [[1], [0], [1]]
    assert verify(Step("plot", "t", "", (), (Drawn(figure),)))


# ------------------------------------------------------------------ what is seen


@pytest.mark.parametrize("name", IDS)
def test_words_lie_in_the_frame_and_apart(name: str) -> None:
    shown = picture(figure_of(name))
    boxes = [each.box for each in shown.words]
    assert boxes
    for box in boxes:
        assert box.width / 2 <= box.x <= WIDTH - box.width / 2
        assert box.height / 2 <= box.y <= HEIGHT - box.height / 2
    for one, other in combinations(boxes, 2):
        apart = max(
            abs(one.x - other.x) - (one.width + other.width) / 2, abs(one.y - other.y) - (one.height + other.height) / 2
        )
        assert apart > 0


@pytest.mark.parametrize(("formula", "shown"), [
    ("C/(3*W_ici)", r"C/(3W_\text{ici})"),
    ("C**2/(2*F*W_ici**2)", r"C^2/(2FW_\text{ici}^2)"),
    ("C/W_hbm", r"C/W_\text{hbm}"),
    ("(N_chips*M_hbm - P)/M_cache", r"(N_\text{chips} M_\text{hbm} - P)/M_\text{cache}"),
    ("D*F*C/(2*(D*F*W_hbm - C*(D + F)))", r"DFC/(2(DFW_\text{hbm} - C(D + F)))"),
    ("max(a/b, c/d)", r"\max\left(a/b, c/d\right)"),
])  # fmt: skip
def test_fractions_in_labels_stand_on_one_line(formula: str, shown: str) -> None:
    from symscale.notation.latex import to_latex

    assert slashed(to_latex(parse_formula(formula).expr)) == shown


@pytest.mark.parametrize(("low", "high", "labels"), [
    ("1", "100000", ["1", "10", "10^{2}", "10^{3}", "10^{4}", "10^{5}"]),
    ("1/1000", "1/10", ["0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"]),
    ("100000000000", "10000000000000000", [f"10^{{{n}}}" for n in range(11, 17)]),
])  # fmt: skip
def test_ticks_are_powers_of_ten_or_round_numbers(low: str, high: str, labels: list[str]) -> None:
    axis = Axis("x", parse_formula(low).expr, parse_formula(high).expr)
    assert [each.label for each in ticks(axis, 10.0) if each.label] == labels


def test_linear_ticks_are_round() -> None:
    axis = Axis("x", sp.Integer(0), sp.Rational(7, 100), log=False, scale=sp.Rational(1, 1000))
    assert [each.label for each in ticks(axis, 10.0)] == ["0", "20", "40", "60"]


def test_formulas_between_dollars_are_formulas() -> None:
    words = prose("above $B/X = C/W_ici$ and $F$")
    assert words == (
        "above ",
        Relation(symbol("B") / symbol("X"), "==", symbol("C") / symbol("W_ici")),
        " and ",
        symbol("F"),
    )


# ------------------------------------------------------------------ formats


def test_hostile_words_are_inert_in_every_format() -> None:
    figure = replace(simple(EVIL), title=EVIL, caption=EVIL, x=replace(simple().x, label=EVIL))
    step = Step("plot", EVIL, EVIL, (), (Drawn(figure),), figure=figure)
    derivation = Derivation(EVIL, (step,))
    source = tikz(figure)
    assert r"\input" not in source.replace(r"\textbackslash{}input", "")
    assert source.count("{") - source.count(r"\{") == source.count("}") - source.count(r"\}")
    assert latex(derivation).count(r"\begin{tikzpicture}") == 1
    pytest.importorskip("matplotlib")
    shown = ET.fromstring(svg(figure))
    assert not [each for each in shown.iter() if each.tag.endswith("script")]
    assert shown.find("{*}title").text == EVIL
    alt = re.search(r"^!\[(.*)\]\(a\.svg\)$", markdown(derivation, images={figure: "a.svg"}), re.MULTILINE)
    assert alt
    assert not re.search(r"(?<!\\)[\[\]<`*]", alt[1])


def test_text_markdown_and_json_say_where_the_figure_is() -> None:
    derivation = blackboard("training/regimes").derivation
    assert "`symscale plot` draws it" in text(derivation)
    assert "`symscale plot` draws it" in markdown(derivation)
    (figure,) = derivation.figures
    shown = markdown(derivation, images=files(derivation, "figures/x"))
    assert f"({'figures/x.svg'})" in shown
    assert "FSDP alone" in alternative(figure)
    assert '"relation": "4*B*D*F' in steps_json(derivation) or '"figure": {' in steps_json(derivation)
    for words in (text(derivation), shown):
        assert "On TPU v5p in bf16" in words


def test_a_document_loads_pgfplots_only_for_a_figure() -> None:
    assert "pgfplots" in latex(blackboard("training/regimes").derivation, document=True)
    assert "pgfplots" not in latex(blackboard("training/dp").derivation, document=True)


def test_the_digest_is_that_of_the_data() -> None:
    figure = simple()
    assert digest(figure) == digest(simple())
    changed = (replace(figure, caption=("Other",)), replace(figure, x=replace(figure.x, high=sp.Integer(2000))))
    changed += (replace(figure, curves=figure.curves[:1]), replace(figure, marks=()), figure_of("training/regimes"))
    assert len({digest(each) for each in (figure, *changed)}) == len(changed) + 1


def test_every_run_draws_the_same_bytes() -> None:
    pytest.importorskip("matplotlib")
    code = (
        "from symscale.derivation.registry import blackboard\n"
        "from symscale.report import svg, tikz\n"
        "for name in ('training/regimes', 'training/over-batch'):\n"
        "    (figure,) = blackboard(name).derivation.figures\n"
        "    print(svg(figure), tikz(figure))\n"
    )
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_the_drawings_of_the_reports_are_current() -> None:
    wanted = {f"{name.replace('/', '-')}.svg": figure_of(name) for name in IDS}
    found = {each.name for each in (REPORTS / "figures").iterdir()}
    assert found == set(wanted), "symscale report draws them; delete those of no derivation"
    stale = [name for name, figure in wanted.items() if drawn(REPORTS / "figures" / name, figure, check=True)]
    assert not stale


def test_an_svg_has_a_name_a_description_and_no_date() -> None:
    pytest.importorskip("matplotlib")
    figure = figure_of("training/regimes")
    source = svg(figure)
    shown = ET.fromstring(source)
    assert shown.get("role") == "img"
    assert shown.find("{*}title").text == figure.title
    assert "FSDP" in shown.find("{*}desc").text
    assert digest(figure) in source[:200]
    assert not re.search(r"\d{4}-\d\d-\d\d", source)
    assert max(map(len, source.splitlines())) < 10_000


def test_only_a_changed_figure_is_drawn_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file, figure = tmp_path / "a.svg", simple()
    assert drawn(file, figure, check=True)
    assert not file.exists()
    assert drawn(file, figure)
    assert not drawn(file, figure)
    # another version of the library draws other bytes, and says what they are
    head, _, body = file.read_text("utf-8").partition("-->\n")
    other = body + "<!-- other -->\n"
    file.write_text(f"{head.replace(stamp(body), stamp(other))}-->\n{other}", "utf-8")
    assert not drawn(file, figure)
    assert drawn(file, replace(figure, title="Other"))
    assert '<title id="title">Other</title>' in file.read_text("utf-8")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_every_figure(tmp_path: Path) -> None:
    """Every figure of the library in one document; no box sticks out. Needs pgfplots (Debian: texlive-pictures)."""
    if shutil.which("kpsewhich") and not subprocess.run(["kpsewhich", "pgfplots.sty"], capture_output=True).stdout:
        pytest.skip("pgfplots is not installed")
    whole = tuple(each for name in IDS for each in blackboard(name).steps if each.figure is not None)
    file = tmp_path / "all.tex"
    file.write_text(latex(Derivation("All", whole), document=True), "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    wide = [float(each) for each in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0) <= 10


# ------------------------------------------------------------------ the command


@pytest.mark.parametrize("suffix", [".svg", ".tex", ".pdf", ".png"])
def test_a_figure_is_written_by_its_suffix(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if suffix != ".tex":
        pytest.importorskip("matplotlib")
    file = tmp_path / f"a{suffix}"
    assert said(capsys, "plot", "training/regimes", "-o", str(file)) == ""
    start = {".svg": b"<?xml", ".tex": b"% symscale figure", ".pdf": b"%PDF", ".png": b"\x89PNG"}[suffix]
    assert file.read_bytes().startswith(start)
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_numbers_of_ones_own_move_the_figure(capsys: pytest.CaptureFixture[str]) -> None:
    plain = said(capsys, "plot", "training/over-batch")
    assert plain.startswith("% symscale figure")
    assert "160,650" in plain
    # 63·4.59e14/1.8e11 on TPU v5p; 31·9.2e14/1.8e11 on v6e
    moved = said(capsys, "plot", "training/over-batch", "--on", "tpu-v6e", "--set", "X=32")
    assert "158,444" in moved
    assert digest_of(plain) != digest_of(moved)
    assert said(capsys, "plot", "training/over-batch") == plain


def digest_of(source: str) -> str:
    return re.search(r"sha256:\w+", source)[0]


@pytest.mark.parametrize(("arguments", "words"), [
    (["training/dp"], ["training/dp draws no figure", "training/regimes"]),
    (["training/dpp", "-o", "a.svg"], ["no derivation 'training/dpp'", "training/dp"]),
    (["training/regimes", "-o", "a.jpg"], ["a.jpg ends in .jpg", ".svg, .pdf, .png, .tex"]),
    (["training/regimes", "-o", "a"], ["a has no suffix", ".svg"]),
    (["training/regimes", "-o", "no/such/folder/a.tex"], ["cannot be written", "folder you may write to"]),
    (["training/regimes", "--number", "2"], ["one figure, no number 2", "Leave --number out"]),
    (["training/regimes", "--number", "0"], ["0 is not in the range"]),
    (["training/over-batch", "--set", "Q=3"], ["takes no number for Q", "drawn with D, F, X"]),
    (["training/over-batch", "--on", "tpu-v99"], ["No chip is called 'tpu-v99'"]),
])  # fmt: skip
def test_what_cannot_be_drawn_is_said(
    arguments: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    from symscale.cli import run

    monkeypatch.chdir(tmp_path)
    assert run(["plot", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("symscale: ")
    assert "\n\n" not in err
    for each in words:
        assert each in err
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_there_is_tikz_and_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from symscale.cli import run

    for name in [each for each in sys.modules if each.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    assert run(["plot", "training/regimes", "-o", "a.svg"]) == 2
    assert "pip install 'symscale[plots]'" in capsys.readouterr().err
    assert said(capsys, "plot", "training/regimes", "-o", "a.tex") == ""
    assert said(capsys, "show", "training/regimes", "--format", "latex")
    assert run(["show", "training/regimes", "--format", "md", "-o", "b.md"]) == 0
    assert "The figures are left out" in capsys.readouterr().err
    assert "draws it into a file" in (tmp_path / "b.md").read_text("utf-8")
    assert {each.name for each in tmp_path.iterdir()} == {"a.tex", "b.md"}


def test_show_draws_beside_a_markdown_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "page.md"
    assert said(capsys, "show", "training/regimes", "--format", "md", "-o", str(file)) == ""
    assert "](page.svg)" in file.read_text("utf-8")
    assert (tmp_path / "page.svg").read_text("utf-8").startswith("<?xml")


def test_text_needs_no_library_for_plots() -> None:
    code = (
        "import sys; from symscale.cli import run; run(['show', 'training/regimes']); "
        "print(sorted({each.split('.')[0] for each in sys.modules} & {'matplotlib', 'numpy', 'jinja2'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", EXAMPLES, ids=" ".join)
def test_every_printed_example_runs(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert said(capsys, *arguments) or list(tmp_path.iterdir())
