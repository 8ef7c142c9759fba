"""Text and LaTeX of expressions: the user's order, one fraction, one root, upright subscripts."""

from __future__ import annotations

import pytest
import sympy as sp

from symscale.notation.formula import parse_formula
from symscale.notation.latex import LatexStyle, name_latex, relation_latex, symbol_latex, to_latex
from symscale.notation.order import Order, arranged, merge
from symscale.notation.text import relation_text, to_text
from symscale.report.rounding import rounded
from symscale.vocabulary import symbol

B, C, D, F, K, W, X = map(symbol, "BCDFKWX")


def text(written: str, *, keep: bool = True) -> str:
    formula = parse_formula(written, implicit=True)
    return to_text(formula.expr, formula.order if keep else None)


def latex(written: str, *, keep: bool = True, style: LatexStyle | None = None) -> str:
    formula = parse_formula(written, implicit=True)
    return to_latex(formula.expr, formula.order if keep else None, style)


NAMES_D13 = {
    "alpha_hbm": r"\alpha_\text{hbm}",
    "W_hbm": r"W_\text{hbm}",
    "T_hbm": r"T_\text{hbm}",
    "layernorm": r"\text{layernorm}",
    "rmsnorm": r"\text{rmsnorm}",
    "kvbar": r"\text{kvbar}",
    "W_ici": r"W_\text{ici}",
    "T_math": r"T_\text{math}",
}


@pytest.mark.parametrize("name", NAMES_D13)
def test_D13_no_name_is_an_accent(name: str) -> None:
    assert to_latex(symbol(name)) == NAMES_D13[name]


NAMES_D14 = {
    "T_comms_math": r"T_\text{comms, math}",
    "n_kv_heads": r"n_\text{kv, heads}",
    "_x": r"\tilde{x}",
    "x_": "x",
    "M_X": "M_X",
    "b_W_in": r"b_{W, \text{in}}",
    "x_10": "x_{10}",
    "beta_1": r"\beta_1",
    "d_model": r"d_\text{model}",
    "lambda": r"\lambda",
    "T1": r"\text{T1}",
}


@pytest.mark.parametrize("name", NAMES_D14)
def test_D14_the_first_underscore_starts_the_subscript(name: str) -> None:
    assert name_latex(name) == NAMES_D14[name]


NUMBERS_D15 = {
    "1.97e14": r"1.97 \times 10^{14}",
    "8.2e11": r"8.2 \times 10^{11}",
    "1e9": r"10^{9}",
    "28672": "28{,}672",
    "8192": "8192",
    "131072": "131{,}072",
    "1.97e14^x": r"(1.97 \times 10^{14})^x",
    "2*3^x": r"2 \cdot 3^x",
    "1.97e14 x": r"1.97 \times 10^{14}\, x",
    "x/1e9": r"\frac{x}{10^{9}}",
    "1/3": r"\frac{1}{3}",
}


@pytest.mark.parametrize("written", NUMBERS_D15)
def test_D15_numbers_in_latex(written: str) -> None:
    assert latex(written) == NUMBERS_D15[written]


def test_D15_numbers_in_text() -> None:
    assert to_text(sp.Integer(197 * 10**12)) == "1.97e14"
    assert to_text(sp.Integer(28_672)) == "28672"


KEPT_D16 = {
    "2BD + 2DF + 2BF": "2BD + 2DF + 2BF",
    "12BTD(N + K)H": "12BTD(N + K)H",
    "2DH(N + K)": "2DH(N + K)",
    "BF + DF": "BF + DF",
    "K + N": "K + N",
    "N + K": "N + K",
    "1 - B": "1 - B",
    "-B + 1": "-B + 1",
    "1 + B": "1 + B",
}


@pytest.mark.parametrize("written", KEPT_D16)
def test_D16_the_order_that_was_written_is_kept(written: str) -> None:
    assert latex(written) == KEPT_D16[written]


def test_D16_the_default_order_is_the_table_s() -> None:
    assert to_text(F * D * B * 2) == "2*B*D*F"
    assert to_text(symbol("b") * C / (2 * symbol("W_ici"))) == "b*C/(2*W_ici)"
    assert to_text(D * F * W - C * (D + F)) == "D*F*W - C*(D + F)"
    assert to_text(1 - 1 / X) == "1 - 1/X"
    assert to_text(sp.Max(D, B)) == "max(B, D)"


def test_D16_an_order_outlives_the_expression_it_came_from() -> None:
    order = parse_formula("F*D*B + D*F*2").order
    assert to_text(B * D * F**2, order) == "F**2*D*B"


def test_orders_merge_with_the_first_winning() -> None:
    merged = merge(Order(("F", "D")), Order(("B", "D")))
    assert merged.symbols == ("F", "D", "B")
    assert arranged("BFD", [["B", "F"], ["D", "F"]]) == ("B", "D", "F")
    assert arranged("BD", [["B", "D"], ["D", "B"]]) == ("B", "D")


ROOTS_D17 = {
    "sqrt(B*N*M_X/(F*M_Y))": (r"\sqrt{\frac{BNM_X}{FM_Y}}", "sqrt(B*N*M_X/(F*M_Y))"),
    "x*sqrt(3*y)/6": (r"\frac{x \sqrt{\frac{y}{3}}}{2}", "x*sqrt(y/3)/2"),
    "1/sqrt(2*x)": (r"\frac{1}{\sqrt{2x}}", "1/sqrt(2*x)"),
    "4*sqrt(2)*B*sqrt(D*F)/(W*sqrt(N))": (r"\frac{4B \sqrt{\frac{2DF}{N}}}{W}", "4*B*sqrt(2*D*F/N)/W"),
    "sqrt(2)/2": (r"\frac{\sqrt{2}}{2}", "sqrt(2)/2"),
    "sqrt(B + D)": (r"\sqrt{B + D}", "sqrt(B + D)"),
    "x^(3/2)": ("x^{3/2}", "x**(3/2)"),
}


@pytest.mark.parametrize("written", ROOTS_D17)
def test_D17_one_root_over_a_product(written: str) -> None:
    assert (latex(written), text(written)) == ROOTS_D17[written]


def test_D17_roots_of_unknown_sign_stay_apart() -> None:
    a, b, c, d = map(symbol, "abcd")
    printed = to_text(sp.sqrt(a - b) * sp.sqrt(c - d))
    assert printed.count("sqrt") == 2


def test_D17_the_optimum_of_X_from_its_derivation() -> None:
    n, mx, my = symbol("N"), symbol("M_X"), symbol("M_Y")
    optimum = sp.sqrt(B) * sp.sqrt(n) * sp.sqrt(mx / my) / sp.sqrt(F)
    assert to_latex(optimum).count(r"\sqrt") == 1


def test_D23_a_user_s_latex_is_verbatim() -> None:
    order = Order(written=(("W_ici", r"W_\text{ici}"), ("M_X", "M_X"), ("u5", r"\dot{u}_5"), ("B", "B^*")))
    assert symbol_latex("u5", order) == r"\dot{u}_5"
    assert to_latex(symbol("u5") * symbol("M_X"), order) == r"\dot{u}_5 M_X"
    assert to_latex(B**2 / D, order) == r"\frac{{B^*}^2}{D}"


def test_D24_no_star_in_latex() -> None:
    assert "*" not in latex("2*B*D*F/(C*tokens*layers) + max(a*b, c)")


def test_D25_macros_and_siunitx() -> None:
    style, order = LatexStyle(siunitx=True), Order(written=(("T_math", r"\Tmath"), ("T_comms", r"\Tcomms")))
    fixed = merge(order, Order(written=(("C", r"\num{3.94e14}"),)))
    assert relation_latex(symbol("T_math"), "=", 2 * B * D * F / C, fixed) == (r"\Tmath = \frac{2BDF}{\num{3.94e14}}")
    assert relation_latex(symbol("T_math"), "=", 3 * B * D * F / sp.Integer(394 * 10**12), order, style) == (
        r"\Tmath = \frac{3BDF}{\num{3.94e14}}"
    )


BOARD = {
    "2BDF/C": r"\frac{2BDF}{C}",
    "1/(2(a + b))": r"\frac{1}{2(a + b)}",
    "3/2*x": r"\frac{3x}{2}",
    "-x/2": r"-\frac{x}{2}",
    "B_X^2": "B_X^2",
    "x^y^2": "x^{y^2}",
    "1/2^n": r"\frac{1}{2^n}",
    "(a/b + c)^2": r"\left(\frac{a}{b} + c\right)^2",
    "log2(x)*3": r"3 \log_{2}(x)",
    "max(2*D*F/(Y*W), b)": r"\max\left(\frac{2DF}{YW}, b\right)",
    "ceil(a/b)": r"\left\lceil \frac{a}{b} \right\rceil",
    "2*tokens": r"2\, \text{tokens}",
    "tokens*layers": r"\text{tokens} \cdot \text{layers}",
    "alpha^2*B": r"\alpha^2 B",
    "W_hbm*B*D": r"W_\text{hbm} BD",
    "C*D*F/(D*F*W - C*(D + F))": r"\frac{CDF}{DFW - C(D + F)}",
}


@pytest.mark.parametrize("written", BOARD)
def test_the_blackboard_s_latex(written: str) -> None:
    assert latex(written) == BOARD[written]


TEXTS = {
    "2*B*D*F/(C*W)": "2*B*D*F/(C*W)",
    "B^-2": "1/B**2",
    "(2/3)^x": "2**x/3**x",
    "x^(y^z)": "x**(y**z)",
    "log(x)/log(2)": "log(x, 2)",
    "log(4)/log(2)": "log(4)/log(2)",
    "exp(1)": "exp(1)",
    "ceil(x)": "ceiling(x)",
    "-(a + b)*c": "-(a + b)*c",
}


@pytest.mark.parametrize("written", TEXTS)
def test_text(written: str) -> None:
    assert text(written) == TEXTS[written]


def test_relations() -> None:
    assert relation_text(B, ">=", C / W) == "B >= C/W"
    assert relation_latex(B, ">=", C / W) == r"B \ge \frac{C}{W}"
    assert relation_latex(B, "<<", D) == r"B \ll D"


def test_a_float_that_slipped_in_prints_as_its_decimal() -> None:
    assert parse_formula(to_text(sp.Float("0.25") * B)).expr == B / 4


def test_D22_numbers_stand_in_for_their_symbols() -> None:
    expr = parse_formula("2*B*D*F/C").expr
    values = {"B": "48", "D": "8192", "C": "1.97e14"}
    assert to_text(expr, names=values) == "2*48*8192*F/1.97e14"
    order = Order(written=(("B", "48"), ("D", "8192"), ("C", r"1.97 \times 10^{14}")))
    assert to_latex(expr, order) == r"\frac{2 \cdot 48 \cdot 8192F}{1.97 \times 10^{14}}"
    assert to_latex(C**2 * B**2, order) == r"48^2 (1.97 \times 10^{14})^2"
    assert to_text(B * D, names={"B": "4 + 4"}) == "(4 + 4)*D"


def test_printing_nested_roots_takes_no_longer_than_reading_them() -> None:
    nested = parse_formula("sqrt(1 + " * 20 + "x" + ")" * 20)
    assert to_text(nested.expr, nested.order) == "sqrt(1 + " * 20 + "x" + ")" * 20


ROUNDED = [
    (sp.Min(2 * K, sp.Rational(39400, 9)), "min(2*K, 4377.78)"),
    (sp.Max(1024 * B / 112060546875, sp.Rational(14336, 9765625)), "max(B/1.09434e8, 0.00146801)"),
    (sp.Rational(4377781111, 10**6) * B, "4377.78*B"),
    (12345678901 * B / K, "1.23457e10*B/K"),
    (-12345678 * B + K, "K - 12345700*B"),
    (18 * B / 4945, "18*B/4945"),
    (sp.sqrt(1 + 2295 * K / (14 * B)) / 3, "sqrt(2295*K/(14*B) + 1)/3"),
    (sp.Rational(39400, 9), "39400/9"),
]


@pytest.mark.parametrize(("formula", "shown"), ROUNDED)
def test_long_numbers_inside_formulas_are_rounded(formula, shown):
    found = rounded(formula)
    assert to_text(found) == shown
    point = {B: sp.Rational(7, 3), K: sp.Rational(11, 5)}
    assert float(parse_formula(shown).expr.subs(point)) == pytest.approx(float(formula.subs(point)), rel=1e-5)


def test_bytes_per_element_stand_first_without_a_program() -> None:
    assert to_text(parse_formula("D*V*2*b").expr) == "2*b*D*V"
    assert to_text(parse_formula("K*I*J*b_W/W_link").expr).startswith("b_W*K*")
