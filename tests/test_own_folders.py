"""Derivations, chips and settings of a user's own that are odd: hostile titles, prints, no steps, no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from symscale.cli import run

HOSTILE = "Odd </script><img src=x onerror=alert(1)> <!--"
CHIP = f"""name = "odd"
title = "{HOSTILE}"
[sources]
me = "{HOSTILE}"
[peak]
bf16 = {{ value = 4.59e14, unit = "FLOP/s", source = "me" }}
[hbm]
bandwidth = {{ value = 2e12, unit = "B/s", source = "me" }}
capacity = {{ value = 96, unit = "GB", source = "me" }}
"""
OWN = f'''
from symscale import derivation

print("loaded")

@derivation("own/prints", title="{HOSTILE}")
def prints(d):
    print("written")
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]")
    t = d.times(layer, passes="forward")
    d.crossover(t.math, ">=", t.hbm, solve_for="B")
    d.evaluate(on="tpu-v5e")

@derivation("own/empty", title="Nothing")
def empty(d):
    pass
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("derivs", "chips"):
        (tmp_path / name).mkdir()
    (tmp_path / "derivs" / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "chips" / "odd.toml").write_text(CHIP, encoding="utf-8")
    (tmp_path / "symscale.toml").write_text('derivations = ["derivs"]\nmachines = ["chips"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_an_author_prints_is_no_part_of_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "own/prints", "title"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Odd")
    assert said.out.count("\n") == 1
    assert "loaded" in said.err


def test_a_derivation_without_steps_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "own/empty"]) == 2
    assert "own/empty has no steps." in capsys.readouterr().err


def test_titles_end_no_script_of_a_page(folder: Path) -> None:
    assert run(["show", "own/prints", "--format", "html", "-o", "page.html"]) == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert page.count("</script>") == page.count("<script")


@pytest.mark.parametrize("kind", ["folder", "loop", "dangling", "pipe"])
def test_settings_that_are_no_file_are_said(folder: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    file = folder / "symscale.toml"
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(file.name if kind == "loop" else "nowhere.toml")
    (folder / "paper.tex").write_text("% symscale: training/fsdp claim\n% end symscale\n", encoding="utf-8")
    assert run(["sync", "paper.tex"]) == 2
    assert "symscale.toml" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a%b.sty", "a#b.sty", "a b.sty", "{}.sty", "ü.sty"])
def test_a_package_has_a_name_that_latex_loads(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert run(["macros", "training/fsdp value", "-o", name]) == 2
    assert "LaTeX loads no package" in capsys.readouterr().err
    assert not (folder / name).exists()


def test_a_fault_of_the_settings_names_its_place_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "symscale.toml").write_text("[style.rename]\nB = 3\n", encoding="utf-8")
    (folder / "paper.tex").write_text("% symscale: training/fsdp claim\n% end symscale\n", encoding="utf-8")
    assert run(["sync", "paper.tex"]) == 2
    assert capsys.readouterr().err.count("style.rename") == 1
