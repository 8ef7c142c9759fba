"""Faults of a user's own derivations and values: each says where it is, and blames nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from symscale.cli import run
from symscale.derivation import registry
from symscale.derivation.registry import blackboard
from symscale.derivation.terms import Terms
from symscale.errors import StepError, SymscaleError
from symscale.report.drawing import svg
from symscale.report.figures import shows
from symscale.report.narrow import heading_latex

HEAD = """
from symscale import derivation

@derivation("own/faulty", title="Faulty")
def faulty(d):
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", passes=("forward",))
    t = d.times(layer, "forward")
    {line}
"""
LINES = [
    ("1/0", "line 8 (own/faulty): ZeroDivisionError"),
    ("d.nope()", "line 8 (own/faulty): AttributeError"),
    ("import sys; sys.exit(3)", "line 8 (own/faulty): SystemExit"),
    ("d.plot({}, 'B', (1, 10), title='t', caption='c')", "A plot needs a curve"),
    ("d.roofline({'a': (layer, {})}, on='tpu-v5e')", "TypeError"),
    ("d.plot({'a': 'B/('}, 'B', (1, 10), title='t', caption='c')", "bracket"),
    ("d.table('T', {'y': 'B'}, over={'B': [1, 2]}, front={'z': 'least'})", "no column z"),
    ("d.table('T', {'y': '1/B'}, over={'B': [0, 1]})", "line 8 (own/faulty)"),
    ("d.expect(t.math, 'B')", "line 8 (own/faulty)"),
]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that makes a library of one derivation with a line of its own."""

    def made(line: str) -> Path:
        file = tmp_path / "own.py"
        file.write_text(HEAD.format(line=line), encoding="utf-8")
        monkeypatch.setattr(registry, "folders", lambda: (tmp_path,))
        registry._files.cache_clear()
        registry._registry.pop("own/faulty", None)
        blackboard.cache_clear()
        return file

    yield made
    registry._files.cache_clear()
    registry._registry.pop("own/faulty", None)
    blackboard.cache_clear()


@pytest.mark.parametrize(("line", "said"), LINES)
def test_a_fault_of_a_file_names_its_line(own, line, said, capsys):
    own(line)
    code = run(["show", "own/faulty"])
    error = capsys.readouterr().err
    assert said in error
    assert "fault of symscale" not in error
    assert code == (1 if "expect" in line else 2)


def test_curves_may_be_formulas_in_words(own):
    own("d.plot({'a': 'B'}, 'B', (1, 10), title='t', caption='c')")
    assert blackboard("own/faulty").derivation.figures


@pytest.mark.parametrize("values", ["F=0", "F=-5", "F=oo", "F=4*D", "F=1e999", "X=1"])
def test_sizes_that_are_none_are_refused(values, capsys, tmp_path):
    assert run(["plot", "training/over-batch", "--set", values, "-o", str(tmp_path / "x.svg")]) == 2
    assert "fault" not in capsys.readouterr().err


@pytest.mark.parametrize(("id", "chip"), [("training/over-batch", "h100"), ("gpus/dp-curve", "a100")])
def test_a_chip_that_does_not_fit_a_figure_is_refused(id, chip, capsys, tmp_path):
    assert run(["plot", id, "--on", chip, "-o", str(tmp_path / "x.svg")]) == 2
    error = capsys.readouterr().err
    assert "cannot be written" in error or "nothing to do with" in error


def test_other_terms_never_fail_a_check_of_the_author():
    with pytest.raises(SymscaleError) as caught:
        blackboard("training/hiding", Terms(on="h100"))
    assert not isinstance(caught.value, StepError)


@pytest.mark.parametrize(
    ("title", "bookmark"), [("The value of $B$", r"The value of \$B\$"), ("a -> b $5", None), ("B >= 2", None)]
)
def test_a_dollar_in_a_title_is_one(title, bookmark):
    found = heading_latex(title)
    assert found.count("{") == found.count("}")
    assert bookmark is None or found == bookmark


def test_a_damaged_drawing_is_drawn_again(tmp_path):
    figure = blackboard("roofline/chip").derivation.figures[0]
    file = tmp_path / "f.svg"
    file.write_text(svg(figure), encoding="utf-8")
    assert shows(file, figure)
    for damaged in (svg(figure)[:2000], svg(figure) + "junk", svg(figure).replace("<path", "<paht", 1)):
        file.write_text(damaged, encoding="utf-8")
        assert not shows(file, figure)


def test_a_quiz_that_cannot_write_all_of_its_files_writes_none(tmp_path):
    sheet = ["quiz", "--chapter", "1", "--count", "2", "-o", str(tmp_path / "q.txt"), "--sheet", "/nonexist/s.toml"]
    assert run(sheet) == 2
    assert not list(tmp_path.iterdir())
