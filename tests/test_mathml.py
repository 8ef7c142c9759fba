"""MathML of the formulas that our own LaTeX printer makes, and of what a document may type."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from symscale.derivation.registry import blackboard
from symscale.derivation.step import Derivation
from symscale.errors import NotationError
from symscale.report.mathml import mathml
from symscale.report.prose import equation_latex
from symscale.solve.relation import Relation

LETTERS = re.compile(r"\\text\{([^{}]*)\}|\\[A-Za-z]+|([A-Za-z])")


def formulas(derivation: Derivation) -> set[str]:
    """Return the LaTeX of every formula of a derivation."""
    prose = [part for step in derivation.steps for words in (step.reason, *step.lines) for part in words]
    relations = [each for step in derivation.steps for each in (*step.equations, *step.conditions)]
    relations += [each for each in prose if isinstance(each, Relation)]
    return {equation_latex(each, derivation.order, mark) for each in relations for mark in ("", "&")}


def letters(latex: str) -> list[str]:
    """Return the letters of a formula, those of words too, in their order."""
    found = [word if word else letter for word, letter in LETTERS.findall(re.sub(r"\\(begin|end)\{\w+\}", "", latex))]
    return [each for each in "".join(found) if each.isalpha()]


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"28{,}672", "<mn>28,672</mn>"),
        (r"1{,}234{,}567.5", "<mn>1,234,567.5</mn>"),
        (r"(1, 234)", '<mn>1</mn><mo>,</mo><mn>234</mn><mo stretchy="false">)</mo>'),
        (r"T_\text{comms, math}", "<msub><mi>T</mi><mtext>comms,\N{NO-BREAK SPACE}math</mtext></msub>"),
        (r"\max(a)", '<mi>max</mi><mo>\N{FUNCTION APPLICATION}</mo><mo stretchy="false">(</mo>'),
        (r"2 \log_{2}(X)", '<mn>2</mn><mspace width="0.167em" /><msub><mi>log</mi><mn>2</mn></msub>'),
        (r"\frac{B}{X} &\ge 2", "text-align:right"),
        (r"\begin{aligned}&a \\ &\quad + b\end{aligned}", "<mtable"),
        (r"5\,\text{ms}", '<mn>5</mn><mspace width="0.167em" /><mtext>ms</mtext>'),
        (r"\mathcal{B}", "<mi>\N{SCRIPT CAPITAL B}</mi>"),
        (r"W_\mathrm{ici}", "<mtext>ici</mtext>"),
        (r"\text{100 \%}", "<mtext>100\N{NO-BREAK SPACE}%</mtext>"),
        (r"\text{<img src=x onerror=alert(1)>}", "&lt;img"),
    ],
)
def test_a_formula_is_set_as_in_print(latex: str, wanted: str) -> None:
    assert wanted in mathml(latex)


def test_a_displayed_formula_says_so() -> None:
    assert mathml("x", display=True).startswith('<math display="block">')
    assert mathml("x").startswith("<math>")


@pytest.mark.parametrize("latex", [r"\foo", r"x^", r"\frac{1}", "{" * 30, r"\begin{aligned}", r"\newcommand{\x}{\x}\x"])
def test_what_has_no_mathml_is_refused(latex: str) -> None:
    with pytest.raises(NotationError):
        mathml(latex)


@pytest.mark.parametrize("latex", [r"\href{javascript:x}{a}", r"\style{color:red}{a}", r"\class{x}{a}"])
def test_nothing_but_mathml_comes_out(latex: str) -> None:
    tags = {each.tag for each in ElementTree.fromstring(mathml(latex)).iter()}
    assert tags <= {"math", "mi", "mo", "mrow", "mstyle"}
    assert not re.search("href|color|class|javascript", mathml(latex))


@pytest.mark.parametrize("id", ["training/fsdp", "roofline/matmul", "training/mixed", "pipeline/gpipe", "gpus/tree"])
def test_every_letter_of_a_derivation_is_there(id: str) -> None:
    for latex in formulas(blackboard(id).derivation):
        found = mathml(latex, display=True)
        assert "\\" not in found, latex
        assert "merror" not in found, latex
        text = "".join(ElementTree.fromstring(found).itertext())
        named = re.findall(r"\\(max|min|log|exp)(?![a-zA-Z])", latex)
        greek = [each for each in text if each.isalpha() and ord(each) > 127]
        shown = [each for each in text if each.isalpha() and ord(each) < 128]
        for name in named:
            for letter in name:
                shown.remove(letter)
        assert sorted(shown) == sorted(letters(latex)), latex
        assert len(greek) == len(re.findall(r"\\(?:alpha|beta|gamma|epsilon|tau|mu|kappa|lambda|sigma)\b", latex)), (
            latex
        )
