"""Pipeline, expert and context parallelism, collective products: steps, mutants, printed values and refusals."""

from __future__ import annotations

from functools import cache

import pytest
import sympy as sp
from test_derivations import twice

from symscale.derivation import Builder, verify
from symscale.derivation import builder as blackboard_module
from symscale.derivation.registry import entry, ids
from symscale.derivation.step import doubled
from symscale.errors import LayoutError, StepError, UndecidedError
from symscale.notation.formula import parse_relation
from symscale.report import latex, markdown, text
from symscale.solve.relation import sign_of_number
from symscale.vocabulary import symbol

LIBRARY = [each for each in ids() if each.startswith(("pipeline/", "expert/", "context/", "jax/"))]
# these state that two ways lead to the same
NOTHING_EXPECTED = {
    "pipeline/naive",
    "expert/capacity",
    "context/ring-bytes",
    "context/ring-or-gather",
    "context/sequence",
    "jax/declared",
    "jax/moe-padded",
    "jax/moe-gather",
    "jax/moe-all-to-all",
    "jax/moe-bytes",
    "jax/both-ways",
    "jax/loop-gain",
    "jax/tiles",
}


@cache
def written(name: str) -> Builder:
    found = entry(name)
    d = Builder(found.title, found.source)
    found.write(d)
    return d


@pytest.mark.parametrize("name", LIBRARY)
def test_every_step_is_checked_and_every_mutant_is_caught(name):
    d = written(name)
    assert d.source
    for step in d.steps:
        assert verify(step, seed=5)
        for at, equation in enumerate(step.equations):
            if equation.rhs != 0:
                with pytest.raises(StepError):
                    verify(doubled(step, at), seed=5)


@pytest.mark.parametrize("name", LIBRARY)
def test_doubling_an_expectation_fails(name, monkeypatch):
    seen = []

    def watched(check, wrong):
        original = getattr(blackboard_module, check)

        def mutant(*given):
            original(*given)
            seen.append(given[-1])
            with pytest.raises(StepError):
                original(*wrong(given))

        monkeypatch.setattr(blackboard_module, check, mutant)

    watched("expected_formula", lambda given: (*given[:-1], twice(given[-1])))
    watched("expected_answer", lambda given: (*given[:-1], twice(given[-1])))
    watched("expected_number", lambda given: (2 * given[0], *given[1:]))
    entry(name).write(Builder(name))
    assert bool(seen) is (name not in NOTHING_EXPECTED)


@pytest.mark.parametrize("name", LIBRARY)
def test_renders(name):
    derivation = written(name).derivation
    for rendered in (text(derivation), markdown(derivation), latex(derivation)):
        assert derivation.steps[-1].title in rendered
        assert "Symbol(" not in rendered


# Entries of our key of the book, of public questions, and of the papers; each printed formula is for bf16.
PRINTED = [
    ("ch5.ext.pp-bubble", "pipeline/gpipe", "f_bubble == (p - 1)/(m + p - 1)"),
    ("ch5.claim.pp-naive-idle", "pipeline/naive", "f_bubble == 1 - 1/p"),
    ("ch5.claim.pp-comms", "pipeline/hop", "T_comms == 2*R*D/W_link"),
    ("ch12.formula.pp-total", "pipeline/hop-total", "T_hops == 2*B*D/(W_ib*m)*(m + p - 2)"),
    ("ch12.formula.pp-hop", "pipeline/hop-total", "T_comms == 2*B*D/(W_ib*m)"),
    ("ch12.formula.ep-small, one chip per node", "expert/once-per-chip", "F >= C/W_ib*(Z - 1)/k"),
    ("ch12.formula.dp-moe", "expert/data-parallel", "B/X >= E/k*C/W_ici"),
    ("ch4 critical batch of experts", "expert/critical-batch", "B >= E/k*C/W_hbm"),
    ("B27 ratio", "pipeline/interleaved", "r_bubble == (p - 1)/(m*v)"),
    ("B27 share", "pipeline/interleaved", "f_bubble == (p - 1)/(m*v + p - 1)"),
    ("Liu et al., block of c tokens", "context/ring", "T/X >= C/(G*W_link)"),
    ("Jacobs et al., 4Nh/P", "context/ulysses-switch", "rhs == 2*2*T*K*H*(G + 1)/(X*W_nvlink)"),
]


@pytest.mark.parametrize(("key", "name", "printed"), PRINTED, ids=[f"{key}@{name}" for key, name, _ in PRINTED])
def test_printed_formula(key, name, printed):
    d = written(name)
    lhs, op, rhs, _ = parse_relation(printed)
    bf16 = {symbol("b"): sp.Integer(2), symbol("S"): symbol("T")}
    found = [
        equation.rhs.xreplace(bf16)
        for step in d.steps
        for equation in step.equations
        if equation.lhs == lhs and equation.op == ("==" if op == "=" else op)
    ]
    assert any(same(each, rhs.xreplace(bf16)) for each in found), found


def same(found: sp.Expr, stated: sp.Expr) -> bool:
    names = sorted(found.free_symbols | stated.free_symbols, key=str)
    for seed in (3, 7, 11):
        at = {s: sp.Rational(seed + 5 * n, 1 + n) for n, s in enumerate(names)}
        if sign_of_number(found.xreplace(at), stated.xreplace(at)) != 0:
            return False
    return True


def test_whole_microbatches_beside_the_best():
    lines = [line for step in written("pipeline/fsdp").steps if step.kind == "evaluate" for line in step.lines]
    assert [line[1] for line in lines] == [
        " = 16: 0.912 % above the optimum",
        " = 8: 5.63 % above the optimum",
        " = 32: 19.3 % above the optimum",
    ]
    # the same by a table of all whole numbers: 12.. 14 are best
    step = written("pipeline/fsdp").steps
    best = next(each for each in step if each.kind == "optimise").equations[0].rhs
    numbers = {"n_below": 7, "B": 4_000_000, "W_ici": 180 * 10**9, "b": 2, "C": 459 * 10**12, "X": 64}
    real = float(best.xreplace({symbol(name): sp.Integer(value) for name, value in numbers.items()}))
    gather, work = 2 * 2 * 1 / 180e9, 4 * 4e6 / 64 / 459e12
    times = {m: (m + 7) * (work / m + gather) for m in range(1, 200)}
    assert min(times, key=times.get) == round(real) == 13


# ------------------------------------------------------------------ what is refused


def test_an_unknown_schedule_is_refused():
    with pytest.raises(LayoutError, match="No pipeline schedule is called '1b1f'") as caught:
        Builder("unknown").pipeline("1b1f")
    assert "zb-h2" in caught.value.hint


def test_an_unknown_part_of_a_schedule_is_refused():
    with pytest.raises(LayoutError, match="shows no 'memory'") as caught:
        Builder("unknown").pipeline("1f1b", "rule memory")
    assert "held" in caught.value.hint


def test_what_only_falls_has_no_best():
    d = Builder("only falls")
    with pytest.raises(UndecidedError):
        d.least("T_step", d.symbol("t_F") / d.symbol("m"), "m")


@pytest.mark.parametrize(
    ("program", "mesh", "said"),
    [
        ("Key[S_X, K, H] -> Kh[S, K_X, H]", {"X": 16}, "K_X of Kh splits 8 elements over 16 chips"),
        ("x[K, M_X, D] -> y[K_X, M, D]", {"X": 16}, "K_X of y splits 8 elements over 16 chips"),
    ],
)
def test_more_chips_than_heads_or_experts_are_refused(program, mesh, said):
    with pytest.raises(LayoutError) as caught:
        Builder("too many").program(program, mesh=mesh, sizes={"K": sp.Integer(8)})
    assert said in str(caught.value)
    assert "replication" in caught.value.hint


def test_one_schedule_among_others_of_a_derivation_keeps_their_order():
    shown = text(written("pipeline/1f1b").derivation)
    assert "t_F + t_B + t_W" in shown
    assert "n_hops" in shown
    assert "n_hops" not in text(written("pipeline/naive").derivation)
