"""Formulas as people write them: what is read, and the words of what is refused.

The D cases restate faults that people reported in public for symbolic tools.
"""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import sympy as sp

from symscale.errors import NotationError
from symscale.notation.formula import (
    parse_assignments,
    parse_formula,
    parse_limits,
    parse_range,
    parse_relation,
)
from symscale.vocabulary import symbol

B, C, D, F, W = map(symbol, "BCDFW")


def value(text: str, **options: bool) -> sp.Expr:
    return parse_formula(text, **options).expr


def refusal(text: str, **options: bool) -> NotationError:
    with pytest.raises(NotationError) as caught:
        parse_formula(text, **options)
    return caught.value


# what is read

READ = {
    "2*B*D*F/C": 2 * B * D * F / C,
    "a/b*c": symbol("a") / symbol("b") * symbol("c"),
    "-B^2": -(B**2),
    "2^-1": sp.Rational(1, 2),
    "2^3^2": sp.Integer(512),
    "B**2": B**2,
    "B²": B**2,
    "B⁻¹": 1 / B,
    "√(B*D)": sp.sqrt(B * D),
    "2 · B × D ⋅ F ÷ C − W": 2 * B * D * F / C - W,
    "max(B, D, B)": sp.Max(B, D),
    "Max(B, D)": sp.Max(B, D),
    "MIN(B, D)": sp.Min(B, D),
    "ceil(B/D)": sp.ceiling(B / D),
    "ceiling(B/D)": sp.ceiling(B / D),
    "floor(7/2)": sp.Integer(3),
    "log2(B)": sp.log(B, 2),
    "log_2(B)": sp.log(B, 2),
    "log(B, 3)": sp.log(B, 3),
    "ln(B)": sp.log(B),
    "exp(B)": sp.exp(B),
    ".5*B": B / 2,
    "1_000_000": sp.Integer(10**6),
    "max(28672, 3)": sp.Integer(28672),
    "α + β_x": symbol("alpha") + symbol("beta_x"),
    r"\alpha \cdot B": symbol("alpha") * B,
    r"\frac{B}{D}": B / D,
    r"\dfrac{B}{D} + \tfrac{1}{2}": B / D + sp.Rational(1, 2),
    r"\sqrt{B}": sp.sqrt(B),
    r"\sqrt[3]{B}": sp.cbrt(B),
    r"\left\lceil \frac{B}{D} \right\rceil": sp.ceiling(B / D),
    r"\lfloor B \rfloor": sp.floor(B),
    r"\max\left(B, D\right)": sp.Max(B, D),
    r"\max\{B, D\}": sp.Max(B, D),
    r"\log_2(B)": sp.log(B, 2),
    r"\log_{2}\left(B\right)": sp.log(B, 2),
    r"1.97 \times 10^{14}": sp.Integer(197 * 10**12),
    r"40\% \cdot B": sp.Rational(2, 5) * B,
    r"T_{\text{comms},\text{math}}": symbol("T_comms_math"),
    r"T_\text{comms, math}": symbol("T_comms_math"),
    r"X_\text{opt}": symbol("X_opt"),
    r"\mathrm{FLOPs}": symbol("FLOPs"),
    r"28\,672": sp.Integer(28672),
    "12*B*(\n D + F)": 12 * B * (D + F),
}


@pytest.mark.parametrize("text", READ)
def test_reading(text: str) -> None:
    assert value(text) == READ[text]


IMPLICIT = {
    "2BDF": 2 * B * D * F,
    "2bDF": 2 * symbol("b") * D * F,
    "12BTD(N+K)H": 12 * B * symbol("T") * D * (symbol("N") + symbol("K")) * symbol("H"),
    "2B_X D": 2 * symbol("B_X") * D,
    r"\frac{2BDF}{C}": 2 * B * D * F / C,
    r"B W_\text{ici}": B * symbol("W_ici"),
    "BD^2": B * D**2,
    "2 tokens": 2 * symbol("tokens"),
    "2alpha": 2 * symbol("alpha"),
    "2max(B, D)": 2 * sp.Max(B, D),
}


@pytest.mark.parametrize("text", IMPLICIT)
def test_implicit_products(text: str) -> None:
    assert value(text, implicit=True) == IMPLICIT[text]


def test_a_denominator_of_unclear_reach_is_refused() -> None:
    error = refusal("1/2BD", implicit=True)
    assert "how far this denominator reaches" in error.message
    assert "a/(b*c)" in error.hint


def test_a_word_that_may_be_a_product_is_refused() -> None:
    error = refusal("2Nchips", implicit=True)
    assert "`Nchips` may be one name or a product" in error.message
    assert r"\text{Nchips}" in error.hint


def test_aliases_name_the_canonical_symbol() -> None:
    assert parse_formula("B*N", aliases={"N": "N_chips"}).expr == B * symbol("N_chips")


def test_a_product_is_not_multiplied_out() -> None:
    a, b = symbol("a"), symbol("b")
    assert value("1/(2*(a + b))") == sp.Mul(sp.Rational(1, 2), 1 / (a + b))
    assert str(value("(2*(a + b))*c")) == "2*c*(a + b)"


# the public cases


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("floor(0.3*3/0.9)", 1),
        ("ceil(0.1*3*10)", 3),
        ("floor(16e9*0.9)", 14_400_000_000),
        ("8.2e11", 82 * 10**10),
    ],
)
def test_D08_decimals_are_exact(text: str, exact: int) -> None:
    assert value(text) == exact
    assert value(text).is_Integer


def test_D11_no_floats_come_out() -> None:
    assert value("1.02^3*B").as_coeff_Mul()[0] == sp.Rational("1.02") ** 3


@pytest.mark.parametrize(
    "name",
    [
        "E",
        "I",
        "N",
        "S",
        "Q",
        "O",
        "beta",
        "gamma",
        "zeta",
        "lambda",
        "pi",
        "CC",
        "FF",
        "C",
        "G",
        "oo",
        "nan",
        "zoo",
        "GF",
        "RR",
    ],
)
def test_D12_every_identifier_is_a_symbol(name: str) -> None:
    assert value(f"2*{name}") == 2 * symbol(name)
    assert value(name).is_positive


def test_D12_formulas() -> None:
    assert value("E*k") == symbol("E") * symbol("k")
    assert value("2*I*J*K").free_symbols == {symbol("I"), symbol("J"), symbol("K")}
    assert value("beta*alpha + lambda*2").free_symbols == {symbol(n) for n in ("alpha", "beta", "lambda")}


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').getcwd()",
        "[open('/etc/hostname').read()]",
        "().__class__.__mro__",
        "9**9**9**9",
        "x.subs",
        "lambda: 0",
        "B if D else F",
        "B; import os",
        "f'{B}'",
        "exec('1')",
        "9^9^9^9",
        "10**10**10",
        "((B^1000)^1000)^1000",
        "exp(exp(exp(100)))",
        "ceil(exp(999))^999",
        "*".join(["1e4000"] * 9),
        "2^(10^9)",
        "B^100000",
        "(1/3)^1000000",
    ],
)
def test_D18_code_and_towers_are_refused_at_once(text: str) -> None:
    start = time.process_time()
    refusal(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10**6,
        "(" * 10**6,
        "-" * 10**6,
        "1" * 10**6,
        "9**" * 10**5 + "9",
        "\\text{" * 10**5,
        "B+" * 10**5,
        "{,}" * 10**5,
    ],
    ids=range(8),
)
def test_D18_a_million_characters_are_refused_at_once(text: str) -> None:
    start = time.process_time()
    assert "the limit is 100,000" in refusal(text).message
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        "(" * 99_000,
        "x" * 99_000,
        "1" * 99_000,
        "x^" * 49_000 + "x",
        "√" * 99_000 + "B",
        "a_" * 49_000,
        "\\text{" * 16_000,
    ],
    ids=["brackets", "name", "digits", "tower", "roots", "subscripts", "texts"],
)
def test_D18_long_text_below_the_limit_ends_quickly(text: str) -> None:
    start = time.process_time()
    refusal(text)
    assert time.process_time() - start < 3


PRIMES = [q for q in range(2, 8000) if all(q % d for d in range(2, int(q**0.5) + 1))]
HEAVY = {
    "root of a huge number": "sqrt(" + "7" * 4000 + ")",
    "roots": "*".join(f"sqrt({q})" for q in PRIMES),
    "rational powers": "*".join(f"x^(1/{q})" for q in PRIMES),
    "fractions": "+".join(f"x/{q}" for q in [*PRIMES] * 2 + list(range(8001, 10_000))),
    "sums": "*".join(f"(a+b{i})" for i in range(4000)),
    "divisions": "x" + "/x" * 40_000,
    "nested roots": "sqrt(1+" * 45 + "x" + ")" * 45,
    "nested ceilings": "ceil(sqrt(2)*" * 45 + "x" + ")" * 45,
    "nested brackets": "(" * 60 + "x" + ")" * 60,
}


@pytest.mark.parametrize("kind", HEAVY)
def test_D18_what_would_stall_the_algebra_is_refused(kind: str) -> None:
    start = time.process_time()
    refusal(HEAVY[kind])
    assert time.process_time() - start < 4


def test_D18_many_terms_are_read() -> None:
    expr = value(" + ".join(f"2*B_{i}*D_{i}" for i in range(4000)))
    assert len(expr.args) == 4000


LATEX_D19 = {
    r"T_\text{math}": symbol("T_math"),
    "W_{ici}": symbol("W_ici"),
    "61{,}000": sp.Integer(61_000),
    r"\text{9e10}": sp.Integer(9 * 10**10),
    "28,672": sp.Integer(28_672),
    r"d \cdot 2": 2 * symbol("d"),
}


@pytest.mark.parametrize("text", LATEX_D19)
def test_D19_latex_of_the_book(text: str) -> None:
    assert value(text) == LATEX_D19[text]


NUMBERS_D20 = {
    "28,672*2": 57_344,
    "2^10": 1024,
    "40%": sp.Rational(2, 5),
    "1.97E+14": 197 * 10**12,
    "1,234,567.5": sp.Rational("1234567.5"),
    "2e-3": sp.Rational(1, 500),
}


@pytest.mark.parametrize("text", NUMBERS_D20)
def test_D20_numbers_and_operators_of_the_book(text: str) -> None:
    assert value(text) == NUMBERS_D20[text]


def test_D20_implicit_products_are_opt_in() -> None:
    assert value("2BDF", implicit=True) == 2 * B * D * F
    error = refusal("2BDF")
    assert "side by side without an operator" in error.message
    assert error.position == 1
    assert "2*B*D*F" in error.hint


def test_D20_groups_in_a_list_are_refused() -> None:
    error = refusal("max(28,672)")
    assert "`28,672` may be one number or several" in error.message
    assert "28672" in error.hint
    assert "28, 672" in error.hint
    assert value("max(28, 672)") == 672


def test_D27_a_root_of_products() -> None:
    text = "4*sqrt(2)*B*sqrt(D*F)/(W*sqrt(N))"
    assert value(text) == 4 * B * sp.sqrt(2 * D * F / symbol("N")) / W


# the words of errors

REFUSED = {
    "": ("the formula is empty", 0),
    "B + ": ("a number or a name was expected here", 4),
    "(B + D": ("this bracket is never closed with `)`", 0),
    "B + D)": ("this closing bracket was never opened", 5),
    "(B + D}": ("does not close the `(`", 6),
    "B D": ("two factors stand side by side", 2),
    "N(B)": ("`N` is not a function", 0),
    "log B": ("the argument of `log` must stand in parentheses", 0),
    "B//D": ("`//` is not an operator", 1),
    "1/0": ("this divides by zero", 2),
    "B/(D - D)": ("this divides by zero", 3),
    "sqrt(-1)": ("not a real number", 5),
    "log(0)": ("this logarithm does not exist", 4),
    "0^0": ("zero has no such power", 0),
    "B = D": ("a formula was expected, not a relation", 2),
    "B << D": ("a formula was expected, not a relation", 2),
    "1,5": ("a comma inside a number groups three digits", 1),
    "B[D]": ("`[` has no meaning in a formula", 1),
    "_x": ("a name starts with a letter", 0),
    "x_": ("a subscript was expected after `_`", 1),
    "B!": ("`!` has no meaning in a formula", 1),
    r"\foo{B}": ("has no meaning in a formula", 0),
    r"\frac12": ("needs {...}{...}", 5),
    r"\frac{B}D": ("needs a second {...}", 8),
    "W_{a+b}": ("cannot be part of a name", 1),
    "sqrt(B, D)": ("`sqrt` takes one argument", 8),
    "()": ("`)` was not expected here", 1),
    "B,D": ("`,` was not expected here", 1),
    "B;D": ("`;` was not expected here", 1),
    "B ** ": ("a number or a name was expected here", 5),
    "1e99999": ("the exponent 99999 of a number", 0),
    "B'": ("`'` has no meaning", 1),
}


@pytest.mark.parametrize("text", REFUSED)
def test_words_and_place_of_a_refusal(text: str) -> None:
    error = refusal(text)
    words, position = REFUSED[text]
    assert words in error.message
    assert error.position == position


def test_a_caret_stands_under_the_character() -> None:
    assert str(refusal("2*B D")).splitlines()[1:3] == ["    2*B D", "        ^"]


# relations, limits, settings, ranges


SIGNS = {
    **{sign: sign for sign in ("<", "<=", ">", ">=", "=")},
    "==": "=",
    "≥": ">=",
    "≤": "<=",
    r"\ge ": ">=",
    r"\le ": "<=",
    r"\geq ": ">=",
    r"\leq ": "<=",
}


@pytest.mark.parametrize("sign", SIGNS)
def test_relations(sign: str) -> None:
    relation = parse_relation(f"T_math {sign} 2*B")
    assert relation[:3] == (symbol("T_math"), SIGNS[sign], 2 * B)


@pytest.mark.parametrize(
    ("text", "words", "position"),
    [
        ("B < D < F", "one sign, not a chain", 6),
        ("B", "a relation needs a sign", 1),
        ("B >", "a number or a name was expected", 3),
        ("> B", "a number or a name was expected", 0),
        ("B != D", "`!` has no meaning", 2),
    ],
)
def test_relations_refused(text: str, words: str, position: int) -> None:
    with pytest.raises(NotationError, match=words) as caught:
        parse_relation(text)
    assert caught.value.position == position


def test_limits() -> None:
    assert parse_limits("B << D, F; X >> 1") == [(B, (D, F)), (sp.S.One, (symbol("X"),))]
    assert parse_limits(r"C/W \ll D") == [(C / W, (D,))]
    assert parse_limits("B, D ≪ F") == [(B, (F,)), (D, (F,))]
    assert parse_limits("B << max(D, F)") == [(B, (sp.Max(D, F),))]


@pytest.mark.parametrize("text", ["B", "B < D", "B << D << F", "<< D", "B <<", "B << D, X >> 1"])
def test_limits_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse_limits(text)


def test_assignments() -> None:
    assert parse_assignments("D=8192, F=4*D") == {"D": 8192, "F": 4 * D}
    assert parse_assignments("D=28,672; T=128k\nS=128Ki") == {"D": 28_672, "T": 128_000, "S": 131_072}
    assert parse_assignments("W_ici=180 GB/s, T_hop = 1 µs") == {
        "W_ici": 18 * 10**10,
        "T_hop": sp.Rational(1, 10**6),
    }
    assert parse_assignments("a=max(B, D), b=2") == {"a": sp.Max(B, D), "b": 2}
    assert parse_assignments("N=64", aliases={"N": "N_chips"}) == {"N_chips": 64}
    assert parse_assignments("") == {}


@pytest.mark.parametrize(
    ("text", "words", "position"),
    [
        ("D", "an assignment was expected", 0),
        ("D=1, D=2", "`D` is assigned twice", 5),
        ("D=", "a number or a name was expected", 2),
        ("D=4 Q", "`Q` is not a unit", 2),
        ("D=1, F=2*", "a number or a name was expected", 9),
        ("D=16 KB", "`KB` means two things", 2),
    ],
)
def test_assignments_refused(text: str, words: str, position: int) -> None:
    with pytest.raises(NotationError, match=words) as caught:
        parse_assignments(text)
    assert caught.value.position == position


def test_ranges() -> None:
    assert parse_range("1k:1M:*10") == (1000, 10_000, 100_000, 1_000_000)
    assert len(parse_range("1k:1M:*2")) == 10
    assert parse_range("8:32:8") == (8, 16, 24, 32)
    assert parse_range("1:3") == (1, 2, 3)
    assert parse_range("1k, 2k,8Ki") == (1000, 2000, 8192)


@pytest.mark.parametrize(
    "text", ["", "1:2:3:4", "5:1", "1:1e9", "1:10:0", "1:10:*1", "0:10:*2", "1:10:-1", "a:b", "1::2"]
)
def test_ranges_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse_range(text)


def test_a_single_number_or_name_needs_no_grammar() -> None:
    code = (
        "import sys; from symscale.notation.formula import parse_assignments as a; a('D=8192, F=128k, X=Y');"
        "assert not {'lark', 'numpy', 'jinja2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
