"""Typst's maths from the LaTeX of our own printer, and from what a document may type for a symbol."""

from __future__ import annotations

from pathlib import Path

import pytest

from symscale.derivation.registry import blackboard, ids
from symscale.derivation.step import Derivation
from symscale.errors import NotationError
from symscale.report.prose import Form, inline, relation_inline, sides
from symscale.report.typst import escape_typst, typst

WRITTEN = {
    r"\frac{bC}{2W_\text{ici}}": 'frac(b C, 2 W_"ici")',
    r"28{,}672": '"28,672"',
    r"2.5 \times 10^{-14}": "2.5 times 10^(- 14)",
    r"\max\left(\frac{a}{b}, c\right)": "max (frac(a, b) , c)",
    r"\frac{\max(a, b)}{c}": "frac(max ( a , b ), c)",
    r"\left\lceil \frac{X}{2} \right\rceil": "lr(⌈ frac(X, 2) ⌉)",
    r"\left[0, \infty\right)": "lr(\\[ 0 \\, infinity ))",
    r"x^{1/2}": "x^(1 \\/ 2)",
    r"{B^*}^2": "attach(B^*, t: 2)",
    r"\mathcal{B}_X^2": "cal(B)_X^2",
    r"\text{a\_b " "c}": '"a_b c"',
    r"T \ge 5\,\text{ms}": 'T >= 5 thin "ms"',
    r"\displaystyle \frac{a}{b}": "display(frac(a, b))",
    r"\begin{aligned}&a, \\ &\quad + b\end{aligned}": (
        'mat(delim: #none, align: #left, row-gap: #0.6em, display(a \\,); display(quad "" + b))'
    ),
    r"\epsilon \ll \alpha": "epsilon.alt << alpha",
}


@pytest.mark.parametrize("latex", WRITTEN)
def test_a_formula_is_set_as_in_print(latex: str) -> None:
    assert typst(latex) == WRITTEN[latex]


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"\batch", r"\batch is not known"),
        (r"\frac{a", "a brace is open"),
        (r"\frac{a}", "something is missing"),
        (r"a^b^c", "two indices"),
        (r"a}", "nothing opens"),
        (r"\left( a", r"has no \right"),
        (r"\begin{cases}a\end{cases}", "is not known"),
        (r"a & b", "no place"),
        ("", ""),
    ],
)
def test_what_typst_cannot_set_says_why(latex: str, words: str) -> None:
    if not latex:
        assert typst(latex) == ""
        return
    with pytest.raises(NotationError) as caught:
        typst(latex)
    assert words in str(caught.value)


def test_words_are_no_markup() -> None:
    assert escape_typst('#image("x") *a* $b$ @c <d> _e_') == ('\\#image(\\"x\\") \\*a\\* \\$b\\$ \\@c \\<d\\> \\_e\\_')


def formulas(derivation: Derivation) -> list[str]:
    """Return the LaTeX of every formula of a derivation, broken for a page and for a column too."""
    found: list[str] = []
    form = Form("latex", str, lambda latex: found.append(latex) or "")
    for step in derivation.steps:
        for prose in (step.reason, *step.lines):
            inline(prose, derivation.order, form)
        for each in (*step.equations, *step.conditions):
            found += [relation_inline(each, derivation.order)]
            found += [" ".join(sides(each, derivation.order, room)) for room in (58, 30)]
    return found


@pytest.mark.verify
def test_typst_sets_every_formula_of_the_library(tmp_path: Path) -> None:
    compiler = pytest.importorskip("typst", reason="typst is not installed, so it did not check the formulas")
    every = dict.fromkeys(each for name in ids() for each in formulas(blackboard(name).derivation))
    assert len(every) > 3000
    source = tmp_path / "all.typ"
    source.write_text("\n".join(f"#block[$ {typst(each)} $]" for each in every), encoding="utf-8")
    compiler.compile(str(source), output=str(tmp_path / "all.pdf"))
    assert (tmp_path / "all.pdf").stat().st_size > 100_000
