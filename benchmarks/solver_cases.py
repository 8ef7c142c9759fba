"""The benchmark set of the solver: thresholds of the textbook, of reported faults, and of three hard kinds.

Each row is (name, lhs, relation, rhs, unknown). Names of the textbook's and the fault list's entries are kept:
ch5.*, ch7.* (the scaling book, chapters 5 and 7), A*, B*, D* (faults people met in public).
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from symscale.vocabulary import symbol


@dataclass(frozen=True)
class Question:
    """Where does `lhs relation rhs` hold, in `unknown`?"""

    name: str
    lhs: sp.Expr
    relation: str
    rhs: sp.Expr
    unknown: sp.Expr


def _symbols(names: str) -> list[sp.Symbol]:
    return [symbol(name) for name in names.split()]


B, D, F, T, S, L, H, K, G, X, Y, Z, N, P = _symbols("B D F T S L H K G X Y Z N_chips P")
C, W, W_hbm, W_ici, W_link, W_dcn, T_hop, M_hbm, b, alpha = _symbols("C W W_hbm W_ici W_link W_dcn T_hop M_hbm b alpha")
M_X, M_Y, V, E, k, kv, n, a, c, d, x, t, s, b_w, b_a = _symbols("M_X M_Y V E k kv n a c d x t s b_w b_a")
Q = sp.Rational


def _max(*args: sp.Expr) -> sp.Expr:
    return sp.Max(*args, evaluate=False)


MAIN = [
    ("matmul.roofline", 2 * B * D * F / C, ">=", b * (B * D + D * F + B * F) / W, B),
    ("matmul.intensity", 2 * B * D * F / (b * (B * D + D * F + B * F)), ">=", C / W, B),
    (
        "matmul.numbers",
        Q(2 * 4096 * 16384) * B / Q(394 * 10**12),
        ">=",
        (4096 * B + 4096 * 16384 + 16384 * B) / Q(82 * 10**10),
        B,
    ),
    ("matmul.two-dtypes", 2 * B * D * F / C, ">", (b_a * B * D + b_w * D * F + b_a * B * F) / W, B),
    ("matmul.per-element", 2 * B * D * F / C, ">", b * (B * D + B * D * F + B * F) / W, D),
    ("dot.product", 2 * D / C, ">", 2 * b * D / W_hbm, W_hbm),
    ("two-chips", B * D * F / C, ">", b * B * F / W_link, D),
    ("fsdp.exact", 4 * B * D * F / (X * C), ">=", 2 * b * D * F * (X - 1) / (X * W_ici), B),
    ("fsdp.ratio", 4 * B * D * F / (X * C), ">", 2 * b * D * F / W_ici, B / X),
    ("mixed.sum", 4 * B * D * F / (N * C), ">", 4 * D / W * (F * X / (N * M_X) + B / (X * M_Y)), X),
    ("mixed.batch-sum", 4 * B * D * F / (N * C), ">", 8 * D / W * sp.sqrt(B * F / (N * M_X * M_Y)), B / N),
    ("mixed.batch-max", 4 * B * D * F / (N * C), ">", 4 * D / W * sp.sqrt(B * F / (N * M_X * M_Y)), B / N),
    ("mixed.discriminant", (B * F / (N * alpha)) ** 2, ">", 4 * F * B / (N * M_X * M_Y), B / N),
    ("latency.switch", V / W_ici, ">", X * T_hop / 2, V),
    ("latency.max", _max(V / W_ici, X * T_hop / 2), "<=", t, X),
    ("hardware.needed", 4 * B * D * F / (X * C), ">=", 2 * b * D * F / W_ici, W_ici),
    ("alltoall", V / (4 * W_ici), "<", 2 * B * D * F / (X * C), C),
]

BOOK = [
    ("ch5.dp-threshold", 8 * B * D * F / (X * C), ">", 8 * D * F / W, B / X),
    ("ch5.dp-total", 8 * D * F * _max(B / (X * C), 1 / W), "<=", t, B),
    ("ch5.fsdp-threshold", 4 * B * D * F / (X * C), ">", 4 * D * F / W, B / X),
    ("ch5.fsdp-threshold-axes", 4 * B * D * F / (X * C), ">", 4 * D * F / (M_X * W), B / X),
    ("ch5.tp-threshold", 4 * B * D * F / (Y * C), ">", 4 * B * D / W, Y),
    ("ch5.tp-threshold-axes", 4 * B * D * F / (Y * C), ">", 4 * B * D / (M_Y * W), Y),
    ("ch5.tp-gather", 2 * B * D, "<", 2 * D * F, B),
    ("ch5.mixed-xopt", F * X / (N * M_X), "==", B / (X * M_Y), X),
    ("ch5.mixed-xopt-slope", F / (N * M_X) - B / (X**2 * M_Y), "==", sp.S.Zero, X),
    ("ch5.mixed-condition", _max(F * X / (N * M_X), B / (X * M_Y)), "<", B * F / (N * alpha), X),
    ("ch5.mixed-sqrt-condition", sp.sqrt(B * F / (N * M_X * M_Y)), "<", B * F / (N * alpha), B),
    ("ch5.mixed-ratio", sp.sqrt(B * F * M_X * M_Y / N) / alpha, ">", sp.S.One, F),
    ("ch5.mixed-threshold", B / N, ">", alpha**2 / (M_X * M_Y * F), F),
    ("ch5.mixed-threshold-sum", B / N, ">", 4 * alpha**2 / (M_X * M_Y * F), alpha),
    ("ch5.dcn-threshold", 8 * B * D * F / (N * C), ">", 8 * D * F / (X * W_dcn), B),
    ("ch5.dp-max-params", 10 * P, "<=", M_hbm, P),
    ("ch7.linear-condition", 2 * B * D * F / C, ">", (2 * B * D + 2 * D * F + 2 * B * F) / W_hbm, B),
    ("ch7.linear-bcrit", 2 * B * D * F / C, ">", 2 * D * F / W_hbm, B),
    ("ch7.bcrit-general", 2 * B * D * F / C, ">", b_w * D * F / W_hbm, B),
    ("ch7.bcrit-fixed-D", 2 * B * D * F / C, ">", (2 * B * D + 2 * D * F + 2 * B * F) / W_hbm, D),
    ("ch7.attn-intensity", S * T / (S + T), ">", alpha, T),
    ("ch7.attn-prefill", T / 2, ">", alpha, T),
    ("ch7.params-to-kv", 2 * D * F, ">", 2 * S * H * K, S),
    ("ch7.min-step-time", (B * kv + P) / W_hbm, "<=", t, B),
    ("ch7.step-time-general", B * kv / W_hbm + _max(2 * B * P / C, P / W_hbm), "<=", t, B),
    ("ch7.max-throughput", B * W_hbm / (B * kv + P), ">=", s, B),
    ("ch7.kv-fits", B * kv * S + P, "<=", n * M_hbm, B),
    ("ch7.gen-tp-limit", 2 * B * D / W_ici, "<", 2 * D * F / (Y * W_hbm), Y),
    ("ch7.gen-flops-ici-bound", 2 * B * D * F / (Y * C), ">", 2 * B * D / W_ici, Y),
    ("ch7.q5.critical-batch", 2 * k * B * D * F / C, ">", 2 * E * D * F / W_hbm, B),
    ("ch7.q6.chips", sp.ceiling(P * s / M_hbm), "<=", n, s),
    ("ch7.q7.xopt", 2 * B * D / (X * W), "==", 2 * B * F * X / (N * W), X),
    ("ch7.q7.crossover-F4D", 4 * B * D / (3 * W), ">", sp.sqrt(128) * B * D / (sp.sqrt(N) * W), N),
    ("ch7.q7.crossover-general", 4 * B * D / (3 * W), ">", 4 * sp.sqrt(2) * B * sp.sqrt(D * F) / (W * sp.sqrt(N)), N),
    ("ch7.appC.condition", V / (n * W_link), "<", T_hop, V),
    ("ch7.appC.takeaway", B * D / (Y * W_link), "<", T_hop, Y),
    ("ch7.spec-tokens", (1 - a ** (K + 1)) / (1 - a), ">=", sp.S.One, K),
]

REPORTED = [
    ("A01", 2 * B * D * F / C, ">", (B * D + D * F + B * F) / W, B),
    ("A06", 2 * B * D * F / C, ">=", (B * D + D * F + B * F) / (22 * W), B),
    ("A11", _max(2 * B * D * F / (X * C), 4 * B * F / W), "<", _max(2 * B * D * F / C, 2 * D * F / W), D),
    ("A11.B", _max(2 * B * D * F / (X * C), 4 * B * F / W), "<", _max(2 * B * D * F / C, 2 * D * F / W), B),
    ("A19", T * G / (G + 1), ">", alpha, T),
    ("A19.G", T * G / (G + 1), ">", alpha, G),
    ("A20", 4 * B * T**2 * D, ">", 32 * B * T * D**2, T),
    ("A25", sp.ceiling((10 * P + 2 * D * B * k * L) / M_hbm), "<=", n, B),
    ("A28", 4 * B * D / (3 * W), ">", 4 * B * sp.sqrt(2 * D * F / N) / W, N),
    ("A38", 2 * B * D * F / C, ">", b_w * D * F / W, B),
    ("B01", 2 * B * D * D / (2 * B * D + D * D + 2 * B * D), ">", alpha, B),
    ("B01.D", 2 * B * D * D / (2 * B * D + D * D + 2 * B * D), ">", alpha, D),
    ("B13", _max(8 * B * T * D / W, 4 * B * T**2 * D / C), ">", 24 * B * T * D**2 / C, T),
    ("B14", X, "<", M_X * B / alpha, B),
    ("B19", 2 * B * D * F / (Y * C), ">", b_a * B * D / (M_Y * W), Y),
    ("B25", (P + B * kv * S) / (X * W_hbm), "<=", t, S),
    ("D01", 2 * B * D * F / (2 * B * D + 2 * D * F + 2 * B * F), ">", C / W, B),
    ("D03", _max(F * X / (N * M_X), B / (X * M_Y)), "<", B * F / (N * alpha), X),
    ("D04", _max(2 * D * F / (Y * W), 2 * B * D / W), "==", 2 * B * D * F / (Y * C), Y),
    ("D05", _max(n, sp.log(n, 2)), ">", c, n),
    ("D05.log", n, ">", sp.log(n, 2), n),
    ("D07", sp.ceiling(P * s / M_hbm), "<=", sp.Integer(8), s),
    ("D07.floor", sp.floor(n * M_hbm / P), ">=", k, n),
    ("D09", Q("1.1e10") / a - 1 / (Q(10**8) * a * x**2), "==", sp.S.Zero, x),
    ("D10", 500 * Q("1.02") ** n, "==", sp.Integer(1872), n),
    ("D10.more", 500 * Q("1.02") ** n, ">", c, n),
    ("D11", Q(2 * 4096 * 16384, 394 * 10**12) * B, ">", (4096 * B + 4096 * 16384 + 16384 * B) / Q("8.2e11"), B),
    ("D27", 4 * B * D / (3 * W), ">", 4 * sp.sqrt(2) * B * sp.sqrt(D * F) / (W * sp.sqrt(N)), N),
]

MAX_BOTH_SIDES = [
    ("max.1", _max(B * D / C, F / W), "<", _max(B / W, D * F / C), B),
    ("max.2", _max(a * x, b / x), "<=", _max(c, d * x), x),
    ("max.3", _max(4 * B * D / W, 4 * D * F / C), ">", _max(B * F / C, D * B / W), B),
    ("max.4", _max(x, a) + c, "<", _max(2 * x, d), x),
    ("max.5", _max(B / X, F / Y), ">=", _max(D / X, B / Y), B),
    ("max.6", sp.Min(a * x, c, evaluate=False), "<", _max(d, x / 2), x),
    ("max.7", _max(2 * B * D * F / (X * C), 2 * D * F / W), "<", _max(2 * B * D * F / (Y * C), 2 * B * D / W), F),
    ("max.8", _max(T**2 * D / C, T * D / W), ">", _max(6 * T * D**2 / C, 3 * D**2 / W), T),
    ("max.9", _max(1, x), ">", _max(a / x, c), x),
    ("max.10", _max(a * x, c) / d, "==", _max(x, 2 * c), x),
    ("max.11", _max(V / W_ici, X * T_hop), "<", _max(V / W_dcn, 2 * T_hop), V),
    ("max.12", _max(x, sp.sqrt(a * x)), "<", _max(c, d * x**2), x),
]

TWO_SIGN_CHANGES = [
    ("two.1", x + a / x, "<", c, x),
    ("two.2", a * x**2 + c, ">", b * x, x),
    ("two.3", x**2 + 6, ">=", 5 * x, x),
    ("two.4", a * x**2 + c / x**2, "<", d, x),
    ("two.5", F * X / N + B / X, "<", D, X),
    ("two.6", x * (a + x) + c, "<=", d * x, x),
    ("two.7", x / (x**2 + a), ">", c, x),
    ("two.8", V / (X * W) + X * T_hop / 2, "<", t, X),
    ("two.9", (x + a) * (x + c), "<", d * x, x),
    ("two.10", a * x**2 + c, "==", b * x, x),
    ("two.11", x**4 + 4, "<", 5 * x**2, x),
    ("two.12", x**3 + 6, ">", 7 * x, x),
]

RADICALS = [
    ("rad.1", a * sp.sqrt(x), ">", c, x),
    ("rad.2", a * x, ">", c * sp.sqrt(x), x),
    ("rad.3", x + a * sp.sqrt(x), "<", c, x),
    ("rad.4", a / sp.sqrt(x) + c, "<", d, x),
    ("rad.5", sp.sqrt(x + a), "<", c, x),
    ("rad.6", sp.sqrt(a * x + c), ">", x, x),
    ("rad.7", x ** Q(2, 3), "<", a * x ** Q(1, 3), x),
    ("rad.8", x ** Q(3, 2) / a, ">=", c * sp.sqrt(x), x),
    ("rad.9", sp.sqrt(x) + a / sp.sqrt(x), "<", c, x),
    ("rad.10", sp.sqrt(a * x) * sp.sqrt(c / d), ">", x / 3, x),
    ("rad.11", sp.sqrt(x**2 + a**2), "<", 2 * x, x),
    ("rad.12", 8 * B * D * sp.sqrt(F) / (W * sp.sqrt(N)), "<", 4 * B * D * F / (N * C), N),
]

QUESTIONS = [
    Question(name, sp.sympify(lhs), relation, sp.sympify(rhs), unknown)
    for name, lhs, relation, rhs, unknown in [
        *MAIN,
        *BOOK,
        *REPORTED,
        *MAX_BOTH_SIDES,
        *TWO_SIGN_CHANGES,
        *RADICALS,
    ]
]
