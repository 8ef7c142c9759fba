"""Quizzes in every format, the sheets that go with them, and the grades of what comes back."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from pages import said

from symscale.cli import run
from symscale.errors import SymscaleError
from symscale.exercise import sheet as sheets
from symscale.exercise.desk import check
from symscale.exercise.exercise import exercise
from symscale.exercise.grade import graded
from symscale.exercise.key import answers, written
from symscale.exercise.quiz import quiz
from symscale.report.grades import defused
from symscale.report.plain import words
from symscale.report.quiz import quiz_text, sheet

RIGHT = '[[answer]]\nid = "training/fsdp"\nanswer = "B/X > C/W"\n'


@pytest.mark.parametrize("chapter", ["1", "5", "12"])
@pytest.mark.parametrize("vary", [False, True])
def test_every_question_of_a_quiz_can_be_answered(chapter: str, vary: bool) -> None:
    found = quiz(chapter, 10, 4, vary=vary)
    assert len({each.question.id for each in found.items}) == 10
    assert len({each.question.kind for each in found.items}) >= 3
    for each in found.items:
        answer = written(each.exercise)
        verdict = check(each.exercise, answer)
        assert verdict.accepted, (each.question.id, each.question.what, answer, verdict)


def test_a_seed_draws_the_same_quiz_and_another_one_another() -> None:
    texts = [quiz_text(quiz("5", 4, seed), "text") for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert "Key" in texts[0]
    found = quiz("5", 4, 1)
    assert "Key" not in quiz_text(found, "text", key=False)
    assert quiz_text(found, "text", questions=False).startswith("Key: Quiz, chapter 5 (seed 1)")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("chapter", ["5"])
def test_latex_compiles_and_nothing_leaves_the_page(chapter: str, tmp_path: Path) -> None:
    (tmp_path / "quiz.tex").write_text(quiz_text(quiz(chapter, 14, 3, vary=True), "latex"), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "quiz.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    over = [float(each) for each in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(over, default=0) <= 10


def test_markdown_has_whole_formulas_and_tables() -> None:
    text = quiz_text(quiz("7", 10, 3, vary=True), "md")
    assert text.count("$$") % 2 == 0
    assert "| Given | Value | |" in text
    assert "## Key" in text
    for formula in re.findall(r"\$([^$\n]+)\$", text):
        assert formula.count("{") == formula.count("}")
        assert r"\," not in formula


def test_an_empty_sheet_is_read_and_graded(tmp_path: Path) -> None:
    found = quiz("5", 6, 1, vary=True)
    text = sheet(found)
    rows = tomllib.loads(text)["answer"]
    assert [each["id"] for each in rows] == [each.question.id for each in found.items]
    assert {each.get("vary") for each in rows} == {1, None}
    (tmp_path / "ada.toml").write_text(text, encoding="utf-8")
    filled = text
    for each in found.items:
        filled = filled.replace('answer = ""', f"answer = '{written(each.exercise)}'", 1)
    (tmp_path / "emmy.toml").write_text(filled, encoding="utf-8")
    ada, emmy = graded(tmp_path)
    assert (ada.points, ada.of) == (0, 6)
    assert {each.verdict for each in ada.graded} == {"not answered"}
    assert (emmy.points, emmy.of) == (6, 6), emmy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of sheets, most of them bad in a way of their own."""
    made = tmp_path / "answers"
    made.mkdir()
    texts = {
        "ada.toml": RIGHT + '[[answer]]\nid = "training/tp"\nvary = 3\nanswer = "Y <= 2.346"\n',
        "bob.toml": RIGHT.replace("C/W", "2*C/W") + '[[answer]]\nid = "training/fsdp"\nanswer = "B/X > C/W"\n',
        "=cmd|'calc'!A0.toml": '[[answer]]\nid = "training/fsdp"\nanswer = "=1+1"\n',
        "broken.toml": "[[answer",
        "unknown.toml": RIGHT + '[[answer]]\nid = "training/nope"\nanswer = "7"\n',
        "odd.toml": '[[answer]]\nid = "training/fsdp"\nanswer = "((("\n' + RIGHT.replace("fsdp", "tp\\u0007"),
        "seed.toml": RIGHT + 'vary = "x"\n',
        "half.toml": RIGHT + "[[answer]]\nid = 3\nanswer = 1\n",
        "notes.txt": "hello",
        "deep.toml": "a = " + "[" * 5000,
        "empty.toml": "",
        "grades.csv": "old",
        ".hidden": "nothing",
    }
    for name, text in texts.items():
        (made / name).write_text(text, encoding="utf-8")
    (made / "latin.toml").write_bytes(RIGHT.encode() + "# é".encode("latin-1"))
    (made / "huge.toml").write_text("#" * (sheets.LARGEST + 1), encoding="utf-8")
    (made / "folder.toml").mkdir()
    (made / "gone.toml").symlink_to(made / "nowhere.toml")
    if hasattr(os, "mkfifo"):
        os.mkfifo(made / "pipe.toml")
    return made


# student, what the message of its first line says
FAULTS = [
    ("'=cmd|'calc'!A0", ""),
    ("broken", "is no TOML"),
    ("odd", "(((|left open|closed|("),
    ("seed", "vary is a whole number"),
    ("notes.txt", "does not end in .toml"),
    ("deep", "nested too deeply|no TOML"),
    ("empty", "has no answers"),
    ("latin", "is not UTF-8"),
    ("huge", "longer than 2 MB"),
    ("folder", "is a folder"),
    ("gone", "cannot be read"),
    ("pipe", "is a device"),
]


def test_a_bad_sheet_says_why_and_stops_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["grade", str(folder), "-o", str(folder / "grades.csv")]) == 1
    assert "not everything could be judged of" in capsys.readouterr().err
    text = (folder / "grades.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    by_name: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_name.setdefault(row["student"], []).append(row)
    totals = {name: (own[-1]["exercise"], own[-1]["points"], own[-1]["of"]) for name, own in by_name.items()}
    assert totals["ada"] == ("total", "2", "2")
    assert totals["bob"] == ("total", "0", "1")  # the first answer counts
    assert totals["half"] == ("total", "1", "2")
    assert totals["unknown"] == ("total", "1", "2")
    for name, expected in FAULTS:
        if name == "pipe" and not hasattr(os, "mkfifo"):
            continue
        assert totals[name][0] == "total"
        assert any(part in by_name[name][0]["message"] for part in expected.split("|")), by_name[name]
    assert "grades" not in "".join(by_name)
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert not [each for each in cells if each.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert not any("\n" in each for each in cells)
    # graded again, the grades are no sheet, and the same grades come out
    assert run(["grade", str(folder)]) == 1
    assert capsys.readouterr().out == text


def test_a_message_of_a_cell_has_no_caret(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "eve.toml").write_text(RIGHT.replace("B/X > C/W", "hello world ("), encoding="utf-8")
    assert run(["grade", str(folder)]) == 1
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    said = {each["student"]: each["message"] for each in reversed(list(rows)) if each["message"]}
    assert said["eve"] == "two factors stand side by side without an operator: write hello*world"


def test_a_key_has_all_axes_of_a_mesh() -> None:
    mesh = exercise("training/mixed-mesh")
    ((*sizes, _, _, _),) = answers(mesh)
    assert "".join(map(str, sizes)) == "X = 16, Y = 4"
    assert check(mesh, "".join(map(str, sizes))).kind == "right"


@pytest.mark.parametrize("chapter", ["2", "5", "12"])
def test_the_numbers_of_a_key_are_right_answers(chapter: str) -> None:
    asked = 0
    for each in quiz(chapter, 14, 2, vary=True).items:
        *_, last = answers(each.exercise)
        if each.question.form.startswith("a number in"):
            number = words(last, each.question.order).partition(" = ")[2] or words(last, each.question.order)
            verdict = check(each.exercise, number)
            assert verdict.kind == "right", (each.exercise.id, number, verdict)
            asked += 1
    assert asked


def test_the_part_of_an_exercise_is_named_as_a_shell_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "exercise", "training/tp")
    parts = [shlex.split(each) for each in re.findall(r"--what .*", shown)]
    assert len(parts) > 1
    for part in parts:
        assert said(capsys, "exercise", "training/tp", *part)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        (" \t=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("|calc", "'|calc"),
        ("a\r\n=b", "a =b"),
        ("\x00=b", "'=b"),
        ("B/X > C/W", "B/X > C/W"),
        ("2,5", "2,5"),
        ("x" * 500, "x" * 399 + "…"),
    ],
)
def test_a_spreadsheet_runs_no_cell(text: str, shown: str) -> None:
    assert defused(text) == shown


def test_only_what_was_handed_out_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handed = tmp_path / "sheet.toml"
    handed.write_text(RIGHT + '[[answer]]\nid = "training/tp"\nvary = 3\nanswer = ""\n', encoding="utf-8")
    answers = tmp_path / "in"
    answers.mkdir()
    (answers / "eve.toml").write_text(RIGHT + RIGHT + RIGHT.replace("fsdp", "fsdp-axes"), encoding="utf-8")
    (answers / "bad.toml").write_text("[", encoding="utf-8")
    bad, eve = graded(answers, handed)
    assert (eve.points, eve.of) == (1, 2)
    assert [each.verdict for each in eve.graded] == ["right", "not answered", "not judged", "not judged"]
    assert (bad.points, bad.of) == (0, 2)
    assert "eve,total,,,,,,1,2,," in said(capsys, "grade", str(answers), "--against", str(handed), code=1)
    with pytest.raises(SymscaleError, match="cannot be read"):
        graded(answers, tmp_path / "none.toml")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(SymscaleError, match="no answer sheets"):
        graded(tmp_path / "nothing")


def test_a_quiz_is_written_with_its_key_and_its_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [tmp_path / each for each in ("quiz.md", "key.md", "sheet.toml")]
    arguments = ["quiz", "--chapter", "1", "--count", "3", "--format", "md", "-o", str(names[0])]
    assert said(capsys, *arguments, "--key", str(names[1]), "--sheet", str(names[2])) == ""
    quiz_page, key_page, toml = (each.read_text(encoding="utf-8") for each in names)
    assert "Key" not in quiz_page
    assert key_page.startswith("# Key: Quiz, chapter 1")
    assert len(tomllib.loads(toml)["answer"]) == 3
    assert sorted(tmp_path.iterdir()) == sorted(names)
