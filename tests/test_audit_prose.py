"""Numbers of running text that are more than they look: denied, halved, one of two, struck out, of another unit."""

from __future__ import annotations

from pathlib import Path

import pytest

from symscale.paper.audit.judged import audited

TAG = "<!-- audit: training/fsdp -->"


def kind(folder: Path, text: str, name: str = "said.md") -> str:
    """Return the verdict of the one claim of a text, "" if there is none."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    (found,) = audited(file).findings
    return found.verdict.kind if found.verdict is not None else ""


@pytest.mark.parametrize(
    "text",
    [
        f"It does not need {TAG} 2550 tokens per chip.",
        f"It doesn't need {TAG} 2550 tokens per chip.",
        f"It never needs more than {TAG} 2550 tokens per chip.",
        f"It does not need at least {TAG} 2550 tokens per chip.",
        f"It is not {TAG} $B/X \\ge 2550$.",
        f"It needs {TAG} 2550-5100 tokens per chip.",
        f"It needs {TAG} 2550–5100 tokens per chip.",
        f"It needs {TAG} 2550 to 5100 tokens per chip.",
        f"It needs {TAG} 2550 or 5100 tokens per chip.",
        f"It needs {TAG} 2550 ± 100 tokens per chip.",
        f"It needs {TAG} twice 2550 tokens per chip.",
        f"It needs {TAG} half of 2550 tokens per chip.",
        f"It needs {TAG} a third of 2550 tokens per chip.",
        f"It needs {TAG} three times 2550 tokens per chip.",
        f"It needs {TAG} 2550 dozen tokens per chip.",
        f"It needs {TAG} 2550 kilotokens per chip.",
        f"It needs {TAG} 2550 tokens per 2 chips.",
        f"It needs {TAG} 2550 tokens per chip-hour.",
        f"It needs {TAG} <s>2550 tokens per chip</s>.",
        f"It needs {TAG} ~~2550 tokens per chip~~.",
    ],
)
def test_what_is_no_claim_is_not_judged(tmp_path: Path, text: str) -> None:
    assert kind(tmp_path, text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"It needs {TAG} 2550 tokens per chip.", "right"),
        (f"It needs {TAG} 2550.", "right"),
        (f"It needs {TAG} **2550** tokens per chip.", "right"),
        (f"It needs {TAG} 5100/2 tokens per chip.", "right"),
        (f"It needs {TAG} 51 × 50 tokens per chip.", "right"),
        (f"It needs {TAG} 2550 or more tokens per chip.", "right"),
        (f"No more than {TAG} 2550 tokens per chip.", "wrong"),
        (f"It needs not less than {TAG} 2550 tokens per chip.", "right"),
        (f"It needs no fewer than {TAG} 2550 tokens per chip.", "right"),
        (f"It needs not more than {TAG} 2550 tokens per chip.", "wrong"),
        (f"It is not 5100 but {TAG} 2550 tokens per chip.", "right"),
        (f"It is not hidden unless it has {TAG} 2550 tokens per chip.", "right"),
        (f"On a 4×4 slice {TAG} it is at least 2550 tokens per chip.", "right"),
        (f"It needs {TAG} 2550 × 10 tokens per chip.", "wrong"),
        (f"It needs {TAG} 2550/2 tokens per chip.", "wrong"),
        (f"It needs {TAG} 1/2550 tokens per chip.", "wrong"),
        (f"It needs {TAG} 2550² tokens per chip.", "wrong"),
        (f"It needs {TAG} 2550^2 tokens per chip.", "wrong"),
        (f"It needs {TAG} 2550<sup>2</sup> tokens per chip.", "wrong"),
        (f"It needs {TAG} 2550 M tokens per chip.", "wrong"),
        (f"It needs {TAG} ~~2550~~ 5100 tokens per chip.", "wrong"),
        (f"It needs {TAG} <del>2550</del> 5100 tokens per chip.", "wrong"),
        (f"It needs {TAG} 2550 times fewer tokens per chip.", "right number, wrong unit"),
        (f"It needs {TAG} 2550× the tokens per chip.", "right number, wrong unit"),
        (f"It needs {TAG} 2550 heads per chip.", "right number, wrong unit"),
        ("Two nodes make it <!-- audit: gpus/all-to-all-two-nodes --> 2.6 times slower.", "right"),
        ("Two nodes make it <!-- audit: gpus/all-to-all-two-nodes --> 2.6× slower.", "right"),
    ],
)
def test_what_goes_with_a_number_counts(tmp_path: Path, text: str, expected: str) -> None:
    assert kind(tmp_path, text) == expected


def test_struck_out_in_other_languages(tmp_path: Path) -> None:
    tex = "It needs \\sout{2550} 5100 tokens per chip. % audit: training/fsdp\n"
    assert kind(tmp_path, tex, "said.tex") == "wrong"
    typ = "/* audit: training/fsdp */ It needs #strike[2550] 5100 tokens per chip.\n"
    assert kind(tmp_path, typ, "said.typ") == "wrong"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (r"B/X \ge C/W \quad (X \to \infty)", ("right", "")),
        (r"B/X \ge C/W \quad (X \to 0)", ("wrong", "")),
        (r"B/X \ge C/W \quad (D \gg 1)", ("right", r"Not judged: D \gg 1")),
        (r"B/X \ge C/W \quad (X = 1)", ("right", "Not judged: X = 1")),
        (r"B/X \ge C/W \quad \text{unless } X \gg 1", ("", "may say")),
        (r"B/X \ge C/W \quad \text{if not } X \gg 1", ("", "may say")),
        (r"B/X \ge C/W \text{ is false}", ("", "may say")),
        (r"\text{It is not true that } B/X \ge C/W", ("", "may say")),
        (r"B/X \ge C/W \text{ doesn't hold}", ("", "may say")),
    ],
)
def test_words_and_limits_beside_a_formula(tmp_path: Path, row: str, expected: tuple[str, str]) -> None:
    file = tmp_path / "said.tex"
    file.write_text(f"% audit: training/fsdp\n\\[ {row} \\]\n", encoding="utf-8")
    (found,) = audited(file).findings
    verdict, said = expected
    assert (found.verdict.kind if found.verdict is not None else "") == verdict
    assert said in (found.verdict.said if found.verdict is not None else found.fault)


@pytest.mark.parametrize(
    ("tag", "row", "expected"),
    [
        ("training/tp", r"Y \le 11.24 \text{ for } F = 28\,672", "right"),
        ("training/tp", r"Y \le 11.24 \text{ for } F = 14336", "wrong"),
        ("training/tp", r"Y \le 5.62 \text{ for } F = 14{,}336", "right"),
        ("training/tp", r"Y \le 5.62 \quad (F = 14336)", "right"),
        ("training/tp", r"Y \le \frac{FW}{C} \quad (F = 14336)", "right"),
        ("training/tp", r"Y \le 11.24 \text{ where } C = 459 \text{ TFLOP/s}", "right"),
        ("training/mixed", r"B/N \ge 99.2 \text{ for } M_X = 2, M_Y = 1", "right"),
        ("training/mixed", r"B/N \ge 99.2 \text{ for } M_X = 2, M_Y = 2", "wrong"),
        ("training/fsdp value T_comms", r"T = \frac{2bDF(X-1)}{XW}", "right"),
        ("training/fsdp value T_comms", r"T = \frac{2bDF(X+1)}{XW}", "wrong"),
        ("training/fsdp value T_comms", r"T = 4.89 \text{ ms}", ""),
        ("training/fsdp value T_coms", r"T = 4.89 \text{ ms}", ""),
    ],
)
def test_values_that_a_claim_is_stated_for(tmp_path: Path, tag: str, row: str, expected: str) -> None:
    assert kind(tmp_path, f"% audit: {tag}\n\\[ {row} \\]\n", "said.tex") == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (r"at most \qty{2550}{tokens} % audit: training/fsdp", "said.tex", "wrong"),
        (r"at least \qty{2550}{tokens} % audit: training/fsdp", "said.tex", "right"),
        (r"no more than $2550$ tokens % audit: training/fsdp", "said.tex", "wrong"),
        (r"at least $2550$ tokens % audit: training/fsdp", "said.tex", "right"),
        (r"half of $2550$ tokens % audit: training/fsdp", "said.tex", ""),
        (r"It does not need \qty{2550}{tokens} % audit: training/fsdp", "said.tex", ""),
        (r"\emph{at most} 2550 tokens % audit: training/fsdp", "said.tex", "wrong"),
        (r"\emph{at least} 2550 tokens % audit: training/fsdp", "said.tex", "right"),
        (r"2550\textsuperscript{2} tokens % audit: training/fsdp", "said.tex", "wrong"),
        (r"$\approx 2550$ tokens per chip % audit: training/fsdp", "said.tex", "right"),
        (r"$\approx 5100$ tokens per chip % audit: training/fsdp", "said.tex", "wrong"),
        (f"{TAG} **at most** 2550 tokens per chip", "said.md", "wrong"),
        (f"{TAG} Fraction(2550, 2)", "said.md", ""),
        (f"{TAG} 2550 -> 5100", "said.md", ""),
        ("/* audit: training/fsdp */ $2550$ tokens", "said.typ", "right"),
        ("/* audit: training/fsdp */ $5100$ tokens", "said.typ", "wrong"),
    ],
)
def test_words_beside_numbers_of_other_spellings(tmp_path: Path, text: str, name: str, expected: str) -> None:
    assert kind(tmp_path, text + "\n", name) == expected
