"""Questions, hints and lists of exercises, and the verb by which an author asks."""

from __future__ import annotations

import json

import pytest
import sympy as sp
from pages import said

from symscale.cli import run
from symscale.derivation.asking import Ask
from symscale.derivation.builder import Builder
from symscale.derivation.registry import blackboard, ids
from symscale.errors import SymscaleError
from symscale.exercise.exercise import exercise
from symscale.exercise.hints import hints
from symscale.exercise.pool import asked_rows, listed, parts
from symscale.exercise.question import question
from symscale.notation.text import to_text
from symscale.report.plain import words

# id, kind, part of the question, a given value, a part of the form
QUESTIONS = [
    ("training/fsdp", "condition", "For which B/X does the arithmetic of the forward pass", "W_ici = 180 GB/s", "B/X"),
    ("training/tp-width", "condition", "For which F/Y does the arithmetic", "C = 459 TFLOP/s", "F/Y"),
    ("training/mixed-feasible", "condition", "on a mesh with X*Y = N_chips", "N_chips = 64", "X"),
    ("training/mixed", "condition", "on the best mesh with X*Y = N_chips", "F = 32,768", "B/N_chips"),
    ("training/mixed-mesh-serial", "mesh", "Which size of the mesh axis X, with Y = N_chips/X", "B = 48,000", "X=1"),
    ("roofline/machine-intensity", "condition", "FLOPs/C > FLOPs/(I_op*W_hbm) hold?", "W_hbm = 820 GB/s", "I_op"),
    ("collectives/line", "number", "T_comms (the time of the communication) of the forward pass", "I = 2048", "in s"),
    ("roofline/tokens", "number", "Work out B_chip = T*sequences/N_chips", "sequences = 512", "a number"),
    ("ch5.q3.2.verdict", "yes or no", "Does B/N_chips >= C/(3*W_ici) hold?", "N_chips = 4096", "yes or no"),
    ("ch12.quiz1.q2.c", "number", "Work out C/(N_core*N_lane*f_clock)", "N_lane = 128", "a number"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kind", "find", "given", "form"), QUESTIONS)
def test_a_question_is_made_from_its_derivation(id: str, kind: str, find: str, given: str, form: str) -> None:
    found = question(exercise(id))
    assert found.kind == kind
    assert find in words(found.find, found.order)
    assert given in {f"{each.name} = {each.shown}" for each in found.givens}
    assert form in found.form
    assert found.whole


def test_a_question_about_a_pass_shows_one_program() -> None:
    found = question(exercise("sharding/case-1", "FLOPs"))
    assert len(found.programs) == 1
    assert len(question(exercise("training/tp-or-fsdp")).programs) == 2


@pytest.mark.parametrize("id", ["roofline/overlap", "profiling/padding"])
def test_a_title_that_gives_the_answer_away_is_left_out(id: str) -> None:
    assert blackboard(id).title
    assert not question(exercise(id)).title


EVERY = [*ids()[::6], *(row.id for row in list(asked_rows())[::9])]


@pytest.mark.parametrize("id", EVERY)
def test_only_the_last_hint_has_the_answer(id: str) -> None:
    one = exercise(id)
    *before, last = hints(one)
    assert last.last
    asked = one.headline
    told = {each.value for each in asked.settings if each.value.is_number} - {sp.S.One, sp.Integer(2), sp.S.Zero}
    told |= {each.expr for each in asked.settings if asked.crossover is not None and each.expr.free_symbols}
    for each in before:
        assert not each.last
        shown = {equation.rhs for equation in each.equations}
        assert not shown & told, (each.title, shown & told)
        if asked.crossover is not None:
            assert all(equation.lhs != asked.crossover.headline.unknown for equation in each.equations)


def test_the_list_has_derivations_and_questions_of_the_book(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "exercises", "--chapter", "9").splitlines()
    assert len(lines) == len(listed("9"))
    assert any(line.startswith("profiling/dot ") and " number " in line for line in lines)
    assert any(line.startswith("ch9.q2.c ") for line in lines)
    rows = json.loads(said(capsys, "exercises", "--chapter", "9", "--format", "json"))["exercises"]
    assert [each["id"] for each in rows] == [line.split()[0] for line in lines]
    assert not any(each.startswith("ch9.text") for each in listed("9"))


def test_parts_hints_and_solutions_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "exercise", "training/tp")
    assert "(a) Over how many chips of TPU v5p may an MLP with d_ff = 28,672" in text
    assert "(b) Which collectives" in text
    assert "11.2" not in text
    assert "AllGather_Y(In), ReduceScatter_Y(Out)" in said(capsys, "exercise", "training/tp", "--answer")
    first = said(capsys, "exercise", "training/tp", "--hint", "1")
    assert first.startswith("Hint 1 of 4: Which collectives")
    assert "the answer" in said(capsys, "exercise", "training/tp", "--hint", "4")
    part = said(capsys, "exercise", "training/tp", "--what", "collectives forward", "--hint", "3")
    assert "AllGather_Y: In[B, D_Y]" in part
    solved = said(capsys, "exercise", "training/tp", "--solution")
    assert solved == said(capsys, "show", "training/tp")
    data = json.loads(said(capsys, "exercise", "training/tp", "--format", "json"))
    assert [each["kind"] for each in data["parts"]] == ["condition", "collectives"]
    assert "answer" not in data["parts"][0]


def test_a_formula_of_the_book_has_a_checked_solution(capsys: pytest.CaptureFixture[str]) -> None:
    assert "295" in said(capsys, "exercise", "ch12.quiz1.q3.h100-fp16", "--solution")
    assert "lhs = 732.422" in said(capsys, "exercise", "ch5.q3.2.verdict", "--solution")  # 3e6/4096


BAD = [
    (["exercise", "nope"], "no derivation 'nope'"),
    (["exercise", "training/tp", "--hint", "9"], "none is number 9|--hint 1 to --hint 4"),
    (["exercise", "training/tp", "--hint", "0"], "none is number 0"),
    (["exercise", "training/tp", "--what", "Q"], "does not ask for 'Q'|It has Y"),
    (["exercise", "training/tp", "--hint", "1", "--solution"], "given together|Use one of them"),
    (["exercise", "training/tp", "--format", "latex"], "is for --solution|symscale quiz"),
    (["exercise", "training/tp", "--vary", "-3"], "-3 is no seed|0 to 1,000,000,000"),
    (["exercise", "training/tp", "--vary", "x"], "not a valid integer"),
    (["exercise", "roofline/overlap", "--vary", "1"], "no numbers that could be others|without --vary"),
    (["exercise", "ch5.claim.zero-acronym"], "no answer that a derivation could state"),
    (["exercises", "--chapter", "99"], "no exercises of chapter 99|There are chapters 1, 2, 3"),
    (["quiz", "--count", "0"], "of 0 questions is none|1 to 100"),
    (["quiz", "--chapter", "6", "--count", "90"], "and 90 are wanted|--count"),
    (["quiz", "--count", "1", "--chapter", "9", "-o", "a", "--key", "./a"], "name one file"),
    (["check", "training/tp", "Y <= 11", "--vary", "-1"], "-1 is no seed"),
    (["check", "--file", "a.toml", "--vary", "1"], "belong to one answer"),
    (["grade", "nowhere"], "cannot be read as a folder|folder of answer sheets"),
]


@pytest.mark.parametrize(("arguments", "expected"), BAD)
def test_bad_input_has_a_way_out(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    message = capsys.readouterr().err
    assert all(part in message for part in expected.split("|")), message
    assert not list(tmp_path.iterdir())


def test_an_author_asks_about_what_is_derived() -> None:
    d = Builder("asked")
    layer = d.program("x[B, D] * W[D, F_X] -> y[B, F]", passes=["forward"])
    t = d.times(layer)
    d.ask("Which collectives?", layer)
    d.ask(" How long do they\n take? ", t.comms, hints=["Count the bytes."], vary={"D": (1024, 4096), "F": ()})
    d.ask("How large?", "B", vary=False)
    assert d.asks[1] == Ask(
        "How long do they take?",
        t.comms,
        ("Count the bytes.",),
        (("D", (1024, 4096), True), ("F", (), True)),
    )
    assert d.asks[2].vary is None
    with pytest.raises(SymscaleError, match="needs words"):
        d.ask("  ", layer)


def test_parts_of_an_exercise_are_those_of_its_author() -> None:
    assert [each.what for each in parts("training/tp")] == ["Y", "collectives forward"]
    assert to_text(exercise("training/tp").headline.crossover.headline.unknown) == "Y"  # type: ignore[union-attr]
