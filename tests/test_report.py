"""What users see: text that fits a terminal, Markdown and LaTeX whose delimiters balance, words that stay inert."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

from symscale import Derivation, Question, Relation, Step, derive, parse_formula, parse_relation, symbol
from symscale.derivation.proof import Equal
from symscale.errors import StepError
from symscale.notation.order import Order
from symscale.report import latex, markdown, steps_json, text
from symscale.report.contents import heading
from symscale.report.plain import WIDTH, broken, equation_text, folded, statements
from symscale.report.prose import code_span, equation_latex, escape_latex, escape_markdown, fence, markdown_math
from symscale.report.wide import wide_latex, width

ROOT = Path(__file__).parent.parent
LONG = (
    "activations_of_layer[B_X, D_model] * W_first_matrix[D_model_X, F_hidden_Y] -> hidden[B_X, F_hidden_Y]; "
    "relu(hidden[B_X, F_hidden_Y]) -> h; h * W_second_matrix[F_hidden_Y, D_model_X] -> result_of_layer[B_X, D_model]"
)
QUESTIONS = {
    "fsdp": Question("In[B_X, D] * W[D_X, F] -> Out[B_X, F]", solve="B", on="tpu-v5p", passes="forward"),
    "long": Question(LONG, latency=True),
}
EVIL = (
    r"\input{/etc/passwd} $x^2$ 5% & #1 ~_{}^ <script>alert(1)</script> *b* _i_ `c` [l](u) ![i](u) | $$y$$ &lt; ✓ µ ²"
    "\n# head\n- item\n```\n"
)
BOTTOM = parse_formula("x*y/(a + b)").expr


@pytest.fixture(scope="module")
def answers() -> dict[str, Derivation]:
    return {name: derive(each).derivation for name, each in QUESTIONS.items()}


@pytest.fixture(scope="module")
def hostile() -> Derivation:
    """A derivation whose every word is markup of some language."""
    equation = Relation(symbol("T"), "==", BOTTOM)
    steps = (
        Step("given", EVIL, EVIL, (), (Equal(()),), (EVIL,)),
        Step("count", EVIL, (EVIL, BOTTOM, EVIL), (equation,), (Equal((equation.rhs,)),), (EVIL,)),
        Step("solve", EVIL, EVIL, (equation,), (Equal((equation.rhs,)),), (EVIL, ("a", BOTTOM)), (equation,), ("%_$",)),
    )
    return Derivation(EVIL, steps, source=EVIL)


def without_code(shown: str) -> str:
    """Return Markdown without its code, and without escaped characters."""
    shown = re.sub(r"^(`{3,})text\n.*?^\1$", "", shown, flags=re.DOTALL | re.MULTILINE)
    shown = re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", shown)
    return re.sub(r"\\[\\`*_\[\]<#|~$&>]", "", shown)


def formulas(shown: str) -> list[str]:
    """Return the formulas of Markdown, and fail if a dollar sign is left over."""
    shown = without_code(shown)
    found = re.findall(r"^\$\$\n(.+?)\n\$\$$", shown, re.DOTALL | re.MULTILINE)
    shown = re.sub(r"^\$\$\n.+?\n\$\$$", "", shown, flags=re.DOTALL | re.MULTILINE)
    found += re.findall(r"\$([^$\n]+)\$", shown)
    assert "$" not in re.sub(r"\$[^$\n]+\$", "", shown)
    return found


def balanced(formula: str) -> bool:
    bare = re.sub(r"\\[{}$%_&#]", "", formula)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    pairs = (r"\left", r"\right"), (r"\begin{", r"\end{")
    return depth == 0 and all(
        len(re.findall(re.escape(a) + r"(?![a-z])", bare)) == len(re.findall(re.escape(b) + r"(?![a-z])", bare))
        for a, b in pairs
    )


def test_text_fits_a_terminal(answers):
    for derivation in answers.values():
        assert max(map(len, text(derivation).splitlines())) <= WIDTH


def test_steps_are_numbered_in_every_format(answers):
    derivation = answers["fsdp"]
    count = len(derivation.steps)
    assert re.findall(r"^(\d+)\. ", text(derivation), re.MULTILINE) == [str(n + 1) for n in range(count)]
    assert re.findall(r"^\*\*(\d+)\. ", markdown(derivation), re.MULTILINE) == [str(n + 1) for n in range(count)]
    assert latex(derivation).count(r"\item \textbf{") == count


@pytest.mark.parametrize("source", [
    "T == max(2*b*B*D*(Y - 1)/(X*Y*W_ici), 2*max(b*D*F*(X - 1)/(X*Y*W_ici), T_hop*floor(X/2)), 2*T_hop*floor(Y/2))",
    "T == b*B*D/X + b*D*F/Y + b*B*F/(X*Y) + 2*b*B*D*(X - 1)/(X*W_ici) + 2*b*D*F*(Y - 1)/(Y*W_ici) + 7*B",
    "X >= 2*b*B*C/((b*B*C + b*F*C + 2*B*F*W_ici)*(sqrt(1 - 4*b**2*B*F*C**2/(b*B*C + b*F*C + 2*B*F*W_ici)**2) + 1))",
])  # fmt: skip
def test_a_long_formula_is_broken_and_still_reads_back(source):
    lines = broken(source, 60)
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    again = parse_relation("".join(" " + each.strip() for each in lines))
    assert (again.lhs, again.op, again.rhs) == tuple(getattr(parse_relation(source), n) for n in ("lhs", "op", "rhs"))


@pytest.mark.parametrize("source", [
    "(p - 1)*max(t_F, t_F + t_B - 2*t_W, t_B - t_F)",
    "(p - 1)*(m + 1)*max(t_F, t_B)/(m*(t_F + t_B))",
    "(p - 1)*(t_F + t_B + t_W)*(m + p)",
    "-3*min(a + b, (c - d)*max(e, f - 1))*(x - y)",
    "(b*B*D/X + b*D*F/Y)/(3*(X - 1) + 7*(Y + 1)) - (p - 1)/m",
])  # fmt: skip
@pytest.mark.parametrize("room", [12, 20, 30, 45])
def test_a_formula_on_several_lines_is_the_same_formula(source, room):
    expr = parse_formula(source).expr
    lines = wide_latex(expr, Order(), room)
    one = re.sub(r"\\begin\{aligned\}|\\end\{aligned\}|&|\\\\|\\quad", " ", lines)
    found = parse_formula(one, implicit=True).expr
    assert sp.expand(found - expr) == 0 or found == expr, lines


def test_breaks_stand_at_the_outermost_place():
    assert broken("T = max(aaaaaaaaaaaa, bbbbbbbbbbbbbb, c)", 26) == [
        "T = max(aaaaaaaaaaaa,",
        "        bbbbbbbbbbbbbb,",
        "        c)",
    ]
    assert broken("T = aaaaaaaa*(x + y) + bbbbbbbb - cccc", 32) == ["T = aaaaaaaa*(x + y) + bbbbbbbb", "    - cccc"]
    assert broken("unbreakable" * 9, 20) == ["unbreakable" * 9]


def test_a_long_program_stands_on_lines_of_its_own_and_reads_back():
    from symscale import elaborate

    lines = statements(LONG)
    assert len(lines) == 3
    assert replace(elaborate("\n".join(lines)), text="") == replace(elaborate(LONG), text="")
    assert all(len(each) <= 60 for each in folded(lines, 60))
    assert all(each.count("[") == each.count("]") for each in folded(lines, 60))


@pytest.mark.parametrize(("number", "shown", "tex"), [
    (sp.Integer(2550), "2550", "2550"),
    (sp.Integer(38250), "38,250", "38{,}250"),
    (sp.Integer(197 * 10**12), "1.97 × 10^14", r"1.97 \times 10^{14}"),
    (sp.Rational(240244, 1000), "240.244", "240.244"),
    (sp.Rational(1, 4), "0.25", "0.25"),
])  # fmt: skip
def test_numbers_look_alike_in_text_and_latex(number, shown, tex):
    equation = Relation(symbol("B"), ">=", number)
    assert equation_text(equation, Order()) == f"B >= {shown}"
    assert equation_latex(equation, Order()) == rf"B \ge {tex}"
    assert equation_latex(equation, Order(), mark="&") == rf"B &\ge {tex}"


def test_formulas_of_markdown_balance_and_hold_nothing_that_markdown_eats(answers):
    for derivation in answers.values():
        found = formulas(markdown(derivation))
        assert len(found) > 20
        for each in found:
            assert balanced(each), each
            assert not re.search(r"\\[^a-zA-Z]|[|*]|[A-Za-z0-9]_[A-Za-z0-9]{2}", each), each


def test_latex_balances_and_is_plain_ascii(answers):
    for derivation in answers.values():
        document = latex(derivation, document=True)
        assert document.startswith("\\documentclass")
        assert document.rstrip().endswith(r"\end{document}")
        assert document.isascii()
        assert balanced(document)
        for name in ("align*", "enumerate", "aligned"):
            assert document.count(rf"\begin{{{name}}}") == document.count(rf"\end{{{name}}}")
        assert "\n\n" not in "".join(re.findall(r"\\begin\{align\*\}.*?\\end\{align\*\}", document, re.DOTALL))


def test_a_wide_max_is_stacked_in_latex(answers):
    expr = parse_formula("max(2*b*B*D*(Y - 1)/(X*Y*W_ici), b*D*F*(X - 1)/(X*Y*M_X*W_ici), T_hop*floor(X/2))").expr
    shown = wide_latex(expr, Order(), 30)
    assert shown.startswith(r"\max\left(\begin{aligned}&")
    assert shown.count(r"\\") == 2
    assert balanced(shown)
    assert wide_latex(expr, Order(), 200).count(r"\\") == 0
    assert markdown_math(shown).count(r"\cr") == 2
    assert r"\begin{aligned}" in latex(answers["long"])
    assert r"\begin{aligned}" in markdown(answers["long"])


@pytest.mark.parametrize(
    ("formula", "wide"), [("2BDF", 4), (r"\frac{2BDF}{C}", 4), (r"W_\text{ici}", 4), ("10^{14}", 4)]
)
def test_width_counts_what_is_seen(formula, wide):
    assert width(formula) == wide


def test_fractions_in_running_text_stay_large_enough():
    inner = parse_formula("x/(1/a + 1/b)").expr
    step = Step("remark", "A", ("See ", inner, " and ", BOTTOM, "."), (), (Equal(()),))
    for shown in (markdown(Derivation("A", (step,))), latex(Derivation("A", (step,)))):
        assert shown.count(r"$\displaystyle ") == 1


def test_hostile_words_are_inert_in_markdown(hostile):
    shown = markdown(hostile)
    outside = without_code(shown)
    for markup in ("<script", "<", "[l]", "`", "*b*", "&lt", "\n# head", "\n- item"):
        assert markup not in outside, markup
    assert "$" not in re.sub(r"\$\$\n.*?\n\$\$|\$[^$\n]+\$", "", outside, flags=re.DOTALL)
    assert all(balanced(each) for each in formulas(shown))
    rows = [each for each in outside.splitlines() if each.startswith("|")]
    assert all(each.count("|") == 3 for each in rows)


def test_hostile_words_are_inert_in_latex(hostile):
    shown = latex(hostile, document=True)
    assert r"\input" not in shown.replace(r"\textbackslash{}input", "")
    assert not re.search(r"(?<!\\)[%#~]", shown)
    assert balanced(shown)
    outside = re.sub(r"\\\$", "", shown)
    assert outside.count("$") % 2 == 0
    assert "(U+2713)" in shown  # a sign the fonts lack is named


def test_hostile_words_keep_headings_whole_in_text(hostile):
    first, rule, *_ = text(hostile).splitlines()
    assert first.endswith("```")
    assert rule == "=" * WIDTH


def test_escapes():
    assert escape_markdown("W_in[D_X] -> *x* _y_") == r"W_in\[D_X\] -> \*x\* \_y\_"
    assert escape_latex("a_b -> 5% ≫") == r"a\_b $\rightarrow$ 5\% $\gg$"
    assert escape_latex("--") == "-{}-{}"
    assert code_span("a|`b`") == r"`` a\|`b` ``"
    assert fence(["x", "````"]) == "`````"
    assert markdown_math(r"2\, \text{x} \\ 5\%") == r"2\thinspace \text{x} \cr 5\text{percent}"


def test_objects_render_themselves(answers):
    answered = derive(QUESTIONS["fsdp"])
    assert answered._repr_markdown_() == answered.derivation._repr_markdown_() == markdown(answers["fsdp"])
    assert str(answered) == text(answers["fsdp"])


def test_a_report_is_named_by_its_docstring(tmp_path):
    named, bare = tmp_path / "ch9_x.py", tmp_path / "ch9_y.py"
    named.write_text('"""Chapter 9: profiling.\n\nMore."""\n', encoding="utf-8")
    bare.write_text("x = 1\n", encoding="utf-8")
    assert heading(named) == "Chapter 9: profiling"
    assert heading(bare) == "Ch9 y"


def test_every_run_writes_the_same_bytes():
    """Sets are iterated in another order under another hash seed; no format may show it."""
    code = (
        "from symscale import Question, derive, text, markdown, latex, json\n"
        "a = derive(Question('In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]', solve='B',"
        " passes='forward', on='tpu-v5p'))\n"
        "d = a.derivation\n"
        "print(text(d), markdown(d), latex(d, document=True), json(a))\n"
    )
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1


# ------------------------------------------------------------------ nothing is printed that was not checked

FORMATS = {"text": text, "md": markdown, "latex": latex, "json": steps_json}


@pytest.mark.parametrize("style", FORMATS)
def test_a_step_that_fails_its_proof_is_not_printed(style: str) -> None:
    wrong = Step("remark", "A", "", (Relation(symbol("x"), "==", symbol("y")),), (Equal((2 * symbol("y"),)),))
    for step in (wrong, replace(wrong, proofs=())):
        with pytest.raises(StepError):
            FORMATS[style](Derivation("t", (step,)))


def test_proofs_run_once_for_all_formats() -> None:
    runs = []

    class Counted:
        name = "counted"

        def verify(self, equations: tuple[Relation, ...], seed: int) -> None:
            runs.append(seed)

    derivation = Derivation("t", (Step("remark", "A", "", (), (Counted(),)),))
    assert all(render(derivation) for render in FORMATS.values())
    assert '"name": "counted"' in steps_json(derivation)
    assert len(runs) == 1
